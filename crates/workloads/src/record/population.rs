//! The tables of `record`, `record1`, `record2`, ..., and the records that the build inserts.
//!
//! Not here: how rows reach a database (drivers), and the records of writers (writer).

use model::{
    Column, ColumnType, Index, NS_PER_US, Population, Rng, RowSource, Stream, Table,
    VIRTUAL_ORIGIN_UNIX_NS, Value,
};

use super::parameters::{Data, IndexPolicy};

/// First time stamp of a run: 2024-01-01T00:00:00Z, in microseconds since 1970. It is the same for
/// all runs, so that the same seed and the same simulated time give the same records.
pub(crate) const STARTED_AT_US: i64 = (VIRTUAL_ORIGIN_UNIX_NS / NS_PER_US) as i64;
/// Microseconds between the time stamps of two built records, as from a sensor at 1 kHz.
pub(crate) const GAP_US: i64 = 1_000;
/// Largest value of `column1`. The smallest is 0, so that the condition `column1 < 300`, of the
/// query in the paper from which `record` is derived, selects 30 % of the records.
const COLUMN1_MAX: i64 = 999;
/// Size of the records that the build inserts as one chunk, in bytes. A chunk takes a second or
/// less, so an interrupted build repeats little.
const CHUNK_BYTES: usize = 20_000_000;

pub(super) struct Rows {
    data: Data,
    tables: Vec<Table>,
    built: BuiltRecords,
}

impl Rows {
    pub(super) fn new(data: Data) -> Rows {
        let tables = (1..=data.tables).map(|number| table(&data, number)).collect();
        let built = BuiltRecords {
            seed: data.seed,
            rows: data.rows,
            record_size: data.record_size,
            payload: data.payload(),
            emit: |record, emit| {
                let stamped = Value::Timestamp(record.stamped_us);
                let [id, column1] = [record.number, record.column1].map(Value::Int);
                emit(&[id, stamped, column1, Value::Text(record.payload)]);
            },
        };
        Rows { data, tables, built }
    }
}

/// Declares the table with the number `number`, from 1. The paper's tables have an AUTO_INCREMENT
/// key. Without a key, MySQL and MariaDB cannot assign numbers, so writers assign them, in a column
/// of the same size.
fn table(data: &Data, number: usize) -> Table {
    let id = if data.index.has_key() { ColumnType::BigSerial } else { ColumnType::BigInt };
    let columns = [
        ("recordID", id),
        ("stamped", ColumnType::Timestamp),
        ("column1", ColumnType::Int),
        ("payload", ColumnType::VarChar(data.payload() as u16)),
    ];
    let [_, on_column1] = indexes_added(number);
    let secondary = (data.index == IndexPolicy::Secondary).then_some(on_column1);
    Table {
        name: format!("record{number}").into(),
        columns: columns
            .map(|(name, column_type)| Column { name, of: column_type, nullable: false })
            .to_vec(),
        primary_key: if data.index.has_key() { vec!["recordID"] } else { Vec::new() },
        indexes: secondary.into_iter().collect(),
    }
}

/// Returns the indexes that are added to the table with the number `number` after the load: a
/// unique one on `recordID`, which is the key with other index policies, and one on `column1`.
pub(super) fn indexes_added(number: usize) -> [Index; 2] {
    let index = |stem: &str, column, unique| Index {
        name: format!("record{number}_{stem}").into(),
        columns: vec![column],
        unique,
    };
    [index("id", "recordID", true), index("column1", "column1", false)]
}

/// Returns the time stamp of a record that is sent `run_ns` nanoseconds after the start of the run.
pub(super) fn stamp(run_ns: u64) -> Value<'static> {
    Value::Timestamp(STARTED_AT_US + (run_ns / NS_PER_US) as i64)
}

/// Draws a random value of `column1`, from 0 to 999.
pub(crate) fn draw_column1(rng: &mut Rng) -> i64 {
    rng.uniform(0, COLUMN1_MAX)
}

/// Appends a random payload of `length` characters to `text`. Each character has six random bits,
/// so that page compression saves at most a quarter.
pub(crate) fn draw_payload(rng: &mut Rng, text: &mut String, length: usize) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    const PER_THROW: usize = 10;
    let mut left = length;
    while left > 0 {
        let mut bits = rng.bits();
        for _ in 0..left.min(PER_THROW) {
            text.push(char::from(LETTERS[(bits & 63) as usize]));
            bits >>= 6;
        }
        left -= left.min(PER_THROW);
    }
}

impl Population for Rows {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn n_chunks(&self, _table: usize) -> u64 {
        self.built.n_chunks()
    }

    fn n_rows(&self, _table: usize) -> u64 {
        self.data.rows as u64
    }

    fn storage_engine(&self) -> Option<&'static str> {
        self.data.engine.asked()
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        assert!(chunk < self.n_chunks(table), "table {table} has no chunk {chunk}");
        Box::new(self.built.chunk(table, chunk))
    }
}

/// A record that the build inserts.
pub(crate) struct BuiltRecord<'t> {
    /// Number of the record in its table, from 1.
    pub(crate) number: i64,
    /// Time stamp of the record, in microseconds since 1970.
    pub(crate) stamped_us: i64,
    pub(crate) column1: i64,
    pub(crate) payload: &'t str,
}

/// Function that passes a built record to a callback, as a row with the columns of the workload.
type EmitRecord = fn(&BuiltRecord<'_>, &mut dyn FnMut(&[Value<'_>]));

