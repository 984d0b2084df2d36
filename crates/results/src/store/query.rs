//! Which runs are meant: conditions on what a list of runs shows, such as
//! `workload=tpcc and nopm>50000 and label.build=12`, and an order such as `-nopm`.
//!
//! A text is parsed once into a value that cannot be wrong; SQLite is asked with parameters, and
//! nothing that was written becomes a part of its SQL. Not here: the list itself (reader).

mod parse;
mod value;

use std::fmt;

use model::did_you_mean;
use rusqlite::types::Value;

use self::parse::Parser;

/// The longest query: far more than anybody writes, and so few conditions that neither our own
/// stack nor SQLite's limits are met.
const CHARACTERS_MAX: usize = 4096;

/// Brackets and 'not' within each other: SQLite takes 1,000.
const DEPTH_MAX: usize = 100;

/// Why a query cannot be understood: one sentence, with the place of the first mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadQuery(String);

impl BadQuery {
    /// `at` counts characters from 1.
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

/// Conditions on runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Query(Condition);

/// An order of runs.
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
    /// It has a value at all.
    Known(Field),
    Compared(Field, Operator, value::Value),
}

/// How a column is held against a value.
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

    /// As in SQL; '~' is none there.
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

/// What a column holds, and so what may be held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A run's or an experiment's id: its beginning or end will do.
    Id,
    Text,
    /// Names with `+` between: one of them is enough.
    Names,
    /// One of a few words.
    Word(&'static [&'static str]),
    Count,
    Number,
    /// Nanoseconds.
    Duration,
    /// Milliseconds since 1970.
    Instant,
    /// One of its findings' ids.
    Finding,
}

/// A column of the list.
#[derive(Debug, PartialEq)]
struct Column {
    name: &'static str,
    kind: Kind,
    /// What it is in SQL; a status is derived, and a finding is one of several.
    sql: &'static str,
}

const STATUS: &str = "status";

static COLUMNS: [Column; 15] = [
    Column { name: "id", kind: Kind::Id, sql: "run.id" },
    Column { name: "started", kind: Kind::Instant, sql: "run.started_unix_ms" },
    Column {
        name: STATUS,
        kind: Kind::Word(&["running", "completed", "interrupted", "failed"]),
        sql: "CASE WHEN run.status <> 'running' THEN run.status \
              WHEN run.number IN (SELECT value FROM json_each(?)) THEN 'running' \
              ELSE 'interrupted' END",
    },
    Column { name: "name", kind: Kind::Text, sql: "run.name" },
    Column { name: "workload", kind: Kind::Names, sql: "run.workload" },
    Column { name: "target", kind: Kind::Text, sql: "run.target" },
    Column { name: "database", kind: Kind::Text, sql: r#"run."database""# },
    Column { name: "clients", kind: Kind::Count, sql: "run.clients" },
    Column { name: "duration", kind: Kind::Duration, sql: "run.measured_ns" },
    Column { name: "tps", kind: Kind::Number, sql: "run.tps" },
    Column { name: "nopm", kind: Kind::Number, sql: "run.nopm" },
    Column { name: "p99", kind: Kind::Duration, sql: "run.p99_ns" },
    Column {
        name: "trust",
        kind: Kind::Word(&["good", "note", "warning", "invalid"]),
        sql: "coalesce(run.worst_finding, 'good')",
    },
    Column { name: "finding", kind: Kind::Finding, sql: "" },
    Column { name: "dbdyno", kind: Kind::Text, sql: "run.dbdyno" },
];

static EXPERIMENT: Column = Column {
    name: "experiment",
    kind: Kind::Id,
    sql: "(SELECT experiment.id FROM trial JOIN experiment \
          ON experiment.number = trial.experiment WHERE trial.run = run.number)",
};

/// What stands before a label's key.
const LABEL: &str = "label.";

/// A column, or a label.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Column(&'static Column),
    Label(String),
}

impl Field {
    fn named(name: &str, at: usize) -> Result<Field, BadQuery> {
        if let Some(key) = name.strip_prefix(LABEL) {
            return match key.is_empty() {
                true => Err(BadQuery::at(at, "a label's key is missing: write label.build")),
                false => Ok(Field::Label(key.to_owned())),
            };
        }
        let columns = || COLUMNS.iter().chain([&EXPERIMENT]);
        let lower = name.to_ascii_lowercase();
        columns().find(|column| column.name == lower).map(Field::Column).ok_or_else(|| {
            let names: Vec<&str> = columns().map(|column| column.name).collect();
            let meant = did_you_mean(&lower, names.iter().copied());
            let all = names.join(", ");
            let why = format!("there is no column '{name}'{meant}; there are {all}, label.KEY");
            BadQuery::at(at, why)
        })
    }

