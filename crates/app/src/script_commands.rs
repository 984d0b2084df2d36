//! Runs commands that the file of a workload defines beside its load, such as one that prepares
//! its tables. They are not measured.
//!
//! Not here: building data that dbdyno generates (build).

use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use engine::{Stop, ThreadClock, block_on};
use model::{
    Command, Connecting, Connector, Database, DbError, DbErrorKind, Identity, Place, Placement,
    ScriptHost, Sessions, Settings, Traffic, TxContext, Workload, format_count,
};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::build::{BuildOptions, n_loaders};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::meta::{self, Found};
use crate::open::Opened;
use crate::script_error::{ScriptError, ScriptStep};

pub use crate::script_data::PREPARE;

/// Name of the command that drops them.
pub const CLEANUP: &str = "cleanup";

/// First words of the advice to build the tables of a script.
const BUILD_FIRST: &str = "build first: ";

/// A command that has been run.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandDone {
    pub name: String,
    /// Number of sessions in which it ran.
    pub threads: u32,
    pub seconds: f64,
    /// Statements and rows of all sessions.
    pub traffic: Traffic,
}

impl CommandDone {
    /// Returns a sentence for the user about the command of the script `file`.
    pub fn sentence(&self, file: &str) -> String {
        let what = match self.name.as_str() {
            PREPARE => "built the tables of",
            CLEANUP => "dropped the tables of",
            name => &format!("ran {name} of"),
        };
        let in_sessions = match self.threads {
            1 => String::new(),
            n => format!(" in {n} sessions"),
        };
        format!("{what} {file}: {}{in_sessions}, {:.1} s", statements(&self.traffic), self.seconds)
    }
}

/// Says how many statements and rows there were: `12 statements, 1,000 rows`.
fn statements(traffic: &Traffic) -> String {
    let statements = counted(traffic.queries(), "statement");
    match traffic.rows {
        0 => statements,
        rows => format!("{statements}, {}", counted(rows, "row")),
    }
}

fn counted(n: u64, one: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {one}{s}", format_count(n))
}

/// Returns the command with this name; `None` if the workload is no script. Fails if the script has
/// no such command, or an error. `file` is the script as the user names it.
pub fn command_named(opened: &Opened, file: &str, name: &str) -> Result<Option<Command>, Error> {
    let Some(script) = opened.workload.script() else { return Ok(None) };
    let commands = script.commands()?;
    if let Some(command) = commands.iter().find(|command| command.name == name) {
        return Ok(Some(command.clone()));
    }
    let instead = match name {
        PREPARE => "create its tables yourself, or add that",
        CLEANUP => "drop its tables yourself, or add that",
        _ => "",
    };
    let why = match script.section_of(name) {
        Some(section) => format!("{file} has no section '{section}'"),
        None => format!("{file} has no function {name}"),
    };
    let others: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    let there = match others.is_empty() || !instead.is_empty() {
        true => instead.to_owned(),
        false => format!("it has {}", others.join(", ")),
    };
    Err(Error::Usage(if there.is_empty() { why } else { format!("{why}: {there}") }))
}

/// A command that failed: the error of the database, the name of the command if its function has
/// failed and not a connection, and what was done before the error.
struct CommandFailed {
    db_error: DbError,
    name: Option<String>,
    traffic: Traffic,
}

impl CommandFailed {
    /// Returns the number of statements that were executed, without the one that failed.
    fn n_before(&self) -> u64 {
        let is_of_database = self.db_error.code != 0 || !self.db_error.sqlstate.is_empty();
        self.traffic.queries().saturating_sub(u64::from(is_of_database))
    }
}

impl From<CommandFailed> for Error {
    fn from(failed: CommandFailed) -> Error {
        match failed.name {
            Some(name) => ScriptError::new(ScriptStep::Command(name), failed.db_error).into(),
            None => Error::failed(failed.db_error),
        }
    }
}

