//! The tables of the `oltp` workloads, `sbtest1`, `sbtest2`, ..., and their rows. Each chunk of
//! rows depends only on the seed, the table and its own number.
//!
//! Not here: how rows reach a database (drivers), and which chunks are built (app).

use model::{Column, ColumnType, Index, Population, Rng, RowSource, Stream, Table, Value};

use super::digits::{C, Digits, PAD};
use super::distribution::Sampler;
use super::parameters::Data;

/// Number of rows that the build inserts as one chunk. A chunk is 19 MB and takes a second or less,
/// so an interrupted build repeats little.
const CHUNK_ROWS: i64 = 100_000;

pub(super) struct Rows {
    data: Data,
    tables: Vec<Table>,
}

impl Rows {
    pub(super) fn new(data: Data) -> Rows {
        let tables = (1..=data.tables).map(|number| table(&data, number)).collect();
        Rows { data, tables }
    }
}

/// Declares the table with the number `number`, from 1. Ids that clients assign have 64 bits, so
/// that each client can have a range of its own, and so have ids and `k` of very large tables.
fn table(data: &Data, number: usize) -> Table {
    let (id_type, k_type) = match (data.auto_inc, data.is_wide()) {
        (true, false) => (ColumnType::Serial, ColumnType::Int),
        (true, true) => (ColumnType::BigSerial, ColumnType::BigInt),
        (false, false) => (ColumnType::BigInt, ColumnType::Int),
        (false, true) => (ColumnType::BigInt, ColumnType::BigInt),
    };
    let column = |(name, column_type)| Column { name, of: column_type, nullable: false };
    let columns = [
        ("id", id_type),
        ("k", k_type),
        ("c", ColumnType::Char(120)),
        ("pad", ColumnType::Char(60)),
    ];
    let index =
        |name: String, column| Index { name: name.into(), columns: vec![column], unique: false };
    let on_id = data.secondary.then(|| index(format!("xid_{number}"), "id"));
    let on_k = data.create_secondary.then(|| index(format!("k_{number}"), "k"));
    Table {
        name: format!("sbtest{number}").into(),
        columns: columns.map(column).to_vec(),
        primary_key: if data.secondary { Vec::new() } else { vec!["id"] },
        indexes: on_id.into_iter().chain(on_k).collect(),
    }
}

impl Population for Rows {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn n_chunks(&self, _table: usize) -> u64 {
        (self.data.table_size as u64).div_ceil(CHUNK_ROWS as u64)
    }

    fn n_rows(&self, _table: usize) -> u64 {
        self.data.table_size as u64
    }

    fn storage_engine(&self) -> Option<&'static str> {
        self.data.engine.asked()
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        assert!(chunk < self.n_chunks(table), "table {table} has no chunk {chunk}");
        let n_before = chunk as i64 * CHUNK_ROWS;
        Box::new(Chunk {
            rng: Rng::new(self.data.seed, Stream::Data(table as u16), chunk),
            next: n_before + 1,
            last: self.data.table_size.min(n_before + CHUNK_ROWS),
            k: Sampler::new(self.data.k, 1, self.data.table_size),
            c: Digits::default(),
            pad: Digits::default(),
        })
    }
}

/// Iterator over the rows of a chunk, a part of a table that the build inserts at once.
struct Chunk {
    rng: Rng,
    next: i64,
    last: i64,
    k: Sampler,
    c: Digits<C>,
    pad: Digits<PAD>,
}

impl RowSource for Chunk {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next > self.last {
            return false;
        }
        let k = self.k.draw(&mut self.rng);
        self.c.draw(&mut self.rng);
        self.pad.draw(&mut self.rng);
        emit(&[
            Value::Int(self.next),
            Value::Int(k),
            Value::Text(self.c.text()),
            Value::Text(self.pad.text()),
        ]);
        self.next += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::distribution::Shape;
    use super::*;
    use crate::storage_engine::StorageEngine;

    const DATA: Data = Data {
        seed: 1,
        table_size: 250_000,
        tables: 3,
        auto_inc: true,
        is_ours: true,
        secondary: false,
        create_secondary: true,
        engine: StorageEngine::Default,
        k: Shape::Special { iterations: 12, percent: 1, res: 75 },
    };

