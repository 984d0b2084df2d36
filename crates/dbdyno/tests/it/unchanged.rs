//! Tests that commands leave no trace at a server: neither a new session nor an existing one behind
//! a pooler finds a setting, an object or a lock that was not there before.
//!
//! Not here: the data themselves, and leftovers of a killed process (settings).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use drivers::Opening;
use model::{Place, Placement, Request, Row, Session, StatementKind, Target};
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::Home;
use crate::proxies::pgbouncer;
use crate::real::{url, with_password};
use crate::waiting::now;

/// Queries with their names. Their rows must be the same before and after a command.
type Queries = [(&'static str, &'static str)];
/// Rows that each query of a server's or session's state returned, as text, by the query's name.
type State = BTreeMap<&'static str, Vec<String>>;

/// Queries for the state of a PostgreSQL session, also behind a pooler.
const OF_POSTGRES_SESSION: &Queries = &[
    ("settings", "SELECT name, setting, source FROM pg_settings ORDER BY name"),
    ("prepared", "SELECT statement FROM pg_prepared_statements ORDER BY 1"),
    ("listens", "SELECT pg_listening_channels()"),
    ("temporary", "SELECT relname::text FROM pg_class WHERE relpersistence = 't' ORDER BY 1"),
    (
        "locks",
        "SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND \
         locktype = 'advisory'",
    ),
];

const OF_POSTGRES_SERVER: &Queries = &[
    ("settings", "SELECT name, setting, source FROM pg_settings ORDER BY name"),
    ("files", "SELECT name, setting FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'"),
    (
        "of roles",
        "SELECT setdatabase::text, setrole::text, setconfig::text FROM pg_db_role_setting",
    ),
    ("roles", "SELECT rolname::text FROM pg_roles ORDER BY 1"),
    ("databases", "SELECT datname::text FROM pg_database ORDER BY 1"),
    ("transactions", "SELECT gid FROM pg_prepared_xacts"),
    ("slots", "SELECT slot_name::text FROM pg_replication_slots"),
    (
        "locks",
        "SELECT l.locktype, l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
         WHERE a.backend_type = 'client backend' AND l.pid <> pg_backend_pid() ORDER BY 1, 2",
    ),
];

const OF_POSTGRES_OBJECTS: &Queries = &[
    (
        "relations",
        "SELECT relname::text, relkind::text, relpersistence::text FROM pg_class \
         WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
    ),
    ("functions", "SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace"),
    ("extensions", "SELECT extname::text FROM pg_extension ORDER BY 1"),
];

/// Queries for the state of a MariaDB server, without variables that describe the activity of a
/// session or the server.
const OF_MARIADB_SERVER: &Queries = &[
    (
        "globals",
        "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%gtid%' AND \
         Variable_name NOT LIKE 'innodb_buffer_pool_%_now'",
    ),
    (
        "session",
        "SHOW SESSION VARIABLES WHERE Variable_name NOT LIKE '%gtid%' AND Variable_name NOT IN \
         ('timestamp', 'pseudo_thread_id', 'rand_seed1', 'rand_seed2')",
    ),
    ("prepared", "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'"),
    (
        "locks",
        "SELECT object_type, lock_type FROM performance_schema.metadata_locks \
         WHERE owner_thread_id <> (SELECT thread_id FROM performance_schema.threads \
         WHERE processlist_id = connection_id())",
    ),
    ("instruments", "SELECT name, enabled, timed FROM performance_schema.setup_instruments"),
    ("consumers", "SELECT name, enabled FROM performance_schema.setup_consumers"),
    ("databases", "SELECT schema_name FROM information_schema.schemata ORDER BY 1"),
];

const OF_MARIADB_OBJECTS: &Queries = &[
    (
        "tables",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
    ),
    (
        "routines",
        "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()",
    ),
];

