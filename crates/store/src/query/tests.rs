//! Tests of queries against synthetic runs, and of the errors of invalid queries.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use model::{Axis, Experiment, Point, Seek, Status};
use rusqlite::{Connection, params};

use super::super::schema::{self, IfMissing};
use super::super::{Filter, Store};
use super::*;

/// Current time of these tests, in milliseconds since 1970: 2026-07-01T00:00:00Z.
const NOW_MS: i64 = 1_782_864_000_000;
const DAY_MS: i64 = 86_400_000;

/// Figures of a synthetic run: TPS, NOPM and p99 in ms.
type Told = (Option<f64>, Option<f64>, Option<i64>);
/// A synthetic run: id, start in days ago, status, workload, number of clients, figures, finding.
type Made<'a> = (&'a str, i64, &'a str, &'a str, i64, Told, &'a str);

/// Functions that read figures from reports of these tests, which are JSON objects of numbers; a
/// bound is a number too.
const FIGURES: Figures = Figures {
    may_be: |name| match name {
        "below(125ms)" => Err("bounds have two digits".to_owned()),
        "below(20ms)" => Ok(true),
        name => Ok(name == "reads" || name.contains('.')),
    },
    check: |_, bound| bound.parse::<f64>().map(drop).map_err(|_| "no number".to_owned()),
    read: |report| {
        READ.with(|n| n.set(n.get() + 1));
        Some(Arc::new(Numbers(serde_json::from_str(report).ok()?)))
    },
};

thread_local! {
    /// Number of reports that this test has parsed.
    static READ: Cell<usize> = const { Cell::new(0) };
}

struct Numbers(serde_json::Value);

impl HasFigures for Numbers {
    fn value(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    fn compared(&self, name: &str, bound: &str) -> Option<Ordering> {
        self.value(name)?.partial_cmp(&bound.parse().ok()?)
    }
}

const MADE: [Made<'static>; 5] = [
    ("0001-aaaa", 1, "completed", "tpcc", 8, (Some(900.0), Some(54_000.0), Some(12)), ""),
    ("0002-bbbb", 3, "completed", "tpcc", 16, (Some(1200.0), Some(72_000.0), Some(40)), "stalled"),
    ("0003-cccc", 9, "failed", "oltp-read-only", 8, (None, None, None), "run_failed"),
    ("0004-dddd", 20, "completed", "tpcc+oltp-read-only", 4, (Some(10.0), None, Some(1)), ""),
    ("0005-eeee", 30, "running", "tpcb", 1, (None, None, None), ""),
];

/// Makes a store with the synthetic runs of these tests. Runs with 'b' in their id have a label,
/// and the fifth has no process.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let connection = schema::open(&path, IfMissing::Create).expect("a store");
    for (number, run) in MADE.iter().enumerate() {
        put(&connection, number as i64 + 1, run);
    }
    let label = "INSERT INTO label VALUES (?, ?, ?)";
    for (run, key, value) in [(1, "build", "12"), (2, "build", "9"), (4, "build", "12-rc")] {
        connection.execute(label, params![run, key, value]).expect("a label");
    }
    connection
        .execute_batch(
            "INSERT INTO experiment VALUES (1, '0199-exp', 0, 'sweep', '{}');
             INSERT INTO trial VALUES (2, 1, 0, 0);",
        )
        .expect("an experiment");
    (folder, Store { path, connection })
}

fn put(connection: &Connection, number: i64, run: &Made<'_>) {
    let (id, days, status, workload, clients, (tps, nopm, p99_ms), finding) = run;
    let worst = (!finding.is_empty()).then_some("warning");
    let started = NOW_MS - days * DAY_MS;
    let sql = "INSERT INTO run VALUES (?, ?, ?, NULL, 0, ?, 'x', '', 1, 1, 'a plan', ?, 'sim:',
                   'SQLite 3.54', ?, ?, NULL, ?, 60000000000, ?, 0, '0.1.0', '', '{}', NULL, ?, ?,
                   ?)";
    let p99_ns = p99_ms.map(|ms| ms * 1_000_000);
    let [name, title] = ["nopm", "NOPM"].map(|text| nopm.map(|_| text));
    let values = params![
        number, id, started, status, workload, clients, tps, p99_ns, worst, name, title, nopm
    ];
    connection.execute(sql, values).expect("a run");
    if !finding.is_empty() {
        let sql = "INSERT INTO finding VALUES (?, 1, ?, 'warning', 'x')";
        connection.execute(sql, params![number, finding]).expect("a finding");
    }
}

