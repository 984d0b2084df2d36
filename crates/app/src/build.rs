//! Builds and drops a workload's data: creates tables, loads rows in parallel, creates indexes.
//!
//! Each chunk of rows is committed together with its mark in `dbdyno_meta`, so an interrupted build
//! resumes with the first unmarked chunk. If the storage engine does not commit the two together,
//! the build starts again with empty tables. Not here: the contents of rows (workloads).

mod checksums;
mod creating;
mod dropping;
mod parts;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::Stop;
use model::{Administration, Choice, DbError, DbErrorKind, Population, format_count};
use monitor::wall_clock;

pub use self::checksums::{Checksum, checksums, checksums_interruptible};
pub(crate) use self::creating::definition;
use self::creating::{AT_ONCE, Doing, Steps, begin_many, prepare};
pub use self::dropping::{drop_data, unmarked_tables};
use self::dropping::{drop_tables, unmarked};
pub use self::parts::BuildPart;
use crate::admin_session::AdminSession;
use crate::build_lock::{A_MOMENT, HeldLock, connect_again, connect_within};
use crate::build_log::BuildLog;
use crate::error::Error;
use crate::interruptible::run_interruptible_with_progress;
pub use crate::load::LoadMethod;
use crate::load::{ATTEMPTS, Work, load_chunks};
use crate::meta::{self, Found};
use crate::open::{Data, Opened, clash};
use crate::storage_engine;
use crate::table_list::MANY;

const INTERRUPTED: &str = "the build was interrupted";
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// Number of parallel loaders; 0 means one per core and at least four. Databases without
    /// parallel loading always have one.
    pub loaders: usize,
    pub method: LoadMethod,
    /// Seed that existing data must have; `None` accepts any.
    pub seed: Option<u64>,
    pub part: BuildPart,
}

impl BuildOptions {
    pub(crate) fn method_name(&self) -> &'static str {
        self.method.name()
    }
}

/// Smallest default number of parallel loaders in a build: while the server waits for its disk,
/// another loader keeps its CPU busy.
const LOADERS_LEAST: usize = 4;

/// Largest number of passes of a build. A further pass loads the chunks that a crash of the server
/// has lost after their commit; if the last pass leaves any, the build fails.
const PASSES: u32 = 5;

/// Progress of a build, or of writing rows into files.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Current step for display: a table's name, `index NAME`, `statistics` or `files`.
    pub doing: String,
    /// Rows built so far, including those of earlier, interrupted builds.
    pub n_rows: u64,
    pub n_rows_total: u64,
    /// Mean rows per second since the start of this build, without rows of earlier builds; 0 after
    /// the last row.
    pub rows_per_s: f64,
    /// Estimated seconds until all rows are built, at `rows_per_s`; `None` if unknown.
    pub left_s: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// State of the data before the build, such as absent or unfinished.
    pub found: Data,
    /// Number of rows that this build added.
    pub n_rows: u64,
    /// Part of the data that was to be built.
    pub part: BuildPart,
    /// Number of rows that existed already, left by an interrupted build (estimated from complete
    /// chunks).
    pub n_rows_before: u64,
    /// True if the tables of an interrupted build were dropped and built again.
    pub was_dropped: bool,
    /// Total duration of the build in seconds.
    pub seconds: f64,
    /// Seconds from the last loaded row to the end of the build, mainly for secondary indexes and
    /// table statistics.
    pub index_seconds: f64,
    /// Seconds spent on table statistics (`ANALYZE`), included in `index_seconds`.
    pub analyse_seconds: f64,
    pub method: LoadMethod,
    pub loaders: usize,
    pub reconnects: u64,
    /// Error with which the server refused bulk loading, so that rows were inserted instead; `None`
    /// if bulk loading was not refused.
    pub bulk_refused: Option<String>,
}

impl Built {
    fn from_opened(opened: &Opened, options: BuildOptions) -> Built {
        Built {
            found: opened.data,
            n_rows: 0,
            part: options.part,
            n_rows_before: 0,
            was_dropped: false,
            seconds: 0.0,
            index_seconds: 0.0,
            analyse_seconds: 0.0,
            method: options.method,
            loaders: n_loaders(opened, options),
            reconnects: 0,
            bulk_refused: None,
        }
    }

