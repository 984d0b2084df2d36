//! Conformance suite for drivers with real tables: tests, called laws, that every such driver must
//! pass on an opened database.
//!
//! Each test creates its own table, so that tests can share a server. Not here: tests of a single
//! database (in its driver), and of the simulated database, which stores no data.

mod as_text;
pub(crate) mod as_transaction;

use std::cell::{Cell, OnceCell};
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use event_loop::{Backend, EventLoop};
use model::{
    Call, Clock, Column, ColumnType, Connecting, Database, DbError, DbErrorKind, Fact, Place,
    Placement, Places, Product, Reply, Request, Row, RowSource, Session, Statement, StatementId,
    StatementKind, Table, Traffic, TransactionControl, Value, Woken, load, query, reconnect,
};

/// Runs the conformance suite. For each of its tests, calls `make` to open a database, which may
/// be the same one each time. Panics if a test fails.
pub(crate) fn holds(make: &dyn Fn() -> Arc<dyn Database>) {
    for (name, law) in LAWS {
        eprintln!("conformance: {name}");
        law(&make());
    }
}

type Law = fn(&Arc<dyn Database>);

const LAWS: &[(&str, Law)] = &[
    ("values of every type come back as they went", values_come_back),
    ("dates are counted with", dates_are_counted_with),
    ("a text of a mebibyte comes back", long_texts_come_back),
    ("a no is reported by its kind", db_errors_have_kinds),
    ("the wrong number of values is refused", values_are_counted),
    ("a text may have several result sets", result_sets_are_told_apart),
    ("a batch is carried out in order until its first no", batches_end_at_the_first_no),
    ("a batch may be a whole transaction", as_transaction::is_whole),
    ("a batch commits nothing behind a no", as_transaction::commits_nothing_behind_a_no),
    (
        "a commit is reported as one, even if its reply is unread",
        as_transaction::is_reported_as_it_ended_where_nobody_reads,
    ),
    ("statements can be prepared at run time", statements_are_prepared_late),
    ("more statements than a session keeps can be executed", statements_are_closed),
    ("statements can be prepared ahead, closed and executed again", statements_are_ahead),
    ("prepared statements begin and end transactions", prepared_controls),
    ("a statement as text says the same as a prepared one", as_text::says_the_same),
    ("statements as text share batches with prepared ones", as_text::shares_batches),
    ("a statement as text is counted and refused alike", as_text::is_counted_and_refused_alike),
    ("a visitor can end a reply", visitors_can_refuse),
    ("a rollback undoes", rollbacks_undo),
    ("a session that is dropped leaves nothing behind", dropped_sessions_leave_nothing),
    ("no update of two sessions is lost", no_update_is_lost),
    ("what is loaded is there", loads_are_complete),
    ("a load that is refused can be rolled back", loads_can_be_refused),
    ("a cancel ends a statement within a second, and all later ones", cancels_end_statements),
    ("a session that is reopened works", sessions_reconnect),
    ("statements are counted by kind", traffic_is_counted),
];

/// A clock for sessions that block a thread. It always shows 0 and every wait ends at once, since
/// real drivers wait for their database and not for the clock.
pub(crate) struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> u64 {
        0
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }

    fn poll_through(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }
}

/// A clock for sessions on event loops. It always shows 0 and its waits never end, so that no time
/// limit is ever reached.
struct PatientClock;

impl Clock for PatientClock {
    fn now(&self) -> u64 {
        0
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Pending
    }

    fn poll_through(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Pending
    }
}

/// A wrapper of a database that permits sessions on event loops only, so that a test runs without
/// blocking sessions.
pub(crate) struct OnLoops(pub(crate) Arc<dyn Database>);

impl Database for OnLoops {
    fn product(&self) -> &Product {
        self.0.product()
    }

