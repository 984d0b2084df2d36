//! Conformance tests of batches that begin or commit their transaction. Not here: batches within a
//! transaction.

use std::sync::Arc;

use model::{
    Call, Database, DbError, DbErrorKind, Request, Row, StatementId, Value, query, reconnect,
};

use super::{Kept, Read, TestSession, Write, block_on, items, keep, refused};

const INSERT: &str = "INSERT INTO law_flight (id, v) VALUES (?, ?)";
const READ: &str = "SELECT v FROM law_flight ORDER BY id";
const COUNT: &str = "SELECT count(*) FROM law_flight";

/// Checks that a transaction works if it is sent as one batch, as two batches, or as a read-only
/// batch.
pub(super) fn is_whole(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[(Write, INSERT), (Read, READ)]);
    items(&mut session, database, "law_flight");
    let [begin, read_only, commit] =
        [StatementId::BEGIN, StatementId::BEGIN_READ_ONLY, StatementId::COMMIT].map(Call::control);
    let values = [1, 2].map(|n| [Value::Int(n), Value::Int(n * 10)]);
    let [one, two] = [0, 1].map(|n| Call { statement: StatementId(0), values: &values[n] });
    let read = Call { statement: StatementId(1), values: &[] };
    let before = session.0.traffic();
    let reply = session.ask(Request::Batch(&[begin, one, read, commit])).expect("committed");
    assert_eq!((reply.n_rows, reply.n_affected), (1, 1));
    let moved = session.0.traffic() - before;
    assert_eq!((moved.reads, moved.writes, moved.others), (1, 1, 2));
    session.ask(Request::Batch(&[begin, two])).expect("accepted");
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int(COUNT), 1, "nobody has committed it");
    session.ask(Request::Batch(&[begin, two])).expect("accepted");
    let mut sets = Vec::new();
    let visit = &mut |row: &dyn Row| {
        sets.push((row.result_set(), keep(row.value(0))));
        Ok(())
    };
    block_on(query(&mut *session.0, Request::Batch(&[read, commit]), visit)).expect("committed");
    assert_eq!(sets, [(0, Kept::Int(10)), (0, Kept::Int(20))]);
    let reply = session.ask(Request::Batch(&[read_only, read, commit])).expect("read");
    assert_eq!((reply.n_rows, reply.n_affected), (2, 0));
    assert_eq!(TestSession::connect(database, &[]).int(COUNT), 2);
}

/// Checks that a batch with BEGIN and COMMIT commits nothing if one of its statements fails, and
/// that the session can continue after a rollback.
pub(super) fn commits_nothing_behind_a_no(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[(Write, INSERT), (Read, READ)]);
    items(&mut session, database, "law_flight");
    let [begin, commit] = [StatementId::BEGIN, StatementId::COMMIT].map(Call::control);
    let values = [1, 1, 2].map(|n| [Value::Int(n), Value::Int(n * 10)]);
    let insert = |n: usize| Call { statement: StatementId(0), values: &values[n] };
    for round in 0..2 {
        let batch = [begin, insert(0), insert(1), insert(2), commit];
        refused(session.ask(Request::Batch(&batch)), DbErrorKind::Duplicate);
        session.ask(Request::Rollback).expect("rolled back");
        assert_eq!(TestSession::connect(database, &[]).int(COUNT), 0, "round {round}");
    }
    session.ask(Request::Batch(&[begin, insert(0), commit])).expect("committed");
    assert_eq!(TestSession::connect(database, &[]).int(COUNT), 1);
}

/// Checks a batch that commits, while the caller's visitor of rows returns an error. The session
/// must then report the kind `UnknownCommit` if the batch was committed, and the visitor's kind if
/// not.
pub(super) fn is_reported_as_it_ended_where_nobody_reads(database: &Arc<dyn Database>) {
    let [begin, commit] = [StatementId::BEGIN, StatementId::COMMIT].map(Call::control);
    let values = [Value::Int(1), Value::Int(10)];
    let insert = Call { statement: StatementId(0), values: &values };
    let read = Call { statement: StatementId(1), values: &[] };
    is_reported_as_it_ended(database, Request::Batch(&[begin, insert, read, commit]));
}

/// Checks a text of several statements, while the caller's visitor of rows returns an error. The
/// session must then report the kind `UnknownCommit` if they were committed, and the visitor's kind
/// if not. The server executes all of them even if no row is read.
pub(crate) fn a_text_is_reported_as_it_ended(database: &Arc<dyn Database>) {
    let sql = "INSERT INTO law_flight (id, v) VALUES (1, 1); SELECT v FROM law_flight";
    is_reported_as_it_ended(database, Request::Text { kind: Write, sql });
}

fn is_reported_as_it_ended(database: &Arc<dyn Database>, request: Request<'_>) {
    let mut session = TestSession::connect(database, &[(Write, INSERT), (Read, READ)]);
    items(&mut session, database, "law_flight");
    let refuse = &mut |_: &dyn Row| Err(DbError::new(DbErrorKind::Shape, "not understood"));
    let no = block_on(query(&mut *session.0, request, refuse)).expect_err("nobody reads it");
    assert!(no.message.contains("not understood"), "{no}");
    let n_committed = match no.kind {
        DbErrorKind::UnknownCommit => 1,
        kind => {
            assert_eq!(kind, DbErrorKind::Shape);
            // If the transaction has ended already, the rollback does nothing.
            let _ = session.ask(Request::Rollback);
            0
        }
    };
    block_on(reconnect(&mut *session.0)).expect("made again");
    assert_eq!(session.int(COUNT), n_committed);
}
