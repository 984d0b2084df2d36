//! Makes the report of a run from its tally; the same tally gives the same report.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::{
    CheckResult, Counts, CpuProfileReport, CustomMetricKind, Description, ErrorCount, FactValue,
    Facts, Gauge, GroupDescription, KindIndex, NS_PER_S, Phases, Placement, Readings, Second,
    StopReason, Traffic,
};
use stats::{
    Course, Due, Histogram, InTime, Offered, TooFewSlots, enough, ratio_within_planned_run,
    within_planned_run,
};

use super::counts::{commits_interval, counts};
use super::executions::{executions, query_plans};
use super::per_transaction::{moved, per_transaction};
use super::primary::primary_metrics;
use super::times::{Order, intervals, known, merged, ms, too_few, too_short};
use super::{
    Block, CheckReport, Checks, ClientCost, ClientReport, ClientTransaction, ConnectTimes,
    CountsReport, CrosscheckReport, CustomMetricReport, ErrorReport, GroupReport, LagTimes,
    Latency, LoopReport, Named, PhasesReport, ReplyLagReport, Report, SCHEMA, SecondReport, Shares,
    SlowestSecond, StabilityReport, StallReport, Status, TransactionReport, TypeSeconds,
};
use crate::Tally;
use crate::tally::{Crosscheck, GroupTally, LoopHeartbeats, SLOT_NS, SecondTally, Sum, Times};

/// Parts that a report has only on request, such as figures of each client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// True to add figures of each client and transaction type, which may be many rows.
    pub per_client: bool,
}

impl Report {
    /// Returns the report of a run without findings, which are added later.
    pub(crate) fn measured(tally: &Tally) -> Report {
        let described = tally.description.as_deref().cloned();
        let group_description = described.unwrap_or_else(undescribed);
        let (status, reason) = status(tally);
        let all: Vec<usize> = (0..tally.groups.len()).collect();
        let block = Block::from_tally(tally, &all);
        let gauges = super::gauges::gauges(tally);
        let time_profile = super::time_profile::time_profile(tally, &gauges, &block).transpose();
        let (time_profile, time_profile_reason) = match time_profile {
            Ok(profile) => (profile, None),
            Err(reason) => (None, Some(reason)),
        };
        let dips = super::dips::dips(tally, &gauges, &block.per_transaction);
        let load = group_description.groups.first().map(|first| first.load.clone());
        let workload = group_description.workloads().join(" + ");
        Report {
            schema: SCHEMA.to_owned(),
            run_id: tally.run.as_ref().map(|run| run.0.clone()).unwrap_or_default(),
            name: group_description.name,
            status,
            reason,
            workload,
            target: group_description.target,
            database: group_description.database,
            modes: group_description.modes,
            seed: group_description.seed,
            clients: group_description.groups.iter().map(|group| group.clients).sum(),
            placement: group_description.placement.name().to_owned(),
            load: load
                .filter(|load| group_description.groups.iter().all(|group| group.load == *load)),
            started: Timestamp::from_millisecond(group_description.started_unix_ms)
                .unwrap_or_default(),
            dbdyno: group_description.dbdyno,
            phases: phases(group_description.phases),
            measured_seconds: tally.measured_ns() as f64 / NS_PER_S as f64,
            elapsed_seconds: tally.ended.as_ref().map(|e| e.elapsed_ns as f64 / NS_PER_S as f64),
            block,
            loops: tally.heartbeats.iter().map(loop_report).collect(),
            client: client_cost(tally),
            checks: checks(tally),
            crosschecks: tally.crosschecks.iter().map(|c| crosscheck(tally, c)).collect(),
            seconds: seconds(tally),
            intervals: super::intervals::intervals(
                tally,
                i64::from(group_description.interval_seconds),
            ),
            disturbances: super::disturbances::disturbances(tally),
            gauges,
            time_profile,
            time_profile_reason,
            limited_by: None,
            limits: Vec::new(),
            dips,
            server: tally.server(),
            cpu_profiles: tally.cpu_profiles.iter().map(CpuProfileReport::from_profile).collect(),
            commits_by_type: commits_by_type(tally),
            latency_heat: Some(tally.latency_heat.clone()).filter(|heat| !heat.is_empty()),
            settings: Named(tally.settings.clone()),
            facts: facts(tally),
            findings: Vec::new(),
            notes: notes(&group_description.groups),
            disclosures: super::disclosure::disclosures(tally),
            plan: tally.plan.clone(),
            groups: groups(tally, &group_description.groups),
            output: tally.output.clone(),
            executions: executions(tally, kind_name),
            query_plans: query_plans(tally, kind_name),
        }
    }
}

