//! A client that executes scripts: it evaluates, waits, and sends statements one after the other,
//! or several at once within a pipeline.
//!
//! Not here: what the commands are (pgbench) and what is known of them beforehand (compiled).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use model::{
    AfterError, Call, Civil, Client, Conversation, DbError, DbErrorKind, Done, KindIndex, Number,
    Placeholder, Rejection, Request, Rng, Row, ScriptHost, Statement, StatementId, StatementKind,
    Stream, TxContext, Value as SqlValue, Woken, query, through,
};

use super::CLIENTS;
use super::compiled::{Compiled, ENDS_OPEN, Known, Type};
use super::words::Control;
use crate::script::pgbench::{
    Command, Error, MARKS_MAX, Operand, Prng, Sql, Store, Value, VariableId, Variables, What,
    sleep_ns,
};
use crate::script::places::CutOffPlaces;
use crate::tx_control::taken_back;

/// What all clients of the workload share.
pub(super) struct Shared {
    pub(super) compiled: Compiled,
    /// Variables that each client has before its first transaction.
    pub(super) given: Vec<(VariableId, Given)>,
    pub(super) draws: Draws,
    pub(super) mode: Mode,
    /// Whether an error ends the client, unless a retry may help.
    pub(super) ends_at_errors: bool,
    /// For each type, the index of the custom metric of its first command; empty if the times of
    /// commands are not recorded.
    pub(super) times: Vec<u16>,
    /// Seed of the plan.
    pub(super) seed: u64,
    /// Where the end of the run has cut off transactions.
    pub(super) cut_off: CutOffPlaces,
    /// What scripts may ask of the process, once it was handed.
    pub(super) host: OnceLock<Arc<dyn ScriptHost>>,
    /// Number of clients of the run, once it is known.
    pub(super) clients: AtomicU32,
}

/// Source of the random numbers of scripts.
pub(super) struct Draws {
    /// Value of the variable `random_seed`.
    pub(super) seed: u64,
    /// Value of the variable `default_seed`, with which hash functions begin.
    pub(super) default_seed: u64,
    /// Seeds of each of pgbench's clients: for its scripts, and for the choice among them; `None`
    /// if random numbers depend on the transaction's number.
    pub(super) as_pgbench: Option<(Vec<u64>, Vec<u64>)>,
}

/// The way in which statements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Statements are sent as text, in which values replace variables.
    Simple,
    /// Statements are prepared at their first execution, with a placeholder for each variable.
    Prepared,
}

/// Value of a variable before the first transaction.
pub(super) enum Given {
    Int(i64),
    Text(String),
}

impl Shared {
    /// Returns the variables as each client has them before its first transaction.
    pub(super) fn variables(&self) -> Variables {
        let mut variables = Variables::new(self.compiled.names.len());
        for (id, given) in &self.given {
            match given {
                Given::Int(value) => variables.set_value(*id, Value::Int(*value)),
                Given::Text(text) => variables.set_text(*id, text),
            }
        }
        variables
    }

    /// Returns the type of a transaction by its number alone.
    pub(super) fn kind_of(&self, number: Number) -> KindIndex {
        if let (Some((_, choices)), Number::OfClient { client, nth }) =
            (&self.draws.as_pgbench, number)
        {
            let mut choice = Prng::new(choices[client as usize % choices.len()]);
            let drawn = (0..=nth).map(|_| self.drawn_as_pgbench(&mut choice)).last();
            return drawn.unwrap_or(0);
        }
        let total = self.total_weight();
        let drawn = match self.compiled.types.len() {
            1 => 0,
            _ => number.rng(self.seed).uniform(0, total - 1),
        };
        self.of_weight(drawn)
    }

    fn total_weight(&self) -> i64 {
        self.compiled.types.iter().map(|one| one.weight as i64).sum()
    }

