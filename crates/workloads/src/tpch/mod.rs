//! `tpch`: the data, the 22 queries, the refresh functions and the power and throughput tests of
//! TPC-H, by its standard specification, revision 2.17.3.
//!
//! Rows are those of the standard's generator, by the crate `tpchgen`. Not here: the rules of an
//! official TPC result, such as the lower of two runs and a price.

mod answers;
mod checks;
mod client;
mod course;
mod metrics;
mod population;
mod queries;
mod refresh;
mod schema;
mod substitution;

use std::sync::Arc;

use model::{
    Answer, BadParameter, Check, Choice, Client, ComparedQuery, ComputedFigure, CutOff, Dialect,
    Execution, Identity, Kind, KindIndex, KindTotals, Number, Parameter, ParameterKind, Places,
    Population, PrimaryMetric, Producer, RepairedCheck, ScaleInData, ScaleOf, Sent, Statement,
    StatementKind, Workload, choice,
};

use self::client::{Executor, PowerTest};
use self::course::{Course, STREAMS_MAX, Test};
use self::queries::{ALL, QUERIES};
use self::schema::Keys;
use crate::storage_engine;
use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: "tpch",
    data: "tpch",
    summary: "Analytics: the queries, refresh functions, power and throughput tests of TPC-H",
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
        name: "test",
        kind: ParameterKind::Choice(Test::NAMES),
        default: "power",
        help: "Test: only the queries of the power test, power, throughput, or both in turn",
        shapes_data: false,
    },
    Parameter {
        name: "streams",
        kind: ParameterKind::Count { min: 0, max: STREAMS_MAX as u64 },
        default: "0",
        help: "Query streams of the throughput test; 0: the standard's minimum at this scale",
        shapes_data: false,
    },
    Parameter {
        name: "substitution",
        kind: ParameterKind::Choice(Substitution::NAMES),
        default: "drawn",
        help: "Parameters of the queries: drawn from the seed, or those of the validation",
        shapes_data: false,
    },
    Parameter {
        name: "query_timeout",
        kind: ParameterKind::Duration,
        default: "0s",
        help: "Longest time of a query, which is then cancelled and has failed; 0s: no limit",
        shapes_data: false,
    },
    Parameter {
        name: "plans",
        kind: ParameterKind::Choice(Plans::NAMES),
        default: "chosen",
        help: "Query plans kept: as chosen, or also as executed once more after the load",
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

/// Plans of queries that are kept with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plans {
    /// The plans that the optimizer chooses, without executing them.
    Chosen,
    /// Also plans with the rows of each step, of one execution of each query after the load.
    Executed,
}

choice!(Plans { Chosen = "chosen", Executed = "executed" });

struct Tpch {
    seed: u64,
    plans: Plans,
    substitution: Substitution,
    course: Course,
    /// Longest time of a query, in nanoseconds; `None` if there is no limit.
    query_limit_ns: Option<u64>,
    rows: population::Rows,
    kinds: Vec<Kind>,
    power_test: Arc<PowerTest>,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let settings = make.settings;
    let scale = settings.number("scale");
    let keys = settings.chosen("keys");
    if keys != Keys::None
        && let Some(why) = population::refused_scale(scale)
    {
        return Err(BadParameter::named("scale", why));
    }
    let streams = settings.count("streams") as u32;
    let course = Course::new(settings.chosen("test"), streams, scale);
    let kind = |name| Kind { name, weight: 1, keying_ns: 0, thinking_ns: 0 };
    let refresh: &[&str] = if course.has_refresh() { &["rf1", "rf2"] } else { &[] };
    let kinds = ALL.iter().map(|query| query.name).chain(refresh.iter().copied()).map(kind);
    Ok(Arc::new(Tpch {
        seed: make.seed,
        plans: settings.chosen("plans"),
        substitution: settings.chosen("substitution"),
        course,
        query_limit_ns: Some(settings.duration_ns("query_timeout")).filter(|limit| *limit > 0),
        rows: population::Rows::new(
            scale,
            keys,
            settings.chosen(storage_engine::NAME),
            make.data.map_or(make.seed, |data| data.seed),
        ),
        kinds: kinds.collect(),
        power_test: Arc::default(),
    }))
}

impl Tpch {
    /// Returns the SQL of a query with the standard's validation values.
    fn validation_sql(&self, kind: KindIndex, dialect: &Dialect) -> String {
        let parameters = substitution::validation(kind, self.rows.scale);
        queries::query(kind).sql(&parameters, dialect)
    }

