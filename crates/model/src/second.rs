//! Counts and times of one second of a group, which can be added up.
//!
//! A stored second is the sum of parts: late samples, threads and client processes each send a part
//! of their own, and readers add them up. Response times and outcomes belong to the second of the
//! *intended* start; `commits`, `traffic` and `commits_tenths` to the second of the
//! *finish*.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{DbError, DbErrorKind, KindIndex, Traffic};

/// Default length, in seconds, of the windows of time by which a run records histograms of service
/// time, wait and lag: one histogram of each kind per window. Each is stored in the first second of
/// its window.
pub const WINDOW_SECONDS: i64 = 10;

/// Default length of the intervals for which a report has response time percentiles, in seconds.
pub const INTERVAL_SECONDS: u32 = WINDOW_SECONDS as u32;

/// Returns the length, in seconds, of the windows for which histograms of service time, wait and
/// lag are kept, for plans and runs that do not state this length.
pub(crate) fn default_window_seconds() -> u32 {
    WINDOW_SECONDS as u32
}

/// Returns the length, in seconds, of the report's intervals, for plans and runs that do not state
/// this length.
pub(crate) fn default_interval_seconds() -> u32 {
    INTERVAL_SECONDS
}

/// Returns the length in seconds of a window, for which histograms of service time, wait and lag
/// are kept: the largest divisor of `interval_seconds` that is at most [`WINDOW_SECONDS`].
pub fn window_seconds(interval_seconds: u32) -> u32 {
    let divides = |window: &u32| interval_seconds.is_multiple_of(*window);
    (1..=WINDOW_SECONDS as u32).rev().find(divides).unwrap_or(1)
}

/// Counts of transactions by outcome, for transactions whose intended start is within some span of
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of committed transactions, including those that were retried.
    pub committed: u64,
    /// Number of transactions that were rolled back by design of the workload.
    pub rolled_back: u64,
    /// Number of transactions that ended with an error that the plan ignores; 0 in older runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Number of transactions that failed after all attempts, including those with an unknown
    /// outcome.
    pub failed: u64,
    /// Number of transactions for which it is unknown whether they were committed, because the
    /// connection broke during COMMIT.
    pub unknown: u64,
    /// Number of arrivals that were dropped because the queue was full.
    pub dropped: u64,
    /// Number of transactions that were running or queued when the run ended.
    pub unfinished: u64,
    /// Number of attempts after the first, summed over all transactions.
    pub retried: u64,
}

impl Counts {
    /// Returns the number of transactions that ended as intended: committed, rolled back by design,
    /// or with an error that the plan ignores.
    pub fn finished(&self) -> u64 {
        self.committed + self.rolled_back + self.ignored
    }

    /// Returns the number of offered transactions: finished + failed + dropped + unfinished.
    pub fn offered(&self) -> u64 {
        self.finished() + self.failed + self.dropped + self.unfinished
    }

    /// Adds the counts of another span of time or of another group to these.
    pub fn add(&mut self, other: &Counts) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.ignored += other.ignored;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.dropped += other.dropped;
        self.unfinished += other.unfinished;
        self.retried += other.retried;
    }
}

/// Counts and times of one transaction type of a group within one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindSecond {
    /// Index of the transaction type in the workload, from 0.
    pub kind: KindIndex,
    /// Counts by outcome of the transactions whose intended start is in this second.
    pub counts: Counts,
    /// Number of transactions that were committed in this second, whenever they were due; 0 after
    /// the measured phase.
    pub commits: u64,
    /// Number of transactions that ended in this second, including failed ones, whenever they were
    /// due; 0 after the measured phase, and in older runs, which did not store it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u64,
    /// Number of transactions whose intended start is in this second and that were still running or
    /// queued when their phase, the ramp-up or the measured phase, was over.
    pub carried: u64,
    /// Time that the transactions counted in `carried` took after their phase was over, summed over
    /// them, in nanoseconds. Of those due in the ramp-up, only time within the measured phase
    /// counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_ns: u64,
    /// Longest response time of the transactions counted in `carried`, or their age if unfinished,
    /// in nanoseconds; 0 if there are none, and in older runs, which did not store it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_max_ns: u64,
    /// Statements, round trips and bytes of the transactions that ended in this second, including
    /// failed ones; 0 after the measured phase.
    pub traffic: Traffic,
    /// Response times of the finished transactions whose intended start is in this second, in
    /// nanoseconds; `None` if there are none.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
    /// Response times of the failed transactions whose intended start is in this second, in
    /// nanoseconds; `None` if there are none.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Histogram>,
    /// Ages at the end of the run, in nanoseconds, of the unfinished transactions whose intended
    /// start is in this second: lower bounds of their response times. `None` if there are none.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Histogram>,
    /// Service times, in nanoseconds, of the finished transactions whose intended start is in the
    /// window of seconds that begins with this one. `None` in other seconds, and in closed load,
    /// where the service time is the response time minus the lag.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Histogram>,
    /// Waits for a free client, in nanoseconds, of the finished transactions whose intended start
    /// is in the window of seconds that begins with this one. `None` in other seconds, and in
    /// closed load, which has no queue.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Histogram>,
}

