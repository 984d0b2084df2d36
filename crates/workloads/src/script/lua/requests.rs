//! What a script calls in Rust by `ffi`: its statements and its random numbers.
//!
//! Calls by `ffi` are compiled together with the script's own code, so that an event costs about
//! as much as in sysbench. A request that must wait for its reply says so, and the script then
//! yields; on a thread of its own it never has to. Not here: replies that are awaited (client).
#![expect(unsafe_code, reason = "scripts of sysbench call C, and Lua passes plain pointers to it")]

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::slice;
use std::task::{Context, Poll, ready};

use mlua::{LightUserData, Lua, Table};
use model::{
    Call, DbError, DbErrorKind, Reply, Request, Row, Sent, Session, Statement, StatementId,
    StatementKind, TransactionControl, TxContext, Value,
};

use super::random::Random;
use super::shared::{Shared, UnderWay, broken};
use super::statements::{AHEAD_MOST, Place, kind_of, place_kind, with_placeholders};

/// Numbers by which the prelude names what it asks of Rust.
pub(super) mod request {
    pub(crate) const DONE: i64 = 0;
    pub(crate) const CONNECT: i64 = 1;
    pub(crate) const DISCONNECT: i64 = 2;
    pub(crate) const RECONNECT: i64 = 3;
    pub(crate) const SLEEP: i64 = 4;
    /// Waits for the reply to the request that was just made.
    pub(crate) const WAIT: i64 = 5;
    /// Asks why the request that was just made has failed.
    pub(crate) const REFUSED: i64 = 6;
    pub(super) const NAMES: [(&str, i64); 7] = [
        ("DONE", DONE),
        ("CONNECT", CONNECT),
        ("DISCONNECT", DISCONNECT),
        ("RECONNECT", RECONNECT),
        ("SLEEP", SLEEP),
        ("WAIT", WAIT),
        ("REFUSED", REFUSED),
    ];
}

/// Name that reports show for statements of scripts.
const STATEMENT: &str = "script";
/// Number of values of a statement that need no allocation.
const VALUES_FEW: usize = 8;

/// Draws a random number from a range.
type Draw = fn(&mut Random, f64, f64) -> f64;

const DRAWS: [(&str, Draw); 6] = [
    ("default", Random::default),
    ("uniform", Random::uniform),
    ("gaussian", Random::gaussian),
    ("special", Random::special),
    ("pareto", Random::pareto),
    ("zipfian", Random::zipfian),
];

/// Offers the functions to the prelude: their addresses, and that of what they are called with.
pub(super) fn offer(lua: &Lua, rust: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let pointer = |address: *const c_void| LightUserData(address.cast_mut());
    for (name, number) in request::NAMES {
        rust.set(name, number)?;
    }
    for (name, number) in place_kind::NAMES {
        rust.set(name, number)?;
    }
    rust.set("shared", pointer(Rc::as_ptr(shared).cast()))?;
    rust.set("figures_of_reply", pointer((&raw const shared.figures).cast()))?;
    rust.set("send", pointer(send as *const c_void))?;
    rust.set("execute", pointer(execute as *const c_void))?;
    rust.set("prepare_now", pointer(prepare_now as *const c_void))?;
    rust.set("close", pointer(close as *const c_void))?;
    let draws = lua.create_table()?;
    let addresses: [unsafe extern "C" fn(*const Shared, f64, f64) -> f64; 6] =
        [draw::<0>, draw::<1>, draw::<2>, draw::<3>, draw::<4>, draw::<5>];
    for ((name, _), address) in DRAWS.iter().zip(addresses) {
        draws.set(*name, pointer(address as *const c_void))?;
    }
    rust.set("draws", draws)
}

/// Draws a number from a range, with the distribution `NTH` of [`DRAWS`].
unsafe extern "C" fn draw<const NTH: usize>(shared: *const Shared, low: f64, high: f64) -> f64 {
    // SAFETY: the prelude passes the address from `offer`, which lives as long as the Lua state.
    let shared = unsafe { &*shared };
    DRAWS[NTH].1(&mut shared.random.borrow_mut(), low, high)
}

/// Sends a statement as text. Returns what the script has to ask, or `DONE`.
unsafe extern "C" fn send(shared: *const Shared, handle: f64, text: *const u8, n: f64) -> i32 {
    // SAFETY: as in `draw`; text and length are those of a string that Lua holds meanwhile.
    let (shared, text) = unsafe { (&*shared, slice::from_raw_parts(text, n as usize)) };
    let sql = String::from_utf8_lossy(text);
    guarded(shared, |context, task| {
        let kind = kind_of(&sql);
        let control = TransactionControl::of(&sql).map(TransactionControl::as_text);
        let request = control.unwrap_or(Request::Text { kind, sql: &sql });
        begin(shared, handle as usize, kind, request, context, task)
    })
}

/// Has the server prepare a statement. Returns what the script has to ask, or `DONE`.
unsafe extern "C" fn prepare_now(shared: *const Shared, statement: f64) -> i32 {
    // SAFETY: as in `draw`.
    let shared = unsafe { &*shared };
    guarded(shared, |context, task| prepare_ahead(shared, statement as usize, context, task))
}

