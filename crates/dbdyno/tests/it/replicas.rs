//! Tests of groups with a server of their own: clients read from real replicas, whose lag is
//! measured, while others write to the plan's target.

use std::fs;
use std::path::Path;
use std::process::Command;

use model::{Secret, Target};
use servers::Server;
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer};

use crate::home::{Home, at};
use crate::real::url;
use crate::settings::{ask, say, session};

/// A server with a replica that copies it.
struct Pair {
    primary: Server,
    replica: Server,
}

fn password(target: &Target) -> String {
    target.password.as_ref().map_or("", Secret::reveal).to_owned()
}

/// Starts two servers, and makes the second a replica of the first by SQL.
fn by_sql(server: &TestServer, settings: &[(&str, &str)], statements: &[&str]) -> Pair {
    let with = |id: &'static str| [settings, &[("server_id", id)]].concat();
    let (primary, mut replica) = (server.start_with(&with("1")), server.start_with(&with("2")));
    let identity = replica.folder().join("data/auto.cnf");
    if identity.exists() {
        // Data that were copied for both have one identity, with which MySQL does not replicate.
        fs::remove_file(&identity).expect("removed");
        replica.restart().expect("it starts again");
    }
    let target = primary.target();
    let user = target.user.clone().expect("a user");
    // Both have the same users and databases already.
    let [reset, of_replica @ ..] = statements else { panic!("no statements") };
    ask(&primary, &[reset]);
    ask(&replica, &[reset]);
    for sql in of_replica {
        let sql = sql
            .replace("{port}", &primary.port().to_string())
            .replace("{user}", &user)
            .replace("{password}", &password(&target));
        ask(&replica, &[&sql]);
    }
    Pair { primary, replica }
}

fn mariadb() -> Pair {
    let settings = [("log_bin", "log"), ("binlog_format", "row"), ("gtid_strict_mode", "1")];
    let change = "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, \
                  MASTER_USER='{user}', MASTER_PASSWORD='{password}', MASTER_USE_GTID=slave_pos";
    by_sql(&MARIADB, &settings, &["RESET MASTER", change, "START SLAVE"])
}

fn mysql() -> Pair {
    let settings = [("gtid_mode", "ON"), ("enforce_gtid_consistency", "ON")];
    let change = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, \
                  SOURCE_USER='{user}', SOURCE_PASSWORD='{password}', SOURCE_AUTO_POSITION=1, \
                  GET_SOURCE_PUBLIC_KEY=1";
    let reset = "RESET BINARY LOGS AND GTIDS";
    by_sql(&MYSQL_9_7, &settings, &[reset, change, "START REPLICA"])
}

/// Copies a folder with the owners of its files.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} to {}", from.display(), to.display());
}

/// Starts a server of PostgreSQL and a hot standby of it, from a copy of its files.
fn postgres(server: &TestServer) -> Pair {
    let (primary, mut replica) = (server.start(), server.start());
    replica.shut_down().expect("it ends");
    let data = replica.folder().join("data");
    fs::remove_dir_all(&data).expect("its files");
    let mut backing_up = session(&primary);
    say(backing_up.as_mut(), "SELECT pg_backup_start('copy', true)::text");
    copy(&primary.folder().join("data"), &data);
    let label = say(backing_up.as_mut(), "SELECT labelfile FROM pg_backup_stop(false)");
    fs::remove_file(data.join("postmaster.pid")).expect("that of the primary");
    // Written over a file that the server's account owns, so that it may read them.
    for (name, text) in [("backup_label", label.unwrap_or_default()), ("standby.signal", "".into())]
    {
        copy(&data.join("PG_VERSION"), &data.join(name));
        fs::write(data.join(name), text).expect("written");
    }
    let target = primary.target();
    let connection = format!(
        "host=127.0.0.1 port={} user={} password={}",
        primary.port(),
        target.user.as_deref().expect("a user"),
        password(&target)
    );
    replica.set("primary_conninfo", &connection).expect("a setting");
    replica.restart().expect("it starts");
    Pair { primary, replica }
}

