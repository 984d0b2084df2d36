//! `/`: the list of runs, one per line, with search, filters, order and selection. In the order of
//! time, trials of an experiment or search are folded below a line of the experiment.
//!
//! Not here: the meaning of conditions (store).

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use analysis::figures::number;
use app::stored_report::{identity_of, rates_over_time};
use app::trials::{FIGURES, check_names};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use model::{NS_PER_S, Severity, Status, format_count, numbers};
use render::Identity;
use render::list::{
    SEVERAL, Trials, begun, groups, in_short, is_overloaded, measured, point, primary_title,
    short_id, with_title,
};
use render::spark::spark_svg;
use store::{Filter, Query, RunRow, Sort, Store};

use super::answer::{self, Frame, Fresh, fresh, rendered};
use super::http_error::HttpError;
use super::query::Pairs;
use super::visitor::Visitor;
use super::{App, Shared};

/// Maximum lines per page of the list of runs: a screen or two. Further lines are on further pages.
const ROWS_MAX: usize = 50;
/// Maximum number of cached lines of throughput over time, about 500 bytes each; one more empties
/// the cache first.
pub(super) const TRENDS_MAX: usize = 4_000;
/// Time between updates of the list of runs in milliseconds, short enough to show new runs quickly.
const NEXT_MS: u64 = 2000;
/// Order of the list of runs if the address names none, the same as on the command line.
const NEWEST_FIRST: &str = "-started";

/// Column of the list of runs.
struct Column {
    title: &'static str,
    /// Key by which runs are sorted by this column, as in the address; empty if they cannot be
    /// sorted by it.
    key: &'static str,
    /// True if the first click on the column sorts in descending order.
    is_from_highest: bool,
    /// CSS classes: numbers are right-aligned, and narrow screens omit columns.
    class: &'static str,
}

const fn column(
    title: &'static str,
    key: &'static str,
    is_from_highest: bool,
    class: &'static str,
) -> Column {
    Column { title, key, is_from_highest, class }
}

/// Key of the column with the primary metric of a workload. The name of that metric is the title of
/// the column.
const PRIMARY: &str = "primary";

/// Columns from left to right. The most important ones come first, so that a narrow screen has them
/// too.
const COLUMNS: [Column; 11] = [
    column("run", "name", false, ""),
    column("database", "database", false, "wide"),
    column("TPS trend", "", false, "trend"),
    column("TPS", "tps", true, "number"),
    column(SEVERAL, PRIMARY, true, "number wide"),
    column("p99 ms", "p99", false, "number"),
    column("validity", "validity", true, "wide"),
    column("started (UTC)", "started", true, "wide"),
    column("workload", "workload", false, "wider"),
    column("clients", "clients", true, "number wide"),
    column("measured", "duration", true, "number wider"),
];

struct Heading {
    title: String,
    class: &'static str,
    href: String,
    /// Value of `aria-sort` for the column: `ascending`, `descending` or `none`.
    sorted: &'static str,
}

pub(super) struct RowView {
    pub(super) id: String,
    pub(super) short: String,
    /// Name of the run in the address of a comparison, short and unique.
    pub(super) side: String,
    pub(super) name: String,
    /// Values of the varied parameters of a trial, such as `clients=8`; empty if nothing is varied.
    pub(super) point: String,
    pub(super) started: String,
    pub(super) status: &'static str,
    pub(super) workload: String,
    pub(super) database: String,
    /// Name and version of the database in a few characters.
    pub(super) database_short: String,
    pub(super) target: String,
    pub(super) clients: String,
    pub(super) measured: String,
    pub(super) tps: String,
    pub(super) primary: String,
    pub(super) p99_ms: String,
    /// `good`, `overloaded`, or the severity of the worst finding; empty while the run goes on.
    pub(super) validity: &'static str,
    /// Setup of the run and its warnings, as texts for the list.
    pub(super) identity: Identity,
    /// Line of throughput over time as SVG; empty for a run in progress, and outside of the list.
    pub(super) trend: String,
    pub(super) labels: Vec<LabelView>,
}

