//! Recorder of samples during a run. Each client adds samples to one of several shards with short
//! locks, of which there is about one per core.
//!
//! A sample is added to its *intended* second. The current second has a dense histogram, which is
//! set aside when the next second begins; samples of earlier seconds go into sparse histograms. The
//! coordinator takes completed seconds once per second, as parts to be added up, so memory does not
//! grow with the length of the run. Not here: totals and quantiles (analysis), and the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{
    Counts, CustomMetric, CustomMetricKind, CustomMetricSecond, DbError, ErrorCount, KindIndex,
    Load, NS_PER_S, Number, Outcome, Recording, Sample, Second, Slot, Traffic,
};
use stats::{Histogram, Range, Sparse};

use crate::job::{Recorded, RecordedAs, SampleHook};
use crate::stop::{NEVER, Stop};

/// Limit on the emptied histograms that are kept for reuse; further ones are freed.
const SPARES: usize = 4;

/// Histograms of values over time, one for each span: a second, or a window of several seconds. The
/// latest span has a dense histogram; values that come late for earlier spans are kept in sparse
/// ones.
struct Spans {
    range: Range,
    seconds_per_span: i64,
    /// The latest span: its first second, and the histogram of its values.
    current: Option<(i64, Histogram)>,
    /// Earlier spans that [`Spans::take`] has not yet returned: first second and histogram.
    done: Vec<(i64, Histogram)>,
    /// Values that came after a later span had begun, by the first second of the span to which they
    /// belong.
    late: BTreeMap<i64, Sparse>,
    spares: Vec<Histogram>,
}

impl Spans {
    fn new(recording: Recording, seconds_per_span: i64) -> Spans {
        Spans {
            range: Range { highest_ns: recording.histogram_max_ns },
            seconds_per_span,
            current: None,
            done: Vec::new(),
            late: BTreeMap::new(),
            spares: Vec::new(),
        }
    }

    fn record(&mut self, second: i64, value: u64) {
        // Nearly all values belong to the current span, which is found without a division.
        if let Some((current, histogram)) = &mut self.current
            && (*current..*current + self.seconds_per_span).contains(&second)
        {
            return histogram.record(value);
        }
        let span = second.div_euclid(self.seconds_per_span) * self.seconds_per_span;
        match &self.current {
            Some((current, _)) if *current > span => {
                self.late.entry(span).or_default().record(value);
            }
            _ => {
                let range = self.range;
                let spare = self.spares.pop();
                let mut fresh = spare.unwrap_or_else(|| Histogram::new(range));
                fresh.record(value);
                self.done.extend(self.current.replace((span, fresh)));
            }
        }
    }

    /// Removes all spans that are over at the start of `second`. Calls `give` with the first second
    /// and the values of each.
    fn take(&mut self, second: i64, give: &mut dyn FnMut(i64, &Histogram)) {
        let is_over = |span: i64, length: i64| span.saturating_add(length) <= second;
        if let Some((span, histogram)) = self.current.take() {
            if is_over(span, self.seconds_per_span) {
                self.done.push((span, histogram));
            } else {
                self.current = Some((span, histogram));
            }
        }
        let mut kept = Vec::new();
        for (span, mut histogram) in self.done.drain(..) {
            if !is_over(span, self.seconds_per_span) {
                kept.push((span, histogram));
                continue;
            }
            give(span, &histogram);
            if self.spares.len() < SPARES {
                histogram.clear();
                self.spares.push(histogram);
            }
        }
        self.done = kept;
        let length = self.seconds_per_span;
        while let Some(first) = self.late.first_entry() {
            if !is_over(*first.key(), length) {
                break;
            }
            let (span, sparse) = first.remove_entry();
            let mut histogram = Histogram::new(self.range);
            histogram.add_sparse(&sparse);
            give(span, &histogram);
        }
    }
}

/// Numbers of transactions, commits and statements of one transaction type whose second is the
/// same.
#[derive(Clone, Copy, Default)]
struct Figures {
    counts: Counts,
    commits: u64,
    ended: u64,
    carried: Carried,
    traffic: Traffic,
}

/// Transactions that were due in one phase of the run and ended in a later one.
#[derive(Clone, Copy, Default)]
struct Carried {
    count: u64,
    /// Total time, in nanoseconds, that the carried transactions (due in one phase, ended in a
    /// later one) took after their own phase was over.
    beyond_ns: u64,
    /// Longest response time of the carried transactions (due in one phase, ended in a later one),
    /// in nanoseconds.
    max_ns: u64,
}