    /// Returns a sentence for the user that describes the build.
    pub fn sentence(&self) -> String {
        let rows = format_count(self.n_rows);
        let method = self.method.name();
        let loaders = match self.loaders {
            1 => "1 loader".to_owned(),
            n => format!("{n} loaders"),
        };
        let lost = match self.reconnects {
            0 => String::new(),
            n => format!("; {n} lost connections were reconnected"),
        };
        let refused = self.bulk_refused.as_ref().map_or(String::new(), |why| {
            format!("; the server does not understand bulk loads, so rows were inserted: {why}")
        });
        match self.found {
            Data::Built => "the data exist already: nothing to build".to_owned(),
            _ if self.part == BuildPart::Tables => format!(
                "created the tables without rows in {:.1} s: change them if you like, then build \
                 fills them, and adds the indexes without --data-only",
                self.seconds
            ),
            Data::Unfinished if !self.was_dropped => format!(
                "resumed an interrupted build: about {} rows existed, {rows} added in {:.1} s \
                 by {method} with {loaders}{lost}{refused}",
                format_count(self.n_rows_before),
                self.seconds
            ),
            _ => format!(
                "{}built {rows} rows in {:.1} s ({} rows/s) by {method} with {loaders}, of which \
                 {:.1} s for indexes and {:.1} s for statistics{lost}{refused}",
                if self.was_dropped { "dropped the tables of an interrupted build; " } else { "" },
                self.seconds,
                format_count((self.n_rows as f64 / self.seconds.max(1e-9)) as u64),
                self.index_seconds - self.analyse_seconds,
                self.analyse_seconds
            ),
        }
    }
}

/// Builds the data of a workload, or what an interrupted build left unbuilt. Does nothing if the
/// data are complete; fails if the tables exist, but dbdyno did not build them.
pub fn build(
    opened: &Opened,
    options: BuildOptions,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    build_into(opened, options, &Arc::new(BuildLog::begin()), is_stopped, progress)
}

/// Builds the data of a workload as [`build`] does, and records the progress in `log`.
fn build_into(
    opened: &Opened,
    options: BuildOptions,
    log: &Arc<BuildLog>,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    let began = wall_clock::now();
    let Some(population) = opened.workload.population() else {
        return Err(Error::Usage("this workload has no data to build".to_owned()));
    };
    may_build(opened, options)?;
    let mut built = Built::from_opened(opened, options);
    if matches!(opened.data, Data::None | Data::Built) {
        return Ok(built);
    }
    let mut builder = Builder::at(opened, population, log, is_stopped)?;
    match options.part {
        BuildPart::All => {}
        BuildPart::Rows => {
            builder.surely(&mut |session, _| parts::leave_indexes(session, population))?;
        }
        BuildPart::Tables => {
            builder.prepare(progress)?;
            built.seconds = began.elapsed().as_secs_f64();
            return Ok(built);
        }
    }
    let work = builder.load_all(&mut built, progress)?;
    let indexing = wall_clock::now();
    builder.finish(&mut |step| {
        progress(&Progress {
            n_rows: work.n_rows_done.load(Ordering::Relaxed),
            n_rows_total: work.n_rows_total,
            ..step
        });
    })?;
    built.reconnects += builder.n_reconnects;
    built.index_seconds = indexing.elapsed().as_secs_f64();
    built.analyse_seconds = builder.analyse_seconds;
    built.seconds = began.elapsed().as_secs_f64();
    Ok(built)
}

/// Fails if the tables that are there, or those that are not, do not fit what is to be built.
fn may_build(opened: &Opened, options: BuildOptions) -> Result<(), Error> {
    match (opened.data, options.part) {
        (Data::None, _) | (Data::Absent, BuildPart::All | BuildPart::Tables) => Ok(()),
        (Data::Built | Data::Unfinished, _) => has_seed(opened, options.seed),
        (Data::Absent, BuildPart::Rows) => Err(Error::Failed(
            "--data-only fills tables that exist, and there are none: create them, or build with \
             --tables-only first"
                .to_owned(),
        )),
        (Data::Unmarked, BuildPart::Rows) if !keeps_marks(opened) => Err(Error::Usage(
            "--data-only needs tables with transactions: a build that stops would begin with new \
             tables"
                .to_owned(),
        )),
        (Data::Unmarked, BuildPart::Rows) => {
            parts::are_empty(&mut AdminSession::at(opened.database.as_ref())?, opened)
        }
        (Data::Unmarked, BuildPart::All | BuildPart::Tables) => {
            let there = unmarked(&mut AdminSession::at(opened.database.as_ref())?, opened)?;
            let data = opened.workload.identity().workload;
            Err(Error::Failed(format!(
                "dbdyno did not build the existing tables ({}; no dbdyno_meta), so it builds \
                 nothing here: name another database with --target, fill empty tables with \
                 --data-only, or load the rows of 'dbdyno datagen {}' into them and begin with \
                 'dbdyno run'",
                there.join(", "),
                workloads::by_data(&data).map_or(data.as_str(), |entry| entry.name)
            )))
        }
    }
}

