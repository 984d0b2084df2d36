//! `/`: the runs, searched, filtered, sorted and ticked.
//!
//! Not here: which runs an expression means (store), and which is the best (render).

use std::collections::{BTreeSet, HashSet};

use app::trials::FIGURES;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use model::{NS_PER_S, Severity, Status, format_count, numbers};
use render::list::{Best, point, short_id};
use store::{Filter, Query, RunRow, Sort, Store, utc};

use super::App;
use super::answer::{self, Frame, Fresh, fresh, rendered};
use super::http_error::HttpError;
use super::query::Pairs;
use super::visitor::Visitor;

/// Rows of a page: a screen or two.
const ROWS_MAX: usize = 50;
/// How soon a list is looked at again: a run that begins is seen soon.
const NEXT_MS: u64 = 2000;
/// As the command line lists them.
const NEWEST_FIRST: &str = "-started";

/// A column of the list.
struct Column {
    title: &'static str,
    /// What it is sorted by.
    key: &'static str,
    /// Whether its highest values come first at the first click.
    is_from_highest: bool,
    /// Its classes: numbers stand to the right, and narrow screens leave columns out.
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

/// What is asked for first comes first, so that a narrow screen has it too.
const COLUMNS: [Column; 11] = [
    column("run", "name", false, ""),
    column("TPS", "tps", true, "number"),
    column("NOPM", "nopm", true, "number wide"),
    column("p99 ms", "p99", false, "number"),
    column("validity", "validity", true, ""),
    column("status", "status", false, ""),
    column("started (UTC)", "started", true, "wide"),
    column("workload", "workload", false, "wide"),
    column("database", "database", false, "wider"),
    column("clients", "clients", true, "number wide"),
    column("measured", "duration", true, "number wider"),
];

struct Heading {
    title: &'static str,
    class: &'static str,
    href: String,
    /// `ascending`, `descending` or `none`, as readers who cannot see hear it.
    sorted: &'static str,
}

pub(super) struct RowView {
    pub(super) id: String,
    pub(super) short: String,
    /// What it is called in a comparison: short, and still no other run's.
    pub(super) side: String,
    pub(super) name: String,
    /// Which point of its experiment it is of; or nothing.
    pub(super) point: String,
    pub(super) started: String,
    pub(super) status: &'static str,
    pub(super) workload: String,
    pub(super) database: String,
    pub(super) target: String,
    pub(super) clients: String,
    pub(super) measured: String,
    pub(super) tps: String,
    pub(super) nopm: String,
    pub(super) p99_ms: String,
    /// `good`, or the worst finding's severity; empty while nothing can be said.
    pub(super) validity: &'static str,
    pub(super) is_best: bool,
    pub(super) labels: Vec<LabelView>,
}

pub(super) struct LabelView {
    pub(super) key: String,
    pub(super) text: String,
    /// All runs that have it.
    pub(super) href: String,
}

impl RowView {
    pub(super) fn of(row: &RunRow, is_best: bool) -> RowView {
        let validity = match (row.status, row.worst_finding) {
            (Status::Running, _) => "",
            (_, Some(severity @ (Severity::Warning | Severity::Invalid))) => severity.name(),
            _ => "good",
        };
        RowView {
            id: row.run.0.clone(),
            short: short_id(&row.run.0).to_owned(),
            // The last part of a UUID of version 7 is 48 random bits.
            side: row.run.0.rsplit('-').next().unwrap_or(&row.run.0).to_owned(),
            name: row.name.clone(),
            point: point(row),
            started: utc(row.started_unix_ms),
            status: row.status.name(),
            workload: row.workload.clone(),
            database: row.database.clone(),
            target: row.target.clone(),
            clients: format_count(row.clients),
            measured: row
                .measured_ns
                .map_or(String::new(), |ns| numbers::seconds(ns as f64 / NS_PER_S as f64)),
            tps: row.tps.map_or(String::new(), |tps| numbers::rate(Some(tps))),
            nopm: row.nopm.map_or(String::new(), |nopm| numbers::rate(Some(nopm))),
            p99_ms: row.p99_ms.map_or(String::new(), |ms| numbers::ms(Some(ms))),
            validity,
            is_best,
            labels: row.labels.iter().map(|(key, value)| label_view(key, value)).collect(),
        }
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
    rows: Vec<RowView>,
    shown: String,
    trouble: Option<String>,
    is_empty_store: bool,
    before: Option<String>,
    after: Option<String>,
}

/// Something that can be chosen.
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

/// What was found of what was asked.
struct Found {
    all: Vec<RunRow>,
    /// Places in `all`.
    shown: Vec<usize>,
    trouble: Option<HttpError>,
}

/// The runs that `asked` lets through, in its order.
pub(super) fn runs(store: &Store, asked: &Pairs) -> Result<Vec<RunRow>, HttpError> {
    let Found { all, shown, trouble } = found(store, asked)?;
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let shown: HashSet<usize> = shown.into_iter().collect();
    let kept = all.into_iter().enumerate().filter(|(at, _)| shown.contains(at));
    Ok(kept.map(|(_, row)| row).collect())
}

/// What cannot be understood is told beside the list, which is empty then.
fn found(store: &Store, asked: &Pairs) -> Result<Found, HttpError> {
    let read = || -> Result<(Sort, Option<Query>), String> {
        let sort = asked.get("sort").unwrap_or(NEWEST_FIRST);
        let sort = Sort::parse(sort, FIGURES).map_err(|bad| format!("sort: {bad}"))?;
        let condition = asked.get("where").map(|text| Query::parse(text, app::unix_ms(), FIGURES));
        Ok((sort, condition.transpose().map_err(|bad| bad.to_string())?))
    };
    let (sort, query, trouble) = match read() {
        Ok((sort, query)) => (sort, query, None),
        Err(why) => (Sort::default(), None, Some(HttpError::bad(why))),
    };
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

/// Whether the form's fields let a run through.
fn lets(asked: &Pairs, row: &RunRow) -> bool {
    let is = |name: &str, of: &str| asked.get(name).is_none_or(|wanted| wanted == of);
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

fn rows(found: &Found, asked: &Pairs) -> Result<String, HttpError> {
    let best = Best::of(&found.all);
    let n_pages = found.shown.len().div_ceil(ROWS_MAX).max(1);
    let page = asked.get("page").and_then(|page| page.parse::<usize>().ok());
    let page = page.unwrap_or(1).clamp(1, n_pages);
    let places = found.shown.iter().skip((page - 1) * ROWS_MAX).take(ROWS_MAX);
    let rows = places.map(|at| &found.all[*at]);
    let to_page = |page: usize| format!("/{}", asked.with("page", &page.to_string()));
    let n_all = numbers::count(found.all.len() as u64, "run");
    let shown = match (found.shown.len() == found.all.len(), n_pages) {
        (true, 1) => n_all,
        (true, _) => format!("{n_all}, page {page} of {n_pages}"),
        (false, 1) => format!("{} of {n_all}", found.shown.len()),
        (false, _) => format!("{} of {n_all}, page {page} of {n_pages}", found.shown.len()),
    };
    rendered(&Rows {
        headings: headings(asked),
        rows: rows.map(|row| RowView::of(row, best.is(row))).collect(),
        shown,
        trouble: found.trouble.as_ref().map(|no| no.text.clone()),
        is_empty_store: found.all.is_empty(),
        before: (page > 1).then(|| to_page(page - 1)),
        after: (page < n_pages).then(|| to_page(page + 1)),
    })
}

fn headings(asked: &Pairs) -> Vec<Heading> {
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
        Heading { title: column.title, class: column.class, href, sorted }
    };
    COLUMNS.iter().map(heading).collect()
}

fn choices<'a>(all: impl Iterator<Item = &'a str>, chosen: Option<&'a str>) -> Vec<Choice> {
    let all: BTreeSet<&str> = all.chain(chosen).filter(|value| !value.is_empty()).collect();
    let choice = |value: &str| Choice { value: value.to_owned(), is_chosen: Some(value) == chosen };
    all.into_iter().map(choice).collect()
}

/// `GET /`
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let found = found(store, &asked)?;
        let rows = rows(&found, &asked)?;
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

/// `GET /live`: the rows as they stand, if they have changed.
pub(super) async fn live(State(app): State<App>, asked: Pairs) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let seen = asked.get("after").unwrap_or_default().to_owned();
        let asked = asked.without("after");
        let found = found(store, &asked)?;
        let html = rows(&found, &asked)?;
        let place = super::assets::tag(html.as_bytes());
        Ok(fresh(&seen, Fresh { place, html, next_ms: Some(NEXT_MS) }))
    })
    .await
}
