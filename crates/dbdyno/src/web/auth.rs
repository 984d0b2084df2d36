//! Authentication with a password: signing in, sessions, and HTTP Basic for programs.
//!
//! Hashes of passwords are compared in constant time; wrong passwords make their address wait,
//! longer each time. Sessions live in memory and end with the service. Not here: the source of the
//! password (the command line), and requests that need one (`request_policy`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use app::Error;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::App;
use super::answer::{self, Frame};
use super::connection_limiter::Peer;
use super::http_error::HttpError;
use super::query::{Form, Pairs};
use super::throttle::Throttle;
use super::visitor::{Role, SessionId, Visitor, held};
use crate::shell::Shell;

/// Name of the cookie of a session. Browsers accept this prefix only with `Secure`, for `/`, and
/// from the same host (RFC 6265bis, section 4.1.3.2).
const COOKIE: &str = "__Host-dbdyno";
/// Name of the cookie of a session without a password, which exists on loopback only, without TLS.
const OPEN_COOKIE: &str = "dbdyno-open";
/// Time after which a session of the web service ends: a working day.
const SESSION: Duration = Duration::from_secs(12 * 3600);
/// Maximum number of sessions of the web service. Beyond it, a new session removes the oldest.
const SESSIONS_MAX: usize = 256;
/// Minimum characters of a password, against brute force; a shorter one is rejected.
const LETTERS_MIN: usize = 8;

/// Returns the visitor of a web service without a password, who may do everything. A session, if
/// the request has one, only keeps the passwords of databases that the visitor has entered.
pub(super) fn anybody(headers: &HeaderMap, peer: IpAddr) -> Visitor {
    let session = cookie_of(headers, OPEN_COOKIE).map(|session| hash(session.as_bytes()));
    Visitor { role: Role::Full, can_leave: false, session, peer: Some(peer) }
}

/// Passwords and sessions of the web service.
pub(super) struct Auth {
    passwords: Vec<([u8; 32], Role)>,
    /// Sessions by the hash of their cookie: end of the session, and role.
    sessions: Mutex<HashMap<SessionId, (Instant, Role)>>,
    throttle: Mutex<Throttle>,
    shell: Shell,
}

impl Auth {
    /// Creates the authentication with the full password, and that of viewers if there is one.
    /// Fails if a password has fewer than [`LETTERS_MIN`] characters, or both are equal. Wrong
    /// passwords are later logged on the shell.
    pub(super) fn new(password: &str, viewer: Option<&str>, shell: Shell) -> Result<Auth, Error> {
        let all = [Some((password, Role::Full)), viewer.map(|viewer| (viewer, Role::Viewer))];
        let all: Vec<(&str, Role)> = all.into_iter().flatten().collect();
        if all.iter().any(|(password, _)| password.chars().count() < LETTERS_MIN) {
            return Err(Error::Usage(format!(
                "the password of the web pages has fewer than {LETTERS_MIN} characters: choose a \
                 longer one"
            )));
        }
        if viewer == Some(password) {
            let why = "the viewers' password is the full one: choose another for viewers";
            return Err(Error::Usage(why.to_owned()));
        }
        Ok(Auth {
            passwords: all.iter().map(|(text, role)| (hash(text.as_bytes()), *role)).collect(),
            sessions: Mutex::default(),
            throttle: Mutex::default(),
            shell,
        })
    }

    /// Authenticates a request by its session or by HTTP Basic. `None` without valid credentials;
    /// fails if `peer` must wait after wrong passwords.
    pub(super) fn lets_in(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
        now: Instant,
    ) -> Result<Option<Visitor>, HttpError> {
        let visitor = |role, session| Visitor { role, can_leave: true, session, peer: Some(peer) };
        if let Some(session) = cookie_of(headers, COOKIE) {
            let session = hash(session.as_bytes());
            let known = held(&self.sessions).get(&session).copied();
            if let Some((_, role)) = known.filter(|(ends, _)| now < *ends) {
                return Ok(Some(visitor(role, Some(session))));
            }
        }
        match basic_of(headers) {
            Some(password) => Ok(self.opens(&password, peer, now)?.map(|role| visitor(role, None))),
            None => Ok(None),
        }
    }

