//! Tests of the MySQL protocol with recorded bytes of servers, in pieces of every size, and with
//! garbage.
//!
//! To record another transcript, set `DBDYNO_RECORD=file` and name a server by the environment
//! (TCP, no TLS).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use model::{
    Call, Column, ColumnType, DbError, DbErrorKind, Reply, Request, Row, RowSource, Statement,
    StatementId, StatementKind, Table, Target, Value,
};
use proptest::prelude::*;
use servers::{Kind, for_tests};

use super::super::compression::Connection;
use super::super::decide;
use super::super::packets::put_length;
use super::super::protocol::{Agreed, MySql};
use super::super::server::MysqlServer;
use super::super::sign_in::MysqlSignIn;
use super::channel_in_clear;
use crate::conformance::{Kept, keep, refused};
use crate::net::{Input, Protocol, SignIn, Step};

const LIMIT: usize = 1 << 20;

/// The server's end of a protocol test: a recording, or a connection to a real server.
trait Source {
    /// Receives bytes that the client sends to the server.
    fn send(&mut self, _bytes: &[u8]) {}

    /// Returns the bytes that the server sends next.
    fn next(&mut self) -> Vec<u8>;
}

/// A connection to a real server, which keeps all received bytes for a recording.
struct Recording {
    stream: TcpStream,
    heard: Vec<Vec<u8>>,
}

impl Source for Recording {
    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server listens");
    }

    fn next(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 16];
        let n_bytes = self.stream.read(&mut bytes).expect("the server answers");
        assert!(n_bytes > 0, "the server goes on");
        bytes.truncate(n_bytes);
        self.heard.push(bytes.clone());
        bytes
    }
}

/// Replays the recorded bytes of a server, in pieces of given sizes.
struct Replay {
    bytes: Vec<u8>,
    at: usize,
    pieces: Pieces,
}

#[derive(Clone, Copy)]
enum Pieces {
    /// All pieces have this number of bytes.
    Of(usize),
    /// The bytes come in two pieces; the first piece has this number of bytes.
    Cut(usize),
}

impl Source for Replay {
    fn next(&mut self) -> Vec<u8> {
        let end = match self.pieces {
            Pieces::Of(size) => self.at + size,
            Pieces::Cut(at) if self.at < at => at,
            Pieces::Cut(_) => self.bytes.len(),
        };
        let end = end.min(self.bytes.len());
        assert!(end > self.at, "the transcript ends before the conversation does");
        let piece = self.bytes[self.at..end].to_vec();
        self.at = end;
        piece
    }
}

/// Rows of a reply, each with the index of its result set.
type Rows = Vec<(usize, Vec<Kept>)>;

/// Runs a protocol directly, without a session, with server bytes from `source`.
struct Hand<'s> {
    source: &'s mut dyn Source,
    input: Input,
    out: Vec<u8>,
}

impl Hand<'_> {
    fn sign_in(&mut self, server: &Arc<MysqlServer>, statements: &[Statement]) -> Connection {
        let mut sign_in = MysqlSignIn::new(Arc::clone(server), Arc::from(statements));
        loop {
            match sign_in
                .advance(&mut self.input, &mut self.out, &channel_in_clear())
                .expect("signed in")
            {
                Step::Done(protocol) => return protocol,
                Step::More => self.hear(),
                Step::Send | Step::StartTls => panic!("nobody asked for this"),
            }
        }
    }

    fn hear(&mut self) {
        if !self.out.is_empty() {
            // In a replay, the reply may be in the buffer already.
            self.source.send(&self.out);
            return self.out.clear();
        }
        let heard = self.source.next();
        self.input.push(&heard).expect("within the limit");
    }

    fn ask(
        &mut self,
        protocol: &mut impl Protocol,
        request: Request<'_>,
    ) -> (Result<Reply, DbError>, Rows) {
        let mut rows = Vec::new();
        let visit = &mut |row: &dyn Row| {
            let kept = (0..row.width()).map(|column| keep(row.value(column))).collect();
            rows.push((row.result_set(), kept));
            Ok(())
        };
        protocol.start(request, &mut self.out).expect("it can be asked");
        loop {
            match protocol.advance(&mut self.input, &mut self.out, visit).expect("unbroken") {
                Step::Done(result) => return (result, rows),
                Step::More => self.hear(),
                Step::Send | Step::StartTls => panic!("nobody asked for this"),
            }
        }
    }

    fn load(
        &mut self,
        protocol: &mut impl Protocol,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Result<Reply, DbError> {
        protocol.start_load(table, &mut self.out).expect("it can be asked");
        loop {
            match protocol.advance_load(&mut self.input, &mut self.out, source).expect("unbroken") {
                Step::Done(result) => return result,
                Step::More => self.hear(),
                // The output is sent with the next input.
                Step::Send => {}
                Step::StartTls => panic!("nobody asked for this"),
            }
        }
    }
}

