//! Tests of rules that hold for all charts, and of each chart's data.

use analysis::fixtures::{Made, subjects};
use analysis::report::Status;
use model::numbers::significant;
use model::{Imported, ImportedValue, KindSecond, LatencyHeat, Second};
use stats::Histogram;
use study::experiment::PointReport;
use study::fixtures::sides::{FIVE, held, times};
use study::fixtures::studies;

use super::*;
use crate::chart_backends::Drawn;

/// Describes charts as text for snapshots: axes, marks, and each trace with its length, ends and
/// gaps.
fn shown(charts: &[Chart]) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |y| significant(y, 4));
    let point = |point: &Point| {
        let band = point.band.map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", significant(low, 4), significant(high, 4))
        });
        format!("{}: {}{band}", significant(point.x, 4), number(point.y))
    };
    let mut text = String::new();
    for chart in charts {
        let axis = |axis: &Axis| match axis.categories.len() {
            0 => format!("{} [{}] {:?}", axis.title, axis.unit, axis.scale),
            n => format!("{} of {n} names", axis.title),
        };
        text += &format!("{}: {}\n", chart.id, chart.title);
        text += &format!("  x {}; y {}\n", axis(&chart.x), axis(&chart.y));
        for trace in &chart.traces {
            let (first, last) = (&trace.points[0], &trace.points[trace.points.len() - 1]);
            let gaps = trace.points.iter().filter(|point| point.y.is_none()).count();
            let gaps = if gaps > 0 { format!(", {gaps} gaps") } else { String::new() };
            let n = trace.points.len();
            let (name, shape) = (&trace.name, trace.shape);
            text +=
                &format!("  {name} ({shape:?}, {n}{gaps}) {} .. {}\n", point(first), point(last));
        }
        for mark in &chart.marks {
            let to = mark.to.map_or_else(String::new, |to| format!(" to {}", significant(to, 4)));
            let from = significant(mark.from, 4);
            let line = format!("  {:?} {from}{to}: {}", mark.along, mark.text);
            text += &format!("{}\n", line.trim_end());
        }
    }
    text
}

fn everything() -> Vec<Vec<Chart>> {
    let (experiment, trials) = studies::experiment();
    let (two_axes, of_two_axes) = studies::two_axes();
    let (long, of_long) = studies::long_sweep();
    let mut all = vec![
        of_experiment(&two_axes, &of_two_axes),
        of_experiment(&long, &of_long),
        of_run(&subjects::closed()),
        of_run(&subjects::open()),
        of_run(&subjects::with_readers(14)),
        of_experiment(&experiment, &trials),
        of_seek(&studies::seek()),
        of_comparison(&studies::comparison()),
        of_history(&studies::history()),
        of_run(&subjects::hostile()),
    ];
    all.extend(subjects::odd().iter().map(of_run));
    all.push(of_run(&with_heat()));
    all.push(of_run(&sequence()));
    all.push(of_comparison(&studies::compared_sequences()));
    let (sequences, of_sequences) = studies::sequences();
    all.push(of_experiment(&reported(&sequences, &of_sequences), &of_sequences));
    let (with_readers, mut trials) = studies::experiment();
    let readers = subjects::with_readers(2);
    for trial in &mut trials {
        (trial.report.facts, trial.report.groups) = (readers.facts.clone(), readers.groups.clone());
    }
    all.push(of_experiment(&with_readers, &trials));
    all
}

fn reported(experiment: &model::Experiment, trials: &[TrialReport]) -> ExperimentReport {
    let mut rng = model::Rng::new(1, model::Stream::Order, 0);
    ExperimentReport::new(experiment, trials, None, &mut || rng.bits()).expect("it has trials")
}

/// A report of two clients that each executed two transactions of a fixed sequence.
fn sequence() -> Report {
    let mut report = subjects::closed();
    report.groups[0].sequence = Some(4);
    let names: Vec<String> =
        report.block.transactions.iter().map(|(name, _)| name.to_owned()).take(2).collect();
    let execution = |(nth, transaction): (usize, &String)| analysis::report::ExecutionReport {
        group: report.groups[0].name.clone(),
        client: nth as u32 / 2,
        transaction: transaction.clone(),
        started_s: nth as f64,
        took_s: 0.5,
        is_finished: nth != 3,
        error: (nth == 3).then(|| "timeout".to_owned()),
    };
    let all: Vec<_> = names.iter().cycle().take(4).enumerate().map(execution).collect();
    report.executions = all;
    report
}

#[test]
fn executions_are_drawn_by_type_and_by_client() {
    let charts = of_run(&sequence());
    let of = |id: &str| charts.iter().find(|chart| chart.id == id).expect("it is there");
    let times = of("executions-times");
    assert_eq!(times.traces[0].points.len(), 2);
    assert_eq!(times.traces[0].points[0].y, Some(0.5));
    let streams = of("executions-clients");
    assert_eq!(streams.x.categories, ["client 0", "client 1"]);
    let failed = streams.traces.iter().find(|trace| trace.name == "failed").expect("one failed");
    assert_eq!(failed.points[0].band, Some((3.0, 3.5)));
    // A type has a single time, so its percentiles are not drawn.
    assert!(charts.iter().all(|chart| !chart.id.starts_with("kinds")), "{charts:#?}");
}

#[test]
fn runs_of_fixed_sequences_are_not_drawn_over_time_together() {
    let (report, mut trials) = studies::experiment();
    let is_over_time = |chart: &Chart| chart.id.starts_with("stability");
    assert!(of_experiment(&report, &trials).iter().any(is_over_time));
    for trial in &mut trials {
        trial.report.groups[0].sequence = Some(22);
    }
    assert!(!of_experiment(&report, &trials).iter().any(is_over_time));
    let runs = [1, 2].map(|nth| (format!("side {nth}"), subjects::closed()));
    assert_ne!(of_median_runs(&studies::comparison(), &runs), []);
    let runs = runs.map(|(side, _)| (side, sequence()));
    assert_eq!(of_median_runs(&studies::comparison(), &runs), []);
}

