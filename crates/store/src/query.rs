//! Queries for runs: conditions on the columns of a list, such as `workload=tpcc and nopm>50000 and
//! label.build=12`, and an order such as `-nopm`. Experiments have the same.
//!
//! A text is parsed once into a value that cannot be wrong; values are bound as parameters, and no
//! user text becomes part of the SQL. Not here: the list itself (reader).

mod figures;
mod parse;
mod value;

use std::fmt;

use model::{did_you_mean, is_control_char};
use rusqlite::types::Value;

pub use self::figures::{Figures, HasFigures};
use self::parse::Parser;

/// Maximum number of characters of a query; a longer one is rejected. They are enough for any user,
/// and few enough for the stack of this process and SQLite's limits.
const CHARACTERS_MAX: usize = 4096;

/// Maximum nesting of parentheses and 'not' in a query; deeper ones are rejected. SQLite's limit is
/// 1,000.
const DEPTH_MAX: usize = 100;

/// Error in the text of a query: a sentence for the user, with the position of the first mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadQuery(String);

impl BadQuery {
    /// Returns an error at the query's character number `at`, counted from 1, with the reason
    /// `why`.
    fn at(at: usize, why: impl fmt::Display) -> BadQuery {
        BadQuery(format!("at character {at}: {why}"))
    }
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadQuery {}

/// SQL condition that a run's process was killed, by the same rule as `reader::worst_of`. The `?`
/// in it takes a JSON list with the `number` of each run whose process is alive.
macro_rules! was_killed {
    () => {
        "run.ended_unix_ms IS NULL AND run.status IN ('running', 'interrupted') \
         AND run.number NOT IN (SELECT value FROM json_each(?))"
    };
}

/// Parsed condition that selects entries of a list of runs or experiments, such as `workload=tpcc
/// and started>-7d`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query(Condition);

/// Parsed order of a list of runs or experiments, such as `-nopm,started`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sort(Vec<Key>);

#[derive(Clone, Debug, PartialEq)]
struct Key {
    field: Field,
    is_descending: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Condition that the value of this field is known, which is written as the field's name alone.
    Known(Field),
    Compared(Field, Operator, value::Value),
}

/// Operator of a comparison in a query, such as `>=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Contains,
}

impl Operator {
    const ALL: [(&str, Operator); 7] = [
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::MoreOrEqual),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::More),
        ("~", Operator::Contains),
    ];

    fn is_of_order(self) -> bool {
        !matches!(self, Operator::Equal | Operator::Unequal | Operator::Contains)
    }

    /// Returns the SQL operator. The operator `~` has none, and returns `=`.
    fn sql(self) -> &'static str {
        match self {
            Operator::Equal | Operator::Unequal | Operator::Contains => "=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::More => ">",
            Operator::MoreOrEqual => ">=",
        }
    }
}

/// Type of a column's values, which determines how conditions compare them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Id of a run or experiment. A condition may give only its start or its end.
    Id,
    /// Id of an experiment, as [`Kind::Id`], or its name, of which this is the SQL expression.
    IdOrName(&'static str),
    Text,
    /// Several names joined by `+`, such as workloads. A condition matches if it gives one of them.
    Names,
    /// Database product with version, such as `MariaDB 10.11.14`. A condition gives the product,
    /// with or without the start of the version.
    Product,
    /// One of the listed words, such as a status, compared only for equality.
    Word(&'static [&'static str]),
    /// One of the listed words, which are in ascending order, so that `<` and `>` compare them.
    Rank(&'static [&'static str]),
    Count,
    Number,
    Duration,
    /// A time, in milliseconds since 1970-01-01T00:00:00Z.
    Instant,
    /// Ids of a run's findings. A condition matches if it gives one of them.
    Finding,
}

/// Column in a list of runs or experiments that queries can name.
#[derive(Debug, PartialEq)]
struct Column {
    name: &'static str,
    kind: Kind,
    /// SQL expression of the column's value. Each `?` in it takes a JSON list with the `number` of
    /// each run whose process is alive, which SQLite cannot know. Not used for findings.
    sql: &'static str,
}

const STATUS: &str = "status";

const STATUSES: [&str; 4] = ["running", "completed", "interrupted", "failed"];

