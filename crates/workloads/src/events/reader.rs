//! Client of `events` (reader), which fetches the newest records of a table, measures how old each
//! is when it is first read, and stores that in the result tables of its host. Not here: which
//! records are new (seen), and the time of reads (engine).

use std::fmt::Write;
use std::sync::Arc;

use model::{
    Call, Client, Clock, Conversation, DbError, DbErrorKind, Dialect, Done, Input, KindIndex,
    Number, Request, Row, Session, Statement, StatementId, StatementKind, TxContext, Value, query,
    query_number,
};

use super::Shared;
use super::account::Noted;
use super::seen::{Read, Record, Seen};
use super::tables::{AGE_COLUMNS, READ_COLUMNS, ages, reads, records};
use crate::tx_control::{control, end};

/// Index of the custom metric for the age of records, in the list of those of readers.
pub(super) const AGE: u16 = 0;
pub(super) const BETWEEN: u16 = 1;
pub(super) const WINDOW_QUERY: u16 = 2;
pub(super) const PLAIN_QUERY: u16 = 3;
pub(super) const RECORDS_READ: u16 = 4;
pub(super) const MISSED: u16 = 5;
pub(super) const DUPLICATES: u16 = 6;

/// Index of the transaction type `read`, which fetches the newest records.
pub(super) const READ: KindIndex = 0;
pub(super) const READ_PLAIN: KindIndex = 1;
pub(super) const HISTORY: KindIndex = 2;

/// Number of a reader's statements per table, one for each transaction type.
const PER_TABLE: usize = 3;
/// Upper bound of `column1` in queries. It is above all values, so that queries select all records.
const COLUMN1_BOUND: i64 = 1_000;
/// Approximate maximum length of a statement with many rows, in bytes: further rows go into another
/// statement, since servers reject much longer ones.
const STATEMENT_BYTES: usize = 512 << 10;

/// Returns the readers' statements for all tables, followed by one for each set of result tables,
/// which queries whether a given read is stored.
pub(super) fn statements(shared: &Shared, dialect: &Dialect) -> Vec<Statement> {
    let window = shared.reading.window;
    let table_statements = |place: usize| {
        let table = records(place);
        let derived = format!(
            "SELECT * FROM (SELECT * FROM {table} ORDER BY recordID DESC LIMIT {window}) w \
             WHERE w.column1 < {COLUMN1_BOUND}"
        );
        let plain = format!("SELECT * FROM {table} WHERE column1 < {COLUMN1_BOUND}");
        let history = format!(
            "SELECT * FROM {table} WHERE recordID BETWEEN ? AND ? AND column1 < {COLUMN1_BOUND}"
        );
        [("window", derived), ("plain", plain), ("history", history)]
            .map(|(name, sql)| Statement::new(name, StatementKind::Read, dialect.sql(&sql)))
    };
    let is_stored = |host: usize| {
        let table = reads(host);
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE run = ? AND reader = ? AND nth = ?");
        Statement::new("is stored", StatementKind::Read, dialect.sql(&sql))
    };
    let stored = (1..=shared.data.reader_hosts).map(is_stored);
    (0..shared.data.tables).flat_map(table_statements).chain(stored).collect()
}

/// Returns the type of a reader's transaction with the number `nth`, counted from 0.
pub(super) fn kind_of(shared: &Shared, nth: u64) -> KindIndex {
    let is_each = |nth: u64, every: u64| every > 0 && (nth + 1).is_multiple_of(every);
    let (plain, history) = (shared.reading.plain_every, shared.reading.history_every);
    // Queries for old records are not reads, so they do not count.
    let nth_read = nth - nth.checked_div(history).unwrap_or(0);
    match () {
        () if is_each(nth, history) => HISTORY,
        () if is_each(nth_read, plain) => READ_PLAIN,
        () => READ,
    }
}

/// A read whose result is not known to be stored in the result tables: it is still to be written,
/// or its commit had an unknown outcome.
struct Pending {
    nth: i64,
    read_ns: i64,
    read: Read,
}

