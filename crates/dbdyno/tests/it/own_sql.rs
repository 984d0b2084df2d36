//! Tests of transactions in own SQL: the examples, scripts on the command line, their variables,
//! scripts within plans, and errors.
//!
//! Not here: pgbench's language by itself, which the library tests compare with the program.

use serde_json::Value;

use crate::home::{Home, Ran, at, number};
use crate::journey::nothing_is_lost;

/// Flags for a short load that ends by itself, without conflicts between clients.
const SHORT: [&str; 4] = ["--transactions=300", "--clients=1", "--ramp-up=0s", "--quiet"];

/// Returns the path of an example.
fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a short load on the home's SQLite file. The exit code says only that it was short.
fn run(home: &Home, words: &[&str]) -> Ran {
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&[&["run"], words, &SHORT, &[&target]].concat())
}

/// Returns the report of a short load, none of whose transactions fails.
#[track_caller]
fn report(home: &Home, words: &[&str]) -> Value {
    let report = run(home, &[words, &["--output=json"]].concat()).json();
    all_succeeded(&report);
    report
}

/// Asserts that the commands that a report suggests repeat the scripts as they were given.
#[track_caller]
fn suggests(home: &Home, words: &[&str], expect: &str) {
    let target = format!("sqlite:{}", home.path("own.db").display());
    let short = ["--target", &target, "--clients=1", "--transactions=10", "--no-store"];
    let shown = home.run(&[&["run"], words, &short].concat());
    shown.says(&[&format!("{expect} ")]);
}

#[track_caller]
fn all_succeeded(report: &Value) {
    assert_eq!(report["status"], "completed", "{:#}", report["errors"]);
    assert_eq!(number(report, "counts.failed"), 0.0, "{:#}", report["errors"]);
    assert_eq!(number(report, "counts.finished"), 300.0);
    nothing_is_lost(report);
}

/// Builds the tables of an example, runs it in both execution modes, and drops the tables.
#[track_caller]
fn runs(name: &str, small: &[&str], n_checks: usize, types: &[&str]) {
    // Only the first flag changes the data.
    let rows = &small[..1];
    let home = Home::new();
    let example = example(name);
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&[&["build", &example, &target], rows].concat()).good();
    for mode in ["--mode=simple", "--mode=prepared"] {
        let report = report(&home, &[&[&*example, mode], small].concat());
        for when in ["before", "after"] {
            let checks = at(&report, &format!("checks.{when}")).as_array().expect("a list");
            assert_eq!(checks.len(), n_checks, "{name}: {checks:#?}");
            assert!(checks.iter().all(|check| check["failed"] == 0), "{name}: {checks:#?}");
        }
        for kind in types {
            let calls = number(&report, &format!("transactions.{kind}.calls"));
            assert!(calls > 0.0, "{name} {mode}: {kind}");
        }
    }
    let passed = format!("{n_checks} of {n_checks} checks pass");
    home.run(&[&["check", &example, &target], rows].concat()).good().says(&[&passed]);
    home.run(&["drop", &example, &target]).good();
    home.run(&[&["build", &example, &target], rows].concat()).good();
}

#[test]
fn the_examples_of_ycsb_run() {
    let small = ["--records=100"];
    runs("ycsb-a.sql", &small, 2, &["read", "update"]);
    runs("ycsb-b.sql", &small, 2, &["read", "update"]);
    runs("ycsb-c.sql", &small, 2, &["read"]);
    runs("ycsb-d.sql", &small, 2, &["read_latest", "insert"]);
    runs("ycsb-e.sql", &small, 2, &["scan", "insert"]);
    runs("ycsb-f.sql", &small, 2, &["read", "read_modify_write"]);
}

#[test]
fn the_example_smallbank_runs() {
    let small = ["--customers=200", "--hot-customers=20"];
    let types = ["amalgamate", "balance", "deposit_checking", "send_payment", "transact_savings"];
    runs("smallbank.sql", &small, 3, &types);
}

#[test]
fn the_example_tatp_rolls_back_what_changes_no_row() {
    runs("tatp.sql", &["--subscribers=50"], 4, &["get_subscriber_data", "get_access_data"]);
    let home = Home::new();
    let example = example("tatp.sql");
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&["build", &example, &target, "--subscribers=50"]).good();
    let report = report(&home, &[&example, "--subscribers=50"]);
    // Of the types that change rows, with 6 % of the weight, more than half change none.
    let rolled_back = number(&report, "counts.rolled_back");
    assert!((1.0..40.0).contains(&rolled_back), "{}", report["counts"]);
}

