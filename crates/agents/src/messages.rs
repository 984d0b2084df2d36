//! Messages between hub, agents and runs, as CBOR, apart from those of the load itself.

use app::run::{Permissions, Work};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::Process;

/// An agent asks the hub for a certificate.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Public key of the agent.
    pub(crate) key: [u8; 32],
    /// Last word of the subject on which the agent awaits the answer.
    pub(crate) answer_at: String,
}

/// Answer of the hub to [`Ask`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Joined(Membership),
    Refused { why: String },
}

/// Place, name and certificate of an agent that has joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Membership {
    pub(crate) place: u32,
    /// Name of the agent, which no other agent of the hub has.
    pub(crate) name: String,
    /// Certificate of the agent (DER).
    pub(crate) certificate: Vec<u8>,
    /// Time at which the certificate expires, in seconds since 1970.
    pub(crate) expires_s: u64,
}

/// A run, or a list of agents, asks which agents are there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Who {
    pub(crate) asked_unix_ns: u64,
}

/// An agent's answer to [`Who`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Here {
    /// The time in the question.
    pub(crate) asked_unix_ns: u64,
    /// Time of the agent's clock, in nanoseconds since 1970.
    pub(crate) unix_ns: u64,
    pub(crate) name: String,
    /// Name of the agent's host.
    pub(crate) machine: String,
    /// Identity of the agent's process, with its boot and PID namespace.
    pub(crate) process: Process,
    pub(crate) version: String,
    pub(crate) n_cpus: u32,
    /// Mean number of runnable processes over the last minute.
    pub(crate) load: f64,
    /// Description of the agent's present work; `None` if it is free.
    pub(crate) busy_with: Option<String>,
    /// Servers, files and scripts that the agent allows, and whether its host may be monitored.
    pub(crate) permissions: Permissions,
}

/// First message of a conversation, by which a run asks an agent for a client process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) version: String,
    /// Description of the run, such as `a run on bench1`.
    pub(crate) asked_by: String,
    /// Task of the process: to run clients, to monitor the host, or to control a server.
    pub(crate) work: Work,
}

pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).expect("memory takes it");
    bytes
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    ciborium::from_reader(bytes).ok()
}
