//! Building a workload's data: tables, rows in parallel, indexes; and dropping them.
//!
//! A chunk and its mark in `dbdyno_meta` are one transaction, so an interrupted build resumes with
//! the first unmarked chunk; if the storage engine does not keep the two together, it starts again
//! with empty tables. Not here: the rows (workloads).

mod checksums;
mod dropping;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use engine::Stop;
use model::{
    Administration, Choice, Database, DbError, DbErrorKind, Dialect, Index, Population,
    format_count,
};
use monitor::wall_clock;

pub use self::checksums::{Checksum, checksums, checksums_interruptible};
pub use self::dropping::{drop_data, unmarked_tables};
use self::dropping::{drop_tables, unmarked};
use crate::admin_session::AdminSession;
use crate::build_lock::{A_MOMENT, BuildLock, connect_again, connect_within};
use crate::build_log::BuildLog;
use crate::error::Error;
use crate::interruptible::run_interruptible_with_progress;
pub use crate::load::LoadMethod;
use crate::load::{ATTEMPTS, Work, load_chunks};
use crate::meta::{self, Found};
use crate::open::{Data, Opened, clash};
use crate::{added_key, storage_engine};

const INTERRUPTED: &str = "the build was interrupted";
/// Options of a build.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// Number of parallel loaders; 0 means one per core and at least four, if the database allows
    /// it.
    pub loaders: usize,
    pub method: LoadMethod,
    /// Seed that the data must have; `None` accepts existing data of any seed.
    pub seed: Option<u64>,
}

impl BuildOptions {
    pub(crate) fn method_name(&self) -> &'static str {
        self.method.name()
    }
}

/// Least loaders by default: while the server waits for its disk, another loader keeps its CPU
/// busy.
const LOADERS_LEAST: usize = 4;

/// Most passes that load chunks again which a crash of the server has lost.
const PASSES: u32 = 5;

/// Progress of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Current step: a table's name, or `indexes`.
    pub doing: String,
    /// Rows built so far, including those of earlier attempts.
    pub n_rows: u64,
    pub n_rows_total: u64,
    /// Rows per second of this build.
    pub rows_per_s: f64,
    /// Seconds until the rows are complete at this rate.
    pub left_s: Option<f64>,
}

/// Result of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// State of the data before the build.
    pub found: Data,
    /// Rows added by this build.
    pub n_rows: u64,
    /// Rows left by an interrupted build.
    pub n_rows_before: u64,
    /// Whether the tables of an interrupted build were emptied first.
    pub is_emptied: bool,
    /// Duration of the build in seconds.
    pub seconds: f64,
    /// Seconds for secondary indexes, and everything else after the rows.
    pub index_seconds: f64,
    /// Seconds for statistics of the tables, included in `index_seconds`.
    pub analyse_seconds: f64,
    pub method: LoadMethod,
    /// Number of parallel loaders.
    pub loaders: usize,
    pub reconnects: u64,
    /// Error message of the server that made the build insert rows instead of loading them in bulk.
    pub bulk_refused: Option<String>,
}

impl Built {
    fn from_opened(opened: &Opened, options: BuildOptions) -> Built {
        Built {
            found: opened.data,
            n_rows: 0,
            n_rows_before: 0,
            is_emptied: false,
            seconds: 0.0,
            index_seconds: 0.0,
            analyse_seconds: 0.0,
            method: options.method,
            loaders: n_loaders(opened, options),
            reconnects: 0,
            bulk_refused: None,
        }
    }

    /// Describes the result in a sentence.
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
            Data::Unfinished if !self.is_emptied => format!(
                "resumed an interrupted build: about {} rows existed, {rows} added in {:.1} s \
                 by {method} with {loaders}{lost}{refused}",
                format_count(self.n_rows_before),
                self.seconds
            ),
            _ => format!(
                "{}built {rows} rows in {:.1} s ({} rows/s) by {method} with {loaders}, of which \
                 {:.1} s for indexes and {:.1} s for statistics{lost}{refused}",
                if self.is_emptied { "emptied the tables of an interrupted build; " } else { "" },
                self.seconds,
                format_count((self.n_rows as f64 / self.seconds.max(1e-9)) as u64),
                self.index_seconds - self.analyse_seconds,
                self.analyse_seconds
            ),
        }
    }
}

