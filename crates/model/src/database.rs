//! A target that has been opened: it makes sessions. Not here: how a driver does it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Administration, Clock, DbError, Dialect, Fact, Host, Monitoring, PathEntrance, Product,
    Session, Statement,
};

/// Where a client lives while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// A thread a client; the socket blocks.
    Thread,
    /// Many clients on an event loop a core.
    Loop,
    /// One thread, virtual time.
    Simulated,
}

impl Placement {
    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Thread => "thread",
            Placement::Loop => "loop",
            Placement::Simulated => "simulated",
        }
    }
}

/// The placements that something can live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// A thread a client.
    pub thread: bool,
    /// An event loop.
    pub event_loop: bool,
    /// Virtual time.
    pub simulated: bool,
}

impl Places {
    /// Everywhere.
    pub const ALL: Places = Places { thread: true, event_loop: true, simulated: true };
    /// Threads only: it blocks.
    pub const THREAD: Places = Places { thread: true, event_loop: false, simulated: false };

    /// Whether `placement` is among them.
    pub fn has(self, placement: Placement) -> bool {
        match placement {
            Placement::Thread => self.thread,
            Placement::Loop => self.event_loop,
            Placement::Simulated => self.simulated,
        }
    }
}

/// Where a session is to live: its worker's clock and kind.
#[derive(Clone)]
pub struct Place {
    /// How the client is placed.
    pub placement: Placement,
    /// The worker's clock.
    pub clock: Rc<dyn Clock>,
    /// The client's index, global over all agents; [`Place::NOBODY`] of a session that is none.
    pub client: u32,
}

impl Place {
    /// Whose session it is that goes the way of the clients, to see how far it is, and counts as
    /// none of them.
    pub const NOBODY: u32 = u32::MAX;
}

/// The hosts of a target over which its clients are spread. The list may change in mid-run: a
/// client moves, where it must, before its next transaction ([`Session::should_move`]).
pub trait Hosts: Send + Sync {
    /// Those that clients use now.
    fn list(&self) -> Vec<Host>;

    /// Gives a host its share of the clients. One that is on the list already gets back those that
    /// went to others when it was lost. Tells how many clients are to move, or why it cannot be.
    fn add(&self, host: &Host) -> Result<usize, String>;

    /// Takes a host from the list; its clients go to the others. Tells how many are to move, or why
    /// it cannot be.
    fn remove(&self, host: &Host) -> Result<usize, String>;

    /// How many clients are still connected to a host that is not on the list any more.
    fn left(&self, host: &Host) -> usize;

    /// Breaks the connections of clients to a host that is not on the list any more, and tells how
    /// many those were.
    fn cut(&self, host: &Host) -> usize;

    /// Those that did not answer when somebody built, checked or asked.
    fn silent(&self) -> Vec<Host>;
}

/// A connection being made.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>, DbError>> + 'a>>;

/// An opened target. Shared by all workers.
pub trait Database: Send + Sync {
    /// What its driver knows of it.
    fn product(&self) -> &Product;

    /// How its SQL is spelled.
    fn dialect(&self) -> &Dialect {
        &self.product().dialect
    }

    /// How it is built in and administered.
    fn administration(&self) -> &Administration {
        &self.product().administration
    }

    /// How what it says of itself is read.
    fn monitoring(&self) -> &Monitoring {
        &self.product().monitoring
    }

    /// Where its sessions can live.
    fn places(&self) -> Places;

    /// Makes a session that knows `statements`.
    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a>;

    /// What is in force: version, modes and settings, for the record of the run.
    fn facts(&self) -> Result<Vec<Fact>, DbError>;

    /// From now on connects clients through this entrance, or directly; whoever builds, checks or
    /// asks always connects directly. Whether its clients connect over a network at all.
    fn enter_through(&self, _entrance: Option<PathEntrance>) -> bool {
        false
    }

    /// Its hosts; none where it has none that could change.
    fn hosts(&self) -> Option<&dyn Hosts> {
        None
    }

    /// What the driver itself has counted of all sessions until now, by the names of its
    /// [`Counters`](crate::Counters); nothing where a server is asked.
    fn counted(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
