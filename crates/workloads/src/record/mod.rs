//! `record`: simulated sensors insert records, in batches of a given size, into a given number of
//! tables.
//!
//! Derived from the insertion measurement benchmark (IMB) of "Measuring MySQL Server Performance
//! for Sensor Data Stream Processing" (J. Nikom, MIT Lincoln Laboratory, 2006): its table and its
//! comparisons. Not here: readers of new records (events).

mod checks;
mod parameters;
mod population;
mod writer;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Crosscheck, Dialect, Direction, Identity, Kind, KindIndex,
    LaterIndex, MEGABYTE, NS_PER_S, Number, Places, Population, PrimaryMetric, PrimaryOf,
    Statement, Stored, Workload,
};

use crate::{Entry, Make};
use parameters::{Commit, Data, IndexPolicy, NAME, PARAMETERS};
pub(crate) use parameters::{count, data, record_size};
pub(crate) use population::{BuiltRecords, draw_column1, draw_payload};
#[cfg(test)]
pub(crate) use population::{GAP_US, STARTED_AT_US};

pub(crate) static ENTRY: Entry = Entry {
    name: NAME,
    data: NAME,
    summary: "Sensors insert records: varies record size, records per commit, tables, indexes and \
              storage engine",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

/// Largest number of tables with which the number of rows is compared with the commits, since one
/// statement counts the rows of all tables. With more tables there is no comparison.
const CROSSCHECK_TABLES_MAX: usize = 100;

/// Settings that all writers of `record` share.
struct Record {
    data: Data,
    commit: Commit,
    seed: u64,
    kinds: [Kind; 1],
}

struct Recording {
    record: Arc<Record>,
    rows: population::Rows,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let data = Data::new(make)?;
    let commit = Commit::new(make.settings, data.record_size)?;
    let kinds = [Kind { name: "insert", weight: 1, keying_ns: 0, thinking_ns: 0 }];
    let record = Arc::new(Record { data, commit, seed: make.seed, kinds });
    Ok(Arc::new(Recording { record, rows: population::Rows::new(data) }))
}

impl Recording {
    /// Describes the indexes of the tables in a sentence, for the notes in a run's report.
    fn indexing(&self) -> &'static str {
        match self.record.data.index {
            IndexPolicy::None => {
                "The tables have no key and no index; writers number their records themselves."
            }
            IndexPolicy::Key => "The database numbers the records, by their primary key.",
            IndexPolicy::Secondary => {
                "The database numbers the records, by their primary key; column1 is indexed too."
            }
            IndexPolicy::Afterwards => {
                "The tables have no key and no index during the load; writers number their records \
                 themselves. A unique index on recordID and one on column1 are added after the \
                 load, timed, and dropped."
            }
        }
    }
}

impl Workload for Recording {
    fn identity(&self) -> Identity {
        self.record.data.identity()
    }

    fn kinds(&self) -> &[Kind] {
        &self.record.kinds
    }

    /// Declares the primary metrics: rates of committed records and of their bytes. A commit of n
    /// records counts n times.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        let records = self.record.commit.records as u64;
        let bytes = records * self.record.data.record_size as u64;
        let primary = |name, title, per_ns| {
            let rate = PrimaryOf::Rate { kinds: vec![0], metric: None, per_ns };
            PrimaryMetric { name, title, of: rate, better: Direction::Higher }
        };
        vec![
            primary("records_per_s", "records/s", NS_PER_S * records),
            primary("mb_per_s", "MB/s", NS_PER_S / MEGABYTE * bytes),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let Data { tables, record_size, .. } = self.record.data;
        let Commit { records, statement } = self.record.commit;
        let into = match tables {
            1 => "one table for all clients".to_owned(),
            n => format!(
                "{n} tables, assigned to the clients in turn: client 1 into record1, \
                          client 2 into record2"
            ),
        };
        let by = match statement {
            1 => "one row per INSERT".to_owned(),
            n => format!("up to {n} rows per INSERT"),
        };
        let plural = if records == 1 { "record" } else { "records" };
        vec![
            format!(
                "A transaction inserts and commits {records} {plural} of {record_size} bytes, \
                 {by}, into {into}."
            ),
            self.indexing().to_owned(),
            "Records and MB count committed records; a MB is 10^6 bytes of the records' columns, \
             without the overhead of indexes, logs and pages."
                .to_owned(),
            "The time stamp of a record is 2024-01-01 plus the time since the start of the run, \
             when its INSERT is sent."
                .to_owned(),
        ]
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        writer::statements(&self.record, dialect)
    }

