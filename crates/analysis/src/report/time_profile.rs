//! Time profile: how the mean time of a transaction divides among client, network, the server's CPU
//! and the waits of its sessions, and what remains unexplained.
//!
//! Mean times of a transaction add up, by Little's law: the mean number of sessions in a state,
//! divided by the transactions per second, is the mean time that a transaction spends in it.
//! Sources: samples of the server's sessions, the kernel's CPU clocks of both processes, and round
//! trips of an empty query on the clients' path.
//!
//! Not here: reading them (monitor).

use model::numbers::significant;
use model::{Choice, FactValue, Gauge, SessionState};
use serde::{Deserialize, Serialize};

use super::per_transaction::moved_by_all;
use super::{Block, GaugeReport};
use crate::tally::Tally;

/// States in which a session of the server waits for something other than a CPU.
const WAITS: [SessionState; 5] = [
    SessionState::Lock,
    SessionState::Latch,
    SessionState::Io,
    SessionState::Commit,
    SessionState::Other,
];

/// Name of the part of a time profile in which sessions execute without having or awaiting a CPU.
const EXECUTING: &str = "executing";

/// Mean time of a transaction, divided into parts such as CPU, network and lock waits, over the
/// measured phase and all groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeProfile {
    /// Mean service time of a finished transaction at its client, in milliseconds; waiting for a
    /// free client is not included.
    pub service_ms: f64,
    /// Number of transactions that ended, including failed ones.
    pub transactions: u64,
    /// The parts, in the order from client to server.
    pub parts: Vec<TimePart>,
    /// Service time less all `parts`, in milliseconds; negative only in older reports.
    pub unexplained_ms: f64,
    /// Activity of client and server that was measured beyond the service time and is in none of
    /// the `parts`, such as CPU time in background threads or after a reply was sent. Empty in
    /// older reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<TimePart>,
}

/// A part of the mean time of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePart {
    /// Name of the part, such as `client_cpu`, `network`, `server_cpu` or `lock`.
    pub name: String,
    pub ms: f64,
}

impl TimePart {
    pub fn title(&self) -> &str {
        part_title(&self.name)
    }
}

/// Returns the title of a part of the time profile: `server: waiting for locks` for `lock`. An
/// unknown name is returned as it is.
pub fn part_title(name: &str) -> &str {
    match name {
        "client_cpu" => "client: CPU",
        "client_run_delay" => "client: replies not yet read",
        "network" => "network and system calls",
        "server_cpu" => "server: CPU",
        "server_run_delay" => "server: waiting for a CPU",
        "executing" => "server: executing, else",
        "lock" => "server: waiting for locks",
        "latch" => "server: waiting for latches",
        "io" => "server: waiting for data files",
        "commit" => "server: committing (log)",
        "other" => "server: waiting, else",
        "service" => "service time",
        name => name,
    }
}

/// Smallest number of samples of the server's sessions from which parts of the time profile count
/// as exact: with 30 independent samples, a share of one half has a standard error of 9 % of the
/// service time.
pub const SAMPLES_LEAST: u64 = 30;

/// Returns true if a part of the time profile is estimated from samples of sessions or round trips,
/// or is the remainder; false if the kernel counts its time.
pub fn is_of_samples(part: &str) -> bool {
    const COUNTED: [&str; 5] =
        ["client_cpu", "client_run_delay", "server_cpu", "server_run_delay", "service"];
    !COUNTED.contains(&part)
}

/// First words of the title of a part that was measured beyond the service time.
pub const OUTSIDE_SERVICE: &str = "outside the service time: ";

/// Largest excess of sampled parts over the service time, as a share of it, in a run with samples
/// in less than [`SECONDS_MIN`] of its seconds; if the excess is larger, there is no time profile.
const MISFIT_MAX: f64 = 0.1;
/// Share of the seconds of a run that must have samples of sessions for a time profile whose
/// sampled parts exceed the service time by more than [`MISFIT_MAX`].
const SECONDS_MIN: f64 = 0.8;

