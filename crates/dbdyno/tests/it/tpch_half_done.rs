//! `tpch` whose refresh functions failed, are half done, used up or only shown: what the next
//! commands make of the data, with the checks of a run on.
//!
//! Not here: clients and servers that are killed (tpch_killed).

use std::fs::File;

use model::StatementKind;
use rusqlite::Connection;
use servers::for_tests::MARIADB;

use crate::home::{Home, Ran};
use crate::real::url_of;
use crate::tpch::{execute, session};

const SCALE: &str = "--scale=0.01";

/// Embedded database with the data of tpch.
struct Site {
    home: Home,
    target: String,
}

impl Site {
    fn on_sqlite() -> Site {
        let home = Home::new();
        let target = format!("--target=sqlite:{}", home.path("x.db").display());
        Site::build(home, target)
    }

    fn on_duckdb() -> Site {
        let home = Home::new();
        let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
        let file = home.path("x.duckdb");
        let target = format!("--target=duckdb:{}?library={}", file.display(), library.display());
        Site::build(home, target)
    }

    fn build(home: Home, target: String) -> Site {
        let site = Site { home, target };
        site.call(&["build", "tpch", SCALE]).good();
        site
    }

    fn call(&self, args: &[&str]) -> Ran {
        self.home.call(&[args, &["-q", &self.target]].concat())
    }

    fn write(&self, sql: &str) {
        let database = Connection::open(self.home.path("x.db")).expect("a database");
        database.execute_batch(sql).expect("written");
    }

    /// Returns the numbers of sets that were inserted and deleted.
    fn sets(&self) -> [i64; 2] {
        let database = Connection::open(self.home.path("x.db")).expect("a database");
        let sql = "SELECT inserted, deleted FROM tpch_refresh";
        database.query_row(sql, [], |row| Ok([row.get(0)?, row.get(1)?])).expect("a row")
    }

    /// Executes an RF1, and not the RF2 of the pair.
    fn leave_half(&self) {
        self.call(&["run", "tpch", "--transactions=1", "--check=off"]);
        let failed = self.call(&["check", "tpch"]).code(1);
        failed.says(&["FAILED  refresh", "4 of 5 checks pass"]);
    }

    fn is_whole(&self) {
        self.call(&["check", "tpch"]).good().says(&["5 of 5 checks pass"]);
    }
}

#[test]
fn rf2_is_not_executed_after_a_failed_rf1() {
    let site = Site::on_sqlite();
    let fails = "BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'planted'); END";
    site.write(&format!("CREATE TRIGGER fails {fails}"));
    let reason = "rf2 was not executed, because rf1 failed";
    for (test, figure, expect) in [
        ("--test=power", "power_at_size", reason),
        ("--test=throughput", "throughput_at_size", "rf1 of the refresh stream failed"),
        ("--test=both", "power_at_size", reason),
    ] {
        let report = site.call(&["run", "tpch", test, "--output=json"]).json();
        assert_eq!(report["primary_metrics"][figure]["reason"], expect, "{test}");
        let errors = report["errors"].to_string();
        assert!(errors.contains(reason) && errors.contains("planted"), "{errors}");
        assert_eq!(site.sets(), [0, 0], "{test}");
        site.is_whole();
    }
    // In the second of three pairs.
    site.write(
        "DROP TRIGGER fails; CREATE TRIGGER fails BEFORE INSERT ON orders WHEN (SELECT inserted FROM \
         tpch_refresh) = 1 AND NEW.o_orderkey < 3000 BEGIN SELECT RAISE(ABORT, 'planted'); END"
    );
    site.call(&["run", "tpch", "--test=throughput", "--streams=3"]);
    assert_eq!(site.sets(), [1, 1]);
    site.write("DROP TRIGGER fails");
    site.call(&["run", "tpch"]).good();
    site.is_whole();
}

#[test]
fn data_in_which_rf2_was_executed_more_often_are_named_with_the_remedy() {
    let site = Site::on_sqlite();
    site.write(
        "DELETE FROM lineitem WHERE l_orderkey < 40; DELETE FROM orders WHERE o_orderkey < 40; \
         UPDATE tpch_refresh SET inserted = 4, deleted = 5",
    );
    let checked = site.call(&["check", "tpch"]).code(1);
    checked.says(&["FAILED  sets", "drop the data and build them again", "4 of 5 checks pass"]);
    let refused = site.call(&["run", "tpch"]).code(1);
    refused.warns(&["check sets", "earlier versions of dbdyno", "inserted=4, deleted=5"]);
    let refused = site.call(&["run", "tpch", "--check=off"]).code(1);
    refused.warns(&["rf2 was executed 5 times, but rf1 only 4 times"]);
}

