//! Tests of the MySQL driver with scripted servers that stop answering, refuse, or no longer
//! exist.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use model::{
    Column, ColumnType, Database, DbError, DbErrorKind, Host, Place, Placement, Request, RowSource,
    Session, Statement, StatementKind, Table, Target, TransactionControl, Value, load, reconnect,
};
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::packets::HandshakePacket;
use mysql_common::proto::MySerialize;

use super::super::ENTRY;
use super::super::packets::put_packet;
use crate::conformance::{OnLoops, StillClock, TestSession, block_on, on_io_uring, refused};
use crate::{CannotOpen, Opening};

/// Starts a scripted server, which runs `manners` for each connection on a thread of its own.
/// Returns its port.
pub(super) fn server(manners: impl Fn(&mut TcpStream) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let manners = manners.clone();
            thread::spawn(move || manners(&mut stream));
        }
    });
    port
}

pub(super) fn say(stream: &mut TcpStream, sequence: u8, payload: &[u8]) {
    let mut packet = Vec::new();
    put_packet(&mut packet, sequence, |out| out.extend_from_slice(payload));
    // The client may have closed the connection, which is allowed.
    let _ = stream.write_all(&packet);
}

/// Reads the payload of the client's next packet; `None` if the client has closed the connection.
pub(super) fn hear(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).ok()?;
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some(payload)
}

pub(super) const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const OK_IN_TRANSACTION: &[u8] = &[0, 0, 0, 3, 0, 0, 0];

/// Signs a client in to the scripted server, whatever its user and password are.
pub(super) fn sign_in(stream: &mut TcpStream) {
    let offered = CapabilityFlags::all() - CapabilityFlags::CLIENT_SSL;
    let nonce = Some(b"ijklmnopqrst\0".as_slice());
    let plugin = Some(b"mysql_native_password".as_slice());
    let (status, name) = (StatusFlags::empty(), b"8.4.0".as_slice());
    let greeting =
        HandshakePacket::new(10, name, 7, *b"abcdefgh", nonce, offered, 45, status, plugin);
    let mut payload = Vec::new();
    greeting.serialize(&mut payload);
    say(stream, 0, &payload);
    hear(stream);
    say(stream, 2, OK);
    hear(stream);
    say(stream, 1, OK);
}

fn open(port: u16, connect_timeout: &str) -> Result<Arc<dyn Database>, CannotOpen> {
    let options = format!("tls=disable&connect_timeout={connect_timeout}");
    let url = format!("mysql://bench:secret@127.0.0.1:{port}/db?{options}");
    (ENTRY.open)(&Target::parse(&url).expect("a URL"), Opening { create: false, seed: 1 })
}

/// Opens a scripted server with a connect timeout that is long enough for a busy machine.
pub(super) fn opened(port: u16) -> Arc<dyn Database> {
    opened_within(port, "15m")
}

fn opened_within(port: u16, connect_timeout: &str) -> Arc<dyn Database> {
    open(port, connect_timeout).unwrap_or_else(|no| panic!("{no}"))
}

/// Runs a test for clients on threads, and again for clients on event loops of each kind.
fn on_all_placements(database: &Arc<dyn Database>, law: fn(&Arc<dyn Database>)) {
    law(database);
    let on_loops = Arc::new(OnLoops(Arc::clone(database))) as Arc<dyn Database>;
    law(&on_loops);
    on_io_uring(|| law(&on_loops));
}

#[test]
fn a_server_that_never_greets_is_given_up() {
    let port = server(|stream| {
        hear(stream);
    });
    let Err(CannotOpen::Refused(no)) = open(port, "200ms") else { panic!("it must not open") };
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    assert!(no.message.contains("does not answer in time"), "{no}");
}

