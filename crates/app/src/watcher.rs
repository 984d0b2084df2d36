//! Who looks on while a use-case goes on. Not here: how it is shown (dbdyno).

use analysis::Tally;
use model::Event;

use crate::build::Progress;

/// Somebody who looks on.
pub trait Watcher {
    /// Something happened; `tally` has it already.
    fn event(&mut self, event: &Event, tally: &Tally);
    /// Data are being built.
    fn building(&mut self, progress: &Progress);
    /// Something to be said now.
    fn note(&mut self, text: &str);
    /// What is being done at this moment, worth showing while it lasts.
    fn doing(&mut self, text: &str);
}
