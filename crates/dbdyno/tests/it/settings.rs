//! Tests of settings of servers that dbdyno did not start: varied by SQL, restored in any case, and
//! reported if restoring is impossible.

use std::io::Write;
use std::process::Stdio;

use drivers::Opening;
use model::{Place, Placement, Request, Row, Session, StatementKind};
use serde_json::Value;
use servers::Server;
use servers::for_tests::{MARIADB, MYSQL_5_6, MYSQL_9_7, POSTGRES, TestServer};

use crate::home::{Home, at, number, number_in};
use crate::password::{on_a_terminal, read_until};
use crate::real::url;
use crate::waiting::{Started, eventually};

/// Setting of a product that SQL can change, with two values other than its own.
struct Varied {
    server: &'static TestServer,
    name: &'static str,
    values: [&'static str; 2],
    /// Query that returns the value of the setting.
    sql: &'static str,
    /// Statements that change the setting to a value other than its own and those in `values`, as
    /// another user of the server may do.
    set: &'static [&'static str],
}

const MARIADB_IO: Varied = Varied {
    server: &MARIADB,
    name: "innodb_io_capacity",
    values: ["300", "400"],
    sql: "SELECT CAST(@@GLOBAL.innodb_io_capacity AS CHAR)",
    set: &["SET GLOBAL innodb_io_capacity = 500"],
};

const MYSQL_IO: Varied = Varied { server: &MYSQL_9_7, ..MARIADB_IO };

const POSTGRES_WORK: Varied = Varied {
    server: &POSTGRES,
    name: "work_mem",
    values: ["5MB", "6MB"],
    sql: "SELECT current_setting('work_mem')",
    set: &["ALTER SYSTEM SET work_mem = '7MB'", "SELECT pg_reload_conf()"],
};

/// Opens a session at a server as its owner.
pub(crate) fn session(server: &Server) -> Box<dyn Session> {
    let opening = Opening { create: false, seed: 0 };
    let database = drivers::open(&server.target(), opening).expect("it answers");
    let clock = std::rc::Rc::new(engine::ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock, client: 0 };
    let connecting = database.connect(place, std::sync::Arc::from(Vec::new()));
    engine::block_on(connecting).expect("it lets us in")
}

/// Runs a statement; returns the last text of its result, `None` if there is none.
pub(crate) fn say(session: &mut dyn Session, sql: &str) -> Option<String> {
    let mut last = None;
    let request = Request::Text { kind: StatementKind::Other, sql };
    let mut visit = |row: &dyn Row| {
        if let Ok(text) = row.text(0) {
            last = Some(text.to_owned());
        }
        Ok(())
    };
    engine::block_on(model::query(session, request, &mut visit)).expect("it does");
    last
}

/// Runs statements on a new session; returns the last value of the last one.
pub(crate) fn ask(server: &Server, statements: &[&str]) -> String {
    let mut session = session(server);
    let said = statements.iter().filter_map(|sql| say(session.as_mut(), sql)).last();
    said.unwrap_or_default()
}

fn experiment(varied: &Varied, target: &str, more: &[&str]) -> Vec<String> {
    let vary = format!("--vary=server.{}={}", varied.name, varied.values.join(","));
    let base = ["run", "empty", target, &vary, "--clients=1", "--rate=20", "--ramp-up=0s"];
    base.iter().chain(&["--placement=thread"]).chain(more).map(|word| (*word).to_owned()).collect()
}

/// Kills dbdyno during an experiment that varies the setting, while the setting is changed.
fn killed(home: &Home, varied: &Varied, server: &Server) {
    let target = format!("--target={}", url(server));
    let args = experiment(varied, &target, &["--duration=2s", "--repeat=2"]);
    let mut run: Started = home.start(&args);
    let (store, sql) = (home.store(), "SELECT count(*) FROM run");
    run.wait_until("a second trial", |_| number_in(&store, sql) >= Some(2));
    run.kill();
    run.end();
}

fn restored(varied: &Varied) {
    let server = varied.server.start();
    let home = Home::new();
    let before = ask(&server, &[varied.sql]);
    killed(&home, varied, &server);
    let left = ask(&server, &[varied.sql]);
    assert_eq!(left, varied.values[1], "it was killed in mid-experiment");

    // The next command on the store offers to restore it, and changes nothing without consent.
    let hint =
        format!("left settings of {} changed: {} ({before} before)", server.target(), varied.name);
    home.run(&["runs", "list"]).good().warns(&[&hint, "dbdyno restore --target"]);
    assert_eq!(ask(&server, &[varied.sql]), left);

    // Another user's change is reported, and kept.
    ask(&server, varied.set);
    let target = format!("--target={}", url(&server));
    let args = ["restore", &target];
    home.run(&args).code(1).says(&["NOT RESTORED", "somebody else has changed it", "--force"]);
    let dry = home.run(&["restore", &target, "--force", "--dry-run"]).good();
    dry.says(&[&format!("{before} before"), "would be restored"]);
    let shown = home.json(&["restore", &target, "--force"]);
    assert_eq!(at(&shown, "settings.0.fate"), "set_back", "{shown:#}");
    assert_eq!(ask(&server, &[varied.sql]), before);
    home.run(&args).good().says(&["no settings of that server are left changed"]);
    let quiet = home.run(&["runs", "list"]).good();
    assert!(!quiet.err.contains("restore"), "{}", quiet.err);
}

