//! Tests of the output of `dbdyno sysbench` and `dbdyno pgbench` with programs of the kind that
//! people have written for the output of sysbench and pgbench: grep, awk and sed.
//!
//! Not here: the whole output beside those programs (lua, drop_in).

use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::Home;
use crate::lua::place_of;

/// Pipes a text through a shell's command, and returns the numbers that it prints, line by line.
#[track_caller]
fn parsed(home: &Home, text: &str, command: &str) -> Vec<f64> {
    let file = home.write("output.txt", text);
    let ran = home.run_other("sh", &["-c", &format!("cat {file} | {command}")]).good();
    let number = |line: &str| line.parse::<f64>().unwrap_or_else(|_| panic!("{line}: {text}"));
    ran.out.lines().map(number).collect()
}

#[test]
fn parsers_of_sysbench_find_their_numbers() {
    let home = Home::new();
    let server = MARIADB.start();
    let script = "function thread_init() con = sysbench.sql.driver():connect() end\n\
                  function event() con:query('SELECT 1') end\n";
    let script = home.write("point.lua", script);
    let place = place_of(&server.target());
    let options = ["--time=3", "--report-interval=1", "--threads=2", "run"];
    let words = ["sysbench", &script].into_iter().chain(place.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(options).collect();
    let out = home.run(&words).good().out;
    let one = |command: &str| {
        let found = parsed(&home, &out, command);
        assert_eq!(found.len(), 1, "{command}: {out}");
        found[0]
    };
    let transactions = one("grep 'transactions:' | awk '{print $2}'");
    let per_second = one("grep 'transactions:' | sed -E 's/.*\\(([0-9.]+) per sec.*/\\1/'");
    assert!((transactions / per_second - 3.0).abs() < 0.5, "{transactions} {per_second}");
    let queries = one("sed -n 's/^ *queries: *\\([0-9]*\\) .*/\\1/p'");
    // The last statement of each thread may end after the measured time.
    assert!((queries - transactions).abs() <= 2.0, "{queries} {transactions}");
    assert!(one("awk '/95th percentile:/ {print $NF}'") > 0.0);
    assert!(one("grep -oP '(?<=total number of events:)\\s+[0-9]+' | tr -d ' '") == transactions);
    assert!(one("grep 'total time:' | awk '{print $3}' | tr -d s") >= 3.0);
    let lines = parsed(&home, &out, "grep -oP '^\\[ [0-9]+s \\].* tps: \\K[0-9.]+'");
    assert_eq!(lines.len(), 3, "{out}");
    let lines = parsed(&home, &out, "awk '/^\\[ *[0-9]+s *\\]/ {print $7, $9}' | awk '{print $2}'");
    assert!(lines.len() == 3 && lines.iter().all(|qps| *qps > 0.0), "{out}");
}

#[test]
fn parsers_of_pgbench_find_their_numbers() {
    let home = Home::new();
    let server = POSTGRES.start();
    let target = server.target();
    let host = &target.hosts[0];
    let port = host.port.expect("it has one").to_string();
    let script = home.write("one.sql", "SELECT 1;\n");
    let mut command = home.dbdyno(&[
        "pgbench",
        "--no-store",
        "-n",
        "-c",
        "2",
        "-j",
        "2",
        "-T",
        "3",
        "-P",
        "1",
        "-f",
        &script,
        "-h",
        &host.name,
        "-p",
        &port,
        "-U",
        target.user.as_deref().expect("it has one"),
        &target.path,
    ]);
    let password = target.password.as_ref().map_or("", |password| password.reveal());
    command.env("PGPASSWORD", password);
    let ran = crate::waiting::Started::new(command).end();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let one = |command: &str| {
        let found = parsed(&home, &ran.out, command);
        assert_eq!(found.len(), 1, "{command}: {}", ran.out);
        found[0]
    };
    let tps = one("grep '^tps = ' | cut -d' ' -f3");
    let latency = one("awk '/latency average/ {print $4}'");
    assert!(tps > 0.0 && latency > 0.0);
    let processed = one("sed -n 's/number of transactions actually processed: //p' | cut -d/ -f1");
    assert!((processed / tps - 3.0).abs() < 0.5, "{processed} {tps}");
    assert!(one("grep -oP 'latency stddev = \\K[0-9.]+'") >= 0.0);
    let lines = "grep -oP '^progress: [0-9.]+ s, \\K[0-9.]+(?= tps, lat [0-9.]+ ms stddev)'";
    assert_eq!(parsed(&home, &ran.err, lines).len(), 3, "{}", ran.err);
}