/// The page has the whole file, which a reader copies.
#[test]
fn the_file_of_the_guide_runs() {
    let page = format!("{}/../../docs/how-to/own-sql.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, file) = page.split_once("```sql\n").expect("it has a file");
    let (file, _) = file.split_once("```").expect("the file ends");
    let home = Home::new();
    home.write("bank.sql", file);
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&["build", "bank.sql", &target, "--accounts=50"]).good();
    let report = report(&home, &["bank.sql", "--accounts=50"]);
    assert_eq!(number(&report, "checks.after.0.failed"), 0.0);
    // The check depends on the number of accounts, which is that of the build.
    home.run(&["check", "bank.sql", &target]).good().says(&["1 of 1 checks pass"]);
    let with_more = ["bank.sql", &target, "--accounts=60"];
    for command in ["check", "run", "drop"] {
        home.run(&[&[command], &with_more[..]].concat())
            .code(2)
            .warns(&["built with accounts 50, not 60: leave accounts out to use them"]);
    }
    let report = self::report(&home, &["bank.sql"]);
    assert_eq!(number(&report, "checks.after.0.failed"), 0.0);
    home.run(&["drop", "bank.sql", &target]).good();
}

#[test]
fn a_script_says_what_it_built_and_what_is_missing() {
    let home = Home::new();
    let text = "-- dbdyno: build\nCREATE TABLE t (id INT);\n-- dbdyno: build times 5\n\
                INSERT INTO t VALUES (:row);\n-- dbdyno: transaction a\nSELECT id FROM t;\n\
                -- dbdyno: check nothing is below 0\nSELECT id FROM t WHERE id < 0;\n";
    home.write("t.sql", text);
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    let first = ["has no table t of t.sql: build first: dbdyno build t.sql --target sqlite:"];
    run(&home, &["t.sql"]).code(1).warns(&first);
    home.run(&["build", "t.sql", &target])
        .good()
        .says(&["built the tables of t.sql: 8 statements, 5 rows"]);
    home.run(&["check", "t.sql", &target]).good();
    let again = "a script's build is not resumed: dbdyno drop t.sql --target sqlite:";
    home.run(&["build", "t.sql", &target]).code(1).warns(&[
        "table t already exists",
        "the tables were built before",
        again,
    ]);
    report(&home, &["t.sql"]);
    home.run(&["drop", "t.sql", &target])
        .code(2)
        .warns(&["t.sql has no section '-- dbdyno: drop': drop its tables yourself, or add that"]);
    home.write("none.sql", "SELECT 1;\n");
    home.run(&["build", "none.sql", &target])
        .code(2)
        .warns(&["none.sql has no section '-- dbdyno: build'"]);
}

#[test]
fn a_build_that_fails_midway_is_not_used() {
    let home = Home::new();
    let text = "-- dbdyno: build\nCREATE TABLE t (id INT);\nINSERT INTO u VALUES (1);\n\
                -- dbdyno: transaction a\nSELECT id FROM t;\n-- dbdyno: drop\nDROP TABLE t;\n";
    home.write("t.sql", text);
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    let again = "a script's build is not resumed: dbdyno drop t.sql --target sqlite:";
    home.run(&["build", "t.sql", &target]).code(1).warns(&[
        "t.sql:3: no such table: u",
        "1 statement went before",
        again,
    ]);
    for command in ["run", "check"] {
        let refused = home.run(&[command, "t.sql", &target]);
        match command {
            "run" => {
                refused.code(1).warns(&["no complete data of t.sql: its build did not end", again])
            }
            _ => refused.code(2),
        };
    }
    home.run(&["drop", "t.sql", &target]).good();
    home.write("t.sql", text.replace("INTO u", "INTO t"));
    home.run(&["build", "t.sql", &target]).good();
    report(&home, &["t.sql"]);
}

/// The simulated database returns no rows, so only scripts without `\gset` run on it.
#[test]
fn examples_that_read_nothing_back_run_on_the_simulated_database() {
    let home = Home::new();
    for name in ["ycsb-a.sql", "ycsb-b.sql", "ycsb-c.sql", "ycsb-f.sql"] {
        let words = ["run", &*example(name), "--target=sim:", "--output=json"];
        let report = home.run(&[&words[..], &SHORT].concat()).json();
        all_succeeded(&report);
    }
}

