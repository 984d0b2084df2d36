//! Tests of Lua scripts of sysbench on the command line: prepared, run and dropped, with modules,
//! in several processes, and ended if they do not end.
#![cfg(feature = "lua")]

use model::Target;
use servers::for_tests::MARIADB;

use crate::home::{Home, at, number};

/// A script with an option, a module, and a table.
const SCRIPT: &str = r#"
require("numbers")
sysbench.cmdline.options = { rows = {"Number of rows", 10}, rate = {"Not the load", 3} }
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE mine (id INTEGER PRIMARY KEY, v TEXT)")
  con:bulk_insert_init("INSERT INTO mine VALUES")
  for i = 1, sysbench.opt.rows do con:bulk_insert_next("(" .. i .. ", 'x')") end
  con:bulk_insert_done()
end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE mine") end
function thread_init()
  con = sysbench.sql.driver():connect()
  point = con:prepare("SELECT v FROM mine WHERE id = ?")
  id = point:bind_create(sysbench.sql.type.INT)
  point:bind_param(id)
end
function event()
  id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
  assert(point:execute().nrows == one and sysbench.opt.rate == 7)
end
"#;

#[test]
fn a_script_is_prepared_run_and_dropped() {
    let home = Home::new();
    home.write("mine.lua", SCRIPT);
    home.write("numbers.lua", "one = 1");
    let script = home.path("mine.lua").display().to_string();
    let target = format!("--target=sqlite:{}", home.path("mine.db").display());
    let with = |words: &[&str]| -> Vec<String> {
        let options = ["--rows=5", "--script-rate=7"];
        [words, &[&target], &options].concat().iter().map(|word| (*word).to_owned()).collect()
    };
    home.run(&with(&["build", &script])).good().says(&["ran prepare of the script"]);
    home.run(&with(&["build", &script])).code(1).warns(&["prepare: ", "mine.lua:6: SQL error"]);
    let load = ["--duration=1s", "--ramp-up=0s", "--clients=2", "--output=json"];
    for processes in ["--processes=1", "--processes=2"] {
        let words = with(&[&["run", &script, processes], &load[..]].concat());
        let report = home.run(&words).json();
        assert!(number(&report, "transactions.mine.finished") > 0.0, "{report}");
        assert_eq!(number(&report, "transactions.mine.failed"), 0.0, "{report}");
    }
    home.run(&with(&["run", &script, "--help"])).good().says(&["--rows", "Number of rows"]);
    home.run(&with(&["drop", &script])).good().says(&["ran cleanup of the script"]);
    let run = with(&[&["run", &script], &load[..]].concat());
    home.run(&run).code(1).says(&["no such table"]);
    home.run(&["build", &script, &target, "--rwos=5"]).code(2).warns(&["'--rwos'", "'--rows'"]);
}

#[test]
fn a_script_that_does_not_end_is_ended_with_the_run() {
    let home = Home::new();
    home.write("endless.lua", "function event()\n  while true do end\nend\n");
    let script = home.path("endless.lua").display().to_string();
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let words = ["run", &script, &target, "--duration=1s", "--ramp-up=0s", "--drain=0s"];
    let report = home.run(&[&words[..], &["--output=json"]].concat()).json();
    assert_eq!(number(&report, "transactions.endless.finished"), 0.0, "{report}");
    assert!(number(&report, "transactions.endless.unfinished") > 0.0, "{}", at(&report, "totals"));
}

/// A script that shows what it prints, which options it reads, and reports by itself.
const SHOWING: &str = r#"
sysbench.cmdline.options = { last = {"Number of the last event", 3} }
function thread_init()
  con = sysbench.sql.driver():connect()
  print(("time=%d interval=%d db=%s"):format(sysbench.opt.time, sysbench.opt.report_interval,
    sysbench.opt.mysql_db .. sysbench.opt.pgsql_db))
end
local n = 0
function event()
  con:query("SELECT 1")
  n = n + 1
  return n == sysbench.opt.last
end
function sysbench.hooks.report_cumulative(stat)
  print(("events=%d running=%d known=%s"):format(stat.events, stat.threads_running, tostring(n)))
end
function mine() print("mine is run") end
sysbench.cmdline.commands = { mine = {mine} }
"#;

