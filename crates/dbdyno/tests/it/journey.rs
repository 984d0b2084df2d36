//! Tests of the first use: from nothing to a report with one command, and all further uses of the
//! stored run.
//!
//! Not here: errors (bad_input).

use std::fs;

use serde_json::Value;

use crate::bad_input::QUICK;
use crate::home::{Home, at, number};

const RUN: [&str; 4] = ["run", "tpcc", "--duration=1s", "--ramp-up=0s"];

/// Paths of all keys of the JSON report. The schema promises that keys are only added.
const KEYS: &str = "
    schema run_id name status workload target database seed clients placement started
    measured_seconds tps qps reads_per_second writes_per_second nopm tpm per_client
    counts.offered counts.finished counts.failed counts.dropped counts.unfinished
    counts.retried counts.unknown
    lag_us.p50 lag_us.p99 lag_us.max
    custom_metrics errors client.cpu_seconds client.cpu_us_per_query client.queries
    client.max_rss_bytes findings.0.id findings.0.severity findings.0.text plan facts
    checks.before checks.after crosschecks.0.matches seconds.0.tps groups.0.parameters
    notes.0";

const TIMES: [&str; 4] = ["response_ms", "service_ms", "wait_ms", "offered_ms"];
const TIME_KEYS: &str = "count min mean sd p50 p90 p95 p99 p999 max";
const TRANSACTION_KEYS: &str = "calls failed tps total_ms ratio_percent round_trips response_ms";
const KINDS: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

fn has_every_key(report: &Value) {
    for key in KEYS.split_whitespace() {
        at(report, key);
    }
    for times in TIMES {
        for key in TIME_KEYS.split_whitespace() {
            at(report, &format!("{times}.{key}"));
        }
    }
    for kind in KINDS {
        for key in TRANSACTION_KEYS.split_whitespace() {
            at(report, &format!("transactions.{kind}.{key}"));
        }
        for key in TIME_KEYS.split_whitespace() {
            at(report, &format!("transactions.{kind}.response_ms.{key}"));
        }
    }
}

/// Asserts offered = finished + failed + dropped + unfinished, in the run and in each of its parts.
pub(crate) fn nothing_is_lost(report: &Value) {
    let parts = |part_path: &str| {
        let part = |name: &str| number(report, &format!("{part_path}.{name}"));
        let ended = part("finished") + part("failed") + part("dropped") + part("unfinished");
        assert_eq!(part("offered"), ended, "{part_path}: {}", at(report, part_path));
        // Absent if the plan ignores no errors.
        let ignored = at(report, part_path)["ignored"].as_f64().unwrap_or(0.0);
        let finished = part("committed") + part("rolled_back") + ignored;
        assert_eq!(part("finished"), finished, "{part_path}");
    };
    parts("counts");
    parts("ramp_up_counts");
    let seconds = at(report, "seconds").as_array().expect("a list");
    let measured = seconds.iter().filter(|second| number(second, "second") >= 0.0);
    let offered: f64 = measured.map(|second| number(second, "offered")).sum();
    assert_eq!(offered, number(report, "counts.offered"));
    for times in ["response_ms", "service_ms", "wait_ms"] {
        assert_eq!(number(report, &format!("{times}.count")), number(report, "counts.finished"));
    }
}

/// Asserts that rates are commits divided by the measured time, up to the last commit.
fn rates_are_commits_over_time(report: &Value) {
    let measured = number(report, "measured_seconds");
    let near = |a: f64, b: f64, what: &str| assert!((a - b).abs() < 1e-3, "{what}: {a} and {b}");
    let seconds = at(report, "seconds").as_array().expect("a list");
    let commits: f64 = seconds.iter().map(|second| number(second, "commits")).sum();
    near(number(report, "tps") * measured, commits, "commits");
    near(number(report, "tpm"), commits * 60.0 / measured, "TPM");
    let new_orders = number(report, "transactions.new_order.tps") * measured;
    near(new_orders, new_orders.round(), "new orders are whole");
    near(number(report, "nopm"), new_orders * 60.0 / measured, "NOPM");
    near(number(report, "primary_metrics.nopm.value"), number(report, "nopm"), "headline");
    // Without ramp-up, at most one transaction per client ended after the window.
    let late = number(report, "counts.committed") - commits;
    assert!((0.0..=number(report, "clients")).contains(&late), "{late} were late");
}

