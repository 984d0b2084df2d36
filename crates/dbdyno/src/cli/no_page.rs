//! Stands in for HTML pages if dbdyno is built without them. A chart can still be written to a file
//! of its own.

use app::Error;
use app::report_source::ReportSource;
use clap::{Arg, ArgMatches};
use render::charts::Chart;

pub(super) fn flags() -> [Arg; 0] {
    []
}

/// Fails, since this build has no HTML. The error suggests a single chart as SVG.
pub(super) fn of_source(_: &ReportSource, _: &ArgMatches) -> Result<String, Error> {
    let why = "this dbdyno was built without HTML: write one chart with --chart NAME -o FILE.svg \
               (--charts lists them), or build dbdyno with --features pages";
    Err(Error::Usage(why.to_owned()))
}

/// Fails, since this build has no HTML. The error suggests SVG.
pub(super) fn of_chart(_: &Chart, _: &ArgMatches) -> Result<String, Error> {
    let why = "this dbdyno was built without HTML: name the file .svg, or build dbdyno with \
               --features pages";
    Err(Error::Usage(why.to_owned()))
}
