//! Tests of the reasons for the time of a transaction: sampled sessions and statistics of real
//! servers, the parts of the time, a dip with its cause, counters that are enabled and disabled, a
//! comparison by transaction.

use serde_json::{Value, json};
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer,
};

use crate::devtools::Tab;
use crate::disturbances::{examples, mysql_9_7};
use crate::enough::report_once;
use crate::home::{Home, at, number};
use crate::http::Web;
use crate::real::{tpcc, url};
use crate::settings::ask;

/// Runs a workload on a server; returns the report.
fn report(home: &Home, workload: &str, target: &str, more: &[&str]) -> Value {
    let target = format!("--target={target}");
    let args = ["run", workload, &target, "--ramp-up=0s", "--check=off", "--output=json"];
    home.run(&[&args[..], more].concat()).json()
}

/// Returns the rows of a server's summary of this kind, from this source if there are several.
fn summary<'r>(report: &'r Value, kind: &str, source: &str) -> &'r Vec<Value> {
    let all = at(report, "server").as_array().expect("a list");
    let is_it = |one: &&Value| {
        one["of"] == kind && one["source"].as_str().is_some_and(|text| text.contains(source))
    };
    let found = all.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {source}: {all:?}"));
    found["rows"].as_array().expect("rows")
}

/// Flags of a load at a rate that leaves the machine to other tests, on a table of a few rows.
const LIGHT: [&str; 5] =
    ["--tables=1", "--table-size=500", "--clients=2", "--rate=200", "--duration=3s"];

