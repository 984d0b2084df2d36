//! Lines of figures during a run as sysbench prints them. Not here: the report.

use std::sync::Arc;

use analysis::Tally;
use analysis::report::{ErrorReport, Report};
use app::Error;
use app::build::Progress as BuildProgress;
use app::by_end::{ByEnd, ended_with};
use app::script_error::{ScriptError, ScriptStep};
use app::watcher::{Intervals, Watcher};
use model::{DbErrorKind, Event, Phase, StopReason};
use render::drop_in::sysbench::{Between, STARTED, between};

use crate::cli::Outcome;
use crate::shell::Shell;

/// Verbosities of sysbench from which it prints notices, how threads end, and that they begin.
const NOTICE: u64 = 3;
const INFO: u64 = 4;
pub(super) const DEBUG: u64 = 5;

/// What sysbench prints beside errors, by its verbosity.
#[derive(Clone)]
pub(super) struct Notices {
    pub(super) shell: Shell,
    pub(super) verbosity: u64,
}

impl Notices {
    pub(super) fn print(&self, text: &str) -> Result<(), Error> {
        self.print_from(NOTICE, text)
    }

    /// Prints a text from this verbosity on.
    fn print_from(&self, verbosity: u64, text: &str) -> Result<(), Error> {
        if self.verbosity >= verbosity { self.shell.print(text).map(drop) } else { Ok(()) }
    }

    /// Says that the threads have begun.
    fn tell_begun(&self, threads: u32) -> Result<(), Error> {
        for what in ["started", "initialized"] {
            for thread in 0..threads {
                self.print_from(DEBUG, &format!("DEBUG: Worker thread (#{thread}) {what}\n"))?;
            }
        }
        self.print(STARTED)
    }

    /// Says why the threads have ended: by the number of events, or by the time.
    pub(super) fn tell_end(&self, is_counted: bool, threads: u32) -> Result<(), Error> {
        let what = if is_counted { "Event" } else { "Time" };
        let mut text = format!("{what} limit exceeded, exiting...\n");
        if threads > 1 {
            text += &format!("(last message repeated {} times)\n", threads - 1);
        }
        text += "Done.\n\n";
        self.print_from(INFO, &text)
    }
}

/// Watcher that prints a line of figures every few seconds, on stdout as sysbench does.
pub(super) struct Told<'a> {
    pub(super) notices: Notices,
    /// The options of the run, until they are shown: before the threads are started.
    pub(super) options: Option<String>,
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
    /// Prints the report of the run.
    pub(super) conclude: &'a dyn Fn(&Report, Option<&StopReason>) -> Outcome,
    /// How the run ended; `None` while it runs.
    pub(super) outcome: Option<Outcome>,
}

/// Returns how many connections were made again: each follows a lost one.
pub(super) fn reconnects(errors: &[ErrorReport]) -> u64 {
    let lost = DbErrorKind::ConnectionLost.name();
    errors.iter().filter(|error| error.kind == lost).map(|error| error.count).sum()
}

impl Told<'_> {
    /// Shows the options of the run, unless they are shown already.
    pub(super) fn show_options(&mut self) {
        if let Some(options) = self.options.take() {
            // A reader that has gone is noticed by the report.
            self.notices.print(&options).ok();
        }
    }

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
            self.notices.print(&format!("{}\n", between(&figures))).ok();
        }
    }
}

impl Watcher for Told<'_> {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Event::Phase { phase, .. } = event {
            self.show_options();
            if *phase != Phase::Connect && !self.has_begun {
                self.has_begun = true;
                self.notices.tell_begun(self.threads).ok();
            }
        }
        if let Some(end) = ended_with(event, tally) {
            self.tell(end, tally);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// Notes are in the stored report; parsers expect none.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}

    fn concluded(&mut self, report: &Report, tally: &Tally) {
        self.tell(report.measured_seconds as i64, tally);
        let reason = tally.ended.as_ref().map(|ended| &ended.reason);
        self.outcome = Some((self.conclude)(report, reason));
    }

    fn report_failed(&mut self, error: &ScriptError) {
        // What ends the run changes nothing about it.
        let is_end = error.step == ScriptStep::Done;
        self.has_failed_report |= !is_end;
        let what = if is_end { "`done' function failed: " } else { "" };
        let line = format!("FATAL: {what}{}\n", error.error.message);
        self.notices.shell.print(&line).ok();
    }
}
