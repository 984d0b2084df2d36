//! Connections to client processes: a message is a sequence of bytes that arrives whole and in
//! order, or not at all.
//!
//! [`Transport`] is all that a pipe, a socket and a broker have to provide. Not here: the messages
//! (message), and the transports there are (transports).

use std::io;
use std::sync::Arc;

/// Largest message, in bytes: a second of 64 histograms takes about 1 MiB.
pub(super) const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Receives what the other end sends.
pub trait Incoming: Send {
    /// Waits for the next message; `None` if the other end has closed, or is lost.
    fn receive(&mut self) -> Option<Vec<u8>>;
}

/// Sends to the other end, from any thread.
pub trait Outgoing: Send + Sync {
    /// Sends one message. Fails if the other end has closed, or is lost.
    fn send(&self, message: &[u8]) -> io::Result<()>;
}

/// Both directions of a connection. Dropping all senders closes it.
pub struct Link {
    /// Messages of the other end.
    pub incoming: Box<dyn Incoming>,
    /// Messages to the other end.
    pub outgoing: Arc<dyn Outgoing>,
}

/// A client process that was started. Dropping it ends the process.
pub trait Peer: Send {
    /// Returns the process id, if the process runs on this machine.
    fn process_id(&self) -> Option<u32>;

    /// Says how it ended, such as `signal: 9`; `None` while it runs, or if that cannot be known.
    /// `has_closed`: the connection is closed, so that the end is near and may be waited for.
    fn how_it_ended(&mut self, has_closed: bool) -> Option<String>;
}

/// A way to start client processes and to exchange messages with them.
pub trait Transport: Send + Sync {
    /// Word after the hidden subcommand by which a started process knows its transport.
    fn name(&self) -> &'static str;

    /// Starts client process `number` of a run, counted from 1, and connects with it. The program
    /// calls [`Transport::join`] there.
    fn start(&self, number: u32) -> io::Result<(Link, Box<dyn Peer>)>;

    /// Connects a client process with the run that started it; `words` follow the name on its
    /// command line.
    fn join(&self, words: &[String]) -> io::Result<Link>;
}
