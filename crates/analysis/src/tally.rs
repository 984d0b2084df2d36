//! The tally of a run: sums over its events, from which all its figures are computed.
//!
//! Parts of seconds arrive in any order, from any worker or agent process, some long after their
//! second; a phase is the sum of its seconds. Not here: the report (report) and its layout
//! (render), and judgements (findings).

mod group;
mod series;

use std::borrow::Cow;
use std::ops::Range;

use model::{
    Arrivals, CheckResult, ComputedFigure, Counts, CpuProfile, Description, DisturbanceEvent,
    Event, Fact, FactValue, Finding, Gauge, GroupDescription, KindIndex, KindSecond, LatencyHeat,
    Load, NS_PER_MS, NS_PER_S, Phase, PrimaryMetricDescription, Readings, RunId, Second,
    ServerSummary, StopCondition, StopReason, Traffic,
};
use stats::{
    Course, Due, Histogram, InTime, Intervals, Stability, Stretch, stability, stability_against,
    together,
};

use crate::due;

pub use group::GroupTally;
pub use series::{Quantiles, SecondTally, Series};

/// Largest number of a run's messages to the user that are kept; further messages are dropped, and
/// only their number is kept.
const OUTPUT_LINES_MOST: usize = 1000;

/// Width of the slots whose commits show stalls, in nanoseconds: that of
/// [`Second::commits_tenths`].
pub(crate) const SLOT_NS: u64 = 100 * NS_PER_MS;

/// End of a run's load: time, CPU time and memory, as the engine reported them.
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

/// Heartbeats of one of the generator's event loops in the measured phase: timers whose lateness
/// shows how busy the loop was.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopHeartbeats {
    /// Index of the loop, from 0.
    pub loop_index: u32,
    /// Due time of the heartbeat with the largest lateness, in nanoseconds from the start of the
    /// measured phase.
    pub most_delayed_at_ns: i64,
    /// Lateness of each heartbeat, in nanoseconds.
    pub lag: Histogram,
}

/// Comparison of two counts of a transaction type's commits over the whole run: the database's own
/// and the generator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    pub group: u16,
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Growth of the database's own count of commits during the run.
    pub change: i64,
    /// Commits that the generator counted, including ramp-up and drain.
    pub committed: u64,
    /// Number of transactions with an unknown outcome, which may have committed.
    pub unknown: u64,
}

impl Crosscheck {
    /// Returns true if both counts agree: committed <= change <= committed + unknown.
    pub fn matches(&self) -> bool {
        let change = i128::from(self.change);
        let least = i128::from(self.committed);
        (least..=least + i128::from(self.unknown)).contains(&change)
    }
}

/// One of the times that are measured for each transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Response time: from the intended start to the last reply.
    Response,
    /// Service time: from the first request to the last reply, all attempts included. In closed
    /// load it is the response time, since no transaction waits for a client.
    Service,
    /// Wait time: from the intended start until a client was free.
    Wait,
}