#[test]
fn what_was_left_is_forgotten_by_name_and_the_server_stays_as_it_is() {
    let (varied, server) = (&MARIADB_IO, MARIADB.start());
    let home = Home::new();
    killed(&home, varied, &server);
    let left = ask(&server, &[varied.sql]);
    home.run(&["restore", "--forget", "bogus"]).code(2).warns(&["no setting bogus is left"]);
    home.run(&["restore", "--forget", "--force"]).code(2);
    home.run(&["restore", "--forget", varied.name]).good().says(&[varied.name, "forgotten"]);
    assert_eq!(ask(&server, &[varied.sql]), left);
    home.run(&["restore", "--forget"]).good().says(&["no settings of a server are left changed"]);
    let quiet = home.run(&["runs", "list"]).good();
    assert!(!quiet.err.contains("restore"), "{}", quiet.err);
}

#[test]
fn a_killed_experiments_settings_of_mariadb_are_restored() {
    restored(&MARIADB_IO);
}

#[test]
fn a_killed_experiments_settings_of_mysql_are_restored() {
    restored(&MYSQL_IO);
}

#[test]
fn a_killed_experiments_settings_of_postgres_are_restored() {
    restored(&POSTGRES_WORK);
}

/// Returns the names of the points of an experiment with their numbers of runs, without figures.
fn shape(shown: &Value) -> Vec<(String, usize)> {
    let points = at(shown, "points").as_array().expect("a list").iter();
    let row = |point: &Value| {
        let n_runs = at(point, "runs").as_array().map_or(0, Vec::len);
        (at(point, "values").to_string(), n_runs)
    };
    points.map(row).collect()
}

#[test]
fn a_killed_experiment_over_settings_goes_on_and_sets_them_back() {
    for varied in [&MARIADB_IO, &MYSQL_IO, &POSTGRES_WORK] {
        let server = varied.server.start();
        let home = Home::new();
        let before = ask(&server, &[varied.sql]);
        killed(&home, varied, &server);
        let password = crate::real::url_and_password(&server).1;
        let mut command = home.dbdyno(&["experiments", "resume", "last", "--output=json"]);
        command.env("DBDYNO_PASSWORD", password);
        let shown = Started::new(command).end().good().json();
        assert_eq!(number(&shown, "trials_done"), 4.0);
        let values =
            varied.values.map(|value| format!("{{\"server.{}\":\"{value}\"}}", varied.name));
        assert_eq!(shape(&shown), values.map(|values| (values, 2)));
        assert_eq!(ask(&server, &[varied.sql]), before);
        home.run(&["restore"]).good().says(&["no setting"]);
        // The setting in force is a fact of each run.
        let run = at(&shown, "points.1.runs.0").as_str().expect("an id").to_owned();
        let facts = home.json(&["runs", "show", &run]);
        assert!(facts.to_string().contains(varied.values[1]), "{facts:#}");
    }
}

#[test]
fn what_sql_has_set_beyond_a_restart_is_set_back_as_such() {
    let server = POSTGRES.start();
    let home = Home::new();
    let varied = POSTGRES_WORK;
    ask(&server, varied.set);
    let target = format!("--target={}", url(&server));
    home.run(&experiment(&varied, &target, &["--duration=1s", "--quiet"])).good();
    let kept = "SELECT setting FROM pg_file_settings WHERE name = 'work_mem'";
    assert_eq!(ask(&server, &[kept]), "7MB");
    ask(&server, &["ALTER SYSTEM RESET work_mem", "SELECT pg_reload_conf()"]);
    home.run(&experiment(&varied, &target, &["--duration=1s", "--quiet"])).good();
    assert_eq!(ask(&server, &[kept]), "", "it was not there before");
}

