//! The page of a history: for each series a verdict, a curve over its builds, changes of level, and
//! a table of builds.
//!
//! Not here: how changes are found and judged (study).

use analysis::figures::title;
use model::Severity;
use model::format_count;
use model::numbers::{capital, count, exact, significant};
use study::history::{
    Acknowledged, BuildReport, Change, HistoryReport, ImportedFrom, JUDGED_FROM, Last, LeftOut,
    Ordered, PointHistory, Start, too_short,
};

use super::charts::of_history;
use super::document::{
    Block, Document, Length, Link, Place, Remark, Sketch, Text, Tone, Validity, Verdict,
};
use super::scene::scene;
use super::wording::left_out as damaged;
use super::wording::{changed, title_with_unit};
use super::{Align, Cell, Column, Table};

/// Returns the page of a history: how a figure changed over builds.
pub fn history(report: &HistoryReport) -> Document {
    let figure = title(&report.figure);
    let mut page = Document::new("History", format!("{figure} by {}", report.by));
    page.question = vec![format!("Has the level of {figure} changed, and at which {}?", report.by)];
    page.scene = report.scene.iter().map(scene).collect();
    let (short, judged): (Vec<&PointHistory>, Vec<&PointHistory>) =
        report.points.iter().partition(|point| is_short(point));
    page.verdicts = judged.into_iter().map(|point| verdict(report, point)).collect();
    page.verdicts.extend(match short[..] {
        [] => None,
        [point] => Some(verdict(report, point)),
        _ => Some(too_short_verdict(report, &short)),
    });
    page.validity = validity(report);
    let noun = report.noun();
    let over = vec![Block::Charts(of_history(report)), Block::paragraphs(about(report))];
    page.section("builds", format!("Over {noun}s"), over);
    page.sections[0].where_drawn = Place::First;
    page.n_answering = 1;
    let series = report.points.iter().map(|point| series(report, point));
    page.section("figures", capital(&format!("{noun}s")), series.collect());
    page
}

/// Returns the block of a series, that is the values of one point (combination of varied
/// parameters) over all builds: a sketch of its curve, the table of builds, and the ids of runs.
fn series(report: &HistoryReport, point: &PointHistory) -> Block {
    let values: Vec<f64> = point.builds.iter().map(|build| build.value).collect();
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let values: Vec<f64> = values.into_iter().map(|value| value.min(most)).collect();
    let mut blocks =
        vec![Block::Sketch(Sketch::from_lowest(&values)), Block::Table(table(report, point))];
    // Imported figures have no runs.
    if point.imported.is_none() {
        let runs = point.builds.iter().map(|build| (build.build.clone(), &build.runs[..]));
        let runs = vec![Block::runs(runs)];
        blocks.push(Block::details(format!("Runs by {}", report.by), Length::Short, runs));
    }
    Block::Part(point.name(), blocks)
}

/// Returns the warnings of a history: series whose runs are not independent, and builds and runs
/// that are left out. `None` if there are none.
fn validity(report: &HistoryReport) -> Option<Validity> {
    let warning = |text: String| Remark::new(Severity::Warning, text);
    let seeds = report.points.iter().filter_map(|point| one_seed(report, point));
    Validity::of_remarks(seeds.chain(left_out(report)).map(warning).collect())
}

/// Returns a warning that all runs of a series on a simulated database have the same seed, so that
/// they are not independent; `None` if their seeds differ, or the database is not simulated.
fn one_seed(report: &HistoryReport, point: &PointHistory) -> Option<String> {
    let noun = report.noun();
    let name = point.name();
    let of_series = if name.is_empty() { name } else { format!(" of {name}") };
    point.is_one_seed.then(|| {
        format!(
            "All runs{of_series} have the same seed: a simulated database draws the same random numbers \
             from the same seed, so the variation between {noun}s is not known. Give each run a \
             different seed (--seed)."
        )
    })
}

