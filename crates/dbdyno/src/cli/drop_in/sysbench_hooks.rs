//! Reports that a script makes itself, in a state of its own for those of some seconds and another
//! for that of the whole run. Not here: a build without Lua (`no_hooks`).

use std::sync::Arc;

use app::Error;
use app::script_commands::Aside;
use model::{Database, Settings, Source};
use render::drop_in::sysbench::OptionRow;
use workloads::Entry;
use workloads::script::lua::{DeclaredOption, Reporter, declared, is_old};
use workloads::script::report::{Latencies, Queue, ReportFigures};

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

/// A state of the script, and its sessions.
struct Place {
    reporter: Reporter,
    aside: Aside,
}

/// The hooks of a script for reports.
pub(super) struct Hooks {
    /// Where the reports of some seconds are made, until the load ends.
    intermediate: Option<Place>,
    cumulative: Place,
}

impl Hooks {
    /// Returns the hooks of a workload with these parameters; `None` if it has none. `open` opens
    /// the database that hooks may ask.
    pub(super) fn of(
        entry: &Entry,
        parameters: &[(String, String)],
        threads: u32,
        open: impl FnOnce() -> Result<Arc<dyn Database>, Error>,
    ) -> Result<Option<Hooks>, Error> {
        let Some(source) = entry.source.filter(|source| source.name.ends_with(".lua")) else {
            return Ok(None);
        };
        let written = parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let settings = Settings::decide(entry.name, entry.parameters, written)?;
        let reporter = || Reporter::of(source, &settings, threads);
        let (Some(one), Some(other)) = (reporter()?, reporter()?) else { return Ok(None) };
        let database = open()?;
        let place = |reporter: Reporter| match Aside::open(&database, 0) {
            Ok(aside) => Ok(Place { reporter, aside }),
            Err(no) => Err(Error::Failed(no.to_string())),
        };
        Ok(Some(Hooks { intermediate: Some(place(one)?), cumulative: place(other)? }))
    }

    /// Reports some seconds. Returns false if the script has no hook for that.
    pub(super) fn intermediate(
        &mut self,
        figures: &ReportFigures,
        queue: Queue,
    ) -> Result<bool, Error> {
        let Some(Place { reporter, aside }) = &mut self.intermediate else { return Ok(false) };
        let told = aside.run(async |context| reporter.intermediate(figures, queue, context).await);
        told.map_err(|no| Error::Failed(no.message))
    }

    /// Reports the whole run. Returns false if the script has no hook for that.
    pub(super) fn cumulative(
        &mut self,
        figures: &ReportFigures,
        latencies: Latencies,
    ) -> Result<bool, Error> {
        self.intermediate = None;
        let Place { reporter, aside } = &mut self.cumulative;
        let told =
            aside.run(async |context| reporter.cumulative(figures, latencies, context).await);
        told.map_err(|no| Error::Failed(no.message))
    }
}
