//! The page of a comparison: verdicts on each compared set of runs (side) against the baseline,
//! their certainty, and the differences between the sides.
//!
//! Not here: how sides are judged (study), and the time of a transaction (each_transaction).

mod each_transaction;
mod executions;
mod gate;
mod published;
mod remarks;
mod short;
mod words;

use std::borrow::Cow;
use std::iter::once;

use analysis::figures::title;
use analysis::report::{Named, Report};
use model::numbers::{NONE, amount, capital, count, exact, list, significant};
use model::{Direction, Severity};
use study::comparison::{
    Center, ComparisonReport, Difference, GateResult, Judged, PairReport, Verdict as Judgement,
    beside,
};

use super::axis_names::{axes_of, told};
use super::charts::{Spot, in_spot, of_comparison, of_median_runs};
use super::commands::run_of_plan;
use super::document::{
    Block, Details, Document, Length, Place, REPEAT, Section, Span, Text, Tone, Validity, Verdict,
};
use super::scene::{ago, scene};
use super::wording::title_with_unit;
use super::{Align, Cell, Column, Table};

pub(crate) use executions::changed_shortly;
use gate::gate;
pub use gate::gate_in_words;
use remarks::{
    SIDES_NAMED_MOST, caution, explains, finding_ids, in_all_runs, in_runs, is_uneven, lost_runs,
    not_plain, notes, remarks, seeds, seen,
};
pub(crate) use short::verdicts_shortly;
pub use short::{compared_repeat_s, comparison_short};
pub(crate) use words::change_within;
use words::{
    aside, change_of, detectable, differ_in, headline, headline_of_workload, how_paired,
    interleaved, is_decided, is_manifold, is_undecided, load_differs, of_workload, preliminary,
    said_name, shortened, sign, smallest, unlike_workloads,
};
pub use words::{detected_by, is_open};

/// Names of the sections of a comparison's page, with which users select sections on the command
/// line.
pub const COMPARISON_SECTIONS: [&str; 8] =
    ["result", "changed", "executions", "each_transaction", "gauges", "curves", "figures", "sides"];

/// Largest number of differences between the sides of a comparison that text and Markdown list;
/// they show the others as a number, and HTML lists all.
const DIFFERENCES_SHOWN_MAX: usize = 30;
/// Largest length of the name of a compared set of runs (side) in the title of a column, in
/// characters. If a name is longer, the titles are `baseline` and `side`.
const TITLE_MAX: usize = 18;
/// Largest length of a column title with a shortened key, such as `…at_trx_commit=1`, in
/// characters, so that a phone has room for two such columns.
const END_MAX: usize = 13;
/// Smallest percentage of lost transactions (failed or dropped) that the headline on a compared set
/// of runs mentions.
const LOST_LEAST_PERCENT: f64 = 1.0;
/// Largest number of differences in the sentence on how a set of runs differs from the baseline;
/// the others are shown as a number, such as `and 2 more`.
const DIFFER_SHOWN_MAX: usize = 3;
/// The same for parts of the load, which a reader must know to judge a difference.
const LOAD_SHOWN_MAX: usize = 6;
/// Largest length of a setting's value in a sentence, in characters; a longer value ends with an
/// ellipsis.
const VALUE_MAX: usize = 40;
/// Difference between the largest and the smallest share of runs with a finding, over the sides of
/// a comparison, above which the finding counts as uneven.
const UNEVEN: f64 = 0.25;
/// Name of a table row for all points (combinations of varied parameters) together, or for the only
/// point.
const ALL: &str = "all";

