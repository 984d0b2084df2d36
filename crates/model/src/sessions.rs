//! The sessions of one client: its main session, and further ones that its transactions open.
//!
//! Not here: connecting the main session (engine), and the statements (workloads).

use crate::{Connecting, DbError, DbErrorKind, Session, Traffic};

/// Opener of further sessions for a client that already has its main one. They run on the same
/// thread and have the same declared statements.
pub trait Connector {
    /// Opens a session that no other client uses. Fails if the database does not accept the
    /// connection.
    fn connect(&self) -> Connecting<'_>;
}

/// Handle of a session that a client opened beside its main one. It is valid until that session is
/// closed or the main session reconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherSession(usize);

/// All sessions of one client: its main one and those that it opened later.
pub struct Sessions {
    own: Box<dyn Session>,
    /// Further sessions, by the index in their handle; `None` for a session that was closed.
    further: Vec<Option<Box<dyn Session>>>,
    /// Statements, round trips, rows and bytes of the sessions that were closed.
    closed: Traffic,
    connector: Option<Box<dyn Connector>>,
}

impl Sessions {
    /// Creates the sessions of a client that may have only its main session.
    pub fn single(own: Box<dyn Session>) -> Sessions {
        Sessions { own, further: Vec::new(), closed: Traffic::default(), connector: None }
    }

    /// Creates the sessions of a client that may open further ones through `connector`.
    pub fn new(own: Box<dyn Session>, connector: Box<dyn Connector>) -> Sessions {
        Sessions { connector: Some(connector), ..Sessions::single(own) }
    }

    /// Returns the client's main session.
    #[inline]
    pub fn own(&mut self) -> &mut dyn Session {
        self.own.as_mut()
    }

    /// Opens a further session for the client.
    ///
    /// # Errors
    ///
    /// Fails if the database does not accept the connection; with [`DbErrorKind::Unsupported`] if
    /// the client may have only one session, as in a trace.
    pub async fn open(&mut self) -> Result<FurtherSession, DbError> {
        let session = self.connect().await?;
        let place = self.further.iter().position(Option::is_none);
        let place = place.unwrap_or_else(|| {
            self.further.push(None);
            self.further.len() - 1
        });
        self.further[place] = Some(session);
        Ok(FurtherSession(place))
    }

    /// Replaces the client's main session by a new one, because it was cancelled.
    ///
    /// # Errors
    ///
    /// Fails if the database does not accept the connection; with [`DbErrorKind::Unsupported`] if
    /// the client cannot open sessions, as in a trace.
    pub async fn replace(&mut self) -> Result<(), DbError> {
        let session = self.connect().await?;
        let before = std::mem::replace(&mut self.own, session);
        self.closed += before.traffic();
        Ok(())
    }

    async fn connect(&self) -> Result<Box<dyn Session>, DbError> {
        let Some(connector) = &self.connector else {
            let why = "a client has one session here, and can open no other";
            return Err(DbError::new(DbErrorKind::Unsupported, why));
        };
        connector.connect().await
    }

    /// Returns the further session with this handle; `None` if it is closed.
    pub fn further(&mut self, session: FurtherSession) -> Option<&mut dyn Session> {
        match self.further.get_mut(session.0)? {
            Some(session) => Some(session.as_mut()),
            None => None,
        }
    }

    /// Closes the further session with this handle; does nothing if it is already closed.
    pub fn close(&mut self, session: FurtherSession) {
        if let Some(closed) = self.further.get_mut(session.0).and_then(Option::take) {
            self.closed += closed.traffic();
        }
    }

    /// Closes all sessions of the client except its main one.
    pub fn close_further(&mut self) {
        (0..self.further.len()).for_each(|place| self.close(FurtherSession(place)));
    }

    /// Returns statements, round trips, rows and bytes of all sessions so far, including closed
    /// ones.
    #[inline]
    pub fn traffic(&self) -> Traffic {
        let mut all = self.own.traffic();
        all += self.closed;
        for session in self.further.iter().flatten() {
            all += session.traffic();
        }
        all
    }
}