/// Description of a list, of runs or of experiments, for queries on it.
#[derive(Debug, PartialEq)]
struct Listed {
    columns: &'static [Column],
    has_labels: bool,
    /// Example of a condition on the list, for error messages.
    example: &'static str,
}

static RUNS: Listed = Listed {
    columns: &[
        Column { name: "id", kind: Kind::Id, sql: "run.id" },
        Column { name: "started", kind: Kind::Instant, sql: "run.started_unix_ms" },
        Column {
            name: STATUS,
            kind: Kind::Word(&STATUSES),
            sql: "CASE WHEN run.status <> 'running' THEN run.status \
                  WHEN run.number IN (SELECT value FROM json_each(?)) THEN 'running' \
                  ELSE 'interrupted' END",
        },
        Column { name: "name", kind: Kind::Text, sql: "run.name" },
        Column { name: "workload", kind: Kind::Names, sql: "run.workload" },
        Column { name: "target", kind: Kind::Text, sql: "run.target" },
        Column { name: "database", kind: Kind::Product, sql: r#"run."database""# },
        Column { name: "clients", kind: Kind::Count, sql: "run.clients" },
        Column { name: "duration", kind: Kind::Duration, sql: "run.measured_ns" },
        Column { name: "tps", kind: Kind::Number, sql: "run.tps" },
        Column { name: "primary", kind: Kind::Number, sql: "run.primary_value" },
        // Known without a report, so that running runs have it too.
        Column {
            name: "nopm",
            kind: Kind::Number,
            sql: "CASE WHEN run.primary_name = 'nopm' THEN run.primary_value END",
        },
        Column { name: "p99", kind: Kind::Duration, sql: "run.p99_ns" },
        Column {
            name: "validity",
            kind: Kind::Rank(&["good", "note", "warning", "invalid"]),
            // As in `reader::worst_of`.
            sql: concat!(
                "CASE WHEN run.worst_finding = 'invalid' THEN 'invalid' \
                 WHEN run.events_lost > 0 OR (",
                was_killed!(),
                ") THEN 'warning' ELSE coalesce(run.worst_finding, 'good') END"
            ),
        },
        Column { name: "finding", kind: Kind::Finding, sql: "" },
        Column { name: "dbdyno", kind: Kind::Text, sql: "run.dbdyno" },
        Column {
            name: "experiment",
            kind: Kind::IdOrName(
                "(SELECT experiment.name FROM trial JOIN experiment \
                 ON experiment.number = trial.experiment WHERE trial.run = run.number)",
            ),
            sql: "(SELECT experiment.id FROM trial JOIN experiment \
                  ON experiment.number = trial.experiment WHERE trial.run = run.number)",
        },
    ],
    has_labels: true,
    example: "workload=tpcc and nopm>50000",
};

static EXPERIMENTS: Listed = Listed {
    columns: &[
        Column { name: "id", kind: Kind::Id, sql: "experiment.id" },
        Column { name: "started", kind: Kind::Instant, sql: "experiment.started_unix_ms" },
        Column {
            name: STATUS,
            kind: Kind::Word(&STATUSES),
            sql: "(SELECT CASE WHEN walk.status <> 'running' THEN walk.status \
                  WHEN walk.experiment IN (SELECT value FROM json_each(?)) THEN 'running' \
                  ELSE 'interrupted' END FROM walk WHERE walk.experiment = experiment.number)",
        },
        Column { name: "name", kind: Kind::Text, sql: "experiment.name" },
        Column {
            name: "axis",
            kind: Kind::Names,
            sql: "coalesce((SELECT group_concat(axis.value ->> '$.name', '+') \
                  FROM json_each(experiment.body, '$.axes') AS axis), \
                  experiment.body ->> '$.seek.axis')",
        },
        // DISTINCT values are joined by commas; no workload has one in its name.
        Column {
            name: "workload",
            kind: Kind::Names,
            sql: "(SELECT replace(group_concat(DISTINCT run.workload), ',', '+') FROM trial \
                  JOIN run ON run.number = trial.run WHERE trial.experiment = experiment.number)",
        },
        Column {
            name: "trials",
            kind: Kind::Count,
            sql: "CASE WHEN experiment.body ->> '$.seek' IS NULL THEN \
                  json_array_length(experiment.body, '$.points') \
                  * (experiment.body ->> '$.repeats') END",
        },
        Column {
            name: "done",
            kind: Kind::Count,
            sql: "(SELECT count(*) FROM trial JOIN run ON run.number = trial.run \
                  WHERE trial.experiment = experiment.number AND run.status = 'completed')",
        },
    ],
    has_labels: false,
    example: "workload=tpcc and axis=clients",
};

/// Name of the SQLite collation that compares labels as versions.
pub(super) const VERSIONS: &str = "versions";

/// Prefix of a label's key in conditions.
const LABEL: &str = "label.";

/// Field of a run or experiment that a query names: a column of the list, a label, or a figure of
/// the report.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Column(&'static Column),
    Label(String),
    Figure(String, Figures),
}