#[track_caller]
fn a_plan_sets_settings_for_its_run_alone_on(server: &TestServer) {
    let (server, home) = (server.start(), Home::new());
    let sql = ["SELECT CAST(@@GLOBAL.innodb_flush_log_at_trx_commit AS CHAR)"];
    let before = ask(&server, &sql);
    let plan = format!(
        "[target]\nurl = '{}'\n[phases]\nramp_up = '0s'\nmeasure = '1s'\n\
         [server]\ninnodb_flush_log_at_trx_commit = 0\n[[group]]\nworkload = 'empty'\n",
        url(&server)
    );
    home.write("plan.toml", plan);
    let report = home.report_with_code(0, &["run", "plan.toml", "--quiet"]);
    assert!(report.to_string().contains("innodb_flush_log_at_trx_commit=0"), "{report:#}");
    assert_eq!(ask(&server, &sql), before);
    let plan = home.run(&["runs", "show", "last", "--plan"]).good().out;
    assert!(plan.contains("[server]\ninnodb_flush_log_at_trx_commit = \"0\""), "{plan}");
    let kept = home.run(&["run", "plan.toml", "--no-store"]).code(2);
    kept.warns(&["a journal in the store"]).is_a_sentence();
}

#[test]
fn a_plan_sets_settings_for_its_run_alone_on_old_and_new_mysql() {
    a_plan_sets_settings_for_its_run_alone_on(&MYSQL_5_6);
    a_plan_sets_settings_for_its_run_alone_on(&MYSQL_9_7);
}

#[test]
fn what_sql_cannot_set_is_reported_before_anything_is_run() {
    let home = Home::new();
    let check = |server: &Server, vary: &str, words: &[&str]| {
        let target = format!("--target={}", url(server));
        let vary = format!("--vary=server.{vary}");
        let args = ["run", "empty", &target, &vary, "--duration=1s", "--quiet"];
        home.run(&args).code(2).warns(words).is_a_sentence();
    };
    for mysql in [MARIADB.shared(), MYSQL_9_7.shared()] {
        check(mysql, "innodb_page_size=4096,8192", &["takes effect only at a start of the server"]);
        check(mysql, "innodb_io_capasity=1,2", &["no setting of that name"]);
        check(mysql, "innodb_io_capacity=many,few", &["cannot be set to 'many'"]);
        check(mysql, "innodb_io_capacity=1,2", &["are the same to"]);
    }
    let (old, new) = ("tx_isolation", "transaction_isolation");
    for (server, name, other) in
        [(&MARIADB, new, old), (&MYSQL_5_6, new, old), (&MYSQL_9_7, old, new)]
    {
        let vary = format!("{name}=READ-COMMITTED,SERIALIZABLE");
        check(server.shared(), &vary, &[&format!("it calls it {other}, so use server.{other}")]);
    }
    let postgres = POSTGRES.shared();
    check(postgres, "wal_buffers=1MB,2MB", &["takes effect only at a start of the server"]);
    check(postgres, "shared_buffers=1MB,2MB", &["its source is 'command line'"]);
    check(postgres, "fsync=on,off", &["its source is 'command line'"]);
    check(postgres, "work_mom=1MB,2MB", &["no setting of that name"]);
    check(postgres, "work_mem=1MB,fast", &["cannot be set to 'fast'"]);
    home.run(&["restore"]).good().says(&["no settings of a server are left changed"]);
    let runs = home.json(&["runs", "list"]);
    assert_eq!(at(&runs, "runs").as_array().map(Vec::len), Some(0));
}

#[test]
fn who_may_not_set_a_setting_is_reported() {
    let home = Home::new();
    let (mysql, postgres) = ([MARIADB.shared(), MYSQL_9_7.shared()], POSTGRES.shared());
    let user = ["CREATE USER humble@'%' IDENTIFIED BY 'h'", "GRANT ALL ON dbdyno.* TO humble@'%'"];
    mysql.iter().for_each(|server| drop(ask(server, &user)));
    ask(postgres, &["CREATE ROLE humble LOGIN PASSWORD 'h'"]);
    let remedy = "a superuser can allow it: GRANT SELECT ON pg_file_settings TO humble";
    let privilege = "sign in as a user with the privilege";
    for (server, vary, remedy) in [
        (mysql[0], "innodb_io_capacity=300,400", privilege),
        (mysql[1], "innodb_io_capacity=300,400", privilege),
        (postgres, "work_mem=5MB,6MB", remedy),
    ] {
        let mut target = server.target();
        target.user = Some("humble".to_owned());
        let target = format!("--target={}", target.to_string().replacen('@', ":h@", 1));
        let vary = format!("--vary=server.{vary}");
        let args = ["run", "empty", &target, &vary, "--duration=1s", "--quiet"];
        home.run(&args).code(2).warns(&[remedy]).is_a_sentence();
    }
    home.run(&["restore"]).good().says(&["no settings of a server are left changed"]);
}

