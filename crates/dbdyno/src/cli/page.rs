//! HTML pages of stored results and of single charts, to be written to files.

use app::Error;
use app::report_source::ReportSource;
use clap::{Arg, ArgAction, ArgMatches};
use render::charts::Chart;
use render::html::{self, Medium};

pub(super) fn flags() -> [Arg; 1] {
    let interactive = Arg::new("interactive").long("interactive").action(ArgAction::SetTrue);
    [interactive.help("Charts that zoom and show values")]
}

fn medium(matches: &ArgMatches) -> Medium<'static> {
    match matches.get_flag("interactive") {
        true => Medium::InteractiveFile,
        false => Medium::File,
    }
}

/// Creates the HTML page of a run, an experiment, a comparison or a history.
pub(super) fn of_source(source: &ReportSource, matches: &ArgMatches) -> Result<String, Error> {
    let medium = medium(matches);
    Ok(html::page(&source.title(), &html::body(&source.document(), medium), medium))
}

/// Creates the HTML page with one chart.
pub(super) fn of_chart(chart: &Chart, matches: &ArgMatches) -> Result<String, Error> {
    let medium = medium(matches);
    Ok(html::page(&chart.title, &html::figure(chart, medium), medium))
}
