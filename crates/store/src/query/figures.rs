//! Figures of the reports that are kept, in conditions and orders. The store reads no report: what
//! a figure is comes in as functions, which SQLite calls for each run.
//!
//! Not here: which figures there are (analysis).

use std::cmp::Ordering;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// What is known of the figures of reports.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Whether a report may have a figure of this name.
    pub may_be: fn(name: &str) -> bool,
    /// Why no figure is held against a bound that is written so.
    pub check: fn(bound: &str) -> std::result::Result<(), String>,
    /// The figure of a report in JSON, if it has it.
    pub value: fn(report: &str, name: &str) -> Option<f64>,
    /// How that figure compares with a bound; none where it cannot be held against it.
    pub compared: fn(report: &str, name: &str, bound: &str) -> Option<Ordering>,
}

/// Two are the same if they do the same.
impl PartialEq for Figures {
    fn eq(&self, other: &Figures) -> bool {
        std::ptr::fn_addr_eq(self.value, other.value)
            && std::ptr::fn_addr_eq(self.compared, other.compared)
    }
}

/// The figure of a run, in SQL; its `?` is the name.
pub(super) const VALUE: &str = "figure_value(run.report, ?)";
/// Below, at or above zero as the figure is below, at or above the bound: name and bound.
pub(super) const COMPARED: &str = "figure_compared(run.report, ?, ?)";

impl Figures {
    /// Makes the functions that stand in the SQL of a query.
    pub(crate) fn teach(self, connection: &Connection) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function("figure_value", 2, flags, move |context| {
            let [report, name] = texts(context)?;
            Ok(report.zip(name).and_then(|(report, name)| (self.value)(report, name)))
        })?;
        connection.create_scalar_function("figure_compared", 3, flags, move |context| {
            let [report, name, bound] = texts(context)?;
            let known = report.zip(name.zip(bound));
            let compared =
                known.and_then(|(report, (name, bound))| (self.compared)(report, name, bound));
            Ok(compared.map(|ordering| ordering as i64))
        })
    }
}

/// The arguments, of which each is a text or null.
fn texts<'c, const N: usize>(context: &'c Context<'_>) -> Result<[Option<&'c str>; N]> {
    let mut all = [None; N];
    for (index, text) in all.iter_mut().enumerate() {
        *text = context.get_raw(index).as_str_or_null()?;
    }
    Ok(all)
}
