//! Tests of the statements that `dbdyno sysbench` sends, beside those of sysbench: with the same
//! seed a server logs the same ones, and counts as many of each type.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Request, Session, StatementKind, Target};
use servers::Kind;
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES, TestServer};

use crate::home::{Home, Ran};
use crate::lua::place_of;
use crate::unchanged::{connect, say, text};
use crate::waiting::now;

/// Number of rows of a table.
const SIZE: &str = "--table-size=100";
/// Option with which a script draws unique numbers, which do not follow from the seed.
const UNIQUE: &str = "--auto-inc=off";
/// Scripts of sysbench's package, with options under which they send all their statements.
const SCRIPTS: [(&str, &[&str]); 14] = [
    ("oltp_read_write", &[SIZE, "--tables=2"]),
    ("oltp_read_write", &[SIZE, "--tables=2", "--db-ps-mode=disable"]),
    ("oltp_read_only", &[SIZE, "--tables=2"]),
    ("oltp_read_only", &[SIZE, "--skip-trx=on"]),
    ("oltp_write_only", &[SIZE, "--tables=2", "--delete-inserts=3"]),
    ("oltp_point_select", &[SIZE]),
    ("oltp_update_index", &[SIZE]),
    ("oltp_update_non_index", &[SIZE]),
    ("oltp_insert", &[SIZE]),
    ("oltp_insert", &[SIZE, UNIQUE]),
    ("oltp_delete", &[SIZE]),
    ("select_random_points", &[SIZE]),
    ("select_random_ranges", &[SIZE]),
    ("bulk_insert", &[]),
];

/// Counters of a server for statements that dbdyno sends in the load alone, and not to watch it.
const COUNTERS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_begin', 'Com_commit', \
                        'Com_rollback', 'Com_insert', 'Com_update', 'Com_delete', 'Com_replace', \
                        'Com_stmt_prepare', 'Com_stmt_execute', 'Com_stmt_close', \
                        'Com_stmt_reset', 'Com_stmt_fetch', 'Com_create_table', 'Com_drop_table')";

/// Statements of the load in the general log, in their order.
const LOGGED: &str = "SELECT CONCAT(command_type, ' ', CONVERT(argument USING utf8mb4)) \
                      FROM mysql.general_log WHERE (argument LIKE '%sbtest%' \
                      AND command_type IN ('Prepare', 'Execute', 'Query')) \
                      OR argument IN ('BEGIN', 'COMMIT')";

/// A server with a home, on which both programs run.
struct Bench {
    home: Home,
    session: Box<dyn Session>,
    kind: Kind,
    place: Vec<String>,
}

impl Bench {
    fn new(target: &Target, kind: Kind) -> Bench {
        let mut place = place_of(target);
        if kind == Kind::Postgres {
            place = place.iter().map(|word| word.replace("--mysql-", "--pgsql-")).collect();
            place.push("--db-driver=pgsql".to_owned());
        }
        Bench { home: Home::new(), session: connect(target), kind, place }
    }

    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        self.place.iter().map(String::as_str).chain(words.iter().copied()).collect()
    }

    fn theirs(&self, words: &[&str]) -> Ran {
        self.home.run_other("sysbench", &self.words(words)).good()
    }

    fn ours(&self, words: &[&str]) -> Ran {
        self.home.run(&[&["sysbench"], &self.words(words)[..]].concat()).good()
    }

    fn sql(&mut self, sql: &str) {
        say(self.session.as_mut(), Request::Text { kind: StatementKind::Other, sql });
    }

    fn rows(&mut self, sql: &str) -> Vec<String> {
        say(self.session.as_mut(), text(sql))
    }

    /// Waits until no connection of a program is left.
    fn wait_until_alone(&mut self) {
        const OF_MYSQL: &str = "SELECT count(*) FROM information_schema.processlist \
                                WHERE id <> connection_id() AND user <> 'system user' \
                                AND user <> 'event_scheduler' AND command <> 'Daemon'";
        const OF_POSTGRES: &str = "SELECT count(*) FROM pg_stat_activity WHERE \
                                   backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let others = if self.kind == Kind::Postgres { OF_POSTGRES } else { OF_MYSQL };
        let deadline = now() + Duration::from_secs(60);
        while self.rows(others) != ["Int(0)"] {
            assert!(now() < deadline, "connections stay");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn counters(&mut self) -> BTreeMap<String, u64> {
        self.wait_until_alone();
        let pair = |row: String| {
            let is_digit = |letter: char| letter.is_ascii_digit();
            let (name, number) = row.split_once(' ').expect("a name and a number");
            let number: String = number.chars().filter(|letter| is_digit(*letter)).collect();
            (name.to_owned(), number.parse().expect("a number"))
        };
        self.rows(COUNTERS).into_iter().map(pair).collect()
    }

    /// Runs a program, and returns how much it has added to each counter, and what was logged.
    fn counted(&mut self, run: fn(&Bench, &[&str]) -> Ran, words: &[&str]) -> Counted {
        self.sql("TRUNCATE TABLE mysql.general_log");
        let before = self.counters();
        self.sql("SET GLOBAL general_log = 1");
        run(self, words);
        self.sql("SET GLOBAL general_log = 0");
        let mut counts = self.counters();
        for (name, count) in &mut counts {
            *count -= before[name];
        }
        Counted { counts, logged: self.rows(LOGGED) }
    }
}

/// What a server counted and logged of a run.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    counts: BTreeMap<String, u64>,
    logged: Vec<String>,
}

