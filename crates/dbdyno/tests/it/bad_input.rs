//! Tests of impossible requests: each fails with one sentence that names the remedy, with the right
//! exit code, on stderr only, and leaves nothing behind.
//!
//! Not here: possible requests (journey), and stops by the user (interrupted).

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode};
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, Ran, at, number};
use crate::password::on_a_terminal;
use crate::real::url_of;
use crate::waiting::Started;

const USAGE: i32 = 2;
const FAILED: i32 = 1;
const UNREACHABLE: i32 = 4;

/// Arguments of a run that takes no time, with virtual time and a simulated database.
pub(crate) const QUICK: [&str; 9] = [
    "run",
    "empty",
    "--target=sim:?service=constant:1ms",
    "--placement=simulated",
    "--clients=1",
    "--duration=2s",
    "--ramp-up=0s",
    "--load=open",
    "--rate=100",
];

/// Asserts that `args` fail with one sentence that contains all `fragments`.
#[track_caller]
fn refused(home: &Home, args: &[&str], code: i32, fragments: &[&str]) {
    is_db_error(home.call(args), args, code, fragments);
}

/// Asserts that the result is one sentence on stderr that contains all `fragments`, and this exit
/// code.
#[track_caller]
fn is_db_error(ran: Ran, args: &[&str], code: i32, fragments: &[&str]) {
    let ran = ran.code(code).warns(fragments);
    assert_eq!(ran.out, "", "{args:?} wrote to stdout");
    assert_eq!(ran.err.lines().count(), 1, "{args:?} took more than a sentence:\n{}", ran.err);
    assert!(ran.err.starts_with("dbdyno: "), "{args:?} said '{}'", ran.err);
}

/// Asserts that the parser rejects `args`, with a hint to the help.
#[track_caller]
fn misspelt(home: &Home, args: &[&str], fragments: &[&str]) {
    refused(home, args, USAGE, &[fragments, &["--help'"]].concat());
}

#[test]
fn numbered_tables_of_others_with_a_gap_are_refused_before_ours_are_built_among_them() {
    let home = Home::new();
    let others = rusqlite::Connection::open(home.path("gap.db")).unwrap();
    others.execute_batch("CREATE TABLE sbtest3 (id INTEGER PRIMARY KEY, k, c, pad)").unwrap();
    let target = "--target=sqlite:gap.db";
    let words = &["the table sbtest3, but not sbtest1", "without a gap"];
    for command in ["build", "run"] {
        refused(&home, &[command, "oltp-read-only", target], FAILED, words);
    }
    let count = "SELECT count(*) FROM sqlite_master WHERE name = 'sbtest1'";
    let n: i64 = others.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(n, 0);
}

#[test]
fn rows_of_others_that_no_table_uses_are_said() {
    let home = Home::new();
    let others = rusqlite::Connection::open(home.path("unequal.db")).unwrap();
    for (table, n) in [("sbtest1", 1_000), ("sbtest2", 900)] {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ";
        let columns = "(id INTEGER PRIMARY KEY, k INTEGER, c CHAR(120), pad CHAR(60))";
        others
            .execute_batch(&format!(
                "CREATE TABLE {table} {columns};
                 {rows}{n}) INSERT INTO {table} SELECT i, i, 'c', 'p' FROM n"
            ))
            .unwrap();
    }
    let run = ["run", "oltp-read-only", "--target=sqlite:unequal.db", "--duration=1s"];
    let more = ["--ramp-up=0s", "--rate=20", "--clients=1", "--output=json"];
    let ran = home.run(&[&run[..], &more].concat());
    let said = "sbtest1 has 1,000 rows, sbtest2 900: 900 of each table are used";
    ran.warns(&[said]);
    let shown = home.json(&["runs", "show", "last"]);
    assert!(at(&shown, "output").to_string().contains(said), "{}", shown["output"]);
}

#[test]
fn every_switch_may_be_given_twice_and_scripts_of_other_tools_are_named() {
    let home = Home::new();
    let twice = ["run", "empty", "-q", "-q", "--no-store", "--no-store", "--per-client"];
    let target = "--target=sim:?service=constant:1ms";
    let sim = ["--per-client", target, "--placement=simulated", "--duration=1s"];
    home.run(&[&twice[..], &sim].concat()).good();
    home.write("x.bench", "function event()\n  query('SELECT 1')\nend\n");
    let file = home.path("x.bench").display().to_string();
    let words = &["a Lua script of sysbench", "give it a name that ends with .lua"];
    refused(&home, &["run", &file], USAGE, words);
    let words = &["is the library of sysbench's OLTP scripts and no workload"];
    refused(&home, &["run", "oltp_common.lua"], USAGE, words);
}

#[test]
fn a_word_that_is_not_known_is_reported_with_the_nearest_one() {
    let home = Home::new();
    misspelt(&home, &["frobnicate"], &["there is no command 'frobnicate' of 'dbdyno'; see"]);
    misspelt(&home, &["chekc", "tpcc"], &["'chekc'", "'check'"]);
    misspelt(&home, &["run", "tpcc", "--warehuoses=2"], &["'--warehuoses'", "'--warehouses'"]);
    misspelt(&home, &["run", "tpcc", "--drain-limit=2s"], &["'--drain-limit'", "'--drain'"]);
    misspelt(&home, &["run", "empty", "--warehouses=2"], &["'--warehouses'"]);
    misspelt(&home, &["run"], &["WORKLOAD|PLAN.toml"]);
    misspelt(&home, &["run", "tpcc", "tpcc"], &["'tpcc'"]);
    misspelt(&home, &["run", "tpcc", "--output=xml"], &["'xml'", "text, json, markdown"]);
    misspelt(&home, &["run", "tpcc", "--check=maybe"], &["'maybe'", "both, before, after, off"]);
    misspelt(&home, &["list", "things"], &["'things'", "workloads, targets, parameters"]);
    misspelt(&home, &["runs", "list", "--status=dead"], &["'dead'", "interrupted"]);
    misspelt(&home, &["runs", "show"], &["<ID>"]);
    for command in ["run", "build", "check", "drop"] {
        refused(&home, &[command, "tpccc"], USAGE, &["no workload 'tpccc'", "'tpcc'"]);
    }
    refused(&home, &["run", "plan.tml"], USAGE, &["no workload 'plan.tml'", "ends with .toml"]);
    refused(&home, &["selfcheck", "--seeds=3"], USAGE, &["--seeds", "'3'", "1..20"]);
    nothing_was_made(&home);
}

#[test]
fn the_habits_of_other_programs_are_answered_with_the_option_that_is_meant() {
    let home = Home::new();
    let check = |args: &[&str], expect: &[&str]| {
        let ran = home.call(args).code(USAGE).warns(expect);
        assert!(!ran.err.contains("similar"), "{}", ran.err);
        ran.is_a_sentence();
    };
    check(&["run", "tpcc", "--threads=4"], &["'--threads'", "write --clients"]);
    check(&["run", "tpcc", "--threads", "4"], &["write --clients"]);
    check(&["run", "tpcc", "-c", "4", "-T", "60"], &["'-c'", "write --clients"]);
    check(&["run", "tpcc", "-T60"], &["'-T'", "write --duration"]);
    check(&["run", "tpcc", "--", "--warehouses", "4"], &["leave out the '--'"]);
    check(&["run", "tpcc", "--time=60"], &["write --duration"]);
    check(&["run", "tpcc", "--vu=4"], &["write --clients"]);
    check(&["run", "tpcc", "--host=db1"], &["write --target"]);
    check(&["run", "tpcc", "--mysql-user=me"], &["write --target"]);
    check(&["run", "tpcc", "--progress=1"], &["write --report-interval"]);
    check(&["run", "tpcc", "--isolation=serializable"], &["--vary server."]);
    check(&["run", "tpcc", "-j", "2"], &["leave it out: threads are as many"]);
    check(&["build", "tpcc", "--scale=4"], &["--warehouses for tpcc"]);
    check(&["build", "tpcc", "--threads=4"], &["write --loaders"]);
    check(&["prepare", "tpcc"], &["write dbdyno build"]);
    check(&["tpcc", "cleanup"], &["write dbdyno drop tpcc"]);
    check(&["tpcc", "run"], &["write dbdyno run tpcc"]);
    check(&["oltp_read_only", "--threads=4", "run"], &["write dbdyno run oltp-read-only"]);
    check(&["run", "tpcc", "prepare"], &["write dbdyno build"]);
    nothing_was_made(&home);
}

#[test]
fn a_plan_is_not_waited_for_at_a_pipe() {
    let home = Home::new();
    home.run_other("mkfifo", &["plan.toml"]).good();
    let words = &["the plan plan.toml cannot be read", "write the plan to a file"];
    refused(&home, &["run", "plan.toml"], USAGE, words);
}