fn server(url: &str) -> Arc<MysqlServer> {
    Arc::new(decide(&Target::parse(url).expect("a URL")).expect("a target"))
}

fn statement(kind: StatementKind, sql: &str) -> Statement {
    Statement::new("recorded", kind, sql.to_owned())
}

fn statements() -> Vec<Statement> {
    let insert = "INSERT INTO recorded VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let select = "SELECT * FROM recorded WHERE id <= ? ORDER BY id";
    vec![statement(StatementKind::Write, insert), statement(StatementKind::Read, select)]
}

fn text(sql: &str) -> Request<'_> {
    Request::Text { kind: StatementKind::Other, sql }
}

struct Lines(i64, i64);

impl RowSource for Lines {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.0 < self.1 {
            let (id, rest) = (Value::Int(self.0), [Value::Null; 7]);
            emit(&[&[id], &rest[..]].concat());
        }
        self.0 += 1;
        self.0 <= self.1
    }
}

/// Sends a fixed series of requests and checks the replies, which are the same on every version of
/// MySQL and MariaDB.
fn converse(hand: &mut Hand<'_>, server: &Arc<MysqlServer>) {
    let mut protocol = hand.sign_in(server, &statements());
    let protocol = &mut protocol;
    hand.ask(protocol, text("DROP TABLE IF EXISTS recorded")).0.expect("dropped");
    let columns = "id BIGINT PRIMARY KEY, u TINYINT UNSIGNED, m DECIMAL(12,4), f FLOAT, d DOUBLE, \
                   t VARCHAR(100) CHARACTER SET utf8mb4, b BLOB, a DATETIME(6)";
    hand.ask(protocol, text(&format!("CREATE TABLE recorded ({columns})"))).0.expect("made");
    let rows = [
        [
            Value::Int(1),
            Value::Int(255),
            Value::Decimal { unscaled: -12_345, scale: 4 },
            Value::Float(0.5),
            Value::Float(-1e300),
            Value::Text("żółć 🦀 ' \\"),
            Value::Bytes(&[0, 255, 10]),
            Value::Timestamp(1_000_001),
        ],
        [Value::Int(i64::MAX), NULL, NULL, NULL, NULL, NULL, NULL, NULL],
    ];
    for row in &rows {
        let call = Call { statement: StatementId(0), values: row };
        let reply = hand.ask(protocol, Request::Execute(call)).0.expect("inserted");
        assert_eq!(reply, Reply { n_rows: 0, n_affected: 1 });
    }
    let kept: Vec<Vec<Kept>> = rows.iter().map(|row| row.map(keep).to_vec()).collect();
    let in_set = |set: usize, row: &Vec<Kept>| (set, row.clone());
    let select = Call { statement: StatementId(1), values: &[Value::Int(i64::MAX)] };
    for _ in 0..2 {
        let (reply, got) = hand.ask(protocol, Request::Execute(select));
        assert_eq!(reply.expect("selected").n_rows, 2);
        assert_eq!(got, [in_set(0, &kept[0]), in_set(0, &kept[1])]);
    }
    let sql = "SELECT * FROM recorded ORDER BY id; SELECT 1 WHERE 1 = 0; UPDATE recorded SET u = 7 \
               WHERE id = 1; SELECT u, NULL FROM recorded WHERE id = 1";
    // MySQL 5.6 has no WHERE without a table.
    let sql = sql.replace("SELECT 1 WHERE 1 = 0", "SELECT 1 FROM DUAL WHERE 1 = 0");
    let (reply, got) = hand.ask(protocol, text(&sql));
    assert_eq!(reply.expect("run"), Reply { n_rows: 3, n_affected: 1 });
    let seven = vec![Kept::Int(7), Kept::Null];
    assert_eq!(got, [in_set(0, &kept[0]), in_set(0, &kept[1]), (2, seven)]);
    hand.ask(protocol, Request::Begin).0.expect("begun");
    let one = Call { statement: StatementId(0), values: &rows[0] };
    let (result, got) = hand.ask(protocol, Request::Batch(&[select, one, select]));
    refused(result, DbErrorKind::Duplicate);
    assert_eq!(got.len(), 2, "what comes behind a no is not seen");
    hand.ask(protocol, Request::Rollback).0.expect("rolled back");
    refused(hand.ask(protocol, text("SELEKT")).0, DbErrorKind::Other);
    let table = Table {
        name: "recorded".into(),
        columns: ["id", "u", "m", "f", "d", "t", "b", "a"]
            .map(|name| Column { name, of: ColumnType::Int, nullable: true })
            .to_vec(),
        primary_key: vec!["id"],
        indexes: Vec::new(),
    };
    let loaded = hand.load(protocol, &table, &mut Lines(10, 2_010)).expect("loaded");
    assert_eq!(loaded, Reply { n_rows: 0, n_affected: 2_000 });
    let twice = hand.load(protocol, &table, &mut Lines(2_009, 2_011));
    refused(twice, DbErrorKind::Duplicate);
}

