//! Tests of the PostgreSQL protocol without a server: with bytes recorded from PostgreSQL 15
//! (`recorded.txt`, in hex), with made-up messages, and with garbage.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::{
    Call, Column, ColumnType, DbError, DbErrorKind, Reply, Request, Row, RowSource, Secret,
    Statement, StatementId, StatementKind, Table, TransactionControl, Value,
};
use proptest::prelude::*;

use crate::conformance::{Kept, keep, refused};
use crate::net::{CancelKey, Channel, Input, Protocol, SignIn, Step, TlsMode};
use crate::postgres::Way;
use crate::postgres::protocol::Postgres;
use crate::postgres::scram::KeyCache;
use crate::postgres::sign_in::{Account, ChannelBinding, PostgresSignIn};

/// Returns the recorded replies of a server by name. Each is a line of the file `recorded.txt`.
fn recorded() -> BTreeMap<&'static str, Vec<u8>> {
    let line = |line: &'static str| {
        let (name, hex) = line.split_once(' ').expect("a name and its bytes");
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        (name, (0..hex.len()).step_by(2).map(byte).collect())
    };
    include_str!("recorded.txt").lines().map(line).collect()
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// The pieces in which the bytes of a server arrive.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// Two pieces; the first piece has this number of bytes.
    At(usize),
    /// Many pieces, each of one byte.
    Each,
}

impl Cut {
    fn ranges(self, n_bytes: usize) -> Vec<Range<usize>> {
        match self {
            Cut::At(at) => vec![0..at.min(n_bytes), at.min(n_bytes)..n_bytes],
            Cut::Each => (0..n_bytes).map(|at| at..at + 1).collect(),
        }
    }

    /// Returns every way to cut `n_bytes` into pieces, with the uncut one first.
    fn all(n_bytes: usize) -> impl Iterator<Item = Cut> {
        [Cut::At(0), Cut::Each].into_iter().chain((1..n_bytes).map(Cut::At))
    }
}

fn account(way: Way, password: Option<&str>) -> Arc<Account> {
    Arc::new(Account {
        user: "scramuser".to_owned(),
        password: password.map(Secret::new),
        database: "bench".to_owned(),
        application_name: "dbdyno".to_owned(),
        way,
        channel_binding: ChannelBinding::Prefer,
        clear_password: false,
        statement_timeout_ms: 0,
        session: crate::net::SessionSettings::default(),
        is_pooled: AtomicBool::new(false),
        keys: KeyCache::default(),
    })
}

fn plain() -> Channel {
    channel(TlsMode::Disable)
}

fn channel(tls_mode: TlsMode) -> Channel {
    Channel { tls_mode, is_direct: false, is_tls: false, is_local: false, certificate: None }
}

const NONCE: [u8; 18] = [7; 18];

fn sign_in(account: &Arc<Account>) -> PostgresSignIn {
    PostgresSignIn::new(Arc::clone(account), (Arc::from([]), 0), NONCE)
}

/// Passes further bytes of the server to a sign-in. Returns its next step and its output.
fn hear(
    sign_in: &mut PostgresSignIn,
    input: &mut Input,
    channel: &Channel,
    bytes: &[u8],
) -> (Result<Step<Postgres>, DbError>, Vec<u8>) {
    input.push(bytes).expect("within the limit");
    let mut out = Vec::new();
    let step = sign_in.advance(input, &mut out, channel);
    (step, out)
}

/// Signs in to a scripted server that answers the start-up message with `bytes`. Checks that the
/// error has this kind, and returns its message.
fn sign_in_refused(password: Option<&str>, bytes: &[u8], kind: DbErrorKind) -> String {
    let mut sign_in = sign_in(&account(Way::Named, password));
    let mut input = Input::new(1 << 20);
    assert!(matches!(hear(&mut sign_in, &mut input, &plain(), &[]).0, Ok(Step::More)));
    let (step, _) = hear(&mut sign_in, &mut input, &plain(), bytes);
    refused(step.map(|_| ()), kind)
}