impl Report {
    /// Returns true if the run built data (filled tables). Its transactions are chunks of rows.
    pub fn is_build(&self) -> bool {
        self.of_build("method").is_some()
    }

    /// Returns true if each client executed a fixed sequence of transactions, so that rates over
    /// time say nothing.
    pub fn is_sequence(&self) -> bool {
        !self.groups.is_empty() && self.groups.iter().all(|group| group.sequence.is_some())
    }

    /// Returns a fact about the build of data by its name, such as `rows`; `None` if there is none.
    pub fn of_build(&self, name: &str) -> Option<&FactValue> {
        self.fact(DATA_BUILD, name)
    }

    /// Returns a fact of the run by its subject (`about`) and name; `None` if there is none.
    pub fn fact(&self, about: &str, name: &str) -> Option<&FactValue> {
        self.facts.get(about)?.get(name)
    }

    /// Returns true if a simulated database made the replies, drawing random numbers from a seed.
    pub fn is_drawn(&self) -> bool {
        self.fact("database", "seed").is_some()
    }

    /// Removes the readings of gauges. The stored report needs none, since the run's events have
    /// them.
    pub fn without_points(mut self) -> Report {
        self.gauges.iter_mut().for_each(|gauge| gauge.points = Vec::new());
        self
    }

    /// Adds the figures of each client, which stored reports lack: one row per client and type.
    pub fn with_clients(mut self, tally: &Tally) -> Report {
        let all: Vec<usize> = (0..tally.groups.len()).collect();
        self.block.per_client = Some(per_client(tally, &all));
        for (index, group) in self.groups.iter_mut().enumerate() {
            if let Some(block) = &mut group.block {
                block.per_client = Some(per_client(tally, &[index]));
            }
        }
        self
    }

    /// Restores the readings of gauges, which stored reports lack, from the run's events.
    pub fn with_points(mut self, gauges: &[Gauge], readings: &[Readings]) -> Report {
        super::gauges::fill(&mut self.gauges, gauges, readings);
        self
    }
}

/// Subject of the facts about a build of the data, in which tables are created and loaded.
const DATA_BUILD: &str = "data_build";

/// Returns true if a run built data (filled tables). Its transactions are then chunks of rows.
pub(crate) fn is_build(tally: &Tally) -> bool {
    tally.fact(DATA_BUILD, "method").is_some()
}

/// Returns a placeholder for the description of a run whose first event is missing.
fn undescribed() -> Description {
    Description {
        name: String::new(),
        seed: 0,
        target: String::new(),
        database: "an unknown database".to_owned(),
        modes: Vec::new(),
        placement: Placement::Thread,
        phases: Phases { ramp_up_ns: 0, measure_ns: 0, drain_ns: 0 },
        groups: Vec::new(),
        dbdyno: String::new(),
        started_unix_ms: 0,
        trial: None,
        interval_seconds: model::INTERVAL_SECONDS,
        window_seconds: 10,
    }
}

fn status(tally: &Tally) -> (Status, Option<String>) {
    match tally.ended.as_ref().map(|ended| &ended.reason) {
        None => (Status::Running, None),
        Some(StopReason::Completed) => (Status::Completed, None),
        Some(StopReason::Interrupted) => (Status::Interrupted, None),
        Some(StopReason::QueueFull) => (Status::QueueFull, None),
        Some(StopReason::Failed { why, remedy, .. }) => {
            let remedy = remedy.iter().map(|remedy| format!("; {remedy}"));
            (Status::Failed, Some(format!("{why}{}", remedy.collect::<String>())))
        }
    }
}