#[test]
fn figures_of_others_are_refused_with_the_line_that_is_wrong() {
    let home = Home::new();
    let check = |text: &str, expect: &[&str]| {
        let file = home.write("theirs.csv", text);
        refused(&home, &["history", "import", &file], USAGE, &[&["theirs.csv: "], expect].concat());
    };
    check("", &["it is empty"]);
    check(
        "version;figure;value\n1;tps;5\n",
        &["line 1: there is no column figure, only", "commas"],
    );
    check("figure,value\n", &["it has no values"]);
    check("figure,value\ntps,5\ntps,5 TPS\n", &["line 3: value '5 TPS' is not a number"]);
    check("figure,value\ntps,\"1,5\"\n", &["line 2: value '1,5' is not a number"]);
    check("figure,value\ntpps,5\n", &["line 2: no figure is called 'tpps'", "list figures"]);
    check("figure,value,unit\np99,5,s\n", &["the unit of p99_ms is ms, not s"]);
    check("a,figure,value\n1,tps\n", &["line 2: it has 2 cells, and the header 3"]);
    check("figure,value,time\ntps,5,yesterday\n", &["'yesterday' is not a time: write 2015-06-01"]);
    let file = home.write("two words.csv", "figure,value\ntps,5\n");
    refused(&home, &["history", "import", &file], USAGE, &["'two words' is not a name", "--name"]);
    let words = ["history", "import", "-"];
    refused(&home, &words, USAGE, &["the standard input has no name: write --name"]);
    refused(&home, &["history", "import", "/none.csv"], USAGE, &["/none.csv cannot be read"]);
    refused(&home, &["history", "import", "/dev/zero"], USAGE, &["/dev/zero"]);
    misspelt(&home, &["history", "import"], &["<FILE.csv>"]);
    nothing_was_made(&home);
    home.call(&["history", "import", &file, "--name=theirs"]).good();
    let words = ["history", "import", "--remove=ours"];
    refused(&home, &words, USAGE, &["nothing is imported as ours", "--list"]);
    let check = |args: &[&str], expect: &[&str]| {
        refused(&home, &[&["history"], args].concat(), USAGE, expect);
    };
    check(&["--imported=ours"], &["no figures are imported as ours, only as theirs"]);
    check(&["--imported=theirs", "--imported=theirs"], &["the imported theirs is named twice"]);
    check(&["--imported=theirs"], &["theirs has no column build: it has no column but"]);
    check(&["--by=build"], &["no run has the label build"]);
    check(&["--columns=clients", "--imported=theirs"], &["theirs has no column build"]);
}

#[test]
fn a_label_has_one_value() {
    let home = Home::new();
    let twice = [&QUICK[..], &["--label=k=1", "--label=k=2"]].concat();
    refused(&home, &twice, USAGE, &["--label k=2", "'k' is '1' already"]);
    nothing_was_made(&home);
}

#[test]
fn a_mistake_is_reported_with_the_help_of_its_own_command() {
    let home = Home::new();
    let check = |args: &[&str], expect: &str| {
        assert_eq!(home.call(args).code(USAGE).err, format!("dbdyno: {expect}\n"));
    };
    check(
        &["runs", "list", "--limits=4"],
        "there is no option '--limits' of 'dbdyno runs list' (did you mean '--limit'?); \
         see 'dbdyno runs list --help'",
    );
    check(&["run"], "<WORKLOAD|PLAN.toml> is missing; see 'dbdyno run --help'");
    check(
        &["runs", "show"],
        "<ID> is missing; the newest is 'last': \
         dbdyno runs show last; see 'dbdyno runs show --help'",
    );
    check(
        &["report"],
        "<NAME>... is missing; the newest is 'last': \
         dbdyno report last -o run.html; see 'dbdyno report --help'",
    );
    check(&["runs", "rm"], "<ID>... is missing; see 'dbdyno runs rm --help'");
    check(
        &["--output=xml", "runs"],
        "--output: 'xml' is not one of text, json, markdown, csv, github; see 'dbdyno --help'",
    );
    let of_run = |words: &[&str], expect: &str| {
        let expect = format!("{expect}; see 'dbdyno run --help'");
        check(&[&["run", "tpcc"], words].concat(), &expect);
    };
    let like = |typed: &str, meant: &str| {
        of_run(
            &[&format!("{typed}=2")],
            &format!("there is no option '{typed}' of 'dbdyno run' (did you mean '{meant}'?)"),
        );
    };
    like("--warehouse", "--warehouses");
    like("--durations", "--duration");
    like("--durration", "--duration");
    of_run(&["--frobnicate"], "there is no option '--frobnicate' of 'dbdyno run'");
    let of_one = "there is no option '--measurements' of 'dbdyno run' (the workload arm has it)";
    of_run(&["--measurements=2"], of_one);
    of_run(&["--duration"], "--duration needs a value: --duration <DURATION>");
    of_run(&["--duration=3s", "--duration=4s"], "--duration is given twice: it may be given once");
    of_run(&["--quiet=3"], "--quiet takes no value: leave out '3'");
    of_run(
        &["--check=of"],
        "--check: 'of' is not one of both, before, after, off (did you mean 'off'?)",
    );
    of_run(&["more"], "'more' is one word too many for 'dbdyno run'");
    let only = "--output markdown: this command does not write it; choose text or json";
    check(&["build", "empty", "--output=markdown"], only);
    check(&["selfcheck", "--output=markdown"], only);
    let either = "--output csv: this command does not write it; choose text, ";
    check(&["run", "empty", "--output=csv"], &format!("{either}json, markdown or github"));
    let part = "--output csv: this command does not write it; choose text, json, markdown or \
                github; a part alone, such as --timing, is written as csv too";
    check(&["runs", "show", "last", "--timing", "--counter", "--output=csv"], part);
    check(&["runs", "show", "last", "--output=csv"], part);
    check(&["history", "ack", "--list", "--output=csv"], &only.replace("markdown:", "csv:"));
    home.call(&["list", "parameters", "--output=markdown"]).good().says(&["# Parameters"]);
    let of_sim = home.call(&["list", "parameters", "sim"]).good();
    let of_sim = of_sim.says(&["Target sim", "spread"]);
    assert!(of_sim.out.lines().count() < 50, "{}", of_sim.out);
    home.call(&["list", "parameters", "simm"]).code(USAGE).warns(&["did you mean 'sim'?"]);
    home.call(&["list", "figures", "sim"]).code(USAGE).warns(&["'sim' is one word too many"]);
}

#[test]
fn a_gate_that_is_asked_for_in_another_way_is_answered_with_its_own() {
    let home = Home::new();
    let check = |words: &[&str], expect: &str| {
        refused(&home, words, USAGE, &[expect]);
    };
    check(&["run", "empty", "--fail-if=tps<-5%"], "write dbdyno compare last --fail-if 'tps<-5%'");
    let change = "a change in percent is a limit of 'dbdyno compare --fail-if'";
    check(&["run", "empty", "--target=sim:", "--require=tps<-5%"], change);
    let chart = "write dbdyno report --history build -o history.html";
    check(&["history", "-o", "x.html"], chart);
    check(&["history", "--chart"], chart);
    let unset = "both values of 'target' are empty: is a variable unset? Write target=URL,URL";
    check(&["run", "empty", "--vary", "target=,", "--dry-run"], unset);
    let second = "value 2 of 'target' is empty: is a variable unset?";
    check(&["run", "empty", "--vary", "target=sim:,", "--dry-run"], second);
    check(&["run", "empty", "--vary", "clients=,,", "--dry-run"], "all 3 values of 'clients'");
    nothing_was_made(&home);
}

#[test]
fn a_name_is_one_line_and_cannot_change_the_terminal() {
    let home = Home::new();
    let check = |plan: &str, group: &str| {
        let text = format!(
            "name = \"{plan}\"\n[target]\nurl = \"sim:\"\n[[group]]\nworkload = \"empty\"\n\
             name = \"{group}\"\nclients = 1\n"
        );
        home.write("plan.toml", text);
        let shown = home.call(&["run", "plan.toml"]).code(USAGE);
        assert!(!shown.err.contains(['\x1b', '\x07', '\u{202e}']), "{:?}", shown.err);
        shown.warns(&["a name is one line"]).is_a_sentence();
    };
    check("red\\u001b[31m", "users");
    check("quick", "bell\\u0007");
    check("two\\nlines", "users");
    check("turned\\u202egnp", "users");
    check("quick", "no\\u200bspace");
    refused(&home, &["run", "empty", "--name=a\nb"], USAGE, &["--name", "a name is one line"]);
    nothing_was_made(&home);
}

#[test]
fn more_clients_than_open_files_are_refused_before_anything_is_built() {
    let home = Home::new();
    let mut command = home.command("sh");
    let script = "ulimit -n 100; exec $DBDYNO run oltp-point-select --clients=200";
    command.args(["-c", script]).env("DBDYNO", env!("CARGO_BIN_EXE_dbdyno"));
    let ran = Started::new(command).end().code(USAGE);
    let words = ["200 clients need 232 open files", "the limit is 100", "ulimit -n 232"];
    ran.warns(&words).is_a_sentence();
    nothing_was_made(&home);
}

#[test]
fn a_server_whose_program_is_not_where_the_target_says_is_bad_usage() {
    let home = Home::new();
    for kind in ["mariadb", "postgres"] {
        let target = format!("--target=managed:{kind}?bin=/nonexistent");
        let words = ["--target: target managed:", "bin: ", "/nonexistent"];
        refused(&home, &["run", "tpcc", "--quiet", &target], USAGE, &words);
    }
    // Before another target is started, with the position in the file.
    let plan = "target = \"managed:mariadb\"\n[[group]]\nworkload = \"record\"\n\
                [experiment.vary]\ntarget = [\n    \"managed:mariadb\",\n    \
                \"managed:mariadb?bin=/nonexistent\",\n]\n";
    home.write("versions.toml", plan);
    let place = "versions.toml:5:10: target managed:mariadb?bin=/nonexistent: bin: there is no ";
    let words = [place, "name the folder of MariaDB with ?bin="];
    let ran = home.call(&["run", "versions.toml", "--quiet"]).code(USAGE);
    assert!(!ran.err.contains("starting"), "{}", ran.err);
    ran.warns(&words).is_a_sentence();
}

#[test]
fn a_storage_engine_that_the_server_lacks_is_reported_with_those_it_has() {
    let home = Home::new();
    let remedy = "?plugin_load_add=ha_rocksdb in the target";
    let words = ["the server has no storage engine rocksdb", "innodb, myisam, aria", remedy];
    let [mariadb, postgres] = [MARIADB.shared(), POSTGRES.shared()]
        .map(|server| format!("--target={}", url_of(server, "lacks_an_engine")));
    for workload in ["record", "tpcc"] {
        let args = ["run", workload, "--quiet", "--engine=rocksdb", &mariadb];
        refused(&home, &args, USAGE, &words);
    }
    let args = ["run", "tpcb", "--quiet", "--engine=innodb", &postgres];
    refused(&home, &args, USAGE, &["'innodb' cannot be had on postgres", "choose unlogged"]);
}

