//! What the command line of sysbench asks of a script, in a build without Lua: there are none.

use app::Error;
use model::{ScriptReports, Source};
use render::drop_in::sysbench::OptionRow;

pub(super) fn takes_any_option(_source: &Source) -> bool {
    false
}

pub(super) fn has_own_help(_source: &'static Source) -> bool {
    false
}

pub(super) fn declared_options(_source: &'static Source) -> Result<Vec<OptionRow>, Error> {
    Ok(Vec::new())
}

pub(super) fn own_reports(_source: &'static Source) -> Result<ScriptReports, Error> {
    Ok(ScriptReports::default())
}
