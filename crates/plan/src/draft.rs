//! A plan as written: every value still text, with the place where it was written.

use std::fmt;

use crate::bad_plan::BadPlan;
use crate::table::{EXPERIMENT, find};
use crate::written::{From, Values, Written};

/// A group as written.
#[derive(Clone, Debug, Default)]
pub struct GroupDraft {
    /// Where it begins, if it is in a file.
    pub from: Option<From>,
    /// Values by name (`clients`, `rate`).
    pub values: Values,
    /// The workload's parameters by name.
    pub parameters: Vec<(String, Written)>,
}

/// A plan as written.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The file that it comes from.
    pub file: Option<String>,
    /// Values by name (`duration`).
    pub values: Values,
    /// Values of the experiment by name (`repeat`).
    pub experiment: Values,
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
    /// Values by name (`time`, `command`).
    pub values: Values,
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
                "--plan {}: this plan is not that of the experiment: it lacks the command \
                 '{text}'; name the file with which the experiment was started",
                named.file.as_deref().unwrap_or("")
            ))),
            _ => Ok(()),
        }
    }
}

impl GroupDraft {
    /// The name of its workload, if that is written.
    pub fn workload(&self) -> Option<&Written> {
        self.values.get("workload")
    }

    /// What it is called: by its name, or by its workload.
    pub(crate) fn name(&self) -> Option<&Written> {
        self.values.get("name").or_else(|| self.workload())
    }
}

impl AtDraft {
    /// An error about it as a whole.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
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
        self.from.bad(why)
    }
}

/// A parameter as one would write it where something else was written: a flag on the command line,
/// a key in a file; with a value for an example, unless that is empty.
pub(crate) fn spelled(name: &str, value: &str, beside: &From) -> String {
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "=._".contains(c));
    let is_number = value.parse::<f64>().is_ok();
    let flag = name.replace('_', "-");
    let of = if find(EXPERIMENT, name).is_some() { "experiment." } else { "" };
    match beside {
        From::File { .. } if value.is_empty() => format!("{of}{name}"),
        From::File { .. } if is_number => format!("{of}{name} = {value}"),
        From::File { .. } => format!("{of}{name} = \"{value}\""),
        _ if value.is_empty() => format!("--{flag}"),
        _ if is_plain => format!("--{flag} {value}"),
        _ => format!("--{flag} '{value}'"),
    }
}
