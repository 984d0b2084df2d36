//! A client that runs the functions of a script: a coroutine that Rust resumes, which asks for
//! connections, statements and pauses.
//!
//! Not here: the names that the script uses for that (prelude), and when events begin (engine).

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Thread, Value as LuaValue};
use model::{
    AfterError, Beginning, Call, Cancel, Client, Conversation, DbError, DbErrorKind, Done,
    FurtherSession, KindIndex, Number, Placeholder, Reply, Request, Row, Sent, Session, Sessions,
    Statement, StatementId, StatementKind, Traffic, TxContext, Value, query, reconnect, through,
};

use super::Decided;
use super::interrupt::Interrupt;
use super::state::{Shared, State, Yielded, message_of, request, values};
use super::statements::{control, kind_of, with_placeholders};
use crate::tx_control;

/// Name that reports show for statements of scripts.
const STATEMENT: &str = "script";

/// A connection of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handle {
    /// The client's main session.
    Own,
    Further(FurtherSession),
    Closed,
}

/// What a client runs as its transactions.
pub(super) enum Role {
    /// Events of the script.
    Events,
    /// A command, such as `prepare`, once.
    Command(String),
    /// No transactions: hooks are called from outside of the load.
    Report,
}

/// How an act of the script, such as an event, ended.
enum Ended {
    /// It returned; true if with a value that ends the client.
    Well(bool),
    /// It failed with an error that sysbench runs the event again for.
    Restarted(String),
    Failed(String),
}

/// The Lua state of a client and the coroutine in it.
struct Running {
    state: State,
    shared: Rc<Shared>,
    thread: Thread,
    /// Whether the script has a loop over events of its own, which has begun.
    is_in_own_loop: bool,
}

/// A client that runs a script.
pub(super) struct User {
    script: Arc<Decided>,
    /// Number of the script's thread, from 0.
    thread: u32,
    threads: u32,
    role: Role,
    running: Option<Running>,
    handles: Vec<Handle>,
    /// The error of the last request that failed in this act.
    last_error: Option<DbError>,
    number: Option<Number>,
    /// Statements of the event, as sysbench counts them.
    counts: Traffic,
    /// What follows the event that has just failed.
    after_error: Option<AfterError>,
    interrupt: Arc<Interrupt>,
}

impl User {
    pub(super) fn new(script: Arc<Decided>, thread: u32, threads: u32, role: Role) -> User {
        User {
            script,
            thread,
            threads,
            role,
            running: None,
            handles: Vec::new(),
            last_error: None,
            number: None,
            counts: Traffic::default(),
            after_error: None,
            interrupt: Arc::default(),
        }
    }

    /// Creates the Lua state, runs the script's body, and begins the coroutine.
    fn start(&mut self, context: &TxContext<'_>) -> Result<(), DbError> {
        let (state, shared) = self.script.state(self.thread, self.threads).map_err(broken)?;
        shared.driver_name.set(driver_name(context.dialect.placeholder));
        let has_dollars = context.dialect.placeholder == Placeholder::Dollar;
        let is_drawn = has_dollars && self.script.has_own_seed() && self.script.is_prepared();
        shared.draws_names.set(is_drawn);
        let began = || -> mlua::Result<Thread> {
            let options: mlua::Table = state.sysbench()?.get("opt")?;
            options.set("db_driver", shared.driver_name.get())?;
            if self.script.is_old {
                state.globals().set("db_driver", shared.driver_name.get())?;
            }
            let thread = state.begin_loop()?;
            // Runs up to the first request, which says that nothing was done yet.
            thread.resume::<Yielded>((LuaValue::Nil, LuaValue::Nil))?;
            Ok(thread)
        };
        let thread = began().map_err(|error| broken(message_of(&error)))?;
        self.interrupt.begin(state.lua()).map_err(|error| broken(message_of(&error)))?;
        self.running = Some(Running { state, shared, thread, is_in_own_loop: false });
        Ok(())
    }

    /// Ends the Lua state, and what its reports have begun.
    fn stop(&mut self) {
        self.interrupt.end();
        if let (Role::Report, Some(running)) = (&self.role, &self.running) {
            let end = running.state.rust().get::<mlua::Function>("end_reports");
            // An error here is a broken output, which nobody can be told of.
            end.and_then(|end| end.call::<()>(())).ok();
        }
        self.running = None;
    }

