//! Who asks, and what they may do.
//!
//! Not here: how somebody becomes that (auth).

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Everything.
    Full,
    /// See everything, and change nothing.
    Viewer,
}

/// Which session it is: the hash of what its cookie holds.
pub(super) type SessionId = [u8; 32];

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) role: Role,
    /// Whether there is a session to end.
    pub(super) can_leave: bool,
    /// The session, if there is one.
    pub(super) session: Option<SessionId>,
    pub(super) peer: Option<IpAddr>,
}

impl Visitor {
    /// Somebody who is not known, and who may leave if there is a password.
    pub(super) fn unknown(can_leave: bool) -> Visitor {
        Visitor { role: Role::Viewer, can_leave, session: None, peer: None }
    }

    /// Whether they may start, stop and change.
    pub(super) fn is_full(&self) -> bool {
        self.role == Role::Full
    }

    /// Who it was, for the record.
    pub(super) fn who(&self) -> String {
        let role = if self.is_full() { "user" } else { "viewer" };
        let at = self.peer.map_or(String::new(), |peer| format!(" at {peer}"));
        format!("{role}{at}")
    }
}

/// The one that the request policy has found.
impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Infallible> {
        let found = parts.extensions.get::<Visitor>().cloned();
        Ok(found.unwrap_or_else(|| Visitor::unknown(false)))
    }
}

/// A thread that panicked left nothing half done here.
pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
