//! Tests of the monitor on each kind of database: gauges of all sources, settings of the server,
//! and how both are stored.

use std::path::PathBuf;

use analysis::report::{GaugeReport, Options, Report};
use app::stored_report::stored_report;
use model::{Event, Target};
use servers::for_tests::{MARIADB, POSTGRES};
use store::{Filter, Store};

use crate::bench::{self, database, say};

const ROWS: &str = "parameters = { tables = \"1\", table_size = \"100\" }";

/// Runs a plan for some seconds, and returns its report, the stored report and the stored events.
fn measured(target: &Target, more: &str) -> (Report, Report, Vec<Event>) {
    let folder = tempfile::tempdir().expect("a folder");
    let store: PathBuf = folder.path().join("runs.sqlite");
    let plan = format!(
        "[phases]\nramp_up = \"0s\"\nmeasure = \"4s\"\n{more}\n[[group]]\n\
         workload = \"oltp-point-select\"\nclients = 2\n{ROWS}\n"
    );
    let ran = bench::drive_plan(target, &plan, Some(store.clone())).expect("it runs");
    let store = Store::open_existing(&store).expect("a store");
    let run = store.list(&Filter::default()).expect("a list").remove(0).run;
    let mut events = Vec::new();
    store.events(&run, &mut |event| events.push(event)).expect("a replay");
    let kept = store.report_json(&run).expect("a run").expect("it has ended");
    let whole = stored_report(&store, &run, Options::default()).expect("a report");
    assert_eq!(whole.gauges, ran.report.gauges, "what was kept and what its events have is all");
    (ran.report, serde_json::from_str(&kept).expect("a report"), events)
}

fn gauge<'r>(report: &'r Report, about: &str, name: &str) -> &'r GaugeReport {
    let found = report.gauges.iter().find(|gauge| gauge.about == about && gauge.name == name);
    found.unwrap_or_else(|| {
        let names: Vec<&str> = report.gauges.iter().map(|gauge| gauge.name.as_str()).collect();
        panic!("{about} has no {name}: {names:?}, {:?}", report.facts.get("monitor"))
    })
}

/// Asserts that a report has the gauges that every run has: of the machine, of dbdyno, and the cost
/// of the monitor.
fn is_surrounded(report: &Report) {
    let kinds = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
    let mean = |kind: &&str| gauge(report, "machine", &format!("cpu_{kind}")).mean;
    let sum: f64 = kinds.iter().filter_map(mean).sum();
    assert!((99.9..100.1).contains(&sum), "all kinds are {sum} %");
    assert!(gauge(report, "generator", "cpu_user").max > Some(0.0));
    assert!(gauge(report, "generator", "memory").min > Some(1e6));
    let switches = gauge(report, "machine", "context_switches");
    let seconds: Vec<i64> = switches.points.iter().map(|(second, _)| *second).collect();
    // A thread that wakes a second late misses that second.
    assert!(!seconds.is_empty() && seconds.is_sorted() && seconds[0] >= 0, "{seconds:?}");
    let cost = &report.facts["client"]["monitor_cpu_percent"];
    let cost = cost.as_percent().expect("a share");
    // In percent of a core, so the limit is all cores. The cost of a release build is in the docs.
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
    assert!(cost > 0.0 && cost <= 100.0 * cores, "{cost} % of a core");
}

#[test]
fn machine_generator_and_page_cache_are_read_during_a_run_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let (report, kept, events) = measured(&Target::parse(&url).expect("a URL"), "");
    is_surrounded(&report);
    assert!(gauge(&report, "database", "cache_hits").max > Some(0.0));
    assert!(gauge(&report, "database", "file_bytes").mean > Some(0.0));
    assert!(report.gauges.iter().all(|gauge| gauge.about != "server"), "it lives within us");
    // The store has each second once, in its events.
    let n_readings = events.iter().filter(|event| matches!(event, Event::Readings(_))).count();
    assert!(n_readings >= 3, "{n_readings}");
    assert_eq!(kept.gauges.len(), report.gauges.len());
    assert!(kept.gauges.iter().all(|gauge| gauge.points.is_empty()));
    assert_eq!(kept.gauges[0].mean, report.gauges[0].mean);
}

#[test]
fn a_server_its_counters_and_a_setting_changed_in_mid_run_are_seen_on_mariadb() {
    let server = MARIADB.shared();
    let target = database(server, "lab_monitoring");
    let change = "[recording]\nmonitor = \"all\"\n[[at]]\ntime = \"700ms\"\n\
                  sql = \"SET GLOBAL innodb_purge_batch_size = 77\"\n";
    let (report, _, events) = measured(&target, change);
    say(&target, "SET GLOBAL innodb_purge_batch_size = DEFAULT");
    is_surrounded(&report);
    // dbdyno did not start the server; it is found by its port.
    assert!(gauge(&report, "server", "cpu_user").max > Some(0.0));
    assert!(gauge(&report, "server", "threads").min > Some(2.0));
    assert!(gauge(&report, "database", "Questions").max > Some(0.0));
    assert_eq!(gauge(&report, "database", "Threads_running").unit, "");
    let n_counters = report.gauges.iter().filter(|gauge| gauge.about == "database").count();
    assert!(n_counters > 300, "{n_counters} of all");
    let changed = report.findings.iter().find(|finding| finding.id == "settings_changed");
    let text = &changed.expect("a setting changed").text;
    assert!(text.contains("innodb_purge_batch_size from ") && text.contains(" to 77"), "{text}");
    let before = events.iter().find_map(|event| match event {
        Event::Settings { settings } => Some(settings),
        _ => None,
    });
    let before = before.expect("they are kept");
    assert!(before.len() > 300, "{} settings", before.len());
    let shown = report.settings.get("innodb_purge_batch_size").map(String::as_str);
    assert!(shown.is_some_and(|value| value != "77"), "{shown:?}");
    assert_eq!(report.settings.get("port"), None, "where it is is none of its settings");
}

#[test]
fn sessions_of_a_server_of_processes_are_added_up_on_postgres() {
    let server = POSTGRES.shared();
    let target = database(server, "lab_monitoring");
    let (report, _, _) = measured(&target, "");
    is_surrounded(&report);
    assert!(gauge(&report, "server", "cpu_user").max > Some(0.0));
    // One process per session, and the server's own.
    assert!(gauge(&report, "server", "threads").max > Some(5.0));
    assert!(gauge(&report, "database", "database_xact_commit").max > Some(0.0));
    assert!(gauge(&report, "database", "sessions_active").mean.is_some());
    gauge(&report, "database", "wal_wal_bytes");
    assert!(report.settings.get("shared_buffers").is_some());
    // Everything is read except what the server lacks.
    let missing = report.facts.get("monitor").into_iter().flat_map(|facts| facts.keys());
    assert_eq!(missing.collect::<Vec<_>>(), ["pg_stat_statements"]);
}

#[test]
fn nothing_is_read_where_nothing_is_asked_for_or_time_is_not_real() {
    let url = Target::parse("sim:?service=exponential:2ms&servers=4").expect("a URL");
    for more in ["placement = \"simulated\"\n", "[recording]\nmonitor = \"off\"\n"] {
        let plan = format!(
            "{more}{}[[group]]\nworkload = \"empty\"\nclients = 2\n",
            "[phases]\nramp_up = \"0s\"\nmeasure = \"1s\"\n"
        );
        let ran = bench::drive_plan(&url, &plan, None).expect("it runs");
        assert!(ran.report.gauges.is_empty(), "{more}");
    }
}