#[test]
fn disturbances_are_marked_over_time_once_for_all_points_of_an_experiment() {
    let (report, mut trials) = studies::experiment();
    let mut made = Made::closed();
    made.disturbance(20_000, Some(22_000), model::Disturbed::Done);
    let disturbances = Report::from_tally(&made.tally()).disturbances;
    for (nth, trial) in trials.iter_mut().enumerate() {
        trial.report.disturbances = disturbances.clone();
        trial.report.disturbances[0].ended_s = Some(22.0 + nth as f64);
    }
    let charts = of_experiment(&report, &trials);
    let over_time: Vec<&Chart> =
        charts.iter().filter(|chart| chart.id.starts_with("stability")).collect();
    assert!(!over_time.is_empty());
    for chart in over_time {
        let marks: Vec<&Mark> = chart.marks.iter().filter(|mark| mark.text == "drop").collect();
        let [mark] = marks[..] else { panic!("{}: {marks:?}", chart.id) };
        assert!(mark.from == 20.0 && mark.to > Some(22.0), "{mark:?}");
    }
}

#[test]
fn new_orders_and_all_transactions_a_minute_are_one_chart_of_an_experiment() {
    let (mut report, mut trials) = studies::experiment();
    report.primary = "nopm".to_owned();
    for point in &mut report.points {
        let nopm = *point.figures.get("tps").expect("it was measured");
        point.figures.push("nopm", nopm);
    }
    for trial in &mut trials {
        trial.report.block.tpm = Some(2_000.0);
    }
    let charts = of_experiment(&report, &trials);
    let both = charts.iter().find(|chart| chart.id.ends_with("per-minute")).expect("it is drawn");
    let names: Vec<&str> = both.traces.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names, ["NOPM", "TPM"]);
}

/// Makes a run with a heat map: in each second 99 transactions of 1 ms and one of 100 ms.
fn with_heat() -> Report {
    let mut heat = LatencyHeat::default();
    for at in 0..60 {
        let mut response = Histogram::default();
        response.record_n(1_050_000, 99);
        response.record(105_000_000);
        let kind = KindSecond { response: Some(response), ..KindSecond::new(0) };
        heat.add(&Second { kinds: vec![kind], ..Second::new(0, at) });
    }
    Report { latency_heat: Some(heat), ..subjects::closed() }
}

#[test]
fn a_rare_slow_transaction_has_a_shade_of_its_own() {
    let charts = of_run(&with_heat());
    let heat = charts.iter().find(|chart| chart.id == "heat").expect("a heat map");
    let shades: Vec<(&str, usize)> =
        heat.traces.iter().map(|trace| (trace.name.as_str(), trace.points.len())).collect();
    assert_eq!(shades, [("1 to 2 transactions", 60), ("47 to 99", 60)]);
    let svg = heat.to_svg(Drawn::WIDE);
    let n_areas = svg.matches("zM").count() + svg.matches("z\"").count();
    assert_eq!(n_areas, 120, "each area is closed: {svg}");
}

#[test]
fn sides_over_each_other_have_a_line_each_and_name_the_runs() {
    let runs = [("a".to_owned(), subjects::closed()), ("b".to_owned(), subjects::closed())];
    let report = held(&FIVE, &times(1.1), 1);
    let charts = of_median_runs(&report, &runs);
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids, ["overlay-throughput", "overlay-p99", "overlay-distribution"]);
    for chart in &charts {
        let names: Vec<&str> = chart.traces.iter().map(|trace| trace.name.as_str()).collect();
        assert_eq!(names, ["a", "b"], "{}", chart.id);
        let note = chart.note.as_deref().unwrap_or_default();
        assert!(note.ends_with("The run with the median TPS of each side."), "{note}");
    }
    assert!(of_median_runs(&report, &runs[..1]).is_empty());
    let note = |report: &ComparisonReport| of_median_runs(report, &runs)[0].note.clone();
    let one = note(&held(&FIVE[..1], &FIVE[..1], 1));
    assert_eq!(one.as_deref(), Some("The only run of each side."));
}

