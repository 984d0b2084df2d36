//! The figures of each second of runs as CSV, a row per second and group, with units in the header.
//!
//! Not here: longer intervals (run_tables).

use std::collections::BTreeMap;

use analysis::report::{Report, SecondReport};

const TITLES: [&str; 19] = [
    "run_id", "started", "second_s", "group", "offered", "finished", "failed", "dropped",
    "commits", "tps", "p50_ms", "p95_ms", "p99_ms", "max_ms", "reads", "writes", "others",
    "waiting", "phase",
];

/// Returns a CSV with a row for every second of every group of the runs. Gauges are columns called
/// `about.name [unit]`, such as `machine.cpu [%]`. Unknown values are empty.
pub fn seconds_csv(reports: &[Report]) -> String {
    let mut gauges: Vec<String> = Vec::new();
    for name in reports.iter().flat_map(gauge_names) {
        if !gauges.contains(&name) {
            gauges.push(name);
        }
    }
    let titles = TITLES.iter().map(|title| (*title).to_owned()).chain(gauges.iter().cloned());
    let mut rows = Vec::new();
    for report in reports {
        let read = readings(report, &gauges);
        for second in &report.seconds {
            let mut row = row(report, second).to_vec();
            row.extend((0..gauges.len()).map(|place| number(read.get(&(second.second, place)))));
            rows.push(row);
        }
    }
    crate::csv_rows::of_rows(titles.collect(), rows.into_iter())
}

fn number(value: Option<&f64>) -> String {
    value.map_or(String::new(), f64::to_string)
}

/// Returns a run's gauge readings by second and index of the gauge's column in `names`.
fn readings(report: &Report, names: &[String]) -> BTreeMap<(i64, usize), f64> {
    let mut read = BTreeMap::new();
    for (gauge, name) in report.gauges.iter().zip(gauge_names(report)) {
        let Some(place) = names.iter().position(|known| *known == name) else { continue };
        read.extend(gauge.points.iter().map(|(second, value)| ((*second, place), *value)));
    }
    read
}

fn row(report: &Report, second: &SecondReport) -> [String; TITLES.len()] {
    let ms = |value: Option<f64>| number(value.as_ref());
    [
        report.run_id.clone(),
        report.started.to_string(),
        second.second.to_string(),
        second.group.clone(),
        second.offered.to_string(),
        second.finished.to_string(),
        second.failed.to_string(),
        second.dropped.to_string(),
        second.commits.to_string(),
        second.tps.to_string(),
        ms(second.p50_ms),
        ms(second.p95_ms),
        ms(second.p99_ms),
        ms(second.max_ms),
        second.reads.to_string(),
        second.writes.to_string(),
        second.others.to_string(),
        second.waiting.map_or(String::new(), |n| n.to_string()),
        if second.second < 0 { "ramp_up" } else { "measure" }.to_owned(),
    ]
}

fn gauge_names(report: &Report) -> Vec<String> {
    let name = |gauge: &analysis::report::GaugeReport| match gauge.unit.as_str() {
        "" => format!("{}.{}", gauge.about, gauge.name),
        unit => format!("{}.{} [{unit}]", gauge.about, gauge.name),
    };
    report.gauges.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::{Event, Gauge, Readings};

    use super::*;

    #[test]
    fn every_second_is_a_row_with_what_was_read_in_it() {
        let mut made = Made::closed();
        let gauge = |about: &str, name: &str, unit: &str| Gauge {
            about: about.to_owned(),
            name: name.to_owned(),
            unit: unit.to_owned(),
            help: String::new(),
        };
        let gauges = vec![gauge("machine", "cpu_user", "%"), gauge("machine", "load", "")];
        let values = vec![(0, 12.5), (1, 3.0)];
        made.more.push(Event::Gauges { gauges });
        made.more.push(Event::Readings(Readings { second: 42, values }));
        let report = Report::from_tally(&made.tally());
        let csv = seconds_csv(std::slice::from_ref(&report));
        let mut lines = csv.lines();
        let header = lines.next().expect("a header");
        assert!(header.ends_with(",phase,machine.cpu_user [%],machine.load"), "{header}");
        assert_eq!(lines.clone().count(), 65);
        assert!(lines.clone().all(|line| line.split(',').count() == TITLES.len() + 2));
        let at_42 = lines.find(|line| line.contains(",42,users,310,")).expect("second 42");
        assert!(at_42.ends_with(",measure,12.5,3"), "{at_42}");
        // A run without gauges beside one that has them has empty cells.
        let plain = Report::from_tally(&Made::closed().tally());
        let both = seconds_csv(&[report, plain]);
        assert_eq!(both.lines().count(), 131);
        assert!(both.lines().last().is_some_and(|line| line.ends_with(",measure,,")));
    }
}
