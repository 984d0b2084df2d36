//! Tests of clients that connect before each transaction (`--connect transaction`), with the
//! servers' own counts of connections.

use servers::for_tests::{MARIADB, POSTGRES, TestServer};

use crate::home::{Home, at, number};
use crate::real::url;
use crate::settings::ask;

const SMALL: [&str; 3] = ["--tables=1", "--table-size=1000", "--clients=4"];

#[track_caller]
fn each_transaction_has_its_connection(server: &'static TestServer, count: &str) {
    let server = server.shared();
    let (home, target) = (Home::new(), format!("--target={}", url(server)));
    let connections = || ask(server, &[count]).parse::<f64>().expect("a count");
    for placement in ["--placement=thread", "--placement=loop"] {
        let before = connections();
        let args = ["run", "oltp-point-select", &target, placement, "--connect=transaction"];
        let more = ["--transactions=400", "--ramp-up=0s", "--check=off", "--output=json"];
        let report = home.run(&[&args[..], &SMALL, &more].concat()).json();
        assert_eq!(at(&report, "counts.committed"), 400, "{placement}");
        assert_eq!(at(&report, "counts.failed"), 0, "{placement}");
        // A client may have connected when another one takes the last transaction.
        let connected = number(&report, "new_connections_ms.count");
        assert!((400.0..=404.0).contains(&connected), "{placement}: {connected}");
        assert!(number(&report, "new_connections_ms.p50") > 0.0);
        let counted = connections() - before;
        assert!(counted >= connected, "{placement}: {counted} of {connected}");
        let plan = at(&report, "plan").as_str().expect("a plan");
        assert!(plan.contains("connect = \"transaction\""), "{plan}");
        let page = home.run(&["runs", "show", "last"]).good();
        page.says(&["connecting", "new connections: p50", "not in the latency"]);
    }
}

#[test]
fn each_transaction_on_mariadb_has_its_connection() {
    let count = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE \
                 VARIABLE_NAME = 'CONNECTIONS'";
    each_transaction_has_its_connection(&MARIADB, count);
}

#[test]
fn each_transaction_on_postgres_has_its_connection() {
    let count = "SELECT CAST(CAST(SUM(sessions) AS BIGINT) AS TEXT) FROM pg_stat_database";
    each_transaction_has_its_connection(&POSTGRES, count);
}

#[test]
fn an_embedded_database_is_opened_for_each_transaction_and_a_script_connects_by_itself() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--connect=transaction", "--transactions=40"];
    let report = home.run(&[&args[..], &SMALL, &["--ramp-up=0s", "--output=json"]].concat()).json();
    assert_eq!(at(&report, "counts.committed"), 40);
    assert!(number(&report, "new_connections_ms.count") >= 40.0);
    let kept = home.run(
        &[&["run", "oltp-point-select", "--duration=1s", "--output=json"], &SMALL[..]].concat(),
    );
    assert!(kept.json().get("new_connections_ms").is_none(), "the connections are kept");
    home.write("my.lua", "function event() end\n");
    let refused = home.run(&["run", "my.lua", "--connect=transaction"]).code(2);
    refused.warns(&["--connect: my makes its own connections in thread_init"]);
    let why = home.run(&["run", "oltp-point-select", "--connect=often"]).code(2);
    why.warns(&["once, transaction"]);
}
