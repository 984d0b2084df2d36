//! A comparison as people read it: what differs, what that did, and how surely. As text, as
//! Markdown and as CSV.
//!
//! Not here: what is true (comparison).

use std::borrow::Cow;

use analysis::comparison::{
    ComparisonReport, Difference, GateResult, Judged, Mixed, PairReport, Passed, Ratio, SideReport,
    UnpairedPoint, Verdict, beside, telling, whys,
};
use analysis::figures::title;
use analysis::figures::{Figure, is_time};
use analysis::report::Named;
use model::finding_catalog::catalog_entry;
use model::numbers::{self, INFINITE, NONE, amount, count, exact, significant, wrap};

use super::experiment::{in_words, left_out};
use super::table::escaped;
use super::text::sections::begun;
use super::{Align, Column, Table};

const WIDTH: usize = 96;
/// Differences that are listed one by one.
const DIFFERENCES_SHOWN_MAX: usize = 30;
/// A longer name of a side is no title of a column.
const TITLE_MAX: usize = 14;
/// What sides differ in is named in their first sentence up to so many.
const DIFFER_SHOWN_MAX: usize = 3;
/// A longer value is cut in a sentence.
const VALUE_MAX: usize = 40;
/// More values of a kind are counted, not listed.
const TOLD_MOST: usize = 4;
/// Where a finding is in so much more of one side's runs than of another's, it is worth a word.
const UNEVEN: f64 = 0.25;
/// What stands for all points, or the only one.
const ALL: &str = "all";

/// The page of a comparison.
pub fn comparison(report: &ComparisonReport, gates: &[GateResult]) -> String {
    let mut page = String::new();
    let mut put = |text: &str| {
        page.push_str(text);
        page.push('\n');
    };
    for pair in &report.pairs {
        wrap(&headline(report, pair), WIDTH).iter().for_each(|line| put(line));
    }
    for pair in &report.pairs {
        put("");
        if report.pairs.len() > 1 {
            put(&format!("{} against {}", pair.side, report.sides[0].name));
        }
        table(report, pair).lines(WIDTH).iter().for_each(|line| put(line));
        judged_how(report, pair).iter().for_each(|text| {
            wrap(text, WIDTH).iter().for_each(|line| put(line));
        });
    }
    let curves: Vec<String> = report.sides.iter().filter_map(curve_line).collect();
    if !curves.is_empty() {
        put("");
        curves.iter().for_each(|line| put(line));
    }
    if !gates.is_empty() {
        put("");
        gates.iter().flat_map(|gate| wrap(&gate_line(gate), WIDTH)).for_each(|line| put(&line));
    }
    put("");
    wrap(&scene(report), WIDTH).iter().for_each(|line| put(line));
    put("");
    report.sides.iter().enumerate().for_each(|(index, side)| put(&side_line(index, side)));
    for text in told_against(report) {
        wrap(&text, WIDTH).iter().for_each(|line| put(line));
    }
    put("");
    lines(&differences(report)).iter().for_each(|line| put(line));
    for (pair, table) in gauges_changed(report) {
        put("");
        wrap(&gauges_words(report, pair), WIDTH).iter().for_each(|line| put(line));
        table.lines(WIDTH).iter().for_each(|line| put(line));
    }
    page
}

/// The gauges that changed most between each side and the baseline.
pub(crate) fn gauges_changed(report: &ComparisonReport) -> Vec<(&PairReport, Table)> {
    let pairs = report.pairs.iter().filter(|pair| !pair.gauges_changed.is_empty());
    let table = |pair| (pair, gauges_table(report, pair));
    pairs.map(table).collect()
}

fn gauges_table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let names = [report.sides[0].name.clone(), pair.side.clone(), "change".to_owned()];
    let columns = names.map(|name| Column::new(name, Align::Right));
    let gauge = Column::new("gauge", Align::Left);
    let mut table = Table::new([gauge].into_iter().chain(columns).collect::<Vec<_>>());
    for change in &pair.gauges_changed {
        let by = match change.ratio {
            Some(ratio) if ratio >= 2.0 => format!("× {}", significant(ratio, 3)),
            Some(ratio) => format!("{:+.1} %", (ratio - 1.0) * 100.0),
            None => NONE.to_owned(),
        };
        table.row([
            change.name.clone(),
            amount(change.baseline, &change.unit),
            amount(change.side, &change.unit),
            by,
        ]);
    }
    table
}