#[test]
fn statements_of_the_command_line_become_a_report() {
    let home = Home::new();
    let statements = ["--sql", "SELECT :id + 1", "-D", "id=7"];
    let report = report(&home, &statements);
    assert_eq!(number(&report, "transactions.statements-1.finished"), 300.0);
    suggests(&home, &statements, "run --sql 'SELECT :id + 1' -D id=7 --target");
    run(&home, &["--sql", "SELECT 1", "-D", "id=7"])
        .code(2)
        .warns(&["--define: statements.sql has no parameter 'id'"]);
}

/// The numbers follow from the seed alone, so they are the same in each run.
#[test]
fn files_are_executed_by_their_weights() {
    let home = Home::new();
    home.write("a.sql", "\\set id random(1, 10)\nSELECT :id;\n");
    home.write("b.sql", "SELECT :x;\n");
    let words = ["-f", "a.sql@3", "-f", "b.sql@1", "-D", "x=5"];
    let counts = || {
        let report = report(&home, &words);
        ["a", "b"].map(|kind| number(&report, &format!("transactions.{kind}.finished")))
    };
    let first = counts();
    assert_eq!(first, counts());
    assert_eq!(first[0] + first[1], 300.0);
    assert!((200.0..250.0).contains(&first[0]), "{first:?}");
    suggests(&home, &words, "run -f 'a.sql@3' -f 'b.sql@1' -D x=5 --target");
}

#[test]
fn a_variable_can_be_varied() {
    let home = Home::new();
    home.write(
        "n.sql",
        "-- dbdyno: parameter rows 10 Rows\n-- dbdyno: parameter n 5 Highest number\n\
         -- dbdyno: build times :rows\nSELECT :row;\n\
         -- dbdyno: transaction one\n\\set id random(1, :n)\nSELECT :id;\n",
    );
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    let words = ["run", "n.sql", "--vary=n=1,100", "--repeat=1", "--pause=0s", &target];
    let short = ["--duration=1s", "--ramp-up=0s", "--clients=1", "--quiet"];
    let shown = home.json(&[&words[..], &short].concat());
    assert_eq!(number(&shown, "trials_done"), 2.0, "{shown:#}");
    assert_eq!(shown["axes"][0]["values"].as_array().map(Vec::len), Some(2), "{shown:#}");
    // The data depend on the other one.
    let built = home.run(&[&["run", "n.sql", "--vary=rows=1,2", &target], &short[..]].concat());
    built.code(2).warns(&["'rows' changes the data"]);
}

#[test]
fn a_plan_holds_a_script_and_is_printed_with_it() {
    let home = Home::new();
    let script = "\\set id random(1, 10)\nSELECT :id + :more;\n";
    let target = format!("sqlite:{}", home.path("own.db").display());
    let group = format!("[[group]]\nscript = '''\n{script}'''\nparameters = {{ more = 3 }}\n");
    home.write("plan.toml", format!("name = \"inline\"\ntarget = \"{target}\"\n{group}"));
    let first = report(&home, &["plan.toml"]);
    let decided = first["plan"].as_str().expect("it is text");
    assert!(decided.contains(script), "{decided}");
    home.write("again.toml", decided);
    let second = report(&home, &["again.toml"]);
    assert_eq!(second["plan"], first["plan"]);
    assert_eq!(number(&second, "counts.finished"), number(&first, "counts.finished"));
}

