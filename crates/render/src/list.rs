//! The list of runs as people read it. Not here: which runs (store).

use std::collections::HashMap;

use jiff::Timestamp;
use model::numbers::{INFINITE, cut, significant};
use model::{NS_PER_S, Severity, Status, format_count, short_axis};
use store::{RunRow, utc};

use super::{Align, Column, Table};

/// A run is called by the end of its id: the beginning is the time, alike for neighbours.
const ID_SHOWN: usize = 8;

/// The end of an id.
pub fn short_id(id: &str) -> &str {
    &id[id.len().saturating_sub(ID_SHOWN)..]
}

/// The runs, one a line, the best of each workload marked by `*`.
pub fn run_list(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let best = Best::of(rows);
    let lines = table(rows, &best).lines(120);
    let lines = lines.into_iter().map(|line| line.trim_end().to_owned() + "\n");
    let has_best = rows.iter().any(|row| best.is(row));
    let legend = if has_best { "* most TPS of its workload on its target\n" } else { "" };
    lines.chain([legend.to_owned()]).collect()
}

/// The runs as a table in Markdown, with all columns.
pub fn run_list_markdown(rows: &[RunRow]) -> String {
    table(rows, &Best::of(rows)).markdown()
}

/// The runs as CSV: ids, instants and figures in full, units in the header.
pub fn run_list_csv(rows: &[RunRow]) -> String {
    let titles = [
        "run_id",
        "started",
        "status",
        "name",
        "workload",
        "target",
        "database",
        "clients",
        "measured_s",
        "tps",
        "nopm",
        "p99_ms",
        "worst_finding",
        "dbdyno",
        "labels",
        "point",
    ];
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let row = |row: &RunRow| {
        let started = Timestamp::from_millisecond(row.started_unix_ms).unwrap_or_default();
        [
            row.run.0.clone(),
            started.to_string(),
            row.status.name().to_owned(),
            row.name.clone(),
            row.workload.clone(),
            row.target.clone(),
            row.database.clone(),
            row.clients.to_string(),
            number(row.measured_ns.map(|ns| ns as f64 / NS_PER_S as f64)),
            number(row.tps),
            number(row.nopm),
            number(row.p99_ms),
            row.worst_finding.map_or("", Severity::name).to_owned(),
            row.dbdyno.clone(),
            labels(row),
            point(row),
        ]
    };
    crate::csv_rows::of_arrays(titles, rows.iter().map(row))
}

fn labels(row: &RunRow) -> String {
    let labels: Vec<String> = row.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    labels.join(" ")
}

/// Which point of its experiment a run is a trial at; nothing where it is none.
pub fn point(row: &RunRow) -> String {
    let values = row.point.iter().map(|(axis, value)| format!("{}={value}", short_axis(axis)));
    values.collect::<Vec<_>>().join(" ")
}

fn table(rows: &[RunRow], best: &Best) -> Table {
    let has_points = rows.iter().any(|row| !row.point.is_empty());
    let mut columns = vec![
        Column::new("id", Align::Left),
        Column::new("started (UTC)", Align::Left),
        Column::new("status", Align::Left),
        Column::new("name", Align::Left),
        Column::spare("database", Align::Left, 3),
        Column::new("clients", Align::Right),
        Column::spare("measured", Align::Right, 2),
        Column::new("TPS", Align::Point),
        Column::new("NOPM", Align::Right),
        Column::new("p99 ms", Align::Point),
        Column::new("validity", Align::Left),
        Column::spare("labels", Align::Left, 1),
    ];
    if has_points {
        columns.insert(POINT_AT, Column::new("point", Align::Left));
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = cells(row, best.is(row));
        if has_points {
            cells.insert(POINT_AT, cut(&point(row), POINT_MOST));
        }
        table.row(cells);
    }
    table
}

/// Where the point stands in lists of runs of experiments: behind the name.
const POINT_AT: usize = 4;
/// Letters of a name, a point and all labels that a line of a list has room for; other forms have
/// all.
const NAME_MOST: usize = 40;
const POINT_MOST: usize = 40;
const LABELS_MOST: usize = 60;

/// Of each workload on each target, the most commits a second of completed runs that are not
/// invalid, and how many such runs there are.
pub struct Best<'a>(HashMap<(&'a str, &'a str), (f64, usize)>);

impl<'a> Best<'a> {
    /// Among these.
    pub fn of(rows: &'a [RunRow]) -> Best<'a> {
        let mut best = HashMap::new();
        for row in rows {
            let Some(tps) = tps_that_counts(row) else { continue };
            let of = best.entry((row.workload.as_str(), row.target.as_str()));
            let (most, count) = of.or_insert((f64::NEG_INFINITY, 0));
            *most = tps.max(*most);
            *count += 1;
        }
        Best(best)
    }

    /// Whether a run is the best of two or more.
    pub fn is(&self, row: &RunRow) -> bool {
        let of = self.0.get(&(row.workload.as_str(), row.target.as_str()));
        of.is_some_and(|(most, count)| *count > 1 && tps_that_counts(row) == Some(*most))
    }
}

fn tps_that_counts(row: &RunRow) -> Option<f64> {
    let is_valid = row.worst_finding != Some(Severity::Invalid);
    row.tps.filter(|_| row.status == Status::Completed && is_valid)
}

fn cells(row: &RunRow, is_best: bool) -> Vec<String> {
    let id = &row.run.0;
    let valid = match row.worst_finding {
        Some(severity @ (Severity::Invalid | Severity::Warning)) => severity.name(),
        Some(Severity::Note) | None => "",
    };
    let mark = if is_best { "* " } else { "" };
    vec![
        short_id(id).to_owned(),
        utc(row.started_unix_ms),
        row.status.name().to_owned(),
        cut(&row.name, NAME_MOST),
        row.database.clone(),
        format_count(row.clients),
        row.measured_ns.map_or(String::new(), |ns| format!("{:.1} s", ns as f64 / NS_PER_S as f64)),
        row.tps.map_or(String::new(), |tps| format!("{tps:.1}")),
        row.nopm.map_or(String::new(), |nopm| format_count(nopm.round() as u64)),
        row.p99_ms.map_or(String::new(), |ms| match ms.is_finite() {
            // What the machine does within a microsecond is not nothing.
            true if ms > 0.0 && ms < 0.01 => significant(ms, 2),
            true => format!("{ms:.2}"),
            false => INFINITE.to_owned(),
        }),
        format!("{mark}{valid}"),
        cut(&labels(row), LABELS_MOST),
    ]
}
