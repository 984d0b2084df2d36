//! Observer of a use case. Not here: the display (dbdyno).

use analysis::Tally;
use model::Event;

use crate::build::Progress;

/// Observer of a use case.
pub trait Watcher {
    /// An event of a run; `tally` includes it.
    fn event(&mut self, event: &Event, tally: &Tally);
    /// Progress of a build.
    fn building(&mut self, progress: &Progress);
    /// A note for the user.
    fn note(&mut self, text: &str);
    /// The current step, to be shown while it lasts.
    fn doing(&mut self, text: &str);
}
