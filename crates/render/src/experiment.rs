//! The page of an experiment: the table of its points (combinations of varied parameters), curves
//! over each parameter, the Universal Scalability Law, and its trials.
//!
//! Not here: how figures and verdicts are computed (study).

mod executions;
mod of_trials;
mod validity;

use analysis::figures::{Figure, better, is_time, number, title};
use analysis::report::{Named, Report};
use model::numbers::{capital, count, ms, significant};
use model::{Choice, Direction, Severity, Status, is_arrival_rate};
use store::utc;
use study::ComparisonReport;
use study::comparison::{PairReport, unequally_durable};
use study::environment::Environment;
use study::experiment::{Curve, ExperimentReport, PointReport, RateReport, ScalabilityReport};
use study::matrix::of_page;
use study::trials::{TrialReport, counts};

use super::axis_names::{self, short_point_name, told};
use super::charts::{Spot, in_spot, of_experiment};
use super::commands::run_of_plan;
use super::comparison::verdicts_shortly as comparison_verdicts;
use super::document::{
    Block, Document, Length, Place, REPEAT, Section, Sketch, Text, Tone, Validity, Verdict,
};
use super::list::short_id;
use super::repeats::{decided, levels_lines, stop_lines, verdict as verdict_of_stop};
use super::run::{Line, lines};
use super::scene::{clients, databases, several, span};
use super::wording::{
    Spread, answered, begun, misfit, not_completed, ranges, same_in_all, shown, title_with_unit,
};
use super::{Align, Cell, Column, Table};
use super::{judged_limits, matrix};
use validity::{failed, validity};

/// Smallest number of values of some varied parameter for which the page says why no scalability
/// law was fitted. Fewer values are a comparison and no curve.
const CURVE_LEAST: usize = 4;

/// Largest number of points (combinations of varied parameters) that are named as possibly as good
/// as the best one, because their intervals overlap with its interval; of more, only the number is
/// given, such as `5 other points`.
const ALSO_MOST: usize = 4;

/// Smallest number of points for which a curve is sketched in text; a shorter curve has no sketch.
const SKETCHED_LEAST: usize = 4;

/// Figures whose columns a too narrow table leaves out, the last in this list first.
const SPARE: [&str; 3] = ["p50_ms", "p95_ms", "tps"];

/// Prefix of the names of server settings, which column titles leave out.
const OF_SERVER: &str = "server.";

/// Returns the verdicts of an experiment's page. `sides` is the comparison of the experiment's
/// points, if they are compared; its verdicts come first.
pub fn experiment_verdicts(
    report: &ExperimentReport,
    trials: &[TrialReport],
    sides: Option<&ComparisonReport>,
) -> Vec<Verdict> {
    let limits = judged_limits::verdicts(&report.limits);
    let mut own = verdict(report, validity(report).as_ref());
    own.details.splice(0..0, made_with(trials).map(Text::from));
    own.details.extend(not_counted(report).map(Text::from));
    let Some(sides) = sides else {
        own.details.splice(0..0, durability(report, trials).map(Text::from));
        return [own].into_iter().chain(limits).collect();
    };
    // Sides have one verdict. The point with the highest mean would look like a second one.
    own.headline = name_over_axes(report).into();
    comparison_verdicts(sides).into_iter().chain([own]).chain(limits).collect()
}