/// Returns the page of a comparison, with the outcomes of its gates (limits on changes) first.
pub fn comparison(report: &ComparisonReport, gates: &[GateResult]) -> Document {
    let charts = of_comparison(report);
    let min_effect = exact(report.min_effect * 100.0);
    let mut page = Document::new("Comparison", comparison_title(report));
    page.question = vec![format!(
        "Does {} differ by more than {min_effect} %, and how certain is that?",
        title(&report.primary)
    )];
    page.scene = vec![scene(&report.scene)];
    let age =
        report.age_s().map(|age_s| format!("The newest of these runs is from {}.", ago(age_s)));
    page.scene.extend(age);
    page.scene.extend(report.scene.notices.iter().cloned());
    page.verdicts = report.pairs.iter().flat_map(|pair| verdicts(report, pair)).collect();
    page.validity = Validity::of_remarks(remarks(report));
    let n_warnings = page.validity.as_ref().map_or(0, |validity| validity.count(Severity::Warning));
    if n_warnings > 0 {
        page.verdicts = report.pairs.iter().flat_map(|pair| cautious(report, pair)).collect();
    }
    // The outcome of a gate, which decides whether a script continues, comes first.
    page.verdicts.splice(0..0, gates.iter().map(gate));
    let mut did = vec![Block::Charts(in_spot(&charts, Spot::Ratios))];
    // Remarks on all pairs are written once, below them.
    let all_how: Vec<_> = report.pairs.iter().map(|pair| judged_how(report, pair)).collect();
    let is_of_all = |words: &&String| all_how.iter().all(|how| how.contains(words));
    let of_all = all_how.iter().take(1).flatten().filter(is_of_all);
    let of_all: Vec<String> = of_all.cloned().collect();
    for (pair, how) in report.pairs.iter().zip(&all_how) {
        let own = how.iter().filter(|words| !of_all.contains(words)).cloned();
        did.push(of_pair(report, pair, own.collect()));
    }
    did.push(Block::paragraphs(of_all));
    page.section("result", "Result", did);
    page.sections[0].where_drawn = Place::First;
    page.n_answering = 1;
    page.section("changed", "What changed", changed(report));
    page.section("executions", "Time of each transaction", executions::blocks(report, &charts));
    page.section("each_transaction", "What a transaction takes", each_transaction::blocks(report));
    page.section("gauges", "Changes of metrics", gauges_changed(report));
    let mut curves = vec![Block::Charts(in_spot(&charts, Spot::Sides))];
    curves.extend(sweeps(report).map(Block::Table));
    page.section("curves", "Curves", curves);
    page.section("figures", "All figures", vec![by_point(report)]);
    page.section("sides", "Sides", (0..report.sides.len()).map(|at| of_side(report, at)).collect());
    page.repeat = Some(repeat(report));
    page
}

/// Returns the page of a comparison, with charts that overlay one run per side (compared set of
/// runs). `runs` has for each side its name and the report of the run with the side's median of the
/// primary figure.
pub fn comparison_of_runs(
    report: &ComparisonReport,
    gates: &[GateResult],
    runs: &[(String, Report)],
) -> Document {
    let mut page = comparison(report, gates);
    let charts = vec![Block::Charts(of_median_runs(report, runs))];
    page.sections.insert(1, Section::new("overlays", "Overlay", charts));
    page
}

/// Returns the title of a comparison's page, such as `tpcc: build=1.3 vs. 1.2`: workload, sides and
/// baseline.
pub fn comparison_title(report: &ComparisonReport) -> String {
    let names: Vec<&str> = report.sides.iter().skip(1).map(|side| said_name(&side.name)).collect();
    of_workload(report) + &versus(&names.join(", "), said_name(&report.sides[0].name))
}

/// Returns the verdict on a side of a comparison against the baseline, and with several workloads
/// one for each.
fn verdicts(report: &ComparisonReport, pair: &PairReport) -> Vec<Verdict> {
    let first = verdict(report, pair);
    let more = pair.by_workload.iter().skip(1).map(|workload| {
        let (tone, word) = word_of(workload.primary.verdict);
        let headline = headline_of_workload(report, pair, workload).into();
        Verdict { tone, word, headline, details: Vec::new() }
    });
    once(first).chain(more).collect()
}

/// Returns the [`verdicts`] on a side of a comparison, each with a caution added. Called if any run
/// of the comparison has warnings.
fn cautious(report: &ComparisonReport, pair: &PairReport) -> Vec<Verdict> {
    let mut all = verdicts(report, pair);
    with_caution(&mut all, report, pair);
    all
}

/// Returns the verdict on a side of a comparison against the baseline. Its details begin with
/// [`lead`]; then come the change of a second figure, the smallest detectable difference, and the
/// differences in setup.
fn verdict(report: &ComparisonReport, pair: &PairReport) -> Verdict {
    let (tone, word) = judgement_of(pair);
    let headline = headline(report, pair);
    let figures = summed_up(pair);
    let detectable = figures.first().and_then(|judged| detectable(report, judged));
    let beside = beside(&report.primary, report.better);
    let beside = figures.into_iter().skip(1).find(|judged| judged.figure == beside);
    let beside = beside.and_then(aside).map(|words| format!("{words}."));
    let all = lead(report, pair).chain(beside).chain(detectable).chain(differ_in(report, pair));
    // The interval that holds comes first.
    if let Some(by_rule) = &report.by_rule {
        let fixed = format!("If the number of repeats had been fixed beforehand: {headline}.");
        let details = once(fixed).chain(all).map(Text::from).collect();
        let headline = format!("{}{by_rule}", of_workload(report)).into();
        return Verdict { tone: Tone::Plain, word: "By its rule.".to_owned(), headline, details };
    }
    let details = all.map(Text::from).collect();
    Verdict { tone, word, headline: headline.into(), details }
}

