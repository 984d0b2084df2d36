//! Runs commands that the file of a workload defines beside its load, such as one that prepares
//! its tables. They are not measured.
//!
//! Not here: building data that dbdyno generates (build).

use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use engine::{Stop, ThreadClock, block_on};
use model::{
    Command, Connecting, Connector, Database, DbError, Identity, Place, Placement, Sessions,
    Settings, TxContext,
};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::build::{BuildOptions, n_loaders};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::meta::{self, Found};
use crate::open::Opened;

/// Name of the command that creates and fills tables.
pub const PREPARE: &str = "prepare";
/// Name of the command that drops them.
pub const CLEANUP: &str = "cleanup";

/// A command that has been run.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandDone {
    pub name: String,
    /// Number of sessions in which it ran.
    pub threads: u32,
    pub seconds: f64,
}

impl CommandDone {
    /// Returns a sentence for the user.
    pub fn sentence(&self) -> String {
        let in_sessions = match self.threads {
            1 => String::new(),
            n => format!(" in {n} sessions"),
        };
        format!("ran {} of the script{in_sessions} in {:.1} s", self.name, self.seconds)
    }
}

/// Returns the command with this name; `None` if the workload is no script. Fails if the script has
/// no such command, or an error.
pub fn command_named(opened: &Opened, name: &str) -> Result<Option<Command>, Error> {
    if !opened.workload.is_script() {
        return Ok(None);
    }
    let commands = opened.workload.commands()?;
    if let Some(command) = commands.iter().find(|command| command.name == name) {
        return Ok(Some(command.clone()));
    }
    let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    let there = match names.is_empty() {
        true => "no commands".to_owned(),
        false => names.join(", "),
    };
    Err(Error::Usage(format!("the script has no command {name}; it has {there}")))
}

/// Runs a command, in `threads` sessions at once if the script allows it; 0 is one per core, and at
/// least four. Returns early if a stop is requested.
pub fn run_command(
    opened: &Opened,
    command: &Command,
    threads: usize,
    stop: &Stop,
) -> Result<CommandDone, Error> {
    let began = wall_clock::now();
    let n_wanted = n_loaders(opened, BuildOptions { loaders: threads, ..BuildOptions::default() });
    let threads = if command.is_parallel { n_wanted as u32 } else { 1 };
    let (opened, name) = (opened.clone(), command.name.clone());
    let interrupted = "interrupted while a command of the script ran: what it did so far remains";
    run_interruptible(stop, interrupted, move || {
        let run = |nth: u32| run_in_session(&opened, &name, nth, n_wanted as u32);
        thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|nth| scope.spawn(move || run(nth))).collect();
            let mut done = Ok(());
            for one in all {
                let ended = one.join().expect("a panic is passed on");
                done = done.and(ended);
            }
            done.map_err(|no: DbError| Error::Failed(format!("{name}: {no}")))
        })
    })?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(CommandDone { name: command.name.clone(), threads, seconds })
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

/// Runs a command once, in the session `nth` of `threads`.
fn run_in_session(opened: &Opened, name: &str, nth: u32, threads: u32) -> Result<(), DbError> {
    let Some(mut client) = opened.workload.commander(name, nth, threads) else { return Ok(()) };
    let mut aside = Aside::open(&opened.database, nth)?;
    aside.run(async |context| client.converse(context).await).map(drop)
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
    if opened.is_kept || !opened.workload.is_script() {
        return Ok(None);
    }
    let commands = opened.workload.commands()?;
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
