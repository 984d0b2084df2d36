//! Tests of targets with several hosts, and of private clusters whose nodes leave and join during a
//! run.

use serde_json::Value;
use servers::for_tests::MARIADB;

use crate::disturbances::{ended, example, examples, report};
use crate::enough::{report_once, went_on_after};
use crate::home::{Home, at, number};

/// Options of a small cluster node with long time-outs, for a busy machine.
const PATIENT: &str = "innodb_buffer_pool_size=64M&innodb_log_file_size=32M&innodb_flush_log_at_trx_commit=2&wsrep_provider_options=gcache.size=8M;evs.suspect_timeout=PT60S;evs.inactive_timeout=PT180S;evs.install_timeout=PT180S";
/// Options of a small cluster node with short time-outs.
const QUICK: &str = "innodb_buffer_pool_size=64M&innodb_log_file_size=32M&innodb_flush_log_at_trx_commit=2&wsrep_provider_options=gcache.size=8M;evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;evs.suspect_timeout=PT3S;evs.inactive_timeout=PT9S;evs.install_timeout=PT9S";

#[test]
fn the_example_with_workers_on_nodes_runs_and_shows_where_the_queue_was_full() {
    let [one, three] = [1, 3].map(|n| format!("managed:mariadb?nodes={n}&{PATIENT}"));
    let beside = examples().join("workers-published.csv").display().to_string();
    let words = [("table_size = 20000", "table_size = 500"), ("workers-published.csv", &beside)];
    let plan = example("workers.toml", &words);
    let home = Home::new();
    let plan = home.write("workers.toml", plan);
    // One worker is too few: no machine makes 100,000 sequential round trips per second.
    let (target, vary) = (format!("--vary=target={one},{three}"), "--vary=clients=1,16");
    let short = ["--duration=3s", "--ramp-up=0s", "--repeat=1", "--quiet", "--queue=10"];
    let words = [&["run", &plan, &target, vary, "--rate=5000"][..], &short].concat();
    let shown = home.run(&[&words[..], &["--output=json"]].concat()).json();
    let id = at(&shown, "id").as_str().expect("one");
    let charts = home.run(&["report", id, "--charts"]).good().out;
    let name = charts.split_whitespace().find(|name| name.starts_with("stability-p99"));
    let name = format!("--chart={}", name.expect("there is one"));
    let chart = home.path("p99.svg").display().to_string();
    home.run(&["report", id, &name, "-o", &chart]).good();
    let chart = std::fs::read_to_string(chart).expect("it is written");
    assert!(chart.contains("clients 1: queue full"), "{shown:#}");
    let words = ["experiments", "show", id, "--rows=target", "--columns=clients"];
    let table = home.run(&[&words[..], &["--figure=p99"]].concat()).good();
    table.says(&["over target and clients", "nodes=1", "nodes=3", "queue full"]);
    // The page has that table by default, with the published figures below.
    home.run(&["experiments", "show", id]).good().says(&[
        "p99 ms over clients and target",
        "queue full",
        "workers-published (imported): p99 ms over clients",
        "1,580",
        "Imported: workers-published (V. Tkachenko",
    ]);
}

/// Returns the plan of the example with cluster nodes, as one trial. Of its disturbances the plan
/// has only the one that begins with `kept`, since the time for a node to join depends on the
/// machine.
fn with_one_disturbance(kept: &str, options: &str, words: &[(&str, &str)]) -> String {
    let small = [
        ("ramp_up = \"5s\"", "ramp_up = \"0s\""),
        ("duration = \"60s\"", "duration = \"1h\""),
        ("rate = 100", "rate = 40"),
        ("innodb_buffer_pool_size=256M", options),
        ("table_size = 20000", "table_size = 500"),
    ];
    let plan = example("nodes.toml", &[&small[..], words].concat());
    let begins = plan.find("[experiment]").expect("an experiment");
    let ends = plan.find("[[group]]").expect("a group");
    let trial = format!("{}{}", &plan[..begins], &plan[ends..]);
    let mut parts = trial.split("[[at]]");
    let load = parts.next().expect("a load").replace("[[group]]", "[[group]]\nclients = 4");
    let disturbance = parts.find(|part| part.contains(kept)).expect("it is there");
    format!("{load}[[at]]{disturbance}")
}

#[test]
fn the_example_in_which_a_node_joins_runs() {
    let plan =
        with_one_disturbance("a node joins", PATIENT, &[("time = \"15s\"", "time = \"2s\"")]);
    let report = report(&Home::new(), &plan, |report| went_on_after(report, "a node joins"));
    let joined = ended(&report, "a node joins", "done");
    assert_eq!(joined["output"], "node 3 has joined; moving clients: 1");
    assert!(number(joined, "before.tps") > 0.0, "{joined:#}");
}

#[test]
fn the_example_in_which_a_node_is_lost_runs() {
    // Two of three continue.
    let words = [("time = \"40s\"", "time = \"2s\""), ("?nodes=2&", "?nodes=3&")];
    let plan = with_one_disturbance("a node is lost", QUICK, &words);
    let report = report(&Home::new(), &plan, |report| went_on_after(report, "a node is lost"));
    ended(&report, "a node is lost", "done");
}

#[test]
fn hosts_come_and_go_and_one_that_is_dead_ends_nothing() {
    let home = Home::new();
    let server = MARIADB.shared();
    let target = server.target();
    let password = target.password.as_ref().expect("a password").reveal();
    home.write("password", password);
    let port = server.port();
    let plan = format!(
        r#"
[target]
url = "mariadb://dbdyno@127.0.0.1:1,127.0.0.1:{port}/hosts"
[phases]
ramp_up = "0s"
measure = "1h"
[[group]]
workload = "oltp-point-select"
clients = 4
load = "open"
rate = 200
parameters = {{ tables = 1, table_size = 100 }}
[[at]]
time = "1s"
name = "one more"
hosts = "add localhost:{port}"
[[at]]
time = "3s"
name = "without the dead one"
hosts = "remove 127.0.0.1:1"
[[at]]
time = "5s"
name = "without the first"
hosts = "remove 127.0.0.1:{port}"
[[at]]
time = "7s"
name = "without the last"
hosts = "remove localhost:{port}"
"#
    );
    home.write("plan.toml", &plan);
    let target = format!("mariadb://dbdyno@127.0.0.1:1,127.0.0.1:{port}/hosts");
    let build = ["build", "oltp-point-select", "--tables=1", "--table-size=100", "--target"];
    let build = [&build[..], &[&target, "--password-file=password"]].concat();
    home.run(&build).good().warns(&["warning: the host 127.0.0.1:1 does not answer"]);
    let words = ["run", "plan.toml", "--quiet", "--password-file=password", "--output=json"];
    let is_enough = |report: &Value| went_on_after(report, "without the last");
    let report = report_once(&home, home.start(&words), "a second after all", is_enough);
    assert_eq!(ended(&report, "one more", "done")["output"], "moving clients: 1");
    ended(&report, "without the dead one", "done");
    let first = ended(&report, "without the first", "done");
    // All of them left by themselves: none was cut off.
    assert_eq!(first["output"], "moving clients: 2");
    let last = ended(&report, "without the last", "failed");
    assert!(last.to_string().contains("the only remaining host"), "{last:#}");
    // Moving is no error, and no client waits for a removed host.
    assert_eq!(number(&report, "counts.failed"), 0.0, "{:#}", report["errors"]);
}
