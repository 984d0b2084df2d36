//! A plan as written: every value still text, with the place where it was written.

use std::collections::BTreeMap;
use std::fmt;

use model::Setting;

use crate::bad_plan::BadPlan;
use crate::table::{self, AT, GROUP, PLAN, Row};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// As a flag on the command line, without dashes.
    Flag(String),
    /// In a file.
    File {
        /// The file as it was named.
        name: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// Nowhere: the table's default.
    Default,
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Flag(name) => write!(f, "--{name}"),
            From::File { name, line, column } => write!(f, "{name}:{line}:{column}"),
            From::Default => f.write_str("default"),
        }
    }
}

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its text.
    pub text: String,
    /// Its place.
    pub from: From,
}

impl Written {
    /// An error about this value.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        match &self.from {
            From::Default => BadPlan(why.to_string()),
            from => BadPlan(format!("{from}: {why}")),
        }
    }
}

/// A group as written.
#[derive(Clone, Debug, Default)]
pub struct GroupDraft {
    /// Where it begins, if it is in a file.
    pub from: Option<From>,
    /// Values by path (`clients`, `load.rate`).
    pub values: BTreeMap<&'static str, Written>,
    /// The workload's parameters by name.
    pub parameters: Vec<(String, Written)>,
}

/// A plan as written.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The file that it comes from.
    pub file: Option<String>,
    /// Values by path (`phases.measure`).
    pub values: BTreeMap<&'static str, Written>,
    /// The groups.
    pub groups: Vec<GroupDraft>,
    /// What is varied.
    pub vary: Vec<VaryDraft>,
    /// Settings of the server, in order.
    pub server: Vec<(String, Written)>,
    /// What is done in mid-run.
    pub at: Vec<AtDraft>,
    /// Whether the file was named on the command line here: only such a plan may have commands.
    pub is_local: bool,
}

/// A disturbance as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtDraft {
    /// Where it begins.
    pub from: From,
    /// Values by path (`time`, `command`).
    pub values: BTreeMap<&'static str, Written>,
    /// The statements.
    pub sql: Vec<Written>,
}

/// An axis as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryDraft {
    /// What is varied, by the name that a plan or the command line has for it.
    pub name: String,
    /// Its values, each as one would write it alone.
    pub values: Vec<String>,
    /// Where that is written.
    pub from: From,
}

impl Draft {
    /// Lets a plan from a store have the commands that a plan has which was named on the command
    /// line here, and no others.
    /// A named plan that lacks one of them is refused: it is another plan.
    pub fn allow_commands_of(&mut self, named: Option<&Draft>) -> Result<(), BadPlan> {
        let command = |at: &AtDraft| at.values.get("command").map(|written| written.text.clone());
        let known: Vec<String> = named
            .filter(|named| named.is_local)
            .map(|named| named.at.iter().filter_map(command).collect())
            .unwrap_or_default();
        let lacked = self.at.iter().filter_map(command).find(|text| !known.contains(text));
        self.is_local = lacked.is_none();
        match (lacked, named) {
            (Some(text), Some(named)) => Err(BadPlan(format!(
                "--plan {}: this plan differs from that of the experiment, whose command '{text}' \
                 it does not have: name the file that the experiment was run from",
                named.file.as_deref().unwrap_or("")
            ))),
            _ => Ok(()),
        }
    }

    /// The value at `path`, or the table's default.
    pub fn plan(&self, path: &'static str) -> Option<Written> {
        value(&self.values, PLAN, path)
    }

    /// Reads the value at `path`.
    pub fn plan_setting(&self, path: &'static str) -> Result<Option<Setting>, BadPlan> {
        setting(&self.values, PLAN, path)
    }

    /// A value with a default, as it was written; its reading is checked.
    pub(crate) fn word(&self, path: &'static str) -> Result<String, BadPlan> {
        self.plan_setting(path)?;
        Ok(self.plan(path).map(|written| written.text).unwrap_or_default())
    }
}

impl GroupDraft {
    /// The value at `path`, or the table's default.
    pub fn group(&self, path: &'static str) -> Option<Written> {
        value(&self.values, GROUP, path)
    }

    /// Whether somebody wrote a value at `path`.
    pub fn is_given(&self, path: &str) -> bool {
        self.values.contains_key(path)
    }

    /// Reads the value at `path`.
    pub fn group_setting(&self, path: &'static str) -> Result<Option<Setting>, BadPlan> {
        setting(&self.values, GROUP, path)
    }
}

impl AtDraft {
    /// Reads the value at `path`.
    pub fn setting(&self, path: &'static str) -> Result<Option<Setting>, BadPlan> {
        setting(&self.values, AT, path)
    }

    /// An error about it as a whole.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        BadPlan(format!("{}: {why}", self.from))
    }
}

impl VaryDraft {
    /// Reads `name=value,value`, as on the command line.
    pub fn read(text: &str) -> Result<VaryDraft, BadPlan> {
        let from = From::Flag("vary".to_owned());
        match text.split_once('=') {
            Some((name, values)) if !name.trim().is_empty() => Ok(VaryDraft {
                name: name.trim().to_owned(),
                values: values.split(',').map(|value| value.trim().to_owned()).collect(),
                from,
            }),
            _ => Err(BadPlan(format!(
                "{from}: '{text}' is not an axis: write clients=1,2,4 or \
                 mode=prepared,procedures"
            ))),
        }
    }

    /// An error about it as a whole.
    pub(crate) fn bad(&self, why: impl fmt::Display) -> BadPlan {
        Written { text: String::new(), from: self.from.clone() }.bad(why)
    }
}

/// A row as one would write it where something else was written: a flag on the command line, a key
/// in a file; with a value for an example, unless that is empty.
pub(crate) fn spelled(path: &str, value: &str, beside: &From) -> String {
    let row = [PLAN, GROUP].into_iter().find_map(|rows| table::row(rows, path));
    let row = row.expect("paths are asked for as the tables spell them");
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "=._".contains(c));
    let is_number = value.parse::<f64>().is_ok();
    match beside {
        From::File { .. } if value.is_empty() => path.to_owned(),
        From::File { .. } if is_number => format!("{path} = {value}"),
        From::File { .. } => format!("{path} = \"{value}\""),
        _ if value.is_empty() => format!("--{}", row.parameter.flag()),
        _ if is_plain => format!("--{} {value}", row.parameter.flag()),
        _ => format!("--{} '{value}'", row.parameter.flag()),
    }
}

fn value(
    values: &BTreeMap<&'static str, Written>,
    rows: &'static [Row],
    path: &'static str,
) -> Option<Written> {
    if let Some(written) = values.get(path) {
        return Some(written.clone());
    }
    let default = table::row(rows, path)?.parameter.default;
    (!default.is_empty()).then(|| Written { text: default.to_owned(), from: From::Default })
}

fn setting(
    values: &BTreeMap<&'static str, Written>,
    rows: &'static [Row],
    path: &'static str,
) -> Result<Option<Setting>, BadPlan> {
    let Some(written) = value(values, rows, path) else {
        return Ok(None);
    };
    let row = table::row(rows, path).expect("paths are asked for as the tables spell them");
    let parsed = row.parameter.kind.parse(&written.text);
    // A flag names itself; in a file the key is said.
    let told = |why: String| match &written.from {
        From::File { .. } => written.bad(format!("{path}: {why}")),
        _ => written.bad(why),
    };
    parsed.map(Some).map_err(told)
}