/// Returns the first details of the verdict on a side of a comparison: runs in progress and repeats
/// that are not fixed or not independent (once for all sides), the load in which it differs from
/// the baseline, and what both guarantee for a transaction, durability and isolation.
fn lead(report: &ComparisonReport, pair: &PairReport) -> impl Iterator<Item = String> {
    let is_first = report.pairs.first().is_some_and(|first| first.side == pair.side);
    let running = preliminary(report).filter(|_| is_first);
    let unlike = unlike_workloads(report, pair);
    let repeats = report.repeats.iter().filter(move |_| is_first).cloned();
    let guarantees = [&pair.durability, &pair.isolation].into_iter().flatten().cloned();
    unlike
        .into_iter()
        .chain(running)
        .chain(repeats)
        .chain(load_differs(report, pair))
        .chain(guarantees)
}

/// Returns the tone and word of the verdict on a side of a comparison, such as `Better.` If the
/// verdict on the primary figure is open but that on another figure is not, the word names the
/// primary figure.
fn judgement_of(pair: &PairReport) -> (Tone, String) {
    let figures = summed_up(pair);
    let Some(judged) = figures.first() else { return word_of(Judgement::CannotBeJudged) };
    // What a side cannot do at all is not outweighed.
    let may_outweigh = !matches!(judged.verdict, Judgement::Worse | Judgement::CannotBeJudged);
    if may_outweigh && pair.lost().next().is_some() {
        return (Tone::Warning, "Not at all points.".to_owned());
    }
    let (tone, word) = word_of(judged.verdict);
    // Where another figure is decided, the word is not that of the whole.
    match is_undecided(judged) && figures.iter().any(|judged| is_decided(judged)) {
        true => {
            let word = word.trim_end_matches('.').to_lowercase();
            (tone, format!("{}: {word}.", title(&judged.figure)))
        }
        false => (tone, word),
    }
}

/// Returns the tone that belongs to a verdict, and the verdict's name as a sentence, such as
/// `Better.`
fn word_of(judged: Judgement) -> (Tone, String) {
    let tone = match judged {
        Judgement::Better => Tone::Good,
        Judgement::Worse => Tone::Bad,
        Judgement::DiffersOrTheMachineDrifted | Judgement::CannotBeJudged => Tone::Warning,
        Judgement::Higher
        | Judgement::Lower
        | Judgement::TooSmallToMatter
        | Judgement::DiffersSizeNotKnown
        | Judgement::NoEvidence => Tone::Plain,
    };
    (tone, capital(judged.name()) + ".")
}

/// Adds `with caution` to good and bad verdicts on a side of a comparison, because its runs have
/// warnings. Good ones get the tone of a warning. If any figure of the side has a verdict, a line
/// below the first one names the first warning, for all of them.
fn with_caution(all: &mut [Verdict], report: &ComparisonReport, pair: &PairReport) {
    for verdict in all.iter_mut() {
        if matches!(verdict.tone, Tone::Good | Tone::Bad) && !verdict.word.is_empty() {
            verdict.word = format!("{}, with caution.", verdict.word.trim_end_matches('.'));
        }
        if verdict.tone == Tone::Good {
            verdict.tone = Tone::Warning;
        }
    }
    let of_points = pair.points.iter().flat_map(|at| once(&at.primary).chain(&at.others));
    let of_workloads = pair.by_workload.iter().map(|workload| &workload.primary);
    let mut judged = of_points.chain(of_workloads).chain(over_all(pair));
    if let Some(first) = all.first_mut().filter(|_| judged.any(is_decided)) {
        let reason = caution(report, pair)
            .map(|why| format!("Treat every verdict here with caution: {why}.").into());
        let at = lead(report, pair).count();
        first.details.splice(at..at, reason);
    }
}

/// Returns the block with the table of a compared side's figures against the baseline. `how` has
/// sentences on the method, printed below the table.
fn of_pair(report: &ComparisonReport, pair: &PairReport, how: Vec<String>) -> Block {
    let title = match report.pairs.len() {
        1 => String::new(),
        _ => versus(&pair.side, &report.sides[0].name),
    };
    Block::Part(title, vec![Block::Table(table(report, pair)), Block::paragraphs(how)])
}