/// Returns the page of an experiment. Without `trials`, parts that need them are left out. `sides`
/// is the comparison of the experiment's points, if they are compared; its verdicts come first.
pub fn experiment(
    report: &ExperimentReport,
    trials: &[TrialReport],
    sides: Option<&ComparisonReport>,
) -> Document {
    let charts = of_experiment(report, trials);
    let kind = format!("Experiment, started {} UTC", utc(report.started_unix_ms));
    let mut page = Document::new(kind, name_over_axes(report));
    page.question = question(report);
    page.validity = validity(report);
    page.verdicts = experiment_verdicts(report, trials, sides);
    page.scene = notices(trials);
    page.section("matrix", "By rows and columns", matrix::of_page(&of_page(report)));
    let few = too_few(report.points.iter().map(|point| &point.samples_needed));
    let is_compared = sides.is_some();
    let of_point = |point| displayed(point, is_compared).map(|(_, figure)| figure);
    let figures = || report.points.iter().flat_map(of_point);
    let (wide, same) = (ranges(figures(), repeat_s(report, trials)), same_in_all(figures()));
    page.section(
        "points",
        "Points",
        vec![
            Block::Table(table_of_points(report, is_compared)),
            Block::paragraphs(
                what_is_shown(report, sides).into_iter().chain(few).chain(wide).chain(same),
            ),
        ],
    );
    let mut outcome = of_trials::outcome(report, trials);
    outcome.blocks.extend(sides.map(executions::changed));
    page.sections.push(outcome);
    page.n_answering = page.sections.len();
    page.sections.push(executions::section(report, &charts, sides));
    page.sections.iter_mut().for_each(|section| section.where_drawn = Place::First);
    let mut curves = vec![Block::Charts(in_spot(&charts, Spot::Curves))];
    curves.extend(report.curve.iter().flat_map(|curve| sketched(report, curve)));
    page.sections
        .push(Section { where_drawn: Place::First, ..Section::new("curves", "Curves", curves) });
    page.sections.extend(report.scalability.iter().map(|law| of_law(report, law)));
    // Two or three values are a comparison, and no curve.
    let has_curve = report.axes.iter().any(|axis| axis.values.len() >= CURVE_LEAST);
    let no_law = Block::paragraphs(report.no_scalability.clone().filter(|_| has_curve));
    page.section("no-law", "Universal Scalability Law", vec![no_law]);
    page.sections.push(of_trials::disturbances(report, trials));
    let ages = of_trials::ages_of_points(report, trials).map(Block::Table);
    let ages = [Block::Charts(in_spot(&charts, Spot::PointAges))].into_iter().chain(ages);
    page.section("ages", "Ages of records", ages.collect());
    page.section("repeats", "Repeats", repeats(report));
    page.sections.push(of_trials::trials(report, trials));
    let over_time = in_spot(&charts, Spot::Stability);
    page.section("stability", "Over time", vec![Block::Charts(over_time)]);
    page.sections.extend(of_trials::median_run(report, trials));
    page.section("ran", "What ran", ran(report, trials));
    let mut repeat = again(&report.id, report.status, is_short(report));
    repeat.blocks.extend(report.plan.iter().map(|plan| {
        let words = Block::paragraphs(["In a shell, this repeats all trials:"]);
        let plan = Block::Verbatim(run_of_plan(plan));
        Block::details("plan.toml", Length::Short, vec![words, plan])
    }));
    page.repeat = Some(repeat);
    page
}

/// Returns a word for why the trials are not complete: `interrupted`, `failed`, `still running` or
/// `unfinished`. `None` if all were made, or a stop condition made the rest unnecessary.
fn early_end(report: &ExperimentReport) -> Option<&'static str> {
    not_completed(report.status).or_else(|| is_short(report).then_some("unfinished"))
}

/// Describes how many trials were made before an early end: `interrupted after 5 of 9 trials`.
/// `None` if the trials are complete.
fn how_far(report: &ExperimentReport) -> Option<String> {
    let word = early_end(report)?;
    Some(format!("{word} after {} of {}", report.trials_done, count(report.trials, "trial")))
}

/// Returns true if trials are missing, and no stop condition made them unnecessary.
fn is_short(report: &ExperimentReport) -> bool {
    report.stop_condition.is_none() && trials_left(report).1 > 0
}

/// Returns true if trials are running or missing, so that the result is provisional.
pub fn is_unfinished(report: &ExperimentReport) -> bool {
    early_end(report).is_some()
}

fn question(report: &ExperimentReport) -> Vec<String> {
    let axis = |axis: &model::Axis| format!("{} ({})", axis.name, axis.values.join(", "));
    let varied: Vec<String> = report.axes.iter().map(axis).collect();
    match varied.is_empty() {
        true => Vec::new(),
        false => {
            let figure = title(&report.primary);
            vec![format!("How does {figure} change with {}?", varied.join(" and "))]
        }
    }
}

/// Describes the setup that all trials share: `SQLite 3.54.1, 4 clients, each measured 30 s`.
/// `None` without trials.
fn made_with(trials: &[TrialReport]) -> Option<String> {
    // Attempts that were stopped early do not count, and measured less.
    let counted = trials.iter().map(|trial| &trial.report).filter(|report| counts(report));
    let mut all: Vec<&Report> = counted.collect();
    if all.is_empty() {
        all = trials.iter().map(|trial| &trial.report).collect();
    }
    let environment = Environment::from_reports(&all);
    let load = environment.loads.iter().filter(|_| environment.loads.len() == 1);
    let load: String = load.map(|load| format!(", {load}")).collect();
    (!all.is_empty()).then(|| {
        let (databases, clients) = (databases(&environment), clients(&environment));
        format!("{databases}, {clients}{load}, each measured {}", span(environment.measured_s))
    })
}

