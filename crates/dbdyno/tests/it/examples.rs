//! Tests that run every example, so that none becomes outdated.
//!
//! Not here: figures, which mean nothing after a second.

use std::path::Path;

use serde_json::Value;
use servers::for_tests::{MARIADB, MARIADB_11_4, MYSQL_5_6};

use crate::home::{Home, at, number};
use crate::journey::nothing_is_lost;
use crate::real::{tpcc, url_of};

/// Runs an example, shortened by `flags`; returns its report.
fn report(home: &Home, name: &str, flags: &[&str]) -> Value {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let example = example.to_string_lossy().into_owned();
    let args = ["run", &example, "--duration=1s", "--ramp-up=0s", "--quiet"];
    let report = home.report_with_code(0, &[&args[..], flags].concat());
    assert_eq!(number(&report, "measured_seconds"), 1.0);
    assert!(number(&report, "counts.finished") > 0.0);
    nothing_is_lost(&report);
    report
}

#[test]
fn the_examples_on_tpcc_run() {
    let home = Home::new();
    home.put_tpcc();
    let target = format!("--target=sqlite:{}", home.database("tpcc").display());
    let closed = report(&home, "tpcc.toml", &[&target]);
    assert!(number(&closed, "nopm") > 0.0);
    let open = report(&home, "open.toml", &[&target]);
    assert!((100.0..300.0).contains(&number(&open, "counts.offered")), "{}", open["counts"]);
    let keythink = report(&home, "keythink.toml", &[&target]);
    // A client pauses for two seconds or more, so few have had a turn.
    assert!(number(&keythink, "counts.offered") < 40.0, "{}", keythink["counts"]);
}

#[test]
fn the_example_on_oltp_runs() {
    let home = Home::new();
    let report = report(&home, "oltp.toml", &["--table-size=1000"]);
    assert_eq!(number(&report, "counts.failed"), 0.0);
    assert!(number(&report, "reads_per_second") > number(&report, "writes_per_second"));
}

#[test]
fn the_example_in_virtual_time_runs() {
    let home = Home::new();
    let report = report(&home, "sim-queue.toml", &[]);
    assert_eq!(report["placement"], "simulated");
}

/// Runs an example that is an experiment, with few and short points; returns its report. The data
/// are checked only after each trial.
fn experiment(home: &Home, name: &str, flags: &[&str]) -> Value {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let example = example.to_string_lossy().into_owned();
    let short = ["--duration=1s", "--ramp-up=0s", "--pause=0s", "--repeat=1", "--quiet"];
    let args = [&["run", &example][..], &short, &["--check=after"], flags].concat();
    let shown = home.json(&args);
    assert_eq!(number(&shown, "trials_done"), number(&shown, "trials"), "{shown:#}");
    shown
}

#[test]
fn the_examples_on_analytics_run() {
    let home = Home::new();
    let file = home.path("tpch.db");
    let targets = [url_of(MARIADB.shared(), "tpch"), format!("sqlite:{}", file.display())];
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tpch.toml");
    let example = example.to_string_lossy().into_owned();
    let vary = format!("--vary=target={}", targets.join(","));
    let shown = home.json(&["run", &example, "--scale=0.01", "--repeat=2", "--quiet", &vary]);
    assert_eq!(number(&shown, "trials_done"), 4.0, "{shown:#}");
    for point in shown["points"].as_array().expect("a list") {
        assert!(number(point, "figures.qphh_at_size.mean") > 0.0, "{point:#}");
    }
    // Transactions beside queries, each with its own figures.
    let target = format!("--target={}", url_of(MARIADB.shared(), "htap"));
    let plan = std::fs::read_to_string(example.replace("tpch.toml", "htap.toml")).expect("there");
    let plan = plan.replace("scale = 0.1", "scale = 0.01").replace("scale = 10", "scale = 1");
    let plan = plan.replace("\"120s\"", "\"20s\"");
    home.write("htap.toml", &plan);
    let report = home.run(&["run", "htap.toml", &target, "--output=json"]).json();
    assert!(number(&report, "groups.0.tps") > 0.0, "{:#}", report["groups"]);
    let figure = at(&report, "groups.1.primary_metrics.throughput_at_size.value");
    assert!(figure.as_f64().is_some_and(|value| value > 0.0), "{:#}", report["groups"]);
}