/// Returns the first characters of the ids of the runs that a query finds, in the order of `sort`.
fn found(store: &Store, query: &str, sort: &str) -> String {
    let filter = Filter {
        query: (!query.is_empty()).then(|| Query::parse(query, NOW_MS, FIGURES).expect(query)),
        sort: if sort.is_empty() {
            Sort::default()
        } else {
            Sort::parse(sort, FIGURES).expect(sort)
        },
        ..Filter::default()
    };
    let rows = store.list(&filter).expect(query);
    rows.iter().map(|row| &row.run.0[3..4]).collect()
}

#[test]
fn a_query_finds_the_runs_of_which_it_holds() {
    let (_folder, store) = store();
    let check = |query: &str, expect: &str| {
        assert_eq!(found(&store, query, ""), expect, "{query}");
    };
    check("workload=tpcc", "124");
    check("workload=TPCC and nopm>50000", "12");
    check("workload=tpcc and nopm>50k and label.build=12", "1");
    check("primary>50k", "12");
    check("p99<20ms", "14");
    check("p99<=12ms and p99>=12ms", "1");
    check("tps>500 or clients=4", "124");
    check("tps>30k/min or clients=4", "124");
    check("clients=8 and not status=failed", "1");
    check("not (clients=8 or clients=16)", "45");
    check("not not clients=8", "13");
    check("status=interrupted", "5");
    check("status=running", "");
    check("finding=stalled", "2");
    check("finding~RUN_", "3");
    check("finding", "235");
    check("validity=good", "14");
    check("validity!=good", "235");
    check("validity>=warning", "235");
    check("validity>note", "235");
    check("validity<WARNING", "14");
    check("validity<good", "");
    // The run's process was killed, and could not report that.
    check("finding=killed", "5");
    check("finding=KILLED and validity=warning", "5");
    check("experiment=exp", "2");
    check("experiment=sweep", "2");
    check("experiment!=sweep", "1345");
    check("experiment=swee", "");
    check("experiment", "2");
    check("id=bbbb or id=0004", "24");
    check("database~'sqlite 3.5'", "12345");
    check("database=sqlite", "12345");
    check("database='SQLite 3'", "12345");
    check("database=sql or database='SQLite 30'", "");
    check("database!=SQLite", "");
    check("duration>=1m", "12345");
    check("label.build~12", "14");
    check("label.build>10", "14");
    check("label.build>=12", "1");
    check("label.build<12", "24");
    check("label.build", "124");
    check("not label.build", "35");
    check("workload~oltp", "34");
}

#[test]
fn trust_goes_from_good_to_invalid() {
    let (_folder, store) = store();
    let invalid = "UPDATE run SET worst_finding = 'invalid' WHERE number = 2";
    store.connection.execute(invalid, ()).expect("a store");
    assert_eq!(found(&store, "validity>warning", ""), "2");
    assert_eq!(found(&store, "validity>=warning and validity<invalid", ""), "35");
    assert_eq!(found(&store, "", "-validity,id"), "23514");
}

#[test]
fn labels_are_held_against_each_other_as_versions() {
    let (_folder, store) = store();
    let label = "INSERT INTO label VALUES (?, 'b', ?)";
    for (run, value) in [(1, "1.9"), (2, "1.36"), (3, "1.2.7"), (4, "1.2.6"), (5, "1.36rc1")] {
        store.connection.execute(label, params![run, value]).expect("a label");
    }
    assert_eq!(found(&store, "", "-label.b"), "25134");
    let check = |query: &str, expect: &str| assert_eq!(found(&store, query, ""), expect, "{query}");
    check("label.b>1.35", "25");
    check("label.b>1.2.6", "1235");
    check("label.b<=1.2.7", "34");
    check("label.b<'1.36'", "1345");
    check("label.b=1.9", "1");
}

