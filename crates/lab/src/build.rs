//! Building a workload's data: tables, rows in parallel, indexes; and dropping them.
//!
//! A chunk and its mark in `dbdyno_meta` are one transaction, so an interrupted build goes on
//! with the first chunk that is not marked. Not here: which rows (workloads).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::Stop;
use model::{
    ColumnType, Database, Dialect, Index, Population, Refusal, RefusalKind, Value, Workload,
    format_count,
};

use crate::Trouble;
use crate::check::describe_row;
use crate::desk::Desk;
use crate::heard::{heard, quietly};
pub use crate::load::LoadMethod;
use crate::load::load_chunks;
use crate::meta::{self, Found};
use crate::open::{Data, Opened};
use crate::wall;

const INTERRUPTED: &str = "the build was interrupted";
/// What is said of a build that was not ended: chunks are marked in the transaction that builds
/// them.
pub(crate) const GOES_ON: &str = "the same command goes on where it stopped";

/// How a build is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// Sessions that load at once; 0 is as many as cores and at least four, where the database
    /// can.
    pub loaders: usize,
    /// How rows get into the tables.
    pub method: LoadMethod,
}

/// A server waits for its disk while another loader keeps its CPU busy.
const LOADERS_LEAST: usize = 4;

/// How often chunks are loaded that a crash of the server took back.
const PASSES: u32 = 5;

/// How far a build is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done: a table's name, or `indexes`.
    pub doing: String,
    /// Rows built so far, those of earlier attempts among them.
    pub n_rows: u64,
    /// Rows in all.
    pub n_rows_total: u64,
    /// Rows a second in this build.
    pub rows_per_s: f64,
    /// Seconds until the rows are there, at this rate.
    pub left_s: Option<f64>,
}

/// What came of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// What was found before.
    pub found: Data,
    /// Rows that this build added.
    pub n_rows: u64,
    /// Rows that were there from an interrupted build.
    pub n_rows_before: u64,
    /// How long it took.
    pub seconds: f64,
    /// Of which for secondary indexes, and whatever else comes after the rows.
    pub index_seconds: f64,
    /// How rows got into the tables.
    pub method: LoadMethod,
    /// Sessions that loaded at once.
    pub loaders: usize,
    /// Connections that were lost and made anew.
    pub reconnects: u64,
}

impl Built {
    /// Nothing done yet.
    fn of(opened: &Opened, options: BuildOptions) -> Built {
        Built {
            found: opened.data,
            n_rows: 0,
            n_rows_before: 0,
            seconds: 0.0,
            index_seconds: 0.0,
            method: options.method,
            loaders: n_loaders(opened, options),
            reconnects: 0,
        }
    }

    /// A sentence about it.
    pub fn sentence(&self) -> String {
        let rows = format_count(self.n_rows);
        let method = self.method.name();
        let loaders = match self.loaders {
            1 => "1 loader".to_owned(),
            n => format!("{n} loaders"),
        };
        let lost = match self.reconnects {
            0 => String::new(),
            n => format!("; {n} lost connections were made anew"),
        };
        match self.found {
            Data::Built => "the data are there already: nothing to build".to_owned(),
            Data::Unfinished => format!(
                "went on with an interrupted build: {} rows were there, {rows} added in {:.1} s \
                 by {method} with {loaders}{lost}",
                format_count(self.n_rows_before),
                self.seconds
            ),
            _ => format!(
                "built {rows} rows in {:.1} s ({} rows/s) by {method} with {loaders}, of which \
                 {:.1} s for indexes{lost}",
                self.seconds,
                format_count((self.n_rows as f64 / self.seconds.max(1e-9)) as u64),
                self.index_seconds
            ),
        }
    }
}

