//! Aggregates of one second of a group, which can be added up.
//!
//! A stored second is the sum of its parts: late samples, other workers and other agents each
//! contribute one, and a reader adds them. Latency and counts belong to the second of the
//! *intended* instant; `commits`, `traffic` and the tenths to the second of the *finish*.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{DbError, DbErrorKind, KindIndex, Traffic};

/// Length of the windows of service, wait and lag, in seconds, unless the report's intervals are
/// not a multiple of it. A window is kept in its first second.
pub const WINDOW_SECONDS: i64 = 10;

/// Default length of the report's intervals, in seconds.
pub const INTERVAL_SECONDS: u32 = WINDOW_SECONDS as u32;

/// Window length of plans and runs that do not record it.
pub(crate) fn default_window_seconds() -> u32 {
    WINDOW_SECONDS as u32
}

/// Interval length of plans and runs that do not record it.
pub(crate) fn default_interval_seconds() -> u32 {
    INTERVAL_SECONDS
}

/// Returns the window length for report intervals of `interval_seconds`: the largest divisor up to
/// [`WINDOW_SECONDS`].
pub fn window_seconds(interval_seconds: u32) -> u32 {
    let divides = |window: &u32| interval_seconds.is_multiple_of(*window);
    (1..=WINDOW_SECONDS as u32).rev().find(divides).unwrap_or(1)
}

/// Counts of transactions by outcome, for those intended within a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Committed transactions, retried ones included.
    pub committed: u64,
    /// Rolled back by design of the workload.
    pub rolled_back: u64,
    /// Failed transactions, including those with an unknown outcome.
    pub failed: u64,
    /// Failed transactions whose outcome is unknown, because the connection broke during COMMIT.
    pub unknown: u64,
    /// Arrivals that were dropped because the queue was full.
    pub dropped: u64,
    /// Transactions that were running or queued when the run ended.
    pub unfinished: u64,
    /// Attempts beyond the first, summed.
    pub retried: u64,
}

impl Counts {
    /// Returns the number of transactions that ended as intended: committed, or rolled back by
    /// design.
    pub fn finished(&self) -> u64 {
        self.committed + self.rolled_back
    }

    /// Returns the offered load: finished + failed + dropped + unfinished.
    pub fn offered(&self) -> u64 {
        self.finished() + self.failed + self.dropped + self.unfinished
    }

    /// Adds the counts of another span.
    pub fn add(&mut self, other: &Counts) {
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.dropped += other.dropped;
        self.unfinished += other.unfinished;
        self.retried += other.retried;
    }
}

/// Aggregates of one transaction type within one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindSecond {
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Counts of transactions intended in this second.
    pub counts: Counts,
    /// Commits that finished in this second; 0 after the measured window.
    pub commits: u64,
    /// Transactions that ended in this second, including failed ones; 0 after the measured window,
    /// and in older runs, which did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u64,
    /// Transactions intended in this second that ended, or were still running, after their phase.
    pub carried: u64,
    /// Time that these ran into the next phase, summed, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_ns: u64,
    /// Longest response time of these (or age, if unfinished), in nanoseconds; 0 if there are none,
    /// and in older runs, which did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_max_ns: u64,
    /// Traffic of the transactions that ended in this second, including failed ones; none after the
    /// measured window.
    pub traffic: Traffic,
    /// Response times of finished transactions.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
    /// Response times of failed transactions.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Histogram>,
    /// Ages of unfinished transactions at the end of the run: lower bounds of their response times.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Histogram>,
    /// Service times of finished transactions in the window; `None` in closed load, where service
    /// time is response time minus lag.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Histogram>,
    /// Waits of finished transactions in the window; `None` in closed load, which has no queue.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Histogram>,
}

impl KindSecond {
    /// Makes an empty second of `kind`.
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