/// Tests that the connect timeout limits the whole sign-in: here each byte of a greeting comes in
/// time, but the greeting never ends.
#[test]
fn a_server_that_greets_byte_by_byte_is_given_up_when_the_time_is_over() {
    let port = server(|stream| {
        let every = Some(Duration::from_millis(20));
        stream.set_read_timeout(every).expect("above zero");
        let _ = stream.write_all(&[0xff, 0xff, 0xff, 0]);
        // The read, with its timeout, is the pause.
        while stream.write_all(b"x").is_ok() {
            if matches!(stream.read(&mut [0]), Ok(0)) {
                break;
            }
        }
    });
    let Err(CannotOpen::Refused(no)) = open(port, "200ms") else { panic!("it must not open") };
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    let is_named = no.message.contains(&format!("127.0.0.1:{port}"));
    assert!(is_named && no.message.contains("does not answer in time"), "{no}");
}

#[test]
fn a_server_that_ends_the_greeting_is_told_from_one_that_is_silent() {
    let port = server(|_| {});
    let Err(CannotOpen::Refused(no)) = open(port, "15m") else { panic!("it must not open") };
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    assert!(!no.message.contains("in time"), "{no}");
}

#[test]
fn a_commit_whose_answer_never_comes_is_unknown() {
    let port = server(|stream| {
        sign_in(stream);
        while let Some(asked) = hear(stream) {
            match asked.as_slice() {
                b"\x03COMMIT" => return,
                b"\x16COMMIT" => say(stream, 1, b"\0\x07\0\0\0\0\0\0\0\0\0\0"),
                // The execution of a statement.
                [0x17, ..] => return,
                b"\x03START TRANSACTION" => say(stream, 1, OK_IN_TRANSACTION),
                b"\x03gone" => return,
                _ => say(stream, 1, OK),
            }
        }
    });
    on_all_placements(&opened(port), |database| {
        let mut session = TestSession::connect(database, &[]);
        session.ask(Request::Begin).expect("begun");
        let words = refused(session.ask(Request::Commit), DbErrorKind::UnknownCommit);
        assert!(words.contains("outcome is unknown"), "{words}");
        refused(session.ask(Request::Commit), DbErrorKind::ConnectionLost);
        block_on(reconnect(&mut *session.0)).expect("made again");
        session.ask(Request::Begin).expect("begun");
        refused(session.text("gone"), DbErrorKind::ConnectionLost);
        block_on(reconnect(&mut *session.0)).expect("made again");
        let commit = session.0.prepare(Statement::new("end", StatementKind::Other, "COMMIT"));
        let commit = commit.expect("known");
        session.ask(Request::Prepare(commit)).expect("prepared");
        let commit = Request::ExecuteControl(TransactionControl::Commit, commit);
        refused(session.ask(commit), DbErrorKind::UnknownCommit);
        assert!(session.0.traffic().round_trips >= 4, "of both connections");
    });
}

/// Source of endlessly many rows, with a counter of those taken.
struct Endless<'c>(&'c AtomicU64);

impl RowSource for Endless<'_> {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        emit(&[Value::Text("a text of thirty-one letters ..")]);
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

#[test]
fn a_load_to_a_server_that_never_reads_takes_bounded_memory_and_can_be_cancelled() {
    let port = server(|stream| {
        sign_in(stream);
        hear(stream);
        say(stream, 1, b"\xfbdbdyno");
        // Reads no byte as long as this process lives.
        loop {
            thread::park();
        }
    });
    on_all_placements(&opened(port), |database| {
        let n_pulled = AtomicU64::new(0);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let mut session = TestSession::connect(database, &[]);
                sender.send(session.0.canceller()).expect("somebody listens");
                let column = Column { name: "c", of: ColumnType::VarChar(40), nullable: false };
                let table = Table {
                    name: "endless".into(),
                    columns: vec![column],
                    primary_key: vec![],
                    indexes: vec![],
                };
                let no = block_on(load(&mut *session.0, &table, &mut Endless(&n_pulled)));
                no.expect_err("it is cancelled").kind
            });
            let hand = receiver.recv().expect("a hand");
            let mut seen = u64::MAX;
            // The transfer has stopped once no row was taken for a while.
            while n_pulled.load(Ordering::Relaxed) != seen || seen == 0 {
                seen = n_pulled.load(Ordering::Relaxed);
                thread::park_timeout(Duration::from_millis(100));
            }
            let bytes = seen * 32;
            assert!(bytes < 16 << 20, "{bytes} bytes pulled: more than the kernel's buffers hold");
            hand.cancel();
            // A load outside of a transaction may have been committed.
            assert_eq!(worker.join().expect("no panic"), DbErrorKind::UnknownCommit);
        });
    });
}

