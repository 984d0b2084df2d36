//! Tests of `dbdyno sysbench` beside sysbench: when the functions of a script run, what is printed
//! when, and how errors of each function are said.
#![cfg(feature = "lua")]

use servers::for_tests::MARIADB;

use crate::home::Home;
use crate::lua::place_of;
use crate::real::url;

/// Returns the lines of an output without the version, with `#` for each number.
pub(crate) fn lines(out: &str) -> Vec<String> {
    let plain = |line: &str| {
        let mut text = String::new();
        for letter in line.chars() {
            let is_number = letter.is_ascii_digit() || letter == '.';
            match (is_number, text.ends_with('#')) {
                (true, true) => {}
                (true, false) => text.push('#'),
                (false, _) => text.push(letter),
            }
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    out.lines().filter(|line| !line.starts_with("sysbench 1.0.20")).map(plain).collect()
}

/// A script whose functions print which state they run in.
const MOMENTS: &str = r#"
print("body")
n = "none"
function init() n = "init"; print("init " .. sysbench.tid .. " " .. sysbench.opt.threads) end
function thread_init() con = sysbench.sql.driver():connect(); print("thread_init " .. n) end
function event() con:query("SELECT 1") end
function thread_done() print("thread_done " .. n) end
function done() print("done " .. n) end
function sysbench.hooks.report_cumulative() print("report " .. n) end
function prepare() print("prepare " .. n) end
function each() print("each") end
sysbench.cmdline.commands = { each = {each, sysbench.cmdline.PARALLEL_COMMAND}, one = {each} }
"#;

/// A script that ignores an error by its hook.
const IGNORING: &str = r#"
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TEMPORARY TABLE one (id INT PRIMARY KEY)")
  con:query("INSERT INTO one VALUES (1)")
  n = 0
end
function sysbench.hooks.sql_error_ignorable(err) return err.sql_errno == 1062 end
function event()
  n = n + 1
  con:query("INSERT INTO one VALUES (" .. (n == 2 and 1 or n * 10) .. ")")
end
"#;

/// A script that uses a connection that it has closed.
const CLOSED: &str = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  print(con.sql_state == nil, con.sql_errmsg == nil)
  con:disconnect()
  print(pcall(con.query, con, "SELECT 1"))
end
"#;

/// A script for sysbench 0.5, whose options become global variables behind its body.
const OLD: &str = r#"
print("body", tostring(foo), tostring(rand_type), mysql_table_engine)
foo = foo or 1
function done() end
function event() db_query("SELECT 1") end
function thread_init()
  print("thread_init", foo, type(foo), tostring(bar), rand_type, oltp_table_size, num_threads)
end
"#;

#[test]
fn functions_of_a_script_run_when_sysbench_calls_them() {
    let home = Home::new();
    let server = MARIADB.shared();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let check = |text: &str, words: &[&str]| {
        let script = home.write("moments.lua", text);
        let words = [&[script.as_str()], &place[..], words].concat();
        let theirs = home.run_other("sysbench", &words);
        let ours = home.run(&[&["sysbench"], &words[..]].concat());
        assert_eq!(lines(&ours.out), lines(&theirs.out), "{words:?} {}", ours.err);
        assert_eq!(ours.code, theirs.code, "{words:?} {} {}", ours.out, theirs.out);
    };
    check(MOMENTS, &["--events=2", "run"]);
    let without = MOMENTS.replace("function sysbench.hooks.report_cumulative", "function unused");
    check(&without, &["--events=2", "run"]);
    check(&without, &["--events=2", "--verbosity=2", "run"]);
    check(
        &without.replace("print(\"thread_done \" .. n)", ""),
        &["--events=2", "--verbosity=4", "run"],
    );
    check("function event() end", &["--events=2", "--verbosity=5", "run"]);
    check(&without, &["--events=2", "--percentile=0", "--validate", "run"]);
    let quiet = without.replace("print(\"body\")", "");
    for command in ["prepare", "each", "one"] {
        check(&quiet, &[command]);
    }
    check(&quiet, &["--verbosity=9", "run"]);
    check(&quiet, &["--percentile=101", "run"]);
    check(&quiet, &["--percentile=0", "--histogram", "run"]);
    check(OLD, &["--foo=3", "--oltp-table-size=7", "--events=1", "run"]);
    check(OLD, &["--bar=x", "--oltp-table-size=7", "--events=1", "run"]);
    // Errors of each function.
    for function in ["init", "thread_init", "event", "thread_done", "done", "prepare", "one"] {
        let fails = format!("{function} = function()\n  error('it fails')\nend\n");
        let text = match function {
            "one" => format!("{fails}sysbench.cmdline.commands = {{ one = {{one}} }}"),
            "event" => fails,
            _ => format!("function event() end\n{fails}"),
        };
        let command = if ["prepare", "one"].contains(&function) { function } else { "run" };
        check(&text, &["--events=2", command]);
    }
    check("function no() return false end\nsysbench.cmdline.commands = { no = {no} }", &["no"]);
    check("function event() end\nfunction help() print('my own help') end", &["help"]);
    check(
        "sysbench.cmdline.options = { flag = {'A flag', false} }\nfunction event() end",
        &["--flag=maybe", "run"],
    );
    check(IGNORING, &["--events=3", "run"]);
    check(CLOSED, &["--events=1", "run"]);
    check(
        "function thread_init() sysbench.sql.driver():connect():prepare('SELECT nosuch') end\n\
         function event() end",
        &["--events=2", "run"],
    );
    let fails = "function thread_init()\n  con = sysbench.sql.driver():connect()\n  \
                 con:query('SELECT nosuch')\nend\nfunction event() end";
    check(fails, &["--events=2", "run"]);
}

#[test]
fn the_body_of_a_script_runs_once_beside_its_states() {
    let home = Home::new();
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let written = home.path("written").display().to_string();
    let text = format!(
        "local file = io.open('{written}', 'a')\nfile:write('body\\n')\nfile:close()\n\
         function event() end\nfunction prepare() end\n"
    );
    let script = home.write("writing.lua", text);
    let words = ["run", &script, &target, "--transactions=4", "--clients=2", "--ramp-up=0s"];
    home.run(&words);
    let found = std::fs::read_to_string(&written).expect("it was written");
    // Once to read it, and once for each client.
    assert_eq!(found.lines().count(), 3);
}

#[test]
fn a_script_without_a_database_needs_none() {
    let home = Home::new();
    let script = home.write(
        "computing.lua",
        "local ffi = require('ffi')\nsysbench.cmdline.options = { n = {'Numbers', 100} }\n\
         function event() local s = 0 for i = 1, sysbench.opt.n do s = s + math.sqrt(i) end end\n\
         function done() print('ends') end\n",
    );
    let words = [&script, "--mysql-host=127.0.0.1", "--mysql-port=1", "--events=5", "run"];
    let theirs = home.run_other("sysbench", &words).good();
    let ours = home.run(&[&["sysbench"], &words[..]].concat()).good();
    assert_eq!(lines(&ours.out), lines(&theirs.out), "{}", ours.err);
}

/// Script whose event always fails with an error that is ignored.
const AGAIN: &str = r#"
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TEMPORARY TABLE one (id INT PRIMARY KEY)")
  con:query("INSERT INTO one VALUES (1)")
end
function event() con:query("SELECT SLEEP(0.05)") con:query("INSERT INTO one VALUES (1)") end
"#;

/// Script whose events take a tenth of a second, and that reports each second by itself.
const SLOW: &str = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT SLEEP(0.1)") end
function sysbench.hooks.report_intermediate(stat)
  print(("events %d reads %d"):format(stat.events, stat.reads))
end
function sysbench.hooks.report_cumulative(stat)
  print(("whole %d reads %d"):format(stat.events, stat.reads))
end
"#;

#[test]
fn intervals_count_what_has_ended_in_them() {
    let home = Home::new();
    let server = MARIADB.shared();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let run = |text: &str, words: &[&str]| {
        let script = home.write("counted.lua", text);
        home.run(&[&["sysbench", script.as_str()], &place[..], words].concat())
    };
    // The attempts of an event that never ends are counted as they are made.
    let words = ["--time=3", "--report-interval=1", "--mysql-ignore-errors=1062", "run"];
    let ran = run(AGAIN, &words).code(1);
    let rates: Vec<f64> = ran
        .out
        .split("err/s: ")
        .skip(1)
        .map(|rest| rest.split(' ').next().and_then(|rate| rate.parse().ok()).expect("a rate"))
        .collect();
    assert!(rates.len() >= 2 && rates.iter().all(|rate| *rate > 0.0), "{}", ran.out);
    // A thread executes at most ten of the thousand events that arrive each second.
    let ran = run(SLOW, &["--rate=1000", "--time=2", "--report-interval=1", "run"]).good();
    let mut sum = 0;
    for line in ran.out.lines().filter(|line| line.starts_with("events ")) {
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[0] <= 11 && numbers[0] == numbers[1], "{}", ran.out);
        sum += numbers[0];
    }
    let whole = ran.out.lines().find_map(|line| line.strip_prefix("whole ")).expect("a report");
    let whole: u64 = whole.split(' ').next().expect("a number").parse().expect("a number");
    assert!(whole >= sum && whole <= 22, "{}", ran.out);
}

/// Script that loses its connection in its third event, and makes it again in its hook.
const RECONNECTING: &str = r#"
function sysbench.hooks.sql_error_ignorable(err)
  if err.sql_errno ~= 2013 and err.sql_errno ~= 1927 then return false end
  con:reconnect()
  print("again")
  return true
end
local n = 0
function thread_init() con = sysbench.sql.driver():connect() print("thread_init") end
function event()
  n = n + 1
  if n == 3 then con:query("KILL CONNECTION_ID()") end
  con:query("SELECT 1")
end
"#;

#[test]
fn an_event_goes_on_after_its_hook_has_reconnected() {
    let home = Home::new();
    let server = MARIADB.shared();
    let place = place_of(&server.target());
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let script = home.write("reconnecting.lua", RECONNECTING);
    let words = [&["sysbench", script.as_str()], &place[..], &["--events=10", "run"]].concat();
    let ran = home.run(&words).good().says(&["total number of events:              10"]);
    assert_eq!(ran.out.matches("thread_init").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("again").count(), 1, "{}", ran.out);
}

#[test]
fn statements_within_functions_that_lua_calls_are_executed() {
    let home = Home::new();
    let target = format!("--target={}", url(MARIADB.shared()));
    let text = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  local list = { 3, 1, 2, 5, 4 }
  table.sort(list, function(a, b) return con:query_row("SELECT " .. a .. " < " .. b) == "1" end)
  assert(table.concat(list, " ") == "1 2 3 4 5")
  local twice = function(c) return con:query_row("SELECT '" .. c .. c .. "'") end
  local text, n = ("a b"):gsub("%w", twice)
  assert(text == "aa bb" and n == 2)
end
"#;
    let script = home.write("within.lua", text);
    for placement in ["thread", "loop"] {
        let words = ["run", &script, &target, "--transactions=3", "--clients=1", "--ramp-up=0s"];
        let words = [&words[..], &["--placement", placement, "--output=json"]].concat();
        let report = home.run(&words).json();
        let failed = crate::home::number(&report, "transactions.within.failed");
        assert_eq!(failed, 0.0, "{placement} {report}");
    }
}
