//! Tests of `dbdyno pgbench` beside pgbench itself: with the same seed both send the same
//! statements, end alike at errors, and print the same lines.
//!
//! Not here: pgbench's expressions and its random numbers (workloads), and the options (dbdyno's
//! own tests).

use std::process::Command;

use model::Secret;
use servers::Server;
use servers::for_tests::POSTGRES;

use crate::home::{Home, Ran, at, number};
use crate::waiting::Started;

/// Table in which scripts write down what they execute.
const TABLE: &str = "CREATE TABLE said (nth serial, client int, text text)";
/// Rows of the table in the order of each client.
const SAID: &str = "SELECT client, text FROM said ORDER BY client, nth";
/// Script whose statements tell all that it draws and evaluates.
const SCRIPT: &str = "\
-- A comment; with a semicolon
\\set high 10 * :scale
\\set id random(1, :high)
\\set skewed random_gaussian(1, 1000, 2.5) + permute(:id - 1, 50)
\\if :id > 5
INSERT INTO said (client, text)
  VALUES (:client_id::int, concat(current_query(), :id::int, ' ', :skewed::int));
\\else
SELECT :id::int + 1 AS next, 7.50 AS part \\gset of_
INSERT INTO said (client, text) VALUES (:client_id::int, concat(:of_next::int, :of_part::numeric));
\\endif
\\sleep 1 us
SELECT 12::int, '10:11:12'::time
";

/// A server with the table, and a home for both programs.
struct Bench {
    home: Home,
    server: Server,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { home: Home::new(), server: POSTGRES.start() };
        bench.sql(TABLE);
        bench
    }

    /// Gives a program the server by the environment, as libpq reads it.
    fn with_server(&self, mut command: Command) -> Command {
        let target = self.server.target();
        let host = &target.hosts[0];
        let password = target.password.as_ref().map_or("", Secret::reveal);
        command
            .env("PGHOST", &host.name)
            .env("PGPORT", host.port.expect("it has one").to_string())
            .env("PGUSER", target.user.as_deref().expect("it has one"))
            .env("PGPASSWORD", password)
            .env("PGDATABASE", &target.path);
        command
    }

    fn sql(&self, sql: &str) -> String {
        let mut psql = self.with_server(self.home.command("psql"));
        psql.args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        let ran = Started::new(psql).end();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    }

    /// Runs pgbench, and returns also what its scripts wrote down.
    fn pgbench(&self, args: &[&str]) -> (Ran, String) {
        let mut pgbench = self.with_server(self.home.command("pgbench"));
        pgbench.args(args);
        self.said(pgbench)
    }

    /// Runs dbdyno in pgbench's place, and returns also what its scripts wrote down.
    fn dbdyno(&self, args: &[&str]) -> (Ran, String) {
        self.said(self.with_server(self.home.dbdyno(&[&["pgbench", "--no-store"], args].concat())))
    }

    fn said(&self, command: Command) -> (Ran, String) {
        self.sql("TRUNCATE said");
        let ran = Started::new(command).end();
        (ran, self.sql(SAID))
    }
}

