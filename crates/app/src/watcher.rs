//! The observer that a caller passes to a use case, to show its progress. Not here: the display
//! (dbdyno).

use std::ops::Range;

use analysis::Tally;
use analysis::report::Report;
use model::Event;

use crate::build::Progress;
use crate::script_error::ScriptError;

/// Observer that a caller passes to a use case, to show its progress.
pub trait Watcher {
    /// Called with each event of a run. `tally`, the results so far, already includes the event.
    fn event(&mut self, event: &Event, tally: &Tally);
    /// Called repeatedly while data are built, with the progress so far.
    fn building(&mut self, progress: &Progress);
    /// Called with a note for the user.
    fn note(&mut self, text: &str);
    /// Called with a note on which a person must act, such as a setting that is left changed. It is
    /// shown even if progress is not.
    fn to_act_on(&mut self, text: &str) {
        self.note(text);
    }
    /// Called with the current step, to be shown while it lasts.
    fn doing(&mut self, text: &str);
    /// Called with the report of a run that has ended, before its script ends the run.
    fn concluded(&mut self, _report: &Report, _tally: &Tally) {}
    /// Called with the error of a report that a script makes of its own run, or of its end.
    fn report_failed(&mut self, error: &ScriptError) {
        self.to_act_on(&format!("the script's own report failed: {error}"));
    }
}

/// Intervals of some seconds of a run, each of which is reported once, when it is complete.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    every_s: Option<i64>,
    /// First second that no interval covers yet.
    untold: i64,
}

impl Intervals {
    /// Creates intervals of `every_s` seconds; there are none if that is `None` or not positive.
    pub fn new(every_s: Option<i64>) -> Intervals {
        Intervals { every_s: every_s.filter(|seconds| *seconds > 0), untold: 0 }
    }

    /// Returns the next interval that ends with or before the second `end`.
    pub fn next(&mut self, end: i64) -> Option<Range<i64>> {
        let seconds = self.untold..self.untold + self.every_s?;
        (seconds.end <= end).then(|| {
            self.untold = seconds.end;
            seconds
        })
    }

    /// Returns the second up to which the figures of a run are complete with this event; `None` if
    /// it completes none. A second is complete when the next one has begun.
    pub fn complete_with(event: &Event, tally: &Tally) -> Option<i64> {
        matches!(event, Event::Second(_)).then(|| tally.newest()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_no_length_are_none() {
        for every_s in [None, Some(0), Some(-1)] {
            assert_eq!(Intervals::new(every_s).next(100), None, "{every_s:?}");
        }
        let mut intervals = Intervals::new(Some(2));
        assert_eq!([intervals.next(3), intervals.next(3)], [Some(0..2), None]);
    }
}
