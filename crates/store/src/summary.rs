//! The figures by which a run is listed. Those of one that goes on are of the measured phase as far
//! as it was reported, so a run that was killed keeps the figures of its last commit.

use model::{Description, KindIndex, NS_PER_S, Second};
use stats::{Histogram, Offered, OfferedQuantile, enough};

/// Of the interval without which a percentile has too few samples, as in reports.
const CONFIDENCE: f64 = 0.95;

/// The figures by which a finished run is listed. What is not known, or not finite, is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Commits a second.
    pub tps: Option<f64>,
    /// New orders a minute, where the workload has them.
    pub nopm: Option<f64>,
    /// The 99th percentile of response times; [`INFINITE_NS`] where it lies among what was lost.
    pub p99_ns: Option<u64>,
}

/// A time that has no end: longer than any other, in lists too.
pub const INFINITE_NS: u64 = i64::MAX as u64;

/// The sums of what was reported.
#[derive(Debug, Default)]
pub(super) struct RunningSummary {
    /// Of each group the kinds that NOPM counts.
    kinds_of_nopm: Vec<Vec<KindIndex>>,
    /// Per how many nanoseconds NOPM is shown; none where the workload has no NOPM.
    nopm_per_ns: Option<u64>,
    commits: u64,
    commits_of_nopm: u64,
    seconds: i64,
    finished: Histogram,
    unfinished: Histogram,
    lost: u64,
}

impl RunningSummary {
    /// Nothing yet of a run.
    pub(super) fn of(description: &Description) -> RunningSummary {
        let nopm = |group: &model::GroupDescription| {
            let named = group.primary_metrics.iter().filter(|primary| primary.name == "nopm");
            named.flat_map(|primary| primary.kinds.clone()).collect()
        };
        let mut primary_metrics =
            description.groups.iter().flat_map(|group| &group.primary_metrics);
        let nopm_per_ns = primary_metrics.find(|one| one.name == "nopm").map(|one| one.per_ns);
        let kinds_of_nopm = description.groups.iter().map(nopm).collect();
        RunningSummary { kinds_of_nopm, nopm_per_ns, ..RunningSummary::default() }
    }

    /// Takes in a second, or a part of one; those of the ramp-up do not count.
    pub(super) fn add(&mut self, part: &Second) {
        if part.second < 0 {
            return;
        }
        self.seconds = self.seconds.max(part.second + 1);
        let of_nopm = self.kinds_of_nopm.get(usize::from(part.group));
        for kind in &part.kinds {
            self.commits += kind.commits;
            if of_nopm.is_some_and(|kinds| kinds.contains(&kind.kind)) {
                self.commits_of_nopm += kind.commits;
            }
            self.lost += kind.counts.failed + kind.counts.dropped;
            add(&mut self.finished, kind.response.as_ref());
            add(&mut self.unfinished, kind.unfinished.as_ref());
        }
    }

    /// The figures; none before the first second is over.
    pub(super) fn summary(&self) -> Summary {
        if self.seconds <= 0 {
            return Summary::default();
        }
        let seconds = self.seconds as f64;
        let nopm =
            |per_ns: u64| self.commits_of_nopm as f64 * (per_ns as f64 / NS_PER_S as f64) / seconds;
        Summary {
            tps: Some(self.commits as f64 / seconds),
            nopm: self.nopm_per_ns.map(nopm),
            p99_ns: self.p99_ns(),
        }
    }

    /// How long was measured.
    pub(super) fn measured_ns(&self) -> Option<i64> {
        (self.seconds > 0).then(|| self.seconds.saturating_mul(NS_PER_S as i64))
    }

    /// That of all that was offered, as in reports.
    fn p99_ns(&self) -> Option<u64> {
        let Self { finished, unfinished, lost, .. } = self;
        let offered = Offered { finished, unfinished, lost: *lost };
        enough(offered.count(), 0.99, CONFIDENCE).ok()?;
        match offered.quantile(0.99) {
            OfferedQuantile::Exact(ns) => Some(ns),
            OfferedQuantile::Infinite | OfferedQuantile::AtLeast(_) => Some(INFINITE_NS),
            OfferedQuantile::Empty => None,
        }
    }
}

/// Histograms of one run have one range: the first says which.
fn add(sum: &mut Histogram, part: Option<&Histogram>) {
    match part {
        Some(part) if sum.is_empty() => sum.clone_from(part),
        Some(part) => sum.add(part),
        None => {}
    }
}