/// Returns the lines of a report without the first, which has the version, and with N for numbers.
fn labels(report: &str) -> Vec<String> {
    let word = |word: &str| {
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        if is_number { "N".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<String>>().join(" ");
    report.lines().skip(1).map(line).collect()
}

#[test]
fn with_the_same_seed_both_send_the_same_statements() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", SCRIPT);
    let old = SCRIPT.replace("\\set id random(1, :high)", "\\setrandom id 1 :high");
    assert_ne!(old, SCRIPT);
    let old = bench.home.write("old.sql", old);
    for mode in ["simple", "extended", "prepared"] {
        let args = ["-n", "-c", "2", "-j", "2", "-t", "20", "--random-seed=7", "-M", mode, "-f"];
        let (ran, expect) = bench.pgbench(&[&args[..], &[&file]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(expect.lines().count() >= 40, "{expect}");
        for file in [&file, &old] {
            let (ran, said) = bench.dbdyno(&[&args[..], &[file]].concat());
            assert_eq!(ran.code, Some(0), "{mode}: {}", ran.err);
            assert_eq!(said, expect, "{mode}, {file}");
        }
    }
}

#[test]
fn an_error_ends_its_client_and_the_exit_code_is_2() {
    let bench = Bench::new();
    let check = |script: &str, mode: &str, processed: &str| {
        let file = bench.home.write("script.sql", script);
        let args = ["-n", "-c", "2", "-t", "3", "-M", mode, "-f", &file];
        let (expect, expect_said) = bench.pgbench(&args);
        let (ran, said) = bench.dbdyno(&args);
        assert_eq!(said, expect_said, "{script}");
        for ran in [&expect, &ran] {
            assert_eq!(ran.code, Some(2), "{script}: {}", ran.err);
            assert!(ran.err.contains("Run was aborted; the above results are incomplete."));
            let line = format!("number of transactions actually processed: {processed}/6\n");
            assert!(ran.out.contains(&line), "{script}: {}", ran.out);
            assert!(!ran.out.contains("number of failed transactions: 1"), "{}", ran.out);
        }
    };
    let one = "INSERT INTO said (client, text) VALUES (:client_id, 'begun');\n";
    check(&format!("{one}SELECT 1 / (:client_id::int - 1);"), "prepared", "3");
    check(&format!("{one}\\set x 1 / :client_id\n"), "simple", "3");
    check(&format!("{one}COPY said TO STDOUT;"), "simple", "0");
    check(&format!("{one}\\startpipeline\nSELECT 1;\n\\endpipeline"), "simple", "0");
    check(&format!("{one}SELECT :missing;"), "simple", "0");
}

#[test]
fn what_cannot_begin_has_the_exit_code_1() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "\\sett x 1\n");
    let nobody = ["-n", "-S", "-h", "127.0.0.1", "-p", "1", "nothing"];
    let here: [&[&str]; 4] =
        [&["-n", "-f", &file], &["-n", "-t", "x"], &["--no-such-option"], &nobody];
    for args in here {
        assert_eq!(bench.pgbench(args).0.code, Some(1), "{args:?}");
        let ran = bench.dbdyno(args).0;
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.err);
    }
}

#[test]
fn tables_are_built_as_the_options_say() {
    let bench = Bench::new();
    let by = "SELECT relname, relpersistence, reloptions, (SELECT count(*) FROM pg_constraint \
              WHERE conrelid = c.oid) FROM pg_class c WHERE relname LIKE 'pgbench%' \
              AND relkind = 'r' ORDER BY 1";
    let args = ["-i", "-q", "--unlogged-tables", "--foreign-keys", "-F", "90"];
    assert_eq!(bench.pgbench(&args).0.code, Some(0));
    let expect = bench.sql(by);
    assert!(expect.contains("pgbench_accounts|u|{fillfactor=90}|2"), "{expect}");
    let ran = bench.dbdyno(&args).0;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(bench.sql(by), expect);
}

#[test]
fn tables_are_divided_as_the_options_say() {
    let by = "SELECT c.relname, c.relkind, pg_get_expr(c.relpartbound, c.oid), \
              (SELECT count(*) FROM pg_index WHERE indrelid = c.oid) FROM pg_class c \
              WHERE relname LIKE 'pgbench%' AND relkind IN ('r', 'p') ORDER BY 1";
    // Both build again what either built before.
    let bench = Bench::new();
    for method in ["range", "hash"] {
        let method = format!("--partition-method={method}");
        let args = ["-i", "-q", "--partitions=3", &method];
        assert_eq!(bench.pgbench(&args).0.code, Some(0));
        let expect = bench.sql(by);
        assert!(expect.contains("pgbench_accounts_3"), "{expect}");
        let ran = bench.dbdyno(&args).0;
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(bench.sql(by), expect);
        assert_eq!(bench.sql("SELECT count(*) FROM pgbench_accounts").trim(), "100000");
    }
    let spaces = ["-i", "-q", "--tablespace=pg_default", "--index-tablespace=pg_default"];
    assert_eq!(bench.dbdyno(&spaces).0.code, Some(0));
}

/// Takes the logs whose names begin with `prefix`: for each, what its name has behind the number of
/// the process, and its lines.
fn logs_of(bench: &Bench, prefix: &str) -> Vec<(String, Vec<String>)> {
    let folder = std::fs::read_dir(bench.home.path(".")).expect("the folder is there");
    let names = folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut logs = Vec::new();
    for name in names.filter(|name| name.starts_with(prefix)) {
        let text = std::fs::read_to_string(bench.home.path(&name)).expect("it is a log");
        std::fs::remove_file(bench.home.path(&name)).expect("it is a file");
        let (_, process) = name.split_once('.').expect("it has the number of the process");
        let thread = process.split_once('.').map_or("", |(_, thread)| thread).to_owned();
        logs.push((thread, text.lines().map(str::to_owned).collect()));
    }
    logs.sort();
    logs
}