/// Returns the time profile of a run; `None` if the server's sessions were not sampled, or no
/// transaction ended. An `Err` says why the samples contradict the transactions.
pub(super) fn time_profile(
    tally: &Tally,
    gauges: &[GaugeReport],
    block: &Block,
) -> Option<Result<TimeProfile, String>> {
    let (service_ms, transactions) = (block.service_ms.mean?, ended(tally));
    let seconds = tally.measured_ns() as f64 / model::NS_PER_S as f64;
    let means = Means { gauges, seconds, transactions };
    means.state(SessionState::Executing)?;
    if transactions == 0 || seconds == 0.0 {
        return None;
    }
    let busy = Busy {
        client_cpu: means.client_cpu_ms(tally),
        client_delay: client_delay_ms(tally, block, service_ms)
            .or_else(|| means.delay_ms("generator")),
        server_cpu: means.cpus("server").map(|cpus| means.each_ms(cpus)),
        // A session that is woken waits for a CPU before the server counts it as executing.
        server_delay: means.delay_ms("server"),
    };
    let mut parts = means.parts(&busy, way_ms(tally, gauges, block, service_ms));
    let sampled_ms = parts.iter().filter(|part| is_sampled(part)).map(|part| part.ms).sum::<f64>();
    let n_sampled = seconds_sampled(tally, gauges);
    if sampled_ms > (1.0 + MISFIT_MAX) * service_ms && (n_sampled as f64) < SECONDS_MIN * seconds {
        return Some(Err(format!(
            "in the samples of the server's sessions the transactions take {} times as long as at \
             their clients, and {n_sampled} of {seconds:.0} seconds have samples, as with a pause \
             of the server; measure longer",
            significant(sampled_ms / service_ms, 2)
        )));
    }
    let beside = take_beside(service_ms, &mut parts);
    let rest = service_ms - parts.iter().map(|part| part.ms).sum::<f64>();
    if let Some(network) = parts.iter_mut().find(|part| part.name == "network") {
        // Time for which sessions waited for the client. The server counts it until the session has
        // a CPU again.
        let for_client = means.each_ms(sessions_for_clients(tally, &means));
        // The rest was not seen by the probes: a network delay that came and went between them.
        network.ms += (for_client - busy.client_and_woken_ms() - network.ms).min(rest).max(0.0);
    }
    let unexplained_ms = service_ms - parts.iter().map(|part| part.ms).sum::<f64>();
    Some(Ok(TimeProfile { service_ms, transactions, parts, unexplained_ms, beside }))
}

/// Gauges, length and transactions of the measured phase, to compute mean times per transaction.
struct Means<'g> {
    gauges: &'g [GaugeReport],
    seconds: f64,
    transactions: u64,
}

impl Means<'_> {
    fn mean(&self, about: &str, name: &str) -> Option<f64> {
        let is_it = |gauge: &&GaugeReport| gauge.about == about && gauge.name == name;
        self.gauges.iter().find(is_it).and_then(|gauge| gauge.mean)
    }

    /// Returns the mean number of the server's sessions in a state over the measured phase; `None`
    /// if sessions were not sampled.
    fn state(&self, state: SessionState) -> Option<f64> {
        self.mean("database", &format!("sessions/{}", state.name()))
    }

    /// Returns the mean time per transaction, in milliseconds, of an activity that goes on
    /// `at_a_time` times at once on average (Little's law).
    fn each_ms(&self, at_a_time: f64) -> f64 {
        at_a_time * self.seconds * 1e3 / self.transactions as f64
    }

    /// Returns the mean number of CPUs that the process `about` used, `generator` or `server`;
    /// `None` if its CPU time was not read.
    fn cpus(&self, about: &str) -> Option<f64> {
        let user = self.mean(about, "cpu_user")?;
        Some((user + self.mean(about, "cpu_system").unwrap_or(0.0)) / 100.0)
    }

    /// Returns the generator's CPU time per transaction in milliseconds, without that of producers;
    /// `None` if it was not read.
    fn client_cpu_ms(&self, tally: &Tally) -> Option<f64> {
        let all = self.cpus("generator")?;
        Some(self.each_ms((all - tally.producer_cpus().unwrap_or(0.0)).max(0.0)))
    }

    /// Returns the time per transaction, in milliseconds, for which threads of the process `about`
    /// waited for a CPU; `None` if it was not read.
    fn delay_ms(&self, about: &str) -> Option<f64> {
        self.mean(about, "run_delay").map(|ms_per_s| self.each_ms(ms_per_s / 1e3))
    }

    /// Returns all parts of the mean time of a transaction. `way_ms` is the total time of its round
    /// trips, in milliseconds.
    fn parts(&self, busy: &Busy, way_ms: Option<f64>) -> Vec<TimePart> {
        let executing = self.state(SessionState::Executing).map_or(0.0, |n| self.each_ms(n));
        let on_cpus = busy.server_cpu.unwrap_or(0.0) + busy.server_delay.unwrap_or(0.0);
        let mut parts = Vec::new();
        let mut add = |name: &str, ms: Option<f64>| {
            parts.extend(ms.map(|ms| TimePart { name: name.to_owned(), ms }));
        };
        add("client_cpu", busy.client_cpu);
        add("client_run_delay", busy.client_delay);
        add("network", way_ms.map(|ms| (ms - busy.counted_ms()).max(0.0)));
        add("server_cpu", busy.server_cpu);
        add("server_run_delay", busy.server_delay);
        add(EXECUTING, Some((executing - on_cpus).max(0.0)));
        for waits in WAITS {
            add(waits.name(), self.state(waits).map(|n| self.each_ms(n)));
        }
        parts
    }
}

