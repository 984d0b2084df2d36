//! Host that an HTTP request names. A web service that listens on loopback accepts only names of
//! loopback.

use std::net::IpAddr;

use axum::http::header::{HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri, header};

/// Returns the host that a request names. An error is an HTTP status and its text. A service that
/// listens on loopback (`is_loopback`) accepts only `localhost` and loopback addresses, because the
/// name of another site may point to this machine, and would give pages of that site access.
pub(crate) fn asked_host<'a>(
    uri: &'a Uri,
    headers: &'a HeaderMap,
    is_loopback: bool,
) -> Result<&'a str, (StatusCode, &'static str)> {
    let mut named = headers.get_all(header::HOST).iter();
    let host = match (named.next().map(HeaderValue::to_str), named.next()) {
        (Some(Ok(host)), None) => host,
        _ => return Err((StatusCode::BAD_REQUEST, "a request needs exactly one Host")),
    };
    let all_hosts = [Some(host), uri.authority().map(|authority| authority.as_str())];
    if is_loopback && !all_hosts.into_iter().flatten().all(is_loopback_host) {
        let text = "this is served on this machine only: use 127.0.0.1 or localhost";
        return Err((StatusCode::MISDIRECTED_REQUEST, text));
    }
    Ok(host)
}

/// Returns true if a host, with or without a port, is `localhost` or a loopback address. Any port
/// is valid, since an SSH tunnel may listen on another one.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let is_address = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_loopback_are_its_hosts() {
        for host in ["127.0.0.1:8421", "localhost:9000", "LOCALHOST", "[::1]:8421", "127.0.0.2"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:8421", "0.0.0.0:8421", "", "[::]", "1"]
        {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