fn counts_are_equal_on(server: &TestServer) {
    let server_of_kind = server.start_with(&[("log_output", "TABLE")]);
    let mut bench = Bench::new(&server_of_kind.target(), server.kind);
    let mut n_logged = 0;
    for (script, options) in SCRIPTS {
        let with = |words: &[&'static str]| [&[script], options, words].concat();
        // One of the scripts has a table for each thread.
        bench.theirs(&with(&["--threads=3", "prepare"]));
        let words = with(&["--rand-seed=7", "--events=5", "--time=0", "run"]);
        let theirs = bench.counted(Bench::theirs, &words);
        let ours = bench.counted(Bench::ours, &words);
        assert_eq!(ours.counts, theirs.counts, "{words:?}");
        if !options.contains(&UNIQUE) {
            assert_eq!(ours.logged, theirs.logged, "{words:?}");
        }
        n_logged += ours.logged.len();
        // Further threads draw other numbers, and send as many statements, unless they conflict.
        if ["oltp_read_only", "oltp_point_select"].contains(&script) {
            let words = [&words[..], &["--threads=3", "--events=9"]].concat();
            let theirs = bench.counted(Bench::theirs, &words);
            assert_eq!(bench.counted(Bench::ours, &words).counts, theirs.counts, "{words:?}");
        }
        bench.theirs(&with(&["--threads=3", "cleanup"]));
    }
    assert!(n_logged > 200, "{n_logged}");
}

/// Returns what a PostgreSQL server has logged of the load: each statement as it was parsed, bound
/// and executed, without its name, and times and values apart.
fn logged_by_postgres(log: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in log.lines() {
        let Some((_, line)) = line.split_once(" ms  ") else { continue };
        let Some((what, sql)) = line.split_once(": ") else { continue };
        let what = what.split(' ').next().unwrap_or_default();
        // Sent as text, numbers are quoted, so that the server derives their types.
        let sql = if what == "statement" { sql.replace('\'', "") } else { sql.to_owned() };
        if sql.contains("sbtest") || sql == "BEGIN" || sql == "COMMIT" {
            found.push(format!("{what} {sql}"));
        }
    }
    found
}

#[test]
fn postgres_logs_the_same_statements_of_each_script() {
    let server = POSTGRES.start_with(&[("log_min_duration_statement", "0")]);
    let mut bench = Bench::new(&server.target(), Kind::Postgres);
    let log = || std::fs::read_to_string(server.folder().join("log")).expect("it has a log");
    let mut n_logged = 0;
    for (script, options) in SCRIPTS {
        let with = |words: &[&'static str]| [&[script], options, words].concat();
        let words = with(&["--rand-seed=7", "--events=5", "--time=0", "run"]);
        let [theirs, ours] = [Bench::theirs, Bench::ours].map(|run| {
            // Rows of the program before would be in the way.
            bench.theirs(&with(&["--threads=3", "prepare"]));
            bench.wait_until_alone();
            let n_before = log().len();
            run(&bench, &words);
            // A server may log after it has replied.
            bench.wait_until_alone();
            let logged = logged_by_postgres(&log()[n_before..]);
            bench.theirs(&with(&["--threads=3", "cleanup"]));
            logged
        });
        if !options.contains(&UNIQUE) {
            assert_eq!(ours, theirs, "{words:?}");
        }
        assert_eq!(ours.len(), theirs.len(), "{words:?}");
        n_logged += ours.len();
    }
    assert!(n_logged > 400, "{n_logged}");
}

#[test]
fn mariadb_counts_the_same_statements_of_each_script() {
    counts_are_equal_on(&MARIADB);
}

#[test]
fn mysql_counts_the_same_statements_of_each_script() {
    counts_are_equal_on(&MYSQL_9_7);
}