    /// Calls a hook for reports with these figures.
    pub(super) async fn report(
        &mut self,
        hook: &str,
        figures: &[(&str, f64)],
        context: &mut TxContext<'_>,
    ) -> Result<(), DbError> {
        if self.running.is_none() {
            self.start(context)?;
        }
        let running = self.running.as_ref().expect("it was just started");
        let table = running.state.lua().create_table_from(figures.iter().copied());
        let set = table.and_then(|table| running.state.rust().set("figures", table));
        set.map_err(|error| broken(message_of(&error)))?;
        self.act("report", Some(hook), context).await.map(drop)
    }

    /// Runs an act of the script, and does what it asks for, until the act has ended.
    async fn act(
        &mut self,
        act: &str,
        argument: Option<&str>,
        context: &mut TxContext<'_>,
    ) -> Result<bool, DbError> {
        if self.running.is_none() {
            self.start(context)?;
        }
        self.last_error = None;
        self.after_error = self.script.ends_at_error().then_some(AfterError::EndRun);
        let running = self.running.as_mut().expect("it was just started");
        running.shared.is_fatal.set(false);
        let text = |text: &str| running.state.lua().create_string(text).map(LuaValue::String);
        let mut answer = match text(act) {
            Ok(act) => vec![act],
            Err(error) => return Err(broken(message_of(&error))),
        };
        if let Some(Ok(argument)) = argument.map(text) {
            answer.push(argument);
        }
        loop {
            let running = self.running.as_ref().expect("it was started");
            let yielded = match running.thread.resume::<Yielded>(values(answer)) {
                Ok(yielded) => yielded,
                Err(error) => {
                    // A coroutine that failed cannot be resumed.
                    self.stop();
                    let is_cut_off = self.interrupt.is_cancelled();
                    return Err(if is_cut_off { cut_off() } else { broken(message_of(&error)) });
                }
            };
            let code = yielded.first().and_then(LuaValue::as_integer).unwrap_or(request::DONE);
            if code == request::DONE {
                return self.concluded(ended(&yielded));
            }
            answer = self.answer(code, &yielded, context).await;
        }
    }

    /// Converts the end of an act to the outcome of the transaction.
    fn concluded(&mut self, ended: Ended) -> Result<bool, DbError> {
        if self.interrupt.is_cancelled() {
            return Err(cut_off());
        }
        let last = self.last_error.take();
        match ended {
            Ended::Well(ends) => Ok(ends),
            Ended::Restarted(message) => {
                let no = last.unwrap_or_else(|| broken(message));
                // A broken session is replaced first.
                self.after_error = (!no.kind.breaks_session()).then_some(AfterError::Again);
                Err(no)
            }
            Ended::Failed(message) => match last {
                // The script's message has the line at which it made the request.
                Some(no) => Err(DbError { message, ..no }),
                None if message.ends_with("not enough memory") => Err(broken(
                    "the script uses more than 1 GiB of memory, and a client gets no more",
                )),
                None => Err(broken(message)),
            },
        }
    }

    /// Does what the script asks for, and returns what its request returns.
    async fn answer(
        &mut self,
        code: i64,
        asked: &Yielded,
        context: &mut TxContext<'_>,
    ) -> Vec<LuaValue> {
        let place = asked.get(1).and_then(LuaValue::as_usize).unwrap_or(0);
        let done = match code {
            request::CONNECT => return self.connect(context).await,
            request::SLEEP => {
                let pause_ns = asked.get(1).and_then(LuaValue::as_f64).unwrap_or(0.0);
                through(context.clock, context.clock.now() + pause_ns.max(0.0) as u64).await;
                return Vec::new();
            }
            request::DISCONNECT => {
                self.disconnect(place, context.sessions);
                return Vec::new();
            }
            request::RECONNECT => self.reconnect(place, context).await,
            request::QUERY => self.text(place, asked.get(2), context).await,
            request::EXECUTE => self.execute(place, asked, context).await,
            _ => Err(broken(format!("request {code} is unknown"))),
        };
        match done {
            Ok(values) => values,
            Err(no) => {
                let refused = self.refused(LuaValue::Boolean(false), &no);
                self.last_error = Some(no);
                refused
            }
        }
    }