/// Mean time per transaction, in milliseconds, for which client and server had a CPU or waited for
/// one; `None` if not known.
struct Busy {
    client_cpu: Option<f64>,
    client_delay: Option<f64>,
    server_cpu: Option<f64>,
    server_delay: Option<f64>,
}

impl Busy {
    /// Returns the part of a transaction's round trips that other parts of the time profile already
    /// have: CPU time of both sides, and unread replies.
    fn counted_ms(&self) -> f64 {
        [self.client_cpu, self.client_delay, self.server_cpu].into_iter().flatten().sum()
    }

    /// Returns the time that the server counts as waiting for the client, but which is not time of
    /// the network: the client's CPU time, unread replies, and sessions that were woken and wait
    /// for a CPU.
    fn client_and_woken_ms(&self) -> f64 {
        [self.client_cpu, self.client_delay, self.server_delay].into_iter().flatten().sum()
    }
}

/// Returns the total time of a transaction's round trips in milliseconds, at most the service time;
/// `None` if it is not known.
fn way_ms(tally: &Tally, gauges: &[GaugeReport], block: &Block, service_ms: f64) -> Option<f64> {
    let round_trips = block.per_transaction.round_trips;
    round_trips.zip(round_trip_ms(tally, gauges)).map(|(n, ms)| {
        let longer_ms = longer_way_ms(tally, ms);
        // If probes took longer than the transactions themselves, the network may have all the
        // rest.
        (n * (ms + longer_ms)).min(service_ms)
    })
}

/// Returns the time per transaction for which replies waited for their client, in milliseconds: the
/// larger one of the sampled reply lag, which includes the wake-up of a thread, and the waits of
/// the clients' threads for a CPU. `None` if neither is known.
fn client_delay_ms(tally: &Tally, block: &Block, service_ms: f64) -> Option<f64> {
    let of_threads =
        tally.fact("client", "run_delay_share_percent").and_then(FactValue::as_percent);
    let of_threads = of_threads.map(|percent| service_ms * percent / 100.0);
    let split = block.reply_lag_us.service.filter(|split| split.generator_ms.is_finite());
    let lay = split.map(|split| split.generator_ms);
    of_threads.into_iter().chain(lay).max_by(f64::total_cmp)
}

/// Returns the number of seconds in the measured phase that have samples of sessions.
fn seconds_sampled(tally: &Tally, gauges: &[GaugeReport]) -> usize {
    let is_executing =
        |gauge: &&GaugeReport| gauge.about == "database" && gauge.name == "sessions/executing";
    gauges.iter().find(is_executing).map_or(0, |gauge| {
        gauge.points.iter().filter(|(second, _)| tally.seconds().contains(second)).count()
    })
}

/// Returns true if a part is estimated from samples of sessions alone.
fn is_sampled(part: &TimePart) -> bool {
    part.name == EXECUTING || WAITS.iter().any(|state| state.name() == part.name)
}

