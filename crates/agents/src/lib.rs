//! Other hosts that take part in runs: a hub, the agents that join it, and the connections of a run
//! to them.
//!
//! Runs and agents meet at a broker (NATS), which the hub starts. All of them only dial out to it,
//! with certificates of the hub's own authority. Not here: what a client process does (app), and
//! how clients are divided (engine).

mod agent;
#[cfg(test)]
mod attacks;
mod broker;
mod broker_program;
mod certificates;
mod conversation;
mod credentials;
mod delivery;
mod desk;
mod fleet;
mod frame;
mod hub;
mod lock;
mod messages;
mod served;
mod subjects;
mod this_host;
mod tls;
mod token;

pub use agent::{Agent, AgentOptions, inspect};
pub use broker::{Address, PORT};
pub use fleet::{Fleet, Listed};
pub use hub::{Hub, HubOptions, VALID_S};
pub use token::Token;

/// Returns a word that nobody can guess, for a subject of the broker.
fn random_word() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    token::hex(&bytes)
}

/// Returns the time in seconds since 1970.
fn unix_s() -> u64 {
    monitor::wall_clock::unix_ns() / model::NS_PER_S
}