/// Returns labelled lines on the databases, the machine, the dbdyno versions and the dates of the
/// trials.
fn made_on(trials: &[TrialReport]) -> Vec<(&'static str, String)> {
    let all: Vec<&Report> = trials.iter().map(|trial| &trial.report).collect();
    let environment = Environment::from_reports(&all);
    let spread = |(first, last)| format!("{} to {}", begun(first), begun(last));
    let trials = environment.begun.map(spread).unwrap_or_default();
    let machine = match environment.has_virtual_time() {
        true => "none: virtual time".to_owned(),
        false => [&environment.machines, &environment.systems].map(|all| several(all)).join("; "),
    };
    let mut pairs = vec![
        ("database", databases(&environment)),
        ("machine", machine.trim_matches(|mark| mark == ';' || mark == ' ').to_owned()),
        ("dbdyno", several(&environment.dbdyno)),
        ("trials", trials),
    ];
    pairs.retain(|(_, words)| !words.is_empty());
    pairs
}

fn verdict(report: &ExperimentReport, validity: Option<&Validity>) -> Verdict {
    let left = report.trials.saturating_sub(report.trials_done);
    let has = |severity| validity.is_some_and(|validity| validity.count(severity) > 0);
    let (tone, word) = match (validity, early_end(report)) {
        (Some(_), _) if has(Severity::Invalid) => (Tone::Bad, "Not valid.".to_owned()),
        (Some(validity), _) if has(Severity::Warning) => (Tone::Warning, validity.answer.clone()),
        (_, Some(early)) => (Tone::Warning, capital(early) + "."),
        _ if left > 0 => (Tone::Warning, String::new()),
        // Notes on its runs are no remark on the experiment.
        _ if !report.findings.is_empty() => (Tone::Plain, String::new()),
        _ => (Tone::Good, String::new()),
    };
    let (found, counts) = headline(report);
    Verdict { tone, word, headline: found.into(), details: vec![counts.into()] }
}

/// Returns the note below the table of an experiment's points: that it shows means with confidence
/// intervals, geometric ones beside a comparison of the points. `None` if no figure has an
/// interval.
fn what_is_shown(report: &ExperimentReport, sides: Option<&ComparisonReport>) -> Option<String> {
    // Ranges have an explanation of their own.
    let is_compared = sides.is_some();
    let is_mean = |(name, figure): (&str, &Figure)| {
        figure.half_width.is_some() && spread_of(report, name, is_compared) == Spread::Error
    };
    let mut all = report.points.iter().flat_map(|point| displayed(point, is_compared));
    let has_runs_alone = |pair: &PairReport| {
        let judged = pair.points.first().map(|point| &point.primary);
        let judged = judged.filter(|judged| judged.is_within_repeats);
        let sides = judged.map(|judged| [judged.baseline, judged.side].into_iter().flatten());
        let n_pairs = judged.and_then(|judged| judged.pairs).map_or(0, |pairs| pairs.n);
        sides.is_some_and(|mut sides| sides.any(|side| side.count > n_pairs))
    };
    let means = match sides {
        Some(sides) if sides.pairs.iter().any(has_runs_alone) => {
            "geometric means over runs ± 95 % CIs; the change above is of the repeats that both \
             sides have"
        }
        Some(_) => "geometric means over runs ± 95 % CIs; the change above is their quotient",
        None => "means over runs ± 95 % CIs",
    };
    all.any(is_mean).then(|| means.to_owned())
}

/// Returns the time of one more repeat of all points, in seconds. Each point counts with the usual
/// time from the start of one trial to the next, at least with the mean of ramp-up and measured
/// phase. `None` without trials or in virtual time.
pub fn repeat_s(report: &ExperimentReport, trials: &[TrialReport]) -> Option<f64> {
    let all: Vec<&Report> = trials.iter().map(|trial| &trial.report).collect();
    let environment = Environment::from_reports(&all);
    if all.is_empty() || environment.has_virtual_time() {
        return None;
    }
    let load_s: f64 = all.iter().map(|run| run.phases.ramp_up_s + run.measured_seconds).sum();
    let trial_s = environment.usual_gap_s.unwrap_or(0.0).max(load_s / all.len() as f64);
    Some(trial_s * report.points.len() as f64)
}

