//! Tests of translations: made-up scripts and configurations, and the plans that they become.

use model::Target;

use super::{Environment, FileKind, Translation, kind_of, translate};
use crate::{From, GroupDraft, Task, Written, decide_task, read_toml};

/// Script in Tcl with a loop over users.
const SWEEP: &str = r#"#!/bin/tclsh
# Which number of users is best?
proc wait_for_it { seconds } {
    global done
    set x 0
    while {![vucomplete] && $x < $seconds} { incr x; after 1000 }
    return
}
set db pg
set houses [expr {[info exists ::env(HOUSES)] ? $::env(HOUSES) : 40}]
dbset db $db
dbset bm TPC-C
diset connection pg_host db7 ; diset connection pg_port 5433
diset connection pg_sslmode require
diset tpcc pg_count_ware $houses
diset tpcc pg_user shop
diset tpcc pg_pass "dead giveaway"
diset tpcc pg_dbase shop
diset tpcc pg_driver timed
diset tpcc pg_rampup 1
diset tpcc pg_duration 3
diset tpcc pg_allwarehouse true
diset tpcc pg_vacuum true
diset tpcc pg_oracompat true
tcset refreshrate 5
loadscript
foreach z { 1 2 \
            4 8 } {
    puts "$z users"
    vuset vu $z
    vucreate
    vurun
    wait_for_it 600
    vudestroy
    after 5000
}
frobnicate twice
exit
"#;

/// Script in Python with a loop, a function and a list that is computed.
const PYTHON: &str = r#"#!/usr/bin/env python3
"""A sweep."""
import os

dbset('db', 'maria')
dbset('bm', 'TPROC-C')
diset('connection', 'maria_host', 'localhost')
diset('connection', 'maria_socket', '/run/mysqld/mysqld.sock')
diset('tpcc', 'maria_count_ware', int(os.getenv('HOUSES', 4)) * 5)
diset('tpcc', 'maria_pass', os.environ['SECRET'])
diset('tpcc', 'maria_keyandthink', 'true')
diset('tpcc', 'maria_async_scale', 'true')
diset('tpcc', 'maria_async_client', '20')
diset('tpcc', 'maria_no_stored_procs', 'true')
if os.cpu_count() > 64:
    diset('tpcc', 'maria_partition', 'true')

def one(users,
        minutes=5):
    vuset('vu', f'{users}')
    diset('tpcc', 'maria_duration', minutes)
    vucreate()
    return tclpy.eval('vurun')

for z in [1] + list(range(2, 7, 2)):  # 1, 2, 4, 6
    job = one(z, 2)
    with open(f"/tmp/{z}", "w") as f:
        f.write(job)
exit()
"#;

/// Configuration with two works.
const CONFIGURATION: &str = r#"<?xml version="1.0"?>
<parameters>
    <type>MARIADB</type>
    <driver>org.mariadb.jdbc.Driver</driver>
    <url>jdbc:mariadb://db7:3307/bench?sslMode=verify-full&amp;password=dead-giveaway</url>
    <username>bench</username>
    <password>dead-giveaway</password>
    <isolation>TRANSACTION_READ_COMMITTED</isolation>
    <scalefactor>5</scalefactor>
    <terminals>8</terminals>
    <works>
        <work><time>30</time><warmup>10</warmup><rate>50</rate><weights>45,43,4,4,4</weights></work>
        <work><time>20</time><rate>200</rate><weights>45,43,4,4,4</weights></work>
    </works>
    <transactiontypes>
        <transactiontype><name>NewOrder</name></transactiontype>
        <transactiontype><name>Payment</name></transactiontype>
        <transactiontype><name>OrderStatus</name></transactiontype>
        <transactiontype><name>Delivery</name></transactiontype>
        <transactiontype><name>StockLevel</name></transactiontype>
    </transactiontypes>
    <newConnectionPerTxn>true</newConnectionPerTxn>
    <colour>blue</colour>
</parameters>
"#;