/// Words that follow a difference found by comparing means, because there are too few runs for a
/// test by ranks.
const BY_MEANS: &str = " (t-test, p < 0.01; too few runs for a test by ranks)";

/// Returns the blocks on the differences between the sides of a comparison: those known for all
/// sides and, folded, facts that only some sides have.
fn changed(report: &ComparisonReport) -> Vec<Block> {
    if report.differences.is_empty() {
        return vec![Block::paragraphs([no_difference(report)])];
    }
    let (one_sided, both): (Vec<&Difference>, Vec<&Difference>) =
        report.differences.iter().partition(|difference| is_one_sided(difference));
    let commits = short::commits(report);
    let commits = (!commits.is_empty()).then_some(("commits", commits));
    let mut blocks = vec![Block::pairs(commits)];
    if !both.is_empty() {
        let rest = "differences (--output json has all)";
        let table = differences(report, &both).shown_max(DIFFERENCES_SHOWN_MAX, rest);
        blocks.push(Block::Table(table));
    }
    if !one_sided.is_empty() {
        let title = format!("{} only some sides have", count(one_sided.len() as u64, "fact"));
        let words = format!("{title} (--output json has all)");
        blocks.push(Block::Details(Details {
            title,
            blocks: vec![Block::Table(differences(report, &one_sided))],
            length: Length::Short,
            otherwise: vec![Block::paragraphs([words])],
        }));
    }
    blocks
}

/// Returns the table of the differences `all` in plan, database, machine and build, with a column
/// for the value on each side.
fn differences(report: &ComparisonReport, all: &[&Difference]) -> Table {
    let names = names_of(report);
    let title =
        |at: usize| names.as_ref().map_or_else(|| role(report, at), |all| all[at].clone().into());
    let sides = (0..report.sides.len()).map(|at| Column::sentences(title(at)));
    let what = Column::new("what differs", Align::Left);
    let mut table = Table::new([what].into_iter().chain(sides).collect::<Vec<_>>());
    let value = |value: &Option<String>| match value {
        // A statement of a plan may have several lines.
        Some(value) => value.split_whitespace().collect::<Vec<_>>().join(" "),
        None => NONE.to_owned(),
    };
    for one in all {
        let name = one.short_among(all.iter().copied());
        table.row([name].into_iter().chain(one.values.iter().map(value)));
    }
    table
}

/// Returns tables of the gauges (system and database metrics) that changed most between the
/// baseline and each compared side.
fn gauges_changed(report: &ComparisonReport) -> Vec<Block> {
    let pairs = report.pairs.iter().filter(|pair| !pair.gauges_changed.is_empty());
    let part = |pair| {
        let words = Block::paragraphs([gauges_words(report, pair)]);
        Block::Part(String::new(), vec![words, Block::Table(gauges_table(report, pair))])
    };
    pairs.map(part).collect()
}

fn gauges_table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let names = titles(&report.sides[0].name, &pair.side);
    let names = names.into_iter().chain(["change".to_owned()]);
    let columns = names.map(|name| Column::new(name, Align::Right));
    let gauge = Column::new("gauge", Align::Left);
    let mut table = Table::new([gauge].into_iter().chain(columns).collect::<Vec<_>>());
    for change in &pair.gauges_changed {
        let by = match change.ratio {
            Some(ratio) => words::change(&change.name, ratio, words::is_far(&ratio)),
            None => format!("{NONE} (almost 0 before)"),
        };
        let mean = |mean| Cell::said(amount(mean, &change.unit), Some(mean));
        table.row([
            change.name.as_str().into(),
            mean(change.baseline),
            mean(change.side),
            Cell::said(by, change.ratio),
        ]);
    }
    table
}

/// Returns the sentence above the table of changed gauges: how they are ordered, and that they are
/// not tested.
fn gauges_words(report: &ComparisonReport, pair: &PairReport) -> String {
    let of_sides = match report.pairs.len() {
        1 => String::new(),
        _ => format!(" of {} against {}", pair.side, report.sides[0].name),
    };
    format!(
        "Gauges that changed most{of_sides}, the clearest change first (means over runs, not tested):"
    )
}

