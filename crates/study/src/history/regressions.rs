//! Regressions of the last build of a history: at which points, by how much, and how a user accepts
//! them.
//!
//! Not here: whether a build is worse (judge).

use super::{BUILD, Change, HistoryReport, Last, NEAR, PointHistory};
use crate::comparison::percent_of;

impl PointHistory {
    /// Returns the changes for the worse at this point that the user has not acknowledged.
    fn not_acknowledged(&self) -> Vec<&Change> {
        let changes = self.changes.iter().flatten();
        changes.filter(|change| change.is_worse && change.acknowledged.is_none()).collect()
    }
}

impl HistoryReport {
    /// Returns true if the last build is worse at some point, has no valid run at all, or has only
    /// invalid runs at a point of earlier builds.
    pub fn has_regressed(&self) -> bool {
        !self.regressions().is_empty()
    }

    /// Returns a sentence for each regression: the last build that is worse or has no valid run,
    /// and the point. A point at which the last build has no runs at all is not judged.
    pub fn regressions(&self) -> Vec<String> {
        let of_point = |point: &PointHistory| {
            let at = match point.name() {
                name if name.is_empty() => name,
                name => format!(" at {name}"),
            };
            match &point.lacks {
                Some(last) if last.runs_not_counted > 0 => {
                    Some(format!("{} has no valid run{at}{}", last.build, last.because()))
                }
                Some(_) => None,
                None => {
                    let last = point.builds.last().filter(|_| point.has_regressed)?;
                    Some(format!("{} is worse{at}{}", last.build, self.by_how_much(point)))
                }
            }
        };
        let lost = self.left_out.iter().filter(|build| build.is_last);
        let lost = lost.map(|last| format!("{} has no valid run{}", last.build, last.because()));
        lost.chain(self.points.iter().filter_map(of_point)).collect()
    }

    /// Returns the end of a sentence on a point that has regressed: the figure and its change, such
    /// as `: tps -9.1 % (expected -1.6 to +1.6 %)`.
    fn by_how_much(&self, point: &PointHistory) -> String {
        let name = analysis::figures::short(&self.figure);
        let last = point.last.iter().map(|last| (last, ""));
        let pinned = point.baseline.iter().map(|last| (last, " from the baseline"));
        let alarm = last.chain(pinned).find(|(last, _)| last.is_alarm());
        match (alarm, &point.fall) {
            (Some((last, _)), _) if !last.ratio.is_finite() => format!(": {name} was lost"),
            (Some((last, reference)), _) => {
                let ends = last.expected().map_or_else(String::new, |(low, high)| {
                    let [low, high] = [low, high].map(|end| percent_of(end / last.before));
                    format!(" (expected {low} to {high} %)")
                });
                format!(": {name} {} %{reference}{ends}", percent_of(last.ratio))
            }
            (None, Some(fall)) => match point.not_acknowledged().as_slice() {
                [change] => {
                    format!(": {name} {} % since {}", percent_of(change.ratio), change.build)
                }
                _ => format!(": {name} {} % since {}", percent_of(fall.ratio), fall.since),
            },
            (None, None) => String::new(),
        }
    }

    /// Returns the commands with which a user accepts a worse last build: as an acknowledged
    /// change, or as the new pinned build. Empty if no point has regressed.
    pub fn accepting(&self) -> Vec<String> {
        let worse = || self.points.iter().filter(|point| point.has_regressed);
        let is_alarm = |last: &Option<Last>| last.as_ref().is_some_and(Last::is_alarm);
        let is_below_baseline = worse().any(|point| is_alarm(&point.baseline));
        let Some(last) = worse().find_map(|point| point.builds.last()) else { return Vec::new() };
        let by = if self.by == BUILD { String::new() } else { format!(" --by {}", self.by) };
        let command = |verb: &str, build: &str| format!("dbdyno history {verb} {build}{by}");
        // A change is acknowledged by the first build at its level; without one, the last build is.
        let of_point = |point: &'_ PointHistory| -> Vec<String> {
            let builds = point.not_acknowledged();
            let newest = builds.last().map(|change| change.at);
            let is_at_end = newest.is_some_and(|at| at + 1 + NEAR >= point.builds.len());
            match (is_alarm(&point.last), point.fall.is_some(), builds.is_empty()) {
                (is_alarm, true, false) if !is_alarm || is_at_end => {
                    builds.iter().map(|one| one.build.clone()).collect()
                }
                (false, false, _) => Vec::new(),
                _ => vec![last.build.clone()],
            }
        };
        let mut builds: Vec<String> = worse().flat_map(of_point).collect();
        builds.dedup();
        let acks = builds.iter().map(|build| command("ack", build) + " --reason TEXT");
        let pin = is_below_baseline.then(|| command("baseline", &last.build));
        acks.chain(pin).collect()
    }
}
