//! The parameters of the workload `arm`, and the parser of its parameter `scenario`.

use model::{BadParameter, Choice, Parameter, ParameterKind, Settings, choice};

use crate::storage_engine;

/// Layout of the context values in the tables of `arm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contexts {
    /// Each context value is a row in a table of its own.
    Rows,
    /// Each context value is a column in the measurement's row.
    Columns,
    /// All context values are one JSON text in the measurement's row.
    Json,
}

choice!(Contexts { Rows = "rows", Columns = "columns", Json = "json" });

/// Way in which clients write the rows of a buffer to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// Writes by INSERT statements with many rows each.
    Insert,
    /// Writes each row by one execution of a prepared INSERT.
    Row,
    /// Writes by a bulk load: LOAD DATA, COPY or the database's equivalent.
    Bulk,
}

choice!(Write { Insert = "insert", Row = "row", Bulk = "bulk" });

/// Largest accepted number of metrics per measurement: ARM 4.0 has as many slots.
const METRICS_MAX: u64 = 7;
/// Largest accepted number of context values per measurement: ARM 4.0 has as many slots.
pub(super) const CONTEXTS_MAX: u64 = 20;

/// Action of the application if a pool has no room for a measurement: drop it or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolEmpty {
    Block,
    /// Drops the measurement, and counts it as dropped.
    Drop,
}

choice!(PoolEmpty { Block = "block", Drop = "drop" });

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "contexts",
        kind: ParameterKind::Choice(Contexts::NAMES),
        default: "rows",
        help: "Context values: a row each, a column each, or one JSON text per measurement",
        shapes_data: true,
    },
    Parameter {
        name: "context_bytes",
        kind: ParameterKind::Count { min: 1, max: 255 },
        default: "32",
        help: "Bytes of a context value",
        shapes_data: true,
    },
    Parameter {
        name: "keys",
        kind: ParameterKind::Switch,
        default: "true",
        help: "Whether measurements, metrics and context values have a primary key",
        shapes_data: true,
    },
    storage_engine::PARAMETER,
    Parameter::option(
        "scenario",
        ParameterKind::Text,
        "simple",
        "What is measured: simple, correlator, metrics, context-1 to -20, or a mixture, such as \
         simple*3,correlator+metrics=2+contexts=4",
    ),
    Parameter::option(
        "failed_percent",
        ParameterKind::Number { min: 0.0, max: 100.0 },
        "0",
        "Measured transactions that fail and carry a diagnostic detail, in percent",
    ),
    Parameter::option(
        "aborted_percent",
        ParameterKind::Number { min: 0.0, max: 100.0 },
        "0",
        "Measured transactions that are aborted, in percent",
    ),
    Parameter::option(
        "diagnostic_bytes",
        ParameterKind::Count { min: 0, max: 255 },
        "64",
        "Bytes of the diagnostic detail of a failed transaction",
    ),
    Parameter::option(
        model::PRODUCER_COUNT,
        ParameterKind::Count { min: 0, max: 1 << 40 },
        "0",
        "Measurements to generate and store before the run ends; 0: generate them for the whole \
         run",
    ),
    Parameter::option(
        "application_threads",
        ParameterKind::Count { min: 1, max: 1024 },
        "1",
        "Threads of the measured application",
    ),
    Parameter::option(
        model::PRODUCER_RATE,
        ParameterKind::Number { min: 0.0, max: 1e12 },
        "0",
        "Measurements per second of all application threads together; 0: as many as possible",
    ),
    Parameter::option(
        "buffer_bytes",
        ParameterKind::Bytes,
        "196608",
        "Size of a buffer; a full one is written in one transaction",
    ),
    Parameter::option(
        "buffer_pool",
        ParameterKind::Count { min: 1, max: 1_000_000 },
        "1024",
        "Buffers that may be in use at once",
    ),
    Parameter::option(
        "transaction_pool",
        ParameterKind::Count { min: 1, max: 100_000_000 },
        "2048",
        "Measurements that may wait for space in a buffer",
    ),
    Parameter::option(
        "metric_pool",
        ParameterKind::Count { min: 1, max: 100_000_000 },
        "8192",
        "Metrics that may wait for space in a buffer",
    ),
    Parameter::option(
        "pool_empty",
        ParameterKind::Choice(PoolEmpty::NAMES),
        "block",
        "Action of the application when a pool is empty: wait (block), or drop the measurement",
    ),
    Parameter::option(
        "write",
        ParameterKind::Choice(Write::NAMES),
        "insert",
        "How a buffer is written: INSERT of many rows, a prepared INSERT per row, or LOAD DATA/COPY",
    ),
    Parameter::option(
        "rows_per_insert",
        ParameterKind::Count { min: 1, max: 100_000 },
        "500",
        "Rows per INSERT with --write insert",
    ),
];