pub(super) struct LabelView {
    pub(super) key: String,
    pub(super) text: String,
    /// Address of the list of all runs with this label.
    pub(super) href: String,
}

/// Maximum labels in the line of a run; the others are shown as a number, such as `+2`.
const LABELS_MOST: usize = 2;

impl RowView {
    /// Returns the labels beyond those in the line, separated by commas.
    fn other_labels(&self) -> String {
        let others: Vec<&str> =
            self.labels.iter().skip(LABELS_MOST).map(|one| &*one.text).collect();
        others.join(", ")
    }

    /// Returns the title of the run's pages, from its name and short id.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.name, self.short)
    }

    /// Creates the view of a run outside of the list: without trend and identity.
    pub(super) fn plain(row: &RunRow) -> RowView {
        RowView::from_row(row, None, String::new(), Identity::default())
    }

    /// Creates the view of a run in the list. `known_by` is the title of the column with primary
    /// metrics, `None` outside of the list. If the column has several metrics, the value has the
    /// title of its metric.
    pub(super) fn from_row(
        row: &RunRow,
        known_by: Option<&str>,
        trend: String,
        identity: Identity,
    ) -> RowView {
        let primary = row.primary.as_ref();
        let primary = primary.map_or(String::new(), |metric| numbers::rate(Some(metric.value)));
        RowView {
            id: row.run.0.clone(),
            short: short_id(&row.run.0).to_owned(),
            // The last part of a UUID of version 7 is 48 random bits.
            side: row.run.0.rsplit('-').next().unwrap_or(&row.run.0).to_owned(),
            name: row.name.clone(),
            point: point(row),
            started: begun(row.started_unix_ms),
            status: row.status.name(),
            workload: row.workload.clone(),
            database: row.database.clone(),
            database_short: in_short(&row.database),
            target: row.target.clone(),
            clients: format_count(row.clients),
            measured: row
                .measured_ns
                .map_or(String::new(), |ns| measured(ns as f64 / NS_PER_S as f64)),
            tps: row.tps.map_or(String::new(), |tps| numbers::rate(Some(tps))),
            primary: with_title(primary, [row], known_by),
            p99_ms: row.p99_ms.map_or(String::new(), |ms| numbers::ms(Some(ms))),
            validity: validity(row.status, row.worst_finding, row.p99_ms),
            identity,
            trend,
            labels: row.labels.iter().map(|(key, value)| label_view(key, value)).collect(),
        }
    }
}

/// Returns the text of the validity badge of a run; empty while the run goes on.
fn validity(status: Status, worst: Option<Severity>, p99_ms: Option<f64>) -> &'static str {
    match (status, worst) {
        (Status::Completed, Some(Severity::Warning)) if is_overloaded(p99_ms) => "overloaded",
        (Status::Running, _) => "",
        (_, Some(severity @ (Severity::Warning | Severity::Invalid))) => severity.name(),
        _ => "good",
    }
}

pub(super) fn label_view(key: &str, value: &str) -> LabelView {
    let text = format!("{key}={value}");
    LabelView {
        key: key.to_owned(),
        href: format!("/{}", super::query::query(&[("label", &text)])),
        text,
    }
}

#[derive(Template)]
#[template(path = "web/rows.html")]
struct Rows {
    headings: Vec<Heading>,
    groups: Vec<Group>,
    shown: String,
    trouble: Option<String>,
    is_empty_store: bool,
    can_start: bool,
    before: Option<String>,
    after: Option<String>,
}

/// Choice in a menu of the form that filters the list, such as a workload.
struct Choice {
    value: String,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "web/list.html")]
struct ListPage {
    frame: Frame,
    text: String,
    condition: String,
    label: String,
    sort: String,
    /// True if the address sets a filter other than the search text.
    is_filtered: bool,
    workloads: Vec<Choice>,
    databases: Vec<Choice>,
    statuses: Vec<Choice>,
    labels: Vec<String>,
    rows: String,
    place: String,
    live: String,
    next_ms: u64,
    csv: String,
    json: String,
}

