//! `tpch` on PostgreSQL whose client or server is killed in each of its phases: the next command
//! resumes, repairs or refuses, and nothing is silently half.
//!
//! A lock of the test holds dbdyno in the phase, so that no test depends on time. Not here: kills
//! of other workloads (interrupted, outage).

use model::{Session, StatementKind};
use servers::Server;
use servers::for_tests::POSTGRES;

use crate::home::{Home, Ran, number_in};
use crate::real::{url, url_of};
use crate::tpch::{execute, session};
use crate::waiting::{Started, eventually};

/// A database in which a test holds commands by locks.
struct Held {
    home: Home,
    target: String,
}

/// A lock of a table that is held until the value is dropped: its session then ends.
struct Lock {
    _session: Box<dyn Session>,
}

impl Held {
    fn new(target: String) -> Held {
        Held { home: Home::new(), target }
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<String> {
        let target = format!("--target={}", self.target);
        args.iter().map(|arg| (*arg).to_owned()).chain([target, "-q".to_owned()]).collect()
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.home.run(&self.args(args))
    }

    fn lock(&self, table: &str, mode: &str) -> Lock {
        let mut session = session(&self.target);
        execute(session.as_mut(), StatementKind::Other, "BEGIN");
        let sql = format!("LOCK TABLE {table} IN {mode} MODE");
        execute(session.as_mut(), StatementKind::Other, &sql);
        Lock { _session: session }
    }

    /// Starts a command and waits until one of its statements, which is like `pattern`, waits for
    /// a lock.
    fn start(&self, args: &[&str], pattern: &str) -> Started {
        let mut started = self.home.start(&self.args(args));
        self.wait_for(&mut started, pattern);
        started
    }

    fn wait_for(&self, started: &mut Started, pattern: &str) {
        let sql = format!(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND \
             wait_event_type = 'Lock' AND query ILIKE '{pattern}' AND query NOT LIKE 'EXPLAIN%'"
        );
        let mut observer = session(&self.target);
        let waits = |_: &str| execute(observer.as_mut(), StatementKind::Read, &sql) > 0;
        started.wait_until(&format!("a lock for {pattern}"), waits);
    }

    /// Kills the client of a held command, and waits until the server has noticed.
    fn kill<L>(&self, mut started: Started, locks: L) {
        started.kill();
        assert_eq!(started.end().code, None);
        drop(locks);
        let mut observer = session(&self.target);
        let others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid \
                      <> pg_backend_pid() AND backend_type = 'client backend'";
        let is_alone = || execute(observer.as_mut(), StatementKind::Read, others) == 0;
        assert!(eventually(is_alone), "sessions of a killed client are left");
    }

    /// Expects that the data are refused, and not used half.
    fn is_unfinished(&self) {
        let refused = "has no complete data of tpch: build them with dbdyno build tpch";
        self.run(&["check", "tpch"]).code(1).warns(&[refused]).is_a_sentence();
        let refused = self.run(&["run", "tpch", "--no-build", "--scale=0.01"]);
        refused.code(1).warns(&["no complete data of tpch"]).is_a_sentence();
    }

    /// Expects whole data with known answers.
    fn is_whole(&self) {
        let checked = self.run(&["check", "tpch"]).good();
        checked.says(&["5 of 5 checks pass", "22 of 22 answers are right"]);
    }

    /// Expects that an RF1 is without its RF2, and that the check says so.
    fn is_between_functions(&self) {
        let checked = self.run(&["check", "tpch"]).code(1);
        checked.says(&["FAILED  refresh", "answers not compared"]);
    }
}

/// Locks that hold a build in its data, keys and statistics, but in nothing before: a table, the
/// mode, and the statement that waits.
const PHASES: [[&str; 3]; 3] = [
    ["lineitem", "SHARE", "COPY lineitem%"],
    ["lineitem", "ROW EXCLUSIVE", "CREATE INDEX%"],
    ["region", "SHARE UPDATE EXCLUSIVE", "VACUUM%region%"],
];

const BUILD: [&str; 3] = ["build", "tpch", "--scale=0.01"];
const POWER: [&str; 3] = ["run", "tpch", "--test=power"];
const STREAMS: [&str; 3] = ["run", "tpch", "--test=throughput"];

#[test]
fn a_client_that_is_killed_in_any_phase_of_a_build_leaves_what_the_next_build_completes() {
    let held = Held::new(url_of(POSTGRES.shared(), "killed_builds"));
    held.run(&[&BUILD[..], &["--tables-only"]].concat()).good();
    for [table, mode, pattern] in PHASES {
        let lock = held.lock(table, mode);
        let build = held.start(&BUILD, pattern);
        held.kill(build, lock);
        held.is_unfinished();
    }
    held.run(&BUILD).good().says(&["resumed an interrupted build"]);
    held.is_whole();
}

#[test]
fn a_client_that_is_killed_in_any_phase_of_a_test_leaves_what_the_next_one_repairs() {
    let held = Held::new(url_of(POSTGRES.shared(), "killed_tests"));
    held.run(&BUILD).good();
    // In RF1, which is rolled back.
    let orders = held.lock("orders", "SHARE");
    let run = held.start(&POWER, "INSERT INTO orders%");
    held.kill(run, orders);
    held.is_whole();
    // While streams execute queries, and RF1 beside them is held.
    let orders = held.lock("orders", "SHARE");
    let run = held.start(&STREAMS, "INSERT INTO orders%");
    held.kill(run, orders);
    held.is_whole();
    // In a query after RF1.
    let orders = held.lock("orders", "SHARE");
    let mut run = held.start(&POWER, "INSERT INTO orders%");
    let region = held.lock("region", "ACCESS EXCLUSIVE");
    drop(orders);
    held.wait_for(&mut run, "%n_regionkey = r_regionkey%");
    held.kill(run, region);
    held.is_between_functions();
    // In the RF2 that is missing.
    let orders = held.lock("orders", "SHARE");
    let run = held.start(&POWER, "DELETE FROM orders%");
    held.kill(run, orders);
    held.is_between_functions();
    held.run(&POWER).good();
    held.run(&["check", "tpch"]).good().says(&["5 of 5 checks pass", "answers not compared"]);
}

#[test]
fn two_runs_with_refresh_functions_on_one_database_are_refused() {
    let held = Held::new(url_of(POSTGRES.shared(), "two_runs"));
    held.run(&BUILD).good();
    let orders = held.lock("orders", "SHARE");
    let mut run = held.start(&POWER, "INSERT INTO orders%");
    let begun = "SELECT count(*) FROM run WHERE status = 'running'";
    let is_begun = |_: &str| number_in(&held.home.store(), begun) == Some(1);
    run.wait_until("the run in the store", is_begun);
    let refused = ["another run (tpch", "writes into the tables of tpch", "two cannot"];
    held.run(&POWER).code(1).warns(&refused).is_a_sentence();
    let other = Held::new(held.target.clone());
    let refused = ["kept in another store", "writes into the tables of tpch", "two cannot"];
    other.run(&POWER).code(1).warns(&refused).is_a_sentence();
    held.run(&["run", "tpch", "--test=queries", "--transactions=2", "--check=off"]);
    held.kill(run, orders);
    held.is_whole();
}

/// Kills the server of a held command and starts it again.
fn crash(server: &mut Server, lock: Lock) {
    server.kill().expect("killed");
    drop(lock);
    server.restart().expect("it recovers");
}

#[test]
fn a_server_that_is_killed_in_any_phase_of_a_build_loses_nothing_that_the_build_needs() {
    let mut server = POSTGRES.start_with(&[("fsync", "on")]);
    let held = Held::new(url(&server));
    for [table, mode, pattern] in PHASES {
        held.run(&[&BUILD[..], &["--tables-only"]].concat()).good();
        let lock = held.lock(table, mode);
        let build = held.start(&BUILD, pattern);
        crash(&mut server, lock);
        build.end().good().says(&["reconnected"]);
        held.is_whole();
        held.run(&["drop", "tpch"]).good();
    }
}

#[test]
fn a_server_that_is_killed_in_any_phase_of_a_test_voids_its_figures_and_leaves_whole_data() {
    let mut server = POSTGRES.start_with(&[("fsync", "on")]);
    let held = Held::new(url(&server));
    held.run(&BUILD).good();
    let power = [&POWER[..], &["--output=json"]].concat();
    let voids = |run: Started| {
        let report = run.end().json();
        let power = &report["primary_metrics"]["power_at_size"];
        assert!(power["value"].is_null() && power["reason"].is_string(), "{power:#}");
    };
    // Returns a run that waits in a query, and the lock that holds it there.
    let in_query = || {
        let orders = held.lock("orders", "SHARE");
        let mut run = held.start(&power, "INSERT INTO orders%");
        let region = held.lock("region", "ACCESS EXCLUSIVE");
        drop(orders);
        held.wait_for(&mut run, "%n_regionkey = r_regionkey%");
        (run, region)
    };
    // In RF1.
    let orders = held.lock("orders", "SHARE");
    let run = held.start(&power, "INSERT INTO orders%");
    crash(&mut server, orders);
    voids(run);
    // In a query.
    let (run, region) = in_query();
    crash(&mut server, region);
    voids(run);
    // In RF2.
    let (mut run, region) = in_query();
    let orders = held.lock("orders", "SHARE");
    drop(region);
    held.wait_for(&mut run, "DELETE FROM orders%");
    crash(&mut server, orders);
    voids(run);
    held.run(&POWER).good();
    held.run(&["check", "tpch"]).good().says(&["5 of 5 checks pass"]);
}
