//! Reports of scripts in a build without Lua: there are none.

use std::sync::Arc;

use app::Error;
use model::{Database, Source};
use render::drop_in::sysbench::OptionRow;
use workloads::Entry;
use workloads::script::report::{Latencies, Queue, ReportFigures};

pub(super) fn takes_any_option(_source: &Source) -> bool {
    false
}

pub(super) fn declared_options(_source: &'static Source) -> Result<Vec<OptionRow>, Error> {
    Ok(Vec::new())
}

pub(super) struct Hooks;

impl Hooks {
    pub(super) fn of(
        _entry: &Entry,
        _parameters: &[(String, String)],
        _threads: u32,
        _open: impl FnOnce() -> Result<Arc<dyn Database>, Error>,
    ) -> Result<Option<Hooks>, Error> {
        Ok(None)
    }

    pub(super) fn intermediate(
        &mut self,
        _figures: &ReportFigures,
        _queue: Queue,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    pub(super) fn cumulative(
        &mut self,
        _figures: &ReportFigures,
        _latencies: Latencies,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}