/// What the table of gauges says, and what it does not.
pub(crate) fn gauges_words(report: &ComparisonReport, pair: &PairReport) -> String {
    let of = match report.pairs.len() {
        1 => String::new(),
        _ => format!(" of {} against {}", pair.side, report.sides[0].name),
    };
    format!(
        "Gauges that changed most{of}, the clearest change first (means over runs, not tested):"
    )
}

/// The same for a pull request or a page of a wiki.
pub fn comparison_markdown(report: &ComparisonReport, gates: &[GateResult]) -> String {
    let mut page = String::new();
    for pair in &report.pairs {
        page.push_str(&format!("**{}**\n\n", escaped(&headline(report, pair))));
    }
    for pair in &report.pairs {
        page.push_str(&format!("{}\n", table(report, pair).markdown()));
        for text in judged_how(report, pair) {
            page.push_str(&format!("{}\n\n", escaped(&text)));
        }
    }
    for gate in gates {
        page.push_str(&format!("{}\n\n", escaped(&gate_line(gate))));
    }
    page.push_str(&format!("{}\n\n", escaped(&scene(report))));
    for text in told_against(report) {
        page.push_str(&format!("- {}\n", escaped(&text)));
    }
    let changed = differences(report);
    if changed.iter().any(|(is_item, _)| *is_item) {
        page.push_str("\nWhat differs:\n\n");
    }
    for (is_item, line) in changed {
        let mark = if is_item { "- " } else { "\n" };
        page.push_str(&format!("{mark}{}\n", escaped(&line)));
    }
    for (pair, table) in gauges_changed(report) {
        page.push_str(&format!("\n{}\n\n", escaped(&gauges_words(report, pair))));
        page.push_str(&table.markdown());
    }
    if let Some(command) = &report.command {
        page.push_str(&format!("\n`{}`\n", command.replace('`', "'")));
    }
    page
}

/// The figures as rows with commas (RFC 4180): one of each side, point and figure.
pub fn comparison_csv(report: &ComparisonReport) -> String {
    let titles = [
        "side",
        "point",
        "figure",
        "baseline",
        "value",
        "ratio",
        "low",
        "high",
        "p",
        "p_corrected",
        "detectable",
        "verdict",
    ];
    let rows = report.pairs.iter().flat_map(|pair| {
        let judged = pair.points.iter().flat_map(move |point| {
            let name = point_name(&point.values);
            let all = std::iter::once(&point.primary).chain(&point.others);
            all.map(move |judged| csv_row(&pair.side, &name, judged))
        });
        judged.chain(over_all(pair).map(|judged| csv_row(&pair.side, ALL, judged)))
    });
    crate::csv_rows::of_arrays(titles, rows)
}

fn csv_row(side: &str, point: &str, judged: &Judged) -> [String; 12] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mean = |figure: Option<Figure>| number(figure.map(|figure| figure.mean));
    let interval = judged.ratio.and_then(|ratio| ratio.interval);
    [
        side.to_owned(),
        point.to_owned(),
        judged.figure.clone(),
        mean(judged.baseline),
        mean(judged.side),
        number(judged.ratio.map(|ratio| ratio.value)),
        number(interval.map(|interval| interval.0)),
        number(interval.map(|interval| interval.1)),
        number(judged.p),
        number(judged.p_corrected),
        number(judged.detectable),
        judged.verdict.name().to_owned(),
    ]
}

/// What a pair is over all points, where there are several: the primary figure first.
fn over_all(pair: &PairReport) -> impl Iterator<Item = &Judged> {
    pair.overall.iter().chain(&pair.overall_others)
}

/// The figures that a pair is summed up by: those of its only point, or those over all points.
fn summed_up(pair: &PairReport) -> Vec<&Judged> {
    match &pair.points[..] {
        [point] => std::iter::once(&point.primary).chain(&point.others).collect(),
        _ => over_all(pair).collect(),
    }
}

/// `build=1.3 against build=1.2`; of two values of one axis the second is enough.
pub(super) fn versus(side: &str, base: &str) -> String {
    match (side.split_once('='), base.split_once('=')) {
        (Some((ours, _)), Some((theirs, value)))
            if ours == theirs && !value.contains([' ', '=', ',']) =>
        {
            format!("{side} against {value}")
        }
        _ => format!("{side} against {base}"),
    }
}