/// Returns the options of sysbench that name a server.
fn place_of(target: &Target) -> Vec<String> {
    let mut all = vec![format!("--mysql-db={}", target.path)];
    all.extend(target.user.iter().map(|user| format!("--mysql-user={user}")));
    all.extend(target.password.iter().map(|word| format!("--mysql-password={}", word.reveal())));
    for host in &target.hosts {
        all.push(format!("--mysql-host={}", host.name));
        all.extend(host.port.map(|port| format!("--mysql-port={port}")));
    }
    let socket = target.options.iter().find(|(name, _)| name == "socket");
    all.extend(socket.map(|(_, path)| format!("--mysql-socket={path}")));
    all
}

/// A script with options of each type.
const DECLARING: &str = r#"
sysbench.cmdline.options = {
  size = {"Rows", 10000}, part = {"Share", 0.25}, ["with-hyphen"] = {"Number", 1},
  on = {"Is on", true}, off = {"Is off", false}, bare = {"No default, a switch", nil,
    sysbench.cmdline.ARG_BOOL},
  text = {"A text", "x y"}, empty = {"Empty", ""}, none = {"No default"},
  list = {"A list", {"a", "b"}}, whole = {"Whole", 3, sysbench.cmdline.ARG_INTEGER},
  bytes = {"Bytes", "64K", sysbench.cmdline.ARG_SIZE},
}
function event() end
"#;

#[test]
fn the_help_of_a_script_is_sysbench_s() {
    let home = Home::new();
    home.write("declaring.lua", DECLARING);
    home.write("bare.lua", "function event() end");
    let all = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<String>>();
    for script in ["declaring.lua", "./declaring.lua", "oltp_read_write"] {
        let expect = home.run_other("sysbench", &[script, "help"]).good();
        let shown = home.run(&["sysbench", script, "help"]).good();
        assert_eq!(all(&shown.out), all(&expect.out), "{script}");
    }
    let bare = ["sysbench", "bare.lua", "help"];
    home.run(&bare).code(1).warns(&["'bare.lua' test does not implement the 'help' command."]);
    let general = home.run(&["sysbench", "--help"]).good();
    let expect = home.run_other("sysbench", &["--help"]).good();
    for line in expect.out.lines() {
        // Each option is there, if dbdyno has it.
        let Some(option) = line.strip_prefix("  --") else { continue };
        let name = option.split([' ', '[', '=']).next().unwrap_or_default();
        let refused =
            ["report-checkpoints", "mysql-ssl-cipher", "mysql-compression", "mysql-dry-run"];
        let is_there = general.out.contains(&format!("  --{name}"));
        assert_eq!(is_there, !refused.contains(&name), "{name}");
    }
}

#[test]
fn a_misspelt_option_of_another_program_has_a_suggestion() {
    let home = Home::new();
    home.write("declaring.lua", DECLARING);
    let script = ["sysbench", "declaring.lua", "--size=3"];
    let with = |word: &'static str| [&script[..], &[word, "run"]].concat();
    let meant = |name: &str| format!("(did you mean '--{name}'?)");
    home.run(&with("--sice=3")).code(1).warns(&["invalid option: --sice=3", &meant("size")]);
    home.run(&with("--treads=3")).code(1).warns(&[&meant("threads")]);
    home.run(&with("--with_hyfen=3")).code(1).warns(&[&meant("with-hyphen")]);
    home.run(&["pgbench", "--clinet=3"]).code(1).warns(&["'--clinet'", &meant("client")]);
}

#[test]
fn a_script_prints_reports_and_ends_as_under_sysbench() {
    let home = Home::new();
    home.write("showing.lua", SHOWING);
    let script = home.path("showing.lua").display().to_string();
    let server = MARIADB.start();
    let run = |script: &str, words: &[&str]| {
        let mut all = vec!["sysbench".to_owned(), script.to_owned()];
        all.extend(place_of(&server.target()));
        all.extend(words.iter().map(|word| (*word).to_owned()));
        home.run(&all)
    };
    // The third event of each thread is none, and the run is then over.
    let words = ["--threads=2", "--time=3600", "--report-interval=60", "run"];
    run(&script, &words).good().says(&[
        "time=3600 interval=60 db=",
        "Threads started!",
        "events=4 running=0 known=0",
    ]);
    run(&script, &["mine"]).good().says(&["mine is run"]);
    run(&script, &["yours"]).code(1).warns(&["no command yours"]);
    home.write("failing.lua", "function event() error('it fails') end");
    let script = home.path("failing.lua").display().to_string();
    run(&script, &["--time=3600", "run"]).code(1).says(&["FATAL: ", "failing.lua:1: it fails"]);
}
