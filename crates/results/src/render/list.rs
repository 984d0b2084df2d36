//! The list of runs as people read it. Not here: which runs (store).

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::{NS_PER_MS, NS_PER_S, Severity, format_count};

use super::{Align, Column, Table};
use crate::store::{RunRow, Status};

/// A run is called by the end of its id: the beginning is the time, alike for neighbours.
const ID_SHOWN: usize = 8;

/// The end of an id.
pub(super) fn short_id(id: &str) -> &str {
    &id[id.len().saturating_sub(ID_SHOWN)..]
}

/// The runs, one a line, the best of each workload marked by `*`.
pub fn run_list(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let mut table = Table::new([
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
        Column::new("trust", Align::Left),
        Column::spare("labels", Align::Left, 1),
    ]);
    for row in rows {
        table.row(cells(row, is_best(row, rows)));
    }
    let lines = table.lines(120).into_iter().map(|line| line.trim_end().to_owned() + "\n");
    let has_best = rows.iter().any(|row| is_best(row, rows));
    let legend = if has_best { "* most TPS of its workload on its target\n" } else { "" };
    lines.chain([legend.to_owned()]).collect()
}

/// The most commits a second among the completed runs of its workload on its target.
fn is_best(row: &RunRow, rows: &[RunRow]) -> bool {
    let tps_of = |other: &&RunRow| {
        let alike = other.workload == row.workload && other.target == row.target;
        let is_whole = other.status == Status::Completed;
        let is_valid = other.worst_finding != Some(Severity::Invalid);
        other.tps.filter(|_| alike && is_whole && is_valid)
    };
    let best = rows.iter().filter_map(|other| tps_of(&other)).fold(f64::NEG_INFINITY, f64::max);
    rows.iter().filter(|other| tps_of(other).is_some()).count() > 1 && tps_of(&row) == Some(best)
}

fn cells(row: &RunRow, is_best: bool) -> Vec<String> {
    let id = &row.run.0;
    let valid = match row.worst_finding {
        Some(Severity::Invalid) => "invalid",
        Some(Severity::Warning) => "warning",
        Some(Severity::Note) | None => "",
    };
    let mark = if is_best { "* " } else { "" };
    let labels: Vec<String> = row.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    vec![
        short_id(id).to_owned(),
        started(row.started_unix_ms),
        row.status.name().to_owned(),
        row.name.clone(),
        row.database.clone(),
        format_count(row.clients),
        row.measured_ns.map_or(String::new(), |ns| format!("{:.1} s", ns as f64 / NS_PER_S as f64)),
        row.tps.map_or(String::new(), |tps| format!("{tps:.1}")),
        row.nopm.map_or(String::new(), |nopm| format_count(nopm.round() as u64)),
        row.p99_ns.map_or(String::new(), |ns| format!("{:.2}", ns as f64 / NS_PER_MS as f64)),
        format!("{mark}{valid}"),
        labels.join(" "),
    ]
}

pub(super) fn started(unix_ms: i64) -> String {
    let instant = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    instant.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