#[track_caller]
fn time_has_parts(server: &'static TestServer) {
    let (server, home) = (server.start(), Home::new());
    // If others use the CPUs, there may be too many seconds without samples for parts at first.
    let target = format!("--target={}", url(&server));
    let load = ["run", "oltp-read-write", &target, "--ramp-up=0s", "--check=off", "--output=json"];
    let run = home.start(&[&load[..], &LIGHT[..4], &["--duration=1h", "--quiet"]].concat());
    let report = report_once(&home, run, "parts of the time", |report| {
        let n_seconds = report["seconds"].as_array().map_or(0, Vec::len);
        n_seconds > 3 && !report["time_profile"].is_null()
    });
    let parts = at(&report, "time_profile.parts").as_array().expect("parts");
    let names: Vec<&str> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
    for name in ["client_cpu", "network", "server_cpu", "executing", "lock", "commit"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let all: f64 = parts.iter().map(|part| number(part, "ms")).sum();
    let service = number(&report, "time_profile.service_ms");
    let unexplained = number(&report, "time_profile.unexplained_ms");
    assert!((all + unexplained - service).abs() < 1e-6 * service, "{report}");
    let states = summary(&report, "samples", "sessions, ");
    assert!(states.iter().any(|row| row["state"] == "idle"), "{states:?}");
    let fact =
        |name: &str| at(&report, &format!("facts.path.{name}")).as_str().map(str::parse::<f64>);
    assert!(fact("round_trip_min_s").is_some_and(|seconds| seconds.is_ok_and(|s| s > 0.0)));
    assert!(fact("mebibyte_s").is_some_and(|seconds| seconds.is_ok_and(|s| s > 0.0)));
    let page = home.run(&["runs", "show", "last", "--full"]).good();
    // Number of samples taken of those due.
    let page = page.says(&["Where the time goes", "service time", "server's sessions ("]);
    let words: Vec<&str> = page.out.split_whitespace().collect();
    assert!(words.windows(2).any(|two| two[0].parse::<u32>().is_ok() && two[1] == "samples),"));
}

#[test]
fn the_time_of_a_transaction_has_parts_on_mariadb() {
    time_has_parts(&MARIADB);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_mariadb_11_8() {
    time_has_parts(&MARIADB_11_8);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_mariadb_11_4() {
    time_has_parts(&MARIADB_11_4);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_mysql_5_6() {
    time_has_parts(&MYSQL_5_6);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_mysql_9_7() {
    time_has_parts(&MYSQL_9_7);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_postgres() {
    time_has_parts(&POSTGRES);
}

#[test]
fn the_time_of_a_transaction_has_parts_on_postgres_18() {
    time_has_parts(&POSTGRES_18);
}

/// Checks the parts of the time of a transaction with four clients at a simulated database that
/// serves two at once in 20 ms each, so that each client waits as long as it is served.
#[test]
fn the_time_of_a_transaction_has_the_parts_that_a_simulated_database_gave_it() {
    let home = Home::new();
    let how = ["--clients=4", "--duration=4s"];
    let report = report(&home, "empty", "sim:?servers=2&service=constant:20ms", &how);
    let service_ms = number(&report, "time_profile.service_ms");
    let parts = at(&report, "time_profile.parts").as_array().expect("parts");
    let part = |name: &str| {
        let ms = parts.iter().find(|part| part["name"] == name).map(|part| number(part, "ms"));
        ms.unwrap_or_else(|| panic!("{name}: {parts:?}"))
    };
    let sum: f64 = parts.iter().map(|part| number(part, "ms")).sum();
    assert!((sum / service_ms - 1.0).abs() < 0.05, "{sum} of {service_ms}: {parts:?}");
    // A busy machine serves no statement sooner, and two of four clients wait while two are served:
    // time that clients use themselves reduces their wait.
    let executing = part("executing");
    let waiting = part("other") + part("client_cpu") + part("client_run_delay");
    assert!(executing > 19.0 && waiting > 0.95 * executing, "{parts:?}");
}

#[test]
fn a_lock_that_is_held_is_the_first_cause_of_a_dip_and_its_index_is_named() {
    let (server, home) = (MARIADB.start(), Home::new());
    let plan = format!(
        "target = \"{}\"\nramp_up = \"0s\"\nduration = \"16s\"\n\
         [[group]]\nworkload = \"tpcb\"\nclients = 4\nload = \"open\"\nrate = \"100\"\n\
         arrivals = \"uniform\"\n\
         [[at]]\ntime = \"9s\"\nsql = [\"BEGIN\", \
         \"UPDATE pgbench_branches SET filler = filler\", \"SELECT SLEEP(2)\", \"COMMIT\"]\n",
        url(&server)
    );
    home.write("lock.toml", &plan);
    let report = home.run(&["run", "lock.toml", "--check=off", "--output=json"]).json();
    let dips = at(&report, "dips").as_array().expect("dips");
    let causes: Vec<&Value> = dips.iter().map(|dip| &dip["causes"][0]["cause"]).collect();
    assert!(causes.iter().any(|cause| **cause == "locks"), "{dips:?}");
    let states = summary(&report, "samples", "sessions, ");
    let is_lock = |row: &&Value| {
        let what = row["what"].as_str().unwrap_or_default();
        row["state"] == "lock" && what.contains("pgbench_branches")
    };
    assert!(states.iter().any(|row| is_lock(&row)), "{states:?}");
    home.run(&["runs", "show", "last", "--full"]).good().says(&["sessions waited for locks"]);
}

#[test]
fn instruments_are_switched_on_for_a_run_and_set_back() {
    let (server, home) = (MARIADB.start(), Home::new());
    let is_on = || ask(&server, &["SELECT CAST(@@GLOBAL.userstat AS CHAR)"]);
    let before = is_on();
    let light = [&LIGHT[..], &["--instruments=on"]].concat();
    let report = report(&home, "oltp-point-select", &url(&server), &light);
    assert_eq!(at(&report, "facts.monitor.instruments"), "userstat");
    let tables = summary(&report, "tables", "TABLE_STATISTICS");
    let rows_read = |row: &Value| (row["what"] == "sbtest1").then(|| number(row, "values.0"));
    // Each query reads a row; those that were answered after the last reading are not included.
    let n_rows = tables.iter().filter_map(rows_read).sum::<f64>();
    let n_queries = number(&report, "counts.finished");
    assert!(n_rows > 0.0 && n_rows <= n_queries + 2.0, "{n_rows} of {n_queries}: {tables:?}");
    assert_eq!(is_on(), before);
    home.run(&["restore", "--dry-run"]).good();
}

#[test]
fn the_performance_schema_counts_client_connections_where_it_runs() {
    let home = Home::new();
    let bin = MYSQL_5_6.options().bin.expect("it is in a folder of its own");
    let target = format!("managed:mysql?bin={}&performance_schema=ON", bin.display());
    let light = [&LIGHT[..], &["--instruments=on"]].concat();
    let report = report(&home, "oltp-point-select", &target, &light);
    let on = at(&report, "facts.monitor.instruments").as_str().expect("names").to_owned();
    assert!(on.contains("instrument:wait/io/socket/sql/client_connection"), "{on}");
    let sockets = summary(&report, "connections", "socket_summary");
    // A read and a write for each query, and more for the monitor.
    let n_queries = number(&report, "counts.finished");
    assert!(number(&sockets[0], "values.0") > n_queries, "{n_queries}: {sockets:?}");
    assert!(reason_for_no_digests(&report).contains("run with ?statements=text"));
}

fn reason_for_no_digests(report: &Value) -> &str {
    let all = at(report, "facts.monitor").as_object().expect("facts");
    let name = "performance_schema.events_statements_summary_by_digest";
    all[name].as_str().expect("a reason")
}

/// Checks that top statements are only those of the load, or that there is a reason why there are
/// none.
#[test]
fn top_statements_are_those_of_the_load_or_say_why_there_are_none() {
    let home = Home::new();
    let light = [&LIGHT[..], &["--instruments=on"]].concat();
    let measure = |target: &str| report(&home, "oltp-point-select", target, &light);
    let preloaded = measure("managed:postgres?shared_preload_libraries=pg_stat_statements");
    let rows = summary(&preloaded, "statements", "pg_stat_statements");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0]["what"].as_str().is_some_and(|what| what.contains("sbtest1")), "{rows:?}");
    let plain = measure("managed:postgres");
    let why = at(&plain, "facts.monitor.pg_stat_statements").as_str().expect("a reason");
    assert!(why.starts_with("missing. Start the server with shared_preload_libraries"), "{why}");
    let mysql = measure(&mysql_9_7("performance_schema=ON"));
    let rows = summary(&mysql, "statements", "by_digest");
    assert_eq!(rows.len(), 1, "{rows:?}");
    let mariadb = "managed:mariadb?performance_schema=ON";
    // Covers the time until its sessions were last read, which is reported while they exist.
    let target = format!("--target={mariadb}");
    let args = ["run", "oltp-point-select", &target, "--ramp-up=0s", "--check=off", "--quiet"];
    let light = light.iter().map(|flag| flag.replace("--duration=3s", "--duration=1h"));
    let args = args.iter().map(|flag| (*flag).to_owned()).chain(light);
    let args: Vec<String> = args.chain(["--output=json".to_owned()]).collect();
    let home = Home::new();
    let prepared = report_once(&home, home.start(&args), "top statements", |report| {
        let told = report["server"].as_array();
        told.is_some_and(|all| all.iter().any(|one| one["of"] == "statements"))
    });
    let rows = summary(&prepared, "statements", "by_digest");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["what"], "SELECT c FROM sbtest1 WHERE id=?");
    let (n_counted, n_queries) =
        (number(&rows[0], "values.0"), number(&prepared, "counts.finished"));
    assert!(n_counted > 0.0 && n_counted <= n_queries + 2.0, "{n_counted} of {n_queries}");
    let prepared = report(&home, "oltp-point-select", mariadb, &LIGHT);
    let why = reason_for_no_digests(&prepared);
    assert!(why.contains("--instruments on, or with ?statements=text"), "{why}");
    let text = measure("managed:mariadb?performance_schema=ON&statements=text");
    let rows = summary(&text, "statements", "by_digest");
    assert_eq!(rows.len(), 1, "{rows:?}");
    let without = measure("managed:mariadb");
    assert!(reason_for_no_digests(&without).contains("Start the server with performance_schema"));
}

/// Checks that queries of sessions which open during the run are not counted as statements of the
/// load.
#[test]
fn sessions_that_are_made_in_mid_run_are_no_statements_of_the_load() {
    for (target, source) in [
        ("managed:mariadb?performance_schema=ON&statements=text", "by_digest"),
        ("managed:postgres?shared_preload_libraries=pg_stat_statements", "pg_stat_statements"),
    ] {
        let home = Home::new();
        let plan = format!(
            "target = \"{target}\"\nramp_up = \"0s\"\nduration = \"4s\"\ninstruments = \"on\"\n\
             [[group]]\nworkload = \"oltp-point-select\"\nclients = 2\nload = \"open\"\nrate = 200\n\
             parameters = {{ tables = 1, table_size = 500 }}\n\
             [[at]]\ntime = \"2s\"\nsql = \"SELECT 1\"\n"
        );
        home.write("sessions.toml", plan);
        let report = home.json(&["run", "sessions.toml", "--check=off"]);
        let rows = summary(&report, "statements", source);
        assert_eq!(rows.len(), 1, "{rows:?}");
    }
}

#[test]
fn a_database_without_instruments_says_so() {
    let home = Home::new();
    let args = ["run", "tpcb", "--target=sqlite:a.db", "--instruments", "--duration=1s"];
    let said = home.run(&[&args[..], &["--ramp-up=0s", "--scale=1"]].concat()).good();
    said.warns(&["counts nothing more than it does by itself"]);
}

#[test]
fn the_example_on_procedures_compares_what_a_transaction_takes() {
    let home = Home::new();
    let servers = [&MARIADB, &POSTGRES].map(tpcc);
    let [mariadb, postgres] = servers.each_ref().map(|one| one.as_ref().expect("built").url());
    let targets = format!("--vary=target={mariadb},{postgres}");
    let small =
        ["--warehouses=1", "--vary=clients=1", "--duration=3s", "--ramp-up=0s", "--repeat=1"];
    let plan = examples().join("procedures.toml").display().to_string();
    home.run(&[&["run", &*plan, &*targets, "--check=off"], &small[..]].concat()).good();
    drop(servers);
    let compared = home.json(&["compare", "last", "--by=mode"]);
    let points = at(&compared, "pairs.0.each_transaction").as_array().expect("a list");
    assert_eq!(points.len(), 2, "{compared:#}");
    for point in points {
        let figures = at(point, "figures").as_array().expect("a list");
        assert_eq!(figures[0]["name"], "time.service");
        let figure = |name: &str| {
            let found = figures.iter().find(|figure| figure["name"] == name);
            found.unwrap_or_else(|| panic!("{name}: {point:#}"))
        };
        assert!(number(figure("round_trips"), "ratio") < 0.1, "{point:#}");
        // With few transactions, dbdyno's own work per second is a part of both.
        assert!(number(figure("time.client_cpu"), "baseline") > 0.0, "{point:#}");
        assert!(number(figure("generator.switches_voluntary"), "ratio") < 1.0, "{point:#}");
    }
    let page = home.run(&["compare", "last", "--by=mode", "--full"]).good();
    let page = page.says(&[
        "What a transaction takes on average: its time by parts",
        "service time",
        "round_trips",
    ]);
    // One run per side; and a table of both servers.
    page.says(&[
        "and not tested)",
        "prepared / procedures of all points",
        "HammerDB post",
        "almost 14",
        "database.Bytes_sent",
    ]);
}

/// Checks that server and generator each have a flame graph, or a sentence with the reason why
/// there is none.
#[test]
fn cpu_time_of_server_and_generator_is_drawn_or_has_a_reason() {
    let home = Home::new();
    let light = [&LIGHT[..], &["--cpu-profile=on", "--rate=600"]].concat();
    let light: Vec<&str> = light.into_iter().filter(|flag| *flag != "--rate=200").collect();
    let report = report(&home, "oltp-read-write", "managed:mariadb", &light);
    let profiles = report["cpu_profiles"].as_array().cloned().unwrap_or_default();
    let page = home.run(&["runs", "show", "last", "--full"]).good();
    let html = home.run(&["report", "last", "-o", "-"]).good().out;
    let interactive = home.run(&["report", "last", "--interactive", "-o", "-"]).good().out;
    let web = Web::start(&home, &[]);
    let run = at(&report, "run_id").as_str().expect("an id");
    for (side, words) in [("server", "the server"), ("generator", "dbdyno")] {
        let Some(profile) = profiles.iter().find(|profile| profile["side"] == side) else {
            let why = at(&report, &format!("facts.cpu_profile.{side}")).as_str().expect("why");
            assert!(page.out.contains(&format!("No graph of {words}: ")), "{why}: {}", page.out);
            assert!(web.get(&format!("/runs/{run}/flame/{side}.svg")).status == 404);
            continue;
        };
        assert!(number(profile, "samples") > 0.0 && number(profile, "n_stacks") > 0.0);
        let top = at(profile, "top_functions").as_array().expect("a list");
        assert!((1..=10).contains(&top.len()), "{top:?}");
        assert!(number(&top[0], "self_percent") <= number(&top[0], "total_percent"));
        assert!(profile.get("stacks").is_none());
        let title = format!("CPU time of {words}");
        assert!(page.out.contains(&title), "{}", page.out);
        assert!(html.contains(&format!("aria-label=\"{title}\"")));
        assert!(!html.contains("<script") && interactive.contains("svg.flame"));
        let graph = web.get(&format!("/runs/{run}/flame/{side}.svg"));
        assert_eq!(
            (graph.status, graph.header("content-type")),
            (200, "image/svg+xml; charset=utf-8")
        );
        assert!(graph.header("content-security-policy").contains("sandbox allow-scripts"));
        zooms_and_searches(&format!("{}/runs/{run}/flame/{side}.svg", web.base));
    }
    // Nothing is sampled without a request.
    assert!(profiles.len() <= 2);
}

/// Checks that a click on a bar of a flame graph hides the bars beside it, and that a search finds
/// names.
fn zooms_and_searches(address: &str) {
    let mut tab = Tab::open();
    tab.go(address);
    let hidden = "document.querySelectorAll('.bar.out').length";
    assert_eq!(tab.value(hidden), 0);
    tab.value(
        "[...document.querySelectorAll('.bar')].sort((a, b) => a.dataset.count - b.dataset.count)[0]\
         .dispatchEvent(new MouseEvent('click')), 1",
    );
    assert!(tab.value(hidden).as_u64().is_some_and(|n| n > 0));
    tab.value("document.querySelector('.bar').dispatchEvent(new MouseEvent('click')), 1");
    assert_eq!(tab.value(hidden), 0);
    tab.click("input");
    tab.call("Input.insertText", json!({"text": "ALL"}));
    assert_eq!(tab.value("document.querySelector('.matches').textContent"), "100.0 % of samples");
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_database_within_dbdyno_has_no_graph_of_its_own() {
    let home = Home::new();
    let args = ["run", "tpcb", "--target=sqlite:a.db", "--cpu-profile=on", "--duration=1s"];
    let said = home.run(&[&args[..], &["--ramp-up=0s", "--scale=1", "--full"]].concat()).good();
    said.says(&["No graph of the server: the database runs within dbdyno"]);
}
