//! Reports that a script makes of its own run: some seconds at a time, and the whole.
//!
//! Not here: the reports of dbdyno (render), and when they begin and end (script_reporting).

use std::ops::Range;

use analysis::Tally;
use analysis::tally::Span;
use model::{DbErrorKind, Event, Load, Plan, ReportFigures, ReportOf, ScriptReporter};

use crate::error::Error;
use crate::open::Opened;
use crate::script_commands::Aside;
use crate::watcher::{Intervals, Watcher};

/// A state of the script, and the sessions that it may use.
struct Place {
    reporter: Box<dyn ScriptReporter>,
    aside: Aside,
}

/// The reports that a script makes during a run.
pub(super) struct Reports {
    /// State for the reports of some seconds, and another for that of the whole run.
    places: [Option<Place>; 2],
    intervals: Intervals,
    percentile: f64,
    clients: u32,
    has_rate: bool,
}

impl Reports {
    /// Returns the reports of the first group whose script makes some.
    pub(super) fn open(plan: &Plan, groups: &[Opened]) -> Result<Option<Reports>, Error> {
        let clients: u32 = plan.groups.iter().map(|group| group.clients).sum();
        for opened in groups {
            let Some(script) = opened.workload.script() else { continue };
            let Some(reporter) = script.reporter(clients)? else { continue };
            let reports = reporter.reports();
            let place = |is_asked: bool| -> Result<Option<Place>, Error> {
                if !is_asked {
                    return Ok(None);
                }
                let Some(reporter) = script.reporter(clients)? else { return Ok(None) };
                let aside = Aside::open(&opened.database, 0);
                let aside = aside.map_err(|no| Error::Failed(no.to_string()))?;
                Ok(Some(Place { reporter, aside }))
            };
            let of_run = plan.interval_seconds as i64;
            let every_s = reports.every_s.unwrap_or(of_run);
            return Ok(Some(Reports {
                places: [place(reports.intervals && every_s > 0)?, place(reports.runs)?],
                intervals: Intervals::new(Some(every_s)),
                percentile: reports.percentile as f64 / 100.0,
                clients,
                has_rate: plan.groups.iter().any(|group| matches!(group.load, Load::Open { .. })),
            }));
        }
        Ok(None)
    }

    /// Reports what is complete with an event of the run.
    pub(super) fn event(&mut self, event: &Event, tally: &Tally, watcher: &mut dyn Watcher) {
        if let Some(end) = Intervals::complete_with(event, tally) {
            self.tell_until(end, tally, watcher);
        }
    }

    /// Reports the intervals before the second `end`.
    pub(super) fn tell_until(&mut self, end: i64, tally: &Tally, watcher: &mut dyn Watcher) {
        while let Some(seconds) = self.intervals.next(end) {
            let waiting = tally.waiting(seconds.end - 1).filter(|_| self.has_rate).unwrap_or(0);
            let running = tally.running(seconds.end - 1).unwrap_or(0);
            let figures = ReportFigures {
                threads_running: self.clients,
                interval_s: (seconds.end - seconds.start) as f64,
                total_s: seconds.end as f64,
                ..self.figures(seconds, tally).0
            };
            self.report(0, &figures, ReportOf::Interval { waiting, running }, watcher);
        }
    }

    /// Reports the whole run.
    pub(super) fn conclude(&mut self, seconds: f64, tally: &Tally, watcher: &mut dyn Watcher) {
        self.places[0] = None;
        let newest = tally.newest().unwrap_or(0);
        let (figures, span) = self.figures(0..newest + 1, tally);
        let errors = tally.groups.iter().flat_map(|group| &group.measured.errors);
        let lost = errors.filter(|error| error.kind == DbErrorKind::ConnectionLost);
        let figures = ReportFigures {
            interval_s: seconds,
            total_s: seconds,
            reconnects: lost.map(|error| error.count).sum(),
            ..figures
        };
        let times = &span.response;
        let is_empty = times.is_empty();
        let of = ReportOf::Run {
            min_s: times.min() as f64 / 1e9,
            max_s: times.max() as f64 / 1e9,
            mean_s: if is_empty { 0.0 } else { times.mean() / 1e9 },
            sum_s: times.sum() as f64 / 1e9,
        };
        self.report(1, &figures, of, watcher);
    }

    /// Returns what both kinds of reports have, for these seconds.
    fn figures(&self, seconds: Range<i64>, tally: &Tally) -> (ReportFigures, Span) {
        let span = tally.span(seconds.clone());
        let sent = tally.traffic(seconds);
        let nth = span.response.quantile(self.percentile).unwrap_or(0);
        let figures = ReportFigures {
            events: span.counts.finished(),
            statements: [sent.reads, sent.writes, sent.others],
            errors: sent.refused,
            latency_percentile_s: nth as f64 / 1e9,
            ..ReportFigures::default()
        };
        (figures, span)
    }

    fn report(
        &mut self,
        place: usize,
        figures: &ReportFigures,
        of: ReportOf,
        watcher: &mut dyn Watcher,
    ) {
        let Some(Place { reporter, aside }) = &mut self.places[place] else { return };
        let told = aside.run(async |context| reporter.report(figures, of, context).await);
        if let Err(no) = told {
            watcher.report_failed(&no.message);
        }
    }
}
