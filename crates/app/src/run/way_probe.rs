//! Step of a run (run member) that measures the network path to the database before the load.

use model::{Event, MonitorScope};

use super::member::{RunMember, RunUnderWay};
use crate::error::Error;
use crate::path_probe::probe;

/// [`RunMember`] that reports round-trip time and bandwidth between database and clients as facts.
/// Does nothing in virtual time or without a monitor.
pub(super) struct WayProbe;

impl RunMember for WayProbe {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.plan.monitor == MonitorScope::Off || run.is_simulated() {
            return Ok(());
        }
        let probed = run.database().map(|database| probe(database, run.stop));
        probed.into_iter().flatten().for_each(|fact| run.sink.tell(Event::Fact(fact)));
        Ok(())
    }
}
