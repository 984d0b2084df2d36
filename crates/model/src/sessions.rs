//! The sessions of one client: its own, and further ones that its transactions opened.
//!
//! Not here: connecting the client's own session (engine), and the statements (workloads).

use crate::{Connecting, DbError, DbErrorKind, Session, Traffic};

/// Opens further sessions on a client's worker, with the statements of its workload declared.
pub trait Connector {
    /// Opens a session that no other client uses. Fails if the database does not accept it.
    fn connect(&self) -> Connecting<'_>;
}

/// Handle of a further session of a client: valid until it is closed, or the client's own session
/// reconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherSession(usize);

/// The sessions of one client.
pub struct Sessions {
    own: Box<dyn Session>,
    /// Further sessions by handle; `None` if closed.
    further: Vec<Option<Box<dyn Session>>>,
    /// Traffic of the closed sessions.
    closed: Traffic,
    connector: Option<Box<dyn Connector>>,
}

impl Sessions {
    /// Makes the sessions of a client that can only have its own.
    pub fn single(own: Box<dyn Session>) -> Sessions {
        Sessions { own, further: Vec::new(), closed: Traffic::default(), connector: None }
    }

    /// Makes the sessions of a client that opens further ones by `connector`.
    pub fn new(own: Box<dyn Session>, connector: Box<dyn Connector>) -> Sessions {
        Sessions { connector: Some(connector), ..Sessions::single(own) }
    }

    /// Returns the client's own session.
    #[inline]
    pub fn own(&mut self) -> &mut dyn Session {
        self.own.as_mut()
    }

    /// Opens a session beside the client's own.
    ///
    /// # Errors
    ///
    /// Fails if the database does not accept the connection; with [`DbErrorKind::Unsupported`] if
    /// the client can only have one session, as in a trace.
    pub async fn open(&mut self) -> Result<FurtherSession, DbError> {
        let Some(connector) = &self.connector else {
            let why = "a client has one session here, and can open no other";
            return Err(DbError::new(DbErrorKind::Unsupported, why));
        };
        let session = connector.connect().await?;
        let place = self.further.iter().position(Option::is_none);
        let place = place.unwrap_or_else(|| {
            self.further.push(None);
            self.further.len() - 1
        });
        self.further[place] = Some(session);
        Ok(FurtherSession(place))
    }

    /// Returns a further session; `None` once it is closed.
    pub fn further(&mut self, session: FurtherSession) -> Option<&mut dyn Session> {
        match self.further.get_mut(session.0)? {
            Some(session) => Some(session.as_mut()),
            None => None,
        }
    }

    /// Closes a further session; does nothing if it is closed already.
    pub fn close(&mut self, session: FurtherSession) {
        if let Some(closed) = self.further.get_mut(session.0).and_then(Option::take) {
            self.closed += closed.traffic();
        }
    }

    /// Closes all sessions except the client's own.
    pub fn close_further(&mut self) {
        (0..self.further.len()).for_each(|place| self.close(FurtherSession(place)));
    }

    /// Returns the traffic of all sessions so far, including closed ones.
    #[inline]
    pub fn traffic(&self) -> Traffic {
        let mut all = self.own.traffic();
        if self.further.is_empty() {
            return all;
        }
        all += self.closed;
        for session in self.further.iter().flatten() {
            all += session.traffic();
        }
        all
    }
}
