//! Figures that were measured elsewhere. Not here: how a file of them is read, and what follows
//! from them.

use serde::{Deserialize, Serialize};

/// Figures that somebody else has measured: nothing is known of their runs but what is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// What they are called together.
    pub name: String,
    /// Where they come from, in words; or nothing.
    #[serde(default)]
    pub source: String,
    /// What was varied, in the order of the file's columns: a version, a number of clients.
    pub columns: Vec<String>,
    /// The values, in the order of the file.
    pub values: Vec<ImportedValue>,
}

/// A value that somebody else has measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedValue {
    /// Where it was measured: a value of each column.
    pub at: Vec<String>,
    /// The figure, by its name.
    pub figure: String,
    /// Its value.
    pub value: f64,
    /// Its unit, where the name does not tell it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Half the width of its 95 % interval, where that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Of how many runs it is the mean, where that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When it was measured, as `2015-06-01` or with a time of day (ISO 8601, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Imported {
    /// The index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The names of its figures, in the order in which they first occur.
    pub fn figures(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for value in &self.values {
            if !names.contains(&value.figure.as_str()) {
                names.push(&value.figure);
            }
        }
        names
    }
}