fn notes(groups: &[GroupDescription]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for note in groups.iter().flat_map(|group| &group.notes) {
        if !all.contains(note) {
            all.push(note.clone());
        }
    }
    all
}

fn phases(phases: Phases) -> PhasesReport {
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    PhasesReport {
        ramp_up_s: seconds(phases.ramp_up_ns),
        measure_s: seconds(phases.measure_ns),
        drain_s: seconds(phases.drain_ns),
    }
}

fn facts(tally: &Tally) -> Facts {
    let mut facts = Facts::new();
    for fact in &tally.facts {
        facts.entry(fact.about.clone()).or_default().insert(fact.name.clone(), fact.value.clone());
    }
    facts
}

fn groups(tally: &Tally, group_description: &[GroupDescription]) -> Vec<GroupReport> {
    let several = group_description.len() > 1;
    let each = group_description.iter().enumerate();
    let report = |(index, group): (usize, &GroupDescription)| GroupReport {
        name: group.name.clone(),
        workload: group.workload.clone(),
        clients: group.clients,
        target: group.target.clone(),
        processes: group.processes,
        load: group.load.clone(),
        stop_condition: group.stop_condition,
        parameters: Named(group.parameters.clone()),
        closed_form: group.closed_form.clone(),
        sequence: group.sequence,
        block: several.then(|| Block::from_tally(tally, &[index])),
    };
    each.map(report).collect()
}

/// Returns the key of a type in `transactions`: `group.type` if there are several groups.
fn kind_name(tally: &Tally, group: usize, kind: KindIndex) -> String {
    let group_description = tally.description(group);
    let name = group_description
        .and_then(|group_description| group_description.kinds.get(usize::from(kind)));
    let name = name.map_or_else(|| format!("kind_{kind}"), |kind| kind.name.clone());
    in_group(tally, group, name)
}

/// Puts the group before a name, as in `users.new_order`, if there are several groups.
fn in_group(tally: &Tally, group: usize, name: String) -> String {
    match tally.description(group) {
        Some(group_description) if tally.groups.len() > 1 => {
            format!("{}.{name}", group_description.name)
        }
        _ => name,
    }
}

