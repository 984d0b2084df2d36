//! Pages that list runs, experiments and imported figures. Not here: the selection of rows (store).

mod trials;

use analysis::figures::{spellings, unit};
use jiff::Timestamp;
use model::numbers::{self, INFINITE, NONE, cut, duration, fixed, rate, significant};
use model::{Experiment, NS_PER_S, Severity, Status, format_count, short_axis};
use store::{ID_SHOWN, ImportedRow, RunRow, utc};

use super::document::{Block, Document};
use super::{Align, Cell, Column, Table};

pub use trials::{Trials, groups};

/// Returns the last characters of the id of a run or experiment, by which people call it.
pub fn short_id(id: &str) -> &str {
    &id[id.len().saturating_sub(ID_SHOWN)..]
}

/// Errors of a run's figures for its row in a list: half-widths of 95 % confidence intervals in
/// percent, such as `13 %`. Empty for a figure without an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Error of TPS, such as `13 %`; empty if it is not known. It is estimated from tenths of
    /// seconds, so that short runs have it, too.
    pub tps: String,
    /// Error of the first primary metric, such as `13 %` for NOPM; empty if it is not known.
    pub primary: String,
}

/// Function that returns the [errors](super::Identity::errors) of a run's figures. It may have to
/// read the run's report, so it is called only for lines that are shown.
pub type ErrorsOf<'e> = dyn Fn(&RunRow) -> Errors + 'e;

/// Returns the list of runs, one per row. Programs read whole ids, instants and figures. No run is
/// marked as best, because differences between single runs are often chance.
pub fn run_list(rows: &[RunRow], errors_of: &ErrorsOf<'_>) -> Document {
    let lines: Vec<[&RunRow; 1]> = rows.iter().map(|row| [row]).collect();
    let lines: Vec<&[&RunRow]> = lines.iter().map(|line| &line[..]).collect();
    let table = table(&lines, false, errors_of).or_words("no runs");
    let mut page = Document::new("Runs", "Runs");
    page.section("runs", "", vec![Block::Table(table)]);
    page
}

/// Returns the list of runs for people, with the trials of an experiment folded into one line. It
/// has at most `most` lines; the flag is true if no line was left out.
pub fn folded_run_list(rows: &[RunRow], most: usize, errors_of: &ErrorsOf<'_>) -> (Document, bool) {
    let groups = groups(rows.iter(), true);
    let shown: Vec<&[&RunRow]> = groups.iter().take(most).map(Vec::as_slice).collect();
    let folded = shown.iter().find_map(|line| Trials::from_rows(line)).map(|trials| {
        let id = short_id(trials.id);
        format!("trials are folded: 'dbdyno experiments show {id}' has them, --trials lists each")
    });
    let table = table(&shown, true, errors_of).or_words("no runs");
    let mut page = Document::new("Runs", "Runs");
    let words = Block::paragraphs(folded);
    page.section("runs", "", vec![Block::Table(table), words]);
    (page, groups.len() <= most)
}

/// Returns the list of figures that were imported, with one row per import.
pub fn imported_list(rows: &[ImportedRow]) -> Document {
    let columns = [
        Column::words("name", "name"),
        Column::data("since"),
        Column::new("imported (UTC)", Align::Left),
        Column::count("values", "values"),
        Column::words("figures", "figures"),
        Column::words("columns", "columns"),
        Column::words("source", "source"),
    ];
    let row = |ImportedRow { imported, since_unix_ms }: &ImportedRow| {
        vec![
            imported.name.as_str().into(),
            instant(*since_unix_ms),
            utc(*since_unix_ms).into(),
            imported.values.len().into(),
            imported.figures().join(", ").into(),
            imported.columns.join(", ").into(),
            imported.source.as_str().into(),
        ]
    };
    let rows = rows.iter().map(row).collect();
    let table = Table::filled("imported", "", columns, rows).or_words("nothing is imported");
    let mut page = Document::new("Imported figures", "Imported figures");
    page.section("imported", "", vec![Block::Table(table)]);
    page
}

/// Formats an instant for programs (ISO 8601), from milliseconds since 1970.
fn instant(unix_ms: i64) -> Cell {
    Timestamp::from_millisecond(unix_ms).unwrap_or_default().to_string().into()
}

