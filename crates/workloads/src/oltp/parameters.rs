//! The parameters of the `oltp` workloads, with sysbench's names, and the settings of the data.
//!
//! Not here: their use by each workload (its script).

use model::{BadParameter, Identity, Parameter, ParameterKind, Settings};

use super::distribution::Shape;
use crate::Make;
use crate::storage_engine::{self, StorageEngine};

/// Name of the data that all `oltp` workloads share.
pub(super) const DATA: &str = "oltp";
/// Version of the format of tables and rows, stored with the data. Data of another version are
/// rejected.
const VERSION: u32 = 1;
/// Largest accepted number of rows in a table: below 2^40, from where on clients have ids of their
/// own.
const TABLE_SIZE_MAX: u64 = 1_000_000_000_000;
/// Largest number of rows in a table whose ids and `k` have 32 bits. It leaves 147 million ids for
/// inserts, and as many increments of `k`.
const TABLE_SIZE_INT: i64 = 2_000_000_000;
/// Largest accepted number of tables: the rows of each are a random stream with a 16-bit number.
pub(super) const TABLES_MAX: u64 = 65_535;
/// Largest accepted number of queries of one type in a transaction. The values for that many still
/// fit into a CPU cache.
const TIMES_MAX: u64 = 10_000;

const fn count(
    name: &'static str,
    (min, max): (u64, u64),
    default: &'static str,
    help: &'static str,
) -> Parameter {
    let kind = ParameterKind::Count { min, max };
    Parameter { name, kind, default, help, shapes_data: false }
}

const fn switch(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: ParameterKind::Switch, default, help, shapes_data: false }
}

const fn number(
    name: &'static str,
    (min, max): (f64, f64),
    default: &'static str,
    help: &'static str,
) -> Parameter {
    let kind = ParameterKind::Number { min, max };
    Parameter { name, kind, default, help, shapes_data: false }
}

const fn times(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    count(name, (0, TIMES_MAX), default, help)
}

/// Marks a workload parameter as one that determines the data, so that it cannot change after the
/// build.
const fn data(parameter: Parameter) -> Parameter {
    Parameter { shapes_data: true, ..parameter }
}

/// Parameters of every `oltp` workload. The build draws the column `k` by the `rand_*` parameters,
/// and a run selects rows by them; the values may differ.
pub(super) const SHARED: [Parameter; 12] = [
    data(count(
        "table_size",
        (1, TABLE_SIZE_MAX),
        "10000",
        "Rows of each table; with more than 2 billion, id and k are BIGINT",
    )),
    data(count("tables", (1, TABLES_MAX), "1", "Tables: sbtest1, sbtest2, ...")),
    data(switch("auto_inc", "true", "The database assigns id automatically")),
    data(switch("secondary", "false", "An index on id instead of a primary key")),
    data(switch("create_secondary", "true", "Create an index on k")),
    storage_engine::PARAMETER,
    data(Parameter {
        name: "rand_type",
        kind: ParameterKind::Choice(&["special", "uniform", "gaussian", "pareto", "zipfian"]),
        default: "special",
        help: "Distribution of the rows that statements choose, and of k when the data are built",
        shapes_data: true,
    }),
    data(count("rand_spec_iter", (1, 1000), "12", "Uniform draws averaged into one gaussian draw")),
    data(count("rand_spec_pct", (1, 100), "1", "Width of special's band, in percent of the rows")),
    data(count("rand_spec_res", (0, 99), "75", "Share of draws in special's band, in percent")),
    data(number(
        "rand_pareto_h",
        (0.01, 0.49),
        "0.2",
        "Parameter h of pareto: a share h of the \
                 rows gets 1 - h of the draws",
    )),
    data(number("rand_zipfian_exp", (0.01, 10.0), "0.8", "Exponent of zipfian")),
];

/// Parameters of the read queries of a transaction.
pub(super) const READS: [Parameter; 6] = [
    times("point_selects", "10", "Selects by id in a transaction"),
    switch("range_selects", "true", "Run the selects of ranges; false omits all of them"),
    times("simple_ranges", "1", "Selects of a range of ids"),
    times("sum_ranges", "1", "Sums of k over a range"),
    times("order_ranges", "1", "Selects of a range, ordered by c"),
    times("distinct_ranges", "1", "Selects of the distinct c of a range, ordered"),
];

pub(super) const RANGE_SIZE: [Parameter; 1] =
    [count("range_size", (1, 1_000_000_000), "100", "Ids in a range")];

/// Parameters of the write queries of a transaction: numbers of updates, and of replaced rows.
pub(super) const WRITES: [Parameter; 3] = [
    times("index_updates", "1", "Updates of k, which is indexed"),
    times("non_index_updates", "1", "Updates of c, which is not indexed"),
    times("delete_inserts", "1", "Rows that are deleted and inserted again"),
];