/// Returns the table that sums up each compared side's curve over a numeric parameter: first, mean,
/// best and last value; `None` if no side has a curve.
fn sweeps(report: &ComparisonReport) -> Option<Table> {
    let curves = || report.sides.iter().filter_map(|side| Some((side, side.curve.as_ref()?)));
    let (_, first) = curves().next()?;
    let best = if first.better == Direction::Lower { "lowest" } else { "peak" };
    let over = format!("{} over {}", title(&first.figure), first.axis);
    let columns = ["first", "mean of points", best, "at", "last"]
        .map(|heading| Column::new(heading, Align::Right));
    let name = Column::new(over, Align::Left);
    let mut table = Table::new([name].into_iter().chain(columns).collect::<Vec<_>>());
    for (side, curve) in curves() {
        table.row([
            side.name.as_str().into(),
            curve.first.into(),
            curve.mean.into(),
            curve.best.into(),
            curve.best_at.as_str().into(),
            Cell::from(curve.last),
        ]);
    }
    Some(table)
}

/// Keys of the columns in the table of all figures of a comparison that only programs read (in CSV
/// and JSON).
const OF_PROGRAMS: [&str; 7] = [
    "unit",
    "confidence_percent",
    "baseline_runs",
    "value_runs",
    "baseline_name",
    "workload",
    "reason",
];

/// Returns the cells of the columns [`OF_PROGRAMS`]: unit, confidence of the interval, runs of
/// baseline and compared side, name of the baseline, workload, and the reason why the figure is
/// undecided.
fn cells_of_programs(report: &ComparisonReport, judged: &Judged) -> [Cell; 7] {
    let unit = report.units.get(&judged.figure).map(String::as_str);
    let unit = unit.unwrap_or_else(|| analysis::figures::unit(&judged.figure));
    let confidence = judged.ratio.and_then(|ratio| ratio.confidence);
    let runs = |figure: Option<analysis::figures::Figure>| match figure {
        Some(figure) => figure.count.into(),
        None => Cell::None,
    };
    [
        unit.into(),
        confidence.map(|share| 100.0 * share).into(),
        runs(judged.baseline),
        runs(judged.side),
        report.sides[0].name.as_str().into(),
        report.scene.workloads.join(", ").as_str().into(),
        judged.why.as_deref().map_or(Cell::None, Cell::from),
    ]
}

/// Returns the folded table of each compared side's figures at each point and over all points,
/// which CSV has too.
fn by_point(report: &ComparisonReport) -> Block {
    let side = Column::words("side", "side");
    let columns = [side].into_iter().chain(columns("baseline".into(), "side".into()));
    let columns = columns.chain(OF_PROGRAMS.map(Column::data));
    let mut table = Table::new(columns.collect::<Vec<_>>());
    for pair in &report.pairs {
        let mut put = |point: &str, judged: &Judged| {
            let side = Cell::from(pair.side.as_str());
            let cells = [side].into_iter().chain(cells(report, point, judged));
            table.row(cells.chain(cells_of_programs(report, judged)));
        };
        for point in &pair.points {
            let name = whole_name(&point.values);
            once(&point.primary).chain(&point.others).for_each(|judged| put(&name, judged));
        }
        over_all(pair).for_each(|judged| put(ALL, judged));
    }
    let others = report.pairs.iter().flat_map(|pair| &pair.points).flat_map(|at| &at.others);
    let whys = Block::paragraphs(not_plain(others));
    Block::details("By point", Length::Short, vec![Block::Table(table), whys])
}

/// Returns the role of the side of a comparison at index `at`: `baseline`, `side`, or `side 2` if
/// there are several.
fn role(report: &ComparisonReport, at: usize) -> Cow<'static, str> {
    match (at, report.sides.len()) {
        (0, _) => "baseline".into(),
        (_, 2) => "side".into(),
        _ => format!("side {at}").into(),
    }
}

/// Returns the folded block of a side of a comparison with its number of runs and their ids.
fn of_side(report: &ComparisonReport, at: usize) -> Block {
    let (role, side) = (role(report, at), &report.sides[at]);
    let lost = match side.runs_not_counted {
        0 => String::new(),
        n => format!(", {n} not counted"),
    };
    let words = format!("{}: {}{lost}", side.name, count(side.runs.len() as u64, "run"));
    Block::Details(Details {
        title: format!("{role} {words}"),
        blocks: vec![Block::runs([("runs", &side.runs[..])])],
        length: Length::Short,
        otherwise: vec![Block::pairs([(role, words)])],
    })
}