fn statement(sql: &str) -> Statement {
    Statement::new("under test", StatementKind::Write, sql.to_owned())
}

fn protocol(way: Way) -> Postgres {
    let declared = Arc::from([statement("SELECT $1::int2, ...")]);
    Postgres::new(way, (declared, 0), CancelKey::Secret(1, 2), b'I')
}

#[derive(Debug, Default, PartialEq)]
struct Heard {
    rows: Vec<(usize, Vec<String>, Vec<Kept>)>,
    out: Vec<u8>,
}

/// Sends a request to a scripted server that answers with `bytes`, which arrive in pieces. Returns
/// the result, and the rows and the output of the client.
fn converse(
    protocol: &mut Postgres,
    request: Request<'_>,
    bytes: &[u8],
    cut: Cut,
) -> Result<(Result<Reply, DbError>, Heard), DbError> {
    let mut heard = Heard::default();
    let mut input = Input::new(1 << 20);
    protocol.start(request, &mut heard.out)?;
    let visit = &mut |row: &dyn Row| {
        let names = (0..row.width()).map(|column| row.name(column).to_owned()).collect();
        let values = (0..row.width()).map(|column| keep(row.value(column))).collect();
        heard.rows.push((row.result_set(), names, values));
        Ok(())
    };
    for range in cut.ranges(bytes.len()) {
        input.push(&bytes[range.clone()]).expect("within the limit");
        match protocol.advance(&mut input, &mut heard.out, &mut *visit)? {
            Step::Done(result) => {
                assert_eq!(range.end, bytes.len(), "nothing is left");
                return Ok((result, heard));
            }
            Step::More => {}
            Step::Send | Step::StartTls => panic!("nothing is to be sent"),
        }
    }
    Err(DbError::new(DbErrorKind::ConnectionLost, "the transcript ends"))
}

const CALL: Request<'static> =
    Request::Execute(Call { statement: StatementId(0), values: &[Value::Int(-3)] });

fn text(sql: &str) -> Request<'_> {
    Request::Text { kind: StatementKind::Other, sql }
}

#[test]
fn a_recorded_sign_in_is_understood_wherever_it_is_cut() {
    let recorded = recorded();
    let account = account(Way::Named, Some("scräm"));
    let mut first = None;
    let n_bytes = recorded["welcome"].len();
    for cut in Cut::all(n_bytes) {
        let (mut sign_in, mut input) = (sign_in(&account), Input::new(1 << 20));
        let mut out = hear(&mut sign_in, &mut input, &plain(), &[]).1;
        let mut signed_in = None;
        for name in ["sasl", "continue", "welcome"] {
            let bytes = &recorded[name];
            for range in cut.ranges(bytes.len()) {
                assert!(signed_in.is_none());
                let (step, more) = hear(&mut sign_in, &mut input, &plain(), &bytes[range]);
                out.extend(more);
                match step.expect("the server is right") {
                    Step::Done(protocol) => signed_in = Some(protocol),
                    Step::More => {}
                    Step::Send | Step::StartTls => panic!("nothing else is needed"),
                }
            }
        }
        let key = signed_in.expect("the server is ready").cancel_key();
        assert!(matches!(key, CancelKey::Secret(process, _) if process > 0));
        assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "{cut:?}");
    }
}