/// Returns the logs of both programs with the same options.
fn logs_of_both(bench: &Bench, args: &[&str]) -> [Vec<(String, Vec<String>)>; 2] {
    ["theirs", "ours"].map(|program| {
        let prefix = bench.home.path(program).display().to_string();
        let args = [&["-n", "-l", "--log-prefix", &prefix], args].concat();
        let ran = match program {
            "theirs" => bench.pgbench(&args).0,
            _ => bench.dbdyno(&args).0,
        };
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        logs_of(bench, program)
    })
}

#[test]
fn logs_have_the_same_columns() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT 1;\n");
    let check = |more: &[&str], n_lines: Option<usize>| {
        let args = [&["-c", "2", "-t", "20", "-f", &file], more].concat();
        let columns = logs_of_both(&bench, &args).map(|logs| {
            let [(_, lines)] = logs.as_slice() else { panic!("one log: {logs:?}") };
            assert!(n_lines.is_none_or(|n_lines| n_lines == lines.len()), "{lines:?}");
            // Of a client, transactions are counted from 1.
            if n_lines.is_some() && !more.contains(&"-R") {
                assert!(lines.iter().any(|line| line.starts_with("1 20 ")), "{lines:?}");
            }
            lines[0].split(' ').count()
        });
        assert_eq!(columns[0], columns[1], "{more:?}");
    };
    check(&[], Some(40));
    check(&["--max-tries=3"], Some(40));
    check(&["-R", "1000"], Some(40));
    // Both write whole intervals alone.
    check(&["-R", "20", "--aggregate-interval=1"], None);
    let sampled = ["-n", "-t", "20", "-f", &file, "--sampling-rate=0.5"];
    assert_eq!(bench.dbdyno(&sampled).0.code, Some(1));
}

#[test]
fn each_thread_has_a_log_with_the_same_clients() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT 1;\n");
    let args = ["-c", "5", "-j", "3", "-t", "2", "-f", &file];
    let [theirs, ours] = logs_of_both(&bench, &args).map(|logs| {
        let sorted = |(thread, lines): (String, Vec<String>)| {
            let words = |line: &String| line.split(' ').take(2).map(str::to_owned).collect();
            let mut known: Vec<Vec<String>> = lines.iter().map(words).collect();
            known.sort();
            (thread, known)
        };
        logs.into_iter().map(sorted).collect::<Vec<_>>()
    });
    assert_eq!(
        theirs.iter().map(|(thread, _)| thread.as_str()).collect::<Vec<_>>(),
        ["", "1", "2"]
    );
    assert_eq!(ours, theirs);
    // An interval that is not over has no line.
    let long = ["-c", "2", "-j", "2", "-t", "2", "--aggregate-interval=600", "-f", &file];
    let [theirs, ours] = logs_of_both(&bench, &long);
    let none = |thread: &str| (thread.to_owned(), Vec::new());
    assert_eq!(theirs, [none(""), none("1")]);
    assert_eq!(ours, theirs);
}

#[test]
fn failures_and_retries_are_counted_for_each_command() {
    let bench = Bench::new();
    let text = "SELECT 1;\nDO $$ BEGIN IF nextval('turns') % 5 < 2 THEN RAISE 'no' USING ERRCODE = \
                '40001'; END IF; END $$;\nSELECT 2;\n";
    let fails = bench.home.write("fails.sql", text);
    let fine = bench.home.write("fine.sql", "SELECT 3;\n");
    let check = |options: &[&str], expect: &[&str]| {
        let args = [&["-n", "-t", "20", "-r", "--random-seed=3"], options].concat();
        for program in [Bench::pgbench, Bench::dbdyno] {
            bench.sql("DROP SEQUENCE IF EXISTS turns; CREATE SEQUENCE turns");
            let ran = program(&bench, &args).0;
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            // Without the first word, which is the latency of a command.
            let line = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
            let lines: Vec<String> = ran.out.lines().map(line).collect();
            let average = labels(&ran.out).into_iter().find(|line| line.starts_with("latency a"));
            let lines = [lines, average.as_slice().to_vec()].concat();
            let has = |part: &str| {
                lines.iter().any(|line| line.starts_with(part) || line.ends_with(part))
            };
            assert!(expect.iter().all(|part| has(part)), "{expect:?}: {}", ran.out);
        }
    };
    check(&["-f", &fails], &["0 SELECT 1;", "8 DO $$", "average = N ms (including failures)"]);
    check(&["-f", &fails, "--max-tries=2"], &["0 0 SELECT 2;", "5 6 DO $$"]);
    check(&["-f", &fails, "--max-tries=2", "-P", "60"], &["average = N ms"]);
    let both = ["-f", &fine, "-f", &fails, "--max-tries=2"];
    check(&both, &["0 0 SELECT 3;", "2 3 DO $$"]);
}