#[test]
fn an_error_has_its_file_and_line() {
    let home = Home::new();
    let refused = |text: &str, expect: &str| {
        home.write("bad.sql", text);
        run(&home, &["bad.sql"]).code(2).warns(&[expect]);
    };
    refused(
        "\\set amount random(1, 10)\nSELECT :ammount;\n",
        "bad.sql:2: the variable :ammount has no value (did you mean 'amount'?)",
    );
    refused(
        "\\set amount 1\n\\set half :amaunt / 2\nSELECT :half;\n",
        "bad.sql:2: the variable :amaunt has no value (did you mean 'amount'?)",
    );
    refused("SELECT 1;\n\\sleep :pause ms\n", "bad.sql:2: the variable :pause has no value");
    refused(
        "SELECT 1;\n\\set x randon(1, 10)\n",
        "bad.sql:2: \\set: there is no function 'randon' (did you mean 'random'?)",
    );
    refused("\n\\sett a 1\n", "bad.sql:2: there is no command \\sett (did you mean 'set'?)");
    refused("-- dbdyno: transition a\nSELECT 1;\n", "bad.sql:1: there is no section 'transition'");
    refused("BEGIN;\nSELECT 1;\n", "bad.sql:2: the script ends within a transaction: write COMMIT");
    refused("-- dbdyno: build\nSELECT 1;\n", "bad.sql: there is no section transaction");
    let many = format!("SELECT 1;\n\\set a 1\nSELECT {}:a;\n", ":a, ".repeat(255));
    home.write("many.sql", &many);
    run(&home, &["many.sql", "--mode=prepared"])
        .code(2)
        .warns(&["many.sql:3: a prepared statement has at most 255 variables"]);
    report(&home, &["many.sql"]);
    for nothing in ["", "-- nothing"] {
        run(&home, &["--sql", nothing]).code(2).warns(&["--sql: there is no statement in it"]);
    }
    run(&home, &["-f", "many.sql@0"])
        .code(2)
        .warns(&["many.sql: no transaction type has a weight"]);
    run(&home, &["nowhere.sql"]).code(2).warns(&["nowhere.sql' cannot be read: No such file"]);
    let stopped = |text: &str, mode: &str, expect: &str| {
        home.write("bad.sql", text);
        let report = run(&home, &["bad.sql", mode, "--output=json"]).code(1).json();
        let reason = report["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(expect), "{reason}");
        assert_eq!(reason.matches("bad.sql").count(), 1, "{reason}");
    };
    for mode in ["--mode=simple", "--mode=prepared"] {
        let why = "bad.sql:5: the script ends within a transaction";
        stopped("BEGIN;\n\\if false\nCOMMIT;\n\\endif\nSELECT 1;\n", mode, why);
        let why = "bad.sql:1: \\gset expects one row, and there were 0";
        stopped("SELECT 1 AS a WHERE 1 = 0 \\gset\n", mode, why);
        stopped("SELECT 1;\nSELECT a FROM nowhere;\n", mode, "bad.sql:2: no such table");
        stopped("\\set x 0\n\\set y 1 / :x\nSELECT 1;\n", mode, "bad.sql:2: division by zero");
    }
}

#[test]
fn a_script_starts_programs_only_with_the_flag() {
    let home = Home::new();
    let out = home.path("out.txt").display().to_string();
    home.write(
        "shell.sql",
        format!(
            "\\set n 7\n\\setshell m echo :n ; exit 3\n\\shell echo :m ::n >> {out}\n\
             SELECT 1 / (:m = 7);\n"
        ),
    );
    let refused = "shell.sql:2: the script starts programs: give --allow-shell to let it";
    run(&home, &["shell.sql"]).code(2).warns(&[refused]);
    report(&home, &["shell.sql", "--allow-shell"]);
    let lines = std::fs::read_to_string(&out).expect("the script wrote it");
    assert_eq!(lines.lines().filter(|line| *line == "7 :n").count(), 300, "{lines}");
    let stopped = |text: &str, expect: &str| {
        home.write("bad.sql", text);
        let report = run(&home, &["bad.sql", "--allow-shell", "--output=json"]).code(1).json();
        let reason = report["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(expect), "{reason}");
    };
    stopped("\\shell false\nSELECT 1;\n", "bad.sql:1: false: failed (exit status: 1)");
    stopped(
        "\\setshell x echo y\nSELECT 1;\n",
        "bad.sql:1: echo: it must write an integer, not 'y'",
    );
    stopped("\\setshell x true\nSELECT 1;\n", "bad.sql:1: true: it wrote no integer");
    // A stored plan has no flag.
    let plan = format!(
        "target = \"sqlite:{}\"\n[[group]]\nworkload = \"shell.sql\"\n",
        home.path("own.db").display()
    );
    home.write("plan.toml", plan);
    run(&home, &["plan.toml"]).code(2).warns(&[refused]);
}

#[test]
fn a_client_has_a_start_and_expected_errors_are_no_failures() {
    let home = Home::new();
    home.write(
        "start.sql",
        "-- dbdyno: build\nCREATE TABLE t (id INT PRIMARY KEY, n INT);\n\
         CREATE TABLE begun (n INT);\n\
         -- dbdyno: start client\nINSERT INTO begun VALUES (:clients);\n\\set from 5\n\
         -- dbdyno: transaction twice may fail 1555\n\
         BEGIN;\nINSERT INTO t VALUES (:from, :more);\nCOMMIT;\n\
         -- dbdyno: check all clients have begun\n\
         SELECT count(*) FROM begun HAVING count(*) NOT IN (0, max(n));\n",
    );
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&["build", "start.sql", &target, "-D", "more=1"]).good();
    let report = report(&home, &["start.sql", "-D", "more=1"]);
    assert_eq!(number(&report, "counts.rolled_back"), 299.0, "{}", report["counts"]);
    assert_eq!(number(&report, "checks.after.0.failed"), 0.0);
    home.write("plain.sql", "INSERT INTO t VALUES (5, 5);\n");
    let report = self::report(&home, &["plain.sql", "--ignore-errors=19,1555"]);
    assert_eq!(number(&report, "counts.ignored"), 300.0, "{}", report["counts"]);
    // Of the variables, only one may be given.
    let help = home.run(&["run", "start.sql", "--help"]).good();
    assert!(help.out.contains("--more") && !help.out.contains("--from"), "{}", help.out);
}

#[test]
fn a_plan_names_a_script_beside_it() {
    let home = Home::new();
    std::fs::create_dir(home.path("plans")).expect("a folder");
    home.write("plans/one.sql", "SELECT 1;\n");
    let target = format!("sqlite:{}", home.path("own.db").display());
    home.write(
        "plans/one.toml",
        format!("target = \"{target}\"\n[[group]]\nworkload = \"one.sql\"\n"),
    );
    let report = report(&home, &["plans/one.toml"]);
    assert_eq!(number(&report, "transactions.one.finished"), 300.0);
}

#[test]
fn a_script_is_known_by_its_name_in_any_case_and_with_a_weight() {
    let home = Home::new();
    home.write("A.SQL", "SELECT 1;\n");
    report(&home, &["A.SQL"]);
    home.write("b.sql", "SELECT 2;\n");
    let report = report(&home, &["b.sql@3", "-f", "A.SQL@1"]);
    assert!(
        number(&report, "transactions.b.finished") > number(&report, "transactions.A.finished")
    );
}

#[test]
fn a_script_that_sends_nothing_or_never_ends_says_so() {
    let home = Home::new();
    let findings = |text: &str, flags: &[&str]| {
        home.write("x.sql", text);
        let ran = run(&home, &[&["x.sql", "--output=json"], flags].concat()).code(1);
        at(&ran.json(), "findings").to_string()
    };
    let found = findings("\\set a 1\n\\set b :a + 1\n", &[]);
    assert!(found.contains("\"no_statements\""), "{found}");
    let short = ["--duration=1s", "--drain=0s"];
    let found = findings("SELECT 1;\n\\sleep 3600 s\n", &short);
    let said = "the only transaction was still running at the end, at x.sql:2 (1 client)";
    assert!(found.contains("\"still_running\"") && found.contains(said), "{found}");
}

#[test]
fn a_script_reads_how_many_rows_a_statement_had() {
    let home = Home::new();
    home.write(
        "rows.sql",
        "-- dbdyno: build\nCREATE TABLE t (id INT);\nINSERT INTO t VALUES (1), (2);\n\
         -- dbdyno: transaction none\nBEGIN;\nUPDATE t SET id = 3 WHERE id > 7;\n\
         \\if :ROW_COUNT = 0\nROLLBACK;\n\\else\nCOMMIT;\n\\endif\n\
         -- dbdyno: transaction two\nBEGIN;\nSELECT id FROM t;\n\
         \\if :ROW_COUNT = 2\nCOMMIT;\n\\else\nROLLBACK;\n\\endif\n",
    );
    let target = format!("--target=sqlite:{}", home.path("own.db").display());
    home.run(&["build", "rows.sql", &target]).good();
    for mode in ["--mode=simple", "--mode=prepared"] {
        let report = report(&home, &["rows.sql", mode]);
        let none = number(&report, "transactions.none.finished");
        assert_eq!(number(&report, "counts.rolled_back"), none, "{}", report["counts"]);
        assert!(none > 0.0 && none < 300.0);
    }
}
