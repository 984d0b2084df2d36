//! Writes a workload's rows into flat files, one per table, which the command-line client of each
//! database product can load.
//!
//! A file has the suffix `.part` until it is complete. Existing files are not overwritten. Not
//! here: the contents of rows (workloads).

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use engine::Stop;
use model::{
    Civil, ClientLoad, FileFormat, FlatFile, Index, Population, Value, Workload, format_count,
    put_decimal,
};
use monitor::wall_clock;
use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};

use crate::build::{Progress, definition};
use crate::error::Error;

/// Percentage added to the estimated disk space, which may be a little low because it is estimated
/// from one chunk per table.
const MARGIN_PERCENT: u64 = 5;
const BUFFER_BYTES: usize = 1 << 20;
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Result of writing a workload's rows into files.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Files with rows, one per table, in the order of the tables.
    pub files: Vec<WrittenFile>,
    /// Commands that load the files, for each database product whose client can load them.
    pub load_commands: Vec<LoadCommands>,
    /// Time that writing the files took, in seconds.
    pub seconds: f64,
    pub format: FileFormat,
}

/// A file with the rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    pub table: String,
    pub path: PathBuf,
    /// Names of the columns in the order of the file, separated by commas.
    pub columns: String,
    pub n_rows: u64,
    pub n_bytes: u64,
}

/// Commands that load the files into one database product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadCommands {
    /// Name of the driver, such as `postgres`.
    pub database: &'static str,
    /// SQL file that creates the tables.
    pub schema: PathBuf,
    /// Sentence for the user that introduces the commands, and names the products for which they
    /// are.
    pub introduction: String,
    /// Commands for the product's own client, to run after the SQL file.
    pub commands: Vec<String>,
}

impl LoadCommands {
    fn new(schema: Schema, files: &[FlatFile]) -> LoadCommands {
        let Schema { database, by, path: schema, .. } = schema;
        let tables: Vec<&str> = files.iter().map(|file| file.table.as_str()).collect();
        let introduction = format!(
            "{}: tables first ({}), then with '{}'",
            by.servers,
            (by.run_file)(&schema.display().to_string()),
            by.client
        );
        let last = (by.finish)(&tables.join(", "));
        let commands = files.iter().map(by.load).chain([last]).collect();
        LoadCommands { database, schema, introduction, commands }
    }
}