#[test]
fn every_label_that_can_be_set_can_be_asked_for() {
    let (_folder, store) = store();
    let run = model::RunId("0003-cccc".to_owned());
    for key in ["a", "disk.type", "a-b_c", "größe", "x:y/z", "label.", "1"] {
        store.label(&run, key, "what's this, (1 > 0)?").expect(key);
        assert_eq!(found(&store, &format!("label.{key}"), &format!("label.{key}")), "3", "{key}");
    }
    let long = "x".repeat(201);
    for key in ["", "a b", "a,b", "a'b", "a=b", "a(b", "a>b", "a\nb", "a\u{7}b", "a\u{200b}", &long]
    {
        assert!(why_no_label(key, "1").is_some(), "{key}");
    }
    for value in ["a\nb", "\u{1b}[2J", "1\u{202e}2", "\u{2066}1", &long] {
        assert!(store.label(&run, "a", value).is_err(), "{value}");
    }
}

#[test]
fn what_a_run_could_not_say_of_itself_is_known_of_it() {
    let (_folder, store) = store();
    let lost = "UPDATE run SET events_lost = 7, ended_unix_ms = 1 WHERE number = 4";
    store.connection.execute(lost, ()).expect("a store");
    assert_eq!(found(&store, "finding=store_not_written", ""), "4");
    assert_eq!(found(&store, "validity=warning", ""), "2345");
    let worst = |run: &str| {
        let run = Some(model::RunId(run.to_owned()));
        let rows = store.list(&Filter { run, ..Filter::default() }).expect("a list");
        rows[0].worst_finding
    };
    let runs = ["0001-aaaa", "0004-dddd", "0005-eeee"];
    let warning = Some(model::Severity::Warning);
    assert_eq!(runs.map(worst), [None, warning, warning]);
    // An imported run is stored as interrupted, and a stopped one has an end.
    let elsewhere = "UPDATE run SET status = 'interrupted' WHERE number = 5";
    store.connection.execute(elsewhere, ()).expect("a store");
    assert_eq!(found(&store, "finding=killed", ""), "5");
    let stopped = "UPDATE run SET ended_unix_ms = 1 WHERE number = 5";
    store.connection.execute(stopped, ()).expect("a store");
    assert_eq!((found(&store, "finding=killed", ""), worst("0005-eeee")), (String::new(), None));
}

#[test]
fn instants_are_dates_times_and_how_long_ago() {
    let (_folder, store) = store();
    let check = |query: &str, expect: &str| {
        assert_eq!(found(&store, query, ""), expect, "{query}");
    };
    check("started>-7d", "12");
    check("started>2026-06-28", "1");
    check("started>=2026-06-28", "12");
    check("started=2026-06-28", "2");
    check("started!=2026-06-28", "1345");
    check("started<'2026-06-22 00:00:01'", "345");
    check("started<2026-06-22T00:00:00Z", "45");
}

#[test]
fn what_is_not_known_is_unequal_to_everything_and_neither_more_nor_less() {
    let (_folder, store) = store();
    assert_eq!(found(&store, "nopm>0", ""), "12");
    assert_eq!(found(&store, "nopm<=0", ""), "");
    assert_eq!(found(&store, "not nopm>0", ""), "345");
    assert_eq!(found(&store, "nopm!=54000", ""), "2345");
    assert_eq!(found(&store, "label.build!=12", ""), "2345");
}

#[test]
fn runs_are_sorted_by_what_is_asked_for_and_then_by_age() {
    let (_folder, store) = store();
    assert_eq!(found(&store, "", ""), "12345");
    assert_eq!(found(&store, "", "-nopm"), "21345");
    assert_eq!(found(&store, "", "tps"), "41235");
    assert_eq!(found(&store, "", "clients,-p99"), "54132");
    // In the order of versions, as in a history: 9, 12-rc, 12.
    assert_eq!(found(&store, "", "label.build"), "24135");
    assert_eq!(found(&store, "", "-label.build"), "14235");
    assert_eq!(found(&store, "", "-status,id"), "53124");
}