/// Fields that a query may name: the columns of `listed`, and figures of the report if the list is
/// of runs, which have reports.
#[derive(Clone, Copy, Debug)]
struct Askable {
    listed: &'static Listed,
    figures: Option<Figures>,
}

impl Field {
    fn named(name: &str, at: usize, asked: Askable) -> Result<Field, BadQuery> {
        let listed = asked.listed;
        if let Some(key) = name.strip_prefix(LABEL).filter(|_| listed.has_labels) {
            return match key.is_empty() {
                true => Err(BadQuery::at(at, "a label's key is missing: write label.build")),
                false => Ok(Field::Label(key.to_owned())),
            };
        }
        let lower = name.to_ascii_lowercase();
        if let Some(column) = listed.columns.iter().find(|column| column.name == lower) {
            return Ok(Field::Column(column));
        }
        if let Some(figures) = asked.figures
            && (figures.may_be)(name).map_err(|why| BadQuery::at(at, why))?
        {
            return Ok(Field::Figure(name.to_owned(), figures));
        }
        let mut names: Vec<&str> = listed.columns.iter().map(|column| column.name).collect();
        let mut meant = did_you_mean(&lower, names.iter().copied());
        if meant.is_empty() && listed.has_labels {
            meant = format!(" (a label is {LABEL}{name})");
        }
        names.extend(listed.has_labels.then_some("label.KEY"));
        let figures = asked.figures.map(|_| " and the figures of 'dbdyno list figures'");
        let all = names.join(", ") + figures.unwrap_or_default();
        Err(BadQuery::at(at, format!("there is no column '{name}'{meant}; choose one of {all}")))
    }

    fn figure(&self) -> Option<(&str, Figures)> {
        match self {
            Field::Figure(name, figures) => Some((name, *figures)),
            Field::Column(_) | Field::Label(_) => None,
        }
    }

    fn name(&self) -> String {
        match self {
            Field::Column(column) => column.name.to_owned(),
            Field::Label(key) => format!("{LABEL}{key}"),
            Field::Figure(name, _) => name.clone(),
        }
    }
}

impl Query {
    /// Parses a condition on runs, such as `workload=tpcc and started>-7d`. `now_unix_ms` is the
    /// present time, from which relative times such as `-7d` count. `figures` reads figures in
    /// reports.
    pub fn parse(text: &str, now_unix_ms: i64, figures: Figures) -> Result<Query, BadQuery> {
        Query::parse_asked(Askable { listed: &RUNS, figures: Some(figures) }, text, now_unix_ms)
    }

    fn parse_asked(asked: Askable, text: &str, now_unix_ms: i64) -> Result<Query, BadQuery> {
        Parser::new(asked, text, now_unix_ms)?.query().map(Query)
    }

    /// Returns the figures of reports that the query names: each name as the user wrote it, with
    /// the functions that read the figure.
    pub fn figures(&self) -> Vec<(&str, Figures)> {
        let mut all = Vec::new();
        self.0.figures(&mut all);
        all
    }

    /// Appends the query to `to` as an SQL condition. `alive` is a JSON list with the `number` of
    /// each run (or experiment, in a list of these) whose process is alive.
    pub(super) fn to_sql(&self, alive: &str, to: &mut Sql) {
        self.0.to_sql(alive, to);
    }
}

impl Sort {
    /// Parses an order of runs, such as `-nopm,started`: the first field decides first, and `-`
    /// means descending. `figures` reads figures in reports.
    pub fn parse(text: &str, figures: Figures) -> Result<Sort, BadQuery> {
        Sort::parse_asked(Askable { listed: &RUNS, figures: Some(figures) }, text)
    }

