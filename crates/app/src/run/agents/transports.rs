//! The available transports: pipes, and one that a program adds. Not here: the trait (link).

use std::sync::OnceLock;

use super::link::Transport;
use super::pipe::PIPES;

/// Transport added by a program that links dbdyno, used instead of pipes.
static ADDED: OnceLock<&'static dyn Transport> = OnceLock::new();

/// Makes all client processes use this transport instead of pipes. Call it once, before any run;
/// panics at a second call.
pub fn add_transport(transport: &'static dyn Transport) {
    assert!(ADDED.set(transport).is_ok(), "a transport is added once");
}

/// Returns the transport by which new client processes are started.
pub(super) fn transport() -> &'static dyn Transport {
    ADDED.get().copied().unwrap_or(&PIPES)
}

/// Returns the transport with this name, given on the command line of a client process; `None` if
/// there is none.
pub(super) fn transport_named(name: &str) -> Option<&'static dyn Transport> {
    let all = ADDED.get().copied().into_iter().chain([&PIPES as &dyn Transport]);
    all.into_iter().find(|transport| transport.name() == name)
}