#[test]
fn recorded_replies_are_understood_wherever_they_are_cut() {
    let recorded = recorded();
    let check = |name: &str, request: Request<'_>| -> (Result<Reply, DbError>, Heard) {
        let bytes = &recorded[name];
        let mut first = None;
        for cut in Cut::all(bytes.len()) {
            let mut protocol = protocol(Way::Named);
            let got = converse(&mut protocol, request, bytes, cut).expect("the server is right");
            assert_eq!(
                first.get_or_insert_with(|| (
                    got.0.clone(),
                    Heard { rows: got.1.rows.clone(), out: got.1.out.clone() }
                )),
                &got,
                "{name} {cut:?}"
            );
        }
        first.expect("at least once")
    };
    let (reply, called) = check("first_call", CALL);
    assert_eq!(reply, Ok(Reply { n_rows: 2, n_affected: 0 }));
    let kept = &called.rows[0].2;
    assert_eq!(
        kept[3..6],
        [Kept::Int(-123_456_789), Kept::Text("ab  ".to_owned()), Kept::Bytes(vec![0, 255]),]
    );
    assert_eq!(kept[7..10], [Kept::Int(1_893_456_000_123_456), Kept::Int(1), Kept::Null]);
    let (reply, written) = check("text", text("several"));
    assert_eq!(reply, Ok(Reply { n_rows: 4, n_affected: 2 }));
    let sets: Vec<usize> = written.rows.iter().map(|row| row.0).collect();
    assert_eq!(sets, [0, 0, 2, 2]);
    assert_eq!(written.rows[0].2, *kept, "text and binary say the same");
    let (no, _) = check("error", text("INSERT"));
    assert_eq!(no.expect_err("twice").kind, DbErrorKind::Duplicate);
    assert_eq!(check("notice", text("DO")).0, Ok(Reply::default()));
    let (no, _) = check("failed", text("SELECT"));
    assert_eq!(no.expect_err("nowhere").kind, DbErrorKind::Missing);
    let (no, _) = check("commit", Request::Commit);
    assert_eq!(no.expect_err("rolled back").kind, DbErrorKind::Other);
    assert_eq!(check("rollback", Request::Rollback).0, Ok(Reply::default()));
}

#[test]
fn a_later_call_is_bind_execute_and_sync() {
    let recorded = recorded();
    let mut protocol = protocol(Way::Named);
    let (_, first) =
        converse(&mut protocol, CALL, &recorded["first_call"], Cut::At(9)).expect("right");
    assert!(first.out.starts_with(b"C\0\0\0\x0aSs0_1\0P"), "{:?}", first.out);
    let (_, later) =
        converse(&mut protocol, CALL, &recorded["later_call"], Cut::At(9)).expect("right");
    assert_eq!(later.rows, first.rows);
    let expect = b"B\0\0\0\x1a\0s0_1\0\0\x01\0\x01\0\x01\0\0\0\x02\xff\xfd\0\x01\0\x01E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
    assert_eq!(later.out, expect);
    let call = Call { statement: StatementId(0), values: &[Value::Int(-3)] };
    let batch = [call, call];
    let (no, heard) =
        converse(&mut protocol, Request::Batch(&batch), &recorded["batch"], Cut::Each)
            .expect("right");
    let no = no.expect_err("the second call is refused");
    assert!(no.message.starts_with("under test: "), "{no}");
    assert_eq!(heard.rows.len(), 2);
    assert_eq!(heard.out.iter().filter(|byte| **byte == b'S').count(), 1, "one Sync");
}

#[test]
fn a_first_call_that_fails_is_prepared_again() {
    let mut protocol = protocol(Way::Named);
    let parse_error =
        [message(b'3', b""), message(b'E', b"VERROR\0C42P01\0Mnot there\0\0"), message(b'Z', b"I")]
            .concat();
    for _ in 0..2 {
        let (no, heard) = converse(&mut protocol, CALL, &parse_error, Cut::Each).expect("right");
        assert_eq!(no.expect_err("refused").kind, DbErrorKind::Missing);
        assert_eq!(heard.out[0], b'C', "closed, parsed, described, bound, executed");
    }
    // Within one request, a statement is prepared only once.
    let call = Call { statement: StatementId(0), values: &[Value::Int(-3)] };
    let batch = [call, call];
    let (_, heard) =
        converse(&mut protocol, Request::Batch(&batch), &parse_error, Cut::Each).expect("right");
    assert_eq!(heard.out.iter().filter(|byte| **byte == b'P').count(), 1);
}