#[test]
fn a_missing_rf2_refuses_no_run_and_is_executed_once_by_the_next_with_refresh_functions() {
    for site in [Site::on_sqlite(), Site::on_duckdb()] {
        site.leave_half();
        let queries = ["run", "tpch", "--test=queries", "--transactions=2"];
        for args in [&queries[..], &["run", "tpch"]] {
            let told = site.home.call(&[args, &[&site.target]].concat()).good();
            told.warns(&["an RF1 is without its RF2"]);
        }
        site.is_whole();
        for test in ["--test=throughput", "--test=both"] {
            site.leave_half();
            site.call(&["run", "tpch", test]).good();
            site.is_whole();
        }
    }
}

#[test]
fn a_trial_of_an_experiment_executes_a_missing_rf2() {
    let site = Site::on_sqlite();
    site.leave_half();
    site.call(&["run", "tpch", "--repeat=2"]).good();
    assert_eq!(site.sets(), [3, 3]);
    site.is_whole();
}

#[test]
fn transactions_that_are_shown_leave_the_data_as_they_are() {
    let site = Site::on_sqlite();
    let shown = site.call(&["show", "tpch"]).good();
    shown.says(&["rf1: rolled back", "rf2: rolled back", "q1: committed", "ROLLBACK"]);
    for query in ["q7", "q8", "q12", "q19"] {
        let shown = site.call(&["show", "tpch", "--transaction", query]).good();
        assert!(!shown.out.contains('…'), "{query}: {}", shown.out);
    }
    assert_eq!(site.sets(), [0, 0]);
    let checked = site.call(&["check", "tpch"]).good();
    checked.says(&["5 of 5 checks pass", "22 of 22 answers are right"]);
    site.leave_half();
    for warm_up in ["--warm-up=0", "--warm-up=3"] {
        site.call(&["show", "tpch", warm_up]).good();
        assert_eq!(site.sets(), [1, 0], "{warm_up}");
    }
}

#[test]
fn data_that_dbdyno_did_not_build_pass_their_checks_after_a_run() {
    let site = Site::on_sqlite();
    site.write("DROP TABLE dbdyno_meta");
    site.call(&["run", "tpch", SCALE]).good();
    let checked = site.call(&["check", "tpch", SCALE]).good();
    checked.says(&["5 of 5 checks pass", "answers not compared"]);
}

#[test]
fn a_run_that_needs_more_refresh_sets_than_are_left_is_refused() {
    let site = Site::on_sqlite();
    site.write("UPDATE tpch_refresh SET inserted = 998, deleted = 998");
    let refused = site.call(&["run", "tpch", "--test=both"]).code(1);
    refused.warns(&["998 of 1000 refresh sets are used, and this run needs 3 more"]);
    assert_eq!(site.sets(), [998, 998]);
    site.call(&["run", "tpch", "--test=throughput"]);
    assert_eq!(site.sets(), [1_000, 1_000]);
    let refused = site.call(&["run", "tpch"]).code(1);
    refused.warns(&["1000 of 1000 refresh sets are used, and this run needs 1 more"]);
}

#[test]
fn a_run_is_refused_while_one_of_another_store_writes_into_the_tables() {
    let expect = ["kept in another store", "writes into the tables of tpch", "two cannot"];
    let site = Site::on_sqlite();
    let mark = File::create(site.home.path("x.db-dbdyno-run-tpch")).expect("a file");
    mark.lock_shared().expect("locked");
    site.call(&["run", "tpch"]).code(1).warns(&expect);
    site.call(&["run", "tpch", "--test=queries", "--transactions=1"]).good();
    drop(mark);
    site.call(&["run", "tpch"]).good();
    let url = url_of(MARIADB.shared(), "alone");
    let site = Site::build(Home::new(), format!("--target={url}"));
    let mut other = session(&url);
    let name = "CONCAT('dbdyno ', SHA2(CONCAT('alone tpch ', DATABASE()), 224))";
    execute(other.as_mut(), StatementKind::Read, &format!("SELECT GET_LOCK({name}, 0)"));
    site.call(&["run", "tpch"]).code(1).warns(&expect);
    drop(other);
    site.call(&["run", "tpch"]).good();
}