impl Block {
    fn from_tally(tally: &Tally, groups: &[usize]) -> Block {
        let sum = Sum::from_tally(tally, groups);
        let counts = counts_of(&sum, backlog_at_start(tally, groups));
        let seconds = tally.measured_ns() as f64 / NS_PER_S as f64;
        let commits: u64 = tally.commits_per_second(groups, tally.seconds()).iter().sum();
        let (tps_ci95, tps_ci95_reason) = commits_interval(tally, groups);
        let traffic = traffic(tally, groups);
        let per_s = |count: u64| known(count as f64 / seconds);
        let primary_metrics = primary_metrics(tally, groups);
        let primary = |name| primary_metrics.get(name).and_then(|primary| primary.value);
        let lost = counts.failed + counts.dropped;
        let offered = Offered { finished: &sum.response, unfinished: &sum.unfinished, lost };
        let within = || groups.iter().filter_map(|index| tally.groups.get(*index));
        let closed = groups.iter().all(|index| tally.is_closed(*index));
        let in_time = |times| tally.in_time(groups, None, times);
        let all = in_time(Times::Response);
        let offered_ms = Latency::offered(&offered, &counts, order(&all));
        let shares = Shares::from_values(&sum.response, counts.offered, order(&all));
        let finished = all.map(InTime::finished);
        let note = |words: &str| closed.then(|| words.to_owned());
        let service_note = note("closed load: service is response less lag, reconnecting included");
        let wait_note = note("closed load: there is no wait for a free client");
        Block {
            tps: per_s(commits),
            tps_ci95,
            tps_ci95_reason,
            qps: per_s(traffic.queries()),
            reads_per_second: per_s(traffic.reads),
            writes_per_second: per_s(traffic.writes),
            others_per_second: per_s(traffic.others),
            rows_per_second: per_s(traffic.rows).filter(|_| traffic.rows > 0),
            bytes_per_second: per_s(traffic.bytes()).filter(|_| traffic.bytes() > 0),
            nopm: primary("nopm"),
            tpm: primary("tpm"),
            primary_metrics,
            ramp_up_counts: ramp_up_counts(tally, groups),
            backlog_at_start_max_ms: backlog_max_ns(tally, groups).map(|ns| ns as f64 / 1e6),
            response_ms: Latency::whole(&sum.response, order(&finished)),
            service_ms: Latency {
                note: service_note,
                ..Latency::whole(&sum.service, order(&in_time(Times::Service)))
            },
            wait_ms: Latency {
                note: wait_note,
                ..Latency::from_histogram(&sum.wait, order(&in_time(Times::Wait)))
            },
            offered_ms,
            shares,
            failed_ms: Latency::from_histogram(&sum.failures, Order::Unknown(FAILED_ORDER)),
            counts,
            lag_us: LagTimes::from_histogram(
                merged(within().map(|group| &group.measured.lag)).as_ref(),
            ),
            reply_lag_us: ReplyLagReport::from_tally(tally, groups),
            connect_ms: connect(within()),
            new_connections_ms: merged(within().map(|group| &group.measured.connects))
                .map(|times| Latency::from_histogram(&times, Order::Unknown(NEW_ORDER))),
            per_transaction: per_transaction(tally, groups),
            transactions: transactions(tally, groups),
            per_client: None,
            custom_metrics: custom_metrics(tally, groups),
            errors: errors(within().map(|group| &group.measured)),
            ramp_up_errors: errors(within().map(|group| &group.ramp_up)),
            stability: steadiness(tally, groups),
        }
    }
}

/// Reason why times of failed transactions have no confidence intervals.
const FAILED_ORDER: &str = "the order of failures in time is not stored";

/// Reason why times to connect before transactions have no confidence intervals.
const NEW_ORDER: &str = "their order in time is not stored";

/// Reason why times of connecting have no confidence intervals.
const CONNECT_ORDER: &str = "all clients connect at once";

/// Returns the order in which times were recorded; unknown, with the reason, if the groups recorded
/// them in intervals of different lengths.
fn order(in_time: &Option<InTime>) -> Order<'_> {
    let unknown = Order::Unknown("groups of different loads have no common intervals of time");
    in_time.as_ref().map_or(unknown, Order::Known)
}

fn loop_report(of_loop: &LoopHeartbeats) -> LoopReport {
    LoopReport {
        heartbeat_lag_us: LagTimes::from_histogram(Some(&of_loop.lag)),
        latest_at_s: of_loop.most_delayed_at_ns as f64 / NS_PER_S as f64,
    }
}

fn backlog_at_start(tally: &Tally, groups: &[usize]) -> u64 {
    let groups = groups.iter().filter_map(|index| tally.groups.get(*index));
    groups.map(GroupTally::backlog_at_start).sum()
}

fn backlog_max_ns(tally: &Tally, groups: &[usize]) -> Option<u64> {
    let groups = groups.iter().filter_map(|index| tally.groups.get(*index));
    groups.map(GroupTally::backlog_at_start_max_ns).max().filter(|ns| *ns > 0)
}

fn counts_of(sum: &Sum, backlog_at_start: u64) -> CountsReport {
    CountsReport { backlog_at_start, ..counts(&sum.counts) }
}

fn ramp_up_counts(tally: &Tally, groups: &[usize]) -> CountsReport {
    let mut sum = Counts::default();
    for group in groups.iter().filter_map(|index| tally.groups.get(*index)) {
        sum.add(&group.ramp_up.counts());
    }
    counts(&sum)
}

/// Returns statements, round trips, rows and bytes of transactions that ended in the measured
/// window.
fn traffic(tally: &Tally, groups: &[usize]) -> Traffic {
    let mut sum = Traffic::default();
    for group in groups.iter().filter_map(|index| tally.groups.get(*index)) {
        sum += group.traffic(tally.seconds());
    }
    sum
}

