//! A run, added up: the one place that knows how the events of a run become its figures.
//!
//! Parts of seconds come in any order, from any worker and agent, and late ones long after their
//! second; a phase is the sum of its seconds. Not here: what is printed (report, render), and
//! what is to be thought of it (findings).

mod group;
mod series;

use std::borrow::Cow;
use std::ops::Range;

use model::{
    CheckResult, ComputedFigure, Counts, CpuProfile, Description, DisturbanceEvent, Event, Fact,
    FactValue, Finding, Gauge, GroupDescription, KindIndex, KindSecond, LatencyHeat, Load,
    NS_PER_MS, NS_PER_S, Phase, PrimaryMetricDescription, Readings, RunId, Second, ServerSummary,
    StopCondition, StopReason, Traffic,
};
use stats::{
    Course, Due, Histogram, InTime, Intervals, Stability, Stretch, stability, stability_against,
    together,
};

use crate::due;

pub use group::GroupTally;
pub use series::{Quantiles, SecondTally, Series};

/// Largest number of output lines that are kept.
const OUTPUT_LINES_MOST: usize = 1000;

/// Width of the slots in which stalls are looked for, in nanoseconds: those of
/// [`Second::commits_tenths`].
pub(crate) const SLOT_NS: u64 = 100 * NS_PER_MS;

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub reason: StopReason,
    /// Length of the measured window, in nanoseconds.
    pub measured_ns: u64,
    /// Time from the beginning of the load to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of the generator's process under load, in nanoseconds.
    pub cpu_ns: u64,
    /// Largest resident memory of the generator, in bytes.
    pub max_rss_bytes: u64,
}

/// Lateness of the heartbeats of an event loop in the measured phase.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopHeartbeats {
    /// Index of the loop, from 0.
    pub loop_index: u32,
    /// Due time of the latest heartbeat, in nanoseconds from the beginning of the measured phase.
    pub latest_at_ns: i64,
    /// Lateness of each heartbeat.
    pub lag: Histogram,
}

/// The database's own count of commits, compared with the generator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    pub group: u16,
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Growth of the database's count.
    pub change: i64,
    /// Commits that the generator counted.
    pub committed: u64,
    /// Transactions with an unknown outcome.
    pub unknown: u64,
}

impl Crosscheck {
    /// Returns true if committed <= change <= committed + unknown.
    pub fn matches(&self) -> bool {
        let change = i128::from(self.change);
        let least = i128::from(self.committed);
        (least..=least + i128::from(self.unknown)).contains(&change)
    }
}

/// A kind of times of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Response time: from the intended start to the end.
    Response,
    /// Service time: time with the database. In closed load it is the response time, since no
    /// transaction waits for a client.
    Service,
    /// Wait time: until a client was free.
    Wait,
}

/// The sums over the events of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Id of the run.
    pub run: Option<RunId>,
    /// Plan of the run, in TOML.
    pub plan: String,
    /// Description of the run.
    pub description: Option<Box<Description>>,
    /// Observed facts, in the order of time.
    pub facts: Vec<Fact>,
    /// Beginnings of the phases, in nanoseconds from the beginning of the measured phase.
    pub phases: Vec<(Phase, i64)>,
    /// Sums of each group, by index.
    pub groups: Vec<GroupTally>,
    /// Lateness of the generator's event loops; empty if clients are on threads.
    pub heartbeats: Vec<LoopHeartbeats>,
    /// The end of the run; `None` while it is in progress.
    pub ended: Option<Ended>,
    /// Results of checks before the load, if there were any.
    pub checked_before: Option<Vec<CheckResult>>,
    /// Results of checks after the load, if there were any.
    pub checked_after: Option<Vec<CheckResult>>,
    /// Crosschecks of the database's counts of commits.
    pub crosschecks: Vec<Crosscheck>,
    /// Figures that workloads computed over the measured phase, each with its group.
    pub computed: Vec<(u16, ComputedFigure)>,
    /// Findings in the events of the run; those of the analysis are in [`crate::findings`].
    pub findings: Vec<Finding>,
    /// Disturbances, each in its last reported state.
    pub disturbances: Vec<DisturbanceEvent>,
    /// Settings of the server before the load, by name.
    pub settings: Vec<(String, String)>,
    /// Gauges that are read once per second.
    pub gauges: Vec<Gauge>,
    /// Readings of the gauges, in the order of time.
    pub readings: Vec<Readings>,
    /// Statistics of the server over the load.
    pub summaries: Vec<ServerSummary>,
    /// Statistics over the last seconds, one of each kind, while the run is in progress.
    pub summaries_so_far: Vec<ServerSummary>,
    /// CPU profiles, by side.
    pub cpu_profiles: Vec<CpuProfile>,
    /// Output of the run to the user.
    pub output: Vec<String>,
    /// Number of output lines that were dropped.
    pub output_lost: u64,
    /// Response times of the report's intervals.
    intervals: Intervals,
    pub(crate) latency_heat: LatencyHeat,
}

