//! Checks before every HTTP request and headers after it: authorization, and protection against
//! other sites.
//!
//! A page of another site may make a user's browser send requests to dbdyno. It cannot read the
//! responses, but could change something, or, with its own name that points to this machine (DNS
//! rebinding), read everything. So hosts, origins and fetch metadata are checked. Not here:
//! passwords (`auth`).

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::App;
use super::auth;
use super::compress::{compressed, takes_gzip};
use super::connection_limiter::Guest;
use super::connection_limiter::Peer;
use super::http_error::HttpError;
use super::pushed;
use super::query;
use super::visitor::Visitor;
use crate::asked_host::asked_host;

/// Maximum bytes of a request's body, except of a form with a plan; a larger one is rejected.
pub(super) const BODY_BYTES_MAX: usize = 16 * 1024;
/// Time limit of a request, including a slow body, after which the response is an error. A debug
/// build on a busy core may need a minute for a page.
const REQUEST_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 1200 } else { 60 });

/// Time limit of a request with pushed runs.
const PUSH_MAX: Duration = Duration::from_secs(1200);

/// Content security policy of most responses: no foreign content, and only dbdyno's own scripts.
/// Styles are unrestricted, since charts set them.
const CONTENT_SECURITY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Addresses contain labels, but our own forms must send their origin.
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Content security policy of a single response that replaces the default, attached to the response
/// as an extension.
#[derive(Clone)]
pub(super) struct ContentSecurity(pub(super) HeaderValue);

/// Middleware around every request: checks it, makes pages or JSON of errors, adds headers, and
/// compresses the response.
pub(super) async fn enforce(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    Extension(guest): Extension<Arc<Guest>>,
    mut request: Request,
    next: Next,
) -> Response {
    let _answering = guest.asks();
    let path = request.uri().path().to_owned();
    let is_api = path.starts_with("/api/");
    let is_browser = request.headers().contains_key("sec-fetch-site");
    let is_packed = takes_gzip(request.headers()) && path != "/login";
    let asks = may_ask(&app, peer, &request);
    let nobody = || Visitor::unknown(app.0.auth.is_some());
    let visitor = asks.as_ref().map_or_else(|_| nobody(), Visitor::clone);
    let response = match asks {
        Err(refused) => *refused,
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            let limit = if pushed::is_of_writer(&path) { PUSH_MAX } else { REQUEST_MAX };
            match tokio::time::timeout(limit, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let text = "the request took too long: retry";
                    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, text).into_response()
                }
            }
        }
    };
    let mut response = match response.extensions().get::<HttpError>() {
        Some(no) => {
            if no.status.is_server_error() {
                app.0.shell.say(&format!("dbdyno: {path}: {}", no.text));
            }
            no.shown(is_api, &visitor)
        }
        None => worded(response, is_api, &visitor),
    };
    // Programs learn how to sign in; a browser would show its own dialog.
    let asks = is_api && !is_browser && response.status() == StatusCode::UNAUTHORIZED;
    let own = response.extensions_mut().remove::<ContentSecurity>();
    let headers = response.headers_mut();
    if asks {
        let basic = HeaderValue::from_static("Basic realm=\"dbdyno\"");
        headers.insert(header::WWW_AUTHENTICATE, basic);
    }
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(ContentSecurity(own)) = own {
        headers.insert(header::CONTENT_SECURITY_POLICY, own);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    match is_packed {
        true => compressed(response).await,
        false => response,
    }
}

/// Replaces an error response without text, as the router makes it, by one with the sentence that
/// belongs to its status. Returns other responses unchanged.
fn worded(response: Response, is_api: bool, visitor: &Visitor) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_ours = kind.is_some_and(|kind| kind.starts_with("text/html"));
    if !is_error || is_ours {
        return response;
    }
    let text = match status {
        StatusCode::METHOD_NOT_ALLOWED => "this address does not support the method",
        StatusCode::PAYLOAD_TOO_LARGE => "the form is too long",
        _ => "the request is malformed",
    };
    let mut shown = HttpError::new(status, text).shown(is_api, visitor);
    if let Some(allow) = response.headers().get(header::ALLOW) {
        shown.headers_mut().insert(header::ALLOW, allow.clone());
    }
    shown
}

