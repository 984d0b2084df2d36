//! Enables counters of a server that are off by default (instruments), for the time of a run.

use model::{Event, Fact};

use super::member::{LoadEnded, RunMember, RunUnderWay};
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::settings::Momentary;

/// [`RunMember`] (step of a run) that enables the server's optional counters before the load if the
/// plan asks for it, and disables them afterwards.
#[derive(Default)]
pub(super) struct Instruments {
    switched: Option<Momentary>,
}

impl RunMember for Instruments {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        if run.plan.instruments && !run.is_simulated() {
            self.switched = switch_on(run)?;
        }
        Ok(())
    }

    fn ended(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        let left = self.switched.take().map(|mut settings| settings.end()).unwrap_or_default();
        left.into_iter().for_each(|note| run.sink.note(note));
    }
}

/// Enables the server's optional counters that the driver names. The returned value restores the
/// settings when it is ended; `None` if there are no such counters. Settings that cannot be changed
/// are reported.
fn switch_on(run: &mut RunUnderWay<'_, '_>) -> Result<Option<Momentary>, Error> {
    let Some(first) = run.groups.first() else { return Ok(None) };
    let (database, sink) = (first.database.as_ref(), &mut *run.sink);
    let instruments = database.monitoring().instruments;
    if instruments.is_empty() {
        let name = database.dialect().name;
        sink.note(format!("instruments: {name} counts nothing more than it does by itself"));
        return Ok(None);
    }
    let own = database.monitoring().instruments_of_own;
    if run.context.is_own_server
        && !own.is_empty()
        && let Err(db_error) = AdminSession::at(database)?.write(own)
    {
        sink.note(format!("instruments: {db_error}"));
    }
    let journal = run.context.journal.as_deref();
    let mut settings = Momentary::at(database, &run.context.target, journal)?;
    let mut on = Vec::new();
    for (name, value) in instruments {
        match settings.set(name, value, "run") {
            Ok(true) => on.push(*name),
            Ok(false) => {}
            Err(error) => sink.note(format!("instruments: {error}")),
        }
    }
    sink.tell(Event::Fact(Fact::new("monitor", "instruments", on.join(", "))));
    Ok(Some(settings))
}