fn crosscheck_matches(report: &Value) {
    let check = at(report, "crosschecks.0");
    assert_eq!(check["matches"], true, "{check}");
    assert_eq!(check["change"], check["committed"]);
    let order = number(report, "transactions.new_order.finished");
    let committed = number(check, "committed");
    assert!(committed <= order && committed > 0.9 * order, "{committed} of {order}");
}

#[test]
fn one_command_builds_checks_measures_and_reports() {
    let home = Home::new();
    let ran = home.run(&RUN).good();
    let ran = ran
        .warns(&["takes 1s (0s ramp-up, 1s measured), plus the build of about 599,", "built 600,"]);
    let ran = ran.says(&[
        "tpcc on SQLite",
        " NOPM",
        "errors      0 of ",
        "13 of 13 checks passed before and after the load",
        "database and dbdyno agree: ",
        "Valid",
        "not a TPC-C result",
        "Next:\n  dbdyno runs show last --full",
    ]);
    assert!(ran.out.lines().count() <= 40, "{}", ran.out);
    home.run(&["runs", "show", "last", "--full"]).good().says(&[
        " NOPM",
        " TPM",
        " transactions offered = ",
        " finished + 0 failed + 0 dropped + 0 unfinished",
        "no CI for p50",
        "Sections: ran, latency, transactions, ",
        "dbdyno run plan.toml",
    ]);
    let parts = home.run(&["runs", "show", "last", "--section=latency,checks"]).good();
    let parts = parts.says(&["latency in ms", "Requirements of TPC-C"]);
    assert!(!parts.out.contains("System and database metrics"), "{}", parts.out);
    assert!(!ran.out.contains('\u{1b}'), "there is no terminal, so there are no colours");

    // Enough to include each type, however slow the machine is; a fast one does them in less than a
    // second, which is not valid but has all keys.
    let counted = ["run", "tpcc", "--transactions=500", "--ramp-up=0s", "--output=json"];
    let report = home.run(&counted).json();
    assert_eq!(report["status"], "completed");
    has_every_key(&report);
    nothing_is_lost(&report);
    rates_are_commits_over_time(&report);
    crosscheck_matches(&report);
    assert_eq!(at(&report, "checks.before").as_array().unwrap().len(), 13);
    assert_eq!(at(&report, "checks.after").as_array().unwrap().len(), 13);
    assert_eq!(number(&report, "clients"), 4.0);
}

