//! Pages of a run, of comparisons and of histories, and changes of a run: its labels, its removal.
//!
//! The bodies of pages come from the reports (render). Not here: the list of runs, and experiments.

use std::collections::BTreeSet;

use app::compare::{CompareBy, compare as hold, history as hold_history, history_tables};
use app::report_source::ReportSource;
use app::trials::figure_names;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use model::{Imported, RunId};
use render::Document;
use render::charts::Chart;
use render::for_shell;
use render::html::{First, Medium, body as html, body_with};
use render::list::{axes as axes_of, begun, in_short, short_id};
use render::live::Now;
use store::{ExperimentFilter, Filter, RunRow, Store, StoreErrorKind, why_no_label};
use study::comparison::Judge;
use study::history::{Order, Question};
use study::matrix::Matrices;
use study::{ComparisonReport, HistoryReport};

use super::App;
use super::answer::{self, Frame, Fresh, Stands, fresh, rendered};
use super::http_error::HttpError;
use super::list::{LabelView, RowView, label_view};
use super::live::RunSnapshot;
use super::query::{Form, Pairs};
use super::selection::{Grouped, Way, grouped};
use super::tables;
use super::visitor::Visitor;

/// Maximum number of suggested sides (sets of runs) for a comparison, of each kind: labels,
/// experiments and runs. Others can be typed.
const SUGGESTED_MAX: usize = 50;

/// Maximum number of suggested sides of a comparison (sets of runs) that have a check box on the
/// page; all are suggested while the user types.
const PICKS_MOST: usize = 12;
/// Time between updates of a running run's page, in milliseconds. It has new events once a second.
const NEXT_MS: u64 = 1000;

#[derive(Template)]
#[template(path = "web/run.html")]
struct RunPage {
    frame: Frame,
    row: RowView,
    labels: Vec<LabelView>,
    tables: [(&'static str, &'static str); 9],
    body: String,
    place: String,
    is_live: bool,
    /// True if the run is a load, which a plan can repeat, and not a build.
    is_load: bool,
}

#[derive(Template)]
#[template(path = "web/standing.html")]
struct StandingPart {
    status: &'static str,
    now: Option<Now>,
}

fn standing_part(standing: RunSnapshot) -> Result<String, HttpError> {
    let base = format!("/api/runs/{}/charts/", standing.row.run);
    // A running run has other charts at each position.
    let place = format!("?at={}", standing.place);
    let query = if standing.is_live() { &place } else { "" };
    let medium = Medium::Web { base: &base, query, runs: super::RUNS, first: First::InPage };
    let status = standing.row.status.name();
    let part = rendered(&StandingPart { status, now: standing.now })?;
    Ok(body_with(&render::run(&standing.drawn), &part, medium))
}

/// `GET /runs/ID`: the page of a run.
pub(super) async fn run(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        // A shared address must always mean the same run.
        if standing.row.run.0 != name {
            let place = format!("/runs/{}{}", standing.row.run, asked.text());
            return Ok(Redirect::to(&place).into_response());
        }
        let row = RowView::plain(&standing.row);
        let title = row.title();
        let labels = &standing.row.labels;
        answer::page(&RunPage {
            frame: Frame::new(title, "runs", &visitor),
            row,
            labels: labels.iter().map(|(key, value)| label_view(key, value)).collect(),
            tables: tables::ALL,
            place: standing.place.to_string(),
            is_live: standing.is_live(),
            is_load: !standing.report.is_build(),
            body: standing_part(standing)?,
        })
    })
    .await
}

/// `GET /runs/ID/charts/NAME`: the page of a single chart of a run.
pub(super) async fn run_chart(
    State(app): State<App>,
    visitor: Visitor,
    Path((name, chart_name)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        let page = format!("/runs/{}", standing.row.run);
        let name = RowView::plain(&standing.row).title();
        let charts = render::charts::of_run(&standing.drawn);
        let stands = Stands { at: &page, query: "", name: &name, here: "runs" };
        answer::chart_page(&charts, &chart_name, &stands, &visitor)
    })
    .await
}