#[test]
fn a_storage_engine_that_cannot_be_is_refused_by_every_workload_with_tables() {
    let home = Home::new();
    let axis = ["--vary=engine=innodb,myisam", "--target=managed:mariadb"];
    for workload in
        ["tpcc", "tpcb", "oltp-read-write", "oltp-bulk-insert", "arm", "record", "events"]
    {
        let check = |args: &[&str], fragments: &[&str]| {
            refused(&home, &[&["run", workload, "--quiet"], args].concat(), USAGE, fragments);
        };
        let all = "default, innodb, myisam, aria, rocksdb, unlogged";
        check(&["--engine=falcon"], &["--engine: 'falcon'", all]);
        check(&["--engine=myisma"], &["'myisma'", "'myisam'"]);
        let words = ["engine: 'aria'", "sqlite has no choice of storage engines", "leave out"];
        check(&["--target=sqlite::memory:?journal=memory", "--engine=aria"], &words);
        check(&axis, &["'engine' changes the data", "--data rebuild"]);
    }
    misspelt(&home, &["run", "empty", "--engine=myisam"], &["'--engine'"]);
    // Before a server is started for it.
    let words = ["dbdyno: --engine: 'unlogged' cannot be had on mariadb"];
    for command in ["build", "show"] {
        let args = [command, "record", "--target=managed:mariadb", "--engine=unlogged"];
        refused(&home, &args, USAGE, &words);
    }
    nothing_was_made(&home);
}

#[test]
fn a_target_that_cannot_be_is_refused_before_anything_is_made() {
    let home = Home::new();
    let check = |url: &str, fragments: &[&str]| {
        refused(&home, &["run", "tpcc", "--target", url], USAGE, fragments);
    };
    check("nonsense", &["--target", "a target is a URL such as"]);
    check("://x", &["--target", "scheme"]);
    check("sq lite:x", &["--target", "scheme"]);
    check("sqlite:", &["name a file"]);
    check("sqlite:a%zz", &["--target", "two hex digits"]);
    check("mariadb://bench@,127.0.0.1:1/x", &["--target", "a host of the target is empty"]);
    check("mariadb://bench@db1,db1/x", &["--target", "the host db1 twice"]);
    check("postgres://bench@db1:5432,db1/x", &["the target", "the host db1 twice"]);
    check("sqlite:a.db?journal", &["'journal' has no value"]);
    check("sqlite://host/a.db", &["sqlite has no host"]);
    check("mysql://host:0/shop", &["port", "1 to 65535"]);
    check("mysql://[::1/shop", &["lacks its ']'"]);
    check("sqlit:a.db", &["there is no driver for 'sqlit:'", "'sqlite'"]);
    check("oracle://host/shop", &["there is no driver for 'oracle:'", "choose one of sqlite"]);
    check("sqlite:a.db?jurnal=wal", &["no parameter 'jurnal'", "'journal'"]);
    check("sqlite:a.db?journal=wall", &["'wall' is not one of wal, delete", "'wal'"]);
    check("sqlite:a.db?page_size=1000", &["page_size", "power of two"]);
    check("sqlite:a.db?busy_timeout=10", &["busy_timeout", "no unit"]);
    check("sqlite::memory:?journal=wal", &["in-memory", "journal=memory"]);
    check("sim:", &["tpcc needs tables, and sim has none"]);
    check("sim:?service=sometimes", &["sometimes"]);
    check("sim:path", &["sim has no path"]);
    nothing_was_made(&home);
}

#[test]
fn a_refused_experiment_says_only_why_and_leaves_no_file() {
    let home = Home::new();
    let varied = |target: &str| {
        let axis = format!("target=sqlite:x.db,{target}");
        ["run", "tpcc", "--repeat=3", "--vary", &axis].map(str::to_owned)
    };
    let args = varied("sim:");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // Not how long it would take.
    refused(&home, &args, USAGE, &["tpcc needs tables, and sim has none"]);
    let args = varied("postgres://nobody@127.0.0.1:1/x");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    home.call(&args).code(UNREACHABLE).warns(&["cannot connect"]);
    assert!(!home.path("x.db").exists() && !home.path("x.db-wal").exists());
}

/// Covers targets without tables or rows. A missing file is created, but stays empty.
#[test]
fn writers_need_tables_and_readers_what_is_in_them() {
    let home = Home::new();
    let check = |args: &[&str], fragments: &[&str]| {
        refused(&home, &[&["run", "events", "--no-store"], args].concat(), USAGE, fragments);
    };
    check(&["--writers=4", "--tables=3"], &["4 writers need 4 tables", "--tables 4"]);
    check(
        &["--target=sim:"],
        &["events needs tables", "sim has none", "another target", "--readers 0"],
    );
}

#[test]
fn a_value_that_cannot_be_is_reported_with_its_flag() {
    let home = Home::new();
    let check = |args: &[&str], fragments: &[&str]| {
        refused(&home, &[&["run", "tpcc"], args].concat(), USAGE, fragments);
    };
    check(&["--clients=0"], &["--clients: 0 is too small", "at least 1"]);
    check(&["--clients=x"], &["--clients: 'x' is not a count"]);
    check(&["--clients=-4"], &["--clients: '-4' is not a count"]);
    check(&["--clients=2000000"], &["--clients: 2000000 is too large"]);
    check(&["--load=open", "--rate=-1"], &["--rate: '-1'", "above zero"]);
    check(&["--load=open", "--rate=0"], &["--rate: '0'", "above zero"]);
    check(&["--load=open", "--rate=5/fortnight"], &["--rate: '5/fortnight'", "30000/min"]);
    check(&["--load=open", "--rate=1e12"], &["--rate", "must be at most"]);
    check(&["--load=closed", "--rate=5"], &["--rate: it belongs to open load"]);
    check(&["--load=open"], &["--load: an open load needs a rate", "--rate 500"]);
    let direct = ["clients do not connect to sqlite:", "over a network: leave it out"];
    check(&["--network-delay=2ms"], &[&["--network-delay: "], &direct[..]].concat());
    check(&["--network-bandwidth=1MB/s"], &[&["--network-bandwidth: "], &direct[..]].concat());
    let path = |target, flag, expect: &str| {
        check(&["--target", target, flag], &[expect]);
    };
    let delay = "--network-delay=2ms";
    path("sim:", delay, "--network-delay: clients do not connect to sim: over a network");
    path("mariadb://a@h/d?socket=/run/x", delay, "over a network: leave it out, or name a host");
    path("postgres://a@%2Frun/d", delay, "over a network: leave it out, or name a host");
    path("managed:mariadb?socket=true", delay, "over a network: leave it out, or name a host");
    path("sim:", "--settle=both", "--settle: sim: has nothing to settle: leave it out");
    let host = "mariadb://a@h/d";
    path(
        host,
        "--settle=sometimes",
        "--settle: 'sometimes' is not one of off, before, after, both",
    );
    path(host, "--settle-limit=0s", "--settle-limit: it must be above 0");
    path(host, "--network-bandwidth=0", "--network-bandwidth: it must be above 0, such as 10MB/s");
    path(host, "--network-bandwidth=fast", "'fast' is not a bandwidth: write a whole number");
    path(host, "--network-delay=11s", "--network-delay: '11s' does not lie between 0s and 10s");
    path(host, "--network-delay=5", "--network-delay: '5'");
    check(
        &["--monitor=off", "--instruments=on"],
        &["--instruments: nothing reads them with monitor off: leave out one of the two"],
    );
    check(&["--load=opne"], &["--load: 'opne'", "'open'"]);
    check(&["--load=keythink", "--queue=5"], &["--queue: it belongs to open load"]);
    check(
        &["--load=open", "--rate=5", "--queue-full=explode"],
        &["--queue-full: 'explode' is not one of drop, stop"],
    );
    check(&["--load=keythink", "--keythink-scale=0"], &["--keythink-scale: 0 is too small"]);
    check(
        &["--load=closed", "--keythink-scale=1"],
        &["--keythink-scale: it belongs to keythink load"],
    );
    check(&["--duration=5"], &["--duration: '5'", "no unit", "30s"]);
    check(&["--duration=0s"], &["--duration: the measured phase is empty"]);
    check(&["--duration=-5s"], &["--duration: '-5s' is not a duration"]);
    check(&["--duration=9000000h"], &["--duration", "longer than a year"]);
    check(&["--drain=soon"], &["--drain: 'soon' is not a duration"]);
    check(&["--histogram-max=1ms"], &["--histogram-max", "between 1s and 48h"]);
    check(&["--transactions=0"], &["--transactions: nothing would be measured", "at least 1"]);
    check(&["--transactions=many"], &["--transactions: 'many' is not a count", "per client"]);
    check(
        &["--transactions=9 per client", "--load=open", "--rate=5"],
        &["--transactions", "open load has no count per client"],
    );
    check(&["--weights=1/2/3"], &["--weights: '1/2/3' has 3 values, expected 5"]);
    check(&["--weights=0/0/0/0/0"], &["--weights: at least one must be above zero"]);
    check(&["--weights=a/b/c/d/e"], &["--weights: 'a' is not a count"]);
    check(&["--keying=1s/2s"], &["--keying: '1s/2s' has 2 values, expected 5"]);
    check(&["--rollback-percent=101"], &["--rollback-percent: 101 is too large"]);
    check(&["--home=away"], &["--home: 'away' is not one of fixed, all"]);
    check(&["--retry-attempts=0"], &["--retry-attempts: 0 is too small"]);
    check(&["--retry-on=deadlok"], &["--retry-on", "'deadlok'", "'deadlock'"]);
    check(&["--seed=nonsense"], &["--seed: 'nonsense' is not a count"]);
    check(&["--processes=65"], &["--processes: 65 is too large"]);
    check(&["--processes=9", "--clients=8"], &["--processes: 9 processes are more", "(8)"]);
    check(&["--placement=nowhere"], &["--placement: 'nowhere'", "thread, loop, simulated"]);
    let check = |args: &[&str], fragments: &[&str]| {
        refused(&home, &[&["run", "record"], args].concat(), USAGE, fragments);
    };
    check(&["--record-size=0"], &["--record-size: 0 bytes are not possible", "take 20", "21 to"]);
    check(&["--record-size=20"], &["--record-size: 20 bytes", "take 20", "21 to 16000"]);
    check(&["--record-size=big"], &["--record-size: 'big' is not a size"]);
    check(&["--index=later"], &["--index: 'later'", "none, key, secondary, afterwards"]);
    check(&["--index=secondry"], &["--index: 'secondry'", "'secondary'"]);
    check(&["--engine=falcon"], &["--engine: 'falcon'", "innodb, myisam, aria, rocksdb, unlogged"]);
    check(&["--engine=aria"], &["'aria'", "sqlite has no choice of storage engines"]);
    check(&["--records-per-commit=0"], &["--records-per-commit: 0 is too small"]);
    check(
        &["--rows-per-statement=5"],
        &["--rows-per-statement: 5 are more than", "--records-per-commit"],
    );
    check(&["--tables=0"], &["--tables: 0 is too small"]);
    let check = |args: &[&str], fragments: &[&str]| {
        refused(&home, &[&["run", "events"], args].concat(), USAGE, fragments);
    };
    check(&["--window=0"], &["--window: 0 is too small", "at least 1"]);
    check(&["--rate=2MB"], &["--rate: '2MB' is not a rate", "2MB/s"]);
    check(&["--rate=2mb/s"], &["--rate: '2mb/s' is not a rate: write 2MB/s"]);
    check(&["--rate=0MB/s"], &["--rate: '0MB/s' is not a rate", "above zero"]);
    check(&["--record-size=28"], &["--record-size: 28 bytes", "take 28", "29 to 16000"]);
    check(&["--clients=4"], &["--clients: ", "write --writers N --readers N"]);
    check(&["--role=reader"], &["--role: ", "write --writers N --readers N"]);
    check(&["--writers=0"], &["--writers: 0 is too small"]);
    check(&["--readers=few"], &["--readers: 'few' is not a count"]);
    check(&["--processes=7"], &["--processes: 7 processes are more", "(6)"]);
    check(
        &["--processes=1", "--readers=0"],
        &["--processes: it applies to readers", "leave it out"],
    );
    check(&["--history-every=1"], &["--history-every: with 1", "write 2 or more"]);
    check(&["--rate=ramp 1MB/s to 2MB/s over 5s"], &["'1MB/s' is in bytes", "such as 500/s"]);
    check(&["--require=aeg_p90<300ms"], &["--require: ", "no figure aeg_p90", "mean 'age_p90'?"]);
    check(&["--vary=readers=1,2", "--require=byte>1MB/s"], &["no figure byte ", "mean 'bytes'?"]);
    let bytes = ["run", "tpcc", "--rate=2MB/s"];
    let words = ["--rate: '2MB/s' is in bytes", "tpcc have no record size", "such as 500"];
    refused(&home, &bytes, USAGE, &words);
    let records = ["run", "tpcc", "--rate=500 rows/s"];
    let words = ["--rate: '500 rows/s' is in records", "tpcc have no number of records"];
    refused(&home, &records, USAGE, &words);
    let of_arm = ["run", "arm", "--target=sim:", "--load=open", "--rate=2MB/s"];
    let words = ["arm have no record size", "or measurements per second by --application-rate"];
    refused(&home, &of_arm, USAGE, &words);
    let of_arm = ["run", "arm", "--target=sim:", "--load=open", "--rate=1M measurements/s"];
    let words = ["arm have no number of records", words[1]];
    refused(&home, &of_arm, USAGE, &words);
    refused(&home, &["build", "tpcc", "--warehouses=0"], USAGE, &["warehouses: 0 is too small"]);
    refused(&home, &["build", "tpcc", "--seed=x"], USAGE, &["--seed: 'x' is not a count"]);
    refused(&home, &["build", "tpcc", "--loaders=x"], USAGE, &["--loaders: 'x' is not a count"]);
    nothing_was_made(&home);
}

