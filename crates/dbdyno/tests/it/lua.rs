//! Tests of Lua scripts of sysbench on the command line: prepared, run and dropped, with modules,
//! in several processes, and ended if they do not end.
#![cfg(feature = "lua")]

use model::Target;
use servers::for_tests::{MARIADB, POSTGRES};

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
    let drop = format!("dbdyno drop {script} --target sqlite:");
    home.run(&with(&["build", &script]))
        .good()
        .says(&["built the tables of ", "2 statements, 5 rows"]);
    home.run(&with(&["build", &script])).code(1).warns(&[
        "prepare: ",
        "mine.lua:6: SQL error",
        "the tables were built before, and a script's build is not resumed: ",
        &drop,
    ]);
    let load = ["--duration=1s", "--ramp-up=0s", "--clients=2", "--output=json"];
    for processes in ["--processes=1", "--processes=2"] {
        let words = with(&[&["run", &script, processes], &load[..]].concat());
        let report = home.run(&words).json();
        assert!(number(&report, "transactions.mine.finished") > 0.0, "{report}");
        assert_eq!(number(&report, "transactions.mine.failed"), 0.0, "{report}");
    }
    home.run(&with(&["run", &script, "--help"])).good().says(&["--rows", "Number of rows"]);
    // The options with which the tables were built are those of a run that gives none.
    let as_built = [&["run", &script, &target, "--script-rate=7"], &load[..]].concat();
    let report = home.run(&as_built).json();
    assert_eq!(at(&report, "groups.0.parameters.rows"), "5", "{report}");
    let otherwise = [&as_built[..], &["--rows=4"]].concat();
    home.run(&otherwise).warns(&["the tables of ", "were built with rows 5, not 4"]);
    home.run(&with(&["drop", &script])).good().says(&["dropped the tables of ", "1 statement"]);
    home.run(&with(&["drop", &script])).code(1).warns(&["nothing is there, or only a part of it"]);
    let run = with(&[&["run", &script], &load[..]].concat());
    let build = format!("build first: dbdyno build {script} --target sqlite:");
    home.run(&run).code(1).warns(&["no such table", &build]);
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
    let findings = at(&report, "findings").to_string();
    assert!(
        findings.contains("still_running") && findings.contains("endless.lua:2 ("),
        "{findings}"
    );
}