/// Generator of the records that the build inserts into each table.
pub(crate) struct BuiltRecords {
    pub(crate) seed: u64,
    /// Number of records that the build inserts into each table.
    pub(crate) rows: i64,
    /// Size of a record in bytes.
    pub(crate) record_size: usize,
    /// Length of a record's payload, in characters.
    pub(crate) payload: usize,
    pub(crate) emit: EmitRecord,
}

impl BuiltRecords {
    /// Returns the number of chunks per table, which the build inserts one by one.
    pub(crate) fn n_chunks(&self) -> u64 {
        (self.rows as u64).div_ceil(self.chunk_rows() as u64)
    }

    /// Returns the rows of the chunk with the index `chunk`, of the table with the index `table`,
    /// both from 0.
    pub(crate) fn chunk(&self, table: usize, chunk: u64) -> impl RowSource + Send + use<> {
        let n_before = chunk as i64 * self.chunk_rows();
        Chunk {
            rng: Rng::new(self.seed, Stream::Data(table as u16), chunk),
            next: n_before + 1,
            last: self.rows.min(n_before + self.chunk_rows()),
            rows: self.rows,
            payload: self.payload,
            emit: self.emit,
            text: String::new(),
        }
    }

    fn chunk_rows(&self) -> i64 {
        (CHUNK_BYTES / self.record_size) as i64
    }
}

/// Iterator over the built records of a chunk, as rows.
struct Chunk {
    rng: Rng,
    next: i64,
    last: i64,
    /// Number of records that the build inserts into the table.
    rows: i64,
    payload: usize,
    emit: EmitRecord,
    text: String,
}

impl RowSource for Chunk {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next > self.last {
            return false;
        }
        let column1 = draw_column1(&mut self.rng);
        self.text.clear();
        draw_payload(&mut self.rng, &mut self.text, self.payload);
        let stamped_us = STARTED_AT_US - (self.rows + 1 - self.next) * GAP_US;
        let record = BuiltRecord { number: self.next, stamped_us, column1, payload: &self.text };
        (self.emit)(&record, emit);
        self.next += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage_engine::StorageEngine;

    const DATA: Data = Data {
        seed: 1,
        tables: 2,
        rows: 1_300,
        record_size: 16_000,
        index: IndexPolicy::Key,
        engine: StorageEngine::Default,
    };

    fn all(data: Data, table: usize) -> Vec<(i64, i64, i64, String)> {
        let rows = Rows::new(data);
        let mut found = Vec::new();
        for chunk in 0..rows.n_chunks(table) {
            let mut source = rows.rows(table, chunk);
            while source.next(&mut |row| match row {
                [Value::Int(id), Value::Timestamp(at), Value::Int(one), Value::Text(text)] => {
                    found.push((*id, *at, *one, (*text).to_owned()));
                }
                other => panic!("{other:?}"),
            }) {}
        }
        found
    }

    #[test]
    fn records_are_numbered_stamped_before_the_run_and_as_long_as_asked() {
        let rows = all(DATA, 1);
        assert_eq!((rows.len(), Rows::new(DATA).n_chunks(1)), (1_300, 2));
        assert!(rows.iter().zip(1..).all(|(row, id)| row.0 == id));
        assert!(rows.windows(2).all(|pair| pair[1].1 - pair[0].1 == GAP_US));
        assert_eq!(rows[1_299].1, STARTED_AT_US - GAP_US);
        assert!(rows.iter().all(|row| (0..=COLUMN1_MAX).contains(&row.2)));
        assert!(rows.iter().all(|row| row.3.len() == DATA.payload()));
    }

    #[test]
    fn the_first_record_of_a_seed_never_changes() {
        // Frozen: data built by an old version must be built again by a new one.
        let rows = all(Data { record_size: 44, ..DATA }, 0);
        let (id, at, column1, payload) = &rows[0];
        let first = format!("{id} {at} {column1} {payload}");
        assert_eq!(first, "1 1704067198700000 391 OM4pm64vC7V1Fasih7YERrXJ");
        let others = [
            all(Data { record_size: 44, ..DATA }, 1).swap_remove(0).3,
            all(Data { record_size: 44, seed: 2, ..DATA }, 0).swap_remove(0).3,
            rows[1].3.clone(),
        ];
        assert!(!others.contains(payload), "{others:?}");
    }

    #[test]
    fn tables_have_the_key_and_the_index_of_their_policy() {
        let check = |index, id: ColumnType, key: &[&str], indexes: &[&str]| {
            let table = &Rows::new(Data { index, record_size: 100, ..DATA }).tables[1];
            assert_eq!((&*table.name, table.columns[0].of), ("record2", id));
            assert_eq!(table.primary_key, key);
            let names: Vec<&str> = table.indexes.iter().map(|index| &*index.name).collect();
            assert_eq!(names, indexes);
            assert_eq!(table.columns[3].of, ColumnType::VarChar(80));
        };
        check(IndexPolicy::None, ColumnType::BigInt, &[], &[]);
        check(IndexPolicy::Afterwards, ColumnType::BigInt, &[], &[]);
        check(IndexPolicy::Key, ColumnType::BigSerial, &["recordID"], &[]);
        let indexes = ["record2_column1"];
        check(IndexPolicy::Secondary, ColumnType::BigSerial, &["recordID"], &indexes);
    }
}
