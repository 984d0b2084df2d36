//! Remarks that weaken a comparison: warnings of its runs and sides, and figures that could not be
//! judged.
//!
//! Not here: the result of a comparison (words).

use std::collections::BTreeSet;
use std::iter::once;

use analysis::figures::title;
use analysis::report::Named;
use model::finding_catalog::{in_short, label};
use model::numbers::{count, list, significant};
use model::{Direction, Severity};
use study::comparison::{ComparisonReport, Judged, Mixed, PairReport, SideReport, UnpairedPoint};
use study::trials::RunNote;
use study::{highest, in_ranges};

use super::words::{change, differing, is_far, said_name};
use super::{ALL, LOAD_SHOWN_MAX, UNEVEN, over_all, point_name, short_name, summed_up};
use crate::document::Remark;
use crate::first_page::in_brief;
use crate::run_notes::{Runs, run_notes};
use crate::scene::{LISTED_MOST, several};
use crate::wording::{catalog_place, example, left_out, without_stop};

/// Returns the remarks on a comparison: warnings (findings of its runs first), then notes.
pub(super) fn remarks(report: &ComparisonReport) -> Vec<Remark> {
    let warning = |text| Remark::new(Severity::Warning, text);
    let mut all: Vec<Remark> = warnings(report).into_iter().map(warning).collect();
    all.extend(loads(report).chain(lost_runs(report)).map(warning));
    all.extend(seeds(report).map(warning));
    all.extend(left_out(&report.damaged).map(warning));
    all.extend(notes(report).into_iter().map(|text| Remark::new(Severity::Note, text)));
    all
}

/// Returns each side of a comparison that lost a much larger share of its runs (not completed or
/// not valid) than the side that it is compared with.
pub(super) fn unevenly_lost(report: &ComparisonReport) -> impl Iterator<Item = &SideReport> {
    let mut all: Vec<&SideReport> = Vec::new();
    for side in report.pairs.iter().filter_map(|pair| report.unevenly_lost(pair)) {
        if all.iter().all(|known| known.name != side.name) {
            all.push(side);
        }
    }
    all.into_iter()
}

/// Returns a warning for each side of a comparison with many more excluded runs than the other,
/// because its remaining runs may be the better ones.
pub(super) fn lost_runs(report: &ComparisonReport) -> impl Iterator<Item = String> {
    unevenly_lost(report)
        .map(|side| format!("{}; the remaining runs may be the better ones.", side.lost_words()))
}

/// Returns a warning for each compared side whose load, such as its number of clients, differs from
/// the baseline's.
pub(super) fn loads(report: &ComparisonReport) -> impl Iterator<Item = String> {
    report.pairs.iter().filter_map(|pair| {
        differing(&report.load_differs(pair), LOAD_SHOWN_MAX).map(|load| {
            format!(
                "{} ran another load than {}: {load}. Part of the difference may come from it.",
                pair.side, report.sides[0].name
            )
        })
    })
}

/// Returns warnings about runs that are not independent, because runs of one side of a comparison,
/// or of two sides, have the same seed.
pub(super) fn seeds(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let alike = report.sides.iter().filter(|side| side.runs.len() > 1 && side.seeds == 1);
    let alike = alike.map(|side| {
        format!(
            "All {} of {} have the same seed: they replay the same inputs, so the result holds for \
             these inputs only. Give each run a different seed (--seed).",
            count(side.runs.len() as u64, "run"),
            side.name
        )
    });
    alike.chain(shared_seeds(report))
}

/// Returns a sentence that the primary figure rises or falls from run to run of one side of a
/// comparison; `None` if it does not.
fn trend(side: &SideReport) -> Option<String> {
    let found = side.trend.as_ref()?;
    let word = if found.last > found.first { "rises" } else { "falls" };
    let [first, last] = [found.first, found.last].map(|value| significant(value, 4));
    Some(format!(
        "{} of {} {word} from run to run ({first} to {last} over {} runs), so its mean depends on \
         their number: let it settle, or start each run from the same data.",
        title(&found.figure),
        side.name,
        found.runs
    ))
}

