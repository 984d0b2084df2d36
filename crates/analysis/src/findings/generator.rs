//! Findings on the generator itself: lag, pauses and missing clients, which make it part of what it
//! measures.

use model::{FactValue, Load, NS_PER_US, Severity, numbers};
use stats::{Histogram, enough};

use super::{FindingText, View, count, duration, saturation};
use crate::host;
use crate::tally::Tally;

/// Smallest p99 of the generator's delay in sending requests, in nanoseconds, for a finding: no
/// generator escapes the wake-up of a sleeping thread.
const LAG_NS_MIN: u64 = 100 * NS_PER_US;

/// Smallest p99 of the generator's delay in sending requests for a finding, in percent of the
/// median service time.
const LAG_PERCENT: u64 = 5;

/// Largest share of time, in percent, that clients in closed load may spend outside of
/// transactions, on the generator's own work, without a finding.
const OUTSIDE_PERCENT_MAX: f64 = 10.0;

enum Generator {
    Lag { p99_ns: u64, service_ns: u64 },
    Outside { percent: f64 },
    StoodStill { pauses: u64, longest_s: f64, at_s: f64 },
    LeftBehind { clients: u64 },
    ConnectFailed { failed: u32, clients: u32 },
    ConnectsRetried { retried: u64, why: String },
    IdleClients { idle: u64, clients: u32 },
}

impl Generator {
    fn text(self) -> FindingText {
        match self {
            Generator::Lag { p99_ns, service_ns } => FindingText {
                id: "generator_lag",
                severity: Severity::Warning,
                text: format!(
                    "The generator was late: the p99 of its lag is {}, the median service time {}.",
                    duration(p99_ns),
                    duration(service_ns)
                ),
            },
            Generator::Outside { percent } => FindingText {
                id: "client_time_outside",
                severity: Severity::Warning,
                text: format!(
                    "Clients spent {percent:.0} % of the measured time outside of transactions, \
                     although the load is closed."
                ),
            },
            Generator::StoodStill { pauses, longest_s, at_s } => FindingText {
                id: PAUSED,
                severity: Severity::Warning,
                text: format!(
                    "The generator itself was paused {}; the longest pause took {} and began at \
                     {}.",
                    if pauses == 1 { "once".to_owned() } else { format!("{pauses} times") },
                    numbers::seconds(longest_s),
                    // A pause may begin before the measured phase and end in it.
                    numbers::seconds(at_s.max(0.0))
                ),
            },
            Generator::LeftBehind { clients } => FindingText {
                id: "clients_abandoned",
                severity: Severity::Invalid,
                text: format!(
                    "{} did not stop when the run cancelled them: part of their work is not \
                     counted.",
                    count(clients, "client")
                ),
            },
            Generator::ConnectFailed { failed, clients } => FindingText {
                id: "connect_failed",
                severity: Severity::Warning,
                text: format!("{failed} of {clients} clients could not connect."),
            },
            Generator::ConnectsRetried { retried, why } => FindingText {
                id: "connects_retried",
                severity: Severity::Note,
                text: format!(
                    "{} to connect before the load failed and were retried; the first error: \
                     {why}.",
                    count(retried, "attempt")
                ),
            },
            Generator::IdleClients { idle, clients } => FindingText {
                id: "idle_clients",
                severity: Severity::Warning,
                text: format!("{} of {clients} finished nothing.", count(idle, "client")),
            },
        }
    }
}

/// Id of the finding that the whole generator was paused.
pub(super) const PAUSED: &str = "generator_paused";
/// Ids of findings whose advice blames the database, but which a pause of the generator may cause.
const BLAMING: [&str; 2] = ["stalled", "slow_seconds"];
/// Advice on findings that a pause of the generator may cause, instead of the catalog's.
const ADVICE: &str = "The generator itself was paused meanwhile (generator paused): at such a time \
                      the database is not to blame. Repeat the run on an idle machine.";

/// Advice on findings that blame the database, instead of the catalog's, if an event loop of the
/// generator was late, or read a reply late.
const LATE_ADVICE: &str = "The generator itself was late during the run (generator late): \
                           compare the times before you blame the database, or repeat the run on \
                           an idle machine.";

/// Advice on a generator that was late while an embedded database ran in its process.
const EMBEDDED_ADVICE: &str = "The database runs in the generator's process: use fewer clients, or \
                               a machine with more cores.";

/// Advice on a generator that was late under closed load, which has no rate.
const CLOSED_ADVICE: &str =
    "Give the generator more cores, move it to a separate host, or use fewer clients.";

/// Returns true if all groups of clients have closed load, in which no rate is offered.
pub(super) fn is_closed(tally: &Tally) -> bool {
    let mut groups = tally.groups.iter().enumerate();
    groups.all(|(index, _)| {
        tally.description(index).is_some_and(|described| described.load == Load::Closed)
    })
}