#[test]
fn the_examples_that_are_experiments_run() {
    let home = Home::new();
    home.put_tpcc();
    let file = format!("--target=sqlite:{}", home.database("tpcc").display());
    let server = format!("--target={}", url_of(MARIADB.shared(), "examples"));
    let few = ["--vary=clients=1,2", "--table-size=1000", &server];
    let arrivals = experiment(&home, "arrival-rate.toml", &few);
    assert_eq!(arrivals["primary"], "p99_ms");
    let few = ["--vary=clients=1,2", "--vary=scenario=simple,metrics", &server];
    let few = [&few[..], &["--application-rate=2000", "--buffer-bytes=20000"]].concat();
    let arm = experiment(&home, "arm.toml", &few);
    assert_eq!(number(&arm, "trials"), 4.0);
    // The published figures are below the measured ones, with the best number of each scenario.
    home.run(&["experiments", "show", arm["id"].as_str().expect("one")]).good().says(&[
        "measurements_per_s over clients and scenario",
        "arm-published (imported): measurements_per_s over clients and scenario",
        "17,624 ± 147 *",
        "simple: best at clients 12; no smaller value is within its error",
        "context-5: best at clients 8; no smaller value is within its error",
        "context-20: best at clients 4; no smaller value is within its error",
        "Xeon E5-2660 v2 with 10 cores",
    ]);
    let few = ["--vary=group.writers.rate=20kB/s", "--vary=group.readers.clients=2,3"];
    let events = experiment(&home, "events.toml", &[&few[..], &[&server]].concat());
    assert_eq!(number(&events, "trials"), 2.0);
    home.run(&["experiments", "show", events["id"].as_str().expect("one")]).good().says(&[
        "readers.age.below 100ms % over rate",
        "events-published (imported): readers.age.below 40ms % over rate",
    ]);
    let small = ["--warehouses=1", "--mode=prepared", &*file];
    let pilot =
        experiment(&home, "autopilot.toml", &[&small[..], &["--vary=clients=1,2"]].concat());
    assert_eq!(pilot["primary"], "nopm");
    let fixed =
        experiment(&home, "fixed-throughput.toml", &[&small[..], &["--clients=10"]].concat());
    // Low enough for a busy machine, so that the second point has more offered and done.
    let few = ["--clients=100", "--vary=keythink_scale=0.04,0.02"];
    let many = experiment(&home, "many-clients.toml", &[&small[..], &few].concat());
    let few = ["--vary=clients=1,2", "--table-size=1000"];
    let setups = experiment(&home, "two-setups.toml", &[&few[..], &AT_A_RATE].concat());
    assert_eq!(setups["points"].as_array().map(Vec::len), Some(4), "{setups:#}");
    // A transaction has 19 reads and writes.
    let file = format!("--target=sqlite:{}", home.path("kernel.db").display());
    let few = ["--vary=clients=1,2", "--table-size=1000", "--label=kernel=6.1", &file];
    let kernel = experiment(&home, "kernel.toml", &[&few[..], &AT_A_RATE].concat());
    let id = kernel["id"].as_str().expect("one");
    let by = |figure: &str| {
        let words = ["experiments", "show", id, &format!("--figure={figure}")];
        let shown = home.json(&words);
        number(&shown["points"][0], &format!("figures.{figure}.mean"))
    };
    let each = by("operations") / by("tps");
    assert!((each - 19.0).abs() < 0.1, "{each}");
    for shown in [fixed, many] {
        let offered = |point: usize| number(&shown["points"][point], "figures.tps.mean");
        assert!(offered(0) > 0.0 && offered(1) > offered(0), "{shown:#}");
    }
}

/// Flags for a low rate, since a load at full speed would slow down other tests.
const AT_A_RATE: [&str; 2] = ["--load=open", "--rate=50"];

#[test]
fn the_examples_that_record_run() {
    let home = Home::new();
    let shared = url_of(MARIADB.shared(), "records");
    let target = format!("--target={shared}");
    let shown = experiment(&home, "record.toml", &[&*target, "--vary=clients=1,2", "--tables=2"]);
    assert_eq!(shown["primary"], "records_per_s");
    assert!(number(&shown["points"][1], "figures.records_per_s.mean") > 0.0, "{shown:#}");
    let writers = "--vary=clients=2";
    for name in ["record-tables.toml", "record-index.toml", "record-engines.toml"] {
        let flags: &[&str] = if name == "record-index.toml" { &[] } else { &[writers] };
        let shown = experiment(&home, name, &[&[&*target], flags, &AT_A_RATE].concat());
        let points = shown["points"].as_array().expect("a list");
        let axis = shown["axes"][0]["values"].as_array().map(Vec::len);
        assert_eq!(Some(points.len()), axis, "{name}: {shown:#}");
        assert!(points.len() > 1, "{name}");
    }
    let [old, new] = [&MYSQL_5_6, &MARIADB_11_4].map(|server| url_of(server.shared(), "records"));
    let versions = format!("--vary=target={old},{shared},{new}");
    let managed = "managed:mariadb?innodb_buffer_pool_size=64M&socket=true";
    let ways = format!("--vary=target={managed},{shared}");
    for (name, targets, n) in
        [("record-versions.toml", versions, 3), ("record-socket.toml", ways, 2)]
    {
        let shown = experiment(&home, name, &[&[&*targets, writers], &AT_A_RATE[..]].concat());
        assert_eq!(shown["points"].as_array().map(Vec::len), Some(n), "{shown:#}");
    }
    let delays = "--vary=network_delay=0s,5ms";
    let shown = experiment(&home, "record-path.toml", &[&*target, delays, writers]);
    let rate = |point: usize| number(&shown["points"][point], "figures.records_per_s.mean");
    // A record of each of two writers takes a round trip.
    assert!(rate(0) > rate(1) && rate(1) <= 200.0, "{shown:#}");
}

