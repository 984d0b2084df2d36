//! Checks that dbdyno can have written the events or the report of a run. A stored run may be
//! somebody else's, or damaged; its numbers become indexes and lengths of tables, and must not make
//! dbdyno fail or take all memory.
//!
//! Limits are those of plans, which are checked when a run begins. Not here: bytes and text that
//! cannot be read (store).

use model::{
    ClientMoments, Counts, CpuProfile, Description, DisturbanceEvent, Event, GroupDescription,
    KindSecond, NS_PER_S, Readings, Second, ServerSummary, TRIALS_MAX, Traffic,
};
use serde_json::Value;

use crate::report::Report;

/// Longest phase of a plan that is accepted, in seconds: a year.
const YEAR_S: i64 = 366 * 86_400;
const SECONDS_MAX: i64 = 2 * YEAR_S;
const NS_MAX: u64 = SECONDS_MAX as u64 * NS_PER_S;
/// Largest accepted sum of a count over all seconds: 2^53, up to which floats are exact.
const COUNT_MAX: u64 = 1 << 53;
/// Latest accepted time of an event, in milliseconds since 1970: the start of the year 10000.
const UNIX_MS_MAX: i64 = 253_402_300_800_000;
/// Largest accepted number of transaction types of a workload, and of custom metrics.
const KINDS_MAX: usize = 1000;
/// Largest accepted number of clients of a group.
const CLIENTS_MAX: u32 = 10_000_000;
/// Largest accepted number of report rows without an event, plus [`EMPTY_ROWS_PER_EVENT`] for each
/// event: a report has a row for every second of each group. This is five hours of one group.
const EMPTY_ROWS_MAX: i64 = 20_000;
/// Number by which the accepted number of report rows grows with each event. Events that need more
/// rows are rejected, since a few events with distant times would make a huge report.
const EMPTY_ROWS_PER_EVENT: i64 = 10;

/// Check whether stored or imported events can be those of a run. The events are passed to it one
/// by one, in their order.
#[derive(Debug, Default)]
pub struct RunCheck {
    description: Option<Box<Description>>,
    n_gauges: usize,
    /// Number of events so far that have figures of a second, or readings of gauges.
    n_rows: i64,
    first: i64,
    end: i64,
    counted: u64,
    connected: u32,
    /// Sums so far, to detect an overflow: first of times in nanoseconds, then of values of custom
    /// metrics.
    summed: [u64; 2],
}