#[test]
fn each_transaction_may_have_a_connection() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT 1;\n");
    let args = ["-n", "-C", "-c", "2", "-t", "20", "-f", &file];
    for ran in [bench.pgbench(&args).0, bench.dbdyno(&args).0] {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains("actually processed: 40/40"), "{}", ran.out);
        assert!(ran.out.contains("average connection time = "), "{}", ran.out);
        assert!(!ran.out.contains("average connection time = 0.000"), "{}", ran.out);
        assert!(ran.out.contains(" (including reconnection times)\n"), "{}", ran.out);
    }
}

#[test]
fn debug_prints_what_pgbench_prints() {
    let bench = Bench::new();
    let file = bench
        .home
        .write("script.sql", "\\set x debug(5 + 1.5)\nSELECT :x;\n\\if debug(NULL)\n\\endif\n");
    let args = ["-n", "-t", "1", "-f", &file];
    for ran in [bench.pgbench(&args).0, bench.dbdyno(&args).0] {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let lines =
            ["debug(script=0,command=1): double 6.5\n", "debug(script=0,command=3): null\n"];
        lines.iter().for_each(|line| assert!(ran.err.contains(line), "{}", ran.err));
    }
}

/// Returns the first number after `label` in a text.
fn number_after(text: &str, label: &str) -> f64 {
    let (_, rest) = text.split_once(label).unwrap_or_else(|| panic!("no {label}: {text}"));
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let number: String = rest.trim_start().chars().take_while(|letter| is_part(*letter)).collect();
    number.parse().unwrap_or_else(|_| panic!("no number after {label}: {text}"))
}

#[test]
fn a_rate_above_the_capacity_is_counted_by_completion_and_ends_in_time() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT pg_sleep(0.1);\n");
    // The client executes at most 10 of the 1,000 transactions that are due each second.
    let args = ["-n", "-R", "1000", "-T", "2", "-P", "1", "-f", &file];
    let theirs = bench.pgbench(&args).0;
    let store = bench.home.path("runs.db").display().to_string();
    let ours = [&["pgbench", "--store", &store], &args[..]].concat();
    let (ours, _) = bench.said(bench.with_server(bench.home.dbdyno(&ours)));
    for ran in [&theirs, &ours] {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let processed = number_after(&ran.out, "actually processed:");
        assert!((1.0..=21.0).contains(&processed), "{}", ran.out);
        let lines: Vec<&str> =
            ran.err.lines().filter(|line| line.starts_with("progress: ")).collect();
        assert_eq!(lines.len(), 2, "{}", ran.err);
        for line in lines {
            assert!(number_after(line, " s,") <= 11.0, "{line}");
            assert!(number_after(line, "lag") > 0.0, "{line}");
        }
        // The wait of a queue that grows is part of the latency.
        assert!(number_after(&ran.out, "latency average =") > 300.0, "{}", ran.out);
    }
    assert!(ours.err.contains("transactions that had arrived were not executed"), "{}", ours.err);
    let shown = ["runs", "show", "last", "--output", "json", "--store", &store];
    let report = bench.home.run(&shown).json();
    let count = |name: &str| number(&report, &format!("counts.{name}"));
    let sum: f64 = ["finished", "failed", "dropped", "unfinished"].map(count).iter().sum();
    assert_eq!(count("offered"), sum, "{}", at(&report, "counts"));
    assert!(count("unfinished") > 1_000.0, "{}", at(&report, "counts"));
}

