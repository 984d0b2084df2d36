//! The parameters, and what is decided of them.
//!
//! Not here: what they become in SQL (population, writer).

use model::{
    BadParameter, Choice, Identity, Parameter, ParameterKind, Settings, choice, format_count,
};

use crate::Make;
use crate::storage_engine::{self, StorageEngine};

/// The name of the workload and of its data.
pub(super) const NAME: &str = "record";
/// The version of the data's format.
const VERSION: u32 = 1;
/// Each table has up to two statements with as many marks as rows.
const TABLES_MAX: u64 = 1_000;
/// With four values in a row it stays far below the 32,766 that SQLite takes in a statement.
const ROWS_PER_STATEMENT_MAX: u64 = 1_000;
/// Beyond these nothing is gained, and the records of a commit are drawn before it begins.
const RECORDS_PER_COMMIT_MAX: u64 = 100_000;
/// What a client may hold of records that it is going to insert.
const COMMIT_BYTES_MAX: u64 = 64 << 20;
/// Records that are built: numbers up to here are theirs.
const ROWS_MAX: u64 = 2_000_000_000;
/// `recordID` and the time stamp with 8 bytes each, and `column1` with 4.
pub(super) const FIXED_BYTES: usize = 20;
/// The MySQL family takes at most 16,383 characters of four bytes in a VARCHAR.
const RECORD_SIZE_MAX: u64 = 16_000;

/// When records are indexed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexPolicy {
    /// Never: there is no key either.
    None,
    /// `recordID`, which the database counts up, is the primary key.
    Key,
    /// The same, and `column1` has an index.
    Secondary,
    /// Both are indexed when the load is over.
    Afterwards,
}

choice!(IndexPolicy {
    None = "none",
    Key = "key",
    Secondary = "secondary",
    Afterwards = "afterwards",
});

impl IndexPolicy {
    /// Whether the database numbers the records; otherwise writers do.
    pub(super) fn has_key(self) -> bool {
        matches!(self, IndexPolicy::Key | IndexPolicy::Secondary)
    }
}

/// A whole number within limits.
pub(crate) const fn count(
    name: &'static str,
    (min, max): (u64, u64),
    default: &'static str,
    help: &'static str,
) -> Parameter {
    let kind = ParameterKind::Count { min, max };
    Parameter { name, kind, default, help, shapes_data: false }
}

/// Says that a parameter shapes the data.
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

/// Bytes of a record: more than its columns beside the payload take, which are given by name with
/// their bytes, and at most so many.
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
        return Err(BadParameter::of("record_size", why));
    }
    Ok(record_size)
}

/// All that is decided about the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// What the records that are built are drawn from.
    pub(super) seed: u64,
    /// How many tables.
    pub(super) tables: usize,
    /// Records that are built in each.
    pub(super) rows: i64,
    /// Bytes of a record.
    pub(super) record_size: usize,
    /// When they are indexed.
    pub(super) index: IndexPolicy,
    /// In what they are kept.
    pub(super) engine: StorageEngine,
}

impl Data {
    /// From what was asked for, and what is there.
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

    /// Characters of a payload, each a byte.
    pub(super) fn payload(&self) -> usize {
        self.record_size - FIXED_BYTES
    }

    /// What is kept beside the data.
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

/// What a transaction inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    /// Records.
    pub(super) records: usize,
    /// Of which so many go into one statement; the last one has the rest.
    pub(super) statement: usize,
}

impl Commit {
    /// From what was asked for.
    pub(super) fn new(settings: &Settings, record_size: usize) -> Result<Commit, BadParameter> {
        let records = settings.count("records_per_commit");
        let statement = settings.count("rows_per_statement");
        if statement > records {
            let why = format!(
                "{statement} are more than the {records} of a commit: lower it, or raise \
                 --records-per-commit"
            );
            return Err(BadParameter::of("rows_per_statement", why));
        }
        let bytes = records * record_size as u64;
        if bytes > COMMIT_BYTES_MAX {
            let why = format!(
                "{records} records of {record_size} bytes are {} bytes per commit, and a client \
                 holds at most {}: lower one of them",
                format_count(bytes),
                format_count(COMMIT_BYTES_MAX)
            );
            return Err(BadParameter::of("records_per_commit", why));
        }
        Ok(Commit { records: records as usize, statement: statement as usize })
    }

    /// Statements of a transaction.
    pub(super) fn n_statements(self) -> usize {
        self.records.div_ceil(self.statement)
    }

    /// Records of the last statement, if those are fewer.
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