/// Builds the missing data of a workload.
pub fn build(
    opened: &Opened,
    options: BuildOptions,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    build_into(opened, options, &Arc::new(BuildLog::begin()), is_stopped, progress)
}

/// Builds missing data, and records the progress in `log`.
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
    match opened.data {
        Data::None => return Ok(Built::from_opened(opened, options)),
        Data::Unmarked => {
            let there = unmarked(&mut AdminSession::at(opened.database.as_ref())?, opened)?;
            return Err(Error::Failed(format!(
                "dbdyno did not build the existing tables ({}; no dbdyno_meta), so it builds \
                 nothing here: name another database with --target, or load the rows of 'dbdyno \
                 datagen {}' into them and begin with 'dbdyno run'",
                there.join(", "),
                opened.workload.identity().workload
            )));
        }
        Data::Built | Data::Unfinished => has_seed(opened, options.seed)?,
        Data::Absent => {}
    }
    let mut built = Built::from_opened(opened, options);
    if opened.data == Data::Built {
        return Ok(built);
    }
    let mut builder = Builder::at(opened, population, log, is_stopped)?;
    let work = builder.load_all(&mut built, progress)?;
    let indexing = wall_clock::now();
    builder.finish(&mut |doing| {
        progress(&Progress {
            doing: doing.to_owned(),
            n_rows: work.n_rows_done.load(Ordering::Relaxed),
            n_rows_total: work.n_rows_total,
            rows_per_s: 0.0,
            left_s: None,
        });
    })?;
    built.reconnects += builder.n_reconnects;
    built.index_seconds = indexing.elapsed().as_secs_f64();
    built.analyse_seconds = builder.analyse_seconds;
    built.seconds = began.elapsed().as_secs_f64();
    Ok(built)
}

/// Fails if the data have another seed than `wanted`.
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

/// State of a build, with the session for tables and indexes.
struct Builder<'b> {
    opened: &'b Opened,
    population: &'b dyn Population,
    is_stopped: &'b (dyn Fn() -> bool + Sync),
    lock: BuildLock,
    /// `None` while a loader uses the only session that the server allows.
    session: Option<AdminSession>,
    /// Whether the server allows us only one session.
    has_one_session: bool,
    n_reconnects: u64,
    /// Whether chunk marks remain true after a lost connection or a crash of the server.
    keeps_marks: bool,
    log: Arc<BuildLog>,
    /// Seconds spent on statistics of the tables.
    analyse_seconds: f64,
}

fn overtaken() -> Error {
    let why = "another dbdyno process has built or dropped data here in the meantime: run the \
               command again";
    Error::Failed(why.to_owned())
}