#[test]
fn an_order_has_few_columns() {
    let order = |n: usize| vec!["-tps"; n].join(",");
    assert!(Sort::parse(&order(16), FIGURES).is_ok());
    let error = Sort::parse(&order(17), FIGURES).expect_err("too many").to_string();
    assert!(error.contains("at most 16 columns"), "{error}");
}

#[test]
fn what_is_written_never_becomes_sql() {
    let (_folder, store) = store();
    for query in [
        "name=\"x' or 1=1 --\"",
        "name='\") or 1=1 --'",
        "label.x');drop=1",
        "label.a';--=1",
        "workload~\"%\"",
    ] {
        if let Ok(query) = Query::parse(query, NOW_MS, FIGURES) {
            let filter = Filter { query: Some(query), ..Filter::default() };
            assert!(store.list(&filter).expect("a list").is_empty());
        }
    }
    assert_eq!(found(&store, "", ""), "12345");
}

#[test]
fn figures_of_reports_are_asked_for_and_sorted_by() {
    let (folder, store) = store();
    let connection = Connection::open(folder.path().join("runs.sqlite")).expect("a store");
    for (run, reads) in [(1, "30"), (2, "10"), (3, "20"), (4, "null")] {
        let report = format!("{{\"reads\": {reads}, \"x.p99\": {run}}}");
        let put = "UPDATE run SET report = ? WHERE number = ?";
        connection.execute(put, params![report, run]).expect("a run");
    }
    let check = |query: &str, sort: &str, expect: &str| {
        assert_eq!(found(&store, query, sort), expect, "{query} {sort}");
    };
    check("reads>=20", "id", "13");
    check("reads<20 or x.p99=3", "id", "23");
    check("reads!=20", "id", "1245");
    check("reads", "reads", "231");
    check("", "-reads,id", "13245");
    check("x.p99>1 and workload=tpcc", "id", "24");
    // A slash makes one figure of two, with blanks or without.
    let quotient = "UPDATE run SET report = '{\"x.p99 / reads\": 7}' WHERE number = 4";
    store.connection.execute(quotient, ()).expect("a store");
    check("x.p99 / reads>6 and workload=tpcc", "id", "4");
    // Parentheses right after a word are part of it, except after 'not'.
    let shares = "UPDATE run SET report = '{\"below(20ms)\": 99, \"reads\": 5}' WHERE number = 2";
    store.connection.execute(shares, ()).expect("a store");
    check("not(reads=30) and below(20ms)>98", "id", "2");
    check("(below(20ms)>98)or(reads=30)", "-below(20ms)", "21");
    let bad = |query: &str| {
        Query::parse(query, NOW_MS, FIGURES).expect_err("it makes no sense").to_string()
    };
    assert_eq!(bad("reads>5 and below(125ms)>1"), "at character 13: bounds have two digits");
    assert_eq!(bad("below(20ms>1"), "at character 1: a ')' is missing");
    assert_eq!(bad("reads>many"), "at character 7: 'many': no number");
    assert_eq!(bad("reads~5"), "at character 6: 'reads' is not a text: ~ cannot search it");
}

