//! Where the time of a transaction goes: client, network, the server's CPU and what its sessions
//! wait for; and what none of these explains.
//!
//! Mean times of a transaction add up, by Little's law: the mean number of sessions in a state,
//! over the transactions per second, is the mean time that a transaction spends in it. Sources:
//! samples of the server's sessions, the kernel's clocks of both processes, round trips of a query
//! that does nothing on the path of the clients.
//!
//! Not here: who reads them (monitor).

use model::{Choice, NS_PER_MS, SessionState};
use serde::{Deserialize, Serialize};

use super::{GaugeReport, PerTransaction};
use crate::tally::Tally;

/// Where the time of a transaction went, over the measured phase and all groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeProfile {
    /// The mean time of a transaction at its client, failed ones too, without any wait for a free
    /// client, in milliseconds.
    pub service_ms: f64,
    /// How many transactions.
    pub transactions: u64,
    /// Its parts, in the order of the way to the server.
    pub parts: Vec<TimePart>,
    /// The service time less all parts, in milliseconds: below zero where parts overlap.
    pub unexplained_ms: f64,
}

/// A part of the time of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePart {
    /// A word for it: `client_cpu`, `network`, `server_cpu`, `lock`.
    pub name: String,
    /// Its mean, in milliseconds.
    pub ms: f64,
}

impl TimePart {
    /// What it is, for people.
    pub fn title(&self) -> &str {
        match &*self.name {
            "client_cpu" => "client: CPU",
            "client_run_delay" => "client: waiting for a CPU",
            "network" => "network and system calls",
            "server_cpu" => "server: CPU",
            "server_run_delay" => "server: waiting for a CPU",
            "executing" => "server: executing, else",
            "lock" => "server: waiting for locks",
            "latch" => "server: waiting for latches",
            "io" => "server: waiting for data files",
            "commit" => "server: committing (log)",
            "other" => "server: waiting, else",
            name => name,
        }
    }
}

/// The profile of a run; none where the sessions of its database were not sampled, or too few
/// transactions ended.
pub(super) fn time_profile(
    tally: &Tally,
    gauges: &[GaugeReport],
    per_transaction: &PerTransaction,
) -> Option<TimeProfile> {
    let (busy_ns, transactions) = busy(tally);
    let seconds = tally.measured_ns() as f64 / model::NS_PER_S as f64;
    let mean = |about: &str, name: &str| {
        let is_it = |gauge: &&GaugeReport| gauge.about == about && gauge.name == name;
        gauges.iter().find(is_it).and_then(|gauge| gauge.mean)
    };
    let state = |state: SessionState| mean("database", &format!("sessions/{}", state.name()));
    state(SessionState::Executing)?;
    if transactions == 0 || seconds == 0.0 {
        return None;
    }
    // Of something that so many do at a time, the milliseconds of each transaction.
    let each_ms = |at_a_time: f64| at_a_time * seconds * 1e3 / transactions as f64;
    let cpus = |about: &str| {
        Some((mean(about, "cpu_user")? + mean(about, "cpu_system").unwrap_or(0.0)) / 100.0)
    };
    let delay = |about: &str| mean(about, "run_delay").map(|ms_per_s| ms_per_s / 1e3);
    let executing = state(SessionState::Executing).map_or(0.0, each_ms);
    let server_cpu = cpus("server").map(each_ms).map(|ms| ms.min(executing));
    let left = executing - server_cpu.unwrap_or(0.0);
    let server_delay = delay("server").map(each_ms).map(|ms| ms.min(left));
    let network = per_transaction.round_trips.zip(mean("database", "round_trip"));
    let mut parts = Vec::new();
    let mut add = |name: &str, ms: Option<f64>| {
        parts.extend(ms.map(|ms| TimePart { name: name.to_owned(), ms }));
    };
    add("client_cpu", cpus("generator").map(each_ms));
    add("client_run_delay", delay("generator").map(each_ms));
    add("network", network.map(|(round_trips, ms)| round_trips * ms));
    add("server_cpu", server_cpu);
    add("server_run_delay", server_delay);
    add("executing", Some(left - server_delay.unwrap_or(0.0)));
    use SessionState::{Commit, Io, Latch, Lock, Other};
    for waits in [Lock, Latch, Io, Commit, Other] {
        add(waits.name(), state(waits).map(each_ms));
    }
    let service_ms = busy_ns / transactions as f64 / NS_PER_MS as f64;
    let unexplained_ms = service_ms - parts.iter().map(|part| part.ms).sum::<f64>();
    Some(TimeProfile { service_ms, transactions, parts, unexplained_ms })
}

/// How long clients were busy with transactions in the measured window, and how many of these ended.
fn busy(tally: &Tally) -> (f64, u64) {
    let (mut busy_ns, mut ended) = (0.0, 0);
    for group in &tally.groups {
        let kinds = &group.measured.kinds;
        let waits = |kind: &model::KindSecond| kind.wait.as_ref().map_or(0.0, |h| h.sum() as f64);
        busy_ns += group.busy_ns() - kinds.iter().map(waits).sum::<f64>();
        let of_kind = |kind: &model::KindSecond| kind.counts.finished() + kind.counts.failed;
        ended += kinds.iter().map(of_kind).sum::<u64>();
    }
    (busy_ns, ended)
}