/// Sums over the events of a run, in progress or ended, from which its report is made.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Id of the run; `None` before the event [`Event::Begun`].
    pub run: Option<RunId>,
    /// Decided plan of the run, in TOML; empty before the event [`Event::Begun`].
    pub plan: String,
    /// Names of groups, types and metrics, and planned phases; `None` before the event
    /// [`Event::Begun`].
    pub description: Option<Box<Description>>,
    /// Facts about machine, build, data and database, in the order in which they were observed.
    pub facts: Vec<Fact>,
    /// Start of each phase, in nanoseconds from the start of the measured phase.
    pub phases: Vec<(Phase, i64)>,
    /// Sums of each group of clients, by the group's index in the plan.
    pub groups: Vec<GroupTally>,
    /// Heartbeats of the generator's event loops; empty if clients are on threads.
    pub heartbeats: Vec<LoopHeartbeats>,
    /// The end of the run; `None` while it is in progress.
    pub ended: Option<Ended>,
    /// Results of the consistency checks before the load; `None` if there were none.
    pub checked_before: Option<Vec<CheckResult>>,
    /// Results of the consistency checks after the load; `None` if there were none.
    pub checked_after: Option<Vec<CheckResult>>,
    /// Comparisons of the database's own counts of commits with the generator's.
    pub crosschecks: Vec<Crosscheck>,
    /// Figures that workloads computed over the measured phase, each with the index of its group.
    pub computed: Vec<(u16, ComputedFigure)>,
    /// Findings that the process of the run made; those that [`crate::findings`] makes are not
    /// included.
    pub findings: Vec<Finding>,
    /// Planned disturbances of the database, each in its last reported state.
    pub disturbances: Vec<DisturbanceEvent>,
    /// Settings that new sessions of the server had before the load, by name.
    pub settings: Vec<(String, String)>,
    /// System and database metrics (gauges) that are read once per second.
    pub gauges: Vec<Gauge>,
    /// Values of the gauges, in the order in which they were read.
    pub readings: Vec<Readings>,
    /// The server's own totals over the load, by statement, wait event or table.
    pub summaries: Vec<ServerSummary>,
    /// The server's own totals over the last seconds, the latest ones of each kind, while the run
    /// is in progress.
    pub summaries_so_far: Vec<ServerSummary>,
    /// CPU profiles of the generator and the server.
    pub cpu_profiles: Vec<CpuProfile>,
    /// Messages of the run to the user, in order; at most 1,000 are kept.
    pub output: Vec<String>,
    /// Number of messages to the user beyond the first 1,000, which are not kept.
    pub output_lost: u64,
    /// Response times in each report interval (`report_interval` of the plan).
    intervals: Intervals,
    pub(crate) latency_heat: LatencyHeat,
}

impl Tally {
    /// Returns name and title of each primary metric of `groups`, given by index: `nopm` and
    /// `NOPM`. Each name comes once. Metrics that are computed after the load are included.
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