    fn each(rows: &Rows, table: usize, chunk: u64, mut visit: impl FnMut(i64, i64, &str, &str)) {
        let mut source = rows.rows(table, chunk);
        while source.next(&mut |row| match row {
            [Value::Int(id), Value::Int(k), Value::Text(c), Value::Text(pad)] => {
                visit(*id, *k, c, pad);
            }
            other => panic!("{other:?}"),
        }) {}
    }

    #[test]
    fn ids_count_from_one_to_the_size_of_the_table() {
        let rows = Rows::new(DATA);
        assert_eq!((rows.n_chunks(0), rows.n_rows(2)), (3, 250_000));
        let mut expect = 1;
        for chunk in 0..3 {
            each(&rows, 1, chunk, |id, k, c, pad| {
                assert_eq!((id, c.len(), pad.len()), (expect, C, PAD));
                assert!((1..=250_000).contains(&k));
                expect += 1;
            });
        }
        assert_eq!(expect, 250_001);
    }

    #[test]
    fn a_chunk_is_the_same_whenever_it_is_built_and_unlike_every_other() {
        let first = |seed, table, chunk| {
            let mut rows = Vec::new();
            let population = Rows::new(Data { seed, ..DATA });
            each(&population, table, chunk, |_, k, c, pad| rows.push(format!("{k} {c} {pad}")));
            rows.swap_remove(0)
        };
        assert_eq!(first(1, 0, 0), first(1, 0, 0));
        let all = [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0)].map(|(s, t, c)| first(s, t, c));
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn the_first_row_of_a_seed_never_changes() {
        // Frozen: data built by an old version must be built again by a new one.
        let mut rows = Vec::new();
        let population = Rows::new(Data { table_size: 1000, ..DATA });
        each(&population, 0, 0, |id, k, c, pad| rows.push(format!("{id} {k} {} {pad}", &c[..23])));
        let expect = "1 499 93265912277-44178665258 \
                      30394545325-09991980612-08014476696-56906122435-72168515969";
        assert_eq!(rows[0], expect);
    }

    #[test]
    fn tables_have_the_keys_and_indexes_asked_for() {
        let check = |data: Data, key: &[&str], indexes: &[&str], id_type| {
            let table = &Rows::new(data).tables[1];
            assert_eq!(table.name, "sbtest2");
            assert_eq!(table.primary_key, key);
            let names: Vec<&str> = table.indexes.iter().map(|index| &*index.name).collect();
            assert_eq!(names, indexes);
            assert_eq!(table.columns[0].of, id_type);
        };
        check(DATA, &["id"], &["k_2"], ColumnType::Serial);
        let data = Data { secondary: true, create_secondary: false, auto_inc: false, ..DATA };
        check(data, &[], &["xid_2"], ColumnType::BigInt);
    }

    #[test]
    fn ids_and_k_have_64_bits_where_32_may_not_suffice() {
        use ColumnType::{BigInt, BigSerial, Int, Serial};
        let types = |table_size, auto_inc| {
            let columns = Rows::new(Data { table_size, auto_inc, ..DATA }).tables.swap_remove(0);
            [columns.columns[0].of, columns.columns[1].of]
        };
        assert_eq!(types(2_000_000_000, true), [Serial, Int]);
        assert_eq!(types(2_000_000_001, true), [BigSerial, BigInt]);
        assert_eq!(types(2_000_000_000, false), [BigInt, Int]);
        assert_eq!(types(3_000_000_000, false), [BigInt, BigInt]);
    }

    #[test]
    fn the_last_rows_of_very_large_tables_have_the_highest_ids() {
        for table_size in [3_000_000_000, 1_000_000_000_000] {
            let rows = Rows::new(Data { table_size, ..DATA });
            let n_chunks = rows.n_chunks(0);
            assert_eq!(n_chunks as i64, table_size / CHUNK_ROWS);
            let (mut last, mut most) = (0, 0);
            each(&rows, 0, n_chunks - 1, |id, k, _, _| {
                assert!((1..=table_size).contains(&k));
                (last, most) = (id, most.max(k));
            });
            assert_eq!(last, table_size);
            assert!(most > i64::from(i32::MAX), "k is drawn from all of them");
        }
    }
}