/// What a pair has shown, in sentences: what the side could not do at all, the primary figure, and
/// the one that is looked at next.
pub(super) fn headline(report: &ComparisonReport, pair: &PairReport) -> String {
    let figures = summed_up(pair);
    let (n_both, n_lost) = (pair.points.len() as u64, pair.lost().count() as u64);
    let mut told: Vec<String> = Vec::new();
    if n_lost > 0 {
        let of = count(n_both + n_lost, "point");
        told.push(format!("NO run of {} counts at {n_lost} of {of}", pair.side));
    }
    let place = match (n_both, pair.points_unpaired.is_empty()) {
        (1, true) => String::new(),
        (1, false) => format!("at {}, ", point_name(&pair.points[0].values)),
        (_, true) => "over all points ".to_owned(),
        (_, false) => format!("over the {n_both} points that both have "),
    };
    told.extend(figures.first().map(|judged| place + &sentence(report.min_effect, judged)));
    let beside = beside(&report.primary);
    let beside = figures.into_iter().skip(1).find(|judged| judged.figure == beside);
    told.extend(beside.and_then(aside));
    if n_both > 1 {
        let n = |verdict: Verdict| {
            pair.points.iter().filter(|point| point.primary.verdict == verdict).count()
        };
        let counted = Verdict::ALL.into_iter().filter(|verdict| n(*verdict) > 0);
        let counted: Vec<String> =
            counted.map(|verdict| format!("{} at {}", verdict.name(), n(verdict))).collect();
        let points = count(n_both, "point");
        told.push(format!("point by point, of {points}: {}", counted.join(", ")));
    }
    let mut versus = versus(&pair.side, &report.sides[0].name);
    if let Some(differ) = differ_in(report, pair) {
        versus.push_str(&format!(", which differ in {differ}"));
    }
    format!("{versus}: {}", told.join("; "))
}

/// What a side differs in from the baseline, where their names do not say it already.
fn differ_in(report: &ComparisonReport, pair: &PairReport) -> Option<String> {
    let index = report.sides.iter().position(|side| side.name == pair.side)?;
    let base = &report.sides[0].name;
    let mut all = telling(&report.differences, index);
    let names_both =
        |[ours, theirs]: &[String; 2]| base.contains(ours) && pair.side.contains(theirs);
    all.retain(|(_, values)| !names_both(values));
    let shown = all.iter().take(DIFFER_SHOWN_MAX).map(|(name, values)| {
        let [ours, theirs] = values.each_ref().map(|value| shortened(value));
        format!("{name} ({ours}, {theirs})")
    });
    let shown: Vec<String> = shown.collect();
    let rest = all.len().saturating_sub(shown.len());
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// A value in a sentence: a long one is cut.
fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]).into(),
        None => value.into(),
    }
}

/// `NOPM is better: +12.0 % (+5.1 % to +19.3 %)`.
fn sentence(min_effect: f64, judged: &Judged) -> String {
    let name = title(&judged.figure);
    let by = judged.ratio.as_ref().map(|ratio| change_within(&judged.figure, ratio));
    let by = by.unwrap_or_else(|| "no ratio".to_owned());
    match judged.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Higher | Verdict::Lower => {
            format!("{name} is {}: {by}", judged.verdict.name())
        }
        Verdict::BelowMinEffect => format!(
            "any difference in {name} is below the minimum effect of {} %: {by}",
            exact(min_effect * 100.0)
        ),
        Verdict::SizeNotKnown => format!(
            "{name} differs, whether by more than the minimum effect of {} % is not known: {by}",
            exact(min_effect * 100.0)
        ),
        Verdict::NoEvidence => no_evidence(&name, judged),
        Verdict::CannotJudge => {
            let why = judged.why.as_deref().unwrap_or("there is no figure");
            let measured = judged.ratio.map_or_else(String::new, |ratio| {
                format!(" (measured: {})", change_within(&judged.figure, &ratio))
            });
            format!("{name} cannot be judged{measured}: {why}")
        }
    }
}

