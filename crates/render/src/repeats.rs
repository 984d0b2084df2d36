//! Texts on the repeats of an experiment: whether there are enough, and how much each level of
//! repetition varies.
//!
//! Not here: statistics of repeats (study).

use analysis::figures::title;
use model::numbers::{count, significant};
use model::{Level, NS_PER_S, format_duration};
use study::ExperimentReport;
use study::comparison::Ratio;
use study::repeats::{Advice, LevelsReport, PairDecision, PairVerdict, PointPrecision, StopReport};

use super::axis_names::told;
use super::comparison::{change_within, versus};
use super::{Align, Column, Table};

/// Largest number of points of an experiment that are named because they are not precise enough;
/// the others are shown as a number, such as `3 more`.
const NAMED_MOST: usize = 4;
/// Number of degrees of freedom below which the variance between repeats of one level (rebuilds,
/// restarts or runs) is reported as uncertain.
const FREEDOM_FEW: u64 = 4;

/// Returns lines on how far an experiment is from the condition that ends its repeats, and on the
/// method by which confidence holds although results are looked at repeatedly.
pub(crate) fn stop_lines(stop: &StopReport) -> Vec<String> {
    let spent = match stop.spent_s > 0.0 {
        true => format!(", {} of load and starts", duration(stop.spent_s)),
        false => String::new(),
    };
    let (made, most) = (stop.repeats, stop.repeats_most);
    let figure = title(&stop.figure);
    let what = match stop.is_reached {
        true if stop.pairs.is_empty() => {
            format!("Every interval of {figure} is as narrow as requested.")
        }
        true => format!("Every difference of {figure} is decided."),
        false if stop.pairs.is_empty() => format!("Not precise enough: {}.", wide(&stop.points)),
        false => {
            let open = |pair: &&PairDecision| pair.verdict == PairVerdict::Undecided;
            let n = stop.pairs.iter().filter(open).count() as u64;
            format!("{} of {figure} not decided.", count(n, "difference"))
        }
    };
    let repeats = format!("Repeats: {made} of at most {most}{spent} ({}).", stop.rule);
    let method = format!("Method: {}.", stop.method);
    [repeats, what].into_iter().chain(stop.caution.clone()).chain([method]).collect()
}

/// Lists the points of an experiment that are not precise enough, with the widths of their
/// confidence intervals.
fn wide(points: &[PointPrecision]) -> String {
    let to_words = |point: &PointPrecision| {
        let name = point.values.pairs(" ");
        let name = if name.is_empty() { "all runs".to_owned() } else { name };
        match point.half_width_share {
            Some(share) => format!("{name} ±{} %", significant(share * 100.0, 2)),
            None => format!("{name} unknown"),
        }
    };
    let mut all: Vec<String> =
        points.iter().filter(|point| !point.is_reached).map(to_words).collect();
    if all.len() > NAMED_MOST {
        let rest = all.len() - NAMED_MOST;
        all.truncate(NAMED_MOST);
        all.push(format!("{rest} more"));
    }
    all.join(", ")
}

/// Returns the table of compared pairs of points and whether their difference is decided; `None` if
/// no points are compared.
pub(crate) fn decided(stop: &StopReport) -> Option<Table> {
    let mut table = Table::new([
        Column::new("point", Align::Left),
        Column::new("against", Align::Left),
        Column::new("repeats", Align::Right),
        Column::new(format!("{} ratio", title(&stop.figure)), Align::Right),
        Column::new("interval", Align::Left),
        Column::new("decided", Align::Left),
    ]);
    for pair in &stop.pairs {
        let ratio = pair.ratio.map_or_else(String::new, |ratio| significant(ratio, 4));
        let interval = pair.interval.map_or_else(
            || "too few".to_owned(),
            |(low, high)| format!("{} to {}", significant(low, 4), significant(high, 4)),
        );
        let (point, against) = (pair.values.pairs(" "), pair.baseline.pairs(" "));
        let (n, word) = (pair.repeats.to_string(), pair.verdict.name().to_owned());
        table.row([point, against, n, ratio, interval, word]);
    }
    (!stop.pairs.is_empty()).then_some(table)
}

/// Returns the verdict of an experiment whose repeats ended when it was decided, on its only pair
/// of points: `clients=8 vs. 4: TPS +15.0 % (95 % CI -19.0 to +63.0 %), undecided after 5 of at
/// most 30 repeats`. `None` with no pair or several.
pub fn verdict(report: &ExperimentReport) -> Option<String> {
    let stop = report.stop_condition.as_ref()?;
    let [pair] = &stop.pairs[..] else { return None };
    let named = |values| told(&report.axes, values).pairs(", ");
    let sides = versus(&named(&pair.values), &named(&pair.baseline));
    let found = pair.ratio.map_or_else(String::new, |value| {
        let confidence = Some(pair.confidence);
        let ratio = Ratio { value, interval: pair.interval, confidence };
        format!(" {}", change_within(&stop.figure, &ratio))
    });
    let (word, made, most) = (pair.verdict.name(), stop.repeats, stop.repeats_most);
    let figure = title(&stop.figure);
    Some(format!("{sides}: {figure}{found}, {word} after {made} of at most {most} repeats"))
}