    fn drawn_as_pgbench(&self, choice: &mut Prng) -> KindIndex {
        // A single script is not drawn.
        match self.compiled.types.len() {
            1 => 0,
            _ => self.of_weight(choice.range_i64(0, self.total_weight() - 1)),
        }
    }

    fn of_weight(&self, drawn: i64) -> KindIndex {
        let mut left = drawn;
        for (index, one) in self.compiled.types.iter().enumerate() {
            left -= one.weight as i64;
            if left < 0 {
                return index as KindIndex;
            }
        }
        unreachable!("{drawn} is below the sum of the weights")
    }
}

/// A client with its variables and its random numbers.
pub(super) struct User {
    shared: Arc<Shared>,
    kind: KindIndex,
    pub(super) mode: Mode,
    pub(super) variables: Variables,
    /// Variables that were set from text columns, so that statements get them as text.
    is_text: Vec<bool>,
    /// State of the random numbers before the current transaction, from which each attempt draws.
    before: Prng,
    pub(super) prng: Prng,
    /// Random numbers for the choice among scripts, if they are those of pgbench.
    choice: Option<Prng>,
    /// Text of the current statement; kept, so that no statement allocates.
    text: String,
    /// Statements that the connection has prepared, by type and command.
    pub(super) prepared: HashMap<(KindIndex, u32), StatementId>,
    /// Statements of the pipeline that is being filled; `None` outside of a pipeline.
    pub(super) pipeline: Option<Vec<Piped>>,
    /// Error of the last attempt of the current transaction, if the times of commands are recorded.
    rejection: Option<Rejection>,
    /// Whether an error has ended the client.
    is_over: bool,
    /// Number of the client, from 0.
    client: u32,
}

/// A statement in a pipeline, with the values that its variables had.
pub(super) struct Piped {
    statement: StatementId,
    values: Vec<Owned>,
}

/// A value of a statement in a pipeline, which outlives that of its variable.
enum Owned {
    Plain(SqlValue<'static>),
    Text(String),
}

impl Owned {
    fn value(&self) -> SqlValue<'_> {
        match self {
            Owned::Plain(value) => *value,
            Owned::Text(text) => SqlValue::Text(text),
        }
    }
}

/// The command that a client executes; counted as cut off if it is dropped meanwhile.
struct UnderWay<'a> {
    places: &'a CutOffPlaces,
    /// Place of the command; `None` between two commands.
    place: Option<&'static str>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.places.note(place);
        }
    }
}

/// State of the database transaction during one execution of a script.
#[derive(Default)]
pub(super) struct Progress {
    /// Whether a transaction has begun and not ended.
    pub(super) is_open: bool,
    /// Whether the last transaction was rolled back by the script.
    is_rolled_back: bool,
}

impl Progress {
    fn note(&mut self, controls: &[Control]) {
        for control in controls {
            match control {
                Control::None => {}
                Control::Begin => self.is_open = true,
                Control::Commit => {
                    self.is_open = false;
                    self.is_rolled_back = false;
                }
                Control::Rollback => {
                    self.is_open = false;
                    self.is_rolled_back = true;
                }
            }
        }
    }
}

impl User {
    pub(super) fn new(shared: Arc<Shared>, client: u32) -> User {
        let mut variables = shared.variables();
        if let Some(id) = shared.compiled.names.lookup("client_id") {
            variables.set_value(id, Value::Int(i64::from(client)));
        }
        if let Some(id) = shared.compiled.names.lookup(CLIENTS) {
            let clients = shared.clients.load(Ordering::Relaxed);
            variables.set_value(id, Value::Int(i64::from(clients)));
        }
        let of_client = |seeds: &[u64]| Prng::new(seeds[client as usize % seeds.len()]);
        let as_pgbench = shared.draws.as_pgbench.as_ref();
        let prng = as_pgbench.map_or_else(|| Prng::new(0), |(clients, _)| of_client(clients));
        let choice = as_pgbench.map(|(_, choices)| of_client(choices));
        let is_text = vec![false; shared.compiled.names.len()];
        User {
            kind: 0,
            mode: shared.mode,
            variables,
            is_text,
            before: prng,
            prng,
            choice,
            text: String::new(),
            prepared: HashMap::new(),
            pipeline: None,
            rejection: None,
            is_over: false,
            client,
            shared,
        }
    }