/// Takes from the parts what exceeds the service time, and returns it. It is taken in this order:
/// waits for a CPU, as far as sessions wait for something else; then CPU time and waits for a CPU
/// of both sides, in proportion, since a client still ends its call when the server has begun, and
/// a server works on after its reply; then sampled and estimated parts, in proportion.
fn take_beside(service_ms: f64, parts: &mut [TimePart]) -> Vec<TimePart> {
    const RUN_DELAY: &str = "server_run_delay";
    const BUSY: [&str; 4] = ["client_cpu", "client_run_delay", "server_cpu", RUN_DELAY];
    let sum = |is_it: &dyn Fn(&str) -> bool| {
        parts.iter().filter(|part| is_it(&part.name)).map(|part| part.ms).sum::<f64>()
    };
    let excess = (sum(&|_| true) - service_ms).max(0.0);
    let waits = sum(&|name| WAITS.iter().any(|state| state.name() == name));
    let woken = excess.min(waits).min(sum(&|name| name == RUN_DELAY));
    let busy = sum(&|name| BUSY.contains(&name)) - woken;
    let share = if busy > 0.0 { ((excess - woken) / busy).min(1.0) } else { 0.0 };
    let mut beside = Vec::new();
    for part in parts.iter_mut().filter(|part| BUSY.contains(&&*part.name)) {
        let woken = if part.name == RUN_DELAY { woken } else { 0.0 };
        let ms = woken + share * (part.ms - woken);
        if ms > 0.0 {
            part.ms -= ms;
            beside.push(TimePart { name: part.name.clone(), ms });
        }
    }
    let all = parts.iter().map(|part| part.ms).sum::<f64>();
    let share = if all > service_ms { 1.0 - service_ms / all } else { 0.0 };
    for part in parts.iter_mut().filter(|part| share * part.ms > 0.0) {
        let ms = share * part.ms;
        part.ms -= ms;
        match beside.iter_mut().find(|one| one.name == part.name) {
            Some(one) => one.ms += ms,
            None => beside.push(TimePart { name: part.name.clone(), ms }),
        }
    }
    beside
}

/// Returns the shortest round trip of an empty query in milliseconds, before or during the load. It
/// had the least waits for a CPU, so it stands for the network itself. `None` if none was measured.
fn round_trip_ms(tally: &Tally, gauges: &[GaugeReport]) -> Option<f64> {
    let before = tally.fact("path", "round_trip_min_s").and_then(FactValue::as_seconds);
    let is_it = |gauge: &&GaugeReport| gauge.about == "database" && gauge.name == "round_trip";
    let within = gauges.iter().find(is_it).and_then(|gauge| gauge.min);
    let before = before.map(|seconds| seconds * 1e3);
    before.into_iter().chain(within).reduce(f64::min)
}

/// Returns the mean time, in milliseconds, by which a round trip of the average transaction was
/// longer than the shortest one. Only those seconds count in which even the shortest round trip
/// took more than a millisecond longer and six times as long, which a wait for a CPU does not
/// cause.
fn longer_way_ms(tally: &Tally, best_ms: f64) -> f64 {
    const LONGER_MIN_MS: f64 = 1.0;
    const TIMES_MIN: f64 = 5.0;
    let is_it = |gauge: &Gauge| gauge.about == "database" && gauge.name == "round_trip";
    let Some(place) = tally.gauges.iter().position(is_it) else { return 0.0 };
    let seconds = tally.whole_seconds();
    let finished = |second: i64| tally.second(second).counts.finished() as f64;
    let n_finished: f64 = seconds.clone().map(finished).sum();
    let longer = |second: i64, ms: f64| {
        let longer_ms = ms - best_ms;
        let is_far = longer_ms > LONGER_MIN_MS.max(TIMES_MIN * best_ms);
        if is_far && seconds.contains(&second) { longer_ms * finished(second) } else { 0.0 }
    };
    let all = tally.readings.iter().flat_map(|readings| {
        let of_it = readings.values.iter().filter(|(gauge, _)| usize::from(*gauge) == place);
        of_it.map(|(_, ms)| longer(readings.second, *ms))
    });
    if n_finished > 0.0 { all.sum::<f64>() / n_finished } else { 0.0 }
}

