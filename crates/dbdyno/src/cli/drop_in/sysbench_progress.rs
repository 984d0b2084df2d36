//! Lines of figures during a run as sysbench prints them. Not here: the report.

use analysis::Tally;
use analysis::report::ErrorReport;
use analysis::tally::Span;
use app::build::Progress as BuildProgress;
use app::watcher::Watcher;
use model::{DbErrorKind, Event, Phase, Traffic};
use render::drop_in::sysbench::{Between, STARTED, between};
use workloads::script::report::{Queue, ReportFigures};

use super::sysbench_hooks::Hooks;
use crate::shell::Shell;

/// Watcher that prints a line of figures every few seconds, on stdout as sysbench does.
pub(super) struct Told {
    pub(super) shell: Shell,
    /// Seconds between two lines; `None` if there are none.
    pub(super) every_s: Option<i64>,
    pub(super) threads: u32,
    pub(super) percentile: u64,
    pub(super) has_rate: bool,
    /// First second that no line covers yet.
    pub(super) untold: i64,
    /// Whether the load has begun.
    pub(super) has_begun: bool,
    /// Hooks of a script that replace the lines.
    pub(super) hooks: Option<Hooks>,
}

/// Returns how many connections were made again: each follows a lost one.
pub(super) fn reconnects(errors: &[ErrorReport]) -> u64 {
    let lost = DbErrorKind::ConnectionLost.name();
    errors.iter().filter(|error| error.kind == lost).map(|error| error.count).sum()
}

impl Told {
    /// Prints the lines of all seconds before `end`.
    pub(super) fn tell(&mut self, end: i64, tally: &Tally) {
        let Some(every) = self.every_s else { return };
        while self.untold + every <= end {
            let seconds = self.untold..self.untold + every;
            let span = tally.span(seconds.clone());
            let mut sent = Traffic::default();
            for group in &tally.groups {
                sent += group.traffic(seconds.clone());
            }
            if self.is_told_by_script(seconds.end, &span, &sent, tally) {
                self.untold = seconds.end;
                continue;
            }
            let per_s = |n: u64| n as f64 / every as f64;
            let latency = span.response.quantile(self.percentile as f64 / 100.0).unwrap_or(0);
            let figures = Between {
                at_s: seconds.end,
                threads: self.threads,
                tps: per_s(span.counts.finished()),
                statements: [sent.reads, sent.writes, sent.others].map(per_s),
                percentile: (self.percentile, latency as f64 / 1e6),
                errors: per_s(span.counts.retried + span.counts.failed),
                reconnects: 0.0,
                queue: self.has_rate.then(|| (tally.waiting(seconds.end - 1).unwrap_or(0), 0)),
            };
            // A reader that has gone is noticed by the report.
            self.shell.print(&format!("{}\n", between(&figures))).ok();
            self.untold = seconds.end;
        }
    }

    /// Lets the script tell the figures of the seconds before `end`, if it has a hook for that.
    fn is_told_by_script(&mut self, end: i64, span: &Span, sent: &Traffic, tally: &Tally) -> bool {
        let Some(hooks) = &mut self.hooks else { return false };
        let latency = span.response.quantile(self.percentile as f64 / 100.0).unwrap_or(0);
        let figures = ReportFigures {
            threads_running: self.threads,
            interval_s: (end - self.untold) as f64,
            total_s: end as f64,
            events: span.counts.finished(),
            statements: [sent.reads, sent.writes, sent.others],
            errors: span.counts.retried + span.counts.failed,
            reconnects: 0,
            latency_percentile_s: latency as f64 / 1e9,
        };
        let waiting = tally.waiting(end - 1).filter(|_| self.has_rate).unwrap_or(0);
        hooks.intermediate(&figures, Queue { waiting, running: 0 }).unwrap_or_else(|error| {
            self.shell.print(&format!("FATAL: {error}\n")).ok();
            true
        })
    }
}

impl Watcher for Told {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Event::Phase { phase, .. } = event
            && *phase != Phase::Connect
            && !self.has_begun
        {
            self.has_begun = true;
            self.shell.print(STARTED).ok();
        }
        // A second is complete when the next one has begun.
        if let (Event::Second(_), Some(newest)) = (event, tally.newest()) {
            self.tell(newest, tally);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// Notes are in the stored report; parsers expect none.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}