#[test]
fn the_values_of_a_first_call_are_counted_by_the_server() {
    let recorded = recorded();
    let mut protocol = protocol(Way::Named);
    let call = Request::Execute(Call { statement: StatementId(0), values: &[] });
    let described = &recorded["first_call"];
    let n_described = described.windows(5).position(|five| five == b"2\0\0\0\x04").expect("bound");
    let answer = [
        &described[..n_described],
        &message(b'E', b"VERROR\0C08P01\0Mbind message supplies 0 parameters\0\0"),
        &message(b'Z', b"I"),
    ]
    .concat();
    let (no, _) = converse(&mut protocol, call, &answer, Cut::Each).expect("right");
    assert_eq!(no.expect_err("refused").kind, DbErrorKind::Shape);
    // Now the parameter types are known.
    let no = converse(&mut protocol, call, &[], Cut::Each).expect_err("not even sent");
    assert_eq!(no.kind, DbErrorKind::Shape);
    let later = &recorded["later_call"];
    assert!(converse(&mut protocol, CALL, later, Cut::Each).expect("right").0.is_ok());
}

#[test]
fn simple_statements_are_text() {
    let mut protocol = protocol(Way::Simple);
    let complete = [message(b'C', b"SELECT 0\0"), message(b'Z', b"I")].concat();
    let (_, heard) = converse(&mut protocol, CALL, &complete, Cut::Each).expect("right");
    assert_eq!(heard.out, b"Q\0\0\0\x1bSELECT '-3'::int2, ...\0");
    assert!(
        converse(&mut protocol, Request::Batch(&[]), b"", Cut::At(0)).expect("nothing").0.is_ok()
    );
    let none = Request::Execute(Call { statement: StatementId(0), values: &[] });
    let no = converse(&mut protocol, none, &[], Cut::Each).expect_err("not even sent");
    assert_eq!(no.kind, DbErrorKind::Shape);
}

#[test]
fn what_ends_the_connection_says_so() {
    let fatal = message(b'E', b"VFATAL\0C57P01\0Mterminating connection\0\0");
    let no = converse(&mut protocol(Way::Named), CALL, &fatal, Cut::Each).expect_err("fatal");
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    assert!(no.message.contains("under test: terminating"), "{no}");
    let garbage: [&[u8]; 5] =
        [b"?\0\0\0\x04", b"D\0\0\0\x03", b"Z\0\0\0\x05X", b"D\0\0\0\x06\0\x01", b"2\x7f\0\0\0"];
    for bytes in garbage {
        let no = converse(&mut protocol(Way::Named), CALL, bytes, Cut::At(0)).expect_err("broken");
        assert_eq!(no.kind, DbErrorKind::ConnectionLost, "{bytes:?}");
    }
}

#[test]
fn a_statement_that_commits_by_itself_is_a_commit_under_way() {
    let mut protocol = protocol(Way::Named);
    let begun = [message(b'C', b"BEGIN\0"), message(b'Z', b"T")].concat();
    let done = [message(b'C', b"COMMIT\0"), message(b'Z', b"I")].concat();
    let commit = protocol.prepare(statement("COMMIT")).expect("known");
    let prepared: [&[u8]; 4] = [b"1", b"t\0\0", b"n", b"2"];
    let prepared = prepared.map(|part| message(part[0], &part[1..])).concat();
    let mut is_committing = |request: Request<'_>, answer: &[u8]| {
        let mut input = Input::new(1 << 20);
        protocol.start(request, &mut Vec::new()).expect("put out");
        let is_committing = protocol.is_committing();
        input.push(answer).expect("within the limit");
        let step = protocol.advance(&mut input, &mut Vec::new(), &mut |_| Ok(()));
        assert!(matches!(step, Ok(Step::Done(Ok(_)))));
        assert!(!protocol.is_committing());
        is_committing
    };
    assert!(is_committing(text("UPDATE"), &done));
    assert!(!is_committing(Request::Begin, &begun));
    assert!(!is_committing(text("UPDATE"), &begun));
    assert!(is_committing(Request::Commit, &done));
    assert!(!is_committing(Request::Rollback, &done));
    let by_statement = Request::ExecuteControl(TransactionControl::Commit, commit);
    assert!(is_committing(by_statement, &[prepared, done.clone()].concat()));
    assert!(!is_committing(Request::Text { kind: StatementKind::Read, sql: "SELECT" }, &done));
}

