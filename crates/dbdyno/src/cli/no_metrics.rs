//! Stands in for `--metrics-listen` if dbdyno is built without pages: there is no flag and no
//! listener.

use std::convert::Infallible;

use analysis::tally::Tally;
use app::{Error, Stop};
use clap::{Arg, ArgMatches};
use model::Event;

use crate::shell::Shell;

/// Stand-in, without any value, for the server of metrics: `begin` always returns `None` in this
/// build.
pub(crate) struct Metrics(Infallible);

pub(super) fn flags() -> [Arg; 0] {
    []
}

impl Metrics {
    pub(super) fn begin(_: &ArgMatches, _: &Shell) -> Result<Option<Metrics>, Error> {
        Ok(None)
    }

    pub(super) fn linger(&self, _: &Stop, _: &Shell) {
        match self.0 {}
    }

    pub(super) fn event(&mut self, _: &Event, _: &Tally) {
        match self.0 {}
    }
}