pub(crate) fn connect(target: &Target) -> Box<dyn Session> {
    let database = drivers::open(target, Opening { create: false, seed: 0 });
    let database = database.unwrap_or_else(|no| panic!("{no}"));
    let clock = Rc::new(engine::ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock, client: 0 };
    engine::block_on(database.connect(place, Arc::from(Vec::new()))).expect("it lets us in")
}

pub(crate) fn say(session: &mut dyn Session, request: Request<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    let mut visit = |row: &dyn Row| {
        let cells: Vec<String> =
            (0..row.width()).map(|column| format!("{:?}", row.value(column))).collect();
        rows.push(cells.join(" "));
        Ok(())
    };
    engine::block_on(model::query(session, request, &mut visit)).expect("it answers");
    rows
}

pub(crate) fn text(sql: &str) -> Request<'_> {
    Request::Text { kind: StatementKind::Read, sql }
}

fn state(session: &mut dyn Session, queries: &Queries) -> State {
    queries.iter().map(|(name, sql)| (*name, say(session, text(sql)))).collect()
}

/// States of all connections of a pool. Each has a transaction at the same time, so that no
/// connection is seen twice.
fn of_pool(target: &Target, queries: &Queries) -> Vec<State> {
    let mut sessions: Vec<_> = (0..POOL).map(|_| connect(target)).collect();
    let mut process = |session: &mut Box<dyn Session>| {
        say(session.as_mut(), Request::Begin);
        let number = say(session.as_mut(), text("SELECT pg_backend_pid()")).concat();
        (number, state(session.as_mut(), queries))
    };
    let all: BTreeMap<String, State> = sessions.iter_mut().map(&mut process).collect();
    assert_eq!(all.len() as u32, POOL, "each has a connection of its own");
    for session in &mut sessions {
        say(session.as_mut(), Request::Commit);
    }
    all.into_values().collect()
}

/// Number of connections that the pooler may hold to the server.
const POOL: u32 = 2;

/// Waits until the asking session is the only one of the server. Sessions of an ended process may
/// remain for a moment.
fn wait_until_alone(session: &mut dyn Session, others: &str) {
    let deadline = now() + Duration::from_secs(60);
    while say(session, text(others)) != ["Int(0)"] {
        assert!(now() < deadline, "sessions stay: {:?}", say(session, text(others)));
        thread::park_timeout(Duration::from_millis(10));
    }
}

#[track_caller]
fn same(after: &str, before: &State, now: &State) {
    for (name, rows) in before {
        let (gone, new): (Vec<_>, Vec<_>) = (
            rows.iter().filter(|row| !now[name].contains(row)).collect(),
            now[name].iter().filter(|row| !rows.contains(row)).collect(),
        );
        assert!(gone.is_empty() && new.is_empty(), "{after}: {name}: {gone:#?} became {new:#?}");
        assert_eq!(rows.len(), now[name].len(), "{after}: {name}");
    }
}

const DATA: [&str; 3] = ["oltp-read-write", "--tables=2", "--table-size=500"];
const SHORT: [&str; 5] = ["--duration=1s", "--ramp-up=0s", "--clients=3", "--rate=60", "--quiet"];

