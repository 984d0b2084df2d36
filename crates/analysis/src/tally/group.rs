//! Sums of one group of clients.
//!
//! Not here: figures that need several groups, or the description of the run (tally).

use std::collections::BTreeMap;
use std::ops::Range;

use model::{
    ClientMoments, CustomMetricSecond, Execution, KindIndex, KindSecond, PrimaryMetricDescription,
    QueryPlan, Second, Traffic,
};
use stats::{Histogram, Stretches};

use super::Series;

/// Sums over the events of one group of clients, for the ramp-up and for the measured phase.
#[derive(Clone, Debug)]
pub struct GroupTally {
    pub connected: u32,
    /// Number of clients that could not connect.
    pub connect_failed: u32,
    /// Time that each successful connection took, in nanoseconds; `None` if no time was reported.
    pub connect: Option<Histogram>,
    /// Sum of all seconds of the ramp-up, without commits by tenth of a second and queue length.
    pub ramp_up: Second,
    /// Sum of all seconds from the start of the measured phase on, without commits by tenth of a
    /// second and queue length.
    pub measured: Second,
    pub series: Series,
    /// Counts and response times of each client and transaction type in the measured phase.
    pub clients: Vec<ClientMoments>,
    /// Executions of transactions, in the order of clients and of their starts, if the clients
    /// execute fixed sequences; empty otherwise.
    pub executions: Vec<Execution>,
    /// Plans of the workload's queries, read before the load.
    pub query_plans: Vec<QueryPlan>,
    /// Times of each transaction type in consecutive intervals of the measured phase.
    pub(super) in_time: Vec<KindInTime>,
    /// Records of each custom metric in consecutive intervals of the measured phase.
    pub(super) custom_metrics_in_time: Vec<CustomMetricInTime>,
    /// Number and sum, in nanoseconds, of the reply lags sampled in each second of the measured
    /// phase. Only round trips in a short part of each second are sampled.
    pub(crate) reply_lags_in_time: BTreeMap<i64, (u64, u128)>,
    /// Length of the intervals for which service and wait times are recorded, in seconds, such as
    /// 10.
    window_seconds: i64,
}

/// Times of one transaction type in consecutive intervals of the measured phase.
#[derive(Clone, Debug)]
pub(super) struct KindInTime {
    pub(super) response: Stretches,
    pub(super) service: Stretches,
    pub(super) wait: Stretches,
}

/// Records of one custom metric, by second and in consecutive intervals of the measured phase.
#[derive(Clone, Debug)]
pub(super) struct CustomMetricInTime {
    /// Number and sum of the records in each second of the measured phase that has any.
    seconds: BTreeMap<i64, (u64, u64)>,
    pub(super) values: Stretches,
}

impl GroupTally {
    pub(super) fn new(group: u16, window_seconds: i64) -> GroupTally {
        GroupTally {
            connected: 0,
            connect_failed: 0,
            connect: None,
            ramp_up: Second::new(group, 0),
            measured: Second::new(group, 0),
            series: Series::default(),
            clients: Vec::new(),
            executions: Vec::new(),
            query_plans: Vec::new(),
            in_time: Vec::new(),
            custom_metrics_in_time: Vec::new(),
            reply_lags_in_time: BTreeMap::new(),
            window_seconds,
        }
    }

    /// Adds clients that have connected or failed to, with the times that connecting took.
    pub(super) fn add_connected(&mut self, connected: u32, failed: u32, times: Option<&Histogram>) {
        self.connected += connected;
        self.connect_failed += failed;
        match (&mut self.connect, times) {
            (Some(mine), Some(times)) => mine.add(times),
            (mine, Some(times)) => *mine = Some(times.clone()),
            (_, None) => {}
        }
    }

    pub(super) fn add(&mut self, part: &Second) {
        let phase = if part.second < 0 { &mut self.ramp_up } else { &mut self.measured };
        phase.add(part);
        phase.commits_tenths = [0; 10];
        (phase.waiting, phase.running) = (None, None);
        self.series.add(part);
        for kind in &part.kinds {
            let index = usize::from(kind.kind);
            while self.in_time.len() <= index {
                self.in_time.push(KindInTime {
                    response: Stretches::new(1),
                    service: Stretches::new(self.window_seconds),
                    wait: Stretches::new(self.window_seconds),
                });
            }
            let times = &mut self.in_time[index];
            let count = |times: &Option<Histogram>| times.as_ref().map_or(0, Histogram::count);
            times.response.add(part.second, kind.counts.offered(), kind.response.as_ref());
            times.service.add(part.second, count(&kind.service), kind.service.as_ref());
            times.wait.add(part.second, count(&kind.wait), kind.wait.as_ref());
        }
        part.custom_metrics.iter().for_each(|metric| self.add_custom_metric(part.second, metric));
        if let Some(lags) = part.reply_lag.as_ref().filter(|_| part.second >= 0) {
            let of_second = self.reply_lags_in_time.entry(part.second).or_default();
            (of_second.0, of_second.1) = (of_second.0 + lags.count(), of_second.1 + lags.sum());
        }
    }