/// Runs a command, in `threads` sessions at once if the script allows it; 0 is one per core, and at
/// least four. Returns early if a stop is requested.
pub fn run_command(
    opened: &Opened,
    command: &Command,
    threads: usize,
    stop: &Stop,
) -> Result<CommandDone, Error> {
    let interrupted = "interrupted while a command of the script ran: what it did so far remains";
    Ok(try_command(opened, command, threads, stop, interrupted)??)
}

/// Runs a command as [`run_command`] does. After a stop, fails with the text `interrupted`.
fn try_command(
    opened: &Opened,
    command: &Command,
    threads: usize,
    stop: &Stop,
    interrupted: &str,
) -> Result<Result<CommandDone, CommandFailed>, Error> {
    let began = wall_clock::now();
    let n_wanted = n_loaders(opened, BuildOptions { loaders: threads, ..BuildOptions::default() });
    let threads = if command.is_parallel { n_wanted as u32 } else { 1 };
    let (opened, name) = (opened.clone(), command.name.clone());
    let ran = run_interruptible(stop, interrupted, move || {
        let run = |nth: u32| run_in_session(&opened, &name, nth, n_wanted as u32);
        thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|nth| scope.spawn(move || run(nth))).collect();
            let (mut done, mut traffic) = (Ok(()), Traffic::default());
            for one in all {
                let (ended, sent) = one.join().expect("a panic is passed on");
                done = done.and(ended);
                traffic += sent;
            }
            Ok(match done {
                Ok(()) => Ok(traffic),
                Err((db_error, is_of_script)) => {
                    let name = is_of_script.then(|| name.clone());
                    Err(CommandFailed { db_error, name, traffic })
                }
            })
        })
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let name = command.name.clone();
    Ok(ran.map(|traffic| CommandDone { name, threads, seconds, traffic }))
}

/// Builds the tables of a script, and keeps in `dbdyno_meta` that they are complete and with which
/// parameters they were built.
pub fn build(
    opened: &Opened,
    command: &Command,
    threads: usize,
    stop: &Stop,
) -> Result<CommandDone, Error> {
    let Some(data) = &opened.script else {
        return run_command(opened, command, threads, stop);
    };
    let (database, key) = (opened.database.as_ref(), data.key());
    let mut session = AdminSession::at(database)?;
    match &data.found {
        Found::Nothing => {
            let begun = Identity { workload: key.clone(), version: 1, ..Identity::default() };
            meta::begin(&mut session, database, &begun)?;
        }
        Found::Complete(_) => meta::undo_complete(&mut session, &key)?,
        Found::Unfinished(_) => {}
    }
    drop(session);
    let again = data.again();
    let interrupted = format!("interrupted while the tables were built; {again}");
    let ran = try_command(opened, command, threads, stop, &interrupted)?;
    let mut session = AdminSession::at(database)?;
    match ran {
        Ok(done) => {
            let identity = data.identity(opened.workload.as_ref(), &opened.settings);
            // The script may have dropped all tables there are.
            if meta::read(&mut session, &key)? != Found::Nothing {
                meta::forget(&mut session, &key, &[])?;
            }
            meta::begin(&mut session, database, &identity)?;
            meta::complete(&mut session, &key)?;
            Ok(done)
        }
        Err(failed) => {
            let n_before = failed.n_before();
            let is_new = n_before == 0;
            match &data.found {
                Found::Nothing if is_new => meta::forget(&mut session, &key, &[])?,
                Found::Complete(_) if is_new => meta::complete(&mut session, &key)?,
                _ => {}
            }
            let before = match &data.found {
                Found::Complete(_) => "the tables were built before",
                Found::Unfinished(_) => "an earlier build did not end",
                Found::Nothing if is_new && failed.db_error.kind == DbErrorKind::Exists => {
                    "there is such a table already"
                }
                Found::Nothing if is_new => return Err(failed.into()),
                Found::Nothing => &format!("{} went before", counted(n_before, "statement")),
            };
            Err(Error::Failed(format!("{}; {before}, and {again}", Error::from(failed))))
        }
    }
}