/// Returns the section with the plans of a comparison's sides, equal plans once, and the command
/// that repeats the comparison.
fn repeat(report: &ComparisonReport) -> Section {
    let mut plans: Vec<(Vec<&str>, &str)> = Vec::new();
    for side in &report.sides {
        let Some(plan) = &side.plan else { continue };
        match plans.iter_mut().find(|(_, known)| known == plan) {
            Some((names, _)) => names.push(&side.name),
            None => plans.push((vec![&side.name], plan)),
        }
    }
    let folded = |(names, plan): (Vec<&str>, &str)| {
        let words = "In a shell, this repeats its experiment or run; the lines between may be a \
                     file, too: ";
        let words = Text::from(words).and(Span::Code("dbdyno run plan.toml".to_owned()));
        let blocks = vec![Block::Paragraphs(vec![words]), Block::Verbatim(run_of_plan(plan))];
        Block::details(format!("Plan of {}", names.join(", ")), Length::Short, blocks)
    };
    // Ids are those of one store.
    let command = report.command.clone().map(|command| {
        let of_store = "In the store that has these runs ('dbdyno runs export' and 'import' take \
                        them to another one):";
        [Block::paragraphs([of_store]), Block::Verbatim(command)]
    });
    let blocks = plans.into_iter().map(folded).chain(command.into_iter().flatten()).collect();
    Section::new(REPEAT, "How to repeat it", blocks)
}

/// Returns a compared side's figures judged over all points together, the primary figure first;
/// empty if there is a single point.
fn over_all(pair: &PairReport) -> impl Iterator<Item = &Judged> {
    pair.overall.iter().chain(&pair.overall_others)
}

/// Returns the figures that sum up a side of a comparison, the primary one first: those over all
/// points, or those of its only point, or the primary figure of the first of several workloads.
fn summed_up(pair: &PairReport) -> Vec<&Judged> {
    match &pair.points[..] {
        _ if !pair.by_workload.is_empty() => {
            pair.by_workload.iter().map(|workload| &workload.primary).take(1).collect()
        }
        [point] => once(&point.primary).chain(&point.others).collect(),
        _ => over_all(pair).collect(),
    }
}

/// Names a compared side and the baseline, such as `build=1.3 vs. 1.2`. A key that both have
/// (`build`) is written once.
pub(crate) fn versus(side: &str, base: &str) -> String {
    let (of_side, of_base) = (key_value(side), key_value(base));
    match (of_side, of_base) {
        (Some((name, _)), Some((known, value))) if name == known && !side.contains(", ") => {
            format!("{side} vs. {value}")
        }
        _ => format!("{side} vs. {base}"),
    }
}

/// Splits a name such as `build=1.3` into key and value; `None` for other names, such as a URL with
/// options.
fn key_value(name: &str) -> Option<(&str, &str)> {
    let is_key = |key: &str| {
        key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
    };
    name.split_once('=').filter(|(key, _)| is_key(key))
}

/// Returns a sentence that the sides of a comparison do not differ in setup, or that only runs
/// within a side do.
fn no_difference(report: &ComparisonReport) -> &'static str {
    match report.mixed.is_empty() {
        true => "Plan, database, machine and build are the same on all sides.",
        false => "The sides do not differ, but runs within a side do.",
    }
}

/// Returns true if a fact is known for some sides of a comparison only, as when the sides are
/// different products. Parts of plan and target do not count.
fn is_one_sided(difference: &Difference) -> bool {
    let is_of_plan = matches!(difference.about.as_str(), "plan" | "target");
    !is_of_plan && difference.values.iter().any(Option::is_none)
}

/// Returns the name of a point (combination of varied parameters) for programs, with whole values:
/// `clients=4 mode=text`.
fn whole_name(values: &Named<String>) -> String {
    if values.is_empty() { ALL.to_owned() } else { values.pairs(" ") }
}

/// Returns the name of a point (combination of varied parameters) for people, such as `clients=4`,
/// with target URLs shortened.
fn point_name(report: &ComparisonReport, values: &Named<String>) -> String {
    whole_name(&told(&axes_of(report), values))
}