/// Closes a prepared statement. Returns what the script has to ask, or `DONE`.
unsafe extern "C" fn close(shared: *const Shared, statement: f64) -> i32 {
    // SAFETY: as in `draw`.
    let shared = unsafe { &*shared };
    guarded(shared, |context, _| {
        let mut statements = shared.statements.borrow_mut();
        let nth = statement as usize;
        let handle = statements.get(nth).map(|statement| statement.handle).unwrap_or_default();
        let id = statements.close(nth);
        let session = shared.session(handle, context.sessions)?;
        if let Some(id) = id {
            session.close(id);
        }
        Ok(request::DONE)
    })
}

/// Executes a prepared statement. Returns what the script has to ask, or `DONE`.
unsafe extern "C" fn execute(
    shared: *const Shared,
    statement: f64,
    places: *const Place,
    n: f64,
) -> i32 {
    let places = match n as usize {
        0 => &[],
        // SAFETY: the prelude passes places that `Statements::bind` has made for so many values.
        n => unsafe { slice::from_raw_parts(places, n) },
    };
    // SAFETY: as in `draw`.
    let shared = unsafe { &*shared };
    guarded(shared, |context, task| {
        execute_bound(shared, statement as usize, places, context, task)
    })
}

/// Makes a request in the context of the script. Keeps its error or panic for the client.
fn guarded(
    shared: &Shared,
    make: impl FnOnce(&mut TxContext<'static>, &mut Context<'static>) -> Result<i64, DbError>,
) -> i32 {
    let made = catch_unwind(AssertUnwindSafe(|| {
        let Some(made_in) = shared.request_context() else {
            return Err(broken("the script runs for no client"));
        };
        // SAFETY: both live until the script yields, and nobody else uses them meanwhile, because
        // `Shared::within` holds them. The lifetimes do not leave this call.
        let (context, task) = unsafe { (&mut *made_in.context, &mut *made_in.task) };
        make(context, task)
    }));
    let code = match made {
        Ok(Ok(code)) => code,
        Ok(Err(no)) => {
            *shared.last_error.borrow_mut() = Some(no);
            request::REFUSED
        }
        Err(panic) => {
            *shared.panic.borrow_mut() = Some(panic);
            request::REFUSED
        }
    };
    code as i32
}

fn execute_bound(
    shared: &Shared,
    nth: usize,
    places: &[Place],
    context: &mut TxContext<'_>,
    task: &mut Context<'_>,
) -> Result<i64, DbError> {
    let (handle, kind, control, id) = {
        let mut statements = shared.statements.borrow_mut();
        let statement = statements.get(nth);
        let statement = statement.ok_or_else(|| broken("the statement was not prepared"))?;
        let control = statement.control.map(|control| (control, statement.is_at_server));
        (statement.handle, statement.kind, control, statement.id)
    };
    if let Some((control, is_at_server)) = control {
        let request = match id.filter(|_| is_at_server) {
            Some(id) => Request::ExecuteControl(control, id),
            None => control.as_text(),
        };
        return begin(shared, handle, kind, request, context, task);
    }
    let statement = match id {
        Some(id) => id,
        None => prepare(shared, nth, context)?,
    };
    let mut few = [Value::Null; VALUES_FEW];
    let mut many = Vec::new();
    let values = match few.get_mut(..places.len()) {
        Some(few) => few,
        None => {
            many.resize(places.len(), Value::Null);
            &mut many[..]
        }
    };
    for (value, place) in values.iter_mut().zip(places) {
        *value = value_of(place);
    }
    let request = Request::Execute(Call { statement, values });
    begin(shared, handle, kind, request, context, task)
}

/// Has the server prepare a statement, so that its errors are those of the script's `prepare`.
fn prepare_ahead(
    shared: &Shared,
    nth: usize,
    context: &mut TxContext<'_>,
    task: &mut Context<'_>,
) -> Result<i64, DbError> {
    let handle = match shared.statements.borrow_mut().get(nth) {
        Some(statement) if shared.is_prepared.get() && !statement.is_text => statement.handle,
        _ => return Ok(request::DONE),
    };
    // A script may prepare on a connection that was lost and is made again before its next event.
    shared.session(handle, context.sessions)?;
    let id = match prepare(shared, nth, context) {
        Err(no) if no.kind.breaks_session() => return Ok(request::DONE),
        prepared => prepared?,
    };
    if nth >= AHEAD_MOST {
        return Ok(request::DONE);
    }
    let session = shared.session(handle, context.sessions)?;
    session.start(Request::Prepare(id))?;
    let under_way = UnderWay::Preparation(handle, nth);
    awaited(shared, under_way, poll_reply(shared, under_way, session, task))
}