#[test]
fn late_transactions_are_skipped_with_a_limit() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT pg_sleep(0.1);\n");
    let args = ["-n", "-R", "1000", "-L", "150", "-t", "200", "-P", "60", "-f", &file];
    for ran in [bench.pgbench(&args).0, bench.dbdyno(&args).0] {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let skipped = number_after(&ran.out, "number of transactions skipped:");
        let processed = number_after(&ran.out, "actually processed:");
        assert_eq!(skipped + processed, 200.0, "{}", ran.out);
        assert!(skipped > 100.0, "{}", ran.out);
    }
    let fast = bench.home.write("fast.sql", "SELECT 1;\n");
    let args = [&args[..4], &["100000", "-t", "5", "-f", &fast]].concat();
    assert_eq!(labels(&bench.dbdyno(&args).0.out), labels(&bench.pgbench(&args).0.out));
}

#[test]
fn transactions_that_all_fail_are_reported_alike() {
    let bench = Bench::new();
    let refused = "DO $$ BEGIN RAISE 'no' USING ERRCODE = '40001'; END $$;\n";
    let file = bench.home.write("script.sql", refused);
    let fine = bench.home.write("fine.sql", "SELECT 1;\n");
    let check = |options: &[&str]| {
        let args = [&["-n", "-t", "4"], options].concat();
        let (theirs, ours) = (bench.pgbench(&args).0, bench.dbdyno(&args).0);
        assert_eq!((ours.code, theirs.code), (Some(0), Some(0)), "{}", ours.err);
        // A share of nothing is 0 here, and no number there.
        let theirs = theirs.out.replace("(NaN%)", "(0.000%)");
        assert_eq!(labels(&ours.out), labels(&theirs), "{options:?}");
        ours
    };
    let ran = check(&["-f", &file, "-P", "60"]);
    assert!(ran.err.contains("Nothing finished: 4 transactions offered, 4 failed"), "{}", ran.err);
    check(&["-f", &file, "--max-tries=3", "--failures-detailed"]);
    check(&["-f", &file, "-f", &fine, "--max-tries=2", "--failures-detailed", "--random-seed=1"]);
}

#[test]
fn clients_whose_connection_is_killed_are_named() {
    let bench = Bench::new();
    let text = "SELECT pg_terminate_backend(pg_backend_pid()) WHERE :client_id = 1;\nSELECT 1;\n";
    let file = bench.home.write("script.sql", text);
    let args = ["-n", "-c", "3", "-t", "5", "-f", &file];
    let (theirs, ours) = (bench.pgbench(&args).0, bench.dbdyno(&args).0);
    for ran in [&theirs, &ours] {
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("pgbench: error: client 1 script 0 aborted"), "{}", ran.err);
        assert!(ran.err.contains("terminating connection due to administrator"), "{}", ran.err);
        assert!(!ran.err.contains("error: client 0"), "{}", ran.err);
        assert!(ran.out.contains("actually processed: 10/15\n"), "{}", ran.out);
        assert!(ran.out.contains("failed transactions: 0 (0.000%)\n"), "{}", ran.out);
    }
}

#[test]
fn progress_has_time_stamps_with_three_decimals() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT pg_sleep(0.01);\n");
    let args = ["-n", "-T", "2", "-P", "1", "--progress-timestamp", "-f", &file];
    for ran in [bench.pgbench(&args).0, bench.dbdyno(&args).0] {
        let line = ran.err.lines().find(|line| line.starts_with("progress: ")).expect("a line");
        let stamp = line["progress: ".len()..].split(' ').next().expect("a time stamp");
        let (seconds, part) = stamp.split_once('.').expect("it has decimals");
        assert_eq!((seconds.len(), part.len()), (10, 3), "{line}");
    }
}