#[test]
fn what_a_workload_or_a_database_cannot_do_is_reported_with_the_reason() {
    let home = Home::new();
    for placement in ["simulated", "loop"] {
        refused(
            &home,
            &["run", "empty", "--target=sqlite::memory:", "--placement", placement],
            USAGE,
            &["sqlite", placement, "--placement"],
        );
    }
    for (command, what) in [("build", "to build"), ("check", "to check"), ("drop", "to drop")] {
        refused(&home, &[command, "empty", "--target=sim:"], USAGE, &["no data", what]);
        refused(&home, &[command, "tpcc", "--target=sim:"], USAGE, &["sim has none"]);
    }
    for (args, words) in [
        (&["empty", "--target=sim:"][..], ["servers of one sim", "sim:?servers=0&draws=key"]),
        (
            &["empty", "--target=sim:?servers=0", "--placement=simulated"],
            ["servers of one sim", "sim:?servers=0&draws=key"],
        ),
        (&["arm"], ["the application of arm and its pools", "leave it out"]),
    ] {
        refused(&home, &[&["run"], args, &["--processes=2"]].concat(), USAGE, &words);
    }
    nothing_was_made(&home);
}

#[test]
fn a_mistake_in_a_plan_is_reported_with_its_file_line_and_column() {
    let home = Home::new();
    let check = |plan: &str, fragments: &[&str]| {
        home.write("plan.toml", plan);
        refused(&home, &["run", "plan.toml"], USAGE, fragments);
    };
    let group = "[[group]]\nworkload = \"tpcc\"\n";
    check("sede = 1\n", &["plan.toml:1:1", "unknown key 'sede'", "'seed'"]);
    check(&format!("{group}cleints = 4\n"), &["plan.toml:3:1", "'cleints'", "'clients'"]);
    check(&format!("{group}load = \"open\"\nrte = 5\n"), &["plan.toml:4:1", "'rte'", "'rate'"]);
    check(
        &format!("{group}parameters = {{ warehuoses = 2 }}\n"),
        &["plan.toml:3:29", "'warehuoses'", "'warehouses'"],
    );
    check(
        &format!("{group}parameters = {{ weights = [0, 0, 0, 0, 0] }}\n"),
        &["plan.toml:3:26", "weights: at least one must be above zero"],
    );
    check("[[group]]\nworkload = \"tpccc\"\n", &["plan.toml:2:12", "'tpccc'", "'tpcc'"]);
    check(&format!("seed = -1\n{group}"), &["plan.toml:1:8", "seed", "'-1' is not a count"]);
    check(&format!("[phases]\nmeasure = 5\n{group}"), &["plan.toml:2:11", "no unit"]);
    check(&format!("[phases]\nmeasure = \"0s\"\n{group}"), &["plan.toml:2:11", "empty"]);
    check(&format!("[target]\nurl = \"x\"\n{group}"), &["plan.toml:2:7", "a target is a URL"]);
    check(&format!("{group}until = \"some\"\n"), &["plan.toml:3:9", "'some' is not a count"]);
    check(&format!("seed = \n{group}"), &["plan.toml:1:8"]);
    check(&format!("{group}clients = 4\nclients = 5\n"), &["plan.toml:4:1", "duplicate key"]);
    check("seed = 1\n", &["[[group]]", "nothing to do"]);
    check("", &["[[group]]", "nothing to do"]);
    check("[group]\nworkload = \"tpcc\"\n", &["plan.toml:1:2", "[[group]], with two brackets"]);
    check("[[group]]\nclients = 4\n", &["[[group]] has no workload"]);
    check(
        &format!("{group}[experiment]\nvary = {{ clients = [1, 0] }}\n"),
        &["plan.toml:4:20", "too small"],
    );
    check(&format!("{group}[[at]]\ntime = \"1s\"\n"), &["plan.toml:3:1", "has no action"]);
    let at = |words: &str| format!("{group}[[at]]\ntime = \"1s\"\n{words}\n");
    let sql = "sql = \"DROP TABLE a\"";
    check(&at("network_delay = \"5ms\""), &["plan.toml:5:17", "there is no simulated network"]);
    check(&at("settle = \"checkpoint\"\nnode = 2"), &["node", "is for server and hosts"]);
    check(&at(&format!("{sql}\nnetwork_delay = \"5ms\"")), &["has one action"]);
    check(&at(&format!("{sql}\ncommand = \"ls\"")), &["plan.toml:3:1", "an [[at]] has one action"]);
    check(&at("sqll = \"x\""), &["plan.toml:5:1", "unknown key 'sqll'", "'sql'"]);
    check(&at("server = \"restart\""), &["plan.toml:5:10", "cannot restart"]);
    check(&at("server = \"reboot\""), &["plan.toml:5:10", "'reboot' is not one of"]);
    check(&at(&format!("{sql}\nevery = \"0s\"")), &["plan.toml:6:9", "it must be above 0"]);
    check(&at(&format!("{sql}\nevery = \"1ms\"")), &["plan.toml:6:9", "at most 1000"]);
    check(&at(&format!("{sql}\nuntil = \"1s\"")), &["plan.toml:6:9", "not after its time"]);
    check(
        &format!("{group}[[at]]\n{sql}\ntime = \"-1s\"\n"),
        &["plan.toml:5:8", "time: '-1s' is not a duration"],
    );
    check(&format!("{group}[[at]]\n{sql}\n"), &["plan.toml:3:1", "has no time"]);
    check(
        &format!("{group}[[at]]\n{sql}\ntime = \"30s\"\n"),
        &["plan.toml:5:8", "30s is the end itself of the run", "lasts 30s"],
    );
    check(
        &format!("[target]\nurl = \"sim:\"\n{}", at(sql)),
        &["plan.toml:5:1", "no server to disturb"],
    );
    check(&format!("[at]\ntime = \"1s\"\n{group}"), &["plan.toml:1:2", "[[at]], with two"]);
    check(
        &format!("{group}until = \"9 per client\"\nload = {{ model = \"open\", rate = 5 }}\n"),
        &["plan.toml:3:9", "open load has no count per client"],
    );
    nothing_was_made(&home);
}

