//! Tests of the workload `events`: readers' ages and missed records equal those of independent
//! queries, on every database, and with a paused server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use rustix::event::{Timespec, poll};
use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_5_6, MYSQL_9_7, POSTGRES, TestServer};

use crate::enough::report_once;
use crate::home::{Home, at, look_into, number};
use crate::journey::nothing_is_lost;
use crate::real::{url, url_of};
use crate::settings::ask;

/// Runs `events` without a ramp-up, so that result tables and figures cover the same reads. The run
/// may be too short to be valid; the exit code is then another one.
fn run(home: &Home, args: &[&str]) -> Value {
    let fixed = ["run", "events", "--ramp-up=0s", "--quiet", "--output=json"];
    let report = home.run(&[&fixed[..], args].concat()).json();
    nothing_is_lost(&report);
    assert_eq!(number(&report, "counts.failed"), 0.0, "{:#}", report["errors"]);
    // A simulation stores nothing, so there are no checks.
    let held = report["checks"]["after"].as_array();
    assert_eq!(held.is_none_or(Vec::is_empty), args.iter().any(|arg| arg.contains("=sim:")));
    assert!(held.into_iter().flatten().all(|check| check["failed"] == 0), "{held:#?}");
    report
}

fn sum(report: &Value, metric: &str) -> f64 {
    at(report, "custom_metrics")[metric]["sum"].as_f64().unwrap_or_else(|| panic!("no {metric}"))
}

#[track_caller]
fn count(database: &Connection, sql: &str) -> i64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|bad| panic!("{sql}: {bad}"))
}

#[test]
fn what_is_committed_in_the_drain_is_in_no_rate() {
    let home = Home::new();
    let target = "--target=sim:?service=constant:20ms";
    let args = [target, "--placement=simulated", "--writers=1", "--readers=0", "--rate=1MB/s"];
    let more = ["--duration=4s", "--require=bytes>0.95MB/s"];
    let report = run(&home, &[&args[..], &more].concat());
    assert!(number(&report, "counts.committed") > 1.5 * sum(&report, "records"));
    let mb_per_s = number(&report, "primary_metrics.mb_per_s.value");
    assert_eq!(sum(&report, "bytes") / 4e6, mb_per_s);
    let result = &at(&report, "required.results")[0];
    assert_eq!((&result["value"], &result["holds"]), (&(mb_per_s * 1e6).into(), &"beyond".into()));
}

#[test]
fn where_nothing_is_stored_nothing_is_checked_and_the_report_says_what() {
    let home = Home::new();
    let by_commits = "and the database's own count of commits.";
    let all = [
        ("arm", &["--clients=2", "--buffer-bytes=5000"][..], by_commits),
        ("record", &["--clients=2"], by_commits),
        ("events", &["--writers=2", "--readers=0"], by_commits),
    ];
    for (workload, more, last) in all {
        for placement in ["thread", "simulated"] {
            let target = "--target=sim:?service=constant:1ms&rows=1";
            let placement = format!("--placement={placement}");
            let args = ["run", workload, target, &placement, "--ramp-up=0s", "--duration=1s"];
            home.run(&[&args[..], &["--check=both", "--quiet"], more].concat());
            let page = home.call(&["runs", "show", "last", "--full"]).out;
            assert!(!page.contains(" hold") && !page.contains("the database counts"), "{page}");
            let shown = "checks      not checked, since sim stores nothing: ";
            assert!(page.contains(shown), "{page}");
            let report = home.json(&["runs", "show", "last", "--full"]);
            let checks = ["before", "after"].map(|when| report["checks"][when].as_array());
            assert!(checks.iter().all(|held| held.is_none_or(Vec::is_empty)), "{checks:#?}");
            let notes = at(&report, "notes").as_array().expect("a list");
            let said =
                notes.iter().filter_map(Value::as_str).find(|note| note.contains("Not checked"));
            let said = said.unwrap_or_else(|| panic!("{workload}: {notes:#?}"));
            assert!(said.starts_with("Not checked, since sim stores nothing: "), "{said}");
            assert!(said.ends_with(last), "{said}");
        }
    }
}