    fn places(&self) -> Places {
        Places { thread: false, event_loop: true, simulated: false }
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        self.0.connect(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        self.0.facts()
    }
}

thread_local! {
    /// Event loop of this thread; empty until the first session on an event loop is connected.
    static LOOP: OnceCell<EventLoop> = const { OnceCell::new() };
    static BACKEND: Cell<Backend> = const { Cell::new(Backend::Epoll) };
}

/// Runs a test on a thread of its own, whose event loop waits with `io_uring`. Skips it if the
/// kernel forbids that.
pub(crate) fn on_io_uring(test: impl FnOnce() + Send) {
    if let Err(error) = Backend::IoUring.probe() {
        eprintln!("skipped: the kernel refuses io_uring: {error}");
        return;
    }
    thread::scope(|scope| {
        let tested = scope.spawn(move || {
            BACKEND.set(Backend::IoUring);
            test();
        });
        if let Err(panic) = tested.join() {
            resume_unwind(panic);
        }
    });
}

fn new_loop() -> EventLoop {
    EventLoop::new(BACKEND.get()).expect("an event loop")
}

/// Runs a future to its end, on this thread's event loop if there is one. Otherwise the future
/// must block instead of returning `Pending`, or this panics.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    LOOP.with(|event_loop| match event_loop.get() {
        Some(event_loop) => event_loop.block_on(future),
        None => match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("on a thread nothing is pending"),
        },
    })
}

/// An owned copy of a column's [`Value`], which a test can keep after the row is gone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kept {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) fn keep(value: Value<'_>) -> Kept {
    match value {
        Value::Null => Kept::Null,
        Value::Int(value) | Value::Timestamp(value) => Kept::Int(value),
        Value::Date(days) => Kept::Int(days.into()),
        Value::Decimal { unscaled, .. } => Kept::Int(unscaled),
        Value::Float(value) => Kept::Float(value),
        Value::Text(text) => Kept::Text(text.to_owned()),
        Value::Bytes(bytes) => Kept::Bytes(bytes.to_owned()),
    }
}

/// A session with short methods for tests, which block and panic where an error is unexpected.
pub(crate) struct TestSession(pub(crate) Box<dyn Session>);

impl TestSession {
    pub(crate) fn try_connect(
        database: &Arc<dyn Database>,
        statements: &[(StatementKind, &str)],
    ) -> Result<TestSession, DbError> {
        let declared = statements.iter().map(|(kind, sql)| statement(database, *kind, sql));
        TestSession::connect_with(database, declared.collect())
    }

    pub(crate) fn connect_with(
        database: &Arc<dyn Database>,
        statements: Vec<Statement>,
    ) -> Result<TestSession, DbError> {
        let (placement, clock): (_, Rc<dyn Clock>) = match database.places().thread {
            true => (Placement::Thread, Rc::new(StillClock)),
            false => {
                LOOP.with(|event_loop| {
                    event_loop.get_or_init(new_loop);
                });
                (Placement::Loop, Rc::new(PatientClock))
            }
        };
        let place = Place { placement, clock, client: 0 };
        block_on(database.connect(place, statements.into())).map(TestSession)
    }

    pub(crate) fn connect(
        database: &Arc<dyn Database>,
        statements: &[(StatementKind, &str)],
    ) -> TestSession {
        TestSession::try_connect(database, statements).expect("it connects")
    }

    pub(crate) fn ask(&mut self, request: Request<'_>) -> Result<Reply, DbError> {
        block_on(query(&mut *self.0, request, &mut |_| Ok(())))
    }

    pub(crate) fn rows(&mut self, request: Request<'_>) -> Result<Vec<Vec<Kept>>, DbError> {
        let mut rows = Vec::new();
        let visit = &mut |row: &dyn Row| {
            rows.push((0..row.width()).map(|column| keep(row.value(column))).collect());
            Ok(())
        };
        block_on(query(&mut *self.0, request, visit))?;
        Ok(rows)
    }

    pub(crate) fn text(&mut self, sql: &str) -> Result<Reply, DbError> {
        self.ask(Request::Text { kind: StatementKind::Other, sql })
    }

    pub(crate) fn do_all(&mut self, sqls: &[&str]) {
        for sql in sqls {
            self.text(sql).expect(sql);
        }
    }