    fn parse_asked(asked: Askable, text: &str) -> Result<Sort, BadQuery> {
        let mut at = 1;
        let mut keys = Vec::new();
        for written in text.split(',') {
            if keys.len() == SORT_KEYS_MAX {
                return Err(BadQuery::at(at, format!("at most {SORT_KEYS_MAX} columns decide")));
            }
            let name = written.trim();
            let (is_descending, name) = match name.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, name.strip_prefix('+').unwrap_or(name)),
            };
            let field = Field::named(name, at, asked)?;
            if matches!(&field, Field::Column(column) if column.kind == Kind::Finding) {
                return Err(BadQuery::at(at, "a run has several findings: sort by validity"));
            }
            keys.push(Key { field, is_descending });
            at += written.chars().count() + 1;
        }
        Ok(Sort(keys))
    }

    /// Returns the figures of reports by which the order sorts: each name as the user wrote it,
    /// with the functions that read the figure.
    pub fn figures(&self) -> Vec<(&str, Figures)> {
        self.0.iter().filter_map(|key| key.field.figure()).collect()
    }

    /// Appends the order to `to` as terms of ORDER BY, with unknown values last. `alive` is a JSON
    /// list with the `number` of each run (or experiment) whose process is alive.
    pub(super) fn to_sql(&self, alive: &str, to: &mut Sql) {
        for key in &self.0 {
            to.put_in_order(&key.field, alive);
            if matches!(key.field, Field::Label(_)) {
                to.put(&format!(" COLLATE {VERSIONS}"));
            }
            to.text += if key.is_descending { " DESC NULLS LAST, " } else { " NULLS LAST, " };
        }
    }
}

/// Maximum number of fields in an order of a list; more are rejected. SQLite has a limit, and more
/// fields would not change the order.
const SORT_KEYS_MAX: usize = 16;

/// Maximum number of characters in a label's key or value, which must fit into a line of a list; a
/// label with more is rejected.
const LABEL_CHARACTERS_MAX: usize = 200;

/// Returns a sentence that says why no run can have the label `key` with `value`: it would break
/// the lines of a list, or queries could not name it. `None` if the label is valid.
pub fn why_no_label(key: &str, value: &str) -> Option<String> {
    let is_askable = |letter: char| !parse::is_sign(letter) && letter != ',';
    if [key, value].iter().any(|text| text.chars().count() > LABEL_CHARACTERS_MAX) {
        return Some(format!("a label is no longer than {LABEL_CHARACTERS_MAX} characters"));
    }
    if [key, value].iter().any(|text| text.contains(is_control_char)) {
        return Some("a label is one line, without control or invisible characters".to_owned());
    }
    match key.is_empty() || !key.chars().all(is_askable) {
        true => Some(format!(
            "the key '{key}' could not be used in conditions (label.KEY): write it without blanks, \
             commas, quotes, brackets and = ! < > ~"
        )),
        false => None,
    }
}

/// Fields that queries for experiments may name: those of the list only, since experiments have no
/// stored report and so no figures.
const EXPERIMENTS_ALONE: Askable = Askable { listed: &EXPERIMENTS, figures: None };

/// Conditions and order for a list of experiments. The default is all experiments, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentFilter {
    query: Option<Query>,
    sort: Sort,
}

impl ExperimentFilter {
    /// Selects only experiments that match the query `text`, in place of an earlier query.
    /// `now_unix_ms` is the base of relative times such as `started>-7d`.
    pub fn that(self, text: &str, now_unix_ms: i64) -> Result<ExperimentFilter, BadQuery> {
        Ok(ExperimentFilter {
            query: Some(Query::parse_asked(EXPERIMENTS_ALONE, text, now_unix_ms)?),
            ..self
        })
    }

    /// Sets the order of the list from text such as `-started`; ties are listed newest first.
    pub fn by(self, text: &str) -> Result<ExperimentFilter, BadQuery> {
        Ok(ExperimentFilter { sort: Sort::parse_asked(EXPERIMENTS_ALONE, text)?, ..self })
    }