/// What is known all the same: what fits, and what would have been seen.
fn no_evidence(name: &str, judged: &Judged) -> String {
    let mut told = format!("no evidence that {name} differs");
    let change = |ratio| change(&judged.figure, ratio);
    if let Some(ratio) = &judged.ratio {
        told.push_str(&format!(": {}", change(ratio.value)));
        if let Some((low, high)) = ratio.interval {
            told.push_str(&format!(", but anything from {} to {} fits", change(low), change(high)));
        }
    }
    let Some(share) = judged.detectable else { return told };
    let percent = |share: f64| significant(share * 100.0, 2);
    told.push_str(&format!(
        "; from {} % on it would have been found in 4 of 5 such comparisons",
        percent(share)
    ));
    let runs = [judged.baseline, judged.side].into_iter().flatten().map(|figure| figure.count);
    let more = 4 * runs.min().unwrap_or(0);
    if more <= stats::FIGURES_MAX as u64 {
        let half = percent(((1.0 + share).ln() / 2.0).exp() - 1.0);
        told.push_str(&format!(", with {more} runs a side from {half} % on"));
    }
    told
}

/// A figure beside the one that is judged, in a few words; nothing where it tells nothing.
fn aside(judged: &Judged) -> Option<String> {
    let (name, ratio) = (title(&judged.figure), judged.ratio.as_ref()?);
    let word = judged.verdict.name();
    Some(format!("{name}: {word}, {}", change_within(&judged.figure, ratio)))
}

/// `+12.0 % (+5.1 % to +19.3 %)`.
fn change_within(figure: &str, ratio: &Ratio) -> String {
    let change = |ratio| change(figure, ratio);
    let of = match ratio.interval {
        Some((low, high)) if low < high => format!(" ({} to {})", change(low), change(high)),
        _ => String::new(),
    };
    let is_lost = ratio.value.is_infinite() && is_time(figure);
    let lost = if is_lost { ", since work was lost" } else { "" };
    format!("{}{of}{lost}", change(ratio.value))
}

/// By how much a figure is more or less: in percent, and as times where that is far. Times are
/// infinite where work was lost.
fn change(figure: &str, ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match ratio {
        f64::INFINITY if is_time(figure) => INFINITE.to_owned(),
        f64::INFINITY => "something where there was nothing".to_owned(),
        0.0 if is_time(figure) => "finite against infinite, since work was lost there".to_owned(),
        0.0 => "-100 %".to_owned(),
        ratio if !(0.2..5.0).contains(&ratio) => format!("{} times", significant(ratio, 3)),
        _ if percent.abs() < 0.005 => "0 %".to_owned(),
        _ if percent.abs() < 1.0 => format!("{}{} %", sign(percent), significant(percent.abs(), 2)),
        _ => format!("{percent:+.1} %"),
    }
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}

/// How many times as much: without end where work was lost on the one side alone, or where a rate
/// was nothing.
fn times(figure: &str, ratio: f64) -> String {
    match ratio {
        f64::INFINITY => INFINITE.to_owned(),
        0.0 if is_time(figure) => format!("1/{INFINITE}"),
        ratio => format!("{ratio:.3}"),
    }
}

fn ratio_text(figure: &str, ratio: &Ratio) -> String {
    let times = |ratio| times(figure, ratio);
    match ratio.interval {
        Some((low, high)) => format!("{} ({} to {})", times(ratio.value), times(low), times(high)),
        None => times(ratio.value),
    }
}

/// A side in a line.
pub(super) fn side_line(index: usize, side: &SideReport) -> String {
    let role = if index == 0 { "baseline" } else { "side" };
    let lost = match side.runs_not_counted {
        0 => String::new(),
        n => format!(", {n} not counted"),
    };
    format!("{role:<8}  {}: {}{lost}", side.name, count(side.runs.len() as u64, "run"))
}

/// What was measured, on what and when, in sentences.
pub(super) fn scene(report: &ComparisonReport) -> String {
    let scene = &report.scene;
    let span = |(low, high): (f64, f64)| match numbers::seconds(low) == numbers::seconds(high) {
        true => numbers::seconds(low),
        false => format!("{} to {}", numbers::seconds(low), numbers::seconds(high)),
    };
    let clients = match scene.clients {
        (low, high) if low == high => count(low.into(), "client"),
        (low, high) => format!("{low} to {}", count(high.into(), "client")),
    };
    let data = match scene.data.is_empty() {
        true => String::new(),
        false => format!(" ({})", several(&scene.data)),
    };
    let load = match scene.loads.is_empty() {
        true => String::new(),
        false => format!(", load: {}", several(&scene.loads)),
    };
    let (first, last) = (begun(&scene.begun.0), begun(&scene.begun.1));
    let when = if first == last {
        format!("begun {first}")
    } else {
        format!("begun between {first} and {last}")
    };
    let mut told = format!(
        "{}{data} on {}: {clients}{load}; {} of {} after {} of ramp-up, {when}.",
        several(&scene.workloads),
        several(&scene.databases),
        count(scene.runs, "run"),
        span(scene.measured_s),
        span(scene.ramp_up_s),
    );
    let machine = [&scene.machines, &scene.systems].map(|values| several(values));
    if scene.placements.iter().any(|place| place == "simulated") {
        told.push_str(" In virtual time: no machine was loaded.");
    } else if !scene.machines.is_empty() {
        told.push_str(&format!(" Load came from {}; {}.", machine[0], machine[1]));
    }
    if !scene.modes.is_empty() {
        told.push_str(&format!(" On all sides: {}.", scene.modes.join(", ")));
    }
    told.push_str(&format!(" By dbdyno {}.", several(&scene.dbdyno)));
    told
}