/// All runs of the store, and those that a request selects.
struct Found {
    all: Vec<RunRow>,
    /// Indices in `all` of the runs that the request selects.
    shown: Vec<usize>,
    trouble: Option<HttpError>,
}

/// Returns the runs that a request selects, in the requested order. Fails if the order or the
/// condition is invalid.
pub(super) fn runs(store: &Store, asked: &Pairs) -> Result<Vec<RunRow>, HttpError> {
    let Found { all, shown, trouble } = found(store, asked)?;
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let shown: HashSet<usize> = shown.into_iter().collect();
    let kept = all.into_iter().enumerate().filter(|(at, _)| shown.contains(at));
    Ok(kept.map(|(_, row)| row).collect())
}

/// Runs `read`, which reads the store for a request of the list. If the order or the condition of
/// the list is by a figure, the request first waits for its turn, because many reports are read.
pub(super) async fn read<T: Send + 'static>(
    app: &App,
    asked: Pairs,
    read: impl FnOnce(&Store, &Shared, &Pairs) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let reads_reports = order_and_condition(&asked).is_ok_and(|(sort, query)| {
        !sort.figures().is_empty() || query.is_some_and(|query| !query.figures().is_empty())
    });
    let read = move |store: &Store, shared: &Shared| read(store, shared, &asked);
    if reads_reports { app.read_many(read).await } else { app.read(read).await }
}

fn order_and_condition(asked: &Pairs) -> Result<(Sort, Option<Query>), String> {
    let sort = asked.get("sort").unwrap_or(NEWEST_FIRST);
    let sort = Sort::parse(sort, FIGURES).map_err(|bad| format!("sort: {bad}"))?;
    let condition = asked.get("where").map(|text| Query::parse(text, app::unix_ms(), FIGURES));
    Ok((sort, condition.transpose().map_err(|bad| bad.to_string())?))
}

/// Selects the runs that a request asks for. If the order or condition of the request is invalid,
/// no run is selected, and the result has the error.
fn found(store: &Store, asked: &Pairs) -> Result<Found, HttpError> {
    let (sort, query, trouble) = match order_and_condition(asked) {
        Ok((sort, query)) => (sort, query, None),
        Err(why) => (Sort::default(), None, Some(HttpError::bad(why))),
    };
    let misspelt = check_names(store, query.as_ref(), &sort).err();
    let trouble = trouble.or(misspelt.map(|why| HttpError::bad(why.to_string())));
    let all = store.list(&Filter { sort, ..Filter::default() })?;
    let meant: Option<HashSet<String>> = match query {
        None => None,
        Some(query) => {
            let rows = store.list(&Filter { query: Some(query), ..Filter::default() })?;
            Some(rows.into_iter().map(|row| row.run.0).collect())
        }
    };
    let is_meant = |row: &RunRow| meant.as_ref().is_none_or(|ids| ids.contains(&row.run.0));
    let places = all.iter().enumerate();
    let shown = places.filter(|(_, row)| trouble.is_none() && is_meant(row) && lets(asked, row));
    let shown: Vec<usize> = shown.map(|(at, _)| at).collect();
    Ok(Found { all, shown, trouble })
}

/// Returns true if a run matches the filters of the form and its search text.
fn lets(asked: &Pairs, row: &RunRow) -> bool {
    let is = |name: &str, actual: &str| asked.get(name).is_none_or(|wanted| wanted == actual);
    let has_workload = asked.get("workload").is_none_or(|wanted| {
        row.workload == wanted || row.workload.split('+').any(|w| w == wanted)
    });
    let has_label = asked.get("label").is_none_or(|wanted| match wanted.split_once('=') {
        Some((key, value)) => row.labels.iter().any(|(k, v)| k == key && v == value),
        None => row.labels.iter().any(|(key, _)| key == wanted),
    });
    let has_text = asked.get("q").is_none_or(|wanted| {
        let wanted = wanted.to_lowercase();
        let own = [&row.run.0, &row.name, &row.workload, &row.target, &row.database, &row.dbdyno];
        let labels = row.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let more = labels.chain([point(row)]);
        own.into_iter().cloned().chain(more).any(|text| text.to_lowercase().contains(&wanted))
    });
    is("status", row.status.name())
        && is("database", &row.database)
        && has_workload
        && has_label
        && has_text
}

