//! Figures measured elsewhere. Not here: reading them from a file, and conclusions.

use serde::{Deserialize, Serialize};

/// Figures from another source. Nothing is known of their runs beyond these fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// Common name of the figures.
    pub name: String,
    /// Origin, in words; may be empty.
    #[serde(default)]
    pub source: String,
    /// Varied parameters, in the order of the file's columns: a version, a number of clients.
    pub columns: Vec<String>,
    /// Values in the order of the file.
    pub values: Vec<ImportedValue>,
}

/// A value from another source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedValue {
    /// Point of the measurement: one value per column.
    pub at: Vec<String>,
    /// Name of the figure.
    pub figure: String,
    /// The measured value, in `unit`.
    pub value: f64,
    /// Unit; empty if the figure's name contains it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Half-width of the 95 % confidence interval, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Number of runs of which the value is the mean, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Time of the measurement, as `2015-06-01` or with a time of day (ISO 8601, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Imported {
    /// Returns the index of the column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns the distinct names of the figures, in order of first occurrence.
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