    /// Executes the commands of a script from the first to the last. `first` is the custom metric
    /// of the time of the first one; `None` if times are not recorded.
    pub(super) async fn execute_all(
        &mut self,
        context: &mut TxContext<'_>,
        of: &Type,
        first: Option<u16>,
        progress: &mut Progress,
    ) -> Result<(), DbError> {
        let mut at = 0;
        let shared = Arc::clone(&self.shared);
        // A client that is dropped within a command was cut off there.
        let mut under_way = UnderWay { places: &shared.cut_off, place: None };
        while let (Some(command), Some(known)) = (of.script.commands.get(at), of.commands.get(at)) {
            let started_ns = first.map(|_| context.clock.now());
            under_way.place = Some(known.place);
            let next = self.step(context, at, command, known, progress).await;
            let next = next.inspect_err(|db_error| {
                under_way.place.take_if(|_| db_error.kind != DbErrorKind::Cancelled);
                let rejection = Rejection { kind: self.kind, command: at, error: db_error.kind };
                self.rejection = first.map(|_| rejection);
            })?;
            under_way.place = None;
            if let (Some(first), Some(started_ns)) = (first, started_ns) {
                let took_ns = context.clock.now().saturating_sub(started_ns);
                context.measured.push((first + at as u16, took_ns));
            }
            at = next;
        }
        Ok(())
    }

    /// Executes the script of the current transaction.
    async fn execute(
        &mut self,
        context: &mut TxContext<'_>,
        progress: &mut Progress,
    ) -> Result<Done, DbError> {
        let shared = Arc::clone(&self.shared);
        let of = &shared.compiled.types[usize::from(self.kind)];
        let first = shared.times.get(usize::from(self.kind)).copied();
        self.execute_all(context, of, first, progress).await?;
        if self.pipeline.take().is_some_and(|pipeline| !pipeline.is_empty()) {
            return Err(wrong(
                last_place(of),
                "the script ends within a pipeline: write \\endpipeline",
            ));
        }
        if progress.is_open {
            return Err(wrong(last_place(of), ENDS_OPEN));
        }
        Ok(if progress.is_rolled_back { Done::RolledBack } else { Done::Committed })
    }

    /// Executes the sections `start client`, as text.
    async fn start(&mut self, context: &mut TxContext<'_>) -> Result<(), DbError> {
        let shared = Arc::clone(&self.shared);
        let (prng, mode) = (self.prng, self.mode);
        let seed = Rng::new(shared.seed, Stream::Client(self.client), 0).bits();
        (self.prng, self.mode) = (Prng::new(seed), Mode::Simple);
        let mut done = Ok(());
        for of in &shared.compiled.starts {
            let mut progress = Progress::default();
            done = self.execute_all(context, of, None, &mut progress).await;
            if done.is_ok() && progress.is_open {
                done = Err(wrong(last_place(of), ENDS_OPEN));
            }
            if done.is_err() {
                break;
            }
        }
        (self.prng, self.mode) = (prng, mode);
        done
    }

    /// Whether the script expects this error.
    fn is_expected(&self, db_error: &DbError) -> bool {
        let of = &self.shared.compiled.types[usize::from(self.kind)];
        of.may_fail.iter().any(|expected| expected.covers(db_error))
    }