/// Fails if the existing data were built with another seed than `wanted`; `None` accepts any.
fn has_seed(opened: &Opened, wanted: Option<u64>) -> Result<(), Error> {
    let has = opened.workload.identity().seed;
    match wanted.filter(|wanted| *wanted != has) {
        None => Ok(()),
        Some(wanted) => Err(Error::Failed(format!(
            "the data were begun with seed {has}, not {wanted}; omit the seed to resume with \
             {has}, or drop the data first"
        ))),
    }
}

/// A build in progress, with the lock that excludes other builds and the session for tables and
/// indexes.
struct Builder<'b> {
    opened: &'b Opened,
    population: &'b dyn Population,
    is_stopped: &'b (dyn Fn() -> bool + Sync),
    lock: HeldLock,
    /// Session for tables and indexes; `None` while the only loader uses the one session that the
    /// server allows.
    session: Option<AdminSession>,
    /// True if the server allows only one session at a time.
    has_one_session: bool,
    n_reconnects: u64,
    /// True if a chunk's rows and the mark that it is loaded are still both there or both missing
    /// after a lost connection or a server crash. If not, the build cannot resume.
    keeps_marks: bool,
    log: Arc<BuildLog>,
    /// Seconds spent on table statistics (`ANALYZE`).
    analyse_seconds: f64,
}

fn overtaken() -> Error {
    let why = "another dbdyno process has built or dropped data here in the meantime: run the \
               command again";
    Error::Failed(why.to_owned())
}