/// Makes the table of a compared side's figures against the baseline for people: all figures of a
/// single point, whose name is not repeated in each row, or else the primary figure at each point
/// and all figures over all points.
fn table(report: &ComparisonReport, pair: &PairReport) -> Table {
    let [baseline, side] = titles(&report.sides[0].name, &pair.side);
    let columns = columns(baseline.into(), side.into()).map(|column| column.key(""));
    let is_one = pair.points.len() == 1;
    let mut table = Table::new(for_people(columns, is_one));
    let mut put = |at: &str, judged| table.row(for_people(cells(report, at, judged), is_one));
    for point in &pair.points {
        put(&point_name(report, &point.values), &point.primary);
        // With many points, the other figures are listed by point.
        point.others.iter().filter(|_| is_one).for_each(|judged| put("", judged));
    }
    over_all(pair).for_each(|judged| put(ALL, judged));
    table
}

/// Names the only point of all compared sides, such as `clients=8`; `None` if there are several, or
/// nothing is varied.
fn only_point(report: &ComparisonReport) -> Option<String> {
    let of_pair = |pair: &PairReport| match &pair.points[..] {
        [point] if !point.values.is_empty() => Some(point_name(report, &point.values)),
        _ => None,
    };
    let mut names = report.pairs.iter().map(of_pair);
    let first = names.next()??;
    names.all(|name| name.as_ref() == Some(&first)).then_some(first)
}

/// Converts a row of [`columns`] or [`cells`] for people: the verdict moves from the end to just
/// before the p-values, where narrow pages keep it. With `is_one`, the first cell, the name of the
/// only point, is removed.
fn for_people<T>(row: [T; 12], is_one: bool) -> Vec<T> {
    let mut row: Vec<T> = row.into();
    let verdict = row.pop();
    row.splice(8..8, verdict);
    if is_one {
        row.remove(0);
    }
    row
}

/// Shortens the names of a comparison's sides for column titles: whole names, or else their first
/// parts (before a comma), or else the values in these parts (after `=`). `None` if even those are
/// longer than [`TITLE_MAX`] or not distinct.
fn short_names(names: &[&str]) -> Option<Vec<String>> {
    fn first(name: &str) -> String {
        name.split(", ").next().unwrap_or(name).to_owned()
    }
    fn value(name: &str) -> String {
        let first = first(name);
        match key_value(&first) {
            // A bare number says nothing.
            Some((key, value)) if value.parse::<f64>().is_ok() => with_end_of(key, value),
            Some((_, value)) => value.to_owned(),
            None => first,
        }
    }
    let kinds: [fn(&str) -> String; 3] = [str::to_owned, first, value];
    let of_kind =
        |kind: fn(&str) -> String| names.iter().map(|name| kind(name)).collect::<Vec<String>>();
    let fits = |name: &String| name.chars().count() <= TITLE_MAX;
    let are_different =
        |all: &[String]| all.iter().enumerate().all(|(at, name)| !all[..at].contains(name));
    kinds.map(of_kind).into_iter().find(|all| are_different(all) && all.iter().all(fits))
}

/// Shortens a long key to its last words: `…at_trx_commit=1` for
/// `innodb_flush_log_at_trx_commit=1`.
fn with_end_of(key: &str, value: &str) -> String {
    let room = END_MAX.saturating_sub(value.len() + 2);
    let ends = key.match_indices(['_', '.']).map(|(at, _)| &key[at + 1..]);
    let end = ends.into_iter().find(|end| !end.is_empty() && end.len() <= room);
    end.map_or_else(|| format!("={value}"), |end| format!("…{end}={value}"))
}

/// Returns the short name of the compared side `name`, as in column titles, or `name` if it cannot
/// be shortened.
fn short_name(report: &ComparisonReport, name: &str) -> String {
    let at = report.sides.iter().position(|side| side.name == name);
    let short = at.and_then(|at| Some(names_of(report)?.swap_remove(at)));
    short.unwrap_or_else(|| name.to_owned())
}

/// Returns the names of a comparison's sides, short enough for column titles; `None` if they would
/// be too long or not distinct.
fn names_of(report: &ComparisonReport) -> Option<Vec<String>> {
    short_names(&report.sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>())
}

/// Returns the column titles of a baseline and a compared side: short names, or `baseline` and
/// `side`.
fn titles(baseline: &str, side: &str) -> [String; 2] {
    let found = short_names(&[baseline, side]).and_then(|names| names.try_into().ok());
    found.unwrap_or_else(|| ["baseline".to_owned(), "side".to_owned()])
}