/// `GET /compare/charts/NAME?side=A&side=B`: the page of a single chart of a comparison.
pub(super) async fn compare_chart(
    State(app): State<App>,
    visitor: Visitor,
    Path(chart_name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read_many(move |store, _| {
        let charts = compared_charts(store, &asked)?;
        let query = asked.text();
        let stands = Stands { at: "/compare", query: &query, name: "comparison", here: "compare" };
        answer::chart_page(&charts, &chart_name, &stands, &visitor)
    })
    .await
}

/// `GET /history/charts/NAME?by=build`: the page of a single chart of a history.
pub(super) async fn history_chart(
    State(app): State<App>,
    visitor: Visitor,
    Path(chart_name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read_many(move |store, _| {
        let charts = render::charts::of_history(&reported_history(store, &asked)?);
        let query = asked.text();
        let stands = Stands { at: "/history", query: &query, name: "history", here: "history" };
        answer::chart_page(&charts, &chart_name, &stands, &visitor)
    })
    .await
}

/// `GET /runs/ID/live`: the body of a run's page; no content if a running run still has the state
/// that the browser has seen (`after` in the query).
pub(super) async fn run_live(
    State(app): State<App>,
    Path(name): Path<String>,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        let next_ms = standing.is_live().then_some(NEXT_MS);
        let place = standing.place.to_string();
        let seen = asked.get("after").unwrap_or_default();
        if place == seen && next_ms.is_some() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        Ok(fresh(seen, Fresh { place, html: standing_part(standing)?, next_ms }))
    })
    .await
}

/// Path of the page to show after a change of a run, and a description of the change.
type Changed = Result<(String, String), HttpError>;

/// Changes a run as a form requests, stores the change as the user's action, and redirects to the
/// page that `change` names.
async fn changed(
    app: App,
    visitor: Visitor,
    name: String,
    form: Pairs,
    change: impl FnOnce(&Store, &RunId, &Pairs) -> Changed + Send + 'static,
) -> Result<Response, HttpError> {
    app.read(move |store, _| {
        let run = store.find(&name)?;
        let (place, what) = change(store, &run, &form)?;
        store.note_action(&visitor.who(), &what)?;
        Ok(Redirect::to(&place).into_response())
    })
    .await
}

/// `POST /runs/ID/label`: `label=KEY=VALUE` sets a label, `remove=KEY` removes one.
pub(super) async fn label(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form,
) -> Result<Response, HttpError> {
    changed(app, visitor, name, form, |store, run, form| {
        if form.get("remove").or(form.get("label")).is_none() {
            return Err(HttpError::bad("send label=KEY=VALUE, or remove=KEY"));
        }
        let mut what = format!("labelled run {run}:");
        if let Some(key) = form.get("remove") {
            store.unlabel(run, key)?;
            what += &format!(" without {key}");
        }
        if let Some(label) = form.get("label") {
            let pair = label.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let no = |why: &str| HttpError::bad(format!("'{label}' is not a label: {why}"));
            let whole = pair.filter(|(_, value)| !value.is_empty());
            let (key, value) = whole.ok_or_else(|| no("write key=value"))?;
            if let Some(why) = why_no_label(key, value) {
                return Err(no(&why));
            }
            store.label(run, key, value)?;
            what += &format!(" {key}={value}");
        }
        Ok((format!("/runs/{run}"), what))
    })
    .await
}

/// `POST /runs/ID/remove`: removes a run; `sure=yes` confirms it.
pub(super) async fn remove(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    Form(form): Form,
) -> Result<Response, HttpError> {
    changed(app, visitor, name, form, |store, run, form| {
        if form.get("sure") != Some("yes") {
            return Err(HttpError::bad("confirm that it is to be removed permanently"));
        }
        store.remove(std::slice::from_ref(run))?;
        Ok(("/".to_owned(), format!("removed run {run}")))
    })
    .await
}

/// Returns the options of a request by which differences are judged: the figure, and the smallest
/// effect in percent. Without them, the defaults are those of the command line.
fn judge(asked: &Pairs) -> Result<Judge, HttpError> {
    // The form has a number in %.
    let min_effect =
        asked.get("min_effect").map(|text| format!("{}%", text.trim().trim_end_matches('%')));
    Judge::asked(asked.get("figure"), min_effect.as_deref()).map_err(HttpError::bad)
}

