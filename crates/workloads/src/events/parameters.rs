//! The parameters of the workload `events`, and the settings made from them.
//!
//! Not here: their SQL (tables, writer, reader).

use model::{BadParameter, Choice, Identity, Parameter, ParameterKind, Settings, choice};

use crate::Make;
use crate::record::{count, data, record_size};
use crate::storage_engine::{self, StorageEngine};

/// Name of the workload `events` and of its data.
pub(super) const NAME: &str = "events";
/// Version of the format of tables and records, stored with the data. Data of another version are
/// rejected.
const VERSION: u32 = 1;
/// Largest accepted number of tables. Each has its own writer, and every client prepares statements
/// for all of them.
const TABLES_MAX: u64 = 100;
/// Largest accepted number of records per INSERT. With four values each, it stays far below
/// SQLite's limit of 32,766 placeholders.
const RECORDS_PER_INSERT_MAX: u64 = 1_000;
/// Largest accepted number of newest records that one read returns; a client keeps them in memory.
const WINDOW_MAX: u64 = 1_000_000;
/// Largest accepted number of sets of result tables, one for each host with readers.
const READER_HOSTS_MAX: u64 = 100;
/// Largest accepted number of records that the build inserts; writers continue after them.
const ROWS_MAX: u64 = 2_000_000_000;
/// Size of the columns of fixed size, in bytes: `recordID`, `sequence` and time stamp (8 each), and
/// `column1` (4).
const FIXED_BYTES: u64 = 28;
/// Largest accepted size of a record in bytes: the MySQL family limits a VARCHAR to 16,383
/// characters of four bytes.
const RECORD_SIZE_MAX: u64 = 16_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The clients of the group write records with time stamps.
    Writer,
    /// The clients of the group fetch the newest records and measure their ages.
    Reader,
}

choice!(Role { Writer = "writer", Reader = "reader" });

/// Indexes of the tables of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexes {
    /// The tables have only the primary key `recordID`, which the database assigns.
    Key,
    /// The tables have the primary key `recordID`, and an index on `column1`.
    Column1,
}

choice!(Indexes { Key = "key", Column1 = "column1" });

const fn option(
    name: &'static str,
    kind: ParameterKind,
    default: &'static str,
    help: &'static str,
) -> Parameter {
    Parameter::option(name, kind, default, help)
}

pub(super) static PARAMETERS: &[Parameter] = &[
    option("role", ParameterKind::Choice(Role::NAMES), "writer", "What clients of the group do"),
    data(option(
        "record_size",
        ParameterKind::Bytes,
        "1000",
        "Bytes of a record: 28 for recordID, sequence, time stamp and column1, the rest for \
         payload",
    )),
    count(
        "records_per_insert",
        (1, RECORDS_PER_INSERT_MAX),
        "1",
        "Writers: records per INSERT; an INSERT is a transaction, and its records have the same \
         time stamp",
    ),
    data(count("tables", (1, TABLES_MAX), "3", "Tables of records, one for each writer")),
    data(option(
        "index",
        ParameterKind::Choice(Indexes::NAMES),
        "key",
        "Indexes: the primary key recordID alone, or also an index on column1",
    )),
    storage_engine::PARAMETER,
    data(count("rows", (0, ROWS_MAX), "0", "Records in each table before the load")),
    data(count(
        "reader_hosts",
        (1, READER_HOSTS_MAX),
        "1",
        "Sets of result tables; readers are assigned to them in turn",
    )),
    count(
        "window",
        (1, WINDOW_MAX),
        "100",
        "Readers: number of newest records that a read fetches; older unread ones are missed",
    ),
    option(
        "read_interval",
        ParameterKind::Duration,
        "0s",
        "Readers: time from the start of one read to the start of the next; 0s: no pause",
    ),
    count(
        "plain_every",
        (0, 1_000_000),
        "0",
        "Readers: every Nth read uses the query without the window; 0: none, 1: all",
    ),
    count(
        "history_every",
        (0, 1_000_000),
        "0",
        "Readers: every Nth transaction is a query for old records; 0: none",
    ),
    count(
        "history_rows",
        (1, WINDOW_MAX),
        "100",
        "Readers: number of records that a query for old records requests",
    ),
    option(
        "results",
        ParameterKind::Switch,
        "true",
        "Readers: write the result of each read into the result tables",
    ),
];

