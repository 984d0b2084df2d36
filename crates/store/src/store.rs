//! An open store: listing, finding, replaying, labelling and removing runs.
//!
//! Not here: writing a run (writer), and experiments.

use std::path::{Path, PathBuf};

use model::{CpuProfile, Event, FactValue, Gauge, Readings, ReportField, RunId, Second, Status};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use rustix::fs::{Access, access};

use super::error::{StoreError, StoreErrorKind};
use super::query::why_no_label;
use super::reader::{self, Filter, Reader, RunRow};
use super::schema::{self, IfMissing};

/// Maximum number of pages that one vacuum step gives back, so that no writer waits long; more take
/// further steps.
const VACUUM_PAGES: u32 = 1000;

/// An open store of runs, an SQLite file. One thread may use it at a time.
#[derive(Debug)]
pub struct Store {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
}

impl Store {
    /// Opens the store at `path`; creates it and its folder if it does not exist.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        files::remove_leftovers(path);
        let connection = schema::open(path, IfMissing::Create)?;
        Ok(Store { path: path.to_owned(), connection })
    }

    /// Fails if the store at `path` cannot be opened or, if it does not exist, cannot be created.
    /// Does not create it.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        let may_be_made = |folder: &Path| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
        };
        let nearest = path
            .ancestors()
            .skip(1)
            .find(|folder| folder.as_os_str().is_empty() || folder.symlink_metadata().is_ok());
        let is_new = path.symlink_metadata().is_err() && nearest.is_some_and(may_be_made);
        if is_new { Ok(()) } else { Store::open(path).map(drop) }
    }

    /// Opens the store at `path`, which must exist. If it cannot be written, it is opened
    /// read-only, and writes fail.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        let connection = schema::open_to_read(path)?;
        Ok(Store { path: path.to_owned(), connection })
    }

    /// Makes reads fail soon after `is_gone` returns true, so that a web page whose client has left
    /// costs no more work. SQLite calls `is_gone` often during each read.
    pub fn give_up_when(
        &mut self,
        is_gone: impl FnMut() -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        // SQLite instructions between checks: a list takes some dozens per run, reading a report a
        // few.
        const STEPS: i32 = 100;
        let set = self.connection.progress_handler(STEPS, Some(is_gone));
        set.map_err(|error| self.reader().said(&error))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the runs that `filter` selects, newest first unless it sets another order.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        self.reader().list(filter)
    }

    /// Returns the summary of one run, as in a list; `None` if the run does not exist.
    pub fn row(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.list(&Filter { run: Some(run.clone()), ..Filter::default() })?.pop())
    }

    /// Finds a run by `name`: its id, at least four characters of a unique start or end of its id,
    /// its name if no other run has it, or `last`.
    ///
    /// Ids start with the time, so those of the same minute differ at the end.
    pub fn find(&self, name: &str) -> Result<RunId, StoreError> {
        self.reader().find(name)
    }

    /// Passes every event of the run to `visit`, in the order in which the writer sent them.
    pub fn events(&self, run: &RunId, visit: &mut dyn FnMut(Event)) -> Result<(), StoreError> {
        self.events_after(run, 0, visit).map(|_| ())
    }

    /// Passes the events of the run after position `after` to `visit`, and returns the position of
    /// the last one. To follow a run while it is written, pass 0 at first, then each result.
    pub fn events_after(
        &self,
        run: &RunId,
        after: u64,
        visit: &mut dyn FnMut(Event),
    ) -> Result<u64, StoreError> {
        self.reader().events_after(run, after, visit)
    }

    /// Returns the gauges that were monitored during the run, and their readings.
    pub fn readings(&self, run: &RunId) -> Result<(Vec<Gauge>, Vec<Readings>), StoreError> {
        let (mut gauges, mut readings) = (Vec::new(), Vec::new());
        self.reader().readings(run, &mut |event| match event {
            Event::Gauges { gauges: more } => gauges.extend(more),
            Event::Readings(more) => readings.push(more),
            _ => {}
        })?;
        Ok((gauges, readings))
    }

    /// Returns the CPU profiles of the run: sampled stacks of the server and of the generator.
    pub fn cpu_profiles(&self, run: &RunId) -> Result<Vec<CpuProfile>, StoreError> {
        let mut profiles = Vec::new();
        self.reader().cpu_profiles(run, &mut |event| {
            if let Event::CpuProfile(profile) = event {
                profiles.push(profile);
            }
        })?;
        Ok(profiles)
    }

    /// Passes the run's events with the results of each client to `visit`.
    pub fn clients(&self, run: &RunId, visit: &mut dyn FnMut(Event)) -> Result<(), StoreError> {
        self.reader().clients(run, visit)
    }

    /// Returns the first event of the run, which is always [`Event::Begun`] with its description.
    pub fn begun(&self, run: &RunId) -> Result<Event, StoreError> {
        let reader = self.reader();
        reader.begun(run, reader.number(run)?)
    }

    /// Returns the last value of the fact `name` about `about`; `None` if the run has no such fact.
    pub fn fact(
        &self,
        run: &RunId,
        about: &str,
        name: &str,
    ) -> Result<Option<FactValue>, StoreError> {
        self.reader().fact(run, about, name)
    }

    /// Passes the counts and response times of each group in each second of the run to `visit`, in
    /// order of time and, within a second, of the groups. Only one second is in memory at a time.
    pub fn seconds(&self, run: &RunId, visit: &mut dyn FnMut(Second)) -> Result<(), StoreError> {
        self.reader().seconds(run, visit)
    }

    /// Returns the report of the run as JSON; `None` until the run has ended.
    pub fn report_json(&self, run: &RunId) -> Result<Option<String>, StoreError> {
        self.reader().text(run, "report")
    }

    /// Returns the report of the run as JSON, `None` until it has ended. Each field in `emptied`
    /// gets the given empty JSON value, which makes the report faster to parse.
    pub fn report_json_but(
        &self,
        run: &RunId,
        emptied: &[ReportField],
    ) -> Result<Option<String>, StoreError> {
        self.reader().report_but(run, emptied)
    }

    /// Returns the plan of the run as TOML text, with all defaults filled in.
    pub fn plan(&self, run: &RunId) -> Result<String, StoreError> {
        Ok(self.reader().text(run, "plan")?.unwrap_or_default())
    }

    /// Removes runs with all their data, and shrinks the file. Removes none of them if one is
    /// unknown or still running.
    pub fn remove(&self, runs: &[RunId]) -> Result<(), StoreError> {
        for row in self.list(&Filter { status: Some(Status::Running), ..Filter::default() })? {
            if runs.contains(&row.run) {
                let message = format!("the run {} is running: stop it first", row.run);
                return Err(StoreError::new(StoreErrorKind::UnderWay, message));
            }
        }
        let reader = self.reader();
        let numbers = runs.iter().map(|run| reader.number(run));
        let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
        let removed = || -> rusqlite::Result<()> {
            let all = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            for number in numbers {
                all.execute("DELETE FROM run WHERE number = ?", [number])?;
            }
            all.commit()?;
            self.give_back()
        };
        removed().map_err(|error| reader.said(&error))
    }

    /// Shrinks the store's file after runs were removed. Also runs a checkpoint of the WAL, unless
    /// some run is being measured.
    fn give_back(&self) -> rusqlite::Result<()> {
        let mut before = u32::MAX;
        loop {
            let free: u32 =
                self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            if free == 0 || free >= before {
                break;
            }
            before = free;
            // Each step frees one page, and `execute` would run one step only.
            let sql = format!("PRAGMA incremental_vacuum({VACUUM_PAGES})");
            let mut vacuum = self.connection.prepare(&sql)?;
            let mut steps = vacuum.query(())?;
            while steps.next()?.is_some() {}
        }
        if !reader::any_alive(&self.connection)? {
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            self.connection.query_row(checkpoint, (), |_| Ok(()))?;
        }
        Ok(())
    }

    /// Adds the label `key` with `value` to a run. Replaces another value of the same key.
    pub fn label(&self, run: &RunId, key: &str, value: &str) -> Result<(), StoreError> {
        if let Some(why) = why_no_label(key, value) {
            return Err(StoreError::new(StoreErrorKind::Other, why));
        }
        let reader = self.reader();
        let sql = "INSERT INTO label VALUES (?1, ?2, ?3)
                   ON CONFLICT (run, key) DO UPDATE SET value = excluded.value";
        let labelled = self.connection.execute(sql, params![reader.number(run)?, key, value]);
        labelled.map(|_| ()).map_err(|error| reader.said(&error))
    }

    /// Removes a label from a run; returns false if the run has no label with that key.
    pub fn unlabel(&self, run: &RunId, key: &str) -> Result<bool, StoreError> {
        let reader = self.reader();
        let sql = "DELETE FROM label WHERE run = ? AND key = ?";
        let taken = self.connection.execute(sql, params![reader.number(run)?, key]);
        taken.map(|n| n > 0).map_err(|error| reader.said(&error))
    }

    pub fn labels(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError> {
        let reader = self.reader();
        reader.labels(reader.number(run)?)
    }

    /// Returns the distinct label keys of all runs.
    pub fn label_keys(&self) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut select =
                self.connection.prepare("SELECT DISTINCT key FROM label ORDER BY key")?;
            select.query_map((), |row| row.get(0))?.collect()
        };
        read().map_err(|error| self.reader().said(&error))
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { path: &self.path, connection: &self.connection }
    }
}