    /// Returns the role that a password opens; `None` if it is wrong. Fails if `peer` must wait
    /// after wrong passwords.
    fn opens(&self, password: &str, peer: IpAddr, now: Instant) -> Result<Option<Role>, HttpError> {
        let mut throttle = held(&self.throttle);
        if let Some(wait) = throttle.wait(peer, now) {
            let seconds = wait.as_secs() + 1;
            let text = format!("too many wrong passwords: wait {seconds} s");
            let no = HttpError::new(StatusCode::TOO_MANY_REQUESTS, text);
            return Err(HttpError { retry_after_s: Some(seconds), ..no });
        }
        let given = hash(password.as_bytes());
        // Compare all of them, so that the time reveals nothing.
        let opened = self.passwords.iter().fold(None, |found, (known, role)| {
            let is_right = bool::from(given.ct_eq(known));
            if is_right { Some(*role) } else { found }
        });
        match opened {
            Some(_) => throttle.succeeded(peer),
            None => {
                throttle.failed(peer, now);
                self.shell.say(&format!("dbdyno: a wrong password from {peer}"));
            }
        }
        Ok(opened)
    }

    /// Starts a session and returns the value of its cookie.
    fn begin(&self, role: Role, now: Instant) -> Result<String, HttpError> {
        let session = random_text()?;
        let mut sessions = held(&self.sessions);
        sessions.retain(|_, (ends, _)| now < *ends);
        if sessions.len() >= SESSIONS_MAX {
            let oldest = sessions.iter().min_by_key(|(_, (ends, _))| *ends).map(|(id, _)| *id);
            oldest.map(|oldest| sessions.remove(&oldest));
        }
        sessions.insert(hash(session.as_bytes()), (now + SESSION, role));
        Ok(session)
    }

    fn end(&self, headers: &HeaderMap) {
        if let Some(session) = cookie_of(headers, COOKIE) {
            held(&self.sessions).remove(&hash(session.as_bytes()));
        }
    }
}

/// Returns a random text of 256 bits, as the secret of a session.
fn random_text() -> Result<String, HttpError> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits)
        .map_err(|error| HttpError::failed(format!("the system gives no random bits: {error}")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Sets the cookie of a session without a password in a response.
pub(super) fn open_session(response: &mut Response, session: &str) {
    let cookie = format!("{OPEN_COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict");
    let cookie = HeaderValue::from_str(&cookie).expect("it is of letters and digits");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
}

/// Creates a session without a password; returns the value of its cookie, and its id.
pub(super) fn new_open_session() -> Result<(String, SessionId), HttpError> {
    let session = random_text()?;
    let id = hash(session.as_bytes());
    Ok((session, id))
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns the value of the request's cookie with the name `wanted`; `None` if there is no such
/// cookie.
fn cookie_of(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|cookies| cookies.split(';'));
    cookies.find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == wanted).then(|| value.to_owned())
    })
}