/// Parameters that determine the tables and their records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// Seed of the records that the build inserts.
    pub(super) seed: u64,
    /// Size of a record in bytes.
    pub(super) record_size: u64,
    /// Number of tables with records.
    pub(super) tables: usize,
    pub(super) indexes: Indexes,
    pub(super) engine: StorageEngine,
    /// Number of records that the build inserts into each table.
    pub(super) rows: i64,
    /// Number of hosts with readers. Each has its own set of result tables.
    pub(super) reader_hosts: usize,
}

impl Data {
    /// Takes the settings of the data from the workload's parameters; the seed is that of existing
    /// data, if there are any. Fails if the size of a record is not possible.
    pub(super) fn new(make: &Make<'_>) -> Result<Data, BadParameter> {
        let settings = make.settings;
        let fixed = ("recordID, sequence, time stamp and column1", FIXED_BYTES);
        let record_size = record_size(settings, fixed, RECORD_SIZE_MAX)?;
        Ok(Data {
            seed: make.data.map_or(make.seed, |data| data.seed),
            record_size,
            tables: settings.count("tables") as usize,
            indexes: settings.chosen("index"),
            engine: settings.chosen(storage_engine::NAME),
            rows: settings.count("rows") as i64,
            reader_hosts: settings.count("reader_hosts") as usize,
        })
    }

    /// Returns the length of a record's payload, in characters of one byte.
    pub(super) fn payload(&self) -> usize {
        (self.record_size - FIXED_BYTES) as usize
    }

    /// Returns the identity of the data, which the build stores with them: workload, version, seed
    /// and parameters.
    pub(super) fn identity(&self) -> Identity {
        let scale = [
            ("record_size", self.record_size.to_string()),
            ("tables", self.tables.to_string()),
            ("index", self.indexes.name().to_owned()),
            self.engine.scale(),
            ("rows", self.rows.to_string()),
            ("reader_hosts", self.reader_hosts.to_string()),
        ];
        Identity::new(NAME, VERSION, scale, self.seed)
    }
}

/// Settings of the readers' transactions, taken from the workload's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Number of newest records that a read requests.
    pub(super) window: u64,
    /// Time between the starts of two reads, in nanoseconds.
    pub(super) interval_ns: u64,
    /// Number of reads after which one read requests all records, without the limit to the newest;
    /// 0 if no read does.
    pub(super) plain_every: u64,
    /// Number of a reader's transactions after which one transaction queries old records instead of
    /// new ones; 0 if none does.
    pub(super) history_every: u64,
    /// Number of records that a query for old records requests.
    pub(super) history_rows: i64,
    /// Whether readers store the results of their reads in the result tables.
    pub(super) has_results: bool,
}

impl Reading {
    /// Takes the settings of readers from the workload's parameters. Fails if `history_every` is 1,
    /// because readers would only query old records.
    pub(super) fn new(settings: &Settings) -> Result<Reading, BadParameter> {
        let history_every = settings.count("history_every");
        if history_every == 1 {
            let why = "with 1, only old records would be read: write 2 or more, or 0 for none";
            return Err(BadParameter::named("history_every", why));
        }
        Ok(Reading {
            window: settings.count("window"),
            interval_ns: settings.duration_ns("read_interval"),
            plain_every: settings.count("plain_every"),
            history_every,
            history_rows: settings.count("history_rows") as i64,
            has_results: settings.switch("results"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let check = |written: &[(&str, &str)], parameter: &str, words: &[&str]| {
            let Err(bad) = made(written) else { panic!("{written:?} is accepted") };
            assert_eq!(bad.parameter.as_deref(), Some(parameter), "{bad}");
            words.iter().for_each(|word| assert!(bad.why.contains(word), "{bad}"));
        };
        for size in ["0", "28", "16_001"] {
            check(&[("record_size", size)], "record_size", &["take 28", "give 29 to 16000"]);
        }
        check(&[("window", "0")], "window", &["at least 1"]);
        check(&[("role", "listener")], "role", &["writer, reader"]);
        check(&[("history_every", "1")], "history_every", &["write 2 or more"]);
    }
}
