//! What happened in one second of a group, as something that can be added up.
//!
//! A stored second is the sum of its parts: late samples, other workers and other agents each
//! contribute one, and a reader adds them. Latency and counts belong to the second of the
//! *intended* instant; `commits`, `traffic` and the tenths to the second of the *finish*.

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::{DbError, DbErrorKind, KindIndex, Traffic};

/// Service, wait and lag are kept in windows of this many seconds, unless the stretches of the
/// report are not made of such, in the part of the second that begins the window.
pub const WINDOW_SECONDS: i64 = 10;

/// Unless asked for otherwise: the longest windows in which waits are kept.
pub const INTERVAL_SECONDS: u32 = WINDOW_SECONDS as u32;

/// What a plan or a run that does not tell its windows has.
pub(crate) fn default_window_seconds() -> u32 {
    WINDOW_SECONDS as u32
}

/// What one has that does not tell its stretches.
pub(crate) fn default_interval_seconds() -> u32 {
    INTERVAL_SECONDS
}

/// The windows in which service, wait and lag are kept where a report has stretches of
/// `interval_seconds`: the longest of which these are made, up to [`WINDOW_SECONDS`].
pub fn window_seconds(interval_seconds: u32) -> u32 {
    let divides = |window: &u32| interval_seconds.is_multiple_of(*window);
    (1..=WINDOW_SECONDS as u32).rev().find(divides).unwrap_or(1)
}

/// What became of the transactions that were intended within a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Committed.
    pub committed: u64,
    /// Rolled back by design.
    pub rolled_back: u64,
    /// Refused, the unknown ones among them.
    pub failed: u64,
    /// Of the failed: the connection broke during COMMIT.
    pub unknown: u64,
    /// Never begun, since the queue was full.
    pub dropped: u64,
    /// Begun or queued, and not ended when the run was.
    pub unfinished: u64,
    /// Attempts beyond the first.
    pub retried: u64,
}

impl Counts {
    /// Ended as the workload wants: committed, or rolled back by design.
    pub fn finished(&self) -> u64 {
        self.committed + self.rolled_back
    }

    /// All that was asked of the system: finished + failed + dropped + unfinished.
    pub fn offered(&self) -> u64 {
        self.finished() + self.failed + self.dropped + self.unfinished
    }

    /// Adds another span's.
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

/// One kind of transaction within one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindSecond {
    /// Which kind.
    pub kind: KindIndex,
    /// What became of those intended in this second.
    pub counts: Counts,
    /// Commits that finished in this second, none after the measured window.
    pub commits: u64,
    /// Transactions that ended in this second, failed ones too; none after the measured window,
    /// and 0 in runs of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u64,
    /// Of those intended in this second: finished (or unfinished) after the phase they belong to.
    pub carried: u64,
    /// How long these went on within the next phase, in nanoseconds, all together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_ns: u64,
    /// The longest response time of these (or age, of what never ended), in nanoseconds; 0 where
    /// there is none, and in runs of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_max_ns: u64,
    /// What the transactions that ended in this second moved, failed ones too; none after the
    /// measured window.
    pub traffic: Traffic,
    /// Response times of the finished ones.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
    /// Response times of the failed ones.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Histogram>,
    /// Ages of the unfinished ones when the run ended: lower bounds of their response times.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Histogram>,
    /// Service times of the finished ones of the window; absent in closed load, where service
    /// is response less lag.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Histogram>,
    /// Waits of the finished ones of the window; absent in closed load, where nobody waits.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Histogram>,
}

impl KindSecond {
    /// An empty second of `kind`.
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

    /// Adds another part of the same kind.
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

/// One custom metric of the workload within one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomMetricSecond {
    /// Its index in the workload's list.
    #[serde(rename = "measure")]
    pub metric: u16,
    /// How often it was recorded.
    pub count: u64,
    /// The sum of what was recorded.
    pub sum: u64,
    /// Its distribution, where the metric is one.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// Errors of one kind, number and SQLSTATE, with the first one's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// What it means.
    pub kind: DbErrorKind,
    /// The product's number.
    pub code: i64,
    /// The standard's five letters, empty where the product has none, and in runs of before they
    /// were kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sqlstate: String,
    /// The words of the first of them, with advice that came later.
    pub message: String,
    /// How many.
    pub count: u64,
}

/// A part of one second of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Which group.
    pub group: u16,
    /// Which second, from the beginning of the measured phase; the ramp-up's are negative.
    pub second: i64,
    /// Each kind that occurred.
    pub kinds: Vec<KindSecond>,
    /// Commits by the tenth of the second in which they finished, none after the measured window.
    pub commits_tenths: [u32; 10],
    /// The generator's own lateness within the window that this second begins.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Histogram>,
    /// How long replies lay in the socket before they were read, of a sample of the round trips
    /// that ended within the window that this second begins.
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub reply_lag: Option<Histogram>,
    /// How long late replies lay there, of all round trips of that window and not of a sample
    /// alone: those of 10 ms and more, to a tick of the kernel's clock (1 to 10 ms).
    #[serde(with = "as_bytes", default, skip_serializing_if = "Option::is_none")]
    pub late_replies: Option<Histogram>,
    /// The workload's custom metrics.
    #[serde(rename = "measures", default, skip_serializing_if = "Vec::is_empty")]
    pub custom_metrics: Vec<CustomMetricSecond>,
    /// Errors, those of attempts that were retried among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// How many were due and waited for a free client when this second had just ended; none in
    /// other than open load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

impl Second {
    /// An empty second.
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

    /// The second in which the window of `second` begins.
    pub fn window_of(second: i64) -> i64 {
        second.div_euclid(WINDOW_SECONDS) * WINDOW_SECONDS
    }

    /// This second's part for `kind`.
    pub fn kind(&mut self, kind: KindIndex) -> &mut KindSecond {
        let found = self.kinds.iter().position(|k| k.kind == kind);
        let index = found.unwrap_or_else(|| {
            let place = self.kinds.partition_point(|k| k.kind < kind);
            self.kinds.insert(place, KindSecond::new(kind));
            place
        });
        &mut self.kinds[index]
    }

    /// Adds another part of the same second.
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

    /// All its kinds' counts together.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for kind in &self.kinds {
            counts.add(&kind.counts);
        }
        counts
    }
}

impl ErrorCount {
    /// One error.
    pub fn one(db_error: &DbError) -> ErrorCount {
        ErrorCount {
            kind: db_error.kind,
            code: db_error.code,
            sqlstate: db_error.sqlstate.clone(),
            message: db_error.message.clone(),
            count: 1,
        }
    }

    /// Distinct errors kept apart; more are counted with the last.
    pub const MOST: usize = 64;

    /// Adds `error` to a bounded list.
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

/// Histograms are stored as bytes of their own versioned format.
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
