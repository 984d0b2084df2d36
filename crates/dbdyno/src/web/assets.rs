//! Style and script of the web pages.
//!
//! Their addresses contain a hash of the content, so a browser requests each version once. Not
//! here: the look of charts (`render`).

use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use render::html::{CHART_JS, PAGE_CSS};
use sha2::{Digest, Sha256};

use super::compress::{gzip, takes_gzip};
use super::http_error::HttpError;

const OUR_CSS: &str = include_str!("../../assets/web.css");
const OUR_JS: &str = include_str!("../../assets/web.js");
/// Cache control of a style or script: for a year, the practical limit of caches (RFC 9111 has
/// none).
const FOR_EVER: &str = "private, max-age=31536000, immutable";

/// Style sheet or script of the web pages, with its content plain and compressed by gzip.
struct Asset {
    kind: &'static str,
    plain: Vec<u8>,
    packed: Vec<u8>,
    /// First characters of the hash of the content, which are part of the asset's address.
    tag: String,
}

impl Asset {
    fn new(kind: &'static str, text: &str) -> Asset {
        let packed = gzip(text.as_bytes());
        Asset { kind, plain: text.as_bytes().to_vec(), packed, tag: tag(text.as_bytes()) }
    }
}

pub(super) fn tag(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn css() -> &'static Asset {
    static CSS: OnceLock<Asset> = OnceLock::new();
    CSS.get_or_init(|| Asset::new("text/css; charset=utf-8", &format!("{PAGE_CSS}\n{OUR_CSS}")))
}

fn js() -> &'static Asset {
    static JS: OnceLock<Asset> = OnceLock::new();
    JS.get_or_init(|| {
        Asset::new("text/javascript; charset=utf-8", &format!("{CHART_JS}\n{OUR_JS}"))
    })
}

/// Returns the addresses of the style and the script, with the hashes of their content.
pub(super) fn addresses() -> [String; 2] {
    [format!("/assets/web.css?v={}", css().tag), format!("/assets/web.js?v={}", js().tag)]
}

/// `GET /assets/NAME`: the style or the script, unless the browser has this version already.
pub(super) async fn asset(
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let asset = match name.as_str() {
        "web.css" => css(),
        "web.js" => js(),
        _ => return Err(HttpError::unknown(format!("there is no asset {name}"))),
    };
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    let tag = format!("\"{}\"", asset.tag);
    let is_known = text(header::IF_NONE_MATCH).split(',').any(|known| known.trim() == tag);
    let takes_packed = takes_gzip(&headers);
    let mut response = match (is_known, takes_packed) {
        (true, _) => StatusCode::NOT_MODIFIED.into_response(),
        (false, true) => asset.packed.as_slice().into_response(),
        (false, false) => asset.plain.as_slice().into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).expect("it is of hexadecimal digits"));
    if takes_packed && !is_known {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
