//! Creates the tables of a build, and finds the chunks of rows that are still to be loaded. Not
//! here: the rows (load), and indexes that are created after them (build).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use model::{
    Administration, Database, DbError, DbErrorKind, Dialect, Index, Population, format_count,
};
use monitor::wall_clock;

use super::{Progress, keeps_marks};
use crate::added_key;
use crate::admin_session::AdminSession;
use crate::build_log::BuildLog;
use crate::load::Work;
use crate::meta;
use crate::open::Opened;
use crate::table_list::{MANY, TableList};

/// Number of tables or indexes that are created in one transaction, where DDL is transactional.
/// Each holds some locks until its end, and servers have room for several thousand.
pub(super) const AT_ONCE: usize = 100;

/// Steps of the same kind in a build, such as tables to create, by which their end is estimated.
pub(super) struct Steps {
    what: &'static str,
    n_all: usize,
    began: Instant,
}

impl Steps {
    pub(super) fn begin(what: &'static str, n_all: usize) -> Steps {
        Steps { what, n_all, began: wall_clock::now() }
    }

    /// Returns the progress at a step that has a name and no estimate.
    pub(super) fn named(&self, doing: &str) -> Progress {
        Progress { doing: doing.to_owned(), left_s: None, ..self.at(0) }
    }

    /// Returns the progress before the step with the number `nth`, from 0.
    pub(super) fn at(&self, nth: usize) -> Progress {
        let seconds = self.began.elapsed().as_secs_f64();
        let left_s = seconds / nth as f64 * (self.n_all - nth) as f64;
        Progress {
            doing: format!(
                "{} {} of {}",
                self.what,
                format_count(nth as u64 + 1),
                format_count(self.n_all as u64)
            ),
            n_rows: 0,
            n_rows_total: 0,
            rows_per_s: 0.0,
            left_s: left_s.is_finite().then_some(left_s),
        }
    }
}

/// Callbacks of a build while it creates tables: progress, and whether the user asks to stop.
pub(super) struct Doing<'d> {
    pub(super) is_stopped: &'d (dyn Fn() -> bool + Sync),
    pub(super) progress: &'d mut dyn FnMut(&Progress),
}

/// Creates the missing tables, and returns the chunks that still have to be loaded.
pub(super) fn prepare(
    session: &mut AdminSession,
    opened: &Opened,
    population: &dyn Population,
    log: &Arc<BuildLog>,
    doing: &mut Doing<'_>,
) -> Result<Work, DbError> {
    let database = opened.database.as_ref();
    let mut done = meta::read_done(session)?;
    let missing = missing(session, database, population)?;
    forget_dropped(session, population, &missing, &mut done)?;
    create_tables(session, database, population, &missing, doing)?;
    let mut chunks = Vec::new();
    let (mut n_rows_total, mut n_rows_before) = (0, 0);
    for (index, table) in population.tables().iter().enumerate() {
        n_rows_total += population.n_rows(index);
        let n_chunks = population.n_chunks(index);
        let is_done = |chunk: &u64| done.contains(&meta::done_name(&table.name, *chunk));
        let n_done = (0..n_chunks).filter(is_done).count() as u64;
        n_rows_before += population.n_rows(index) * n_done / n_chunks.max(1);
        chunks.extend((0..n_chunks).filter(|chunk| !is_done(chunk)).map(|chunk| (index, chunk)));
    }
    Ok(Work {
        chunks,
        next: AtomicUsize::new(0),
        n_rows_total,
        n_rows_before,
        n_rows_done: AtomicU64::new(n_rows_before),
        n_reconnects: AtomicU64::new(0),
        keeps_marks: keeps_marks(opened),
        bulk_refused: Mutex::new(None),
        log: Arc::clone(log),
    })
}

/// Returns the indexes of the tables that do not exist.
fn missing(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
) -> Result<Vec<usize>, DbError> {
    let tables = population.tables();
    let list = TableList::read(session, database.administration(), tables.len())?;
    let mut missing = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        if !list.has(session, &table.name)? {
            missing.push(index);
        }
    }
    Ok(missing)
}

/// Removes the marks of missing tables, which somebody has dropped since the last build.
fn forget_dropped(
    session: &mut AdminSession,
    population: &dyn Population,
    missing: &[usize],
    done: &mut HashSet<String>,
) -> Result<(), DbError> {
    if done.is_empty() || missing.is_empty() {
        return Ok(());
    }
    let tables = missing.iter().map(|index| &*population.tables()[*index].name);
    let void = meta::done_of(done, tables);
    meta::forget_names(session, &void)?;
    for name in &void {
        done.remove(name);
    }
    Ok(())
}

fn create_tables(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
    missing: &[usize],
    doing: &mut Doing<'_>,
) -> Result<(), DbError> {
    let adds_keys = added_key::is_needed(session, database, population)?;
    begin_many(session, database.administration(), missing.len())?;
    let steps = Steps::begin("table", missing.len());
    let at_once = if database.administration().tables_in_transactions { AT_ONCE } else { 1 };
    for (nth, group) in missing.chunks(at_once).enumerate() {
        if missing.len() > at_once {
            if (doing.is_stopped)() {
                return Err(DbError::new(DbErrorKind::Cancelled, "tables are left to create"));
            }
            (doing.progress)(&steps.at(nth * at_once));
        }
        let mut create = |session: &mut AdminSession| {
            let mut each = group.iter();
            each.try_for_each(|index| create(session, database, population, *index, adds_keys))
        };
        match at_once {
            1 => create(session)?,
            _ => session.whole(&mut create)?,
        }
    }
    Ok(())
}

/// Prepares a session to create, index or drop `n_tables` tables.
pub(super) fn begin_many(
    session: &mut AdminSession,
    administration: &Administration,
    n_tables: usize,
) -> Result<(), DbError> {
    let all = administration.begin_many.iter().filter(|_| n_tables >= MANY);
    all.into_iter().try_for_each(|sql| session.write(sql).map(drop))
}

/// Creates table number `index` of `population`, counted from 0, and those of its secondary indexes
/// that the database creates before loading. With `adds_keys`, adds a primary key to a table that
/// has none.
fn create(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
    index: usize,
    adds_keys: bool,
) -> Result<(), DbError> {
    let (dialect, administration) = (database.dialect(), database.administration());
    let table = &population.tables()[index];
    let has_now =
        |index: &&Index| !administration.indexes_after_load && !dialect.is_made_with(table, index);
    session.write(&definition(dialect, population, index, adds_keys))?;
    let mut indexes = table.indexes.iter().filter(has_now);
    indexes.try_for_each(|index| session.write(&dialect.create_index(table, index)).map(drop))
}

/// Returns the `CREATE TABLE` statement for table number `index` of `population`, counted from 0.
/// With `adds_keys`, adds a primary key to a table that has none.
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
