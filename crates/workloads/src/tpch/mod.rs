//! `tpch`: the data and the 22 queries of TPC-H, by its standard specification, revision
//! 2.17.3. In development: the answers of the queries, and the query stream of a power run.
//!
//! Rows are those of the standard's generator, by the crate `tpchgen`. Not here: refresh functions,
//! the throughput test, and the rules of an official TPC result. So no figure is called
//! Power@Size.

mod answers;
mod checks;
mod population;
mod queries;
mod schema;
mod stream;
mod substitution;

use std::sync::Arc;

use model::{
    Answer, BadParameter, Check, Choice, Client, ComputedFigure, Dialect, Direction, Identity,
    Kind, KindIndex, KindTotals, Number, Parameter, ParameterKind, Places, Population,
    PrimaryMetric, PrimaryOf, ScaleInData, ScaleOf, Sent, Statement, StatementKind, Workload,
    choice,
};

use self::queries::{ALL, QUERIES};
use self::schema::Keys;
use self::stream::Stream;
use crate::storage_engine;
use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: "tpch",
    data: "tpch",
    summary: "Analytics: the 22 queries of TPC-H, one after the other (in development: answers \
              and power run only)",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "scale",
        kind: ParameterKind::Number { min: 0.01, max: 1_000.0 },
        default: "0.1",
        help: "Scale factor; 1 is 6,001,215 lines of orders, about 1 GB",
        shapes_data: true,
    },
    Parameter {
        name: "keys",
        kind: ParameterKind::Choice(Keys::NAMES),
        default: "foreign-keys",
        help: "Primary keys and indexes: none, primary keys, or also indexes on foreign keys",
        shapes_data: true,
    },
    Parameter {
        name: "substitution",
        kind: ParameterKind::Choice(Substitution::NAMES),
        default: "drawn",
        help: "Parameters of the queries: drawn from the seed, or those of the validation",
        shapes_data: false,
    },
    storage_engine::PARAMETER,
];

/// Source of the values of the queries' substitution parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Substitution {
    /// Values are drawn from the seed, by the rules of the standard.
    Drawn,
    /// Values are those with which the standard validates the answers.
    Validation,
}

choice!(Substitution { Drawn = "drawn", Validation = "validation" });

/// Name of the primary metric: the geometric mean of the queries' times, in seconds.
const GEOMETRIC_MEAN: &str = "query_geomean_s";
/// Name of the second primary metric: the arithmetic mean of the queries' times, in seconds.
const ARITHMETIC_MEAN: &str = "query_mean_s";
/// Share of the longest time that a shorter time counts as in the geometric mean (clause 5.4.1.4).
const LEAST_SHARE: f64 = 1e-3;

struct Tpch {
    seed: u64,
    substitution: Substitution,
    rows: population::Rows,
    kinds: Vec<Kind>,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let settings = make.settings;
    let kind =
        |query: &queries::Query| Kind { name: query.name, weight: 1, keying_ns: 0, thinking_ns: 0 };
    Ok(Arc::new(Tpch {
        seed: make.seed,
        substitution: settings.chosen("substitution"),
        rows: population::Rows::new(
            settings.number("scale"),
            settings.chosen("keys"),
            settings.chosen(storage_engine::NAME),
            make.data.map_or(make.seed, |data| data.seed),
        ),
        kinds: ALL.iter().map(kind).collect(),
    }))
}

impl Tpch {
    /// Returns the SQL of a query with the standard's validation values.
    fn validation_sql(&self, kind: KindIndex, dialect: &Dialect) -> String {
        let parameters = substitution::validation(kind, self.rows.scale);
        queries::query(kind).sql(&parameters, dialect)
    }
}

