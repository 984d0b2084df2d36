//! Tests of the requirements of TPC-C: a run reports which ones are met, and so does its page
//! later.

use std::fs;

use serde_json::Value;

use crate::home::{Home, at, number};

const RUN: [&str; 6] =
    ["run", "tpcc", "--duration=2s", "--ramp-up=0s", "--clients=2", "--monitor=off"];

fn named<'a>(report: &'a Value, title: &str) -> &'a Value {
    let all = at(report, "disclosures.0.requirements").as_array().expect("a list");
    let found = all.iter().find(|one| one["title"] == title);
    found.unwrap_or_else(|| panic!("no '{title}' in {all:#?}"))
}

#[test]
fn a_run_of_tpcc_is_held_against_its_standard() {
    let home = Home::new();
    home.put_tpcc();
    let report = home.report_with_code(0, &RUN);
    let disclosure = at(&report, "disclosures.0");
    assert_eq!(disclosure["standard"], "TPC-C 5.11");
    assert!(disclosure["note"].as_str().is_some_and(|note| note.contains("not a TPC-C result")));
    let all = at(disclosure, "requirements").as_array().expect("a list");
    assert_eq!(all.len(), 23);
    let count = |verdict: &str| all.iter().filter(|one| one["verdict"] == verdict).count() as f64;
    assert_eq!(number(disclosure, "passed"), count("pass"));
    assert_eq!(number(disclosure, "failed"), count("fail"));

    let lines = named(&report, "mean number of lines per order");
    let orders = number(&report, "transactions.new_order.finished");
    let mean = number(&report, "custom_metrics.lines_entered.sum") / orders;
    assert!((number(lines, "measured") - mean).abs() < 1e-9, "{lines:#}");
    assert_eq!(lines["clause"], "5.5.1.5");
    let p90 = named(&report, "p90 of the response time of new_order");
    let p90_ms = number(&report, "transactions.new_order.response_ms.p90");
    assert!((number(p90, "measured") * 1e3 - p90_ms).abs() < 1e-6, "{p90:#}");
    for (title, verdict) in [
        ("p90 of queueing a delivery, in s", "not_applicable"),
        ("order lines from another warehouse", "not_applicable"),
        ("keying times by type", "fail"),
        ("terminals per warehouse", "fail"),
        ("length of the measured interval", "fail"),
        ("checkpoints in the measured interval", "not_known"),
    ] {
        assert_eq!(named(&report, title)["verdict"], verdict, "{title}");
    }

    let said = home.run(&["runs", "show", "last", "--full"]).good();
    let said =
        said.says(&["standard  ", "requirements of TPC-C 5.11 met", "Requirements of TPC-C 5.11"]);
    for one in all {
        let beginning = at(one, "title").as_str().expect("words");
        let beginning: String = beginning.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let clause = at(one, "clause").as_str().expect("a number");
        let row =
            said.out.lines().find(|line| line.starts_with(clause) && line.contains(&beginning));
        assert!(row.is_some(), "no row of {clause}, {beginning}: {}", said.out);
    }
    said.says(&["n/a", "p90 of queueing a delivery, in s (not applicable): deliveries"]);
    home.run(&["report", "last", "-o", "run.html"]).good();
    let page = fs::read_to_string(home.path("run.html")).expect("it was written");
    for words in ["Requirements of TPC-C 5.11", "order statuses by last name", "57 to 63 %"] {
        assert!(page.contains(words), "no {words}");
    }
}

#[test]
fn what_spans_the_beginning_of_the_measured_phase_is_seen() {
    let home = Home::new();
    let target = "--target=sim:?servers=4&service=constant:2500ms";
    let words = ["run", "empty", target, "--clients=4", "--ramp-up=1s", "--duration=3s"];
    let report = home.report_with_code(0, &words);
    assert_eq!(number(&report, "counts.backlog_at_start"), 4.0);
    let longest_ms = number(&report, "backlog_at_start_max_ms");
    assert!((2500.0..4000.0).contains(&longest_ms), "{longest_ms}");
    let outside = at(&report, "facts.client.outside_percent").as_str().expect("a number");
    assert!(outside.parse::<f64>().is_ok_and(|percent| percent < 10.0), "{outside}");
    let said = home.run(&["runs", "show", "last", "--full"]).good();
    said.says(&["4 carried over from the ramp-up (the longest took 2."]);
}