#[test]
fn the_charts_of_a_closed_run() {
    insta::assert_snapshot!(shown(&of_run(&subjects::closed())), @r"
    throughput: Throughput
      x time in the measured phase [s] Linear; y TPS [commits/s] FromZero
      TPS (Line, 65) -4.500: 300.0 .. 59.50: 447.0
      mean, 95 % interval within this run (Line, 2) 0: 451.8 (444.9 to 458.7) .. 60.00: 451.8 (444.9 to 458.7)
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    types: Throughput by transaction
      x time in the measured phase [s] Linear; y TPS [commits/s] FromZero
      new_order (Line, 65) -4.500: 138.0 .. 59.50: 205.0
      payment (Line, 65) -4.500: 128.0 .. 59.50: 188.0
      order_status (Line, 65) -4.500: 12.00 .. 59.50: 17.00
      delivery (Line, 65) -4.500: 12.00 .. 59.50: 19.00
      stock_level (Line, 65) -4.500: 10.00 .. 59.50: 18.00
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    response: Response times
      x time in the measured phase [s] Linear; y response time [ms] Log
      max (Line, 65) -4.500: 146.7 (79.43 to 146.7) .. 59.50: 166.2 (92.93 to 166.2)
      p99 (Line, 65) -4.500: 79.43 (53.58 to 79.43) .. 59.50: 92.93 (49.32 to 92.93)
      p95 (Line, 65) -4.500: 53.58 (13.25 to 53.58) .. 59.50: 49.32 (13.81 to 49.32)
      p50 (Line, 65) -4.500: 13.25 .. 59.50: 13.81
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    heat: Latency heat map
      x time in the measured phase [s] Linear; y response time [ms] Log
      1 to 2 transactions (Cells, 239) -5.000: 1.413 (1.259 to 1.585) .. 59.00: 177.8 (158.5 to 199.5)
      3 to 4 (Cells, 180) -5.000: 2.818 (2.512 to 3.162) .. 59.00: 2.239 (1.995 to 2.512)
      5 to 8 (Cells, 115) -5.000: 56.23 (50.12 to 63.10) .. 59.00: 89.13 (79.43 to 100.0)
      9 to 16 (Cells, 90) -5.000: 44.67 (39.81 to 50.12) .. 58.00: 56.23 (50.12 to 63.10)
      17 to 34 (Cells, 326) -5.000: 4.467 (3.981 to 5.012) .. 59.00: 44.67 (39.81 to 50.12)
      35 to 70 (Cells, 366) -5.000: 11.22 (10.00 to 12.59) .. 59.00: 22.39 (19.95 to 25.12)
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    distribution: Distribution of latency
      x percentile: one in N takes longer [N] Log; y time [ms] Log
      of all offered (Line, 34) 1.000: 1.338 .. 13,335: 366.2
      response (Line, 36) 1.000: 1.338 .. 23,714: 329.3
    intervals: Response times in intervals
      x time in the measured phase [s] Linear; y response time [ms] FromZero
      p99 (Steps, 7) 0: 85.13 .. 60.00: 83.89
      p95 (Steps, 7) 0: 50.79 .. 60.00: 49.12
      p50 (Steps, 7) 0: 13.20 .. 60.00: 13.50
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    losses: Failed and dropped
      x time in the measured phase [s] Linear; y transactions [1/s] FromZero
      failed (Steps, 65) -4.500: 0 .. 59.50: 0
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    kinds-times: Response times by transaction
      x transaction of 5 names; y response time [ms] Log
      max (Points, 5) 0: 145.2 .. 4.000: 37.54
      p99 (Points, 5) 0: 81.40 .. 4.000: 27.31
      p95 (Points, 5) 0: 56.23 .. 4.000: 18.92
      p50 (Points, 5) 0: 19.14 .. 4.000: 6.468
    kinds-shares: Share of time by transaction
      x transaction of 5 names; y share of service time [%] FromZero
      share (Bars, 5) 0: 57.92 .. 4.000: 1.728
    clients-calls: Transactions by client
      x client [] Linear; y transactions [] FromZero
      each client (Points, 8) 0: 5.000 .. 7.000: 5.000
    clients-means: Mean response time by client
      x client [] Linear; y mean response time [ms] FromZero
      each client (Points, 8) 0: 2.500 .. 7.000: 2.500
    statements: Statements
      x time in the measured phase [s] Linear; y statements [1/s] FromZero
      reads (Line, 65) -4.500: 3,600 .. 59.50: 5,364
      writes (Line, 65) -4.500: 3,300 .. 59.50: 4,917
      others (Line, 65) -4.500: 600.0 .. 59.50: 894.0
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    gauges-machine-cpu-percent: Machine: cpu, %
      x time in the measured phase [s] Linear; y cpu [%] FromZero
      cpu user (Line, 65, 1 gaps) -5.000: 35.00 (0 to 35.00) .. 59.00: 43.00 (0 to 43.00)
      cpu system (Line, 65, 1 gaps) -5.000: 43.75 (35.00 to 43.75) .. 59.00: 53.75 (43.00 to 53.75)
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    gauges-machine-disk-written-vda-b-s: Machine: disk written, vda
      x time in the measured phase [s] Linear; y disk written, vda [MiB/s] FromZero
      disk written, vda (Line, 65, 1 gaps) -5.000: 3.195 .. 59.00: 3.271
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    gauges-database-commits-1-s: Database: commits
      x time in the measured phase [s] Linear; y commits [1/s] FromZero
      commits (Line, 65, 1 gaps) -5.000: 350.0 .. 59.00: 430.0
      X -5.000 to 0: ramp-up
      X 42.00 to 43.30: drop
    ");
}

#[test]
fn the_charts_of_an_overloaded_run() {
    insta::assert_snapshot!(shown(&of_run(&subjects::open())), @r"
    throughput: Throughput
      x time in the measured phase [s] Linear; y TPS [commits/s] FromZero
      TPS (Line, 65) -4.500: 400.0 .. 59.50: 400.0
      mean, 95 % interval within this run (Line, 2) 0: 400.0 (400.0 to 400.0) .. 60.00: 400.0 (400.0 to 400.0)
      X -5.000 to 0: ramp-up
    types: Throughput by transaction
      x time in the measured phase [s] Linear; y TPS [commits/s] FromZero
      new_order (Line, 65) -4.500: 172.0 .. 59.50: 178.0
      payment (Line, 65) -4.500: 179.0 .. 59.50: 166.0
      order_status (Line, 65) -4.500: 11.00 .. 59.50: 15.00
      delivery (Line, 65) -4.500: 19.00 .. 59.50: 25.00
      stock_level (Line, 65) -4.500: 19.00 .. 59.50: 16.00
      X -5.000 to 0: ramp-up
    response: Response times
      x time in the measured phase [s] Linear; y response time [ms] Log
      max (Line, 65) -4.500: 121.1 (78.45 to 121.1) .. 59.50: 2,689 (2,674 to 2,689)
      p99 (Line, 65) -4.500: 78.45 (48.40 to 78.45) .. 59.50: 2,674 (2,655 to 2,674)
      p95 (Line, 65) -4.500: 48.40 (14.12 to 48.40) .. 59.50: 2,655 (2,586 to 2,655)
      p50 (Line, 65) -4.500: 14.12 .. 59.50: 2,586
      X -5.000 to 0: ramp-up
    heat: Latency heat map
      x time in the measured phase [s] Linear; y response time [ms] Log
      1 to 2 transactions (Cells, 14) -5.000: 1.413 (1.259 to 1.585) .. 51.00: 2,239 (1,995 to 2,512)
      3 to 7 (Cells, 49) -5.000: 2.818 (2.512 to 3.162) .. 59.00: 2,239 (1,995 to 2,512)
      8 to 22 (Cells, 6) -5.000: 35.48 (31.62 to 39.81) .. 35.00: 2,239 (1,995 to 2,512)
      23 to 62 (Cells, 9) -5.000: 4.467 (3.981 to 5.012) .. 1.000: 1,778 (1,585 to 1,995)
      63 to 177 (Cells, 2) -5.000: 14.13 (12.59 to 15.85) .. -2.000: 891.3 (794.3 to 1,000)
      178 to 500 (Cells, 64) -4.000: 281.8 (251.2 to 316.2) .. 59.00: 2,818 (2,512 to 3,162)
      X -5.000 to 0: ramp-up
    distribution: Distribution of latency
      x percentile: one in N takes longer [N] Log; y time [ms] Log
      of all offered (Line, 1) 1.778: 2,579 .. 1.778: 2,579
      response (Line, 36) 1.000: 1,255 .. 23,714: 2,819
      service (Line, 36) 1.000: 1.624 .. 23,714: 267.7
    intervals: Response times in intervals
      x time in the measured phase [s] Linear; y response time [ms] FromZero
      p50 (Steps, 7) 0: 2,468 .. 60.00: 2,600
      X -5.000 to 0: ramp-up
    offered: Offered and finished
      x time in the measured phase [s] Linear; y transactions [1/s] FromZero
      offered (Line, 65) -4.500: 500.0 .. 59.50: 500.0
      committed (Line, 65) -4.500: 400.0 .. 59.50: 400.0
      X -5.000 to 0: ramp-up
    arrivals: Arrivals
      x arrivals per second, in bins of 11 [] Linear; y seconds [] FromZero
      seconds (Bars, 21) 390.0: 0 .. 610.0: 0
      independent users, 500.0 per second (Line, 21) 390.0: 0.000036 .. 610.0: 0.000158
    queue: Queue
      x time in the measured phase [s] Linear; y waiting [transactions] FromZero
      waiting (Line, 65) -4.500: 0 .. 59.50: 1,000
      mean at the ends of seconds (Steps, 7) 0: 820.0 .. 60.00: 1,000
      X -5.000 to 0: ramp-up
    losses: Failed and dropped
      x time in the measured phase [s] Linear; y transactions [1/s] FromZero
      dropped (Steps, 65) -4.500: 0 .. 59.50: 100.0
      X -5.000 to 0: ramp-up
    kinds-times: Response times by transaction
      x transaction of 5 names; y response time [ms] Log
      max (Points, 5) 0: 2,770 .. 4.000: 2,641
      p99 (Points, 5) 0: 2,674 .. 4.000: 2,634
      p95 (Points, 5) 0: 2,647 .. 4.000: 2,626
      p50 (Points, 5) 0: 2,579 .. 4.000: 2,567
    kinds-shares: Share of time by transaction
      x transaction of 5 names; y share of service time [%] FromZero
      share (Bars, 5) 0: 57.98 .. 4.000: 1.566
    statements: Statements
      x time in the measured phase [s] Linear; y statements [1/s] FromZero
      reads (Line, 65) -4.500: 6,000 .. 59.50: 4,800
      writes (Line, 65) -4.500: 5,500 .. 59.50: 4,400
      others (Line, 65) -4.500: 1,000 .. 59.50: 800.0
      X -5.000 to 0: ramp-up
    ");
}

#[test]
fn each_reader_is_a_line_of_ages_and_those_that_are_too_many_are_one() {
    let ages = |n| in_spot(&of_run(&subjects::with_readers(n)), Spot::Ages);
    insta::assert_snapshot!(shown(&ages(2)), @r"
    ages: Ages of records by reader
      x age when read first [ms] Log; y records below [%] FromZero
      reader 0 (Joined, 4) 1.000: 0 .. 300.0: 98.00
      reader 1 (Joined, 4) 1.000: 0 .. 300.0: 98.33
    ");
    let many = &ages(14)[0];
    let names: Vec<&str> = many.traces.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names[..3], ["reader 0", "reader 1", "reader 2"]);
    assert_eq!((names.len(), names[10], names[11]), (12, "reader 10", "3 others"));
    // For 11, 12 and 13: 360 of 510 below 40 ms.
    assert_eq!(many.traces[11].points[1].y, Some(360.0 * 100.0 / 510.0));
    assert_eq!(ages(12)[0].traces[11].name, "reader 11");
    assert_eq!(ages(0), []);
}

#[test]
fn ages_of_a_run_that_stored_them_as_words_are_no_chart() {
    let mut report = subjects::closed();
    let facts = report.facts.entry("tpcc".to_owned()).or_default();
    let words = "28.6 % below 40 ms; by ms: 0 to 1: 1, 20 to 40: 1";
    facts.insert("reader_1_ages".to_owned(), words.into());
    assert_eq!(in_spot(&of_run(&report), Spot::Ages), []);
}

#[test]
fn the_law_is_drawn_from_six_points_on_and_its_peak_where_it_is_known() {
    let (report, trials) = studies::long_sweep();
    let law = |report: &study::ExperimentReport| -> Vec<Chart> {
        of_experiment(report, &trials).into_iter().filter(|chart| chart.id == "law").collect()
    };
    insta::assert_snapshot!(shown(&law(&report)), @r"
    law: Scalability
      x clients [] Log; y TPS [commits/s] FromZero
      linear: n times one client (Line, 101) 1.000: 102.9 .. 4.573: 470.4
      Universal Scalability Law (Line, 101) 1.000: 102.9 .. 32.00: 305.9
      measured (Points, 6) 1.000: 101.0 (98.52 to 103.5) .. 32.00: 313.1 (305.4 to 320.8)
    ");
    let mut known = report;
    known.scalability.as_mut().expect("six points").peak_clients = Some(10.7);
    insta::assert_snapshot!(shown(&law(&known)), @r"
    law: Scalability
      x clients [] Log; y TPS [commits/s] FromZero
      linear: n times one client (Line, 101) 1.000: 102.9 .. 4.573: 470.4
      Universal Scalability Law (Line, 101) 1.000: 102.9 .. 32.00: 305.9
      measured (Points, 6) 1.000: 101.0 (98.52 to 103.5) .. 32.00: 313.1 (305.4 to 320.8)
      X 10.70: the law's peak
    ");
}

/// Checks that a chart's note names the points that have no value in the chart, with reasons.
#[test]
fn a_chart_says_which_points_it_lacks_and_why() {
    let (mut report, trials) = studies::sweep([1, 2, 4, 8, 16]);
    let without = |point: &mut PointReport, figure: &str| {
        point.figures.0.retain(|(name, _)| name != figure);
    };
    without(&mut report.points[1], "p99_ms");
    report.points[1].samples_needed.push("p99_ms", 1_234);
    without(&mut report.points[2], "p99_ms");
    report.points[2].runs_with.push("p99_ms", 2);
    report.points[3].runs.clear();
    without(&mut report.points[3], "p99_ms");
    let charts = of_experiment(&report, &trials);
    let note = |figure: &str| {
        let chart = charts.iter().find(|chart| chart.id.ends_with(figure)).expect("a chart");
        chart.note.clone().unwrap_or_default()
    };
    let n_runs = report.points[2].runs.len();
    for words in [
        "No p99 ms at clients=2: too few samples, needs at least 1,234.".to_owned(),
        format!("No p99 ms at clients=4: only 2 of {n_runs} runs have it."),
        "No p99 ms at clients=8: no run that counts.".to_owned(),
    ] {
        assert!(note("p99-ms").contains(&words), "{words}: {}", note("p99-ms"));
    }
    assert!(!note("p50-ms").contains("No p50"), "{}", note("p50-ms"));
    // Two points make no trade-off, and runs of a few seconds show no course.
    report.points.truncate(2);
    let mut short = trials;
    for trial in &mut short {
        trial.report.measured_seconds = 3.0;
        trial.report.intervals.clear();
    }
    let charts = of_experiment(&report, &short);
    assert!(charts.iter().all(|chart| chart.id != "tradeoff"));
    assert!(charts.iter().all(|chart| !chart.id.starts_with("stability")));
}

#[test]
fn the_charts_of_an_experiment() {
    let (report, trials) = studies::experiment();
    insta::assert_snapshot!(shown(&of_experiment(&report, &trials)), @r"
    curves-group-users-clients-tps: TPS over clients
      x clients [] Linear; y TPS [commits/s] FromZero
      TPS (Joined, 5) 1.000: 101.0 (98.52 to 103.5) .. 16.00: 422.1 (395.4 to 448.8)
    curves-group-users-clients-p50-ms: p50 ms over clients
      x clients [] Linear; y response time, p50 [ms] FromZero
      p50 ms (Joined, 5) 1.000: 13.52 (13.52 to 13.52) .. 16.00: 13.52 (13.52 to 13.52)
    curves-group-users-clients-p95-ms: p95 ms over clients
      x clients [] Linear; y response time, p95 [ms] FromZero
      p95 ms (Joined, 5) 1.000: 50.33 (50.33 to 50.33) .. 16.00: 50.33 (50.33 to 50.33)
    curves-group-users-clients-p99-ms: p99 ms over clients
      x clients [] Linear; y response time, p99 [ms] FromZero
      p99 ms (Joined, 5) 1.000: 99.02 (96.58 to 101.5) .. 16.00: 23.69 (22.19 to 25.19)
    curves-group-users-clients-errors-percent: errors % over clients
      x clients [] Linear; y errors [%] FromZero
      errors % (Joined, 5) 1.000: 0.007346 (0.007346 to 0.007346) .. 16.00: 0.007346 (0.007346 to 0.007346)
    tradeoff: Response time over throughput
      x TPS [commits/s] FromZero; y response time, p99 [ms] FromZero
      points (Joined, 5) 101.0: 99.02 .. 422.1: 23.69
    stability-p95: p95 ms over time
      x time in the measured phase [s] Linear; y response time, p95 [ms] FromZero
      clients 1 (Steps, 7) 0: 50.79 .. 60.00: 49.12
      clients 2 (Steps, 7) 0: 50.79 .. 60.00: 49.12
      clients 4 (Steps, 7) 0: 50.79 .. 60.00: 49.12
      clients 8 (Steps, 7) 0: 50.79 .. 60.00: 49.12
      clients 16 (Steps, 7) 0: 50.79 .. 60.00: 49.12
    stability-p99: p99 ms over time
      x time in the measured phase [s] Linear; y response time, p99 [ms] FromZero
      clients 1 (Steps, 7) 0: 85.13 .. 60.00: 83.89
      clients 2 (Steps, 7) 0: 85.13 .. 60.00: 83.89
      clients 4 (Steps, 7) 0: 85.13 .. 60.00: 83.89
      clients 8 (Steps, 7) 0: 85.13 .. 60.00: 83.89
      clients 16 (Steps, 7) 0: 85.13 .. 60.00: 83.89
    stability-tps: TPS over time
      x time in the measured phase [s] Linear; y TPS [commits/s] FromZero
      clients 1 (Steps, 7) 0: 452.3 .. 60.00: 451.1
      clients 2 (Steps, 7) 0: 452.3 .. 60.00: 451.1
      clients 4 (Steps, 7) 0: 452.3 .. 60.00: 451.1
      clients 8 (Steps, 7) 0: 452.3 .. 60.00: 451.1
      clients 16 (Steps, 7) 0: 452.3 .. 60.00: 451.1
    drift: Trials in the order of time
      x trial, in the order of time [] Linear; y TPS, % of the mean of its point [] FromZero
      clients=1 (Joined, 3) 1.000: 99.01 .. 3.000: 101.0
      clients=2 (Joined, 3) 4.000: 99.01 .. 6.000: 101.0
      clients=4 (Joined, 3) 7.000: 99.01 .. 9.000: 101.0
      clients=8 (Joined, 3) 10.00: 99.01 .. 12.00: 101.0
      clients=16 (Joined, 2) 13.00: 99.50 .. 14.00: 100.5
    ");
}

#[test]
fn curves_go_along_clients_wherever_these_stand_among_the_axes() {
    let (report, trials) = studies::two_axes();
    let charts = of_experiment(&report, &trials);
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(
        ids.join(" "),
        "curves-group-users-clients-tps curves-group-users-clients-p50-ms \
         curves-group-users-clients-p95-ms curves-group-users-clients-p99-ms \
         curves-group-users-clients-errors-percent tradeoff stability-p95-flush-1 \
         stability-p95-flush-2 stability-p99-flush-1 stability-p99-flush-2 stability-tps-flush-1 \
         stability-tps-flush-2 drift"
    );
    for chart in charts.iter().filter(|chart| chart.id != "drift") {
        let names: Vec<&str> = chart.traces.iter().map(|trace| trace.name.as_str()).collect();
        match chart.id.starts_with("stability") {
            true => assert_eq!(names[0], "clients 1", "{}", chart.id),
            false => assert_eq!(names, ["flush=1", "flush=2"], "{}", chart.id),
        }
        assert!(chart.traces.iter().all(|trace| trace.points.len() >= 5), "{}", chart.id);
    }
    // Response times over throughput are joined along clients, not from setting to setting.
    let tradeoff = charts.iter().find(|chart| chart.id == "tradeoff").expect("it is made");
    let labels = |trace: &Trace| -> Vec<String> {
        trace.points.iter().filter_map(|point| point.label.clone()).collect()
    };
    let along = ["clients 1", "clients 2", "clients 4", "clients 8", "clients 16"];
    assert!(tradeoff.traces.iter().all(|trace| labels(trace) == along));
}

#[test]
fn points_of_a_few_seconds_are_reported_second_by_second() {
    let (report, mut trials) = studies::two_axes();
    trials.iter_mut().for_each(|trial| trial.report.intervals.truncate(1));
    let charts = of_experiment(&report, &trials);
    let over_time: Vec<_> = charts.iter().filter(|c| c.id.starts_with("stability")).collect();
    assert_eq!(over_time.len(), 6);
    for chart in over_time {
        assert!(chart.note.as_ref().is_some_and(|note| note.ends_with("second by second.")));
        let all = chart.traces.iter().flat_map(|trace| &trace.points);
        assert!(all.clone().all(|point| point.x >= 0.0) && all.count() > 100, "{}", chart.id);
    }
}

#[test]
fn the_charts_of_a_search_and_a_comparison() {
    insta::assert_snapshot!(shown(&of_seek(&studies::seek())), @r"
    sought-p99: p99 over rate
      x rate [1/s] Linear; y response time, p99 [ms] FromZero
      mean of probes (Line, 3) 300.0: 8.000 .. 1,500: 70.00
      meets (Points, 1) 300.0: 8.000 (7.610 to 8.410) .. 300.0: 8.000 (7.610 to 8.410)
      undecided (Points, 2) 1,200: 19.40 (18.45 to 20.39) .. 1,200: 20.10 (19.12 to 21.13)
      fails (Points, 1) 1,500: 70.00 (66.59 to 73.59) .. 1,500: 70.00 (66.59 to 73.59)
      Y 20.00: p99 20ms
      X 1,150 to 1,260: answer, 90 % interval
    sought-p99-used: Requests beyond p99<20ms over rate
      x rate [1/s] Linear; y requests beyond the bound [% of those allowed] FromZero
      meets (Points, 1) 300.0: 40.00 (31.33 to 48.67) .. 300.0: 40.00 (31.33 to 48.67)
      undecided (Points, 2) 1,200: 97.00 (88.33 to 105.7) .. 1,200: 100.5 (91.83 to 109.2)
      fails (Points, 1) 1,500: 350.0 (341.3 to 358.7) .. 1,500: 350.0 (341.3 to 358.7)
      Y 100.0: allowed
    ");
    insta::assert_snapshot!(shown(&of_comparison(&studies::comparison())), @r"
    ratios: TPS against the baseline
      x point of 4 names; y ratio to build=1.1 [] Log
      better (Points, 3) 1.000: 1.200 (1.182 to 1.218) .. 3.000: 1.136 (1.119 to 1.153)
      another verdict (Points, 1) 0: 1.001 (0.9861 to 1.016) .. 0: 1.001 (0.9861 to 1.016)
      Y 1.000:
      Y 0.9901 to 1.010: within ±1 %: too small to matter
    ratios-figures: Figures over all points against the baseline
      x figure of 4 names; y ratio to build=1.1 [] Log
      better (Points, 2) 0: 1.136 (1.119 to 1.153) .. 3.000: 0.8804 (0.8673 to 0.8937)
      another verdict (Points, 2) 1.000: 1.000 (1.000 to 1.000) .. 2.000: 1.000 (1.000 to 1.000)
      Y 1.000:
      Y 0.9901 to 1.010: within ±1 %: too small to matter
    sides-tps: TPS of each side
      x clients [] Log; y TPS [commits/s] FromZero
      build=1.1 (Joined, 3) 1.000: 100.0 (99.02 to 101.0) .. 64.00: 500.0 (495.1 to 504.9)
      build=1.2 (Joined, 3) 1.000: 100.1 (99.12 to 101.1) .. 64.00: 610.0 (604.0 to 616.0)
    sides-p50-ms: p50 ms of each side
      x clients [] Log; y response time, p50 [ms] FromZero
      build=1.1 (Joined, 3) 1.000: 13.52 (13.52 to 13.52) .. 64.00: 13.52 (13.52 to 13.52)
      build=1.2 (Joined, 3) 1.000: 13.52 (13.52 to 13.52) .. 64.00: 13.52 (13.52 to 13.52)
    sides-p95-ms: p95 ms of each side
      x clients [] Log; y response time, p95 [ms] FromZero
      build=1.1 (Joined, 3) 1.000: 50.33 (50.33 to 50.33) .. 64.00: 50.33 (50.33 to 50.33)
      build=1.2 (Joined, 3) 1.000: 50.33 (50.33 to 50.33) .. 64.00: 50.33 (50.33 to 50.33)
    sides-p99-ms: p99 ms of each side
      x clients [] Log; y response time, p99 [ms] FromZero
      build=1.1 (Joined, 3) 1.000: 100.0 (99.02 to 101.0) .. 64.00: 20.00 (19.80 to 20.20)
      build=1.2 (Joined, 3) 1.000: 99.91 (98.92 to 100.9) .. 64.00: 16.39 (16.23 to 16.56)
    ");
}

#[test]
fn a_trial_that_a_full_queue_has_ended_is_drawn_up_to_its_end() {
    let (report, mut trials) = studies::experiment();
    let drawn = |trials: &[TrialReport]| {
        let charts = of_experiment(&report, trials);
        charts.into_iter().find(|chart| chart.id == "stability-p99").expect("there is one")
    };
    let all = drawn(&trials);
    let (is_stopped, end_s) = (|trial: &TrialReport| trial.point == 0, 12.5);
    trials.iter_mut().filter(|trial| is_stopped(trial)).for_each(|trial| {
        trial.report.status = Status::QueueFull;
        trial.report.measured_seconds = end_s;
    });
    let stopped = drawn(&trials);
    let names = |chart: &Chart| -> Vec<String> {
        chart.traces.iter().map(|trace| trace.name.clone()).collect()
    };
    assert_eq!((names(&stopped), &all.marks[..]), (names(&all), &[][..]));
    assert_eq!(
        stopped.marks,
        [Mark::stretch(end_s, None, format!("{}: queue full", names(&all)[0]))]
    );
    assert!(stopped.note.is_some_and(|note| note.contains("A full queue has ended")));
    // A valid trial is preferred to one that a full queue ended.
    let mut other = trials.iter().find(|trial| is_stopped(trial)).expect("there is one").clone();
    (other.repeat, other.report.status) = (9, Status::Completed);
    trials.push(other);
    assert_eq!(drawn(&trials).marks, []);
}

/// Makes an import named `theirs` with these columns and values of `tps`.
fn imported(columns: &[&str], values: &[(&[&str], f64)]) -> Imported {
    let value = |(at, value): &(&[&str], f64)| ImportedValue {
        at: at.iter().map(|at| (*at).to_owned()).collect(),
        figure: "tps".to_owned(),
        value: *value,
        unit: String::new(),
        half_width: Some(2.0),
        count: None,
        time: None,
    };
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    let values = values.iter().map(value).collect();
    Imported { name: "theirs".to_owned(), source: String::new(), columns, values }
}

#[test]
fn imported_figures_are_a_line_along_the_same_axis_and_else_a_level() {
    let (mut report, trials) = studies::sweep([1, 2, 4, 8, 16]);
    let id = format!("curves-{}-tps", slug(&report.axes[0].name));
    let mut with = |imported: Vec<Imported>| {
        report.imported = imported;
        let charts = of_experiment(&report, &trials);
        charts.into_iter().find(|chart| chart.id == id).expect("it shows TPS")
    };
    let plain = with(Vec::new());
    // Only its mean is known.
    let level = with(vec![imported(&[], &[(&[], 4033.0)])]);
    assert_eq!(level.traces, plain.traces);
    assert_eq!(level.marks, [Mark::level(4033.0, "theirs (imported): 4,033")]);
    let values: &[(&[&str], f64)] =
        &[(&["8", "a"], 30.0), (&["1", "a"], 1.0), (&["3", "b"], 4.0), (&["many", "b"], 5.0)];
    let lines = with(vec![imported(&["clients", "kernel"], values)]);
    assert_eq!(lines.marks, plain.marks);
    let [a, b] = &lines.traces[plain.traces.len()..] else { panic!("{:?}", lines.traces) };
    assert_eq!((&*a.name, &*b.name), ("theirs kernel=a (imported)", "theirs kernel=b (imported)"));
    let points = |trace: &Trace| trace.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
    assert_eq!(points(a), [(1.0, Some(1.0)), (8.0, Some(30.0))]);
    assert_eq!((a.points[0].band, points(b)), (Some((0.0, 3.0)), vec![(3.0, Some(4.0))]));
    // Lines beyond those that can be distinguished are counted.
    let many: Vec<(Vec<&str>, f64)> = (0..14).map(|n| (vec!["x"], f64::from(n))).collect();
    let many: Vec<(&[&str], f64)> = many.iter().map(|(at, value)| (&at[..], *value)).collect();
    let many = with(vec![imported(&["host"], &many)]);
    assert_eq!(many.marks.len(), 12);
    assert!(many.note.is_some_and(|note| note.contains("The first 12 of 14 imported lines.")));
}

#[test]
fn a_figure_that_was_measured_elsewhere_has_a_chart_where_the_experiment_measured_it() {
    let (mut report, trials) = studies::sweep([1, 2, 4, 8, 16]);
    let ids = |report: &ExperimentReport| {
        let charts = of_experiment(report, &trials).into_iter().map(|chart| chart.id);
        charts.filter(|id| id.ends_with("age-below-100ms")).count()
    };
    let mut theirs = imported(&["clients"], &[(&["8"], 90.0)]);
    theirs.values[0].figure = "age.below_100ms".to_owned();
    report.imported = vec![theirs];
    assert_eq!(ids(&report), 0, "nobody measured it here");
    for point in &mut report.points {
        let figure = *point.figures.get("tps").expect("it has TPS");
        point.figures.0.push(("age.below_100ms".to_owned(), figure));
    }
    assert_eq!(ids(&report), 1);
}

#[test]
fn imported_figures_stand_beside_the_sides_of_a_comparison() {
    let mut report = studies::comparison();
    report.imported = vec![imported(&["clients"], &[(&["8"], 300.0)])];
    let charts = of_comparison(&report);
    let chart = charts.iter().find(|chart| chart.id == "sides-tps").expect("it shows TPS");
    let names: Vec<&str> = chart.traces.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names, ["build=1.1", "build=1.2", "theirs (imported)"]);
    assert!(chart.is_over_axis_of("tps") && !chart.is_over_axis_of("p99_ms"));
}

#[test]
fn clients_that_lie_far_apart_stand_by_their_ratios_on_every_chart() {
    let scales = |clients: [u32; 5]| -> Vec<Scale> {
        let (report, trials) = studies::sweep(clients);
        let charts = of_experiment(&report, &trials);
        let over = charts.iter().filter(|chart| chart.x.title == "clients");
        over.map(|chart| chart.x.scale).collect()
    };
    let (near, far) = (scales([1, 2, 4, 8, 16]), scales([1, 30, 100, 300, 900]));
    assert!(near.len() > 2 && near.iter().all(|scale| *scale == Scale::Linear), "{near:?}");
    assert!(far.len() > 2 && far.iter().all(|scale| *scale == Scale::Log), "{far:?}");
}

#[test]
fn the_charts_of_a_history() {
    insta::assert_snapshot!(shown(&of_history(&studies::history())), @r"
    builds-clients-8: TPS by build clients=8
      x build of 30 names; y TPS [commits/s] FromZero
      build (Joined, 30) 0: 1,003 .. 29.00: 905.4
      mean of the last ten (Line, 30) 0: 1,003 .. 29.00: 941.4
      level and expected range (Line, 5, 1 gaps) 0: 1,001 .. 29.00: 899.8 (882.4 to 917.6)
      X 24.00: -10.0 %, worse
    ");
}

#[test]
fn every_chart_is_made_of_something() {
    let all = everything();
    for entry in ALL {
        let is_of = |chart: &Chart| {
            chart.id == entry.name || chart.id.starts_with(&format!("{}-", entry.name))
        };
        // No made-up run has a stall.
        let is_made = all.iter().flatten().any(is_of);
        assert!(is_made || entry.name == "stalls", "{} is never made", entry.name);
    }
    for charts in &all {
        for (index, chart) in charts.iter().enumerate() {
            let n_named = ALL.iter().filter(|entry| chart.id.starts_with(entry.name)).count();
            assert!(n_named >= 1, "{} is of no entry", chart.id);
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
            assert!(chart.id.chars().all(is_plain), "{}", chart.id);
            let is_again = charts[..index].iter().any(|before| before.id == chart.id);
            assert!(!is_again, "{} stands twice", chart.id);
            assert!(!chart.traces.is_empty() && !chart.x.title.is_empty());
        }
    }
}

#[test]
fn values_are_numbers_and_lines_go_to_the_right() {
    for chart in everything().iter().flatten() {
        for trace in &chart.traces {
            let is_finite =
                |point: &Point| point.x.is_finite() && point.y.is_none_or(f64::is_finite);
            assert!(trace.points.iter().all(is_finite), "{} {}", chart.id, trace.name);
            let is_line = matches!(trace.shape, Shape::Line | Shape::Steps);
            let rises = trace.points.windows(2).all(|two| two[0].x <= two[1].x);
            assert!(!is_line || rises, "{} {}", chart.id, trace.name);
        }
    }
}

#[test]
fn a_table_has_all_points() {
    for chart in everything().iter().flatten() {
        let n_points: usize = chart.traces.iter().map(|trace| trace.points.len()).sum();
        assert_eq!(chart.table().1.len(), n_points);
        assert!(chart.to_csv().starts_with("trace,x,value,low,high,label\n"));
    }
}

#[test]
fn a_distribution_of_nothing_lost_ends_at_the_longest() {
    let report = subjects::closed();
    let latency = &report.block.response_ms;
    let (percent, ms) = *latency.distribution.last().expect("there is one");
    assert!(percent > 99.99 && Some(ms) <= latency.max, "{percent} {ms}");
    let p99 = latency.distribution.iter().find(|(percent, _)| *percent == 99.0);
    assert_eq!(p99.map(|(_, ms)| *ms), latency.p99);
    // With an overload, only what is known whatever becomes of the rest.
    let open = subjects::open();
    let known = open.block.offered_ms.distribution.last().expect("there is one").0;
    assert!(known < 100.0 * open.block.counts.finished as f64 / open.block.counts.offered as f64);
}

#[test]
fn times_of_what_finished_say_how_many_were_lost() {
    let note = |report: &Report| {
        let charts = of_run(report);
        let chart = charts.iter().find(|chart| chart.id == "response").expect("response times");
        chart.note.clone().expect("a note")
    };
    let mut open = subjects::open();
    let said = "Finished transactions only; 5,650 of 30,000 transactions are not. ";
    assert!(note(&open).starts_with(said), "{}", note(&open));
    open.block.counts.offered = open.block.counts.finished;
    assert!(note(&open).starts_with("Transactions are counted"), "{}", note(&open));
}

#[test]
fn many_lines_that_were_measured_elsewhere_have_a_chart_of_their_own() {
    let (mut report, trials) = studies::two_axes();
    let mut lines_of = |n_imported: usize| {
        let systems: Vec<String> = (0..n_imported).map(|n| n.to_string()).collect();
        let at: Vec<[&str; 2]> =
            systems.iter().flat_map(|name| [["1", name.as_str()], ["16", name.as_str()]]).collect();
        let values: Vec<(&[&str], f64)> = at.iter().map(|at| (&at[..], 90.0)).collect();
        report.imported = vec![imported(&["clients", "system"], &values)];
        let charts = of_experiment(&report, &trials);
        let of_tps =
            charts.into_iter().filter(|c| c.id.starts_with("curves-group-users-clients-tps"));
        of_tps
            .map(|chart| (chart.id.ends_with("-imported"), chart.traces.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(lines_of(6), [(false, 8)]);
    assert_eq!(lines_of(7), [(false, 2), (true, 7)]);
}

#[test]
fn a_line_that_was_measured_elsewhere_has_the_colour_of_ours_beside_and_equal_levels_one_text() {
    let (mut report, trials) = studies::two_axes();
    let mut with = |columns: &[&str], values: &[(&[&str], f64)]| {
        report.imported = vec![imported(columns, values)];
        let charts = of_experiment(&report, &trials);
        let is_tps = |chart: &Chart| chart.id.starts_with("curves-group-users-clients-tps");
        charts.into_iter().find(is_tps).expect("it shows TPS")
    };
    let plain = with(&[], &[]);
    let names: Vec<&str> = plain.traces.iter().map(|trace| trace.name.as_str()).collect();
    let [first, second] = names[..] else { panic!("{names:?}") };
    let (column, second) = second.split_once('=').expect("an axis and its value");
    let first = first.split_once('=').expect("an axis and its value").1;
    let values: &[(&[&str], f64)] =
        &[(&["1", "other"], 5.0), (&["1", second], 9.0), (&["1", first], 7.0)];
    let all = with(&["clients", column], values);
    let shares = |chart: &Chart| chart.traces.iter().map(|trace| trace.shares).collect::<Vec<_>>();
    assert_eq!(shares(&all), [None, None, Some(2), Some(1), Some(0)]);
    let levels = with(&[column], &[(&["a"], 90.0), (&["b"], 90.0), (&["c"], 80.0)]);
    let texts: Vec<&str> = levels.marks.iter().map(|mark| mark.text.as_str()).collect();
    let both = format!("theirs {column}=a, {column}=b (imported): 90.00");
    assert_eq!(texts, [both, format!("theirs {column}=c (imported): 80.00")]);
}

#[test]
fn a_line_has_one_colour_on_all_charts_though_a_point_lacks_a_figure() {
    let (mut report, trials) = studies::two_axes();
    let colours = |report: &ExperimentReport, figure: &str| {
        let charts = of_experiment(report, &trials);
        let id = format!("curves-group-users-clients-{figure}");
        let chart = charts.into_iter().find(|chart| chart.id == id).expect("it is there");
        let traces = chart.traces.iter().enumerate();
        traces
            .map(|(index, trace)| (trace.name.clone(), trace.place.unwrap_or(index)))
            .collect::<Vec<_>>()
    };
    let whole = colours(&report, "tps");
    assert_eq!(whole.iter().map(|(_, place)| *place).collect::<Vec<_>>(), [0, 1]);
    let first = &whole[0].0;
    let is_first =
        |(axis, value): &(String, String)| *first == format!("{}={value}", model::short_axis(axis));
    for point in report.points.iter_mut().filter(|point| point.values.0.iter().any(is_first)) {
        point.figures.0.retain(|(name, _)| name != "p99_ms");
    }
    assert_eq!(colours(&report, "tps"), whole);
    assert_eq!(colours(&report, "p99-ms"), whole[1..]);
}

#[test]
fn the_less_is_known_of_a_mean_the_longer_is_its_whisker() {
    let width = |half_width: f64, apart: f64| {
        let (min, max) = (100.0 - apart, 100.0 + apart);
        let half_width = Some(half_width);
        let figure = analysis::figures::Figure { mean: 100.0, half_width, min, max, count: 2 };
        let (low, high) = super::curves::of_figure("tps", 1.0, &figure).band.expect("a band");
        high - low
    };
    // Runs that differ more have the wider interval, also where it is cut.
    let widths = [width(20.0, 2.0), width(90.0, 7.0), width(150.0, 12.0), width(500.0, 40.0)];
    assert!(widths.is_sorted(), "{widths:?}");
    assert_eq!(widths, [40.0, 180.0, 200.0, 200.0]);
}

#[test]
fn the_interval_of_a_share_ends_at_all_of_it() {
    let figure = |mean: f64| analysis::figures::Figure {
        mean,
        half_width: Some(45.0),
        min: mean,
        max: mean,
        count: 2,
    };
    let band = |name: &str| super::curves::of_figure(name, 1.0, &figure(89.0)).band;
    assert_eq!(band("readers.age.below_100ms"), Some((44.0, 100.0)));
    assert_eq!(band("tps"), Some((44.0, 134.0)));
}
