//! Responses of the web service: pages, data, and error sentences.
//!
//! Not here: content of pages, and headers of all responses (`request_policy`).

use std::borrow::Cow;

use askama::Template;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use render::chart_backends::{Drawn, Theme};
use render::charts::{Chart, chart_named};
use render::html::{First, Medium, figure};
use serde_json::json;

use super::assets;
use super::http_error::HttpError;
use super::query::Pairs;
use super::visitor::Visitor;

/// Maximum rows of a chart's data on the page of the chart. CSV has all of them.
const ROWS_MOST: usize = 500;

impl HttpError {
    /// Creates the response for an error: JSON if it is for a program (`is_api`), else a page.
    pub(super) fn shown(&self, is_api: bool, visitor: &Visitor) -> Response {
        let mut response = match is_api {
            true => Json(json!({"error": self.text})).into_response(),
            false => {
                let title = title_of(self.status);
                let frame = Frame::new(title, "", visitor);
                page(&Sentence { frame, text: self.text.clone() }).unwrap_or_else(|no| no.plain())
            }
        };
        *response.status_mut() = self.status;
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn plain(self) -> Response {
        (self.status, self.text).into_response()
    }
}

/// Returns the title of the page for an error with this status.
fn title_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::CONFLICT => "Not now",
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::URI_TOO_LONG => "Too long",
        StatusCode::MISDIRECTED_REQUEST => "Wrong host name",
        StatusCode::TOO_MANY_REQUESTS => "Too many requests",
        StatusCode::SERVICE_UNAVAILABLE => "Busy",
        status if status.is_client_error() => "Not understood",
        _ => "Failed",
    }
}

/// Parts of the page layout that all pages of the web service have in common, such as title and
/// links.
pub(super) struct Frame {
    pub(super) title: String,
    /// Key of the link in the page's header that is highlighted, such as `runs`; empty for none.
    pub(super) here: &'static str,
    /// True if the visitor has a session that can be ended.
    pub(super) can_leave: bool,
    /// True if the visitor may start, stop and change things.
    pub(super) can_start: bool,
    pub(super) css: String,
    pub(super) js: String,
}

impl Frame {
    /// Creates the frame of a page. `here` is the key of the link in the header to highlight, such
    /// as `runs` or `jobs`; empty for none.
    pub(super) fn new(title: impl Into<String>, here: &'static str, visitor: &Visitor) -> Frame {
        let [css, js] = assets::addresses();
        let (can_leave, can_start) = (visitor.can_leave, visitor.is_full());
        let title = title.into();
        Frame { title, here, can_leave, can_start, css, js }
    }
}

#[derive(Template)]
#[template(path = "web/sentence.html")]
struct Sentence {
    frame: Frame,
    text: String,
}

/// Renders a template as an HTML page, and returns it as the response.
pub(super) fn page(template: &impl Template) -> Result<Response, HttpError> {
    Ok(Html(rendered(template)?).into_response())
}

/// Renders a template as an HTML page, and returns it as the response. The status is that of the
/// error that the page shows, if any.
pub(super) fn page_or_trouble(
    trouble: Option<&HttpError>,
    template: &impl Template,
) -> Result<Response, HttpError> {
    let mut response = page(template)?;
    if let Some(no) = trouble {
        *response.status_mut() = no.status;
    }
    Ok(response)
}

/// Renders a template as text. Fails only by a fault of the web service itself.
pub(super) fn rendered(template: &impl Template) -> Result<String, HttpError> {
    template.render().map_err(|error| HttpError::failed(format!("the page: {error}")))
}

/// Responds with CSV as a file to download under this name.
pub(super) fn csv(name: &str, text: String) -> Response {
    file("text/csv; charset=utf-8", name, text)
}