#[test]
fn a_run_that_was_kept_can_be_listed_shown_repeated_labelled_exported_and_removed() {
    let home = Home::new();
    home.put_tpcc();
    let args = [&RUN[..], &["--clients=2", "--seed=7", "--weights=45/43/4/4/4"]].concat();
    let report = home.json(&args);
    let id = report["run_id"].as_str().unwrap();

    home.run(&["runs", "list"]).good().says(&["tpcc", &id[28..]]);
    let shown =
        home.run(&["runs", "show", "last", "--full"]).good().says(&[id, "NOPM", "45/43/4/4/4"]);
    assert_eq!(home.run(&["runs", "show", &id[28..], "--full"]).good().out, shown.out);
    assert_eq!(home.json(&["runs", "show", id]), report);

    let plan = home.run(&["runs", "show", "last", "--plan"]).good().out;
    home.write("again.toml", &plan);
    let again = home.json(&["run", "again.toml"]);
    assert_ne!(again["run_id"], report["run_id"]);
    for same in ["seed", "clients", "target", "plan", "load", "phases", "groups", "placement"] {
        assert_eq!(again[same], report[same], "{same}");
    }
    nothing_is_lost(&again);

    let labelled = home.run(&["runs", "label", id, "disk=nvme", "who=me"]).good();
    assert_eq!(labelled.out, "disk=nvme\nwho=me\n");
    let labelled = home.run(&["runs", "label", id, "who="]).good();
    assert_eq!(labelled.out, "disk=nvme\n");
    let found = home.json(&["runs", "list", "--label=disk=nvme"]);
    assert_eq!(at(&found, "runs").as_array().unwrap().len(), 1);
    assert_eq!(at(&found, "runs.0.run_id"), id);
    assert_eq!(at(&found, "runs.0.primary.value"), &report["nopm"]);

    let exported = home.run(&["runs", "export", id]).good().json();
    let clients = at(&exported, "per_client").as_array().unwrap();
    assert_eq!(clients.len(), 2);
    for (key, value) in report.as_object().unwrap() {
        assert!(key == "per_client" || exported[key] == *value, "{key}: {value}");
    }

    home.run(&["runs", "rm", id]).good().says(&[&format!("removed {id}")]);
    home.run(&["runs", "show", id]).code(2);
    let left = home.json(&["runs", "list"]);
    assert_eq!(at(&left, "runs").as_array().unwrap().len(), 1);
}

#[test]
fn the_figures_of_clients_add_up_to_those_of_the_run() {
    let home = Home::new();
    home.put_tpcc();
    // Enough to include each type, whatever their duration: a fast machine does them in less than a
    // second, which is not valid but has sums.
    let run = ["run", "tpcc", "--transactions=200", "--ramp-up=0s", "--per-client", "--no-store"];
    let report = home.run(&[&run[..], &["--output=json"]].concat()).json();
    assert_eq!(report["status"], "completed");
    let clients = at(&report, "per_client").as_array().unwrap();
    assert_eq!(clients.len(), 4);
    for kind in KINDS {
        let figure = |client: &Value, name: &str| {
            let entry = at(client, "transactions").get(kind);
            entry.map_or(0.0, |entry| number(entry, name))
        };
        let calls: f64 = clients.iter().map(|client| figure(client, "calls")).sum();
        assert_eq!(calls, number(&report, &format!("transactions.{kind}.calls")), "{kind}");
        let longest = clients.iter().map(|client| figure(client, "max_ms")).fold(0.0, f64::max);
        assert_eq!(longest, number(&report, &format!("transactions.{kind}.response_ms.max")));
    }
}

#[test]
fn a_count_of_transactions_is_kept_exactly() {
    let home = Home::new();
    home.put_tpcc();
    // No transaction is faster than its service or keying time, so all runs take a second or more
    // on any machine: less would make them invalid.
    let each = "50ms/50ms/50ms/50ms/50ms";
    let (keying, thinking) = (format!("--keying={each}"), format!("--thinking={each}"));
    let keythink = ["tpcc", "--load=keythink", &keying, &thinking];
    let run = |load: &[&str], clients: &str, count: &str| {
        let (clients, count) = (format!("--clients={clients}"), format!("--transactions={count}"));
        let rest = [clients.as_str(), &count, "--ramp-up=100ms", "--no-store", "--per-client"];
        let report = home.report_with_code(0, &[&["run"], load, &rest].concat());
        nothing_is_lost(&report);
        report
    };
    let closed = |service: &'static str| ["empty", service];
    for (load, clients, count) in [
        (&closed("--target=sim:?servers=4&service=constant:10ms")[..], "4", "500"),
        (&keythink[..], "5", "150"),
    ] {
        let report = run(load, clients, count);
        assert_eq!(number(&report, "counts.offered").to_string(), count, "{load:?}");
    }
    for load in [&closed("--target=sim:?servers=4&service=constant:50ms")[..], &keythink[..]] {
        let report = run(load, "3", "30 per client");
        assert_eq!(number(&report, "counts.offered"), 90.0, "{load:?}");
        for client in at(&report, "per_client").as_array().unwrap() {
            let kinds = at(client, "transactions").as_object().unwrap();
            let calls: f64 = kinds.values().map(|kind| number(kind, "calls")).sum();
            assert_eq!(calls, 30.0, "{load:?}: {client}");
        }
    }
}