#[test]
fn a_flight_whose_commit_was_answered_by_a_rollback_is_not_committed() {
    let [commit, begin] = [StatementId::COMMIT, StatementId::BEGIN].map(Call::control);
    for way in [Way::Named, Way::Simple] {
        let mut protocol = protocol(way);
        let described: Vec<u8> = match way {
            Way::Simple => Vec::new(),
            _ => [(b'3', &b""[..]), (b'1', b""), (b't', b"\0\0"), (b'n', b""), (b'2', b"")]
                .into_iter()
                .flat_map(|(tag, body)| message(tag, body))
                .collect(),
        };
        let done = message(b'C', b"ROLLBACK\0");
        let said = [&described[..], &done, &message(b'Z', b"I")].concat();
        let heard = converse(&mut protocol, Request::Batch(&[commit]), &said, Cut::At(0));
        let words = refused(heard.expect("in order").0, DbErrorKind::Other);
        assert!(words.contains("nothing was committed"), "{words}");
    }
    // A lone ReadyForQuery is no reply to any request: nothing was done.
    for request in [Request::Commit, text("SELECT 1"), Request::Batch(&[begin])] {
        let idle = message(b'Z', b"I");
        let heard = converse(&mut protocol(Way::Simple), request, &idle, Cut::At(0));
        let no = heard.map(|_| ()).expect_err("fewer replies than requests");
        assert_eq!(no.kind, DbErrorKind::ConnectionLost);
    }
}

#[test]
fn a_copy_in_a_statement_is_refused_and_the_connection_stays_in_order() {
    let mut protocol = protocol(Way::Named);
    let answer = [
        message(b'G', b"\0\0\0"),
        message(b'E', b"VERROR\0C57014\0MCOPY from stdin failed\0\0"),
        message(b'Z', b"I"),
    ]
    .concat();
    let (no, heard) =
        converse(&mut protocol, text("COPY t FROM STDIN"), &answer, Cut::Each).expect("right");
    assert!(no.is_err());
    assert!(heard.out.windows(6).any(|six| six == b"dbdyno"), "a CopyFail with words");
    let out = [
        message(b'H', b"\0\0\0"),
        message(b'd', b"1\n"),
        message(b'c', b""),
        message(b'C', b"COPY 1\0"),
        message(b'Z', b"I"),
    ]
    .concat();
    let (reply, _) =
        converse(&mut protocol, text("COPY t TO STDOUT"), &out, Cut::Each).expect("ok");
    assert!(reply.is_ok());
}

#[test]
fn passwords_are_given_in_the_form_that_is_asked_for() {
    let answer = |asked: &[u8]| {
        let mut sign_in = sign_in(&account(Way::Named, Some("pencil")));
        let mut input = Input::new(1 << 20);
        let local = Channel { is_local: true, ..plain() };
        hear(&mut sign_in, &mut input, &local, &[]).0.expect("it begins");
        let (step, out) = hear(&mut sign_in, &mut input, &local, &message(b'R', asked));
        assert!(matches!(step, Ok(Step::More)));
        out
    };
    assert_eq!(answer(&[0, 0, 0, 3]), message(b'p', b"pencil\0"));
    let hash = answer(&[0, 0, 0, 5, 1, 2, 3, 4]);
    assert_eq!(hash.len(), 41, "'md5' and 32 digits");
    assert!(hash[5..].starts_with(b"md5"));
    assert_eq!(answer(&[0, 0, 0, 0]), b"");
}