fn connect<'a>(groups: impl Iterator<Item = &'a GroupTally> + Clone) -> ConnectTimes {
    let times = merged(groups.clone().map(|group| &group.connect)).unwrap_or_default();
    let failed = groups.map(|group| u64::from(group.connect_failed)).sum();
    ConnectTimes { times: Latency::from_histogram(&times, Order::Unknown(CONNECT_ORDER)), failed }
}

fn transactions(tally: &Tally, groups: &[usize]) -> Named<TransactionReport> {
    let mut all = Named::default();
    for &index in groups {
        let Some(group) = tally.groups.get(index) else { continue };
        let group_description =
            tally.description(index).map_or(0, |group_description| group_description.kinds.len());
        let seen = group.measured.kinds.last().map_or(0, |kind| usize::from(kind.kind) + 1);
        for kind in 0..group_description.max(seen) {
            let Ok(kind) = KindIndex::try_from(kind) else { break };
            all.push(kind_name(tally, index, kind), transaction(tally, index, group, kind));
        }
    }
    let total: f64 = all.0.iter().map(|(_, kind): &(_, TransactionReport)| kind.total_ms).sum();
    for (_, kind) in &mut all.0 {
        kind.ratio_percent = known(100.0 * kind.total_ms / total);
    }
    all
}

fn transaction(
    tally: &Tally,
    index: usize,
    group: &GroupTally,
    kind: KindIndex,
) -> TransactionReport {
    let mut sum = Sum::default();
    if let Some(measured) = group.kind(kind) {
        sum.add(measured, tally.is_closed(index));
    }
    let counts = counts(&sum.counts);
    let seconds = tally.measured_ns() as f64 / NS_PER_S as f64;
    let commits = group.commits_of(kind, tally.seconds());
    let by_second = commits_by_second(tally, group, kind);
    let due = tally.due(&[index], NS_PER_S, by_second.len());
    let (traffic, ended) = moved(group.ramp_up_kind(kind), group.kind(kind));
    let each = |count: u64| known(count as f64 / ended as f64);
    let all = tally.in_time(&[index], Some(kind), Times::Response);
    let in_time = all.clone().map(InTime::finished);
    TransactionReport {
        calls: counts.finished + counts.failed,
        finished: counts.finished,
        failed: counts.failed,
        dropped: counts.dropped,
        unfinished: counts.unfinished,
        retried: counts.retried,
        tps: known(commits as f64 / seconds),
        tps_half_width: within_planned_run(&by_second, NS_PER_S, due.as_ref())
            .half_width
            .ok()
            .and_then(known),
        total_ms: known(sum.service.sum() as f64 / model::NS_PER_MS as f64).unwrap_or_default(),
        ratio_percent: None,
        round_trips: each(traffic.round_trips),
        reads: each(traffic.reads),
        writes: each(traffic.writes),
        others: each(traffic.others),
        response_ms: Latency::from_histogram(&sum.response, order(&in_time)),
        shares: Shares::from_values(&sum.response, counts.offered, order(&all)),
    }
}

/// Returns the number of commits of a transaction type in each whole second of the measured window.
fn commits_by_second(tally: &Tally, group: &GroupTally, kind: KindIndex) -> Vec<u64> {
    let commits_in = |second: i64| {
        let second = group.series.get(second);
        second.and_then(|second| second.commits_by_kind.get(usize::from(kind))).copied()
    };
    tally.whole_seconds().map(|second| commits_in(second).unwrap_or(0)).collect()
}