/// Returns the sides of a comparison (sets of runs) that a request names (`side=`).
fn named(asked: &Pairs) -> Vec<String> {
    asked.all("side").map(str::to_owned).collect()
}

/// Returns the address of a comparison of the runs selected in the list, oldest first, since new
/// runs are compared with older ones. `None` if the runs do not come from the list (`selected`), or
/// a run is unknown.
fn oldest_first(store: &Store, asked: &Pairs) -> Option<String> {
    asked.get("selected")?;
    let row = |name: String| store.row(&store.find(&name).ok()?).ok().flatten();
    let mut rows = named(asked).into_iter().map(row).collect::<Option<Vec<RunRow>>>()?;
    rows.sort_by_key(|row| row.started_unix_ms);
    let sides: Vec<String> = rows.iter().map(|row| format!("side={}", row.run.0)).collect();
    Some(format!("/compare?{}", sides.join("&")))
}

/// Groups the single runs that a request names into sides of a comparison (sets of runs); `None` if
/// it names anything else than single runs, or if they cannot be grouped.
fn selected(store: &Store, asked: &Pairs) -> Option<Grouped> {
    grouped(store, &named(asked), asked.get("group"))
}

/// Returns true if the request has a parameter of a comparison (`side`, `by`, `figure` or
/// `min_effect`), so that it asks for more than the empty page.
fn is_asked(asked: &Pairs) -> bool {
    ["side", "by", "figure", "min_effect"].iter().any(|name| asked.get(name).is_some())
}

/// Returns true if the request names exactly one side (set of runs) for a comparison, and that side
/// exists; a label is not looked up. The link on a run's page makes such a request.
fn is_begun(store: &Store, asked: &Pairs) -> bool {
    let names = named(asked);
    let ([name], None, Ok(_)) = (&names[..], asked.get("by"), judge(asked)) else { return false };
    name.contains('=') || store.find_experiment(name).is_ok() || store.find(name).is_ok()
}

