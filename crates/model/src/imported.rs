//! Results measured elsewhere, such as with another tool, for comparison. Not here: reading them
//! from a file, and conclusions.

use serde::{Deserialize, Serialize};

/// Results measured elsewhere, such as with another tool, as read from a file. Nothing else is
/// known about their runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// Name of the set of results, shown where they are compared.
    pub name: String,
    /// Origin of the results, in words; may be empty.
    #[serde(default)]
    pub source: String,
    /// Names of the parameters that vary between the results, such as a version or a number of
    /// clients, in the order of the file.
    pub columns: Vec<String>,
    /// Measured values, in the order of the file.
    pub values: Vec<ImportedValue>,
}

/// One value that was measured elsewhere, with the parameters at which it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedValue {
    /// Values of the varied parameters at which the result was measured, one for each of
    /// [`Imported::columns`].
    pub at: Vec<String>,
    /// Name of the measured metric, such as `tps`.
    pub figure: String,
    /// The measured value, in `unit`.
    pub value: f64,
    /// Unit of the value; empty if the metric's name contains the unit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Half-width of the value's 95 % confidence interval, in `unit`; `None` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Number of runs over which the value is the mean; `None` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Time of the measurement, such as `2015-06-01`, perhaps with a time of day (ISO 8601, UTC);
    /// `None` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Imported {
    /// Returns the index of the varied parameter with this name; `None` if there is none.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns the distinct names of the measured metrics, in order of first occurrence.
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
