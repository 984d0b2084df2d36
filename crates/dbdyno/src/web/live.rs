//! Follows running runs in the store: earlier events are cached, and only newer ones are read.
//!
//! Not here: pages and JSON of runs (pages, api).

use std::sync::{Arc, Mutex};

use analysis::report::Report;
use app::stored_report::{CheckedTally, ended_report, report_so_far, with_latency_heat};
use model::{RunId, Status};
use render::live::Now;
use store::{RunRow, Store, StoreError, StoreErrorKind};

use super::http_error::HttpError;
use super::visitor::held;

/// Maximum number of cached runs, which are those requested last; others are read again. The limit
/// holds for running and for ended ones separately.
const KEPT_MAX: usize = 4;

/// State of a stored run, as read from the store at one moment: its report and what it does now.
pub(super) struct RunSnapshot {
    pub(super) row: RunRow,
    pub(super) report: Arc<Report>,
    /// Report from which charts are drawn. It has a latency heat map even if it was stored without.
    pub(super) drawn: Arc<Report>,
    /// Current activity for the live view; `None` for an ended run.
    pub(super) now: Option<Now>,
    /// Position of the last event of the run; `u64::MAX` for an ended run. A change of the position
    /// is a change of state.
    pub(super) place: u64,
}

impl RunSnapshot {
    /// Returns true if the run has not ended yet.
    pub(super) fn is_live(&self) -> bool {
        self.row.status == Status::Running
    }
}

/// Caches for the runs that were requested last from the web service.
#[derive(Default)]
pub(super) struct LiveRuns {
    followed: Mutex<Vec<(RunId, Arc<Mutex<Followed>>)>>,
    /// Reports of ended runs. They do not change, and each chart of a page requests that of its
    /// run.
    ended: Mutex<Vec<Ended>>,
}

#[derive(Clone)]
struct Ended {
    run: RunId,
    report: Arc<Report>,
    drawn: Arc<Report>,
}

struct Followed {
    checked: CheckedTally,
    place: u64,
}

impl LiveRuns {
    /// Returns the state of the run called `name`: with its stored report, or with one made of its
    /// events so far.
    pub(super) fn standing(&self, store: &Store, name: &str) -> Result<RunSnapshot, HttpError> {
        let run = store.find(name)?;
        let row = row_of(store, &run)?;
        if row.status != Status::Running
            && let Some(Ended { report, drawn, .. }) = self.ended(store, &row)?
        {
            self.forget(&run);
            // The run does not change any more; while it ran, its positions were lower.
            return Ok(RunSnapshot { row, report, drawn, now: None, place: u64::MAX });
        }
        let followed = self.followed(&run);
        let mut followed = held(&followed);
        let Followed { checked, place } = &mut *followed;
        let read = store.events_after(&run, *place, &mut |event| checked.add(&event));
        // After an error, events would be added twice.
        *place = read.inspect_err(|_| self.forget(&run))?;
        let tally = checked.tally(&run)?;
        let report = Arc::new(report_so_far(tally, &row));
        let now = (row.status == Status::Running).then(|| render::live::now(tally));
        // A run that ended without a report has another state than while it ran.
        let place = if row.status == Status::Running { *place } else { u64::MAX };
        Ok(RunSnapshot { row, drawn: Arc::clone(&report), report, now, place })
    }

    fn ended(&self, store: &Store, row: &RunRow) -> Result<Option<Ended>, HttpError> {
        if let Some(known) = held(&self.ended).iter().find(|known| known.run == row.run) {
            return Ok(Some(known.clone()));
        }
        let Some(report) = ended_report(store, row)?.map(Arc::new) else { return Ok(None) };
        let drawn = match report.latency_heat.is_some() {
            true => Arc::clone(&report),
            false => Arc::new(with_latency_heat(store, &row.run, (*report).clone())?),
        };
        let ended = Ended { run: row.run.clone(), report, drawn };
        let mut all = held(&self.ended);
        all.insert(0, ended.clone());
        all.truncate(KEPT_MAX);
        Ok(Some(ended))
    }

    fn followed(&self, run: &RunId) -> Arc<Mutex<Followed>> {
        let mut all = held(&self.followed);
        let found = all.iter().position(|(known, _)| known == run);
        let followed = match found {
            Some(index) => all.remove(index).1,
            None => Arc::new(Mutex::new(Followed { checked: CheckedTally::default(), place: 0 })),
        };
        all.insert(0, (run.clone(), Arc::clone(&followed)));
        all.truncate(KEPT_MAX);
        followed
    }

    fn forget(&self, run: &RunId) {
        held(&self.followed).retain(|(known, _)| known != run);
    }
}

/// Reads the row of a run for the list of runs. Fails if the run has been removed.
pub(super) fn row_of(store: &Store, run: &RunId) -> Result<RunRow, StoreError> {
    store.row(run)?.ok_or_else(|| {
        let message = format!("the run {run} was removed");
        StoreError { kind: StoreErrorKind::UnknownRun, message }
    })
}