pub(super) struct Reader {
    shared: Arc<Shared>,
    /// Number of the reader in its group, from 1.
    number: u32,
    /// Index of the table from which this reader reads.
    table: usize,
    /// Number of the reader's set of result tables, from 1.
    host: usize,
    seen: Seen,
    kind: KindIndex,
    /// Random number that selects the old records of the next query for old records.
    drawn: u64,
    /// Number of read intervals that had begun when the reader last read.
    n_ticks: u64,
    /// End of the last read, in nanoseconds of the run's clock; `None` before the first one.
    last_read_ns: Option<u64>,
    /// Number of reads whose results are stored in the result tables, or are to be stored.
    n_reads: i64,
    pending: Vec<Pending>,
    /// Number of the last read whose commit had an unknown outcome, so that reads up to it may be
    /// stored; `None` if there is none.
    uncertain: Option<i64>,
    /// Values of custom metrics that are not reported yet, each with the index of its metric.
    measured: Vec<(u16, u64)>,
    noted: Noted,
    /// Number of records read again in reads that found nothing new. It is stored with the next
    /// read that finds new records.
    duplicates: u64,
    sql: String,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, client: u32, number: u32) -> Reader {
        // Clients are dealt out to processes in turn, so each process has its own set of result
        // tables if there are as many sets. Tables of records are dealt out in turn as well: with
        // as many readers as tables, each table has one reader.
        let nth = client as usize;
        let (table, host) = (nth % shared.data.tables, nth % shared.data.reader_hosts + 1);
        Reader {
            shared,
            number,
            table,
            host,
            seen: Seen::default(),
            kind: READ,
            drawn: 0,
            n_ticks: 0,
            last_read_ns: None,
            n_reads: 0,
            pending: Vec::new(),
            uncertain: None,
            measured: Vec::new(),
            noted: Noted::default(),
            duplicates: 0,
            sql: String::new(),
        }
    }

    fn statement(&self, kind: KindIndex) -> StatementId {
        StatementId((PER_TABLE * self.table) as u32 + u32::from(kind))
    }

    async fn talk(&mut self, context: &mut TxContext<'_>) -> Result<Done, DbError> {
        let TxContext { sessions, clock, measured, .. } = context;
        let session = sessions.own();
        if self.kind == HISTORY {
            self.read_history(session).await?;
            return Ok(Done::Committed);
        }
        self.read(session, *clock).await?;
        let run = self.shared.account.run((clock.origin_unix_ns() + clock.now()) as i64);
        self.store(session, run).await?;
        self.tell(measured);
        Ok(Done::Committed)
    }

    /// Reads the newest records of a table, and determines which of them are new, repeated or
    /// missed.
    async fn read(&mut self, session: &mut dyn Session, clock: &dyn Clock) -> Result<(), DbError> {
        let begun_ns = clock.now();
        let call = Call { statement: self.statement(self.kind), values: &[] };
        let mut looking = self.seen.look();
        query(session, Request::Execute(call), &mut |row: &dyn Row| {
            let [id, sequence, stamped_ns] = [row.int(0)?, row.int(1)?, row.int(2)?];
            looking.at(Record { id, sequence, stamped_ns });
            Ok(())
        })
        .await?;
        let now_ns = clock.now();
        let read_ns = (clock.origin_unix_ns() + now_ns) as i64;
        let (read, seen) = looking.end();
        self.seen = seen;
        let place = if self.kind == READ { WINDOW_QUERY } else { PLAIN_QUERY };
        self.measured.push((place, now_ns - begun_ns));
        if let Some(last_ns) = self.last_read_ns.replace(now_ns) {
            self.measured.push((BETWEEN, now_ns - last_ns));
        }
        for record in &read.new {
            self.measured.push((AGE, age_ns(record, read_ns)));
        }
        let counts = [
            (RECORDS_READ, read.new.len() as u64),
            (MISSED, read.missed),
            (DUPLICATES, read.duplicates),
        ];
        self.measured.extend(counts.into_iter().filter(|(_, count)| *count > 0));
        self.noted.missed += read.missed;
        self.noted.duplicates += read.duplicates;
        self.noted.last = read.last;
        self.duplicates += read.duplicates;
        if self.shared.reading.has_results && (read.is_first || read.last > read.after) {
            let duplicates = std::mem::take(&mut self.duplicates);
            let read = Read { duplicates, ..read };
            self.pending.push(Pending { nth: self.n_reads, read_ns, read });
            self.n_reads += 1;
        }
        Ok(())
    }

    /// Queries old records: a range at a random position in the table.
    async fn read_history(&mut self, session: &mut dyn Session) -> Result<(), DbError> {
        let n_rows = self.shared.reading.history_rows;
        let n_places = (self.seen.last_id - n_rows + 1).max(1) as u64;
        let first = 1 + (self.drawn % n_places) as i64;
        let values = [first, first + n_rows - 1].map(Value::Int);
        let call = Call { statement: self.statement(HISTORY), values: &values };
        query(session, Request::Execute(call), &mut |_| Ok(())).await.map(|_| ())
    }

    /// Stores the results of pending reads in the result tables, under the run number `run`.
    async fn store(&mut self, session: &mut dyn Session, run: i64) -> Result<(), DbError> {
        if let Some(nth) = self.uncertain {
            let first = PER_TABLE * self.shared.data.tables;
            let place = StatementId((first + self.host - 1) as u32);
            let values = [run, i64::from(self.number), nth].map(Value::Int);
            if query_number(session, place, &values).await? == Some(1) {
                self.pending.retain(|pending| pending.nth > nth);
            }
            self.uncertain = None;
        }
        let Some(last) = self.pending.last().map(|pending| pending.nth) else { return Ok(()) };
        control(session, Request::Begin).await?;
        let said = self.insert_all(session, run).await.map(|()| Done::Committed);
        match end(session, said).await {
            Ok(_) => {
                self.pending.clear();
                Ok(())
            }
            Err(db_error) => {
                if db_error.kind == DbErrorKind::UnknownCommit {
                    self.uncertain = Some(last);
                }
                Err(db_error)
            }
        }
    }

    async fn insert_all(&mut self, session: &mut dyn Session, run: i64) -> Result<(), DbError> {
        let Reader { number, table, host, pending, sql, .. } = self;
        let own = [run, i64::from(*number), *table as i64 + 1];
        let each = |pending: &Pending| -> Vec<[i64; AGE_COLUMNS.len()]> {
            let read_ns = pending.read_ns;
            let row = |record: &Record| {
                let age_ns = age_ns(record, read_ns) as i64;
                let [run, reader, source] = own;
                [
                    run,
                    reader,
                    source,
                    record.id,
                    record.sequence,
                    record.stamped_ns,
                    read_ns,
                    age_ns,
                ]
            };
            pending.read.new.iter().map(row).collect()
        };
        insert(session, sql, (&ages(*host), &AGE_COLUMNS), pending.iter().flat_map(each)).await?;
        let row = |pending: &Pending| {
            let Pending { nth, read_ns, read } = pending;
            let [run, reader, source] = own;
            let [missed, duplicates] = [read.missed, read.duplicates].map(|n| n as i64);
            [run, reader, source, *nth, *read_ns, read.after, read.last, missed, duplicates]
        };
        insert(session, sql, (&reads(*host), &READ_COLUMNS), pending.iter().map(row)).await
    }

    /// Appends the values of custom metrics to `measured`: those of this transaction, and those of
    /// earlier transactions that failed.
    fn tell(&mut self, measured: &mut Vec<(u16, u64)>) {
        let is_age = |(place, _): &&(u16, u64)| *place == AGE;
        let ages: Vec<u64> = self.measured.iter().filter(is_age).map(|(_, age)| *age).collect();
        self.shared.account.read(self.number, self.table, &ages, self.noted);
        self.noted = Noted { last: self.noted.last, ..Noted::default() };
        measured.append(&mut self.measured);
    }
}