    /// Executes the command with index `at`, and returns the index of the next one.
    async fn step(
        &mut self,
        context: &mut TxContext<'_>,
        at: usize,
        command: &Command,
        known: &Known,
        progress: &mut Progress,
    ) -> Result<usize, DbError> {
        let failed = |error: Error| wrong(known.place, &error.message);
        let (shared, kind) = (&self.shared, self.kind);
        let mut debug = |text: &str| {
            if let Some(host) = shared.host.get() {
                host.show(&format!("debug(script={kind},command={}): {text}", command.number));
            }
        };
        match &command.what {
            What::Sql(sql) => self.send(context, sql, at, known, progress).await?,
            What::Set { variable, expression } => {
                let value = expression
                    .evaluate(&self.variables, &mut self.prng, &mut debug)
                    .map_err(failed)?;
                self.set(*variable, value);
            }
            What::JumpUnless { condition, to } => {
                let value = condition
                    .evaluate(&self.variables, &mut self.prng, &mut debug)
                    .map_err(failed)?;
                if !value.is_true() {
                    return Ok(*to);
                }
            }
            What::Jump { to } => return Ok(*to),
            What::Sleep { n, unit_ns } => {
                let pause_ns = sleep_ns(n, *unit_ns, &self.variables).map_err(failed)?;
                let until_ns = context.clock.now().saturating_add(pause_ns);
                if through(context.clock, until_ns).await == Woken::Stopped {
                    let why = format!("{}: the end of the run cut off a pause", known.place);
                    return Err(DbError::new(DbErrorKind::Cancelled, why));
                }
            }
            What::SetRandom(set) => {
                let drawn = set.draw(&self.variables, &mut self.prng).map_err(failed)?;
                self.set(set.variable, Value::Int(drawn));
            }
            What::Shell { words } => {
                self.shell(words, known.place, false)?;
            }
            What::SetShell { variable, words } => {
                let value = self.shell(words, known.place, true)?;
                self.set(*variable, Value::Int(value));
            }
            What::StartPipeline if self.shared.ends_at_errors && self.mode == Mode::Simple => {
                let why = "a pipeline needs the mode prepared";
                return Err(wrong(known.place, why));
            }
            What::StartPipeline => self.pipeline = Some(Vec::new()),
            What::SyncPipeline => self.flush(context, known.place).await?,
            What::EndPipeline => {
                self.flush(context, known.place).await?;
                self.pipeline = None;
            }
        }
        Ok(at + 1)
    }

    /// Executes a command of the shell. With `reads`, returns the integer that it writes, whatever
    /// its exit status is, and else 0.
    fn shell(&self, words: &[Operand<Box<str>>], place: &str, reads: bool) -> Result<i64, DbError> {
        let host = self.shared.host.get().filter(|host| host.allows_shell());
        let Some(host) = host else {
            return Err(wrong(place, "the script starts programs: give --allow-shell to let it"));
        };
        let words = words.iter().map(|word| word.text(&self.variables));
        let words: Vec<&str> =
            words.collect::<Result<_, Error>>().map_err(|error| wrong(place, &error.message))?;
        let first = words.first().copied().unwrap_or_default();
        let ended = host
            .run(&words.join(" "), reads)
            .map_err(|error| wrong(place, &format!("{first}: cannot be started: {error}")))?;
        let line = ended.first_line.trim();
        match (reads, ended.is_success) {
            (false, true) => Ok(0),
            (false, false) => Err(wrong(place, &format!("{first}: failed ({})", ended.status))),
            (true, _) if line.is_empty() => {
                Err(wrong(place, &format!("{first}: it wrote no integer ({})", ended.status)))
            }
            // pgbench reads it into 32 bits.
            (true, _) => line.parse::<i64>().map(|value| i64::from(value as i32)).map_err(|_| {
                wrong(place, &format!("{first}: it must write an integer, not '{line}'"))
            }),
        }
    }

    pub(super) fn set(&mut self, variable: VariableId, value: Value) {
        self.is_text[usize::from(variable.0)] = false;
        self.variables.set_value(variable, value);
    }