    /// Adds another part of the same second and kind.
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

/// Aggregates of one custom metric within one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricSecond {
    /// Index in the workload's list.
    #[serde(rename = "measure")]
    pub metric: u16,
    /// Number of recorded values.
    pub count: u64,
    /// Sum of the recorded values.
    pub sum: u64,
    /// Distribution of the values, for a metric that keeps one.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// Number of errors of one kind, code and SQLSTATE, with the message of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Meaning of the error.
    pub kind: DbErrorKind,
    /// The product's own error number; 0 if it has none.
    pub code: i64,
    /// Five characters of the SQL standard; empty if the product has none, and in older runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// Message of the first error, extended by hints of later ones.
    pub message: String,
    /// Number of such errors.
    pub count: u64,
}

/// A part of one second of one group, to be added to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Index of the group.
    pub group: u16,
    /// The second, counted from the start of the measured phase; negative in the ramp-up.
    pub second: i64,
    /// Transaction types that occurred, by kind.
    pub kinds: Vec<KindSecond>,
    /// Commits by the tenth of the second in which they finished; none after the measured window.
    pub commits_tenths: [u32; 10],
    /// Lag of the generator in the window that starts with this second.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Histogram>,
    /// Time that replies waited in the socket before they were read, for a sample of the round
    /// trips that ended in the window that starts with this second.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub reply_lag: Option<Histogram>,
    /// The same time for late replies, those of 10 ms and more, of all round trips in the window;
    /// to a tick of the kernel's clock (1 to 10 ms).
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub late_replies: Option<Histogram>,
    /// Custom metrics of the workload.
    #[serde(rename = "measures", default, skip_serializing_if = "Vec::is_empty")]
    pub custom_metrics: Vec<CustomMetricSecond>,
    /// Errors, including those of attempts that were retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Arrivals waiting for a free client at the end of this second; only in open load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

impl Second {
    /// Makes an empty second.
    pub fn new(group: u16, second: i64) -> Second {
        Second {
            group,
            second,
            kinds: Vec::new(),
            commits_tenths: [0; 10],
            lag: None,
            reply_lag: None,
            late_replies: None,
            custom_metrics: Vec::new(),
            errors: Vec::new(),
            waiting: None,
        }
    }

    /// Returns the first second of the window that contains `second`.
    pub fn window_of(second: i64) -> i64 {
        second.div_euclid(WINDOW_SECONDS) * WINDOW_SECONDS
    }

    /// Returns the part for `kind`, added if it is missing.
    pub fn kind(&mut self, kind: KindIndex) -> &mut KindSecond {
        let found = self.kinds.iter().position(|k| k.kind == kind);
        let index = found.unwrap_or_else(|| {
            let place = self.kinds.partition_point(|k| k.kind < kind);
            self.kinds.insert(place, KindSecond::new(kind));
            place
        });
        &mut self.kinds[index]
    }

    /// Adds another part of the same second. `waiting` is the latest known.
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
    }

    /// Returns the counts summed over all kinds.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for kind in &self.kinds {
            counts.add(&kind.counts);
        }
        counts
    }
}

impl ErrorCount {
    /// Makes the count of a single error.
    pub fn one(db_error: &DbError) -> ErrorCount {
        ErrorCount {
            kind: db_error.kind,
            code: db_error.code,
            sqlstate: db_error.sqlstate.clone(),
            message: db_error.message.clone(),
            count: 1,
        }
    }

    /// Limit on distinct errors in a list; further ones are added to the last.
    pub const MOST: usize = 64;

    /// Adds `error` to a list of at most [`ErrorCount::MOST`].
    pub fn add_to(list: &mut Vec<ErrorCount>, error: &ErrorCount) {
        let same = |e: &&mut ErrorCount| {
            (e.kind, e.code, &e.sqlstate) == (error.kind, error.code, &error.sqlstate)
        };
        if let Some(known) = list.iter_mut().find(same) {
            known.count += error.count;
            let is_more = error.message.len() > known.message.len();
            if is_more && error.message.starts_with(&known.message) {
                known.message.clone_from(&error.message);
            }
        } else if list.len() < ErrorCount::MOST {
            list.push(error.clone());
        } else if let Some(last) = list.last_mut() {
            last.count += error.count;
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

/// Serializes histograms as bytes of their own versioned format.
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