/// Returns the advice that replaces the catalog's on the finding `id`: if it may come from a pause
/// or delay of the generator, or if generator and database are one process. `None` otherwise.
pub(super) fn advice(tally: &Tally, id: &str) -> Option<&'static str> {
    if id == "generator_saturated" && matches!(host::place(tally), Some(host::Place::WithinUs)) {
        return Some(EMBEDDED_ADVICE);
    }
    if id == "generator_saturated" && is_closed(tally) {
        return Some(CLOSED_ADVICE);
    }
    let has_paused =
        || tally.fact("client", "pauses").and_then(|pauses| pauses.count()).unwrap_or(0) > 0;
    match BLAMING.contains(&id) {
        true if has_paused() => Some(ADVICE),
        true if saturation::is_late(tally) => Some(LATE_ADVICE),
        _ => None,
    }
}

pub(super) fn look(view: &View) -> Vec<FindingText> {
    let late = [stood_still(view), lag(view), outside(view)];
    let connecting = [connect_failed(view), connects_retried(view)];
    let lost = [idle_clients(view), clients_abandoned(view)];
    let lost = connecting.into_iter().chain(lost);
    late.into_iter().chain(lost).flatten().map(Generator::text).collect()
}

/// Returns the finding on clients that had not ended half a second after the end of the run, so
/// that the generator abandoned them. `None` if there were none, and for all groups but the first,
/// since this is a fact about the whole generator.
fn clients_abandoned(view: &View) -> Option<Generator> {
    // Stored runs of earlier versions have the fact under its former name.
    let fact = |name| view.tally.fact("client", name);
    let clients = fact("clients_abandoned").or_else(|| fact("left_behind"))?;
    let clients = clients.count()?;
    (clients > 0 && view.index == 0).then_some(Generator::LeftBehind { clients })
}

fn lag(view: &View) -> Option<Generator> {
    let enough = |lag: &&Histogram| enough(lag.count(), 0.99, 0.95).is_ok();
    let lag = view.group.measured.lag.as_ref().filter(enough)?;
    let p99_ns = lag.quantile(0.99)?;
    let service_ns = view.sum.service.quantile(0.5)?;
    let late = p99_ns > LAG_NS_MIN && p99_ns > service_ns / 100 * LAG_PERCENT;
    late.then_some(Generator::Lag { p99_ns, service_ns })
}

/// Returns the finding on pauses of the generator. `None` if there were none, and for all groups
/// but the first, since pauses concern all groups.
fn stood_still(view: &View) -> Option<Generator> {
    let fact = |name: &str| view.tally.fact("client", name);
    let pauses = fact("pauses")?.count()?;
    let longest_s = fact("longest_pause_s")?.as_seconds()?;
    let at_s = fact("longest_pause_at_s")?.as_seconds()?;
    (view.index == 0).then_some(Generator::StoodStill { pauses, longest_s, at_s })
}

/// Returns the finding on time that clients in closed load spent outside of transactions. `None` if
/// it is at most [`OUTSIDE_PERCENT_MAX`], and for all groups but the first, since this is a fact
/// about the whole generator.
fn outside(view: &View) -> Option<Generator> {
    // The clients of a lost process are outside of it from then on.
    if has_lost_process(view.tally) {
        return None;
    }
    let percent = view.tally.fact("client", "outside_percent")?.as_percent()?;
    let idle = percent > OUTSIDE_PERCENT_MAX && view.index == 0;
    idle.then_some(Generator::Outside { percent })
}

fn connect_failed(view: &View) -> Option<Generator> {
    let failed = view.group.connect_failed;
    let clients = failed + view.group.connected;
    (failed > 0).then_some(Generator::ConnectFailed { failed, clients })
}

/// Returns the finding on retried attempts to connect by any client of the generator. `None` if
/// there were none, for all groups but the first, and if a client of the first group could not
/// connect at all.
fn connects_retried(view: &View) -> Option<Generator> {
    let retried = view.tally.fact("client", "connects_retried")?.count()?;
    let why = view.tally.fact("client", "connects_retried_why");
    let why = why.map_or("nothing".to_owned(), FactValue::to_string);
    let all_are_here = view.index == 0 && view.group.connect_failed == 0;
    all_are_here.then_some(Generator::ConnectsRetried { retried, why })
}

/// Returns true if a process with clients ended without its figures, because it was killed or
/// failed.
fn has_lost_process(tally: &Tally) -> bool {
    let fact =
        |number: u32, name: &str| tally.fact("processes", &format!("process_{number}_{name}"));
    let mut processes = (1..).take_while(|number| fact(*number, "clients").is_some());
    processes.any(|number| fact(number, "cpu_s").is_none())
}

fn idle_clients(view: &View) -> Option<Generator> {
    let described = view.described?;
    let finished = view.sum.counts.finished();
    // The clients of a lost process did finish transactions, which are not counted; another finding
    // says so.
    if has_lost_process(view.tally) {
        return None;
    }
    let busy = described.load == Load::Closed && finished >= 2 * u64::from(described.clients);
    if !busy || view.group.clients.is_empty() {
        return None;
    }
    let finishers = view.group.clients.iter().filter(|moments| moments.count > 0);
    let mut finishers: Vec<u32> = finishers.map(|moments| moments.client).collect();
    finishers.sort_unstable();
    finishers.dedup();
    let idle = u64::from(described.clients).saturating_sub(finishers.len() as u64);
    (idle > 0).then_some(Generator::IdleClients { idle, clients: described.clients })
}