#[test]
fn a_run_that_is_not_to_be_kept_leaves_no_store() {
    let home = Home::new();
    let ran = home.run(&[&QUICK[..], &["--no-store"]].concat()).good();
    assert!(!home.store().exists());
    // No advice that needs a store.
    let ran = ran.says(&["not stored"]);
    assert!(!ran.out.contains("dbdyno runs"), "{}", ran.out);
    let made = fs::read_dir(home.path("data/dbdyno")).into_iter().flatten().count();
    assert_eq!(made, 0);
}

#[test]
fn what_only_one_load_has_means_that_load() {
    let home = Home::new();
    let run = |flags: &[&str]| {
        let target = "--target=sim:?service=constant:1ms";
        let args = ["run", "empty", target, "--placement=simulated", "--no-store"];
        home.json(&[&args[..], &["--duration=2s", "--thinking=10ms"], flags].concat())
    };
    assert_eq!(at(&run(&[]), "load.model"), "closed");
    assert_eq!(at(&run(&["--rate=100"]), "load.model"), "open");
    assert_eq!(at(&run(&["--keythink-scale=2"]), "load.model"), "keythink");
}

#[test]
fn flags_go_over_a_plan() {
    let home = Home::new();
    let plan = "seed = 3\n[phases]\nmeasure = \"60s\"\n[[group]]\nworkload = \"empty\"\n\
                clients = 9\nparameters = { statements = 2 }\n";
    home.write("plan.toml", plan);
    let target = "--target=sim:?service=constant:1ms&servers=0";
    let args = ["run", "plan.toml", target, "--duration=1s", "--ramp-up=0s", "--no-store"];
    let over = ["--clients=2", "--statements=4", "--placement=simulated"];
    let report = home.json(&[&args[..], &over].concat());
    assert_eq!((number(&report, "seed"), number(&report, "clients")), (3.0, 2.0));
    assert_eq!(at(&report, "groups.0.parameters.statements"), "4");
    // Two clients with 4 ms per transaction; the last two commit as the window ends, outside of it.
    assert_eq!(number(&report, "tps"), 498.0);
    assert_eq!(number(&report, "qps"), 4.0 * 498.0);
}

#[test]
fn a_quiet_run_says_nothing_but_its_result() {
    let home = Home::new();
    let ran = home.run(&[&QUICK[..], &["--quiet"]].concat()).good();
    assert_eq!(ran.err, "");
    assert!(ran.out.starts_with("empty on sim"), "{}", ran.out);
}

#[test]
fn everything_there_is_is_listed() {
    let home = Home::new();
    home.run(&["list", "workloads"]).good().says(&["tpcc", "empty"]);
    home.run(&["list", "targets"]).good().says(&["sqlite", "sim", "verified on"]);
    let words = ["--warehouses", "--ramp-up", "queue_full, --queue-full", "?journal="];
    home.run(&["list", "parameters"]).good().says(&words);
    let workloads = home.json(&["list", "workloads"]);
    assert!(workloads.as_array().unwrap().iter().any(|entry| entry["name"] == "tpcc"));
    home.run(&["list", "parameters", "--output=markdown"]).good().says(&["| written | takes |"]);
    home.run(&["list", "targets", "--output=markdown"]).good().says(&["| `sim` |"]);
    home.run(&["list", "findings", "--output=csv"]).good().says(&["id,severity,raised,advice\n"]);
    home.run(&["--version"]).good().says(&["dbdyno "]);
    home.run(&["run", "tpcc", "--help"]).good().says(&["--warehouses", "--duration"]);
}