impl Tally {
    /// Returns the names and titles of the groups' primary metrics, each once, including those
    /// computed after the run.
    pub fn primary_metrics(&self, groups: &[usize]) -> Vec<(&str, &str)> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        let described = groups.iter().filter_map(|index| self.description(*index));
        for primary in described.flat_map(|group| &group.primary_metrics) {
            if names.iter().all(|(name, _)| *name != primary.name) {
                names.push((&primary.name, &primary.title));
            }
        }
        names
    }

    /// Returns the groups that have a primary metric of this name, with its description there.
    pub fn with_primary_metric<'t>(
        &'t self,
        groups: &'t [usize],
        name: &'t str,
    ) -> impl Iterator<Item = (&'t GroupTally, &'t PrimaryMetricDescription)> {
        let group = |index: &usize| Some((self.groups.get(*index)?, self.description(*index)?));
        groups.iter().filter_map(group).flat_map(move |(group, described)| {
            let all = described.primary_metrics.iter().filter(move |primary| primary.name == name);
            all.map(move |primary| (group, primary))
        })
    }

    pub fn new() -> Tally {
        Tally::default()
    }

    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Begun { run, plan, description } => {
                self.run = Some(run.clone());
                self.plan.clone_from(plan);
                let n_groups = u16::try_from(description.groups.len()).unwrap_or(u16::MAX);
                self.description = Some(description.clone());
                if let Some(last) = n_groups.checked_sub(1) {
                    self.group(last);
                }
            }
            Event::Fact(fact) => self.facts.push(fact.clone()),
            Event::Phase { phase, at_ns } => self.phases.push((*phase, *at_ns)),
            Event::Connected { group, connected, failed, times } => {
                let group = self.group(*group);
                group.connected += connected;
                group.connect_failed += failed;
                match (&mut group.connect, times) {
                    (Some(mine), Some(times)) => mine.add(times),
                    (mine, Some(times)) => *mine = Some(times.clone()),
                    (_, None) => {}
                }
            }
            Event::Heartbeats { loop_index, latest_at_ns, lag } => {
                let (loop_index, latest_at_ns) = (*loop_index, *latest_at_ns);
                let lag = lag.clone().unwrap_or_default();
                self.heartbeats.push(LoopHeartbeats { loop_index, latest_at_ns, lag });
            }
            Event::Second(part) => self.add_second(part),
            Event::Clients { group, moments } => {
                self.group(*group).clients.extend_from_slice(moments)
            }
            Event::Ended { reason, measured_ns, elapsed_ns, cpu_ns, max_rss_bytes } => {
                self.ended = Some(Ended {
                    reason: reason.clone(),
                    measured_ns: *measured_ns,
                    elapsed_ns: *elapsed_ns,
                    cpu_ns: *cpu_ns,
                    max_rss_bytes: *max_rss_bytes,
                });
            }
            Event::Checked { after: false, results } => self.checked_before = Some(results.clone()),
            Event::Checked { after: true, results } => self.checked_after = Some(results.clone()),
            Event::Crosschecked { group, kind, change, committed, unknown } => {
                let (group, kind, change) = (*group, *kind, *change);
                let (committed, unknown) = (*committed, *unknown);
                self.crosschecks.push(Crosscheck { group, kind, change, committed, unknown });
            }
            Event::Computed { group, figures } => {
                let of_group = figures.iter().map(|figure| (*group, figure.clone()));
                self.computed.extend(of_group);
            }
            Event::Disturbance(described) => self.disturbed(described),
            Event::Settings { settings } => self.settings.clone_from(settings),
            Event::Gauges { gauges } => self.gauges.extend_from_slice(gauges),
            Event::Readings(readings) => self.readings.push(readings.clone()),
            Event::Summary(summary) => self.summaries.push(summary.clone()),
            Event::SummarySoFar(summary) => self.summed_up_so_far(summary),
            Event::CpuProfile(profile) => self.cpu_profiles.push(profile.clone()),
            Event::Output { text } if self.output.len() < OUTPUT_LINES_MOST => {
                self.output.push(text.clone());
            }
            Event::Output { .. } => self.output_lost += 1,
            Event::Finding(finding) => self.findings.push(finding.clone()),
        }
    }

    /// Adds a part of a second.
    pub(crate) fn add_second(&mut self, part: &Second) {
        self.group(part.group).add(part);
        self.latency_heat.add(part);
        if part.second >= 0 {
            let from = part.second - part.second % self.interval_seconds();
            let times = part.kinds.iter().filter_map(|kind| kind.response.as_ref());
            times.for_each(|times| self.intervals.add(from, times));
        }
    }

    /// Returns the length of the report's intervals, in seconds.
    pub fn interval_seconds(&self) -> i64 {
        let seconds =
            self.description.as_ref().map_or(model::INTERVAL_SECONDS, |d| d.interval_seconds);
        i64::from(seconds.max(1))
    }

    /// Adds a disturbance; its end replaces its beginning.
    fn disturbed(&mut self, described: &DisturbanceEvent) {
        let same = |known: &&mut DisturbanceEvent| {
            (known.index, known.nth) == (described.index, described.nth)
        };
        match self.disturbances.iter_mut().find(same) {
            Some(known) => known.clone_from(described),
            None => self.disturbances.push(described.clone()),
        }
    }

    /// Adds a summary, which replaces the one before of its kind.
    fn summed_up_so_far(&mut self, summary: &ServerSummary) {
        match self.summaries_so_far.iter_mut().find(|known| known.of == summary.of) {
            Some(known) => known.clone_from(summary),
            None => self.summaries_so_far.push(summary.clone()),
        }
    }

    /// Returns the statistics of the server over the load; before its end, those over the last
    /// seconds.
    pub fn server(&self) -> Vec<ServerSummary> {
        match self.ended.is_none() && self.summaries.is_empty() {
            true => {
                let mut all = self.summaries_so_far.clone();
                all.retain(|of| !of.rows.is_empty());
                all.sort_by_key(|of| of.of as u8);
                all
            }
            false => self.summaries.clone(),
        }
    }

    fn group(&mut self, index: u16) -> &mut GroupTally {
        while self.groups.len() <= usize::from(index) {
            let next = u16::try_from(self.groups.len()).expect("at most index, a u16");
            let window = self.description.as_ref().map(|described| described.window_seconds.max(1));
            let window_seconds = window.map_or(model::WINDOW_SECONDS, i64::from);
            self.groups.push(GroupTally::new(next, window_seconds));
        }
        &mut self.groups[usize::from(index)]
    }

    /// Returns the description of a group.
    pub fn description(&self, group: usize) -> Option<&GroupDescription> {
        self.description.as_ref()?.groups.get(group)
    }

    /// Returns the name of a group; empty before it is known.
    pub fn name_of(&self, group: usize) -> String {
        self.description(group).map(|described| described.name.clone()).unwrap_or_default()
    }

    /// Returns true if a group's clients begin again as soon as they have finished.
    pub fn is_closed(&self, group: usize) -> bool {
        self.description(group).is_none_or(|described| described.load == Load::Closed)
    }

    /// Returns the last value of a fact.
    pub fn fact(&self, about: &str, name: &str) -> Option<&FactValue> {
        let found = self.facts.iter().rev().find(|fact| fact.about == about && fact.name == name);
        found.map(|fact| &fact.value)
    }

    /// Returns a fact of a group's workload. If several groups have it, its name begins with the
    /// group.
    pub(crate) fn fact_of_group(&self, group: &GroupDescription, name: &str) -> Option<&FactValue> {
        let of_group = format!("{}.{name}", group.name);
        self.fact(&group.workload, &of_group).or_else(|| self.fact(&group.workload, name))
    }

    /// Returns the CPUs that the producers of all workloads used; these are threads of the
    /// generator.
    pub(crate) fn producer_cpus(&self) -> Option<f64> {
        let name = |fact: &Fact| fact.name.rsplit('.').next() == Some(model::PRODUCER_CPU_PERCENT);
        let of_producers = self.facts.iter().filter(|fact| name(fact));
        let cpus = of_producers.filter_map(|fact| Some(fact.value.as_percent()? / 100.0));
        cpus.reduce(|sum, one| sum + one)
    }

    /// Returns the length of the measured window in nanoseconds: as the engine reported it, or, for
    /// a run in progress, that of all seconds so far, each of which is reported at its end.
    pub fn measured_ns(&self) -> u64 {
        match &self.ended {
            Some(ended) => ended.measured_ns,
            None => {
                let n_seconds = self.newest().map_or(0, |newest| newest + 1);
                u64::try_from(n_seconds).unwrap_or(0) * NS_PER_S
            }
        }
    }

    /// Returns the seconds that the measured window touches; the last may not be whole.
    pub fn seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns().div_ceil(NS_PER_S)).unwrap_or(i64::MAX)
    }

    /// Returns the whole seconds within the measured window.
    pub fn whole_seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns() / NS_PER_S).unwrap_or(i64::MAX)
    }

    /// Returns the latest second with any data.
    pub fn newest(&self) -> Option<i64> {
        self.groups.iter().filter_map(|group| group.series.last()).max()
    }

    /// Returns the share of closed clients' time outside of any transaction, in percent; `None`
    /// unless all groups are closed and end by time.
    pub fn outside_percent(&self) -> Option<f64> {
        let described = &self.description.as_ref()?.groups;
        let closed = |group: &GroupDescription| {
            group.load == Load::Closed && group.stop_condition == StopCondition::Time
        };
        let clients: u64 = described.iter().map(|group| u64::from(group.clients)).sum();
        let all_ns = self.measured_ns() as f64 * clients as f64;
        if !described.iter().all(closed) || all_ns == 0.0 {
            return None;
        }
        let busy_ns: f64 = self.groups.iter().map(GroupTally::busy_ns).sum();
        Some((1.0 - busy_ns / all_ns).max(0.0) * 100.0)
    }

    /// Returns the commits of `groups` in the whole slots of 100 ms within the measured window.
    pub fn commits_100ms(&self, groups: &[usize]) -> Vec<u64> {
        let n_slots = usize::try_from(self.measured_ns() / SLOT_NS).unwrap_or(usize::MAX);
        let mut slots = vec![0; n_slots];
        for group in groups.iter().filter_map(|index| self.groups.get(*index)) {
            for (second, tally) in group.series.iter() {
                let Ok(first) = usize::try_from(second * 10) else { continue };
                let of_second = slots.iter_mut().skip(first);
                of_second.zip(tally.tenths).for_each(|(slot, n)| *slot += u64::from(n));
            }
        }
        slots
    }

    /// Returns the steadiness of the commits of `groups`. In open load the due transactions are
    /// known, since arrivals do not wait; otherwise only commits are.
    pub fn stability(&self, groups: &[usize]) -> Stability {
        let commits = self.commits_100ms(groups);
        let is_open = |index: &usize| {
            self.description(*index)
                .is_some_and(|described| matches!(described.load, Load::Open { .. }))
        };
        if !groups.iter().all(is_open) {
            return stability(&commits);
        }
        let mut due = vec![0.0; commits.len()];
        for group in groups.iter().filter_map(|index| self.groups.get(*index)) {
            for (second, tally) in group.series.iter() {
                let Ok(first) = usize::try_from(second * 10) else { continue };
                let of_second = due.iter_mut().skip(first).take(10);
                of_second.for_each(|due| *due += tally.counts.offered() as f64 / 10.0);
            }
        }
        stability_against(&commits, &due)
    }

    /// Returns the times of the measured phase in the order of time, for all types of `groups` or
    /// for one type. `None` if the groups do not record them alike.
    pub fn in_time(
        &self,
        groups: &[usize],
        kind: Option<KindIndex>,
        times: Times,
    ) -> Option<InTime> {
        let mut all = Vec::new();
        for index in groups {
            let Some(group) = self.groups.get(*index) else { continue };
            let kinds = match kind {
                Some(kind) => group.in_time.get(usize::from(kind)..=usize::from(kind)),
                None => Some(&group.in_time[..]),
            };
            all.extend(kinds.into_iter().flatten().map(|kind| match times {
                Times::Service if self.is_closed(*index) => &kind.response,
                Times::Response => &kind.response,
                Times::Service => &kind.service,
                Times::Wait => &kind.wait,
            }));
        }
        let in_time = self.planned(together(&all, self.seconds().end)?, 0);
        Some(if times == Times::Response { in_time } else { in_time.finished() })
    }

    /// Returns the records of a custom metric in the measured phase, in the order of time; `None`
    /// if there are none.
    pub fn measured_in_time(&self, group: usize, metric: usize) -> Option<InTime> {
        let of = self.groups.get(group)?.custom_metrics_in_time.get(metric)?;
        Some(self.planned(together(&[&of.values], self.seconds().end)?, 0))
    }

    /// Returns true if the plan changes the load: a trend that follows the plan is not a drift.
    pub(crate) fn is_planned_to_change(&self) -> bool {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        groups.map(|group| &group.load).any(due::changes)
    }

    /// Returns the transactions that the plan has due for `groups` in each of the first `n` slots
    /// of the measured phase; `None` if it changes no rate.
    pub(crate) fn due(&self, groups: &[usize], slot_ns: u64, n: usize) -> Option<Due> {
        let described = &self.description.as_ref()?.groups;
        let of = groups.iter().filter_map(|index| described.get(*index));
        let of: Vec<&Load> = of.map(|group| &group.load).collect();
        let all: Vec<&Load> = described.iter().map(|group| &group.load).collect();
        let waiting = groups.iter().filter_map(|index| self.groups.get(*index));
        let waiting = waiting.map(GroupTally::backlog_at_start).sum::<u64>() as f64;
        due::due(&of, &all, slot_ns, n).map(|due| Due { waiting, ..due })
    }

    /// Adds the effects that the plan may have to times, which begin at second `from_s` of the
    /// measured phase.
    fn planned(&self, in_time: InTime, from_s: i64) -> InTime {
        let course = self.course(from_s, in_time.width_s, in_time.stretches.len());
        InTime { course, ..in_time }
    }

    /// Returns the effects that the plan may have on `n` stretches of `width_s` seconds each.
    fn course(&self, from_s: i64, width_s: i64, n: usize) -> Course {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        let loads: Vec<&Load> = groups.map(|group| &group.load).collect();
        due::course(&loads, from_s, width_s, n)
    }

    /// Returns the same for the first `n` seconds of the measured phase, divided into stretches.
    pub(crate) fn course_of_seconds(&self, n: usize) -> Course {
        let (width_s, n) = due::stretches(n);
        self.course(0, width_s, n)
    }

    /// Returns the load on each second, if the plan changes the rate: the largest number due in it,
    /// in the one before, and, while there is a queue, in those before that.
    pub(crate) fn borne(&self) -> Option<Vec<f64>> {
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let n = usize::try_from(self.whole_seconds().end).ok()?;
        let due = self.due(&all, NS_PER_S, n)?.per_slot;
        let clients = self.description.as_ref()?.groups.iter().map(|group| group.clients);
        let clients: u64 = clients.map(u64::from).sum();
        let mut borne: Vec<f64> = Vec::with_capacity(n);
        for second in 0..n {
            let before = second.saturating_sub(1);
            let is_left = self.waiting(before as i64).is_some_and(|n| n > clients);
            let left = borne.last().copied().filter(|_| is_left).unwrap_or(0.0);
            borne.push(due[second].max(due[before]).max(left));
        }
        Some(borne)
    }

    /// Returns the commits of `groups` in each of `seconds`; 0 if nothing happened.
    pub fn commits_per_second(&self, groups: &[usize], seconds: Range<i64>) -> Vec<u64> {
        let groups = || groups.iter().filter_map(|index| self.groups.get(*index));
        let of = |second| groups().filter_map(move |group| group.series.get(second));
        seconds.map(|second| of(second).map(SecondTally::commits).sum()).collect()
    }
}