/// Name of the class of measurements without correlator, metrics and context values, in the
/// parameter `scenario`.
const SIMPLE: &str = "simple";
const METRICS: &str = "metrics";
const CONTEXT_VALUES: &str = "context values";

/// A class of measurements with the same kind of data, such as `metrics=2`: one part of the
/// parameter `scenario`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Name of the class as the user wrote it, such as `metrics=2`.
    pub(super) name: String,
    /// Weight of the class: its share of all measurements is this weight divided by the sum of the
    /// weights.
    pub(super) weight: u64,
    pub(super) has_correlator: bool,
    pub(super) n_metrics: u64,
    pub(super) n_contexts: u64,
}

/// Parses the parameter `scenario`, such as `simple*3,metrics=2*1`: classes of measurements with
/// their weights.
pub(super) fn classes(settings: &Settings) -> Result<Vec<Class>, BadParameter> {
    let bad = |why: String| BadParameter::named("scenario", why);
    let classes: Result<Vec<Class>, String> =
        settings.text("scenario").split(',').map(class).collect();
    let classes = classes.map_err(bad)?;
    for (index, class) in classes.iter().enumerate() {
        if classes[..index].iter().any(|other| other.name == class.name) {
            return Err(bad(format!("{} is there twice: give it one weight", class.name)));
        }
    }
    if classes.iter().all(|class| class.weight == 0) {
        return Err(bad("all weights are 0; give one of at least 1".to_owned()));
    }
    Ok(classes)
}

/// Parses one class of the parameter `scenario`, such as `correlator+metrics=2*3`.
fn class(text: &str) -> Result<Class, String> {
    let (features, weight) = match text.trim().rsplit_once('*') {
        None => (text.trim(), 1),
        Some((features, weight)) => {
            let weight = weight.trim().parse::<u32>();
            let wrong = |_| format!("the weight in '{text}' is no whole number: write simple*3");
            (features.trim(), u64::from(weight.map_err(wrong)?))
        }
    };
    let name = features.to_owned();
    let mut class = Class { name, weight, has_correlator: false, n_metrics: 0, n_contexts: 0 };
    let features: Vec<&str> = features.split('+').map(str::trim).collect();
    let mut kinds = Vec::new();
    for feature in &features {
        let kind = class.add(feature)?;
        if kinds.contains(&kind) {
            return Err(format!(
                "'{features}' gives {kind} twice: give them once",
                features = class.name
            ));
        }
        kinds.push(kind);
    }
    if kinds.len() > 1 && kinds.contains(&SIMPLE) {
        let features = &class.name;
        return Err(format!("'{features}': simple has no further data: leave it out"));
    }
    Ok(class)
}

impl Class {
    /// Parses a feature of measurements, such as `metrics=3`, and adds it to the class. Returns the
    /// feature's name without its number; `Err` is the reason why it is invalid.
    fn add(&mut self, feature: &str) -> Result<&'static str, String> {
        let number = |counted: &str, text: &str, max: u64| match text.parse::<u64>() {
            Ok(n) if (1..=max).contains(&n) => Ok(n),
            _ => Err(format!("'{feature}' is no number of {counted} from 1 to {max}")),
        };
        match feature.split_once(['=', '-']) {
            None if feature == SIMPLE => return Ok(SIMPLE),
            None if feature == "correlator" => self.has_correlator = true,
            Some(("parent", "correlator")) => self.has_correlator = true,
            None if feature == METRICS => {
                self.n_metrics = 3;
                return Ok(METRICS);
            }
            Some((METRICS, n)) => {
                self.n_metrics = number(METRICS, n, METRICS_MAX)?;
                return Ok(METRICS);
            }
            Some(("contexts" | "context", n)) => {
                self.n_contexts = number(CONTEXT_VALUES, n, CONTEXTS_MAX)?;
                return Ok(CONTEXT_VALUES);
            }
            _ => {
                return Err(format!(
                    "there is no scenario '{feature}': write simple, correlator, metrics=3, \
                     contexts=5, several of them with '+', and weights as in simple*3,metrics=2*1"
                ));
            }
        }
        Ok("correlators")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_read_with_their_features_and_weights() {
        let check = |text: &str, expect: Option<(u64, bool, u64, u64)>| {
            let read = class(text).ok();
            let read = read.map(|it| (it.weight, it.has_correlator, it.n_metrics, it.n_contexts));
            assert_eq!(read, expect, "{text}");
        };
        check("simple", Some((1, false, 0, 0)));
        check("parent-correlator", Some((1, true, 0, 0)));
        check("metrics", Some((1, false, 3, 0)));
        check("context-20", Some((1, false, 0, 20)));
        check(" correlator + metrics=2+contexts=4 * 7", Some((7, true, 2, 4)));
        for bad in ["", "simpel", "context-21", "metrics=0", "metrics=8", "simple*x", "context"] {
            check(bad, None);
        }
    }
}
