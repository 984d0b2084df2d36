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

/// Where a page in HTML is read, and so how charts stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium<'a> {
    /// In a file: charts are drawn, as SVG; no script.
    File,
    /// In a file with a script: the values of each chart are beside its picture ([`page`] puts the
    /// script there).
    InteractiveFile,
    /// On a page of the web: charts are drawn, the first in the page and the others as pictures at
    /// `{base}{id}.wide.svg{query}`, so that none waits for a script. `data-chart` names where
    /// its values are, for readers who ask for more ([`CHART_JS`]). Links to a page of its own
    /// (`base` without `/api`), and to its data, stand below.
    Web {
        /// What stands before a chart's id, such as `/api/runs/ID/charts/`.
        base: &'a str,
        /// What stands behind it, such as `?side=build=1`.
        query: &'a str,
        /// What stands before a run's id in the address of its page, such as `/runs/`.
        runs: &'a str,
        /// Where the first charts are.
        first: First,
    },
}

/// Where the first charts of a page of the web are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// In the page itself: nothing else is loaded before they are seen.
    InPage,
    /// At addresses, as the others.
    Linked,
}

/// So many charts are in a page of the web itself: a screen has room for two.
const IN_PAGE_MOST: usize = 2;

impl Medium<'_> {
    /// The same for what stands below the first charts.
    fn below(self) -> Self {
        match self {
            Medium::Web { base, query, runs, .. } => {
                Medium::Web { base, query, runs, first: First::Linked }
            }
            other => other,
        }
    }
}

/// The style of all pages: light and dark, any width, print.
pub const PAGE_CSS: &str = concat!(
    include_str!("../templates/page.css"),
    include_str!("../templates/chart-light.css"),
    "@media screen and (prefers-color-scheme:dark){",
    include_str!("../templates/chart-dark.css"),
    "}\n"
);

/// What charts in SVG do for a reader who points, clicks, drags and presses keys.
pub const CHART_JS: &str = include_str!("../templates/chart.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'p> {
    title: &'p str,
    css: &'p str,
    body: &'p str,
    scripts: &'p [&'p str],
}

/// A page of its own around a body: one file without a link to load from elsewhere.
pub fn page(title: &str, body: &str, medium: Medium<'_>) -> String {
    let scripts: &[&str] = match medium {
        Medium::InteractiveFile => &[CHART_JS, FLAME_JS],
        Medium::File | Medium::Web { .. } => &[],
    };
    Page { title, css: PAGE_CSS, body, scripts }.render().expect("memory takes everything")
}

/// Charts in HTML, one after the other.
fn figures(charts: &[Chart], medium: Medium<'_>) -> String {
    let of = |(index, chart): (usize, &Chart)| match index < IN_PAGE_MOST {
        true => figure(chart, medium),
        false => figure(chart, medium.below()),
    };
    charts.iter().enumerate().map(of).collect::<Vec<String>>().join("\n")
}

/// A chart in HTML, as the body of a page of its own has it.
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

/// JSON that does not end the element of a script that it stands in.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[derive(Template)]
#[template(path = "figure.html")]
struct Figure<'c> {
    id: &'c str,
    title: &'c str,
    /// The chart in words, for whoever does not see it.
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
        /// Wide and narrow, where it is in the page.
        drawing: Option<[String; 2]>,
        /// The addresses of both, where it is not.
        pictures: [String; 2],
        page: String,
        csv: String,
        svg: String,
        data: String,
        /// What is along it.
        axis: &'static str,
    },
}

#[cfg(test)]
mod tests;