    fn refused(&self, first: LuaValue, no: &DbError) -> Vec<LuaValue> {
        let running = self.running.as_ref().expect("the script is running");
        let text = |text: &str| match running.state.lua().create_string(text) {
            Ok(text) => LuaValue::String(text),
            Err(_) => LuaValue::Nil,
        };
        vec![first, LuaValue::Integer(no.code), text(&no.sqlstate), text(&no.message)]
    }

    /// Opens a connection; the first is the client's main session.
    async fn connect(&mut self, context: &mut TxContext<'_>) -> Vec<LuaValue> {
        let handle = match self.handles.contains(&Handle::Own) {
            false => Ok(Handle::Own),
            true => context.sessions.open().await.map(Handle::Further),
        };
        match handle {
            Ok(handle) => {
                self.handles.push(handle);
                let running = self.running.as_ref().expect("the script is running");
                running
                    .shared
                    .results
                    .borrow_mut()
                    .resize_with(self.handles.len(), Default::default);
                vec![LuaValue::Integer(self.handles.len() as i64 - 1)]
            }
            Err(no) => {
                let refused = self.refused(LuaValue::Nil, &no);
                self.last_error = Some(no);
                refused
            }
        }
    }

    fn disconnect(&mut self, place: usize, sessions: &mut Sessions) {
        let Some(handle) = self.handles.get_mut(place) else { return };
        if let Handle::Further(session) = *handle {
            sessions.close(session);
        }
        *handle = Handle::Closed;
        let running = self.running.as_ref().expect("the script is running");
        running.shared.statements.borrow_mut().forget_ids(Some(place));
    }

    async fn reconnect(
        &mut self,
        place: usize,
        context: &mut TxContext<'_>,
    ) -> Result<Vec<LuaValue>, DbError> {
        let handle = self.handles.get(place).copied();
        let running = self.running.as_ref().expect("the script is running");
        running.shared.statements.borrow_mut().forget_ids(Some(place));
        reconnect(session_of(handle, context.sessions)?).await?;
        Ok(vec![LuaValue::Boolean(true)])
    }

    /// Sends a statement as text.
    async fn text(
        &mut self,
        place: usize,
        sql: Option<&LuaValue>,
        context: &mut TxContext<'_>,
    ) -> Result<Vec<LuaValue>, DbError> {
        let sql = match sql {
            Some(LuaValue::String(sql)) => sql.to_string_lossy(),
            other => return Err(broken(format!("{other:?} is no statement"))),
        };
        let kind = kind_of(&sql);
        let request = control(&sql).unwrap_or(Request::Text { kind, sql: &sql });
        self.send(place, request, kind, context).await
    }

    /// Executes a prepared statement, and prepares it first if the session does not have it.
    async fn execute(
        &mut self,
        statement: usize,
        asked: &Yielded,
        context: &mut TxContext<'_>,
    ) -> Result<Vec<LuaValue>, DbError> {
        let running = self.running.as_ref().expect("the script is running");
        let (place, kind, of_control) = {
            let mut statements = running.shared.statements.borrow_mut();
            let Some(prepared) = statements.get(statement) else {
                return Err(broken("the statement was not prepared"));
            };
            (prepared.handle, kind_of(&prepared.sql), control(&prepared.sql))
        };
        if let Some(request) = of_control {
            return self.send(place, request, kind, context).await;
        }
        let (id, owned) = self.bound(statement, asked.get(2..).unwrap_or_default(), context)?;
        let values: Vec<Value<'_>> = owned.iter().map(Owned::value).collect();
        let request = Request::Execute(Call { statement: id, values: &values });
        self.send(place, request, kind, context).await
    }

    /// Returns the identifier of a prepared statement, which it prepares if the session does not
    /// have it yet, and its values, given those that the script has bound.
    fn bound(
        &self,
        statement: usize,
        given: &[LuaValue],
        context: &mut TxContext<'_>,
    ) -> Result<(StatementId, Vec<Owned>), DbError> {
        let running = self.running.as_ref().expect("the script is running");
        let mut statements = running.shared.statements.borrow_mut();
        let prepared = statements.get(statement).expect("the caller has found it");
        let id = match prepared.id {
            Some(id) => id,
            None => {
                let sql = with_placeholders(&prepared.sql, context.dialect.placeholder);
                let sent = if self.script.is_prepared() { Sent::Prepared } else { Sent::Text };
                let kind = kind_of(&prepared.sql);
                let statement = Statement { sent, ..Statement::new(STATEMENT, kind, sql) };
                let handle = self.handles.get(prepared.handle).copied();
                *prepared.id.insert(session_of(handle, context.sessions)?.prepare(statement)?)
            }
        };
        let floats = &prepared.floats;
        let is_float = |nth| floats.get(nth).copied().unwrap_or(false);
        // Nulls at the end are not passed on by Lua.
        let n_values = floats.len().max(given.len());
        let value = |nth| given.get(nth).map_or(Owned::Null, |one| Owned::new(one, is_float(nth)));
        Ok((id, (0..n_values).map(value).collect()))
    }