impl RunCheck {
    /// Checks the next event. An `Err` says why dbdyno cannot have written it.
    pub fn event(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Begun { description, .. } => {
                check_description(description)?;
                self.description = Some(description.clone());
            }
            Event::Phase { at_ns, .. } => instant("a phase", *at_ns)?,
            Event::Connected { group, connected, failed, .. } => {
                self.group(*group)?;
                for n in [*connected, *failed] {
                    let sum = self.connected.checked_add(n).filter(|sum| *sum <= CLIENTS_MAX * 10);
                    self.connected = sum.ok_or("more clients than there can be")?;
                }
            }
            Event::Second(second) => self.second(second)?,
            Event::Heartbeats { most_delayed_at_ns, .. } => {
                instant("a heartbeat", *most_delayed_at_ns)?
            }
            Event::Clients { group, moments } => {
                moments.iter().try_for_each(|one| self.client(*group, one))?;
            }
            Event::Executions { group, executions } => {
                for execution in executions {
                    self.kind(*group, execution.kind)?;
                    at_most("the number of a client", execution.client.into(), CLIENTS_MAX.into())?;
                    instant("the start of a transaction", execution.started_ns)?;
                    instant("the end of a transaction", execution.ended_ns)?;
                }
            }
            Event::QueryPlans { group, plans } => {
                plans.iter().try_for_each(|one| self.kind(*group, one.kind))?;
            }
            Event::Ended { measured_ns, elapsed_ns, cpu_ns, max_rss_bytes, .. } => {
                at_most("the measured phase in ns", *measured_ns, NS_MAX)?;
                at_most("the run in ns", *elapsed_ns, 2 * NS_MAX)?;
                at_most("CPU time in ns", *cpu_ns, u64::MAX >> 2)?;
                at_most("memory in bytes", *max_rss_bytes, COUNT_MAX)?;
                self.end = self.end.max(measured_ns.div_ceil(NS_PER_S) as i64);
            }
            Event::Checked { results, .. } => {
                results.iter().try_for_each(|one| self.count(one.n_failed))?;
            }
            Event::Crosschecked { group, kind, change, committed, unknown } => {
                self.kind(*group, *kind)?;
                for n in [change.unsigned_abs(), *committed, *unknown] {
                    at_most("a count of commits", n, COUNT_MAX)?;
                }
            }
            Event::Computed { group, .. } => self.group(*group).map(drop)?,
            Event::Disturbance(DisturbanceEvent { began_ns, ended_ns, .. }) => {
                instant("a disturbance", *began_ns)?;
                instant("a disturbance", ended_ns.unwrap_or(0))?;
            }
            Event::Gauges { gauges } => self.n_gauges += gauges.len(),
            Event::Readings(readings) => self.readings(readings)?,
            Event::Summary(ServerSummary { from_ns, to_ns, .. })
            | Event::SummarySoFar(ServerSummary { from_ns, to_ns, .. }) => {
                instant("a summary", *from_ns)?;
                instant("a summary", *to_ns)?;
            }
            Event::CpuProfile(profile) => self.profile(profile)?,
            Event::Fact(_) | Event::Settings { .. } | Event::Output { .. } | Event::Finding(_) => {}
        }
        Ok(())
    }

    /// Checks all events together, after the last one. An `Err` says that they span too many
    /// seconds for their number.
    pub fn end(&self) -> Result<(), String> {
        let n_groups = self.description.as_ref().map_or(1, |described| described.groups.len());
        let n_groups = i64::try_from(n_groups.max(1)).unwrap_or(i64::MAX);
        let rows = (self.end - self.first).saturating_mul(n_groups);
        let most = EMPTY_ROWS_MAX + EMPTY_ROWS_PER_EVENT * self.n_rows;
        match rows <= most {
            true => Ok(()),
            false => {
                let (first, end) = (self.first, self.end);
                Err(format!("seconds {first} to {end} with {} events", self.n_rows))
            }
        }
    }

    fn group(&self, group: u16) -> Result<Option<&GroupDescription>, String> {
        // A run without a beginning is refused elsewhere.
        let Some(described) = &self.description else { return Ok(None) };
        let found = described.groups.get(usize::from(group));
        found.map(Some).ok_or_else(|| format!("group {group} of {}", described.groups.len()))
    }

    fn kind(&self, group: u16, kind: u16) -> Result<(), String> {
        match self.group(group)? {
            Some(described) if usize::from(kind) >= described.kinds.len() => {
                Err(format!("type {kind} of {} of group {group}", described.kinds.len()))
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, n: u64) -> Result<(), String> {
        let sum = self.counted.checked_add(n).filter(|sum| *sum <= COUNT_MAX);
        self.counted = sum.ok_or("its counts add up to more than 2^53")?;
        Ok(())
    }

    fn add(&mut self, index: usize, n: u64) -> Result<(), String> {
        let sum = self.summed[index].checked_add(n).filter(|sum| *sum <= u64::MAX >> 1);
        self.summed[index] = sum.ok_or("its sums are more than 2^63")?;
        Ok(())
    }

    fn second(&mut self, second: &Second) -> Result<(), String> {
        let Second { group, second: at, kinds, custom_metrics, errors, waiting, .. } = second;
        let n_metrics =
            self.group(*group)?.map_or(usize::MAX, |described| described.custom_metrics.len());
        let first = self.description.as_ref().map_or(-YEAR_S, |described| {
            let ramp_up = described.phases.ramp_up_ns.div_ceil(NS_PER_S) as i64;
            let window = i64::from(described.window_seconds).max(model::WINDOW_SECONDS);
            // The second that begins a window may be before the load.
            -ramp_up - window
        });
        if !(first..SECONDS_MAX).contains(at) {
            return Err(format!("second {at} lies outside of the run"));
        }
        (self.first, self.end) = (self.first.min(*at), self.end.max(at + 1));
        self.n_rows += 1;
        for kind in kinds {
            self.kind(*group, kind.kind)?;
            self.kind_second(kind)?;
        }
        for metric in custom_metrics {
            if usize::from(metric.metric) >= n_metrics {
                return Err(format!("custom metric {} of {n_metrics}", metric.metric));
            }
            self.count(metric.count)?;
            self.add(1, metric.sum)?;
        }
        errors.iter().try_for_each(|error| self.count(error.count.max(error.ignored)))?;
        self.count(waiting.unwrap_or(0))
    }

    fn kind_second(&mut self, kind: &KindSecond) -> Result<(), String> {
        let Counts {
            committed,
            rolled_back,
            ignored,
            failed,
            unknown,
            dropped,
            unfinished,
            retried,
        } = kind.counts;
        let Traffic { reads, writes, others, round_trips, bytes_out, bytes_in, rows, refused } =
            kind.traffic;
        let counts =
            [committed, rolled_back, ignored, failed, unknown, dropped, unfinished, retried];
        let traffic = [reads, writes, others, round_trips, bytes_out, bytes_in, rows, refused];
        let more = [kind.commits, kind.ended, kind.carried];
        let all = counts.into_iter().chain(traffic).chain(more);
        all.into_iter().try_for_each(|n| self.count(n))?;
        at_most("a response time in ns", kind.carried_max_ns, NS_MAX)?;
        self.add(0, kind.carried_ns)
    }

    fn client(&mut self, group: u16, moments: &ClientMoments) -> Result<(), String> {
        self.kind(group, moments.kind)?;
        at_most("the number of a client", moments.client.into(), CLIENTS_MAX.into())?;
        self.count(moments.count)?;
        self.count(moments.failed)?;
        at_most("a response time in ns", moments.max_ns, u64::MAX >> 1)?;
        at_most("the shortest response time in ns", moments.min_ns, moments.max_ns)?;
        self.add(0, moments.sum_ns)
    }

    fn readings(&mut self, readings: &Readings) -> Result<(), String> {
        if !(-SECONDS_MAX..SECONDS_MAX).contains(&readings.second) {
            return Err(format!("readings of second {}", readings.second));
        }
        self.n_rows += 1;
        let strange =
            readings.values.iter().find(|(gauge, _)| usize::from(*gauge) >= self.n_gauges);
        match strange {
            Some((gauge, _)) => Err(format!("a reading of gauge {gauge} of {}", self.n_gauges)),
            None => Ok(()),
        }
    }

    fn profile(&mut self, profile: &CpuProfile) -> Result<(), String> {
        let more = [profile.samples, profile.stacks_cut, profile.samples_cut];
        let all = profile.stacks.iter().map(|(_, n)| *n).chain(more);
        all.into_iter().try_for_each(|n| self.count(n))?;
        [profile.recording_cpu_ns, profile.naming_cpu_ns]
            .into_iter()
            .try_for_each(|ns| self.add(0, ns))
    }
}

fn at_most(what: &str, n: u64, most: u64) -> Result<(), String> {
    if n <= most { Ok(()) } else { Err(format!("{what}: {n}, more than {most}")) }
}

/// Checks that an instant, in nanoseconds from the start of the measured phase, is within accepted
/// limits. An `Err` says that `what`, the name of the instant, is not.
fn instant(what: &str, at_ns: i64) -> Result<(), String> {
    at_most(&format!("{what} in ns"), at_ns.unsigned_abs(), NS_MAX)
}

fn check_description(description: &Description) -> Result<(), String> {
    for ns in
        [description.phases.ramp_up_ns, description.phases.measure_ns, description.phases.drain_ns]
    {
        at_most("a phase in ns", ns, YEAR_S as u64 * NS_PER_S)?;
    }
    for seconds in [description.interval_seconds, description.window_seconds] {
        at_most("an interval in seconds", seconds.into(), YEAR_S as u64)?;
    }
    at_most("its beginning in ms", description.started_unix_ms.unsigned_abs(), UNIX_MS_MAX as u64)?;
    if let Some(trial) = &description.trial {
        at_most("the number of a trial", trial.point.max(trial.repeat).into(), TRIALS_MAX)?;
    }
    at_most("groups", description.groups.len() as u64, u16::MAX.into())?;
    for group in &description.groups {
        at_most(
            "clients of a group",
            group.clients.max(group.processes).into(),
            CLIENTS_MAX.into(),
        )?;
        let n_kinds = group.kinds.len().max(group.custom_metrics.len());
        at_most("types of a group", n_kinds as u64, KINDS_MAX as u64)?;
        for kind in &group.kinds {
            at_most("the share of a type", kind.weight, COUNT_MAX / KINDS_MAX as u64)?;
        }
        for primary in &group.primary_metrics {
            at_most("a time in ns", primary.per_ns, NS_MAX)?;
        }
    }
    Ok(())
}

impl Report {
    /// Parses a report from JSON. An `Err` says why dbdyno cannot have written it, such as a number
    /// beyond the limits within which memory is allocated.
    pub fn read_json(json: &str) -> Result<Report, String> {
        let report: Report = serde_json::from_str(json).map_err(|error| error.to_string())?;
        report.check()?;
        Ok(report)
    }

    /// Checks a report in JSON from an unknown source, with all its numbers. An `Err` says why
    /// dbdyno cannot have written it.
    pub fn check_json(json: &str) -> Result<(), String> {
        Report::read_json(json)?;
        let all: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        check_numbers("", &all, &mut 0)
    }

    fn check(&self) -> Result<(), String> {
        let seconds = |what: &str, s: f64| match s.abs() <= SECONDS_MAX as f64 {
            true => Ok(()),
            false => Err(format!("{what} of {s} s")),
        };
        seconds("a measured phase", self.measured_seconds)?;
        self.seconds.iter().try_for_each(|row| seconds("a second", row.second as f64))?;
        self.commits_by_type.iter().try_for_each(|kind| seconds("a second", kind.from_s as f64))?;
        self.intervals.iter().try_for_each(|interval| {
            seconds("an interval", interval.from_s)?;
            seconds("an interval", interval.to_s)
        })?;
        self.dips.iter().try_for_each(|dip| {
            seconds("a dip", dip.from_s as f64)?;
            seconds("a dip", dip.to_s as f64)
        })?;
        let points = self.gauges.iter().flat_map(|gauge| &gauge.points);
        points.into_iter().try_for_each(|(second, _)| seconds("a reading", *second as f64))?;
        self.latency_heat.as_ref().map_or(Ok(()), |heat| heat.check(SECONDS_MAX))
    }
}

/// Checks that the sum of all whole numbers in a JSON value fits, so that no sum of some of them
/// can overflow; an `Err` says that it does not. `key` is the name of the value's field. Seeds and
/// sums of custom metrics use all 64 bits, and are not added.
fn check_numbers(key: &str, value: &Value, sum: &mut u64) -> Result<(), String> {
    match value {
        Value::Number(number) if !matches!(key, "seed" | "sum") => {
            let n = number.as_u64().or(number.as_i64().map(i64::unsigned_abs)).unwrap_or(0);
            let added = sum.checked_add(n).filter(|sum| *sum <= u64::MAX >> 1);
            *sum = added.ok_or_else(|| format!("{key}: {n} is too large"))?;
            Ok(())
        }
        Value::Array(all) => all.iter().try_for_each(|value| check_numbers(key, value, sum)),
        Value::Object(all) => {
            all.iter().try_for_each(|(key, value)| check_numbers(key, value, sum))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::{Phase, StopReason};

    use super::*;
    use crate::fixtures::{self, Made};

    fn checked(events: &[Event]) -> Result<(), String> {
        let mut check = RunCheck::default();
        events.iter().try_for_each(|event| check.event(event))?;
        check.end()
    }

    #[test]
    fn what_runs_of_ours_say_is_taken() {
        for made in [Made::closed(), Made::open_overloaded(), Made::interrupted(), Made::running()]
        {
            assert_eq!(checked(&made.events()), Ok(()));
            let json = serde_json::to_string(&Report::from_tally(&made.tally()))
                .expect("numbers and words");
            assert_eq!(Report::check_json(&json), Ok(()));
        }
    }

    #[test]
    fn what_would_be_filled_up_to_or_indexed_is_refused() {
        let check = |last: Event, words: &str| {
            let mut events = Made::running().events();
            events.push(last);
            let why = checked(&events).expect_err(words);
            assert!(why.contains(words), "{why}");
        };
        let second = |at: i64| Event::Second(fixtures::second(at, 1));
        check(second(i64::from(i32::MIN)), "outside of the run");
        check(second(-16), "outside of the run");
        check(second(i64::MAX), "outside of the run");
        check(second(30_000_000), "with 29 events");
        let mut strange = fixtures::second(3, 1);
        strange.group = 1;
        check(Event::Second(strange), "group 1 of 1");
        let mut strange = fixtures::second(3, 1);
        strange.kinds[0].kind = 5;
        check(Event::Second(strange), "type 5 of 5");
        let mut strange = fixtures::second(3, 1);
        strange.kinds[0].counts.committed = u64::MAX;
        check(Event::Second(strange), "2^53");
        check(Event::Phase { phase: Phase::Drain, at_ns: i64::MIN }, "a phase in ns");
        let (reason, elapsed_ns, cpu_ns, max_rss_bytes) = (StopReason::Completed, 0, 0, 0);
        let ended = |measured_ns| Event::Ended {
            reason: reason.clone(),
            measured_ns,
            elapsed_ns,
            cpu_ns,
            max_rss_bytes,
        };
        check(ended(u64::MAX), "the measured phase in ns");
        check(ended(300 * 86_400 * NS_PER_S), "with 28 events");
    }

    #[test]
    fn a_report_whose_numbers_are_filled_up_to_is_refused() {
        let report = Report::from_tally(&Made::closed().tally());
        let check = |change: &dyn Fn(&mut Report)| {
            let mut report = report.clone();
            change(&mut report);
            let json = serde_json::to_string(&report).expect("numbers and words");
            Report::check_json(&json).expect_err("refused");
        };
        check(&|report| report.measured_seconds = 1e18);
        check(&|report| report.seconds[3].second = i64::MAX);
        check(&|report| report.seconds[3].offered = u64::MAX);
    }
}
