//! Summary figures of a run for lists of runs. For a running run they cover the measured phase so
//! far, so a run that was killed keeps the figures of its last commit to the store.

use model::{Description, KindIndex, NS_PER_S, PrimaryMetricDescription, Second};
use stats::{Histogram, Offered, OfferedQuantile, enough};

/// Confidence level, as a fraction, of the interval that a percentile must have to be listed, as in
/// reports.
const CONFIDENCE: f64 = 0.95;

/// Figures of a run for lists of runs; each is `None` if it is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Commits per second of the measured phase; `None` if unknown.
    pub tps: Option<f64>,
    /// Value of the workload's first primary metric, such as NOPM; `None` for a workload without
    /// such a metric.
    pub primary: Option<PrimaryFigure>,
    /// 99th percentile of response times, in nanoseconds, as [`listed_ns`] makes it; `None` if
    /// unknown.
    pub p99_ns: Option<u64>,
}

/// Value of a workload's primary metric, such as NOPM, with its name and title.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryFigure {
    /// Identifier of the metric, such as `nopm`.
    pub name: String,
    /// Title of the metric, such as `NOPM` or `records/s`.
    pub title: String,
    /// Value of the metric, in the unit that its title names.
    pub value: f64,
}

/// Number of nanoseconds that stands for an infinite time; it sorts after all others.
pub const INFINITE_NS: u64 = i64::MAX as u64;

/// Returns a quantile of the response times of all offered transactions as lists of runs have it:
/// [`INFINITE_NS`] if it falls among lost transactions, or among unfinished ones of which some
/// waited in a queue. The end of a run cuts off at most one transaction per client: that many
/// unfinished ones are no sign of overload, and the quantile is `None`, not known.
pub fn listed_ns(quantile: OfferedQuantile, unfinished: u64, clients: u64) -> Option<u64> {
    match quantile {
        OfferedQuantile::Exact(ns) => Some(ns),
        OfferedQuantile::AtLeast(_) if unfinished <= clients => None,
        OfferedQuantile::Infinite | OfferedQuantile::AtLeast(_) => Some(INFINITE_NS),
        OfferedQuantile::Empty => None,
    }
}

/// Sums over the seconds of the measured phase so far.
#[derive(Debug, Default)]
pub(super) struct RunningSummary {
    /// Name and title of the workload's first primary metric; `None` unless the metric is a rate of
    /// commits, which can be computed by summing seconds.
    primary: Option<(String, String)>,
    /// Definition of the primary metric for each group: the transaction types whose commits it
    /// counts, and the period of its rate in nanoseconds. `None` for a group without the metric.
    counted: Vec<Option<(Vec<KindIndex>, u64)>>,
    /// Commits that the primary metric counts, each multiplied by the period of the rate in its
    /// group.
    counted_ns: f64,
    clients: u64,
    /// True if all clients execute fixed sequences of transactions, whose rate says nothing.
    is_sequence: bool,
    commits: u64,
    seconds: i64,
    finished: Histogram,
    unfinished: Histogram,
    lost: u64,
}

impl RunningSummary {
    /// Creates the summary of a run, without any second yet.
    pub(super) fn from_description(description: &Description) -> RunningSummary {
        let groups = &description.groups;
        let clients = groups.iter().map(|group| u64::from(group.clients)).sum();
        let is_sequence = !groups.is_empty() && groups.iter().all(|group| group.sequence.is_some());
        let without_primary = RunningSummary { clients, is_sequence, ..RunningSummary::default() };
        let first = groups.iter().find_map(|group| group.primary_metrics.first());
        // A computed metric, or one that counts a custom metric, is known only when the run is
        // over. Another figure in its place would be taken for it.
        let Some(first) = first.filter(|metric| metric.metric.is_none() && !metric.is_computed)
        else {
            return without_primary;
        };
        let counted = groups.iter().map(|group| {
            let is_it = |metric: &&PrimaryMetricDescription| metric.name == first.name;
            group
                .primary_metrics
                .iter()
                .find(is_it)
                .map(|metric| (metric.kinds.clone(), metric.per_ns))
        });
        let counted = counted.collect();
        let primary = Some((first.name.clone(), first.title.clone()));
        RunningSummary { primary, counted, ..without_primary }
    }

    /// Adds the counts of one second of a group, or of a part of it. Seconds of the ramp-up are
    /// ignored.
    pub(super) fn add(&mut self, part: &Second) {
        if part.second < 0 {
            return;
        }
        self.seconds = self.seconds.max(part.second + 1);
        let counted = self.counted.get(usize::from(part.group)).and_then(Option::as_ref);
        for kind in &part.kinds {
            self.commits += kind.commits;
            if let Some((_, per_ns)) = counted.filter(|(kinds, _)| kinds.contains(&kind.kind)) {
                self.counted_ns += kind.commits as f64 * *per_ns as f64;
            }
            self.lost += kind.counts.failed + kind.counts.dropped;
            add(&mut self.finished, kind.response.as_ref());
            add(&mut self.unfinished, kind.unfinished.as_ref());
        }
    }

    /// Returns the figures of the seconds added so far; all are `None` before the first.
    pub(super) fn summary(&self) -> Summary {
        if self.seconds <= 0 {
            return Summary::default();
        }
        let seconds = self.seconds as f64;
        let value = self.counted_ns / NS_PER_S as f64 / seconds;
        let primary = self.primary.clone();
        Summary {
            tps: (!self.is_sequence).then_some(self.commits as f64 / seconds),
            primary: primary.map(|(name, title)| PrimaryFigure { name, title, value }),
            p99_ns: self.p99_ns(),
        }
    }

    /// Returns the length of the measured phase so far, in nanoseconds; `None` before its first
    /// second.
    pub(super) fn measured_ns(&self) -> Option<i64> {
        (self.seconds > 0).then(|| self.seconds.saturating_mul(NS_PER_S as i64))
    }

    /// Returns the 99th percentile of response times over all offered transactions, as in reports;
    /// `None` if there are too few transactions.
    fn p99_ns(&self) -> Option<u64> {
        let Self { finished, unfinished, lost, .. } = self;
        let offered = Offered { finished, unfinished, lost: *lost };
        enough(offered.count(), 0.99, CONFIDENCE).ok()?;
        listed_ns(offered.quantile(0.99), unfinished.count(), self.clients)
    }
}

/// Adds the histogram `part`, if there is one, to `sum`. All histograms of a run have the same
/// range, which the first one determines.
fn add(sum: &mut Histogram, part: Option<&Histogram>) {
    match part {
        Some(part) if sum.is_empty() => sum.clone_from(part),
        Some(part) => sum.add(part),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_end_cut_off_is_no_overload_and_what_waited_in_a_queue_is() {
        let cut_off = |unfinished| listed_ns(OfferedQuantile::AtLeast(7), unfinished, 8);
        assert_eq!([cut_off(8), cut_off(9)], [None, Some(INFINITE_NS)]);
        assert_eq!(listed_ns(OfferedQuantile::Infinite, 8, 8), Some(INFINITE_NS));
        assert_eq!(listed_ns(OfferedQuantile::Exact(7), 900, 8), Some(7));
    }
}
