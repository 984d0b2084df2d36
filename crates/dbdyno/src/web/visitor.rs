//! The user of a web request (visitor), and their rights.
//!
//! Not here: authentication (auth).

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Rights of a visitor of the web service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Full,
    /// Visitor who may see everything, and change nothing.
    Viewer,
}

/// Id of a visitor's session: the hash of its cookie.
pub(super) type SessionId = [u8; 32];

/// User of a request, as the request policy has identified them.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) role: Role,
    /// True if the visitor has a session that can be ended.
    pub(super) can_leave: bool,
    /// Id of the visitor's session; `None` if there is none.
    pub(super) session: Option<SessionId>,
    pub(super) peer: Option<IpAddr>,
}

impl Visitor {
    /// Creates a visitor who has not signed in and may change nothing. `can_leave` is true if the
    /// service has a password.
    pub(super) fn unknown(can_leave: bool) -> Visitor {
        Visitor { role: Role::Viewer, can_leave, session: None, peer: None }
    }

    /// Returns true if the visitor may start, stop and change things.
    pub(super) fn is_full(&self) -> bool {
        self.role == Role::Full
    }

    /// Returns the name of the visitor, for the log of actions.
    pub(super) fn who(&self) -> String {
        let role = if self.is_full() { "user" } else { "viewer" };
        let at = self.peer.map_or(String::new(), |peer| format!(" at {peer}"));
        format!("{role}{at}")
    }
}

/// Takes the visitor that the request policy has identified.
impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Infallible> {
        let found = parts.extensions.get::<Visitor>().cloned();
        Ok(found.unwrap_or_else(|| Visitor::unknown(false)))
    }
}

/// Locks a mutex, even after a panic, since its data are consistent then too.
pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