/// Returns commands on the data, with their arguments. Commands that vary settings come last.
fn commands(settings: [&'static str; 2]) -> Vec<Vec<&'static str>> {
    let with_data =
        |command: &'static str, more: &[&'static str]| [&[command], &DATA[..], more].concat();
    let varied = |vary| [&["run", "empty", vary][..], &SHORT].concat();
    vec![
        with_data("build", &["--quiet"]),
        with_data("run", &SHORT),
        with_data("run", &[&SHORT[..], &["--placement=loop", "--secondary=false"]].concat()),
        with_data("run", &[&SHORT[..], &["--monitor=all", "--instruments"]].concat()),
        with_data("check", &["--checksums"]),
        with_data("show", &[]),
        with_data("settle", &["--quiet"]),
        varied(settings[0]),
        varied(settings[1]),
        with_data("drop", &[]),
        with_data("build", &["--quiet", "--load-method=insert"]),
        with_data("drop", &[]),
    ]
}

#[test]
fn no_command_leaves_anything_behind_at_postgres_or_in_the_connections_of_a_pooler() {
    let server = POSTGRES.start();
    let pooler = pgbouncer(&server, POOL);
    let mut session = connect(&server.target());
    let objects = state(session.as_mut(), OF_POSTGRES_OBJECTS);
    let pooled = pooler.behind(server.target(), &[("statements", "unnamed")]);
    let fresh = |target: &Target| state(connect(target).as_mut(), OF_POSTGRES_SERVER);
    let before = (fresh(&server.target()), of_pool(&pooled, OF_POSTGRES_SESSION));
    let home = Home::new();
    let settings = ["--vary=server.work_mem=5MB,6MB", "--vary=server.synchronous_commit=off,local"];
    // Builds need no option for a pooler.
    let plain = pooler.behind(server.target(), &[]);
    let builds =
        commands(settings).into_iter().filter(|words| ["build", "drop"].contains(&words[0]));
    for (target, commands) in [
        (with_password(&pooled), commands(settings)),
        (with_password(&plain), builds.collect()),
        (url(&server), commands(settings)),
    ] {
        let target = format!("--target={target}");
        for command in commands {
            let words = command.join(" ");
            home.run(&[&command[..], &[&target]].concat()).good();
            same(&words, &before.0, &fresh(&server.target()));
            for (was, is) in before.1.iter().zip(&of_pool(&pooled, OF_POSTGRES_SESSION)) {
                same(&format!("{words}, behind the pooler"), was, is);
            }
        }
        same("the last drop", &objects, &state(session.as_mut(), OF_POSTGRES_OBJECTS));
    }
}

#[test]
fn no_command_leaves_anything_behind_at_mariadb() {
    let server = MARIADB.start_with(&[
        ("performance_schema", "ON"),
        ("performance_schema_instrument", "wait/lock/metadata/sql/mdl=ON"),
        ("log_output", "TABLE"),
        ("general_log", "ON"),
    ]);
    let target = server.target();
    let mut session = connect(&target);
    let others = "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id() \
                  AND user <> 'system user' AND command <> 'Daemon'";
    let objects = state(session.as_mut(), OF_MARIADB_OBJECTS);
    let fresh = |session: &mut dyn Session| {
        wait_until_alone(session, others);
        state(connect(&target).as_mut(), OF_MARIADB_SERVER)
    };
    let before = fresh(session.as_mut());
    let home = Home::new();
    let url = format!("--target={}", url(&server));
    let settings = [
        "--vary=server.innodb_io_capacity=300,400",
        "--vary=server.innodb_flush_log_at_trx_commit=1,2",
    ];
    for command in commands(settings) {
        home.run(&[&command[..], &[&url]].concat()).good();
        same(&command.join(" "), &before, &fresh(session.as_mut()));
    }
    same("the last drop", &objects, &state(session.as_mut(), OF_MARIADB_OBJECTS));
    // A proxy that shares connections tracks only statements that it knows: each session sets
    // these.
    let said = "SELECT DISTINCT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
                WHERE command_type = 'Query' AND (argument LIKE 'SET %' OR argument LIKE 'LOCK %' \
                OR argument LIKE 'CREATE TEMPORARY%' OR argument LIKE 'USE %') AND argument NOT \
                LIKE 'SET GLOBAL%' ORDER BY 1";
    let known = ["Text(\"SET autocommit=1, time_zone='+00:00'\")"];
    assert_eq!(say(session.as_mut(), text(said)), known);
    let count = |session: &mut dyn Session, words: &str| {
        let sql = format!(
            "SELECT count(*) FROM mysql.general_log WHERE command_type = 'Query' AND argument LIKE \
             '{words}%'"
        );
        say(session, text(&sql))
    };
    let taken = count(session.as_mut(), "SELECT GET_LOCK");
    assert_ne!(taken, ["Int(0)"]);
    assert_eq!(taken, count(session.as_mut(), "DO RELEASE_LOCK"));
}
