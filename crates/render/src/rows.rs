//! Rows for programs whose columns depend on what was varied: the points of an experiment and the
//! probes of a search, with all digits.

use analysis::figures::Figure;
use analysis::report::Named;
use analysis::{ExperimentReport, SeekReport};
use serde_json::{Map, Value, json};

/// Rows under titles; a cell without a value is null, or empty in CSV.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    titles: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// As CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect());
        crate::csv::of_rows(self.titles.clone(), rows)
    }

    /// As objects by title.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let cells = self.titles.iter().cloned().zip(row.iter().cloned());
            Value::Object(cells.collect::<Map<String, Value>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

/// The points of an experiment: their values, how many runs count, and of each figure its mean,
/// half the width of its interval, its lowest and its highest.
pub fn point_rows(report: &ExperimentReport) -> Rows {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in report.points.iter().flat_map(|point| point.figures.iter()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut titles: Vec<String> = report.axes.iter().map(|axis| axis.name.clone()).collect();
    titles.extend(["runs", "runs_not_counted"].map(str::to_owned));
    for name in &names {
        titles.extend(["", "_half_width", "_min", "_max"].map(|of| format!("{name}{of}")));
    }
    let figure = |figures: &Named<Figure>, name: &str| {
        let of = figures.get(name);
        [
            json!(of.map(|of| of.mean)),
            json!(of.and_then(|of| of.half_width)),
            json!(of.map(|of| of.min)),
            json!(of.map(|of| of.max)),
        ]
    };
    let rows = report.points.iter().map(|point| {
        let mut row: Vec<Value> = point.values.iter().map(|(_, value)| json!(value)).collect();
        row.extend([json!(point.runs.len()), json!(point.runs_not_counted)]);
        row.extend(names.iter().flat_map(|name| figure(&point.figures, name)));
        row
    });
    Rows { titles, rows: rows.collect() }
}

/// The probes of a search, as its page has them.
pub fn sought_rows(report: &SeekReport) -> Rows {
    let (titles, rows) = super::seek::probes(report).cells();
    let rows = rows.into_iter().map(|row| row.into_iter().map(Value::String).collect());
    Rows { titles, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::subjects;

    use super::*;

    #[test]
    fn points_have_all_digits_and_a_column_for_each_axis() {
        let rows = point_rows(&subjects::experiment().0);
        let csv = rows.csv();
        let head = csv.lines().next().unwrap_or_default();
        assert!(head.starts_with("group.users.clients,runs,runs_not_counted,"), "{head}");
        assert!(head.contains(",tps,tps_half_width,tps_min,tps_max"), "{head}");
        assert_eq!(csv.lines().count(), 6);
        assert_eq!(rows.json()[0]["group.users.clients"], "1");
        assert!(rows.json()[0]["tps"].is_number());
    }

    #[test]
    fn probes_of_a_search_are_rows() {
        assert!(sought_rows(&subjects::seek()).csv().lines().count() > 2);
    }
}