/// Returns the notes of a comparison: drift, runs with mixed settings, excluded runs, points that
/// one side lacks, repeats, and figures without a verdict.
pub(super) fn notes(report: &ComparisonReport) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let reversed = report.pairs.iter().filter_map(|pair| report.reversed_words(pair));
    said.extend(reversed.map(|words| words + "."));
    let is_one_each = report.sides.iter().all(|side| side.runs.len() < 2);
    for pair in report.pairs.iter().filter(|pair| !pair.is_interleaved && !is_one_each) {
        said.push(format!(
            "Runs of {} and {} were not interleaved: a drift in the meantime (of the machine, of the \
             data) counts as a difference. To interleave them, run one experiment that varies both \
             values (--vary).",
            report.sides[0].name, pair.side
        ));
    }
    said.extend(mixed(&report.mixed));
    let uneven: Vec<&str> = unevenly_lost(report).map(|side| side.name.as_str()).collect();
    let lost = |side: &&SideReport| side.runs_not_counted > 0;
    let others =
        report.sides.iter().filter(lost).filter(|side| !uneven.contains(&side.name.as_str()));
    said.extend(others.map(|side| format!("{}.", side.lost_words())));
    said.extend(report.sides.iter().filter_map(trend));
    for pair in &report.pairs {
        for (side, other) in
            [(&report.sides[0].name, &pair.side), (&pair.side, &report.sides[0].name)]
        {
            for (is_lost, words) in [
                (
                    true,
                    "was attempted without a valid \
                                             run",
                ),
                (false, "has none"),
            ] {
                let is_left_out = |at: &&UnpairedPoint| at.side == *side && at.is_lost == is_lost;
                let at = pair.points_unpaired.iter().filter(is_left_out);
                let names: Vec<String> = at.map(|at| point_name(report, &at.values)).collect();
                if !names.is_empty() {
                    let n = count(names.len() as u64, "point");
                    let names = names.join(", ");
                    said.push(format!("Left out: {n} of {side}, where {other} {words}: {names}."));
                }
            }
        }
        if pair.repeats_left_out > 0 {
            said.push(format!(
                "Over all points, {} left out because some point has no valid run.",
                count(pair.repeats_left_out, "repeat")
            ));
        }
    }
    said.extend(report.pairs.iter().flat_map(|pair| contradictions(report, pair)));
    // Notes on rows of the tables, except for those in the verdict.
    let rows = report.pairs.iter().flat_map(|pair| match &pair.points[..] {
        [point] => {
            let is_news = |judged: &&Judged| judged.why != point.primary.why;
            point.others.iter().filter(is_news).collect::<Vec<&Judged>>()
        }
        points => points.iter().map(|point| &point.primary).collect(),
    });
    said.extend(not_plain(rows));
    said.extend(of_runs(report));
    said
}

/// Returns the notes of the compared runs, each once with the sides that have it. Commits that a
/// crash may lose are left out if the verdict compares them.
fn of_runs(report: &ComparisonReport) -> Vec<String> {
    let notes: Vec<Named<RunNote>> = report
        .sides
        .iter()
        .map(|side| {
            let is_said = report.pairs.iter().any(|pair| pair.durability.is_some());
            let is_new = |(id, _): &&(String, RunNote)| !(is_said && id == "not_durable");
            Named(side.notes.0.iter().filter(is_new).cloned().collect())
        })
        .collect();
    let names: Vec<String> =
        report.sides.iter().map(|side| short_name(report, &side.name)).collect();
    let sides = report.sides.iter().zip(&names).zip(&notes).map(|((side, name), notes)| Runs {
        name,
        n_runs: side.runs.len() as u64,
        notes,
    });
    run_notes(&sides.collect::<Vec<_>>())
}

/// Difference, in natural logarithms, between the ratio of the means of compared side and baseline
/// and the median ratio of pairs of runs, above which the page explains it.
const FAR_APART: f64 = 0.1;

/// Explains table rows in which the ratio of the means of compared side and baseline is far from
/// the ratio of pairs of runs, or contradicts it, because runs vary too much.
pub(super) fn contradictions(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let least = report.min_effect;
    let one = |at: String, judged: &Judged| {
        let ratio = judged.ratio.as_ref()?.value;
        let of_values = judged.centers[1]? / judged.centers[0]?;
        let is_opposite = |a: f64, b: f64| a < 1.0 - least && b > 1.0 + least;
        let is_far_apart = (of_values / ratio).ln().abs() > FAR_APART;
        let are_opposite = is_opposite(ratio, of_values) || is_opposite(of_values, ratio);
        (are_opposite || is_far_apart).then(|| {
            let name = title(&judged.figure);
            let as_factors = [of_values, ratio].iter().any(is_far);
            let change = |value| change(&judged.figure, value, as_factors);
            let [of_values, ratio] = [of_values, ratio].map(change);
            let medians =
                if at == ALL { "The medians".to_owned() } else { format!("At {at} the medians") };
            format!(
                "{medians} of {name} differ by {of_values}, and the pairs of runs by \
                 {ratio}: the runs scatter too much for either to be exact."
            )
        })
    };
    let of_points = pair.points.iter().flat_map(|point| {
        let at = point_name(report, &point.values);
        once(&point.primary).chain(&point.others).filter_map(move |judged| one(at.clone(), judged))
    });
    of_points.chain(over_all(pair).filter_map(|judged| one(ALL.to_owned(), judged))).collect()
}