#[test]
fn a_flag_over_a_plan_must_have_one_place_to_go() {
    let home = Home::new();
    let group = "[[group]]\nworkload = \"empty\"\n";
    home.write("two.toml", format!("{group}{group}"));
    let args = ["run", "two.toml", "--clients=4"];
    refused(&home, &args, USAGE, &["--clients", "belongs to a group", "the plan has 2"]);
    refused(&home, &["run", "none.toml"], USAGE, &["none.toml", "cannot be read", "No such file"]);
    fs::create_dir(home.path("folder.toml")).unwrap();
    refused(&home, &["run", "folder.toml"], USAGE, &["folder.toml", "cannot be read", "directory"]);
    home.write("binary.toml", [0xff, 0xfe, 0x00]);
    refused(&home, &["run", "binary.toml"], USAGE, &["binary.toml", "cannot be read", "UTF-8"]);
    nothing_was_made(&home);
}

#[test]
fn a_file_that_is_no_database_of_ours_is_left_as_it_is() {
    let home = Home::new();
    let text = "This is a letter to a friend, and by no means a database. ".repeat(100);
    home.write("letter.db", &text);
    fs::create_dir(home.path("folder")).unwrap();
    let check = |url: &str, code: i32, fragments: &[&str]| {
        refused(&home, &["run", "tpcc", "--target", url], code, fragments);
        refused(&home, &["build", "tpcc", "--target", url], code, fragments);
    };
    check("sqlite:letter.db", FAILED, &["letter.db", "not an SQLite database, or it is damaged"]);
    check("sqlite:folder", USAGE, &["folder is a directory", "name a file in it"]);
    check("sqlite:nowhere/a.db", USAGE, &["the directory nowhere does not exist", "create it"]);
    check("sqlite:letter.db/a.db", USAGE, &["letter.db is not a directory"]);
    check("sqlite:/proc/a.db", FAILED, &["cannot open /proc/a.db"]);
    check("sqlite:/sys/a.db", FAILED, &["cannot open /sys/a.db"]);
    assert_eq!(fs::read_to_string(home.path("letter.db")).unwrap(), text);
}

#[test]
fn data_that_are_not_there_are_not_made_unasked() {
    let home = Home::new();
    home.write("empty.db", "");
    let target = "--target=sqlite:empty.db";
    let remedy = "dbdyno build tpcc --target 'sqlite:empty.db'";
    let args = ["run", "tpcc", "--no-build", target];
    refused(&home, &args, FAILED, &["no complete data of tpcc", remedy]);
    refused(&home, &["check", "tpcc", target], FAILED, &["no data of tpcc", remedy]);
    home.call(&["drop", "tpcc", target]).good().says(&["there were no tables of tpcc"]);
    for args in [&["run", "tpcc", "--no-build"][..], &["check", "tpcc"], &["drop", "tpcc"]] {
        let args = [args, &["--target=sqlite:none.db"]].concat();
        refused(&home, &args, FAILED, &["there is no database at none.db"]);
    }
    assert!(!home.path("none.db").exists());
}

#[test]
fn tables_of_somebody_else_are_neither_filled_nor_dropped() {
    let home = Home::new();
    let file = home.path("shop.db");
    let shop = Connection::open(&file).unwrap();
    shop.execute_batch("CREATE TABLE warehouse (x); INSERT INTO warehouse VALUES (7)").unwrap();
    let target = "--target=sqlite:shop.db";
    let held = &["dbdyno did not build the existing tables (warehouse; no dbdyno_meta)"];
    for command in ["build", "drop"] {
        let ran = home.call(&[command, "tpcc", target]).code(FAILED).warns(held);
        assert!(!ran.err.contains("force"), "{}", ran.err);
    }
    refused(&home, &["build", "tpcc", target], FAILED, &["name another database with --target"]);
    let words = &["did not build, and no table", "name another database"];
    refused(&home, &["run", "tpcc", target], FAILED, words);
    refused(&home, &["check", "tpcc", target], FAILED, words);
    let count = || shop.query_row("SELECT sum(x) FROM warehouse", [], |row| row.get(0));
    assert_eq!(count(), Ok(7));
    let forced = ["drop", "tpcc", target, "--force", "--quiet"];
    let words = &["nothing was dropped", "warehouse (1 row)", "no terminal to ask on"];
    let ran = home.call(&forced).code(FAILED).warns(words);
    assert!(!ran.err.contains("confirm") && !ran.err.contains("shop.db"), "{}", ran.err);
    ran.is_a_sentence();
    let wrong = [&forced[..], &["--confirm=shop"]].concat();
    refused(&home, &wrong, USAGE, &["the database is 'shop.db'", "warehouse (1 row)"]);
    refused(&home, &["drop", "tpcc", target, "--confirm=shop.db"], USAGE, &["--force"]);
    assert_eq!(count(), Ok(7));
    let right = [&forced[..], &["--confirm=shop.db"]].concat();
    home.call(&right).good().says(&["dropped warehouse"]);
    assert!(count().is_err());
}

#[test]
fn tables_of_others_are_used_if_they_are_of_the_workload_and_whole() {
    let home = Home::new();
    let others = Connection::open(home.path("others.db")).unwrap();
    others
        .execute_batch(
            "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INT, c TEXT, pad TEXT);
             WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 500)
             INSERT INTO sbtest1 SELECT id, id, 'c', 'pad' FROM n;
             CREATE TABLE record1 (x);",
        )
        .unwrap();
    let run = |workload: &str, more: &[&str]| {
        let words = ["run", workload, "--target=sqlite:others.db", "--duration=1s"];
        home.call(&[&words[..], more].concat())
    };
    // On a busy machine warnings take the place of notes on the first page.
    run("oltp-point-select", &["--full"]).good().says(&["no table dbdyno_meta"]);
    others.execute_batch("DELETE FROM sbtest1 WHERE id BETWEEN 100 AND 149").unwrap();
    let why = "reads their size off them (--tables 1 --table-size 500): if rows were deleted";
    run("oltp-point-select", &[]).code(FAILED).warns(&[why, "n_rows=450"]);
    run("oltp-point-select", &["--check=off"]).good();
    let why = "the table record1 of sqlite:others.db is not one of record: dbdyno did not build it";
    run("record", &[]).code(FAILED).warns(&[why, "recordID", "or drop that table"]);
}

#[test]
fn a_terminal_is_asked_before_tables_of_somebody_else_are_dropped() {
    let home = Home::new();
    let file = home.path("shop.db");
    let shop = Connection::open(&file).unwrap();
    shop.execute_batch("CREATE TABLE orders (x); INSERT INTO orders VALUES (7), (8)").unwrap();
    let count = || shop.query_row("SELECT sum(x) FROM orders", [], |row| row.get(0));
    let answered = |typed: &[u8]| {
        let words = ["drop", "tpcc", "--target=sqlite:shop.db", "--force", "--quiet"];
        let (mut terminal, command, _theirs) = on_a_terminal(&home, &words);
        let mut asked = Started::new(command);
        asked.wait_until("the question", |said| said.contains("Type the name of the database"));
        terminal.write_all(typed).expect("it listens");
        asked.end()
    };
    let ran = answered(b"yes\n").code(FAILED);
    ran.warns(&["orders (2 rows)", "(shop.db) to drop them", "not confirmed: nothing was dropped"]);
    answered(&[3]).code(130).warns(&["nothing was dropped"]);
    assert_eq!(count(), Ok(15));
    answered(b"shop.db\n").good().says(&["dropped orders"]);
    assert!(count().is_err());
}

#[test]
fn a_store_is_no_database_to_measure() {
    let home = Home::new();
    let run = ["run", "empty", "--target=sim:", "--placement=simulated", "--duration=1s"];
    home.call(&[&run[..], &["--store=kept/runs.sqlite"]].concat());
    home.call(&[&run[..], &["--store=other.sqlite"]].concat());
    home.call(&["runs", "export", "last", "--store=other.sqlite", "-o", "one.dbdyno"]).good();
    std::os::unix::fs::symlink("kept/runs.sqlite", home.path("soft.db")).unwrap();
    fs::hard_link(home.path("kept/runs.sqlite"), home.path("hard.db")).unwrap();
    let tables = |file: &str| {
        let sql = "SELECT group_concat(name) FROM sqlite_master";
        let store = Connection::open(home.path(file)).unwrap();
        store.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap()
    };
    let before = ["kept/runs.sqlite", "other.sqlite"].map(tables);
    let words = &["is a store of dbdyno, where runs are kept", "name another file"];
    for file in ["kept/runs.sqlite", "soft.db", "hard.db", "other.sqlite", "one.dbdyno"] {
        let target = format!("--target=sqlite:{file}");
        let store = "--store=kept/runs.sqlite";
        for command in ["run", "build", "check", "drop"] {
            refused(&home, &[command, "tpcc", &target, store], USAGE, words);
        }
        let vary = ["run", "tpcc", "--vary=clients=1,2", &target, store];
        home.call(&vary).code(USAGE).warns(words);
        let varied = format!("--vary=target=sqlite:fine.db,sqlite:{file}");
        home.call(&["run", "tpcc", &varied, store]).code(USAGE).warns(words);
        let sought = ["--load=open", "--seek=rate=50..1000", "--objective=p99<1s"];
        home.call(&[&["run", "tpcc", &target, store], &sought[..]].concat())
            .code(USAGE)
            .warns(words);
    }
    assert_eq!(["kept/runs.sqlite", "other.sqlite"].map(tables), before);
    for store in ["--store=kept/runs.sqlite", "--store=other.sqlite"] {
        let kept = home.json(&["runs", "list", store]);
        assert_eq!(at(&kept, "runs").as_array().map(Vec::len), Some(1), "{kept}");
    }
    // A missing file would become both.
    for file in ["new.sqlite", "new.sqlite-wal"] {
        let target = format!("--target=sqlite:{file}");
        refused(&home, &["run", "tpcc", &target, "--store=new.sqlite"], USAGE, words);
        refused(&home, &["build", "tpcc", &target, "--store=new.sqlite"], USAGE, words);
        assert!(!home.path(file).exists() && !home.path("fine.db").exists());
    }
}

