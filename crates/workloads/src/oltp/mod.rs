//! The `oltp` workloads: sysbench's OLTP tables and statements, reimplemented.
//!
//! Each workload is a file with its entry for the list of workloads and its script; all share
//! tables, rows, parameters, random draws and the client. `docs/reference/oltp.md` lists the
//! differences to sysbench 1.0. Not here: sysbench's Lua, its options for servers, its report.

pub(crate) mod bulk_insert;
mod checks;
mod client;
pub(crate) mod complex;
pub(crate) mod delete;
mod digits;
mod distribution;
pub(crate) mod insert;
mod parameters;
pub(crate) mod point_select;
mod population;
pub(crate) mod random_points;
pub(crate) mod random_ranges;
pub(crate) mod read_only;
pub(crate) mod read_write;
mod script;
pub(crate) mod update_index;
pub(crate) mod update_non_index;
pub(crate) mod write_only;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Crosscheck, Dialect, Identity, Kind, KindIndex, Number, Places,
    Population, ScaleInData, ScaleOf, Settings, Statement, Workload,
};

use crate::Make;
use crate::storage_engine;
use distribution::{Sampler, Shape};
use parameters::Data;
use script::{Script, Stmt};

/// The only transaction type of each `oltp` workload.
const TRANSACTION: Kind = Kind { name: "transaction", weight: 1, keying_ns: 0, thinking_ns: 0 };

/// Largest number of tables with which the number of rows is compared with the commits, since one
/// statement counts the rows of all tables. With more tables there is no comparison.
const CROSSCHECK_TABLES_MAX: usize = 100;

/// Settings of an `oltp` workload and of its data, shared by all its clients.
struct Oltp {
    data: Data,
    script: Script,
    seed: u64,
    /// Distribution of the row ids that transactions select.
    shape: Shape,
    /// Number of consecutive ids that a range query selects; 1 if the workload has no range
    /// queries.
    range_size: i64,
    /// Number of equal parts (segments) into which the rows of a table are divided. Each client
    /// uses the rows of one part.
    segments: i64,
    kinds: [Kind; 1],
}

struct Member {
    oltp: Arc<Oltp>,
    rows: population::Rows,
}

fn make(
    make: &Make<'_>,
    script: fn(&Settings) -> Script,
) -> Result<Arc<dyn Workload>, BadParameter> {
    let settings = make.settings;
    let data = Data::new(make)?;
    let script = script(settings);
    if script.steps.is_empty() {
        let words = "a transaction has no statements: set one of the numbers of queries above zero";
        return Err(BadParameter::new(words));
    }
    let one_or = |name| if settings.has(name) { settings.count(name) as i64 } else { 1 };
    let segments = one_or("segments");
    if segments > data.table_size {
        return Err(BadParameter::named(
            "segments",
            format!("{segments} are more than the {} rows of a table", data.table_size),
        ));
    }
    let oltp = Oltp {
        data,
        script,
        seed: make.seed,
        shape: Shape::from_settings(settings),
        range_size: one_or("range_size"),
        segments,
        kinds: [TRANSACTION],
    };
    Ok(Arc::new(Member { oltp: Arc::new(oltp), rows: population::Rows::new(data) }))
}

impl Oltp {
    /// Returns the generator of the row ids that a client uses, which are those of its segment.
    fn rows_of(&self, client: u32) -> Sampler {
        let (size, segments) = (self.data.table_size, self.segments);
        let segment = i64::from(client) % segments;
        Sampler::new(self.shape, size * segment / segments + 1, size * (segment + 1) / segments)
    }
}

impl Workload for Member {
    fn identity(&self) -> Identity {
        self.oltp.data.identity()
    }