#[test]
fn shares_of_ages_are_those_of_the_result_tables() {
    let home = Home::new();
    let bounds = ["40ms", "100ms", "300ms"];
    let shares = bounds.map(|bound| format!("--require=age.below_{bound}>0%"));
    let args = ["--rate=100kB/s", "--duration=2s", "--read-interval=25ms", "--readers=4"];
    let more = ["--require=age_p90<1h", "--require=bytes>1kB/s", "--reader-hosts=1"];
    let given: Vec<&str> =
        args.into_iter().chain(more).chain(shares.iter().map(String::as_str)).collect();
    let report = run(&home, &given);
    let database = look_into(&home.database("events")).expect("it is there");
    let all = count(&database, "SELECT COUNT(*) FROM event_age1");
    assert!(all > 0, "{all}");
    assert_eq!(sum(&report, "readers.records_read"), all as f64);
    assert_eq!(at(&report, "custom_metrics")["readers.age"]["count"], all);
    assert_eq!(sum(&report, "writers.bytes"), 1_000.0 * sum(&report, "writers.records"));
    let results = at(&report, "required.results").as_array().expect("a list");
    let named = |name: &str| {
        let found = results.iter().find(|result| result["figure"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {results:#?}"))
    };
    assert_eq!(named("writers.bytes.per_second")["unit"], "B/s");
    assert!(named("readers.age.p90_ms")["value"].as_f64() > Some(0.0));
    for (bound, ms) in bounds.into_iter().zip([40.0, 100.0, 300.0]) {
        let share = named(&format!("readers.age.below_{bound}"))["value"].as_f64().expect("one");
        // Histograms have a precision of three digits.
        let below = |factor: f64| {
            let sql = format!(
                "SELECT COUNT(*) FROM event_age1 WHERE read_ns - stamped_ns < {}",
                (ms * factor * 1e6) as i64
            );
            count(&database, &sql) as f64 * 100.0 / all as f64
        };
        let (low, high) = (below(0.998), below(1.002));
        assert!((low - 1e-6..=high + 1e-6).contains(&share), "{bound}: {low} {share} {high}");
    }
}

#[test]
fn a_window_that_is_too_small_misses_exactly_the_other_records() {
    let home = Home::new();
    let args = ["--writers=2", "--readers=4", "--rate=200", "--arrivals=uniform", "--window=5"];
    let more = ["--read-interval=200ms", "--duration=1h", "--record-size=100", "--ramp-up=0s"];
    let fixed = ["run", "events", "--quiet", "--output=json"];
    let started = home.start(&[&fixed[..], &args, &more].concat());
    // Until all have read often; with about 20 records per read, a window of 5 misses most.
    let report = report_once(&home, started, "what was missed", |report| {
        let sum = |name: &str| report["custom_metrics"][name]["sum"].as_f64().unwrap_or(0.0);
        let (read, missed) = (sum("readers.records_read"), sum("readers.missed"));
        let has_read = |reader: u32| {
            look_into(&home.database("events")).is_ok_and(|database| {
                let sql = format!("SELECT COUNT(*) >= 15 FROM event_age1 WHERE reader = {reader}");
                database.query_row(&sql, [], |row| row.get(0)).unwrap_or(false)
            })
        };
        missed > read && (1..=4).all(has_read)
    });
    let database = look_into(&home.database("events")).expect("it is there");
    let (mut missed_in_all, mut read_in_all) = (0, 0);
    // Readers are numbered from 1, independent of the number of writers.
    for reader in 1..=4 {
        let table = (reader + 1) % 2 + 1;
        let select = |what: &str, from: &str| {
            count(&database, &format!("SELECT {what} FROM {from} WHERE reader = {reader}"))
        };
        let first = select("MIN(after_sequence)", "event_read1");
        let last = select("MAX(last_sequence)", "event_read1");
        let (read, missed) =
            (select("COUNT(*)", "event_age1"), select("SUM(missed)", "event_read1"));
        let written = |span: &str| {
            count(&database, &format!("SELECT COUNT(*) FROM event{table} t WHERE sequence {span}"))
        };
        // Records that are in the table but were not read.
        let lacked = written(&format!(
            "BETWEEN {} AND {last} AND NOT EXISTS (SELECT 1 FROM event_age1 a \
             WHERE a.reader = {reader} AND a.sequence = t.sequence)",
            first + 1
        ));
        assert_eq!(missed, lacked, "reader {reader}");
        let unread = written(&format!("> {last}"));
        let since = written(&format!("> {first}"));
        assert_eq!(since, read + missed + unread, "reader {reader}");
        let most = format!(
            "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM event_age1 WHERE reader = {reader} \
             GROUP BY read_ns)"
        );
        assert_eq!(count(&database, &most), 5);
        let fact = at(&report, "facts.events")[format!("reader_{reader}")].to_string();
        let shown = format!("table {table}: {read} read first, {missed} missed");
        assert!(fact.contains(&shown), "{fact}, not {shown}");
        missed_in_all += missed;
        read_in_all += read;
    }
    assert!(missed_in_all > read_in_all, "{missed_in_all} of {read_in_all}");
    // Reads and writes in the drain are in the tables, but in no sum.
    let missed = sum(&report, "readers.missed");
    assert!(missed <= missed_in_all as f64, "{missed} of {missed_in_all}");
    let written: f64 = sum(&report, "writers.records");
    let stored = count(&database, "SELECT (SELECT COUNT(*) FROM event1) + COUNT(*) FROM event2");
    assert!(written <= stored as f64 && written + 4.0 > stored as f64, "{written} of {stored}");
}

#[test]
fn a_second_run_goes_on_and_each_host_has_its_own_result_tables() {
    let home = Home::new();
    let args = ["--writers=1", "--rate=100", "--duration=3s", "--read-interval=20ms"];
    let hosts = ["--reader-hosts=2", "--readers=3"];
    for n_runs in [1, 2] {
        run(&home, &[&args[..], &hosts].concat());
        let database = look_into(&home.database("events")).expect("it is there");
        let readers = [1, 2].map(|host| {
            let sql = format!("SELECT COUNT(DISTINCT reader) FROM event_read{host}");
            count(&database, &sql)
        });
        assert_eq!(readers, [1, 2]);
        assert_eq!(count(&database, "SELECT COUNT(DISTINCT run) FROM event_read2"), n_runs);
    }
    let database = look_into(&home.database("events")).expect("it is there");
    // The second run ignores records of the first.
    let sequence = |which: &str, what: &str| {
        let sql = format!(
            "SELECT {what}(sequence) FROM event_age1 WHERE run = (SELECT {which}(run) FROM \
             event_read1)"
        );
        count(&database, &sql)
    };
    assert!(sequence("MAX", "MIN") > sequence("MIN", "MAX"));
}

#[test]
fn writers_offer_exactly_the_bytes_that_are_asked_for_in_virtual_time() {
    let home = Home::new();
    let args = ["run", "events", "--target=sim:?service=constant:1ms&servers=0", "--readers=0"];
    let more = ["--placement=simulated", "--ramp-up=0s", "--duration=10s", "--rate=2MB/s"];
    let last = ["--arrivals=uniform", "--record-size=500", "--output=json", "--writers=5"];
    let report = home.call(&[&args[..], &more, &last].concat()).good().json();
    nothing_is_lost(&report);
    // Arrival k is due k / 4,000 s after the start, so the last would coincide with the end.
    assert_eq!(number(&report, "counts.offered"), 39_999.0);
    // The last four arrive within a millisecond of the end, and are stored after it.
    assert_eq!(number(&report, "custom_metrics.bytes.sum"), 39_995.0 * 500.0);
    let again = home.call(&[&args[..], &more, &last].concat()).good().json();
    for name in ["tps", "custom_metrics", "response_ms"] {
        assert_eq!(report[name], again[name], "{name}");
    }
    // Rates in bytes can be an axis, and keep their spelling.
    let quick = ["--vary=rate=1MB/s,2MB/s", "--placement=simulated", "--duration=1s"];
    let shown = home.call(&[&args[..], &quick, &last, &["--ramp-up=0s"]].concat()).json();
    assert_eq!(shown["axes"][0]["values"], serde_json::json!(["1MB/s", "2MB/s"]), "{shown:#}");
}

#[track_caller]
fn reads_on(server: &TestServer) {
    let target = format!("--target={}", url_of(server.shared(), "events"));
    for (placement, more) in [("thread", "--plain-every=5"), ("loop", "--history-every=4")] {
        let placement = format!("--placement={placement}");
        let args = ["run", "events", "--rate=100", "--record-size=300", "--read-interval=20ms"];
        let rest = ["--duration=1h", "--ramp-up=0s", "--quiet", "--output=json"];
        let home = Home::new();
        let run = home.start(&[&args[..], &rest, &[&target, &placement, more]].concat());
        let report = report_once(&home, run, "records that are read", |report| {
            let read = &report["custom_metrics"]["readers.records_read"]["sum"];
            read.as_f64().is_some_and(|read| read > 50.0)
        });
        assert_eq!(number(&report, "counts.failed"), 0.0, "{:#}", report["errors"]);
        let reads = &at(&report, "transactions")["readers.read"];
        assert!(number(reads, "finished") > 0.0);
        let read = sum(&report, "readers.records_read");
        // Each table has two readers, which may not have reached the last records.
        let written = sum(&report, "writers.records");
        assert!(read > 0.0 && read <= 2.0 * written, "{read} of {written}");
        assert_eq!(sum(&report, "readers.missed"), 0.0, "{report:#}");
    }
}

#[test]
fn readers_find_what_writers_insert_on_mariadb() {
    reads_on(&MARIADB);
}

#[test]
fn readers_find_what_writers_insert_on_mysql_5_6() {
    reads_on(&MYSQL_5_6);
}

#[test]
fn readers_find_what_writers_insert_on_mysql_9_7() {
    reads_on(&MYSQL_9_7);
}

#[test]
fn readers_find_what_writers_insert_on_postgres() {
    reads_on(&POSTGRES);
}

#[expect(clippy::disallowed_methods, reason = "stamps of another process are held against it")]
fn unix_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later");
    now.as_nanos() as i64
}

/// Pauses the server for 500 ms: each record of that time waits at least until the pause ends.
#[test]
fn a_pause_of_the_server_is_in_the_age_of_every_record_of_that_time() {
    let home = Home::new();
    let server = MARIADB.start();
    let target = format!("--target={}", url(&server));
    let args = ["run", "events", &target, "--ramp-up=0s", "--duration=8s", "--output=json"];
    let more = [
        "--window=1000",
        "--rate=200",
        "--arrivals=uniform",
        "--record-size=100",
        "--read-interval=20ms",
    ];
    let mut started = home.start(&[&args[..], &more, &["--quiet"]].concat());
    crate::outage::wait_for_seconds(&home, &mut started, 2);
    server.pause().expect("it stands still");
    let from = unix_ns();
    let length = Timespec::try_from(Duration::from_millis(500)).expect("it is short");
    poll(&mut [], Some(&length)).expect("nothing can be waited for");
    let to = unix_ns();
    server.resume().expect("it goes on");
    let report = started.end().json();
    nothing_is_lost(&report);

    let value = |sql: &str| -> i64 {
        let text = ask(&server, &[&format!("SELECT CAST(({sql}) AS CHAR)")]);
        text.parse().unwrap_or_else(|_| panic!("{sql}: '{text}'"))
    };
    let during = format!("FROM event_age1 WHERE stamped_ns >= {from} AND stamped_ns < {to}");
    let of_pause = value(&format!("SELECT COUNT(*) {during}"));
    let span = format!("stamped_ns >= {from} AND stamped_ns < {to}");
    let in_tables = |rest: &dyn Fn(u32) -> String| -> i64 {
        let n_rows = |table| value(&format!("SELECT COUNT(*) FROM event{table} {}", rest(table)));
        (1..=3).map(n_rows).sum()
    };
    let stamped = in_tables(&|_| format!("WHERE {span}"));
    // One every 5 ms, for the actual length of the pause.
    let planned = (to - from) / 5_000_000;
    assert!((planned - 1..=planned + 1).contains(&stamped), "{stamped}, not {planned}");
    // Each has two readers, which may not have reached the end.
    let seen = in_tables(&|table| {
        format!(
            "e JOIN (SELECT reader, MAX(last_sequence) AS last FROM event_read1 \
             WHERE source = {table} GROUP BY reader) r ON e.sequence <= r.last WHERE {span}"
        )
    });
    assert_eq!(of_pause, seen, "each is read, by both");
    assert!(of_pause > stamped, "{of_pause} of {stamped}");
    let early = format!("SELECT COUNT(*) {during} AND stamped_ns + age_ns < {to}");
    assert_eq!(value(&early), 0, "nobody reads anything before the end");
    // Half of them waited for at least 250 ms, and the histogram has as many.
    let long = value("SELECT COUNT(*) FROM event_age1 WHERE age_ns >= 250000000");
    assert!(long >= stamped, "{long} of {stamped}");
    let all = number(&at(&report, "custom_metrics")["readers.age"], "count");
    let facts = at(&report, "facts.events").as_object().expect("facts by name");
    let ages = facts.iter().filter(|(name, _)| name.ends_with("_ages_ms"));
    let of_bucket = |ages: &serde_json::Value| -> i64 {
        let mut buckets = ages.as_str().expect("a text").split(", ");
        let count = buckets.find_map(|bucket| bucket.strip_prefix("<500: "));
        count.expect("it is counted").parse().expect("a count")
    };
    let counted: i64 = ages.map(|(_, ages)| of_bucket(ages)).sum();
    let stored =
        value("SELECT COUNT(*) FROM event_age1 WHERE age_ns >= 300000000 AND age_ns < 500000000");
    assert!(counted == stored && counted > 0, "{counted} of {stored}: {facts:?}");
    assert_eq!(all as i64, value("SELECT COUNT(*) FROM event_age1"));
}