/// Figures for the live view.
impl Tally {
    /// Returns the length of `seconds` within ramp-up and measured phase, in seconds: the first and
    /// the last second of a phase may not be whole. If none is within, all count.
    pub fn length_s(&self, seconds: &Range<i64>) -> f64 {
        let in_s = |ns: u64| ns as f64 / NS_PER_S as f64;
        let (from, to) = (seconds.start as f64, seconds.end as f64);
        let phases = self.description.as_ref().map(|described| &described.phases);
        let ramp_up = phases.map_or(f64::INFINITY, |of| in_s(of.ramp_up_ns));
        let planned = phases.map(|of| of.measure_ns).filter(|ns| *ns > 0);
        let measured = self.ended.as_ref().map(|ended| ended.measured_ns).or(planned);
        let most = measured.filter(|_| to > 0.0).map_or(f64::INFINITY, in_s);
        let length = to.min(most) - from.max(-ramp_up);
        if length > 0.0 { length } else { (to - from).max(1.0) }
    }

    /// Returns the second to be shown at `now_ns` from the beginning of the measured phase: the
    /// last complete one. Its parts arrive a moment later; until each group has sent one, the
    /// second before is shown, but for no longer than a second, so that a stall shows.
    pub fn shown_second(&self, now_ns: i64) -> Option<i64> {
        let over = now_ns.div_euclid(NS_PER_S as i64) - 1;
        let first = self.groups.iter().filter_map(|group| group.series.first()).min()?;
        let known = self.groups.iter().all(|group| group.series.last() >= Some(over));
        let shown = if known { over } else { over - 1 };
        (shown >= first).then_some(shown)
    }