fn labels<'l>(all: impl Iterator<Item = &'l (String, String)>) -> String {
    all.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the values at which an experiment made a run, its point: `clients=4 mode=text`. Empty if
/// the run belongs to no experiment.
pub fn point(row: &RunRow) -> String {
    let values = row.point.iter().map(|(axis, value)| format!("{}={value}", short_axis(axis)));
    values.collect::<Vec<_>>().join(" ")
}

/// Returns the table of runs. Each element of `lines` is a row: a single run, or the trials of an
/// experiment, folded.
fn table(lines: &[&[&RunRow]], is_folded: bool, errors_of: &ErrorsOf<'_>) -> Table {
    let rows = || lines.iter().flat_map(|line| line.iter().copied());
    let mut columns = vec![
        Column::data("run_id"),
        Column::new("id", Align::Left),
        Column::data("started"),
        Column::spare("started UTC", Align::Left, 2),
        Column::data("status"),
        Column::data("name"),
        Column::new("name", Align::Left).shortened(CUT_LEAST),
    ];
    let has_points = !is_folded && rows().any(|row| !row.point.is_empty());
    let primary = primary_title(rows());
    columns.extend(has_points.then(|| Column::new("point", Align::Left).shortened(CUT_LEAST)));
    columns.extend([
        Column::data("workload"),
        Column::data("target"),
        Column::data("database"),
        Column::spare("database", Align::Left, 1),
        Column::spare("clients", Align::Right, 8).key("clients"),
        Column::spare("measured", Align::Right, 9).key("measured_s"),
    ]);
    // If all runs have their primary metric, TPS is left out first.
    let all_have_it = rows().all(|row| row.primary.is_some() || row.tps.is_none());
    let [tps, known_by] = if primary.is_some() && all_have_it { [6, 0] } else { [0, 5] };
    columns.push(Column::spare("TPS", Align::Right, tps).key("tps"));
    let errors: Vec<Errors> = lines.iter().map(|line| errors_of_line(line, errors_of)).collect();
    let has_error = HasErrors::among(&errors);
    // An error stands beside its figure, and is left out no later than that.
    columns.extend(has_error.tps.then(|| Column::spare("TPS ±", Align::Right, tps.max(3) + 1)));
    columns.extend(["primary_name", "primary_value"].map(Column::data));
    columns.extend(primary.clone().map(|title| Column::spare(title, Align::Right, known_by)));
    columns.extend(has_error.primary.then(|| Column::spare("±", Align::Right, known_by.max(4))));
    columns.extend([Column::spare("p99 ms", Align::Point, 3).key("p99_ms")]);
    // Columns show the figures by which the list is sorted or filtered.
    let figures = rows().next().map(|row| row.figures.as_slice()).unwrap_or_default();
    let to_column =
        |(name, _): &(String, _)| Column::new(figure_title(name), Align::Point).key(name.clone());
    columns.extend(figures.iter().map(to_column));
    columns.extend([
        Column::data("worst_finding"),
        Column::new("validity", Align::Left),
        Column::data("dbdyno"),
        Column::data("labels"),
    ]);
    let has_labels = rows().any(|row| !row.labels.is_empty());
    columns.extend(has_labels.then(|| Column::spare("labels", Align::Left, 7)));
    columns.extend(["point", "valid"].map(Column::data));
    let mut table = Table::new(columns);
    let is_own = |row: &RunRow| row.target.contains("://") && !is_managed(row);
    let has_managed = rows().any(is_managed) && rows().any(is_own);
    let primary = primary.as_deref();
    let has = |errors| Extra { has_points, primary, has_labels, has_error, errors, has_managed };
    let of_year = |row: &RunRow| begun(row.started_unix_ms).split('-').next().map(str::to_owned);
    let mut years: Vec<_> = rows().map(of_year).collect();
    years.dedup();
    let begun = |started_unix_ms: i64| {
        let whole = begun(started_unix_ms);
        if years.len() > 1 { whole } else { whole.chars().skip("2026-".len()).collect() }
    };
    for (line, errors) in lines.iter().zip(&errors) {
        let has = has(errors);
        match (Trials::from_rows(line), line) {
            (Some(trials), _) => table.row(trials_cells(&trials, &begun, &has)),
            (None, [row, ..]) => table.row(cells(row, &begun, &has)),
            (None, []) => {}
        }
    }
    table
}

/// Properties of a list of runs that decide which optional columns it has, and the errors for the
/// row being made.
struct Extra<'e> {
    has_points: bool,
    /// Title of the column of primary metrics; `None` if the list has no such column.
    primary: Option<&'e str>,
    has_labels: bool,
    has_error: HasErrors,
    /// Errors of the figures in the row being made.
    errors: &'e Errors,
    /// True if dbdyno started the servers of some runs in the list and not those of others, so that
    /// each row says which.
    has_managed: bool,
}

