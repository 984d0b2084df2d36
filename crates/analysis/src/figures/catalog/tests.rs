//! Tests of the catalog of figures: names, units and directions.

use super::*;
use crate::fixtures::{Made, subjects};

#[test]
fn the_quotient_of_two_figures_is_one() {
    let report = Report::from_tally(&Made::closed().tally());
    let name = resolve("new_order.p99 / p50", [&report].into_iter()).expect("it has both");
    assert_eq!(name, "new_order.p99_ms / p50_ms");
    let value = |name: &str| value_of(&report, name).expect("it has it");
    let expect = value("new_order.p99_ms") / value("p50_ms");
    assert!((value(&name) - expect).abs() < 1e-12);
    assert_eq!((unit(&name), direction(&name)), ("", Direction::Neither));
    assert_eq!(crate::figures::title(&name), "new_order.p99 / p50");
    assert_eq!(known("tps / qps"), Ok(Some("tps / qps".to_owned())));
    assert!(resolve("tps / bogus", [&report].into_iter()).is_err());
}

#[test]
fn every_figure_of_a_run_is_found_by_its_name_and_has_one_name() {
    for report in [subjects::closed(), subjects::open()] {
        let all = all_of(&report);
        assert!(all.len() > 60, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for figure in &all {
            assert_eq!(value_of(&report, &figure.name), Some(figure.value), "{}", figure.name);
            assert_eq!(check_name(&figure.name), Ok(()));
            assert_eq!(resolve(&figure.name, [&report].into_iter()).as_ref(), Ok(&figure.name));
        }
    }
}

#[test]
fn other_words_for_figures_are_known() {
    let written = "machine.disk_written_per_transaction";
    assert!(spellings("io.written_per_transaction").contains(&written.to_owned()));
    assert!(spellings("rows").contains(&"rows_per_s".to_owned()));
    assert_eq!(known("bytes"), Ok(Some("bytes".to_owned())));
    assert_eq!(direction("bytes"), Direction::Higher);
    assert_eq!(known("p99/p50"), Ok(Some("p99_ms / p50_ms".to_owned())));
    assert_eq!(known("machine.disk_written/vda"), Ok(Some("machine.disk_written/vda".to_owned())));
    assert!(other_quantile("new_order.p75").is_some_and(|why| why.contains("p50, p90, p95")));
    assert_eq!(other_quantile("payment"), None);
}

#[test]
fn names_say_which_way_a_figure_is_better() {
    let check = |names: &[&str], expect: Direction| {
        names.iter().for_each(|name| assert_eq!(direction(name), expect, "{name}"));
    };
    let higher = [
        "tps",
        "nopm",
        "reads",
        "new_order.tps",
        "rows.per_second",
        "below_20ms",
        "new_order.below_5s",
    ];
    let lower = ["p99_ms", "errors_percent", "new_order.p99_ms", "event_age.p99_ms", "stalls"];
    let faults = ["deliveries_skipped.per_second", "readers.duplicates.mean"];
    let neither = [
        "machine.cpu_user",
        "db1/server.disk_written",
        "machine.disk_written/vda.max",
        "database.rows_read_per_transaction",
        "lines.mean",
    ];
    check(&higher, Direction::Higher);
    check(&lower, Direction::Lower);
    check(&faults, Direction::Lower);
    check(&neither, Direction::Neither);
}

#[test]
fn names_are_understood_as_people_write_them() {
    let report = subjects::closed();
    let found = |name: &str| resolve(name, [&report].into_iter());
    assert_eq!(found(" P99 ").as_deref(), Ok("p99_ms"));
    assert_eq!(found("new_order.p95").as_deref(), Ok("new_order.p95_ms"));
    assert_eq!(found("TPS").as_deref(), Ok("tps"));
    assert_eq!(found("New_Order").as_deref(), Ok("new_order.mean_ms"));
    assert_eq!(found("new_order/payment").as_deref(), Ok("new_order.mean_ms / payment.mean_ms"));
    assert_eq!(find_as_written("q9", ["q9.mean_ms"].into_iter()), Some("q9.mean_ms"));
    let no = found("new_oder").expect_err("a slip");
    assert!(no.contains("did you mean 'new_order'?"), "{no}");
    let no = found("new_oder.tps").expect_err("a slip");
    assert!(no.contains("did you mean 'new_order.tps'?"), "{no}");
    assert_eq!(found("new_order.below(0.02s)").as_deref(), Ok("new_order.below_20ms"));
    assert!(found("below_125ms").is_err_and(|why| why.contains("120ms and 130ms")));
    let known = |name: &str| known(name).map(Option::unwrap_or_default);
    assert_eq!(known("p999").as_deref(), Ok("p999_ms"));
    assert_eq!(known("server.disk_written").as_deref(), Ok("server.disk_written"));
    assert_eq!(known("below(3s)").as_deref(), Ok("below_3s"));
    assert_eq!(known("speed").as_deref(), Ok(""));
    assert!(known("below(3)").is_err_and(|why| why.contains("needs a unit")));
}

#[test]
fn what_one_group_alone_has_may_be_named_without_it() {
    let mut report = subjects::closed();
    let lines = report.block.custom_metrics.get("lines").expect("one").clone();
    let groups = ["writers", "readers"];
    report.groups = groups
        .map(|name| GroupReport { name: name.to_owned(), ..report.groups[0].clone() })
        .to_vec();
    report.block.custom_metrics = Named::default();
    report.block.custom_metrics.push("readers.lines".to_owned(), lines.clone());
    let found = |report: &Report, name: &str| resolve(name, [report].into_iter());
    assert_eq!(found(&report, "lines").as_deref(), Ok("readers.lines.per_second"));
    assert_eq!(found(&report, "lines_p90").as_deref(), Ok("readers.lines.p90"));
    assert_eq!(found(&report, "lines.below_5").as_deref(), Ok("readers.lines.below_5"));
    assert_eq!(found(&report, "p99").as_deref(), Ok("p99_ms"));
    // Metrics of one group come before those of all clients.
    let rows = report.block.custom_metrics.get("readers.lines").expect("one").clone();
    report.block.custom_metrics.push("writers.rows".to_owned(), rows);
    report.block.rows_per_second = Some(1e6);
    assert_eq!(found(&report, "rows").as_deref(), Ok("writers.rows.per_second"));
    assert_eq!(found(&report, "rows_per_s").as_deref(), Ok("rows_per_s"));
    let names = ["rows_per_s", "writers.rows.per_second"];
    assert_eq!(find_as_written("rows", names.into_iter()), Some(names[1]));
    assert_eq!(find_as_written("rows", names[..1].iter().copied()), Some(names[0]));
    report.block.custom_metrics.push("writers.lines".to_owned(), lines);
    let why = found(&report, "lines_p90").expect_err("two have it");
    assert!(why.contains("readers.lines.p90, writers.lines.p90"), "{why}");
}

#[test]
fn the_unit_of_a_figure_is_that_of_the_list() {
    let mut with_bytes = subjects::closed();
    let primary = with_bytes.block.primary_metrics.get("nopm").expect("it has NOPM").clone();
    let bytes = PrimaryMetricReport { title: "MB/s".to_owned(), ..primary };
    with_bytes.block.primary_metrics.push("mb_per_s".to_owned(), bytes);
    let all = all_of(&with_bytes);
    let listed = all.iter().find(|figure| figure.name == "mb_per_s").expect("it is listed");
    assert_eq!(listed.unit, "MB/s");
    for report in [subjects::closed(), subjects::open(), with_bytes] {
        for NamedFigure { name, unit: expect, .. } in all_of(&report) {
            let units = units_in([name.as_str()].into_iter(), [&report].into_iter());
            let found = units.get(&name).map_or(unit(&name), String::as_str);
            assert_eq!(found, expect, "{name}");
        }
    }
}

#[test]
fn times_among_lost_work_are_infinite_and_what_is_lacking_is_none() {
    let mut report = subjects::closed();
    report.block.offered_ms.p99 = None;
    report.block.offered_ms.infinite = vec!["p99".to_owned()];
    assert_eq!(value_of(&report, "p99_ms"), Some(f64::INFINITY));
    report.block.tps = None;
    assert_eq!(value_of(&report, "tps"), None);
    assert_eq!(value_of(&report, "machine.no_such_gauge"), None);
}

#[test]
fn a_custom_metric_declares_its_direction_and_that_of_an_older_run_follows_from_its_name() {
    let mut report = subjects::closed();
    let (_, metric) = report.block.custom_metrics.0.first().expect("it has one").clone();
    let mut put = |name: &str, better: Option<Direction>| {
        let metric = CustomMetricReport { better, ..metric.clone() };
        report.block.custom_metrics.push(name.to_owned(), metric);
    };
    put("rejected", Some(Direction::Lower));
    put("missed", None);
    put("rows", None);
    let check = |name: &str, expect: Direction| {
        assert_eq!(direction_in(name, [&report]), expect, "{name}");
    };
    check("rejected.per_second", Direction::Lower);
    check("rejected.mean", Direction::Lower);
    check("missed.per_second", Direction::Lower);
    check("rows.per_second", Direction::Higher);
    check("tps", Direction::Higher);
}
