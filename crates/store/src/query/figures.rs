//! Figures of stored reports in conditions and orders. The store does not read reports: it receives
//! functions, which SQLite calls for each run.
//!
//! Not here: the list of figures (analysis).

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// Functions, given by the caller, that find figures in the report of a run. A figure is a named
/// number, such as `nopm`, by which runs can be selected and sorted.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Returns whether reports may have a figure of this name. `Err` explains what is wrong with a
    /// name that looks like a figure but is invalid.
    pub may_be: fn(name: &str) -> std::result::Result<bool, String>,
    /// Checks that figure `name` can be compared with `bound`, the text after the operator in a
    /// query. `Err` says why not.
    pub check: fn(name: &str, bound: &str) -> std::result::Result<(), String>,
    /// Parses a report in JSON; `None` if it cannot be read.
    pub read: fn(report: &str) -> Option<Arc<dyn HasFigures>>,
}

/// A parsed report of a run, from which figures are read by name.
pub trait HasFigures: Send + Sync {
    /// Returns the value of figure `name`; `None` if the report lacks it.
    fn value(&self, name: &str) -> Option<f64>;
    /// Compares figure `name` with `bound`, the text after the operator in a query; `None` if that
    /// is not possible, as when the report lacks the figure.
    fn compared(&self, name: &str, bound: &str) -> Option<Ordering>;
}

/// Compares two sets of figure functions by the function that parses reports alone.
impl PartialEq for Figures {
    fn eq(&self, other: &Figures) -> bool {
        std::ptr::fn_addr_eq(self.read, other.read)
    }
}

/// SQL expression for the value of a run's figure; its `?` is the figure's name.
pub(super) const VALUE: &str = "figure_value(run.number, run.report, ?)";
/// SQL expression that is below, at or above zero if the figure is below, at or above the bound.
/// Its two `?` are the figure's name and the bound.
pub(super) const COMPARED: &str = "figure_compared(run.number, run.report, ?, ?)";

/// The report of a run that was parsed last, with the number of the run. Keeping one is enough,
/// because SQLite evaluates all conditions of a run, and its sort key, one after the other.
#[derive(Default)]
struct Last(Mutex<Option<(i64, Report)>>);

/// A parsed report; `None` for a run without a report.
type Report = Option<Arc<dyn HasFigures>>;

impl Last {
    /// Returns the report of the run for which SQLite calls a function. The run's number and the
    /// report's text are the first two arguments in `context`.
    fn report(&self, context: &Context<'_>, figures: Figures) -> Result<Report> {
        let number = context.get(0)?;
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, report)) = last.as_ref().filter(|(read, _)| *read == number) {
            return Ok(report.clone());
        }
        let report = context.get_raw(1).as_str_or_null()?.and_then(|text| (figures.read)(text));
        *last = Some((number, report.clone()));
        Ok(report)
    }
}

impl Figures {
    /// Registers the SQL functions `figure_value` and `figure_compared` with a connection.
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
