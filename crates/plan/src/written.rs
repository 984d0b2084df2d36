//! Values of a plan as text with their source positions, and as parsed. Not here: plans and groups
//! that have them (draft), and the declared parameters (table).

use std::collections::BTreeMap;
use std::fmt;

use crate::bad_plan::BadPlan;
use crate::form::Form;

/// The source position of a value: a flag, a place in a file, or none for a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// A flag on the command line, by its name without dashes.
    Flag(String),
    File {
        name: String,
        /// Line of the value in the file, counted from 1.
        line: usize,
        /// Column of the value in the file, in characters counted from 1.
        column: usize,
    },
    /// No position, because the value is the declared default.
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

impl From {
    /// Creates an error about the value at this position.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        match self {
            From::Default => BadPlan(why.to_string()),
            from => BadPlan(format!("{from}: {why}")),
        }
    }

    /// Creates an error about the value of the parameter `name` at this position. The name is added
    /// unless the position is a flag, which contains it.
    pub(crate) fn bad_value(&self, name: &str, why: impl fmt::Display) -> BadPlan {
        match self {
            From::Flag(_) => self.bad(why),
            From::File { .. } | From::Default => self.bad(format!("{name}: {why}")),
        }
    }
}

/// The text of a value in a plan file or on the command line, with its source position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value as text; items of a list are joined by commas.
    pub text: String,
    /// Items of a list; `None` for a single value.
    pub list: Option<Vec<String>>,
    pub from: From,
}

impl Written {
    /// Creates a value that is not written as a list.
    pub fn new(text: impl Into<String>, from: From) -> Written {
        Written { text: text.into(), list: None, from }
    }

    /// Creates an error about this value, with its source position.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
    }
}

pub type Values = BTreeMap<&'static str, Written>;

/// The parsed value of a parameter, or its default, with the source position.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    name: &'static str,
    pub(crate) value: T,
    pub(crate) from: From,
}

impl<T> Given<T> {
    /// Returns true if the user wrote the value, false if it is the default.
    pub(crate) fn is_written(&self) -> bool {
        self.from != From::Default
    }

    /// Returns the parameter with another value, which something else determines.
    pub(crate) fn with(self, value: T) -> Given<T> {
        Given { value, ..self }
    }

    /// Creates an error about this value, with its name and source position.
    pub(crate) fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad_value(self.name, why)
    }
}

/// Parses the value that is written for the parameter `name`, or its default. An error has the
/// source position.
pub(crate) fn given<F: Form>(
    values: &Values,
    name: &'static str,
    default: &str,
) -> Result<Given<F::Value>, BadPlan> {
    let Some(written) = values.get(name) else {
        let value = if default.is_empty() { F::absent() } else { F::read(default).ok() };
        let value = value.expect("a declaration has a default that can be read, or needs none");
        return Ok(Given { name, value, from: From::Default });
    };
    let value = match &written.list {
        Some(items) => F::read_list(items),
        None => F::read(&written.text),
    };
    let value = value.map_err(|why| written.from.bad_value(name, why))?;
    Ok(Given { name, value, from: written.from.clone() })
}
