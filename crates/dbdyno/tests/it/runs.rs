//! Tests of commands on stored runs: conditions, orders, parts as tables, and files for other
//! programs.
//!
//! Not here: the language of conditions (store), and errors (bad_input).

use std::fs;

use serde_json::Value;

use crate::home::{Home, at, number};
use crate::http::Web;

/// Runs ten seconds in virtual time with this name and number of clients; returns the report.
fn run(home: &Home, name: &str, clients: &str, more: &[&str]) -> Value {
    let (name, clients) = (format!("--name={name}"), format!("--clients={clients}"));
    let sim = "--target=sim:?service=exponential:2ms&servers=4";
    let args = [
        &["run", "empty", sim, "--placement=simulated", "--duration=10s", "--quiet"][..],
        &[name.as_str(), clients.as_str()],
        more,
    ];
    home.report_with_code(0, &args.concat())
}

fn names(list: &Value) -> Vec<&str> {
    let runs = at(list, "runs").as_array().expect("a list");
    runs.iter().map(|run| run["name"].as_str().expect("a name")).collect()
}

#[test]
fn runs_are_found_by_what_they_showed_and_listed_in_the_order_that_is_asked_for() {
    let home = Home::new();
    for (name, clients) in [("small", "1"), ("large", "8"), ("middle", "2")] {
        run(&home, name, clients, &[]);
    }
    home.run(&["runs", "label", "last", "build=12"]).good();
    let list = |args: &[&str]| home.json(&[&["runs", "list"], args].concat());
    assert_eq!(names(&list(&["--sort", "-tps"])), ["large", "middle", "small"]);
    assert_eq!(names(&list(&["--sort=tps", "--limit=2"])), ["small", "middle"]);
    let where_ = |text: &str| list(&["--sort=clients", "--where", text]);
    assert_eq!(names(&where_("workload=empty and clients>=2")), ["middle", "large"]);
    assert_eq!(names(&where_("label.build=12 or clients=8")), ["middle", "large"]);
    assert_eq!(names(&where_("not label.build and started>-1h")), ["small", "large"]);
    assert_eq!(names(&where_("finding=debug_build and p99>1us and tps>0.1k")).len(), 3);
    assert_eq!(names(&where_("name=small")), ["small"]);
    assert_eq!(names(&where_("status=failed")), [""; 0]);

    let csv = home.run(&["runs", "list", "--output=csv", "--where=clients=8"]).good().out;
    assert!(csv.starts_with("run_id,started,status,name,workload,"), "{csv}");
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let markdown = home.run(&["runs", "list", "--output=markdown"]).good().out;
    assert!(markdown.contains("| TPS |") && markdown.contains("| build=12 |"), "{markdown}");
    // Figures of the order and the conditions are shown.
    let by = ["--sort=-new_order.p99,round_trips_per_transaction", "--where=qps>1 or retried=0"];
    let shown = home.run(&[&["runs", "list"], &by[..]].concat()).good().out;
    for title in ["new_order.p99 ms", "round_trips_per_transaction", "qps 1/s", "retried"] {
        assert!(shown.contains(title), "{title}: {shown}");
    }
    let figures = at(&list(&by), "runs.0.figures").clone();
    assert!(figures["new_order.p99"].is_null() && figures["qps"].as_f64() > Some(1.0));
    assert_eq!(figures["round_trips_per_transaction"], 1.0);
    let csv = home.run(&[&["runs", "list", "--output=csv"], &by[..]].concat()).good().out;
    assert!(csv.contains(",new_order.p99,round_trips_per_transaction,qps,retried,"), "{csv}");
    // Runs with other clients are not compared.
    let listed = home.run(&["runs", "list"]).good().out;
    assert!(!listed.contains("most TPS"), "{listed}");
    let bad = home.run(&["runs", "list", "--where=nopn>5"]).code(2);
    bad.warns(&["--where: at character 1: there is no column 'nopn' (did you mean 'nopm'?)"]);
    home.run(&["runs", "list", "--sort=speed"]).code(2).warns(&["--sort: at character 1: "]);
}