#[test]
fn a_bad_query_is_one_sentence_with_the_place_of_the_mistake() {
    let said = |query: &str| match Query::parse(query, NOW_MS, FIGURES) {
        Ok(read) => panic!("{query} is {read:?}"),
        Err(bad) => bad.to_string(),
    };
    let queries = [
        "workload=tpcc and nopn>5",
        "p99<20",
        "nopm>many",
        "status=complete",
        "name<x",
        "tps~5",
        "started>soon",
        "(tps>5",
        "tps>5)",
        "tps>5 nopm>5",
        "tps>5 and",
        "tps>",
        "name='x",
        "tps ! 5",
        "label.=5",
        "finding=staled",
        " ",
    ];
    let report = |query: &&str| {
        let shown = format!("{query} is bad {}", said(query));
        model::numbers::wrap(&shown, 88).join("\n    ")
    };
    let shown: Vec<String> = queries.iter().map(report).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    workload=tpcc and nopn>5 is bad at character 19: there is no column 'nopn' (did you mean
        'nopm'?); choose one of id, started, status, name, workload, target, database, clients,
        duration, tps, primary, nopm, p99, validity, finding, dbdyno, experiment, label.KEY and
        the figures of 'dbdyno list figures'
    p99<20 is bad at character 5: '20' is not a duration: it has no unit (write 30s, 500ms,
        5m or 1h)
    nopm>many is bad at character 6: 'many' is not a number: write nopm>50000 or 50k
    status=complete is bad at character 8: 'complete' is not a status (did you mean
        'completed'?): choose one of running, completed, interrupted, failed
    name<x is bad at character 5: 'name' is a text: compare it with =, != or ~
    tps~5 is bad at character 4: 'tps' is not a text: ~ cannot search it
    started>soon is bad at character 9: 'soon' is not a date or time: write 2026-01-31,
        '2026-01-31 12:00' (UTC) or -7d
    (tps>5 is bad at character 7: a ')' is missing
    tps>5) is bad at character 6: this ')' has no '(' before it
    tps>5 nopm>5 is bad at character 7: 'and' or 'or' is missing before it (quote values
        with blanks)
    tps>5 and is bad at character 10: a column such as nopm is missing
    tps> is bad at character 5: a value is missing
    name='x is bad at character 6: this ' has no closing one
    tps ! 5 is bad at character 5: signs are =, !=, <, <=, >, >= and ~ (contains)
    label.=5 is bad at character 1: a label's key is missing: write label.build
    finding=staled is bad at character 9: there is no finding 'staled' (did you mean
        'stalled'?): 'dbdyno list findings' has all, and ~ searches for a part
    is bad at character 1: it is empty: write workload=tpcc and nopm>50000
    ");
    let deep = "(".repeat(200) + "tps>5" + &")".repeat(200);
    assert!(said(&deep).contains("more than 100 brackets"), "{}", said(&deep));
    assert!(said(&"x".repeat(5000)).contains("longer than 4096 characters"));
    let bad = Sort::parse("-nopm,-p98", FIGURES).expect_err("there is no p98").to_string();
    let expect = "at character 7: there is no column 'p98' (did you mean 'p99'?)";
    assert!(bad.starts_with(expect), "{bad}");
    assert!(Sort::parse("finding", FIGURES).is_err());
    let long = |n: usize| Sort::parse(&vec!["-tps"; n].join(","), FIGURES);
    assert!(long(16).is_ok());
    let bad = long(5000).expect_err("nobody sorts by so many").to_string();
    assert!(bad.contains("at most 16"), "{bad}");
}

#[test]
fn every_condition_that_can_be_written_can_be_asked() {
    let (_folder, store) = store();
    let values = |kind: Kind| match kind {
        Kind::Id | Kind::IdOrName(_) | Kind::Text | Kind::Names | Kind::Product => "x",
        Kind::Finding => "stalled",
        Kind::Word(words) | Kind::Rank(words) => words[0],
        Kind::Count | Kind::Number => "5",
        Kind::Duration => "5ms",
        Kind::Instant => "2026-01-01",
    };
    for column in RUNS.columns {
        for (sign, _) in Operator::ALL {
            let text = format!("{}{sign}{}", column.name, values(column.kind));
            if let Ok(query) = Query::parse(&text, NOW_MS, FIGURES) {
                let sort = Sort::parse(column.name, FIGURES).unwrap_or_default();
                let filter = Filter { query: Some(query), sort, ..Filter::default() };
                store.list(&filter).expect(&text);
            }
        }
    }
}

