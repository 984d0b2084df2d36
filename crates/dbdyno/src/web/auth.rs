//! Who may come in where a password is asked for: signing in, sessions, and HTTP Basic for
//! programs.
//!
//! The password is compared by its hash, in constant time; whoever fails waits longer each time.
//! Sessions live in memory and end with the service. Not here: where a password is asked for
//! (the command line), and which requests need one (request_policy).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
use crate::shell::Shell;

/// The cookie of a session. Browsers take a name that begins so only with `Secure`, for `/`, and
/// from no other host (RFC 6265bis, section 4.1.3.2).
const COOKIE: &str = "__Host-dbdyno";
/// A working day.
const SESSION: Duration = Duration::from_secs(12 * 3600);
/// More people do not read one store; the oldest session gives way.
const SESSIONS_MAX: usize = 256;
/// Fewer letters are tried out.
const LETTERS_MIN: usize = 8;

/// Who may come in: whoever knows the password.
pub(super) struct Auth {
    password: [u8; 32],
    /// By the hash of what the cookie holds: when each ends.
    sessions: Mutex<HashMap<[u8; 32], Instant>>,
    throttle: Mutex<Throttle>,
    shell: Shell,
}

impl Auth {
    /// Accepts this password; wrong ones are reported on the shell.
    pub(super) fn new(password: &str, shell: Shell) -> Result<Auth, Error> {
        if password.chars().count() < LETTERS_MIN {
            return Err(Error::Usage(format!(
                "the password of the web pages has fewer than {LETTERS_MIN} characters: choose a \
                 longer one"
            )));
        }
        Ok(Auth {
            password: hash(password.as_bytes()),
            sessions: Mutex::default(),
            throttle: Mutex::default(),
            shell,
        })
    }

    /// Whether whoever sent these headers may come in; trouble if it may not even try.
    pub(super) fn lets_in(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
        now: Instant,
    ) -> Result<bool, HttpError> {
        if let Some(session) = session_of(headers) {
            let ends = held(&self.sessions).get(&hash(session.as_bytes())).copied();
            if ends.is_some_and(|ends| now < ends) {
                return Ok(true);
            }
        }
        match basic_of(headers) {
            Some(password) => self.opens(&password, peer, now),
            None => Ok(false),
        }
    }

    /// Whether this password opens it; trouble if `peer` has tried too often.
    fn opens(&self, password: &str, peer: IpAddr, now: Instant) -> Result<bool, HttpError> {
        let mut throttle = held(&self.throttle);
        if let Some(wait) = throttle.wait(peer, now) {
            let seconds = wait.as_secs() + 1;
            let text = format!("too many wrong passwords: wait {seconds} s");
            let no = HttpError::new(StatusCode::TOO_MANY_REQUESTS, text);
            return Err(HttpError { retry_after_s: Some(seconds), ..no });
        }
        let is_right = bool::from(hash(password.as_bytes()).ct_eq(&self.password));
        match is_right {
            true => throttle.succeeded(peer),
            false => {
                throttle.failed(peer, now);
                self.shell.say(&format!("dbdyno: a wrong password from {peer}"));
            }
        }
        Ok(is_right)
    }

    /// Begins a session; what its cookie holds.
    fn begin(&self, now: Instant) -> Result<String, HttpError> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).map_err(|error| {
            HttpError::failed(format!("the system gives no random bits: {error}"))
        })?;
        let session: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = held(&self.sessions);
        sessions.retain(|_, ends| now < *ends);
        if sessions.len() >= SESSIONS_MAX {
            let oldest = sessions.iter().min_by_key(|(_, ends)| **ends).map(|(of, _)| *of);
            oldest.map(|oldest| sessions.remove(&oldest));
        }
        sessions.insert(hash(session.as_bytes()), now + SESSION);
        Ok(session)
    }

    fn end(&self, headers: &HeaderMap) {
        if let Some(session) = session_of(headers) {
            held(&self.sessions).remove(&hash(session.as_bytes()));
        }
    }
}

/// A thread that panicked left nothing half done here.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What the cookie of a session holds.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|cookies| cookies.split(';'));
    cookies.find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == COOKIE).then(|| value.to_owned())
    })
}

/// The password of HTTP Basic (RFC 7617); who it is does not matter.
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

/// Where to go after signing in: an address of ours alone.
fn next_of(pairs: &Pairs) -> String {
    let next = pairs.get("next").unwrap_or("/");
    let is_ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains(|letter: char| letter == '\\' || letter.is_control());
    if is_ours { next.to_owned() } else { "/".to_owned() }
}

/// `GET /login`
pub(super) async fn page(State(app): State<App>, asked: Pairs) -> Result<Response, HttpError> {
    let next = next_of(&asked);
    match app.0.auth {
        None => Ok(Redirect::to(&next).into_response()),
        Some(_) => {
            answer::page(&LoginPage { frame: Frame::new("Sign in", "", false), next, wrong: false })
        }
    }
}

/// `POST /login`
pub(super) async fn enter(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    Form(form): Form,
) -> Result<Response, HttpError> {
    let next = next_of(&form);
    let Some(auth) = &app.0.auth else { return Ok(Redirect::to(&next).into_response()) };
    if !auth.opens(form.exactly("password").unwrap_or(""), peer, now())? {
        let frame = Frame::new("Sign in", "", false);
        let mut response = answer::page(&LoginPage { frame, next, wrong: true })?;
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        return Ok(response);
    }
    let session = auth.begin(now())?;
    let mut response = Redirect::to(&next).into_response();
    set_cookie(&mut response, &session, SESSION.as_secs());
    Ok(response)
}

/// `POST /logout`
pub(super) async fn leave(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(auth) = &app.0.auth {
        auth.end(&headers);
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
        let auth = Auth::new("correct horse", silent()).unwrap();
        let (peer, now) = ("192.0.2.1".parse().unwrap(), now());
        let lets_in = |headers: &HeaderMap, now| auth.lets_in(headers, peer, now).unwrap();
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        let authorization = |text: &str| headers(header::AUTHORIZATION, text);
        assert!(!lets_in(&HeaderMap::new(), now));
        assert!(lets_in(&authorization(&basic("anybody:correct horse")), now));
        assert!(!lets_in(&authorization(&basic("correct horse")), now));
        assert!(!lets_in(&authorization("Bearer correct horse"), now));
        let session = auth.begin(now).unwrap();
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
        let auth = Auth::new("correct horse", silent()).unwrap();
        let (peer, now) = ("192.0.2.1".parse().unwrap(), now());
        for _ in 0..3 {
            assert!(!auth.opens("guess", peer, now).unwrap());
        }
        let no = auth.opens("correct horse", peer, now).unwrap_err();
        assert_eq!((no.status, no.retry_after_s), (StatusCode::TOO_MANY_REQUESTS, Some(2)));
        assert!(auth.opens("correct horse", peer, now + Duration::from_secs(2)).unwrap());
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