impl Carried {
    fn add(&mut self, other: Carried) {
        self.count += other.count;
        self.beyond_ns += other.beyond_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// Counts and histograms of one transaction type of a group, in one shard of the recorder.
struct KindCells {
    /// Counts by second, in the order in which the seconds were first used. Seconds that the
    /// coordinator has taken are removed, so there are only few.
    figures: Vec<(i64, Figures)>,
    response: Spans,
    failures: Spans,
    unfinished: Spans,
    /// Histograms of service and wait times; `None` in closed load, where nothing waits and the
    /// service time is the response time.
    parts: Option<(Spans, Spans)>,
}

impl KindCells {
    fn figures(&mut self, second: i64) -> &mut Figures {
        figures_at(&mut self.figures, second)
    }
}

fn figures_at(list: &mut Vec<(i64, Figures)>, second: i64) -> &mut Figures {
    let found = list.iter().rposition(|(s, _)| *s == second);
    let index = found.unwrap_or_else(|| {
        list.push((second, Figures::default()));
        list.len() - 1
    });
    &mut list[index].1
}

struct CustomMetricCells {
    sums: Vec<(i64, u64, u64)>,
    values: Option<Spans>,
}

/// Counts and histograms of one group in one shard (a separately locked part) of the recorder.
struct GroupCells {
    recording: Recording,
    has_parts: bool,
    kinds: Vec<Option<Box<KindCells>>>,
    commits_100ms: Vec<(i64, [u32; 10])>,
    lag: Spans,
    reply_lag: Spans,
    late_replies: Spans,
    connects: Spans,
    custom_metrics: Vec<CustomMetricCells>,
    errors: Vec<(i64, Vec<ErrorCount>)>,
}

impl GroupCells {
    fn new(recording: Recording, shape: &GroupShape) -> GroupCells {
        let metric = |metric: &CustomMetric| CustomMetricCells {
            sums: Vec::new(),
            values: (metric.kind == CustomMetricKind::Histogram).then(|| Spans::new(recording, 1)),
        };
        GroupCells {
            recording,
            has_parts: shape.has_parts,
            kinds: (0..shape.n_kinds).map(|_| None).collect(),
            commits_100ms: Vec::new(),
            lag: Spans::new(recording, recording.window_seconds.into()),
            reply_lag: Spans::new(recording, recording.window_seconds.into()),
            late_replies: Spans::new(recording, recording.window_seconds.into()),
            connects: Spans::new(recording, recording.window_seconds.into()),
            custom_metrics: shape.custom_metrics.iter().map(metric).collect(),
            errors: Vec::new(),
        }
    }

    fn kind(&mut self, kind: KindIndex) -> &mut KindCells {
        let (recording, has_parts) = (self.recording, self.has_parts);
        let window = i64::from(recording.window_seconds);
        self.kinds[usize::from(kind)].get_or_insert_with(|| {
            let spans = |seconds| Spans::new(recording, seconds);
            Box::new(KindCells {
                figures: Vec::with_capacity(8),
                response: spans(1),
                failures: spans(1),
                unfinished: spans(1),
                parts: has_parts.then(|| (spans(window), spans(window))),
            })
        })
    }

    fn count_tenth(&mut self, second: i64, tenth: usize) {
        match self.commits_100ms.iter_mut().rev().find(|(s, _)| *s == second) {
            Some((_, commits_100ms)) => commits_100ms[tenth] += 1,
            None => {
                let mut commits_100ms = [0; 10];
                commits_100ms[tenth] = 1;
                self.commits_100ms.push((second, commits_100ms));
            }
        }
    }
}

/// Properties of a group that decide what the recorder keeps for it.
pub(crate) struct GroupShape {
    pub(crate) n_kinds: usize,
    pub(crate) custom_metrics: Vec<CustomMetric>,
    /// Whether service time and wait time are recorded in addition to the response time, as in open
    /// and key/think load.
    pub(crate) has_parts: bool,
}

impl GroupShape {
    pub(crate) fn new(n_kinds: usize, custom_metrics: &[CustomMetric], load: &Load) -> GroupShape {
        let has_parts = !matches!(load, Load::Closed);
        GroupShape { n_kinds, custom_metrics: custom_metrics.to_vec(), has_parts }
    }
}

/// A separately locked part of the recorder, used by some of the clients. Its alignment keeps two
/// shards from sharing a cache line.
#[repr(align(128))]
struct Shard {
    groups: Vec<GroupCells>,
    /// Latest instant at which a transaction of this shard has finished, in nanoseconds of the
    /// run's clock.
    last_finish_ns: u64,
    is_closed: bool,
}

/// Recorder of the results of all clients of a run in this process, which returns them by second.
pub(crate) struct Recorder {
    shards: Vec<Mutex<Shard>>,
    stop: Arc<Stop>,
    sample_hook: Option<SampleHook>,
    /// First reported reason why it is unknown how long a connection's replies waited in the socket
    /// (reply lag); `None` if it is known for all.
    no_reply_lag: OnceLock<String>,
    n_idle_losses: AtomicU64,
}

impl Recorder {
    pub(crate) fn new(
        shapes: &[GroupShape],
        n_shards: usize,
        recording: Recording,
        stop: Arc<Stop>,
        sample_hook: Option<SampleHook>,
    ) -> Recorder {
        let shard = || {
            let groups = shapes.iter().map(|shape| GroupCells::new(recording, shape)).collect();
            Mutex::new(Shard { groups, last_finish_ns: 0, is_closed: false })
        };
        let shards = (0..n_shards.max(1)).map(|_| shard()).collect();
        let (no_reply_lag, n_idle_losses) = (OnceLock::new(), AtomicU64::new(0));
        Recorder { shards, stop, sample_hook, no_reply_lag, n_idle_losses }
    }

    /// Records a transaction that has ended, and its values of custom metrics in `measured` (index
    /// of the metric, value).
    pub(crate) fn record(&self, client: u32, group: u16, sample: &Sample, measured: &[(u16, u64)]) {
        let start_ns = self.stop.measure_start_ns();
        self.tell(client, sample, RecordedAs::Ended);
        let second = second_of(sample.slot.intended_ns, start_ns);
        let is_rated = self.is_rated(sample, start_ns);
        let carried = self.carried(sample.slot.intended_ns, sample.finished_ns, start_ns);
        self.with(client, |shard| {
            shard.last_finish_ns = shard.last_finish_ns.max(sample.finished_ns);
            let cells = &mut shard.groups[usize::from(group)];
            cells.lag.record(second, sample.lag_ns());
            let kind = cells.kind(sample.kind);
            let figures = kind.figures(second);
            figures.carried.add(carried);
            figures.counts.retried += u64::from(sample.retries);
            count(&mut figures.counts, sample.outcome);
            match sample.outcome {
                Outcome::Committed | Outcome::RolledBack | Outcome::Ignored(_) => {
                    kind.response.record(second, sample.response_ns());
                    if let Some((service, wait)) = &mut kind.parts {
                        service.record(second, sample.service_ns());
                        wait.record(second, sample.wait_ns());
                    }
                }
                Outcome::Failed(_) | Outcome::Unknown => {
                    kind.failures.record(second, sample.response_ns());
                }
            }
            if is_rated {
                rate(cells, sample, start_ns);
            }
            for (metric, value) in measured {
                let cells = &mut cells.custom_metrics[usize::from(*metric)];
                // Distributions cover intended transactions, like response times; counters are
                // rates of what finished in the measured window, like commits.
                if cells.values.is_some() {
                    cells.record(second, *value);
                } else if is_rated {
                    cells.record(second_of(sample.finished_ns, start_ns), *value);
                }
            }
        });
    }

    /// Counts an arrival that was dropped because it found the queue full.
    pub(crate) fn record_dropped(
        &self,
        client: u32,
        group: u16,
        kind: KindIndex,
        intended_ns: u64,
    ) {
        let second = second_of(intended_ns, self.stop.measure_start_ns());
        self.with(client, |shard| {
            let cells = shard.groups[usize::from(group)].kind(kind);
            cells.figures(second).counts.dropped += 1;
        });
    }

    /// Whether somebody wants to be told of each sample.
    pub(crate) fn has_hook(&self) -> bool {
        self.sample_hook.is_some()
    }

    /// Tells the hook of a sample.
    pub(crate) fn tell(&self, client: u32, sample: &Sample, recorded_as: RecordedAs) {
        if let Some(sample_hook) = &self.sample_hook {
            let measure_start_ns = self.stop.measure_start_ns();
            sample_hook(&Recorded { client, sample, measure_start_ns, recorded_as });
        }
    }

    /// Tells the hook of an arrival that had waited too long when a client was free at `now_ns`.
    pub(crate) fn tell_skipped(
        &self,
        client: u32,
        kind: KindIndex,
        intended_ns: u64,
        number: Number,
        now_ns: u64,
    ) {
        let sample = Sample {
            kind,
            slot: Slot { number, intended_ns, claimed_ns: now_ns },
            started_ns: now_ns,
            finished_ns: now_ns,
            outcome: Outcome::RolledBack,
            retries: 0,
            traffic: Traffic::default(),
        };
        self.tell(client, &sample, RecordedAs::Skipped);
    }

    /// Counts a transaction that had not ended when the run did, and records the time from its
    /// intended start to `now_ns`.
    pub(crate) fn record_unfinished(
        &self,
        group: u16,
        kind: KindIndex,
        intended_ns: u64,
        now_ns: u64,
    ) {
        let start_ns = self.stop.measure_start_ns();
        let second = second_of(intended_ns, start_ns);
        let carried = self.carried(intended_ns, now_ns, start_ns);
        self.with(0, |shard| {
            let kind = shard.groups[usize::from(group)].kind(kind);
            let figures = kind.figures(second);
            figures.counts.unfinished += 1;
            figures.carried.add(carried);
            kind.unfinished.record(second, now_ns.saturating_sub(intended_ns));
        });
    }

    /// Counts a database error in the second that contains `now_ns`. Errors of attempts that will
    /// be retried count too.
    pub(crate) fn record_error(&self, client: u32, group: u16, now_ns: u64, db_error: &DbError) {
        self.count_error(client, group, now_ns, ErrorCount::one(db_error));
    }

    /// Counts a database error that the plan ignores in the second that contains `now_ns`.
    pub(crate) fn record_ignored_error(
        &self,
        client: u32,
        group: u16,
        now_ns: u64,
        db_error: &DbError,
    ) {
        let error = ErrorCount { ignored: 1, ..ErrorCount::one(db_error) };
        self.count_error(client, group, now_ns, error);
    }

    fn count_error(&self, client: u32, group: u16, now_ns: u64, error: ErrorCount) {
        let second = second_of(now_ns, self.stop.measure_start_ns());
        self.with(client, |shard| {
            let errors = &mut shard.groups[usize::from(group)].errors;
            match errors.iter_mut().rev().find(|(s, _)| *s == second) {
                Some((_, list)) => ErrorCount::add_to(list, &error),
                None => errors.push((second, vec![error])),
            }
        });
    }

    /// Records a reply lag: the time that a reply waited in the socket before the client read it at
    /// `now_ns`. `is_sample` says that the reply belongs to the sampled round trips; otherwise it
    /// was found to be read late.
    pub(crate) fn record_reply_lag(
        &self,
        client: u32,
        group: u16,
        now_ns: u64,
        lag_ns: u64,
        is_sample: bool,
    ) {
        let start_ns = self.stop.measure_start_ns();
        if start_ns == NEVER || now_ns >= self.stop.end_ns() {
            return;
        }
        let second = second_of(now_ns, start_ns);
        self.with(client, |shard| {
            let cells = &mut shard.groups[usize::from(group)];
            let spans = if is_sample { &mut cells.reply_lag } else { &mut cells.late_replies };
            spans.record(second, lag_ns);
        });
    }

    /// Records that a client has connected before a transaction, in the time from `began_ns` to
    /// `now_ns`.
    pub(crate) fn record_connect(&self, client: u32, group: u16, began_ns: u64, now_ns: u64) {
        let second = second_of(began_ns, self.stop.measure_start_ns());
        self.with(client, |shard| {
            shard.groups[usize::from(group)].connects.record(second, now_ns - began_ns);
        });
    }

    /// Counts a connection that was closed while its client was idle.
    pub(crate) fn note_idle_loss(&self) {
        self.n_idle_losses.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of connections that were closed while their clients were idle.
    pub(crate) fn n_idle_losses(&self) -> u64 {
        self.n_idle_losses.load(Ordering::Relaxed)
    }

    /// Stores why it is unknown how long a connection's replies wait in the socket (reply lag).
    /// Only the first reason is kept.
    pub(crate) fn note_no_reply_lag(&self, why: &str) {
        self.no_reply_lag.get_or_init(|| why.to_owned());
    }

    /// Returns the reason why the reply lag (time that replies wait in the socket) of some
    /// connection is unknown; `None` if it is known for all.
    pub(crate) fn no_reply_lag(&self) -> Option<String> {
        self.no_reply_lag.get().cloned()
    }

    /// Returns the latest instant at which any transaction has finished so far, in nanoseconds of
    /// the run's clock.
    pub(crate) fn last_finish_ns(&self) -> u64 {
        let last = |shard: &Mutex<Shard>| {
            shard.lock().unwrap_or_else(PoisonError::into_inner).last_finish_ns
        };
        self.shards.iter().map(last).max().unwrap_or(0)
    }

    /// Removes and returns what was recorded in all seconds before `second`, counted from the start
    /// of the measured phase: a [`Second`] per second and group, in order of time.
    pub(crate) fn take(&self, second: i64) -> Vec<Second> {
        let mut parts = Parts(BTreeMap::new());
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for (group, cells) in shard.groups.iter_mut().enumerate() {
                parts.take_group(group as u16, cells, second);
            }
        }
        parts.0.into_values().collect()
    }

    /// Removes and returns all results that are still recorded. Later results, from clients that
    /// were abandoned, are ignored.
    pub(crate) fn close(&self) -> Vec<Second> {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        }
        self.take(i64::MAX)
    }

    /// Whether a transaction finished before the end of the measured window, so that rates such as
    /// TPS include it.
    fn is_rated(&self, sample: &Sample, start_ns: u64) -> bool {
        sample.finished_ns < self.stop.end_ns() || start_ns == NEVER
    }

    fn carried(&self, intended_ns: u64, finished_ns: u64, start_ns: u64) -> Carried {
        let end_ns = self.stop.end_ns();
        // A transaction of the ramp-up may end after the whole measured phase.
        let (phase_end_ns, until_ns) = match intended_ns < start_ns {
            true => (start_ns, finished_ns.min(end_ns)),
            false => (end_ns, finished_ns),
        };
        if finished_ns < phase_end_ns {
            return Carried::default();
        }
        let beyond_ns = until_ns.saturating_sub(phase_end_ns);
        Carried { count: 1, beyond_ns, max_ns: finished_ns.saturating_sub(intended_ns) }
    }

    fn with(&self, client: u32, work: impl FnOnce(&mut Shard)) {
        // A division would take as long as the rest.
        let n_shards = self.shards.len();
        let index = match client as usize {
            index if index < n_shards => index,
            index => index % n_shards,
        };
        let shard = &self.shards[index];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if !shard.is_closed {
            work(&mut shard);
        }
    }
}

fn rate(cells: &mut GroupCells, sample: &Sample, start_ns: u64) {
    let finished = second_of(sample.finished_ns, start_ns);
    let is_commit = sample.outcome == Outcome::Committed;
    let figures = cells.kind(sample.kind).figures(finished);
    figures.traffic += sample.traffic;
    figures.commits += u64::from(is_commit);
    figures.ended += 1;
    if is_commit {
        let from_start = sample.finished_ns as i64 - start_ns as i64;
        let within = from_start.rem_euclid(NS_PER_S as i64) as u64;
        cells.count_tenth(finished, (within / (NS_PER_S / 10)) as usize);
    }
}

fn count(counts: &mut Counts, outcome: Outcome) {
    match outcome {
        Outcome::Committed => counts.committed += 1,
        Outcome::RolledBack => counts.rolled_back += 1,
        Outcome::Ignored(_) => counts.ignored += 1,
        Outcome::Failed(_) => counts.failed += 1,
        Outcome::Unknown => {
            counts.failed += 1;
            counts.unknown += 1;
        }
    }
}

impl CustomMetricCells {
    fn record(&mut self, second: i64, value: u64) {
        match self.sums.iter_mut().rev().find(|(s, _, _)| *s == second) {
            Some((_, count, sum)) => {
                *count += 1;
                *sum += value;
            }
            None => self.sums.push((second, 1, value)),
        }
        if let Some(values) = &mut self.values {
            values.record(second, value);
        }
    }
}

/// Returns the number of the second that contains an instant: 0 for the first second of the
/// measured phase, negative before that phase.
pub(crate) fn second_of(instant_ns: u64, measure_start_ns: u64) -> i64 {
    (instant_ns as i64 - measure_start_ns as i64).div_euclid(NS_PER_S as i64)
}

/// Results collected from all shards of the recorder, by second and group.
struct Parts(BTreeMap<(i64, u16), Second>);

impl Parts {
    fn at(&mut self, group: u16, second: i64) -> &mut Second {
        self.0.entry((second, group)).or_insert_with(|| Second::new(group, second))
    }