/// Responds with text as a file to download. `kind` is its content type; `name` must not contain
/// quotes.
pub(super) fn file(kind: &'static str, name: &str, text: String) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// Responds with the ids and titles of charts as JSON.
pub(super) fn chart_list(charts: &[Chart]) -> Response {
    let row = |chart: &Chart| json!({"id": chart.id, "title": chart.title});
    let rows: Vec<_> = charts.iter().map(row).collect();
    Json(json!({"schema": "dbdyno.charts/1", "charts": rows})).into_response()
}

/// Endings of a chart's name in an address, which select the format.
const KINDS: [&str; 6] = ["csv", "json", "svg", "wide.svg", "narrow.svg", "low.svg"];

/// Responds with a chart: as JSON (with or without `.json` after its name), as `.csv`, or drawn as
/// `.svg`; `.wide.svg`, `.narrow.svg` and `.low.svg` are the drawings that pages contain. In the
/// query, `from` and `to` select a part of the chart, `y=turned` the other scale, and `in=page` the
/// colours of the page, or JSON with no more values than a page needs.
pub(super) fn chart(charts: &[Chart], name: &str, asked: &Pairs) -> Result<Response, HttpError> {
    let known = name.split_once('.').filter(|(_, kind)| KINDS.contains(kind));
    let (id, kind) = known.unwrap_or((name, ""));
    let chart = seen(chart_of(charts, id)?, asked)?;
    let is_in_page = asked.get("in") == Some("page");
    let svg = |drawn: Drawn| {
        let kind = [(header::CONTENT_TYPE, "image/svg+xml; charset=utf-8")];
        let theme = if is_in_page { Theme::OfPage } else { drawn.theme };
        (kind, chart.to_svg(Drawn { theme, ..drawn })).into_response()
    };
    Ok(match kind {
        "csv" => csv(name, chart.to_csv()),
        "svg" => svg(Drawn::ALONE),
        "wide.svg" => svg(Drawn::WIDE),
        "narrow.svg" => svg(Drawn::NARROW),
        "low.svg" => svg(Drawn::LOW),
        _ if is_in_page => Json(chart.thinned()).into_response(),
        _ => Json(&*chart).into_response(),
    })
}

/// Applies the part (`from`, `to`) and the scale (`y`) of a request's query to a chart. Fails if
/// the query is invalid.
fn seen<'c>(chart: &'c Chart, asked: &Pairs) -> Result<Cow<'c, Chart>, HttpError> {
    let mut chart = Cow::Borrowed(chart);
    let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    match (asked.get("from"), asked.get("to")) {
        (None, None) => {}
        (from, to) => {
            let ends = from.and_then(number).zip(to.and_then(number));
            let (from, to) = ends.filter(|(from, to)| from < to).ok_or_else(|| {
                HttpError::bad("from and to are two numbers, the lower first: from=10&to=20.5")
            })?;
            chart = Cow::Owned(chart.between(from, to));
        }
    }
    match asked.get("y") {
        None => {}
        Some("turned") => chart = Cow::Owned(chart.turned()),
        Some(other) => {
            let why = format!("y={other}: write y=turned for the other scale of the values");
            return Err(HttpError::bad(why));
        }
    }
    Ok(chart)
}

fn chart_of<'c>(charts: &'c [Chart], id: &str) -> Result<&'c Chart, HttpError> {
    let unknown = |why| HttpError::unknown(format!("there is no chart '{id}': {why}"));
    chart_named(charts, id).map_err(unknown)
}

#[derive(Template)]
#[template(path = "web/chart.html")]
struct ChartPage {
    frame: Frame,
    /// Address of the page that contains the chart; `page_title` is the title of that page.
    page_address: String,
    page_title: String,
    title: String,
    figure: String,
    summary: String,
    /// Table of the chart's data as HTML, already escaped by the report's template.
    rows: String,
}

/// Page that contains charts, and to which the page of a single chart links back.
pub(super) struct Stands<'p> {
    /// Path of the page, without the query.
    pub(super) at: &'p str,
    /// Query string of the page with its `?`; empty if there is none.
    pub(super) query: &'p str,
    /// Title of the page, such as the name of a run.
    pub(super) name: &'p str,
    /// Key of the link in the page's header, such as `runs`, that is highlighted while charts of
    /// this page are shown.
    pub(super) here: &'static str,
}

/// Responds with the page of a single chart. `page_of` is the page that contains the chart.
pub(super) fn chart_page(
    charts: &[Chart],
    id: &str,
    page_of: &Stands<'_>,
    visitor: &Visitor,
) -> Result<Response, HttpError> {
    let Stands { at: path, query, name, here } = *page_of;
    let chart = chart_of(charts, id)?;
    let base = format!("/api{path}/charts/");
    let medium = Medium::Web { base: &base, query, runs: super::RUNS, first: First::InPage };
    page(&ChartPage {
        frame: Frame::new(format!("{}: {name}", chart.title), here, visitor),
        page_address: format!("{path}{query}"),
        page_title: name.to_owned(),
        title: chart.title.clone(),
        figure: figure(chart, medium),
        summary: chart.summary(),
        rows: chart.rows_shown(ROWS_MOST).html(),
    })
}

/// Returns the response for an unknown path.
pub(super) async fn nothing_here() -> HttpError {
    HttpError::unknown("there is no such page: see the list of runs")
}

/// New state of a part of a page, for a browser that polls it.
pub(super) struct Fresh {
    /// Key of the state, which the browser sends back as the state that it has seen.
    pub(super) place: String,
    pub(super) html: String,
    /// Time until the next request of the browser, in milliseconds; `None` if nothing will change.
    pub(super) next_ms: Option<u64>,
}

/// Responds to a browser that has seen the state with the key `seen`. The response is empty if the
/// state is unchanged and may still change.
pub(super) fn fresh(seen: &str, now: Fresh) -> Response {
    if now.place == seen && now.next_ms.is_some() {
        return StatusCode::NO_CONTENT.into_response();
    }
    Json(json!({"place": now.place, "html": now.html, "next_ms": now.next_ms})).into_response()
}
