//! The resource that limits throughput, if what was read during a run shows one.
//!
//! A limit is named only with its evidence: a resource that was busy nearly all of the time, or a
//! wait that takes half of a transaction. Where nothing stands out, there is no limit to name. Not
//! here: dips of some seconds (dips), and the parts of a transaction's time (time_profile).

use model::numbers::percent_text;
use model::{FactValue, Load};
use serde::{Deserialize, Serialize};

use super::{GaugeReport, Report, SAMPLES_LEAST};
use crate::host::{self, Machine, Place};
use crate::tally::Tally;

/// Smallest share of time, in percent, for which all CPUs of a machine must be busy to limit
/// throughput. At 95 %, a thread that wakes finds nearly always all CPUs taken.
const CPU_BUSY_PERCENT_MIN: f64 = 95.0;

/// Smallest share of time, in percent, for which a disk must have requests to limit throughput.
const DISK_BUSY_PERCENT_MIN: f64 = 90.0;

/// Smallest share of time, in percent, for which an event loop of the generator must be busy, waits
/// for a CPU excluded, to limit throughput.
const LOOP_BUSY_PERCENT_MIN: f64 = 95.0;

/// Smallest share of a transaction's mean time that a wait, or its round trips, must take to limit
/// throughput.
const PART_MIN: f64 = 0.5;

/// Smallest share of time, in percent, for which CPUs must be idle for more clients to find work.
const IDLE_PERCENT_MIN: f64 = 20.0;

/// Smallest share of CPU time, in percent, of neither server nor generator that is named.
const REST_PERCENT_LEAST: f64 = 0.1;

/// Shortest measured phase whose means show a limit, in seconds.
const SECONDS_MIN: f64 = 5.0;

/// A kind of resource that limits throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The CPUs of the machine on which the database runs.
    Cpu,
    /// The generator: an event loop, or the CPUs of its own machine.
    Generator,
    /// A disk that nearly always has requests.
    Disk,
    /// A wait of the server's sessions, such as that for locks.
    Waits,
    /// Round trips: too few clients to keep the database busy.
    RoundTrips,
}

/// What limits throughput in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitedBy {
    pub limit: Limit,
    /// The resource with its evidence, such as `CPU of this machine, 99.9 % busy (server 62 %,
    /// dbdyno 31 %, others and interrupts 6.9 %)`.
    pub text: String,
}

/// Wait of sessions for reads and writes of data files.
const WAITS_FOR_FILES: &str = "waits for data files";

impl LimitedBy {
    /// Returns true if a disk is said to limit throughput: one that is busy, or waits for it.
    pub(crate) fn is_disk(&self) -> bool {
        self.limit == Limit::Disk || self.text.starts_with(WAITS_FOR_FILES)
    }
}

impl Report {
    /// Returns what limited throughput in the measured phase; `None` if the evidence shows nothing,
    /// or too little was measured.
    pub(crate) fn limit(&self, tally: &Tally) -> Option<LimitedBy> {
        if self.is_build() || self.measured_seconds < SECONDS_MIN {
            return None;
        }
        let found = self.busy_cpus(tally).or_else(|| self.busy_loop());
        let found = found.or_else(|| self.busy_disk(tally));
        let (limit, text) = found.or_else(|| self.waits()).or_else(|| self.round_trips(tally))?;
        Some(LimitedBy { limit, text })
    }

    fn mean(&self, about: &str, name: &str) -> Option<f64> {
        let is_it = |gauge: &&GaugeReport| gauge.about == about && gauge.name == name;
        self.gauges.iter().find(is_it)?.mean
    }

    /// Returns the share of time, in percent, for which the CPUs of the machine `about` were idle.
    fn idle_percent(&self, about: &str) -> Option<f64> {
        let idle = self.mean(about, "cpu_idle")?;
        Some(idle + self.mean(about, "cpu_iowait").unwrap_or(0.0))
    }

    fn busy_cpus(&self, tally: &Tally) -> Option<(Limit, String)> {
        let idle = |machine: Machine<'_>| self.idle_percent(&machine.about("machine"));
        let (machine, percent) = Machine::all(tally)
            .filter_map(|machine| Some((machine, 100.0 - idle(machine)?)))
            .filter(|(_, percent)| *percent >= CPU_BUSY_PERCENT_MIN)
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let shares = self.shares_of_cpu(tally, machine, percent);
        let percent = percent_text(percent);
        if machine != Machine::OURS {
            let is_servers = Machine::of_server_elsewhere(tally) == Some(machine);
            let is_generators = machine.has_clients(tally) && !is_servers;
            let limit = if is_generators { Limit::Generator } else { Limit::Cpu };
            let whose = if is_generators { "dbdyno: the CPU" } else { "CPU" };
            return Some((
                limit,
                format!("{whose} of {}, {percent} busy{shares}", machine.title()),
            ));
        }
        match host::place(tally) {
            Some(Place::WithinUs | Place::ThisHost) => {
                Some((Limit::Cpu, format!("CPU of this machine, {percent} busy{shares}")))
            }
            None if self.is_drawn() => None,
            None => {
                let text = format!(
                    "dbdyno: the CPU of its machine is {percent} busy{shares}, and the database is \
                     elsewhere"
                );
                Some((Limit::Generator, text))
            }
        }
    }

