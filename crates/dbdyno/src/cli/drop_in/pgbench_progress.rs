//! Progress of a run on stderr as pgbench prints it. Not here: the report.

use analysis::Tally;
use app::build::Progress as BuildProgress;
use app::watcher::{Intervals, Watcher};
use model::{Event, NS_PER_MS};
use render::drop_in::{Progress, pgbench_progress};

use crate::shell::Shell;

/// Watcher that prints a line of progress every few seconds.
pub(super) struct Told {
    pub(super) shell: Shell,
    pub(super) intervals: Intervals,
    pub(super) has_time_stamps: bool,
    pub(super) has_rate: bool,
}

impl Told {
    /// Prints the lines of all seconds before `end`.
    pub(super) fn tell(&mut self, end: i64, tally: &Tally) {
        while let Some(seconds) = self.intervals.next(end) {
            let every = seconds.end - seconds.start;
            let span = tally.span(seconds.clone());
            let in_ms = |ns: f64| ns / NS_PER_MS as f64;
            let progress = Progress {
                at_s: match self.has_time_stamps {
                    true => app::unix_ms() as f64 / 1e3,
                    false => seconds.end as f64,
                },
                tps: span.counts.finished() as f64 / every as f64,
                mean_ms: if span.response.is_empty() { 0.0 } else { in_ms(span.response.mean()) },
                sd_ms: if span.response.is_empty() { 0.0 } else { in_ms(span.response.sd()) },
                failed: span.counts.failed,
                rate: self.has_rate.then_some((0.0, span.counts.dropped)),
            };
            self.shell.say(&pgbench_progress(&progress, self.has_time_stamps));
        }
    }
}

impl Watcher for Told {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Some(end) = Intervals::complete_with(event, tally) {
            self.tell(end, tally);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// pgbench prints no such lines, and programs that read its output do not expect them.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}