/// Prepares a statement on its session, unless it has it.
fn prepare(
    shared: &Shared,
    nth: usize,
    context: &mut TxContext<'_>,
) -> Result<StatementId, DbError> {
    let mut statements = shared.statements.borrow_mut();
    let prepared = statements.get(nth).expect("the caller has found it");
    if let Some(id) = prepared.id {
        return Ok(id);
    }
    let sql = with_placeholders(&prepared.sql, context.dialect.placeholder);
    let is_prepared = shared.is_prepared.get() && !prepared.is_text;
    let sent = if is_prepared { Sent::Prepared } else { Sent::Text };
    let statement = Statement { sent, ..Statement::new(STATEMENT, prepared.kind, sql) };
    let id = shared.session(prepared.handle, context.sessions)?.prepare(statement)?;
    Ok(*prepared.id.insert(id))
}

/// Returns the value that the script has put into a place.
fn value_of(place: &Place) -> Value<'_> {
    let number = place.number.get();
    match place.kind.get() {
        kind if kind == place_kind::NUMBER => match number as i64 {
            whole if whole as f64 == number => Value::Int(whole),
            _ => Value::Float(number),
        },
        kind if kind == place_kind::FLOAT => Value::Float(number),
        kind if kind == place_kind::TEXT => {
            // SAFETY: text and length are those of a string that the parameter holds.
            let bytes = unsafe { slice::from_raw_parts(place.text.get(), number as usize) };
            str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
        }
        _ => Value::Null,
    }
}

/// Begins a request, and takes the reply if it is there or this thread may wait for it.
fn begin(
    shared: &Shared,
    handle: usize,
    kind: StatementKind,
    request: Request<'_>,
    context: &mut TxContext<'_>,
    task: &mut Context<'_>,
) -> Result<i64, DbError> {
    let session = shared.session(handle, context.sessions)?;
    shared.results.borrow_mut()[handle].clear();
    let refused = |_: &DbError| shared.counts.borrow_mut().refused += 1;
    session.start(request).inspect_err(refused)?;
    let under_way = UnderWay::Statement(handle, kind);
    awaited(shared, under_way, poll_reply(shared, under_way, session, task))
}

/// Returns what the script has to ask for a reply that was polled once.
fn awaited(
    shared: &Shared,
    under_way: UnderWay,
    polled: Poll<Result<(), DbError>>,
) -> Result<i64, DbError> {
    match polled {
        Poll::Ready(replied) => replied.map(|()| request::DONE),
        Poll::Pending => {
            shared.under_way.set(Some(under_way));
            Ok(request::WAIT)
        }
    }
}

/// Waits for the reply to what is under way, and keeps it for the script.
pub(super) fn poll_reply(
    shared: &Shared,
    under_way: UnderWay,
    session: &mut dyn Session,
    task: &mut Context<'_>,
) -> Poll<Result<(), DbError>> {
    match under_way {
        UnderWay::Statement(handle, kind) => poll_statement(shared, handle, kind, session, task),
        UnderWay::Preparation(_, nth) => {
            let replied = ready!(session.poll_reply(task, &mut |_: &dyn Row| Ok(())));
            Poll::Ready(note_preparation(shared, nth, replied))
        }
    }
}

/// Keeps whether the server has prepared a statement. One that it cannot prepare is sent as text.
fn note_preparation(
    shared: &Shared,
    nth: usize,
    replied: Result<Reply, DbError>,
) -> Result<(), DbError> {
    let mut statements = shared.statements.borrow_mut();
    let prepared = statements.get(nth).expect("it is being prepared");
    match replied {
        Ok(_) => prepared.is_at_server = true,
        Err(no) if no.kind == DbErrorKind::Unsupported => {
            (prepared.id, prepared.is_text) = (None, true);
        }
        Err(no) => return Err(no),
    }
    Ok(())
}

/// Waits for the reply to a statement on a connection, and keeps its rows and figures for the
/// script.
fn poll_statement(
    shared: &Shared,
    handle: usize,
    kind: StatementKind,
    session: &mut dyn Session,
    task: &mut Context<'_>,
) -> Poll<Result<(), DbError>> {
    let mut all = shared.results.borrow_mut();
    let results = &mut all[handle];
    let replied = ready!(session.poll_reply(task, &mut |row: &dyn Row| results.take(row)));
    let mut counts = shared.counts.borrow_mut();
    let reply = replied.inspect_err(|_| counts.refused += 1)?;
    let (n_rows, width, generation) = results.set(0);
    let has_rows = results.n_sets() > 0 || kind == StatementKind::Read;
    counts.count(match (has_rows, reply.n_affected) {
        (true, _) => StatementKind::Read,
        (false, 0) => StatementKind::Other,
        (false, _) => StatementKind::Write,
    });
    let set = |figure: &Cell<f64>, number: u64| figure.set(number as f64);
    set(&shared.figures.rows, n_rows);
    if !has_rows {
        shared.figures.rows.set(-1.0);
    }
    set(&shared.figures.columns, width as u64);
    set(&shared.figures.generation, generation);
    set(&shared.figures.affected, reply.n_affected);
    Poll::Ready(Ok(()))
}