#[test]
fn steps_of_a_build_are_executed_in_their_order() {
    let bench = Bench::new();
    let keys = "SELECT count(*) FROM pg_constraint WHERE contype IN ('p', 'f') AND \
                conrelid::regclass::text LIKE 'pgbench%'";
    let check = |steps: &str, begins: &[&str], expect: [&str; 2]| {
        let ran = bench.dbdyno(&["-i", "-I", steps]).0;
        assert_eq!(ran.code, Some(0), "{steps}: {}", ran.err);
        let lines: Vec<&str> = ran.err.lines().collect();
        let (last, first) = lines.split_last().expect("lines");
        assert_eq!(first, begins, "{steps}");
        assert!(last.starts_with("done in ") && last.ends_with(" s)."), "{last}");
        let rows = bench.sql("SELECT count(*) FROM pgbench_accounts");
        assert_eq!([rows.trim(), bench.sql(keys).trim()], expect, "{steps}");
    };
    let (old, new) = ("dropping old tables...", "creating tables...");
    let rows = "generating data (server-side)...";
    check("dt", &[old, new], ["0", "0"]);
    check("g", &[rows], ["100000", "0"]);
    check(
        "v pf",
        &["vacuuming...", "creating primary keys...", "creating foreign keys..."],
        ["100000", "8"],
    );
    check("dtpG", &[old, new, "creating primary keys...", rows], ["100000", "3"]);
    let sum = "SELECT sum(aid), sum(bid), sum(abalance), max(filler) FROM pgbench_accounts";
    let ours = bench.sql(sum);
    assert_eq!(bench.pgbench(&["-i", "-q"]).0.code, Some(0));
    assert_eq!(bench.sql(sum), ours);
    let ran = bench.dbdyno(&["-i", "-I", "dx"]).0;
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("unrecognized initialization step \"x\""), "{}", ran.err);
    // A build of dbdyno's own is forgotten together with its tables.
    assert_eq!(bench.dbdyno(&["-i", "-I", "d"]).0.code, Some(0));
    let target = bench.server.target();
    let url = target.to_string();
    let mut build = bench.home.dbdyno(&["build", "tpcb", "--scale", "2", "--target", &url]);
    build.env("DBDYNO_PASSWORD", target.password.as_ref().map_or("", Secret::reveal));
    assert_eq!(Started::new(build).end().code, Some(0));
    assert_eq!(bench.dbdyno(&["-i"]).0.code, Some(0));
    assert_eq!(bench.sql("SELECT to_regclass('dbdyno_meta') IS NULL").trim(), "t");
}

#[test]
fn advice_names_options_of_the_program() {
    let bench = Bench::new();
    let own = ["--ask-password", "DBDYNO_PASSWORD", "managed:", "tls=", "in the target"];
    let nobody = ["-n", "-S", "-h", "127.0.0.1", "-p", "1"];
    let missing = ["-n", "-S", "nowhere"];
    let file = bench.home.write("mine.sql", "SELECT 1;\n");
    let misspelt = file.replace("mine.sql", "mien.sql");
    for (args, expect) in [
        (&nobody[..], "-h and -p"),
        (&missing[..], "name another database"),
        (&["-b", "selekt-only"][..], "did you mean 'select-only'?"),
        (&["-f", &misspelt][..], "mine.sql'?)"),
    ] {
        let ran = bench.dbdyno(args).0;
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(ran.err.contains(expect), "{args:?}: {}", ran.err);
        assert!(own.iter().all(|word| !ran.err.contains(word)), "{}", ran.err);
    }
    let help = bench.dbdyno(&["--help"]).0.out;
    assert!(help.contains("Transactions of each client"), "{help}");
}

#[test]
fn an_interrupt_cancels_running_statements_and_is_reported() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", "SELECT pg_sleep(600);\n");
    let words = ["pgbench", "--no-store", "-n", "-T", "600", "-f", &file];
    let started = Started::new(bench.with_server(bench.home.dbdyno(&words)));
    let runs = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND \
                pid <> pg_backend_pid()";
    assert!(crate::waiting::eventually(|| bench.sql(runs).trim() == "1"));
    started.interrupt();
    let ran = started.end();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(ran.out.contains("number of transactions actually processed: 0\n"), "{}", ran.out);
}

#[test]
fn reports_have_the_same_lines() {
    let bench = Bench::new();
    let file = bench.home.write("script.sql", SCRIPT);
    let check = |options: &[&str]| {
        let args = [&["-n", "-t", "4", "-f", &file], options].concat();
        let expect = labels(&bench.pgbench(&args).0.out);
        // Commands that only end a condition are no lines of dbdyno's.
        let is_end = |line: &String| line.ends_with(" \\else") || line.ends_with(" \\endif");
        let expect: Vec<String> = expect.into_iter().filter(|line| !is_end(line)).collect();
        assert_eq!(labels(&bench.dbdyno(&args).0.out), expect, "{options:?}");
    };
    check(&[]);
    check(&["-r", "-c", "2", "-j", "2"]);
    check(&["-L", "1000", "--max-tries=3", "--failures-detailed", "-r"]);
    check(&["-R", "500"]);
}