/// Describes, for each side of a comparison, the settings and facts in which its runs differ,
/// although they are averaged.
pub(super) fn mixed(all: &[Mixed]) -> Vec<String> {
    let mut sides: Vec<(&str, Vec<String>)> = Vec::new();
    for one in all {
        let printed = format!("{}.{} ({})", one.about, one.name, several(&one.of_runs));
        match sides.iter_mut().find(|(side, _)| *side == one.side) {
            Some((_, known)) if known.contains(&printed) => {}
            Some((_, known)) => known.push(printed),
            None => sides.push((&one.side, vec![printed])),
        }
    }
    let sentence = |(side, printed): (&str, Vec<String>)| {
        let rest = printed.len().saturating_sub(LISTED_MOST);
        let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
        let shown = printed.into_iter().take(LISTED_MOST).collect::<Vec<_>>().join(", ");
        format!("Runs of {side} that are averaged into one figure differ in {shown}{more}.")
    };
    sides.into_iter().map(sentence).collect()
}

/// Explains those verdicts of a comparison that have a reason, such as too few runs. Each verdict
/// and reason is written once, with all figures that it concerns.
pub(super) fn not_plain<'j>(judged: impl Iterator<Item = &'j Judged>) -> Vec<String> {
    let mut found: Vec<((&str, &str), Vec<String>)> = Vec::new();
    for judged in judged {
        let Some(why) = judged.why.as_deref() else { continue };
        let reason = (judged.verdict.name(), why);
        let at = found.iter().position(|(known, _)| *known == reason).unwrap_or_else(|| {
            found.push((reason, Vec::new()));
            found.len() - 1
        });
        let figures = &mut found[at].1;
        let name = title(&judged.figure);
        if !figures.contains(&name) {
            figures.push(name);
        }
    }
    let sentence = |((verdict, why), figures): ((&str, &str), Vec<String>)| {
        format!("{}: {verdict}, because {why}.", list(&figures))
    };
    found.into_iter().map(sentence).collect()
}

/// Returns a warning for each pair of sides of a comparison whose runs, on simulated databases,
/// share seeds, and so draw the same random numbers.
pub(super) fn shared_seeds(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let shared = report.pairs.iter().filter(|pair| pair.seeds_shared > 0);
    shared.map(|pair| {
        format!(
            "Runs of {} and {} share {}: a simulated database draws the same random numbers from \
             the same seed, so these runs are not independent. Give each run a different seed \
             (--seed).",
            report.sides[0].name,
            pair.side,
            count(pair.seeds_shared, "seed")
        )
    })
}

/// Returns the ids of all findings of a comparison's runs: first those that are much more frequent
/// on one side, then in the order of the catalog.
pub(super) fn finding_ids(report: &ComparisonReport) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, _) in report.sides.iter().flat_map(|side| side.findings.iter()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.sort_by_key(|id| (!is_uneven(report, id), catalog_place(id)));
    ids
}

/// Describes the first warning about a compared side or the baseline: `generator late in 5 of
/// 5 runs of off`. `None` if there is no warning.
pub(super) fn caution(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let base = &report.sides[0].name;
    let is_of_pair = |side: &&SideReport| side.name == *base || side.name == pair.side;
    let sides = || report.sides.iter().filter(is_of_pair);
    let counted = |id: &str| {
        let has_it = |side: &SideReport| side.findings.get(id).is_some_and(|n| *n > 0);
        let of_all = sides().all(has_it).then(|| in_runs(report, id, sides()));
        let of_some = || in_runs(report, id, sides().filter(|side| has_it(side)));
        let is_any = sides().any(has_it);
        is_any.then(|| format!("{} in {}", label(id), of_all.unwrap_or_else(of_some)))
    };
    let is_warning = |remark: &Remark| remark.severity == Severity::Warning;
    let first = || remarks(report).into_iter().find(is_warning);
    let other = || Some(in_brief(&first()?.text.plain()));
    finding_ids(report).into_iter().find_map(counted).or_else(other)
}

