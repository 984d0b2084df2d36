//! HTML output of documents and charts, for single files and for pages of the web interface.
//!
//! The templates (`templates/`) escape text from plans, labels and servers. Not here: figures
//! (analysis, study), charts as values (charts), and the web server (dbdyno).

mod body;

use askama::Template;

use crate::chart_backends::{Drawn, Theme};
use crate::charts::Chart;
use crate::flame_graph::FLAME_JS;

pub use body::{body, body_with};

/// Kind of HTML page, which decides how charts are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium<'a> {
    /// A file without scripts. Charts are SVG.
    File,
    /// A file with scripts. It has the values of each chart as well as the picture; [`page`] adds
    /// the scripts.
    InteractiveFile,
    /// A page of the web interface. The first charts are drawn in the page; others are pictures at
    /// `{base}{id}.wide.svg{query}`, so that no chart waits for a script. Each chart has links to
    /// its own page (`base` without `/api`) and data. The attribute `data-chart` is the URL of the
    /// chart's values for [`CHART_JS`].
    Web {
        /// Beginning of the URLs of charts, before their ids, such as `/api/runs/ID/charts/`.
        base: &'a str,
        /// Query at the end of the URLs of charts, such as `?side=build=1`.
        query: &'a str,
        /// Beginning of the URLs of runs, before their ids, such as `/runs/`.
        runs: &'a str,
        /// Way in which the first charts are included: in the page itself, or as pictures.
        first: First,
    },
}

/// Way in which the first charts of a web page are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Drawn in the page itself, so that the charts appear without further requests.
    InPage,
    /// Included as pictures with URLs, like the other charts.
    Linked,
}

/// Number of charts at the beginning of a web page that are drawn in the page itself: two fit a
/// screen.
const IN_PAGE_MOST: usize = 2;

impl Medium<'_> {
    /// Returns the medium for all charts after the first ones: on a web page, these are pictures
    /// with URLs.
    fn below(self) -> Self {
        match self {
            Medium::Web { base, query, runs, .. } => {
                Medium::Web { base, query, runs, first: First::Linked }
            }
            other => other,
        }
    }
}

/// Style sheet of all pages: light and dark, for screens of any width and for print.
pub const PAGE_CSS: &str = concat!(
    include_str!("../templates/page.css"),
    include_str!("../templates/chart-light.css"),
    "@media screen and (prefers-color-scheme:dark){",
    include_str!("../templates/chart-dark.css"),
    "}\n"
);

/// Script with which charts in SVG react to pointer and keyboard.
pub const CHART_JS: &str = include_str!("../templates/chart.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'p> {
    title: &'p str,
    css: &'p str,
    body: &'p str,
    scripts: &'p [&'p str],
}

/// Returns a complete HTML page around a body, without external resources.
pub fn page(title: &str, body: &str, medium: Medium<'_>) -> String {
    let scripts: &[&str] = match medium {
        Medium::InteractiveFile => &[CHART_JS, FLAME_JS],
        Medium::File | Medium::Web { .. } => &[],
    };
    Page { title, css: PAGE_CSS, body, scripts }.render().expect("memory takes everything")
}

/// Returns the HTML of several charts. On a web page the first [`IN_PAGE_MOST`] may be drawn in the
/// page itself, the others are pictures.
fn figures(charts: &[Chart], medium: Medium<'_>) -> String {
    let to_html = |(index, chart): (usize, &Chart)| match index < IN_PAGE_MOST {
        true => figure(chart, medium),
        false => figure(chart, medium.below()),
    };
    charts.iter().enumerate().map(to_html).collect::<Vec<String>>().join("\n")
}

/// Returns the HTML of a chart, for a section or for a page of its own.
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

/// Escapes JSON for a script element, so that no `</script>` in it ends the element.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[derive(Template)]
#[template(path = "figure.html")]
struct Figure<'c> {
    id: &'c str,
    title: &'c str,
    /// Description of the chart for screen readers.
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
        /// The chart as JSON with a reduced number of points, from which scripts show values.
        values: String,
    },
    Place {
        /// SVG for wide and for narrow screens; `None` if the chart is a picture with a URL
        /// instead.
        drawing: Option<[String; 2]>,
        /// URLs of the chart's pictures, for wide and for narrow screens.
        pictures: [String; 2],
        page: String,
        csv: String,
        svg: String,
        data: String,
        /// Kind of the horizontal axis that scripts read, such as `time`.
        axis: &'static str,
    },
}

#[cfg(test)]
mod tests;
