//! The trace of single transactions, with their statements, replies and times, as a page and as
//! JSON.
//!
//! Not here: recording of a trace (engine).

use model::numbers::{count, cut, significant};
use model::{
    Exchange, NS_PER_MS, Sent, SentStatement, Trace, TraceOutcome, Traffic, TransactionTrace,
    format_count,
};
use serde_json::{Value, json};

use super::document::{Block, Document, Section, Tone, Verdict};
use super::{Align, Cell, Column, Table};

/// Largest length of an SQL statement on a trace's page, in characters; a longer one is cut, and
/// the JSON of the trace has all of it.
const SQL_SHOWN: usize = 2_000;
/// Largest length of a column's name in a traced reply, in characters; a longer one is cut.
const NAME_SHOWN: usize = 30;
/// Largest length of a single parameter value on a trace's page, in characters; a longer one is
/// cut.
const VALUE_SHOWN: usize = 60;
/// Largest length of all parameter values of a statement together on a trace's page, in characters;
/// longer text is cut.
const VALUES_SHOWN: usize = 240;
/// Largest length of the first row of a reply on a trace's page, in characters; a longer one is
/// cut.
const ROW_SHOWN: usize = 400;

/// Returns the page of a trace: all statements and replies of one transaction, or of one
/// transaction of each type.
pub fn trace(trace: &Trace) -> Document {
    let Trace { workload, database, .. } = trace;
    let mut page = Document::new("Transaction", format!("{workload} on {database}"));
    match trace.transactions.as_slice() {
        [only] => page.verdicts.push(verdict(&only.transaction, database, only)),
        all => {
            page.verdicts.extend(all.iter().map(|traced| verdict(&traced.transaction, "", traced)))
        }
    }
    page.sections.push(Section::new("conditions", "", vec![conditions(trace)]));
    if trace.transactions.len() > 1 {
        page.section("totals", "In all", vec![Block::Table(totals(trace))]);
    }
    let part = |traced: &TransactionTrace| {
        let title = format!("{}, number {}", traced.transaction, traced.number);
        Block::Part(title, vec![Block::Table(exchanges(traced))])
    };
    page.section("requests", "Requests", trace.transactions.iter().map(part).collect());
    if !trace.routines.is_empty() {
        page.section("routines", "Within the server", routines(trace));
    }
    page
}

/// Returns the headline on a transaction: `new_order on MariaDB 10.11: committed; 1 statement in 1
/// round trip, 51 bytes out and 412 in, 1.23 ms`.
fn verdict(name: &str, database: &str, traced: &TransactionTrace) -> Verdict {
    let place = if database.is_empty() { String::new() } else { format!(" on {database}") };
    let (tone, details) = match &traced.outcome {
        TraceOutcome::Failed(why) => (Tone::Bad, vec![why.as_str().into()]),
        TraceOutcome::Committed | TraceOutcome::RolledBack => (Tone::Plain, Vec::new()),
    };
    let Traffic { round_trips, bytes_out, bytes_in, .. } = traced.traffic;
    let travelled = match bytes_out + bytes_in {
        // An embedded database is called.
        0 => String::new(),
        _ => format!(
            " in {}, {} bytes out and {} in",
            count(round_trips, "round trip"),
            format_count(bytes_out),
            format_count(bytes_in)
        ),
    };
    let headline = format!(
        "{name}{place}: {}; {}{travelled}, {} ms",
        outcome(&traced.outcome),
        count(traced.traffic.queries(), "statement"),
        significant(ms(traced.elapsed_ns), 3),
    );
    Verdict { tone, word: outcome(&traced.outcome).to_owned(), headline: headline.into(), details }
}

/// Returns the blocks with the definitions of stored procedures and functions, whose statements
/// dbdyno cannot see.
fn routines(trace: &Trace) -> Vec<Block> {
    let other = trace.transactions.first().map_or_else(String::new, |traced| {
        let Trace { workload, .. } = trace;
        format!(
            " With values, replies and times, as statements that do the same: dbdyno show {workload} \
             --mode prepared --transaction {} --target {}.",
            traced.transaction,
            crate::for_shell(&trace.target)
        )
    });
    let words = format!(
        "The statements of a procedure or function are executed within the server, in the round \
         trip of its call. Their replies do not leave the server, so dbdyno sees neither their \
         values nor their times.{other} As created:"
    );
    let definitions = trace.routines.iter().map(|(_, create)| Block::Verbatim(create.clone()));
    std::iter::once(Block::paragraphs([words])).chain(definitions).collect()
}