    /// Returns those of `groups` that have the primary metric `name`, each with its own description
    /// of the metric.
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
                self.group(*group).add_connected(*connected, *failed, times.as_ref());
            }
            Event::Heartbeats { loop_index, most_delayed_at_ns, lag } => {
                let (loop_index, most_delayed_at_ns) = (*loop_index, *most_delayed_at_ns);
                let lag = lag.clone().unwrap_or_default();
                self.heartbeats.push(LoopHeartbeats { loop_index, most_delayed_at_ns, lag });
            }
            Event::Second(part) => self.add_second(part),
            Event::Clients { group, moments } => {
                self.group(*group).clients.extend_from_slice(moments)
            }
            Event::Executions { group, executions } => {
                let all = &mut self.group(*group).executions;
                all.extend_from_slice(executions);
                all.sort_by_key(|execution| (execution.client, execution.started_ns));
            }
            Event::QueryPlans { group, plans } => self.group(*group).query_plans.clone_from(plans),
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

    /// Adds figures of one second of one group. Several parts of the same second may arrive, in any
    /// order.
    pub(crate) fn add_second(&mut self, part: &Second) {
        self.group(part.group).add(part);
        self.latency_heat.add(part);
        if part.second >= 0 {
            let from = part.second - part.second % self.interval_seconds();
            let times = part.kinds.iter().filter_map(|kind| kind.response.as_ref());
            times.for_each(|times| self.intervals.add(from, times));
        }
    }

    /// Returns the length of the report's intervals (`report_interval` of the plan), in seconds.
    pub fn interval_seconds(&self) -> i64 {
        let seconds =
            self.description.as_ref().map_or(model::INTERVAL_SECONDS, |d| d.interval_seconds);
        i64::from(seconds.max(1))
    }

    /// Adds a disturbance, or replaces its earlier state, such as its beginning by its end.
    fn disturbed(&mut self, described: &DisturbanceEvent) {
        let same = |known: &&mut DisturbanceEvent| {
            (known.index, known.nth) == (described.index, described.nth)
        };
        match self.disturbances.iter_mut().find(same) {
            Some(known) => known.clone_from(described),
            None => self.disturbances.push(described.clone()),
        }
    }

    /// Keeps a summary of the server's last seconds, in place of the earlier summary of the same
    /// kind.
    fn summed_up_so_far(&mut self, summary: &ServerSummary) {
        match self.summaries_so_far.iter_mut().find(|known| known.of == summary.of) {
            Some(known) => known.clone_from(summary),
            None => self.summaries_so_far.push(summary.clone()),
        }
    }

    /// Returns the server's own totals over the load. Before the end of the load, returns those
    /// over the last seconds.
    pub fn server(&self) -> Vec<ServerSummary> {
        match self.ended.is_none() && self.summaries.is_empty() {
            true => {
                let mut all = self.summaries_so_far.clone();
                all.retain(|summary| !summary.rows.is_empty());
                all.sort_by_key(|summary| summary.of as u8);
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

    /// Returns the description of a group by its index; `None` before the event [`Event::Begun`].
    pub fn description(&self, group: usize) -> Option<&GroupDescription> {
        self.description.as_ref()?.groups.get(group)
    }

    /// Returns the name of a group by its index; empty before the event [`Event::Begun`].
    pub fn name_of(&self, group: usize) -> String {
        self.description(group).map(|described| described.name.clone()).unwrap_or_default()
    }

    /// Returns true if each client of each group executes a fixed sequence of transactions, after
    /// which its load is complete. Rates over time, and whether they are steady, then say nothing.
    pub fn is_sequence(&self) -> bool {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        let mut groups = groups.peekable();
        groups.peek().is_some() && groups.all(|group| group.sequence.is_some())
    }

    /// Returns true if a group has closed load: each client begins a transaction as soon as its
    /// last one has ended. Also true before the event [`Event::Begun`].
    pub fn is_closed(&self, group: usize) -> bool {
        self.description(group).is_none_or(|described| described.load == Load::Closed)
    }

    /// Returns the last observed value of a fact by its subject and name, such as `machine` and
    /// `cpu`; `None` if there is none.
    pub fn fact(&self, about: &str, name: &str) -> Option<&FactValue> {
        let found = self.facts.iter().rev().find(|fact| fact.about == about && fact.name == name);
        found.map(|fact| &fact.value)
    }

    /// Returns a fact about a group's workload; `None` if there is none. The fact is called
    /// `GROUP.name` if several groups have it, and else `name`.
    pub(crate) fn fact_of_group(&self, group: &GroupDescription, name: &str) -> Option<&FactValue> {
        let of_group = format!("{}.{name}", group.name);
        self.fact(&group.workload, &of_group).or_else(|| self.fact(&group.workload, name))
    }

    /// Returns the mean number of CPUs that the producers of all workloads used. Producers are
    /// threads of the generator that make what clients send. `None` without producers.
    pub(crate) fn producer_cpus(&self) -> Option<f64> {
        let name = |fact: &Fact| fact.name.rsplit('.').next() == Some(model::PRODUCER_CPU_PERCENT);
        let of_producers = self.facts.iter().filter(|fact| name(fact));
        let cpus = of_producers.filter_map(|fact| Some(fact.value.as_percent()? / 100.0));
        cpus.reduce(|sum, one| sum + one)
    }

    /// Returns the length of the measured window, in nanoseconds. For a run in progress, the window
    /// ends with the last second that was reported.
    pub fn measured_ns(&self) -> u64 {
        match &self.ended {
            Some(ended) => ended.measured_ns,
            None => {
                let n_seconds = self.newest().map_or(0, |newest| newest + 1);
                u64::try_from(n_seconds).unwrap_or(0) * NS_PER_S
            }
        }
    }

    /// Returns the seconds that the measured window covers at least in part; the last may not be
    /// whole.
    pub fn seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns().div_ceil(NS_PER_S)).unwrap_or(i64::MAX)
    }

    /// Returns the seconds that lie entirely within the measured window.
    pub fn whole_seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns() / NS_PER_S).unwrap_or(i64::MAX)
    }

    /// Returns the latest second in which anything happened, in any group; `None` if nothing has.
    pub fn newest(&self) -> Option<i64> {
        self.groups.iter().filter_map(|group| group.series.last()).max()
    }

    /// Returns the share of the measured window that clients spent outside of transactions, in
    /// percent. `None` unless all groups have closed load and end by time, and something was
    /// measured.
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

    /// Returns the commits of `groups` in each whole slot of 100 ms within the measured window.
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

    /// Returns how steady the commits of `groups` are, with their stalls. If all groups have open
    /// load, commits are compared with the arrivals, which do not depend on the database.
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

    /// Returns response, service or wait times of the measured phase in consecutive intervals of
    /// equal length, for all types of `groups` or for the type `kind`. `None` if the groups have
    /// intervals of lengths that do not divide each other.
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

    /// Returns the records of a group's custom metric in the measured phase, in consecutive
    /// intervals of equal length; `None` if there are none.
    pub fn measured_in_time(&self, group: usize, metric: usize) -> Option<InTime> {
        let records = self.groups.get(group)?.custom_metrics_in_time.get(metric)?;
        Some(self.planned(together(&[&records.values], self.seconds().end)?, 0))
    }

    /// Returns true if the plan changes the arrival rate of any group. A trend that follows the
    /// plan is not a drift.
    pub(crate) fn is_planned_to_change(&self) -> bool {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        groups.map(|group| &group.load).any(due::changes)
    }

    /// Returns true if all load of `groups` arrives at random, whatever the system does: then
    /// commits follow the arrivals.
    pub(crate) fn follows_random_arrivals(&self, groups: &[usize]) -> bool {
        let is_random = |index: &usize| {
            self.description(*index).is_some_and(|described| {
                matches!(described.load, Load::Open { arrivals: Arrivals::Poisson, .. })
            })
        };
        groups.iter().all(is_random)
    }

    /// Returns the number of transactions that the arrival rates of `groups` plan for each of the
    /// first `n` slots of `slot_ns` nanoseconds of the measured phase; `None` if the plan changes
    /// no rate.
    pub(crate) fn due(&self, groups: &[usize], slot_ns: u64, n: usize) -> Option<Due> {
        let described = &self.description.as_ref()?.groups;
        let own = groups.iter().filter_map(|index| described.get(*index));
        let own: Vec<&Load> = own.map(|group| &group.load).collect();
        let all: Vec<&Load> = described.iter().map(|group| &group.load).collect();
        let waiting = groups.iter().filter_map(|index| self.groups.get(*index));
        let waiting = waiting.map(GroupTally::backlog_at_start).sum::<u64>() as f64;
        due::due(&own, &all, slot_ns, n).map(|due| Due { waiting, ..due })
    }

    /// Adds to a series of times the shapes that planned changes of the arrival rate may give it,
    /// so that they do not count as error. The series begins at second `from_s` of the measured
    /// phase.
    fn planned(&self, in_time: InTime, from_s: i64) -> InTime {
        let course = self.course(from_s, in_time.width_s, in_time.stretches.len());
        InTime { course, ..in_time }
    }

    /// Returns the shapes that planned changes of the arrival rate may give a series of `n`
    /// intervals of `width_s` seconds each, from second `from_s` of the measured phase on.
    fn course(&self, from_s: i64, width_s: i64, n: usize) -> Course {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        let loads: Vec<&Load> = groups.map(|group| &group.load).collect();
        due::course(&loads, from_s, width_s, n)
    }

    /// Returns the shapes that planned changes of the arrival rate may give a series over the first
    /// `n` seconds of the measured phase, divided as by [`due::stretches`].
    pub(crate) fn course_of_seconds(&self, n: usize) -> Course {
        let (width_s, n) = due::stretches(n);
        self.course(0, width_s, n)
    }

    /// Returns, for each whole second, the number of arrivals that may have slowed the database:
    /// the larger of the numbers planned for that second and for the second before. As long as more
    /// transactions wait than there are clients, the larger number of an earlier second stays.
    /// `None` if the plan changes no rate.
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

    /// Returns the commits of `groups` in each of `seconds`; 0 for seconds in which nothing
    /// happened.
    pub fn commits_per_second(&self, groups: &[usize], seconds: Range<i64>) -> Vec<u64> {
        let groups = || groups.iter().filter_map(|index| self.groups.get(*index));
        let tallies_in = |second| groups().filter_map(move |group| group.series.get(second));
        seconds.map(|second| tallies_in(second).map(SecondTally::commits).sum()).collect()
    }
}