    /// Returns the figures of a second, over all groups.
    pub fn second(&self, second: i64) -> SecondFigures {
        self.second_of(&(0..self.groups.len()).collect::<Vec<_>>(), second)
    }

    /// Returns the figures of a second, over these groups.
    pub fn second_of(&self, groups: &[usize], second: i64) -> SecondFigures {
        let mut figures = SecondFigures::default();
        let mut response: Option<Histogram> = None;
        let groups = groups.iter().filter_map(|index| self.groups.get(*index));
        for tally in groups.filter_map(|group| group.series.get(second)) {
            figures.counts.add(&tally.counts);
            figures.commits += tally.commits();
            figures.traffic += tally.traffic;
            figures.max_ns = figures.max_ns.max(tally.max_ns);
            match (&mut response, tally.response()) {
                (Some(mine), Some(other)) => mine.add(&other),
                (None, other) => response = other.map(Cow::into_owned),
                (Some(_), None) => {}
            }
        }
        figures.quantiles = response.as_ref().and_then(Quantiles::from_histogram);
        figures
    }

    /// Returns the number of transactions that waited for a free client at the end of a second,
    /// over all groups; `None` if it was not read, as in any load but open.
    pub fn waiting(&self, second: i64) -> Option<u64> {
        let read = self.groups.iter().filter_map(|group| group.series.get(second)?.waiting);
        read.reduce(|sum, n| sum + n)
    }