    /// Sends a request on a connection, and keeps the rows of the reply for the script.
    async fn send(
        &mut self,
        place: usize,
        request: Request<'_>,
        kind: StatementKind,
        context: &mut TxContext<'_>,
    ) -> Result<Vec<LuaValue>, DbError> {
        let session = session_of(self.handles.get(place).copied(), context.sessions)?;
        let shared = &self.running.as_ref().expect("the script is running").shared;
        let mut results = std::mem::take(&mut shared.results.borrow_mut()[place]);
        results.clear();
        let replied = query(session, request, &mut |row: &dyn Row| results.take(row)).await;
        let (n_rows, width, generation) = results.set(0);
        let has_rows = results.n_sets() > 0 || kind == StatementKind::Read;
        shared.results.borrow_mut()[place] = results;
        let Reply { n_affected, .. } = match replied {
            Ok(reply) => reply,
            Err(no) => {
                self.counts.refused += 1;
                return Err(no);
            }
        };
        self.counts.count(match (has_rows, n_affected) {
            (true, _) => StatementKind::Read,
            (false, 0) => StatementKind::Other,
            (false, _) => StatementKind::Write,
        });
        let integer = |number: u64| LuaValue::Integer(number as i64);
        Ok(vec![
            LuaValue::Boolean(true),
            if has_rows { integer(n_rows) } else { LuaValue::Nil },
            integer(width as u64),
            integer(generation),
            integer(n_affected),
        ])
    }

    /// Prepares the generator for the event, so that it draws the same numbers again in a retry. An
    /// event that the script runs again draws others, since the same might fail forever.
    fn seed_event(&mut self) {
        if self.after_error == Some(AfterError::Again) {
            return;
        }
        let (Some(number), false) = (self.number, self.script.has_own_seed()) else { return };
        let Some(running) = &self.running else { return };
        let mut rng = number.rng(self.script.seed());
        let (high, low) = (rng.bits(), rng.bits());
        running.shared.random.borrow_mut().seed(high, low);
    }

    async fn event(&mut self, context: &mut TxContext<'_>) -> Result<Done, DbError> {
        if self.running.is_none() {
            self.start(context)?;
        }
        self.seed_event();
        let running = self.running.as_mut().expect("it was just started");
        let has_own_loop = match running.state.rust().get::<mlua::Function>("has_own_loop") {
            Ok(ask) if !running.is_in_own_loop => ask.call(()).unwrap_or(false),
            _ => running.is_in_own_loop,
        };
        running.is_in_own_loop = has_own_loop;
        let act = if has_own_loop { "thread_run" } else { "event" };
        let ended = self.act(act, None, context).await;
        if ended.is_err()
            && let Some(running) = &mut self.running
        {
            running.is_in_own_loop = false;
        }
        let is_restarted = self.after_error == Some(AfterError::Again) && ended.is_err();
        if self.script.has_own_seed()
            && !is_restarted
            && let Some(running) = &self.running
        {
            // A thread of sysbench draws one number between two events.
            running.shared.random.borrow_mut().bits();
        }
        let ended = ended.map(|is_last| if is_last { Done::Over } else { Done::Committed });
        if is_restarted {
            // What the event begins with decides about the transaction, as in sysbench.
            return ended;
        }
        tx_control::taken_back(context.session(), ended).await
    }
}

