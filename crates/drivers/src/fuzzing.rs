//! Fuzzing of the MySQL and PostgreSQL protocols against a server that sends arbitrary bytes, in
//! pieces of any size.
//!
//! A client must not panic, must come to an end, and must not take more memory than its limits
//! allow. The targets in `fuzz/` and a short proptest call the same two functions. Not here:
//! sockets and TLS.

use std::sync::Arc;

use model::{
    Call, Column, ColumnType, DbError, DbErrorKind, Request, Row, RowSource, Sent, Statement,
    StatementId, StatementKind, Table, TransactionControl, Value,
};

use crate::net::{Channel, FLIGHT_BYTES, Input, Protocol, SignIn, Step, TlsMode};

/// Longest message, in bytes, that the fuzzed client accepts from the simulated server.
const LIMIT_BYTES: usize = 1 << 20;
/// Number of chunks of rows after which the fuzzed bulk load must have ended, since its 20,000 rows
/// fit into fewer.
const SENDS_MAX: usize = 1_000;

/// Entry point for fuzzing: a client of the MySQL family signs in, or starts signed in, then sends
/// requests and reads the server's bytes from `data`. The first byte of `data` selects options, the
/// second the sizes of the received pieces, and the others are what the server sends.
pub fn mysql(data: &[u8]) {
    let [options, cut, said @ ..] = data else { return };
    let mut talk = Talk::new(*cut, said);
    match options & 7 {
        0..=2 => {
            let (as_text, compress) = (options & 1 != 0, options & 2 != 0);
            let sign_in = crate::mysql::fuzz_sign_in(as_text, compress, LIMIT_BYTES, statements());
            if let Some(mut protocol) = talk.sign_in(sign_in, options & 8 != 0) {
                talk.converse(&mut protocol);
            }
        }
        3.. => {
            let mut protocol = crate::mysql::fuzz_protocol(*options, LIMIT_BYTES, statements());
            talk.converse(&mut protocol);
        }
    }
}

/// Entry point for fuzzing: a PostgreSQL client signs in, or starts signed in, then sends requests
/// and reads the server's bytes from `data`. The first byte of `data` selects options, the second
/// the sizes of the received pieces, and the others are what the server sends.
pub fn postgres(data: &[u8]) {
    let [options, cut, said @ ..] = data else { return };
    let mut talk = Talk::new(*cut, said);
    match options & 7 {
        0..=2 => {
            let sign_in = crate::postgres::fuzz_sign_in(usize::from(options & 7), statements());
            if let Some(mut protocol) = talk.sign_in(sign_in, options & 8 != 0) {
                talk.converse(&mut protocol);
            }
        }
        3.. => {
            let way = usize::from(options & 7) % 3;
            let mut protocol = crate::postgres::fuzz_protocol(way, statements());
            talk.converse(&mut protocol);
        }
    }
}

/// Returns two prepared statements and one sent as text, valid in both dialects.
fn statements() -> Arc<[Statement]> {
    let statement =
        |sql: &str, kind, sent| Statement { sent, ..Statement::new("fuzzed", kind, sql) };
    Arc::from([
        statement("SELECT ?, ? /* $1 $2 */", StatementKind::Read, Sent::Prepared),
        statement("UPDATE t SET a = 1", StatementKind::Write, Sent::Prepared),
        statement("SELECT 1", StatementKind::Read, Sent::Text),
    ])
}

/// State of one fuzzed connection, between a client under test and a server whose bytes are the
/// fuzzer's input.
struct Talk<'d> {
    said: &'d [u8],
    /// State of the generator of random piece sizes; 0 means that all bytes are received in one
    /// piece.
    cut: u32,
    input: Input,
    out: Vec<u8>,
}