/// Figures of single seconds and of ranges of seconds, for the live view and the report.
impl Tally {
    /// Returns the length of the part of `seconds` that lies within ramp-up and measured phase, in
    /// seconds. It may be fractional, since a phase may begin or end within a second. If no part
    /// lies within, returns the number of `seconds`.
    pub fn length_s(&self, seconds: &Range<i64>) -> f64 {
        let in_s = |ns: u64| ns as f64 / NS_PER_S as f64;
        let (from, to) = (seconds.start as f64, seconds.end as f64);
        let phases = self.description.as_ref().map(|described| &described.phases);
        let ramp_up = phases.map_or(f64::INFINITY, |lengths| in_s(lengths.ramp_up_ns));
        let planned = phases.map(|lengths| lengths.measure_ns).filter(|ns| *ns > 0);
        let measured = self.ended.as_ref().map(|ended| ended.measured_ns).or(planned);
        let most = measured.filter(|_| to > 0.0).map_or(f64::INFINITY, in_s);
        let length = to.min(most) - from.max(-ramp_up);
        if length > 0.0 { length } else { (to - from).max(1.0) }
    }

    /// Returns the second that the live view shows at `now_ns` from the start of the measured
    /// phase: the last complete one if every group has reported it, else the one before it. The
    /// view never lags more than that, so that a stall shows. `None` before the first second.
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

