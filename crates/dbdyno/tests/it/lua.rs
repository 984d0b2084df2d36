//! Tests of Lua scripts of sysbench on the command line: prepared, run and dropped, with modules,
//! in several processes, and ended if they do not end.
#![cfg(feature = "lua")]

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
