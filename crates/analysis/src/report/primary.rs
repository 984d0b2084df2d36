//! Primary metrics of a run, such as NOPM, with their confidence intervals.
//!
//! Not here: the rate of all commits (build).

use model::{ComputedFigure, NS_PER_S};
use stats::{NORMAL_95, within_planned_run};

use super::counts::{COMMITS_VARY, commits_interval};
use super::times::{ONE_NUMBER, known, too_short};
use super::{Named, PrimaryMetricReport};
use crate::Tally;

/// Returns every primary metric of `groups`. Equal ones of several groups are added up, second by
/// second. The worth of one count may differ between groups: records may differ in bytes.
pub(super) fn primary_metrics(tally: &Tally, groups: &[usize]) -> Named<PrimaryMetricReport> {
    let mut all = Named::default();
    for (name, title) in tally.primary_metrics(groups) {
        let described = || tally.with_primary_metric(groups, name).map(|(_, primary)| primary);
        let better = described().find_map(|primary| primary.better);
        if described().any(|primary| primary.is_computed) {
            let computed = computed(tally, groups, name, title);
            all.push(name, PrimaryMetricReport { better, ..computed });
            continue;
        }
        let (counted, per_ns) = counted_by_primary_metric(tally, groups, name);
        let sum: u128 = counted.iter().map(|&count| u128::from(count)).sum();
        let whole = usize::try_from(tally.whole_seconds().end).unwrap_or(usize::MAX);
        let counted_whole = &counted[..whole.min(counted.len())];
        let with_it: Vec<usize> = groups
            .iter()
            .copied()
            .filter(|group| tally.with_primary_metric(&[*group], name).next().is_some())
            .collect();
        let due = tally.due(&with_it, NS_PER_S, counted_whole.len());
        let rate = within_planned_run(counted_whole, NS_PER_S, due.as_ref());
        let per_second = per_ns as f64 / NS_PER_S as f64;
        let value = known(sum as f64 * per_ns as f64 / tally.measured_ns() as f64);
        let (half_width, few) = match rate.half_width {
            Ok(half_width) => (known(half_width * per_second), None),
            Err(few) => match error_of_types(tally, &with_it, name) {
                Some(relative) => (value.and_then(|value| known(value * relative)), None),
                None => (None, Some(few)),
            },
        };
        let reason = few.map(|few| too_short(COMMITS_VARY, few, NS_PER_S));
        let title = title.to_owned();
        let report = PrimaryMetricReport { title, value, half_width, reason, better };
        all.push(name, report);
    }
    all
}

/// Returns the half-width of the 95 % CI of a rate that counts the commits of some transaction
/// types of a group, such as NOPM, as a share of the rate. Commits of all types are counted in
/// finer slots, so that their rate has an interval in shorter runs. Types are drawn independently
/// of what the database does, so the share of some of them has the error of a binomial
/// distribution. The two errors add up, because slow types may slow down all. `None` for metrics of
/// several groups or of custom counts, and if the rate of all commits has no interval.
fn error_of_types(tally: &Tally, groups: &[usize], name: &str) -> Option<f64> {
    let [index] = groups else { return None };
    let group = tally.groups.get(*index)?;
    let (_, primary) = tally.with_primary_metric(groups, name).next()?;
    if primary.metric.is_some() {
        return None;
    }
    let commits: u64 = tally.commits_per_second(groups, tally.seconds()).iter().sum();
    let of_types: u64 = group.counted_per_second(primary, tally.seconds()).iter().sum();
    let tps = commits as f64 * NS_PER_S as f64 / tally.measured_ns() as f64;
    let of_all = commits_interval(tally, groups).0?.half_width / tps;
    let of_share = (1.0 - of_types as f64 / commits as f64) / of_types as f64;
    known(of_all + NORMAL_95 * of_share.sqrt())
}

/// Returns a primary metric that its workload computes after the load. The value is null, with a
/// reason, if it is not computed yet, or if several groups have the metric: it may be a time or a
/// mean, which cannot be added up.
fn computed(tally: &Tally, groups: &[usize], name: &str, title: &str) -> PrimaryMetricReport {
    let is_it = |(group, figure): &&(u16, ComputedFigure)| {
        groups.contains(&usize::from(*group)) && figure.name == name
    };
    let found: Vec<&ComputedFigure> =
        tally.computed.iter().filter(is_it).map(|(_, figure)| figure).collect();
    let (value, reason) = match found[..] {
        [one] => (one.value.and_then(known), one.reason.clone()),
        [] => (None, Some("it is computed when the run is over".to_owned())),
        _ => (None, Some("each group has one of its own".to_owned())),
    };
    let reason = reason.or_else(|| Some(ONE_NUMBER.to_owned()));
    PrimaryMetricReport { title: title.to_owned(), value, half_width: None, reason, better: None }
}

/// Returns the count of a primary metric in each second of the measured window, and the factor
/// `per_ns`: the metric is the sum of counts times `per_ns`, divided by the window's nanoseconds.
/// Counts of groups with different factors are converted to the greatest common divisor.
fn counted_by_primary_metric(tally: &Tally, groups: &[usize], name: &str) -> (Vec<u64>, u64) {
    let all = || tally.with_primary_metric(groups, name);
    let per_ns = all().map(|(_, primary)| primary.per_ns).reduce(gcd).unwrap_or(1).max(1);
    let mut counted = vec![0; tally.seconds().count()];
    for (group, primary) in all() {
        let worth = primary.per_ns / per_ns;
        let seconds = group.counted_per_second(primary, tally.seconds());
        counted.iter_mut().zip(seconds).for_each(|(sum, count)| *sum += count * worth);
    }
    (counted, per_ns)
}

/// Returns the greatest common divisor (Euclid's algorithm).
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use crate::fixtures::Made;

    #[test]
    fn a_rate_of_one_type_has_the_interval_of_all_where_its_own_seconds_are_too_few() {
        let mut made = Made::closed();
        made.seconds.retain(|second| second.second < 12);
        made.measured_ns = 12 * model::NS_PER_S;
        let block = Report::from_tally(&made.tally()).block;
        let nopm = block.primary_metrics.get("nopm").expect("it is the first metric");
        let relative = |half_width: Option<f64>, value: Option<f64>| Some(half_width? / value?);
        let own = relative(nopm.half_width, nopm.value).expect("it has an interval");
        let of_all = block.tps_ci95.map(|ci95| ci95.half_width);
        let of_all = relative(of_all, block.tps).expect("tenths of seconds are enough");
        // 45 % of some 5,300 commits.
        let of_share = 1.96 * (0.55 / 0.45 / 5_300.0_f64).sqrt();
        assert!((own / (of_all + of_share) - 1.0).abs() < 0.02, "{own} {of_all} {of_share}");
        assert_eq!(nopm.reason, None);
        // Without an interval of all there is none of a part.
        made.seconds.retain(|second| second.second < 2);
        made.measured_ns = 2 * model::NS_PER_S;
        let block = Report::from_tally(&made.tally()).block;
        let nopm = block.primary_metrics.get("nopm").expect("it is the first metric");
        assert_eq!((nopm.half_width, block.tps_ci95), (None, None));
        assert!(nopm.reason.is_some());
    }
}
