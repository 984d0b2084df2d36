//! The first page of a comparison, which fits a screen: verdicts, figures, warnings, differences
//! between the compared sets of runs, and suggested commands.
//!
//! Not here: the full page, which has all in sections.

use std::iter::once;

use model::Severity;
use model::finding_catalog::{catalog_entry, label};
use model::numbers::{count, significant};
use study::comparison::{
    ComparisonReport, EachTransaction, GateResult, PairReport, Ratio, telling,
};

use super::executions;
use super::{
    ALL, CENTERS, SIDES_NAMED_MOST, detectable, finding_ids, gate, how_paired, in_all_runs,
    in_runs, is_uneven, lead, lost_runs, names_of, no_difference, not_plain, notes, of_medians,
    only_point, over_all, remarks, role, seeds, shortened, sign, summed_up, table, verdicts,
    with_caution, words,
};
use crate::document::{Block, Document, Remark, Section, Text, Validity, Verdict};
use crate::first_page::{
    LINES_MOST, NOTES_MOST, WARNINGS_MOST, WITH_FULL, fitting, in_brief, more, next_block,
    up_to_clause,
};
use crate::scene::{ago, clients, databases, several, span, workloads};
use crate::wording::{begun, without_stop};

/// Largest number of rows that a comparison's first page shows of each table of figures; the others
/// are shown as a number.
const ROWS_MOST: usize = 12;

/// Largest lengths of the lists on a comparison's first page. Smaller ones are tried until the page
/// fits a screen.
struct Room {
    warnings: usize,
    notes: usize,
    /// Largest length of a note, in characters.
    note_letters: usize,
    /// Largest number of differences between the sides of the comparison that are listed.
    differences: usize,
}

/// Limits of a comparison's first page that are tried one after the other until it fits a screen,
/// the most generous first.
const ROOMS: [Room; 4] = [
    Room { warnings: WARNINGS_MOST, notes: NOTES_MOST, note_letters: 270, differences: 4 },
    Room { warnings: 2, notes: NOTES_MOST, note_letters: 200, differences: 3 },
    Room { warnings: 2, notes: 1, note_letters: 130, differences: 2 },
    Room { warnings: 1, notes: 0, note_letters: 0, differences: 1 },
];

/// Largest number of parts of a transaction's time whose change a comparison's first page names;
/// smaller changes are left out.
const PARTS_MOST: usize = 3;

/// Confidence of the interval of the change of the service time.
const SERVICE_CONFIDENCE: f64 = 0.95;

/// Smallest change of a part of a transaction's time that is named, as a share of the service time.
const CHANGE_MIN: f64 = 0.02;

/// Returns the first page of a comparison, with the outcomes of its gates (limits on changes).
/// `next` has suggested commands with their purposes. Lists are shortened until the page fits a
/// screen.
pub fn comparison_short(
    report: &ComparisonReport,
    gates: &[GateResult],
    next: &[(String, String)],
) -> Document {
    fitting(LINES_MOST, ROOMS.iter().map(|room| in_room(report, gates, next, room)))
}

fn in_room(
    report: &ComparisonReport,
    gates: &[GateResult],
    next: &[(String, String)],
    room: &Room,
) -> Document {
    let mut page = Document::new("Comparison", super::comparison_title(report));
    let all = Validity::of_remarks(remarks(report));
    page.verdicts = gates.iter().map(gate).chain(verdicts_shortly(report)).collect();
    page.validity = all.map(|all| Validity { remarks: shown_remarks(report, room), ..all });
    let last = if next.is_empty() { "Notes" } else { "Next" };
    page.sections = vec![
        Section::new("result", "Result", results(report)),
        Section::new("changed", "What changed", vec![Block::pairs(context(report, room))]),
        Section::new("next", last, going_on(report, next)),
    ];
    page.n_answering = 1;
    page
}

/// Returns the time that one more repeat of all points on all sides of a comparison would take, in
/// seconds: for each run the longest ramp-up and measured phase, or the usual time between starts
/// of runs if that is longer and runs of the sides alternate. `None` in virtual time.
pub fn compared_repeat_s(report: &ComparisonReport) -> Option<f64> {
    let scene = &report.scene;
    let n_points = report.pairs.iter().map(|pair| pair.points.len()).max().unwrap_or(1).max(1);
    // Runs of one experiment follow each other.
    let is_interleaved = report.pairs.iter().all(|pair| pair.is_interleaved);
    let gap_s = scene.usual_gap_s.filter(|_| is_interleaved).unwrap_or(0.0);
    let each_s = gap_s.max(scene.ramp_up_s.1 + scene.measured_s.1);
    (!scene.has_virtual_time()).then(|| each_s * (report.sides.len() * n_points) as f64)
}