/// Returns a warning that commits at some values of a varied parameter may be lost in a crash while
/// others are durable; `None` if all are equally durable.
fn durability(report: &ExperimentReport, trials: &[TrialReport]) -> Option<String> {
    unequally_durable(trials, |point| {
        let values = report.points.get(point as usize).map(|point| &point.values.0[..]);
        values.unwrap_or_default().iter().map(|(axis, value)| format!("{axis}={value}")).collect()
    })
}

/// Returns notices that must by law or license accompany the trials' figures.
fn notices(trials: &[TrialReport]) -> Vec<String> {
    Environment::from_reports(&trials.iter().map(|trial| &trial.report).collect::<Vec<_>>()).notices
}

/// Counts the trials that were made but are not valid, by reason: `Not counted: 2 attempts: queue
/// full.` `None` if there are none.
fn not_counted(report: &ExperimentReport) -> Option<String> {
    let mut whys: Named<u64> = Named::default();
    for (why, n) in report.points.iter().flat_map(|point| point.why_not_counted.iter()) {
        whys.count(why, *n);
    }
    let said = |(why, n): (&str, &u64)| format!("{}: {why}", count(*n, "attempt"));
    let whys: Vec<String> = whys.iter().map(said).collect();
    (!whys.is_empty()).then(|| format!("Not counted: {}.", whys.join("; ")))
}

/// Returns the blocks on repeats: whether there are enough of them, and how much results vary
/// between rebuilds of the database, restarts of the server and runs.
fn repeats(report: &ExperimentReport) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(stop) = &report.stop_condition {
        blocks.push(Block::paragraphs(stop_lines(stop)));
        blocks.extend(decided(stop).map(Block::Table));
    }
    blocks.extend(report.levels.as_ref().map(|levels| Block::paragraphs(levels_lines(levels))));
    blocks
}