#[test]
fn a_store_that_cannot_be_is_known_before_the_target_is_asked() {
    let home = Home::new();
    fs::create_dir_all(home.path("plain")).expect("a folder");
    home.write("plain/a-file", "not a folder, and no store");
    // No server listens there.
    let target = "--target=mariadb://nobody@127.0.0.1:1/x";
    for (store, code) in [
        ("--store=plain/a-file", USAGE),
        ("--store=plain/a-file/runs.sqlite", FAILED),
        ("--store=plain", USAGE),
    ] {
        for command in
            [&["run", "empty"][..], &["build", "tpcc"], &["run", "empty", "--vary=clients=1,2"]]
        {
            let ran = home.call(&[command, &[target, store]].concat()).code(code);
            let ran = ran.warns(&["plain"]);
            assert!(!ran.err.contains("127.0.0.1"), "{command:?} {store}: {}", ran.err);
        }
    }
}

#[test]
fn a_store_is_not_made_where_a_disk_is_not_mounted() {
    let home = Home::new();
    let run = |store: &str| {
        let sim = "--target=sim:?service=constant:1ms";
        home.call(&["run", "empty", sim, "--placement=simulated", "--duration=10s", "-q", store])
    };
    let words = ["mnt/disk does not exist: mount or create it, or name another file"];
    run("--store=mnt/disk/bench/runs.sqlite").code(FAILED).warns(&words).is_a_sentence();
    assert!(!home.path("mnt").exists());
    fs::create_dir_all(home.path("mnt/disk")).unwrap();
    run("--store=mnt/disk/bench/runs.sqlite").says(&["TPS"]);
    assert!(home.path("mnt/disk/bench/runs.sqlite").exists());
    // The default's folders are created.
    run("--name=default").says(&["TPS"]);
    assert!(home.store().exists());
}

/// Creates an SQLite database whose `dbdyno_meta` has these rows; returns its target.
fn marked(home: &Home, name: &str, rows: &[(&str, &str)]) -> String {
    let made = Connection::open(home.path(name)).and_then(|database| {
        database.execute_batch("CREATE TABLE dbdyno_meta (name PRIMARY KEY, value)")?;
        let mut insert = database.prepare("INSERT INTO dbdyno_meta VALUES (?, ?)")?;
        rows.iter().try_for_each(|row| insert.execute(*row).map(drop))
    });
    made.expect("the file is new and ours");
    format!("--target=sqlite:{name}")
}

#[test]
fn data_of_another_workload_version_or_scale_are_not_mistaken_for_ours() {
    let home = Home::new();
    let held = [
        ("workload", "oltp"),
        ("version", "1"),
        ("seed", "1"),
        ("scale.tables", "2"),
        ("state", "complete"),
    ];
    let other = marked(&home, "other.db", &held);
    let held = [("workload", "tpcc"), ("version", "99"), ("seed", "1"), ("state", "complete")];
    let newer = marked(&home, "newer.db", &held);
    let held = [("workload", "tpcc"), ("version", "many")];
    let broken = marked(&home, "broken.db", &held);
    for command in ["run", "build", "check", "drop"] {
        let check = |target: &str, fragments: &[&str]| {
            refused(&home, &[command, "tpcc", target], FAILED, fragments);
        };
        let clash = "needs tables of the same names (sbtest1, sbtest2)";
        let fragments = ["holds data of oltp, and oltp-bulk-insert", clash, "dbdyno drop oltp"];
        refused(&home, &[command, "oltp-bulk-insert", &other], FAILED, &fragments);
        check(&newer, &["tpcc data of version 99", "dbdyno drop tpcc"]);
        check(&broken, &["dbdyno_meta holds 'many', not a number"]);
    }
    home.put_tpcc();
    for command in ["run", "build", "check"] {
        refused(
            &home,
            &[command, "tpcc", "--warehouses=2"],
            USAGE,
            &["was built with warehouses 1, not 2", "leave warehouses out to use its data"],
        );
    }
    // Several workloads use these data; the error names the requested one.
    let asked = ["run", "oltp-point-select", "--table-size=9", &other];
    let fragments = ["was built with table_size 10000, not 9", "dbdyno drop oltp-point-select"];
    refused(&home, &asked, USAGE, &fragments);
}

#[test]
fn a_database_that_another_process_holds_is_reported_after_the_patience_asked_for() {
    let home = Home::new();
    let held = Connection::open(home.path("held.db")).unwrap();
    held.execute_batch("CREATE TABLE t (x); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)").unwrap();
    let target = "--target=sqlite:held.db?busy_timeout=100ms";
    for command in ["run", "build", "check", "drop"] {
        let words = ["held.db", "another process has locked it", "busy_timeout"];
        let args = [command, "tpcc", target];
        is_db_error(home.run(&args), &args, FAILED, &words);
    }
}

#[test]
fn a_store_that_is_none_is_reported_with_its_file() {
    let home = Home::new();
    let check = |store: &str, fragments: &[&str]| {
        refused(&home, &["runs", "list", "--store", store], USAGE, fragments);
        refused(&home, &["runs", "show", "last", "--store", store], USAGE, fragments);
    };
    check("none.sqlite", &["there is no store none.sqlite", "dbdyno run tpcc", "--store"]);
    home.write("letter.sqlite", "Dear reader, ".repeat(500));
    fs::create_dir(home.path("folder")).unwrap();
    let other = Connection::open(home.path("other.sqlite")).unwrap();
    other.execute_batch("CREATE TABLE recipe (x)").unwrap();
    let bad = [
        ("letter.sqlite", "letter.sqlite is not a store of dbdyno: name another file"),
        ("folder", "folder is a folder: name a file in it"),
        ("other.sqlite", "other.sqlite is an SQLite database, but not a store of dbdyno"),
    ];
    for (store, words) in bad {
        check(store, &[words]);
        let args = [&QUICK[..], &["--store", store]].concat();
        refused(&home, &args, USAGE, &[words, "--store", "--no-store"]);
    }
    for store in ["/proc/x/runs.sqlite", "/proc/runs.sqlite", "letter.sqlite/runs.sqlite"] {
        let args = [&QUICK[..], &["--store", store]].concat();
        refused(&home, &args, FAILED, &[store, "--store", "--no-store"]);
    }
}

#[test]
fn a_damaged_or_newer_store_is_reported_and_not_touched() {
    let home = Home::new();
    home.call(&QUICK).good();
    let whole = fs::read(home.store()).unwrap();

    let file = fs::File::options().write(true).open(home.store()).unwrap();
    file.write_all_at(&vec![0x5a; whole.len() - 4096], 4096).unwrap();
    let damaged = ["runs.sqlite", "is damaged", "restore it from a copy"];
    refused(&home, &["runs", "list"], FAILED, &damaged);
    refused(&home, &QUICK, FAILED, &damaged);

    fs::write(home.store(), &whole).unwrap();
    let store = Connection::open(home.store()).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let newer = ["has version 99", "use a newer dbdyno"];
    refused(&home, &["runs", "list"], FAILED, &newer);
    refused(&home, &QUICK, FAILED, &newer);

    let store = Connection::open(home.store()).unwrap();
    store.pragma_update(None, "user_version", -1).unwrap();
    drop(store);
    let damaged = ["runs.sqlite", "has version -1", "restore it from a copy"];
    refused(&home, &["runs", "list"], FAILED, &damaged);
    refused(&home, &QUICK, FAILED, &damaged);
    refused(&home, &["runs", "import", home.store().to_str().unwrap()], FAILED, &damaged);
}