/// Returns the verdict on each side of a comparison in a sentence, with its durability and the
/// smallest detectable difference.
pub(crate) fn verdicts_shortly(report: &ComparisonReport) -> Vec<Verdict> {
    let has_warnings = remarks(report).iter().any(|remark| remark.severity == Severity::Warning);
    let shortened = |pair| {
        let mut all = verdicts(report, pair);
        let missed = summed_up(pair).first().and_then(|judged| detectable(report, judged));
        let details = lead(report, pair).chain(missed);
        all[0].details = details.map(Text::from).collect();
        if has_warnings {
            with_caution(&mut all, report, pair);
        }
        all
    };
    report.pairs.iter().flat_map(shortened).collect()
}

/// Returns the tables of figures for a comparison's first page, one per compared side, and below
/// them a line on the method.
fn results(report: &ComparisonReport) -> Vec<Block> {
    let of_pair = |pair: &PairReport| {
        let title = match report.pairs.len() {
            1 => String::new(),
            _ => super::versus(&pair.side, &report.sides[0].name),
        };
        let table = table(report, pair).without(&["p", "detectable"]);
        Block::Part(title, vec![Block::Table(table.shown_max(ROWS_MOST, WITH_FULL))])
    };
    let how = Block::paragraphs([how(report)]);
    // The headline has the reason of the first figure.
    let others = report.pairs.iter().flat_map(|pair| summed_up(pair).into_iter().skip(1));
    let others =
        others.filter(|judged| judged.verdict == study::comparison::Verdict::CannotBeJudged);
    let whys = Block::paragraphs(not_plain(others));
    report.pairs.iter().map(of_pair).chain([whys, how]).collect()
}

/// Confidence of intervals above which a page says why it is not 95 %.
const ABOVE_95: f64 = 0.9505;

/// Describes how a comparison was made: `baseline old; geometric means of 4 runs a side,
/// interleaved, and compared unpaired (in pairs from 6 repeats on); changes with 97.1 % CIs`.
fn how(report: &ComparisonReport) -> String {
    let (least, most) = runs_a_point(report);
    let runs = match least == most {
        true => count(most, "run"),
        false => format!("{least} to {}", count(most, "run")),
    };
    let base = &report.sides[0].name;
    let at = only_point(report).map_or_else(String::new, |point| format!(" at {point}"));
    let has_points = report.pairs.iter().any(|pair| pair.points.len() > 1);
    let points = if has_points { " and point" } else { "" };
    let mut said = match most {
        1 => format!("baseline {base}{at}; a single run each"),
        _ => format!("baseline {base}{at}; {CENTERS} of {runs} a side{points}"),
    };
    said.extend(how_paired(report).map(|words| format!(", {words}")));
    let all = || report.pairs.iter().flat_map(|pair| pair.points.iter().map(|at| &at.primary));
    let confidence = all().filter_map(|judged| judged.ratio?.confidence).fold(f64::NAN, f64::min);
    if confidence.is_finite() {
        // So few ranks allow only some.
        let level =
            if confidence > ABOVE_95 { " (so few runs allow none of exactly 95 %)" } else { "" };
        said.push_str(&format!("; changes with {} % CIs{level}", words::confidence(confidence)));
    }
    if all().any(|judged| judged.p_corrected.is_some()) {
        said.push_str("; p-values with --full");
    }
    if report.pairs.iter().any(|pair| over_all(pair).next().is_some()) {
        said.push_str(&format!("; '{ALL}': over all points"));
    }
    said.extend(of_medians(report).map(|words| format!(". {}", without_stop(&words))));
    said
}

/// Returns the smallest and the largest number of runs of a side at a point.
fn runs_a_point(report: &ComparisonReport) -> (u64, u64) {
    let points = report.pairs.iter().flat_map(|pair| &pair.points);
    let sides = points.flat_map(|at| [at.primary.baseline, at.primary.side]);
    let mut runs: Vec<u64> = sides.flatten().map(|figure| figure.count).collect();
    if runs.is_empty() {
        runs = report.sides.iter().map(|side| side.runs.len() as u64).collect();
    }
    (runs.iter().copied().min().unwrap_or(0), runs.iter().copied().max().unwrap_or(0))
}

/// Returns the warnings on a comparison's first page in a line or two each: excluded runs first,
/// then findings, seeds and damaged runs.
fn shown_remarks(report: &ComparisonReport, room: &Room) -> Vec<Remark> {
    let mut warnings = counted_findings(report);
    // Different loads are said with the verdict.
    warnings.splice(0..0, lost_runs(report));
    warnings.extend(seeds(report));
    warnings.extend(crate::wording::left_out(&report.damaged));
    let more = more(warnings.len(), room.warnings).map(|more| format!("{more}."));
    let shown = warnings.iter().take(room.warnings).map(|text| in_brief(text));
    shown.chain(more).map(|text| Remark::new(Severity::Warning, text)).collect()
}