fn verdict(report: &HistoryReport, point: &PointHistory) -> Verdict {
    let changes = point.changes.as_deref().unwrap_or_default();
    let is_noisy = point.last.as_ref().is_some_and(|last| last.is_noisy && !last.is_outside);
    let tone = match (&point.changes, &point.last) {
        _ if point.has_regressed => Tone::Bad,
        _ if point.lacks.as_ref().is_some_and(|lost| lost.runs_not_counted > 0) => Tone::Warning,
        _ if !point.lost.is_empty() => Tone::Warning,
        _ if is_short(point) => Tone::Plain,
        (None, None) => Tone::Warning,
        _ if is_noisy
            || point.lacks.is_some()
            || point.is_one_seed
            || changes.last().is_some_and(|one| one.is_worse && one.acknowledged.is_none()) =>
        {
            Tone::Plain
        }
        _ => Tone::Good,
    };
    let headline = headline(report, point).into();
    Verdict { tone, word: String::new(), headline, details: sentences(report, point).collect() }
}

/// Returns true if a series has too few builds for a verdict on the last one.
fn is_short(point: &PointHistory) -> bool {
    let is_unknown = point.changes.is_none() && point.last.is_none() && point.baseline.is_none();
    is_unknown && point.lacks.is_none() && point.starts.is_empty()
}

/// Returns a common verdict for all series that are too short to judge.
fn too_short_verdict(report: &HistoryReport, short: &[&PointHistory]) -> Verdict {
    let most = short.iter().map(|point| point.builds.len()).max().unwrap_or(0);
    let noun = report.noun();
    let so_far = match most {
        0 | 1 => format!("one {noun} so far"),
        n => format!("at most {n} {noun}s so far"),
    };
    let headline = format!(
        "{} by {}: {so_far} in {}; changes are judged from {JUDGED_FROM} {noun}s on",
        title(&report.figure),
        report.by,
        format_args!("{} series", short.len()),
    );
    let (word, details) = (String::new(), Vec::new());
    Verdict { tone: Tone::Plain, word, headline: headline.into(), details }
}

/// Returns warnings about builds and runs that are omitted or not judged, each with the reason, and
/// about damaged runs.
fn left_out(report: &HistoryReport) -> impl Iterator<Item = String> {
    let without = (report.without_figure > 0).then(|| {
        let (n, figure) = (count(report.without_figure, "run"), title(&report.figure));
        format!("Omitted for lack of {figure}: {n}. --figure names another one, such as tps.")
    });
    let noun = report.noun();
    let line = move |build: &LeftOut| {
        let last = match build.is_last {
            true => format!("; it is the last {noun}, so --fail-on-regression fails"),
            false => String::new(),
        };
        let (name, n) = (&build.build, count(build.runs_not_counted, "run"));
        let why = if build.why.is_empty() { "" } else { &format!(" ({})", build.why) };
        format!("{name} is omitted: none of {n} is completed and valid{why}{last}.")
    };
    let measured_last = |is_unlisted: bool| {
        let newest = report.measured_last.as_ref();
        newest.filter(|newest| report.unlisted.contains(newest) == is_unlisted)
    };
    let unlisted = (!report.unlisted.is_empty()).then(|| {
        let (n, some) = (count(report.unlisted.len() as u64, noun), few(&report.unlisted));
        let newest = measured_last(true).map_or_else(String::new, |newest| {
            format!(" {newest} was measured last: the last {noun} is undecided.")
        });
        format!("Omitted, because the list of commits lacks them: {n} ({some}).{newest}")
    });
    let out_of_order = measured_last(false).map(|newest| {
        format!(
            "{newest} was measured last, but is not the last in the order: it is not judged. \
             --order time judges it."
        )
    });
    let running = report.measured_now().map(|build| {
        format!("{build} is still being measured: the last {noun} is undecided until its runs end.")
    });
    report
        .left_out
        .iter()
        .map(line)
        .chain(running)
        .chain(out_of_order)
        .chain(without)
        .chain(unlisted)
        .chain(damaged(&report.damaged))
}