/// Builds what is not there yet.
pub fn build(
    opened: &Opened,
    options: BuildOptions,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Trouble> {
    let began = wall::now();
    let Some(population) = opened.workload.population() else {
        return Err(Trouble::Usage("this workload has no data to build".to_owned()));
    };
    match opened.data {
        Data::Built | Data::None => return Ok(Built::of(opened, options)),
        Data::Unmarked => {
            return Err(Trouble::Failed(
                "tables of this workload are there, but no dbdyno_meta tells what is in them; \
                 use another target, or drop them with --force"
                    .to_owned(),
            ));
        }
        Data::Absent | Data::Unfinished => {}
    }
    let mut desk = Desk::at(opened.database.as_ref())?;
    if opened.data == Data::Absent {
        meta::begin(&mut desk, opened.database.as_ref(), &opened.workload.identity())?;
    }
    let mut built = Built::of(opened, options);
    let work = load_all(&mut desk, opened, population, &mut built, is_stopped, progress)?;
    let indexing = wall::now();
    create_indexes(&mut desk, opened, population, is_stopped, &mut |name| {
        progress(&Progress {
            doing: format!("index {name}"),
            n_rows: work.n_rows_done.load(Ordering::Relaxed),
            n_rows_total: work.n_rows_total,
            rows_per_s: 0.0,
            left_s: None,
        });
    })?;
    for sql in population.tables().iter().flat_map(opened.database.dialect().after_load) {
        desk.write(&sql)?;
    }
    meta::complete(&mut desk)?;
    built.index_seconds = indexing.elapsed().as_secs_f64();
    built.seconds = began.elapsed().as_secs_f64();
    Ok(built)
}

/// Creates the tables and fills them, again where a crash of the server took back what it had
/// acknowledged. Leaves the number of rows in `built`, and a connection that lives in `desk`.
fn load_all(
    desk: &mut Desk,
    opened: &Opened,
    population: &dyn Population,
    built: &mut Built,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Work, Trouble> {
    let mut work = prepare(desk, opened, population)?;
    built.n_rows_before = work.n_rows_before;
    for _ in 0..PASSES {
        load_once(opened, population, &work, built, is_stopped, progress)?;
        built.reconnects += work.n_reconnects.load(Ordering::Relaxed);
        // The first one may have been lost meanwhile, as those of the loaders.
        *desk = Desk::at(opened.database.as_ref())?;
        let left = prepare(desk, opened, population)?;
        if left.chunks.is_empty() {
            built.n_rows = work.n_rows_done.load(Ordering::Relaxed) - built.n_rows_before;
            return Ok(work);
        }
        work = left;
    }
    let why = "the server loses what it has acknowledged, again and again: see its log";
    Err(Trouble::Failed(format!("{why}; {GOES_ON}")))
}

/// [`build`], with an ear for whoever asks to stop.
pub fn build_heard(
    opened: &Opened,
    options: BuildOptions,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Trouble> {
    let (opened, word) = (opened.clone(), Arc::clone(stop));
    heard(stop, &interrupted(), progress, move |tell| {
        build(&opened, options, &|| word.is_asked(), tell)
    })
}

fn interrupted() -> String {
    format!("{INTERRUPTED}; {GOES_ON}")
}

fn n_loaders(opened: &Opened, options: BuildOptions) -> usize {
    let cores = || thread::available_parallelism().map_or(1, |n| n.get());
    match (options.loaders, opened.database.dialect().parallel_load) {
        (_, false) => 1,
        (0, true) => cores().max(LOADERS_LEAST),
        (n, true) => n,
    }
}

/// A build by INSERTs and one in bulk, of the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Both {
    /// The one by INSERTs; its tables were dropped again.
    pub insert: Built,
    /// The one in bulk.
    pub bulk: Built,
    /// The tables whose checksums are not the same.
    pub different: Vec<String>,
}

impl Both {
    /// The time of the INSERTs in terms of that of the bulk load, each with its indexes.
    pub fn ratio(&self) -> f64 {
        self.insert.seconds / self.bulk.seconds.max(1e-9)
    }
}

/// Builds by INSERTs, drops that, builds in bulk, and holds the two against each other.
pub fn build_both(
    opened: &Opened,
    loaders: usize,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Both, Trouble> {
    if !matches!(opened.data, Data::Absent | Data::None) {
        let why = "to compare load methods the tables must not be there yet: drop them first";
        return Err(Trouble::Failed(why.to_owned()));
    }
    let options = |method| BuildOptions { loaders, method };
    let insert = build_heard(opened, options(LoadMethod::Insert), stop, progress)?;
    let of_insert = checksums_heard(opened, stop)?;
    drop_data(opened, false)?;
    let bulk = build_heard(opened, options(LoadMethod::Bulk), stop, progress)?;
    let of_bulk = checksums_heard(opened, stop)?;
    let pairs = of_insert.iter().zip(&of_bulk).filter(|(one, other)| one != other);
    let different = pairs.map(|(one, _)| one.table.clone()).collect();
    Ok(Both { insert, bulk, different })
}

/// What is left to be loaded.
pub(crate) struct Work {
    /// Table and chunk, in order.
    pub(crate) chunks: Vec<(usize, u64)>,
    pub(crate) next: AtomicUsize,
    n_rows_total: u64,
    n_rows_before: u64,
    pub(crate) n_rows_done: AtomicU64,
    pub(crate) n_reconnects: AtomicU64,
}

/// Creates the tables that are not there, and finds what is left to do.
fn prepare(desk: &mut Desk, opened: &Opened, population: &dyn Population) -> Result<Work, Trouble> {
    let database = opened.database.as_ref();
    let mut done: HashSet<String> = meta::read_done(desk)?.into_iter().collect();
    let mut chunks = Vec::new();
    let (mut n_rows_total, mut n_rows_before) = (0, 0);
    for (index, table) in population.tables().iter().enumerate() {
        if !desk.has_table(&table.name)? {
            // It was there once, and somebody dropped it: its marks tell nothing any more.
            let n_before = done.len();
            done.retain(|name| !name.starts_with(&format!("done.{}.", table.name)));
            if done.len() < n_before {
                meta::forget_done(desk, &table.name)?;
            }
            create_table(desk, database.dialect(), population, index)?;
            if !database.dialect().indexes_after_load {
                let inline = |index: &&Index| !database.dialect().is_made_with(table, index);
                for index in table.indexes.iter().filter(inline) {
                    desk.write(&database.dialect().create_index(table, index))?;
                }
            }
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
    })
}

/// Creates a table, whole or in the parts that its workload asks for.
fn create_table(
    desk: &mut Desk,
    dialect: &Dialect,
    population: &dyn Population,
    index: usize,
) -> Result<(), Refusal> {
    desk.write(&definition(dialect, population, index)).map(drop)
}

/// How a table is created.
pub(crate) fn definition(dialect: &Dialect, population: &dyn Population, index: usize) -> String {
    let table = &population.tables()[index];
    match population.partitions(index) {
        None => dialect.create_table(table),
        Some((column, count)) => dialect.create_partitioned(table, column, count),
    }
}

/// Puts the workload's routines into the database: those that are not there, or not as this
/// dbdyno writes them. Without `dbdyno_meta` nobody knows, and all are made anew. Returns how
/// many were made.
pub fn install_routines(opened: &Opened) -> Result<usize, Trouble> {
    let routines = opened.workload.routines(opened.database.dialect());
    if routines.is_empty() {
        return Ok(0);
    }
    let mut desk = Desk::at(opened.database.as_ref())?;
    let has_meta = meta::read(&mut desk)? != Found::Nothing;
    let known = if has_meta { meta::read_routines(&mut desk)? } else { Vec::new() };
    let mut n_made = 0;
    for routine in &routines {
        let hash = format!("{:016x}", fnv1a(routine.create.join(";").as_bytes()));
        if known.iter().any(|(name, has)| name == routine.name && *has == hash) {
            continue;
        }
        for sql in &routine.create {
            let made = desk.write(sql);
            made.map_err(|no| no.during(format_args!("routine {}", routine.name)))?;
        }
        if has_meta {
            meta::write_routine(&mut desk, opened.database.dialect(), routine.name, &hash)?;
        }
        n_made += 1;
    }
    Ok(n_made)
}

fn load_once(
    opened: &Opened,
    population: &dyn Population,
    work: &Work,
    built: &Built,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), Trouble> {
    let database = opened.database.as_ref();
    let (n_loaders, method) = (built.loaders, built.method);
    let began = wall::now();
    let (tell, hear) = channel::<Result<(), Refusal>>();
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
        let mut first_refusal = None;
        loop {
            match hear.recv_timeout(Duration::from_millis(200)) {
                Ok(Ok(())) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Err(refusal)) => {
                    work.next.store(usize::MAX / 2, Ordering::Relaxed);
                    first_refusal.get_or_insert(refusal);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let table = population.tables().get(doing.load(Ordering::Relaxed));
            progress(&far(work, table.map_or("", |table| &*table.name), began));
        }
        match first_refusal {
            Some(refusal) => {
                Err(Trouble::Failed(format!("the build stopped: {refusal}; {GOES_ON}")))
            }
            None if is_stopped() => Err(Trouble::Interrupted(interrupted())),
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

fn create_indexes(
    desk: &mut Desk,
    opened: &Opened,
    population: &dyn Population,
    is_stopped: &(dyn Fn() -> bool + Sync),
    doing: &mut dyn FnMut(&str),
) -> Result<(), Trouble> {
    let dialect = opened.database.dialect();
    if !dialect.indexes_after_load {
        return Ok(());
    }
    let done: HashSet<String> = meta::read_done(desk)?.into_iter().collect();
    let mark = desk.prepare(dialect.insert(&meta::table()))?;
    for table in population.tables() {
        for (number, index) in table.indexes.iter().enumerate() {
            let name = meta::done_name(&format!("{}.index", table.name), number as u64);
            if done.contains(&name) || dialect.is_made_with(table, index) {
                continue;
            }
            if is_stopped() {
                return Err(Trouble::Interrupted(
                    "interrupted before the indexes; the same command goes on there".to_owned(),
                ));
            }
            doing(&index.name);
            desk.write(&dialect.create_index(table, index))?;
            desk.execute(mark, &[Value::Text(&name), Value::Text("index")])?;
        }
    }
    Ok(())
}

/// Drops a workload's tables, and what tells about them. Returns their names.
pub fn drop_data(opened: &Opened, force: bool) -> Result<Vec<String>, Trouble> {
    let mut desk = Desk::at(opened.database.as_ref())?;
    let found = meta::read(&mut desk)?;
    if found == Found::Nothing && opened.data == Data::Unmarked && !force {
        return Err(Trouble::Failed(
            "the tables were not built by dbdyno (no dbdyno_meta): drop them with --force"
                .to_owned(),
        ));
    }
    let mut known = None;
    if found != Found::Nothing {
        known = Some(meta::read_routines(&mut desk)?);
        // Where this is interrupted, what is left is known to be a part.
        meta::undo_complete(&mut desk)?;
    }
    let mut dropped = Vec::new();
    let tables = opened.workload.population().map(|population| population.tables());
    for table in tables.unwrap_or_default() {
        match desk.write(&format!("DROP TABLE {}", table.name)) {
            Ok(_) => dropped.push(table.name.to_string()),
            Err(refusal) if refusal.kind == RefusalKind::Missing => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    for routine in opened.workload.routines_ever(opened.database.dialect()) {
        // To drop one that was never made may take a right that the user has not.
        let is_there =
            |known: &Vec<(String, String)>| known.iter().any(|(name, _)| name == routine.name);
        if known.as_ref().is_none_or(is_there) {
            desk.write(&routine.drop)?;
        }
    }
    if found != Found::Nothing {
        meta::drop_table(&mut desk)?;
    }
    Ok(dropped)
}

/// A table's checksum: the sum over its rows of a hash of their values, so that neither the
/// order of rows nor the way they were built matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The table.
    pub table: String,
    /// Its rows.
    pub n_rows: u64,
    /// The sum.
    pub sum: u64,
}

/// The checksums of all tables of a workload.
pub fn checksums(
    database: &dyn Database,
    workload: &dyn Workload,
) -> Result<Vec<Checksum>, Trouble> {
    let mut desk = Desk::at(database)?;
    let tables = workload.population().map(|population| population.tables());
    let mut sums = Vec::new();
    for table in tables.unwrap_or_default() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let mut checksum = Checksum { table: table.name.to_string(), n_rows: 0, sum: 0 };
        let columns: Vec<ColumnType> = table.columns.iter().map(|column| column.of).collect();
        let mut text = String::new();
        desk.read(&format!("SELECT {} FROM {}", names.join(", "), table.name), &mut |row| {
            text.clear();
            describe_row(row, &columns, &mut text)?;
            checksum.n_rows += 1;
            checksum.sum = checksum.sum.wrapping_add(fnv1a(text.as_bytes()));
            Ok(())
        })?;
        sums.push(checksum);
    }
    Ok(sums)
}

/// [`checksums`], with an ear for whoever asks to stop.
pub fn checksums_heard(opened: &Opened, stop: &Stop) -> Result<Vec<Checksum>, Trouble> {
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    quietly(stop, "interrupted while checksums were made", move || {
        checksums(database.as_ref(), workload.as_ref())
    })
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): stable for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}