#[test]
fn a_sign_in_that_fails_says_why() {
    let wrong = message(b'E', b"VFATAL\0C28P01\0Mpassword authentication failed\0\0");
    let words = sign_in_refused(Some("pencil"), &wrong, DbErrorKind::Denied);
    assert!(words.contains("check user and password") && !words.contains("pencil"), "{words}");
    let full = message(b'E', b"VFATAL\0C53300\0Msorry, too many clients already\0\0");
    let words = sign_in_refused(None, &full, DbErrorKind::TooManyConnections);
    assert!(words.contains("max_connections"), "{words}");
    let missing = message(b'E', b"VFATAL\0C3D000\0Mdatabase \"x\" does not exist\0\0");
    sign_in_refused(None, &missing, DbErrorKind::Missing);
    let words = sign_in_refused(None, &message(b'R', &[0, 0, 0, 3]), DbErrorKind::Denied);
    assert!(words.contains("password of 'scramuser'"), "{words}");
    let clear = message(b'R', &[0, 0, 0, 3]);
    let words = sign_in_refused(Some("pencil"), &clear, DbErrorKind::Denied);
    assert!(words.contains("tls=verify-full") && words.contains("clear_password"), "{words}");
    sign_in_refused(Some("x"), &message(b'R', &[0, 0, 0, 7]), DbErrorKind::Unsupported);
    let other = message(b'R', b"\0\0\0\x0aOTHER\0\0");
    sign_in_refused(Some("x"), &other, DbErrorKind::Unsupported);
    sign_in_refused(None, &message(b'Z', b"I"), DbErrorKind::ConnectionLost);
    sign_in_refused(None, &message(b'R', &[0, 0, 0, 11]), DbErrorKind::Denied);
    let endless = message(b'N', b"\0").repeat(1_001);
    let words = sign_in_refused(None, &endless, DbErrorKind::ConnectionLost);
    assert!(words.contains("too many messages"), "{words}");
}

#[test]
fn a_server_must_prove_that_it_knows_the_password() {
    let sasl = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let accepted = [sasl, message(b'R', &[0, 0, 0, 0])].concat();
    let words = sign_in_refused(Some("pencil"), &accepted, DbErrorKind::ConnectionLost);
    assert!(words.contains("without proving"), "{words}");
}

#[test]
fn a_sign_in_is_bound_to_the_servers_certificate_where_it_offers_that() {
    // A certificate cut down to what names the function of its signature: SHA-256 with RSA.
    let certificate = b"\x30\x0f\x30\x00\x30\x0b\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b";
    let begin = |offered: &[u8], certificate: Option<Vec<u8>>| {
        let channel = Channel { is_tls: true, certificate, ..channel(TlsMode::Disable) };
        let mut sign_in = sign_in(&account(Way::Named, Some("pencil")));
        let mut input = Input::new(1 << 20);
        hear(&mut sign_in, &mut input, &channel, &[]).0.expect("it begins");
        let asked = message(b'R', &[b"\0\0\0\x0a", offered, b"\0"].concat());
        String::from_utf8(hear(&mut sign_in, &mut input, &channel, &asked).1).expect("words")
    };
    let both = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0";
    let bound = begin(both, Some(certificate.to_vec()));
    assert!(bound.contains("SCRAM-SHA-256-PLUS\0"), "{bound}");
    assert!(bound.contains("p=tls-server-end-point,,n=,r="), "{bound}");
    let stripped = begin(b"SCRAM-SHA-256\0", Some(certificate.to_vec()));
    assert!(stripped.contains("SCRAM-SHA-256\0") && stripped.contains("y,,n="), "{stripped}");
    let unbound = begin(both, Some(vec![1, 2, 3]));
    assert!(unbound.contains("SCRAM-SHA-256\0") && unbound.contains("n,,n="), "{unbound}");
}

