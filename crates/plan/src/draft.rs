//! Drafts: plans as written, in which every value is text with its source position.

use std::fmt;

use crate::bad_plan::BadPlan;
use crate::table::{EXPERIMENT, find};
use crate::written::{From, Values, Written};

/// A group of clients in the draft of a plan, with every value as text.
#[derive(Clone, Debug, Default)]
pub struct GroupDraft {
    /// Position of the group in its plan file; `None` for a group that command-line flags describe.
    pub from: Option<From>,
    pub values: Values,
    pub parameters: Vec<(String, Written)>,
}

#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub file: Option<String>,
    /// Values of the plan's top level, outside of groups and other tables, by key, such as
    /// `duration`.
    pub values: Values,
    pub experiment: Values,
    pub groups: Vec<GroupDraft>,
    /// Parameters to vary in an experiment, in the order in which the plan file or command line has
    /// them.
    pub vary: Vec<VaryDraft>,
    pub server: Vec<(String, Written)>,
    /// Disturbances of the database to make during the run.
    pub at: Vec<AtDraft>,
    /// True if the plan is a file named on this machine's command line. Only such a plan may run
    /// shell commands.
    pub is_local: bool,
}

/// A disturbance during the run, such as a restart of the server, from an `[[at]]` table of a
/// draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtDraft {
    pub from: From,
    pub values: Values,
}

/// A varied parameter in a draft, with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryDraft {
    /// Name of the varied parameter, as in a plan or on the command line.
    pub name: String,
    /// Values of the parameter, each as text.
    pub values: Vec<String>,
    pub from: From,
}

impl Draft {
    /// Allows the shell commands of a stored plan if a file named on the command line (`named`) has
    /// all of them. Returns an error if one of them is missing in the file, because then it is not
    /// the plan file of the experiment.
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

    /// Returns the name of the group; without one, that of its workload; `None` if it has neither.
    pub(crate) fn name(&self) -> Option<&Written> {
        self.values.get("name").or_else(|| self.workload())
    }
}

impl AtDraft {
    /// Creates an error about the disturbance as a whole, with its source position.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
    }
}

impl VaryDraft {
    /// Parses a varied parameter from the command line, written as `name=value,value`. Returns an
    /// error if there is no name before a `=`. The values are checked later.
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

    /// Creates an error about the varied parameter as a whole, with its source position.
    pub(crate) fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
    }
}

/// Formats a parameter with an example `value` for an error message: as a TOML key
/// (`experiment.repeat = 3`) if the position `beside` is in a file, otherwise as a flag (`--repeat
/// 3`). An empty `value` is left out.
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
