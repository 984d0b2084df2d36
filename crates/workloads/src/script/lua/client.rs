//! A client that runs the functions of a script: a coroutine that Rust resumes, which asks for
//! connections, statements and pauses.
//!
//! Not here: the names that the script uses for that (prelude), and when events begin (engine).

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use mlua::{MultiValue, Value as LuaValue};
use model::{
    AfterError, Beginning, Cancel, Client, Conversation, DbError, DbErrorKind, Done, KindIndex,
    Number, Placeholder, Sessions, Traffic, TxContext, reconnect, through,
};

use super::Decided;
use super::coroutine::Coroutine;
use super::interrupt::{Interrupt, ended_at};
use super::requests::{poll_reply, request};
use super::shared::{Handle, Shared, broken};
use super::state::{ACTS, State, message_of};
use crate::tx_control;

/// What MySQL's client library says of a connection that was lost during a statement.
const LOST: (i64, &str, &str) = (2013, "HY000", "Lost connection to server during query");

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
    coroutine: Coroutine,
    /// Whether the script has a loop over events of its own; `None` until its first event.
    has_own_loop: Option<bool>,
    /// Whether that loop has begun.
    is_in_own_loop: bool,
    /// Whether the script has made a connection again in this act.
    has_reconnected: Cell<bool>,
}

/// What a request of the script returns, or the act that it does next.
enum Answer {
    Act(f64),
    Yes,
    Values(Vec<LuaValue>),
}

impl Running {
    /// Resumes the script, which makes its requests in this context.
    async fn resume(&self, answer: Answer, context: &mut TxContext<'_>) -> Result<(), String> {
        let mut answer = Some(answer);
        let resumed = poll_fn(|task| {
            let resume = || match answer.take().expect("it is ready at once") {
                Answer::Act(nth) => self.coroutine.resume_with_number(nth),
                Answer::Yes => self.coroutine.resume_with_true(),
                Answer::Values(values) => self
                    .coroutine
                    .resume(self.state.lua(), values.into_iter().collect::<MultiValue>()),
            };
            Poll::Ready(self.shared.within(context, task, resume))
        });
        let resumed = resumed.await;
        if let Some(panic) = self.shared.panic.take() {
            resume_unwind(panic);
        }
        resumed
    }

    /// Returns how the act ended that has just done so.
    fn ended(&self) -> Ended {
        let message = || {
            let message = self.coroutine.text(4);
            message.unwrap_or_else(|| "the script failed without a message".to_owned())
        };
        match (self.coroutine.is_true(2), self.coroutine.is_true(3)) {
            (true, ends) => Ended::Well(ends),
            (false, true) => Ended::Restarted(message()),
            (false, false) => Ended::Failed(message()),
        }
    }

    /// Does what the script asks for, and returns what its request returns.
    async fn answer(&self, code: i64, context: &mut TxContext<'_>) -> Answer {
        let place = self.coroutine.integer(2) as usize;
        let done = match code {
            request::WAIT => self.wait(context).await,
            request::CONNECT => return self.connect(context).await,
            request::SLEEP => {
                let pause_ns = self.coroutine.number(2).max(0.0) as u64;
                through(context.clock, context.clock.now() + pause_ns).await;
                return Answer::Yes;
            }
            request::DISCONNECT => {
                self.disconnect(place, context.sessions);
                return Answer::Yes;
            }
            request::RECONNECT => self.reconnect(place, context).await,
            request::REFUSED => {
                let no = self.shared.last_error.take();
                Err(no.unwrap_or_else(|| broken("the request failed")))
            }
            _ => Err(broken(format!("request {code} is unknown"))),
        };
        match done {
            Ok(()) => Answer::Yes,
            Err(no) => self.refused(LuaValue::Boolean(false), no),
        }
    }

    /// Returns what a request returns that failed with this error, and keeps the error.
    fn refused(&self, first: LuaValue, no: DbError) -> Answer {
        let text = |text: &str| match self.state.lua().create_string(text) {
            Ok(text) => LuaValue::String(text),
            Err(_) => LuaValue::Nil,
        };
        let (code, sqlstate, message) = self.as_scripts_know(&no);
        let said = vec![first, LuaValue::Integer(code), text(sqlstate), text(message)];
        *self.shared.last_error.borrow_mut() = Some(no);
        Answer::Values(said)
    }

