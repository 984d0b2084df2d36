//! Reports as pages: HTML for a file of its own and for the web's pages.
//!
//! What comes from plans, labels and servers is escaped by the templates (`templates/`). Not here:
//! what is true (report), what is drawn (charts), and who serves pages (dbdyno).

mod body;

use askama::Template;

use crate::chart_backends::plotly_js;
use crate::chart_backends::{Drawn, Theme};
use crate::charts::Chart;
use crate::flame_graph::FLAME_JS;

pub use body::body;

/// Where a page in HTML is read, and so how charts stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium<'a> {
    /// In a file: charts are drawn, as SVG; no script.
    File,
    /// In a file with a script: the data of each chart are beside its place ([`page`] puts the
    /// script there).
    InteractiveFile,
    /// On a page of the web: `<div class="chart" data-chart="{base}{id}{query}">`, where a script
    /// asks for [`Chart::to_plotly`] and draws it by [`DRAW_JS`]. Links to the same and to its
    /// table, at `{base}{id}.csv{query}`, stand below.
    Web {
        /// What stands before a chart's id, such as `/api/runs/ID/charts/`.
        base: &'a str,
        /// What stands behind it, such as `?side=build=1`.
        query: &'a str,
        /// What stands before a run's id in the address of its page, such as `/runs/`.
        runs: &'a str,
        /// What is printed.
        print: Print,
    },
}

/// What is printed of a chart that a script draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// What is drawn on the screen by then: of what goes on.
    AsDrawn,
    /// An SVG that stands in the page for print alone: a printer does not wait for scripts.
    Svg,
}

/// The style of all pages: light and dark, any width, print.
pub const PAGE_CSS: &str = concat!(
    include_str!("../templates/page.css"),
    include_str!("../templates/chart-light.css"),
    "@media screen and (prefers-color-scheme:dark){",
    include_str!("../templates/chart-dark.css"),
    "}\n"
);

/// `dbdynoDraw(place, chart)`, which draws `chart` in the element `place` with plotly.js, in the
/// colours of the page, and again when these change.
pub const DRAW_JS: &str = include_str!("../templates/draw.js");

/// Draws every chart of a page whose data stand beside its place.
const EMBEDDED_JS: &str = include_str!("../templates/embedded.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'p> {
    title: &'p str,
    css: &'p str,
    body: &'p str,
    scripts: Vec<String>,
}

/// A page of its own around a body: one file without a link to load from elsewhere.
pub fn page(title: &str, body: &str, medium: Medium<'_>) -> String {
    let scripts = match medium {
        Medium::InteractiveFile => {
            let own = [DRAW_JS, EMBEDDED_JS, FLAME_JS].map(str::to_owned);
            std::iter::once(plotly_js()).chain(own).collect()
        }
        Medium::File | Medium::Web { .. } => Vec::new(),
    };
    Page { title, css: PAGE_CSS, body, scripts }.render().expect("memory takes everything")
}

/// A chart in HTML, as the body of a page of its own has it.
pub fn figure(chart: &Chart, medium: Medium<'_>) -> String {
    let svg = |drawn: Drawn| chart.to_svg(Drawn { theme: Theme::OfPage, ..drawn });
    let drawn = match medium {
        Medium::File => Drawing::Static { wide: svg(Drawn::WIDE), narrow: svg(Drawn::NARROW) },
        Medium::InteractiveFile => {
            Drawing::Embedded { data: harmless(&chart.to_plotly().to_string()) }
        }
        Medium::Web { base, query, print, .. } => Drawing::Place {
            paper: (print == Print::Svg).then(|| svg(Drawn::NARROW)),
            address: format!("{base}{}{query}", chart.id),
            csv: format!("{base}{}.csv{query}", chart.id),
        },
    };
    let (id, title, note) = (&chart.id, &chart.title, chart.note.as_deref());
    Figure { id, title, note, drawn }.render().expect("memory takes everything")
}

/// JSON that does not end the element of a script that it stands in.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[derive(Template)]
#[template(path = "figure.html")]
struct Figure<'c> {
    id: &'c str,
    title: &'c str,
    note: Option<&'c str>,
    drawn: Drawing,
}

enum Drawing {
    Static { wide: String, narrow: String },
    Embedded { data: String },
    Place { paper: Option<String>, address: String, csv: String },
}

#[cfg(test)]
mod tests;