impl Extra<'_> {
    /// Returns the name of a run's database, with a mark if dbdyno started it and the list has
    /// servers that it did not start: `MariaDB 10.11.19 (managed)`.
    fn database(&self, name: String, row: &RunRow) -> String {
        if self.has_managed && is_managed(row) { format!("{name} (managed)") } else { name }
    }
}

/// Returns true if dbdyno started the server of a run.
fn is_managed(row: &RunRow) -> bool {
    row.target.starts_with("managed:")
}

/// Columns of errors (half-widths of confidence intervals) that a list of runs has, each next to
/// the column of its figure.
#[derive(Clone, Copy)]
struct HasErrors {
    tps: bool,
    primary: bool,
}

impl HasErrors {
    /// Returns which columns of errors have a value in at least one row.
    fn among(errors: &[Errors]) -> HasErrors {
        HasErrors {
            tps: errors.iter().any(|error| !error.tps.is_empty()),
            primary: errors.iter().any(|error| !error.primary.is_empty()),
        }
    }
}

/// Returns the errors (half-widths of confidence intervals) of a row that is a single run; empty
/// for folded trials, whose figures are ranges.
fn errors_of_line(line: &[&RunRow], errors_of: &ErrorsOf<'_>) -> Errors {
    match line {
        [row] if Trials::from_rows(line).is_none() => {
            let Errors { tps, primary } = errors_of(row);
            // An error without its figure says nothing.
            Errors {
                tps: row.tps.map_or_else(String::new, |_| tps),
                primary: row.primary.as_ref().map_or_else(String::new, |_| primary),
            }
        }
        _ => Errors::default(),
    }
}

/// Returns the title of the column of primary metrics in a list of runs: the metric's own title if
/// all runs have the same metric, else [`SEVERAL`]. `None` if no run has a primary metric.
pub fn primary_title<'r>(rows: impl Iterator<Item = &'r RunRow>) -> Option<String> {
    let mut titles: Vec<&str> =
        rows.filter_map(|row| Some(row.primary.as_ref()?.title.as_str())).collect();
    titles.dedup();
    match titles[..] {
        [] => None,
        [title] => Some(title.to_owned()),
        _ => Some(SEVERAL.to_owned()),
    }
}

/// Title of the column of primary metrics, if runs have different ones.
pub const SEVERAL: &str = "known by";

/// Adds the primary metric's title to its formatted value, such as `876 NOPM`, if the column's
/// `title` is [`SEVERAL`]. `rows` are the runs of the list's row.
pub fn with_title<'r>(
    shown: String,
    rows: impl IntoIterator<Item = &'r RunRow>,
    title: Option<&str>,
) -> String {
    match rows.into_iter().find_map(|row| row.primary.as_ref()) {
        Some(metric) if title == Some(SEVERAL) && !shown.is_empty() => {
            format!("{shown} {}", metric.title)
        }
        _ => shown,
    }
}

/// Returns the cells of an experiment's folded trials. Columns that only programs read are empty.
fn trials_cells(
    trials: &Trials<'_, '_>,
    begun: &dyn Fn(i64) -> String,
    has: &Extra<'_>,
) -> Vec<Cell> {
    let (primary, has_labels) = (has.primary, has.has_labels);
    let blank = || Cell::from("");
    let rate = |value: f64| format_count(value.round() as u64);
    let validity = match trials.status() {
        Status::Completed => validity(Status::Completed, trials.worst_finding(), None),
        _ => trials.status_in_words(),
    };
    let mut cells: Vec<Cell> = vec![
        blank(),
        short_id(trials.id).into(),
        blank(),
        begun(trials.started_unix_ms()).into(),
        blank(),
        blank(),
        format!("{}, {}", cut(trials.name(), NAME_MOST), trials.counted()).into(),
    ];
    cells.extend([
        blank(),
        blank(),
        blank(),
        has.database(trials.databases_in_short(), trials.rows[0]).into(),
        trials.span(|row| Some(row.clients as f64), |clients| format_count(clients as u64)).into(),
        trials.span(|row| row.measured_ns.map(seconds), measured).into(),
        trials.mean_and_span(|row| row.tps, rate).into(),
    ]);
    cells.extend(has.has_error.tps.then(blank));
    cells.extend([blank(), blank()]);
    let value = |row: &RunRow| row.primary.as_ref().map(|metric| metric.value);
    let all =
        || with_title(trials.mean_and_span(value, rate), trials.rows.iter().copied(), primary);
    cells.extend(primary.map(|_| all().into()));
    cells.extend(has.has_error.primary.then(blank));
    cells.push(trials.mean_and_span(|row| row.p99_ms, |ms| significant_or_infinite(ms, 3)).into());
    cells.extend([blank(), validity.into(), blank(), blank()]);
    let labels = || labels(trials.labels().into_iter());
    cells.extend(has_labels.then(|| Cell::from(cut(&labels(), LABELS_MOST))));
    cells.extend([blank(), blank()]);
    cells
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S as f64
}