/// Describes how much of the variation is between rebuilds, restarts and runs, and advises how many
/// repeats find a difference.
pub(crate) fn levels_lines(levels: &LevelsReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let [only] = &levels.levels[..] {
        let (figure, level) = (title(&levels.figure), only.level.name());
        lines.push(format!(
            "Each {level} had one run, so what {figure} varies between {level}s is also what it \
             varies between runs: several runs in each distinguish the two."
        ));
    }
    let is_one = levels.levels.len() == 1;
    let most = levels.levels.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    if let Some(most) = most.filter(|most| most.share > 0.0 && !is_one) {
        let share = significant(most.share * 100.0, 2);
        let word = if most.share > 0.5 { "Most" } else { "The largest part" };
        let (figure, level) = (title(&levels.figure), most.level.name());
        lines.push(format!("{word} of the variation of {figure} ({share} %) is between {level}s."));
    }
    for level in &levels.levels {
        let few = match level.freedom < FREEDOM_FEW {
            true => format!(", uncertain: only {} beyond the first", level.freedom),
            false => String::new(),
        };
        let zero = if level.is_negative { ", estimated below 0" } else { "" };
        lines.push(format!(
            "between {:<8} {} % standard deviation, {} % of the variance{zero}{few}",
            format!("{}s", level.level.name()),
            significant(level.sd_percent, 2),
            significant(level.share * 100.0, 2),
        ));
    }
    if let Some(within) = levels.within_run {
        let share = match within {
            1.0.. => "all".to_owned(),
            share => format!("{} %", significant(share * 100.0, 2)),
        };
        lines.push(format!(
            "longer runs would remove {share} of the variance between runs: that part comes from \
             their limited length"
        ));
    }
    lines.extend(levels.advice.iter().map(advice));
    lines
}

/// Describes the repeats that find a difference of a certain size: `to find a difference of 2 %
/// between points: 6 restarts × 2 runs at each point, about 40m per point`.
fn advice(needed: &Advice) -> String {
    let levels = [
        (needed.rebuilds, Level::Rebuild),
        (needed.restarts, Level::Restart),
        (Some(needed.runs), Level::Run),
    ];
    let counts = levels.iter().filter_map(|(n, level)| Some(count((*n)?, level.name())));
    let counts: Vec<String> = counts.collect();
    let spent =
        needed.seconds.map_or_else(String::new, |s| format!(", about {} per point", duration(s)));
    let percent = (needed.difference_percent * 100.0).round() / 100.0;
    let counts = counts.join(" × ");
    format!("to find a difference of {percent} % between points: {counts} at each point{spent}")
}

fn duration(seconds: f64) -> String {
    format_duration((seconds.ceil() as u64).saturating_mul(NS_PER_S))
}

#[cfg(test)]
mod tests {
    use model::Level;
    use study::repeats::LevelReport;

    use super::*;

    #[test]
    fn most_of_the_variation_and_what_a_difference_takes_are_named() {
        let level_report = |level, sd_percent, share| LevelReport {
            level,
            sd_percent,
            share,
            freedom: 5,
            is_negative: false,
        };
        let advice = Advice {
            difference_percent: 2.0,
            runs: 1,
            restarts: Some(20),
            rebuilds: None,
            seconds: Some(1300.0),
        };
        let report = LevelsReport {
            figure: "tps".to_owned(),
            levels: vec![
                level_report(Level::Restart, 3.0, 0.97),
                level_report(Level::Run, 0.5, 0.03),
            ],
            within_run: Some(0.25),
            advice: vec![advice],
        };
        let page = levels_lines(&report).join("\n");
        assert!(page.starts_with("Most of the variation of TPS ("), "{page}");
        assert!(
            page.contains("between restarts")
                && page
                    .contains("to find a difference of 2 % between points: 20 restarts × 1 run "),
            "{page}"
        );
        assert!(page.ends_with("× 1 run at each point, about 21m40s per point"), "{page}");
        let line = "\nlonger runs would remove 25 % of the variance between runs: that part";
        assert!(page.contains(line), "{page}");
        let one = LevelsReport { levels: report.levels[..1].to_vec(), ..report.clone() };
        let page = levels_lines(&one).join("\n");
        assert!(page.starts_with("Each restart had one run, so what TPS varies between"), "{page}");
        assert!(!page.contains("of the variation of"), "{page}");
        let all = levels_lines(&LevelsReport { within_run: Some(1.3), ..report }).join("\n");
        assert!(all.contains("\nlonger runs would remove all of the variance"), "{all}");
    }
}
