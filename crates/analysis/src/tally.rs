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

/// Lines of output kept; a run that says more is talking to itself.
const OUTPUT_LINES_MOST: usize = 1000;

/// The slots in which stalls are looked for, in nanoseconds: those of [`Second::commits_tenths`].
pub(crate) const SLOT_NS: u64 = 100 * NS_PER_MS;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Why.
    pub reason: StopReason,
    /// The length of the measured window, in nanoseconds.
    pub measured_ns: u64,
    /// From the first instant of load to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of the generator's process under load, in nanoseconds.
    pub cpu_ns: u64,
    /// The most memory that it has had resident, in bytes.
    pub max_rss_bytes: u64,
}

/// How late the heartbeats of an event loop were in the measured phase.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopHeartbeats {
    /// Which loop, from 0.
    pub loop_index: u32,
    /// When the latest of them was due, in nanoseconds from the beginning of the measured phase.
    pub latest_at_ns: i64,
    /// How late each was.
    pub lag: Histogram,
}

/// The database's own count of commits, against ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    /// Which group's kind.
    pub group: u16,
    /// Which kind.
    pub kind: KindIndex,
    /// By how much the database's count grew.
    pub change: i64,
    /// How many commits we counted.
    pub committed: u64,
    /// How many outcomes are unknown.
    pub unknown: u64,
}

impl Crosscheck {
    /// Whether committed <= change <= committed + unknown.
    pub fn matches(&self) -> bool {
        let change = i128::from(self.change);
        let least = i128::from(self.committed);
        (least..=least + i128::from(self.unknown)).contains(&change)
    }
}

/// Which times of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// From the intended start to the end.
    Response,
    /// With the database. In closed load, where nobody waits, that is the response.
    Service,
    /// For a free client.
    Wait,
}

/// A run, added up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Its name.
    pub run: Option<RunId>,
    /// Its plan, in TOML.
    pub plan: String,
    /// The run as it is reported.
    pub description: Option<Box<Description>>,
    /// What was observed.
    pub facts: Vec<Fact>,
    /// When each phase began, in nanoseconds from the beginning of the measured phase.
    pub phases: Vec<(Phase, i64)>,
    /// The sums of each group, by index.
    pub groups: Vec<GroupTally>,
    /// How late the generator's event loops were; none where clients live on threads.
    pub heartbeats: Vec<LoopHeartbeats>,
    /// How it ended; none while it goes on.
    pub ended: Option<Ended>,
    /// The checks before the load, if there were any.
    pub checked_before: Option<Vec<CheckResult>>,
    /// The checks after the load, if there were any.
    pub checked_after: Option<Vec<CheckResult>>,
    /// The database's counts against ours.
    pub crosschecks: Vec<Crosscheck>,
    /// What workloads have computed over the measured phase, each with its group.
    pub computed: Vec<(u16, ComputedFigure)>,
    /// Findings of those who made the run; ours are in [`crate::findings`].
    pub findings: Vec<Finding>,
    /// What was done to the database meanwhile, as it was reported last.
    pub disturbances: Vec<DisturbanceEvent>,
    /// What was in force at the server before the load, by name.
    pub settings: Vec<(String, String)>,
    /// What is read around the run once a second.
    pub gauges: Vec<Gauge>,
    /// What was read, in the order of time.
    pub readings: Vec<Readings>,
    /// What the server summed up while the load ran.
    pub summaries: Vec<ServerSummary>,
    /// The same over the last seconds, one of each kind, while the run is in progress.
    pub summaries_so_far: Vec<ServerSummary>,
    /// Where CPU time went, by side.
    pub cpu_profiles: Vec<CpuProfile>,
    /// What was said to the user.
    pub output: Vec<String>,
    /// Lines of output that were too many to keep.
    pub output_lost: u64,
    /// The response times of the report's intervals.
    intervals: Intervals,
    pub(crate) latency_heat: LatencyHeat,
}

impl Tally {
    /// The names of the primary metrics of groups, each once, with its title; those too that are
    /// computed when the run is over.
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

    /// The groups that have a primary metric of this name, with what it is there.
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

    /// Nothing yet.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Takes one event in.
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

    /// Takes in a part of a second.
    pub(crate) fn add_second(&mut self, part: &Second) {
        self.group(part.group).add(part);
        self.latency_heat.add(part);
        if part.second >= 0 {
            let from = part.second - part.second % self.interval_seconds();
            let times = part.kinds.iter().filter_map(|kind| kind.response.as_ref());
            times.for_each(|times| self.intervals.add(from, times));
        }
    }

    /// The length of the report's intervals, in seconds.
    pub fn interval_seconds(&self) -> i64 {
        let seconds =
            self.description.as_ref().map_or(model::INTERVAL_SECONDS, |d| d.interval_seconds);
        i64::from(seconds.max(1))
    }

    /// The end of a disturbance stands for its beginning.
    fn disturbed(&mut self, described: &DisturbanceEvent) {
        let same = |known: &&mut DisturbanceEvent| {
            (known.index, known.nth) == (described.index, described.nth)
        };
        match self.disturbances.iter_mut().find(same) {
            Some(known) => known.clone_from(described),
            None => self.disturbances.push(described.clone()),
        }
    }