/// Drops the tables of a script by its own command, and removes what `dbdyno_meta` says of them.
pub fn clean_up(opened: &Opened, command: &Command, stop: &Stop) -> Result<CommandDone, Error> {
    let interrupted = "interrupted while the tables were dropped: some may be left";
    let ran = try_command(opened, command, 0, stop, interrupted)?;
    let is_gone = |failed: &CommandFailed| failed.db_error.kind == DbErrorKind::Missing;
    let mut forgot = "";
    if let Some(data) = &opened.script
        && ran.as_ref().err().is_none_or(is_gone)
    {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        if meta::read(&mut session, &data.key())? != Found::Nothing {
            meta::forget(&mut session, &data.key(), &[])?;
            forgot = "; the entry of its build in dbdyno_meta is removed";
        }
    }
    ran.map_err(|failed| {
        let missing = match is_gone(&failed) {
            true => ": nothing is there, or only a part of it",
            false => "",
        };
        Error::Failed(format!("{}{missing}{forgot}", Error::from(failed)))
    })
}

/// Hands a script what it may ask of this process. Fails if it starts programs and may not.
pub fn hand_host(opened: &Opened, host: Option<&Arc<dyn ScriptHost>>) -> Result<(), Error> {
    may_start_programs(opened.workload.as_ref(), host)?;
    let Some(script) = opened.workload.script() else { return Ok(()) };
    host.into_iter().for_each(|host| script.set_host(host));
    Ok(())
}

/// Fails if a workload is a script that starts programs and may not.
pub(crate) fn may_start_programs(
    workload: &dyn Workload,
    host: Option<&Arc<dyn ScriptHost>>,
) -> Result<(), Error> {
    match workload.script().and_then(|script| script.starts_programs()) {
        Some(place) if !host.is_some_and(|host| host.allows_shell()) => Err(Error::Usage(format!(
            "{place}: the script starts programs: give --allow-shell to let it"
        ))),
        _ => Ok(()),
    }
}

/// Fails if a script cannot run because its tables were not built, or not to the end. Returns a
/// note if they were built with another parameter than the user gave; `None` if not, or if nothing
/// is known of them.
pub(crate) fn script_is_ready(opened: &Opened, stop: &Stop) -> Result<Option<String>, Error> {
    let Some(data) = opened.script.clone() else { return Ok(None) };
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    run_interruptible(stop, "interrupted while the tables were inspected", move || {
        data.is_ready(database.as_ref(), workload.as_ref()).map(|()| data.differs)
    })
}

/// Fails as [`script_is_ready`] does, before the tables of a script are checked.
pub fn has_tables_to_check(opened: &Opened, stop: &Stop) -> Result<(), Error> {
    script_is_ready(opened, stop).map(drop)
}

/// Returns what to do if a script misses tables, in words; `None` if it builds none.
pub(crate) fn build_first(opened: &Opened) -> Option<String> {
    let data = opened.script.as_ref()?;
    Some(format!("{BUILD_FIRST}{}", data.command("build")))
}

/// Sessions beside those of a load, in which a script does what is not measured.
pub struct Aside {
    database: Arc<dyn Database>,
    clock: Rc<ThreadClock>,
    sessions: Sessions,
}

impl Aside {
    /// Opens the first session; `nth` numbers it among those of a command. Fails with the error of
    /// the database.
    pub fn open(database: &Arc<dyn Database>, nth: u32) -> Result<Aside, DbError> {
        let clock = Rc::new(ThreadClock::unstopped());
        let place =
            Place { placement: Placement::Thread, clock: Rc::clone(&clock) as _, client: nth };
        let database = Arc::clone(database);
        let connector = OfCommand { database: Arc::clone(&database), place };
        let own = block_on(connector.connect())?;
        Ok(Aside { database, clock, sessions: Sessions::new(own, Box::new(connector)) })
    }