    /// Returns number, state and message of an error as scripts know them: a connection that the
    /// server closed has the number of MySQL's client library.
    fn as_scripts_know<'e>(&self, no: &'e DbError) -> (i64, &'e str, &'e str) {
        let is_lost = no.code == 0 && no.kind.breaks_session() && !no.is_silence();
        match is_lost && self.shared.driver_name.get() == super::names::WITH_QUESTION_MARKS {
            true => LOST,
            // Drivers put the name of a prepared statement in front.
            false => {
                let message = no.message.strip_prefix("script: ").unwrap_or(&no.message);
                (no.code, &no.sqlstate, message)
            }
        }
    }

    /// Waits for the reply to the request that the script has made.
    async fn wait(&self, context: &mut TxContext<'_>) -> Result<(), DbError> {
        let Some(under_way) = self.shared.under_way.take() else {
            return Err(broken("no request is under way"));
        };
        let session = self.shared.session(under_way.handle(), context.sessions)?;
        poll_fn(|task| poll_reply(&self.shared, under_way, session, task)).await
    }

    /// Opens a connection; the first is the client's main session.
    async fn connect(&self, context: &mut TxContext<'_>) -> Answer {
        let has_own = self.shared.handles.borrow().contains(&Handle::Own);
        let handle = match has_own {
            false => Ok(Handle::Own),
            true => context.sessions.open().await.map(Handle::Further),
        };
        match handle {
            Ok(handle) => {
                let mut handles = self.shared.handles.borrow_mut();
                handles.push(handle);
                self.shared.results.borrow_mut().resize_with(handles.len(), Default::default);
                Answer::Values(vec![LuaValue::Integer(handles.len() as i64 - 1)])
            }
            Err(no) => self.refused(LuaValue::Nil, no),
        }
    }

    fn disconnect(&self, place: usize, sessions: &mut Sessions) {
        let mut handles = self.shared.handles.borrow_mut();
        let Some(handle) = handles.get_mut(place) else { return };
        if let Handle::Further(session) = *handle {
            sessions.close(session);
        }
        *handle = Handle::Closed;
        self.shared.statements.borrow_mut().forget_ids(Some(place));
    }

    async fn reconnect(&self, place: usize, context: &mut TxContext<'_>) -> Result<(), DbError> {
        self.shared.statements.borrow_mut().forget_ids(Some(place));
        reconnect(self.shared.session(place, context.sessions)?).await?;
        self.has_reconnected.set(true);
        Ok(())
    }
}