#[test]
fn a_run_is_named_well_or_not_at_all() {
    let home = Home::new();
    let first = home.json(&QUICK)["run_id"].as_str().unwrap().to_owned();
    home.call(&QUICK).good();
    // Both started in the same fraction of a minute.
    let common = &first[..4];
    refused(&home, &["runs", "show", common], USAGE, &["may be any of 2 runs", &first]);
    refused(&home, &["runs", "show", "01"], USAGE, &["'01' is too short", "at least 4"]);
    refused(&home, &["runs", "show", "zzzz"], USAGE, &["no run in", "is called 'zzzz'"]);
    refused(&home, &["runs", "export", "zzzz"], USAGE, &["is called 'zzzz'"]);
    refused(&home, &["runs", "rm", &first, "zzzz"], USAGE, &["is called 'zzzz'"]);
    refused(&home, &["runs", "label", "last", "fast"], USAGE, &["'fast'", "key=value"]);
    refused(&home, &["runs", "label", "last", "=fast"], USAGE, &["'=fast'", "key=value"]);
    refused(&home, &["runs", "label", "last", "a=1", "b"], USAGE, &["'b'", "key=value"]);
    fn labelled(label: &str) -> Vec<&str> {
        [&QUICK[..], &["--label", label]].concat()
    }
    refused(&home, &labelled("fast"), USAGE, &["'fast'", "key=value"]);
    refused(&home, &labelled("a="), USAGE, &["--label a=: the value is missing"]);
    let nowhere = [&labelled("a=1")[..], &["--no-store"]].concat();
    refused(&home, &nowhere, USAGE, &["labels are kept in the store"]);
    refused(&home, &["runs", "list", "--limit=x"], USAGE, &["--limit: 'x' is not a count"]);
    let listed = home.call(&["runs", "label", "last"]).good();
    listed.warns(&["the run has no label: KEY=VALUE after the run sets one"]);
    assert_eq!(home.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn nobody_needs_a_home_who_names_everything() {
    let home = Home::new();
    let homeless = |args: &[&str]| home.call_with(&[], args);
    let ran = homeless(&["run", "tpcc"]).code(USAGE);
    ran.warns(&["neither XDG_DATA_HOME nor HOME is set", "--target"]).is_a_sentence();
    let ran = homeless(&QUICK).code(USAGE);
    ran.warns(&["neither DBDYNO_STORE, XDG_DATA_HOME nor HOME", "--no-store"]).is_a_sentence();
    homeless(&["runs"]).code(USAGE).warns(&["--store"]).is_a_sentence();
    homeless(&[&QUICK[..], &["--no-store"]].concat()).good();
    homeless(&[&QUICK[..], &["--store=mine.sqlite"]].concat()).good();
    homeless(&["runs", "list", "--store=mine.sqlite"]).good().says(&["empty"]);
    homeless(&["list", "workloads"]).good().says(&["tpcc"]);
    nothing_was_made(&home);
}

#[test]
fn a_reader_who_leaves_is_no_error_and_a_full_disk_is_one() {
    let home = Home::new();
    let args = [&QUICK[..], &["--no-store"]].concat();
    for args in [&["list", "parameters"][..], &["--help"], &["run"], &args] {
        let (reader, out) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = home.dbdyno(args);
        let expected = if args == ["run"] { USAGE } else { 0 };
        command.stdout(out.try_clone().unwrap()).stderr(out);
        Started::as_it_is(command).end().code(expected);
    }
    let mut command = home.dbdyno(&["list", "parameters"]);
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    command.stdout(full()).stderr(Stdio::piped());
    let ran = Started::as_it_is(command).end().code(FAILED);
    ran.warns(&["the result cannot be written", "No space left"]).is_a_sentence();
    let mut command = home.dbdyno(&args);
    command.stdout(full()).stderr(full());
    Started::as_it_is(command).end().code(FAILED);
}

#[test]
fn a_password_is_never_shown_nor_stored() {
    let home = Home::new();
    let secret = "hunter2";
    let silent = |ran: &Ran| {
        assert!(!ran.out.contains(secret), "{}", ran.out);
        assert!(!ran.err.contains(secret), "{}", ran.err);
    };
    for url in ["mysql://root:hunter2", "mysql://root:hunter2/x@host/shop"] {
        // The '@' is missing, or the '/' is not written as %2F.
        silent(&home.call(&["run", "tpcc", "--target", url]).code(USAGE));
        silent(&home.call(&["run", url]).code(USAGE));
    }
    let nowhere = "mysql://root:hunter2@127.0.0.1:1/shop";
    for command in ["run", "build", "check", "drop"] {
        silent(&home.call(&[command, "tpcc", "--target", nowhere]).code(UNREACHABLE));
    }
    for url in [
        "mysql://root:hunter2@host:0/shop",
        "mysql://root:hunter2@host/shop?tsl=require",
        "mysql://root:hunter2@[::1/shop",
        "mysql://root:hunter2@host/shop?tls",
        "mysql://root:hunter2@host/shop?tls=%",
        "mysql://root:hunter2%@host/shop",
        "sq_l://root:hunter2@host/shop",
        "sqlite://root:hunter2@host/shop.db",
        "sim://root:hunter2@host",
    ] {
        for command in ["run", "build", "check", "drop"] {
            silent(&home.call(&[command, "tpcc", "--target", url]).code(USAGE));
            silent(&home.call(&[command, "tpcc", url]).code(USAGE));
            silent(&home.call(&[command, url]).code(USAGE));
            silent(&home.call(&[command, "tpcc", "--output", url]).code(USAGE));
            silent(&home.call(&[command, "tpcc", "--seed", url]).code(USAGE));
        }
        let plan = format!("[target]\nurl = '{url}'\n[[group]]\nworkload = 'tpcc'\n");
        home.write("plan.toml", plan);
        silent(&home.call(&["run", "plan.toml"]).code(USAGE));
        for file in ["data/dbdyno/runs.sqlite", "data/dbdyno/runs.sqlite-wal"] {
            let bytes = fs::read(home.path(file)).unwrap_or_default();
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        }
    }
}

/// Starts a script in a separate mount namespace, so that its mounts disappear with it. Root may
/// always do so; `None` if this user is not root and may not mount anything in such a namespace.
fn start_with_mounts(home: &Home, script: &str) -> Option<Started> {
    let start = |options: &[&str], script: &str| {
        let mut command = home.command("unshare");
        command.args(options).args(["--mount", "sh", "-c", script]);
        command.env("DBDYNO", env!("CARGO_BIN_EXE_dbdyno"));
        Started::new(command)
    };
    if rustix::process::geteuid().is_root() {
        return Some(start(&[], script));
    }
    let probe = "mount -t tmpfs -o size=64k none /mnt";
    if start(&["--map-root-user"], probe).end().code != Some(0) {
        eprintln!("SKIPPED: a small file system can only be mounted by root here");
        return None;
    }
    Some(start(&["--map-root-user"], script))
}

#[test]
fn a_build_that_finds_no_room_says_so_and_goes_on_when_there_is_some() {
    let home = Home::new();
    fs::create_dir(home.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=20m none small \
                  && $DBDYNO build tpcc --quiet --target=sqlite:small/a.db; \
                  echo exit $?; mount -o remount,size=400m small; \
                  $DBDYNO build tpcc --quiet --target=sqlite:small/a.db \
                  && $DBDYNO check tpcc --quiet --target=sqlite:small/a.db";
    let Some(ran) = start_with_mounts(&home, script).map(Started::end) else { return };
    let ran = ran.good().says(&["exit 1", "resumed an interrupted build", "13 of 13 checks"]);
    ran.warns(&["dbdyno: ", "the build stopped", "no disk space for small/a.db"]).is_a_sentence();
}

#[test]
fn a_store_that_finds_no_room_is_a_finding_of_a_run_that_goes_on() {
    let home = Home::new();
    fs::create_dir(home.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=1m none small \
                  && exec $DBDYNO run empty --target='sim:?service=exponential:1ms' --load=open \
                     --rate=200 --duration=4s --ramp-up=0s --store=small/runs.sqlite \
                     --output=json";
    let Some(mut run) = start_with_mounts(&home, script) else { return };
    run.wait_until("the load", |said| said.contains("0 s of 4 s"));
    // The run's view of the folder, with its mounts.
    let filler = format!("/proc/{}/root{}", run.id(), home.path("small/filler").display());
    let full = fs::write(filler, vec![1; 4 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let report = run.end().good().json();
    let findings = at(&report, "findings").as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["id"] == "store_not_written");
    let finding = finding.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(finding["text"].as_str().unwrap().contains("no disk space"), "{finding}");
    assert_eq!(at(&report, "seconds").as_array().unwrap().len(), 4);
    assert_eq!(number(&report, "measured_seconds"), 4.0);
}

#[test]
fn a_folder_that_may_only_be_read_is_reported() {
    let home = Home::new();
    home.call(&QUICK).good();
    fs::create_dir(home.path("fixed")).unwrap();
    let script = "mount -t tmpfs none fixed && cp data/dbdyno/runs.sqlite fixed \
                  && mount -o remount,ro fixed \
                  && $DBDYNO runs list --store=fixed/runs.sqlite; echo exit $?; \
                  $DBDYNO report last --store=fixed/runs.sqlite -o page.html; echo exit $?; \
                  $DBDYNO runs label last a=b --store=fixed/runs.sqlite; echo exit $?; \
                  $DBDYNO run empty --target=sim: --placement=simulated --duration=1s \
                     --transactions=5 --quiet --store=fixed/new.sqlite; echo exit $?; \
                  $DBDYNO build tpcc --quiet --target=sqlite:fixed/a.db; echo exit $?";
    let Some(ran) = start_with_mounts(&home, script).map(Started::end) else { return };
    let label = "the store fixed/runs.sqlite is read-only: make it and its folder writable";
    let ran = ran.good().warns(&[label, "fixed/new.sqlite", "--no-store", "fixed/a.db"]);
    let ran = ran.says(&["  empty  ", "exit 0\nexit 0\nexit 1\nexit 1\nexit 1\n"]);
    let refused = ran.err.lines().filter(|line| line.starts_with("dbdyno: ")).count();
    assert_eq!(refused, 3, "{}", ran.err);
}

impl Ran {
    /// Asserts that stderr is one sentence of dbdyno.
    #[track_caller]
    pub(crate) fn is_a_sentence(&self) {
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.starts_with("dbdyno: "), "{}", self.err);
    }
}

/// Asserts that no database or store was created in the home folder; dbdyno's own empty folder is
/// allowed.
#[track_caller]
fn nothing_was_made(home: &Home) {
    let folder = home.path("data/dbdyno");
    let made = fs::read_dir(folder).into_iter().flatten();
    let made: Vec<_> = made.map(|entry| entry.expect("it can be read").path()).collect();
    assert!(made.is_empty(), "{made:?}");
    let ours = |path: &Path| path.extension().is_some_and(|end| end == "db");
    let beside = fs::read_dir(home.folder()).expect("it can be read");
    let beside: Vec<_> = beside.map(|entry| entry.expect("it can be read").path()).collect();
    assert!(!beside.iter().any(|path| ours(path)), "{beside:?}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_built() {
    let home = Home::new();
    home.write("letter.sqlite", "Dear reader, ".repeat(500));
    let sentence = home.call(&["run", "tpcc", "--placement=loop"]).code(USAGE);
    sentence.warns(&["sqlite does not support placement 'loop'"]).is_a_sentence();
    let sentence = home.call(&["run", "tpcc", "--store=letter.sqlite"]).code(USAGE);
    sentence.warns(&["letter.sqlite is not a store of dbdyno"]).is_a_sentence();
}

#[test]
fn a_store_that_finds_no_room_at_the_end_is_a_finding_too() {
    let home = Home::new();
    fs::create_dir(home.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=400k none small \
                  && exec $DBDYNO run empty --target='sim:?service=exponential:1ms' --rate=200 \
                     --placement=simulated --duration=1000s --ramp-up=0s --quiet \
                     --store=small/runs.sqlite --output=json";
    let Some(run) = start_with_mounts(&home, script) else { return };
    let report = run.end().good().json();
    let findings = at(&report, "findings").as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["id"] == "store_not_written");
    let finding = finding.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(finding["text"].as_str().unwrap().contains("no disk space"), "{finding}");
}

#[test]
fn measurements_that_cannot_be_made_or_buffered_are_refused() {
    let home = Home::new();
    let arm = |args: &[&str], fragments: &[&str]| {
        refused(&home, &[&["run", "arm", "--target=sqlite:x.db"], args].concat(), USAGE, fragments);
    };
    arm(&["--scenario=contxt-5"], &["scenario", "no scenario 'contxt-5'", "contexts=5"]);
    arm(&["--scenario=context-21"], &["'context-21' is no number of context values from 1 to 20"]);
    arm(&["--scenario=simple*x"], &["'simple*x' is no whole number"]);
    arm(&["--scenario=simple*0"], &["all weights are 0"]);
    arm(&["--scenario=context-5+contexts=10"], &["gives context values twice"]);
    arm(&["--scenario=metrics+metrics=1"], &["'metrics+metrics=1' gives metrics twice"]);
    arm(&["--scenario=simple+simple"], &["gives simple twice"]);
    arm(&["--scenario=simple*2,simple"], &["simple is there twice", "one weight"]);
    arm(&["--buffer-bytes=39"], &["a measurement of simple takes 40 bytes"]);
    arm(&["--buffer-bytes=39", "--failed-percent=1"], &["a measurement of simple takes 104"]);
    let large = ["--scenario=context-20", "--context-bytes=200", "--buffer-bytes=4000"];
    arm(&large, &["--buffer-bytes", "a measurement of context-20 takes", "give more"]);
    let few = ["--scenario=metrics=3", "--metric-pool=2"];
    arm(&few, &["--metric-pool", "one measurement has 3 metrics"]);
    let many = ["--failed-percent=60", "--aborted-percent=41"];
    arm(&many, &["--aborted-percent", "with --failed-percent it is more than 100"]);
    nothing_was_made(&home);
}

#[test]
fn groups_that_share_data_agree_on_them_before_a_server_is_started() {
    let home = Home::new();
    let plan = |target: &str, writers: &str, readers: &str| {
        home.write(
            "two.toml",
            format!(
                "target = '{target}'\n[[group]]\nname = 'w'\nworkload = 'events'\nclients = 3\n\
                 parameters = {{ {writers} }}\n[[group]]\nname = 'r'\nworkload = 'events'\n\
                 {readers}\n"
            ),
        );
    };
    let reader = "parameters = { role = 'reader', rows = 50 }";
    plan("managed:mariadb", "rows = 0", reader);
    let words = ["two.toml:7:1: ", "groups 'w' and 'r'", "disagree in rows: 0 and 50"];
    refused(&home, &["run", "two.toml"], USAGE, &words);
    nothing_was_made(&home);
    plan("sqlite:a.db", "", reader);
    refused(&home, &["run", "two.toml", "--no-store"], USAGE, &words[1..]);
    plan("sqlite:a.db", "", "rate = '1MB/s'\nparameters = { role = 'reader' }");
    let words = ["this group of events inserts none", "the group of writers"];
    refused(&home, &["run", "two.toml", "--no-store"], USAGE, &words);
}

#[test]
fn pools_that_no_machine_can_hold_are_refused() {
    let home = Home::new();
    let args = ["run", "arm", "--target=sqlite:x.db", "--no-store"];
    let pools = ["--buffer-bytes=1GiB", "--buffer-pool=1000000"];
    let words = ["the pools of arm may take", "of memory: make them smaller"];
    refused(&home, &[&args[..], &pools].concat(), USAGE, &words);
}

#[test]
fn data_of_which_a_table_is_gone_are_refused_by_each_command() {
    let home = Home::new();
    home.put_tpcc();
    let file = rusqlite::Connection::open(home.database("tpcc")).expect("a file");
    file.execute_batch("DROP TABLE stock").expect("it is dropped");
    for command in ["build", "check", "show", "run"] {
        let refused = home.run(&[command, "tpcc"]).code(1);
        refused.warns(&["the table stock of the data of tpcc", "dbdyno drop tpcc"]).is_a_sentence();
    }
    home.run(&["run", "tpcc", "--check=off", "--duration=1s"]).code(1);
    home.run(&["drop", "tpcc"]).good();
}

#[test]
fn data_are_not_dropped_under_a_run() {
    let home = Home::new();
    home.put_tpcc();
    let args = ["run", "tpcc", "--duration=1h", "--ramp-up=0s", "--name=goes-on"];
    let mut run = home.start(&args);
    run.wait_until("a run", |said| said.contains(" TPS "));
    let refused = home.run(&["drop", "tpcc"]).code(1);
    refused.warns(&["a run (goes-on, ", "wait for it, or stop it"]).is_a_sentence();
    run.interrupt();
    run.end();
    home.run(&["drop", "tpcc"]).good();
}

#[test]
fn a_pipe_or_a_device_is_refused_before_it_is_read() {
    let home = Home::new();
    let pipe = home.path("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    let pipe = pipe.to_str().expect("a plain path");
    let words = ["is a pipe or a device"];
    let in_store = ["--store", pipe];
    refused(&home, &[&QUICK[..], &in_store].concat(), USAGE, &words);
    refused(&home, &["runs", "--store", pipe], USAGE, &words);
    refused(&home, &["runs", "import", pipe], USAGE, &words);
    home.write("report.json", "{\"schema\": 1}");
    let words_of_report = ["report.json is not a file for import", "-o NAME.dbdyno"];
    refused(&home, &["runs", "import", "report.json"], USAGE, &words_of_report);
    refused(&home, &["runs", "--store", "/dev/null"], USAGE, &["/dev/null is a pipe or a device"]);
    let words = ["it is a pipe or a device"];
    let target = format!("--target=sqlite:{pipe}");
    refused(&home, &["run", "oltp-insert", &target, "--no-store"], FAILED, &words);
    let rate = ["--rate=file /dev/zero"];
    refused(&home, &[&QUICK[..8], &rate].concat(), USAGE, &words);
    let target = "--target=mariadb://a:b@127.0.0.1:1/d?tls=verify-ca&tls_ca=/dev/zero";
    refused(&home, &["run", "oltp-insert", target, "--no-store"], USAGE, &words);
    let password = home.write("password", "hunter2hunter2");
    let key = format!("--tls-key={password}");
    let cert = ["--tls-cert=/dev/zero", &key, "--password-file", &password];
    let page = [&["web", "--listen=127.0.0.1:0"], &cert[..]].concat();
    refused(&home, &page, USAGE, &["/dev/zero", "pipe or a device"]);
}

#[test]
fn names_and_plans_have_a_limit() {
    let home = Home::new();
    let plan = |name: &str| {
        format!("name = \"{name}\"\ntarget = \"sim:\"\n[[group]]\nworkload = \"empty\"\n")
    };
    let long = home.write("long.toml", plan(&"x".repeat(201)));
    refused(&home, &["run", &long], USAGE, &["no longer than 200 characters", ":1:8"]);
    let large = home.write("large.toml", plan(&"x".repeat(2 << 20)));
    refused(&home, &["run", &large], USAGE, &["longer than 1 MiB"]);
}

#[test]
fn what_is_no_utf_8_names_no_other_file() {
    let home = Home::new();
    let name = OsStr::from_bytes(b"\xff.sqlite");
    let args = [OsStr::new("runs"), OsStr::new("--store"), name];
    let ran = home.run(&args).code(USAGE);
    assert!(ran.err.contains("word 3 of the command line is not valid UTF-8"), "{}", ran.err);
    for variable in ["DBDYNO_STORE", "HOME", "XDG_DATA_HOME"] {
        let mut command = home.dbdyno(&["runs"]);
        let output = command.env(variable, name).output().expect("dbdyno");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(USAGE), "{said}");
        assert!(said.contains(&format!("{variable} is not valid UTF-8")), "{said}");
    }
}

#[test]
fn a_limit_of_file_sizes_is_no_end_without_a_word() {
    let home = Home::new();
    let dbdyno = home.dbdyno(&QUICK[..]);
    let mut command = home.command("sh");
    command.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\""]).arg(dbdyno.get_program());
    let output = command.args(dbdyno.get_args()).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(FAILED), "{said}");
    assert!(said.contains("limit of file sizes (ulimit -f)"), "{said}");
}

#[test]
fn a_file_without_runs_is_no_import() {
    let home = Home::new();
    let empty = home.path("empty.sqlite");
    let empty = empty.to_str().expect("a plain path");
    // A list creates no store; a run does.
    home.call(&[&QUICK[..], &["--store", empty]].concat());
    home.call(&["runs", "rm", "last", "--store", empty]);
    refused(&home, &["runs", "import", empty], FAILED, &["empty.sqlite has no runs"]);
    // A missing file creates no store either.
    let new = home.path("new.sqlite");
    let into = ["--store", new.to_str().expect("a plain path")];
    let words = [&["runs", "import", "/none.dbdyno"], &into[..]].concat();
    refused(&home, &words, USAGE, &["there is no file /none.dbdyno"]);
    assert!(!new.exists());
}