const NULL: Value<'static> = Value::Null;

const RECORDED: &[(&str, &str)] = &[
    ("MariaDB 10.11.19", include_str!("mariadb-10.11.txt")),
    ("MariaDB 11.4.5", include_str!("mariadb-11.4.txt")),
    ("MySQL 5.6.24", include_str!("mysql-5.6.txt")),
];

#[test]
#[expect(clippy::disallowed_methods, reason = "a recording asks for its server by name")]
fn a_transcript_is_recorded_on_request() {
    let named = [Kind::MariaDb, Kind::MySql].into_iter().find_map(for_tests::named);
    let (Ok(file), Some(target)) = (std::env::var("DBDYNO_RECORD"), named) else { return };
    let server = Arc::new(decide(&target).expect("a server"));
    let address = server.connector.address(0).to_string();
    let stream = TcpStream::connect(address).expect("a server");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
    let mut recording = Recording { stream, heard: Vec::new() };
    let (input, out) = (Input::new(LIMIT), Vec::new());
    converse(&mut Hand { source: &mut recording, input, out }, &server);
    let line = |bytes: &Vec<u8>| -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).chain(["\n".to_owned()]).collect()
    };
    let lines: String = recording.heard.iter().map(line).collect();
    std::fs::write(file, lines).expect("written");
}

fn recorded(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("a byte")
    };
    digits.chunks(2).map(pair).collect()
}

fn replay(bytes: &[u8], pieces: Pieces) {
    let server = server("mariadb://bench:secret@nowhere/recorded");
    let mut source = Replay { bytes: bytes.to_vec(), at: 0, pieces };
    let (input, out) = (Input::new(LIMIT), Vec::new());
    converse(&mut Hand { source: &mut source, input, out }, &server);
    assert_eq!(source.at, bytes.len(), "all of it is read");
}

#[test]
fn transcripts_are_understood_in_pieces_of_any_size() {
    for (name, text) in RECORDED {
        eprintln!("{name}");
        let bytes = recorded(text);
        for size in [1, 2, 3, 4, 5, 7, 64, 1 << 20] {
            replay(&bytes, Pieces::Of(size));
        }
    }
}

