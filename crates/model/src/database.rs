//! The interface of an opened database, which makes sessions. Not here: drivers.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Administration, Clock, DbError, Dialect, Fact, Host, Monitoring, PathEntrance, Product,
    Session, Statement,
};

/// The way in which clients share threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Each client has a thread of its own, and its sockets block.
    Thread,
    /// Many clients share one event loop per core.
    Loop,
    /// All clients share one thread, and time is virtual: it jumps to the next event.
    Simulated,
}

impl Placement {
    /// Returns the name that is used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Thread => "thread",
            Placement::Loop => "loop",
            Placement::Simulated => "simulated",
        }
    }
}

/// Set of the placements of clients that a driver or a workload supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Supports a thread for each client, with sockets that block.
    pub thread: bool,
    /// Supports many clients on one event loop.
    pub event_loop: bool,
    /// Supports virtual time, with all clients on one thread.
    pub simulated: bool,
}

impl Places {
    /// Support for all three placements.
    pub const ALL: Places = Places { thread: true, event_loop: true, simulated: true };
    /// Threads only, for code that blocks its thread.
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

/// The place of a new session: on which kind of worker, by which clock, for which client.
#[derive(Clone)]
pub struct Place {
    /// Whether the client has a thread, an event loop or virtual time.
    pub placement: Placement,
    /// Clock of the thread or event loop that runs the client.
    pub clock: Rc<dyn Clock>,
    /// Index of the client over all groups and client processes; [`Place::NOBODY`] if the session
    /// belongs to no client.
    pub client: u32,
}

impl Place {
    /// Client index of a session that measures the clients' network path and is not counted as a
    /// client.
    pub const NOBODY: u32 = u32::MAX;
}

/// The hosts over which the clients of a target are spread. The list may change during a run; a
/// client that must move to another host does so before its next transaction
/// ([`Session::should_move`]).
pub trait Hosts: Send + Sync {
    /// Returns the hosts that clients currently use.
    fn list(&self) -> Vec<Host>;

    /// Adds a host and assigns it a fair share of the clients. For a host already on the list, the
    /// clients that left it when it failed are to return. Returns the number of clients assigned to
    /// the host by this. Fails with the reason.
    fn add(&self, host: &Host) -> Result<usize, String>;

    /// Removes a host and assigns its clients to the other hosts. Returns their number. Fails with
    /// the reason, such as that it is the last host.
    fn remove(&self, host: &Host) -> Result<usize, String>;

    /// Returns the number of clients that are still connected to a host that was removed.
    fn left(&self, host: &Host) -> usize;

    /// Breaks the remaining client connections to a host that was removed, and returns their
    /// number.
    fn cut(&self, host: &Host) -> usize;

    /// Returns the hosts that did not answer when an administrative session, which builds, checks
    /// or queries, tried to connect.
    fn silent(&self) -> Vec<Host>;
}

/// Future of a connection that is being made.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>, DbError>> + 'a>>;

/// An opened target database, shared by all threads of the run.
pub trait Database: Send + Sync {
    /// Returns the driver's description of the database product.
    fn product(&self) -> &Product;

    /// Returns the SQL dialect of the database.
    fn dialect(&self) -> &Dialect {
        &self.product().dialect
    }

    /// Returns the product's capabilities for building and administering data.
    fn administration(&self) -> &Administration {
        &self.product().administration
    }

    /// Returns the product's queries for monitoring.
    fn monitoring(&self) -> &Monitoring {
        &self.product().monitoring
    }

    /// Returns the placements that the database's sessions support.
    fn places(&self) -> Places;

    /// Opens a session in which `statements` can be executed, each by its index. Fails if the
    /// database does not accept the connection.
    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a>;

    /// Reads version, modes and settings that are in force, to be stored with the run.
    fn facts(&self) -> Result<Vec<Fact>, DbError>;

    /// Makes clients connect through the entrance of the simulated network from now on, or directly
    /// if `None`. Administrative sessions always connect directly. Returns `false` if clients reach
    /// the database without a network, so that the entrance has no effect.
    fn enter_through(&self, _entrance: Option<PathEntrance>) -> bool {
        false
    }

    /// Returns the hosts over which clients are spread; `None` if they cannot change during a run.
    fn hosts(&self) -> Option<&dyn Hosts> {
        None
    }

    /// Returns the driver's own counts over all sessions so far, with the names of its
    /// [`Counters`](crate::Counters). Empty if the counters are queried from a server.
    fn counted(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
