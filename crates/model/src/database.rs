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

/// The way in which clients run: on a thread each, on shared event loops, or in virtual time.
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
    /// Returns the name of the placement on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Thread => "thread",
            Placement::Loop => "loop",
            Placement::Simulated => "simulated",
        }
    }
}

/// Set of the placements (thread, event loop, virtual time) in which a driver's sessions or a
/// workload's clients can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Clients can each have a thread of their own, with sockets that block.
    pub thread: bool,
    /// Many clients can share one event loop.
    pub event_loop: bool,
    /// Clients can run in virtual time, all on one thread.
    pub simulated: bool,
}

impl Places {
    /// Set of all three placements: thread, event loop and virtual time.
    pub const ALL: Places = Places { thread: true, event_loop: true, simulated: true };
    /// Set with only the placement on threads, for a driver or workload whose code blocks its
    /// thread.
    pub const THREAD: Places = Places { thread: true, event_loop: false, simulated: false };

    /// Whether this set contains `placement`.
    pub fn has(self, placement: Placement) -> bool {
        match placement {
            Placement::Thread => self.thread,
            Placement::Loop => self.event_loop,
            Placement::Simulated => self.simulated,
        }
    }
}

/// Placement, clock and client for which a driver opens a new session.
#[derive(Clone)]
pub struct Place {
    /// Placement of the client for which the session is opened: on a thread of its own, on an event
    /// loop, or in virtual time.
    pub placement: Placement,
    /// Clock of the thread or event loop that runs the client.
    pub clock: Rc<dyn Clock>,
    /// Index of the client over all groups and client processes, from 0; [`Place::NOBODY`] if the
    /// session belongs to no client.
    pub client: u32,
}

impl Place {
    /// Client index of a session that belongs to no client and is not counted as a client's, such
    /// as one that measures the network path.
    pub const NOBODY: u32 = u32::MAX;
}

/// The hosts over which the clients of a target are spread. Hosts may be added and removed during a
/// run; a client that must move to another host does so before its next transaction
/// ([`Session::should_move`]).
pub trait Hosts: Send + Sync {
    /// Returns the hosts over which clients are spread at present.
    fn list(&self) -> Vec<Host>;

    /// Adds a host to those over which clients are spread, and assigns it a fair share of the
    /// clients. If the host is already in use, the clients that left it when it failed are to
    /// return. Returns the number of clients that this call assigned to the host. Fails with the
    /// reason, such as that the host's name cannot be resolved.
    fn add(&self, host: &Host) -> Result<usize, String>;

    /// Removes a host from those over which clients are spread, and assigns its clients to the
    /// other hosts. Returns the number of these clients. Fails with the reason, such as that it is
    /// the last host.
    fn remove(&self, host: &Host) -> Result<usize, String>;

    /// Returns how many clients are still connected to a host after [`Hosts::remove`], because they
    /// move to other hosts only before their next transaction.
    fn left(&self, host: &Host) -> usize;

    /// Breaks the connections of clients that are still connected to a host after
    /// [`Hosts::remove`], and returns the number of these connections.
    fn cut(&self, host: &Host) -> usize;

    /// Returns the hosts that did not answer when dbdyno tried to open an administrative session,
    /// which builds, checks or queries data.
    fn silent(&self) -> Vec<Host>;
}

/// Future that opens a session: the result of [`Database::connect`].
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>, DbError>> + 'a>>;

/// A target database that a driver has opened, shared by all threads of the run.
pub trait Database: Send + Sync {
    /// Returns the driver's description of the database product.
    fn product(&self) -> &Product;

    /// Returns the SQL dialect of the database.
    fn dialect(&self) -> &Dialect {
        &self.product().dialect
    }

    /// Returns the database's capabilities and statements for building and administering data.
    fn administration(&self) -> &Administration {
        &self.product().administration
    }

    /// Returns the queries by which dbdyno reads what the database reports about itself.
    fn monitoring(&self) -> &Monitoring {
        &self.product().monitoring
    }

    /// Returns the placements that the database's sessions support.
    fn places(&self) -> Places;

    /// Opens a session in which `statements` can be executed; the identifier of each is its index
    /// in the slice. Fails if the database does not accept the connection.
    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a>;

    /// Reads version, modes and current settings of the database as facts, to be stored with the
    /// run. Fails if the database cannot be queried.
    fn facts(&self) -> Result<Vec<Fact>, DbError>;

    /// Makes clients connect through the entrance of the simulated network from now on, or directly
    /// if `None`. Administrative sessions always connect directly. Returns `false` if clients reach
    /// the database without a network, so that the entrance has no effect.
    fn enter_through(&self, _entrance: Option<PathEntrance>) -> bool {
        false
    }

    /// Returns the reason why the clients of the database cannot be divided among several
    /// processes, and what to do instead; `None` if they can.
    fn refuses_processes(&self) -> Option<&'static str> {
        None
    }

    /// Limits the number of statements that each session opened from now on keeps prepared. Above
    /// it, a session closes the one that it has used least recently. Without a call, a limit of the
    /// driver holds. Does nothing by default.
    fn keep_statements(&self, _most: usize) {}

    /// Returns the hosts over which clients are spread; `None` if they cannot change during a run.
    fn hosts(&self) -> Option<&dyn Hosts> {
        None
    }

    /// Returns what the driver itself has counted since the database was opened, over all sessions,
    /// as pairs of a counter's name and its value. Empty if the counters are queried from a server.
    fn counted(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