    /// Describes who used the CPUs of a machine, which were busy for `busy_percent` of the time, in
    /// brackets: `(server 62 %, dbdyno 31 %, others and interrupts 6.9 %)`; empty if that is not
    /// known.
    fn shares_of_cpu(&self, tally: &Tally, machine: Machine<'_>, busy_percent: f64) -> String {
        let Some(processors) = machine.processors(tally) else { return String::new() };
        let share = |(about, name): (&str, &'static str)| {
            let user = self.mean(about, "cpu_user")?;
            let all = user + self.mean(about, "cpu_system").unwrap_or(0.0);
            machine.has_process(tally, about).then_some((name, all / processors))
        };
        let all = [("server", "server"), ("generator", "dbdyno")].into_iter().filter_map(share);
        let mut all: Vec<(&'static str, f64)> = all.collect();
        let rest = busy_percent - all.iter().map(|(_, percent)| percent).sum::<f64>();
        // Other programs, and the kernel's work on packets and disks outside of any process.
        all.extend((rest >= REST_PERCENT_LEAST).then_some(("others and interrupts", rest)));
        let words = all.iter().map(|(name, percent)| format!("{name} {}", percent_text(*percent)));
        let words = words.collect::<Vec<String>>().join(", ");
        // Clients that an agent executes there are not read apart.
        let is_known = !all.is_empty() && (machine == Machine::OURS || !machine.has_clients(tally));
        if is_known { format!(" ({words})") } else { String::new() }
    }

    fn busy_loop(&self) -> Option<(Limit, String)> {
        let percents = |name: &str| {
            let all = self.fact("client", name).map_or(&[][..], FactValue::all);
            all.iter().filter_map(FactValue::as_percent).collect::<Vec<f64>>()
        };
        let waiting = percents("loop_run_delay_percent");
        let own = percents("loop_busy_percent").into_iter().enumerate();
        let own = own.map(|(at, busy)| busy - waiting.get(at).copied().unwrap_or(0.0));
        let most = own.max_by(f64::total_cmp).filter(|busy| *busy >= LOOP_BUSY_PERCENT_MIN)?;
        let text = format!("dbdyno: an event loop was busy {} of the time", percent_text(most));
        Some((Limit::Generator, text))
    }

    fn busy_disk(&self, tally: &Tally) -> Option<(Limit, String)> {
        // The disks of a generator do not limit a server on another machine.
        let machine = Machine::of_server(tally);
        let about = machine.about("machine");
        let disks = self.gauges.iter().filter(|gauge| gauge.about == about);
        let (disk, percent) = disks
            .filter_map(|gauge| Some((gauge.name.strip_prefix("disk_busy/")?, gauge.mean?)))
            .filter(|(_, percent)| *percent >= DISK_BUSY_PERCENT_MIN)
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let host = match machine == Machine::OURS {
            true => String::new(),
            false => format!(" of {}", machine.title()),
        };
        let latency = self.mean(&about, &format!("disk_latency/{disk}"));
        let latency = latency.map_or_else(String::new, |ms| {
            format!(", {} ms per request", model::numbers::significant(ms, 3))
        });
        let text =
            format!("disk {disk}{host}, busy {} of the time{latency}", percent_text(percent));
        Some((Limit::Disk, text))
    }

    /// Returns the wait of the server's sessions that takes half of a transaction's time or more.
    fn waits(&self) -> Option<(Limit, String)> {
        let profile = self.time_profile.as_ref()?;
        if self.session_samples().is_none_or(|n| n < SAMPLES_LEAST) {
            return None;
        }
        let waits = ["lock", "latch", "io", "commit"];
        let found = profile.parts.iter().filter(|part| waits.contains(&&*part.name));
        let most = found.max_by(|a, b| a.ms.total_cmp(&b.ms))?;
        let share = most.ms / profile.service_ms;
        let what = match &*most.name {
            "lock" => "waits for locks",
            "latch" => "waits for latches",
            "io" => WAITS_FOR_FILES,
            _ => "commits, which wait for the log",
        };
        let text = format!("{what}, {} of a transaction's time", percent_text(100.0 * share));
        (share >= PART_MIN).then_some((Limit::Waits, text))
    }

    /// Returns round trips as the limit, if they and the client take half of a transaction's time
    /// while CPUs are idle and clients never pause.
    fn round_trips(&self, tally: &Tally) -> Option<(Limit, String)> {
        let profile = self.time_profile.as_ref()?;
        let idle = |machine: Machine<'_>| self.idle_percent(&machine.about("machine"));
        let all: Vec<f64> = Machine::all(tally).filter_map(idle).collect();
        let idle = all.iter().copied().reduce(f64::min);
        let idle = idle.filter(|idle| *idle >= IDLE_PERCENT_MIN)?;
        let whose = if all.len() > 1 { "each machine" } else { "this machine" };
        let names = ["client_cpu", "client_run_delay", "network"];
        let parts = profile.parts.iter().filter(|part| names.contains(&&*part.name));
        let share = parts.map(|part| part.ms).sum::<f64>() / profile.service_ms;
        let is_it = share >= PART_MIN && self.load == Some(Load::Closed);
        let text = format!(
            "round trips: network and client take {} of a transaction's time, and the CPU of \
             {whose} is {} idle; more clients may raise throughput",
            percent_text(100.0 * share),
            percent_text(idle)
        );
        is_it.then_some((Limit::RoundTrips, text))
    }
}
