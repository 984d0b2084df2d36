//! Conformance tests that statements sent as text give the same results as prepared ones.
//!
//! Every value is written both ways and read both ways. Not here: performance.

use std::sync::Arc;

use model::{
    Call, ColumnType, Database, DbErrorKind, Reply, Request, Rng, Row, Sent, Statement,
    StatementId, StatementKind, Stream, Value, query,
};

use super::{Kept, Other, Read, TestSession, Write, block_on, keep, refused};

const NAME: &str = "law_as_text";
const INSERT: [u32; 2] = [0, 1];
const SELECT: [u32; 2] = [2, 3];

fn both(database: &Arc<dyn Database>, kind: StatementKind, sql: &str) -> [Statement; 2] {
    let statement = |sent| Statement { sent, ..super::statement(database, kind, sql) };
    [statement(Sent::Prepared), statement(Sent::Text)]
}

/// Creates a table with a column of each type, and returns a session with statements that write and
/// read it, both prepared and sent as text.
fn connect(database: &Arc<dyn Database>) -> TestSession {
    let insert = format!("INSERT INTO {NAME} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let columns = "small, big, money, fine, words, raw, x, instant, day";
    // Marks in comments and quotes are not placeholders.
    let select = format!("SELECT {columns} FROM {NAME} /* '?' */ WHERE id = ? AND '$1' <> '?x'");
    let statements = [both(database, Write, &insert), both(database, Read, &select)].concat();
    let mut session = TestSession::connect_with(database, statements).expect("it connects");
    let raw = if database.dialect().name == "postgres" { "bytea" } else { "BLOB" };
    let type_name = database.dialect().type_name;
    let (at, day) = (type_name(ColumnType::Timestamp), type_name(ColumnType::Date));
    let (money, fine) = match database.dialect().decimals {
        model::Decimals::Exact => ("DECIMAL(12, 2)", "DECIMAL(18, 10)"),
        model::Decimals::ScaledInteger => ("INTEGER", "INTEGER"),
    };
    session.do_all(&[
        &format!("DROP TABLE IF EXISTS {NAME}"),
        &format!(
            "CREATE TABLE {NAME} (id INT PRIMARY KEY, small SMALLINT, big BIGINT, money {money}, \
             fine {fine}, words VARCHAR(200), raw {raw}, x DOUBLE PRECISION, instant {at}, \
             day {day}){}",
            database.dialect().table_options
        ),
    ]);
    session
}

type Columns<'a> = [Value<'a>; 9];

/// Writes `row` twice, with a prepared statement and with one sent as text, and checks that each of
/// the two rows reads the same both ways.
fn check(session: &mut TestSession, id: &mut i64, row: &Columns<'_>) {
    let expect: Vec<Kept> = row.iter().map(|value| keep(*value)).collect();
    for insert in INSERT {
        *id += 1;
        let values = [&[Value::Int(*id)], &row[..]].concat();
        let done = session.call(insert, &values);
        assert_eq!(done.map(|reply| reply.n_affected), Ok(1), "statement {insert}: {row:?}");
        for select in SELECT {
            let got = session.call_rows(select, &[Value::Int(*id)]);
            assert_eq!(got, [&expect[..]], "written by {insert}, read by {select}");
        }
    }
}

pub(super) fn says_the_same(database: &Arc<dyn Database>) {
    let mut session = connect(database);
    let id = &mut 0;
    let usual: Columns<'_> = [
        Value::Int(1),
        Value::Int(1),
        Value::cents(1),
        Value::Decimal { unscaled: 1, scale: 10 },
        Value::Text("x"),
        Value::Bytes(b"x"),
        Value::Float(1.5),
        Value::Timestamp(0),
        Value::Date(0),
    ];
    check(&mut session, id, &usual);
    check(&mut session, id, &[Value::Null; 9]);
    for (column, values) in extremes(&texts(database), &bytes()).into_iter().enumerate() {
        for value in values {
            let mut row = usual;
            row[column] = value;
            check(&mut session, id, &row);
            let mut row = [Value::Null; 9];
            row[column] = value;
            check(&mut session, id, &row);
        }
    }
    // Servers can be configured to read quotes differently.
    session.do_all(match database.dialect().name {
        "postgres" => &["SET standard_conforming_strings = off"],
        "sqlite" | "duckdb" => &[],
        _ => &["SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')"],
    });
    for text in texts(database) {
        let mut row = usual;
        row[4] = Value::Text(text);
        check(&mut session, id, &row);
    }
}

fn texts(database: &Arc<dyn Database>) -> Vec<&'static str> {
    let mut texts = vec![
        "",
        "it's",
        "''",
        "\\",
        "\\'",
        "\\\\'; DROP TABLE law_as_text; --",
        "\"`",
        "? ?1 $1 :a @b %s",
        "/* -- #",
        "\t\r\n\u{1a}\u{7f}\u{1}",
        "\\n\\0\\x41\\u0041",
        "żółć 漢字 🦀 \u{feff}\u{202e}",
        "NULL",
        " lead and trail ",
    ];
    // PostgreSQL's text has no zero byte: see below.
    if database.dialect().name != "postgres" {
        texts.extend(["\0", "a\0b'\0\\"]);
    }
    texts
}

fn bytes() -> Vec<Vec<u8>> {
    let all: Vec<u8> = (0..=255).collect();
    vec![Vec::new(), vec![0], vec![0xff, 0xfe, 0x80], b"\\x41'\\".to_vec(), vec![0x1a; 3], all]
}

