//! A made-up language of workloads. A line is a parameter, a transaction type, a statement of the
//! last type, or a check of the data.
//!
//! ```text
//! parameter amount 5
//! transaction pay 3
//! read SELECT balance FROM account WHERE id = {amount}
//! check total SELECT 1 WHERE 1 = 2
//! ```
//!
//! Not here: anything that another workload needs.

mod users;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, CustomMetric, CustomMetricKind, Dialect, Direction, Identity,
    Kind, KindIndex, Number, Parameter, ParameterKind, Places, Source, Statement, StatementKind,
    Workload, interned,
};
use workloads::{Entry, Language, Make};

/// Entry of the language in the program's list of languages; its files have the extension `steps`.
pub(crate) static LANGUAGE: Language =
    Language { extension: "steps", is_code: false, read, modules: None };

/// Content of a parsed workload file: parameters, transaction types and checks.
#[derive(Default)]
struct Script {
    parameters: Vec<(&'static str, &'static str)>,
    types: Vec<Type>,
    checks: Vec<(&'static str, &'static str)>,
}

/// A transaction type of a workload file, with its statements.
struct Type {
    kind: Kind,
    statements: Vec<(StatementKind, &'static str)>,
}

impl Script {
    fn parse(source: &'static Source) -> Result<Script, BadParameter> {
        let mut script = Script::default();
        let lines = source.text.lines().enumerate();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            script
                .take(line.trim())
                .map_err(|why| BadParameter::new(format!("line {}: {why}", index + 1)))?;
        }
        match script.types.is_empty() {
            true => Err(BadParameter::new("it has no transaction")),
            false => Ok(script),
        }
    }

    fn take(&mut self, line: &'static str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').ok_or("a line is a word and more")?;
        let two = || rest.split_once(' ').ok_or_else(|| format!("'{word}' takes two words"));
        match word {
            "parameter" => self.parameters.push(two()?),
            "check" => self.checks.push(two()?),
            "transaction" => {
                let (name, weight) = two()?;
                let weight = weight.parse().map_err(|_| format!("'{weight}' is no weight"))?;
                let kind = Kind { name: interned(name), weight, keying_ns: 0, thinking_ns: 0 };
                self.types.push(Type { kind, statements: Vec::new() });
            }
            "read" | "write" => {
                let kind = if word == "read" { StatementKind::Read } else { StatementKind::Write };
                let last_type = self.types.last_mut().ok_or("no transaction has begun")?;
                last_type.statements.push((kind, rest));
            }
            other => return Err(format!("there is no '{other}'")),
        }
        Ok(())
    }
}

fn read(source: &'static Source) -> Result<Entry, BadParameter> {
    let script = Script::parse(source)?;
    let parameter = |(name, default): &(&'static str, &'static str)| Parameter {
        name,
        kind: ParameterKind::Count { min: 0, max: u64::MAX },
        default,
        help: "A number that the file names",
        shapes_data: false,
    };
    let parameters: Vec<Parameter> = script.parameters.iter().map(parameter).collect();
    Ok(Entry {
        name: &source.name,
        data: interned(source.stem()),
        summary: "Written in a file",
        parameters: parameters.leak(),
        roles: &[],
        make,
        source: None,
    })
}

struct Steps {
    name: &'static str,
    seed: u64,
    kinds: Vec<Kind>,
    /// For each transaction type, the index of its first statement and the number of its
    /// statements.
    statements_of: Vec<(u16, u16)>,
    statements: Vec<Statement>,
    checks: Vec<Check>,
    metrics: [CustomMetric; 1],
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let source = make.source.expect("it was read from a file");
    let script = Script::parse(source)?;
    let filled = |sql: &str| {
        let fill_in = |sql: String, (name, _): &(&str, &str)| {
            sql.replace(&format!("{{{name}}}"), &make.settings.count(name).to_string())
        };
        script.parameters.iter().fold(sql.to_owned(), fill_in)
    };
    let (mut statements, mut statements_of) = (Vec::new(), Vec::new());
    for one in &script.types {
        statements_of.push((statements.len() as u16, one.statements.len() as u16));
        let statement =
            |(kind, sql): &(StatementKind, &str)| Statement::new(one.kind.name, *kind, filled(sql));
        statements.extend(one.statements.iter().map(statement));
    }
    let check = |(id, sql): &(&'static str, &'static str)| Check {
        id,
        title: (*id).into(),
        sql: filled(sql),
    };
    Ok(Arc::new(Steps {
        name: interned(source.stem()),
        seed: make.seed,
        checks: script.checks.iter().map(check).collect(),
        kinds: script.types.into_iter().map(|one| one.kind).collect(),
        statements_of,
        statements,
        metrics: [CustomMetric {
            name: interned(&format!("{}_steps", source.stem())),
            unit: "steps",
            kind: CustomMetricKind::Counter,
            better: Direction::Higher,
        }],
    }))
}

impl Steps {
    fn weights(&self) -> Vec<u64> {
        self.kinds.iter().map(|kind| kind.weight).collect()
    }
}

impl Workload for Steps {
    fn identity(&self) -> Identity {
        Identity { workload: self.name.to_owned(), version: 1, ..Identity::default() }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &self.metrics
    }

    fn statements(&self, _dialect: &Dialect) -> Vec<Statement> {
        self.statements.clone()
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        self.checks.clone()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        users::drawn(self.seed, &self.weights(), number)
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(users::User::new(self.seed, self.weights(), self.statements_of.clone()))
    }

    fn is_blind(&self) -> bool {
        true
    }
}
