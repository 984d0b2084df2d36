//! Findings on planned disturbances of the database: that there were some, and which were not
//! carried out as planned.

use model::{DisturbanceEvent, Disturbed, NS_PER_S, Severity, numbers};

use super::FindingText;
use crate::tally::Tally;

enum Disturbance<'a> {
    Disturbed { n: u64 },
    Failed { first: &'a DisturbanceEvent, why: &'a str, n: u64 },
    Skipped { first: &'a DisturbanceEvent, why: &'a str, n: u64 },
    CutOff { first: &'a DisturbanceEvent, why: &'a str, n: u64 },
}

impl Disturbance<'_> {
    fn text(self) -> FindingText {
        match self {
            Disturbance::Disturbed { n } => FindingText {
                id: "disturbed",
                severity: Severity::Note,
                text: format!(
                    "The plan disturbed this run ({}), and the figures of the whole run include \
                     the disturbances.",
                    super::count(n, "time")
                ),
            },
            Disturbance::Failed { first, why, n } => FindingText {
                id: "disturbance_failed",
                severity: Severity::Warning,
                text: format!("{} failed: {}.", described(first, n), sentence(why)),
            },
            Disturbance::Skipped { first, why, n } => FindingText {
                id: "disturbance_skipped",
                severity: Severity::Warning,
                text: format!("{} was not started: {}.", described(first, n), sentence(why)),
            },
            Disturbance::CutOff { first, why, n } => FindingText {
                id: "disturbance_cut_off",
                severity: Severity::Note,
                text: format!("{} was cut off: {}.", described(first, n), sentence(why)),
            },
        }
    }
}

/// Returns the reason why a disturbance failed as part of a sentence: in one line, without its
/// final full stop.
fn sentence(why: &str) -> String {
    let line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').to_owned()
}

/// Describes a disturbance and the number of others: `'drop' at 30 s (and 2 more)`.
fn described(first: &DisturbanceEvent, n: u64) -> String {
    let at = numbers::seconds(first.began_ns as f64 / NS_PER_S as f64);
    let more = match n {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", model::format_count(n - 1)),
    };
    format!("Disturbance '{}' at {at}{more}", first.name)
}

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let all = &tally.disturbances;
    type Why = fn(&Disturbed) -> Option<&str>;
    let first_of = |which: Why| {
        let mut found =
            all.iter().filter_map(|described| Some((described, which(&described.outcome)?)));
        let (first, why) = found.next()?;
        Some((first, why, 1 + found.count() as u64))
    };
    let failed = first_of(|outcome| match outcome {
        Disturbed::Failed { why } => Some(why),
        _ => None,
    });
    let skipped = first_of(|outcome| match outcome {
        Disturbed::Skipped { why } => Some(why),
        _ => None,
    });
    let cut_off = first_of(|outcome| match outcome {
        Disturbed::CutOff { why } => Some(why),
        _ => None,
    });
    let is_begun =
        |described: &&DisturbanceEvent| !matches!(described.outcome, Disturbed::Skipped { .. });
    let n = all.iter().filter(is_begun).count() as u64;
    let found = [
        (n > 0).then_some(Disturbance::Disturbed { n }),
        failed.map(|(first, why, n)| Disturbance::Failed { first, why, n }),
        skipped.map(|(first, why, n)| Disturbance::Skipped { first, why, n }),
        cut_off.map(|(first, why, n)| Disturbance::CutOff { first, why, n }),
    ];
    found.into_iter().flatten().map(Disturbance::text).collect()
}