    /// Sends an SQL command and waits for its reply, or adds it to the pipeline.
    async fn send(
        &mut self,
        context: &mut TxContext<'_>,
        sql: &Sql,
        at: usize,
        known: &Known,
        progress: &mut Progress,
    ) -> Result<(), DbError> {
        let told = known.told.as_ref().expect("it is an SQL command");
        let mut kept = Kept::default();
        let keeps = sql.store != Store::Nothing;
        let mut visit = |row: &dyn Row| {
            if keeps {
                kept.take(row);
            }
            Ok(())
        };
        let mode = match is_sent_as_text(context, told.kind, known) && self.pipeline.is_none() {
            true => Mode::Simple,
            false => self.mode,
        };
        let sent = match mode {
            Mode::Simple => {
                self.text.clear();
                sql.text_into(&self.variables, &mut self.text);
                let request = Request::Text { kind: told.kind, sql: &self.text };
                query(context.session(), request, &mut visit).await
            }
            Mode::Prepared => {
                let statement = self.prepare(context, sql, at, told.kind, known)?;
                let values: Vec<SqlValue<'_>> =
                    known.variables.iter().map(|id| self.bound(*id)).collect();
                if self.pipeline.is_some() {
                    let values = values.into_iter().map(owned).collect();
                    progress.note(&told.controls);
                    self.pipeline.get_or_insert_default().push(Piped { statement, values });
                    return Ok(());
                }
                let request = Request::Execute(Call { statement, values: &values });
                query(context.session(), request, &mut visit).await
            }
        };
        let reply = match sent {
            Ok(reply) => reply,
            Err(db_error) => {
                // The statements before the one that failed may have begun a transaction.
                progress.is_open |= told.controls.contains(&Control::Begin);
                return Err(at_place(db_error, known, &told.controls));
            }
        };
        progress.note(&told.controls);
        if let Some(id) = self.shared.compiled.row_count {
            self.set(id, Value::Int((reply.n_rows + reply.n_affected) as i64));
        }
        if told.copies && self.shared.ends_at_errors {
            return Err(wrong(known.place, "COPY from or to the client is not supported"));
        }
        self.store(&sql.store, kept).map_err(|why| wrong(known.place, &why))
    }

    /// Returns the prepared statement of a command.
    fn prepare(
        &mut self,
        context: &mut TxContext<'_>,
        sql: &Sql,
        at: usize,
        kind: StatementKind,
        known: &Known,
    ) -> Result<StatementId, DbError> {
        let key = (self.kind, at as u32);
        if let Some(statement) = self.prepared.get(&key) {
            return Ok(*statement);
        }
        let placeholder = context.dialect.placeholder;
        if sql.n_marks() > MARKS_MAX {
            let why = format!("a prepared statement has at most {MARKS_MAX} variables");
            return Err(wrong(known.place, &why));
        }
        let (text, _) = sql.with_marks(&mut |index| placeholder.mark(index + 1));
        let statement = context.session().prepare(Statement::new(known.place, kind, text))?;
        self.prepared.insert(key, statement);
        Ok(statement)
    }