fn outcome(outcome: &TraceOutcome) -> &'static str {
    match outcome {
        TraceOutcome::Committed => "committed",
        TraceOutcome::RolledBack => "rolled back by design",
        TraceOutcome::Failed(_) => "failed",
    }
}

fn conditions(trace: &Trace) -> Block {
    let parameters = trace.parameters.iter();
    let parameters: Vec<String> = parameters.map(|(k, v)| format!("{k}={v}")).collect();
    let connection = match trace.warm_up {
        0 => "new; the first call of a statement includes its preparation".to_owned(),
        n => format!(
            "executed {} of the same type before; statements called there are prepared",
            count(n.into(), "transaction")
        ),
    };
    Block::pairs([
        ("target", trace.target.clone()),
        ("parameters", parameters.join(", ")),
        ("seed", trace.seed.to_string()),
        ("connection", connection),
    ])
}

fn totals(trace: &Trace) -> Table {
    let columns = [
        Column::words("transaction", "transaction"),
        Column::count("number", "number"),
        Column::words("outcome", "outcome"),
        Column::count("statements", "statements"),
        Column::count("round_trips", "trips"),
        Column::count("bytes_out", "bytes out"),
        Column::count("bytes_in", "bytes in"),
        Column::number("elapsed_ms", "ms", 3),
    ];
    let row = |traced: &TransactionTrace| {
        let name: Cell = traced.transaction.as_str().into();
        let outcome: Cell = outcome(&traced.outcome).into();
        let [trips, out, back] = trips_and_bytes(&traced.traffic);
        let elapsed = ms(traced.elapsed_ns).into();
        vec![
            name,
            traced.number.into(),
            outcome,
            traced.traffic.queries().into(),
            trips,
            out,
            back,
            elapsed,
        ]
    };
    Table::filled("totals", "", columns, trace.transactions.iter().map(row).collect())
}

fn trips_and_bytes(traffic: &Traffic) -> [Cell; 3] {
    [traffic.round_trips.into(), traffic.bytes_out.into(), traffic.bytes_in.into()]
}

/// Returns the table of a transaction's statements, one per row. Times and bytes of statements that
/// were sent together are beside the first of them.
fn exchanges(traced: &TransactionTrace) -> Table {
    let columns = [
        Column::data("transaction"),
        Column::count("request", "#"),
        Column::data("name"),
        Column::data("sent"),
        Column::data("sql"),
        Column::data("values"),
        Column::data("rows"),
        Column::data("affected"),
        Column::data("error"),
        Column::sentences("statement [values] → reply"),
        Column::count("round_trips", "trips"),
        Column::count("bytes_out", "out"),
        Column::count("bytes_in", "in"),
        Column::data("started_ms"),
        Column::new("ms", Align::Point).key("elapsed_ms").digits(3),
    ];
    let mut rows = Vec::new();
    for (index, exchange) in traced.exchanges.iter().enumerate() {
        let n_statements = exchange.statements.len();
        for (place, statement) in exchange.statements.iter().enumerate() {
            let is_last = place + 1 == n_statements;
            let shown = line(statement, is_last.then(|| reply(exchange)));
            let mut cells: Vec<Cell> = vec![
                traced.transaction.as_str().into(),
                (index + 1).into(),
                statement.name.into(),
                sent(statement).into(),
                statement.sql.as_str().into(),
                statement.values.join(", ").into(),
            ];
            cells.extend(match is_last {
                true => [exchange.rows.into(), exchange.affected.into()],
                false => [Cell::None, Cell::None],
            });
            cells.push(exchange.error.as_deref().filter(|_| is_last).unwrap_or_default().into());
            cells.push(shown.into());
            cells.extend(match place {
                0 => trips_and_bytes(&exchange.traffic),
                _ => [Cell::None, Cell::None, Cell::None],
            });
            cells.extend(match place {
                0 => [ms(exchange.started_ns).into(), ms(exchange.elapsed_ns).into()],
                _ => [Cell::None, Cell::None],
            });
            rows.push(cells);
        }
    }
    Table::filled("exchanges", "", columns, rows)
}