/// Returns the sentences below the chart: order of the builds, imported series, how a build's value
/// is computed, and the expected number of false alarms.
fn about(report: &HistoryReport) -> impl Iterator<Item = String> {
    let noun = report.noun();
    let nouns = capital(&format!("{noun}s"));
    let hashes = match report.ordered {
        Ordered::TimeOfHashes => Some(format!(
            "{nouns} are ordered by the time of their first run: their names are commit hashes, \
             which have no order. --commits FILE orders them by commit (git log --reverse \
             --format=%H)."
        )),
        Ordered::TimeOfWords => Some(format!(
            "{nouns} are ordered by the time of their first run: their names are no versions of \
             one thing. --order version orders them by name."
        )),
        Ordered::Version | Ordered::Time | Ordered::Commit => None,
    };
    let alarms = &report.false_alarms;
    let series = match report.points.len() {
        1 => String::new(),
        n => format!(", all {n} series together"),
    };
    let rate = (alarms.share > 0.0).then(|| {
        format!(
            "Expected false alarms if nothing changes: at most 1 in {} {noun}s{series}.",
            format_count((1.0 / alarms.share).round() as u64),
        )
    });
    let has_several =
        report.points.iter().flat_map(|point| &point.builds).any(|build| build.runs.len() > 1);
    let means = has_several.then(|| {
        format!(
            "The value of a {noun} is the geometric mean of its runs, as in a comparison; an \
             experiment shows their arithmetic mean."
        )
    });
    hashes.into_iter().chain(imported(report)).chain(means).chain(rate)
}

/// Describes the source of each imported series.
fn imported(report: &HistoryReport) -> impl Iterator<Item = String> {
    let to_sentence = |from: &ImportedFrom| {
        format!(
            "Imported: {}. Its figures were measured elsewhere, and are judged apart from runs.",
            from.with_source()
        )
    };
    report.imported.iter().map(to_sentence)
}

/// Lists the first five names, with an ellipsis if there are more.
fn few(names: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    let shown = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN_MAX { format!("{shown}, ...") } else { shown }
}

/// Returns the headline of a series: its name, number of builds and result.
fn headline(report: &HistoryReport, point: &PointHistory) -> String {
    let n_builds = count(point.builds.len() as u64, report.noun());
    let series = format!("{} by {} {}", title(&report.figure), report.by, point.name());
    format!("{}: {n_builds}, {}", series.trim_end(), in_short(report, point))
}

/// Returns the sentences of the verdict on a series of builds: new series, changes of level (mean),
/// and the last build.
fn sentences<'p>(
    report: &'p HistoryReport,
    point: &'p PointHistory,
) -> impl Iterator<Item = Text> + 'p {
    let changes = changes_of(point);
    let starts = point.starts.iter().map(|start| start_line(report, start));
    let fall = point.fall.iter().map(|fall| {
        format!(
            "The present level, {}, is {} % worse than {} at {} (p {}).",
            significant(fall.now, 4),
            significant((fall.ratio - 1.0).abs() * 100.0, 3),
            significant(fall.before, 4),
            fall.since,
            chance(fall.p)
        )
    });
    let with = changes.map(|change| change_line(report, point, change));
    let last = point.last.iter().map(|last| last_line(report, point, last));
    let baseline = point.baseline.iter().zip(&report.baseline);
    let baseline = baseline.map(|(held, name)| baseline_line(report, held, name));
    let unseen = point.unseen.iter().map(unseen_line);
    let has_command = point.imported.is_none() && changes_of(point).next().is_some();
    let two = has_command.then(|| {
        format!(
            "A comparison of two {noun}s has their runs alone: it may be undecided where all \
             {noun}s together show a change.",
            noun = report.noun()
        )
    });
    let rest =
        unseen.chain(fall).chain(last).chain(baseline).chain(lacks(report, point)).map(Text::from);
    starts.map(Text::from).chain(with).chain(two.map(Text::from)).chain(rest)
}

fn changes_of(point: &PointHistory) -> impl Iterator<Item = &Change> {
    point.changes.iter().flatten()
}

/// Returns a sentence that a new series of a history begins at a build because the setup changed,
/// with the changes.
fn start_line(report: &HistoryReport, start: &Start) -> String {
    let since = match start.changed.is_empty() {
        true => String::new(),
        false => format!(": {}", changed(&start.changed)),
    };
    format!(
        "New series since {} {}{since}; {}s before are not compared with those after.",
        report.by,
        start.build,
        report.noun()
    )
}