/// Returns the blocks on what ran: the setup that all trials share, and folded runs and plan.
fn ran(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Block> {
    let name = |point: &PointReport| match point.values.pairs(" ") {
        name if name.is_empty() => "all".to_owned(),
        name => name,
    };
    let runs = report.points.iter().map(|point| (name(point), &point.runs[..]));
    let runs = Block::details("Runs by point", Length::Short, vec![Block::runs(runs)]);
    let Some(first) = trials.first().map(|trial| &trial.report) else { return vec![runs] };
    let plan = vec![Block::Verbatim(first.plan.clone())];
    let plan = Block::details("The complete plan of the first trial", Length::Short, plan);
    vec![Block::pairs(in_common(trials)), Block::pairs(made_on(trials)), runs, plan]
}

/// Returns the section with the id and status of an experiment or search, and commands that show or
/// resume it.
pub(super) fn again(id: &str, status: Option<Status>, is_short: bool) -> Section {
    let short = short_id(id);
    let state = match status {
        None | Some(Status::Completed) => String::new(),
        Some(status) => format!(", {}", status.name()),
    };
    let has_ended = matches!(status, Some(Status::Interrupted | Status::Failed));
    let resume = (has_ended || is_short && status == Some(Status::Completed))
        .then(|| (format!("dbdyno experiments resume {short}"), "the trials that are left"));
    let show = (format!("dbdyno experiments show {short}"), "this page again");
    let commands = resume.into_iter().chain([show]);
    let commands: Vec<_> = commands.map(|(command, why)| (command, why.to_owned())).collect();
    let blocks =
        vec![Block::pairs([("experiment", format!("{id}{state}"))]), Block::commands(&commands)];
    Section::new(REPEAT, "How to repeat it", blocks)
}

/// Returns how many trials were made but are not valid, and how many were not made yet.
fn trials_left(report: &ExperimentReport) -> (u64, u64) {
    // A lost trial may have been made again.
    let repeats = report.trials / (report.points.len() as u64).max(1);
    let lost = report
        .points
        .iter()
        .map(|point| point.runs_not_counted.min(repeats.saturating_sub(point.runs.len() as u64)));
    let lost: u64 = lost.sum();
    (lost, report.trials.saturating_sub(report.trials_done + lost))
}

/// Returns the experiment's name with its varied parameters: `tpcc over mode × clients`.
fn name_over_axes(report: &ExperimentReport) -> String {
    let axes: Vec<&str> = report.axes.iter().map(|axis| axis.name.as_str()).collect();
    match axes.is_empty() {
        true => report.name.clone(),
        false => format!("{} over {}", report.name, axes.join(" × ")),
    }
}

/// Returns the headline, with the experiment's best point or the highest rate that the database
/// kept up with, and a sentence that counts points and trials.
fn headline(report: &ExperimentReport) -> (String, String) {
    let name = name_over_axes(report);
    let found = match &report.rate {
        // What failed may have been the best.
        _ if failed(report).is_some() && report.points.len() > 1 => {
            let failed = failed(report).unwrap_or_default();
            format!("FAILED at {failed}: no trial there counts, so there is no verdict on it")
        }
        _ if report.points.iter().all(|point| point.runs.is_empty()) => {
            let n_lost: u64 = report.points.iter().map(|point| point.runs_not_counted).sum();
            if n_lost == 0 { "nothing measured yet" } else { "no valid run" }.to_owned()
        }
        // The first trials are not a sample of all.
        _ if is_unfinished(report) && report.points.len() > 1 => "no best point yet".to_owned(),
        Some(rate) => kept(report, rate),
        None => verdict_of_stop(report).unwrap_or_else(|| best(report)),
    };
    let n = count(report.points.len() as u64, "point");
    let done = report.trials_done;
    let (lost, left) = trials_left(report);
    let rest = [(lost, "not counted"), (left, "not run")];
    let rest = rest.iter().filter(|(n, _)| *n > 0);
    let rest: String = rest.map(|(n, what)| format!(", {n} {what}")).collect();
    let done_and_counted = match done {
        _ if done == report.trials => "",
        _ => " done and counted",
    };
    let trials = format!("{done} of {}{done_and_counted}{rest}", count(report.trials, "trial"));
    // A single point has no order.
    let order = match report.points.len() {
        1 => String::new(),
        _ => format!(", {}", report.order.name()),
    };
    let how_far = how_far(report).map_or_else(String::new, |far| format!("{far}; "));
    (format!("{name}: {how_far}{found}"), format!("{n}, {trials}{order}"))
}

/// Describes the experiment's point (combination of varied parameters) with the best mean of the
/// primary figure.
fn best(report: &ExperimentReport) -> String {
    let primary = title(&report.primary);
    let best = report
        .points
        .iter()
        .rev()
        .filter_map(|point| Some((point, *point.figures.get(&report.primary)?)))
        .max_by(|a, b| better(report.better, &a.1, &b.1));
    let Some((point, figure)) = best else {
        let why = report.points.iter().find_map(|point| point.reasons.get(&report.primary));
        return match why {
            Some(why) => format!("no {primary}: {why}"),
            None => format!("no {primary}"),
        };
    };
    if report.points.len() == 1 {
        return format!("{primary} {}", answered(&figure));
    }
    let at = told(&report.axes, &point.values).pairs(", ");
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    let most = match (report.better == Direction::Lower, figure.is_wide()) {
        (true, false) => "least",
        (false, false) => "most",
        // The best point cannot be determined yet.
        (true, true) => "lowest mean",
        (false, true) => "highest mean",
    };
    let also = also(report, point, &figure);
    format!("{most} {primary}{at}: {}{also}", answered(&figure))
}

/// Names the experiment's points that may be as good as `best`, whose primary figure is `figure`:
/// those with overlapping confidence intervals, and those with too few runs to tell. Empty if there
/// are none.
fn also(report: &ExperimentReport, best: &PointReport, figure: &Figure) -> String {
    let own = |point: &PointReport| point.figures.get(&report.primary).copied();
    let reaches = |point: &&PointReport| {
        point.values != best.values && own(point).is_some_and(|own| own.reaches(figure))
    };
    let is_known =
        |point: &&PointReport| !figure.is_wide() && own(point).is_some_and(|own| !own.is_wide());
    let all = report.points.iter().filter(reaches);
    let (tied, unknown): (Vec<&PointReport>, Vec<&PointReport>) = all.partition(is_known);
    let tied =
        places(report, &tied).map_or_else(String::new, |at| format!("; CIs overlap at {at}"));
    let n_runs = unknown.iter().filter_map(|point| own(point)).map(|figure| figure.count).min();
    let unknown = places(report, &unknown).zip(n_runs).map_or_else(String::new, |(at, n)| {
        format!("; {} per point are too few to tell from {at}", count(n, "run"))
    });
    format!("{tied}{unknown}")
}

/// Names points of an experiment by their values, for a sentence: `clients=4, clients=8`. For more
/// than [`ALSO_MOST`] it is only their number: `5 other points`. `None` if there are none.
fn places(report: &ExperimentReport, points: &[&PointReport]) -> Option<String> {
    let name = |point: &&PointReport| short_point_name(&report.axes, &point.values);
    match points.len() {
        0 => None,
        1..=ALSO_MOST => Some(points.iter().map(name).collect::<Vec<_>>().join(", ")),
        n => Some(format!("{n} other points")),
    }
}

/// Describes the highest offered rate that the database kept up with, and the primary figure there.
fn kept(report: &ExperimentReport, rate: &RateReport) -> String {
    let Some(point) = rate.kept.and_then(|index| report.points.get(index)) else {
        return format!("no value of {} keeps up with the offered rate", rate.axis);
    };
    let figure = match point.figures.get(&report.primary) {
        Some(figure) => answered(figure),
        None => "not known".to_owned(),
    };
    let (at, primary) = (told(&report.axes, &point.values).pairs(", "), title(&report.primary));
    format!("keeps up with the offered rate up to {at}; {primary} there: {figure}")
}

/// Returns the table of an experiment's points (combinations of varied parameters), one per row,
/// with all figures.
pub fn experiment_points(report: &ExperimentReport) -> Table {
    table_of_points(report, false)
}

/// Returns the table of [`experiment_points`]; with `is_geometric`, people see geometric means, as
/// a comparison of the points has them.
fn table_of_points(report: &ExperimentReport, is_geometric: bool) -> Table {
    let names = shown_figures(report);
    // People see only the part in which targets differ; programs read the whole name.
    let axis = |axis: &model::Axis| {
        let name = axis.name.strip_prefix(OF_SERVER).unwrap_or(&axis.name).to_owned();
        [Column::data(axis.name.clone()), Column::new(name, align(axis)).head()]
    };
    let told: Vec<Vec<String>> = report.axes.iter().map(axis_names::names).collect();
    let mut columns: Vec<Column> = report.axes.iter().flat_map(axis).collect();
    columns.push(Column::new("runs", Align::Right));
    columns.extend(["runs", "runs_not_counted"].map(Column::data));
    let titled = |name: &str| {
        let unit = report.units.get(name).map_or("", String::as_str);
        title_with_unit(name, unit)
    };
    // A narrow page keeps the primary figure and p99.
    let of_figure = |name: &&str| match *name {
        name if name == report.primary => Column::new(titled(name), Align::Right),
        name => match SPARE.iter().position(|spare| *spare == name) {
            Some(at) => Column::spare(titled(name), Align::Right, at as u8 + 1),
            None => Column::new(titled(name), Align::Right),
        },
    };
    columns.extend(names.iter().map(of_figure));
    // Programs read figures that are always 0 too, but none that no point has.
    let mut known: Vec<&str> = Vec::new();
    for (name, _) in report.points.iter().flat_map(|point| point.figures.iter()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let of_figure =
        |name: &&str| ["", "_half_width", "_min", "_max"].map(|suffix| format!("{name}{suffix}"));
    columns.extend(known.iter().flat_map(of_figure).map(Column::data));
    columns.push(Column::data("warnings"));
    let spreads: Vec<Spread> =
        names.iter().map(|name| spread_of(report, name, is_geometric)).collect();
    let row = |point: &PointReport| {
        let values = report.axes.iter().zip(&told).zip(point.values.iter());
        let mut cells: Vec<Cell> = Vec::new();
        for ((axis, told), (_, value)) in values {
            let index = axis.values.iter().position(|known| known == value);
            let told = index.map_or(value, |index| &told[index]);
            cells.extend([value.as_str().into(), told.as_str().into()]);
        }
        cells.extend([runs(point).into(), point.runs.len().into(), point.runs_not_counted.into()]);
        let spreads = names.iter().zip(&spreads);
        cells.extend(
            spreads.map(|(name, spread)| Cell::from(cell(point, name, *spread, is_geometric))),
        );
        cells.extend(known.iter().flat_map(|name| exact_cells(point, name)));
        let warnings: Vec<&str> = point.findings.iter().map(|(id, _)| id).collect();
        cells.push(warnings.join(" ").into());
        cells
    };
    Table::filled("points", "", columns, report.points.iter().map(row).collect())
}

/// Returns the names of the figures that the table of an experiment's points shows, in order: those
/// that some point has or has too few samples for, without counts that are always 0.
fn shown_figures(report: &ExperimentReport) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, figure) in report.points.iter().flat_map(|point| &point.figures.0) {
        let is_dull = matches!(name.as_str(), "errors_percent" | "unfinished") && figure.max == 0.0;
        if !names.contains(&name.as_str()) && !is_dull {
            names.push(name);
        }
    }
    let needed = report.points.iter().flat_map(|point| point.samples_needed.iter());
    let in_some = report.points.iter().flat_map(|point| point.runs_with.iter());
    for (name, _) in needed.chain(in_some) {
        if !names.contains(&name) {
            // The column stands beside those of other times.
            let after = names.iter().rposition(|other| is_time(other) || *other == "tps");
            names.insert(after.map_or(0, |index| index + 1), name);
        }
    }
    names
}

