//! Reports as pages: HTML for a file of its own and for the web's pages.
//!
//! What comes from plans, labels and servers is escaped by the templates (`templates/`). Not here:
//! what is true (report), what is drawn (charts), and who serves pages (dbdyno).

mod body;

use askama::Template;

use crate::chart_backends::{Drawn, Theme};
use crate::charts::Chart;
use crate::flame_graph::FLAME_JS;

pub use body::{body, body_with};

/// The medium of an HTML page, which decides how charts are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium<'a> {
    /// A file without scripts: charts are SVG.
    File,
    /// A file with a script: the values of each chart are beside its picture ([`page`] adds the
    /// script).
    InteractiveFile,
    /// A page of the web interface. Charts are drawn, the first within the page and the others as
    /// pictures at `{base}{id}.wide.svg{query}`, so that none waits for a script. `data-chart` has
    /// the address of its values, for interactive use ([`CHART_JS`]). Links to a page of its own
    /// (`base` without `/api`) and to its data are below each chart.
    Web {
        /// Address before a chart's id, such as `/api/runs/ID/charts/`.
        base: &'a str,
        /// Query after it, such as `?side=build=1`.
        query: &'a str,
        /// Address before a run's id for the run's page, such as `/runs/`.
        runs: &'a str,
        /// Place of the first charts.
        first: First,
    },
}

/// The place of the first charts of a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// In the page itself, so that they show without further requests.
    InPage,
    /// At addresses, as the others.
    Linked,
}

/// Number of charts in a web page itself: a screen has room for two.
const IN_PAGE_MOST: usize = 2;

impl Medium<'_> {
    /// Returns the medium for charts below the first ones.
    fn below(self) -> Self {
        match self {
            Medium::Web { base, query, runs, .. } => {
                Medium::Web { base, query, runs, first: First::Linked }
            }
            other => other,
        }
    }
}

/// Style sheet of all pages: light and dark, any width, print.
pub const PAGE_CSS: &str = concat!(
    include_str!("../templates/page.css"),
    include_str!("../templates/chart-light.css"),
    "@media screen and (prefers-color-scheme:dark){",
    include_str!("../templates/chart-dark.css"),
    "}\n"
);

/// Script with which charts in SVG react to pointer and keys.
pub const CHART_JS: &str = include_str!("../templates/chart.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'p> {
    title: &'p str,
    css: &'p str,
    body: &'p str,
    scripts: &'p [&'p str],
}

/// Makes a complete page around a body: a single file without external resources.
pub fn page(title: &str, body: &str, medium: Medium<'_>) -> String {
    let scripts: &[&str] = match medium {
        Medium::InteractiveFile => &[CHART_JS, FLAME_JS],
        Medium::File | Medium::Web { .. } => &[],
    };
    Page { title, css: PAGE_CSS, body, scripts }.render().expect("memory takes everything")
}

/// Makes several charts in HTML.
fn figures(charts: &[Chart], medium: Medium<'_>) -> String {
    let of = |(index, chart): (usize, &Chart)| match index < IN_PAGE_MOST {
        true => figure(chart, medium),
        false => figure(chart, medium.below()),
    };
    charts.iter().enumerate().map(of).collect::<Vec<String>>().join("\n")
}

/// Makes a chart in HTML, also as the body of a page of its own.
pub fn figure(chart: &Chart, medium: Medium<'_>) -> String {
    let svg = |drawn: Drawn| chart.to_svg(Drawn { theme: Theme::OfPage, ..drawn });
    let place = |first: First, base: &str, query: &str| {
        let id = &chart.id;
        let address = |suffix: &str| format!("{base}{id}{suffix}{query}");
        let pictures = [address(".wide.svg"), address(".narrow.svg")];
        Drawing::Place {
            drawing: (first == First::InPage).then(|| [svg(Drawn::WIDE), svg(Drawn::NARROW)]),
            pictures,
            page: format!("{}{id}{query}", base.strip_prefix("/api").unwrap_or(base)),
            csv: address(".csv"),
            svg: address(".svg"),
            data: address(""),
            axis: chart.axis(),
        }
    };
    let drawn = match medium {
        Medium::File => Drawing::Static { wide: svg(Drawn::WIDE), narrow: svg(Drawn::NARROW) },
        Medium::InteractiveFile => {
            let values = serde_json::to_string(&chart.thinned()).expect("memory takes everything");
            let (wide, narrow) = (svg(Drawn::WIDE), svg(Drawn::NARROW));
            Drawing::Embedded { wide, narrow, values: harmless(&values) }
        }
        Medium::Web { base, query, first, .. } => place(first, base, query),
    };
    let (id, title, note) = (&chart.id, &chart.title, chart.caption());
    let summary = chart.summary();
    Figure { id, title, summary, note, drawn }.render().expect("memory takes everything")
}

/// Escapes JSON so that it does not end the script element around it.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[derive(Template)]
#[template(path = "figure.html")]
struct Figure<'c> {
    id: &'c str,
    title: &'c str,
    /// The chart in words, for readers who cannot see it.
    summary: String,
    note: Option<String>,
    drawn: Drawing,
}

enum Drawing {
    Static {
        wide: String,
        narrow: String,
    },
    Embedded {
        wide: String,
        narrow: String,
        /// The chart as JSON.
        values: String,
    },
    Place {
        /// SVG for wide and narrow pages, if the chart is within the page.
        drawing: Option<[String; 2]>,
        /// Addresses of both, if it is not.
        pictures: [String; 2],
        page: String,
        csv: String,
        svg: String,
        data: String,
        /// Kind of its horizontal axis.
        axis: &'static str,
    },
}

#[cfg(test)]
mod tests;