    pub(crate) fn call(&mut self, number: u32, values: &[Value<'_>]) -> Result<Reply, DbError> {
        self.ask(Request::Execute(Call { statement: StatementId(number), values }))
    }

    pub(crate) fn call_rows(&mut self, number: u32, values: &[Value<'_>]) -> Vec<Vec<Kept>> {
        let call = Call { statement: StatementId(number), values };
        self.rows(Request::Execute(call)).expect("it reads")
    }

    pub(crate) fn int(&mut self, sql: &str) -> i64 {
        let rows = self.rows(Request::Text { kind: StatementKind::Read, sql }).expect(sql);
        match rows[..] {
            [ref row] => match row[..] {
                [Kept::Int(value)] => value,
                ref other => panic!("{sql}: {other:?}"),
            },
            ref other => panic!("{sql}: {} rows", other.len()),
        }
    }
}

pub(crate) use StatementKind::{Other, Read, Write};

fn statement(database: &Arc<dyn Database>, kind: StatementKind, sql: &str) -> Statement {
    Statement::new("under test", kind, database.dialect().sql(sql))
}

pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, DbError>, kind: DbErrorKind) -> String {
    let no = result.expect_err("it must be refused");
    assert_eq!(no.kind, kind, "{no}");
    no.message
}

fn column(name: &'static str, column_type: ColumnType, nullable: bool) -> Column {
    Column { name, of: column_type, nullable }
}

/// Creates the empty table `name` with the columns `id` (its primary key), `name` and `v`.
fn items(session: &mut TestSession, database: &Arc<dyn Database>, name: &'static str) -> Table {
    let columns = vec![
        column("id", ColumnType::BigInt, false),
        column("name", ColumnType::VarChar(40), true),
        column("v", ColumnType::Int, false),
    ];
    let table = Table { name: name.into(), columns, primary_key: vec!["id"], indexes: Vec::new() };
    remake(session, database, &table);
    table
}

fn remake(session: &mut TestSession, database: &Arc<dyn Database>, table: &Table) {
    session.do_all(&[&format!("DROP TABLE IF EXISTS {}", table.name)]);
    session.do_all(&[&database.dialect().create_table(table)]);
}

fn values_come_back(database: &Arc<dyn Database>) {
    const NAME: &str = "law_values";
    let sql = format!(
        "SELECT small, n, big, money, letters, words, x, instant, day FROM {NAME} ORDER BY id"
    );
    let insert = format!("INSERT INTO {NAME} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let mut session = TestSession::connect(database, &[(Write, &insert), (Read, &sql)]);
    let money = ColumnType::Decimal { precision: 12, scale: 2 };
    let columns = vec![
        column("id", ColumnType::Int, false),
        column("small", ColumnType::SmallInt, true),
        column("n", ColumnType::Int, true),
        column("big", ColumnType::BigInt, true),
        column("money", money, true),
        column("letters", ColumnType::Char(2), true),
        column("words", ColumnType::VarChar(40), true),
        column("x", ColumnType::Double, true),
        column("instant", ColumnType::Timestamp, true),
        column("day", ColumnType::Date, true),
    ];
    let table = Table { name: NAME.into(), columns, primary_key: vec!["id"], indexes: Vec::new() };
    remake(&mut session, database, &table);
    let row = |small: i64, n: i64, big, cents, letters, words, x, (at, day)| {
        let numbers = [Value::Int(small), Value::Int(n), Value::Int(big), Value::cents(cents)];
        let others = [Value::Text(letters), Value::Text(words), Value::Float(x)];
        [&numbers[..], &others[..], &[Value::Timestamp(at), Value::Date(day)]].concat()
    };
    let rows = [
        row(0, 0, 0, 0, "ab", "", 0.0, (0, 0)),
        row(i16::MAX.into(), i32::MAX.into(), i64::MAX, 999_999_999_999, "zz", "x", 1.5, (1, 1)),
        row(
            i16::MIN.into(),
            i32::MIN.into(),
            i64::MIN,
            -999_999_999_999,
            "ÄÖ",
            "żółć 漢字 🦀",
            -0.1,
            (-1, -1),
        ),
        // Trailing blanks of a CHAR are not guaranteed.
        row(1, 1, 1, -1, " b", "' \" \\ ; -- %", f64::MAX, (1_893_456_000_123_456, 9_204)),
        vec![Value::Null; 9],
    ];
    for (id, row) in rows.iter().enumerate() {
        let values = [&[Value::Int(id as i64)], &row[..]].concat();
        assert_eq!(session.call(0, &values).expect("inserted").n_affected, 1);
    }
    let got = session.call_rows(1, &[]);
    let want: Vec<Vec<Kept>> =
        rows.iter().map(|row| row.iter().map(|value| keep(*value)).collect()).collect();
    assert_eq!(got, want);
    decimals_are_read_unscaled(&mut session);
}

fn dates_are_counted_with(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    let mut check = |text: &str, expect: i64| {
        let sql = database.dialect().sql(&format!("SELECT {text}{{from nothing}}"));
        let rows = session.rows(Request::Text { kind: Read, sql: &sql }).expect("it counts");
        assert_eq!(rows, [[Kept::Int(expect)]], "{sql}");
    };
    check("{date 1995-03-15}", 9_204);
    check("{date 1969-12-31}", -1);
    check("{add 90 days to {date 1994-12-01}}", 9_190);
    check("{add -90 days to {date 1998-12-01}}", 10_471);
    check("{add 3 months to {date 1995-11-30}}", 9_555);
    check("{add 1 year to {date 1996-02-29}}", 9_920);
    check("{add -1 months to {date 1995-03-31}}", 9_189);
    check("{year of {date 1996-02-29}}", 1996);
    check("{year of {add 1 day to {date 1969-12-31}}}", 1970);
}

fn decimals_are_read_unscaled(session: &mut TestSession) {
    let sql = "SELECT money FROM law_values WHERE id = 1";
    let mut cents = 0;
    let visit = &mut |row: &dyn Row| {
        cents = row.cents(0)?;
        Ok(())
    };
    let request = Request::Text { kind: Read, sql };
    block_on(query(&mut *session.0, request, visit)).expect("it reads");
    assert_eq!(cents, 999_999_999_999);
}

fn long_texts_come_back(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    let text = "0123456789abcdef".repeat(1 << 16);
    let sql = format!("SELECT '{text}'");
    let rows = session.rows(Request::Text { kind: Read, sql: &sql }).expect("it reads");
    assert!(rows == [[Kept::Text(text)]]);
}

fn db_errors_have_kinds(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_errors (id, v) VALUES (?, ?)";
    let mut session = TestSession::connect(database, &[(Write, insert)]);
    items(&mut session, database, "law_errors");
    let one = [Value::Int(1), Value::Int(1)];
    session.call(0, &one).expect("inserted");
    let words = refused(session.call(0, &one), DbErrorKind::Duplicate);
    assert!(words.contains("under test"), "it names the statement: {words}");
    refused(session.call(0, &[Value::Int(2), Value::Null]), DbErrorKind::Constraint);
    refused(session.text("SELECT * FROM law_nothing"), DbErrorKind::Missing);
    refused(session.text("SELECT nobody FROM law_errors"), DbErrorKind::Missing);
    let index = "CREATE INDEX law_errors_v ON law_errors (v)";
    session.text(index).expect("made");
    for twice in [index, "CREATE TABLE law_errors (id INT)"] {
        refused(session.text(twice), DbErrorKind::Exists);
    }
    refused(session.text("SELEKT"), DbErrorKind::Other);
    session.ask(Request::BeginReadOnly).expect("begun");
    refused(session.call(0, &[Value::Int(3), Value::Int(3)]), DbErrorKind::ReadOnly);
    session.ask(Request::Rollback).expect("rolled back");
    session.call(0, &[Value::Int(3), Value::Int(3)]).expect("it may write again");
    assert_eq!(session.int("SELECT count(*) FROM law_errors"), 2);
}

fn values_are_counted(database: &Arc<dyn Database>) {
    let mut session =
        TestSession::connect(database, &[(Read, "SELECT v FROM law_count WHERE id = ?")]);
    items(&mut session, database, "law_count");
    for _ in 0..2 {
        refused(session.call(0, &[]), DbErrorKind::Shape);
        refused(session.call(0, &[Value::Int(1), Value::Int(2)]), DbErrorKind::Shape);
    }
    assert_eq!(session.call(0, &[Value::Int(1)]).expect("it reads").n_rows, 0);
}

fn result_sets_are_told_apart(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    items(&mut session, database, "law_sets");
    let sql = "INSERT INTO law_sets VALUES (1, 'a', 10), (2, 'b', 20);
        SELECT id FROM law_sets ORDER BY id;
        SELECT v, name FROM law_sets WHERE id > 5;
        SELECT name FROM law_sets ORDER BY id";
    let mut seen = Vec::new();
    let visit = &mut |row: &dyn Row| {
        seen.push((row.result_set(), row.name(0).to_owned(), keep(row.value(0))));
        Ok(())
    };
    let request = Request::Text { kind: Write, sql };
    let reply = block_on(query(&mut *session.0, request, visit)).expect("it runs");
    assert_eq!(reply, Reply { n_rows: 4, n_affected: 2 });
    let expect = [
        (0, "id", Kept::Int(1)),
        (0, "id", Kept::Int(2)),
        (2, "name", Kept::Text("a".to_owned())),
        (2, "name", Kept::Text("b".to_owned())),
    ];
    assert_eq!(seen, expect.map(|(set, name, value)| (set, name.to_owned(), value)));
}

fn batches_end_at_the_first_no(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_batch (id, v) VALUES (?, ?)";
    let read = "SELECT v FROM law_batch WHERE id <= ? ORDER BY id";
    let mut session = TestSession::connect(database, &[(Write, insert), (Read, read)]);
    items(&mut session, database, "law_batch");
    let values = [1, 2, 3].map(|n| [Value::Int(n), Value::Int(n * 10)]);
    let insert = |n: usize| Call { statement: StatementId(0), values: &values[n] };
    let read = Call { statement: StatementId(1), values: &[Value::Int(9)] };
    let mut sets = Vec::new();
    let batch = [insert(0), read, insert(1), read];
    let visit = &mut |row: &dyn Row| {
        sets.push((row.result_set(), keep(row.value(0))));
        Ok(())
    };
    let reply = block_on(query(&mut *session.0, Request::Batch(&batch), visit)).expect("it runs");
    assert_eq!(reply, Reply { n_rows: 3, n_affected: 2 });
    assert_eq!(sets, [(0, Kept::Int(10)), (1, Kept::Int(10)), (1, Kept::Int(20))]);
    session.ask(Request::Begin).expect("begun");
    let batch = [insert(2), insert(0), read];
    refused(session.ask(Request::Batch(&batch)), DbErrorKind::Duplicate);
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int("SELECT count(*) FROM law_batch"), 2);
    assert_eq!(session.ask(Request::Batch(&[])).expect("nothing"), Reply::default());
}

fn statements_are_closed(database: &Arc<dyn Database>) {
    database.keep_statements(0);
    let texts: Vec<String> = (0..60).map(|number| format!("SELECT {number} + ?")).collect();
    let declared: Vec<(StatementKind, &str)> = texts.iter().map(|sql| (Read, &**sql)).collect();
    let mut session = TestSession::connect(database, &declared);
    database.keep_statements(crate::STATEMENTS_KEPT);
    let late = session.0.prepare(statement(database, Read, "SELECT 100 + ?")).expect("prepared");
    for round in 0..3 {
        for number in 0..60 {
            // The first one is used between all others, and so stays.
            for (number, base) in [(number, i64::from(number)), (0, 0), (late.0, 100)] {
                let rows = session.call_rows(number, &[Value::Int(round)]);
                assert_eq!(rows, [[Kept::Int(base + round)]], "statement {number}");
            }
        }
    }
    // More statements in a batch than are kept.
    let value = [Value::Int(1)];
    let call = |number| Call { statement: StatementId(number), values: &value };
    let calls: Vec<Call<'_>> = (0..60).map(call).collect();
    let expect: Vec<Vec<Kept>> = (0..60).map(|number| vec![Kept::Int(number + 1)]).collect();
    for _ in 0..2 {
        assert_eq!(session.rows(Request::Batch(&calls)), Ok(expect.clone()));
    }
}

fn statements_are_ahead(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[(Read, "SELECT 1 + ?")]);
    let late = session.0.prepare(statement(database, Read, "SELECT 100 + ?")).expect("known");
    for round in 0..3 {
        for (id, base) in [(StatementId(0), 1), (late, 100)] {
            // A statement that is prepared stays so.
            for _ in 0..2 {
                assert_eq!(session.ask(Request::Prepare(id)), Ok(Reply::default()));
            }
            let rows = session.call_rows(id.0, &[Value::Int(round)]);
            assert_eq!(rows, [[Kept::Int(base + round)]]);
            session.0.close(id);
            session.0.close(id);
        }
    }
    // It is prepared again when it is executed.
    assert_eq!(session.call_rows(late.0, &[Value::Int(7)]), [[Kept::Int(107)]]);
    let missing = statement(database, Read, "SELECT v FROM law_nothing");
    let missing = session.0.prepare(missing);
    // A statement that is sent as text is not prepared.
    let missing = missing.and_then(|id| session.ask(Request::Prepare(id)).map(|_| id));
    refused(missing.and_then(|id| session.call(id.0, &[])), DbErrorKind::Missing);
    assert_eq!(session.call_rows(late.0, &[Value::Int(8)]), [[Kept::Int(108)]]);
}

