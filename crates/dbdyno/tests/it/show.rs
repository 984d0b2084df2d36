//! Tests of `dbdyno show`, which prints one transaction with all requests and replies: on every
//! database, in every mode, and identically for the same seed and number.

use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_5_6, POSTGRES, TestServer};

use crate::home::Home;
use crate::real::tpcc;

/// Shows a transaction, which must be the only one in the output; returns it.
fn only(home: &Home, args: &[&str]) -> Value {
    let shown = home.call(&[&["show"], args, &["--output=json"]].concat()).good().json();
    let all = shown["transactions"].as_array().expect("a list").clone();
    assert_eq!(all.len(), 1, "{shown:#}");
    all.into_iter().next().expect("there is one")
}

fn number(traced: &Value, name: &str) -> u64 {
    traced[name].as_u64().unwrap_or_else(|| panic!("{name} of {traced:#}"))
}

/// Returns the SQL texts of all statements of a transaction, in order.
fn texts(traced: &Value) -> Vec<String> {
    let requests = traced["requests"].as_array().expect("a list").iter();
    let statements = requests.flat_map(|one| one["statements"].as_array().expect("a list"));
    statements.map(|one| one["sql"].as_str().expect("a text").to_owned()).collect()
}

/// Asserts that the totals of a transaction are the sums over its requests.
fn adds_up(traced: &Value) {
    for name in ["round_trips", "bytes_out", "bytes_in"] {
        let requests = traced["requests"].as_array().expect("a list").iter();
        let sum: u64 = requests.map(|one| number(one, name)).sum();
        assert_eq!(sum, number(traced, name), "{name} of {traced:#}");
    }
}

#[test]
fn a_transaction_on_sqlite_is_shown_with_its_statements_and_again_the_same() {
    let home = Home::new();
    home.put_tpcc();
    let new_order = ["tpcc", "--transaction=new_order", "--number=3", "--seed=7"];
    let shown = only(&home, &new_order);
    adds_up(&shown);
    assert_eq!(shown["outcome"], "committed");
    let texts = texts(&shown);
    assert_eq!(texts.first().map(String::as_str), Some("BEGIN IMMEDIATE"));
    assert_eq!(texts.last().map(String::as_str), Some("COMMIT"));
    assert_eq!(number(&shown, "statements"), texts.len() as u64);
    assert_eq!(number(&shown, "round_trips"), texts.len() as u64);
    // The same inputs; the data have changed.
    let customer = |traced: &Value| traced["requests"][1]["statements"][0]["values"].clone();
    let again = only(&home, &new_order);
    assert_eq!(
        (number(&again, "number"), customer(&again)),
        (number(&shown, "number"), customer(&shown))
    );
    // All except the time stamp of the request.
    let payment = ["tpcc", "--transaction=payment", "--number=3", "--seed=7"];
    let inserted = |traced: &Value| -> Vec<String> {
        let all = traced["requests"].as_array().expect("a list").iter();
        let all = all.flat_map(|one| one["statements"].as_array().expect("a list"));
        let all = all.filter(|one| one["sql"].as_str().is_some_and(|sql| sql.contains("history")));
        let values = all.flat_map(|one| one["values"].as_array().expect("a list"));
        values.filter_map(|value| value.as_str()).map(str::to_owned).collect()
    };
    let [once, twice] = [only(&home, &payment), only(&home, &payment)].map(|one| inserted(&one));
    let n_differ = once.iter().zip(&twice).filter(|(a, b)| a != b).count();
    assert!(once.len() > 5 && n_differ <= 1, "{once:?} {twice:?}");
    let requests = shown["requests"].as_array().expect("a list");
    let has_tax = |one: &Value| one["columns"].to_string().contains("w_tax");
    assert!(requests.iter().any(has_tax), "{shown:#}");
    let other = only(&home, &["tpcc", "--transaction=new_order", "--number=100", "--seed=7"]);
    assert_ne!(number(&other, "number"), number(&shown, "number"));
    let text = only(&home, &["tpcc", "--transaction=new_order", "--mode=text"]);
    assert!(self::texts(&text).iter().all(|sql| !sql.contains('?')), "{text:#}");
    let page = home.call(&["show", "tpcc"]).good();
    page.says(&["new_order: committed", "stock_level: committed", "BEGIN IMMEDIATE", "COMMIT"]);
    let rows = home.call(&["show", "tpcc", "--transaction=payment", "--output=csv"]).good();
    rows.says(&["request", "round_trips", "payment,1,"]);
    home.call(&["check", "tpcc", "-q"]).good();
}