    /// Returns the figures of a second, over `groups`.
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
    /// over all groups; `None` if it was not recorded, as in closed and key/think load.
    pub fn waiting(&self, second: i64) -> Option<u64> {
        let read = self.groups.iter().filter_map(|group| group.series.get(second)?.waiting);
        read.reduce(|sum, n| sum + n)
    }

    /// Returns the number of transactions that clients were executing at the end of a second, over
    /// all groups; `None` if it was not recorded, as in closed and key/think load.
    pub fn running(&self, second: i64) -> Option<u64> {
        let read = self.groups.iter().filter_map(|group| group.series.get(second)?.running);
        read.reduce(|sum, n| sum + n)
    }

    /// Returns what all clients sent and received in these seconds.
    pub fn traffic(&self, seconds: Range<i64>) -> Traffic {
        let mut sum = Traffic::default();
        for group in &self.groups {
            sum += group.traffic(seconds.clone());
        }
        sum
    }

    /// Returns the figures of a range of seconds, over all groups.
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

    /// Returns the response times of transactions that were intended in `seconds` and finished,
    /// second by second.
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

    /// Returns the first second with data, and the commits of all groups in each second from it
    /// through `last`. Seconds of the ramp-up are negative.
    pub fn commits_until(&self, last: i64) -> (i64, Vec<u64>) {
        let first = self.groups.iter().filter_map(|group| group.series.first()).min();
        let first = first.unwrap_or(0).min(last + 1);
        let all: Vec<usize> = (0..self.groups.len()).collect();
        (first, self.commits_per_second(&all, first..last + 1))
    }
}

/// Figures of a range of seconds, over all groups.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// Outcomes of the transactions intended in these seconds.
    pub counts: Counts,
    /// Commits that finished in these seconds.
    pub commits: u64,
    /// Response times of finished transactions intended in these seconds, in nanoseconds.
    pub response: Histogram,
    /// True if `response` is complete; false if it lacks seconds whose times are no longer kept.
    pub is_whole: bool,
}

/// Figures of a second, over one or more groups.
#[derive(Clone, Debug, Default)]
pub struct SecondFigures {
    /// Outcomes of the transactions intended in this second.
    pub counts: Counts,
    /// Commits that finished in this second.
    pub commits: u64,
    /// Statements, round trips, rows and bytes of the transactions that ended in this second.
    pub traffic: Traffic,
    /// Quantiles of the response times of transactions intended in this second; `None` if none
    /// finished, or the times are no longer kept.
    pub quantiles: Option<Quantiles>,
    /// Longest response time of a finished transaction intended in this second, in nanoseconds; 0
    /// if there is none.
    pub max_ns: u64,
}

/// Sums over all transaction types of one or more groups in the measured phase, with all histograms
/// in nanoseconds. In closed load, response times stand for service times, since no transaction
/// waits for a client.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub counts: Counts,
    /// Response times of finished transactions, in nanoseconds.
    pub response: Histogram,
    /// Response times of failed transactions, in nanoseconds.
    pub failures: Histogram,
    /// Ages of transactions that were unfinished at the end, in nanoseconds.
    pub unfinished: Histogram,
    /// Service times of finished transactions, in nanoseconds.
    pub service: Histogram,
    /// Wait times of finished transactions, in nanoseconds.
    pub wait: Histogram,
}

impl Sum {
    /// Adds the sums of a transaction type of one group. `closed` is true if the group has closed
    /// load.
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

    /// Returns the sum over all types of `groups` in the measured phase.
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