fn sent(statement: &SentStatement) -> &'static str {
    match statement.sent {
        Sent::Prepared => "prepared",
        Sent::Text => "text",
    }
}

/// Formats a statement with its values and reply: `SELECT w_tax FROM warehouse WHERE w_id = ? [1] →
/// 1 row (0.1234)`.
fn line(statement: &SentStatement, reply: Option<String>) -> String {
    let mut line = cut(&statement.sql, SQL_SHOWN);
    if statement.is_first_call {
        line = format!("(first call) {line}");
    }
    if !statement.values.is_empty() {
        let values: Vec<String> =
            statement.values.iter().map(|value| cut(value, VALUE_SHOWN)).collect();
        line += &format!(" [{}]", cut(&values.join(", "), VALUES_SHOWN));
    }
    match reply.filter(|reply| !reply.is_empty()) {
        Some(reply) => format!("{line} → {reply}"),
        None => line,
    }
}

fn reply(exchange: &Exchange) -> String {
    if let Some(error) = &exchange.error {
        return format!("error: {error}");
    }
    let first = exchange.first_rows.first();
    let named = |(at, value): (usize, &String)| match exchange.columns.get(at) {
        Some(name) if !name.is_empty() => {
            format!("{} {}", cut(name, NAME_SHOWN), cut(value, VALUE_SHOWN))
        }
        _ => value.clone(),
    };
    let row = |row: &Vec<String>| row.iter().enumerate().map(named).collect::<Vec<_>>().join(", ");
    let first = first.map(|first| format!(" ({})", cut(&row(first), ROW_SHOWN)));
    match (exchange.rows, exchange.affected) {
        (0, 0) => String::new(),
        (0, n) => format!("{} changed", count(n, "row")),
        (n, _) => count(n, "row") + &first.unwrap_or_default(),
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}

/// Returns a trace (statements and replies of transactions) as JSON.
pub fn trace_json(trace: &Trace) -> Value {
    let parameters = trace.parameters.iter().map(|(k, v)| (k.clone(), v.as_str().into()));
    json!({
        "target": trace.target,
        "database": trace.database,
        "workload": trace.workload,
        "parameters": parameters.collect::<serde_json::Map<String, Value>>(),
        "seed": trace.seed,
        "warm_up": trace.warm_up,
        "transactions": trace.transactions.iter().map(transaction_json).collect::<Vec<_>>(),
        "routines": trace
            .routines
            .iter()
            .map(|(name, create)| json!({"name": name, "definition": create}))
            .collect::<Vec<_>>(),
    })
}

fn transaction_json(traced: &TransactionTrace) -> Value {
    let (outcome, error) = match &traced.outcome {
        TraceOutcome::Committed => ("committed", None),
        TraceOutcome::RolledBack => ("rolled_back", None),
        TraceOutcome::Failed(why) => ("failed", Some(why)),
    };
    json!({
        "transaction": traced.transaction,
        "number": traced.number,
        "outcome": outcome,
        "error": error,
        "elapsed_ms": ms(traced.elapsed_ns),
        "statements": traced.traffic.queries(),
        "reads": traced.traffic.reads,
        "writes": traced.traffic.writes,
        "others": traced.traffic.others,
        "round_trips": traced.traffic.round_trips,
        "bytes_out": traced.traffic.bytes_out,
        "bytes_in": traced.traffic.bytes_in,
        "requests": traced.exchanges.iter().map(exchange_json).collect::<Vec<_>>(),
    })
}

fn exchange_json(exchange: &Exchange) -> Value {
    let statement = |one: &SentStatement| {
        json!({
            "name": one.name,
            "sent": sent(one),
            "sql": one.sql,
            "values": one.values,
            "is_first_call": one.is_first_call,
        })
    };
    json!({
        "statements": exchange.statements.iter().map(statement).collect::<Vec<_>>(),
        "started_ms": ms(exchange.started_ns),
        "elapsed_ms": ms(exchange.elapsed_ns),
        "round_trips": exchange.traffic.round_trips,
        "bytes_out": exchange.traffic.bytes_out,
        "bytes_in": exchange.traffic.bytes_in,
        "rows": exchange.rows,
        "affected": exchange.affected,
        "columns": exchange.columns,
        "first_rows": exchange.first_rows,
        "error": exchange.error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(sql: &str, values: &[&str]) -> SentStatement {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let (sql, sent) = (sql.to_owned(), Sent::Prepared);
        SentStatement { name: "stock", sql, sent, values, is_first_call: false }
    }

    fn traffic(round_trips: u64) -> Traffic {
        Traffic {
            reads: round_trips,
            round_trips,
            bytes_out: 51,
            bytes_in: 412,
            ..Traffic::default()
        }
    }

    fn fixture(outcome: TraceOutcome) -> Trace {
        let read = Exchange {
            statements: vec![statement("SELECT s_quantity FROM stock WHERE s_i_id = ?", &["7"])],
            elapsed_ns: 1_234_567,
            traffic: traffic(1),
            rows: 1,
            first_rows: vec![vec!["42".to_owned()]],
            columns: vec!["s_quantity".to_owned()],
            ..Exchange::default()
        };
        let batch = Exchange {
            statements: vec![
                statement("UPDATE stock SET s_quantity = ?", &["41"]),
                SentStatement::text("COMMIT"),
            ],
            started_ns: 2_000_000,
            elapsed_ns: 500_000,
            traffic: Traffic { writes: 1, others: 1, ..traffic(1) },
            affected: 1,
            ..Exchange::default()
        };
        let transaction = TransactionTrace {
            transaction: "new_order".to_owned(),
            number: 3,
            outcome,
            elapsed_ns: 2_500_000,
            traffic: traffic(2),
            exchanges: vec![read, batch],
        };
        Trace {
            target: "mariadb://bench@db/bench".to_owned(),
            database: "MariaDB 10.11".to_owned(),
            workload: "tpcc".to_owned(),
            parameters: vec![("mode".to_owned(), "batched".to_owned())],
            seed: 1,
            warm_up: 1,
            transactions: vec![transaction],
            routines: vec![("p".to_owned(), "CREATE PROCEDURE p() BEGIN END".to_owned())],
        }
    }

    #[test]
    fn a_transaction_is_shown_statement_by_statement() {
        let page = trace(&fixture(TraceOutcome::Committed));
        insta::assert_snapshot!(crate::terminal::text(&page, &crate::Style::default()), @r"
        new_order on MariaDB 10.11: committed; 2 statements in 2 round trips, 51 bytes out and 412 in,
        2.50 ms

        target      mariadb://bench@db/bench
        parameters  mode=batched
        seed        1
        connection  executed 1 transaction of the same type before; statements called there are prepared

        new_order, number 3
        #  statement [values] → reply                                             trips  out   in     ms
        1  SELECT s_quantity FROM stock WHERE s_i_id = ? [7] → 1 row (s_quantity      1   51  412  1.23
           42)
        2  UPDATE stock SET s_quantity = ? [41]                                       1   51  412  0.500
        2  COMMIT → 1 row changed                                                     –    –    –  –

        The statements of a procedure or function are executed within the server, in the round trip of
        its call. Their replies do not leave the server, so dbdyno sees neither their values nor their
        times. With values, replies and times, as statements that do the same: dbdyno show tpcc --mode
        prepared --transaction new_order --target 'mariadb://bench@db/bench'. As created:
        CREATE PROCEDURE p() BEGIN END
        ");
    }

    #[test]
    fn programs_read_each_request_with_its_statements() {
        let value = trace_json(&fixture(TraceOutcome::Failed("deadlock".to_owned())));
        let traced = &value["transactions"][0];
        assert_eq!((&traced["outcome"], &traced["error"]), (&json!("failed"), &json!("deadlock")));
        assert_eq!(traced["requests"][1]["statements"][1]["sql"], "COMMIT");
        assert_eq!(traced["requests"][0]["first_rows"], json!([["42"]]));
        assert_eq!(traced["requests"][0]["columns"], json!(["s_quantity"]));
        assert_eq!(value["routines"][0]["name"], "p");
    }
}
