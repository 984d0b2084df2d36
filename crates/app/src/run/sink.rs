//! Passes each event of a run to its tally, its watcher and its store, and measures CPU and memory
//! of the generator in the measured phase. Not here: the source of events (engine).

use analysis::Tally;
use engine::ClientThreads;
use model::{Event, Phase};
use monitor::{SharedTasks, Usage, Watch};
use store::Writer;

use super::numbering::{Numbering, Sourced};
use super::script_reports::Reports;
use crate::client_threads::{ThreadUse, ThreadWatch};
use crate::watcher::Watcher;

/// Receives all events of a run and passes them to its tally (the results so far), its store and
/// the watcher. Measures CPU and memory use of dbdyno in the measured phase.
pub(in crate::run) struct RunSink<'w> {
    pub(in crate::run) tally: Tally,
    pub(in crate::run) writer: Option<Writer>,
    pub(in crate::run) watcher: &'w mut dyn Watcher,
    /// CPU counters of this process's threads. A collector of the monitor reads them from the
    /// kernel.
    pub(in crate::run) threads: SharedTasks,
    /// True if the monitor reads `threads` every second. Otherwise the sink reads them, because the
    /// counters of a thread disappear when it ends.
    pub(in crate::run) are_read: bool,
    pub(in crate::run) watch: Option<Watch>,
    pub(in crate::run) measured: Option<Usage>,
    /// Threads of this process that run clients of the load.
    pub(in crate::run) client_threads: ClientThreads,
    pub(in crate::run) thread_watch: Option<ThreadWatch>,
    pub(in crate::run) thread_use: ThreadUse,
    /// Turns indexes of one process's event loops and gauges into indexes that are unique in the
    /// run.
    pub(in crate::run) numbering: Numbering,
    /// Reports that a script makes of the run; `None` if it makes none.
    pub(in crate::run) reports: Option<Reports>,
}

impl<'w> RunSink<'w> {
    pub(in crate::run) fn new(writer: Option<Writer>, watcher: &'w mut dyn Watcher) -> RunSink<'w> {
        RunSink {
            tally: Tally::new(),
            writer,
            watcher,
            threads: SharedTasks::default(),
            are_read: false,
            watch: None,
            measured: None,
            client_threads: ClientThreads::default(),
            thread_watch: None,
            thread_use: ThreadUse::default(),
            numbering: Numbering::default(),
            reports: None,
        }
    }

    /// Records an event of this process in the run.
    pub(in crate::run) fn tell(&mut self, event: Event) {
        self.tell_from(Sourced { process: 0, event });
    }

    /// Records an event of any process of the run: passes it to tally, watcher and store. Measures
    /// CPU and memory from the beginning of a phase with load until the drain begins.
    pub(in crate::run) fn tell_from(&mut self, sourced: Sourced) {
        let event = self.numbering.in_run(sourced);
        match &event {
            Event::Phase { phase: Phase::RampUp | Phase::Measure, .. } => {
                self.watch = Some(Watch::over(&self.threads));
                self.thread_watch = Some(ThreadWatch::begin(&self.threads, &self.client_threads));
            }
            Event::Phase { phase: Phase::Drain, .. } => self.take_usage(),
            // A thread's counters disappear when it ends, so they are read every second.
            Event::Second(_) if self.measured.is_none() && !self.are_read => {
                monitor::look(&self.threads);
            }
            _ => {}
        }
        self.tally.add(&event);
        self.watcher.event(&event, &self.tally);
        if let Some(reports) = &mut self.reports {
            reports.event(&event, &self.tally, self.watcher);
        }
        if let Some(writer) = &self.writer {
            writer.send(event);
        }
    }

    pub(in crate::run) fn take_usage(&mut self) {
        if self.measured.is_none() {
            self.measured = self.watch.as_mut().map(Watch::read);
            let used = self.thread_watch.as_ref().map(|watch| watch.read(&self.threads));
            self.thread_use = used.unwrap_or_default();
        }
    }

    pub(in crate::run) fn note(&mut self, text: String) {
        self.watcher.note(&text);
        self.tell(Event::Output { text });
    }
}