/// Returns the mean number of sessions that waited for their clients within transactions. In closed
/// load, whose clients do not pause, these are all sessions that neither execute nor wait for
/// anything else in the server. A sample may find such a session idle, between two statements that
/// are transactions of their own.
fn sessions_for_clients(tally: &Tally, means: &Means<'_>) -> f64 {
    let within = means.state(SessionState::Client).unwrap_or(0.0);
    if !(0..tally.groups.len()).all(|group| tally.is_closed(group)) {
        return within;
    }
    let groups = tally.description.iter().flat_map(|described| &described.groups);
    let clients: u32 = groups.map(|group| group.clients).sum();
    let states = WAITS.iter().chain(&[SessionState::Executing]);
    let at_work: f64 = states.filter_map(|state| means.state(*state)).sum();
    let idle = means.state(SessionState::Idle).unwrap_or(0.0);
    (f64::from(clients) - at_work).clamp(0.0, within + idle)
}

/// Returns the number of transactions that ended in the measured window.
fn ended(tally: &Tally) -> u64 {
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    moved_by_all(tally, &all).1
}

#[cfg(test)]
mod tests {
    use crate::fixtures::Made;
    use crate::report::Report;

    fn with(gauges: &[(&str, &str, f64)]) -> Report {
        over_time(gauges, &|_, value| value)
    }

    /// Returns the report of a run in closed load with these gauges, the last of which varies over
    /// time.
    fn over_time(gauges: &[(&str, &str, f64)], last: &dyn Fn(i64, f64) -> f64) -> Report {
        let mut made = Made::closed();
        let names: Vec<(&str, &str)> = gauges.iter().map(|gauge| (gauge.0, gauge.1)).collect();
        made.gauges(&names, &|second, at| match at + 1 == gauges.len() {
            true => last(second, gauges[at].2),
            false => gauges[at].2,
        });
        Report::from_tally(&made.tally())
    }

    #[test]
    fn what_a_producer_takes_is_no_part_of_a_transaction() {
        let client_ms = |producer_percent: &str| {
            let mut made = Made::closed();
            let names = [("database", "sessions/executing"), ("generator", "cpu_user")];
            made.gauges(&names, &|_, at| [0.0, 60.0][at]);
            made.fact("arm", model::PRODUCER_CPU_PERCENT, producer_percent);
            let report = Report::from_tally(&made.tally());
            let client = report.client.expect("it has ended");
            let producer_s = client.producer_cpu_seconds.expect("there is one");
            let own_us = (client.cpu_seconds - producer_s) * 1e6;
            let us = client.cpu_us_per_query.expect("there are queries") * client.queries as f64;
            assert!((us - own_us).abs() < 1.0 && producer_s <= client.cpu_seconds, "{client:?}");
            let profile = report.time_profile.expect("sessions were sampled");
            profile.parts.iter().find(|part| part.name == "client_cpu").expect("it is one").ms
        };
        let (all, half, none) = (client_ms("0.0"), client_ms("30.0"), client_ms("70.0"));
        assert!((all - 2.0 * half).abs() < 1e-9 && all > 0.0 && none == 0.0, "{all} {half} {none}");
    }

    #[test]
    fn sessions_in_a_state_over_transactions_per_second_are_its_time_and_parts_add_up() {
        let report = with(&[
            ("database", "sessions/executing", 4.0),
            ("database", "sessions/lock", 2.0),
            ("server", "cpu_user", 100.0),
            ("server", "run_delay", 500.0),
            ("generator", "cpu_user", 50.0),
            ("database", "round_trip", 0.2),
        ]);
        let profile = report.time_profile.expect("sessions were sampled");
        let each_ms = report.measured_seconds * 1e3 / profile.transactions as f64;
        let part = |name: &str| {
            let found = profile.parts.iter().find(|part| part.name == name);
            found.unwrap_or_else(|| panic!("{name}: {profile:?}")).ms
        };
        let check = |name: &str, at_a_time: f64| {
            let expect = at_a_time * each_ms;
            assert!((part(name) - expect).abs() < 1e-9 * expect, "{name}: {}", part(name));
        };
        check("lock", 2.0);
        check("server_cpu", 1.0);
        check("server_run_delay", 0.5);
        check("executing", 2.5);
        let network = part("network");
        let round_trips = report.block.per_transaction.round_trips.expect("it has traffic");
        // In addition to the CPU time of both sides.
        let told = part("client_cpu") + part("server_cpu");
        assert!(network > 0.0 && (network + told - 0.2 * round_trips).abs() < 1e-9, "{network}");
        check("client_cpu", 0.5);
        let all: f64 = profile.parts.iter().map(|part| part.ms).sum();
        assert!((all + profile.unexplained_ms - profile.service_ms).abs() < 1e-9);
        // Eight clients without a pause are busy all the time.
        let busy = profile.service_ms / each_ms;
        assert!((busy - 8.0).abs() < 1.0, "{busy}");
    }