#[test]
fn every_workload_shows_one_transaction_of_each_type() {
    let home = Home::new();
    for entry in workloads::ALL {
        let name = entry.name;
        let has_size = entry.parameters.iter().any(|row| row.name == "table_size");
        let size: &[&str] = if has_size { &["--table-size=1000"] } else { &[] };
        match name {
            "empty" => {}
            "tpcc" => home.put_tpcc(),
            "tpch" => drop(home.call(&["build", name, "--scale=0.01", "-q"]).good()),
            // Workloads of a family share their data.
            _ if home.database(entry.data).exists() => {}
            _ => drop(home.call(&[&["build", name, "-q"], size].concat()).good()),
        }
        let shown = home.call(&["show", name, "--output=json"]).good().json();
        let all = shown["transactions"].as_array().expect("a list");
        assert!(!all.is_empty(), "{name}: {shown:#}");
        all.iter().for_each(adds_up);
        let is_done = |traced: &Value| {
            matches!(traced["outcome"].as_str(), Some("committed" | "rolled_back"))
        };
        assert!(all.iter().all(is_done), "{name}: {shown:#}");
    }
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_remedy() {
    let home = Home::new();
    home.call(&["show", "tpcc"]).code(1).warns(&["build it with dbdyno build tpcc"]);
    home.call(&["build", "tpcb", "-q"]).good();
    let target = format!("--target=sqlite:{}", home.database("tpcb").display());
    home.call(&["show", "tpcc", &target]).code(1).warns(&["build it with dbdyno build tpcc"]);
    let check = |args: &[&str], expect: &str| {
        let ran = home.call(args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(expect), "{ran:?}");
    };
    home.put_tpcc();
    check(&["show", "tpcc", "--transaction=new_ordr"], "did you mean 'new_order'");
    let weights = ["show", "tpcc", "--transaction=payment", "--weights=1/0/0/0/0"];
    check(&weights, "tpcc executes no payment");
    check(&["show", "tpcc", "--target=sim:"], "tpcc needs tables");
    check(&["show", "nothing"], "there is no workload 'nothing'");
    // Other `show` commands have no workload.
    let ran = home.call(&["runs", "show", "last", "--full"]);
    assert!(!ran.err.contains("there is no workload"), "{ran:?}");
}

#[test]
fn the_simulated_database_shows_what_it_is_asked() {
    let shown = only(&Home::new(), &["record", "--target=sim:?service=constant:1ms"]);
    adds_up(&shown);
    assert!(shown["elapsed_ms"].as_f64().expect("a number") >= 1.0, "{shown:#}");
}

/// Checks that a transaction by stored procedures takes one round trip instead of one per
/// statement.
#[track_caller]
fn procedures_save_round_trips(server: &'static TestServer) {
    let data = tpcc(server);
    let data = data.as_ref().expect("it is built");
    let (home, target) = (Home::new(), format!("--target={}", data.url()));
    // After this many orders every variant of a statement is prepared.
    let trace = |mode: &str| {
        let mode = format!("--mode={mode}");
        let args = ["tpcc", "--transaction=new_order", &target, &mode, "--warm-up=100"];
        let shown = only(&home, &args);
        adds_up(&shown);
        assert_eq!(shown["outcome"], "committed", "{shown:#}");
        shown
    };
    let (prepared, procedures) = (trace("prepared"), trace("procedures"));
    let (batched, text) = (trace("batched"), trace("text"));
    assert_eq!(number(&procedures, "round_trips"), 1, "{procedures:#}");
    let columns = procedures["requests"][0]["columns"].to_string();
    assert!(columns.contains("tax"), "{columns}");
    let args = ["show", "tpcc", "--transaction=payment", &target, "--mode=procedures"];
    let page = home.call(&args).good();
    page.says(&["executed within the server", "dbdyno_tpcc_payment", "UPDATE warehouse"]);
    assert!(number(&procedures, "bytes_out") < number(&prepared, "bytes_out"));
    assert!(number(&batched, "round_trips") <= 4, "{batched:#}");
    assert_eq!(number(&prepared, "round_trips"), number(&prepared, "statements"));
    assert_eq!(number(&text, "round_trips"), number(&prepared, "round_trips"));
    assert!(number(&text, "bytes_out") > number(&prepared, "bytes_out"));
    let has_mark = |sql: &String| sql.contains('?') || sql.contains('$');
    assert!(!texts(&text).iter().any(has_mark), "{text:#}");
    // A new connection prepares each statement at its first call, which is marked.
    let new = only(&home, &["tpcc", "--transaction=new_order", &target, "--warm-up=0"]);
    assert!(number(&new, "bytes_out") > number(&prepared, "bytes_out"));
    let is_first = |traced: &Value| traced["requests"][1]["statements"][0]["is_first_call"].clone();
    assert_eq!((is_first(&new), is_first(&prepared)), (true.into(), false.into()));
}

#[test]
fn procedures_save_round_trips_on_mariadb() {
    procedures_save_round_trips(&MARIADB);
}

#[test]
fn procedures_save_round_trips_on_mysql() {
    procedures_save_round_trips(&MYSQL_5_6);
}

#[test]
fn procedures_save_round_trips_on_postgres() {
    procedures_save_round_trips(&POSTGRES);
}