    fn add_custom_metric(&mut self, second: i64, part: &CustomMetricSecond) {
        if second < 0 {
            return;
        }
        let index = usize::from(part.metric);
        while self.custom_metrics_in_time.len() <= index {
            let (seconds, values) = (BTreeMap::new(), Stretches::new(1));
            self.custom_metrics_in_time.push(CustomMetricInTime { seconds, values });
        }
        let metric = &mut self.custom_metrics_in_time[index];
        let of_second = metric.seconds.entry(second).or_default();
        (of_second.0, of_second.1) = (of_second.0 + part.count, of_second.1 + part.sum);
        let values = part.histogram.as_ref();
        metric.values.add(second, values.map_or(0, Histogram::count), values);
    }

    /// Returns number and sum of the records of a custom metric in each of `seconds`.
    pub fn measured_per_second(&self, metric: usize, seconds: Range<i64>) -> Vec<(u64, u64)> {
        let sums = self.custom_metrics_in_time.get(metric).map(|metric| &metric.seconds);
        let sum_at = |second: i64| {
            sums.and_then(|by_second| by_second.get(&second)).copied().unwrap_or_default()
        };
        seconds.map(sum_at).collect()
    }

    /// Returns the count of a primary metric in each of `seconds`: the commits of its types, or the
    /// sum of the custom metric that it counts instead.
    pub fn counted_per_second(
        &self,
        primary: &PrimaryMetricDescription,
        seconds: Range<i64>,
    ) -> Vec<u64> {
        if let Some(metric) = primary.metric {
            let measured = self.measured_per_second(metric.into(), seconds);
            return measured.into_iter().map(|(_, sum)| sum).collect();
        }
        let to_count = |second| {
            let commits = self.series.get(second).map(|tally| tally.commits_by_kind.as_slice());
            let of_kind = |kind: &KindIndex| commits?.get(usize::from(*kind));
            primary.kinds.iter().filter_map(of_kind).sum()
        };
        seconds.map(to_count).collect()
    }

    /// Returns the sums of a transaction type in the measured phase; `None` if none was intended or
    /// ended in it.
    pub fn kind(&self, kind: KindIndex) -> Option<&KindSecond> {
        self.measured.kinds.iter().find(|k| k.kind == kind)
    }

    /// Returns the sums of a transaction type in the ramp-up; `None` if none was intended or ended
    /// in it.
    pub fn ramp_up_kind(&self, kind: KindIndex) -> Option<&KindSecond> {
        self.ramp_up.kinds.iter().find(|k| k.kind == kind)
    }

    /// Returns the sums of a transaction type in the ramp-up and in the measured phase, as far as
    /// there are any.
    pub fn phases_of_kind(&self, kind: KindIndex) -> impl Iterator<Item = &KindSecond> {
        self.ramp_up_kind(kind).into_iter().chain(self.kind(kind))
    }

    /// Returns the number of transactions that were intended in the ramp-up and still queued or
    /// running when the measured phase began.
    pub fn backlog_at_start(&self) -> u64 {
        self.ramp_up.kinds.iter().map(|kind| kind.carried).sum()
    }

    /// Returns the longest response time (or age, if unfinished) of the transactions that were
    /// intended in the ramp-up and still queued or running when the measured phase began, in
    /// nanoseconds; 0 if there are none.
    pub fn backlog_at_start_max_ns(&self) -> u64 {
        self.ramp_up.kinds.iter().map(|kind| kind.carried_max_ns).max().unwrap_or(0)
    }

    /// Returns the total time for which clients were busy within the measured phase, in
    /// nanoseconds: that of transactions intended in it, less what they took after its end, plus
    /// what transactions of the ramp-up took after its start, plus what clients of closed load took
    /// to connect before transactions.
    pub(super) fn busy_ns(&self) -> f64 {
        let total = |times: &Option<Histogram>| times.as_ref().map_or(0.0, |h| h.sum() as f64);
        let within = self.measured.kinds.iter().map(|kind| {
            let all = total(&kind.response) + total(&kind.failures) + total(&kind.unfinished);
            all - kind.carried_ns as f64
        });
        let backlog_at_start = self.ramp_up.kinds.iter().map(|kind| kind.carried_ns as f64);
        within.chain(backlog_at_start).sum::<f64>() + total(&self.measured.connects)
    }

    /// Returns the commits of a transaction type that finished within `seconds`.
    pub fn commits_of(&self, kind: KindIndex, seconds: Range<i64>) -> u64 {
        let within = self.series.iter().filter(|(second, _)| seconds.contains(second));
        within.filter_map(|(_, s)| s.commits_by_kind.get(usize::from(kind))).sum()
    }

    /// Returns the statements, round trips, rows and bytes of transactions that ended within
    /// `seconds`.
    pub fn traffic(&self, seconds: Range<i64>) -> Traffic {
        let mut sum = Traffic::default();
        for (_, second) in self.series.iter().filter(|(second, _)| seconds.contains(second)) {
            sum += second.traffic;
        }
        sum
    }
}