impl<'b> Builder<'b> {
    /// Takes the build lock, and records in `dbdyno_meta`, which it creates if needed, that a build
    /// has begun. Fails if another process has built or dropped the data meanwhile.
    fn at(
        opened: &'b Opened,
        population: &'b dyn Population,
        log: &Arc<BuildLog>,
        is_stopped: &'b (dyn Fn() -> bool + Sync),
    ) -> Result<Builder<'b>, Error> {
        let database = opened.database.as_ref();
        let mut lock = HeldLock::of_build(database, A_MOMENT, is_stopped)?;
        let (mut session, has_one_session) = lock.session_beside(database)?;
        let workload = opened.workload.as_ref();
        storage_engine::is_on_server(&mut session, database, workload)?;
        let identity = opened.workload.identity();
        let found_table = session.has_table(meta::NAME)?;
        let found = meta::read(&mut session, &identity.workload)?;
        match opened.data {
            Data::Absent | Data::Unmarked if found == Found::Nothing => {
                if let Some(clash) = clash(&mut session, opened.workload.as_ref())? {
                    return Err(Error::Failed(format!("the database {}", clash.sentence())));
                }
                let begun = meta::begin(&mut session, database, &identity);
                // Databases without such locks let two builds start at once.
                if begun.is_err() && found_table != session.has_table(meta::NAME)? {
                    return Err(overtaken());
                }
                begun?;
            }
            Data::Unfinished if matches!(found, Found::Unfinished(_)) => {}
            _ => return Err(overtaken()),
        }
        Ok(Builder {
            opened,
            population,
            is_stopped,
            lock,
            session: Some(session),
            has_one_session,
            n_reconnects: 0,
            keeps_marks: keeps_marks(opened),
            log: Arc::clone(log),
            analyse_seconds: 0.0,
        })
    }

    /// Creates the missing tables, and returns the chunks that still have to be loaded.
    fn prepare(&mut self, progress: &mut dyn FnMut(&Progress)) -> Result<Work, Error> {
        let (opened, population, is_stopped) = (self.opened, self.population, self.is_stopped);
        let log = Arc::clone(&self.log);
        self.surely(&mut |session, _| {
            let mut doing = Doing { is_stopped, progress };
            prepare(session, opened, population, &log, &mut doing)
        })
    }

    /// Creates the tables and loads their rows. If a server crash loses chunks after their commit,
    /// finds these chunks by their missing marks and loads them again.
    fn load_all(
        &mut self,
        built: &mut Built,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Work, Error> {
        let (opened, population) = (self.opened, self.population);
        if opened.data == Data::Unfinished && !self.keeps_marks {
            // The marks of a dropped table are removed too.
            let database = opened.database.as_ref();
            self.surely(&mut |session, _| drop_tables(session, database, population).map(drop))?;
            built.was_dropped = true;
        }
        let mut work = self.prepare(progress)?;
        built.n_rows_before = work.n_rows_before;
        for _ in 0..PASSES {
            if self.has_one_session {
                (built.loaders, self.session) = (1, None);
            }
            load_once(opened, population, &work, built, self.is_stopped, progress)?;
            built.reconnects += work.n_reconnects.load(Ordering::Relaxed);
            if let Some(why) = work.bulk_refused() {
                (built.method, built.bulk_refused) = (LoadMethod::Insert, Some(why));
            }
            self.lock.renew(opened.database.as_ref(), self.is_stopped)?;
            let left = self.prepare(progress)?;
            if left.chunks.is_empty() {
                built.n_rows = work.n_rows_done.load(Ordering::Relaxed) - built.n_rows_before;
                return Ok(work);
            }
            work = left;
        }
        let why = "the server repeatedly loses acknowledged rows: see its log";
        Err(Error::Failed(format!("{why}; {}", what_remains(opened))))
    }

    /// Creates the secondary indexes and table statistics, and marks the build as complete in
    /// `dbdyno_meta`.
    fn finish(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        self.create_indexes(progress)?;
        let administration = *self.opened.database.administration();
        let analysing = wall_clock::now();
        let tables = self.population.tables();
        let steps = Steps::begin("statistics", tables.len());
        if let Some(sql) = administration.after_all.filter(|_| tables.len() >= MANY) {
            progress(steps.named("statistics"));
            self.surely(&mut |session, _| session.write(sql))?;
        } else {
            for (nth, table) in tables.iter().enumerate() {
                if tables.len() >= MANY {
                    self.may_go_on("before the statistics")?;
                    progress(steps.at(nth));
                } else {
                    progress(steps.named("statistics"));
                }
                for sql in &(administration.after_load)(table) {
                    self.surely(&mut |session, _| session.write(sql))?;
                }
            }
        }
        self.analyse_seconds = analysing.elapsed().as_secs_f64();
        let workload = self.opened.workload.identity().workload;
        self.surely(&mut |session, _| meta::complete(session, &workload))
    }

    /// Fails if a stop was requested; `when` says before what.
    fn may_go_on(&self, when: &str) -> Result<(), Error> {
        let remains = what_remains(self.opened);
        match (self.is_stopped)() {
            true => Err(Error::Interrupted(format!("interrupted {when}; {remains}"))),
            false => Ok(()),
        }
    }

    /// Creates the secondary indexes that do not exist yet, several in one transaction if DDL is
    /// transactional and there are many.
    fn create_indexes(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        let database = &self.opened.database;
        let (dialect, administration) = (*database.dialect(), *database.administration());
        let done: HashSet<String> = self.surely(&mut |session, _| meta::read_done(session))?;
        let mut left = Vec::new();
        for table in self.population.tables() {
            for (number, index) in table.indexes.iter().enumerate() {
                let mark = meta::done_name(&format!("{}.index", table.name), number as u64);
                let is_made =
                    !administration.indexes_after_load || dialect.is_made_with(table, index);
                if !is_made && !done.contains(&mark) {
                    left.push((&*index.name, dialect.create_index(table, index), mark));
                }
            }
        }
        self.surely(&mut |session, _| begin_many(session, &administration, left.len()))?;
        let steps = Steps::begin("index", left.len());
        let groups = administration.tables_in_transactions && left.len() >= MANY;
        let at_once = if groups { AT_ONCE } else { 1 };
        let is_resumed = self.opened.data == Data::Unfinished;
        for (nth, group) in left.chunks(at_once).enumerate() {
            self.may_go_on("before the indexes")?;
            progress(match left.len() >= MANY {
                true => steps.at(nth * at_once),
                false => steps.named(&format!("index {}", group[0].0)),
            });
            self.surely(&mut |session, is_again| {
                let may_be_there = is_again || is_resumed;
                let mut create = |session: &mut AdminSession| {
                    let mut each = group.iter();
                    each.try_for_each(|(_, sql, mark)| {
                        create_index(session, &administration, sql, mark, may_be_there)
                    })
                };
                match administration.tables_in_transactions {
                    true => session.whole(&mut create),
                    false => create(session),
                }
            })?;
        }
        Ok(())
    }

    /// Runs `work` on the build's session. If the connection is lost and the data survive that,
    /// reconnects and runs `work` again, with `true` as second argument in every repetition.
    fn surely<T>(
        &mut self,
        work: &mut dyn FnMut(&mut AdminSession, bool) -> Result<T, DbError>,
    ) -> Result<T, Error> {
        let connect = &mut || AdminSession::at(self.opened.database.as_ref());
        let mut session = match self.session.take() {
            Some(session) => session,
            None => {
                let lost = || self.n_reconnects += 1;
                let connected = connect_within(self.keeps_marks, self.is_stopped, connect, lost);
                connected.map_err(|db_error| self.stopped(db_error))?
            }
        };
        let mut done = work(&mut session, false);
        for _ in 1..ATTEMPTS {
            match done {
                Err(lost) if lost.kind.breaks_session() && self.keeps_marks => {
                    let again = connect_again(lost, self.is_stopped, connect);
                    session = again.map_err(|db_error| self.stopped(db_error))?;
                    self.n_reconnects += 1;
                    done = work(&mut session, true);
                }
                _ => break,
            }
        }
        self.session = Some(session);
        done.map_err(|db_error| self.stopped(db_error))
    }

    fn stopped(&self, db_error: DbError) -> Error {
        match (self.is_stopped)() {
            true => Error::Interrupted(interrupted(self.opened)),
            false => stopped_by(&db_error, self.opened),
        }
    }
}

