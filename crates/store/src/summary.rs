//! The figures by which a run is listed. Those of one that goes on are of the measured phase as far
//! as it was reported, so a run that was killed keeps the figures of its last commit.

use model::{Description, KindIndex, NS_PER_S, PrimaryMetricDescription, Second};
use stats::{Histogram, Offered, OfferedQuantile, enough};

/// Of the interval without which a percentile has too few samples, as in reports.
const CONFIDENCE: f64 = 0.95;

/// The figures by which a finished run is listed. What is not known, or not finite, is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Commits a second.
    pub tps: Option<f64>,
    /// The first figure that its workload is known by, where there is one.
    pub primary: Option<PrimaryFigure>,
    /// The 99th percentile of response times; [`INFINITE_NS`] where it lies among what was lost.
    pub p99_ns: Option<u64>,
}

/// A figure that a workload is known by, as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryFigure {
    /// Its name, such as `nopm`.
    pub name: String,
    /// Its name for people, such as `NOPM` or `records/s`.
    pub title: String,
    /// Its value, in the unit that its title or name says.
    pub value: f64,
}

/// A time that has no end: longer than any other, in lists too.
pub const INFINITE_NS: u64 = i64::MAX as u64;

/// The sums of what was reported.
#[derive(Debug, Default)]
pub(super) struct RunningSummary {
    /// Name and title of the first rate of commits that the workload is known by.
    primary: Option<(String, String)>,
    /// What that is in each group that has it: the kinds whose commits it counts, and per how many
    /// nanoseconds it is reported.
    counted: Vec<Option<(Vec<KindIndex>, u64)>>,
    /// Commits that it counts, each times the nanoseconds of its group.
    counted_ns: f64,
    commits: u64,
    seconds: i64,
    finished: Histogram,
    unfinished: Histogram,
    lost: u64,
}

impl RunningSummary {
    /// Nothing yet of a run.
    pub(super) fn of(description: &Description) -> RunningSummary {
        let rates = |group: &'_ model::GroupDescription| {
            group
                .primary_metrics
                .iter()
                .filter(|of| of.metric.is_none() && !of.is_computed)
                .cloned()
                .collect()
        };
        let all: Vec<Vec<PrimaryMetricDescription>> =
            description.groups.iter().map(rates).collect();
        let Some(first) = all.iter().flatten().next().cloned() else {
            return RunningSummary::default();
        };
        let counted = all.into_iter().map(|of_group| {
            let is_it = |of: &PrimaryMetricDescription| of.name == first.name;
            of_group.into_iter().find(is_it).map(|of| (of.kinds, of.per_ns))
        });
        let counted = counted.collect();
        let primary = Some((first.name, first.title));
        RunningSummary { primary, counted, ..RunningSummary::default() }
    }

    /// Takes in a second, or a part of one; those of the ramp-up do not count.
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

    /// The figures; none before the first second is over.
    pub(super) fn summary(&self) -> Summary {
        if self.seconds <= 0 {
            return Summary::default();
        }
        let seconds = self.seconds as f64;
        let value = self.counted_ns / NS_PER_S as f64 / seconds;
        let primary = self.primary.clone();
        Summary {
            tps: Some(self.commits as f64 / seconds),
            primary: primary.map(|(name, title)| PrimaryFigure { name, title, value }),
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
