//! The sessions of one client: its own, and those that its transactions opened beside it.
//!
//! Not here: when the client's own is made and made again (engine), and what is asked (workloads).

use crate::{Connecting, DbError, DbErrorKind, Session, Traffic};

/// Makes further sessions where a client lives. They know the statements of its workload.
pub trait Connector {
    /// Makes one more session, which no other client uses.
    fn connect(&self) -> Connecting<'_>;
}

/// A session that a client opened beside its own: valid until it is closed, or the client's own is
/// made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherSession(usize);

/// The sessions of one client.
pub struct Sessions {
    own: Box<dyn Session>,
    /// None where one was closed.
    further: Vec<Option<Box<dyn Session>>>,
    /// What those have moved that are closed.
    closed: Traffic,
    connector: Option<Box<dyn Connector>>,
}

impl Sessions {
    /// Those of a client that can open no other than its own.
    pub fn single(own: Box<dyn Session>) -> Sessions {
        Sessions { own, further: Vec::new(), closed: Traffic::default(), connector: None }
    }

    /// Those of a client that opens others by `connector`.
    pub fn new(own: Box<dyn Session>, connector: Box<dyn Connector>) -> Sessions {
        Sessions { connector: Some(connector), ..Sessions::single(own) }
    }

    /// The client's own session.
    #[inline]
    pub fn own(&mut self) -> &mut dyn Session {
        self.own.as_mut()
    }

    /// Opens a session beside the client's own.
    ///
    /// # Errors
    ///
    /// As the database refuses a connection; [`DbErrorKind::Unsupported`] where a client has one
    /// session alone, as in a trace.
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

    /// A session that was opened; none once it is closed.
    pub fn further(&mut self, session: FurtherSession) -> Option<&mut dyn Session> {
        match self.further.get_mut(session.0)? {
            Some(session) => Some(session.as_mut()),
            None => None,
        }
    }

    /// Closes a session that was opened, if it is open still.
    pub fn close(&mut self, session: FurtherSession) {
        if let Some(closed) = self.further.get_mut(session.0).and_then(Option::take) {
            self.closed += closed.traffic();
        }
    }

    /// Closes all but the client's own.
    pub fn close_further(&mut self) {
        (0..self.further.len()).for_each(|place| self.close(FurtherSession(place)));
    }

    /// What all of them have moved so far, those that are closed too.
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