    #[test]
    fn a_way_that_was_longer_for_a_while_is_in_the_network() {
        let gauges = [
            ("database", "sessions/executing", 0.0),
            ("generator", "cpu_user", 1.0),
            ("server", "cpu_user", 1.0),
            ("database", "round_trip", 0.1),
        ];
        let path_ms = |last: &dyn Fn(i64, f64) -> f64| {
            let report = over_time(&gauges, last);
            let profile = report.time_profile.expect("sessions were sampled");
            let names = ["network", "client_cpu", "client_run_delay", "server_cpu"];
            let parts = profile.parts.iter().filter(|part| names.contains(&&*part.name));
            let ms = parts.map(|part| part.ms).sum::<f64>();
            (ms / report.block.per_transaction.round_trips.expect("it has traffic"), profile)
        };
        let (usual, _) = path_ms(&|_, ms| ms);
        // A sixth of the time, and of the transactions except for a slow second.
        let (longer, _) = path_ms(&|second, ms| if second < 10 { ms + 1.2 } else { ms });
        assert!((longer - usual - 0.2).abs() < 0.02, "{longer} {usual}");
        // Half a millisecond is within what waiting for a CPU takes.
        let (busy, _) = path_ms(&|second, ms| if second < 10 { ms + 0.5 } else { ms });
        assert!((busy - usual).abs() < 1e-9, "{busy} {usual}");
        // Probes longer than the transactions give no more than an upper bound.
        let (_, profile) = path_ms(&|_, _| 100.0);
        assert!(profile.unexplained_ms.abs() < 1e-9, "{profile:?}");
        let all: f64 = profile.parts.iter().map(|part| part.ms).sum();
        assert!((all - profile.service_ms).abs() < 1e-9, "{profile:?}");
    }

    #[test]
    fn what_probes_miss_of_the_way_is_found_by_sessions_that_wait_for_their_clients() {
        let network_and_rest = |client: f64, idle: f64| {
            let report = with(&[
                ("database", "sessions/executing", 2.0),
                ("database", "sessions/lock", 2.0),
                ("database", "sessions/client", client),
                ("database", "sessions/idle", idle),
                ("server", "cpu_user", 100.0),
                ("generator", "cpu_user", 50.0),
                ("database", "round_trip", 0.0001),
            ]);
            let profile = report.time_profile.expect("sessions were sampled");
            let each_ms = report.measured_seconds * 1e3 / profile.transactions as f64;
            let network = profile.parts.iter().find(|part| part.name == "network").expect("one").ms;
            let all: f64 = profile.parts.iter().map(|part| part.ms).sum();
            assert!((all + profile.unexplained_ms - profile.service_ms).abs() < 1e-9);
            (network / each_ms, profile.unexplained_ms / each_ms)
        };
        // Eight clients: four execute or wait in the server, and half a client has a CPU.
        let (network, rest) = network_and_rest(3.0, 3.0);
        assert!((network - 3.5).abs() < 0.2 && rest.abs() < 0.8, "{network} {rest}");
        // No more than the samples show.
        let (network, rest) = network_and_rest(1.5, 0.0);
        assert!((network - 1.0).abs() < 1e-9 && rest > 2.0, "{network} {rest}");
        let (network, rest) = network_and_rest(0.0, 0.0);
        assert!(network < 0.1 && rest > 3.0, "{network} {rest}");
    }

