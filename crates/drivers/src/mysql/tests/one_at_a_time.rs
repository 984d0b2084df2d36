//! Tests with a proxy that accepts one command at a time and closes the connection if it gets
//! more, as ProxySQL does.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use model::{Call, DbErrorKind, Request, StatementId, Target, Value, reconnect};
use servers::for_tests::MARIADB;

use crate::conformance::{TestSession, Write, block_on, refused};
use crate::on_servers::{Site, keeps, opened, with};

keeps! {
    laws [commands_that_are_lost_together_twice_name_the_proxy];
    on mariadb: MARIADB;
}

/// Returns the number of commands that begin in `bytes`, which a client sent in one write. Packets
/// of a command are numbered from 0, those of a sign-in from 1.
fn n_commands(mut bytes: &[u8]) -> usize {
    let mut n_commands = 0;
    while let [a, b, c, sequence, rest @ ..] = bytes {
        n_commands += usize::from(*sequence == 0);
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        bytes = rest.get(length..).unwrap_or_default();
    }
    n_commands
}

/// Copies bytes from one connection to the other until the sender closes, or until `is_enough`
/// returns true for the bytes of one read; then closes both.
fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    is_enough: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    let mut room = vec![0; 1 << 16];
    loop {
        let n_bytes = from.read(&mut room)?;
        if n_bytes == 0 || is_enough(&room[..n_bytes]) {
            let _ = from.shutdown(Shutdown::Both);
            return to.shutdown(Shutdown::Both);
        }
        to.write_all(&room[..n_bytes])?;
    }
}

/// Starts a proxy that accepts one command at a time, in front of a target. Returns the target
/// with the proxy's port. The proxy runs until the test process ends.
fn through_a_proxy(target: Target) -> Target {
    let server = ("127.0.0.1", target.hosts[0].port.expect("a port"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(server).expect("the server listens");
            let (client_out, server_out) =
                (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            thread::spawn(move || pass(client, server, |bytes| n_commands(bytes) > 1));
            thread::spawn(move || pass(server_out, client_out, |_| false));
        }
    });
    let mut target = with(target, &[("tls", "disable")]);
    target.hosts[0].port = Some(port);
    target
}

fn commands_that_are_lost_together_twice_name_the_proxy(site: &Site) {
    TestSession::connect(&site.open("together", &[]), &[])
        .do_all(&["DROP TABLE IF EXISTS law_one", "CREATE TABLE law_one (v INT)"]);
    let database = opened(&through_a_proxy(site.target_of("together")));
    let mut session = TestSession::connect(&database, &[(Write, "INSERT INTO law_one VALUES (?)")]);
    let batch = |session: &mut TestSession| {
        let values = [Value::Int(1)];
        let insert = Call { statement: StatementId(0), values: &values };
        let [begin, commit] = [StatementId::BEGIN, StatementId::COMMIT].map(Call::control);
        let no = session.ask(Request::Batch(&[begin, insert, insert, commit]));
        refused(no, DbErrorKind::ConnectionLost)
    };
    let first = batch(&mut session);
    assert!(!first.contains("--mode prepared"), "{first}");
    block_on(reconnect(&mut *session.0)).expect("made again");
    let second = batch(&mut session);
    assert!(second.starts_with(&first) && second.contains("use --mode prepared"), "{second}");
    block_on(reconnect(&mut *session.0)).expect("made again");
    session.ask(Request::Begin).expect("begun");
    session.call(0, &[Value::Int(2)]).expect("one command at a time");
    session.ask(Request::Commit).expect("committed");
    assert_eq!(session.int("SELECT sum(v) FROM law_one"), 2);
}
