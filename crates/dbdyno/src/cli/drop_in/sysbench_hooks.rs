//! What the command line of sysbench asks of a script before it runs. Not here: a build without
//! Lua (`no_hooks`).

use app::Error;
use model::{ScriptReports, Source};
use render::drop_in::sysbench::OptionRow;
use workloads::script::lua::{DeclaredOption, declared, has_command, is_old, reports_of};

/// Whether a script takes options that it does not declare.
pub(super) fn takes_any_option(source: &Source) -> bool {
    is_old(source)
}

/// Returns the options that a script declares, as sysbench lists them.
pub(super) fn declared_options(source: &'static Source) -> Result<Vec<OptionRow>, Error> {
    let all = declared(source).map_err(|bad| Error::Usage(bad.to_string()))?;
    let row = |one: DeclaredOption| OptionRow {
        flag: format!("--{}{}", one.name, one.form),
        help: one.help,
        default: one.default,
    };
    Ok(all.into_iter().map(row).collect())
}

/// Whether a script prints its help itself.
pub(super) fn has_own_help(source: &'static Source) -> bool {
    has_command(source, "help")
}

/// Returns which reports a script makes itself.
pub(super) fn own_reports(source: &'static Source) -> Result<ScriptReports, Error> {
    Ok(reports_of(source)?)
}