impl Workload for Tpch {
    fn identity(&self) -> Identity {
        let rows = &self.rows;
        let scale = [
            ("scale", rows.scale.to_string()),
            ("keys", rows.keys.name().to_owned()),
            rows.engine.scale(),
        ];
        Identity::new(ENTRY.data, 1, scale, rows.seed)
    }

    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[ScaleInData { parameter: storage_engine::NAME, of: ScaleOf::StorageEngine("lineitem") }]
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        let metric = |name, title| PrimaryMetric {
            name,
            title,
            of: PrimaryOf::Computed,
            better: Direction::Lower,
        };
        vec![
            metric(GEOMETRIC_MEAN, "s per query, geometric mean"),
            metric(ARITHMETIC_MEAN, "s per query, mean"),
        ]
    }

    fn computed(&self, kinds: &[KindTotals]) -> Vec<ComputedFigure> {
        let seconds = times_s(kinds);
        let of = |name, mean: fn(&[f64]) -> f64| {
            ComputedFigure::new(name, seconds.as_deref().map(mean).map_err(String::clone))
        };
        vec![of(GEOMETRIC_MEAN, geometric_mean), of(ARITHMETIC_MEAN, arithmetic_mean)]
    }

    fn notes(&self) -> Vec<String> {
        [
            "Derived from TPC-H; not a TPC-H result and not comparable to one.",
            "Only the queries of a power run, without refresh functions: the geometric mean is of \
             22 query times, and is not Power@Size. A time below 1/1000 of the longest counts as \
             that.",
            "Foreign keys are not declared, only indexed if asked for.",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        let statement = |kind: KindIndex| Statement {
            name: queries::query(kind).name,
            kind: StatementKind::Read,
            sql: self.validation_sql(kind, dialect),
            // Values of each execution are part of its text, as in the standard.
            sent: Sent::Text,
        };
        (0..QUERIES as KindIndex).map(statement).collect()
    }

    fn refuses_clients(&self, clients: u32) -> Option<String> {
        let why = "tpch has one client, which executes the query stream of a power run: give \
                   --clients 1 (several streams at once are not there yet)";
        (clients > 1).then(|| why.to_owned())
    }

    fn sequence(&self) -> Option<u64> {
        Some(QUERIES as u64)
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        stream::kind_of(number)
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(Stream::new(self.seed, self.rows.scale, self.substitution))
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(self.rows.scale)
    }

    fn answers(&self, dialect: &Dialect) -> Vec<Answer> {
        let answer = |(kind, known): (usize, &'static answers::Known)| {
            let query = &ALL[kind];
            Answer {
                id: query.name,
                title: query.title.into(),
                sql: self.validation_sql(kind as KindIndex, dialect),
                judge: Box::new(answers::Judge::new(query, known, dialect.decimals)),
            }
        };
        let known = answers::known(self.rows.scale).map_or(&[][..], |known| known);
        known.iter().enumerate().map(answer).collect()
    }
}

/// Returns the time of each query in seconds. Fails, with the reason, unless each was executed
/// once.
fn times_s(kinds: &[KindTotals]) -> Result<Vec<f64>, String> {
    let time_s = |(kind, totals): (usize, &KindTotals)| match (totals.finished, totals.failed) {
        (1, 0) => Ok(totals.sum_ns as f64 / 1e9),
        (_, 1..) => Err(format!("{} failed", ALL[kind].name)),
        (0, 0) => Err(format!("{} did not end", ALL[kind].name)),
        (n, 0) => Err(format!("{} was executed {n} times instead of once", ALL[kind].name)),
    };
    kinds.iter().enumerate().map(time_s).collect()
}

/// Returns the geometric mean of times, of which those below a thousandth of the longest count as
/// that (clause 5.4.1.4).
fn geometric_mean(times_s: &[f64]) -> f64 {
    let least = times_s.iter().copied().fold(0.0, f64::max) * LEAST_SHARE;
    let logs: f64 = times_s.iter().map(|time| time.max(least).ln()).sum();
    (logs / times_s.len() as f64).exp()
}

fn arithmetic_mean(times_s: &[f64]) -> f64 {
    times_s.iter().sum::<f64>() / times_s.len() as f64
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;

    fn workload() -> Arc<dyn Workload> {
        let settings = Settings::decide("tpch", PARAMETERS, []).expect("valid");
        make(&Make { settings: &settings, seed: 1, data: None, source: None }).expect("valid")
    }

    fn once(ms: u64) -> KindTotals {
        let ns = ms * 1_000_000;
        KindTotals { finished: 1, failed: 0, min_ns: ns, max_ns: ns, sum_ns: ns }
    }

    #[test]
    fn means_are_of_all_queries_or_of_none() {
        let figures = |kinds: &[KindTotals]| {
            let figures = workload().computed(kinds);
            figures.into_iter().map(|one| (one.value, one.reason)).collect::<Vec<_>>()
        };
        let mut kinds = vec![once(100); QUERIES];
        kinds[0] = once(10_000);
        let found = figures(&kinds);
        let expect = (21.0 * 0.1_f64.ln() + 10.0_f64.ln()) / 22.0;
        assert!((found[0].0.expect("a mean").ln() - expect).abs() < 1e-12, "{found:?}");
        assert!((found[1].0.expect("a mean") - 12.1 / 22.0).abs() < 1e-12, "{found:?}");
        let check = |nth: usize, totals: KindTotals, expect: &str| {
            let mut kinds = kinds.clone();
            kinds[nth] = totals;
            for (value, reason) in figures(&kinds) {
                assert_eq!((value, reason.as_deref()), (None, Some(expect)));
            }
        };
        check(2, KindTotals { failed: 1, ..KindTotals::default() }, "q3 failed");
        check(21, KindTotals::default(), "q22 did not end");
        let twice = KindTotals { finished: 2, ..once(5) };
        check(8, twice, "q9 was executed 2 times instead of once");
    }

    #[test]
    fn a_time_below_a_thousandth_of_the_longest_counts_as_that() {
        let mean = geometric_mean(&[100.0, 1e-6]);
        assert!((mean - (100.0_f64 * 0.1).sqrt()).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn a_scale_below_the_smallest_is_refused() {
        for scale in ["0", "0.001"] {
            let why = Settings::decide("tpch", PARAMETERS, [("scale", scale)]).expect_err("small");
            let expect = format!("scale: {scale} is too small: it must be at least 0.01");
            assert_eq!(why.to_string(), expect);
        }
    }
}