fn several(values: &[String]) -> String {
    match values.len() {
        n if n > TOLD_MOST => format!("{n} different"),
        _ => values.join(" and "),
    }
}

/// What speaks against it, in sentences.
fn told_against(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let warnings = warnings(report).into_iter().map(|text| format!("Warning {text}"));
    warnings.chain(doubts(report))
}

/// Besides the warnings: runs that do not count, points and repeats that are left out, and why
/// something could not be judged.
pub(super) fn doubts(report: &ComparisonReport) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let is_one_each = report.sides.iter().all(|side| side.runs.len() < 2);
    for pair in report.pairs.iter().filter(|pair| !pair.is_interleaved && !is_one_each) {
        said.push(format!(
            "Runs of {} and {} did not take turns: what drifted meanwhile (the machine, the data) \
             counts as a difference. An experiment with both as values of an axis interleaves \
             them.",
            report.sides[0].name, pair.side
        ));
    }
    said.extend(mixed(&report.mixed));
    for side in report.sides.iter().filter(|side| side.runs.len() > 1 && side.seeds == 1) {
        said.push(format!(
            "All {} of {} have one seed: they replay the same inputs, and so say nothing of \
             others. Give each run a seed of its own (--seed).",
            count(side.runs.len() as u64, "run"),
            side.name
        ));
    }
    said.extend(shared_seeds(report));
    for side in &report.sides {
        for (why, n) in whys(&side.not_counted).iter() {
            let verb = if *n == 1 { "does" } else { "do" };
            said.push(format!("{} of {} {verb} not count: {why}.", count(*n, "run"), side.name));
        }
    }
    said.extend(left_out(&report.damaged));
    said.extend(report.repeats.iter().cloned());
    for pair in &report.pairs {
        for (side, other) in
            [(&report.sides[0].name, &pair.side), (&pair.side, &report.sides[0].name)]
        {
            for (is_lost, words) in [(true, "was tried, and no run counts"), (false, "has none")] {
                let of = |at: &&UnpairedPoint| at.side == *side && at.is_lost == is_lost;
                let at = pair.points_unpaired.iter().filter(of);
                let names: Vec<String> = at.map(|at| point_name(&at.values)).collect();
                if !names.is_empty() {
                    let n = count(names.len() as u64, "point");
                    let names = names.join(", ");
                    said.push(format!("{n} of {side}, where {other} {words}, left out: {names}."));
                }
            }
        }
        if pair.repeats_left_out > 0 {
            said.push(format!(
                "Over all points {} left out, of which some point has no run that counts.",
                count(pair.repeats_left_out, "repeat")
            ));
        }
    }
    // Of the rows of the tables, but for what the verdict has said already.
    let rows = report.pairs.iter().flat_map(|pair| match &pair.points[..] {
        [point] => {
            let is_news = |judged: &&Judged| judged.why != point.primary.why;
            point.others.iter().filter(is_news).collect::<Vec<&Judged>>()
        }
        points => points.iter().map(|point| &point.primary).collect(),
    });
    said.extend(not_plain(rows));
    said
}

/// What runs that make one figure differ in, by side: each trait once.
fn mixed(all: &[Mixed]) -> Vec<String> {
    let mut sides: Vec<(&str, Vec<String>)> = Vec::new();
    for one in all {
        let told = format!("{}.{} ({})", one.about, one.name, several(&one.of_runs));
        match sides.iter_mut().find(|(side, _)| *side == one.side) {
            Some((_, known)) if known.contains(&told) => {}
            Some((_, known)) => known.push(told),
            None => sides.push((&one.side, vec![told])),
        }
    }
    let sentence = |(side, told): (&str, Vec<String>)| {
        let rest = told.len().saturating_sub(TOLD_MOST);
        let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
        let shown = told.into_iter().take(TOLD_MOST).collect::<Vec<_>>().join(", ");
        format!("Runs of {side} that make one figure differ in {shown}{more}.")
    };
    sides.into_iter().map(sentence).collect()
}

