//! Round-trip time to the database, before the load.

use model::{Event, MonitorScope};

use super::member::{RunMember, RunUnderWay};
use crate::error::Error;
use crate::path_probe::probe;

/// Measures the round-trip time of an empty query.
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