#[test]
fn tls_begins_before_anything_is_said() {
    let ask = |mode: TlsMode, answer: &[u8]| {
        let mut sign_in = sign_in(&account(Way::Named, None));
        let mut input = Input::new(1 << 20);
        let (step, out) = hear(&mut sign_in, &mut input, &channel(mode), &[]);
        assert!(matches!(step, Ok(Step::More)));
        assert_eq!(out, b"\0\0\0\x08\x04\xd2\x16\x2f", "an SSLRequest");
        let (step, out) = hear(&mut sign_in, &mut input, &channel(mode), answer);
        (step.map(|step| matches!(step, Step::StartTls)), out)
    };
    assert!(matches!(ask(TlsMode::Prefer, b"S"), (Ok(true), _)));
    let (step, out) = ask(TlsMode::Prefer, b"N");
    assert!(!step.expect("without"));
    assert!(out.windows(9).any(|nine| nine == b"scramuser"));
    let words = refused(ask(TlsMode::Require, b"N").0, DbErrorKind::Denied);
    assert!(words.contains("tls=prefer"), "{words}");
    refused(ask(TlsMode::Prefer, b"SR\0\0\0\x08").0, DbErrorKind::ConnectionLost);
    refused(ask(TlsMode::Prefer, b"H").0, DbErrorKind::ConnectionLost);
    let error = message(b'E', b"VFATAL\0C57P03\0Mthe database system is starting up\0\0");
    refused(ask(TlsMode::Prefer, &error).0, DbErrorKind::ConnectionLost);
}

fn table() -> Table {
    let column = |name, column_type| Column { name, of: column_type, nullable: true };
    let money = ColumnType::Decimal { precision: 12, scale: 2 };
    let columns = vec![column("id", ColumnType::Int), column("money", money)];
    Table { name: "t".into(), columns, primary_key: vec!["id"], indexes: Vec::new() }
}

/// Source of rows for a bulk load, with ids from `next` up to, but not including, `end`. The id of
/// the row `wrong` is a text, which is invalid.
struct Rows {
    next: i64,
    end: i64,
    wrong: Option<i64>,
}

impl RowSource for Rows {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let id = if self.wrong == Some(self.next) { Value::Text("x") } else { Value::Int(1) };
        emit(&[id, Value::cents(self.next)]);
        self.next += 1;
        true
    }
}

/// Loads rows into a scripted server that sends one of `answers` after the other. Returns the
/// result, and the bytes that the client sent.
fn load(rows: Rows, answers: &[&[u8]]) -> Result<(Result<Reply, DbError>, Vec<u8>), DbError> {
    let (mut protocol, mut rows) = (protocol(Way::Named), rows);
    let (mut input, mut out, mut sent) = (Input::new(1 << 20), Vec::new(), Vec::new());
    protocol.start_load(&table(), &mut out)?;
    for answer in answers {
        input.push(answer).expect("within the limit");
        loop {
            sent.append(&mut out);
            match protocol.advance_load(&mut input, &mut out, &mut rows)? {
                Step::Done(result) => return Ok((result, sent)),
                Step::Send => assert!(!out.is_empty() && out.len() < 2 * (64 << 10)),
                Step::More => break,
                Step::StartTls => panic!("a load never begins TLS"),
            }
        }
    }
    sent.append(&mut out);
    Err(DbError::new(DbErrorKind::ConnectionLost, "the transcript ends"))
}

#[test]
fn a_load_is_sent_in_chunks() {
    let recorded = recorded();
    let answers = [&recorded["copy"][..], &recorded["copied"]];
    let (reply, sent) = load(Rows { next: 0, end: 2, wrong: None }, &answers).expect("right");
    assert_eq!(reply, Ok(Reply { n_rows: 0, n_affected: 2 }));
    let expect = [
        message(b'Q', b"COPY t (id, money) FROM STDIN WITH (FORMAT binary)\0"),
        message(
            b'd',
            b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x04\0\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x02\0\x02\0\0\0\x04\0\0\0\x01\0\0\0\x0a\0\x01\xff\xff\0\0\0\x02\0\x64\xff\xff",
        ),
        message(b'c', b""),
    ];
    assert_eq!(sent, expect.concat());
    let (_, sent) = load(Rows { next: 0, end: 100_000, wrong: None }, &answers).expect("right");
    assert!(sent.len() > 2_000_000);
}