/// Describes each finding with the number of runs: `debug build in all 8 runs: ...`. A finding that
/// is much more frequent on one side of the comparison comes first: `other CPU load in 4 of 4 runs
/// of A, 1 of 4 of B; ...: Other programs ...`.
fn counted_findings(report: &ComparisonReport) -> Vec<String> {
    let ids = finding_ids(report);
    let mut all: Vec<String> = Vec::new();
    for id in ids {
        let explains = super::explains(report, id);
        // Where the sides have it alike, the runs of all are counted together.
        let counted = match is_uneven(report, id) {
            true => in_runs(report, id, report.sides.iter()),
            false => in_all_runs(report, id),
        };
        let explains = explains.map_or_else(String::new, |words| format!("; {words}"));
        let seen = super::seen(report, id);
        let raised = || catalog_entry(id).map_or("", |entry| entry.raised).to_owned();
        let seen = seen.map_or_else(raised, |seen| without_stop(&seen).to_owned());
        all.push(format!("{} in {counted}{explains}: {seen}", label(id)));
    }
    all
}

/// Returns the labelled lines below the tables of a comparison's first page: differences, commits,
/// parts of the time, setup and notes. Empty ones are left out.
fn context(report: &ComparisonReport, room: &Room) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("differences", differ(report, room)), ("commits", commits(report))];
    let executed = report.pairs.iter().filter_map(executions::changed_shortly);
    pairs.extend(
        executed.map(|words| ("executed", format!("{words}; --section executions has all"))),
    );
    pairs.push(("time goes", times(report)));
    pairs.push(("setup", setup(report)));
    let all = notes(report);
    let shown = all.iter().take(room.notes);
    pairs.extend(shown.map(|text| ("note", up_to_clause(text, room.note_letters))));
    pairs.extend(more(all.len(), room.notes).map(|more| ("note", more)));
    pairs.retain(|(_, words)| !words.is_empty());
    pairs
}

/// Describes the differences between the sides of a comparison that their names do not show.
fn differ(report: &ComparisonReport, room: &Room) -> String {
    if report.differences.is_empty() {
        return no_difference(report).to_owned();
    }
    // The full page only counts what one side alone has.
    let of_all = report.differences.iter().filter(|difference| !super::is_one_sided(difference));
    let n_of_all = of_all.clone().count();
    let [pair] = report.pairs.as_slice() else {
        return format!("{}, {WITH_FULL}", count(n_of_all as u64, "fact"));
    };
    // Parts of the load are said with the verdict.
    let of_load = report.load_differs(pair);
    let mut all = telling(&report.differences, 1);
    all.retain(|(name, _)| of_load.iter().all(|(known, _)| known != name));
    let names: Vec<&str> = report.sides.iter().map(|side| &*side.name).collect();
    let is_named = |(name, values): &(String, [String; 2])| {
        names.iter().zip(values).all(|(side, value)| **side == format!("{name}={value}"))
    };
    if let [one] = &all[..]
        && is_named(one)
    {
        let follows = |other: &&study::comparison::Difference| !other.name.ends_with(&*one.0);
        let others: Vec<_> = of_all.filter(follows).collect();
        return match (others.len().saturating_sub(of_load.len()), &others[..]) {
            (0, _) if !of_load.is_empty() => String::new(),
            (0, _) => format!("{} alone", one.0),
            // One name is no longer than its number.
            (1, [other]) => format!("{}; {}", one.0, other.short_among(report.differences.iter())),
            (n, _) => format!("{}; {n} more, {WITH_FULL}", one.0),
        };
    }
    let shown = all.iter().take(room.differences).map(|(name, values)| {
        let [base, side] = values.each_ref().map(|value| shortened(value));
        format!("{name}: {side}, baseline {base}")
    });
    let mut parts: Vec<String> = shown.collect();
    parts.extend(more(n_of_all.saturating_sub(of_load.len()), parts.len()));
    parts.join("; ")
}