#[test]
fn a_list_for_programs_has_all_runs_and_one_for_people_says_that_it_is_short() {
    let home = Home::new();
    run(&home, "=1+1", "1", &[]);
    for _ in 1..22 {
        home.run(&["run", "empty", "--target=sim:", "--placement=simulated", "--duration=1s"]);
    }
    for list in [&["runs"][..], &["runs", "list"]] {
        let shown = |args: &[&str]| home.run(&[list, args].concat()).good().out;
        assert_eq!(shown(&["--output=csv"]).lines().count(), 23);
        assert_eq!(shown(&["--output=markdown"]).lines().count(), 24);
        assert_eq!(names(&home.json(list)).len(), 22);
        let text = shown(&[]);
        assert!(text.contains("only 20 runs are shown: --limit 0 lists all"), "{text}");
    }
    let listed = |args: &[&str]| home.run(&[&["runs", "list"], args].concat()).good().out;
    for (limit, n_runs) in [("--limit=3", 3), ("--limit=0", 22), ("--limit=22", 22)] {
        assert_eq!(listed(&["--output=csv", limit]).lines().count(), n_runs + 1, "{limit}");
        let short = home.run(&["runs", limit, "--output=csv"]).good().out;
        assert_eq!(short.lines().count(), n_runs + 1, "{limit}");
        assert!(!listed(&[limit]).contains("runs are shown"), "{limit}");
    }
    // A spreadsheet would evaluate it.
    let csv = listed(&["--output=csv"]);
    assert!(csv.contains(",'=1+1,") && !csv.contains(",=1+1,"), "{csv}");
    assert_eq!(names(&home.json(&["runs", "list"])).last(), Some(&"=1+1"));
}

#[test]
fn a_label_is_one_line_that_can_be_asked_for() {
    let home = Home::new();
    run(&home, "labelled", "1", &[]);
    let label = |label: &str| home.run(&["runs", "label", "last", label]);
    label("a b=1")
        .code(2)
        .warns(&["the key 'a b' could not be used in conditions"])
        .is_a_sentence();
    label("a=1\n2").code(2).warns(&["a label is one line"]).is_a_sentence();
    label(&format!("a={}", "x".repeat(201))).code(2).warns(&["no longer than 200 characters"]);
    let run = home.run(&["run", "empty", "--target=sim:", "--label=a b=1"]).code(2);
    run.warns(&["the key 'a b'"]);
    label("b=1.9").good().says(&["b=1.9"]);
    label("nosuch=").good().warns(&["the run has no label 'nosuch'"]).says(&["b=1.9"]);
    assert_eq!(label("b=").good().err, "");
}

#[test]
fn every_run_of_an_experiment_has_its_labels_from_its_beginning() {
    let home = Home::new();
    let sim = "--target=sim:?service=exponential:2ms&servers=4";
    let all = ["run", "empty", sim, "--placement=simulated", "--duration=5s", "--quiet"];
    let labels = ["--label=build=12", "--label", "disk=nvme"];
    home.run(&[&all[..], &labels, &["--vary=clients=1,2"]].concat()).good();
    let sought = ["--clients=64", "--load=open", "--seek=rate=50..1000", "--objective=p50<12ms"];
    home.run(&[&all[..4], &labels, &sought, &["--seek-budget=5m", "--quiet"]].concat());
    let with = home.json(&["runs", "list", "--where=label.build=12 and label.disk=nvme"]);
    let all = home.json(&["runs", "list", "--limit=0"]);
    assert!(names(&all).len() > 2 && names(&with) == names(&all), "{with:#} {all:#}");
}

