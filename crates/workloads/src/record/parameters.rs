//! The parameters of the workload `record`, and the settings made from them.
//!
//! Not here: their SQL (population, writer).

use model::{
    BadParameter, Choice, Identity, Parameter, ParameterKind, Settings, choice, format_count,
};

use crate::Make;
use crate::storage_engine::{self, StorageEngine};

/// Name of the workload `record` and of its data.
pub(super) const NAME: &str = "record";
/// Version of the format of tables and records, stored with the data. Data of another version are
/// rejected.
const VERSION: u32 = 1;
/// Largest accepted number of tables. Each has up to two INSERT statements with placeholders for
/// all rows.
const TABLES_MAX: u64 = 1_000;
/// Largest accepted number of rows per INSERT. With four values each, it stays far below SQLite's
/// limit of 32,766 placeholders.
const ROWS_PER_STATEMENT_MAX: u64 = 1_000;
/// Largest accepted number of records that one transaction inserts. More would not be faster, and
/// all are drawn before the transaction begins.
const RECORDS_PER_COMMIT_MAX: u64 = 100_000;
/// Largest accepted size of the records that a client prepares for a transaction, in bytes.
const COMMIT_BYTES_MAX: u64 = 64 << 20;
/// Largest accepted number of records that the build inserts; writers continue after them.
const ROWS_MAX: u64 = 2_000_000_000;
/// Size of the columns of fixed size, in bytes: `recordID` and time stamp (8 each), and `column1`
/// (4).
pub(super) const FIXED_BYTES: usize = 20;
/// Largest accepted size of a record in bytes: the MySQL family limits a VARCHAR to 16,383
/// characters of four bytes.
const RECORD_SIZE_MAX: u64 = 16_000;

/// Indexes of the tables, and the time at which they are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexPolicy {
    /// The tables have no index and no key, so writers assign the record numbers.
    None,
    /// The tables have only the primary key `recordID`, which the database assigns.
    Key,
    /// The tables have the primary key `recordID`, and an index on `column1`.
    Secondary,
    /// The tables get indexes on `recordID` and `column1`, both created when the load is over.
    Afterwards,
}

choice!(IndexPolicy {
    None = "none",
    Key = "key",
    Secondary = "secondary",
    Afterwards = "afterwards",
});

impl IndexPolicy {
    /// Whether the database assigns the record numbers; otherwise writers do.
    pub(super) fn has_key(self) -> bool {
        matches!(self, IndexPolicy::Key | IndexPolicy::Secondary)
    }
}

/// Declares a parameter that is a whole number from `min` to `max`.
pub(crate) const fn count(
    name: &'static str,
    (min, max): (u64, u64),
    default: &'static str,
    help: &'static str,
) -> Parameter {
    let kind = ParameterKind::Count { min, max };
    Parameter { name, kind, default, help, shapes_data: false }
}

/// Marks a workload parameter as one that determines the data, so that it cannot change after the
/// build.
pub(crate) const fn data(parameter: Parameter) -> Parameter {
    Parameter { shapes_data: true, ..parameter }
}

pub(super) static PARAMETERS: &[Parameter] = &[
    data(Parameter {
        name: "record_size",
        kind: ParameterKind::Bytes,
        default: "200",
        help: "Bytes of a record: 20 for recordID, time stamp and column1, the rest for payload",
        shapes_data: true,
    }),
    count("records_per_commit", (1, RECORDS_PER_COMMIT_MAX), "1", "Records per transaction"),
    count(
        "rows_per_statement",
        (1, ROWS_PER_STATEMENT_MAX),
        "1",
        "Records per INSERT, at most --records-per-commit",
    ),
    data(count(
        "tables",
        (1, TABLES_MAX),
        "1",
        "Tables: 1 shared by all clients, or as many as clients for one table each",
    )),
    data(Parameter {
        name: "index",
        kind: ParameterKind::Choice(IndexPolicy::NAMES),
        default: "key",
        help: "Indexes: none, a primary key, a primary key and an index on column1, or two indexes \
               added after the load",
        shapes_data: true,
    }),
    storage_engine::PARAMETER,
    data(count("rows", (0, ROWS_MAX), "0", "Records in each table before the load")),
];