/// Maximum trials of an experiment that are shown below its line, the newest ones; the page of the
/// experiment has the others.
const TRIALS_MOST: usize = 50;

/// Line of an experiment with the trials folded below it, or a single run.
struct Group {
    /// Line of the experiment; `None` for a single run.
    experiment: Option<ExperimentLine>,
    rows: Vec<RowView>,
    /// Number of trials that the list leaves out; the page of the experiment has them.
    n_more: usize,
}

/// Line of the list for an experiment; each value covers all of its trials.
struct ExperimentLine {
    id: String,
    short: String,
    name: String,
    trials: String,
    /// Varied parameters and values of the trials, such as `clients=1,2,4 × mode=text,prepared`.
    axes: String,
    labels: Vec<LabelView>,
    /// Lowest and highest TPS of the experiment's trials, as text.
    tps: String,
    primary: String,
    p99_ms: String,
    clients: String,
    /// Line of mean TPS over the first varied parameter, as SVG; empty if its values are not
    /// numbers.
    trend: String,
    validity: &'static str,
    status: &'static str,
    /// Status with the number of runs that have it: `2 of 10 failed`.
    status_in_words: String,
    started: String,
    workload: String,
    database: String,
    /// Database of the trials in a few characters; for several databases, their names.
    database_short: String,
}

/// Point of an experiment (values of varied parameters), and the TPS of each of its trials.
type Rates<'r> = (&'r [(String, String)], Vec<f64>);

/// Returns the varied parameters of trials with their values, such as `clients=1,2,4`. Parameters
/// and values are in the order of first runs, but numbers are sorted.
fn axes_of(rows: &[&RunRow]) -> String {
    let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in rows.iter().rev().flat_map(|row| &row.point) {
        let index = axes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            axes.push((name, Vec::new()));
            axes.len() - 1
        });
        if !axes[index].1.contains(&value.as_str()) {
            axes[index].1.push(value);
        }
    }
    for (_, values) in &mut axes {
        if values.iter().all(|value| number(value).is_some()) {
            values.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
        }
    }
    let axis_text = |(name, values): &(&str, Vec<&str>)| {
        format!("{}={}", model::short_axis(name), values.join(","))
    };
    axes.iter().map(axis_text).collect::<Vec<_>>().join(" × ")
}

/// Returns the mean TPS of each point of an experiment, sorted by its first varied parameter. Empty
/// if a value of that parameter is not a number, since a line would imply values in between.
fn means_by_point(rows: &[&RunRow]) -> Vec<f64> {
    let mut points: Vec<Rates<'_>> = Vec::new();
    for row in rows.iter().rev() {
        let Some(tps) = row.tps else { continue };
        match points.iter_mut().find(|(point, _)| *point == &row.point[..]) {
            Some((_, all)) => all.push(tps),
            None => points.push((&row.point, vec![tps])),
        }
    }
    let first = |point: &[(String, String)]| point.first().and_then(|(_, value)| number(value));
    if points.iter().any(|(point, _)| first(point).is_none()) {
        return Vec::new();
    }
    points.sort_by(|(a, _), (b, _)| first(a).partial_cmp(&first(b)).unwrap_or(Ordering::Equal));
    points.iter().map(|(_, all)| all.iter().sum::<f64>() / all.len() as f64).collect()
}

