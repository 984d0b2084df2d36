//! The user of a request, and their rights.
//!
//! Not here: authentication (auth).

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Rights of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Full,
    /// May see everything, and change nothing.
    Viewer,
}

/// Id of a session: the hash of its cookie.
pub(super) type SessionId = [u8; 32];

/// The user of a request.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) role: Role,
    /// Whether there is a session to end.
    pub(super) can_leave: bool,
    /// Id of the session, if there is one.
    pub(super) session: Option<SessionId>,
    pub(super) peer: Option<IpAddr>,
}

impl Visitor {
    /// A visitor without rights; `can_leave` says whether there is a password.
    pub(super) fn unknown(can_leave: bool) -> Visitor {
        Visitor { role: Role::Viewer, can_leave, session: None, peer: None }
    }

    /// Whether they may start, stop and change things.
    pub(super) fn is_full(&self) -> bool {
        self.role == Role::Full
    }

    /// Name of the visitor, for the log of actions.
    pub(super) fn who(&self) -> String {
        let role = if self.is_full() { "user" } else { "viewer" };
        let at = self.peer.map_or(String::new(), |peer| format!(" at {peer}"));
        format!("{role}{at}")
    }
}

/// The visitor that the request policy has identified.
impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Infallible> {
        let found = parts.extensions.get::<Visitor>().cloned();
        Ok(found.unwrap_or_else(|| Visitor::unknown(false)))
    }
}

/// Locks a mutex; its data are consistent even after a panic.
pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