    fn transaction_stores(&self) -> Option<Stored> {
        let records = self.record.commit.records as u64;
        Some(Stored { records, bytes: records * self.record.data.record_size as u64 })
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        Box::new(writer::Writer::new(Arc::clone(&self.record), client))
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    /// Returns true, because no transaction depends on a reply, so that the workload can run on a
    /// database that stores no data. A writer that gets no reply to its query for the last record
    /// number begins with the first one.
    fn is_blind(&self) -> bool {
        true
    }

    /// Returns true: no other run may use the tables, because writers may number the records
    /// themselves, and a run may add and drop indexes.
    fn needs_tables_alone(&self) -> bool {
        true
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(&self.record.data, self.rows.tables())
    }

    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        let tables = self.rows.tables();
        if tables.len() > CROSSCHECK_TABLES_MAX {
            return None;
        }
        let count = |table: &model::Table| format!("(SELECT COUNT(*) FROM {})", table.name);
        let counts: Vec<String> = tables.iter().map(count).collect();
        let sql = format!("SELECT {}", counts.join(" + "));
        Some(Crosscheck { sql, kind: 0, per_commit: self.record.commit.records as u64 })
    }

    fn indexes_after_load(&self, dialect: &Dialect) -> Vec<LaterIndex> {
        if self.record.data.index != IndexPolicy::Afterwards {
            return Vec::new();
        }
        let indexes = |(place, table): (usize, &model::Table)| {
            population::indexes_added(place + 1).map(|index| LaterIndex {
                create: dialect.create_index(table, &index),
                drop: dialect.drop_index(table, &index),
            })
        };
        self.rows.tables().iter().enumerate().flat_map(indexes).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;
    use crate::for_tests::DIALECT;

    /// Builds the workload `record` with these parameters, for tests.
    pub(super) fn made(written: &[(&str, &str)]) -> Result<Arc<dyn Workload>, BadParameter> {
        let settings = Settings::decide(NAME, PARAMETERS, written.iter().copied())?;
        make(&Make { settings: &settings, seed: 7, data: None, source: None })
    }

    #[test]
    fn records_and_bytes_are_counted_by_commits() {
        let written =
            [("record_size", "250"), ("records_per_commit", "40"), ("rows_per_statement", "8")];
        let primary_metrics = made(&written).expect("valid").primary_metrics();
        let per_s = |index: usize| match primary_metrics[index].of {
            PrimaryOf::Rate { per_ns, .. } => per_ns as f64 / 1e9,
            PrimaryOf::Computed => panic!("it is a rate"),
        };
        // One commit a second is 40 records and 10,000 bytes a second.
        assert_eq!((primary_metrics[0].title, per_s(0)), ("records/s", 40.0));
        assert_eq!((primary_metrics[1].title, per_s(1)), ("MB/s", 0.01));
        let crosscheck = made(&written).expect("valid").crosscheck(&DIALECT).expect("declared");
        assert_eq!(crosscheck.per_commit, 40);
    }

    #[test]
    fn indexes_that_are_added_afterwards_are_those_of_the_other_policies() {
        let workload = made(&[("index", "afterwards"), ("tables", "2")]).expect("valid");
        let create: Vec<String> =
            workload.indexes_after_load(&DIALECT).into_iter().map(|one| one.create).collect();
        assert_eq!(
            create,
            [
                "CREATE UNIQUE INDEX record1_id ON record1 (recordID)",
                "CREATE INDEX record1_column1 ON record1 (column1)",
                "CREATE UNIQUE INDEX record2_id ON record2 (recordID)",
                "CREATE INDEX record2_column1 ON record2 (column1)",
            ]
        );
        for index in ["none", "key", "secondary"] {
            let workload = made(&[("index", index)]).expect("valid");
            assert_eq!(workload.indexes_after_load(&DIALECT), []);
        }
    }
}