/// Returns the payload of the error packet for a packet that is too long.
fn too_long() -> Vec<u8> {
    [&b"\xff\x81\x04#08S01"[..], b"Got a packet bigger than 'max_allowed_packet' bytes"].concat()
}

/// Tests a bulk load that the server refuses while its rows are being sent. The server closes the
/// connection with most rows unread, so that sending fails: there are more rows than the kernel's
/// buffers hold.
#[test]
fn a_load_that_is_refused_before_it_is_read_has_the_servers_reason() {
    let port = server(|stream| {
        sign_in(stream);
        hear(stream);
        say(stream, 1, b"\xfbdbdyno");
        hear(stream);
        say(stream, 3, &too_long());
    });
    on_all_placements(&opened(port), |database| {
        let mut session = TestSession::connect(database, &[]);
        let column = Column { name: "c", of: ColumnType::VarChar(40), nullable: false };
        let (columns, primary_key, indexes) = (vec![column], vec![], vec![]);
        let table = Table { name: "endless".into(), columns, primary_key, indexes };
        let n_pulled = AtomicU64::new(0);
        let no = block_on(load(&mut *session.0, &table, &mut Endless(&n_pulled)));
        let no = no.expect_err("it is refused");
        assert!(no.message.contains("raise max_allowed_packet"), "{no}");
    });
}

#[test]
fn a_password_that_a_server_repeats_is_not_shown() {
    let denied = b"\xff\x15\x04#28000no user may have the password 'secret'";
    let port = server(move |stream| {
        sign_in(stream);
        hear(stream);
        say(stream, 1, denied);
        hear(stream);
    });
    on_all_placements(&opened(port), |database| {
        let mut session = TestSession::connect(database, &[]);
        let no = session.text("SELECT 1").expect_err("it is refused");
        assert!(no.message.contains("the password '***'"), "{no}");
        assert!(!no.message.contains("secret"), "{no}");
    });
    // The error is sent in reply to the sign-in.
    let port = server(move |stream| say(stream, 0, denied));
    let Err(CannotOpen::Refused(no)) = open(port, "15m") else { panic!("it must not open") };
    assert!(no.message.contains("the password '***'"), "{no}");
    assert!(!no.message.contains("secret"), "{no}");
}

#[test]
fn a_server_that_stops_in_mid_reply_is_given_up_by_who_builds_and_a_slow_one_is_not() {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let (greeted, wait_for_greeted) = mpsc::channel();
    let wait_for_greeted = Arc::new(Mutex::new(wait_for_greeted));
    let stopped = Arc::clone(&is_stopped);
    let port = server(move |stream| {
        if stopped.load(Ordering::SeqCst) {
            hear(stream);
            return;
        }
        let _ = greeted.send(());
        sign_in(stream);
        while let Some(asked) = hear(stream) {
            match asked.as_slice() {
                b"\x03slow" => {
                    let greetings = wait_for_greeted.lock().expect("nobody panics");
                    greetings.try_iter().for_each(drop);
                    greetings.recv().expect("somebody looks after us");
                }
                b"\x03stop" => {
                    stopped.store(true, Ordering::SeqCst);
                    hear(stream);
                    return;
                }
                _ => {}
            }
            say(stream, 1, OK);
        }
    });
    // After this time the driver checks whether the server is alive.
    let mut session = TestSession::connect(&opened_within(port, "3s"), &[]);
    session.text("slow").expect("it is waited for");
    let kind = StatementKind::Read;
    let no = session.ask(Request::Text { kind, sql: "stop" }).expect_err("it is given up");
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    assert!(no.message.contains("it is stopped or hangs"), "{no}");
}