    /// Returns the limit of a query's rows, with the SQL of the query without it; `None` for a
    /// query that returns all rows.
    fn validation_limit(&self, kind: KindIndex, dialect: &Dialect) -> Option<CutOff> {
        let parameters = substitution::validation(kind, self.rows.scale);
        queries::query(kind).without_limit(&parameters, dialect)
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
        Identity::new(ENTRY.data, 2, scale, rows.seed)
    }

    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[ScaleInData { parameter: storage_engine::NAME, of: ScaleOf::StorageEngine("lineitem") }]
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        metrics::declared(self.course)
    }

    fn computed(&self, _kinds: &[KindTotals], executions: &[Execution]) -> Vec<ComputedFigure> {
        let measured = metrics::Measured {
            course: self.course,
            scale: self.rows.scale,
            query_limit_ns: self.query_limit_ns,
            executions,
        };
        measured.computed()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Derived from TPC-H; not a TPC-H result and not comparable to one.".to_owned(),
            "In the geometric mean, a query's time below 1/1000 of the longest counts as that."
                .to_owned(),
            "Foreign keys are not declared, only indexed if asked for.".to_owned(),
        ];
        if !self.course.has_refresh() {
            notes.push("Only the queries of the power test, without refresh functions.".to_owned());
        }
        notes
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        let statement = |kind: KindIndex| Statement {
            name: queries::query(kind).name,
            kind: StatementKind::Read,
            sql: self.validation_sql(kind, dialect),
            // Values of each execution are part of its text, as in the standard.
            sent: Sent::Text,
        };
        let queries = (0..QUERIES as KindIndex).map(statement);
        match self.course.has_refresh() {
            true => queries.chain(refresh::statements(self.rows.tables(), dialect)).collect(),
            false => queries.collect(),
        }
    }

    fn refuses_clients(&self, clients: u32) -> Option<String> {
        let wanted = self.course.n_clients();
        (clients != wanted).then(|| {
            format!(
                "this test of tpch has {wanted} clients, by --test and --streams: leave --clients \
                 out"
            )
        })
    }

    fn sequence(&self) -> Option<Vec<u64>> {
        let course = self.course;
        let length = |nth: u32| course.length(course.role(nth));
        Some((0..course.n_clients()).map(length).collect())
    }

    fn refuses_processes(&self) -> Option<String> {
        let why = "the clients of tpch wait for each other: they run in one process";
        (self.course.n_clients() > 1).then(|| why.to_owned())
    }

    fn time_limit_ns(&self, kind: KindIndex) -> Option<u64> {
        self.query_limit_ns.filter(|_| kind < course::RF1)
    }

    fn is_analytic(&self) -> bool {
        true
    }

    fn needs_tables_alone(&self) -> bool {
        self.course.has_refresh()
    }

    fn producer(&self) -> Option<&dyn Producer> {
        let waits = self.course.has_power() && self.course.has_throughput();
        waits.then(|| self.power_test.as_ref() as &dyn Producer)
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        self.course.kind_of(number)
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        self.client_of_group(client, client)
    }

    fn client_of_group(&self, _client: u32, nth: u32) -> Box<dyn Client> {
        let inputs = (self.seed, self.rows.scale, self.substitution);
        let role = self.course.role(nth);
        Box::new(Executor::new(inputs, (self.course, role), Arc::clone(&self.power_test)))
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(self.rows.scale)
    }

    fn repaired_checks(&self) -> &'static [RepairedCheck] {
        checks::REPAIRED
    }

    fn is_shown_without_commit(&self, kind: KindIndex) -> bool {
        kind >= course::RF1
    }

    fn explains_execution(&self) -> bool {
        self.plans == Plans::Executed
    }

    fn explained(&self, dialect: &Dialect) -> Vec<(KindIndex, String)> {
        // With the same values in each run, so that their plans can be compared.
        let queries = 0..QUERIES as KindIndex;
        queries.map(|kind| (kind, self.validation_sql(kind, dialect))).collect()
    }

    fn answers(&self, dialect: &Dialect) -> Vec<Answer> {
        let answer = |(kind, known): (usize, &'static answers::Known)| {
            let query = &ALL[kind];
            let reader = answers::Reader::new(query, dialect.decimals);
            Answer {
                id: query.name,
                title: query.title.into(),
                sql: self.validation_sql(kind as KindIndex, dialect),
                judge: Box::new(answers::Judge::new(reader, known)),
            }
        };
        let known = answers::known(self.rows.scale).map_or(&[][..], |known| known);
        known.iter().enumerate().map(answer).collect()
    }

    fn compared(&self, dialect: &Dialect) -> Vec<ComparedQuery> {
        let query = |kind: KindIndex| {
            let query = queries::query(kind);
            let reader = answers::Reader::new(query, dialect.decimals);
            ComparedQuery {
                id: query.name,
                title: query.title.into(),
                sql: self.validation_sql(kind, dialect),
                read: Box::new(move |row| reader.row(row)),
                ratio_share: answers::RATIO_SHARE,
                limit: self.validation_limit(kind, dialect),
            }
        };
        (0..QUERIES as KindIndex).map(query).collect()
    }

    fn answers_unknown(&self) -> Option<&'static str> {
        let is_known = answers::known(self.rows.scale).is_some();
        (!is_known).then_some("answers are known at the scale factors 0.01, 0.1 and 1")
    }

    fn answers_changed(&self) -> Option<(String, &'static str)> {
        let why = "refresh functions have changed the data, and answers are known only for \
                   unchanged data: build them again to compare answers";
        Some((refresh::CHANGED.to_owned(), why))
    }
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;

    #[test]
    fn a_scale_below_the_smallest_is_refused() {
        for scale in ["0", "0.001"] {
            let why = Settings::decide("tpch", PARAMETERS, [("scale", scale)]).expect_err("small");
            let expect = format!("scale: {scale} is too small: it must be at least 0.01");
            assert_eq!(why.to_string(), expect);
        }
    }

    #[test]
    fn each_test_has_its_clients() {
        let check = |written: &[(&str, &str)], expect: &[u64]| {
            let written = written.iter().copied();
            let settings = Settings::decide("tpch", PARAMETERS, written).expect("valid");
            let make = Make { settings: &settings, seed: 1, data: None, source: None };
            let sequence = super::make(&make).expect("valid").sequence();
            assert_eq!(sequence.as_deref(), Some(expect));
        };
        check(&[], &[24]);
        check(&[("test", "queries")], &[22]);
        check(&[("test", "throughput"), ("streams", "3")], &[22, 22, 22, 6]);
        check(&[("test", "both")], &[24, 22, 22, 4]);
    }
}