#[test]
fn a_script_that_cannot_run_is_refused_before_the_start() {
    let home = Home::new();
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let refused = |text: &str, expect: &[&str]| {
        home.write("x.lua", text);
        home.run(&["run", "x.lua", &target, "--duration=1s", "--ramp-up=0s"]).code(2).warns(expect);
    };
    refused("function prepare() end", &["x.lua has no function event, so there is nothing to run"]);
    refused(
        "function event() end\nlocal n = 0\nwhile true do\n  n = n + 1\nend\n",
        &["x.lua:", "the body of the script does not end"],
    );
    home.write("x.lua", "function prepare() end");
    home.run(&["build", "x.lua", &target]).good().says(&["built the tables of x.lua"]);
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
pub(crate) fn place_of(target: &Target) -> Vec<String> {
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

/// A script whose statements succeed, fail and change nothing.
const COUNTED: &str = r#"
sysbench.cmdline.options = { mode = {"What an event does", "plain"} }
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS counted")
  con:query("CREATE TABLE counted (id INT PRIMARY KEY, v INT)")
  con:query("INSERT INTO counted VALUES (1, 1), (2, 2)")
end
local ffi = require("ffi")
local n = 0
function thread_init()
  ffi.cdef("void sb_counter_inc(int, int);")
  con = sysbench.sql.driver():connect()
  for i = 1, 5 do con:query("SELECT 1") end
end
local modes = {
  plain = function() con:query("SELECT 1") end,
  same = function()
    con:query("BEGIN")
    con:query("UPDATE counted SET v = 1 WHERE id = 1")
    con:query("UPDATE counted SET v = v + 1 WHERE id = 2")
    con:query("DELETE FROM counted WHERE id = 99")
    con:query("COMMIT")
  end,
  twice = function()
    con:query("SELECT 1")
    con:query("INSERT INTO counted VALUES (" .. (n < 4 and 1 or n * 10) .. ", 1)")
  end,
  prepared = function()
    local insert = con:prepare("INSERT INTO counted VALUES (?, 1)")
    local id = insert:bind_create(sysbench.sql.type.INT)
    insert:bind_param(id)
    id:set(n < 4 and 1 or n * 10 + 1)
    insert:execute()
  end,
  caught = function()
    con:query("SELECT 1")
    pcall(function() con:query("SELECT nope") end)
  end,
  again = function()
    con:query("SELECT 1")
    if n == 2 then error({ errcode = sysbench.error.RESTART_EVENT }) end
  end,
  counters = function()
    con:query("SELECT 1")
    for counter = 0, 2 do ffi.C.sb_counter_inc(sysbench.tid, counter) end
  end,
  bulk = function()
    con:bulk_insert_init("INSERT INTO counted VALUES")
    for i = 1, 10 do con:bulk_insert_next("(" .. n * 100 + i .. ", 1)") end
    con:bulk_insert_done()
  end,
}
function event() n = n + 1; modes[sysbench.opt.mode]() end
"#;

/// Returns the numbers of a report of sysbench that do not depend on time.
fn counts_of(report: &str) -> Vec<String> {
    const LABELS: [&str; 8] = [
        "read:",
        "write:",
        "other:",
        "total:",
        "transactions:",
        "queries:",
        "ignored errors:",
        "total number of events:",
    ];
    let counted = |line: &str| {
        let label = LABELS.iter().find(|label| line.trim_start().starts_with(*label))?;
        let number = line.trim_start()[label.len()..].split_whitespace().next()?;
        Some(format!("{label} {number}"))
    };
    report.lines().filter_map(counted).collect()
}

#[test]
fn statements_are_counted_as_sysbench_counts_them() {
    let home = Home::new();
    let script = home.write("counted.lua", COUNTED);
    let server = MARIADB.start();
    let place = place_of(&server.target());
    for mode in ["plain", "same", "twice", "prepared", "caught", "again", "counters", "bulk"] {
        let options = [format!("--mode={mode}"), "--events=4".to_owned(), "--time=60".to_owned()];
        let ignored = "--mysql-ignore-errors=1062".to_owned();
        let words = |command: &str| -> Vec<String> {
            let mut all = vec![script.clone()];
            all.extend(place.iter().chain(&options).cloned());
            all.extend([ignored.clone(), command.to_owned()]);
            all
        };
        let sysbench = |command: &str| {
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            home.run_other("sysbench", &words).good()
        };
        sysbench("prepare");
        let expect = counts_of(&sysbench("run").out);
        sysbench("prepare");
        let ran = home.run(&[&["sysbench".to_owned()], &words("run")[..]].concat()).good();
        assert_eq!(expect.len(), 8, "{mode}");
        assert_eq!(counts_of(&ran.out), expect, "{mode}");
    }
}

/// Script whose events take a tenth of a second.
const SLOW: &str = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT SLEEP(0.1)"); con:query("SELECT 1") end
"#;

#[test]
fn a_rate_above_the_capacity_is_counted_by_completion_and_ends_in_time() {
    let home = Home::new();
    let script = home.write("slow.lua", SLOW);
    let server = MARIADB.start();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    // A thread executes at most 10 of the 1,000 events that arrive each second.
    let words = [&script, "--rate=1000", "--time=2", "--report-interval=1", "run"];
    let words = [&place[..], &words].concat();
    let number_of = |counts: &[String], label: &str| -> u64 {
        let found = counts.iter().find_map(|line| line.strip_prefix(label));
        found.and_then(|number| number.trim().parse().ok()).expect("a number")
    };
    let theirs = home.run_other("sysbench", &words).good();
    let ours = home.run(&[&["sysbench"], &words[..]].concat()).good();
    for ran in [&theirs, &ours] {
        let counts = counts_of(&ran.out);
        let events = number_of(&counts, "total number of events:");
        assert!((1..=21).contains(&events), "{}", ran.out);
        assert_eq!(number_of(&counts, "transactions:"), events);
        assert_eq!(number_of(&counts, "queries:"), 2 * events, "{}", ran.out);
        assert!(ran.out.contains(", concurrency: 1\n"), "{}", ran.out);
        let tps = ran.out.split(" tps: ").skip(1).filter_map(|rest| rest.split(' ').next());
        let tps: Vec<f64> = tps.filter_map(|tps| tps.parse().ok()).collect();
        assert!(!tps.is_empty() && tps.iter().all(|tps| *tps <= 11.0), "{}", ran.out);
        let length = ran.out.split("queue length: ").nth(1).expect("a length");
        let length: u64 = length.split(',').next().expect("a number").parse().expect("a number");
        assert!(length > 500, "{}", ran.out);
    }
    ours.warns(&["events that had arrived were not executed when the load ended"]);
    // More than the queue takes.
    let words = [&script, "--rate=10000000", "--time=60", "run"];
    let words = [&place[..], &words].concat();
    let full = "FATAL: The event queue is full. This means the worker threads are unable to keep \
                up with the specified event generation rate\n";
    home.run_other("sysbench", &words).code(1).says(&[full]);
    let ran = home.run(&[&["sysbench"], &words[..]].concat()).code(1).says(&[full]);
    assert!(!ran.out.contains("General statistics"), "{}", ran.out);
}

#[test]
fn errors_of_statements_end_the_run_with_the_lines_of_sysbench() {
    let home = Home::new();
    let server = MARIADB.start();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let check = |event: &str| {
        let text = format!(
            "function thread_init()\n  con = sysbench.sql.driver():connect()\n  \
             one = con:prepare(\"SELECT 1 FROM (SELECT SLEEP(0.01)) t\")\nend\n\
             function event()\n  {event}\nend\n"
        );
        let script = home.write("failing.lua", text);
        let words = [&place[..], &[&script, "--time=60", "run"]].concat();
        let fatal = |out: &str| -> Vec<String> {
            let lines = out.lines().filter(|line| line.starts_with("FATAL: "));
            lines.map(str::to_owned).collect()
        };
        let theirs = fatal(&home.run_other("sysbench", &words).code(1).out);
        assert_eq!(theirs.len(), 2, "{event}: {theirs:?}");
        let ours = home.run(&[&["sysbench"], &words[..]].concat()).code(1);
        assert_eq!(fatal(&ours.out), theirs, "{event}");
    };
    check("con:query('SELECT nosuch')");
    // The connection ends itself, as if somebody had killed it.
    check("con:query('KILL CONNECTION_ID()')  one:execute()");
}

#[test]
fn a_script_that_finishes_nothing_says_so() {
    let home = Home::new();
    let server = MARIADB.start();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let script = home.write(
        "none.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event() return true end\n",
    );
    let words = [&place[..], &[&script, "--time=60", "run"]].concat();
    let theirs = home.run_other("sysbench", &words).good();
    let ours = home.run(&[&["sysbench"], &words[..]].concat()).good();
    assert_eq!(counts_of(&ours.out), counts_of(&theirs.out));
    ours.warns(&["Nothing finished"]);
}

#[test]
fn errors_stand_where_sysbench_prints_them() {
    let home = Home::new();
    let script = home.write("slow.lua", SLOW);
    let check = |words: &[&str], begins: &str| {
        let theirs = home.run_other("sysbench", words).code(1);
        let ours = home.run(&[&["sysbench"], words].concat()).code(1);
        for ran in [&theirs, &ours] {
            let is_it = |line: &str| line.starts_with(begins);
            assert_eq!(ran.out.lines().any(is_it), begins.starts_with("FATAL"), "{}", ran.out);
            assert_eq!(ran.err.lines().any(is_it), !begins.starts_with("FATAL"), "{}", ran.err);
        }
        ours
    };
    check(&[&script, "--threads=0", "run"], "FATAL: Invalid value for --threads: 0.");
    check(&[&script, "--threads=x", "run"], "Invalid value for the 'threads' option: 'x'");
    check(&[&script, "run", "extra"], "Unrecognized command line argument: extra");
    check(&["oltp_read_only", "--foo=1", "run"], "invalid option: --foo=1");
    let misspelt = ["oltp_read_onyl", "run"];
    let ran = check(&misspelt, "FATAL: Cannot find benchmark 'oltp_read_onyl'");
    ran.says(&["(did you mean 'oltp_read_only'?)"]);
    let nobody = ["oltp_read_only", "--mysql-host=127.0.0.1", "--mysql-port=1", "run"];
    let ran = check(&nobody, "FATAL: ").says(&["--mysql-host, --mysql-port or --mysql-socket"]);
    assert!(!ran.out.contains("managed:"), "{}", ran.out);
    let server = MARIADB.start();
    let place = place_of(&server.target());
    let mut place: Vec<&str> = place.iter().map(String::as_str).collect();
    place.push("--mysql-user=nobody");
    let ran = check(&[&place[..], &["oltp_read_only", "run"]].concat(), "FATAL: ");
    let own = ["--ask-password", "DBDYNO_PASSWORD", "tls=", "the target"];
    assert!(own.iter().all(|word| !ran.out.contains(word)), "{}", ran.out);
}

#[test]
fn events_that_always_fail_end_with_an_error() {
    let home = Home::new();
    let server = MARIADB.start();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let script = home.write(
        "refused.lua",
        "function thread_init()\n  con = sysbench.sql.driver():connect()\n  \
         con:query('CREATE TEMPORARY TABLE one (id INT PRIMARY KEY)')\n  \
         con:query('INSERT INTO one VALUES (1)')\nend\n\
         function event() con:query('INSERT INTO one VALUES (1)') end\n",
    );
    let words = [&place[..], &[&script, "--time=1", "--mysql-ignore-errors=1062", "run"]].concat();
    // sysbench itself never ends here.
    let ran = home.run(&[&["sysbench"], &words[..]].concat()).code(1);
    ran.warns(&["Nothing finished: 1 transaction offered, 1 failed", "Most often: Duplicate"]);
}

#[test]
fn a_script_reports_its_run_under_dbdyno_run() {
    let home = Home::new();
    let script = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
function sysbench.hooks.report_intermediate(stat)
  if not mine then mine = sysbench.sql.driver():connect() end
  print(("some seconds: %d of %d, %s"):format(stat.time_interval, stat.time_total,
    mine:query_row("SELECT 7")))
end
function sysbench.hooks.report_cumulative(stat)
  local is_told = stat.reads > 0 and stat.events > 0 and stat.latency_max > 0
  print("whole run: " .. (is_told and "yes" or "no"))
end
"#;
    let script = home.write("telling.lua", script);
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let words = ["run", &script, &target, "--duration=2s", "--ramp-up=0s", "--no-store"];
    let every = "--sysbench-options=report_interval=1";
    let ran = home.run(&[&words[..], &[every]].concat()).good();
    ran.warns(&["some seconds: 1 of 1, 7", "some seconds: 1 of 2, 7", "whole run: yes"]);
    let ran = home.run(&[&words[..], &[every, "--print-to-stdout"]].concat()).good();
    ran.says(&["some seconds: 1 of 2, 7", "whole run: yes"]);
}

#[test]
fn a_script_that_reports_only_the_whole_run_ends_without_an_interval() {
    let home = Home::new();
    let script = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
function sysbench.hooks.report_cumulative(stat) print("events: " .. tostring(stat.events)) end
"#;
    let script = home.write("whole.lua", script);
    let server = MARIADB.shared();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let words = [&["sysbench", script.as_str()], &place[..], &["--events=5", "run"]].concat();
    home.run(&words).good().says(&["events: 5"]);
}

#[test]
fn errors_of_the_old_functions_name_the_line_of_the_script() {
    let home = Home::new();
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let script =
        "function event()\n  db_query('SELECT 1')\n  db_query('SELECT * FROM nosuch')\nend\n";
    let script = home.write("old.lua", script);
    let words = ["run", &script, &target, "--transactions=1", "--ramp-up=0s", "--clients=1"];
    let ran = home.run(&words);
    assert!(ran.err.contains("old.lua:3:") || ran.out.contains("old.lua:3:"), "{ran:?}");
}

#[test]
fn options_of_a_script_may_be_spelled_as_it_declares_them() {
    let home = Home::new();
    let script = r#"
sysbench.cmdline.options = { table_size = { "Rows", 3 } }
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT " .. sysbench.opt.table_size) end
"#;
    let script = home.write("sized.lua", script);
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    for spelled in ["--table_size=7", "--table-size=7"] {
        let words = ["run", &script, &target, spelled, "--duration=1s", "--ramp-up=0s"];
        let report = home.run(&[&words[..], &["--output=json"]].concat()).good().json();
        assert_eq!(at(&report, "groups.0.parameters.table_size"), "7");
    }
}

#[test]
fn both_draw_the_same_on_each_database() {
    let home = Home::new();
    let script = r#"
function thread_init()
  con = sysbench.sql.driver():connect()
  print(sysbench.rand.uniform(1, 1000000))
  one = con:prepare("SELECT 1")
end
function event()
  one:execute()
  print(sysbench.rand.uniform(1, 1000000), sysbench.rand.default(1, 1000))
end
"#;
    let script = home.write("drawing.lua", script);
    let (mariadb, postgres) = (MARIADB.start(), POSTGRES.start());
    let draws = |out: &str| -> Vec<String> {
        let is_draw = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_digit());
        out.lines().filter(is_draw).map(str::to_owned).collect()
    };
    let of_postgres = place_of(&postgres.target());
    let of_postgres = of_postgres.iter().map(|word| word.replace("--mysql-", "--pgsql-"));
    let of_postgres = of_postgres.chain(["--db-driver=pgsql".to_owned()]).collect();
    for place in [place_of(&mariadb.target()), of_postgres] {
        for mode in ["auto", "disable"] {
            let place: Vec<&str> = place.iter().map(String::as_str).collect();
            let mode = format!("--db-ps-mode={mode}");
            let all = [&script, &mode, "--rand-seed=7", "--events=3", "run"];
            let all = [&place[..], &all].concat();
            let expect = draws(&home.run_other("sysbench", &all).good().out);
            assert_eq!(expect.len(), 4, "{place:?}");
            let ran = home.run(&[&["sysbench"], &all[..]].concat()).good();
            assert_eq!(draws(&ran.out), expect, "{place:?} {mode}");
        }
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
    run(&script, &["yours"]).code(1).warns(&["Unknown command: yours"]);
    let lacks = "'showing.lua' test does not implement the 'prepare' command.";
    run(&script, &["prepare"]).code(1).warns(&[lacks]);
    home.write(
        "early.lua",
        "function prepare() end\nfunction event() db_query('SELECT 1 FROM t') end",
    );
    let early = home.path("early.lua").display().to_string();
    run(&early, &["--time=3600", "run"]).code(1).says(&[
        "FATAL: ",
        "; run prepare first: dbdyno sysbench ",
        "early.lua prepare",
    ]);
    home.write("failing.lua", "function event() error('it fails') end");
    let script = home.path("failing.lua").display().to_string();
    run(&script, &["--time=3600", "run"])
        .code(1)
        .says(&["FATAL: `thread_run' function failed: ", "failing.lua:1: it fails"]);
    // Without a database there are no statements to count.
    home.write("idle.lua", "function event() end function done() print('all done') end");
    let script = home.path("idle.lua").display().to_string();
    let ran = run(&script, &["--events=3", "run"]).good();
    let ran = ran.says(&["all done", "total number of events:              3"]);
    assert!(!ran.out.contains("SQL statistics"), "{}", ran.out);
}