/// Returns the age of a record at the instant `read_ns`, in nanoseconds. It is at least 0, even if
/// the clocks of two hosts differ.
fn age_ns(record: &Record, read_ns: i64) -> u64 {
    u64::try_from(read_ns - record.stamped_ns).unwrap_or(0)
}

/// Inserts rows into a table with as few statements as possible.
async fn insert<const N: usize>(
    session: &mut dyn Session,
    sql: &mut String,
    (table, columns): (&str, &[&str; N]),
    rows: impl Iterator<Item = [i64; N]>,
) -> Result<(), DbError> {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        sql.clear();
        let columns = columns.join(", ");
        write!(sql, "INSERT INTO {table} ({columns}) VALUES ").expect("text can be written");
        let mut comma = "";
        while sql.len() < STATEMENT_BYTES {
            let Some(row) = rows.next() else { break };
            let values: Vec<String> = row.iter().map(i64::to_string).collect();
            write!(sql, "{comma}({})", values.join(", ")).expect("text can be written");
            comma = ", ";
        }
        let request = Request::Text { kind: StatementKind::Write, sql };
        query(session, request, &mut |_| Ok(())).await?;
    }
    Ok(())
}

impl Client for Reader {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.drawn = number.rng(self.shared.seed).bits();
        self.kind = kind_of(&self.shared, number.nth());
        self.kind
    }

    fn take_input(&mut self) -> Input {
        if self.shared.reading.interval_ns == 0 {
            return Input::Ready;
        }
        let n_ticks = self.shared.ticks.count();
        if n_ticks == self.n_ticks {
            return Input::Later;
        }
        self.n_ticks = n_ticks;
        Input::Ready
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(self.talk(context))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::parameters::{Data, NAME, PARAMETERS, Reading};
    use super::super::tests::made;
    use super::*;
    use crate::Make;
    use crate::events::account::Account;
    use crate::for_tests::DIALECT;

    #[test]
    fn readers_ask_exactly_the_query_of_the_paper() {
        let written = [("role", "reader"), ("window", "50"), ("tables", "2")];
        let declared = made(&written).expect("valid").statements(&DIALECT);
        let sql: Vec<String> = declared.into_iter().map(|one| one.sql).collect();
        assert_eq!(
            sql[3..],
            [
                "SELECT * FROM (SELECT * FROM event2 ORDER BY recordID DESC LIMIT 50) w \
                 WHERE w.column1 < 1000",
                "SELECT * FROM event2 WHERE column1 < 1000",
                "SELECT * FROM event2 WHERE recordID BETWEEN $1 AND $2 AND column1 < 1000",
                "SELECT COUNT(*) FROM event_read1 WHERE run = $1 AND reader = $2 AND nth = $3",
            ]
        );
    }

    /// Returns the host and the table of each of these readers, for tests.
    fn of_readers(tables: usize, hosts: usize, clients: Range<u32>) -> Vec<(usize, usize)> {
        let [n_tables, n_hosts] = [tables, hosts].map(|n| n.to_string());
        let written = [("role", "reader"), ("tables", &*n_tables), ("reader_hosts", &*n_hosts)];
        let settings = model::Settings::decide(NAME, PARAMETERS, written).expect("valid");
        let data = Data::new(&Make { settings: &settings, seed: 7, data: None, source: None })
            .expect("valid");
        let shared = Arc::new(Shared {
            data,
            reading: Reading::new(&settings).expect("valid"),
            records_per_insert: 1,
            seed: 7,
            account: Account::default(),
            ticks: Arc::default(),
        });
        let host_and_table = |client| {
            let reader = Reader::new(Arc::clone(&shared), client, client + 1);
            (reader.host, reader.table)
        };
        clients.map(host_and_table).collect()
    }

    #[test]
    fn as_many_readers_as_tables_read_all_of_them_whatever_the_number_of_hosts() {
        assert_eq!(of_readers(2, 2, 2..4), [(1, 0), (2, 1)]);
        let all = of_readers(3, 2, 3..9);
        assert_eq!(all, [(2, 0), (1, 1), (2, 2), (1, 0), (2, 1), (1, 2)]);
        for (tables, hosts) in (1..=6).flat_map(|tables| (1..=6).map(move |hosts| (tables, hosts)))
        {
            for (first, rounds) in [(0, 1), (1, 1), (tables as u32, 1), (5, 3)] {
                let n_readers = tables as u32 * rounds;
                let all = of_readers(tables, hosts, first..first + n_readers);
                let readers = |table| all.iter().filter(|reader| reader.1 == table).count() as u32;
                let each: Vec<u32> = (0..tables).map(readers).collect();
                assert_eq!(each, vec![rounds; tables], "{tables} tables, {hosts} hosts, {first}");
                let of_hosts =
                    (first..).zip(&all).all(|(n, reader)| reader.0 == n as usize % hosts + 1);
                assert!(of_hosts, "{all:?}");
            }
        }
    }

    #[test]
    fn plain_and_historical_queries_come_each_so_many_th_time() {
        let written = [("role", "reader"), ("plain_every", "3"), ("history_every", "4")];
        let workload = made(&written).expect("valid");
        let kind = |nth| workload.kind_of(model::Number::OfClient { client: 5, nth });
        assert_eq!((0..12).map(kind).collect::<Vec<_>>(), [0, 0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2]);
        // Every third read is plain, even if every third transaction reads old records.
        let written = [("role", "reader"), ("plain_every", "3"), ("history_every", "3")];
        let workload = made(&written).expect("valid");
        let kind = |nth| workload.kind_of(model::Number::OfClient { client: 5, nth });
        assert_eq!((0..9).map(kind).collect::<Vec<_>>(), [0, 0, 2, 1, 0, 2, 0, 1, 2]);
    }
}