/// Makes a store with an experiment over clients, and a younger search for a rate that has no
/// trials.
fn with_experiments() -> (tempfile::TempDir, Store) {
    let (folder, store) = store();
    let clear = "DELETE FROM trial; DELETE FROM experiment;";
    store.connection.execute_batch(clear).expect("no experiments");
    let point = || Point { values: vec!["1".to_owned()], plan: String::new() };
    let sweep = Experiment {
        id: "0001-sweep".to_owned(),
        name: "sweep".to_owned(),
        started_unix_ms: NOW_MS - 5 * DAY_MS,
        axes: vec![Axis { name: "clients".to_owned(), values: vec!["1".to_owned()] }],
        points: vec![point(), point()],
        ..crate::tests::experiment()
    };
    let seek = Seek {
        axis: "rate".to_owned(),
        low: 1.0,
        high: 9.0,
        is_whole: false,
        objectives: Vec::new(),
        budget_ns: 1,
        method: study::seek::METHOD,
    };
    let search = Experiment {
        id: "0002-search".to_owned(),
        name: "limit".to_owned(),
        started_unix_ms: NOW_MS - DAY_MS,
        axes: Vec::new(),
        points: vec![point()],
        walk: model::Walk::Seek(seek),
        ..sweep.clone()
    };
    for experiment in [&sweep, &search] {
        store.add_experiment(experiment).expect("room");
    }
    let bind = "INSERT INTO trial SELECT run.number, experiment.number, 0, run.number
                FROM run, experiment WHERE experiment.name = 'sweep' AND run.number IN (1, 2, 3)";
    store.connection.execute(bind, ()).expect("trials");
    (folder, store)
}

#[test]
fn experiments_are_found_by_what_their_list_shows() {
    let (_folder, store) = with_experiments();
    let check = |query: &str, sort: &str, expect: &[&str]| {
        let mut filter = ExperimentFilter::default();
        if !query.is_empty() {
            filter = filter.that(query, NOW_MS).expect(query);
        }
        if !sort.is_empty() {
            filter = filter.by(sort).expect(sort);
        }
        let found = store.experiments(&filter).expect(query);
        let names: Vec<&str> = found.iter().map(|experiment| experiment.name.as_str()).collect();
        assert_eq!(names, expect, "{query} {sort}");
    };
    check("", "", &["limit", "sweep"]);
    check("", "started", &["sweep", "limit"]);
    check("", "-done", &["sweep", "limit"]);
    check("axis=clients", "", &["sweep"]);
    check("axis=rate or axis~CLI", "", &["limit", "sweep"]);
    check("workload=tpcc and workload=oltp-read-only", "", &["sweep"]);
    check("not workload=tpcc", "", &["limit"]);
    check("done=2 and trials=6", "", &["sweep"]);
    check("trials", "", &["sweep"]);
    check("done=0", "", &["limit"]);
    check("started>-2d", "", &["limit"]);
    check("id=sweep", "", &["sweep"]);
    check("name!=sweep", "", &["limit"]);
    check("status", "", &[]);
    let sweep = store.find_experiment("sweep").expect("it is stored");
    let walk = store.lock_experiment(&sweep).expect("nobody has it");
    check("status=running", "status", &["sweep"]);
    walk.end(Status::Failed).expect("it ends");
    check("status=failed or status=running", "", &["sweep"]);
    for column in EXPERIMENTS.columns {
        check(&format!("{} and name=x", column.name), column.name, &[]);
    }
}

#[test]
fn what_only_runs_have_cannot_be_asked_of_experiments() {
    let said = |text: &str| {
        let read = ExperimentFilter::default().that(text, NOW_MS);
        read.expect_err("it is no column of theirs").to_string()
    };
    let of_label = said("label.build=1");
    assert!(of_label.contains("there is no column 'label.build'"), "{of_label}");
    assert!(
        said("nopm>5")
            .ends_with("choose one of id, started, status, name, axis, workload, trials, done")
    );
    assert!(said("").contains("workload=tpcc and axis=clients"));
}

#[test]
fn a_report_is_read_once_for_all_conditions_on_its_run_and_its_place() {
    let (_folder, store) = store();
    for run in 1..=4 {
        let report = format!("{{\"reads\": {run}, \"x.p99\": {run}}}");
        let sql = "UPDATE run SET report = ? WHERE number = ?";
        store.connection.execute(sql, params![report, run]).expect("a run");
    }
    READ.with(|n| n.set(0));
    let query = "reads>0 and x.p99>0 and x.p99<9 and (reads!=3 or reads=3)";
    assert_eq!(found(&store, query, "-reads,x.p99"), "4321");
    assert_eq!(READ.with(Cell::get), 4);
}
