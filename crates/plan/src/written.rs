//! Values as written, each with its place, and as read. Not here: whose they are (draft, table).

use std::collections::BTreeMap;
use std::fmt;

use crate::bad_plan::BadPlan;
use crate::form::Form;

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

impl From {
    /// An error about what stands here.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        match self {
            From::Default => BadPlan(why.to_string()),
            from => BadPlan(format!("{from}: {why}")),
        }
    }

    /// An error about a value of this name; a flag says the name itself.
    pub(crate) fn bad_value(&self, name: &str, why: impl fmt::Display) -> BadPlan {
        match self {
            From::Flag(_) => self.bad(why),
            From::File { .. } | From::Default => self.bad(format!("{name}: {why}")),
        }
    }
}

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its text; of a list that of all, with commas between.
    pub text: String,
    /// The texts of a list, one by one.
    pub list: Option<Vec<String>>,
    /// Its place.
    pub from: From,
}

impl Written {
    /// A value that is no list.
    pub fn new(text: impl Into<String>, from: From) -> Written {
        Written { text: text.into(), list: None, from }
    }

    /// An error about this value.
    pub fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad(why)
    }
}

/// Values as written, by name.
pub type Values = BTreeMap<&'static str, Written>;

/// A value as read, or its default.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    name: &'static str,
    pub(crate) value: T,
    pub(crate) from: From,
}

impl<T> Given<T> {
    /// Whether somebody wrote it.
    pub(crate) fn is_written(&self) -> bool {
        self.from != From::Default
    }

    /// An error about it.
    pub(crate) fn bad(&self, why: impl fmt::Display) -> BadPlan {
        self.from.bad_value(self.name, why)
    }
}

/// Reads the value of this name, or its default.
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