/// Why figures have the verdict that they have, where it is not plain: each reason once.
pub(super) fn not_plain<'j>(judged: impl Iterator<Item = &'j Judged>) -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    for why in judged.filter_map(|judged| judged.why.as_deref()) {
        if !found.contains(&why) {
            found.push(why);
        }
    }
    found.into_iter().map(|why| format!("Why: {why}.")).collect()
}

/// Pairs of sides whose random numbers are the same.
fn shared_seeds(report: &ComparisonReport) -> impl Iterator<Item = String> {
    let shared = report.pairs.iter().filter(|pair| pair.seeds_shared > 0);
    shared.map(|pair| {
        format!(
            "Runs of {} and {} share {}: a simulated database draws the same random numbers of \
             the same seed, so their difference is not that of independent runs. Give each run a \
             seed of its own (--seed).",
            report.sides[0].name,
            pair.side,
            count(pair.seeds_shared, "seed")
        )
    })
}

/// What was found in the runs, by side; and where one side has it more often.
pub(super) fn warnings(report: &ComparisonReport) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, _) in report.sides.iter().flat_map(|side| side.findings.iter()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let told = |id: &str| {
        let mut shares: Vec<f64> = Vec::new();
        let mut of_sides: Vec<String> = Vec::new();
        for side in &report.sides {
            let n = side.findings.get(id).copied().unwrap_or(0);
            let all = side.runs.len() as u64;
            shares.push(n as f64 / all.max(1) as f64);
            of_sides.push(format!("{n} of {} of {}", count(all, "run"), side.name));
        }
        let most = shares.iter().copied().fold(0.0, f64::max);
        let least = shares.iter().copied().fold(1.0, f64::min);
        let uneven = match most - least > UNEVEN {
            true => ": unevenly, so part of the difference may be its doing",
            false => "",
        };
        let case = report.sides.iter().find_map(|side| side.cases.get(id)).map(String::as_str);
        let case = case.or(catalog_entry(id).map(|entry| entry.raised)).unwrap_or_default();
        format!("{id} ({case}) in {}{uneven}.", of_sides.join(", "))
    };
    ids.into_iter().map(told).collect()
}

/// What is the same on all sides, where nothing differs between them.
pub(super) fn no_difference(report: &ComparisonReport) -> &'static str {
    match report.mixed.is_empty() {
        true => "Plan, database, machine and build are the same on all sides.",
        false => "The sides differ in nothing, but their runs do.",
    }
}

/// What differs, each with whether it is an item of a list.
fn differences(report: &ComparisonReport) -> Vec<(bool, String)> {
    if report.differences.is_empty() {
        return vec![(false, no_difference(report).to_owned())];
    }
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let told = |difference: &Difference| {
        let values: Vec<String> = difference.values.iter().map(value).collect();
        (true, format!("{}.{}: {}", difference.about, difference.name, values.join(" → ")))
    };
    let (one_sided, both): (Vec<&Difference>, Vec<&Difference>) =
        report.differences.iter().partition(|difference| is_one_sided(difference));
    let mut all: Vec<(bool, String)> =
        both.iter().copied().take(DIFFERENCES_SHOWN_MAX).map(told).collect();
    let rest = both.len().saturating_sub(DIFFERENCES_SHOWN_MAX);
    let more = [(rest, "more"), (one_sided.len(), "that not all sides know")];
    for (n, which) in more.into_iter().filter(|(n, _)| *n > 0) {
        let n = count(n as u64, "difference");
        all.push((false, format!("and {n} {which} (--output json has all)")));
    }
    all
}

/// Whether a fact is known of some sides alone: another product has others.
pub(super) fn is_one_sided(difference: &Difference) -> bool {
    let is_of_plan = matches!(difference.about.as_str(), "plan" | "target");
    !is_of_plan && difference.values.iter().any(Option::is_none)
}