/// Returns in words how many runs of `sides` (compared sets of runs) have the finding `id`: `all 10
/// runs` if all have it or there are many sides, else a number for each side.
pub(super) fn in_runs<'s>(
    report: &ComparisonReport,
    id: &str,
    sides: impl Iterator<Item = &'s SideReport>,
) -> String {
    let sides: Vec<&SideReport> = sides.collect();
    let of_side = |side: &&SideReport| {
        let n = side.findings.get(id).copied().unwrap_or(0);
        let name = short_name(report, &side.name);
        format!("{n} of {} of {name}", count(side.runs.len() as u64, "run"))
    };
    let (n_with, runs) = counted(id, &sides);
    match n_with == runs && sides.len() > 1 || sides.len() > SIDES_NAMED_MOST {
        true => together(n_with, runs),
        false => sides.iter().map(of_side).collect::<Vec<_>>().join(", "),
    }
}

/// Returns in words how many runs of all sides of a comparison together have the finding `id`: `5
/// of 10 runs` or `all 10 runs`.
pub(super) fn in_all_runs(report: &ComparisonReport, id: &str) -> String {
    let (n_with, runs) = counted(id, &report.sides.iter().collect::<Vec<_>>());
    together(n_with, runs)
}

fn counted(id: &str, sides: &[&SideReport]) -> (u64, u64) {
    let n_with = sides.iter().filter_map(|side| side.findings.get(id)).sum();
    (n_with, sides.iter().map(|side| side.runs.len() as u64).sum())
}

fn together(n_with: u64, runs: u64) -> String {
    match n_with == runs {
        true if runs == 2 => "both runs".to_owned(),
        true => format!("all {}", count(runs, "run")),
        false => format!("{n_with} of {}", count(runs, "run")),
    }
}

/// Largest number of compared sides up to which runs with a finding are counted for each side; with
/// more sides, they are counted together.
pub(super) const SIDES_NAMED_MOST: usize = 4;

/// Returns true if the finding `id` is so much more frequent on one side of a comparison that it
/// may explain a difference.
pub(super) fn is_uneven(report: &ComparisonReport, id: &str) -> bool {
    let share = |side: &SideReport| {
        side.findings.get(id).copied().unwrap_or(0) as f64 / side.runs.len().max(1) as f64
    };
    let (least, most) =
        report.sides.iter().map(share).fold((1.0, 0.0), |(least, most), share| {
            (f64::min(least, share), f64::max(most, share))
        });
    most - least > UNEVEN
}

/// Text of a finding in the runs of one side of a comparison. It holds for all runs with the
/// finding, or is that of one run as an example.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Case<'r> {
    text: &'r str,
    /// True if the text is that of one run, as an example for several.
    is_example: bool,
}

impl<'r> Case<'r> {
    /// Returns the text of the finding if it holds for all runs with the finding; `None` if it is
    /// that of one run, as an example.
    fn range(self) -> Option<&'r str> {
        (!self.is_example).then_some(self.text)
    }

    /// Returns the text to follow a number of runs: `: other programs took 12 % of the CPU`, with
    /// [`example`] before it if it is one.
    fn words(self) -> String {
        let example =
            if self.is_example { format!(", {}", example(self.text)) } else { String::new() };
        format!("{example}: {}", without_stop(self.text))
    }
}

fn case_of<'r>(side: &'r SideReport, id: &str) -> Option<Case<'r>> {
    let is_example = side.findings.get(id).is_some_and(|n| *n > 1);
    let all = side.case_ranges.get(id).map(|text| Case { text, is_example: false });
    all.or_else(|| side.cases.get(id).map(|text| Case { text, is_example }))
}

/// Returns one text for the finding `id` in the runs of all sides of a comparison, with a range for
/// each number; `None` if texts differ in more than numbers.
fn seen_in_all(report: &ComparisonReport, id: &str) -> Option<String> {
    let cases = report.sides.iter().filter_map(|side| case_of(side, id));
    let ranges: Option<Vec<&str>> = cases.map(Case::range).collect();
    in_ranges(ranges?)
}