fn stopped_by(db_error: &DbError, opened: &Opened) -> Error {
    Error::Failed(format!("the build stopped: {db_error}; {}", what_remains(opened)))
}

/// Returns the end of an error message, which says that the same command resumes the interrupted
/// build, or begins it again.
fn what_remains(opened: &Opened) -> &'static str {
    match opened.is_kept {
        true if keeps_marks(opened) => "the same command resumes it",
        true => "the same command begins again with empty tables",
        false => "nothing was kept",
    }
}

/// Returns true if the tables' storage engine commits the rows of a chunk together with the mark
/// that the chunk is loaded, so that the marks are right even after a crash.
fn keeps_marks(opened: &Opened) -> bool {
    let engine = storage_engine::asked(opened.database.dialect(), opened.workload.as_ref());
    engine.is_none_or(|engine| engine.keeps_marks())
}

/// Builds the data of a workload as [`build`] does, but returns early with `Error::Interrupted`
/// when a stop is requested.
pub fn build_interruptible(
    opened: &Opened,
    options: BuildOptions,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    build_logged(opened, options, &Arc::new(BuildLog::begin()), stop, progress)
}

/// Builds the data of a workload as [`build_interruptible`] does, and records the progress in
/// `log`.
pub(crate) fn build_logged(
    opened: &Opened,
    options: BuildOptions,
    log: &Arc<BuildLog>,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    let (opened, word, log) = (opened.clone(), Arc::clone(stop), Arc::clone(log));
    let interrupted = interrupted(&opened);
    run_interruptible_with_progress(stop, &interrupted, progress, move |tell| {
        build_into(&opened, options, &log, &|| word.is_asked(), tell)
    })
}

fn interrupted(opened: &Opened) -> String {
    format!("{INTERRUPTED}; {}", what_remains(opened))
}

pub(crate) fn n_loaders(opened: &Opened, options: BuildOptions) -> usize {
    let cores = || thread::available_parallelism().map_or(1, |n| n.get());
    match (options.loaders, opened.database.administration().parallel_load) {
        (_, false) => 1,
        (0, true) => cores().max(LOADERS_LEAST),
        (n, true) => n,
    }
}

/// Results of building the same rows twice, by INSERT and by bulk loading.
#[derive(Clone, Debug, PartialEq)]
pub struct Both {
    /// Result of the build by INSERT, whose tables were dropped afterwards.
    pub insert: Built,
    pub bulk: Built,
    /// Names of the tables whose checksums differ between the two builds.
    pub different: Vec<String>,
}