/// Checks and authorizes a request. Returns the visitor, or else the response: an error, or a
/// redirect to sign in.
fn may_ask(app: &App, peer: IpAddr, request: &Request) -> Result<Visitor, Box<Response>> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let scheme = if app.0.auth.is_some() { "https" } else { "http" };
    let refused = |no: HttpError| Box::new(no.into_response());
    let host = asked_host(uri, headers, app.0.is_loopback)
        .map_err(|(status, text)| refused(HttpError::new(status, text)))?;
    if pushed::is_of_writer(uri.path()) {
        // A page of another site has no token, and no browser sends one by itself.
        return Ok(Visitor::unknown(false));
    }
    is_from_us(method, headers, scheme, host).map_err(refused)?;
    let Some(auth) = &app.0.auth else { return Ok(auth::anybody(headers, peer)) };
    if uri.path() == "/login" || uri.path().starts_with("/assets/") {
        return Ok(Visitor::unknown(true));
    }
    if let Some(visitor) = auth.lets_in(headers, peer, auth::now()).map_err(refused)? {
        return match may_do(method, uri.path(), &visitor) {
            true => Ok(visitor),
            false => Err(refused(HttpError::new(StatusCode::FORBIDDEN, ONLY_SEES))),
        };
    }
    if uri.path().starts_with("/api/") || method == Method::POST {
        let text = "a password is needed: sign in first";
        return Err(refused(HttpError::new(StatusCode::UNAUTHORIZED, text)));
    }
    let asked = uri.path_and_query().map_or("/", |asked| asked.as_str());
    let login = format!("/login{}", query::query(&[("next", asked)]));
    Err(Box::new(Redirect::to(&login).into_response()))
}

/// Message for a viewer who wants to change something.
const ONLY_SEES: &str = "viewers see everything and change nothing: sign out, and sign in with the \
                         full password";

/// Returns true if a visitor may make a request. Viewers may only read, since only a POST changes
/// anything; they cannot use the page for new runs either.
fn may_do(method: &Method, path: &str, visitor: &Visitor) -> bool {
    let is_reading = matches!(*method, Method::GET | Method::HEAD) && path != "/new";
    visitor.is_full() || is_reading || path == "/logout"
}

/// Fails if a page of another site has made the request, unless the user has followed a link.
fn is_from_us(
    method: &Method,
    headers: &HeaderMap,
    scheme: &str,
    host: &str,
) -> Result<(), HttpError> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let (origin, site) = (text("origin"), text("sec-fetch-site"));
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    let is_followed = text("sec-fetch-mode") == Some("navigate")
        && matches!(text("sec-fetch-dest"), Some("document"));
    let is_ours = origin.map(|origin| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")));
    let is_good = match (is_reading, is_ours, site) {
        (_, Some(false), _) => false,
        (true, _, None | Some("same-origin" | "none")) => true,
        (true, _, Some(_)) => is_followed,
        // A browser sends at least one of the two with each form.
        (false, Some(true), None | Some("same-origin")) => true,
        (false, None, Some("same-origin")) => true,
        (false, _, _) => false,
    };
    match is_good {
        true => Ok(()),
        false => Err(HttpError::new(
            StatusCode::FORBIDDEN,
            "this request came from a page of another site, or without the header 'Origin': only \
             dbdyno's own pages may send it",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_read_and_change_nothing_but_may_link_here() {
        let check = |method: Method, said: &[(&'static str, &str)], expect: bool| {
            let header = |(name, value): &(&'static str, &str)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            };
            let headers: HeaderMap = said.iter().map(header).collect();
            let asked = is_from_us(&method, &headers, "http", "127.0.0.1:8421");
            assert_eq!(asked.is_ok(), expect, "{method} {said:?}");
        };
        let (site, own) = ("sec-fetch-site", ("origin", "http://127.0.0.1:8421"));
        check(Method::GET, &[], true);
        check(Method::GET, &[(site, "none")], true);
        check(Method::GET, &[(site, "same-origin")], true);
        check(Method::GET, &[(site, "cross-site")], false);
        check(Method::GET, &[(site, "same-site")], false);
        let followed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        check(Method::GET, &[&[(site, "cross-site")], &followed[..]].concat(), true);
        let framed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        check(Method::GET, &[&[(site, "cross-site")], &framed[..]].concat(), false);
        check(Method::GET, &[("origin", "https://evil.example")], false);
        check(Method::POST, &[], false);
        check(Method::POST, &[own], true);
        check(Method::POST, &[(site, "same-origin")], true);
        check(Method::POST, &[own, (site, "same-origin")], true);
        check(Method::POST, &[own, (site, "cross-site")], false);
        check(Method::POST, &[&[(site, "cross-site")], &followed[..]].concat(), false);
        check(Method::POST, &[("origin", "http://127.0.0.1:9000")], false);
        check(Method::POST, &[("origin", "https://127.0.0.1:8421")], false);
        check(Method::POST, &[("origin", "null"), (site, "same-origin")], false);
    }
}
