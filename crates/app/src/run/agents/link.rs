//! Traits for the connections between a run and its client processes. A message is a sequence of
//! bytes that arrives whole and in order, or not at all.
//!
//! [`Transport`] is all that a pipe, a socket or a broker has to provide. Not here: the messages
//! (message), and the list of transports (transports).

use std::io;
use std::sync::Arc;

use model::AgentShare;

use super::permissions::{Permissions, Work};
use crate::error::Error;

/// Largest size of a message in bytes; a larger one is not sent and not accepted. One second of 64
/// histograms takes about 1 MiB.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Receiving half of the connection between a run and one of its client processes.
pub trait Incoming: Send {
    /// Waits for the next message; `None` if the other end has closed the connection, or is lost.
    fn receive(&mut self) -> Option<Vec<u8>>;
}

/// Sending half of the connection between a run and one of its client processes, used from any
/// thread.
pub trait Outgoing: Send + Sync {
    /// Sends one message. Fails if the other end has closed the connection, or is lost.
    fn send(&self, message: &[u8]) -> io::Result<()>;
}

/// A connection between a run and one of its client processes. It is closed when all copies of
/// `outgoing` are dropped.
pub struct Link {
    /// Receiving half, for messages from the other end of the connection.
    pub incoming: Box<dyn Incoming>,
    /// Sending half, for messages to the other end of the connection.
    pub outgoing: Arc<dyn Outgoing>,
}

/// Handle of a client process that was started. Dropping it ends the process.
pub trait Peer: Send {
    /// Returns the process id; `None` if the process runs on another machine.
    fn process_id(&self) -> Option<u32>;

    /// Returns how the process ended, such as `signal: 9`; `None` while it runs, or if that cannot
    /// be known. `has_closed` says that its connection is closed, so that its end is near and may
    /// be waited for.
    fn how_it_ended(&mut self, has_closed: bool) -> Option<String>;
}

/// Another host that executes clients of a run, as its agent describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHost {
    /// Name of the agent on that host.
    pub name: String,
    /// Name of the host itself.
    pub machine: String,
    /// Number of CPUs that the agent may use.
    pub n_cpus: u32,
    /// Whether that host is this one.
    pub is_here: bool,
    /// Whether process ids of the agent are those of this process: on this host, and in no
    /// container of its own.
    pub shares_processes: bool,
}

/// Finds the other hosts on which the clients of a run are executed.
pub trait Hosts: Send + Sync {
    /// Chooses a host for each of `agents`: the named one, or any that is free and whose
    /// permissions `may_load` accepts. Its transport then starts process `number` on the host of
    /// agent `number`, counted from 1.
    ///
    /// # Errors
    ///
    /// An agent that has not joined, is busy, may not load the target, or is of another version.
    fn choose(
        &self,
        agents: &[AgentShare],
        may_load: &dyn Fn(&Permissions) -> Result<(), Error>,
    ) -> Result<Chosen, Error>;

    /// Finds the agents with these names, which are to monitor their hosts or to control a server
    /// there. They may be busy with clients at the same time.
    ///
    /// # Errors
    ///
    /// An agent that has not joined, does not allow it, or is of another version.
    fn choose_named(&self, names: &[String], work: Work) -> Result<Chosen, Error>;
}

/// Hosts that were chosen for the agents of a run, in their order, and how processes are started on
/// them.
pub struct Chosen {
    pub hosts: Vec<AgentHost>,
    pub transport: Box<dyn Transport>,
}

/// Starts client processes, and exchanges messages with them.
pub trait Transport: Send + Sync {
    /// Returns the transport's name on the command line of a client process, after the hidden
    /// subcommand, by which the process knows its transport.
    fn name(&self) -> &'static str;

    /// Starts client process `number` of a run, counted from 1, and connects with it. That process
    /// calls [`Transport::join`].
    fn start(&self, number: u32) -> io::Result<(Link, Box<dyn Peer>)>;

    /// Connects this client process with the run that started it. `words` are the arguments that
    /// follow the transport's name on the command line. Fails if no process is started in this way.
    fn join(&self, words: &[String]) -> io::Result<Link>;
}