impl Both {
    /// Returns the duration of the build by INSERT divided by that of the bulk build, both with
    /// indexes.
    pub fn ratio(&self) -> f64 {
        self.insert.seconds / self.bulk.seconds.max(1e-9)
    }

    /// Returns the time to load rows by INSERT divided by the time to load them in bulk, both
    /// without indexes and statistics.
    pub fn load_ratio(&self) -> f64 {
        let [insert, bulk] =
            [&self.insert, &self.bulk].map(|built| built.seconds - built.index_seconds);
        insert / bulk.max(1e-9)
    }
}

/// Builds the data by INSERT, drops the tables, builds the data in bulk, and compares the
/// checksums. `make` executes a build with the given method. Fails if the tables exist already.
pub fn build_both(
    opened: &Opened,
    stop: &Arc<Stop>,
    make: &mut dyn FnMut(LoadMethod) -> Result<Built, Error>,
) -> Result<Both, Error> {
    if !matches!(opened.data, Data::Absent | Data::None) {
        let why = "to compare load methods the tables must not exist yet: drop them first";
        return Err(Error::Failed(why.to_owned()));
    }
    let insert = make(LoadMethod::Insert)?;
    let insert_sums = checksums_interruptible(opened, stop)?;
    drop_data(opened, false)?;
    let bulk = make(LoadMethod::Bulk)?;
    let bulk_sums = checksums_interruptible(opened, stop)?;
    let pairs = insert_sums.iter().zip(&bulk_sums).filter(|(one, other)| one != other);
    let different = pairs.map(|(one, _)| one.table.clone()).collect();
    Ok(Both { insert, bulk, different })
}

fn load_once(
    opened: &Opened,
    population: &dyn Population,
    work: &Work,
    built: &Built,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), Error> {
    let database = opened.database.as_ref();
    let (n_loaders, method) = (built.loaders, built.method);
    let began = wall_clock::now();
    let (tell, hear) = channel::<Result<(), DbError>>();
    let doing = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..n_loaders {
            let (tell, doing) = (tell.clone(), &doing);
            scope.spawn(move || {
                let loaded = load_chunks(database, population, method, work, doing, is_stopped);
                // The receiver outlives all loaders.
                let _ = tell.send(loaded);
            });
        }
        drop(tell);
        let mut first_db_error = None;
        loop {
            match hear.recv_timeout(Duration::from_millis(200)) {
                Ok(Ok(())) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Err(db_error)) => {
                    work.next.store(usize::MAX / 2, Ordering::Relaxed);
                    first_db_error.get_or_insert(db_error);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let table = population.tables().get(doing.load(Ordering::Relaxed));
            progress(&far(work, table.map_or("", |table| &*table.name), began));
        }
        match first_db_error {
            Some(db_error) => Err(stopped_by(&db_error, opened)),
            None if is_stopped() => Err(Error::Interrupted(interrupted(opened))),
            None => Ok(()),
        }
    })
}

fn far(work: &Work, doing: &str, began: Instant) -> Progress {
    let n_rows = work.n_rows_done.load(Ordering::Relaxed);
    let seconds = began.elapsed().as_secs_f64();
    let rows_per_s = (n_rows - work.n_rows_before) as f64 / seconds.max(1e-3);
    let left = work.n_rows_total.saturating_sub(n_rows) as f64 / rows_per_s;
    Progress {
        doing: doing.to_owned(),
        n_rows,
        n_rows_total: work.n_rows_total,
        rows_per_s,
        left_s: left.is_finite().then_some(left),
    }
}

/// Creates an index, and marks it as built in `dbdyno_meta`. `may_be_there` says that an earlier
/// attempt may have created the index; if so, an existing index or mark is no error.
fn create_index(
    session: &mut AdminSession,
    administration: &Administration,
    sql: &str,
    mark: &str,
    may_be_there: bool,
) -> Result<(), DbError> {
    if may_be_there && meta::is_done(session, mark)? {
        return Ok(());
    }
    match session.write(sql) {
        // A transaction would have to be rolled back, and has created index and mark together.
        Err(no) if administration.tables_in_transactions => return Err(no),
        Err(no) if may_be_there && no.kind == DbErrorKind::Exists => {}
        made => drop(made?),
    }
    meta::mark(session, mark, "index")
}