    fn name(&self) -> String {
        match self {
            Field::Column(column) => column.name.to_owned(),
            Field::Label(key) => format!("{LABEL}{key}"),
        }
    }
}

impl Query {
    /// Reads conditions; `now_unix_ms` is what `started>-7d` counts back from.
    pub fn parse(text: &str, now_unix_ms: i64) -> Result<Query, BadQuery> {
        Parser::new(text, now_unix_ms)?.query().map(Query)
    }

    /// As a condition in SQL on rows of `run`; `alive` are the numbers of the runs whose process
    /// lives, as a list in JSON.
    pub(super) fn to_sql(&self, alive: &str, to: &mut Sql) {
        self.0.to_sql(alive, to);
    }
}

impl Sort {
    /// Reads `-nopm,started`: columns, the first one decides first; `-` is from the highest down.
    pub fn parse(text: &str) -> Result<Sort, BadQuery> {
        let mut at = 1;
        let mut keys = Vec::new();
        for written in text.split(',') {
            let name = written.trim();
            let (is_descending, name) = match name.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, name.strip_prefix('+').unwrap_or(name)),
            };
            let field = Field::named(name, at)?;
            if matches!(&field, Field::Column(column) if column.kind == Kind::Finding) {
                return Err(BadQuery::at(at, "a run has several findings: sort by trust"));
            }
            keys.push(Key { field, is_descending });
            at += written.chars().count() + 1;
        }
        Ok(Sort(keys))
    }

    /// What follows ORDER BY: what is not known comes last.
    pub(super) fn to_sql(&self, alive: &str, to: &mut Sql) {
        for key in &self.0 {
            to.put_field(&key.field, alive);
            to.text += if key.is_descending { " DESC NULLS LAST, " } else { " NULLS LAST, " };
        }
    }
}

/// SQL and what its `?` stand for.
#[derive(Debug, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

impl Sql {
    pub(super) fn put(&mut self, text: &str) {
        self.text += text;
    }

    pub(super) fn bind(&mut self, value: impl Into<Value>) {
        self.values.push(value.into());
    }

    /// The value of a column or label.
    fn put_field(&mut self, field: &Field, alive: &str) {
        match field {
            Field::Column(column) => {
                self.put(column.sql);
                if column.name == STATUS {
                    self.bind(alive.to_owned());
                }
            }
            Field::Label(key) => {
                self.put("(SELECT value FROM label WHERE label.run = run.number AND key = ?)");
                self.bind(key.clone());
            }
        }
    }
}

impl Condition {
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
                // What is not known is neither more nor less than anything, and unequal to all.
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

const ANY_FINDING: &str = "EXISTS (SELECT 1 FROM finding WHERE finding.run = run.number";

fn known(field: &Field, alive: &str, to: &mut Sql) {
    if matches!(field, Field::Column(column) if column.kind == Kind::Finding) {
        to.put(ANY_FINDING);
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
        Is::Finding(id) => {
            to.put(ANY_FINDING);
            to.put(" AND ");
            put_text("finding.id", contains, id, to);
            to.put(")");
        }
        Is::Text(text) => {
            let mut of = Sql::default();
            of.put_field(field, alive);
            to.values.append(&mut of.values);
            put_text(&of.text, contains, text, to);
        }
        Is::Id(id) => {
            to.put("substr(");
            to.put_field(field, alive);
            to.put(", 1, length(?)) = ?");
            to.bind(id.clone());
            to.bind(id.clone());
            to.put(" OR substr(");
            to.put_field(field, alive);
            to.put(", -length(?)) = ?");
            to.bind(id.clone());
            to.bind(id.clone());
        }
        Is::OneOf(name) => {
            to.put("instr('+' || lower(");
            to.put_field(field, alive);
            to.put(") || '+', '+' || lower(?) || '+') > 0");
            to.bind(name.clone());
        }
        Is::Number(number) => {
            let is_label = matches!(field, Field::Label(_));
            to.put(if is_label { "CAST(" } else { "" });
            to.put_field(field, alive);
            // A label that is no number is 0 in SQLite: it does not count.
            to.put(if is_label { " AS REAL) " } else { " " });
            to.put(operator.sql());
            to.put(" ?");
            to.bind(*number);
            if is_label {
                to.put(" AND ");
                to.put_field(field, alive);
                to.put(" NOT GLOB '*[^0-9.]*'");
            }
        }
        Is::Whole(number) => {
            to.put_field(field, alive);
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

/// Texts are equal, or within each other, whatever their case.
fn put_text(of: &str, contains: bool, text: &str, to: &mut Sql) {
    let how = if contains {
        format!("instr(lower({of}), lower(?)) > 0")
    } else {
        format!("({of}) = ? COLLATE NOCASE")
    };
    to.put(&how);
    to.bind(text.to_owned());
}

#[cfg(test)]
mod tests;