/// Returns how the column of the figure `name` shows the spread of each point's runs.
fn spread_of(report: &ExperimentReport, name: &str, is_geometric: bool) -> Spread {
    let figure = |point| displayed(point, is_geometric).find(|(known, _)| *known == name);
    Spread::of_column(report.points.iter().filter_map(figure).map(|(_, figure)| figure))
}

/// Returns the figures of a point as people see them, with their names: geometric means with
/// `is_geometric`, where there are any, else arithmetic ones.
fn displayed(point: &PointReport, is_geometric: bool) -> impl Iterator<Item = (&str, &Figure)> {
    point.figures.iter().map(move |(name, figure)| {
        let geometric = point.geometric.get(name).filter(|_| is_geometric);
        (name, geometric.unwrap_or(figure))
    })
}

/// Returns the cells of a figure for programs: mean, half-width of its confidence interval, minimum
/// and maximum.
fn exact_cells(point: &PointReport, name: &str) -> [Cell; 4] {
    let figure = point.figures.get(name);
    [
        figure.map(|figure| figure.mean).into(),
        figure.and_then(|figure| figure.half_width).into(),
        figure.map(|figure| figure.min).into(),
        figure.map(|figure| figure.max).into(),
    ]
}

/// Returns the alignment of a varied parameter's values in a table: numbers to the right, words to
/// the left.
fn align(axis: &model::Axis) -> Align {
    match axis.values.iter().all(|value| number(value).is_some()) {
        true => Align::Right,
        false => Align::Left,
    }
}