/// Returns a plan with writers at the primary and readers at the replica, whose URL names neither
/// user nor database.
fn plan(pair: &Pair) -> String {
    let scheme = pair.primary.target().scheme;
    format!(
        "target = '{}'\nduration = '2s'\nramp_up = '0s'\n\n[[group]]\nname = 'writers'\n\
         workload = 'oltp-write-only'\nclients = 2\nrate = 50\nparameters = {{ tables = 1, \
         table_size = 1000 }}\n[[group]]\nname = 'readers'\nworkload = 'oltp-read-only'\n\
         target = '{scheme}://127.0.0.1:{}'\nclients = 2\nrate = 100\nparameters = {{ tables = 1, \
         table_size = 1000 }}\n",
        url(&pair.primary),
        pair.replica.port()
    )
}

/// Runs writers at the primary and readers at the replica, in this process and in another.
#[track_caller]
fn readers_use_the_replica(pair: &Pair) {
    let home = Home::new();
    for processes in ["", "processes = 1\n"] {
        home.write("plan.toml", plan(pair) + processes);
        let ran = home.run(&["run", "plan.toml", "--output=json"]);
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.err, pair.replica.log_tail());
        let report = ran.json();
        for group in ["0", "1"] {
            let counts = at(&report, &format!("groups.{group}.counts"));
            assert_eq!(counts["failed"], 0, "{report}");
            assert!(counts["committed"].as_u64().is_some_and(|n| n > 0), "{counts}");
        }
        let place = format!("127.0.0.1:{}", pair.replica.port());
        let shown = at(&report, "groups.1.target").as_str().expect("a target");
        assert!(shown.contains(&place) && !shown.contains(&password(&pair.primary.target())));
        assert!(at(&report, "facts.replica.target").as_str().is_some_and(|it| it.contains(&place)));
        let gauges = at(&report, "gauges").as_array().expect("a list");
        let lag = gauges.iter().find(|gauge| gauge["about"] == "replica" && gauge["name"] == "lag");
        let lag = lag.unwrap_or_else(|| panic!("{}", at(&report, "facts.monitor")));
        assert!(lag["mean"].as_f64().is_some_and(|ms| ms > 0.0), "{lag}");
    }
    home.run(&["runs", "show", "last"]).good().says(&["replica", "lag mean"]);
}

#[test]
fn readers_use_a_replica_of_mariadb() {
    readers_use_the_replica(&mariadb());
}

#[test]
fn readers_use_a_replica_of_mysql() {
    readers_use_the_replica(&mysql());
}

#[test]
fn readers_use_a_standby_of_postgres() {
    readers_use_the_replica(&postgres(&POSTGRES));
    readers_use_the_replica(&postgres(&POSTGRES_18));
}

#[test]
fn a_replica_that_stops_applying_is_reported_as_behind() {
    let (pair, home) = (postgres(&POSTGRES), Home::new());
    home.write("plan.toml", plan(&pair));
    home.run(&["run", "plan.toml", "--quiet"]).good();
    ask(&pair.replica, &["SELECT pg_wal_replay_pause()"]);
    let report = home.run(&["run", "plan.toml", "--output=json"]).good().json();
    let finding = at(&report, "findings").to_string();
    assert!(finding.contains("replica_behind"), "{finding}");
}

#[test]
fn a_server_of_a_group_that_cannot_be_one_is_refused() {
    let (server, home) = (POSTGRES.shared(), Home::new());
    let url = url(server);
    let refused = |target: &str, more: &str, words: &str| {
        let text = format!(
            "target = '{url}'\n{more}\n[[group]]\nworkload = 'empty'\ntarget = '{target}'\n"
        );
        home.write("plan.toml", text);
        let shown = home.run(&["run", "plan.toml"]).code(2);
        shown.warns(&["plan.toml", "target", words]).is_a_sentence();
    };
    refused("sqlite:x.db", "", "is no running server");
    refused("managed:postgres", "", "is no running server");
    refused("mariadb://127.0.0.1:1/x", "", "is another product");
    let here = format!("postgres://127.0.0.1:{}", server.port());
    refused(&here, "network_delay = '1ms'", "concern the plan's target alone");
    assert!(!home.path("x.db").exists());
}