impl<'b> Builder<'b> {
    /// Takes the build lock, and creates `dbdyno_meta` if it does not exist.
    fn at(
        opened: &'b Opened,
        population: &'b dyn Population,
        log: &Arc<BuildLog>,
        is_stopped: &'b (dyn Fn() -> bool + Sync),
    ) -> Result<Builder<'b>, Error> {
        let database = opened.database.as_ref();
        let mut lock = BuildLock::at(database, A_MOMENT, is_stopped)?;
        let (mut session, has_one_session) = lock.session_beside(database)?;
        let workload = opened.workload.as_ref();
        storage_engine::is_on_server(&mut session, database, workload)?;
        let identity = opened.workload.identity();
        let found_table = session.has_table(meta::NAME)?;
        let found = meta::read(&mut session, &identity.workload)?;
        match opened.data {
            Data::Absent if found == Found::Nothing => {
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

    /// Creates and fills the tables. Repeats that if a crash of the server has lost acknowledged
    /// rows.
    fn load_all(
        &mut self,
        built: &mut Built,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Work, Error> {
        let (opened, population) = (self.opened, self.population);
        if opened.data == Data::Unfinished && !self.keeps_marks {
            // The marks of a dropped table are removed too.
            self.surely(&mut |session, _| drop_tables(session, population).map(drop))?;
            built.is_emptied = true;
        }
        let log = Arc::clone(&self.log);
        let mut work = self.surely(&mut |session, _| prepare(session, opened, population, &log))?;
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
            let left = self.surely(&mut |session, _| prepare(session, opened, population, &log))?;
            if left.chunks.is_empty() {
                built.n_rows = work.n_rows_done.load(Ordering::Relaxed) - built.n_rows_before;
                return Ok(work);
            }
            work = left;
        }
        let why = "the server repeatedly loses acknowledged rows: see its log";
        Err(Error::Failed(format!("{why}; {}", what_remains(opened))))
    }

    /// Completes the data after the rows: indexes, statistics, and the mark that the build is
    /// complete.
    fn finish(&mut self, doing: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let database = &self.opened.database;
        let (dialect, administration) = (database.dialect(), database.administration());
        let done: HashSet<String> = self.surely(&mut |session, _| meta::read_done(session))?;
        for table in self.population.tables() {
            for (number, index) in table.indexes.iter().enumerate() {
                let mark = meta::done_name(&format!("{}.index", table.name), number as u64);
                let is_made =
                    !administration.indexes_after_load || dialect.is_made_with(table, index);
                if is_made || done.contains(&mark) {
                    continue;
                }
                if (self.is_stopped)() {
                    let remains = what_remains(self.opened);
                    return Err(Error::Interrupted(format!(
                        "interrupted before the indexes; {remains}"
                    )));
                }
                doing(&format!("index {}", index.name));
                let sql = dialect.create_index(table, index);
                let is_resumed = self.opened.data == Data::Unfinished;
                self.surely(&mut |session, is_again| {
                    create_index(session, administration, &sql, &mark, is_again || is_resumed)
                })?;
            }
        }
        let analysing = wall_clock::now();
        for sql in self.population.tables().iter().flat_map(administration.after_load) {
            doing("statistics");
            self.surely(&mut |session, _| session.write(&sql))?;
        }
        self.analyse_seconds = analysing.elapsed().as_secs_f64();
        let workload = self.opened.workload.identity().workload;
        self.surely(&mut |session, _| meta::complete(session, &workload))
    }

    /// Runs `work`, again after a lost connection; its flag says whether it is a repetition.
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

/// Describes what an interrupted build leaves: chunks are marked in the transaction that builds
/// them.
fn what_remains(opened: &Opened) -> &'static str {
    match opened.is_kept {
        true if keeps_marks(opened) => "the same command resumes it",
        true => "the same command begins again with empty tables",
        false => "nothing was kept",
    }
}

/// Whether the storage engine keeps or loses rows and their marks together.
fn keeps_marks(opened: &Opened) -> bool {
    let engine = storage_engine::asked(opened.database.dialect(), opened.workload.as_ref());
    engine.is_none_or(|engine| engine.keeps_marks())
}

/// [`build`], interrupted by a stop.
pub fn build_interruptible(
    opened: &Opened,
    options: BuildOptions,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Error> {
    build_logged(opened, options, &Arc::new(BuildLog::begin()), stop, progress)
}

/// [`build_interruptible`] that records its progress in `log`.
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

/// Builds of the same rows by INSERT and in bulk.
#[derive(Clone, Debug, PartialEq)]
pub struct Both {
    /// The build by INSERT; its tables were dropped.
    pub insert: Built,
    pub bulk: Built,
    /// Tables with different checksums.
    pub different: Vec<String>,
}

impl Both {
    /// Duration by INSERT divided by the duration in bulk, both with indexes.
    pub fn ratio(&self) -> f64 {
        self.insert.seconds / self.bulk.seconds.max(1e-9)
    }

    /// The same ratio for rows only, without indexes and statistics.
    pub fn load_ratio(&self) -> f64 {
        let [insert, bulk] =
            [&self.insert, &self.bulk].map(|built| built.seconds - built.index_seconds);
        insert / bulk.max(1e-9)
    }
}

/// Builds by INSERT, drops the tables, builds in bulk, and compares the two. `make` builds with a
/// method.
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
    let of_insert = checksums_interruptible(opened, stop)?;
    drop_data(opened, false)?;
    let bulk = make(LoadMethod::Bulk)?;
    let of_bulk = checksums_interruptible(opened, stop)?;
    let pairs = of_insert.iter().zip(&of_bulk).filter(|(one, other)| one != other);
    let different = pairs.map(|(one, _)| one.table.clone()).collect();
    Ok(Both { insert, bulk, different })
}

/// Creates missing tables, and lists the work that is left.
fn prepare(
    session: &mut AdminSession,
    opened: &Opened,
    population: &dyn Population,
    log: &Arc<BuildLog>,
) -> Result<Work, DbError> {
    let database = opened.database.as_ref();
    let mut done = meta::read_done(session)?;
    let adds_keys = added_key::is_needed(session, database, population)?;
    let mut chunks = Vec::new();
    let (mut n_rows_total, mut n_rows_before) = (0, 0);
    for (index, table) in population.tables().iter().enumerate() {
        if !session.has_table(&table.name)? {
            // A user has dropped the table since: its marks are void.
            let n_before = done.len();
            done.retain(|name| !name.starts_with(&format!("done.{}.", table.name)));
            if done.len() < n_before {
                meta::forget_done(session, &table.name)?;
            }
            create_table(session, database, population, (index, adds_keys))?;
        }
        n_rows_total += population.n_rows(index);
        let n_chunks = population.n_chunks(index);
        let is_done = |chunk: &u64| done.contains(&meta::done_name(&table.name, *chunk));
        let n_done = (0..n_chunks).filter(is_done).count() as u64;
        n_rows_before += population.n_rows(index) * n_done / n_chunks.max(1);
        chunks.extend((0..n_chunks).filter(|chunk| !is_done(chunk)).map(|chunk| (index, chunk)));
    }
    let n_rows_done = AtomicU64::new(n_rows_before);
    Ok(Work {
        chunks,
        next: AtomicUsize::new(0),
        n_rows_total,
        n_rows_before,
        n_rows_done,
        n_reconnects: AtomicU64::new(0),
        keeps_marks: keeps_marks(opened),
        bulk_refused: Mutex::new(None),
        log: Arc::clone(log),
    })
}

/// Creates a table with its initial indexes, and with an additional key if `adds_keys`.
fn create_table(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
    (index, adds_keys): (usize, bool),
) -> Result<(), DbError> {
    let (dialect, administration) = (database.dialect(), database.administration());
    let table = &population.tables()[index];
    let has_now =
        |index: &&Index| !administration.indexes_after_load && !dialect.is_made_with(table, index);
    let all = || {
        let indexes = table.indexes.iter().filter(has_now);
        let indexes = indexes.map(|index| dialect.create_index(table, index));
        [definition(dialect, population, index, adds_keys)].into_iter().chain(indexes)
    };
    let mut create =
        |session: &mut AdminSession| all().try_for_each(|sql| session.write(&sql).map(drop));
    match administration.tables_in_transactions {
        true => session.whole(&mut create),
        false => create(session),
    }
}

/// SQL that creates a table; `adds_keys` adds a key to a table without one.
pub(crate) fn definition(
    dialect: &Dialect,
    population: &dyn Population,
    index: usize,
    adds_keys: bool,
) -> String {
    let mut table = Cow::Borrowed(&population.tables()[index]);
    if adds_keys {
        let split_by = population.partitions(index).map(|(column, _)| column);
        table = Cow::Owned(added_key::with_key(&table, split_by));
    }
    let table = table.as_ref();
    let asked = population.storage_engine().and_then(|name| dialect.engine(name));
    let dialect = &Dialect { storage_engine: asked.or(dialect.storage_engine), ..*dialect };
    match population.partitions(index) {
        None => dialect.create_table(table),
        Some((column, count)) => dialect.create_partitioned(table, column, count),
    }
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

/// Creates an index and marks it, atomically if the database can do that. Otherwise `may_be_there`
/// says that an unmarked index may exist.
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
    if administration.tables_in_transactions {
        return session.whole(&mut |session| {
            session.write(sql)?;
            meta::mark(session, mark, "index")
        });
    }
    match session.write(sql) {
        Err(no) if may_be_there && no.kind == DbErrorKind::Exists => {}
        made => drop(made?),
    }
    meta::mark(session, mark, "index")
}