fn runs(point: &PointReport) -> String {
    match point.runs_not_counted {
        0 => point.runs.len().to_string(),
        lost if point.runs.is_empty() => {
            format!("none, {} not counted", count(lost, "attempt"))
        }
        lost => format!("{}, {} not counted", point.runs.len(), count(lost, "attempt")),
    }
}

fn cell(point: &PointReport, name: &str, spread: Spread, is_geometric: bool) -> String {
    let figure = displayed(point, is_geometric).find(|(known, _)| *known == name);
    let Some((_, figure)) = figure else {
        return match point.runs_with.get(name) {
            Some(n) => format!("only {n} of {} runs", point.runs.len()),
            None => time(None, &point.samples_needed, name),
        };
    };
    match is_time(name) && figure.half_width.is_none() && figure.mean.is_finite() {
        true => ms(Some(figure.mean)),
        false => shown(figure, spread),
    }
}

/// Formats a response time in milliseconds, which is the figure `name`; `too few` if it is unknown
/// because it needs more samples (`samples_needed`).
pub(super) fn time(value: Option<f64>, samples_needed: &Named<u64>, name: &str) -> String {
    match (value, samples_needed.get(name)) {
        (None, Some(_)) => "too few".to_owned(),
        _ => ms(value),
    }
}

/// Returns, for each percentile for which some points of an experiment (or probes of a search) have
/// too few samples, how many it needs: `p99 ms: too few samples: needs at least 1,000`.
pub(super) fn too_few<'r>(all: impl Iterator<Item = &'r Named<u64>>) -> Vec<String> {
    let mut found: Vec<(&str, u64)> = Vec::new();
    for (name, needed) in all.flat_map(Named::iter) {
        if !found.iter().any(|(other, _)| *other == name) {
            found.push((name, *needed));
        }
    }
    let line = |(name, needed): (&str, u64)| {
        let needed = model::format_count(needed);
        format!("{}: too few samples: needs at least {needed}", title(name))
    };
    found.into_iter().map(line).collect()
}

/// Describes a curve by its values, and sketches it in a line of text.
fn sketched(report: &ExperimentReport, curve: &Curve) -> Vec<Block> {
    let means: Vec<f64> = report
        .points
        .iter()
        .filter_map(|point| point.figures.get(&curve.figure).map(|figure| figure.mean))
        .collect();
    if means.len() < SKETCHED_LEAST {
        return Vec::new();
    }
    let words = format!("{}: {}.", along(report, curve), in_words(curve, is_unfinished(report)));
    // Infinite values cannot be drawn.
    let sketch = means
        .iter()
        .all(|mean| mean.is_finite())
        .then(|| Block::Sketch(Sketch::from_lowest(&means)));
    std::iter::once(Block::paragraphs([words])).chain(sketch).collect()
}