fn translated(name: &str, text: &str) -> Translation {
    let environment = Environment { variable: &|_| None, cpus: 2 };
    translate(name, text, &environment).expect("it is of a known kind")
}

/// Returns the plan that a text becomes, without comments, after checking that it decides.
fn plan_of(name: &str, text: &str) -> String {
    let toml = translated(name, text).to_toml();
    decided(&toml);
    toml.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

fn decided(toml: &str) -> Task {
    let target = |_: &str| Target::parse("sqlite:x.db").map_err(|bad| bad.to_string());
    let mut draft = read_toml("plan.toml", toml).expect("it is TOML");
    // A build of this crate alone may lack it.
    if toml.contains("workload = \"tpch\"") && workloads::by_name("tpch").is_err() {
        draft.groups[0] = GroupDraft::default();
        draft.groups[0].values.insert("workload", Written::new("tpcc", From::Default));
    }
    decide_task(&draft, &target).unwrap_or_else(|bad| panic!("{}\n{toml}", bad.0))
}

fn refused(name: &str, text: &str) -> String {
    let environment = Environment { variable: &|_| None, cpus: 2 };
    translate(name, text, &environment).expect_err("it is refused").0
}

#[test]
fn a_loop_over_users_becomes_an_axis() {
    insta::assert_snapshot!(plan_of("/x/sweep.tcl", SWEEP), @r#"
    name = "sweep"
    target = "postgres://shop@db7:5433/shop?tls=require"
    ramp_up = "1m"
    duration = "3m"
    report_interval = "5s"
    settle = "before"

    [[group]]
    workload = "tpcc"
    [group.parameters]
    home = "all"
    mode = "procedures"
    warehouses = 40

    [experiment]
    pause = "5s"

    [experiment.vary]
    clients = [1, 2, 4, 8]
    "#);
}

#[test]
fn a_script_in_python_becomes_the_same_kind_of_plan() {
    insta::assert_snapshot!(plan_of("sweep.py", PYTHON), @r#"
    name = "sweep"
    target = "mariadb://root@localhost/tpcc?socket=/run/mysqld/mysqld.sock"
    ramp_up = "2m"
    duration = "2m"

    [[group]]
    workload = "tpcc"
    load = "keythink"
    [group.parameters]
    mode = "text"
    warehouses = 20

    [experiment.vary]
    clients = [20, 40, 80, 120]
    "#);
}

#[test]
fn a_configuration_becomes_a_plan_with_steps() {
    insta::assert_snapshot!(plan_of("sample.xml", CONFIGURATION), @r#"
    name = "sample"
    target = "mariadb://bench@db7:3307/bench?tls=verify-full&isolation=read-committed"
    ramp_up = "10s"
    duration = "50s"

    [[group]]
    workload = "tpcc"
    clients = 8
    load = "open"
    rate = "steps 50 for 30s, 200"
    arrivals = "uniform"
    connect = "transaction"
    [group.parameters]
    warehouses = 5
    weights = "45/43/4/4/4"
    "#);
}

#[test]
fn what_has_no_counterpart_is_listed_with_its_line_and_reason() {
    let comments = translated("sweep.tcl", SWEEP).comments;
    let (_, left_out) = comments.split_once("# Without a counterpart:\n").expect("there is some");
    assert_eq!(
        left_out,
        "#   line 24: pg_oracompat true: a variant for another product\n\
         #   line 37: frobnicate: dbdyno does not know this command\n"
    );
    let comments = translated("sample.xml", CONFIGURATION).comments;
    for words in
        ["newconnectionpertxn true: connect = ", "colour: dbdyno does not know this element"]
    {
        assert!(comments.contains(words), "{words}: {comments}");
    }
}

#[test]
fn a_password_is_never_copied() {
    let secret = |name: &str| (name == "SECRET").then(|| "dead-giveaway".to_owned());
    for (name, text) in [("a.tcl", SWEEP), ("a.py", PYTHON), ("a.xml", CONFIGURATION)] {
        let environment = Environment { variable: &secret, cpus: 2 };
        let toml = translate(name, text, &environment).expect("it is known").to_toml();
        assert!(!toml.contains("giveaway"), "{toml}");
        assert!(toml.contains("is not copied: run the plan with --ask-password"), "{toml}");
    }
    // An unknown command may have one.
    let text = "dbset db pg\nexec psql -c {PASSWORD 'giveaway'}\nvurun\n";
    assert!(!translated("a.tcl", text).to_toml().contains("giveaway"));
    let text = "dbset('db', 'pg')\nx = y z 'giveaway'\nfoo.bar 'giveaway'\nvurun()\n";
    assert!(!translated("a.py", text).to_toml().contains("giveaway"));
}

#[test]
fn a_command_that_drops_data_is_not_translated() {
    let toml = translated("a.tcl", "dbset db maria\nvurun\ndeleteschema\n").to_toml();
    assert!(toml.contains("line 3: deleteschema: a plan drops nothing"), "{toml}");
    assert!(!toml.contains("Nothing was left out"), "{toml}");
}

#[test]
fn a_script_without_a_load_is_answered_with_a_command() {
    let drop = "dbset db maria\ndiset connection maria_host localhost\ndiset connection \
                maria_socket /s\ncheckschema\ndeleteschema\n";
    assert_eq!(
        refused("a.tcl", drop),
        "a.tcl:5: the script runs no load: to drop its data, type dbdyno drop tpcc --target \
         'mariadb://root@localhost/tpcc?socket=/s'"
    );
    let check = "dbset('db', 'pg')\ndbset('bm', 'TPC-H')\ndiset('tpch', 'pg_scale_fact', 3)\n\
                 checkschema()\n";
    assert_eq!(
        refused("a.py", check),
        "a.py:4: the script runs no load: to check its data, type dbdyno check tpch --scale 3 \
         --target 'postgres://tpch@127.0.0.1/tpch'"
    );
    assert!(refused("a.tcl", "deleteschema\n").ends_with("dbdyno drop tpcc --target URL"));
    let build = "dbset db pg\ndiset tpcc pg_count_ware 9\nbuildschema\ncheckschema\n";
    let toml = translated("a.tcl", build).to_toml();
    let said = "to build alone, type dbdyno build tpcc --warehouses 9 --target \
                'postgres://tpcc@127.0.0.1/tpcc'";
    assert!(toml.contains(said), "{toml}");
}

#[test]
fn branches_and_assignments_of_both_languages_are_followed() {
    let text = "set db pg\nset users 1\nswitch -exact -- $db {\n  maria -\n  pg { set users 7 }\n  \
                default { set users 8 }\n}\nswitch $db pg { incr users } default { exit 1 }\ndbset \
                db $db\nif {[catch {\n  buildschema\n  frobnicate\n} why]} { set users 100 }\n\
                vuset vu $users\nvurun\n";
    assert!(plan_of("a.tcl", text).contains("clients = 8"), "{}", plan_of("a.tcl", text));
    let toml = translated("a.tcl", text).to_toml();
    assert!(
        toml.contains("line 11: buildschema") && toml.contains("line 12: frobnicate"),
        "{toml}"
    );
    let nested =
        format!("dbset db pg\n{}vurun\n", "set x [catch {".repeat(3000) + &"}]\n".repeat(3000));
    plan_of("a.tcl", &nested);
    let text = "users, minutes = 3, 4\ndbset('db', 'pg')\ndiset('tpcc', 'pg_duration', minutes)\n\
                vuset('vu', users)\nvurun()\n";
    let plan = plan_of("a.py", text);
    assert!(plan.contains("clients = 3") && plan.contains("duration = \"4m\""), "{plan}");
}

#[test]
fn the_environment_gives_values() {
    let variable = |name: &str| (name == "HOUSES").then(|| "7".to_owned());
    let environment = Environment { variable: &variable, cpus: 2 };
    let of = |name, text| translate(name, text, &environment).expect("it is known").to_toml();
    assert!(of("a.tcl", SWEEP).contains("\nwarehouses = 7\n"));
    assert!(of("a.py", PYTHON).contains("\nwarehouses = 35\n"));
    assert!(translated("a.tcl", SWEEP).to_toml().contains("\nwarehouses = 40\n"));
}

#[test]
fn values_that_change_together_are_no_axes_of_their_own() {
    let text = "dbset db mysql\nforeach z {1 2} {\n diset tpcc mysql_count_ware [expr {$z * 5}]\n \
                vuset vu $z\n vurun\n}\n";
    let toml = translated("a.tcl", text).to_toml();
    assert!(
        toml.contains("[experiment.vary]\nclients = [\"1\", \"2\"]")
            || toml.contains("clients = [1, 2]")
    );
    assert!(toml.contains("#   warehouses = 5, 10: changes together with another value"), "{toml}");
    let text = "dbset db mysql\nforeach w {5 10} {\n foreach z {1 2} {\n diset tpcc \
                mysql_count_ware $w\n vuset vu $z\n vurun\n vurun\n}\n}\n";
    let toml = translated("a.tcl", text).to_toml();
    for words in ["clients = [1, 2]", "warehouses = [5, 10]", "repeat = 2"] {
        assert!(toml.contains(words), "{words}: {toml}");
    }
    decided(&toml);
}

#[test]
fn analytics_become_the_tests_of_tpch() {
    let script = |users: u32, refresh: &str| {
        let text = format!(
            "dbset db pg\ndbset bm TPROC-H\ndiset tpch pg_scale_fact 1\ndiset tpch \
             pg_degree_of_parallel 4\ndiset tpch pg_refresh_on {refresh}\nloadscript\nvuset vu \
             {users}\nvucreate\nvurun\n"
        );
        plan_of("h.tcl", &text)
    };
    for (users, refresh, words) in [
        (1, "false", "test = \"queries\""),
        (1, "true", "test = \"power\""),
        (4, "true", "streams = 3"),
        (4, "false", "streams = 4"),
    ] {
        let plan = script(users, refresh);
        assert!(plan.contains(words), "{users} {refresh}: {plan}");
        assert!(plan.contains("[server]\nmax_parallel_workers_per_gather = 4"), "{plan}");
        assert!(plan.contains("scale = 1"), "{plan}");
    }
}

#[test]
fn a_script_without_end_is_left() {
    for (name, text, line) in [
        ("a.tcl", "dbset db pg\nwhile {1} { vuset vu 2 }\nvurun\n", 2),
        ("a.tcl", "dbset db pg\nwhile 1 {}\nvurun\n", 2),
        ("a.tcl", "dbset db pg\nwhile 1 {\n foreach x {1 2 3} { puts $x }\n}\n", 2),
        ("a.tcl", "dbset db pg\nforeach x {1 2} {\n while 1 { puts $x }\n}\n", 3),
        ("a.py", "dbset('db', 'pg')\nwhile True:\n    vuset('vu', 2)\nvurun()\n", 2),
    ] {
        let expect = format!("{name}:{line}: it does not end within 100000 steps");
        assert_eq!(refused(name, text), expect);
    }
    // What ends it may not be known.
    let text = "dbset db pg\nwhile 1 {\n vuset vu 3\n if {[frob]} { break }\n vurun\n}\n";
    let toml = translated("a.tcl", text).to_toml();
    assert!(toml.contains("line 2: while: a condition in it is not known"), "{toml}");
    assert!(toml.contains("clients = 3") && !toml.contains("repeat"), "{toml}");
    let text = "proc f {} { f }\ndbset db pg\nf\nvuset vu 3\nvurun\n";
    assert!(plan_of("a.tcl", text).contains("clients = 3"));
    // Deep brackets.
    let text = format!("dbset db pg\nset x [expr {{{}1}}]\nvurun\n", "(".repeat(5000));
    plan_of("a.tcl", &text);
    let text =
        format!("dbset('db', 'pg')\nx = {}1{}\nvurun()\n", "-(".repeat(5000), ")".repeat(5000));
    plan_of("a.py", &text);
}

#[test]
fn what_is_never_closed_is_refused_with_its_line() {
    let check = |name: &str, text: &str, expect: &str| assert_eq!(refused(name, text), expect);
    let open = "dbset db pg\nforeach z {1 2} {\n vuset vu $z\n vurun\n";
    check("a.tcl", open, "a.tcl:2: the { is never closed");
    check("a.tcl", "dbset db pg\nputs \"x\nvurun\n", "a.tcl:2: the \" is never closed");
    check("a.tcl", "dbset db pg\nset x [expr 1\nvurun\n", "a.tcl:2: the [ is never closed");
    let inner = "dbset db pg\nif 1 {\n puts \"x\n}\nvurun\n";
    check("a.tcl", inner, "a.tcl:3: the \" is never closed");
    let inner = "dbset('db', 'pg')\nvuset('vu',\n 2\nvurun()\n";
    check("a.py", inner, "a.py:2: the ( is never closed");
    check("a.py", "dbset('db', 'pg')\nprint('x)\nvurun()\n", "a.py:2: the ' is never closed");
    let triple = "'".repeat(3);
    let text = format!("dbset('db', 'pg')\n{triple}x\nvurun()\n");
    check("a.py", &text, "a.py:2: the ' is never closed");
    // Braces in quotation marks within a command, as in any word of it.
    let text = "dbset db pg\nputs \"a [join {1 ]} \"}\"] {\"\nvuset vu 3\nvurun\n";
    assert!(plan_of("a.tcl", text).contains("clients = 3"));
}

#[test]
fn each_word_is_either_translated_or_left_out() {
    let bank = ["Amalgamate", "Balance", "DepositChecking", "SendPayment", "TransactSavings"];
    let queries = configuration(&["Q1", "Q2", "Q3"], "1,2,1");
    let two_rates = CONFIGURATION.replace("<rate>200", "<rate>unlimited");
    let sizes = "dbset db mysql\nforeach z {1 2} {\n diset tpcc mysql_count_ware [expr {$z * 5}]\n \
                 vuset vu $z\n vurun\n}\n";
    for (name, text) in [
        ("a.tcl", SWEEP),
        ("a.py", PYTHON),
        ("a.xml", CONFIGURATION),
        ("b.xml", &two_rates),
        ("c.xml", &configuration(&bank, "10,20,10,25,35")),
        ("h.xml", &queries),
        ("b.tcl", sizes),
    ] {
        let comments = translated(name, text).comments;
        assert!(!comments.contains("part of the plan"), "{comments}");
        let (translated, left_out) =
            comments.split_once("# Without a counterpart:").unwrap_or((&comments, ""));
        // A word and its value, without what became of it.
        let word = |line: &'_ str| line.rsplit_once(": ").map(|(word, _)| word.to_owned());
        let all: Vec<String> = left_out.lines().filter_map(word).collect();
        for line in translated.lines().filter_map(word) {
            assert!(!all.contains(&line), "{line}: {comments}");
        }
    }
    let comments = translated("a.xml", CONFIGURATION).comments;
    for words in [
        "rate 50: rate = steps 50 for 30s, 200\n",
        "time 20: duration = 50s\n",
        "warmup 10: ramp_up = 10s\n",
        "weights 45,43,4,4,4: weights = 45/43/4/4/4\n",
        "TRANSACTION_READ_COMMITTED: target, isolation=read-committed\n",
    ] {
        assert!(comments.contains(words), "{words}: {comments}");
    }
    let comments = translated("b.tcl", sizes).comments;
    assert!(comments.contains("#   line 3: mysql_count_ware 5: warehouses = 5\n"), "{comments}");
    assert!(comments.contains("#   line 3: mysql_count_ware 10: changes together"), "{comments}");
}

#[test]
fn pauses_of_transactions_become_those_of_the_load() {
    let orders = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
    let name = "<name>Payment</name>";
    let waits = "<preExecutionWait>30</preExecutionWait><postExecutionWait>120</postExecutionWait>";
    let text = configuration(&orders, "45,43,4,4,4").replace(name, &format!("{name}{waits}"));
    let toml = plan_of("a.xml", &text);
    for words in [
        "load = \"keythink\"",
        "keying = \"0ms/30ms/0ms/0ms/0ms\"",
        "thinking = \"0ms/120ms/0ms/0ms/0ms\"",
    ] {
        assert!(toml.contains(words), "{words}: {toml}");
    }
    let comments = translated("a.xml", &text.replace("unlimited", "50")).comments;
    assert!(comments.contains("preexecutionwait 30: a load with a rate has"), "{comments}");
}

#[test]
fn waiting_for_users_reads_nothing_that_is_not_known() {
    let text = "dbset db pg\ndiset connection pg_host $::env(PLACE)\nvurun\nset done 0\nwhile \
                {!$done} {\n set done 1\n foreach one [vustatus] {\n  if {$one ne \"FINISH \
                SUCCESS\"} { set done 0 }\n }\n}\nset file [open /tmp/x r]\nset job [gets \
                $file]\n";
    let comments = translated("a.tcl", text).comments;
    let (_, left_out) = comments.split_once("# Without a counterpart:\n").expect("there is some");
    assert_eq!(
        left_out,
        "#   line 2: pg_host: its value is not known (the environment variable PLACE is not set): \
         write it into the target\n"
    );
}

#[test]
fn parts_of_several_benchmarks_are_told_apart() {
    let text = configuration(&["NewOrder", "Payment"], "50,50").replace(
        "<rate>unlimited</rate>",
        "<rate bench=\"chbenchmark\">7</rate><rate bench=\"tpcc\">50</rate><active_terminals \
         bench=\"chbenchmark\">1</active_terminals><active_terminals \
         bench=\"tpcc\">3</active_terminals>",
    );
    let toml = plan_of("a.xml", &text);
    assert!(toml.contains("rate = 50") && toml.contains("clients = 3"), "{toml}");
    // The URL says which database it is.
    let text = configuration(&["NewOrder"], "100").replace("POSTGRES", "mysql");
    let comments = translated("a.xml", &text).comments;
    assert!(comments.contains("type mysql: the URL is that of another database"), "{comments}");
    assert!(plan_of("a.xml", &text).contains("postgres://u@h/b"));
}

#[test]
fn what_is_no_number_is_left_out_and_not_guessed() {
    let orders = ["NewOrder", "Payment"];
    let text = configuration(&orders, "50,50")
        .replace("unlimited", "$RATE")
        .replace("<terminals>3", "<terminals>$CLIENTS")
        .replace("<time>60", "<time>$SECONDS");
    let comments = translated("a.xml", &text).comments;
    for words in
        ["rate $RATE: it is neither", "terminals $CLIENTS: it is no", "time $SECONDS: it is"]
    {
        assert!(comments.contains(words), "{words}: {comments}");
    }
}

#[test]
fn parts_of_a_target_are_texts_and_not_urls() {
    let text = "dbset db maria\ndiset connection maria_host db7\ndiset tpcc maria_user me@home\n\
                diset tpcc maria_dbase {a/b?c}\nvurun\n";
    let toml = plan_of("a.tcl", text);
    assert!(toml.contains("target = \"mariadb://me%40home@db7/a/b%3Fc\""), "{toml}");
}

/// Configuration of one work, for a benchmark with these types and weights.
fn configuration(types: &[&str], weights: &str) -> String {
    let types: Vec<String> = types
        .iter()
        .map(|name| format!("<transactiontype><name>{name}</name></transactiontype>"))
        .collect();
    format!(
        "<parameters><type>POSTGRES</type><url>jdbc:postgresql://h/b</url><username>u</username>\
         <scalefactor>2</scalefactor><terminals>3</terminals><works><work><time>60</time>\
         <rate>unlimited</rate><weights>{weights}</weights></work></works><transactiontypes>{}\
         </transactiontypes></parameters>",
        types.join("")
    )
}

#[test]
fn mixes_become_the_nearest_workload() {
    let ycsb = ["ReadRecord", "InsertRecord", "ScanRecord", "UpdateRecord", "DeleteRecord"];
    let check = |types: &[&str], weights: &str, words: &[&str]| {
        let toml = translated("a.xml", &configuration(types, weights)).to_toml();
        for word in words {
            assert!(toml.contains(word), "{word}: {toml}");
        }
        toml
    };
    let exact =
        check(&ycsb, "95,0,0,5,0", &["workload = \"examples/ycsb-b.sql\"", "records = 2000"]);
    assert!(exact.contains("# Nothing was left out."), "{exact}");
    check(&ycsb, "0,5,95,0,0", &["examples/ycsb-e.sql"]);
    check(&ycsb, "50,5,15,10,20", &["the mix of examples/ycsb-a.sql is the nearest"]);
    let bank = ["Amalgamate", "Balance", "DepositChecking", "SendPayment", "TransactSavings"];
    check(&bank, "15,15,15,25,15", &["examples/smallbank.sql", "customers = 2000000"]);
    let few = configuration(&bank, "15,15,15,25,15").replace("factor>2<", "factor>0.0002<");
    let few = translated("a.xml", &few).to_toml();
    assert!(few.contains("\ncustomers = 200\n") && few.contains("\nhot_customers = 20\n"), "{few}");
    let phones = ["DeleteCallForwarding", "GetAccessData", "GetNewDestination"];
    check(&phones, "2,35,10", &["examples/tatp.sql", "subscribers = 200000"]);
    let orders = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
    let toml = check(&orders, "44.5,43,4.5,4,4", &["weights = \"89/86/9/8/8\"", "clients = 3"]);
    decided(&toml);
    let few = check(&orders[..2], "50,50", &["weights = \"50/50/0/0/0\""]);
    decided(&few);
    check(&orders, "45,43,4,4", &["there are 4 weights for 5 transaction types"]);
    check(&orders, "45,43,4,4,4,1", &["there are 6 weights for 5 transaction types"]);
    let queries = ["Q1", "Q2", "Q3"];
    decided(&check(&queries, "1,1,1", &["workload = \"tpch\"", "test = \"throughput\""]));
}

#[test]
fn what_cannot_be_translated_is_refused_in_a_sentence() {
    let check = |text: &str, words: &str| {
        let why = refused("a.x", text);
        assert!(why.contains(words) && !why.contains('\n'), "{why}");
    };
    check("hello", "a.x is neither a script of HammerDB's command line nor a configuration");
    check("#!/bin/bash\ndbset db pg\n", "is neither");
    check("dbset db mssqls\nvurun\n", "for mssqls, which dbdyno does not measure: write maria");
    check(&configuration(&["Vote"], "100"), "transactions such as Vote, which dbdyno does not");
    let apart = "<parameters>\n<type>MYSQL</type>\n<works/>\n<transactiontypes>\n<transactiontype>\
                 <name>Vote</name></transactiontype></transactiontypes>\n</parameters>";
    check(apart, "a.x:5: it is a configuration of BenchBase for transactions such as Vote");
    let other = configuration(&["NewOrder"], "100").replace("POSTGRES", "ORACLE");
    check(&other, "for ORACLE, which dbdyno does not measure");
    check("<parameters><works>", "looks like a configuration of BenchBase: ");
    assert_eq!(kind_of(PYTHON), Some(FileKind::HammerDbPython));
    assert_eq!(kind_of(SWEEP), Some(FileKind::HammerDbTcl));
    assert_eq!(kind_of(CONFIGURATION), Some(FileKind::BenchBase));
}
