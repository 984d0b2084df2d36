//! Tests of `dbdyno translate`: a file of another program, its plan, and a run of the plan.
//!
//! Not here: what each word becomes (plan).

use serde_json::Value;

use crate::home::{Home, number};

/// Script with a loop over users.
const SCRIPT: &str = "puts \"two sizes\"\ndbset db maria\ndbset bm TPC-C\ndiset tpcc \
                      maria_count_ware 1\ndiset tpcc maria_pass giveaway\nforeach z {1 2} {\n  \
                      vuset vu $z\n  vucreate\n  vurun\n}\n";

#[test]
fn a_translated_script_runs() {
    let home = Home::new();
    let script = home.write("sweep.tcl", SCRIPT);
    let ran = home.call(&["translate", &script]).code(0);
    assert!(ran.out.contains("clients = [1, 2]"), "{}", ran.out);
    assert!(!ran.out.contains("giveaway"), "{}", ran.out);
    let plan = home.write("plan.toml", &ran.out);
    let short = ["--duration=1s", "--ramp-up=0s", "--mode=prepared", "--shrink=100", "--quiet"];
    let target = format!("--target=sqlite:{}", home.path("shop.db").display());
    let shown = home.json(&[&["run", plan.as_str(), target.as_str()][..], &short].concat());
    assert_eq!(number(&shown, "trials_done"), 2.0, "{shown:#}");
}

/// Runs what a file becomes, on a database in a file, and returns the report. The plan has no other
/// loss than a database elsewhere.
#[track_caller]
fn runs(home: &Home, name: &str, text: &str, flags: &[&str]) -> Value {
    let file = home.write(name, text);
    let ran = home.run(&["translate", &file]).good();
    let plan = home.write(&format!("{name}.toml"), &ran.out);
    let target = format!("--target=sqlite:{}", home.path(&format!("{name}.db")).display());
    home.run(&[&["run", &plan, &target, "--output=json", "--quiet"], flags].concat()).json()
}

/// Configuration of BenchBase with these transaction types and weights.
fn configuration(scale: &str, types: &[(&str, &str)]) -> String {
    let names = types
        .iter()
        .map(|(name, _)| format!("<transactiontype><name>{name}</name></transactiontype>"));
    let names: String = names.collect();
    let weights: Vec<&str> = types.iter().map(|(_, weight)| *weight).collect();
    format!(
        "<parameters><type>SQLITE</type><url>jdbc:sqlite:x.db</url><scalefactor>{scale}\
         </scalefactor><terminals>1</terminals><works><work><time>60</time><warmup>0</warmup>\
         <rate>200</rate><serial>false</serial><weights>{}</weights></work></works>\
         <transactiontypes>{names}</transactiontypes></parameters>",
        weights.join(",")
    )
}

#[test]
fn translated_mixes_run_on_the_examples() {
    let home = Home::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    std::os::unix::fs::symlink(examples, home.path("examples")).expect("a link");
    let short = ["--duration=1s"];
    let ycsb = [("ReadRecord", "50"), ("UpdateRecord", "50"), ("ScanRecord", "0")];
    let bank = [
        ("Amalgamate", "15"),
        ("Balance", "15"),
        ("DepositChecking", "15"),
        ("SendPayment", "25"),
        ("TransactSavings", "15"),
        ("WriteCheck", "15"),
    ];
    let phones = [("GetAccessData", "35"), ("GetNewDestination", "10"), ("UpdateLocation", "14")];
    for (script, rows, scale, types) in [
        ("ycsb-a.sql", "--records=500", "0.5", &ycsb[..]),
        ("smallbank.sql", "--customers=500", "0.0005", &bank),
        ("tatp.sql", "--subscribers=500", "0.005", &phones),
    ] {
        let target = format!("--target=sqlite:{}", home.path(&format!("{script}.db")).display());
        let script_file = format!("examples/{script}");
        home.run(&["build", &script_file, rows, &target]).good();
        let report = runs(&home, script, &configuration(scale, types), &short);
        assert!(number(&report, "counts.finished") > 0.0, "{script}: {report:#}");
        assert_eq!(number(&report, "counts.failed"), 0.0, "{script}: {:#}", report["errors"]);
    }
}

#[test]
fn translated_orders_and_queries_run() {
    let home = Home::new();
    let orders = [("NewOrder", "45"), ("Payment", "43"), ("OrderStatus", "12")];
    let short = ["--duration=1s", "--shrink=100"];
    let report = runs(&home, "orders", &configuration("1", &orders), &short);
    assert!(number(&report, "transactions.new_order.finished") > 0.0, "{report:#}");
    let script = "dbset db pg\ndbset bm TPC-H\ndiset tpch pg_scale_fact 0.01\nloadscript\n\
                  vuset vu 1\nvucreate\nvurun\n";
    let queries = configuration("0.01", &[("Q1", "1"), ("Q2", "1"), ("Q3", "1")]);
    for (name, text) in [("h", script), ("queries", &queries)] {
        let report = runs(&home, name, text, &[]);
        assert_eq!(report["status"], "completed", "{name}: {report:#}");
        assert_eq!(number(&report, "transactions.q1.finished"), 1.0, "{name}: {report:#}");
        assert_eq!(number(&report, "counts.failed"), 0.0, "{name}: {report:#}");
    }
}

#[test]
fn what_cannot_be_followed_exits_with_2_and_its_line() {
    let home = Home::new();
    for (text, said) in [
        ("dbset db pg\nforeach z {1 2} {\n vurun\n", ":2: the { is never closed"),
        ("dbset db pg\nwhile 1 { puts x }\nvurun\n", ":2: it does not end within"),
        ("puts x\ndbset db ora\nvurun\n", ":2: it is a script of HammerDB for ora"),
    ] {
        let file = home.write("a.tcl", text);
        let ran = home.call(&["translate", &file]).code(2).warns(&[said]);
        assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 1), "{}", ran.err);
    }
}

#[test]
fn a_script_in_place_of_a_plan_is_named_with_its_translation() {
    let home = Home::new();
    for name in ["sweep.tcl", "sweep", "sweep.toml"] {
        let script = home.write(name, SCRIPT);
        let said = format!("is a script of HammerDB: write dbdyno translate {script} > plan.toml");
        home.call(&["run", &script]).code(2).warns(&[&said]);
    }
    let other = home.write("other", "nothing that anybody knows\n");
    home.call(&["translate", &other]).code(2).warns(&["is neither a script of HammerDB's"]);
    home.call(&["translate", "/nowhere"]).code(2).warns(&["/nowhere cannot be read"]);
    let json = home.json(&["translate", &home.write("a.tcl", SCRIPT)]);
    assert_eq!(number(&json, "left_out"), 0.0, "{json:#}");
}
