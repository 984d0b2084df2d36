//! Progress of a run on stderr as pgbench prints it. Not here: the report.

use analysis::Tally;
use app::build::Progress as BuildProgress;
use app::watcher::Watcher;
use model::{Event, NS_PER_MS};
use render::drop_in::{Progress, pgbench_progress};

use crate::shell::Shell;

/// Watcher that prints a line of progress every few seconds.
pub(super) struct Told {
    pub(super) shell: Shell,
    /// Seconds between two lines; `None` if there are none.
    pub(super) every_s: Option<i64>,
    pub(super) has_time_stamps: bool,
    pub(super) has_rate: bool,
    /// First second that no line covers yet.
    pub(super) untold: i64,
}

impl Told {
    /// Prints the lines of all seconds before `end`.
    pub(super) fn tell(&mut self, end: i64, tally: &Tally) {
        let Some(every) = self.every_s else { return };
        while self.untold + every <= end {
            let seconds = self.untold..self.untold + every;
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
            self.untold = seconds.end;
        }
    }
}

impl Watcher for Told {
    fn event(&mut self, event: &Event, tally: &Tally) {
        // A second is complete when the next one has begun.
        if let (Event::Second(_), Some(newest)) = (event, tally.newest()) {
            self.tell(newest, tally);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// pgbench prints no such lines, and programs that read its output do not expect them.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}