/// Returns the sides (sets of runs) that a request asks to compare; `None` unless it names two or
/// more sides, or one experiment with the parameter whose values are compared.
fn sides(store: &Store, asked: &Pairs, selected: Option<&Grouped>) -> Option<CompareBy> {
    if asked.get("by").is_none()
        && let Some(selected) = selected
    {
        return Some(CompareBy::Sides(selected.sides.clone()));
    }
    let names = named(asked);
    match (asked.get("by"), &names[..]) {
        (Some(axis), [experiment]) => {
            Some(CompareBy::Axis { experiment: experiment.clone(), axis: axis.to_owned() })
        }
        (_, [_, _, ..]) => Some(CompareBy::Sides(names)),
        // An experiment with one axis has its values as sides.
        (None, [experiment]) => match &axes(store, asked)[..] {
            [axis] => Some(CompareBy::Axis { experiment: experiment.clone(), axis: axis.clone() }),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the comparison that a request asks for. Fails if it names too few or too many sides
/// (sets of runs; at most 500).
pub(super) fn compared(store: &Store, asked: &Pairs) -> Result<ComparisonReport, HttpError> {
    few_sides(asked)?;
    held(store, asked, sides(store, asked, selected(store, asked).as_ref()).as_ref())
}

/// Fails if a request names more than 500 sides (sets of runs) of a comparison, before any is
/// looked up.
fn few_sides(asked: &Pairs) -> Result<(), HttpError> {
    const SIDES_MAX: usize = 500;
    match asked.all("side").count() {
        0..=SIDES_MAX => Ok(()),
        n => Err(HttpError::bad(format!("{n} sides are too many: name at most {SIDES_MAX}"))),
    }
}

/// Returns the charts of the comparison that a request asks for.
pub(super) fn compared_charts(store: &Store, asked: &Pairs) -> Result<Vec<Chart>, HttpError> {
    Ok(source(store, compared(store, asked)?)?.charts())
}

fn source(store: &Store, report: ComparisonReport) -> Result<ReportSource, HttpError> {
    Ok(ReportSource::of_comparison(store, report, Vec::new())?)
}

fn held(
    store: &Store,
    asked: &Pairs,
    sides: Option<&CompareBy>,
) -> Result<ComparisonReport, HttpError> {
    let sides = sides.ok_or_else(|| {
        HttpError::bad("name a baseline and another side, or one experiment and an axis of it")
    })?;
    let judge = judge(asked)?;
    hold(store, sides, &judge).map_err(|trouble| match is_unknown(store, sides) {
        true => HttpError::unknown(trouble.to_string()),
        false => trouble.into(),
    })
}

/// Returns true if a run or an experiment that is named as a side (set of runs) of a comparison
/// does not exist. Labels are not looked up.
fn is_unknown(store: &Store, sides: &CompareBy) -> bool {
    let is_lost = |found: Result<(), StoreErrorKind>| found == Err(StoreErrorKind::UnknownRun);
    let experiment = |name: &str| store.find_experiment(name).map(drop).map_err(|no| no.kind);
    let run = |name: &str| store.find(name).map(drop).map_err(|no| no.kind);
    match sides {
        CompareBy::Axis { experiment: name, .. } => is_lost(experiment(name)),
        CompareBy::Sides(names) => names.iter().filter(|name| !name.contains('=')).any(|name| {
            is_lost(experiment(name)) && name.split(',').any(|name| is_lost(run(name)))
        }),
    }
}

/// Returns the name of the label whose values are the builds of a history: the requested one; else
/// `build` if a run has that label, or if there is no run; else the day, which every run has.
fn history_by(store: &Store, asked: &Pairs) -> Result<String, HttpError> {
    if let Some(by) = asked.get("by") {
        return Ok(by.to_owned());
    }
    let has_build = store.label_keys()?.iter().any(|key| key == "build");
    let is_empty = store.list(&Filter { limit: Some(1), ..Filter::default() })?.is_empty();
    Ok(if has_build || is_empty { "build" } else { "day" }.to_owned())
}

/// Creates the history (a figure over builds) that a request asks for.
pub(super) fn reported_history(store: &Store, asked: &Pairs) -> Result<HistoryReport, HttpError> {
    history_of(store, asked, &history_by(store, asked)?)
}

fn history_of(store: &Store, asked: &Pairs, by: &str) -> Result<HistoryReport, HttpError> {
    let order = match asked.get("order") {
        None => None,
        Some("version") => Some(Order::Version),
        Some("time") => Some(Order::Time),
        Some(other) => {
            return Err(HttpError::bad(format!("order {other}: choose version or time")));
        }
    };
    let baseline = asked.get("baseline").map(str::to_owned);
    let imported = imported(store, asked)?;
    let question = Question { order, baseline, imported, ..Question::new(by, judge(asked)?) };
    Ok(hold_history(store, &question)?)
}

/// Returns the tables of a history for the rows that the request names; `None` if it names no rows.
pub(super) fn tables_of_history(
    report: &HistoryReport,
    asked: &Pairs,
) -> Result<Option<Matrices>, HttpError> {
    Ok(history_tables(report, asked.get("rows"), asked.get("columns"))?)
}

/// Reads the imported figures that a request names (`imported`); empty if it names none. Fails if
/// the name is unknown.
pub(super) fn imported(store: &Store, asked: &Pairs) -> Result<Vec<Imported>, HttpError> {
    let name: Vec<String> = asked.get("imported").map(str::to_owned).into_iter().collect();
    Ok(app::imported::named(store, &name)?)
}

#[derive(Template)]
#[template(path = "web/compare.html")]
struct ComparePage {
    frame: Frame,
    sides: Vec<String>,
    /// Ways to group the selected runs into sides of a comparison (sets of runs), each with the
    /// address of the page that groups them in this way.
    ways: Vec<(Way, String)>,
    group: String,
    /// True if the request names only one side (set of runs) of the comparison so far, so that the
    /// page asks for another.
    is_begun: bool,
    by: String,
    figure: String,
    min_effect: String,
    figures: Vec<String>,
    suggestions: Vec<Suggestion>,
    axes: Vec<String>,
    body: String,
    trouble: Option<HttpError>,
    csv: String,
    json: String,
    /// Command for a terminal with the same comparison; `None` if there is none yet.
    command: Option<String>,
}

#[derive(Template)]
#[template(path = "web/history.html")]
struct HistoryPage {
    frame: Frame,
    by: String,
    order: String,
    baseline: String,
    figure: String,
    min_effect: String,
    figures: Vec<String>,
    imported: String,
    rows: String,
    columns: String,
    /// Names of all imported figures, to choose from.
    imports: Vec<String>,
    keys: Vec<String>,
    body: String,
    trouble: Option<HttpError>,
    csv: String,
    json: String,
    /// Command for a terminal with the same history.
    command: String,
}

/// Returns the command for a terminal with the same result as a page: `dbdyno`, `command`, `words`,
/// and the request's figure and smallest effect as options.
fn in_terminal(command: &str, mut words: Vec<String>, asked: &Pairs) -> String {
    let option = |name: &str, value: &str| format!("--{name}={value}");
    words.extend(asked.get("figure").map(|figure| option("figure", figure)));
    let percent = |text: &str| option("min-effect", &format!("{}%", text.trim_end_matches('%')));
    words.extend(asked.get("min_effect").map(percent));
    let words = words.iter().map(|word| for_shell(word)).collect::<Vec<_>>();
    format!("dbdyno {command} {}", words.join(" "))
}

/// Suggested side of a comparison (a set of runs), such as all runs with a label.
struct Suggestion {
    /// Text of the suggested side, as it is typed into the form.
    side: String,
    /// Description of the suggested side for people; empty if its text is enough.
    words: String,
}

/// Returns suggested sides (sets of runs) of a comparison: labels of runs, the newest experiments,
/// and the newest runs that are no trials.
fn suggestions(store: &Store) -> Result<Vec<Suggestion>, HttpError> {
    let runs = store.list(&Filter::default())?;
    let labels = runs.iter().flat_map(|row| &row.labels);
    let labels: BTreeSet<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
    let label = |side: String| Suggestion { side, words: String::new() };
    let experiments = store.experiments(&ExperimentFilter::default())?.into_iter();
    let experiment = |found: model::Experiment| Suggestion {
        side: short_id(&found.id).to_owned(),
        words: format!(
            "experiment {}, {}, {}",
            found.name,
            axes_of(&found),
            begun(found.started_unix_ms)
        ),
    };
    let run = |row: &RunRow| Suggestion {
        side: short_id(&row.run.0).to_owned(),
        words: format!(
            "{}, {}, {}, {}",
            row.name,
            in_short(&row.database),
            model::numbers::count(row.clients, "client"),
            begun(row.started_unix_ms)
        ),
    };
    let own = runs.iter().filter(|row| row.experiment.is_none());
    let all = labels.into_iter().take(SUGGESTED_MAX).map(label);
    let all = all.chain(experiments.take(SUGGESTED_MAX).map(experiment));
    Ok(all.chain(own.take(SUGGESTED_MAX).map(run)).collect())
}

/// Returns the names of the varied parameters of the experiment that the request names as a side
/// (set of runs) of a comparison; empty if it names none.
fn axes(store: &Store, asked: &Pairs) -> Vec<String> {
    let name = asked.get("side").unwrap_or_default();
    let experiment = store.find_experiment(name).ok();
    let axes = experiment.into_iter().flat_map(|experiment| experiment.axes);
    axes.map(|axis| axis.name).collect()
}

fn names_of_imported(store: &Store) -> Result<Vec<String>, HttpError> {
    let all = store.all_imported()?.into_iter();
    Ok(all.map(|row| row.imported.name).collect())
}

/// Returns the body of a page, or an empty one with the error of an invalid request, which can be
/// corrected on the same page. Fails with any other error.
pub(super) fn body_or_why<T>(
    report: Result<T, HttpError>,
    body: impl FnOnce(&T) -> String,
) -> Result<(String, Option<HttpError>), HttpError> {
    match report {
        Ok(report) => Ok((body(&report), None)),
        Err(no) if no.status.is_client_error() => Ok((String::new(), Some(no))),
        Err(no) => Err(no),
    }
}

fn ways(asked: &Pairs, selected: Option<Grouped>) -> Vec<(Way, String)> {
    let linked = |way: Way| {
        let address = format!("/compare{}", asked.with("group", &way.by));
        (way, address)
    };
    selected.into_iter().flat_map(|selected| selected.ways).map(linked).collect()
}

/// `GET /compare`: the page of a comparison, or the form for one.
pub(super) async fn compare(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read_many(move |store, _| {
        few_sides(&asked)?;
        if let Some(address) = oldest_first(store, &asked) {
            return Ok(Redirect::to(&address).into_response());
        }
        let query = asked.text();
        let medium = Medium::Web {
            base: "/api/compare/charts/",
            query: &query,
            runs: super::RUNS,
            first: First::InPage,
        };
        let selected = selected(store, &asked);
        let sides = sides(store, &asked, selected.as_ref());
        let is_begun = sides.is_none() && is_begun(store, &asked);
        let (body, trouble) = match is_asked(&asked) && !is_begun {
            false => (String::new(), None),
            true => {
                let held = held(store, &asked, sides.as_ref());
                body_or_why(held.and_then(|report| source(store, report)), |found| {
                    html(&found.document(), medium)
                })?
            }
        };
        let text = |name: &str| asked.get(name).unwrap_or_default().to_owned();
        let command = sides.map(|sides| {
            let words = match sides {
                CompareBy::Axis { experiment, axis } => vec![experiment, format!("--by={axis}")],
                CompareBy::Sides(names) => names,
            };
            in_terminal("compare", words, &asked)
        });
        answer::page_or_trouble(
            trouble.as_ref(),
            &ComparePage {
                frame: Frame::new("Compare", "compare", &visitor),
                ways: ways(&asked, selected),
                is_begun,
                group: text("group"),
                sides: named(&asked),
                by: text("by"),
                figure: text("figure"),
                min_effect: text("min_effect"),
                figures: figure_names(store, None)?,
                suggestions: suggestions(store)?,
                axes: axes(store, &asked),
                body,
                trouble: trouble.clone(),
                csv: format!("/api/compare.csv{query}"),
                json: format!("/api/compare{query}"),
                command,
            },
        )
    })
    .await
}

/// `GET /history`: the page of a history.
pub(super) async fn history(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read_many(move |store, _| {
        let query = asked.text();
        let medium = Medium::Web {
            base: "/api/history/charts/",
            query: &query,
            runs: super::RUNS,
            first: First::InPage,
        };
        let by = history_by(store, &asked)?;
        let reported = history_of(store, &asked, &by)
            .and_then(|report| Ok((render::history(&report), tables_of_history(&report, &asked)?)));
        let (body, trouble) = body_or_why(reported, |(page, tables)| {
            let tables = tables.iter().map(render::matrix_section);
            let sections = tables.chain(page.sections.iter().cloned()).collect();
            html(&Document { sections, ..page.clone() }, medium)
        })?;
        let text = |name: &str| asked.get(name).unwrap_or_default().to_owned();
        let option = |name: &str| Some(format!("--{name}={}", asked.get(name)?));
        let is_default = by == "build" && asked.get("by").is_none();
        let of_by = (!is_default).then(|| format!("--by={by}"));
        let words =
            ["order", "baseline", "imported", "rows", "columns"].into_iter().filter_map(option);
        let command = in_terminal("history", of_by.into_iter().chain(words).collect(), &asked);
        answer::page_or_trouble(
            trouble.as_ref(),
            &HistoryPage {
                frame: Frame::new("History", "history", &visitor),
                by,
                order: text("order"),
                baseline: text("baseline"),
                figure: text("figure"),
                min_effect: text("min_effect"),
                figures: figure_names(store, None)?,
                imported: text("imported"),
                rows: text("rows"),
                columns: text("columns"),
                imports: names_of_imported(store)?,
                keys: store.label_keys()?,
                body,
                trouble: trouble.clone(),
                csv: format!("/api/history.csv{query}"),
                json: format!("/api/history{query}"),
                command,
            },
        )
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_has_a_limit_of_sides_before_any_is_looked_up() {
        let sides = |n: usize| Pairs::parse(&vec!["side=last"; n].join("&"));
        assert!(few_sides(&sides(500)).is_ok());
        let refused = few_sides(&sides(501)).expect_err("too many");
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.text.contains("501 sides are too many: name at most 500"));
    }
}