fn per_client(tally: &Tally, groups: &[usize]) -> Vec<ClientReport> {
    let mut clients: BTreeMap<u32, Named<ClientTransaction>> = BTreeMap::new();
    for &index in groups {
        let Some(group) = tally.groups.get(index) else { continue };
        let mut moments = group.clients.clone();
        moments.sort_by_key(|moments| (moments.client, moments.kind));
        for own in moments {
            let n = own.count as f64;
            let around_mean = own.sum_sq_ns2 - (own.sum_ns as f64).powi(2) / n;
            let sd_ns = (around_mean.max(0.0) / (n - 1.0)).sqrt();
            let any = own.count > 0;
            let quantile = |q| {
                let ns = stats::coarse_quantile(&own.times, q, (own.min_ns, own.max_ns))?;
                known(ns / model::NS_PER_MS as f64)
            };
            let transaction = ClientTransaction {
                calls: own.count + own.failed,
                failed: own.failed,
                min_ms: any.then(|| ms(own.min_ns)),
                mean_ms: known(own.sum_ns as f64 / n / model::NS_PER_MS as f64),
                p50_ms: quantile(0.5),
                p95_ms: quantile(0.95),
                p99_ms: quantile(0.99),
                max_ms: any.then(|| ms(own.max_ns)),
                total_ms: ms(own.sum_ns),
                sd_ms: known(sd_ns / model::NS_PER_MS as f64),
            };
            let name = kind_name(tally, index, own.kind);
            clients.entry(own.client).or_default().push(name, transaction);
        }
    }
    let report = |(client, transactions)| ClientReport { client, transactions };
    clients.into_iter().map(report).collect()
}

fn custom_metrics(tally: &Tally, groups: &[usize]) -> Named<CustomMetricReport> {
    let mut all = Named::default();
    for &index in groups {
        let (Some(group_description), Some(group)) =
            (tally.description(index), tally.groups.get(index))
        else {
            continue;
        };
        for (place, metric) in group_description.custom_metrics.iter().enumerate() {
            let own = group.measured.custom_metrics.iter().find(|m| usize::from(m.metric) == place);
            let (count, sum) = own.map_or((0, 0), |own| (own.count, own.sum));
            let mut report = CustomMetricReport {
                unit: metric.unit.clone(),
                better: metric.better,
                count,
                sum,
                mean: known(sum as f64 / count as f64),
                p50: None,
                p90: None,
                p99: None,
                max: None,
                reasons: Named::default(),
                per_second_half_width: None,
                mean_half_width: None,
                intervals: Named::default(),
                interval_reasons: Named::default(),
                shares: Shares::default(),
            };
            let seconds = group.measured_per_second(place, tally.whole_seconds());
            let due = tally.due(&[index], NS_PER_S, seconds.len());
            let course = tally.course_of_seconds(seconds.len());
            add_half_widths(&mut report, &seconds, due.as_ref(), &course);
            if metric.kind == CustomMetricKind::Histogram {
                let histogram = own.and_then(|own| own.histogram.clone()).unwrap_or_default();
                let in_time = tally.measured_in_time(index, place);
                add_quantiles(&mut report, &histogram, in_time.as_ref());
            }
            all.push(in_group(tally, index, metric.name.clone()), report);
        }
    }
    all
}

/// Adds the half-widths of the 95 % CI of a custom metric's rate and mean, or reasons why there are
/// none. `seconds` has number and sum of records in each second.
fn add_half_widths(
    report: &mut CustomMetricReport,
    seconds: &[(u64, u64)],
    due: Option<&Due>,
    course: &Course,
) {
    let sums: Vec<u64> = seconds.iter().map(|(_, sum)| *sum).collect();
    let slots: Vec<(f64, f64)> =
        seconds.iter().map(|(count, sum)| (*sum as f64, *count as f64)).collect();
    let mut width = |name: &str, found: Result<f64, TooFewSlots>| match found {
        Ok(half_width) => known(half_width),
        Err(few) => {
            report.interval_reasons.push(name, too_short("it varies", few, NS_PER_S));
            None
        }
    };
    let per_second = width("per_second", within_planned_run(&sums, NS_PER_S, due).half_width);
    let mean = width("mean", ratio_within_planned_run(&slots, course));
    (report.per_second_half_width, report.mean_half_width) = (per_second, mean);
}