pub(super) const SKIP_TRX: [Parameter; 1] =
    [switch("skip_trx", "false", "Omit BEGIN and COMMIT: each statement is its own transaction")];

/// Parameter for the number of updates of `k`, for workloads that do not have all of [`WRITES`].
pub(super) const INDEX_UPDATES: [Parameter; 1] = [WRITES[0]];
/// Parameter for the number of updates of `c`, for workloads that do not have all of [`WRITES`].
pub(super) const NON_INDEX_UPDATES: [Parameter; 1] = [WRITES[1]];

/// Parameter for the number of equal parts into which rows are divided. Each client uses the rows
/// of one part.
const SEGMENTS: Parameter = count(
    "segments",
    (1, 1_000_000),
    "1",
    "Parts to divide the rows into; each client uses one \
                                            part",
);

/// Parameters of `oltp-random-points`, which selects by many values of `k`.
pub(super) const RANDOM_POINTS: [Parameter; 2] =
    [count("random_points", (1, 1000), "10", "Values of k in the IN list"), SEGMENTS];

/// Parameters of `oltp-random-ranges`, which counts rows in many ranges of `k`.
pub(super) const RANDOM_RANGES: [Parameter; 3] = [
    count("number_of_ranges", (1, 500), "10", "Ranges of k in the condition"),
    count(
        "delta",
        (0, 1_000_000_000),
        "5",
        "Difference between the last and the first value of a \
                                             range",
    ),
    SEGMENTS,
];

/// Concatenates lists of parameters at compile time. They must have `N` parameters in all.
pub(super) const fn join<const N: usize>(tables: &[&[Parameter]]) -> [Parameter; N] {
    let mut joined = [SHARED[0]; N];
    let (mut table, mut place) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            joined[place] = tables[table][row];
            (place, row) = (place + 1, row + 1);
        }
        table += 1;
    }
    assert!(place == N, "the count of rows is not what the tables have");
    joined
}

/// Parameters that determine the tables and their rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Data {
    /// Seed of the random values in the rows.
    pub(super) seed: u64,
    /// Number of rows in each table.
    pub(super) table_size: i64,
    pub(super) tables: usize,
    /// Whether the database assigns the ids of new rows; otherwise clients do.
    pub(super) auto_inc: bool,
    /// Whether `id` has a secondary index instead of the primary key.
    pub(super) secondary: bool,
    /// Whether the column `k` has an index.
    pub(super) create_secondary: bool,
    pub(super) engine: StorageEngine,
    /// Distribution of the values in the column `k`.
    pub(super) k: Shape,
    /// Whether dbdyno built the existing tables. Their ids have 64 bits; those of sysbench have 32.
    pub(super) is_ours: bool,
}

impl Data {
    /// Takes the settings of the data from the workload's parameters; seed and distribution of `k`
    /// are those of existing data, if there are any. Fails if existing data have no record of how
    /// `k` was drawn.
    pub(super) fn new(make: &Make<'_>) -> Result<Data, BadParameter> {
        let asked = Data::asked(make.settings, make.seed);
        let Some(found) = make.data else {
            return Ok(asked);
        };
        let k = found.constant("k_drawn").and_then(Shape::read).ok_or_else(|| {
            let words = "the data do not say how k was drawn ('k_drawn'): build them again";
            BadParameter::new(words)
        })?;
        Ok(Data { seed: found.seed, k, is_ours: true, ..asked })
    }

    fn asked(settings: &Settings, seed: u64) -> Data {
        Data {
            seed,
            table_size: settings.count("table_size") as i64,
            tables: settings.count("tables") as usize,
            auto_inc: settings.switch("auto_inc"),
            secondary: settings.switch("secondary"),
            create_secondary: settings.switch("create_secondary"),
            engine: settings.chosen(storage_engine::NAME),
            k: Shape::from_settings(settings),
            is_ours: false,
        }
    }

    /// Whether ids and `k` need 64 bits, because 32 may not suffice for the rows and the inserts of
    /// runs.
    pub(super) fn is_wide(&self) -> bool {
        self.table_size > TABLE_SIZE_INT
    }

    /// Returns the identity of the data, which the build stores with them: name, version, seed and
    /// parameters.
    pub(super) fn identity(&self) -> Identity {
        let scale = [
            ("table_size", self.table_size.to_string()),
            ("tables", self.tables.to_string()),
            ("auto_inc", self.auto_inc.to_string()),
            ("secondary", self.secondary.to_string()),
            ("create_secondary", self.create_secondary.to_string()),
            self.engine.scale(),
        ];
        let constants = vec![("k_drawn".to_owned(), self.k.written())];
        Identity { constants, ..Identity::new(DATA, VERSION, scale, self.seed) }
    }
}