fn lines(differences: &[(bool, String)]) -> Vec<String> {
    let wrapped = |(is_item, text): &(bool, String)| {
        let (first, next) = if *is_item { ("differs   ", "          ") } else { ("", "") };
        let lines = wrap(text, WIDTH - first.len());
        let put = |(index, line): (usize, String)| {
            format!("{}{line}", if index == 0 { first } else { next })
        };
        lines.into_iter().enumerate().map(put).collect::<Vec<String>>()
    };
    differences.iter().flat_map(wrapped).collect()
}

/// A point's name on the page.
pub(super) fn point_name(values: &Named<String>) -> String {
    if values.is_empty() { ALL.to_owned() } else { values.pairs(" ") }
}

/// The judged figures of a pair; of a single point all of them.
pub(super) fn table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let mut table = Table::new([
        Column::new("point", Align::Left),
        Column::new("figure", Align::Left),
        Column::new(short(&report.sides[0].name, "baseline"), Align::Right),
        Column::new(short(&pair.side, "side"), Align::Right),
        Column::new("ratio", Align::Left),
        Column::spare("p", Align::Right, 2),
        Column::spare("found from", Align::Right, 3),
        Column::new("verdict", Align::Left),
    ]);
    let is_one = pair.points.len() == 1;
    for point in &pair.points {
        for (index, judged) in std::iter::once(&point.primary).chain(&point.others).enumerate() {
            // Of many points the judged figure alone: the rest is in JSON and CSV.
            if index > 0 && !is_one {
                break;
            }
            table.row(row(&point_name(&point.values), judged));
        }
    }
    over_all(pair).for_each(|judged| table.row(row(ALL, judged)));
    table
}

/// A side's name as a title, where it is not too long for one.
fn short(name: &str, otherwise: &'static str) -> Cow<'static, str> {
    match name.chars().count() > TITLE_MAX {
        true => otherwise.into(),
        false => name.to_owned().into(),
    }
}

/// A figure of a side against the baseline's.
pub(super) fn row(point: &str, judged: &Judged) -> [String; 8] {
    let mean = |figure: Option<Figure>| {
        figure.map_or_else(|| NONE.to_owned(), |figure| significant(figure.mean, 4))
    };
    let p = judged.p_corrected.map_or_else(|| NONE.to_owned(), |p| format!("{p:.3}"));
    let detectable = judged
        .detectable
        .map_or_else(|| NONE.to_owned(), |share| format!("{} %", significant(share * 100.0, 2)));
    [
        point.to_owned(),
        title(&judged.figure),
        mean(judged.baseline),
        mean(judged.side),
        judged.ratio.map_or_else(|| NONE.to_owned(), |ratio| ratio_text(&judged.figure, &ratio)),
        p,
        detectable,
        judged.verdict.name().to_owned(),
    ]
}

/// How figures are judged, in sentences.
pub(super) fn judged_how(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let mut said = Vec::new();
    let is_within = pair.points.iter().any(|point| point.primary.is_within_repeats);
    let confidence = pair
        .points
        .iter()
        .filter_map(|point| point.primary.ratio?.confidence)
        .fold(f64::NAN, f64::min);
    if confidence.is_finite() {
        said.push(format!(
            "Of each side the mean over its runs. Ratios are medians over {} of runs, with intervals \
             of at least {} %, each for itself; p is corrected for all sides, points and figures \
             of the first lines; better or worse takes p < 0.05 and a ratio beyond the minimum \
             effect of {} %.",
            if is_within { "the pairs" } else { "all pairs" },
            significant(confidence * 100.0, 3),
            exact(report.min_effect * 100.0)
        ));
    }
    if pair.is_interleaved {
        let words = match is_within {
            true => "Runs of both took turns, and were compared within each repeat.",
            false => "Runs of both took turns.",
        };
        said.push(words.to_owned());
    }
    said
}

fn curve_line(side: &SideReport) -> Option<String> {
    let curve = side.curve.as_ref()?;
    let (figure, axis) = (title(&curve.figure), &curve.axis);
    Some(format!("{}: {figure} over {axis}: {}", side.name, in_words(curve)))
}

/// What a limit has met, in a line.
pub(super) fn gate_line(gate: &GateResult) -> String {
    let at = gate.at.join(", ");
    match gate.passed {
        Passed::Held => format!("holds: {} is not broken", gate.gate),
        Passed::Broken => format!("BROKEN: {} at {at}", gate.gate),
        Passed::Undecided => format!("undecided: {} at {at}", gate.gate),
    }
}

#[cfg(test)]
mod tests;
