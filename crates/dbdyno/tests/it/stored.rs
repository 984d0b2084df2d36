//! Tests that a stored run reads the same everywhere: on the terminal, in files, on pages, in lists
//! and in comparisons; also a run of an earlier dbdyno, and one whose process was killed.
//!
//! Not here: reports of new runs (journey, report), and rejections by a store (store).

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::home::{Home, at, number};
use crate::http::Web;

/// Exported file with two simulated runs of dbdyno 0.1.0, from a store of version 6.
const STORE_V6: &[u8] = include_bytes!("../../tests-data/store-v6.dbdyno.gz");
const RUNS: [&str; 2] =
    ["01a207f9-bf30-70b7-b03b-6ccf3fc33899", "01a207f9-bef6-722a-85a9-79f3206611a7"];

/// Creates a home whose store has the runs of dbdyno 0.1.0.
fn with_old_store() -> Home {
    let home = Home::new();
    let mut store = Vec::new();
    GzDecoder::new(STORE_V6).read_to_end(&mut store).expect("it was packed by gzip");
    fs::create_dir_all(home.store().parent().expect("a folder")).expect("it is ours");
    fs::write(home.store(), store).expect("it is ours");
    // An export becomes a store when it is opened as one.
    home.run(&["runs", "list"]).good();
    home
}

fn change(home: &Home, sql: &str) {
    let store = Connection::open(home.store()).expect("a store");
    store.execute_batch(sql).expect("the rows are there");
}

fn without_clients(mut report: Value) -> Value {
    report["per_client"] = Value::Null;
    report
}

/// Asserts that all commands and pages show the same report of a run, and returns it.
fn said(home: &Home, web: &Web, run: &str) -> Value {
    let shown = home.json(&["runs", "show", run]);
    let exported = home.run(&["runs", "export", run]).good().json();
    assert!(at(&exported, "per_client").is_array(), "an export has all clients");
    assert_eq!(without_clients(exported), shown, "runs export");
    let with_clients = home.json(&["runs", "show", run, "--per-client"]);
    assert_eq!(without_clients(with_clients), shown, "runs show --per-client");
    assert_eq!(web.json(&format!("/api/runs/{run}")), shown, "the web");

    let page = home.run(&["report", run, "-o", "-"]).good().out;
    let terminal = home.run(&["runs", "show", run, "--full"]).good().out;
    let of_web = web.page(&format!("/runs/{run}"));
    for finding in at(&shown, "findings").as_array().expect("a list") {
        let text = finding["text"].as_str().expect("words");
        // Pages wrap lines: the first words are enough.
        let first: Vec<&str> = text.split_whitespace().take(4).collect();
        for page in [&page, &terminal, &of_web] {
            let words: Vec<&str> = page.split_whitespace().collect();
            assert!(words.join(" ").contains(&first.join(" ")), "{text} in {page}");
        }
    }
    let figures = home.json(&["runs", "show", run, "--figures"]);
    let figures = at(&figures, "figures").as_array().expect("a list");
    let tps = figures.iter().find(|figure| figure["figure"] == "tps").expect("it is a figure");
    assert_eq!(tps["value"], shown["tps"], "{tps}");
    shown
}

#[test]
fn a_run_of_before_says_the_same_wherever_it_is_read() {
    let home = with_old_store();
    let web = Web::start(&home, &[]);
    for run in RUNS {
        let report = said(&home, &web, run);
        let listed = home.json(&["runs", "list", "--where", &format!("id={run}")]);
        assert_eq!(at(&listed, "runs.0.tps"), &report["tps"]);
    }
}

#[test]
fn a_run_says_for_ever_what_it_said_when_it_ended() {
    let home = with_old_store();
    // Today's code would derive other figures and texts from the same events.
    let finding =
        json!([{"id": "stalled", "severity": "warning", "text": "It was judged so then."}]);
    change(
        &home,
        &format!(
            "UPDATE run SET report = json_set(report, '$.tps', 123.5, '$.findings', \
             json('{finding}')) WHERE id = '{}'",
            RUNS[0]
        ),
    );
    let web = Web::start(&home, &[]);
    let report = said(&home, &web, RUNS[0]);
    assert_eq!((number(&report, "tps"), &report["findings"]), (123.5, &finding));
    let compared = home.run(&["compare", RUNS[0], RUNS[1], "--output=json"]);
    assert!(compared.out.contains("123.5"), "{}\n{}", compared.out, compared.err);
    let of_other = said(&home, &web, RUNS[1]);
    assert!(number(&of_other, "tps") > 600.0, "no other run is concerned");
}

#[test]
fn a_run_whose_process_died_is_reported_from_its_events_by_all_alike() {
    let home = with_old_store();
    let ended = home.json(&["runs", "show", RUNS[0]]);
    let run = format!("(SELECT number FROM run WHERE id = '{}')", RUNS[0]);
    change(
        &home,
        &format!(
            "UPDATE run SET report = NULL, status = 'running', ended_unix_ms = NULL
             WHERE number = {run};
             DELETE FROM finding WHERE run = {run};
             DELETE FROM event WHERE run = {run} AND kind = 'ended';"
        ),
    );
    let web = Web::start(&home, &[]);
    let report = said(&home, &web, RUNS[0]);
    assert_eq!(report["status"], "interrupted");
    assert_eq!(at(&report, "findings.0.id"), "killed");
    // Reasons have the text of the version that judged the run, which stored no bytes of seconds.
    let figures = |report: &Value, what: &str| {
        let mut figures = report[what].clone();
        if let Some(object) = figures.as_object_mut() {
            object.retain(|key, _| !key.ends_with("reasons"));
        }
        for second in figures.as_array_mut().into_iter().flatten() {
            second.as_object_mut().expect("an object").retain(|key, _| key != "bytes");
        }
        figures
    };
    for what in ["counts", "tps", "response_ms", "seconds"] {
        assert_eq!(figures(&report, what), figures(&ended, what), "{what}");
    }
    // The run was judged, and killed before it stored its report.
    change(
        &home,
        &format!(
            "INSERT INTO finding SELECT {run}, 1000000 + key, value ->> 'id', value ->> 'severity',
             'Of then.' FROM json_each('{}')",
            Value::from(&at(&report, "findings").as_array().expect("a list")[1..])
                .to_string()
                .replace('\'', "''")
        ),
    );
    let again = said(&home, &web, RUNS[0]);
    assert_eq!(again["findings"], report["findings"], "nothing is found twice");
}