/// Adds quantiles, their confidence intervals and shares, if a custom metric is a distribution.
fn add_quantiles(report: &mut CustomMetricReport, histogram: &Histogram, in_time: Option<&InTime>) {
    let mut quantile = |name: &str, q| match enough(histogram.count(), q, 0.95) {
        Ok(_) => histogram.quantile(q).map(|value| value as f64),
        Err(few) => {
            report.reasons.push(name, too_few(few));
            None
        }
    };
    let quantiles = [("p50", 0.50), ("p90", 0.90), ("p99", 0.99)];
    [report.p50, report.p90, report.p99] = quantiles.map(|(name, q)| quantile(name, q));
    report.max = (!histogram.is_empty()).then(|| histogram.max() as f64);
    let Some(in_time) = in_time else { return };
    let known: Vec<(&str, f64)> =
        quantiles.into_iter().filter(|(name, _)| report.reasons.get(name).is_none()).collect();
    let all = Offered { finished: histogram, unfinished: &Histogram::default(), lost: 0 };
    let (found, reasons) = intervals(&known, &all, Order::Known(in_time));
    let as_floats = |(name, (low, high)): (&str, &(u64, Option<u64>))| {
        (name.to_owned(), (*low as f64, high.map(|high| high as f64)))
    };
    report.intervals = Named(found.iter().map(as_floats).collect());
    report.interval_reasons.0.extend(reasons.0);
    report.shares = Shares::from_values(histogram, histogram.count(), Order::Known(in_time));
}

fn errors<'a>(phases: impl Iterator<Item = &'a Second>) -> Vec<ErrorReport> {
    let mut sum: Vec<ErrorCount> = Vec::new();
    for error in phases.flat_map(|phase| &phase.errors) {
        ErrorCount::add_to(&mut sum, error);
    }
    sum.sort_by_key(|error| std::cmp::Reverse(error.count));
    let report = |error: ErrorCount| ErrorReport {
        ignored: error.ignored,
        kind: error.kind.name().to_owned(),
        code: error.code,
        sqlstate: error.sqlstate,
        message: error.message,
        count: error.count,
    };
    sum.into_iter().map(report).collect()
}

fn steadiness(tally: &Tally, groups: &[usize]) -> StabilityReport {
    let found = tally.stability(groups);
    let stall = |stall: &stats::Stall| StallReport {
        at_s: stall.start_index as f64 * SLOT_NS as f64 / NS_PER_S as f64,
        ms: ms(stall.length_slots as u64 * SLOT_NS),
    };
    let slowest = |second: stats::SlowestSecond| SlowestSecond {
        second: i64::try_from(second.index).unwrap_or(i64::MAX),
        tps: second.per_s as f64,
    };
    StabilityReport {
        cv: known(found.cv),
        slowest_second: found.slowest_second.map(slowest),
        stalls: found.n_stalls as u64,
        longest_stall_ms: ms(found.longest_stall_ns),
        stalled_ms: ms(found.stalled_ns),
        median_tps: known(found.median_per_s),
        longest_stalls: found.stalls.iter().map(stall).collect(),
    }
}

fn client_cost(tally: &Tally) -> Option<ClientCost> {
    let ended = tally.ended.as_ref()?;
    let mut traffic = Traffic::default();
    let measured = tally.groups.iter().flat_map(|group| &group.measured.kinds);
    measured.for_each(|kind| traffic += kind.traffic);
    let queries = traffic.queries();
    let cpu_seconds = ended.cpu_ns as f64 / NS_PER_S as f64;
    let measured_s = ended.measured_ns as f64 / NS_PER_S as f64;
    let of_producer = tally.producer_cpus().map(|cpus| (cpus * measured_s).min(cpu_seconds));
    Some(ClientCost {
        cpu_seconds,
        producer_cpu_seconds: of_producer,
        cpu_us_per_query: known((cpu_seconds - of_producer.unwrap_or(0.0)) * 1e6 / queries as f64),
        queries,
        max_rss_bytes: ended.max_rss_bytes,
        bytes_in: traffic.bytes_in,
        bytes_out: traffic.bytes_out,
    })
}