impl KindSecond {
    /// Creates the record of one second in which the transaction type `kind` did not occur.
    pub fn new(kind: KindIndex) -> KindSecond {
        KindSecond {
            kind,
            counts: Counts::default(),
            commits: 0,
            ended: 0,
            carried: 0,
            carried_ns: 0,
            carried_max_ns: 0,
            traffic: Traffic::default(),
            response: None,
            failures: None,
            unfinished: None,
            service: None,
            wait: None,
        }
    }

    /// Adds another part of the same second and transaction type, such as that of another client
    /// process.
    pub fn add(&mut self, other: &KindSecond) {
        self.counts.add(&other.counts);
        self.commits += other.commits;
        self.ended += other.ended;
        self.carried += other.carried;
        self.carried_ns += other.carried_ns;
        self.carried_max_ns = self.carried_max_ns.max(other.carried_max_ns);
        self.traffic += other.traffic;
        add_histogram(&mut self.response, &other.response);
        add_histogram(&mut self.failures, &other.failures);
        add_histogram(&mut self.unfinished, &other.unfinished);
        add_histogram(&mut self.service, &other.service);
        add_histogram(&mut self.wait, &other.wait);
    }
}

/// Count, sum and distribution of the values of one custom metric in one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricSecond {
    /// Index of the metric among the custom metrics of its workload, from 0.
    #[serde(rename = "measure")]
    pub metric: u16,
    /// Number of values of the metric that were recorded in the second.
    pub count: u64,
    /// Sum of the values of the metric that were recorded in the second.
    pub sum: u64,
    /// Distribution of the metric's values in the second; `None` if the metric keeps only their
    /// sum.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// Number of errors of the same kind, code and SQLSTATE, with the message of one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Class of the counted errors, such as deadlock.
    pub kind: DbErrorKind,
    /// Error number of the database product; 0 if it has none.
    pub code: i64,
    /// SQLSTATE of five characters; empty if the product reports none, and in older runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// Message of the first of these errors. If a later message begins with the same text and
    /// continues, it replaces the first.
    pub message: String,
    /// Number of errors with this kind, code and SQLSTATE.
    pub count: u64,
    /// Number of them that the plan ignores; 0 in older runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
}

/// Counts and times of the transactions of a group in one second. Several threads or processes may
/// each send a part, and the parts are added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Index of the group of clients in the plan, from 0.
    pub group: u16,
    /// Number of the second: 0 is the first of the measured phase, those of the ramp-up are
    /// negative.
    pub second: i64,
    /// Counts and times of each transaction type, ordered by its index; types that did not occur
    /// are missing.
    pub kinds: Vec<KindSecond>,
    /// Number of commits that finished in each tenth of this second; 0 after the measured phase.
    pub commits_tenths: [u32; 10],
    /// Delays that dbdyno itself caused, in nanoseconds, for the transactions whose intended start
    /// is in the window of seconds that begins with this one. `None` in other seconds.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Histogram>,
    /// Times that replies waited in the socket before they were read, in nanoseconds, in the window
    /// of seconds that begins with this one. Only a sample of the round trips is measured; `None`
    /// in other seconds.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub reply_lag: Option<Histogram>,
    /// Times that late replies, those of 10 ms or more, waited in the socket before they were read,
    /// in nanoseconds, in the window of seconds that begins with this one. All round trips are
    /// watched; the times are as exact as the kernel's clock tick (1 to 10 ms). `None` in other
    /// seconds.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub late_replies: Option<Histogram>,
    /// Times that clients took to connect before a transaction, in nanoseconds, in the window of
    /// seconds that begins with this one. `None` in other seconds, and if clients keep their
    /// connections.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub connects: Option<Histogram>,
    /// Values of the workload's custom metrics in this second.
    #[serde(rename = "measures", default, skip_serializing_if = "Vec::is_empty")]
    pub custom_metrics: Vec<CustomMetricSecond>,
    /// Database errors that occurred in this second, including those of attempts that were retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Number of arrivals that waited for a free client at the end of this second; `None` unless
    /// the load is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// Number of transactions that clients were executing at the end of this second; `None` unless
    /// the load is open, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u64>,
}

impl Second {
    /// Creates the record of one second in which nothing happened in the group.
    pub fn new(group: u16, second: i64) -> Second {
        Second {
            group,
            second,
            kinds: Vec::new(),
            commits_tenths: [0; 10],
            lag: None,
            reply_lag: None,
            late_replies: None,
            connects: None,
            custom_metrics: Vec::new(),
            errors: Vec::new(),
            waiting: None,
            running: None,
        }
    }

    /// Returns the first second of the window that contains `second`; windows of [`WINDOW_SECONDS`]
    /// seconds begin at second 0 of the measured phase.
    pub fn window_of(second: i64) -> i64 {
        second.div_euclid(WINDOW_SECONDS) * WINDOW_SECONDS
    }