    /// The latest summary of a kind replaces the one before.
    fn summed_up_so_far(&mut self, summary: &ServerSummary) {
        match self.summaries_so_far.iter_mut().find(|known| known.of == summary.of) {
            Some(known) => known.clone_from(summary),
            None => self.summaries_so_far.push(summary.clone()),
        }
    }

    /// Statistics of the server over the load; before its end, those over the last seconds.
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

    /// A group as it is reported.
    pub fn description(&self, group: usize) -> Option<&GroupDescription> {
        self.description.as_ref()?.groups.get(group)
    }

    /// What a group is called; nothing before it is reported.
    pub fn name_of(&self, group: usize) -> String {
        self.description(group).map(|described| described.name.clone()).unwrap_or_default()
    }

    /// Whether a group's clients begin again as soon as they have finished.
    pub fn is_closed(&self, group: usize) -> bool {
        self.description(group).is_none_or(|described| described.load == Load::Closed)
    }

    /// The value of a fact, the one that came last.
    pub fn fact(&self, about: &str, name: &str) -> Option<&FactValue> {
        let found = self.facts.iter().rev().find(|fact| fact.about == about && fact.name == name);
        found.map(|fact| &fact.value)
    }

    /// A fact of a group's workload. Where several groups have it, its name begins with the group.
    pub(crate) fn fact_of_group(&self, group: &GroupDescription, name: &str) -> Option<&FactValue> {
        let of_group = format!("{}.{name}", group.name);
        self.fact(&group.workload, &of_group).or_else(|| self.fact(&group.workload, name))
    }

    /// How many CPUs the producers of all workloads had, which are threads of the generator too.
    pub(crate) fn producer_cpus(&self) -> Option<f64> {
        let name = |fact: &Fact| fact.name.rsplit('.').next() == Some(model::PRODUCER_CPU_PERCENT);
        let of_producers = self.facts.iter().filter(|fact| name(fact));
        let cpus = of_producers.filter_map(|fact| Some(fact.value.as_percent()? / 100.0));
        cpus.reduce(|sum, one| sum + one)
    }

    /// The length of the measured window in nanoseconds: as the engine says, or, while the run
    /// goes on, all seconds that have come: a second comes when it is over.
    pub fn measured_ns(&self) -> u64 {
        match &self.ended {
            Some(ended) => ended.measured_ns,
            None => {
                let n_seconds = self.newest().map_or(0, |newest| newest + 1);
                u64::try_from(n_seconds).unwrap_or(0) * NS_PER_S
            }
        }
    }

    /// The seconds that the measured window touches; the last may be a part of one.
    pub fn seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns().div_ceil(NS_PER_S)).unwrap_or(i64::MAX)
    }

    /// The seconds that lie in the measured window as a whole.
    pub fn whole_seconds(&self) -> Range<i64> {
        0..i64::try_from(self.measured_ns() / NS_PER_S).unwrap_or(i64::MAX)
    }

    /// The newest second of which anything is known.
    pub fn newest(&self) -> Option<i64> {
        self.groups.iter().filter_map(|group| group.series.last()).max()
    }

    /// The share of closed clients' time, in percent, that lies outside of any transaction; none
    /// unless all groups are closed and timed.
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

    /// Commits of `groups` in slots of 100 ms: those that lie in the measured window as a whole.
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

    /// How steadily `groups` committed. What was due in open load is known, since arrivals wait for
    /// nobody; of other loads only the commits tell.
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

    /// Times of the measured phase in the order of time: of all kinds of `groups`, or of one kind
    /// alone. None where the groups do not record them alike.
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

    /// What was recorded of a custom metric in the measured phase, in the order of time; none where
    /// nothing was.
    pub fn measured_in_time(&self, group: usize, metric: usize) -> Option<InTime> {
        let of = self.groups.get(group)?.custom_metrics_in_time.get(metric)?;
        Some(self.planned(together(&[&of.values], self.seconds().end)?, 0))
    }

    /// Whether the plan itself changes the load: what follows it is no drift.
    pub(crate) fn is_planned_to_change(&self) -> bool {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        groups.map(|group| &group.load).any(due::changes)
    }

    /// What the plan has due of `groups` in each of the first `n` slots of the measured phase; none
    /// where it changes no rate.
    pub(crate) fn due(&self, groups: &[usize], slot_ns: u64, n: usize) -> Option<Due> {
        let described = &self.description.as_ref()?.groups;
        let of = groups.iter().filter_map(|index| described.get(*index));
        let of: Vec<&Load> = of.map(|group| &group.load).collect();
        let all: Vec<&Load> = described.iter().map(|group| &group.load).collect();
        let waiting = groups.iter().filter_map(|index| self.groups.get(*index));
        let waiting = waiting.map(GroupTally::backlog_at_start).sum::<u64>() as f64;
        due::due(&of, &all, slot_ns, n).map(|due| Due { waiting, ..due })
    }

    /// Times with the effects that the plan may have on them. They begin at second `from_s` of the
    /// measured phase.
    fn planned(&self, in_time: InTime, from_s: i64) -> InTime {
        let course = self.course(from_s, in_time.width_s, in_time.stretches.len());
        InTime { course, ..in_time }
    }

    /// The effects that the plan may have on `n` stretches of `width_s` seconds each.
    fn course(&self, from_s: i64, width_s: i64, n: usize) -> Course {
        let groups = self.description.iter().flat_map(|described| &described.groups);
        let loads: Vec<&Load> = groups.map(|group| &group.load).collect();
        due::course(&loads, from_s, width_s, n)
    }

    /// The same for the first `n` seconds of the measured phase, divided into stretches.
    pub(crate) fn course_of_seconds(&self, n: usize) -> Course {
        let (width_s, n) = due::stretches(n);
        self.course(0, width_s, n)
    }

    /// How much a second had to bear where the plan changes the rate: the most that was due in it
    /// or in the one before, and while a queue was left, in those before that.
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

    /// Commits of `groups` in each of `seconds`, none where nothing happened.
    pub fn commits_per_second(&self, groups: &[usize], seconds: Range<i64>) -> Vec<u64> {
        let groups = || groups.iter().filter_map(|index| self.groups.get(*index));
        let of = |second| groups().filter_map(move |group| group.series.get(second));
        seconds.map(|second| of(second).map(SecondTally::commits).sum()).collect()
    }
}

