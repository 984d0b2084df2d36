//! A member of runs: it looks at the clock of the wall before the load and after it, and says with
//! the run how long both were apart.

use std::time::Instant;

use app::error::Error;
use app::run::{LoadEnded, RunMember, RunUnderWay};
use model::{Event, Fact};

/// Between the two looks.
#[derive(Default)]
pub(crate) struct Marked {
    begun: Option<Instant>,
}

impl RunMember for Marked {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.plan().seed == 13 {
            return Err(Error::Usage("the made-up member wants no seed 13".to_owned()));
        }
        self.begun = Some(Instant::now());
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        let took_ns = self.begun.map_or(0, |begun| begun.elapsed().as_nanos() as u64);
        run.tell(Event::Fact(Fact::new("made_up", "apart_ns", took_ns)));
        run.tell(Event::Fact(Fact::new("made_up", "measured_ns", load.measured_ns)));
    }
}