/// Returns a port of this machine on which no server listens.
fn gone() -> u16 {
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    gone.expect("a port").port()
}

fn opened_at(hosts: &str) -> Arc<dyn Database> {
    let url = format!("mysql://bench:x@{hosts}/db?tls=disable");
    let opening = Opening { create: false, seed: 1 };
    (ENTRY.open)(&Target::parse(&url).expect("a URL"), opening).unwrap_or_else(|no| panic!("{no}"))
}

fn connected(
    database: &Arc<dyn Database>,
    client: u32,
    statements: &[Statement],
) -> Result<Box<dyn Session>, DbError> {
    let place = Place { placement: Placement::Thread, clock: Rc::new(StillClock), client };
    block_on(database.connect(place, Arc::from(statements.to_vec())))
}

#[test]
fn whoever_finds_nobody_tries_the_next_host_and_who_builds_at_once() {
    let port = server(|stream| {
        sign_in(stream);
        hear(stream);
    });
    let gone = gone();
    let database = opened_at(&format!("127.0.0.1:{gone},127.0.0.1:{port}"));
    assert!(database.monitoring().commit_counter.is_none(), "it is one server's");
    let hosts = database.hosts().expect("it has hosts");
    let silent: Vec<String> = hosts.silent().iter().map(Host::to_string).collect();
    assert_eq!(silent, [format!("127.0.0.1:{gone}")]);
    let one = [Statement::new("one", StatementKind::Read, "SELECT 1")];
    connected(&database, 0, &[]).expect("at the host that answers");
    refused(connected(&database, 0, &one).map(drop), DbErrorKind::ConnectionLost);
    connected(&database, 0, &one).expect("at the other host");
    refused(connected(&database, 0, &one).map(drop), DbErrorKind::ConnectionLost);
}

#[test]
fn a_client_moves_between_transactions_when_the_hosts_have_changed() {
    let port = || {
        server(|stream| {
            sign_in(stream);
            hear(stream);
        })
    };
    let (first, second) = (port(), port());
    let database = opened_at(&format!("127.0.0.1:{first}"));
    let hosts = database.hosts().expect("it has hosts");
    let one = [Statement::new("one", StatementKind::Read, "SELECT 1")];
    let connect = |client| connected(&database, client, &one).expect("a session");
    let mut clients: Vec<Box<dyn Session>> = (0..4).map(connect).collect();
    let moving = |clients: &mut Vec<Box<dyn Session>>| {
        clients.iter_mut().map(|client| client.should_move()).collect::<Vec<_>>()
    };
    assert_eq!(moving(&mut clients), [false; 4]);
    let host = |port| Host { name: "127.0.0.1".to_owned(), port: Some(port) };
    assert_eq!(hosts.add(&host(second)), Ok(2));
    assert_eq!(moving(&mut clients), [false, false, true, true]);
    assert_eq!(moving(&mut clients), [false; 4], "it is reported once");
    assert_eq!(hosts.cut(&host(second)), 0, "it is in use");
    assert_eq!(hosts.remove(&host(first)), Ok(2));
    // No client has moved yet: all four are still connected to the first host.
    assert_eq!(hosts.cut(&host(first)), 4);
    assert_eq!(moving(&mut clients), [true, true, false, false]);
    assert!(hosts.remove(&host(second)).is_err_and(|why| why.contains("the only remaining host")));
    assert!(hosts.remove(&host(9)).is_err_and(|why| why.contains("not a host of the target")));
}
