//! A plan as written: every value is text, with its place.

use std::fmt;

use crate::bad_plan::BadPlan;
use crate::table::{EXPERIMENT, find};
use crate::written::{From, Values, Written};

/// A group of a draft.
#[derive(Clone, Debug, Default)]
pub struct GroupDraft {
    /// Position of the group in a file.
    pub from: Option<From>,
    pub values: Values,
    pub parameters: Vec<(String, Written)>,
}

#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub file: Option<String>,
    /// Values at the top, by name (`duration`).
    pub values: Values,
    pub experiment: Values,
    pub groups: Vec<GroupDraft>,
    /// Varied parameters, in order.
    pub vary: Vec<VaryDraft>,
    pub server: Vec<(String, Written)>,
    /// Disturbances during the run.
    pub at: Vec<AtDraft>,
    /// The file was named on the command line of this machine: only such a plan may have commands.
    pub is_local: bool,
}

/// A disturbance of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtDraft {
    pub from: From,
    pub values: Values,
}

/// An axis of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryDraft {
    /// Name of the parameter, as in a plan or on the command line.
    pub name: String,
    /// Values, each as it would be written alone.
    pub values: Vec<String>,
    pub from: From,
}

impl Draft {
    /// Allows commands in a plan from a store if the plan named on the command line has them too,
    /// and no others. Fails if the named plan lacks one of them: it is another plan.
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
    pub fn workload(&self) -> Option<&Written> {
        self.values.get("workload")
    }

    /// Returns its name, or its workload's.
    pub(crate) fn name(&self) -> Option<&Written> {
        self.values.get("name").or_else(|| self.workload())
    }
}

impl AtDraft {
    /// Makes an error about it as a whole.
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

    /// Makes an error about it as a whole.
    pub(crate) fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
    }
}

/// Spells a parameter for an error message: as a flag on the command line, or a key in a file like
/// `beside`; with an example value, unless that is empty.
pub(crate) fn spelled(name: &str, value: &str, beside: &From) -> String {
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "=._".contains(c));
    let is_number = value.parse::<f64>().is_ok();
    let flag = name.replace('_', "-");
    let table = if find(EXPERIMENT, name).is_some() { "experiment." } else { "" };
    match beside {
        From::File { .. } if value.is_empty() => format!("{table}{name}"),
        From::File { .. } if is_number => format!("{table}{name} = {value}"),
        From::File { .. } => format!("{table}{name} = \"{value}\""),
        _ if value.is_empty() => format!("--{flag}"),
        _ if is_plain => format!("--{flag} {value}"),
        _ => format!("--{flag} '{value}'"),
    }
}