/// Returns the password of HTTP Basic (RFC 7617), whatever the user name is; `None` without a valid
/// header.
fn basic_of(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

#[derive(Template)]
#[template(path = "web/login.html")]
struct LoginPage {
    frame: Frame,
    next: String,
    wrong: bool,
}

/// Returns the address to go to after signing in, from the parameter `next`. Addresses that are not
/// paths of this service become `/`.
fn next_of(pairs: &Pairs) -> String {
    let next = pairs.get("next").unwrap_or("/");
    let is_ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(|letter: char| letter == '\\' || letter.is_control());
    if is_ours { next.to_owned() } else { "/".to_owned() }
}

/// `GET /login`: the page to sign in, or a redirect if no password is needed.
pub(super) async fn page(State(app): State<App>, asked: Pairs) -> Result<Response, HttpError> {
    let next = next_of(&asked);
    match app.0.auth {
        None => Ok(Redirect::to(&next).into_response()),
        Some(_) => {
            let frame = Frame::new("Sign in", "", &Visitor::unknown(false));
            answer::page(&LoginPage { frame, next, wrong: false })
        }
    }
}

/// `POST /login`: signs in with a password and starts a session.
pub(super) async fn enter(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    Form(form): Form,
) -> Result<Response, HttpError> {
    let next = next_of(&form);
    let Some(auth) = &app.0.auth else { return Ok(Redirect::to(&next).into_response()) };
    let Some(role) = auth.opens(form.exactly("password").unwrap_or(""), peer, now())? else {
        let frame = Frame::new("Sign in", "", &Visitor::unknown(false));
        let mut response = answer::page(&LoginPage { frame, next, wrong: true })?;
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        return Ok(response);
    };
    let session = auth.begin(role, now())?;
    let visitor = Visitor { role, can_leave: true, session: None, peer: Some(peer) };
    app.note(&visitor, "signed in").await;
    let mut response = Redirect::to(&next).into_response();
    set_cookie(&mut response, &session, SESSION.as_secs());
    Ok(response)
}

/// `POST /logout`: ends the session, and forgets passwords of databases entered in it.
pub(super) async fn leave(
    State(app): State<App>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Response {
    if let Some(auth) = &app.0.auth {
        auth.end(&headers);
    }
    if let Some(session) = visitor.session {
        app.0.passwords.forget(&session);
    }
    let mut response = Redirect::to("/").into_response();
    set_cookie(&mut response, "", 0);
    response
}

fn set_cookie(response: &mut Response, session: &str, seconds: u64) {
    let rest = "Path=/; HttpOnly; Secure; SameSite=Strict";
    let cookie = HeaderValue::from_str(&format!("{COOKIE}={session}; Max-Age={seconds}; {rest}"));
    response.headers_mut().insert(header::SET_COOKIE, cookie.expect("it is of letters and digits"));
}

#[expect(clippy::disallowed_methods, reason = "sessions and waits are of real people")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Shell {
        Shell::new(std::io::sink(), std::io::sink(), |_| None)
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_session_or_the_password_opens_the_door_and_nothing_else() {
        let auth = Auth::new("correct horse", None, silent()).unwrap();
        let (peer, now) = ("192.0.2.1".parse().unwrap(), now());
        let lets_in =
            |headers: &HeaderMap, now| auth.lets_in(headers, peer, now).unwrap().is_some();
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        let authorization = |text: &str| headers(header::AUTHORIZATION, text);
        assert!(!lets_in(&HeaderMap::new(), now));
        assert!(lets_in(&authorization(&basic("anybody:correct horse")), now));
        assert!(!lets_in(&authorization(&basic("correct horse")), now));
        assert!(!lets_in(&authorization("Bearer correct horse"), now));
        let session = auth.begin(Role::Full, now).unwrap();
        let cookie = |text: &str| headers(header::COOKIE, text);
        let with = cookie(&format!("a=b; {COOKIE}={session}"));
        assert!(lets_in(&with, now));
        assert!(!lets_in(&with, now + SESSION));
        assert!(!lets_in(&cookie(&format!("{COOKIE}=0")), now));
        auth.end(&with);
        assert!(!lets_in(&with, now));
    }

    #[test]
    fn whoever_guesses_is_not_heard_for_a_while_even_with_the_right_one() {
        let auth = Auth::new("correct horse", None, silent()).unwrap();
        let (peer, now) = ("192.0.2.1".parse().unwrap(), now());
        for _ in 0..3 {
            assert_eq!(auth.opens("guess", peer, now).unwrap(), None);
        }
        let no = auth.opens("correct horse", peer, now).unwrap_err();
        assert_eq!((no.status, no.retry_after_s), (StatusCode::TOO_MANY_REQUESTS, Some(2)));
        let later = now + Duration::from_secs(2);
        assert_eq!(auth.opens("correct horse", peer, later).unwrap(), Some(Role::Full));
    }

    #[test]
    fn each_password_opens_its_own_role_and_sessions_keep_it() {
        let auth = Auth::new("correct horse", Some("only looking"), silent()).unwrap();
        let (peer, now) = ("192.0.2.1".parse().unwrap(), now());
        assert_eq!(auth.opens("correct horse", peer, now).unwrap(), Some(Role::Full));
        assert_eq!(auth.opens("only looking", peer, now).unwrap(), Some(Role::Viewer));
        let session = auth.begin(Role::Viewer, now).unwrap();
        let cookie = headers(header::COOKIE, &format!("{COOKIE}={session}"));
        let visitor = auth.lets_in(&cookie, peer, now).unwrap().unwrap();
        assert_eq!((visitor.role, visitor.who().as_str()), (Role::Viewer, "viewer at 192.0.2.1"));
        assert!(Auth::new("correct horse", Some("correct horse"), silent()).is_err());
        assert!(Auth::new("correct horse", Some("short"), silent()).is_err());
    }

    #[test]
    fn after_signing_in_nobody_is_sent_elsewhere() {
        let check = |next: &str, expect: &str| {
            assert_eq!(next_of(&Pairs(vec![("next".to_owned(), next.to_owned())])), expect);
        };
        check("/runs/last?x=1", "/runs/last?x=1");
        check("//evil.example/", "/");
        check("/\\evil.example/", "/");
        check("https://evil.example/", "/");
        check("", "/");
    }
}
