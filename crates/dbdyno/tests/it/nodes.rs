//! Targets with several hosts, and clusters of our own, whose nodes come and go in mid-run.

use servers::for_tests::MARIADB;

use crate::disturbances::{ended, example, examples, report};
use crate::home::{Home, at, number};

/// The options by which the nodes of a cluster miss each other soon, and need little.
const QUICK: &str = "innodb_buffer_pool_size=64M&innodb_log_file_size=32M&innodb_flush_log_at_trx_commit=2&wsrep_provider_options=gcache.size=8M;evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;evs.suspect_timeout=PT1S;evs.inactive_timeout=PT3S;evs.install_timeout=PT3S";

#[test]
fn the_example_with_workers_on_nodes_runs_and_shows_where_the_queue_was_full() {
    let [one, three] = [1, 3].map(|n| format!("managed:mariadb?nodes={n}&{QUICK}"));
    let beside = examples().join("workers-published.csv").display().to_string();
    let words = [("table_size = 20000", "table_size = 500"), ("workers-published.csv", &beside)];
    let plan = example("workers.toml", &words);
    let home = Home::new();
    let plan = home.write("workers.toml", plan);
    // One worker is too few for a rate that no nodes of a test are too few for.
    let (target, vary) = (format!("--vary=target={one},{three}"), "--vary=clients=1,16");
    let short = ["--duration=3s", "--ramp-up=0s", "--repeat=1", "--quiet", "--queue=10"];
    let words = [&["run", &plan, &target, vary, "--rate=700"][..], &short].concat();
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
    // The page has that table anyway, and what was published below it.
    home.run(&["experiments", "show", id]).good().says(&[
        "p99 ms over clients and target",
        "queue full",
        "workers-published (imported): p99 ms over clients",
        "1,580",
        "Imported: workers-published (V. Tkachenko",
    ]);
}

#[test]
fn the_example_with_nodes_runs() {
    let plan = example(
        "nodes.toml",
        &[
            ("ramp_up = \"5s\"", "ramp_up = \"0s\""),
            ("duration = \"60s\"", "duration = \"18s\""),
            ("rate = 100", "rate = 40"),
            ("time = \"15s\"", "time = \"2s\""),
            ("time = \"40s\"", "time = \"9s\""),
            ("innodb_buffer_pool_size=256M", QUICK),
            ("table_size = 20000", "table_size = 500"),
        ],
    );
    // One trial of the six.
    let begins = plan.find("[experiment]").expect("an experiment");
    let ends = plan.find("[[group]]").expect("a group");
    let plan = format!("{}{}", &plan[..begins], &plan[ends..]);
    let plan = plan.replace("[[group]]", "[[group]]\nclients = 4");
    let report = report(&Home::new(), &plan);
    let joined = ended(&report, "a node joins", "done");
    assert_eq!(joined["output"], "node 3 has joined; moving clients: 1");
    assert!(number(joined, "before.tps") > 0.0, "{joined:#}");
    ended(&report, "a node is lost", "done");
    // Two of three go on.
    let last = at(&report, "seconds").as_array().expect("a list").last().expect("a second");
    assert!(number(last, "commits") > 0.0, "{:#}", report["seconds"]);
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
measure = "4s"
[[group]]
workload = "oltp-point-select"
clients = 4
load = "open"
rate = 200
parameters = {{ tables = 1, table_size = 100 }}
[[at]]
time = "500ms"
name = "one more"
hosts = "add localhost:{port}"
[[at]]
time = "1s"
name = "without the dead one"
hosts = "remove 127.0.0.1:1"
[[at]]
time = "1500ms"
name = "without the first"
hosts = "remove 127.0.0.1:{port}"
[[at]]
time = "2s"
name = "without the last"
hosts = "remove localhost:{port}"
"#
    );
    home.write("plan.toml", &plan);
    let target = format!("mariadb://dbdyno@127.0.0.1:1,127.0.0.1:{port}/hosts");
    let build = ["build", "oltp-point-select", "--tables=1", "--table-size=100", "--target"];
    let build = [&build[..], &[&target, "--password-file=password"]].concat();
    home.run(&build).good().warns(&["warning: the host 127.0.0.1:1 does not answer"]);
    let words = ["run", "plan.toml", "--quiet", "--password-file=password"];
    let report = home.report_with_code(0, &words);
    assert_eq!(ended(&report, "one more", "done")["output"], "moving clients: 1");
    ended(&report, "without the dead one", "done");
    let first = ended(&report, "without the first", "done");
    assert_eq!(first["output"], "moving clients: 2");
    let took = number(first, "ended_s") - number(first, "began_s");
    assert!(took < 0.9, "nobody is left there: {took} s");
    let last = ended(&report, "without the last", "failed");
    assert!(last.to_string().contains("the only remaining host"), "{last:#}");
    // Moving is no error, and nobody waits for a host that is gone.
    assert_eq!(number(&report, "counts.failed"), 0.0, "{:#}", report["errors"]);
    let last = at(&report, "seconds").as_array().expect("a list").last().expect("a second");
    assert!(number(last, "commits") > 0.0, "{:#}", report["seconds"]);
}
