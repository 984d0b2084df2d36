//! Replaces HTML pages if dbdyno is built without them: a chart is a separate file.

use app::Error;
use app::report_source::ReportSource;
use clap::{Arg, ArgMatches};
use render::charts::Chart;

pub(super) fn flags() -> [Arg; 0] {
    []
}

/// Fails in this build.
pub(super) fn of_source(_: &ReportSource, _: &ArgMatches) -> Result<String, Error> {
    let why = "this dbdyno was built without HTML: write one chart with --chart NAME -o FILE.svg \
               (--charts lists them), or build dbdyno with --features pages";
    Err(Error::Usage(why.to_owned()))
}

/// Fails in this build.
pub(super) fn of_chart(_: &Chart, _: &ArgMatches) -> Result<String, Error> {
    let why = "this dbdyno was built without HTML: name the file .svg, or build dbdyno with \
               --features pages";
    Err(Error::Usage(why.to_owned()))
}