fn prepared_controls(database: &Arc<dyn Database>) {
    use TransactionControl::{Begin, Commit, Rollback};
    let insert = "INSERT INTO law_control (id, v) VALUES (?, 0)";
    let mut session = TestSession::connect(database, &[(Write, insert)]);
    items(&mut session, database, "law_control");
    let control = |session: &mut TestSession, control: TransactionControl| {
        let sql = format!("{control:?}").to_uppercase();
        let id = session.0.prepare(Statement::new("control", StatementKind::Other, sql));
        let id = id.expect("known");
        match session.ask(Request::Prepare(id)) {
            // Some servers do not prepare BEGIN.
            Err(no) if no.kind == DbErrorKind::Unsupported => session.ask(control.as_text()),
            prepared => prepared.and_then(|_| session.ask(Request::ExecuteControl(control, id))),
        }
        .expect("it begins or ends a transaction");
    };
    for (id, end) in [(1, Commit), (2, Rollback), (4, Commit)] {
        control(&mut session, Begin);
        session.call(0, &[Value::Int(id)]).expect("inserted");
        control(&mut session, end);
    }
    assert_eq!(session.int("SELECT sum(id) FROM law_control"), 5);
}

fn statements_are_prepared_late(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_late (id, v) VALUES (?, ?)";
    let mut session = TestSession::connect(database, &[(Write, insert)]);
    items(&mut session, database, "law_late");
    session.call(0, &[Value::Int(1), Value::Int(10)]).expect("inserted");
    let sql = "SELECT v FROM law_late WHERE id = ?";
    let id = session.0.prepare(statement(database, Read, sql)).expect("prepared");
    assert_eq!(id, StatementId(1), "numbered after the declared ones");
    for _ in 0..3 {
        assert_eq!(session.call_rows(1, &[Value::Int(1)]), [[Kept::Int(10)]]);
    }
    let missing = statement(database, Read, "SELECT v FROM law_nothing");
    // The server may reject a statement only at its first use.
    let missing = session.0.prepare(missing).and_then(|id| session.call(id.0, &[]));
    refused(missing, DbErrorKind::Missing);
    assert_eq!(session.call_rows(1, &[Value::Int(1)]), [[Kept::Int(10)]]);
}