/// For the live view.
impl Tally {
    /// How much of `seconds` lies within ramp-up and measured phase, in seconds: of the first and
    /// the last second of a phase it may be a part. Where that is nothing, all of them.
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

    /// The second to be shown at `now_ns` from the beginning of the measured phase: the last one
    /// that is over. Its parts are on their way for a moment; the one before is shown until one
    /// of each group has come, but no longer than a second, so that a stall is seen as one.
    pub fn shown_second(&self, now_ns: i64) -> Option<i64> {
        let over = now_ns.div_euclid(NS_PER_S as i64) - 1;
        let first = self.groups.iter().filter_map(|group| group.series.first()).min()?;
        let known = self.groups.iter().all(|group| group.series.last() >= Some(over));
        let shown = if known { over } else { over - 1 };
        (shown >= first).then_some(shown)
    }

    /// One second of all groups together.
    pub fn second(&self, second: i64) -> SecondFigures {
        self.second_of(&(0..self.groups.len()).collect::<Vec<_>>(), second)
    }

    /// One second of these groups together.
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
        figures.quantiles = response.as_ref().and_then(Quantiles::of);
        figures
    }

    /// How many waited for a free client when a second had just ended, all groups together; none
    /// if that was not read, as in other than open load.
    pub fn waiting(&self, second: i64) -> Option<u64> {
        let read = self.groups.iter().filter_map(|group| group.series.get(second)?.waiting);
        read.reduce(|sum, n| sum + n)
    }

    /// Several seconds of all groups together.
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

    /// The same in the order of time, of what finished.
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

    /// Commits in each second from the first of the ramp-up through `last`, all groups together,
    /// and which second is the first of them.
    pub fn commits_until(&self, last: i64) -> (i64, Vec<u64>) {
        let first = self.groups.iter().filter_map(|group| group.series.first()).min();
        let first = first.unwrap_or(0).min(last + 1);
        let all: Vec<usize> = (0..self.groups.len()).collect();
        (first, self.commits_per_second(&all, first..last + 1))
    }
}

/// Several seconds of all groups.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// What became of those intended in them.
    pub counts: Counts,
    /// Commits that finished in them.
    pub commits: u64,
    /// Response times of those intended in them that finished.
    pub response: Histogram,
    /// Whether these are all: those of long ago are not kept.
    pub is_whole: bool,
}

/// One second of all groups.
#[derive(Clone, Debug, Default)]
pub struct SecondFigures {
    /// What became of those intended in it.
    pub counts: Counts,
    /// Commits that finished in it.
    pub commits: u64,
    /// What transactions that ended in it moved.
    pub traffic: Traffic,
    /// Quantiles of the response times of those intended in it, if any finished.
    pub quantiles: Option<Quantiles>,
    /// The longest of them, in nanoseconds.
    pub max_ns: u64,
}

/// What several kinds, or several groups, come to in the measured phase, with every histogram
/// there. In closed load, where nobody waits, service is the response.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// What became of them.
    pub counts: Counts,
    /// Response times of the finished ones.
    pub response: Histogram,
    /// Response times of the failed ones.
    pub failures: Histogram,
    /// Ages of the unfinished ones.
    pub unfinished: Histogram,
    /// Service times of the finished ones.
    pub service: Histogram,
    /// Waits of the finished ones.
    pub wait: Histogram,
}

impl Sum {
    /// Takes one kind in.
    pub fn add(&mut self, kind: &KindSecond, closed: bool) {
        self.counts.add(&kind.counts);
        let add = |mine: &mut Histogram, other: &Option<Histogram>| match other {
            // The first one brings the range, beyond which values are overflow.
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

    /// The measured phase of `groups` of a run.
    pub fn of(tally: &Tally, groups: &[usize]) -> Sum {
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
