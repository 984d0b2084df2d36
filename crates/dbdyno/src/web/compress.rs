//! Compresses responses with gzip, for clients that accept it.
//!
//! If a page had a secret as well as text of the request, its compressed length would reveal the
//! secret (the "BREACH" attack). No page of dbdyno has both, and the sign-in page is not
//! compressed. Not here: style and script, which are compressed once.

use std::io::Write;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::http_error::HttpError;

/// Minimum bytes of a response to compress; a shorter one is sent as it is: for a response that
/// fits a packet, compression gains nothing.
const LEAST_BYTES: usize = 1_000;
/// Maximum bytes of a response that may be compressed, since the whole response is in memory; a
/// longer one becomes an error. The longest is the list of a run's seconds.
const MOST_BYTES: usize = 1 << 30;
/// Beginnings of content types that are worth compressing.
const KINDS: [&str; 4] = ["text/", "application/json", "application/toml", "image/svg+xml"];

/// Returns true if the headers of a request accept gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let value = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    value.unwrap_or("").split(',').any(|takes| {
        let (name, weight) = takes.split_once(';').unwrap_or((takes, ""));
        name.trim() == "gzip" && weight.replace(' ', "") != "q=0"
    })
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    packed.expect("memory takes everything")
}

/// Compresses a response for a client that accepts gzip, unless its type or length is not worth it.
pub(super) async fn compressed(response: Response) -> Response {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let is_worth_it = KINDS.iter().any(|known| kind.starts_with(known));
    if !is_worth_it || headers.contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let too_long = || HttpError::failed("the answer is too long").into_response();
    let Ok(bytes) = to_bytes(body, MOST_BYTES).await else { return too_long() };
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if bytes.len() < LEAST_BYTES {
        return Response::from_parts(parts, Body::from(bytes));
    }
    // On another thread, so that others are served meanwhile.
    let packing = tokio::task::spawn_blocking(move || gzip(&bytes)).await;
    let Ok(packed) = packing else { return too_long() };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, Body::from(packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_by_whoever_says_so() {
        let check = |said: &'static str, expect: bool| {
            let said = HeaderValue::from_static(said);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, said)]);
            assert_eq!(takes_gzip(&headers), expect, "{headers:?}");
        };
        check("gzip, deflate, br, zstd", true);
        check("br, gzip;q=0.5", true);
        check("gzip; q=0", false);
        check("br", false);
        check("", false);
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