    /// Returns the value with which a variable is bound to a placeholder.
    fn bound(&self, id: VariableId) -> SqlValue<'_> {
        let Some(text) = self.variables.text(id) else { return SqlValue::Null };
        if self.is_text[usize::from(id.0)] {
            return SqlValue::Text(text);
        }
        match self.variables.value(id) {
            Ok(Value::Null) => SqlValue::Null,
            Ok(Value::Bool(value)) => SqlValue::Int(i64::from(value)),
            Ok(Value::Int(value)) => SqlValue::Int(value),
            Ok(Value::Double(value)) => SqlValue::Float(value),
            Err(_) => SqlValue::Text(text),
        }
    }

    /// Sends the statements of the pipeline at once, and waits for all replies.
    pub(super) async fn flush(
        &mut self,
        context: &mut TxContext<'_>,
        place: &str,
    ) -> Result<(), DbError> {
        let piped = std::mem::take(self.pipeline.get_or_insert_default());
        if piped.is_empty() {
            return Ok(());
        }
        let values: Vec<Vec<SqlValue<'_>>> =
            piped.iter().map(|one| one.values.iter().map(Owned::value).collect()).collect();
        let call = |(one, values)| {
            let (one, values): (&Piped, &Vec<SqlValue<'_>>) = (one, values);
            Call { statement: one.statement, values: values.as_slice() }
        };
        let calls: Vec<Call<'_>> = piped.iter().zip(&values).map(call).collect();
        let sent = query(context.session(), Request::Batch(&calls), &mut |_| Ok(())).await;
        sent.map(drop).map_err(|db_error| db_error.during(place))
    }

    /// Sets variables from the rows of a command.
    fn store(&mut self, store: &Store, kept: Kept) -> Result<(), String> {
        let (prefix, rows) = match store {
            Store::Nothing => return Ok(()),
            Store::Gset { prefix } => {
                let n_rows = kept.n_rows_last;
                if n_rows != 1 {
                    return Err(format!("\\gset expects one row, and there were {n_rows}"));
                }
                (prefix, kept.rows.into_iter().last().into_iter().collect())
            }
            Store::Aset { prefix } => (prefix, kept.rows),
        };
        for (name, value) in rows.into_iter().flat_map(|(_, columns)| columns) {
            let name = format!("{prefix}{name}");
            // A variable that no command mentions is never read.
            let Some(id) = self.shared.compiled.names.lookup(&name) else { continue };
            match value {
                Column::Null => self.set_text(id, ""),
                Column::Value(value) => self.set(id, value),
                Column::Text(text) => self.set_text(id, &text),
            }
        }
        Ok(())
    }

    fn set_text(&mut self, variable: VariableId, text: &str) {
        self.is_text[usize::from(variable.0)] = true;
        self.variables.set_text(variable, text);
    }
}

impl Client for User {
    fn begin<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Option<model::Beginning<'a>> {
        // The new connection has prepared nothing yet.
        self.prepared.clear();
        match self.shared.compiled.starts.is_empty() {
            true => None,
            false => Some(Box::pin(self.start(context))),
        }
    }

    fn after_error(&self) -> Option<AfterError> {
        self.is_over.then_some(AfterError::EndClient)
    }

    fn inputs(&mut self, number: Number) -> KindIndex {
        self.rejection = None;
        self.kind = match &mut self.choice {
            Some(choice) => {
                self.before = self.prng;
                self.shared.drawn_as_pgbench(choice)
            }
            None => {
                let mut rng = number.rng(self.shared.seed);
                // The first number chooses the type.
                rng.bits();
                self.before = Prng::new(rng.bits());
                self.shared.kind_of(number)
            }
        };
        self.kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            self.prng = self.before;
            self.pipeline = None;
            let host = self.shared.host.get().map(Arc::clone);
            if let (Some(host), Some(rejection)) = (&host, self.rejection.take()) {
                host.retried(rejection);
            }
            let mut progress = Progress::default();
            let ended = self.execute(context, &mut progress).await;
            let is_last = |db_error: &DbError| {
                use DbErrorKind::{Deadlock, Serialization};
                !matches!(db_error.kind, Deadlock | Serialization)
            };
            if let Some(db_error) = ended.as_ref().err().filter(|error| self.is_expected(error)) {
                if progress.is_open {
                    let refused = Err(db_error.clone());
                    taken_back(context.session(), refused).await.ok();
                }
                self.rejection = None;
                return Ok(Done::RolledBack);
            }
            if let (Some(host), Some(rejection)) = (&host, self.rejection) {
                host.rejected(rejection);
            }
            if self.shared.ends_at_errors && ended.as_ref().is_err_and(is_last) {
                // The server takes an open transaction back when the connection ends.
                self.is_over = true;
                return ended;
            }
            match progress.is_open {
                true => taken_back(context.session(), ended).await,
                false => ended,
            }
        })
    }
}