    /// Returns the figures of several seconds, over all groups.
    pub fn span(&self, seconds: Range<i64>) -> Span {
        let mut span = Span { is_whole: true, ..Span::default() };
        let length = self.interval_seconds();
        let is_interval = seconds.start >= 0
            && seconds.start % length == 0
            && seconds.end == (seconds.start + length).min(self.seconds().end);
        let of_interval = is_interval.then(|| self.intervals.get(seconds.start)).flatten();
        if let Some(times) = &of_interval {
            span.response = times.clone().into_owned();
        }
        for group in &self.groups {
            for second in seconds.clone().filter_map(|second| group.series.get(second)) {
                span.counts.add(&second.counts);
                span.commits += second.commits();
                if of_interval.is_some() {
                    continue;
                }
                match second.response() {
                    Some(times) => span.response.add(&times),
                    None => span.is_whole &= second.counts.finished() == 0,
                }
            }
        }
        span
    }

    /// Returns the times of finished transactions in these seconds, in the order of time.
    pub fn seconds_in_time(&self, seconds: Range<i64>) -> InTime {
        let stretch = |second: i64| {
            let mut finished = Histogram::default();
            let within = self.groups.iter().filter_map(|group| group.series.get(second));
            within.filter_map(SecondTally::response).for_each(|times| finished.add(&times));
            Stretch { offered: finished.count(), finished }
        };
        let from_s = seconds.start;
        let stretches = seconds.map(stretch).collect();
        self.planned(InTime { stretches, width_s: 1, course: Course::default() }, from_s)
    }