/// Formats the length of a measured phase: `30 s`, `2m30s`; below a second `7.68 ms`.
pub fn measured(seconds: f64) -> String {
    match seconds < 1.0 {
        true => duration((seconds * NS_PER_S as f64).round() as u64),
        false => numbers::seconds(seconds),
    }
}

fn significant_or_infinite(value: f64, digits: usize) -> String {
    if value.is_finite() { significant(value, digits) } else { INFINITE.to_owned() }
}

/// Describes status and validity of a run in a list: `interrupted`, `overloaded`, `warning`. Empty
/// for a completed and valid run. A warning is left out if the run did not complete, to save width.
fn validity(status: Status, worst: Option<Severity>, p99_ms: Option<f64>) -> String {
    let ended = (status != Status::Completed).then(|| status.name());
    let found = match worst {
        Some(Severity::Warning) if is_overloaded(p99_ms) => Some("overloaded"),
        Some(Severity::Warning) if ended.is_some() => None,
        Some(severity @ (Severity::Invalid | Severity::Warning)) => Some(severity.name()),
        Some(Severity::Note) | None => None,
    };
    ended.into_iter().chain(found).collect::<Vec<_>>().join(", ")
}

/// Returns the column title of a figure: its name as the user wrote it, with the unit if any
/// spelling of it has one.
fn figure_title(name: &str) -> String {
    let unit = spellings(name).iter().map(|name| unit(name)).find(|unit| !unit.is_empty());
    unit.map_or_else(|| name.to_owned(), |unit| format!("{name} {unit}"))
}

/// Largest length of a run's name in a list for people, in characters; a longer one is cut.
/// Machine-readable formats have whole names.
const NAME_MOST: usize = 32;
/// Largest length of a trial's point (values of the varied parameters) in a list for people, in
/// characters; a longer one is cut.
const POINT_MOST: usize = 40;
/// Smallest width to which a narrow page shortens names and points, in columns, so that the
/// database stays in the list.
const CUT_LEAST: usize = 12;
/// Largest length of all labels of a run together in a list for people, in characters; longer text
/// is cut.
const LABELS_MOST: usize = 30;

/// Returns true if a run lost more than 1 % of its transactions, which makes its p99 infinite.
pub fn is_overloaded(p99_ms: Option<f64>) -> bool {
    p99_ms.is_some_and(f64::is_infinite)
}

fn cells(row: &RunRow, begun: &dyn Fn(i64) -> String, has: &Extra<'_>) -> Vec<Cell> {
    let Extra { has_points, primary, has_labels, has_error, errors, .. } = *has;
    let validity = validity(row.status, row.worst_finding, row.p99_ms);
    let value = row.primary.as_ref().map(|metric| metric.value);
    // An unknown figure leaves its cell empty.
    let figure = |value: Option<f64>, shown: fn(f64) -> String| {
        Cell::said(value.map_or(String::new(), shown), value)
    };
    let mut cells: Vec<Cell> = vec![
        row.run.0.as_str().into(),
        short_id(&row.run.0).into(),
        instant(row.started_unix_ms),
        begun(row.started_unix_ms).into(),
        row.status.name().into(),
        row.name.as_str().into(),
        cut(&row.name, NAME_MOST).into(),
    ];
    cells.extend(has_points.then(|| Cell::from(cut(&point(row), POINT_MOST))));
    cells.extend([
        row.workload.as_str().into(),
        row.target.as_str().into(),
        row.database.as_str().into(),
        has.database(in_short(&row.database), row).into(),
        row.clients.into(),
        figure(row.measured_ns.map(seconds), measured),
        figure(row.tps, |tps| rate(Some(tps))),
    ]);
    cells.extend(has_error.tps.then(|| Cell::from(errors.tps.as_str())));
    cells.extend([row.primary.as_ref().map_or("", |metric| &metric.name).into(), value.into()]);
    let shown = value.map_or(String::new(), |value| format_count(value.round() as u64));
    cells.extend(primary.map(|_| Cell::said(with_title(shown, [row], primary), value)));
    cells.extend(has_error.primary.then(|| Cell::from(errors.primary.as_str())));
    cells.extend([figure(row.p99_ms, p99)]);
    let four_digits = |value: f64| significant_or_infinite(value, 4);
    cells.extend(row.figures.iter().map(|(_, value)| figure(*value, four_digits)));
    cells.extend([
        row.worst_finding.map_or("", Severity::name).into(),
        validity.into(),
        row.dbdyno.as_str().into(),
        labels(row.labels.iter()).into(),
    ]);
    cells.extend(has_labels.then(|| Cell::from(cut(&labels(row.labels.iter()), LABELS_MOST))));
    let is_valid = row.status == Status::Completed && row.worst_finding != Some(Severity::Invalid);
    cells.extend([Cell::from(point(row)), if is_valid { "yes" } else { "no" }.into()]);
    cells
}