    /// Returns the SQL that selects the stored experiments. `alive` has the `number` of each
    /// experiment whose trials are being run.
    pub(super) fn to_sql(&self, alive: &[i64]) -> Sql {
        let alive = &list(alive);
        let mut sql = Sql::default();
        sql.put("SELECT body FROM experiment WHERE TRUE");
        if let Some(query) = &self.query {
            sql.put(" AND ");
            query.to_sql(alive, &mut sql);
        }
        sql.put(" ORDER BY ");
        self.sort.to_sql(alive, &mut sql);
        sql.put("started_unix_ms DESC, id DESC");
        sql
    }
}

/// Formats numbers as a JSON list, for SQLite's `json_each`.
pub(super) fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// SQL text under construction, with the values to bind to each `?` in it, in order.
#[derive(Debug, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
    /// Functions that read figures from reports, to be registered before the SQL runs; `None` if it
    /// uses no figure.
    pub(super) figures: Option<Figures>,
}

impl Sql {
    pub(super) fn put(&mut self, text: &str) {
        self.text += text;
    }

    pub(super) fn bind(&mut self, value: impl Into<Value>) {
        self.values.push(value.into());
    }

    /// Appends the SQL expression by which a field is sorted: the word's index in the column's list
    /// if that is ordered ([`Kind::Rank`]), otherwise the field's value.
    fn put_in_order(&mut self, field: &Field, alive: &str) {
        match field {
            Field::Column(Column { kind: Kind::Rank(words), .. }) => {
                self.put("(SELECT key FROM json_each(?) WHERE value = (");
                self.bind(serde_json::json!(words).to_string());
                self.put_field(field, alive);
                self.put("))");
            }
            _ => self.put_field(field, alive),
        }
    }

    /// Appends the SQL expression for the value of figure `name`.
    pub(super) fn put_figure(&mut self, name: &str, figures: Figures) {
        self.figures = Some(figures);
        self.put(figures::VALUE);
        self.bind(name.to_owned());
    }

    /// Appends the SQL expression for the value of a field.
    fn put_field(&mut self, field: &Field, alive: &str) {
        match field {
            Field::Column(column) => {
                self.put(column.sql);
                column.sql.matches('?').for_each(|_| self.bind(alive.to_owned()));
            }
            Field::Label(key) => {
                self.put("(SELECT value FROM label WHERE label.run = run.number AND key = ?)");
                self.bind(key.clone());
            }
            Field::Figure(name, figures) => self.put_figure(name, *figures),
        }
    }
}

impl Condition {
    fn figures<'a>(&'a self, to: &mut Vec<(&'a str, Figures)>) {
        match self {
            Condition::All(all) | Condition::Any(all) => all.iter().for_each(|one| one.figures(to)),
            Condition::Not(one) => one.figures(to),
            Condition::Known(field) | Condition::Compared(field, ..) => to.extend(field.figure()),
        }
    }

    fn to_sql(&self, alive: &str, to: &mut Sql) {
        match self {
            Condition::All(all) => joined(all, " AND ", alive, to),
            Condition::Any(any) => joined(any, " OR ", alive, to),
            Condition::Not(one) => {
                to.put("NOT ");
                one.to_sql(alive, to);
            }
            Condition::Known(field) => known(field, alive, to),
            Condition::Compared(field, operator, value) => {
                // An unknown value is neither less nor greater than anything, and unequal to
                // everything.
                let is_not = *operator == Operator::Unequal;
                to.put(if is_not { "NOT coalesce((" } else { "coalesce((" });
                compared(field, *operator, value, alive, to);
                to.put("), FALSE)");
            }
        }
    }
}

fn joined(all: &[Condition], between: &str, alive: &str, to: &mut Sql) {
    to.put("(");
    for (index, one) in all.iter().enumerate() {
        to.put(if index > 0 { between } else { "" });
        one.to_sql(alive, to);
    }
    to.put(")");
}

/// SQL condition that a run has a finding, without its closing parenthesis, so that a condition on
/// `id` can follow. Includes findings that the run's process could not report, such as that it was
/// killed. The `?` in it takes a JSON list with the `number` of each run whose process is alive.
const ANY_FINDING: &str = concat!(
    "EXISTS (SELECT 1 FROM (SELECT id FROM finding WHERE finding.run = run.number \
     UNION ALL SELECT 'killed' WHERE ",
    was_killed!(),
    " UNION ALL SELECT 'store_not_written' WHERE run.events_lost > 0) AS finding WHERE TRUE"
);

