//! Lines of figures during a run as sysbench prints them. Not here: the report.

use std::sync::Arc;

use analysis::Tally;
use analysis::report::ErrorReport;
use app::build::Progress as BuildProgress;
use app::by_end::ByEnd;
use app::watcher::{Intervals, Watcher};
use model::{DbErrorKind, Event, Phase};
use render::drop_in::sysbench::{Between, STARTED, between};

use super::ended_with;
use crate::shell::Shell;

/// Watcher that prints a line of figures every few seconds, on stdout as sysbench does.
pub(super) struct Told {
    pub(super) shell: Shell,
    /// What the lines are about; none if there are none, or the script prints them.
    pub(super) intervals: Intervals,
    pub(super) by_end: Arc<ByEnd>,
    pub(super) threads: u32,
    pub(super) percentile: u64,
    pub(super) has_rate: bool,
    /// Whether the load has begun.
    pub(super) has_begun: bool,
    /// Whether a report of the script had an error.
    pub(super) has_failed_report: bool,
}

/// Returns how many connections were made again: each follows a lost one.
pub(super) fn reconnects(errors: &[ErrorReport]) -> u64 {
    let lost = DbErrorKind::ConnectionLost.name();
    errors.iter().filter(|error| error.kind == lost).map(|error| error.count).sum()
}

impl Told {
    /// Prints the lines of all seconds before `end`.
    pub(super) fn tell(&mut self, end: i64, tally: &Tally) {
        while let Some(seconds) = self.intervals.next(end) {
            let every = seconds.end - seconds.start;
            let ended = self.by_end.take((seconds.start / every) as u64);
            let (times, sent) = (&ended.response, ended.traffic);
            let per_s = |n: u64| n as f64 / every as f64;
            let latency = times.quantile(self.percentile as f64 / 100.0).unwrap_or(0);
            let waiting = tally.waiting(seconds.end - 1).unwrap_or(0);
            let running = tally.running(seconds.end - 1).unwrap_or(0);
            let figures = Between {
                at_s: seconds.end,
                threads: self.threads,
                tps: per_s(times.count()),
                statements: [sent.reads, sent.writes, sent.others].map(per_s),
                percentile: (self.percentile, latency as f64 / 1e6),
                errors: per_s(sent.refused),
                reconnects: 0.0,
                queue: self.has_rate.then_some((waiting, running)),
            };
            // A reader that has gone is noticed by the report.
            self.shell.print(&format!("{}\n", between(&figures))).ok();
        }
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
        if let Some(end) = ended_with(event, tally) {
            self.tell(end, tally);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// Notes are in the stored report; parsers expect none.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}

    fn report_failed(&mut self, error: &str) {
        self.has_failed_report = true;
        self.shell.print(&format!("FATAL: {error}\n")).ok();
    }
}