fn extremes<'a>(texts: &[&'a str], bytes: &'a [Vec<u8>]) -> [Vec<Value<'a>>; 9] {
    let decimals = |values: &[i64], scale| {
        values.iter().map(|unscaled| Value::Decimal { unscaled: *unscaled, scale }).collect()
    };
    const MONEY: i64 = 999_999_999_999;
    const FINE: i64 = 999_999_999_999_999_999;
    [
        [i16::MIN, -1, 0, i16::MAX].map(|value| Value::Int(value.into())).to_vec(),
        [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX].map(Value::Int).to_vec(),
        decimals(&[-MONEY, -1, 0, 5, 100, MONEY], 2),
        decimals(&[-FINE, -1, 0, 10_000_000_000, FINE], 10),
        texts.iter().map(|text| Value::Text(text)).collect(),
        bytes.iter().map(|bytes| Value::Bytes(bytes)).collect(),
        floats().into_iter().map(Value::Float).collect(),
        // From the year 1000 to the last microsecond of the year 9999.
        [-30_610_224_000_000_000, -1, 0, 1, 1_893_456_000_123_456, 253_402_300_799_999_999]
            .map(Value::Timestamp)
            .to_vec(),
        // From the year 1000 to the last day of the year 9999.
        [-354_285, -1, 0, 1, 8_035, 2_932_896].map(Value::Date).to_vec(),
    ]
}

fn floats() -> Vec<f64> {
    let mut floats = vec![0.0, 0.1, -0.1, 1.0 / 3.0, 1e15, 1e16, 123_456_789.123_456_79];
    floats.extend([f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::EPSILON, 1e22, 1e23, 9e-5]);
    let mut rng = Rng::new(1, Stream::Backoff(0), 0);
    let any = std::iter::repeat_with(|| f64::from_bits(rng.bits()));
    floats.extend(any.filter(|float| float.is_normal()).take(50));
    floats
}

pub(super) fn shares_batches(database: &Arc<dyn Database>) {
    let mut session = connect(database);
    let row = |id: i64| {
        let rest = [Value::Null; 7];
        [&[Value::Int(id), Value::Int(id), Value::Int(id * 10)][..], &rest].concat()
    };
    for (first, in_transaction) in [(1, false), (11, true), (21, false), (31, true)] {
        if in_transaction {
            session.ask(Request::Begin).expect("begun");
        }
        let rows = [row(first), row(first + 1), row(first + 2)];
        let keys = rows.each_ref().map(|row| [row[0]]);
        let call = |number: u32, values| Call { statement: StatementId(number), values };
        let batch = [
            call(INSERT[1], &rows[0][..]),
            call(INSERT[0], &rows[1][..]),
            call(SELECT[0], &keys[0][..]),
            call(SELECT[1], &keys[1][..]),
            call(INSERT[1], &rows[2][..]),
            call(SELECT[0], &keys[2][..]),
            call(SELECT[1], &keys[0][..]),
        ];
        let mut seen = Vec::new();
        let visit = &mut |row: &dyn Row| {
            seen.push((row.result_set(), row.name(1).to_owned(), keep(row.value(1))));
            Ok(())
        };
        let before = session.0.traffic();
        let reply = block_on(query(&mut *session.0, Request::Batch(&batch), visit));
        assert_eq!(reply, Ok(Reply { n_rows: 4, n_affected: 3 }));
        let counted = session.0.traffic() - before;
        assert_eq!((counted.reads, counted.writes), (4, 3));
        let expect = [first, first + 1, first + 2, first].map(|id| Kept::Int(id * 10));
        let expect = expect.into_iter().enumerate();
        assert!(seen.into_iter().eq(expect.map(|(set, value)| (set, "big".to_owned(), value))));
        if in_transaction {
            // The first error ends the batch, in either form.
            let new = row(first + 5);
            let second = call(INSERT[usize::from(first > 20)], &rows[0][..]);
            let batch = [call(INSERT[0], &new[..]), second, call(SELECT[1], &keys[1][..])];
            let words = refused(session.ask(Request::Batch(&batch)), DbErrorKind::Duplicate);
            assert!(words.contains("under test"), "it names the statement: {words}");
            session.ask(Request::Rollback).expect("rolled back");
        }
    }
    assert_eq!(session.int(&format!("SELECT count(*) FROM {NAME}")), 6);
}

pub(super) fn is_counted_and_refused_alike(database: &Arc<dyn Database>) {
    let mut session = connect(database);
    let row = [&[Value::Int(1)][..], &[Value::Null; 9]].concat();
    session.call(INSERT[1], &row).expect("inserted");
    let words = refused(session.call(INSERT[1], &row), DbErrorKind::Duplicate);
    assert!(words.contains("under test"), "it names the statement: {words}");
    for n_values in [0, 2] {
        let values = vec![Value::Int(1); n_values];
        refused(session.call(SELECT[1], &values), DbErrorKind::Shape);
    }
    let before = session.0.traffic();
    assert_eq!(session.call(SELECT[1], &[Value::Int(1)]).expect("it reads").n_rows, 1);
    let after = session.0.traffic() - before;
    assert_eq!((after.reads, after.writes, after.round_trips), (1, 0, 1));
    let [_, late] = both(database, Other, &format!("DELETE FROM {NAME} WHERE id = ?"));
    let late = session.0.prepare(late).expect("known");
    for n_affected in [1, 0] {
        let reply = session.call(late.0, &[Value::Int(1)]).expect("deleted");
        assert!(reply.n_affected == n_affected || database.dialect().name == "sqlite");
    }
    if database.dialect().name == "postgres" {
        for insert in INSERT {
            let mut row = row.clone();
            row[5] = Value::Text("a\0b");
            let no = session.call(insert, &row).expect_err("no text of this server has a zero");
            assert!(!no.kind.breaks_session(), "{no}");
        }
    }
    assert_eq!(session.int(&format!("SELECT count(*) FROM {NAME}")), 0);
}