    /// Recognizes the scale of tables built by sysbench, which have the same names and columns.
    /// Their rows are numbered from 1.
    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[
            ScaleInData { parameter: "tables", of: ScaleOf::Tables("sbtest") },
            ScaleInData { parameter: "table_size", of: ScaleOf::LastNumber("sbtest", "id") },
            ScaleInData { parameter: storage_engine::NAME, of: ScaleOf::StorageEngine("sbtest1") },
        ]
    }

    fn kinds(&self) -> &[Kind] {
        &self.oltp.kinds
    }

    fn notes(&self) -> Vec<String> {
        let mut all = vec![
            format!("Distribution of the row ids, as in sysbench: {}.", self.oltp.shape.sentence()),
            format!(
                "{} are those of sysbench 1.0, written for dbdyno; docs/reference/oltp.md says what differs.",
                match self.oltp.script.asks(Stmt::UpdateDeleteInsert) {
                    true => "The transaction is that of sysbench 0.4; tables and statements",
                    false => "Tables and statements",
                }
            ),
        ];
        if self.oltp.data.k != self.oltp.shape {
            all.push(format!("k was drawn by {}.", self.oltp.data.k.sentence()));
        }
        all
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        self.oltp.script.statements(&self.oltp.data, dialect)
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        Box::new(client::User::new(Arc::clone(&self.oltp), client))
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn checks(&self, dialect: &Dialect) -> Vec<Check> {
        let has_transactions = dialect.is_transactional(self.oltp.data.engine.asked());
        checks::checks(&self.oltp.data, self.oltp.script.loses_rows(has_transactions))
    }

    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        let tables = self.oltp.data.tables;
        let counts = self.oltp.script.asks(Stmt::Insert) && tables <= CROSSCHECK_TABLES_MAX;
        let count = |number| format!("(SELECT COUNT(*) FROM sbtest{number})");
        let all = || (1..=tables).map(count).collect::<Vec<String>>().join(" + ");
        let crosscheck = || Crosscheck { sql: format!("SELECT {}", all()), kind: 0, per_commit: 1 };
        counts.then(crosscheck)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_with(
        written: &[(&str, &str)],
        data: Option<&Identity>,
    ) -> Result<Arc<dyn Workload>, BadParameter> {
        let entry = &random_points::ENTRY;
        let settings = Settings::decide("oltp", entry.parameters, written.iter().copied())?;
        (entry.make)(&Make { settings: &settings, seed: 9, data, source: None })
    }

    #[test]
    fn the_distribution_is_named_and_that_of_the_data_too_where_it_differs() {
        let built = make_with(&[], None).expect("valid");
        assert!(built.notes()[0].contains("special: 75 % of the draws"));
        let identity = Identity { seed: 4, ..built.identity() };
        let run = make_with(&[("rand_type", "zipfian")], Some(&identity)).expect("valid");
        assert_eq!(run.identity(), identity, "the data keep their seed and their k");
        let shown = run.notes();
        assert!(shown[0].contains("zipfian with exponent 0.8"), "{shown:?}");
        assert!(shown[2].starts_with("k was drawn by special"), "{shown:?}");
    }

    #[test]
    fn data_that_do_not_say_how_they_were_drawn_are_refused() {
        let mut identity = make_with(&[], None).expect("valid").identity();
        identity.constants.clear();
        let Err(error) = make_with(&[], Some(&identity)) else { panic!("it is accepted") };
        assert!(error.why.contains("build them again"), "{error}");
    }

    #[test]
    fn segments_part_the_rows_without_gap_or_overlap() {
        let settings = [("segments", "3"), ("table_size", "10")];
        let settings = Settings::decide("oltp", random_points::ENTRY.parameters, settings);
        let data = Data::new(&Make {
            settings: &settings.expect("valid"),
            seed: 1,
            data: None,
            source: None,
        });
        let oltp = Oltp {
            data: data.expect("valid"),
            script: Script::new(None, &[]),
            seed: 1,
            shape: Shape::Uniform,
            range_size: 1,
            segments: 3,
            kinds: [TRANSACTION],
        };
        let mut rng = model::Rng::new(1, model::Stream::Constants, 0);
        let mut drawn = |client| {
            let rows = oltp.rows_of(client);
            (0..200).map(|_| rows.draw(&mut rng)).collect::<std::collections::BTreeSet<i64>>()
        };
        let segments = [drawn(0), drawn(1), drawn(2)].map(Vec::from_iter);
        assert_eq!(segments, [vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9, 10]]);
        assert_eq!(Vec::from_iter(drawn(4)), [4, 5, 6]);
        let Err(error) = make_with(&[("segments", "11"), ("table_size", "10")], None) else {
            panic!("it is accepted")
        };
        assert_eq!(error.parameter.as_deref(), Some("segments"));
    }
}