fn known(field: &Field, alive: &str, to: &mut Sql) {
    if matches!(field, Field::Column(column) if column.kind == Kind::Finding) {
        to.put(ANY_FINDING);
        to.bind(alive.to_owned());
        to.put(")");
        return;
    }
    to.put_field(field, alive);
    to.put(" IS NOT NULL");
}

fn compared(field: &Field, operator: Operator, value: &value::Value, alive: &str, to: &mut Sql) {
    use value::Value as Is;
    let contains = operator == Operator::Contains;
    match value {
        Is::Finding(id) => put_finding(id, contains, alive, to),
        Is::Text(text) => {
            let mut field_sql = Sql::default();
            field_sql.put_field(field, alive);
            to.values.append(&mut field_sql.values);
            put_text(&field_sql.text, contains, text, to);
        }
        Is::Id(id) => put_ends_of_id(field, id, alive, to),
        Is::IdOrName(written, name) => {
            to.put("(");
            put_ends_of_id(field, &written.to_ascii_lowercase(), alive, to);
            to.put(" OR ");
            put_text(name, false, written, to);
            to.put(")");
        }
        Is::OneOf(name) => {
            to.put("instr('+' || lower(");
            to.put_field(field, alive);
            to.put(") || '+', '+' || lower(?) || '+') > 0");
            to.bind(name.clone());
        }
        Is::Product(name) => put_product(field, name, alive, to),
        Is::Bound(name, bound, figures) => {
            to.figures = Some(*figures);
            to.put(&format!("{} {} 0", figures::COMPARED, operator.sql()));
            to.bind(name.clone());
            to.bind(bound.clone());
        }
        Is::Version(version) => {
            to.put_field(field, alive);
            to.put(&format!(" COLLATE {VERSIONS} {} ?", operator.sql()));
            to.bind(version.clone());
        }
        Is::Number(number) => {
            to.put_field(field, alive);
            to.put(&format!(" {} ?", operator.sql()));
            to.bind(*number);
        }
        Is::Whole(number) => {
            to.put_in_order(field, alive);
            to.put(&format!(" {} ?", operator.sql()));
            to.bind(*number);
        }
        Is::Within(from, to_before) => {
            to.put_field(field, alive);
            to.put(" >= ? AND ");
            to.bind(*from);
            to.put_field(field, alive);
            to.put(" < ?");
            to.bind(*to_before);
        }
    }
}

/// Appends the SQL condition that a run has the finding `id` or, if `contains` is set, a finding
/// whose id contains `id`.
fn put_finding(id: &str, contains: bool, alive: &str, to: &mut Sql) {
    to.put(ANY_FINDING);
    to.bind(alive.to_owned());
    to.put(" AND ");
    put_text("finding.id", contains, id, to);
    to.put(")");
}

/// Appends the SQL condition that the value of `field`, the id of a run or an experiment, begins or
/// ends with `id`.
fn put_ends_of_id(field: &Field, id: &str, alive: &str, to: &mut Sql) {
    to.put("substr(");
    to.put_field(field, alive);
    to.put(", 1, length(?)) = ?");
    to.bind(id.to_owned());
    to.bind(id.to_owned());
    to.put(" OR substr(");
    to.put_field(field, alive);
    to.put(", -length(?)) = ?");
    to.bind(id.to_owned());
    to.bind(id.to_owned());
}

/// Appends the SQL condition that product and version begin with the words of `name`. A blank
/// follows each word, so that 10.1 does not find 10.11.
fn put_product(field: &Field, name: &str, alive: &str, to: &mut Sql) {
    const BEFORE: &str = "replace(replace(lower(";
    const AFTER: &str = ") || ' ', '.', ' '), '-', ' ')";
    to.put(&format!("instr({BEFORE}"));
    to.put_field(field, alive);
    to.put(&format!("{AFTER}, {BEFORE}?{AFTER}) = 1"));
    to.bind(name.to_owned());
}

/// Appends the SQL condition that the text in `field_sql` equals `text` or, if `contains` is set,
/// contains it; case is ignored.
fn put_text(field_sql: &str, contains: bool, text: &str, to: &mut Sql) {
    let how = if contains {
        format!("instr(lower({field_sql}), lower(?)) > 0")
    } else {
        format!("({field_sql}) = ? COLLATE NOCASE")
    };
    to.put(&how);
    to.bind(text.to_owned());
}

#[cfg(test)]
mod tests;
