//! Tests of restarts, kills, pauses and copies, on a MariaDB and a PostgreSQL server.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use servers::{Kind, Server};

use crate::another::busy;
use crate::client::{ask, parent, run, start_small};
use crate::waiting::{LIMIT, ends_within};

/// Runs `check` with a MariaDB and with a PostgreSQL server, each in a folder of its own and with a
/// table of three rows.
fn both(check: fn(Server, &Path)) {
    for kind in [Kind::MariaDb, Kind::Postgres] {
        let parent = parent();
        let server = start_small(kind, parent.path());
        ask(&server, "CREATE TABLE t (i int)");
        ask(&server, "INSERT INTO t VALUES (1), (2), (3)");
        check(server, parent.path());
    }
}

#[test]
fn a_restart_keeps_data_and_place_and_takes_new_settings() {
    both(|mut server, _| {
        let (target, pid) = (server.target(), server.process_id());
        server.set("max_connections", "77").expect("a setting");
        server.set("port", "5").expect_err("ours to say");
        server.restart().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(server.target(), target);
        assert_ne!(server.process_id(), pid);
        assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
        let sql = if server.kind() == Kind::Postgres {
            "SHOW max_connections"
        } else {
            "SELECT @@max_connections"
        };
        assert_eq!(ask(&server, sql), "77");
    });
}

#[test]
fn a_killed_server_is_noticed_and_recovers_what_it_has_promised() {
    both(|mut server, _| {
        assert_eq!(server.ended(), None);
        let pid = server.process_id().expect("running");
        server.kill().expect("killed");
        assert!(ends_within(pid, Duration::ZERO));
        assert!(server.ended().expect("ended").starts_with("is not running"));
        assert!(!run(server.kind(), &server.target(), "SELECT 1").status.success());
        server.restart().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
    });
}

#[test]
fn a_server_that_others_kill_is_noticed_with_its_signal() {
    both(|mut server, _| {
        let client = (server.kind() == Kind::Postgres).then(|| busy(&server));
        let pid = server.process_id().expect("running");
        let number = Pid::from_raw(i32::try_from(pid).expect("small")).expect("not 0");
        kill_process(number, Signal::KILL).expect("killed");
        assert!(ends_within(pid, LIMIT));
        let words = server.ended().expect("ended");
        assert!(words.starts_with("was ended by signal 9; the end of its log:\n"), "{words}");
        // The restart also ends the server's busy child, which was an orphan for a while.
        server.restart().unwrap_or_else(|error| panic!("{error}"));
        if let Some(mut client) = client {
            client.wait().expect("reaped");
        }
        assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
    });
}

#[test]
fn a_paused_server_does_not_answer_until_it_is_resumed() {
    let parent = parent();
    let server = start_small(Kind::MariaDb, parent.path());
    server.pause().expect("paused");
    let mut stream = UnixStream::connect(server.socket()).expect("the system accepts");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
    let mut first = [0u8; 1];
    let error = stream.read_exact(&mut first).expect_err("no greeting");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    server.resume().expect("resumed");
    stream.set_read_timeout(Some(LIMIT)).expect("set");
    stream.read_exact(&mut first).expect("a greeting");
}

#[test]
fn a_server_goes_back_to_the_copy_of_its_data_as_often_as_asked() {
    both(|mut server, _| {
        assert!(!server.has_copy());
        server.copy_data().unwrap_or_else(|error| panic!("{error}"));
        server.restart().unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..2 {
            ask(&server, "DELETE FROM t");
            assert_eq!(ask(&server, "SELECT count(*) FROM t"), "0");
            server.put_back().unwrap_or_else(|error| panic!("{error}"));
            server.restart().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
        }
    });
}

#[test]
fn a_paused_server_is_stopped_all_the_same() {
    both(|mut server, parent| {
        server.pause().expect("paused");
        server.restart().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
        server.pause().expect("paused");
        let pid = server.process_id().expect("running");
        drop(server);
        assert!(ends_within(pid, Duration::ZERO));
        assert_eq!(parent.read_dir().expect("a folder").count(), 0);
    });
}

#[test]
fn several_servers_live_side_by_side() {
    let parent = parent();
    let kinds = [Kind::MariaDb, Kind::MariaDb, Kind::Postgres, Kind::Postgres];
    let servers: Vec<Server> = kinds.map(|kind| start_small(kind, parent.path())).into();
    for (index, server) in servers.iter().enumerate() {
        ask(server, "CREATE TABLE t (i int)");
        ask(server, &format!("INSERT INTO t VALUES ({index})"));
    }
    for (index, server) in servers.iter().enumerate() {
        assert_eq!(ask(server, "SELECT i FROM t"), index.to_string());
    }
    assert_eq!(parent.path().read_dir().expect("a folder").count(), kinds.len());
    drop(servers);
    assert_eq!(parent.path().read_dir().expect("a folder").count(), 0);
}

#[test]
fn a_file_that_only_the_server_reads_can_be_named_in_a_setting() {
    let parent = parent();
    let mut server = start_small(Kind::Postgres, parent.path());
    let rules = "host all all 127.0.0.1/32 trust\nlocal all all reject\n";
    let path = server.put_file("rules.conf", rules.as_bytes()).expect("written");
    let path = server.put_file("rules.conf", rules.as_bytes()).map(|_| path).expect("replaced");
    server.put_file("../rules.conf", b"").expect_err("no name for a file");
    server.set("hba_file", path.to_str().expect("plain")).expect("a setting");
    server.restart().unwrap_or_else(|error| panic!("{error}"));
    let mut target = server.target();
    target.password = None;
    assert!(run(Kind::Postgres, &target, "SELECT 1").status.success());
    assert!(!run(Kind::Postgres, &server.socket_target(), "SELECT 1").status.success());
}

#[test]
fn a_postgres_that_is_dropped_leaves_no_shared_memory() {
    let segments = || std::fs::read_to_string("/proc/sysvipc/shm").expect("listed");
    let parent = parent();
    let server = start_small(Kind::Postgres, parent.path());
    // The eighth word of the seventh line of postmaster.pid is the segment's number.
    let pid_file = std::fs::read_to_string(server.folder().join("data/postmaster.pid"));
    let pid_file = pid_file.expect("only root or the same user reads it");
    let segment = pid_file.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
    let segment = segment.expect("a segment").to_owned();
    let is_there =
        || segments().lines().any(|line| line.split_whitespace().nth(1) == Some(segment.as_str()));
    assert!(is_there());
    drop(server);
    assert!(!is_there());
}
