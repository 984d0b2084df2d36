//! Findings on replicas that clients used: how far one was behind.

use model::numbers::duration;
use model::{FactValue, NS_PER_MS, Severity};

use super::FindingText;
use crate::gauges::points;
use crate::tally::Tally;

/// Name of the gauge with a replica's lag, in milliseconds.
const LAG: &str = "lag";
/// Beginning of the subjects of replicas.
const REPLICA: &str = "replica";
/// Smallest lag that is a finding, in milliseconds: a person sees data that old.
const BEHIND_MS: f64 = 1000.0;

/// Whether this subject of facts and gauges is a replica.
pub fn is_replica(about: &str) -> bool {
    about.split('_').next() == Some(REPLICA)
}

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let measured = tally.seconds();
    let all = tally.gauges.iter().zip(points(&tally.gauges, &tally.readings));
    let lags = all.filter(|(gauge, _)| is_replica(&gauge.about) && gauge.name == LAG);
    let behind = lags.filter_map(|(gauge, points)| {
        let points = points.into_iter().filter(|(second, _)| measured.contains(second));
        let lags: Vec<f64> = points.map(|(_, ms)| ms).collect();
        let most = lags.iter().copied().fold(0.0, f64::max);
        let mean = lags.iter().sum::<f64>() / lags.len().max(1) as f64;
        let target = tally.fact(&gauge.about, "target").and_then(FactValue::text);
        let text = format!(
            "{} was up to {} behind the target ({} on average): its clients read data as old as \
             that.",
            target.unwrap_or("The replica"),
            shown(most),
            shown(mean)
        );
        let finding = FindingText { id: "replica_behind", severity: Severity::Note, text };
        (most >= BEHIND_MS).then_some(finding)
    });
    behind.collect()
}

fn shown(ms: f64) -> String {
    duration((ms * NS_PER_MS as f64) as u64)
}

#[cfg(test)]
mod tests {
    use crate::findings::judge;
    use crate::fixtures::Made;

    #[test]
    fn a_replica_that_is_a_second_behind_is_reported_with_its_place() {
        let behind = |ms: &dyn Fn(i64) -> f64| {
            let mut made = Made::closed();
            made.fact("replica", "target", "postgres://replica/bench");
            made.gauges(&[("replica", "lag")], &|second, _| ms(second));
            let findings = judge(&made.tally(), false);
            findings.into_iter().find(|one| one.id == "replica_behind").map(|one| one.text)
        };
        assert_eq!(behind(&|_| 999.0), None);
        let text = behind(&|second| if second == 7 { 3_000.0 } else { 0.0 }).expect("behind");
        let begins = "postgres://replica/bench was up to 3 s behind the target (50 ms on average)";
        assert!(text.starts_with(begins), "{text}");
    }
}