    #[test]
    fn what_the_server_does_beyond_the_service_time_is_beside_it() {
        let inside_and_beside = |run_delay: f64, lock: f64, cpu: f64| {
            let report = with(&[
                ("database", "sessions/executing", 0.0),
                ("database", "sessions/lock", lock),
                ("server", "cpu_user", cpu),
                ("server", "run_delay", run_delay),
            ]);
            let profile = report.time_profile.expect("sessions were sampled");
            assert!(profile.unexplained_ms.abs() < 1e-9, "{profile:?}");
            let each_ms = report.measured_seconds * 1e3 / profile.transactions as f64;
            let busy = profile.service_ms / each_ms;
            let clients_in = |name: &str, parts: &[super::TimePart]| {
                let found = parts.iter().find(|part| part.name == name);
                found.map_or(0.0, |part| part.ms / each_ms)
            };
            let [cpu, delay] = ["server_cpu", "server_run_delay"];
            [
                clients_in(cpu, &profile.parts),
                clients_in(delay, &profile.parts),
                clients_in(cpu, &profile.beside),
                clients_in(delay, &profile.beside),
                busy,
            ]
        };
        // Eight clients are busy; six of them wait for locks, and four of their sessions are ready.
        let [cpu, delay, no_cpu, taken, busy] = inside_and_beside(4_000.0, 6.0, 200.0);
        assert!((cpu - 2.0).abs() < 1e-9 && no_cpu == 0.0, "{cpu}, {no_cpu}");
        assert!((delay + taken - 4.0).abs() < 1e-9 && (taken - (12.0 - busy)).abs() < 1e-9);
        // Without locks it is beside the transaction, for both sides in proportion.
        let [cpu, delay, cpu_beside, delay_beside, busy] = inside_and_beside(4_000.0, 0.0, 800.0);
        assert!((cpu + delay - busy).abs() < 1e-9, "{cpu}, {delay}");
        assert!((cpu_beside / delay_beside - 2.0).abs() < 1e-9, "{cpu_beside}, {delay_beside}");
    }

    #[test]
    fn samples_of_more_than_all_time_are_scaled_to_it_or_no_profile_with_the_reason() {
        let sampled_for = |n_seconds: i64| {
            let gauges = [
                ("server", "cpu_user", 50.0),
                ("database", "sessions/lock", 4.0),
                ("database", "sessions/commit", 5.9),
                ("database", "sessions/executing", 0.0),
            ];
            over_time(&gauges, &|second, value| if second < n_seconds { value } else { f64::NAN })
        };
        // Eight clients are busy.
        let report = sampled_for(50);
        let profile = report.time_profile.expect("it fits");
        assert!(profile.unexplained_ms.abs() < 1e-9 && !profile.beside.is_empty(), "{profile:?}");
        assert!(profile.parts.iter().all(|part| (0.0..=profile.service_ms).contains(&part.ms)));
        let beside = profile.beside.iter().map(|part| part.ms).sum::<f64>();
        let parts = profile.parts.iter().map(|part| part.ms).sum::<f64>();
        let each_ms = report.measured_seconds * 1e3 / profile.transactions as f64;
        assert!((beside + parts - 10.4 * each_ms).abs() < 1e-9, "{profile:?}");
        let report = sampled_for(40);
        assert_eq!(report.time_profile, None);
        let why = report.time_profile_reason.expect("it says why");
        assert!(
            why.starts_with("in the samples of the server's sessions the transactions take 1.")
        );
    }

    #[test]
    fn cpu_time_of_both_sides_that_overlaps_is_taken_from_each_in_proportion() {
        let report = with(&[
            ("database", "sessions/executing", 0.0),
            ("server", "cpu_user", 900.0),
            ("generator", "cpu_user", 300.0),
        ]);
        let profile = report.time_profile.expect("sessions were sampled");
        assert!(profile.unexplained_ms.abs() < 1e-9, "{profile:?}");
        let ms = |parts: &[super::TimePart], name: &str| {
            parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.ms)
        };
        for parts in [&profile.parts, &profile.beside] {
            let [client, server] = ["client_cpu", "server_cpu"].map(|name| ms(parts, name));
            assert!(client > 0.0 && (server / client - 3.0).abs() < 1e-9, "{profile:?}");
        }
    }

    #[test]
    fn without_samples_of_sessions_there_is_no_profile() {
        assert_eq!(with(&[("server", "cpu_user", 100.0)]).time_profile, None);
    }
}