/// A client that runs a script.
pub(super) struct User {
    script: Arc<Decided>,
    /// Number of the script's thread, from 0.
    thread: u32,
    threads: u32,
    role: Role,
    running: Option<Running>,
    number: Option<Number>,
    /// Statements of the event, as sysbench counts them, that a Lua state counted which has ended.
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
        let began = || -> mlua::Result<Result<Coroutine, String>> {
            let options: mlua::Table = state.sysbench()?.get("opt")?;
            options.set("db_driver", shared.driver_name.get())?;
            if self.script.is_old {
                state.globals().set("db_driver", shared.driver_name.get())?;
            }
            // Runs up to the first request, which says that nothing was done yet.
            state.begin_loop()
        };
        let coroutine = began().map_err(|error| broken(message_of(&error)))?.map_err(broken)?;
        self.interrupt.begin(state.lua()).map_err(|error| broken(message_of(&error)))?;
        let running = Running {
            state,
            shared,
            coroutine,
            has_own_loop: None,
            is_in_own_loop: false,
            has_reconnected: Cell::new(false),
        };
        self.running = Some(running);
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
        self.counts = self.take_counts();
        self.running = None;
    }

    /// Returns the statements counted since the last call.
    fn take_counts(&mut self) -> Traffic {
        let mut counts = std::mem::take(&mut self.counts);
        if let Some(running) = &self.running {
            counts += running.shared.counts.take();
        }
        counts
    }

    /// Runs the body of the script, unless that was done.
    pub(super) fn run_body(&mut self, context: &TxContext<'_>) -> Result<(), DbError> {
        if self.running.is_none() { self.start(context) } else { Ok(()) }
    }

    /// Calls a function of the script that belongs to the run, `init` or `done`.
    pub(super) async fn of_run(
        &mut self,
        act: &str,
        context: &mut TxContext<'_>,
    ) -> Result<(), DbError> {
        self.act(act, None, context).await.map(drop)
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
        self.after_error = self.script.ends_at_error().then_some(AfterError::EndRun);
        let running = self.running.as_ref().expect("it was just started");
        *running.shared.last_error.borrow_mut() = None;
        running.shared.is_fatal.set(false);
        running.has_reconnected.set(false);
        let nth = ACTS.iter().position(|known| *known == act).expect("it is an act") + 1;
        let mut answer = match argument {
            None => Answer::Act(nth as f64),
            Some(argument) => {
                let argument = running.state.lua().create_string(argument);
                let argument = argument.map_err(|error| broken(message_of(&error)))?;
                Answer::Values(vec![LuaValue::Number(nth as f64), LuaValue::String(argument)])
            }
        };
        loop {
            let running = self.running.as_ref().expect("it was started");
            let resumed = running.resume(answer, context).await;
            if let Err(message) = resumed {
                let ended = match self.interrupt.is_cancelled() {
                    true => self.cut_off(),
                    false => broken(message),
                };
                // A coroutine that failed cannot be resumed.
                self.stop();
                return Err(ended);
            }
            match running.coroutine.integer(1) {
                request::DONE => return self.concluded(),
                code => answer = running.answer(code, context).await,
            }
        }
    }

    /// Converts the end of an act to the outcome of the transaction.
    fn concluded(&mut self) -> Result<bool, DbError> {
        let running = self.running.as_ref().expect("the script is running");
        let (ended, last) = (running.ended(), running.shared.last_error.take());
        let has_reconnected = running.has_reconnected.get();
        if self.interrupt.is_cancelled() {
            return Err(self.cut_off());
        }
        match ended {
            Ended::Well(ends) => Ok(ends),
            Ended::Restarted(message) => {
                let no = last.unwrap_or_else(|| broken(message));
                // A broken session is replaced first, unless the script has done that.
                let is_broken = no.kind.breaks_session() && !has_reconnected;
                self.after_error = (!is_broken).then_some(AfterError::Again);
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

    /// Creates the error for an act that was ended because the run's time is over, and notes the
    /// line of the script.
    fn cut_off(&self) -> DbError {
        let place = self.running.as_ref().and_then(|running| ended_at(running.state.lua()));
        if let (Role::Events, Some(place)) = (&self.role, place) {
            self.script.cut_off.note(&place);
        }
        DbError::new(DbErrorKind::Cancelled, "the script was ended, because its time is over")
    }

    /// Keeps which options a command has read, since its tables depend on them.
    fn note_options_read(&self) {
        let Some(running) = &self.running else { return };
        let Ok(read) = running.state.rust().get::<mlua::Table>("options_read") else { return };
        let names = read.pairs::<String, LuaValue>().flatten().map(|(name, _)| name);
        self.script.note_read(names);
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
        let has_own_loop = match running.has_own_loop {
            Some(has_own_loop) => has_own_loop,
            None => *running.has_own_loop.insert(running.state.has_own_loop()),
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
            if let Some(running) = &self.running {
                running.shared.handles.borrow_mut().clear();
                running.shared.statements.borrow_mut().forget_ids(None);
            }
            let ended = self.act("thread_init", None, context).await.map(drop);
            if !self.script.ends_at_error() {
                // Under sysbench they count with the first event.
                self.take_counts();
            }
            ended
        }))
    }

    fn counted(&mut self, sent: Traffic) -> Traffic {
        let Traffic { reads, writes, others, refused, .. } = self.take_counts();
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
                    let ended = self.act("command", Some(&name), context).await;
                    self.note_options_read();
                    ended.map(|_| Done::Committed)
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

/// Returns the name by which scripts tell the dialects of databases apart: sysbench has two.
fn driver_name(placeholder: Placeholder) -> &'static str {
    match placeholder {
        Placeholder::Dollar => super::names::WITH_DOLLARS,
        _ => super::names::WITH_QUESTION_MARKS,
    }
}