    /// Returns the commits in each second from the first of the ramp-up through `last`, over all
    /// groups, and the index of the first.
    pub fn commits_until(&self, last: i64) -> (i64, Vec<u64>) {
        let first = self.groups.iter().filter_map(|group| group.series.first()).min();
        let first = first.unwrap_or(0).min(last + 1);
        let all: Vec<usize> = (0..self.groups.len()).collect();
        (first, self.commits_per_second(&all, first..last + 1))
    }
}

/// The figures of several seconds, over all groups.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// Outcomes of the transactions intended in them.
    pub counts: Counts,
    /// Commits in these seconds.
    pub commits: u64,
    /// Response times of finished transactions intended in them.
    pub response: Histogram,
    /// True if these are all response times: those of long ago are not kept.
    pub is_whole: bool,
}

/// The figures of a second, over all groups.
#[derive(Clone, Debug, Default)]
pub struct SecondFigures {
    /// Outcomes of the transactions intended in it.
    pub counts: Counts,
    /// Commits in this second.
    pub commits: u64,
    /// Traffic of the transactions that ended in it.
    pub traffic: Traffic,
    /// Quantiles of the response times of transactions intended in it, if any finished.
    pub quantiles: Option<Quantiles>,
    /// The longest of these response times, in nanoseconds.
    pub max_ns: u64,
}