/// The rows of a reply that set variables: of each result set the last one.
#[derive(Default)]
struct Kept {
    rows: Vec<(usize, Vec<(String, Column)>)>,
    /// Number of rows of the last result set.
    n_rows_last: u64,
}

/// A column of a row that sets a variable.
enum Column {
    Null,
    Value(Value),
    Text(String),
}

impl Kept {
    fn take(&mut self, row: &dyn Row) {
        let columns =
            (0..row.width()).map(|at| (row.name(at).to_owned(), column(row.value(at)))).collect();
        match self.rows.last_mut() {
            Some((result_set, last)) if *result_set == row.result_set() => {
                *last = columns;
                self.n_rows_last += 1;
            }
            _ => {
                self.rows.push((row.result_set(), columns));
                self.n_rows_last = 1;
            }
        }
    }
}

fn column(value: SqlValue<'_>) -> Column {
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        Column::Text(String::from_utf8_lossy(&out).into_owned())
    };
    match value {
        SqlValue::Null => Column::Null,
        SqlValue::Int(value) => Column::Value(Value::Int(value)),
        SqlValue::Float(value) => Column::Value(Value::Double(value)),
        SqlValue::Decimal { unscaled, scale } => Column::Text(decimal(unscaled, scale)),
        SqlValue::Text(text) => Column::Text(text.to_owned()),
        SqlValue::Bytes(bytes) => Column::Text(String::from_utf8_lossy(bytes).into_owned()),
        SqlValue::Timestamp(us) => written(&|out| Civil::of_us(us).write(out)),
        SqlValue::Date(days) => written(&|out| Civil::of_days(days).write_date(out)),
    }
}

fn decimal(unscaled: i64, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    match scale {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    }
}

fn owned(value: SqlValue<'_>) -> Owned {
    match value {
        SqlValue::Text(text) => Owned::Text(text.to_owned()),
        SqlValue::Null => Owned::Plain(SqlValue::Null),
        SqlValue::Int(value) => Owned::Plain(SqlValue::Int(value)),
        SqlValue::Float(value) => Owned::Plain(SqlValue::Float(value)),
        other => unreachable!("variables have no {}", other.type_name()),
    }
}

/// Whether a statement is sent as text in every mode. MySQL prepares few of the statements that
/// neither read nor change rows, such as BEGIN and SAVEPOINT; PostgreSQL prepares all, as pgbench
/// does.
fn is_sent_as_text(context: &TxContext<'_>, kind: StatementKind, known: &Known) -> bool {
    let is_plain = kind == StatementKind::Other && known.variables.is_empty();
    is_plain && context.dialect.placeholder == Placeholder::Question
}

/// Creates the error of a script, with its place.
pub(super) fn wrong(place: &str, why: &str) -> DbError {
    DbError::new(DbErrorKind::Other, format!("{place}: {why}"))
}

/// Adds the place of a statement to its error. A connection that breaks during a COMMIT leaves open
/// whether the transaction was committed.
fn at_place(db_error: DbError, known: &Known, controls: &[Control]) -> DbError {
    let is_lost = db_error.kind == DbErrorKind::ConnectionLost;
    let kind = match is_lost && controls.contains(&Control::Commit) {
        true => DbErrorKind::UnknownCommit,
        false => db_error.kind,
    };
    let db_error = DbError { kind, ..db_error };
    // Prepared statements have their place as a name, with which drivers begin their messages.
    match db_error.message.starts_with(known.place) {
        true => db_error,
        false => db_error.during(known.place),
    }
}

/// Returns the place of a script's last command.
pub(super) fn last_place(of: &Type) -> &'static str {
    of.commands.last().map_or(of.name, |known| known.place)
}
