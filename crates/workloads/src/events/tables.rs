//! The tables of `events`: `event1`, `event2`, ... with the records that the build inserts, and the
//! readers' result tables `event_age1`, `event_read1` and so on, a set for each host.
//!
//! Not here: how rows reach a database (drivers), and the records of writers (writer).

use std::borrow::Cow;

use model::{Column, ColumnType, Index, NS_PER_US, Population, RowSource, Table, Value};

use super::parameters::{Data, Indexes};
use crate::record::BuiltRecords;

/// Returns the name of the table of records with the index `place`, from 0: `event1` for 0.
pub(super) fn records(place: usize) -> String {
    format!("event{}", place + 1)
}

/// Returns the name of the result table with the ages of records, for the host with the number
/// `host`, from 1.
pub(super) fn ages(host: usize) -> String {
    format!("event_age{host}")
}

/// Returns the name of the result table with the reads that found new records, for the host with
/// the number `host`, from 1.
pub(super) fn reads(host: usize) -> String {
    format!("event_read{host}")
}

pub(super) struct Rows {
    data: Data,
    tables: Vec<Table>,
    built: BuiltRecords,
}

impl Rows {
    pub(super) fn new(data: Data) -> Rows {
        let records = (0..data.tables).map(|place| table_of_records(&data, place));
        let results = (1..=data.reader_hosts).flat_map(|host| [of_ages(host), of_reads(host)]);
        let built = BuiltRecords {
            seed: data.seed,
            rows: data.rows,
            record_size: data.record_size as usize,
            payload: data.payload(),
            emit: |record, emit| {
                let stamped_ns = record.stamped_us * NS_PER_US as i64;
                let [id, stamped, column1] =
                    [record.number, stamped_ns, record.column1].map(Value::Int);
                emit(&[id, id, stamped, column1, Value::Text(record.payload)]);
            },
        };
        Rows { data, tables: records.chain(results).collect(), built }
    }
}

fn table_of_records(data: &Data, place: usize) -> Table {
    let column = |name, column_type| Column { name, of: column_type, nullable: false };
    let name = records(place);
    let on_column1 = (data.indexes == Indexes::Column1).then(|| Index {
        name: format!("{name}_column1").into(),
        columns: vec!["column1"],
        unique: false,
    });
    Table {
        columns: vec![
            column("recordID", ColumnType::BigSerial),
            column("sequence", ColumnType::BigInt),
            column("stamped_ns", ColumnType::BigInt),
            column("column1", ColumnType::Int),
            column("payload", ColumnType::VarChar(data.payload() as u16)),
        ],
        name: Cow::Owned(name),
        primary_key: vec!["recordID"],
        indexes: on_column1.into_iter().collect(),
    }
}

fn of_numbers(name: String, columns: &[&'static str], primary_key: &[&'static str]) -> Table {
    let column = |name: &&'static str| Column { name, of: ColumnType::BigInt, nullable: false };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: primary_key.to_vec(),
        indexes: Vec::new(),
    }
}

/// Columns of the result tables with the ages of records, which have a row for each record that a
/// reader reads for the first time.
pub(super) const AGE_COLUMNS: [&str; 8] =
    ["run", "reader", "source", "record", "sequence", "stamped_ns", "read_ns", "age_ns"];

/// Columns of the result tables with reads, which have a row for each read that found new records.
pub(super) const READ_COLUMNS: [&str; 9] = [
    "run",
    "reader",
    "source",
    "nth",
    "read_ns",
    "after_sequence",
    "last_sequence",
    "missed",
    "duplicates",
];

fn of_ages(host: usize) -> Table {
    of_numbers(ages(host), &AGE_COLUMNS, &["run", "reader", "sequence"])
}

fn of_reads(host: usize) -> Table {
    of_numbers(reads(host), &READ_COLUMNS, &["run", "reader", "nth"])
}

impl Population for Rows {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn n_chunks(&self, table: usize) -> u64 {
        if table < self.data.tables { self.built.n_chunks() } else { 0 }
    }

    fn n_rows(&self, table: usize) -> u64 {
        if table < self.data.tables { self.data.rows as u64 } else { 0 }
    }

    fn storage_engine(&self) -> Option<&'static str> {
        self.data.engine.asked()
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        assert!(chunk < self.n_chunks(table), "table {table} has no chunk {chunk}");
        Box::new(self.built.chunk(table, chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{GAP_US, STARTED_AT_US};
    use crate::storage_engine::StorageEngine;

    const DATA: Data = Data {
        seed: 1,
        record_size: 16_000,
        tables: 2,
        indexes: Indexes::Column1,
        engine: StorageEngine::Default,
        rows: 1_300,
        reader_hosts: 2,
    };

    #[test]
    fn tables_of_records_have_their_index_and_each_host_a_set_of_results() {
        let rows = Rows::new(DATA);
        let names: Vec<&str> = rows.tables().iter().map(|table| &*table.name).collect();
        let results = ["event_age1", "event_read1", "event_age2", "event_read2"];
        assert_eq!(names, [&["event1", "event2"][..], &results].concat());
        assert_eq!(rows.tables()[1].indexes[0].name, "event2_column1");
        let key = Rows::new(Data { indexes: Indexes::Key, ..DATA });
        assert!(key.tables().iter().all(|table| table.indexes.is_empty()));
    }

    #[test]
    fn records_that_are_built_are_numbered_stamped_before_any_run_and_of_their_size() {
        let rows = Rows::new(DATA);
        let mut found = Vec::new();
        for chunk in 0..rows.n_chunks(1) {
            let mut source = rows.rows(1, chunk);
            while source.next(&mut |row| match row {
                [Value::Int(id), Value::Int(number), Value::Int(at), _, Value::Text(text)] => {
                    found.push((*id, *number, *at, text.len()));
                }
                other => panic!("{other:?}"),
            }) {}
        }
        assert_eq!((found.len(), rows.n_chunks(1), rows.n_chunks(2)), (1_300, 2, 0));
        assert!(found.iter().zip(1..).all(|(row, id)| (row.0, row.1) == (id, id)));
        assert!(found.iter().all(|row| row.3 == 15_972));
        assert_eq!(found[1_299].2, (STARTED_AT_US - GAP_US) * 1_000);
    }
}