/// Describes a change of level (mean over builds) at a build, with a link that compares this build
/// with the one before it.
fn change_line(report: &HistoryReport, point: &PointHistory, change: &Change) -> Text {
    let with = match change.changed.is_empty() {
        true => "no other known change".to_owned(),
        false => format!("also changed: {}", changed(&change.changed)),
    };
    let acknowledged = match &change.acknowledged {
        Some(reason) => format!(" Acknowledged: {reason}."),
        None => String::new(),
    };
    let word = if change.is_worse { "worse" } else { "better" };
    let percent = significant((change.ratio - 1.0).abs() * 100.0, 3);
    let text = Text::from(format!("At {} {percent} % {word}: {with}.{acknowledged}", change.build));
    match change.at.checked_sub(1).and_then(|before| point.builds.get(before)) {
        Some(before) if point.imported.is_none() => text.and(" ").and(Link::Comparison {
            by: report.by.clone(),
            baseline: before.build.clone(),
            side: change.build.clone(),
        }),
        _ => text,
    }
}

/// Returns a sentence that the data no longer show a change that a user acknowledged.
fn unseen_line(change: &Acknowledged) -> String {
    format!(
        "A change was acknowledged at {} ({}): the present data no longer show it.",
        change.build, change.reason
    )
}

fn baseline_line(report: &HistoryReport, held: &Last, name: &str) -> String {
    let (away, expected) = (away(held), expected(report, held));
    let word = match (held.is_outside, held.is_worse) {
        (true, true) => "WORSE",
        (true, false) => "better",
        (false, _) => "as expected",
    };
    format!(
        "Compared with the baseline {name}, the last {} is {word}: it is {away} it; {expected}.",
        report.noun()
    )
}

/// Returns a sentence that a series has no value for the history's last build, and why; `None` if
/// it has one, or has no value at all.
fn lacks(report: &HistoryReport, point: &PointHistory) -> Option<String> {
    let build = point.lacks.as_ref()?;
    let runs = count(build.runs_not_counted, "run");
    let why = match build.runs_not_counted {
        0 => "was not run at this point".to_owned(),
        _ => format!("has no valid run here ({runs} of it not completed or invalid)"),
    };
    let last_here = &point.builds.last()?.build;
    Some(format!(
        "{}, the last {noun}, {why}: the last {noun} judged here is {last_here}.",
        build.build,
        noun = report.noun()
    ))
}

/// Returns the table of a series, with a build per row.
fn table(report: &HistoryReport, point: &PointHistory) -> Table {
    let unit = report.units.get(&report.figure).map_or("", String::as_str);
    let columns = [
        Column::data("point"),
        Column::new(report.by.clone(), Align::Left).key("build"),
        Column::count("runs", "runs"),
        Column::data("figure"),
        Column::new(title_with_unit(&report.figure, unit), Align::Right).key("value"),
        Column::new("mean of 10", Align::Right).key("mean_of_ten"),
        Column::data("change"),
        Column::data("last"),
        Column::data("new_series"),
        Column::sentences("level"),
    ];
    let row = |(index, build): (usize, &BuildReport)| {
        let change = point.changes.iter().flatten().find(|change| change.at == index);
        let start = point.starts.iter().find(|start| start.at == index);
        let last = point.last.as_ref().filter(|_| index + 1 == point.builds.len());
        let new_series = start.map_or_else(String::new, |start| changed(&start.changed));
        vec![
            point.name().into(),
            build.build.as_str().into(),
            build.figure.count.into(),
            report.figure.as_str().into(),
            build.value.into(),
            build.mean_of_ten.into(),
            change.map_or(Cell::None, |change| change.ratio.into()),
            last.map_or(Cell::None, |last| judged(last).into()),
            new_series.into(),
            level(change, start).into(),
        ]
    };
    let rows = point.builds.iter().enumerate().map(row).collect();
    let table = Table::filled("builds", "", columns, rows);
    let has_levels = point.changes.iter().flatten().next().is_some() || !point.starts.is_empty();
    if has_levels { table } else { table.without(&["level"]) }
}

