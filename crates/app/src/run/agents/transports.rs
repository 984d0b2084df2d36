//! The list of transports: pipes, and one that a program adds. Not here: what one is (link).

use std::sync::OnceLock;

use super::link::Transport;
use super::pipe::PIPES;

/// Transport of a program that links dbdyno.
static ADDED: OnceLock<&'static dyn Transport> = OnceLock::new();

/// Replaces the pipes for all client processes. Call it once, before any run.
pub fn add_transport(transport: &'static dyn Transport) {
    assert!(ADDED.set(transport).is_ok(), "a transport is added once");
}

/// Returns the transport of new client processes.
pub(super) fn transport() -> &'static dyn Transport {
    ADDED.get().copied().unwrap_or(&PIPES)
}

/// Returns the transport that a client process was started with.
pub(super) fn transport_named(name: &str) -> Option<&'static dyn Transport> {
    let all = ADDED.get().copied().into_iter().chain([&PIPES as &dyn Transport]);
    all.into_iter().find(|transport| transport.name() == name)
}