impl<'d> Talk<'d> {
    fn new(cut: u8, said: &'d [u8]) -> Talk<'d> {
        Talk { said, cut: cut.into(), input: Input::new(LIMIT_BYTES + 16), out: Vec::new() }
    }

    /// Moves the next piece of the server's bytes into the client's receive buffer. False if no
    /// bytes are left, or the buffer is full because a message is too long.
    fn hear(&mut self) -> bool {
        self.out.clear();
        if self.said.is_empty() {
            return false;
        }
        // Sizes come from a linear congruential generator; the state 0 never cuts.
        self.cut = self.cut.wrapping_mul(1_103_515_245);
        let n_bytes = match self.cut {
            0 => self.said.len(),
            cut => 1 + (cut >> 16) as usize % 97,
        };
        let (piece, rest) = self.said.split_at(n_bytes.min(self.said.len()));
        self.said = rest;
        self.input.push(piece).is_ok()
    }

    fn sign_in<S: SignIn>(&mut self, mut sign_in: S, is_tls: bool) -> Option<S::Protocol> {
        let tls_mode = if is_tls { TlsMode::Prefer } else { TlsMode::Disable };
        let mut channel = Channel {
            tls_mode,
            is_direct: false,
            is_tls: false,
            is_local: false,
            certificate: None,
        };
        loop {
            match sign_in.advance(&mut self.input, &mut self.out, &channel) {
                Ok(Step::Done(protocol)) => return Some(protocol),
                // Continues as if TLS were established.
                Ok(Step::StartTls) => {
                    assert!(!channel.is_tls, "TLS begins once");
                    channel.is_tls = true;
                }
                Ok(Step::More) if self.hear() => {}
                Ok(Step::More) | Err(_) => return None,
                Ok(Step::Send) => panic!("a sign-in has no long flights"),
            }
        }
    }

    /// Sends a fixed series of requests again and again, until the connection breaks or the
    /// server's bytes are used up.
    fn converse(&mut self, protocol: &mut impl Protocol) {
        let values = [Value::Int(7), Value::Text("it's")];
        let call = |number, values| Call { statement: StatementId(number), values };
        let pair = call(0, &values[..]);
        let (write, text) = (call(1, &[]), call(2, &[]));
        let requests = [
            Request::Execute(pair),
            Request::Text { kind: StatementKind::Write, sql: "SELECT 1; SELECT 2" },
            Request::Execute(text),
            Request::Begin,
            Request::Batch(&[write, pair, text, pair]),
            Request::Execute(write),
            Request::Commit,
            Request::Prepare(StatementId(2)),
            Request::ExecuteControl(TransactionControl::Commit, StatementId(1)),
            Request::Rollback,
        ];
        for request in requests.into_iter().cycle() {
            protocol.close(StatementId(0));
            if self.said.is_empty() || self.ask(protocol, request).is_err() {
                return;
            }
            if matches!(request, Request::Commit) && self.load(protocol).is_err() {
                return;
            }
        }
    }

    /// Sends a request and reads its reply. Fails if the connection is broken, or the server's
    /// bytes are used up.
    fn ask(&mut self, protocol: &mut impl Protocol, request: Request<'_>) -> Result<(), DbError> {
        if protocol.start(request, &mut self.out).is_err() {
            self.out.clear();
            // Simulates a pause without a request.
            return if self.hear() { Ok(()) } else { Err(silent()) };
        }
        let mut n_seen = 0usize;
        loop {
            let step = protocol.advance(&mut self.input, &mut self.out, &mut |row| {
                n_seen += 1;
                look(row);
                Ok(())
            })?;
            match step {
                Step::Done(Ok(reply)) => {
                    assert_eq!(reply.n_rows, n_seen as u64, "every row is seen and counted");
                    return Ok(());
                }
                Step::Done(Err(_)) => return Ok(()),
                Step::More if self.hear() => {}
                Step::More => return Err(silent()),
                Step::Send | Step::StartTls => panic!("nobody asked for this"),
            }
        }
    }

    fn load(&mut self, protocol: &mut impl Protocol) -> Result<(), DbError> {
        let column = |name, column_type| Column { name, of: column_type, nullable: true };
        let columns = vec![column("a", ColumnType::Int), column("b", ColumnType::VarChar(10))];
        let table =
            Table { name: "t".into(), columns, primary_key: Vec::new(), indexes: Vec::new() };
        if protocol.start_load(&table, &mut self.out).is_err() {
            self.out.clear();
            return Ok(());
        }
        let mut n_sends = 0;
        let mut rows = Rows(20_000);
        loop {
            let step = protocol.advance_load(&mut self.input, &mut self.out, &mut rows)?;
            assert!(self.out.len() < 2 * FLIGHT_BYTES, "no more than a chunk is put out");
            match step {
                Step::Done(_) => return Ok(()),
                Step::More if self.hear() => {}
                Step::More => return Err(silent()),
                Step::Send => {
                    n_sends += 1;
                    assert!(n_sends < SENDS_MAX, "a load has an end");
                    // Sometimes the server sends bytes while rows are on their way to it.
                    if n_sends % 2 == 0 || !self.hear() {
                        self.out.clear();
                    }
                }
                Step::StartTls => panic!("nobody asked for this"),
            }
        }
    }
}

fn silent() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "the server has nothing more to say")
}

/// Reads all columns of a row, whatever their bytes are, to show that this does not panic.
fn look(row: &dyn Row) {
    for column in 0..row.width() {
        let _ = (row.value(column).type_name(), row.name(column).len());
        let _ = (row.decimal(column, 2), row.result_set());
    }
}

struct Rows(i64);

impl RowSource for Rows {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        self.0 -= 1;
        emit(&[Value::Int(self.0), Value::Text("x\ty\\")]);
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates server bytes for fuzzing that are mostly message tags, short lengths and end
    /// marks, since these determine what a client does next.
    fn steering() -> impl Strategy<Value = Vec<u8>> {
        let short = prop::sample::select(b"\0\0\0\x01\x02\x03\x04\x05\xfa\xfb\xfe\xff".as_slice());
        let tags = prop::sample::select(b"RKZEN123tTnDCIGHSs".as_slice());
        prop::collection::vec(prop_oneof![4 => short, 1 => tags, 1 => any::<u8>()], 2..600)
    }

    proptest! {
        #[test]
        fn nothing_that_a_server_says_makes_a_client_panic_or_hang(
            steered in steering(),
            garbage in prop::collection::vec(any::<u8>(), 2..2_000),
        ) {
            for data in [steered, garbage] {
                mysql(&data);
                postgres(&data);
            }
        }

        #[test]
        fn nor_does_what_a_server_has_said_when_it_is_garbled(
            options in 0..16u8,
            cut: u8,
            at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            for family in [0, 1] {
                let (said, play): (Vec<u8>, fn(&[u8])) = match family {
                    0 => (crate::mysql::fuzz_recorded(), mysql),
                    _ => (crate::postgres::fuzz_recorded(), postgres),
                };
                let mut data = [&[options, cut][..], &said].concat();
                for (index, byte) in &at {
                    let at = 2 + index.index(said.len());
                    data[at] = *byte;
                }
                play(&data);
            }
        }
    }
}