#[test]
fn the_example_on_connections_compares_what_a_transaction_takes() {
    let home = Home::new();
    let plain = url_of(MARIADB.shared(), "connection");
    let ways = format!("--vary=target={plain},{plain}?compress=zlib");
    let flags = [&*ways, "--vary=clients=2", "--table-size=1000"];
    let shown = experiment(&home, "connection.toml", &[&flags[..], &AT_A_RATE].concat());
    assert_eq!(shown["points"].as_array().map(Vec::len), Some(2), "{shown:#}");
    let compared = home.json(&["compare", "last", "--by=target", "--figure=p50"]);
    let points = at(&compared, "pairs.0.each_transaction").as_array().expect("a list");
    assert_eq!(points.len(), 1, "{compared:#}");
}

#[test]
fn the_examples_on_the_overhead_of_indexes_run() {
    let home = Home::new();
    let server = url_of(MARIADB.shared(), "overhead");
    let file = format!("sqlite:{}", home.path("overhead.db").display());
    let targets = format!("--vary=target={server},{file}");
    let few = "--vary=index=none,key";
    let engines = "--target=managed:mariadb?plugin_load_add=ha_rocksdb&innodb_buffer_pool_size=64M";
    for (name, axis, rows) in [
        ("record-overhead.toml", &*targets, "target"),
        ("record-overhead-engines.toml", engines, "engine"),
    ] {
        let shown = experiment(&home, name, &[&[axis, few], &AT_A_RATE[..]].concat());
        let id = shown["id"].as_str().expect("one");
        let table = ["--rows", rows, "--columns=index", "--relative-to=none"];
        let figure = ["--figure=records_per_s"];
        let table = home.json(&[&["experiments", "show", id][..], &table, &figure].concat());
        for row in table["tables"][0]["ratios"].as_array().expect("a list") {
            assert!(number(&row[1], "value") > 0.0, "{table:#}");
        }
    }
}

/// Runs the example plan of each database on a private server, without changes. Plans that name
/// another server or a file run on data that exist already.
#[test]
fn the_first_plan_of_each_database_runs() {
    let home = Home::new();
    home.put_tpcc();
    let file = format!("sqlite:{}", home.database("tpcc").display());
    let mysql = tpcc(&MYSQL_5_6);
    for (name, target) in [
        ("mariadb.toml", "managed:mariadb?innodb_buffer_pool_size=64M"),
        ("mysql.toml", &*mysql.as_ref().expect("it is built").url()),
        ("postgres.toml", "managed:postgres"),
        ("sqlite.toml", &*file),
    ] {
        let target = format!("--target={target}");
        let few = [&*target, "--vary=clients=2", "--warehouses=1", "--settle=off"];
        let shown = experiment(&home, name, &few);
        assert_eq!(shown["primary"], "nopm", "{name}");
        assert!(number(&shown["points"][0], "figures.nopm.mean") > 0.0, "{name}: {shown:#}");
    }
}

#[test]
fn the_example_on_drift_charts_its_runs_in_the_order_of_time() {
    let home = Home::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drift.toml");
    // The example's own server starts with its settings; the load uses existing data.
    let plan = std::fs::read_to_string(&example).expect("an example");
    let own = plan.lines().find_map(|line| line.strip_prefix("target = \"")).expect("a target");
    let own = format!("--target={}", own.trim_end_matches('"'));
    let empty = ["run", "empty", &own, "--rate=10", "--duration=1s", "--ramp-up=0s", "--quiet"];
    home.run(&[&empty[..], &["--no-store"]].concat()).good();
    let data = tpcc(&MARIADB);
    let target = format!("--target={}", data.as_ref().expect("it is built").url());
    let short = ["--duration=1s", "--ramp-up=0s", "--repeat=3", "--warehouses=1", "--quiet"];
    let few = ["--clients=1", "--check=after"];
    let plan = ["run", &*example.to_string_lossy(), &*target];
    let shown = home.json(&[&plan[..], &short, &few].concat());
    let id = shown["id"].as_str().expect("one");
    for (chart, traces) in [
        ("drift", &["NOPM, % of the mean"][..]),
        ("drift-backlog", &["longest history list", "most dirty pages"]),
    ] {
        let file = home.path("drift.csv");
        let file = file.to_str().expect("a path of ours");
        home.call(&["report", id, "--chart", chart, "-o", file]).good();
        let rows = std::fs::read_to_string(file).expect("written");
        for trace in traces {
            let is_of = |row: &&str| row.trim_start_matches('"').starts_with(trace);
            assert_eq!(rows.lines().filter(is_of).count(), 3, "{rows}");
        }
    }
}