#[test]
fn transcripts_are_understood_when_cut_at_every_byte() {
    for (name, text) in RECORDED {
        eprintln!("{name}");
        let bytes = recorded(text);
        for at in 1..bytes.len() {
            replay(&bytes, Pieces::Cut(at));
        }
    }
}

/// Sends requests to a server that answers with `bytes` and nothing more, until an error breaks
/// the connection.
fn listen(bytes: &[u8], agreed: Agreed) {
    let mut protocol = MySql::new(agreed, false, LIMIT, (&Arc::from(statements()), 0));
    let mut input = Input::new(LIMIT + 8);
    let mut out = Vec::new();
    let call = Call { statement: StatementId(1), values: &[Value::Int(1)] };
    let requests =
        [Request::Execute(call), text("SELECT 1"), Request::Batch(&[call, call]), Request::Commit];
    let mut rest = bytes.chunks(97);
    for request in requests.iter().cycle() {
        if protocol.start(*request, &mut out).is_err() {
            return;
        }
        loop {
            let visit = &mut |row: &dyn Row| {
                for column in 0..row.width() {
                    let _ = (row.value(column), row.name(column).len());
                }
                Ok(())
            };
            assert!(out.len() < 4096, "what is put out stays small");
            out.clear();
            match protocol.advance(&mut input, &mut out, visit) {
                Ok(Step::Done(_)) => break,
                Err(no) => {
                    assert!(!no.message.is_empty());
                    return;
                }
                Ok(_) if !out.is_empty() => {}
                Ok(_) => {
                    let Some(piece) = rest.next() else { return };
                    if input.push(piece).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

fn agreed(has_column_end: bool) -> Agreed {
    Agreed {
        connection_id: 1,
        has_column_end,
        leaves_out_columns: !has_column_end,
        can_load: true,
        status: 2,
    }
}

/// Generates packets with valid headers and random content, which the client parses further than
/// purely random bytes.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let first = prop::sample::select(vec![0x00, 0x01, 0x02, 0xfb, 0xfe, 0xff, 0x03]);
    let payload = (first, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(first, rest)| {
        let mut payload = vec![first];
        payload.extend(rest);
        payload
    });
    prop::collection::vec(payload, 0..60).prop_map(|payloads| {
        let framed = |payload: Vec<u8>| {
            let mut packet = vec![payload.len() as u8, 0, 0, 1];
            packet.extend(payload);
            packet
        };
        payloads.into_iter().flat_map(framed).collect()
    })
}

proptest! {
    #[test]
    fn garbage_never_panics_nor_loops(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        listen(&bytes, agreed(false));
        listen(&bytes, agreed(true));
    }

    #[test]
    fn packets_of_garbage_never_panic_nor_loop(bytes in packets()) {
        listen(&bytes, agreed(false));
        listen(&bytes, agreed(true));
    }

    #[test]
    fn a_garbled_transcript_never_panics_nor_loops(
        which in 0..RECORDED.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = recorded(RECORDED[which].1);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        listen(&bytes, agreed(which == 2));
        let server = server("mariadb://bench:secret@nowhere/recorded");
        let mut sign_in = MysqlSignIn::new(server, Arc::from([]));
        let (mut input, mut out) = (Input::new(LIMIT), Vec::new());
        for piece in bytes.chunks(50) {
            input.push(piece).expect("within the limit");
            match sign_in.advance(&mut input, &mut out, &channel_in_clear()) {
                Ok(Step::More) => {}
                _ => break,
            }
            prop_assert!(out.len() < 4096);
        }
    }
}

#[test]
fn a_server_that_asks_for_a_file_gets_none() {
    let mut protocol = MySql::new(agreed(false), false, LIMIT, (&Arc::from([]), 0));
    let (mut input, mut out) = (Input::new(LIMIT), Vec::new());
    let request = Request::Text { kind: StatementKind::Other, sql: "SELECT 1" };
    protocol.start(request, &mut out).expect("it can be asked");
    out.clear();
    input.push(b"\x0c\x00\x00\x01\xfb/etc/passwd").expect("within the limit");
    let broken = protocol.advance(&mut input, &mut out, &mut |_| Ok(()));
    let Err(no) = broken else { panic!("it must break the connection") };
    assert_eq!(no.kind, DbErrorKind::Denied);
    assert!(out.is_empty(), "not a byte of it");
}

#[test]
fn rows_beyond_the_limit_are_refused_and_those_within_are_joined() {
    const PART: usize = 0xff_ffff;
    let limit = 40 << 20;
    let check = |n_letters: usize, expect: bool| {
        let mut protocol = MySql::new(agreed(true), false, limit, (&Arc::from([]), 0));
        let (mut input, mut out) = (Input::new(PART + (1 << 17)), Vec::new());
        let request = Request::Text { kind: StatementKind::Read, sql: "SELECT x" };
        protocol.start(request, &mut out).expect("it can be asked");
        let mut said = b"\x01\0\0\x01\x01".to_vec();
        let column = b"\x03def\0\0\0\x01x\0\x0c\x2d\0\0\0\0\0\xfc\0\0\0\0\0";
        said.extend([column.len() as u8, 0, 0, 2]);
        said.extend(column);
        said.extend(b"\x05\0\0\x03\xfe\0\0\x02\0");
        let mut row = Vec::new();
        put_length(&mut row, n_letters);
        row.resize(row.len() + n_letters, b'a');
        let mut sequence = 4;
        for part in row.chunks(PART) {
            said.extend(&(part.len() as u32).to_le_bytes()[..3]);
            said.push(sequence);
            said.extend(part);
            sequence += 1;
        }
        if row.len() % PART == 0 {
            said.extend([0, 0, 0, sequence]);
        }
        said.extend(b"\x05\0\0\x09\xfe\0\0\x02\0");
        let mut n_seen = 0;
        let visit = &mut |row: &dyn Row| {
            n_seen = row.text(0)?.len();
            Ok(())
        };
        let mut result = Ok(());
        for piece in said.chunks(1 << 16) {
            input.push(piece).expect("within the limit");
            match protocol.advance(&mut input, &mut out, visit) {
                Ok(_) => {}
                Err(no) => {
                    result = Err(no);
                    break;
                }
            }
        }
        assert_eq!(result.is_ok(), expect, "{n_letters}");
        assert_eq!(n_seen, if expect { n_letters } else { 0 });
    };
    check(PART - 5, true);
    check(PART - 4, true);
    check(PART - 3, true);
    check(PART + 1, true);
    check(2 * PART - 9, true);
    check(2 * PART - 8, true);
    check(39 << 20, true);
    check(41 << 20, false);
}

#[test]
fn a_statement_that_is_prepared_anew_is_closed_first() {
    let declared: Arc<[Statement]> = Arc::from([statement(StatementKind::Read, "SELECT 1")]);
    let mut protocol = MySql::new(agreed(false), false, 1 << 20, (&declared, 0));
    let (mut input, mut out) = (Input::new(1 << 20), Vec::new());
    let call = Call { statement: StatementId(0), values: &[] };
    let prepared = [&[12, 0, 0, 1, 0][..], &7u32.to_le_bytes(), &[0; 7]].concat();
    // ER_NEED_REPREPARE
    let no = [&[9, 0, 0, 1, 0xff][..], &1615u16.to_le_bytes(), b"#HY000"].concat();
    let close = [&[5, 0, 0, 0, 0x19][..], &7u32.to_le_bytes()].concat();
    let mut ask = |heard: &[&[u8]]| {
        protocol.start(Request::Execute(call), &mut out).expect("it can be asked");
        let mut said = std::mem::take(&mut out);
        for packet in heard {
            input.push(packet).expect("within the limit");
            // The replies are checked in another test.
            let _ = protocol.advance(&mut input, &mut out, &mut |_| Ok(())).expect("unbroken");
            said.append(&mut out);
        }
        said
    };
    let first = ask(&[&prepared, &no]);
    assert!(!first.windows(close.len()).any(|bytes| bytes == close), "there is nothing to close");
    let again = ask(&[&prepared, &no]);
    assert!(again.starts_with(&[&close[..], &[9, 0, 0, 0, 0x16]].concat()), "{again:?}");
}