    /// Does some work in the sessions, and waits for it.
    pub fn run<T>(&mut self, work: impl AsyncFnOnce(&mut TxContext<'_>) -> T) -> T {
        let mut context = TxContext {
            sessions: &mut self.sessions,
            clock: self.clock.as_ref(),
            intended_ns: 0,
            dialect: self.database.dialect(),
            measured: &mut Vec::new(),
        };
        block_on(work(&mut context))
    }
}

/// Runs a command once, in the session `nth` of `threads`. Returns how it ended, with whether an
/// error is one of the script and not of the first connection, and what was sent.
fn run_in_session(
    opened: &Opened,
    name: &str,
    nth: u32,
    threads: u32,
) -> (Result<(), (DbError, bool)>, Traffic) {
    let script = opened.workload.script();
    let Some(mut client) = script.and_then(|script| script.commander(name, nth, threads)) else {
        return (Ok(()), Traffic::default());
    };
    let mut aside = match Aside::open(&opened.database, nth) {
        Ok(aside) => aside,
        Err(db_error) => return (Err((db_error, false)), Traffic::default()),
    };
    let ended = aside.run(async |context| client.converse(context).await).map(drop);
    (ended.map_err(|no| (no, true)), aside.sessions.traffic())
}

/// Connector for the sessions of a command.
struct OfCommand {
    database: Arc<dyn Database>,
    place: Place,
}

impl Connector for OfCommand {
    fn connect(&self) -> Connecting<'_> {
        self.database.connect(self.place.clone(), Arc::from(Vec::new()))
    }
}

/// Prepares the tables of a script on a server that dbdyno started, unless that was done before: it
/// begins empty. On a server of the user, the user decides. `clients` is the number of the run's
/// clients, which may each have a table. Returns what was done; `None` if nothing was to do.
pub(crate) fn prepare_managed(
    opened: &Opened,
    clients: u32,
    stop: &Stop,
) -> Result<Option<CommandDone>, Error> {
    let Some(script) = opened.workload.script().filter(|_| !opened.is_kept) else {
        return Ok(None);
    };
    let commands = script.commands()?;
    let Some(command) = commands.iter().find(|command| command.name == PREPARE) else {
        return Ok(None);
    };
    let mut identity = opened.workload.identity();
    let written = opened.settings.written();
    identity.scale = written.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let database = opened.database.as_ref();
    let found = meta::read(&mut AdminSession::at(database)?, &identity.workload)?;
    if found == Found::Complete(identity.clone()) {
        return Ok(None);
    }
    if let Found::Complete(was) | Found::Unfinished(was) = &found {
        let cleanup = commands.iter().find(|command| command.name == CLEANUP);
        let (Some(cleanup), Some(before)) = (cleanup, prepared_before(opened, was)) else {
            let why =
                "the tables were prepared with other options, and the script cannot drop them";
            return Err(Error::Failed(why.to_owned()));
        };
        run_command(&before, cleanup, clients as usize, stop)?;
        meta::forget(&mut AdminSession::at(database)?, &identity.workload, &[])?;
    }
    let done = run_command(opened, command, clients as usize, stop)?;
    let mut session = AdminSession::at(database)?;
    meta::begin(&mut session, database, &identity)?;
    meta::complete(&mut session, &identity.workload)?;
    Ok(Some(done))
}

/// Returns the script with the options with which its tables were prepared; `None` if it does not
/// have these options any more.
fn prepared_before(opened: &Opened, was: &Identity) -> Option<Opened> {
    let entry = workloads::by_data(&was.workload)?;
    let written = was.scale.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, written).ok()?;
    let workload = entry.made(&settings, was.seed, None).ok()?;
    Some(Opened { workload, settings, ..opened.clone() })
}
