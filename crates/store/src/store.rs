//! A store that has been opened: its runs are listed, found, replayed, labelled and removed.
//!
//! Not here: how a run is written (writer), and experiments.

use std::path::{Path, PathBuf};

use model::{CpuProfile, Event, FactValue, Gauge, Readings, ReportField, RunId, Second, Status};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use rustix::fs::{Access, access};

use super::error::{StoreError, StoreErrorKind};
use super::query::why_no_label;
use super::reader::{self, Filter, Reader, RunRow};
use super::schema::{self, IfMissing};

/// Pages that are given back to the file system in one go, so that no writer waits long.
const VACUUM_PAGES: u32 = 1000;

/// A store that has been opened. One connection: for one thread at a time.
#[derive(Debug)]
pub struct Store {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
}

impl Store {
    /// Opens the store at `path`; makes it, and the folders above it, if there is none.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        files::remove_leftovers(path);
        let connection = schema::open(path, IfMissing::Create)?;
        Ok(Store { path: path.to_owned(), connection })
    }

    /// Whether the store at `path` can be opened, or made: nothing is made yet.
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

    /// Opens the store at `path`; if there is none, that is an error. Where it may only be read,
    /// it is, and what would write to it is refused.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        let connection = schema::open_to_read(path)?;
        Ok(Store { path: path.to_owned(), connection })
    }

    /// Gives up what is read when nobody waits for it any more: the reading ends with an error,
    /// some runs after `is_gone`.
    pub fn give_up_when(
        &mut self,
        is_gone: impl FnMut() -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        // A list of runs takes some dozen steps for each, its reading of a report a few.
        const STEPS: i32 = 100;
        let set = self.connection.progress_handler(STEPS, Some(is_gone));
        set.map_err(|error| self.reader().said(&error))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The runs that `filter` lets through, newest first unless it says otherwise.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        self.reader().list(filter)
    }

    /// The line of one run in the list; none if it is not there.
    pub fn row(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.list(&Filter { run: Some(run.clone()), ..Filter::default() })?.pop())
    }

    /// The run that is called `name`: its id, at least four characters of the beginning or the
    /// end of its id if they are one run's alone, the name that it was given if no other has it,
    /// or `last`.
    ///
    /// Ids begin with the time: of runs of the same minute it is the ends that differ.
    pub fn find(&self, name: &str) -> Result<RunId, StoreError> {
        self.reader().find(name)
    }

    /// Replays the run: every event, in the order in which it was sent.
    pub fn events(&self, run: &RunId, visit: &mut dyn FnMut(Event)) -> Result<(), StoreError> {
        self.events_after(run, 0, visit).map(|_| ())
    }

    /// Replays what came after place `after`, and returns the place of the last event: 0 at
    /// first, then what the last call returned, to follow a run while it is written.
    pub fn events_after(
        &self,
        run: &RunId,
        after: u64,
        visit: &mut dyn FnMut(Event),
    ) -> Result<u64, StoreError> {
        self.reader().events_after(run, after, visit)
    }

    /// What was read around the run, and its gauges, without all else.
    pub fn readings(&self, run: &RunId) -> Result<(Vec<Gauge>, Vec<Readings>), StoreError> {
        let (mut gauges, mut readings) = (Vec::new(), Vec::new());
        self.reader().readings(run, &mut |event| match event {
            Event::Gauges { gauges: more } => gauges.extend(more),
            Event::Readings(more) => readings.push(more),
            _ => {}
        })?;
        Ok((gauges, readings))
    }

    /// The sampled stacks of the run, without all else.
    pub fn cpu_profiles(&self, run: &RunId) -> Result<Vec<CpuProfile>, StoreError> {
        let mut profiles = Vec::new();
        self.reader().cpu_profiles(run, &mut |event| {
            if let Event::CpuProfile(profile) = event {
                profiles.push(profile);
            }
        })?;
        Ok(profiles)
    }

    /// What each client of the run did, without all else.
    pub fn clients(&self, run: &RunId, visit: &mut dyn FnMut(Event)) -> Result<(), StoreError> {
        self.reader().clients(run, visit)
    }

    /// The run's beginning alone.
    pub fn begun(&self, run: &RunId) -> Result<Event, StoreError> {
        let reader = self.reader();
        reader.begun(run, reader.number(run)?)
    }

    /// What was observed of the run under this name, last.
    pub fn fact(
        &self,
        run: &RunId,
        about: &str,
        name: &str,
    ) -> Result<Option<FactValue>, StoreError> {
        self.reader().fact(run, about, name)
    }

    /// The seconds of a run in the order of time, one group after the other, each the sum of its
    /// parts: one in memory, however many there are.
    pub fn seconds(&self, run: &RunId, visit: &mut dyn FnMut(Second)) -> Result<(), StoreError> {
        self.reader().seconds(run, visit)
    }

    /// The run's report, once it has ended.
    pub fn report_json(&self, run: &RunId) -> Result<Option<String>, StoreError> {
        self.reader().text(run, "report")
    }

    /// The same with some of its fields empty: where many runs are asked for, reading takes most
    /// of the time, and of most of what is read nothing is wanted.
    pub fn report_json_but(
        &self,
        run: &RunId,
        emptied: &[ReportField],
    ) -> Result<Option<String>, StoreError> {
        self.reader().report_but(run, emptied)
    }

    /// The run's plan as decided, in TOML.
    pub fn plan(&self, run: &RunId) -> Result<String, StoreError> {
        Ok(self.reader().text(run, "plan")?.unwrap_or_default())
    }

    /// Removes runs with all that belongs to them, and gives the space back. Removes none of
    /// them if one is unknown or still runs.
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

    /// Shrinks the file by its free pages. Its log is taken into it unless a run is measured.
    fn give_back(&self) -> rusqlite::Result<()> {
        let mut before = u32::MAX;
        loop {
            let free: u32 =
                self.connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            if free == 0 || free >= before {
                break;
            }
            before = free;
            // Each step frees one page: `execute` would take but one.
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

    /// Labels a run; another value of the same key is replaced.
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

    /// Takes a label from a run; false if it has none of that key.
    pub fn unlabel(&self, run: &RunId, key: &str) -> Result<bool, StoreError> {
        let reader = self.reader();
        let sql = "DELETE FROM label WHERE run = ? AND key = ?";
        let taken = self.connection.execute(sql, params![reader.number(run)?, key]);
        taken.map(|n| n > 0).map_err(|error| reader.said(&error))
    }

    /// The run's labels, by key.
    pub fn labels(&self, run: &RunId) -> Result<Vec<(String, String)>, StoreError> {
        let reader = self.reader();
        reader.labels(reader.number(run)?)
    }

    /// The keys of all labels that runs have.
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
