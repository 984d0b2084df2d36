//! Step of a run (run member) that reports settings which changed during the load.

use model::Event;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use crate::settings::lost;
use crate::settings_snapshot::changed;

/// [`RunMember`] that reports settings which another session changed during the load, and settings
/// of the plan which a restart of the server has undone.
pub(super) struct SettingsAfter;

impl RunMember for SettingsAfter {
    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        let settings = run.context.settings.as_ref();
        let changed = changed(run.database(), settings, run.stop, &run.sink.tally);
        let lost =
            run.database().and_then(|database| lost(run.plan, database, run.stop, &run.sink.tally));
        let changed = changed.into_iter().map(Event::Fact);
        changed.chain(lost).for_each(|event| run.sink.tell(event));
    }
}