/// Returns the columns of a table of compared figures, with titles for the values of baseline and
/// compared side.
fn columns(baseline: Cow<'static, str>, side: Cow<'static, str>) -> [Column; 12] {
    [
        Column::words("point", "point").head(),
        Column::data("figure"),
        Column::new("figure", Align::Left).head(),
        Column::new(baseline, Align::Right).key("baseline"),
        Column::new(side, Align::Right).key("value"),
        Column::words("ratio", "change (CI)"),
        Column::data("low"),
        Column::data("high"),
        Column::data("p"),
        Column::spare("p", Align::Right, 2).key("p_corrected"),
        Column::spare("detectable", Align::Right, 3).key("detectable_percent"),
        Column::words("verdict", "verdict"),
    ]
}

/// Returns the cells of a compared figure at `point`, in the order of [`columns`].
fn cells(report: &ComparisonReport, point: &str, judged: &Judged) -> [Cell; 12] {
    let unit = report.units.get(&judged.figure).map_or("", String::as_str);
    let ratio = judged.ratio.as_ref();
    let change = ratio.map_or_else(|| NONE.to_owned(), |ratio| change_of(&judged.figure, ratio));
    let interval = ratio.and_then(|ratio| ratio.interval);
    let p = judged.p_corrected.map_or(Cell::None, |p| Cell::said(format!("{p:.3}"), Some(p)));
    let detectable = judged.detectable.map_or(Cell::None, |share| {
        Cell::said(smallest(share, is_manifold(share)), Some(100.0 * share))
    });
    [
        point.into(),
        judged.figure.as_str().into(),
        title_with_unit(&judged.figure, unit).into(),
        judged.centers[0].into(),
        judged.centers[1].into(),
        Cell::said(change, ratio.map(|ratio| ratio.value)),
        interval.map(|(low, _)| low).into(),
        interval.map(|(_, high)| high).into(),
        judged.p.into(),
        p,
        detectable,
        judged.verdict.name().into(),
    ]
}

/// Words for the kind of mean over the runs of a compared set.
const CENTERS: &str = "geometric means";

/// Names the figures that are compared by medians instead of means, because a run has no finite
/// value: `Of p99 ms it is medians.` `None` if there are none.
fn of_medians(report: &ComparisonReport) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let of_points = report.pairs.iter().flat_map(|pair| &pair.points);
    let of_points = of_points.flat_map(|point| once(&point.primary).chain(&point.others));
    let shown = of_points.chain(report.pairs.iter().flat_map(over_all));
    for judged in shown.filter(|judged| judged.center == Center::Median) {
        let name = title(&judged.figure);
        let is_known = judged.centers.iter().any(Option::is_some);
        if is_known && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| format!("Of {} it is medians.", list(&names)))
}

/// Sentence that explains the column `detectable`.
const MIN_DETECTABLE: &str = "Detectable: the smallest difference that so many runs would \
                              show, in four of five such comparisons.";

/// Describes in sentences how a compared side's figures are judged: means, intervals, tests, and
/// whether its runs alternated with the baseline's.
fn judged_how(report: &ComparisonReport, pair: &PairReport) -> Vec<String> {
    let mut said = Vec::new();
    let is_within = pair.points.iter().any(|point| point.primary.is_within_repeats);
    let confidence = pair
        .points
        .iter()
        .filter_map(|point| point.primary.ratio?.confidence)
        .fold(f64::NAN, f64::min);
    if confidence.is_finite() {
        let all = match over_all(pair).next() {
            Some(_) => " (in the row 'all' over the points, too)",
            None => "",
        };
        said.push(format!(
            "Values are {} over the runs of each side{all}, and changes are those of their \
             quotients, with CIs of at least {} %, not corrected; p is corrected for all sides, points and figures of the \
             first lines. Better or worse needs p < 0.05 and a ratio beyond the minimum effect of \
             {} %.{}",
            CENTERS,
            significant(confidence * 100.0, 3),
            exact(report.min_effect * 100.0),
            of_medians(report).map_or_else(String::new, |words| format!(" {words}"))
        ));
    }
    if pair.points.iter().any(|point| point.primary.is_by_means) {
        said.push(
            "So few runs are too few for ranks: means alone were tested (Welch's t), at 1 %. Their \
             p-values are multiplied by 5."
                .to_owned(),
        );
    }
    let shown = pair.points.iter().flat_map(|point| once(&point.primary).chain(&point.others));
    if shown.chain(over_all(pair)).any(|judged| judged.detectable.is_some()) {
        said.push(MIN_DETECTABLE.to_owned());
    }
    if pair.is_interleaved {
        said.push(format!("The runs were {}.", interleaved(report, is_within)));
    }
    said
}

#[cfg(test)]
mod tests;
