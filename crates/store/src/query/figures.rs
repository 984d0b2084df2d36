//! Figures of the reports that are kept, in conditions and orders. The store reads no report: what
//! a figure is comes in as functions, which SQLite calls for each run.
//!
//! Not here: which figures there are (analysis).

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// What is known of the figures of reports.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Whether a report may have a figure of this name; an `Err` says why a name that stands for
    /// one is none.
    pub may_be: fn(name: &str) -> std::result::Result<bool, String>,
    /// Why this figure is not held against a bound that is written so.
    pub check: fn(name: &str, bound: &str) -> std::result::Result<(), String>,
    /// Reads a report in JSON; none of one that cannot be read.
    pub read: fn(report: &str) -> Option<Arc<dyn HasFigures>>,
}

/// A report that was read.
pub trait HasFigures: Send + Sync {
    /// The figure of this name, if it has it.
    fn value(&self, name: &str) -> Option<f64>;
    /// How that figure compares with a bound; none where it cannot be held against it.
    fn compared(&self, name: &str, bound: &str) -> Option<Ordering>;
}

/// Two are the same if they do the same.
impl PartialEq for Figures {
    fn eq(&self, other: &Figures) -> bool {
        std::ptr::fn_addr_eq(self.read, other.read)
    }
}

/// The figure of a run, in SQL; its `?` is the name.
pub(super) const VALUE: &str = "figure_value(run.number, run.report, ?)";
/// Below, at or above zero as the figure is below, at or above the bound: name and bound.
pub(super) const COMPARED: &str = "figure_compared(run.number, run.report, ?, ?)";

/// The report that was read last, by the number of its run: all conditions on a run, and its place
/// in the order, are asked for one after the other.
#[derive(Default)]
struct Last(Mutex<Option<(i64, Report)>>);

/// None where a run has no report.
type Report = Option<Arc<dyn HasFigures>>;

impl Last {
    /// The report of a run: the arguments of a function begin with its number and its text.
    fn report(&self, context: &Context<'_>, of: Figures) -> Result<Report> {
        let number = context.get(0)?;
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, report)) = last.as_ref().filter(|(read, _)| *read == number) {
            return Ok(report.clone());
        }
        let report = context.get_raw(1).as_str_or_null()?.and_then(|text| (of.read)(text));
        *last = Some((number, report.clone()));
        Ok(report)
    }
}

impl Figures {
    /// Makes the functions that stand in the SQL of a query.
    pub(crate) fn teach(self, connection: &Connection) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        let last = Arc::new(Last::default());
        let of_value = Arc::clone(&last);
        connection.create_scalar_function("figure_value", 3, flags, move |context| {
            let report = of_value.report(context, self)?;
            let name = context.get_raw(2).as_str_or_null()?;
            Ok(report.zip(name).and_then(|(report, name)| report.value(name)))
        })?;
        connection.create_scalar_function("figure_compared", 4, flags, move |context| {
            let report = last.report(context, self)?;
            let [name, bound] = [2, 3].map(|index| context.get_raw(index).as_str_or_null());
            let known = report.zip(name?.zip(bound?));
            let compared = known.and_then(|(report, (name, bound))| report.compared(name, bound));
            Ok(compared.map(|ordering| ordering as i64))
        })
    }
}