fn visitors_can_refuse(database: &Arc<dyn Database>) {
    let mut session =
        TestSession::connect(database, &[(Read, "SELECT id FROM law_visit ORDER BY id")]);
    items(&mut session, database, "law_visit");
    session.do_all(&["INSERT INTO law_visit VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)"]);
    let call = Call { statement: StatementId(0), values: &[] };
    for _ in 0..2 {
        let mut n_seen = 0;
        let visit = &mut |_: &dyn Row| {
            n_seen += 1;
            Err(DbError::new(DbErrorKind::Shape, "not this one"))
        };
        let words = refused(
            block_on(query(&mut *session.0, Request::Execute(call), visit)),
            DbErrorKind::Shape,
        );
        assert_eq!(words, "under test: not this one", "the statement is named");
        assert_eq!(n_seen, 1);
    }
    assert_eq!(session.call(0, &[]).expect("it reads").n_rows, 3);
}

fn rollbacks_undo(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_undo (id, v) VALUES (?, 0)";
    let mut session = TestSession::connect(database, &[(Write, insert)]);
    items(&mut session, database, "law_undo");
    for (id, end) in [(1, Request::Commit), (2, Request::Rollback), (3, Request::Commit)] {
        session.ask(Request::Begin).expect("begun");
        session.call(0, &[Value::Int(id)]).expect("inserted");
        session.ask(end).expect("ended");
    }
    assert_eq!(session.int("SELECT sum(id) FROM law_undo"), 4);
    session.ask(Request::Rollback).expect("there is nothing to roll back, and that is no mistake");
}