/// Formats the start of a run in UTC, without seconds.
pub fn begun(started_unix_ms: i64) -> String {
    const MINUTE_END: usize = 16;
    utc(started_unix_ms).chars().take(MINUTE_END).collect()
}

/// Returns product and version of a database, without additions of packagers: `MariaDB 10.11.19`.
pub fn in_short(database: &str) -> String {
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let short = |word: &'_ str| match is_number(word) {
        true => word.split(['-', '+', '~']).next().unwrap_or(word).to_owned(),
        false => word.to_owned(),
    };
    let words = database.split(' ').take_while(|word| !word.starts_with('('));
    words.map(short).collect::<Vec<_>>().join(" ")
}

fn p99(ms: f64) -> String {
    match ms.is_finite() {
        // Times below a hundredth are not rounded to 0.
        true if ms > 0.0 && ms < 0.01 => significant(ms, 2),
        true => fixed(ms, 2),
        false => INFINITE.to_owned(),
    }
}

/// An experiment in the list of experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentLine {
    pub experiment: Experiment,
    /// Number of completed trials of the experiment.
    pub trials_completed: u64,
    /// Status of the experiment; `None` if it is not known.
    pub status: Option<Status>,
}

/// Returns the list of experiments, one per row. Programs read whole ids and instants.
pub fn experiment_list(all: &[ExperimentLine]) -> Document {
    let columns = [
        Column::data("experiment_id"),
        Column::new("id", Align::Left),
        Column::data("started"),
        Column::new("started (UTC)", Align::Left),
        Column::words("name", "name"),
        Column::data("axes"),
        Column::new("axes", Align::Left),
        Column::new("trials", Align::Right).key("trials"),
        Column::data("trials_completed"),
        Column::data("status"),
        Column::spare("status", Align::Left, 1),
    ];
    let mut table = Table::new(columns).or_words("no experiments");
    for ExperimentLine { experiment, trials_completed: n_done, status } in all {
        let Experiment { id, name, started_unix_ms, .. } = experiment;
        table.row([
            id.as_str().into(),
            short_id(id).into(),
            instant(*started_unix_ms),
            begun(*started_unix_ms).into(),
            name.as_str().into(),
            axes(experiment).into(),
            axes_in_short(experiment).into(),
            trials(experiment, *n_done),
            (*n_done).into(),
            status.map_or(Cell::said(NONE, None), |status| status.name().into()),
            status.map_or(NONE, Status::name).into(),
        ]);
    }
    let mut page = Document::new("Experiments", "Experiments");
    page.section("experiments", "", vec![Block::Table(table)]);
    page
}

/// Formats the number of completed trials and of planned ones: `5 of 9`. A search has no planned
/// number.
fn trials(experiment: &Experiment, n_done: u64) -> Cell {
    let trials = experiment.points.len() as u64 * u64::from(experiment.repeats);
    let most = if experiment.stop.is_some() { "at most " } else { "" };
    match experiment.walk.seek() {
        Some(_) => Cell::said(n_done.to_string(), None),
        None => Cell::said(format!("{n_done} of {most}{trials}"), Some(trials as f64)),
    }
}

/// Largest length of the text on an experiment's varied parameters in a list, in characters; a
/// longer text is cut, and `experiments show` has all of it.
const AXES_MAX: usize = 60;