/// Describes the result of a series of builds in a few words, for the headline.
fn in_short(report: &HistoryReport, point: &PointHistory) -> String {
    let outside = point.last.as_ref().filter(|last| last.is_outside);
    let name = point.builds.last().map_or("", |last| &last.build);
    // If a newer build cannot be judged, the verdict names the build that it is about.
    let is_newer =
        report.measured_now().is_some() || report.left_out.iter().any(|build| build.is_last);
    let judged = if is_newer { "judged " } else { "" };
    let what = format!("the last {judged}{}", report.noun());
    let last = match (outside, &point.last) {
        (None, _) if !point.lost.is_empty() => Some(format!("undecided: {}", point.lost)),
        (Some(last), _) if last.is_worse && last.acknowledged.is_some() => {
            Some(format!("{what} ({name}) is worse (acknowledged)"))
        }
        (Some(last), _) if last.is_worse => Some(format!("{what} ({name}) is WORSE")),
        (Some(_), _) => Some(format!("{what} ({name}) is better")),
        (None, Some(last)) if last.is_noisy => Some(undetected(report, last)),
        (None, _) => None,
    };
    let baseline = point.baseline.as_ref().filter(|held| held.is_outside && held.is_worse);
    let baseline = baseline.map(|_| "WORSE than the baseline".to_owned());
    match (&point.changes, &point.last) {
        (Some(changes), _) => {
            let level = match changes.last() {
                None => match &point.unseen[..] {
                    [] => one_level(point),
                    [.., latest] => format!("one level (no change at {} any more)", latest.build),
                },
                Some(change) => {
                    let word = match change.is_worse {
                        true if change.acknowledged.is_some() => "worse (acknowledged)",
                        true if point.fall.is_some() => "WORSE",
                        true => "worse",
                        false => "better",
                    };
                    let percent = significant((change.ratio - 1.0).abs() * 100.0, 3);
                    let n = count(changes.len() as u64, "change");
                    format!("{percent} % {word} since {} ({n} of level)", change.build)
                }
            };
            // The last step may be upward, but not all the way.
            let fall = point.fall.as_ref().map(|fall| {
                let percent = significant((fall.ratio - 1.0).abs() * 100.0, 3);
                format!("{percent} % WORSE than {}", fall.since)
            });
            let fall = fall.filter(|_| !changes.last().is_some_and(|change| change.is_worse));
            let parts = [Some(level), fall, last, baseline];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        (None, Some(_)) => {
            let last = last.unwrap_or_else(|| format!("{what} ({name}) is as expected"));
            [Some(last), baseline].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        (None, None) => {
            let noun = report.noun();
            format!("too few: the last {noun} is judged from {JUDGED_FROM} {noun}s on")
        }
    }
}

/// Returns the text in a build's row for the change of level (mean over builds), or the new series,
/// that begins there; empty if there is neither.
fn level(change: Option<&Change>, start: Option<&Start>) -> String {
    if let Some(start) = start {
        return format!("new series: {}", changed(&start.changed));
    }
    let Some(change) = change else { return String::new() };
    let word = if change.is_worse { "worse" } else { "better" };
    let (before, after) = (significant(change.before, 4), significant(change.after, 4));
    format!(
        "{:+.1} %, {word}: {before} → {after} (p {})",
        (change.ratio - 1.0) * 100.0,
        chance(change.p)
    )
}

/// Describes the result of a series of builds without changes of level (mean): `one level`, with
/// the acknowledged change that divides it, if there is one.
fn one_level(point: &PointHistory) -> String {
    let since = point.last.as_ref().and_then(|last| last.acknowledged_since.as_ref());
    let until = since.map(|build| format!(" until the acknowledged change at {build}"));
    format!("one level{}", until.unwrap_or_default())
}

/// Compares the last build with the mean of the level (unchanged stretch of builds) that it belongs
/// to, or of the builds before it if there are no levels.
fn last_line(report: &HistoryReport, point: &PointHistory, last: &Last) -> String {
    let noun = report.noun();
    let before = format!("the {noun}s before it");
    let acknowledged_level =
        last.acknowledged_since.as_ref().map(|build| format!("the level acknowledged at {build}"));
    let (reference, alone) = match &point.changes {
        _ if let Some(level) = &acknowledged_level => (level.as_str(), String::new()),
        Some(_) if last.is_of_former_level => ("the level before its own", String::new()),
        Some(_) => ("its level", String::new()),
        None => {
            let from = point.starts.last().map_or(0, |start| start.at);
            let few = too_short(point.builds.len() - from, noun);
            (
                &*before,
                format!(
                    " No changes of level were searched for: there are \
                                              {few}."
                ),
            )
        }
    };
    let acknowledged = match &last.acknowledged {
        Some(reason) if last.is_outside => format!(" Acknowledged: {reason}."),
        _ => String::new(),
    };
    let (away, expected) = (away(last), expected(report, last));
    let since = last.varies_more_since.as_ref().map_or_else(String::new, |build| {
        let noun = capital(noun);
        format!(" {noun}s vary more since {build}: it is held against these alone.")
    });
    let detects = detects(last);
    format!(
        "The last {noun} is {away} the mean of {reference}; {expected}.{detects}{since}{alone}\
         {acknowledged}"
    )
}

/// Explains why a last build within its expected range proves nothing: `too noisy to detect less
/// than 12 %`, or that there are too few builds since an acknowledged change.
fn undetected(report: &HistoryReport, last: &Last) -> String {
    let percent = significant(last.seen_from * 100.0, 2);
    match &last.acknowledged_since {
        Some(build) => format!(
            "too few {}s since the acknowledged change at {build} to detect less than {percent} %",
            report.noun()
        ),
        None => format!("too noisy to detect less than {percent} %"),
    }
}

/// Returns a sentence with the smallest detectable deterioration of the last build, in percent;
/// empty if it is not known, or if the headline has it.
fn detects(last: &Last) -> String {
    let is_said = last.is_noisy && !last.is_outside;
    match last.seen_from.is_finite() && last.seen_from > 0.0 && !is_said {
        true => format!(
            " Smallest detectable deterioration: {} %.",
            significant(last.seen_from * 100.0, 2)
        ),
        false => String::new(),
    }
}

/// Describes how far the last build is from the mean that it is compared with: `3.1 % below`.
fn away(last: &Last) -> String {
    let percent = significant((last.ratio - 1.0).abs() * 100.0, 2);
    match last.ratio.is_finite() {
        true if last.is_equal() => "equal to".to_owned(),
        true if last.ratio < 1.0 => format!("{percent} % below"),
        true => format!("{percent} % above"),
        false => "infinite, because work was lost, compared with".to_owned(),
    }
}

/// Describes the expected range of the last build: `expected: -2.0 % to +2.0 % (98 to 102; 95 %
/// interval)`, or why it is not known.
fn expected(report: &HistoryReport, last: &Last) -> String {
    let Some((low, high)) = last.expected() else {
        return format!(
            "the expected range is not known, because the {}s before it are all equal",
            report.noun()
        );
    };
    let percent = |value: f64| significant((value / last.before - 1.0).abs() * 100.0, 2);
    let together = if report.points.len() > 1 { ", all series together" } else { "" };
    format!(
        "expected: -{} % to +{} % ({} to {}; {} % interval{together})",
        percent(low),
        percent(high),
        significant(low, 4),
        significant(high, 4),
        exact(report.confidence() * 100.0)
    )
}

fn chance(p: f64) -> String {
    if p < 0.0005 { "below 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Returns the verdict on the last build in a word or two.
fn judged(last: &Last) -> &'static str {
    match (last.is_outside, last.is_worse) {
        (true, true) if last.acknowledged.is_some() => "worse (acknowledged)",
        (true, true) => "worse",
        (true, false) => "better",
        (false, _) if last.is_noisy => "too noisy",
        (false, _) => "as expected",
    }
}

#[cfg(test)]
mod tests {
    use study::comparison::Difference;
    use study::comparison::Judge;
    use study::fixtures::{sides, studies};
    use study::history::Question;

    use super::*;

    /// Returns the page of a history of a simulated database, as text. Each build has one run with
    /// this TPS and seed.
    fn simulated(runs: &[(f64, u64)]) -> String {
        let build = |(n, (tps, seed)): (usize, &(f64, u64))| {
            let mut side = sides::side(&format!("1.{n}"), &[("8", &[*tps], n)]);
            let report = &mut side.points[0].reports[0];
            report.seed = *seed;
            let facts = report.facts.entry("database".to_owned()).or_default();
            facts.insert("seed".to_owned(), (*seed).into());
            side
        };
        let builds: Vec<_> = runs.iter().enumerate().map(build).collect();
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let report = HistoryReport::new(&Question::new("build", judge), &builds, &mut || 1);
        let page =
            crate::terminal::text(&history(&report.expect("they have runs")), &Default::default());
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn builds_of_one_seed_say_nothing_of_how_much_builds_vary() {
        let warning = "have the same seed: a simulated database draws the same random numbers";
        let alike = simulated(&[(1000.0, 1); 4]);
        assert!(alike.contains(warning), "{alike}");
        let words = "The last build is equal to the mean of the builds before it; the expected \
                     range is not known, because the builds before it are all equal.";
        assert!(alike.contains(words) && !alike.contains("0.0000"), "{alike}");
        let seeds = simulated(&[(1000.0, 1), (1010.0, 2), (990.0, 3), (1005.0, 4)]);
        assert!(seeds.contains("99.5 % interval)"), "{seeds}");
        assert!(!seeds.contains("same seed") && !seeds.contains("not known"), "{seeds}");
    }

    #[test]
    fn a_last_build_that_is_compared_with_the_former_level_says_so() {
        let said = |is_of_former_level: bool| {
            let mut report = studies::history();
            let point = report.points.iter_mut().find(|point| point.changes.is_some());
            let point = point.expect("levels were searched for");
            point.last.as_mut().expect("it is judged").is_of_former_level = is_of_former_level;
            let point = point.clone();
            last_line(&report, &point, point.last.as_ref().expect("it is judged"))
        };
        assert!(said(true).contains("the mean of the level before its own; "), "{}", said(true));
        assert!(said(false).contains("the mean of its level; "), "{}", said(false));
    }

    #[test]
    fn a_history_by_day_speaks_of_days() {
        let page = |by: &str| {
            let report = study::HistoryReport { by: by.to_owned(), ..studies::history() };
            crate::terminal::text(&history(&report), &Default::default())
        };
        let (days, builds) = (page("day"), page("build"));
        assert!(builds.contains("The last build is") && builds.contains("1 in 100 builds"));
        assert!(days.contains("The last day is") && days.contains("1 in 100 days"), "{days}");
        assert!(!days.to_lowercase().contains("build"), "{days}");
        assert!(page("dbdyno").contains("1 in 100 versions"));
        assert!(page("branch").contains("1 in 100 builds"));
    }

    #[test]
    fn a_change_that_was_acknowledged_and_is_not_there_is_named() {
        let mut report = studies::history();
        let change = Acknowledged {
            build: "1.20".to_owned(),
            point: String::new(),
            reason: "checksums are on".to_owned(),
            size: None,
        };
        report.points[0].unseen = vec![change];
        report.points[0].changes = Some(Vec::new());
        let page = crate::terminal::text(&history(&report), &Default::default());
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = "A change was acknowledged at 1.20 (checksums are on): the present data no \
                     longer show it.";
        assert!(page.contains(words), "{page}");
        assert!(page.contains("one level (no change at 1.20 any more)"), "{page}");
    }

    #[test]
    fn a_level_that_only_an_acknowledgement_shows_is_named() {
        let mut report = studies::history();
        report.points[0].changes = Some(Vec::new());
        let last = report.points[0].last.as_mut().expect("it is judged");
        let reason = Some("checksums are on".to_owned());
        let worse = Last { is_outside: true, is_worse: true, acknowledged: reason, ..last.clone() };
        assert_eq!(judged(&worse), "worse (acknowledged)");
        last.acknowledged_since = Some("1.22".to_owned());
        let page = crate::terminal::text(&history(&report), &Default::default());
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "one level until the acknowledged change at 1.22",
            "the mean of the level acknowledged at 1.22; expected",
        ] {
            assert!(page.contains(words), "no '{words}': {page}");
        }
    }

    #[test]
    fn a_new_series_says_since_when_and_what_has_changed() {
        let mut report = studies::history();
        let change = Difference {
            about: "setting".to_owned(),
            name: "innodb_buffer_pool_size".to_owned(),
            values: vec![Some("134217728".to_owned()), Some("1073741824".to_owned())],
        };
        report.points[0].starts =
            vec![Start { build: "1.20".to_owned(), at: 4, changed: vec![change] }];
        let page = crate::terminal::text(&history(&report), &Default::default());
        let named = "New series since build 1.20: innodb_buffer_pool_size 134217728 → 1073741824";
        assert!(page.contains(named), "{page}");
    }
}