fn dropped_sessions_leave_nothing(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_drop (id, v) VALUES (?, 0)";
    let mut stays = TestSession::connect(database, &[(Write, insert)]);
    items(&mut stays, database, "law_drop");
    let mut goes = TestSession::connect(database, &[(Write, insert)]);
    goes.ask(Request::Begin).expect("begun");
    goes.call(0, &[Value::Int(1)]).expect("inserted");
    drop(goes);
    stays.ask(Request::Begin).expect("nobody is in the way");
    stays.call(0, &[Value::Int(1)]).expect("the key is free");
    stays.ask(Request::Commit).expect("committed");
}

fn no_update_is_lost(database: &Arc<dyn Database>) {
    const N_THREADS: i64 = 4;
    const N_EACH: i64 = 50;
    let mut session = TestSession::connect(database, &[]);
    items(&mut session, database, "law_update");
    session.do_all(&["INSERT INTO law_update VALUES (1, 'counter', 0)"]);
    let read = "SELECT v FROM law_update{lock hint} WHERE id = 1{for update}";
    let write = "UPDATE law_update SET v = ? WHERE id = 1";
    let increment = |session: &mut TestSession| -> Result<(), DbError> {
        session.ask(Request::Begin)?;
        let read = Call { statement: StatementId(0), values: &[] };
        let v = match session.rows(Request::Execute(read))?[0][0] {
            Kept::Int(v) => v,
            ref other => panic!("{other:?}"),
        };
        assert_eq!(session.call(1, &[Value::Int(v + 1)])?.n_affected, 1);
        session.ask(Request::Commit).map(|_| ())
    };
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                let mut session = TestSession::connect(database, &[(Read, read), (Write, write)]);
                for _ in 0..N_EACH {
                    while let Err(no) = increment(&mut session) {
                        assert!(no.kind.is_conflict(), "{no}");
                        session.ask(Request::Rollback).expect("rolled back");
                    }
                }
            });
        }
    });
    assert_eq!(session.int("SELECT v FROM law_update"), N_THREADS * N_EACH);
}