#[test]
fn a_load_that_the_server_refuses_ends_at_once() {
    let recorded = recorded();
    let early = [&recorded["copy"][..], &recorded["copy_refused"]].concat();
    let rows = Rows { next: 0, end: 1_000_000, wrong: None };
    let (no, sent) = load(rows, &[&early]).expect("right");
    assert_eq!(no.expect_err("refused").kind, DbErrorKind::Duplicate);
    assert!(sent.len() < 100, "not a row");
    let rows = Rows { next: 0, end: 1, wrong: None };
    let (no, _) = load(rows, &[&recorded["failed"]]).expect("right");
    let no = no.expect_err("no such table");
    assert_eq!(no.kind, DbErrorKind::Missing);
    assert!(no.message.starts_with("loading t: "), "{no}");
}

#[test]
fn a_row_that_does_not_go_into_its_table_ends_a_load() {
    let recorded = recorded();
    let failed = [
        message(b'E', b"VERROR\0C57014\0MCOPY from stdin failed: the rows are invalid\0\0"),
        message(b'Z', b"E"),
    ]
    .concat();
    let answers = [&recorded["copy"][..], &failed];
    let rows = Rows { next: 0, end: 10, wrong: Some(5) };
    let (no, sent) = load(rows, &answers).expect("right");
    let no = no.expect_err("refused");
    assert_eq!(no.kind, DbErrorKind::Shape);
    assert!(no.message.contains("column 1 is Int, which cannot take text"), "{no}");
    assert!(sent.ends_with(&message(b'f', b"the rows are invalid\0")));
}

/// Generates the index of a recorded reply, changes of its bytes, and the size of the pieces in
/// which they arrive.
fn garbled() -> impl Strategy<Value = (usize, Vec<(usize, u8)>, usize)> {
    (0usize..15, proptest::collection::vec((0usize..2_000, any::<u8>()), 0..8), 1usize..200)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbled_bytes_never_panic((which, changes, n_piece) in garbled()) {
        let recorded = recorded();
        let mut bytes = recorded.values().nth(which).expect("so many").clone();
        for (at, byte) in changes {
            let n_bytes = bytes.len();
            bytes[at % n_bytes] = byte;
        }
        hear_anything(&bytes, n_piece);
    }

    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        hear_anything(&bytes, 7);
    }
}

/// Passes `bytes`, in pieces of `n_piece`, to a request, a sign-in and a bulk load, and checks that
/// the client's output stays small.
fn hear_anything(bytes: &[u8], n_piece: usize) {
    let visit = &mut |row: &dyn Row| {
        (0..row.width()).for_each(|column| drop(keep(row.value(column))));
        Ok(())
    };
    for request in [CALL, text("SELECT"), Request::Commit] {
        let (mut protocol, mut input) = (protocol(Way::Named), Input::new(1 << 20));
        let mut out = Vec::new();
        protocol.start(request, &mut out).expect("put out");
        for piece in bytes.chunks(n_piece) {
            input.push(piece).expect("within the limit");
            if !matches!(protocol.advance(&mut input, &mut out, &mut *visit), Ok(Step::More)) {
                break;
            }
        }
        assert!(out.len() < 64 << 10);
    }
    let account = account(Way::Named, Some("pencil"));
    for mode in [TlsMode::Disable, TlsMode::Prefer] {
        let (mut sign_in, mut input) = (sign_in(&account), Input::new(1 << 20));
        let mut n_out = hear(&mut sign_in, &mut input, &channel(mode), &[]).1.len();
        for piece in bytes.chunks(n_piece) {
            let (step, out) = hear(&mut sign_in, &mut input, &channel(mode), piece);
            n_out += out.len();
            if !matches!(step, Ok(Step::More)) {
                break;
            }
        }
        assert!(n_out < 64 << 10);
    }
    let chunks: Vec<&[u8]> = bytes.chunks(n_piece).collect();
    drop(load(Rows { next: 0, end: 9, wrong: None }, &chunks));
}
