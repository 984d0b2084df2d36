//! An opened target, which makes sessions. Not here: drivers.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Administration, Clock, DbError, Dialect, Fact, Host, Monitoring, PathEntrance, Product,
    Session, Statement,
};

/// The kind of worker on which a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// One thread per client; sockets block.
    Thread,
    /// Many clients on one event loop per core.
    Loop,
    /// One thread in virtual time.
    Simulated,
}

impl Placement {
    /// Returns the name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Thread => "thread",
            Placement::Loop => "loop",
            Placement::Simulated => "simulated",
        }
    }
}

/// The placements that a driver or a workload supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// One thread per client.
    pub thread: bool,
    /// Many clients per event loop.
    pub event_loop: bool,
    /// Virtual time, on one thread.
    pub simulated: bool,
}

impl Places {
    /// Support for all three placements.
    pub const ALL: Places = Places { thread: true, event_loop: true, simulated: true };
    /// Threads only, for code that blocks.
    pub const THREAD: Places = Places { thread: true, event_loop: false, simulated: false };

    /// Whether `placement` is supported.
    pub fn has(self, placement: Placement) -> bool {
        match placement {
            Placement::Thread => self.thread,
            Placement::Loop => self.event_loop,
            Placement::Simulated => self.simulated,
        }
    }
}

/// Placement of a new session: the clock and kind of its worker.
#[derive(Clone)]
pub struct Place {
    /// Kind of worker that runs the client.
    pub placement: Placement,
    /// Clock of the worker.
    pub clock: Rc<dyn Clock>,
    /// Index of the client, global over all agents; [`Place::NOBODY`] for a session of no client.
    pub client: u32,
}

impl Place {
    /// Client index of a session that uses the clients' network path, to measure it, but is not
    /// counted as a client.
    pub const NOBODY: u32 = u32::MAX;
}

/// The hosts of a target over which its clients are spread. The list may change during a run: a
/// client that must move does so before its next transaction ([`Session::should_move`]).
pub trait Hosts: Send + Sync {
    /// Returns the hosts that clients currently use.
    fn list(&self) -> Vec<Host>;

    /// Adds a host and gives it a share of the clients. A host that is still on the list gets back
    /// the clients that left when it was lost. Returns the number of clients to move. Fails with
    /// the reason.
    fn add(&self, host: &Host) -> Result<usize, String>;

    /// Removes a host and distributes its clients to the others. Returns the number of clients to
    /// move. Fails with the reason.
    fn remove(&self, host: &Host) -> Result<usize, String>;

    /// Returns the number of clients still connected to a removed host.
    fn left(&self, host: &Host) -> usize;

    /// Breaks the connections of clients to a removed host, and returns their number.
    fn cut(&self, host: &Host) -> usize;

    /// Returns the hosts that did not answer a session that built, checked or queried.
    fn silent(&self) -> Vec<Host>;
}

/// A connection being made.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>, DbError>> + 'a>>;

/// An opened target. Shared by all workers.
pub trait Database: Send + Sync {
    /// Returns the driver's description of the database.
    fn product(&self) -> &Product;

    /// Returns the spelling of its SQL.
    fn dialect(&self) -> &Dialect {
        &self.product().dialect
    }

    /// Returns its capabilities for building and administration.
    fn administration(&self) -> &Administration {
        &self.product().administration
    }

    /// Returns its capabilities for monitoring.
    fn monitoring(&self) -> &Monitoring {
        &self.product().monitoring
    }

    /// Returns the placements in which its sessions can run.
    fn places(&self) -> Places;

    /// Opens a session that has `statements` declared. Fails if the database does not accept it.
    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a>;

    /// Reads version, modes and settings in force, for the record of the run.
    fn facts(&self) -> Result<Vec<Fact>, DbError>;

    /// Connects clients from now on through this entrance, or directly if `None`; sessions that
    /// build, check or query always connect directly. Returns whether its clients connect over a
    /// network at all.
    fn enter_through(&self, _entrance: Option<PathEntrance>) -> bool {
        false
    }

    /// Returns its list of hosts; `None` if the list cannot change.
    fn hosts(&self) -> Option<&dyn Hosts> {
        None
    }

    /// Returns the driver's own counts over all sessions so far, by the names of its
    /// [`Counters`](crate::Counters); empty if a server is queried instead.
    fn counted(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