/// Returns the parameters that an experiment varies or searches for, as users write them:
/// `clients=1,2,4`.
pub fn axes(experiment: &Experiment) -> String {
    axes_called(experiment, |name| name)
}

/// Returns the same as [`axes`], with only the last parts of parameter names.
fn axes_in_short(experiment: &Experiment) -> String {
    axes_called(experiment, model::short_axis)
}

fn axes_called(experiment: &Experiment, called: fn(&str) -> &str) -> String {
    let axes: Vec<String> = match experiment.walk.seek() {
        Some(seek) => vec![format!("{}={}..{} sought", called(&seek.axis), seek.low, seek.high)],
        None => {
            let axis =
                |axis: &model::Axis| format!("{}={}", called(&axis.name), axis.values.join(","));
            experiment.axes.iter().map(axis).collect()
        }
    };
    match axes.is_empty() {
        true => NONE.to_owned(),
        false => cut(&axes.join(" "), AXES_MAX),
    }
}

#[cfg(test)]
mod tests {
    use model::RunId;
    use store::PrimaryFigure;

    use super::*;

    fn run() -> RunRow {
        RunRow {
            run: RunId("01a21348-ca8f-71ac-87dd-66e89415ac2d".to_owned()),
            started_unix_ms: 0,
            ended_unix_ms: None,
            status: Status::Completed,
            name: "tpcc".to_owned(),
            workload: "tpcc".to_owned(),
            target: "managed:mariadb".to_owned(),
            database: "MariaDB 10.11.19-MariaDB-0+deb12u1".to_owned(),
            clients: 4,
            tps: Some(12_345.6),
            primary: Some(PrimaryFigure {
                name: "nopm".to_owned(),
                title: "NOPM".to_owned(),
                value: 5_000.0,
            }),
            p99_ms: Some(3.0),
            measured_ns: Some(30 * NS_PER_S),
            worst_finding: Some(Severity::Warning),
            events_lost: 0,
            dbdyno: String::new(),
            labels: vec![("build".to_owned(), "1.2.3-a-long-label".to_owned())],
            point: Vec::new(),
            experiment: None,
            figures: Vec::new(),
        }
    }

    #[test]
    fn a_narrow_list_keeps_the_database() {
        assert_eq!(in_short("MariaDB 10.11.19-MariaDB-0+deb12u1"), "MariaDB 10.11.19");
        assert_eq!(in_short("PostgreSQL 15.14 (Debian 15.14-0+deb12u1)"), "PostgreSQL 15.14");
        assert_eq!(in_short("SQLite 3.54.1"), "SQLite 3.54.1");
        let run = run();
        for width in [80, 100, 120] {
            let lines = table(&[&[&run]], false, &|_| Errors {
                tps: "9 %".to_owned(),
                primary: "12 %".to_owned(),
            })
            .lines(width);
            let line = lines[..2].join("\n");
            assert!(line.contains("± ") && line.contains(" 12 %"), "its error: {line}");
            assert!(line.contains("database") && line.contains("MariaDB 10.11.19 "), "{line}");
            assert!(line.contains("5,000"), "the figure that it is known by: {line}");
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
        }
    }

    #[test]
    fn managed_servers_are_marked_beside_others() {
        let (managed, mut own) = (run(), run());
        own.target = "mariadb://bench@db1/bench".to_owned();
        let page = |rows: &[&RunRow]| {
            let lines: Vec<&[&RunRow]> = rows.chunks(1).collect();
            table(&lines, false, &|_| Errors::default()).lines(200).join("\n")
        };
        assert_eq!(page(&[&managed, &own]).matches("(managed)").count(), 1);
        assert!(!page(&[&managed, &managed]).contains("(managed)"));
    }

    #[test]
    fn an_experiment_with_a_failed_trial_says_so() {
        let of_status = |status| RunRow { status, experiment: Some("e".to_owned()), ..run() };
        let line = |all: &[Status]| {
            let rows: Vec<RunRow> = all.iter().map(|status| of_status(*status)).collect();
            let rows: Vec<&RunRow> = rows.iter().collect();
            Trials::from_rows(&rows).expect("there are several").status_in_words()
        };
        use Status::{Completed, Failed, Interrupted, Running};
        assert_eq!(line(&[Completed, Completed]), "completed");
        assert_eq!(line(&[Completed, Failed, Completed]), "1 of 3 failed");
        assert_eq!(line(&[Interrupted, Failed]), "1 of 2 failed");
        assert_eq!(line(&[Running, Failed]), "running");
    }
}