    fn take_group(&mut self, group: u16, cells: &mut GroupCells, before: i64) {
        for (index, kind) in cells.kinds.iter_mut().enumerate() {
            if let Some(kind) = kind {
                self.take_kind(group, index as KindIndex, kind, before);
            }
        }
        for (second, commits_100ms) in
            extract(&mut cells.commits_100ms, before, |(second, _)| *second)
        {
            let part = self.at(group, second);
            for (sum, tenth) in part.commits_tenths.iter_mut().zip(commits_100ms) {
                *sum += tenth;
            }
        }
        cells.lag.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).lag, histogram);
        });
        cells.reply_lag.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).reply_lag, histogram);
        });
        cells.late_replies.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).late_replies, histogram);
        });
        cells.connects.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).connects, histogram);
        });
        for (second, errors) in extract(&mut cells.errors, before, |(second, _)| *second) {
            for error in &errors {
                ErrorCount::add_to(&mut self.at(group, second).errors, error);
            }
        }
        for (index, metric) in cells.custom_metrics.iter_mut().enumerate() {
            self.take_custom_metric(group, index as u16, metric, before);
        }
    }

    fn take_kind(&mut self, group: u16, kind: KindIndex, cells: &mut KindCells, before: i64) {
        for (second, figures) in extract(&mut cells.figures, before, |(second, _)| *second) {
            let part = self.at(group, second).kind(kind);
            part.counts.add(&figures.counts);
            part.commits += figures.commits;
            part.ended += figures.ended;
            part.carried += figures.carried.count;
            part.carried_ns += figures.carried.beyond_ns;
            part.carried_max_ns = part.carried_max_ns.max(figures.carried.max_ns);
            part.traffic += figures.traffic;
        }
        cells.response.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).kind(kind).response, histogram);
        });
        cells.failures.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).kind(kind).failures, histogram);
        });
        cells.unfinished.take(before, &mut |second, histogram| {
            merge(&mut self.at(group, second).kind(kind).unfinished, histogram);
        });
        if let Some((service, wait)) = &mut cells.parts {
            service.take(before, &mut |second, histogram| {
                merge(&mut self.at(group, second).kind(kind).service, histogram);
            });
            wait.take(before, &mut |second, histogram| {
                merge(&mut self.at(group, second).kind(kind).wait, histogram);
            });
        }
    }

    fn take_custom_metric(
        &mut self,
        group: u16,
        index: u16,
        cells: &mut CustomMetricCells,
        before: i64,
    ) {
        for (second, count, sum) in extract(&mut cells.sums, before, |(second, ..)| *second) {
            let part = self.custom_metric(group, second, index);
            part.count += count;
            part.sum += sum;
        }
        if let Some(values) = &mut cells.values {
            values.take(before, &mut |second, histogram| {
                merge(&mut self.custom_metric(group, second, index).histogram, histogram);
            });
        }
    }

    fn custom_metric(&mut self, group: u16, second: i64, index: u16) -> &mut CustomMetricSecond {
        let custom_metrics = &mut self.at(group, second).custom_metrics;
        let found = custom_metrics.iter().position(|m| m.metric == index);
        let place = found.unwrap_or_else(|| {
            custom_metrics.push(CustomMetricSecond {
                metric: index,
                count: 0,
                sum: 0,
                histogram: None,
            });
            custom_metrics.len() - 1
        });
        &mut custom_metrics[place]
    }
}

fn extract<T>(list: &mut Vec<T>, before: i64, second: impl Fn(&T) -> i64) -> Vec<T> {
    list.extract_if(.., |item| second(item) < before).collect()
}

fn merge(mine: &mut Option<Histogram>, other: &Histogram) {
    match mine {
        Some(mine) => mine.add(other),
        None => *mine = Some(other.clone()),
    }
}
