//! What a script does in a run beside its clients: it begins the run, reports some seconds at a
//! time and the whole, and ends the run.
//!
//! Not here: the reports of dbdyno (render), and when they begin and end (script_reporting).

use std::ops::Range;
use std::sync::Arc;

use analysis::Tally;
use engine::SampleHook;
use model::{
    DbErrorKind, Event, Load, Plan, ReportFigures, ReportOf, ScriptReporter, ScriptReports, Traffic,
};
use stats::Histogram;

use crate::by_end::{ByEnd, Ended, ended_with};
use crate::error::Error;
use crate::open::Opened;
use crate::script_commands::Aside;
use crate::script_error::{ScriptError, ScriptStep};
use crate::watcher::{Intervals, Watcher};

/// A state of the script, and the sessions that it may use.
struct Place {
    reporter: Box<dyn ScriptReporter>,
    aside: Aside,
}

/// What a script does in a run beside its clients.
pub(super) struct Reports {
    /// State for the reports of some seconds, and another for what belongs to the whole run.
    places: [Option<Place>; 2],
    does: ScriptReports,
    intervals: Intervals,
    /// Transactions by the time at which they ended; `None` if other processes execute some, whose
    /// transactions are known by the time at which they were intended.
    by_end: Option<Arc<ByEnd>>,
    percentile: f64,
    clients: u32,
    has_rate: bool,
}

impl Reports {
    /// Returns what the first group's script does that does something. In virtual time it reports
    /// nothing.
    pub(super) fn open(
        plan: &Plan,
        groups: &[Opened],
        is_simulated: bool,
    ) -> Result<Option<Reports>, Error> {
        let clients: u32 = plan.groups.iter().map(|group| group.clients).sum();
        for opened in groups {
            let Some(script) = opened.workload.script() else { continue };
            let Some(reporter) = script.reporter(clients)? else { continue };
            let mut does = reporter.reports();
            does.intervals &= !is_simulated;
            does.runs &= !is_simulated;
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
            let every_s = does.every_s.unwrap_or(of_run);
            let is_alone = plan.groups.iter().all(|group| group.processes == 0);
            return Ok(Some(Reports {
                places: [
                    place(does.intervals && every_s > 0)?,
                    place(does.runs || does.begins || does.ends)?,
                ],
                does,
                intervals: Intervals::new(Some(every_s)),
                by_end: is_alone
                    .then(|| ByEnd::new(u64::try_from(every_s).ok().filter(|s| *s > 0))),
                percentile: does.percentile as f64 / 100.0,
                clients,
                has_rate: plan.groups.iter().any(|group| matches!(group.load, Load::Open { .. })),
            }));
        }
        Ok(None)
    }

    /// Lets the script do what it does once before the load. Fails with its error.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        let [_, Some(Place { reporter, aside })] = &mut self.places else { return Ok(()) };
        let begun = aside.run(async |context| reporter.begin_run(context).await);
        Ok(begun.map_err(|no| ScriptError::new(ScriptStep::Init, no))?)
    }

    /// Lets the script do what it does once at the end, after everything else.
    pub(super) fn end(mut self, watcher: &mut dyn Watcher) {
        let [_, Some(Place { reporter, aside })] = &mut self.places else { return };
        if !self.does.ends {
            return;
        }
        let ended = aside.run(async |context| reporter.end_run(context).await);
        if let Err(no) = ended {
            watcher.report_failed(&ScriptError::new(ScriptStep::Done, no));
        }
    }

    /// Returns the function that gets each transaction of the run, for reports.
    pub(super) fn hook(&self) -> Option<SampleHook> {
        let is_asked = self.places[0].is_some() || self.does.runs;
        self.by_end.as_ref().filter(|_| is_asked).map(ByEnd::hook)
    }

    /// Reports what is complete with an event of the run.
    pub(super) fn event(&mut self, event: &Event, tally: &Tally, watcher: &mut dyn Watcher) {
        let complete = match &self.by_end {
            Some(_) => ended_with(event, tally),
            None => Intervals::complete_with(event, tally),
        };
        if let Some(end) = complete {
            self.tell_until(end, tally, watcher);
        }
    }

    /// Reports the intervals before the second `end`.
    pub(super) fn tell_until(&mut self, end: i64, tally: &Tally, watcher: &mut dyn Watcher) {
        while let Some(seconds) = self.intervals.next(end) {
            let last = seconds.end;
            let waiting = tally.waiting(seconds.end - 1).filter(|_| self.has_rate).unwrap_or(0);
            let running = tally.running(seconds.end - 1).unwrap_or(0);
            let figures = ReportFigures {
                threads_running: self.clients,
                interval_s: (seconds.end - seconds.start) as f64,
                total_s: last as f64,
                ..self.of_seconds(seconds, tally)
            };
            self.report(0, &figures, ReportOf::Interval { waiting, running }, watcher);
        }
    }

    /// Reports the whole run.
    pub(super) fn conclude(&mut self, seconds: f64, tally: &Tally, watcher: &mut dyn Watcher) {
        self.places[0] = None;
        if !self.does.runs {
            return;
        }
        let newest = tally.newest().unwrap_or(0);
        let (figures, times) = match &self.by_end {
            Some(by_end) => self.of_ended(by_end.all()),
            None => self.of_span(0..newest + 1, tally),
        };
        let errors = tally.groups.iter().flat_map(|group| &group.measured.errors);
        let lost = errors.filter(|error| error.kind == DbErrorKind::ConnectionLost);
        let figures = ReportFigures {
            interval_s: seconds,
            total_s: seconds,
            reconnects: lost.map(|error| error.count).sum(),
            ..figures
        };
        let is_empty = times.is_empty();
        let of = ReportOf::Run {
            min_s: times.min() as f64 / 1e9,
            max_s: times.max() as f64 / 1e9,
            mean_s: if is_empty { 0.0 } else { times.mean() / 1e9 },
            sum_s: times.sum() as f64 / 1e9,
        };
        self.report(1, &figures, of, watcher);
    }

    /// Returns what both kinds of reports have, for some seconds that are over.
    fn of_seconds(&self, seconds: Range<i64>, tally: &Tally) -> ReportFigures {
        match &self.by_end {
            Some(by_end) => {
                let every_s = seconds.end - seconds.start;
                self.of_ended(by_end.take((seconds.start / every_s) as u64)).0
            }
            None => self.of_span(seconds, tally).0,
        }
    }

    /// Returns figures of transactions by the time at which they ended.
    fn of_ended(&self, ended: Ended) -> (ReportFigures, Histogram) {
        let events = ended.response.count();
        (self.figures(events, ended.traffic, &ended.response), ended.response)
    }

    /// Returns figures of transactions by the time at which they were intended.
    fn of_span(&self, seconds: Range<i64>, tally: &Tally) -> (ReportFigures, Histogram) {
        let span = tally.span(seconds.clone());
        let sent = tally.traffic(seconds);
        (self.figures(span.counts.finished(), sent, &span.response), span.response)
    }

    fn figures(&self, events: u64, sent: Traffic, response: &Histogram) -> ReportFigures {
        let nth = response.quantile(self.percentile).unwrap_or(0);
        ReportFigures {
            events,
            statements: [sent.reads, sent.writes, sent.others],
            errors: sent.refused,
            latency_percentile_s: nth as f64 / 1e9,
            ..ReportFigures::default()
        }
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
            watcher.report_failed(&ScriptError::new(ScriptStep::Report, no));
        }
    }
}
