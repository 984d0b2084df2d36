//! The observer that a caller passes to a use case, to show its progress. Not here: the display
//! (dbdyno).

use analysis::Tally;
use model::Event;

use crate::build::Progress;

/// Observer that a caller passes to a use case, to show its progress.
pub trait Watcher {
    /// Called with each event of a run. `tally`, the results so far, already includes the event.
    fn event(&mut self, event: &Event, tally: &Tally);
    /// Called repeatedly while data are built, with the progress so far.
    fn building(&mut self, progress: &Progress);
    /// Called with a note for the user.
    fn note(&mut self, text: &str);
    /// Called with the current step, to be shown while it lasts.
    fn doing(&mut self, text: &str);
}