/// A source of rows for a bulk load into a table from [`items`]: the numbers from `next` up to
/// `end`; the last row comes twice if `twice` is set, which makes a duplicate key.
struct Numbers {
    next: i64,
    end: i64,
    twice: bool,
}

impl RowSource for Numbers {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end && !self.twice {
            return false;
        }
        if self.next == self.end {
            (self.twice, self.next) = (false, self.next - 1);
        }
        let name = format!("row {}", self.next);
        emit(&[Value::Int(self.next), Value::Text(&name), Value::Int(self.next * 2)]);
        self.next += 1;
        true
    }
}

fn loads_are_complete(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    let table = items(&mut session, database, "law_load");
    session.ask(Request::Begin).expect("begun");
    let mut source = Numbers { next: 0, end: 10_000, twice: false };
    let reply = block_on(load(&mut *session.0, &table, &mut source)).expect("loaded");
    session.ask(Request::Commit).expect("committed");
    assert_eq!(reply, Reply { n_rows: 0, n_affected: 10_000 });
    let sql = "SELECT id, name, v FROM law_load ORDER BY id";
    let rows = session.rows(Request::Text { kind: Read, sql }).expect("it reads");
    let expect =
        (0..10_000).map(|n| [Kept::Int(n), Kept::Text(format!("row {n}")), Kept::Int(2 * n)]);
    assert!(rows.into_iter().eq(expect));
}