    /// Returns the counts and times of transaction type `kind`; adds an empty entry if there is
    /// none.
    pub fn kind(&mut self, kind: KindIndex) -> &mut KindSecond {
        let found = self.kinds.iter().position(|k| k.kind == kind);
        let index = found.unwrap_or_else(|| {
            let place = self.kinds.partition_point(|k| k.kind < kind);
            self.kinds.insert(place, KindSecond::new(kind));
            place
        });
        &mut self.kinds[index]
    }

    /// Adds another part of the same second and group. The numbers of waiting arrivals and of
    /// running transactions are not added: those of `other` are kept, if it has them.
    pub fn add(&mut self, other: &Second) {
        for kind in &other.kinds {
            self.kind(kind.kind).add(kind);
        }
        for (mine, other) in self.commits_tenths.iter_mut().zip(other.commits_tenths) {
            *mine = mine.saturating_add(other);
        }
        add_histogram(&mut self.lag, &other.lag);
        add_histogram(&mut self.reply_lag, &other.reply_lag);
        add_histogram(&mut self.late_replies, &other.late_replies);
        add_histogram(&mut self.connects, &other.connects);
        for metric in &other.custom_metrics {
            match self.custom_metrics.iter_mut().find(|mine| mine.metric == metric.metric) {
                Some(mine) => {
                    mine.count += metric.count;
                    mine.sum += metric.sum;
                    add_histogram(&mut mine.histogram, &metric.histogram);
                }
                None => self.custom_metrics.push(metric.clone()),
            }
        }
        for error in &other.errors {
            ErrorCount::add_to(&mut self.errors, error);
        }
        self.waiting = other.waiting.or(self.waiting);
        self.running = other.running.or(self.running);
    }

    /// Returns the counts of transactions by outcome, summed over all transaction types.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for kind in &self.kinds {
            counts.add(&kind.counts);
        }
        counts
    }
}

impl ErrorCount {
    /// Creates an entry for an error that occurred once, with a count of 1.
    pub fn one(db_error: &DbError) -> ErrorCount {
        ErrorCount {
            kind: db_error.kind,
            code: db_error.code,
            sqlstate: db_error.sqlstate.clone(),
            message: db_error.message.clone(),
            count: 1,
            ignored: 0,
        }
    }

    /// Limit on the number of different errors in a list. Further ones are added to the count of
    /// its last entry.
    pub const MOST: usize = 64;

    /// Adds `error` to a list of at most [`ErrorCount::MOST`] entries. If the list has an entry of
    /// the same kind, code and SQLSTATE, only its count is increased.
    pub fn add_to(list: &mut Vec<ErrorCount>, error: &ErrorCount) {
        let same = |e: &&mut ErrorCount| {
            (e.kind, e.code, &e.sqlstate) == (error.kind, error.code, &error.sqlstate)
        };
        if let Some(known) = list.iter_mut().find(same) {
            known.count += error.count;
            known.ignored += error.ignored;
            let is_more = error.message.len() > known.message.len();
            if is_more && error.message.starts_with(&known.message) {
                known.message.clone_from(&error.message);
            }
        } else if list.len() < ErrorCount::MOST {
            list.push(error.clone());
        } else if let Some(last) = list.last_mut() {
            last.count += error.count;
            last.ignored += error.ignored;
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn add_histogram(mine: &mut Option<Histogram>, other: &Option<Histogram>) {
    match (mine.as_mut(), other) {
        (Some(mine), Some(other)) => mine.add(other),
        (None, Some(other)) => *mine = Some(other.clone()),
        (_, None) => {}
    }
}

/// Serializes histograms as bytes, in the versioned binary format of the histograms.
pub(crate) mod as_bytes {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use stats::Histogram;

    pub(crate) fn serialize<S: Serializer>(
        histogram: &Option<Histogram>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match histogram {
            Some(histogram) => serializer.serialize_bytes(&histogram.to_bytes()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Histogram>, D::Error> {
        deserializer.deserialize_option(Maybe)
    }

    struct Maybe;

    impl<'de> Visitor<'de> for Maybe {
        type Value = Option<Histogram>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the bytes of a histogram, or nothing")
        }

        fn visit_none<E: Error>(self) -> Result<Option<Histogram>, E> {
            Ok(None)
        }

        fn visit_unit<E: Error>(self) -> Result<Option<Histogram>, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, bytes: D) -> Result<Self::Value, D::Error> {
            // As an owned buffer: some formats lend only short ones (ciborium 4 KiB).
            bytes.deserialize_byte_buf(Bytes).map(Some)
        }
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Histogram;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the bytes of a histogram")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Histogram, E> {
            Histogram::from_bytes(bytes).map_err(E::custom)
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut seq: A,
        ) -> Result<Histogram, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = seq.next_element::<u8>()? {
                bytes.push(byte);
            }
            self.visit_bytes(&bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_made_of_whole_windows_that_are_as_long_as_can_be() {
        let check =
            |interval: u32, window: u32| assert_eq!(window_seconds(interval), window, "{interval}");
        for window in 1..=10 {
            check(window, window);
        }
        check(11, 1);
        check(12, 6);
        check(15, 5);
        check(20, 10);
        check(60, 10);
    }
}