#[test]
fn an_interrupted_experiment_sets_its_settings_back() {
    let (varied, server) = (&POSTGRES_WORK, POSTGRES.start());
    let home = Home::new();
    let before = ask(&server, &[varied.sql]);
    let target = format!("--target={}", url(&server));
    let mut run = home.start(&experiment(varied, &target, &["--duration=1h"]));
    let (store, sql) = (home.store(), "SELECT count(*) FROM run");
    run.wait_until("a trial", |_| number_in(&store, sql) == Some(1));
    assert_eq!(ask(&server, &[varied.sql]), varied.values[0]);

    // The setting is in use by a living process: nothing is offered, restored or varied.
    let beside = home.run(&["runs", "list"]).good();
    assert!(!beside.err.contains("restore"), "{}", beside.err);
    let in_use = home.run(&["restore", &target]).code(1);
    in_use.says(&[&format!("NOT RESTORED: process {} uses it", run.id())]);
    let other = home.run(&experiment(varied, &target, &["--duration=1s", "--quiet"])).code(1);
    other.warns(&[&format!("is being varied by process {}", run.id())]).is_a_sentence();

    run.interrupt();
    run.end().code(130).warns(&["resume with:\n  dbdyno experiments resume"]);
    // PostgreSQL's processes reload their settings with a delay.
    assert!(
        eventually(|| ask(&server, &[varied.sql]) == before),
        "{}",
        ask(&server, &[varied.sql])
    );
    home.run(&["restore"]).good().says(&["no setting"]);
}

#[test]
fn whoever_runs_next_at_a_terminal_is_asked_whether_to_set_back() {
    let (varied, server) = (&MARIADB_IO, MARIADB.start());
    let home = Home::new();
    let before = ask(&server, &[varied.sql]);
    killed(&home, varied, &server);
    let target = "--target=sim:?service=constant:5ms";
    let words = ["run", "empty", target, "--duration=1s", "--ramp-up=0s", "--quiet"];
    let (mut terminal, mut command, theirs) = on_a_terminal(&home, &words);
    command.env("DBDYNO_PASSWORD", crate::real::url_and_password(&server).1);
    // The question goes to the reader of stderr.
    command.stderr(theirs).stdout(Stdio::null());
    let run = Started::as_it_is(command);
    read_until(&mut terminal, "Restore them now? [Y/n]");
    terminal.write_all(b"y\n").expect("it listens");
    read_until(&mut terminal, ": restored");
    run.end();
    assert_eq!(ask(&server, &[varied.sql]), before);
}

#[test]
fn a_setting_that_the_server_has_rounded_is_a_finding() {
    let server = MARIADB.start();
    let home = Home::new();
    let plan = format!(
        "[target]\nurl = '{}'\n[phases]\nramp_up = '0s'\nmeasure = '1s'\n\
         [server]\nread_buffer_size = 131_073\n[[group]]\nworkload = 'empty'\nclients = 1\n",
        url(&server)
    );
    home.write("plan.toml", plan);
    let report = home.json(&["run", "plan.toml", "--quiet"]);
    let findings = at(&report, "findings").to_string();
    let words = "read_buffer_size was set to 131073, but ";
    let is_reported = findings.contains("setting_adjusted") && findings.contains(words);
    assert!(
        is_reported && findings.contains("reports 131072. The figures are those"),
        "{findings}"
    );
    // The same for a server that was started with it; a value that it accepts unchanged is no
    // finding.
    let url = "--target=managed:mariadb?read_buffer_size=131073&max_connections=100";
    let args = ["run", "empty", url, "--duration=1s", "--ramp-up=0s", "--rate=20", "--quiet"];
    let findings = at(&home.json(&args), "findings").to_string();
    assert!(findings.contains(words) && !findings.contains("max_connections"), "{findings}");
}

#[track_caller]
fn settings_are_lost_in_mid_run(varied: &Varied) {
    let (mut server, home) = (varied.server.start(), Home::new());
    let before = ask(&server, &[varied.sql]);
    let plan = format!(
        "[target]\nurl = '{}'\n[phases]\nramp_up = '0s'\nmeasure = '1h'\n\
         [server]\ninnodb_io_capacity = 300\n[[group]]\nworkload = 'empty'\nclients = 1\n\
         load = 'open'\nrate = 20\n",
        url(&server)
    );
    home.write("plan.toml", plan);
    let mut run = home.start(&["run", "plan.toml", "--output=json"]);
    let (store, sql) = (home.store(), "SELECT count(*) FROM second");
    run.wait_until("a first second", |_| number_in(&store, sql) >= Some(1));
    server.kill().expect("it is ours");
    server.restart().expect("it comes back");
    run.interrupt();
    let report = run.end().code(130).json();
    let findings = at(&report, "findings").to_string();
    let words = format!("innodb_io_capacity is {before}, and was set to 300");
    assert!(findings.contains("settings_lost") && findings.contains(&words), "{findings}");
    assert_eq!(ask(&server, &[varied.sql]), before);
}

#[test]
fn settings_that_a_server_has_lost_in_mid_run_make_it_invalid() {
    settings_are_lost_in_mid_run(&MARIADB_IO);
    settings_are_lost_in_mid_run(&MYSQL_IO);
}
