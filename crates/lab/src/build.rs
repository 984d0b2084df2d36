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
    Database, Dialect, Population, Refusal, RefusalKind, Request, RowSource, Value, Workload,
    format_count,
};

use crate::Trouble;
use crate::check::describe_row;
use crate::desk::Desk;
use crate::heard::heard;
use crate::meta::{self, Found};
use crate::open::{Data, Opened};
use crate::wall;

/// How often a chunk is tried again after a conflict.
const ATTEMPTS: u32 = 10;

/// Chunks are marked in the transaction that builds them.
const INTERRUPTED: &str = "the build was interrupted; the same command goes on where it stopped";

/// How a build is done.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Sessions that load at once; 0 lets the database decide.
    pub loaders: usize,
}

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
    /// Of which for secondary indexes.
    pub index_seconds: f64,
}

impl Built {
    /// A sentence about it.
    pub fn sentence(&self) -> String {
        let rows = format_count(self.n_rows);
        match self.found {
            Data::Built => "the data are there already: nothing to build".to_owned(),
            Data::Unfinished => format!(
                "went on with an interrupted build: {} rows were there, {rows} added in {:.1} s",
                format_count(self.n_rows_before),
                self.seconds
            ),
            _ => format!(
                "built {rows} rows in {:.1} s ({} rows/s), of which {:.1} s for indexes",
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
    let mut built =
        Built { found: opened.data, n_rows: 0, n_rows_before: 0, seconds: 0.0, index_seconds: 0.0 };
    match opened.data {
        Data::Built | Data::None => return Ok(built),
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
    let work = prepare(&mut desk, opened, population)?;
    built.n_rows_before = work.n_rows_before;
    load_all(opened, population, &work, options, is_stopped, progress)?;
    built.n_rows = work.n_rows_done.load(Ordering::Relaxed) - work.n_rows_before;
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
    meta::complete(&mut desk)?;
    built.index_seconds = indexing.elapsed().as_secs_f64();
    built.seconds = began.elapsed().as_secs_f64();
    Ok(built)
}

/// [`build`], with an ear for whoever asks to stop.
pub fn build_heard(
    opened: &Opened,
    options: BuildOptions,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Built, Trouble> {
    let (opened, word) = (opened.clone(), Arc::clone(stop));
    heard(stop, INTERRUPTED, progress, move |tell| {
        build(&opened, options, &|| word.is_asked(), tell)
    })
}

/// What is left to be loaded.
struct Work {
    /// Table and chunk, in order.
    chunks: Vec<(usize, u64)>,
    next: AtomicUsize,
    n_rows_total: u64,
    n_rows_before: u64,
    n_rows_done: AtomicU64,
}

/// Creates the tables that are not there, and finds what is left to do.
fn prepare(desk: &mut Desk, opened: &Opened, population: &dyn Population) -> Result<Work, Trouble> {
    let database = opened.database.as_ref();
    if opened.data == Data::Absent {
        meta::begin(desk, database, &opened.workload.identity())?;
    }
    let done: HashSet<String> = meta::read_done(desk)?.into_iter().collect();
    let mut chunks = Vec::new();
    let (mut n_rows_total, mut n_rows_before) = (0, 0);
    for (index, table) in population.tables().iter().enumerate() {
        if !desk.has_table(&table.name)? {
            create_table(desk, database.dialect(), population, index)?;
            if !database.dialect().indexes_after_load {
                for index in &table.indexes {
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
    Ok(Work { chunks, next: AtomicUsize::new(0), n_rows_total, n_rows_before, n_rows_done })
}

/// Creates a table, whole or in the parts that its workload asks for.
fn create_table(
    desk: &mut Desk,
    dialect: &Dialect,
    population: &dyn Population,
    index: usize,
) -> Result<(), Refusal> {
    let table = &population.tables()[index];
    let sql = match population.partitions(index) {
        None => dialect.create_table(table),
        Some((column, count)) => dialect.create_partitioned(table, column, count),
    };
    desk.write(&sql).map(drop)
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

fn load_all(
    opened: &Opened,
    population: &dyn Population,
    work: &Work,
    options: BuildOptions,
    is_stopped: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), Trouble> {
    let database = &opened.database;
    let n_loaders = match (options.loaders, database.dialect().parallel_load) {
        (_, false) => 1,
        (0, true) => thread::available_parallelism().map_or(1, |n| n.get()),
        (n, true) => n,
    };
    let began = wall::now();
    let (tell, hear) = channel::<Result<(), Refusal>>();
    let doing = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..n_loaders {
            let (tell, doing) = (tell.clone(), &doing);
            scope.spawn(move || {
                let loaded = load_chunks(database, population, work, doing, is_stopped);
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
            Some(refusal) => Err(Trouble::Failed(format!(
                "the build stopped: {refusal}; the same command goes on where it stopped"
            ))),
            None if is_stopped() => Err(Trouble::Interrupted(INTERRUPTED.to_owned())),
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

/// One loader: takes chunks until there are none.
fn load_chunks(
    database: &Arc<dyn Database>,
    population: &dyn Population,
    work: &Work,
    doing: &AtomicUsize,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<(), Refusal> {
    let mut desk = Desk::at(database.as_ref())?;
    let mark = desk.prepare(database.dialect().insert(&meta::table()))?;
    while !is_stopped() {
        let next = work.next.fetch_add(1, Ordering::Relaxed);
        let Some(&(table, chunk)) = work.chunks.get(next) else { break };
        doing.fetch_max(table, Ordering::Relaxed);
        let name = meta::done_name(&population.tables()[table].name, chunk);
        let mut attempt = 1;
        loop {
            match load_chunk(&mut desk, population, table, chunk, mark, &name, work) {
                Ok(()) => break,
                Err(refusal) if refusal.kind.is_conflict() && attempt < ATTEMPTS => attempt += 1,
                Err(refusal) => return Err(refusal),
            }
        }
    }
    Ok(())
}

fn load_chunk(
    desk: &mut Desk,
    population: &dyn Population,
    table: usize,
    chunk: u64,
    mark: model::StatementId,
    name: &str,
    work: &Work,
) -> Result<(), Refusal> {
    let rows = population.rows(table, chunk);
    let mut counted = Counted { rows, n: 0, unsaid: 0, done: &work.n_rows_done };
    desk.ask(Request::Begin)?;
    let loaded = desk.load(&population.tables()[table], &mut counted).and_then(|_| {
        let n = counted.n.to_string();
        desk.execute(mark, &[Value::Text(name), Value::Text(&n)])?;
        desk.ask(Request::Commit)
    });
    counted.say();
    if loaded.is_err() {
        work.n_rows_done.fetch_sub(counted.n, Ordering::Relaxed);
        // The refusal that matters is the first one.
        let _ = desk.ask(Request::Rollback);
    }
    loaded.map(|_| ())
}

/// Counts rows as they pass.
struct Counted<'a> {
    rows: Box<dyn RowSource + Send>,
    n: u64,
    unsaid: u64,
    done: &'a AtomicU64,
}

impl Counted<'_> {
    fn say(&mut self) {
        self.done.fetch_add(std::mem::take(&mut self.unsaid), Ordering::Relaxed);
    }
}

impl RowSource for Counted<'_> {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let has_next = self.rows.next(emit);
        self.n += u64::from(has_next);
        self.unsaid += u64::from(has_next);
        if self.unsaid >= 1000 {
            self.say();
        }
        has_next
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
            if done.contains(&name) {
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
        desk.write(&routine.drop)?;
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
        let mut text = String::new();
        desk.read(&format!("SELECT {} FROM {}", names.join(", "), table.name), &mut |row| {
            text.clear();
            describe_row(row, &mut text);
            checksum.n_rows += 1;
            checksum.sum = checksum.sum.wrapping_add(fnv1a(text.as_bytes()));
            Ok(())
        })?;
        sums.push(checksum);
    }
    Ok(sums)
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): stable for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}