#[test]
fn parts_of_a_run_are_tables_for_people_and_programs() {
    let home = Home::new();
    let report = run(&home, "parts", "4", &["--per-client"]);
    let show =
        |args: &[&str]| home.run(&[&["runs", "show", "last", "--full"], args].concat()).good().out;
    let timing = show(&["--timing"]);
    assert!(timing.contains("transaction ") && timing.contains("ratio %"), "{timing}");
    assert!(!timing.contains("Valid"), "{timing}");
    let json = |args: &[&str]| home.json(&[&["runs", "show", "last", "--full"], args].concat());
    let timed = json(&["--timing"]);
    assert_eq!(at(&timed, "run_id"), at(&report, "run_id"));
    assert_eq!(number(&timed, "timing.0.calls"), number(&report, "transactions.empty.calls"));

    let counter = json(&["--counter", "--every=5s"]);
    let rows = at(&counter, "counter").as_array().expect("a list");
    let commits: f64 = rows.iter().map(|row| number(row, "commits")).sum();
    let seconds = at(&report, "seconds").as_array().expect("a list");
    assert_eq!(commits, seconds.iter().map(|second| number(second, "commits")).sum::<f64>());
    assert_eq!(rows.len(), 3, "2 s of ramp-up, and 5 s twice");

    let clients = json(&["--per-client", "--timing"]);
    let of_clients = at(&clients, "per_client").as_array().expect("a list");
    let calls: f64 = of_clients.iter().map(|row| number(row, "calls")).sum();
    let counts = at(&report, "counts");
    assert_eq!(calls, number(counts, "finished") + number(counts, "failed"));
    assert_eq!(json(&["--per-client"]), report);

    let config = show(&["--config", "--settings"]);
    for shown in ["Configuration of run", "statements", "Settings of run", "servers"] {
        assert!(config.contains(shown), "no {shown} in {config}");
    }
    let csv = show(&["--counter", "--output=csv"]);
    assert!(csv.starts_with("from_s,length_s,offered,finished,"), "{csv}");
    assert_eq!(csv.lines().count(), 13);
    assert!(show(&["--timing", "--output=markdown"]).contains("| empty |"));
    let two = show(&["--timing", "--config", "--output=markdown"]);
    assert!(two.contains("| empty |") && two.contains("**Configuration of run"), "{two}");
    let page = show(&["--output=markdown"]);
    assert!(page.starts_with("**empty on sim"), "{page}");
    for part in ["### What ran", "### Latency", "| empty |", "### Valid"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    home.run(&["runs", "show", "last", "--plan", "--output=markdown"]).code(2);
    let two = home.run(&["runs", "show", "last", "--timing", "--config", "--output=csv"]);
    two.code(2).warns(&["--output csv"]);
    let uneven = home.run(&["runs", "show", "last", "--counter", "--every=1500ms"]);
    uneven.code(2).warns(&["is not whole seconds"]);
}

#[test]
fn a_run_leaves_as_a_file_for_every_reader_and_comes_back_the_same() {
    let home = Home::new();
    let report = run(&home, "sent", "4", &["--per-client"]);
    let id = at(&report, "run_id").as_str().expect("an id").to_owned();
    home.run(&["runs", "label", "last", "for=you"]).good();
    let export = |file: &str| {
        home.run(&["runs", "export", "last", "-o", file]).good().says(&["wrote 1 run to "]);
        fs::read(home.path(file)).expect("it was written")
    };
    let json: Value = serde_json::from_slice(&export("report.json")).expect("JSON");
    assert_eq!(json, report);
    let csv = String::from_utf8(export("seconds.csv")).expect("text");
    let header = csv.lines().next().expect("a header");
    assert!(header.starts_with("run_id,started,second_s,group,") && header.contains("p99_ms"));
    assert_eq!(csv.lines().count(), 13, "2 s of ramp-up, 10 s, and the header");
    let log = String::from_utf8(export("times.hlog")).expect("text");
    assert!(log.contains("#[Histogram log format version 1.3]"), "{log}");
    assert!(log.contains("\nTag=empty,9.000,1.000,"), "{log}");
    let list = home.json(&["runs", "list"]);
    let begun_ms = number(&list, "runs.0.started_unix_ms");
    let shown = at(&report, "facts.client.measured_from_unix_ms").as_str().expect("a text");
    let measured_ms: f64 = shown.parse().expect("a number");
    let until_ms = measured_ms - begun_ms;
    assert!((2_000.0..60_000.0).contains(&until_ms), "2 s of ramp-up, and {until_ms} ms in all");
    let start = format!("#[StartTime: {:.3} (seconds since epoch)]", measured_ms / 1e3);
    assert!(log.contains(&start), "no {start} in {log}");

    let portable = export("run.dbdyno");
    assert!(portable.starts_with(b"SQLite format 3\0"));
    let colleague = Home::new();
    fs::copy(home.path("run.dbdyno"), colleague.path("run.dbdyno")).expect("a copy");
    let short = render::list::short_id(&id);
    let imported = colleague.run(&["runs", "import", "run.dbdyno"]).good();
    imported.says(&[&format!("imported 1 run: {short}")]);
    assert_eq!(colleague.json(&["runs", "export", "last"]), report);
    let page = home.run(&["runs", "show", "last", "--full"]).good().out;
    assert_eq!(colleague.run(&["runs", "show", "last", "--full"]).good().out, page);
    assert_eq!(colleague.run(&["runs", "label", "last"]).good().out, "for=you\n");
    // All runs with a label are exported together.
    home.run(&["runs", "export", "for=you", "-o", "label.dbdyno"]).good().says(&["wrote 1 run"]);
    let none = home.run(&["runs", "export", "for=me", "-o", "none.dbdyno"]).code(2);
    none.warns(&["no run has the label for=me"]).is_a_sentence();
    let again = colleague.run(&["runs", "import", "run.dbdyno"]).good();
    again.says(&[&format!("skipped 1 that exists already: {short}")]);
    assert_eq!(names(&colleague.json(&["runs", "list"])), ["sent"]);

    // An export may replace an earlier one, for example each night, but no other file.
    assert!(export("run.dbdyno").starts_with(b"SQLite format 3\0"));
    fs::copy(home.path("run.dbdyno"), home.path("edited.dbdyno")).expect("a copy");
    let edited = rusqlite::Connection::open(home.path("edited.dbdyno")).expect("a database");
    edited.execute_batch("CREATE TABLE precious (x)").expect("a table");
    fs::copy(home.store(), home.path("kept.dbdyno")).expect("a copy");
    for (file, how) in
        [("edited.dbdyno", "dbdyno"), ("kept.dbdyno", "dbdyno"), ("run.dbdyno", "json")]
    {
        let format = format!("--format={how}");
        let taken = home.run(&["runs", "export", "last", &format, "-o", file]).code(2);
        taken.warns(&["it is a database, and would be overwritten: name another file"]);
    }
    let astray = home.run(&["runs", "export", "last", "-o", "none/run.dbdyno"]).code(2);
    astray.warns(&["there is no folder none: make it"]).is_a_sentence();
    // A truncated file leaves no empty store.
    let stranger = Home::new();
    stranger.write("half.dbdyno", &portable[..portable.len() / 2]);
    stranger.run(&["runs", "import", "half.dbdyno"]).code(1).is_a_sentence();
    assert!(!stranger.store().exists());
    let nowhere = home.run(&["runs", "export", "last", "--format=dbdyno"]).code(2);
    nowhere.warns(&["name it with -o"]);
    fs::write(home.path("hostile.dbdyno"), "SQLite format 3\0 and more").expect("a file");
    let hostile = home.run(&["runs", "import", "hostile.dbdyno"]).code(2);
    hostile.warns(&["hostile.dbdyno"]).is_a_sentence();
    home.run(&["runs", "import", "none.dbdyno"]).code(2).warns(&["there is no file"]);
}

#[test]
fn an_experiment_comes_along_with_its_runs() {
    let home = Home::new();
    let sim = "--target=sim:?service=exponential:2ms&servers=4";
    let args =
        ["run", "empty", sim, "--placement=simulated", "--duration=2s", "--vary=clients=1,2"];
    home.json(&[&args[..], &["--quiet"]].concat());
    let list = home.json(&["runs", "list"]);
    let runs = at(&list, "runs").as_array().expect("a list");
    let mut export = vec!["runs", "export", "-o", "all.dbdyno"];
    export.extend(runs.iter().map(|run| run["run_id"].as_str().expect("an id")));
    home.run(&export).good();
    let colleague = Home::new();
    let file = home.path("all.dbdyno").display().to_string();
    colleague.run(&["runs", "import", &file]).good();
    let show = |home: &Home| home.json(&["experiments", "show", "last"]);
    assert_eq!(show(&colleague), show(&home));
    let csv = colleague.run(&["experiments", "list", "--output=csv"]).good().out;
    let titles = "experiment_id,started,name,axes,trials,trials_completed,status\n";
    assert!(csv.starts_with(titles), "{csv}");
    assert!(csv.ends_with(",\"clients=1,2\",2,2,completed\n"), "{csv}");
    let found = colleague.json(&["runs", "list", "--where=experiment"]);
    assert_eq!(names(&found).len(), 2);
}

#[test]
fn runs_of_an_experiment_are_listed_with_their_points() {
    let home = Home::new();
    run(&home, "alone", "3", &[]);
    let lists = ["text", "csv", "json"].map(|how| format!("--output={how}"));
    let shown = |how: usize| home.run(&["runs", "list", &lists[how]]).good();
    assert!(!shown(0).out.contains("point"), "a column without a value is none");
    let how = ["--placement=simulated", "--duration=10s", "--ramp-up=0s", "--quiet"];
    let vary = ["--vary=clients=1,2", "--target=sim:?service=constant:1ms"];
    home.run(&[&["run", "empty"], &vary[..], &how].concat()).good();
    let last = home.run(&["runs", "export", "last", "-o", "last.json"]).good();
    last.says(&["wrote 1 run"]).warns(&["this is the last trial of experiment ", "exports all"]);
    // Together they are one line, unless a condition or an order is given.
    let folded =
        shown(0).says(&["  empty, 2 runs  ", "  1,000  ", "  1.00–2.00  ", "--trials lists each"]);
    assert_eq!(folded.out.lines().filter(|line| line.contains("  empty, ")).count(), 1);
    for single in ["--trials", "--sort=tps", "--where=clients<3"] {
        let points = ["  point      ", "clients=1", "clients=2"];
        home.run(&["runs", "list", single]).good().says(&points);
    }
    let first = home.run(&["runs", "list", "--limit=1"]).good().says(&["  empty, 2 runs  "]);
    assert!(!first.out.contains("alone"), "{}", first.out);
    shown(1).says(&[",labels,point", "clients=2,"]);
    let listed = shown(2).json();
    let runs = at(&listed, "runs").as_array().expect("a list");
    let points = runs.iter().map(|run| run["point"].as_object().expect("an object").len());
    assert_eq!(points.collect::<Vec<_>>(), [1, 1, 0]);
    let page = Web::start(&home, &[]).page("/");
    assert!(page.contains(">clients=2</span>"), "{page}");
}