/// Writes the rows of all tables of `workload` into files in `folder`, which is created if needed,
/// and a SQL file with the table definitions for each database product. Fails if one of the files
/// exists or the disk has too little space.
pub fn write_files(
    workload: &Arc<dyn Workload>,
    folder: &Path,
    format: FileFormat,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Written, Error> {
    let Some(population) = workload.population() else {
        return Err(Error::Usage("this workload has no data to write".to_owned()));
    };
    let failed = |error: io::Error| Error::Failed(format!("{}: {error}", folder.display()));
    let began = wall_clock::now();
    fs::create_dir_all(folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let text = folder.to_str().filter(|text| !text.contains(['\'', '\\', '\n']));
    if text.is_none() {
        let why = "the folder's name contains a quote or a backslash, or is not UTF-8, so the \
                   load commands could not name it: choose another";
        return Err(Error::Usage(why.to_owned()));
    }
    let tables = population.tables();
    let paths: Vec<PathBuf> = tables
        .iter()
        .map(|table| folder.join(format!("{}.{}", table.name, format.name())))
        .collect();
    let schemas = schemas_of(population, &folder);
    for path in paths.iter().chain(schemas.iter().map(|schema| &schema.path)) {
        if path.exists() {
            let path = path.display();
            let why = format!(
                "{path} exists, and nothing is overwritten: remove it, or choose another \
                 --output-dir"
            );
            return Err(Error::Failed(why));
        }
    }
    check_room(population, &folder, format)?;
    let work = Work {
        population,
        paths,
        format,
        next: AtomicUsize::new(0),
        n_rows: AtomicU64::new(0),
        stop,
    };
    let files = work.write_all(progress)?;
    for Schema { path, sql, .. } in &schemas {
        let written = write_whole(path, |out| Ok(out.write_all(sql.as_bytes())?));
        written.map_err(|stopped| stopped.into_error(path))?;
    }
    let flat = |file: &WrittenFile| FlatFile {
        table: file.table.clone(),
        columns: file.columns.clone(),
        path: file.path.display().to_string(),
        format,
    };
    let flat: Vec<FlatFile> = files.iter().map(flat).collect();
    let load_commands =
        schemas.into_iter().map(|schema| LoadCommands::new(schema, &flat)).collect();
    Ok(Written { files, load_commands, seconds: began.elapsed().as_secs_f64(), format })
}

/// SQL that creates the tables in one database product, and the commands of its client.
struct Schema {
    database: &'static str,
    by: ClientLoad,
    path: PathBuf,
    sql: String,
}

/// Returns the schema for each database product whose client can load files.
fn schemas_of(population: &dyn Population, folder: &Path) -> Vec<Schema> {
    let tables = population.tables();
    let schema = |entry: &drivers::Entry| {
        let by = entry.product.administration.client_load?;
        let dialect = &entry.product.dialect;
        let mut sql = String::new();
        for index in 0..tables.len() {
            sql += &format!("{};\n", definition(dialect, population, index, false));
        }
        for table in tables {
            let apart = |index: &&Index| !dialect.is_made_with(table, index);
            for index in table.indexes.iter().filter(apart) {
                sql += &format!("{};\n", dialect.create_index(table, index));
            }
        }
        let path = folder.join(format!("schema.{}.sql", entry.name));
        Some(Schema { database: entry.name, by, path, sql })
    };
    drivers::all().filter_map(schema).collect()
}

/// Fails if the disk of `folder` has too little space for the files, as estimated from the first
/// chunk of each table.
fn check_room(population: &dyn Population, folder: &Path, format: FileFormat) -> Result<(), Error> {
    let mut needed = 0;
    // A table that begins empty has no chunk to estimate from.
    let has_rows = |index: &usize| population.n_chunks(*index) > 0;
    for index in (0..population.tables().len()).filter(has_rows) {
        let mut sample = Vec::new();
        let n_rows =
            write_chunk(population, index, 0, format, &mut sample).map_err(Error::failed)?;
        needed += sample.len() as u64 * population.n_rows(index) / n_rows.max(1);
    }
    needed += needed / 100 * MARGIN_PERCENT;
    let room = statvfs(folder).map_err(Error::failed)?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if needed > free {
        let mib = |bytes: u64| format_count(bytes.div_ceil(1 << 20));
        return Err(Error::Failed(format!(
            "the files need about {} MiB, and {} has {} MiB free: make room, choose another \
             --output-dir, or write less",
            mib(needed),
            folder.display(),
            mib(free)
        )));
    }
    Ok(())
}

struct Work<'a> {
    population: &'a dyn Population,
    paths: Vec<PathBuf>,
    format: FileFormat,
    next: AtomicUsize,
    n_rows: AtomicU64,
    stop: &'a Stop,
}

/// Reason why a file of rows was not completed.
enum Stopped {
    Asked,
    Failed(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Failed(error)
    }
}

impl Stopped {
    fn into_error(self, path: &Path) -> Error {
        match self {
            Stopped::Asked => {
                let why = "interrupted; only complete files were kept";
                Error::Interrupted(why.to_owned())
            }
            Stopped::Failed(error) => Error::Failed(format!("{}: {error}", path.display())),
        }
    }
}

impl Work<'_> {
    /// Writes the files of all tables on one thread per core.
    fn write_all(&self, progress: &mut dyn FnMut(&Progress)) -> Result<Vec<WrittenFile>, Error> {
        let began = wall_clock::now();
        let n_workers = thread::available_parallelism().map_or(1, |n| n.get());
        let n_rows_total = (0..self.paths.len()).map(|table| self.population.n_rows(table)).sum();
        let mut written: Vec<Option<WrittenFile>> = vec![None; self.paths.len()];
        let mut first = None;
        thread::scope(|scope| {
            let workers: Vec<_> =
                (0..n_workers).map(|_| scope.spawn(|| self.write_some())).collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                thread::park_timeout(TOLD_EVERY);
                let n_rows = self.n_rows.load(Ordering::Relaxed);
                let rows_per_s = n_rows as f64 / began.elapsed().as_secs_f64().max(1e-3);
                let left = (n_rows_total as f64 - n_rows as f64).max(0.0) / rows_per_s;
                progress(&Progress {
                    doing: "files".to_owned(),
                    n_rows,
                    n_rows_total,
                    rows_per_s,
                    left_s: left.is_finite().then_some(left),
                });
            }
            for worker in workers {
                match worker.join() {
                    Ok(Ok(files)) => {
                        files.into_iter().for_each(|(table, file)| written[table] = Some(file));
                    }
                    Ok(Err(why)) => drop(first.get_or_insert(why)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        match first {
            Some(first) => Err(first),
            None => Ok(written.into_iter().flatten().collect()),
        }
    }

    fn write_some(&self) -> Result<Vec<(usize, WrittenFile)>, Error> {
        let mut files = Vec::new();
        loop {
            // The largest tables come last, and are started first.
            let nth = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(table) = self.paths.len().checked_sub(nth + 1) else { return Ok(files) };
            let file = self.write_table(table).map_err(|stopped| {
                // After a failure the other workers stop.
                self.next.store(usize::MAX / 2, Ordering::Relaxed);
                stopped.into_error(&self.paths[table])
            })?;
            files.push((table, file));
        }
    }

    fn write_table(&self, table: usize) -> Result<WrittenFile, Stopped> {
        let (path, layout) = (&self.paths[table], &self.population.tables()[table]);
        let names: Vec<&str> = layout.columns.iter().map(|column| column.name).collect();
        let mut n_rows = 0;
        write_whole(path, |out| {
            if self.format == FileFormat::Csv {
                writeln!(out, "{}", names.join(","))?;
            }
            for chunk in 0..self.population.n_chunks(table) {
                if self.stop.is_asked() || self.next.load(Ordering::Relaxed) >= usize::MAX / 2 {
                    return Err(Stopped::Asked);
                }
                let n = write_chunk(self.population, table, chunk, self.format, out)?;
                n_rows += n;
                self.n_rows.fetch_add(n, Ordering::Relaxed);
            }
            Ok(())
        })?;
        let n_bytes = fs::metadata(path)?.len();
        let (table, columns) = (layout.name.to_string(), names.join(", "));
        Ok(WrittenFile { table, path: path.clone(), columns, n_rows, n_bytes })
    }
}

/// Writes a file by `work`: first into `PATH.part`, which is renamed to `path` when it is complete,
/// and removed if writing fails. Fails if either exists.
fn write_whole(
    path: &Path,
    work: impl FnOnce(&mut BufWriter<File>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut part = path.to_owned().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let file = OpenOptions::new().write(true).create_new(true).open(&part).map_err(|error| {
        let why = format!("{}: {error}; if no other dbdyno writes it, remove it", part.display());
        io::Error::new(error.kind(), why)
    })?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    let written = work(&mut out).and_then(|()| {
        out.flush()?;
        let named = renameat_with(CWD, &part, CWD, path, RenameFlags::NOREPLACE);
        Ok(named.map_err(io::Error::from)?)
    });
    if written.is_err() {
        // The reason is reported already.
        let _ = fs::remove_file(&part);
    }
    written
}

/// Writes the rows of one chunk of a table to `out`, and returns their number.
fn write_chunk(
    population: &dyn Population,
    table: usize,
    chunk: u64,
    format: FileFormat,
    out: &mut impl Write,
) -> io::Result<u64> {
    let mut rows = population.rows(table, chunk);
    let (mut n_rows, mut line) = (0, Vec::new());
    let mut has_more = true;
    while has_more {
        line.clear();
        has_more = rows.next(&mut |row| {
            n_rows += 1;
            put_row(&mut line, row, format);
        });
        out.write_all(&line)?;
    }
    Ok(n_rows)
}

fn put_row(line: &mut Vec<u8>, row: &[Value<'_>], format: FileFormat) {
    let (between, end): (&[u8], &[u8]) = match format {
        FileFormat::Tsv => (b"\t", b"\n"),
        FileFormat::Csv => (b",", b"\n"),
        FileFormat::Tbl => (b"|", b"|\n"),
    };
    for (index, value) in row.iter().enumerate() {
        if index > 0 {
            line.extend_from_slice(between);
        }
        put_value(line, value, format);
    }
    line.extend_from_slice(end);
}

fn put_value(line: &mut Vec<u8>, value: &Value<'_>, format: FileFormat) {
    let text: &dyn fmt::Display = match (value, format) {
        (Value::Null, FileFormat::Tsv | FileFormat::Tbl) => &"\\N",
        (Value::Null, FileFormat::Csv) => &"NULL",
        (Value::Int(number), _) => number,
        (Value::Float(number), _) => number,
        (Value::Decimal { unscaled, scale }, _) => {
            return put_decimal(line, *unscaled, *scale);
        }
        // In UTC without a zone, which not every database accepts.
        (Value::Timestamp(us), _) => return Civil::of_us(*us).write(line),
        (Value::Date(days), _) => return Civil::of_days(*days).write_date(line),
        (Value::Text(text), format) => return put_text(line, text.as_bytes(), format),
        (Value::Bytes(bytes), format) => return put_text(line, bytes, format),
    };
    let _ = write!(line, "{text}");
}

fn put_text(line: &mut Vec<u8>, text: &[u8], format: FileFormat) {
    if format == FileFormat::Csv {
        line.push(b'"');
    }
    for byte in text {
        match (byte, format) {
            (b'"', FileFormat::Csv) => line.extend_from_slice(b"\"\""),
            (byte, FileFormat::Csv) => line.push(*byte),
            (b'\t', FileFormat::Tsv) => line.extend_from_slice(b"\\t"),
            (b'|', FileFormat::Tbl) => line.extend_from_slice(b"\\|"),
            (b'\n', _) => line.extend_from_slice(b"\\n"),
            (b'\r', _) => line.extend_from_slice(b"\\r"),
            (b'\\', _) => line.extend_from_slice(b"\\\\"),
            (byte, _) => line.push(*byte),
        }
    }
    if format == FileFormat::Csv {
        line.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: &[Value<'_>], format: FileFormat) -> String {
        let mut line = Vec::new();
        put_row(&mut line, row, format);
        String::from_utf8(line).expect("text")
    }

    fn workload(name: &str, written: &[(&str, &str)]) -> Arc<dyn Workload> {
        let entry = workloads::by_name(name).expect("it is in the list");
        let settings = model::Settings::decide(entry.name, entry.parameters, written.to_vec());
        let settings = settings.expect("valid");
        entry.made(&settings, 1, None).expect("valid")
    }

    #[test]
    fn a_table_that_begins_empty_is_an_empty_file() {
        let workload = workload("oltp-bulk-insert", &[("tables", "1")]);
        let folder = tempfile::tempdir().expect("a folder");
        let stop = Stop::default();
        let written = write_files(&workload, folder.path(), FileFormat::Tsv, &stop, &mut |_| {});
        let files = written.expect("written").files;
        assert_eq!(files.iter().map(|file| file.n_bytes).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn definitions_are_those_of_a_build() {
        let check = |name, written: &[(&str, &str)], text: &str, expect: [usize; 2]| {
            let workload = workload(name, written);
            let population = workload.population().expect("it has tables");
            let schemas = schemas_of(population, Path::new("files"));
            let counts: Vec<usize> =
                schemas.iter().map(|schema| schema.sql.matches(text).count()).collect();
            assert_eq!(counts, expect, "{name} {text}");
        };
        // An index that is created with its table is not created again.
        check("oltp-insert", &[("secondary", "true")], "xid_1", [1, 1]);
        check("tpcc", &[("partitions", "3")], "PARTITION BY HASH", [8, 8]);
        check("tpcc", &[("partitions", "3")], "PARTITION OF stock", [0, 3]);
    }

    #[test]
    fn a_tbl_file_has_the_lines_of_the_standards_generator() {
        let workload = workload("tpch", &[("scale", "0.01")]);
        let folder = tempfile::tempdir().expect("a folder");
        let stop = Stop::default();
        let written = write_files(&workload, folder.path(), FileFormat::Tbl, &stop, &mut |_| {});
        written.expect("written");
        let check = |name: &str, n_rows: usize, expect: &str| {
            let text = fs::read_to_string(folder.path().join(name)).expect("it was written");
            assert_eq!((text.lines().count(), text.lines().next()), (n_rows, Some(expect)));
        };
        check(
            "region.tbl",
            5,
            "0|AFRICA|lar deposits. blithely final packages cajole. regular \
               waters are final requests. regular accounts are according to |",
        );
        check(
            "lineitem.tbl",
            60_175,
            // The generator writes the quantity, a decimal, as 17.
            "1|1552|93|1|17.00|24710.35|0.04|0.02|N|O|1996-03-13|\
               1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular courts above the|",
        );
    }

    #[test]
    fn values_are_written_as_servers_read_them() {
        let row = [
            Value::Null,
            Value::Int(-7),
            Value::Decimal { unscaled: -1205, scale: 2 },
            Value::Decimal { unscaled: 5, scale: 4 },
            Value::Text("a\tb\"c\\d"),
            Value::Timestamp(1_709_210_096_000_007),
            Value::Timestamp(-1),
        ];
        assert_eq!(
            line(&row, FileFormat::Tsv),
            "\\N\t-7\t-12.05\t0.0005\ta\\tb\"c\\\\d\t2024-02-29 12:34:56.000007\t\
             1969-12-31 23:59:59.999999\n"
        );
        assert_eq!(
            line(&[Value::Null, Value::Text("a|\t\\")], FileFormat::Tbl),
            "\\N|a\\|\t\\\\|\n"
        );
        assert_eq!(
            line(&row, FileFormat::Csv),
            "NULL,-7,-12.05,0.0005,\"a\tb\"\"c\\d\",2024-02-29 12:34:56.000007,\
             1969-12-31 23:59:59.999999\n"
        );
    }
}