/// Describes how each side of a comparison makes commits durable; modes that all sides have are
/// written once. Empty if the sides do not differ.
pub(super) fn commits(report: &ComparisonReport) -> String {
    let sides = &report.sides;
    if sides.iter().all(|side| side.modes == sides[0].modes) || sides.len() > SIDES_NAMED_MOST {
        return String::new();
    }
    let names = names_of(report);
    let is_common = |mode: &&String| sides.iter().all(|side| side.modes.contains(mode));
    let to_words = |(at, side): (usize, &study::comparison::SideReport)| {
        let name =
            names.as_ref().map_or_else(|| role(report, at).into_owned(), |all| all[at].clone());
        let is_own = |mode: &&String| !is_common(mode) && **mode != side.name;
        let own: Vec<&str> = side.modes.iter().filter(is_own).map(String::as_str).collect();
        let modes = match (own.is_empty(), side.modes.is_empty()) {
            (false, _) => own.join(", "),
            (true, _) if side.modes_vary => "not the same at all points".to_owned(),
            (true, true) => "not known".to_owned(),
            (true, false) => "nothing else known".to_owned(),
        };
        format!("{name}: {modes}")
    };
    // What is in the names of the sides is not said again.
    let is_in_name = |side: &study::comparison::SideReport| {
        let mut own = side.modes.iter().filter(|mode| !is_common(mode)).peekable();
        own.peek().is_some() && own.all(|mode| *mode == side.name)
    };
    let are_in_names = sides.iter().all(is_in_name);
    let common: Vec<&str> = sides[0].modes.iter().filter(is_common).map(String::as_str).collect();
    let common = (!common.is_empty()).then(|| format!("all sides: {}", common.join(", ")));
    let own = sides.iter().enumerate().filter(|_| !are_in_names).map(to_words);
    own.chain(common).collect::<Vec<_>>().join("; ")
}

/// Describes the mean service time of a transaction for baseline and compared side, with the parts
/// that changed most, if any changed beyond its confidence interval.
fn times(report: &ComparisonReport) -> String {
    let [pair] = report.pairs.as_slice() else { return String::new() };
    let [at] = pair.each_transaction.as_slice() else { return String::new() };
    let service = at.figures.iter().find(|figure| figure.is_service_time());
    let Some(service) = service else { return String::new() };
    let is_part = |figure: &&EachTransaction| {
        figure.is_time() && !figure.is_service_time() && !figure.is_beside()
    };
    let least_ms = CHANGE_MIN * service.baseline;
    let size_ms = |part: &EachTransaction| (part.side - part.baseline).abs();
    let is_change = |part: &&EachTransaction| size_ms(part) >= least_ms;
    let mut changed: Vec<_> = at.figures.iter().filter(is_part).filter(is_change).collect();
    changed.sort_by(|a, b| size_ms(b).total_cmp(&size_ms(a)));
    let is_any_sure = changed.iter().any(|part| !is_noise(part));
    changed.truncate(if is_any_sure { PARTS_MOST } else { 0 });
    let shown = changed.into_iter().map(|part| {
        let by = part.side - part.baseline;
        let noise = if is_noise(part) { " (within the noise)" } else { "" };
        format!("{} {}{} ms{noise}", part.title(), sign(by), significant(by.abs(), 2))
    });
    let shown: Vec<String> = shown.collect();
    let most =
        if shown.is_empty() { String::new() } else { format!("; most: {}", shown.join(", ")) };
    let [base, side] = [service.baseline, service.side].map(|ms| significant(ms, 3));
    let how = match service.interval {
        None => " (too few runs for a CI)".to_owned(),
        Some((low, high)) => {
            let noise = if is_noise(service) { ": the sum is within the noise" } else { "" };
            let value = service.ratio.unwrap_or(service.side / service.baseline);
            let interval = Some((low, high));
            let ratio = Ratio { value, interval, confidence: Some(SERVICE_CONFIDENCE) };
            format!(", {}{noise}", words::change_within(&service.name, &ratio))
        }
    };
    let few = at
        .samples_if_few()
        .map(|n| format!("; a rough estimate: {} of sessions", count(n, "sample")));
    let few = few.unwrap_or_default();
    format!("{side} ms a transaction, baseline {base}{how}{most}{few}")
}

/// Returns true if the figure may be unchanged: the confidence interval of its ratio includes 1.
fn is_noise(figure: &EachTransaction) -> bool {
    figure.interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
}

/// Describes the setup of a comparison's runs: `tpcc (warehouses 1) on SQLite 3.54.1, 4 clients,
/// closed, 6 s after 1 s of ramp-up, from 2026-11-28 02:10:52 UTC`.
fn setup(report: &ComparisonReport) -> String {
    let scene = &report.scene;
    let mut parts = vec![
        format!("{} on {}", workloads(scene), databases(scene)),
        clients(scene),
        several(&scene.loads),
        format!("{} after {} of ramp-up", span(scene.measured_s), span(scene.ramp_up_s)),
    ];
    if scene.has_virtual_time() {
        parts.push("virtual time".to_owned());
    }
    let ago = report.age_s().map(|age_s| format!(" ({})", ago(age_s))).unwrap_or_default();
    parts.extend(scene.begun.map(|(first, _)| format!("from {}{ago}", begun(first))));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Returns the end of a comparison's first page: legally required notices on the figures, and
/// suggested commands.
fn going_on(report: &ComparisonReport, next: &[(String, String)]) -> Vec<Block> {
    let notices = Block::paragraphs(report.scene.notices.iter().cloned());
    once(notices).chain(next_block(next)).collect()
}