fn loads_can_be_refused(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    let table = items(&mut session, database, "law_refuse");
    session.ask(Request::Begin).expect("begun");
    let mut source = Numbers { next: 0, end: 100, twice: true };
    let result = block_on(load(&mut *session.0, &table, &mut source));
    refused(result, DbErrorKind::Duplicate);
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int("SELECT count(*) FROM law_refuse"), 0);
}

fn cancels_end_statements(database: &Arc<dyn Database>) {
    let mut session = TestSession::connect(database, &[]);
    let table = items(&mut session, database, "law_cancel");
    session.ask(Request::Begin).expect("begun");
    let mut source = Numbers { next: 0, end: 10_000, twice: false };
    block_on(load(&mut *session.0, &table, &mut source)).expect("loaded");
    session.ask(Request::Commit).expect("committed");
    let joined = "FROM law_cancel a, law_cancel b, law_cancel c";
    // One query returns rows one by one, the other only a count, which takes too long to come.
    for head in ["a.id", "count(*)"] {
        is_cancelled(database, &format!("SELECT {head} {joined}"));
    }
}

/// Checks that a running statement can be cancelled from another thread. `sql` must be a statement
/// that takes longer than the test waits, on any machine.
fn is_cancelled(database: &Arc<dyn Database>, sql: &str) {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let mut session = TestSession::connect(database, &[(Read, sql)]);
            let mut hand = Some(session.0.canceller());
            // If no row comes before the end, the session may be cancelled before the statement
            // starts.
            if sql.contains("count") {
                sender.send(hand.take()).expect("somebody listens");
            }
            let visit = &mut |_: &dyn Row| {
                if hand.is_some() {
                    sender.send(hand.take()).expect("somebody listens");
                }
                Ok(())
            };
            let call = Call { statement: StatementId(0), values: &[] };
            let result = block_on(query(&mut *session.0, Request::Execute(call), visit));
            refused(result, DbErrorKind::Cancelled);
            refused(session.text("SELECT 1"), DbErrorKind::Cancelled);
        });
        let hand = receiver.recv().expect("a hand on the session").expect("sent once");
        hand.cancel();
        worker.join().expect("no panic");
    });
}

fn sessions_reconnect(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_again (id, v) VALUES (?, 0)";
    let mut session = TestSession::connect(database, &[(Write, insert)]);
    items(&mut session, database, "law_again");
    session.call(0, &[Value::Int(1)]).expect("inserted");
    let late = statement(database, Read, "SELECT 1");
    let late = session.0.prepare(late).expect("prepared");
    session.ask(Request::Begin).expect("begun");
    session.call(0, &[Value::Int(2)]).expect("inserted");
    block_on(reconnect(&mut *session.0)).expect("made again");
    refused(session.call(late.0, &[]), DbErrorKind::Missing);
    session.call(0, &[Value::Int(3)]).expect("declared statements are known");
    assert_eq!(session.int("SELECT sum(id) FROM law_again"), 4, "the open transaction is undone");
}

fn traffic_is_counted(database: &Arc<dyn Database>) {
    let insert = "INSERT INTO law_traffic (id, v) VALUES (?, 0)";
    let read = "SELECT v FROM law_traffic WHERE id = ?";
    let mut session = TestSession::connect(database, &[(Write, insert), (Read, read)]);
    items(&mut session, database, "law_traffic");
    let one = [Value::Int(1)];
    // The first use may prepare the statement in another round trip.
    session.call(0, &[Value::Int(0)]).expect("inserted");
    session.call(1, &one).expect("it reads");
    let before = session.0.traffic();
    session.ask(Request::Begin).expect("begun");
    session.call(0, &one).expect("inserted");
    let call = Call { statement: StatementId(1), values: &one };
    session.ask(Request::Batch(&[call, call])).expect("it reads");
    session.ask(Request::Commit).expect("committed");
    session.call(1, &one).expect("it reads");
    let got = session.0.traffic() - before;
    let counted = Traffic { bytes_out: 0, bytes_in: 0, ..got };
    let expected = Traffic { reads: 3, writes: 1, others: 2, round_trips: 5, ..Traffic::default() };
    // One row inserted, three read.
    assert_eq!(counted, Traffic { rows: 4, ..expected });
}