fn checks(tally: &Tally) -> Checks {
    let report = |check: &CheckResult| CheckReport {
        id: check.id.clone(),
        title: check.title.clone(),
        failed: check.n_failed,
        examples: check.examples.clone(),
    };
    let all = |results: &Option<Vec<CheckResult>>| {
        results.as_ref().map(|results| results.iter().map(report).collect())
    };
    Checks { before: all(&tally.checked_before), after: all(&tally.checked_after) }
}

fn crosscheck(tally: &Tally, check: &Crosscheck) -> CrosscheckReport {
    CrosscheckReport {
        transaction: kind_name(tally, usize::from(check.group), check.kind),
        change: check.change,
        committed: check.committed,
        unknown: check.unknown,
        matches: check.matches(),
    }
}

/// Returns the commits of each transaction type by second; empty if there is only one type, since
/// `seconds` has the same numbers.
fn commits_by_type(tally: &Tally) -> Vec<TypeSeconds> {
    let first = |group: &GroupTally| group.series.first().unwrap_or(0).min(0);
    let from_s = tally.groups.iter().map(first).min().unwrap_or(0);
    let mut all = Vec::new();
    for (index, group) in tally.groups.iter().enumerate() {
        let n_kinds = tally.description(index).map_or(0, |described| described.kinds.len());
        for kind in (0..n_kinds).filter_map(|kind| KindIndex::try_from(kind).ok()) {
            let commits_in = |second| {
                let all = group.series.get(second).map(|sums| &sums.commits_by_kind[..]);
                all.and_then(|all| all.get(usize::from(kind))).copied().unwrap_or(0)
            };
            let commits: Vec<u64> = (from_s..tally.seconds().end).map(commits_in).collect();
            if commits.iter().any(|n| *n > 0) {
                let transaction = kind_name(tally, index, kind);
                all.push(TypeSeconds { transaction, from_s, commits });
            }
        }
    }
    if all.len() > 1 { all } else { Vec::new() }
}

/// Returns a row for every second of each group, also for seconds in which nothing happened, so
/// that stalls are visible.
fn seconds(tally: &Tally) -> Vec<SecondReport> {
    let mut all = Vec::new();
    let nothing = SecondTally::default();
    // After an early end, a late client may have begun a transaction in a later second.
    let end = tally.newest().map_or(0, |newest| newest + 1).max(tally.seconds().end);
    for (index, group) in tally.groups.iter().enumerate() {
        let name = tally.name_of(index);
        let first = group.series.first().unwrap_or(0).min(0);
        for second in first..end {
            let sums = group.series.get(second).unwrap_or(&nothing);
            all.push(second_of(tally, &name, second, sums));
        }
    }
    all.sort_by_key(|row| row.second);
    all
}

fn second_of(tally: &Tally, group: &str, second: i64, sums: &SecondTally) -> SecondReport {
    let begins_ns = u64::try_from(second).unwrap_or(0) * NS_PER_S;
    let part_ns = tally.measured_ns().saturating_sub(begins_ns);
    let length_ns = if second < 0 { NS_PER_S } else { part_ns.min(NS_PER_S) };
    let quantiles = sums.quantiles();
    let tps = sums.commits() as f64 * NS_PER_S as f64 / length_ns as f64;
    SecondReport {
        second,
        group: group.to_owned(),
        offered: sums.counts.offered(),
        finished: sums.counts.finished(),
        failed: sums.counts.failed,
        dropped: sums.counts.dropped,
        commits: sums.commits(),
        tps: known(tps).unwrap_or_default(),
        p50_ms: quantiles.map(|q| ms(q.p50_ns)),
        p95_ms: quantiles.map(|q| ms(q.p95_ns)),
        p99_ms: quantiles.map(|q| ms(q.p99_ns)),
        max_ms: (sums.counts.finished() > 0).then(|| ms(sums.max_ns)),
        reads: sums.traffic.reads,
        writes: sums.traffic.writes,
        others: sums.traffic.others,
        rows: sums.traffic.rows,
        bytes: sums.traffic.bytes(),
        waiting: sums.waiting,
    }
}