/// Returns the value of the parameter `record_size`, in bytes. Fails unless it is above `fixed`,
/// the bytes of the columns that `columns` names, and at most `most`.
pub(crate) fn record_size(
    settings: &Settings,
    (columns, fixed): (&str, u64),
    most: u64,
) -> Result<u64, BadParameter> {
    let record_size = settings.count("record_size");
    let least = fixed + 1;
    if !(least..=most).contains(&record_size) {
        let why = format!(
            "{record_size} bytes are not possible: {columns} take {fixed}, so give {least} to {most}"
        );
        return Err(BadParameter::named("record_size", why));
    }
    Ok(record_size)
}

/// Parameters that determine the tables and their records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// Seed of the records that the build inserts.
    pub(super) seed: u64,
    pub(super) tables: usize,
    /// Number of records that the build inserts into each table.
    pub(super) rows: i64,
    /// Size of a record in bytes.
    pub(super) record_size: usize,
    pub(super) index: IndexPolicy,
    pub(super) engine: StorageEngine,
}

impl Data {
    /// Takes the settings of the data from the workload's parameters; the seed is that of existing
    /// data, if there are any. Fails if the size of a record is not possible.
    pub(super) fn new(make: &Make<'_>) -> Result<Data, BadParameter> {
        let settings = make.settings;
        let fixed = ("recordID, time stamp and column1", FIXED_BYTES as u64);
        let record_size = record_size(settings, fixed, RECORD_SIZE_MAX)?;
        Ok(Data {
            seed: make.data.map_or(make.seed, |data| data.seed),
            tables: settings.count("tables") as usize,
            rows: settings.count("rows") as i64,
            record_size: record_size as usize,
            index: settings.chosen("index"),
            engine: settings.chosen(storage_engine::NAME),
        })
    }

    /// Returns the length of a record's payload, in characters of one byte.
    pub(super) fn payload(&self) -> usize {
        self.record_size - FIXED_BYTES
    }

    /// Returns the identity of the data, which the build stores with them: name, version, seed and
    /// parameters.
    pub(super) fn identity(&self) -> Identity {
        let scale = [
            ("record_size", self.record_size.to_string()),
            ("tables", self.tables.to_string()),
            ("index", self.index.name().to_owned()),
            self.engine.scale(),
            ("rows", self.rows.to_string()),
        ];
        Identity::new(NAME, VERSION, scale, self.seed)
    }
}

/// Numbers of records that a writer inserts per transaction and per statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) records: usize,
    /// Number of records per INSERT. The last INSERT of a transaction has the remaining ones.
    pub(super) statement: usize,
}

impl Commit {
    /// Takes the numbers of records from the workload's parameters. Fails if a statement has more
    /// records than a transaction, or a transaction has too many bytes.
    pub(super) fn new(settings: &Settings, record_size: usize) -> Result<Commit, BadParameter> {
        let records = settings.count("records_per_commit");
        let statement = settings.count("rows_per_statement");
        if statement > records {
            let why = format!(
                "{statement} are more than the {records} of a commit: lower it, or raise \
                 --records-per-commit"
            );
            return Err(BadParameter::named("rows_per_statement", why));
        }
        let bytes = records * record_size as u64;
        if bytes > COMMIT_BYTES_MAX {
            let why = format!(
                "{records} records of {record_size} bytes are {} bytes per commit, and a client \
                 holds at most {}: lower one of them",
                format_count(bytes),
                format_count(COMMIT_BYTES_MAX)
            );
            return Err(BadParameter::named("records_per_commit", why));
        }
        Ok(Commit { records: records as usize, statement: statement as usize })
    }

    /// Returns the number of INSERT statements per transaction.
    pub(super) fn n_statements(self) -> usize {
        self.records.div_ceil(self.statement)
    }

    /// Returns the number of records in the last INSERT of a transaction if it has fewer than the
    /// others, otherwise 0.
    pub(super) fn rest(self) -> usize {
        self.records % self.statement
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
        for size in ["0", "20", "16_001"] {
            check(&[("record_size", size)], "record_size", &["take 20", "give 21 to 16000"]);
        }
        check(&[("index", "later")], "index", &["'later'", "none, key, secondary, afterwards"]);
        let statement = [("records_per_commit", "5"), ("rows_per_statement", "10")];
        check(&statement, "rows_per_statement", &["more than the 5", "--records-per-commit"]);
        let large = [("records_per_commit", "100k"), ("record_size", "1000")];
        check(&large, "records_per_commit", &["100,000,000 bytes per commit", "67,108,864"]);
        assert!(made(&[("record_size", "21")]).is_ok());
    }
}
