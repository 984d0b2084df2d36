//! A member of runs (code that dbdyno calls before and after the load) that counts the calls of its
//! methods, and stores their number and the length of the load as facts of the run.

use app::error::Error;
use app::run::{LoadEnded, RunMember, RunUnderWay};
use model::{Event, Fact};

/// Counter of calls before the load and at its end.
#[derive(Default)]
pub(crate) struct Marked {
    n_before: u64,
    n_ended: u64,
}

impl RunMember for Marked {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.plan().seed == 13 {
            return Err(Error::Usage("the made-up member wants no seed 13".to_owned()));
        }
        self.n_before += 1;
        Ok(())
    }

    fn ended(&mut self, _run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        self.n_ended += 10;
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, load: &LoadEnded) {
        run.tell(Event::Fact(Fact::new("marked", "steps", self.n_before + self.n_ended)));
        run.tell(Event::Fact(Fact::new("marked", "measured_ns", load.measured_ns)));
    }
}