impl Client for User {
    fn begin<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        if !matches!(self.role, Role::Events) {
            return None;
        }
        Some(Box::pin(async move {
            // After a reconnect the script connects and prepares again, as in a new thread.
            self.handles.clear();
            if let Some(running) = &self.running {
                running.shared.statements.borrow_mut().forget_ids(None);
            }
            let ended = self.act("thread_init", None, context).await.map(drop);
            if !self.script.ends_at_error() {
                // Under sysbench they count with the first event.
                self.counts = Traffic::default();
            }
            ended
        }))
    }

    fn counted(&mut self, sent: Traffic) -> Traffic {
        let Traffic { reads, writes, others, refused, .. } = std::mem::take(&mut self.counts);
        Traffic { reads, writes, others, refused, ..sent }
    }

    fn after_error(&self) -> Option<AfterError> {
        self.after_error
    }

    fn canceller(&self) -> Option<Arc<dyn Cancel>> {
        Some(Arc::clone(&self.interrupt) as Arc<dyn Cancel>)
    }

    fn end<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        let is_running = self.running.is_some() && matches!(self.role, Role::Events);
        let end = async move {
            if let Some(running) = self.running.as_mut().filter(|running| running.is_in_own_loop) {
                running.is_in_own_loop = false;
                let set = running.state.rust().set("is_over", true);
                set.map_err(|error| broken(message_of(&error)))?;
                self.act("thread_run", None, context).await?;
            }
            self.act("thread_done", None, context).await.map(drop)
        };
        is_running.then(|| Box::pin(end) as Beginning<'a>)
    }

    fn inputs(&mut self, number: Number) -> KindIndex {
        self.number = Some(number);
        self.after_error = None;
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            match &self.role {
                Role::Events => self.event(context).await,
                Role::Command(name) => {
                    let name = name.clone();
                    self.act("command", Some(&name), context).await.map(|_| Done::Committed)
                }
                Role::Report => Ok(Done::Over),
            }
        })
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads how an act ended from what the prelude's loop yielded.
fn ended(yielded: &Yielded) -> Ended {
    let is = |place: usize| match yielded.get(place) {
        None | Some(LuaValue::Nil | LuaValue::Boolean(false)) => false,
        Some(_) => true,
    };
    let message = || match yielded.get(3) {
        Some(LuaValue::String(text)) => text.to_string_lossy(),
        _ => "the script failed without a message".to_owned(),
    };
    match (is(1), is(2)) {
        (true, ends) => Ended::Well(ends),
        (false, true) => Ended::Restarted(message()),
        (false, false) => Ended::Failed(message()),
    }
}

/// Creates the error for a fault of the script itself.
fn broken(message: impl std::fmt::Display) -> DbError {
    DbError::new(DbErrorKind::Other, message.to_string())
}

/// Creates the error for an act that was ended because the run's time is over.
fn cut_off() -> DbError {
    DbError::new(DbErrorKind::Cancelled, "the script was ended, because its time is over")
}

/// Returns the name by which scripts tell the dialects of databases apart: sysbench has two.
fn driver_name(placeholder: Placeholder) -> &'static str {
    match placeholder {
        Placeholder::Dollar => super::names::WITH_DOLLARS,
        _ => super::names::WITH_QUESTION_MARKS,
    }
}

/// Returns the session of a connection. Fails if the script has closed it.
fn session_of(
    handle: Option<Handle>,
    sessions: &mut Sessions,
) -> Result<&mut dyn Session, DbError> {
    let session = match handle {
        Some(Handle::Own) => Some(sessions.own()),
        Some(Handle::Further(further)) => sessions.further(further),
        Some(Handle::Closed) | None => None,
    };
    session.ok_or_else(|| broken("the script has closed this connection"))
}

/// A value of a statement's parameter, copied out of Lua.
enum Owned {
    Null,
    Int(i64),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Owned {
    fn new(value: &LuaValue, is_float: bool) -> Owned {
        match value {
            LuaValue::Integer(number) if is_float => Owned::Float(*number as f64),
            LuaValue::Integer(number) => Owned::Int(*number),
            LuaValue::Number(number) => Owned::Float(*number),
            LuaValue::Boolean(is) => Owned::Int(i64::from(*is)),
            LuaValue::String(text) => Owned::Bytes(text.as_bytes().to_vec()),
            _ => Owned::Null,
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Owned::Null => Value::Null,
            Owned::Int(number) => Value::Int(*number),
            Owned::Float(number) => Value::Float(*number),
            Owned::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::Text(text),
                Err(_) => Value::Bytes(bytes),
            },
        }
    }
}