fn experiment_line(trials: Trials<'_, '_>, known_by: Option<&str>) -> ExperimentLine {
    let rate = |value: f64| numbers::rate(Some(value));
    let primary = trials.mean_and_span(|row| row.primary.as_ref().map(|metric| metric.value), rate);
    ExperimentLine {
        id: trials.id.to_owned(),
        short: short_id(trials.id).to_owned(),
        name: trials.name().to_owned(),
        trials: trials.counted(),
        axes: axes_of(trials.rows),
        labels: trials.labels().iter().map(|(key, value)| label_view(key, value)).collect(),
        tps: trials.mean_and_span(|row| row.tps, rate),
        primary: with_title(primary, trials.rows.iter().copied(), known_by),
        p99_ms: trials.mean_and_span(|row| row.p99_ms, |ms| numbers::ms(Some(ms))),
        clients: trials.span(|row| Some(row.clients as f64), |one| format_count(one as u64)),
        trend: spark_svg(&means_by_point(trials.rows)),
        validity: validity(trials.status(), trials.worst_finding(), None),
        status_in_words: trials.status_in_words(),
        status: trials.status().name(),
        started: begun(trials.started_unix_ms()),
        workload: trials.workload().to_owned(),
        database: trials.databases().join(", "),
        database_short: trials.databases_in_short(),
    }
}

/// Returns true if the list folds trials below their experiment: only in the order of time, and
/// without a condition.
fn is_grouped(asked: &Pairs) -> bool {
    let sort = asked.get("sort").unwrap_or(NEWEST_FIRST);
    sort.trim_start_matches('-') == "started" && asked.get("where").is_none()
}

fn rows(
    store: &Store,
    shared: &Shared,
    visitor: &Visitor,
    (found, asked): (&Found, &Pairs),
) -> Result<String, HttpError> {
    let groups = groups(found.shown.iter().map(|at| &found.all[*at]), is_grouped(asked));
    let n_pages = groups.len().div_ceil(ROWS_MAX).max(1);
    let page = asked.get("page").and_then(|page| page.parse::<usize>().ok());
    let page = page.unwrap_or(1).clamp(1, n_pages);
    let shown_groups = groups.iter().skip((page - 1) * ROWS_MAX).take(ROWS_MAX);
    let to_page = |page: usize| format!("/{}", asked.with("page", &page.to_string()));
    let n_all = numbers::count(found.all.len() as u64, "run");
    let shown = match (found.shown.len() == found.all.len(), n_pages) {
        (true, 1) => n_all,
        (true, _) => format!("{n_all}, page {page} of {n_pages}"),
        (false, 1) => format!("{} of {n_all}", found.shown.len()),
        (false, _) => format!("{} of {n_all}, page {page} of {n_pages}", found.shown.len()),
    };
    let known_by = primary_title(found.shown.iter().map(|at| &found.all[*at]));
    let known_by = known_by.as_deref();
    let of_group = |rows: &Vec<&RunRow>| {
        let experiment = Trials::from_rows(rows).map(|trials| experiment_line(trials, known_by));
        let view = |row: &&RunRow| {
            let trend = trend(store, shared, row);
            RowView::from_row(row, known_by, trend, identity(store, shared, row))
        };
        let shown =
            if experiment.is_some() { &rows[..rows.len().min(TRIALS_MOST)] } else { &rows[..] };
        Group {
            n_more: rows.len() - shown.len(),
            rows: shown.iter().map(view).collect(),
            experiment,
        }
    };
    rendered(&Rows {
        headings: headings(asked, known_by),
        groups: shown_groups.map(of_group).collect(),
        shown,
        trouble: found.trouble.as_ref().map(|no| no.text.clone()),
        is_empty_store: found.all.is_empty(),
        can_start: visitor.is_full(),
        before: (page > 1).then(|| to_page(page - 1)),
        after: (page < n_pages).then(|| to_page(page + 1)),
    })
}

/// Returns the line of throughput over time as SVG, cached, since an ended run does not change.
/// Empty for a run in progress.
fn trend(store: &Store, shared: &Shared, row: &RunRow) -> String {
    if row.status == Status::Running {
        return String::new();
    }
    shared.trends.get(row.run.clone(), || {
        // The run's page reports an unreadable report.
        spark_svg(&rates_over_time(store, &row.run).unwrap_or_default())
    })
}