/// Returns true if the curve's lowest value must be the first one, as for response times over a
/// rising arrival rate.
fn is_least_at_first(curve: &Curve) -> bool {
    is_time(&curve.figure) && is_arrival_rate(&curve.axis)
}

/// Names the figure and the varied parameter of a curve: `TPS over clients`, with `, at 3 of 4
/// points` if other points lack the figure.
fn along(report: &ExperimentReport, curve: &Curve) -> String {
    let (figure, axis) = (title(&curve.figure), &curve.axis);
    let known = report.points.iter().filter(|point| point.figures.get(&curve.figure).is_some());
    match (known.count(), report.points.len()) {
        (known, all) if known < all => {
            format!("{figure} over {axis}, at {known} of {all} points")
        }
        _ => format!("{figure} over {axis}"),
    }
}

/// Describes a curve: `first 1, mean of points 2, peak 3 at 8, last 2`. The peak is left out if
/// trials are missing, or if the best value is always at the beginning.
fn in_words(curve: &Curve, is_unfinished: bool) -> String {
    let number = |value: f64| significant(value, 4);
    let (first, mean, last) = (number(curve.first), number(curve.mean), number(curve.last));
    let best = match is_least_at_first(curve) || is_unfinished {
        true => String::new(),
        false => format!(", {} {} at {}", best_word(curve), number(curve.best), curve.best_at),
    };
    format!("first {first}, mean of points {mean}{best}, last {last}")
}

fn best_word(curve: &Curve) -> &'static str {
    if curve.better == Direction::Lower { "lowest" } else { "peak" }
}

/// Returns the section on the Universal Scalability Law: its fitted parameters, its peak, and how
/// well it fits.
fn of_law(report: &ExperimentReport, law: &ScalabilityReport) -> Section {
    let with_interval = |[value, low, high]: [f64; 3]| {
        let number = |value: f64| significant(value, 3);
        format!("{} ({} to {})", number(value), number(low), number(high))
    };
    let small = |[value, low, high]: [f64; 3]| format!("{value:.2e} ({low:.2e} to {high:.2e})");
    let worst = format!("{:+.1} % at {} clients", law.worst.0 * 100.0, law.worst.1);
    let mut pairs = vec![
        ("one client", format!("{} {}", with_interval(law.lambda), title(&report.primary))),
        ("contention", with_interval(law.sigma)),
        ("coherency", small(law.kappa)),
    ];
    pairs.extend(peak(law));
    pairs.push(("residuals", format!("{:.1} %, the largest {worst}", law.residual * 100.0)));
    let misfit = misfit(law).map(|why| {
        let advice = "The parameters are only a rough guide.";
        format!("It does not fit: {why}. {advice}")
    });
    let blocks = vec![Block::pairs(pairs), Block::paragraphs(misfit)];
    let section = Section::new("usl", "Universal Scalability Law", blocks);
    Section { note: "with 90 % intervals".to_owned(), ..section }
}

/// Returns a label with the peak of the Universal Scalability Law, or with the reason why it has
/// none; `None` if neither is known.
fn peak(law: &ScalabilityReport) -> Option<(&'static str, String)> {
    let with_interval = |value: f64, interval: Option<(f64, f64)>, digits: usize| {
        let number = |value: f64| significant(value, digits);
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", number(low), number(high))
        });
        format!("{}{interval}", number(value))
    };
    match (law.peak_clients, law.peak) {
        (Some(clients), Some(peak)) => {
            let (peak, clients) = (
                with_interval(peak, law.peak_interval, 4),
                with_interval(clients, law.peak_clients_interval, 3),
            );
            Some(("its peak", format!("{peak} at {clients} clients")))
        }
        _ => law.no_peak.clone().map(|why| ("its peak", why)),
    }
}

/// Returns the labelled lines on the setup of an experiment, each with only the parts that all
/// trials share.
fn in_common(trials: &[TrialReport]) -> Vec<(String, String)> {
    let all: Vec<Vec<Line>> = trials.iter().map(|trial| lines(&trial.report)).collect();
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let shared = |(row, line): (usize, &Line)| {
        let has = |other: &Vec<Line>, part: &String| {
            other.get(row).is_some_and(|line| line.parts.contains(part))
        };
        let mut shared = line.clone();
        shared.parts.retain(|part| others.iter().all(|other| has(other, part)));
        (!shared.parts.is_empty()).then(|| (shared.label.clone(), shared.words()))
    };
    first.iter().enumerate().filter_map(shared).collect()
}

#[cfg(test)]
mod tests;