/// Returns the text of the finding `id` in a comparison's runs: with a range for each number, or
/// else an example from one run. `None` if no run has a text.
pub(super) fn seen(report: &ComparisonReport, id: &str) -> Option<String> {
    let n_runs: u64 = report.sides.iter().filter_map(|side| side.findings.get(id)).sum();
    let of_one = || {
        let cases = report.sides.iter().filter_map(|side| case_of(side, id));
        let text = highest(cases.map(|case| case.text))?;
        Some(if n_runs > 1 { format!("{}: {text}", example(text)) } else { text.to_owned() })
    };
    seen_in_all(report, id).or_else(of_one)
}

/// Ids of findings whose cause makes a run look slower than the database is.
const SLOWING: [&str; 11] = [
    "generator_paused",
    "generator_lag",
    "generator_saturated",
    "client_time_outside",
    "connect_failed",
    "idle_clients",
    "backlog_at_start",
    "server_restarted",
    "debug_build",
    "noisy_machine",
    "other_cpu_load",
];

/// Explains how the finding `id` may affect the result if it is much more frequent on one side of a
/// comparison: `it slows new, which may explain part of the difference`. `None` if it is not.
pub(super) fn explains(report: &ComparisonReport, id: &str) -> Option<String> {
    if !is_uneven(report, id) {
        return None;
    }
    let share = |side: &&SideReport| {
        side.findings.get(id).copied().unwrap_or(0) as f64 / side.runs.len().max(1) as f64
    };
    let with_it = report.sides.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    if !SLOWING.contains(&id) {
        return Some("which may change the difference".to_owned());
    }
    let name = said_name(&with_it.name);
    // Its size may be the same on all sides, though it is a finding in fewer runs of some.
    let has_it = |side: &&SideReport| share(side) > 0.0;
    if report.sides.iter().filter(has_it).count() > 1 {
        return Some(format!("in more runs of {name}, but not there alone"));
    }
    let judged = match &report.pairs[..] {
        [pair] => summed_up(pair).into_iter().next(),
        _ => None,
    };
    let ratio = judged.and_then(|judged| judged.ratio).map(|ratio| ratio.value);
    let is_judged = report.better != Direction::Neither;
    let ratio = ratio.filter(|ratio| is_judged && *ratio != 1.0);
    let is_of_baseline = report.sides[0].name == with_it.name;
    Some(match ratio {
        None => format!("it slows {name}"),
        Some(ratio) if ((ratio > 1.0) == (report.better == Direction::Lower)) != is_of_baseline => {
            format!("it slows {name}, which may explain part of the difference")
        }
        Some(_) => format!("it slows {name}, so the difference may be larger without it"),
    })
}

/// Returns a warning for each finding of a comparison's runs: the number of runs with it, its text,
/// and whether it is much more frequent on one side.
pub(super) fn warnings(report: &ComparisonReport) -> Vec<String> {
    let printed = |id: &str| {
        let mut of_sides: Vec<String> = Vec::new();
        let cases: BTreeSet<Case<'_>> =
            report.sides.iter().filter_map(|side| case_of(side, id)).collect();
        for side in &report.sides {
            let n = side.findings.get(id).copied().unwrap_or(0);
            let all = side.runs.len() as u64;
            // If the texts differ, each side has its own.
            let own = case_of(side, id).filter(|_| cases.len() > 1);
            let own = own.map_or_else(String::new, |case| case.words());
            let name = short_name(report, &side.name);
            of_sides.push(format!("{n} of {} of {name}{own}", count(all, "run")));
        }
        let title = label(id);
        let in_all = || in_runs(report, id, report.sides.iter());
        let uneven = explains(report, id);
        let uneven = uneven.map_or_else(String::new, |words| format!("; unevenly: {words}"));
        // With many sides, one observation is enough.
        let n_all: usize = report.sides.iter().map(|side| side.runs.len()).sum();
        let n_with: u64 = report.sides.iter().filter_map(|side| side.findings.get(id)).sum();
        match cases.first() {
            Some(case) if report.sides.len() > 2 && uneven.is_empty() => {
                let runs = count(n_all as u64, "run");
                match seen_in_all(report, id) {
                    Some(seen) => format!("{n_with} of {runs}: {} ({title}).", without_stop(&seen)),
                    None => format!("{n_with} of {runs}{} ({title}).", case.words()),
                }
            }
            None => format!("{} in {}{uneven}.", in_short(id), in_all()),
            Some(case) if cases.len() == 1 => {
                format!("{} in {} ({title}){uneven}.", without_stop(case.text), in_all())
            }
            Some(_) => format!("{} ({title}){uneven}.", of_sides.join("; ")),
        }
    };
    finding_ids(report).into_iter().map(printed).collect()
}