/// The sum over several types or groups in the measured phase, with all histograms. In closed load
/// the service time is the response time, since no transaction waits for a client.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub counts: Counts,
    /// Response times of finished transactions.
    pub response: Histogram,
    /// Response times of failed transactions.
    pub failures: Histogram,
    /// Ages of unfinished transactions.
    pub unfinished: Histogram,
    /// Service times of finished transactions.
    pub service: Histogram,
    /// Wait times of finished transactions.
    pub wait: Histogram,
}

impl Sum {
    /// Adds a transaction type.
    pub fn add(&mut self, kind: &KindSecond, closed: bool) {
        self.counts.add(&kind.counts);
        let add = |mine: &mut Histogram, other: &Option<Histogram>| match other {
            // The first one sets the range, beyond which values are overflow.
            Some(other) if mine.is_empty() => mine.clone_from(other),
            Some(other) => mine.add(other),
            None => {}
        };
        add(&mut self.response, &kind.response);
        add(&mut self.failures, &kind.failures);
        add(&mut self.unfinished, &kind.unfinished);
        if closed && kind.service.is_none() {
            add(&mut self.service, &kind.response);
            self.wait.record_n(0, kind.response.as_ref().map_or(0, Histogram::count));
        } else {
            add(&mut self.service, &kind.service);
            add(&mut self.wait, &kind.wait);
        }
    }

    /// Returns the sum over the measured phase of `groups` of a run.
    pub fn from_tally(tally: &Tally, groups: &[usize]) -> Sum {
        let mut sum = Sum::default();
        for index in groups {
            let Some(group) = tally.groups.get(*index) else { continue };
            group.measured.kinds.iter().for_each(|kind| sum.add(kind, tally.is_closed(*index)));
        }
        sum
    }
}

#[cfg(test)]
mod tests;