/// Returns the setup and warnings of a run, cached, since an ended run does not change. Empty for a
/// run in progress.
fn identity(store: &Store, shared: &Shared, row: &RunRow) -> Identity {
    match row.status {
        Status::Running => Identity::default(),
        _ => shared.identities.get(row.run.clone(), || identity_of(store, row).unwrap_or_default()),
    }
}

fn headings(asked: &Pairs, known_by: Option<&str>) -> Vec<Heading> {
    let sort = asked.get("sort").unwrap_or(NEWEST_FIRST);
    let (is_descending, by) = match sort.strip_prefix('-') {
        Some(by) => (true, by),
        None => (false, sort),
    };
    let heading = |column: &Column| {
        let sorted = match (column.key == by, is_descending) {
            (false, _) => "none",
            (true, true) => "descending",
            (true, false) => "ascending",
        };
        let next_is_descending = match column.key == by {
            true => !is_descending,
            false => column.is_from_highest,
        };
        let next = format!("{}{}", if next_is_descending { "-" } else { "" }, column.key);
        // Another order has another first page.
        let href = format!("/{}", asked.without("page").with("sort", &next));
        let href = if column.key.is_empty() { String::new() } else { href };
        let title = if column.key == PRIMARY { known_by.unwrap_or(SEVERAL) } else { column.title };
        Heading { title: title.to_owned(), class: column.class, href, sorted }
    };
    COLUMNS.iter().map(heading).collect()
}

fn choices<'a>(all: impl Iterator<Item = &'a str>, chosen: Option<&'a str>) -> Vec<Choice> {
    let all: BTreeSet<&str> = all.chain(chosen).filter(|value| !value.is_empty()).collect();
    let choice = |value: &str| Choice { value: value.to_owned(), is_chosen: Some(value) == chosen };
    all.into_iter().map(choice).collect()
}

/// `GET /`: the list of runs.
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    read(&app, asked, move |store, shared, asked| {
        let found = found(store, asked)?;
        let rows = rows(store, shared, &visitor, (&found, asked))?;
        let all = || found.all.iter();
        let text = |name: &str| asked.get(name).unwrap_or_default().to_owned();
        let labels = all().flat_map(|row| &row.labels);
        let labels: BTreeSet<String> =
            labels.map(|(key, value)| format!("{key}={value}")).collect();
        let statuses = Status::ALL.map(|status| status.name().to_owned());
        answer::page_or_trouble(
            found.trouble.as_ref(),
            &ListPage {
                frame: Frame::new("Runs", "runs", &visitor),
                text: text("q"),
                condition: text("where"),
                label: text("label"),
                sort: text("sort"),
                is_filtered: ["workload", "database", "status", "label", "where"]
                    .into_iter()
                    .any(|name| !text(name).is_empty()),
                workloads: choices(
                    all().flat_map(|row| row.workload.split('+')),
                    asked.get("workload"),
                ),
                databases: choices(all().map(|row| row.database.as_str()), asked.get("database")),
                statuses: choices(statuses.iter().map(String::as_str), asked.get("status")),
                labels: labels.into_iter().collect(),
                place: super::assets::tag(rows.as_bytes()),
                rows,
                live: format!("/live{}", asked.text()),
                next_ms: NEXT_MS,
                csv: format!("/api/runs.csv{}", asked.text()),
                json: format!("/api/runs{}", asked.text()),
            },
        )
    })
    .await
}

/// `GET /live`: the rows of the list; no content if they still have the state that the browser has
/// seen (`after` in the query).
pub(super) async fn live(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    read(&app, asked, move |store, shared, asked| {
        let seen = asked.get("after").unwrap_or_default().to_owned();
        let asked = asked.without("after");
        let found = found(store, &asked)?;
        let html = rows(store, shared, &visitor, (&found, &asked))?;
        let place = super::assets::tag(html.as_bytes());
        Ok(fresh(&seen, Fresh { place, html, next_ms: Some(NEXT_MS) }))
    })
    .await
}
