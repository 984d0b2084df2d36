//! Lua scripts of sysbench, run as they are: `dbdyno run my.lua`.
//!
//! Each client has a Lua state of its own, as each thread of sysbench has. A script sends its
//! statements by functions in Rust that it calls through `ffi`, so LuaJIT compiles an event as a
//! whole. The functions of the script run in a coroutine, which yields if a reply is not there yet,
//! so the same code runs on threads, on event loops and in virtual time. The names that scripts use
//! are written from sysbench's documented behaviour, in Lua (prelude) and in Rust.
//!
//! Not here: sysbench's own scripts, and the text of its reports (render).

mod client;
mod coroutine;
mod defined;
mod interrupt;
mod names;
mod options;
mod random;
mod reporter;
mod requests;
mod results;
mod shared;
mod state;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    BadParameter, Client, Command, Dialect, Identity, Kind, KindIndex, Number, Places,
    ScriptReporter, Settings, Source, Statement, Workload, interned,
};

use self::client::{Role, User};
use self::defined::Defined;
pub use self::options::DeclaredOption;
use self::random::Random;
use self::reporter::Reporter;
pub use self::reporter::reports_of;
use self::shared::Shared;
pub use self::state::ReadFile;
use self::state::{State, bad};
use crate::entry::{Entry, Language, Make};
use crate::script::places::CutOffPlaces;

/// Lua as the language of workload files.
pub(crate) static LANGUAGE: Language =
    Language { extension: "lua", is_code: true, read, modules: Some(modules_of) };

/// Whether a script declares no options, as those for sysbench 0.5: its options are then global
/// variables, and it takes options that nobody declared.
pub fn is_old(source: &Source) -> bool {
    let texts = source.modules.values().chain([&source.text]);
    !texts.into_iter().any(|text| text.contains("cmdline.options"))
}

/// Reads the files that a script loads.
fn modules_of(source: &Source, read: ReadFile) -> Result<BTreeMap<String, String>, BadParameter> {
    Defined::read(source, read)
}

/// Whether a script has a command with this name; false if its body fails.
pub fn has_command(source: &'static Source, name: &str) -> bool {
    Defined::of(source).is_ok_and(|defined| defined.commands.contains_key(name))
}

/// Returns the options that a script declares.
///
/// # Errors
///
/// A script whose body fails.
pub fn declared(source: &'static Source) -> Result<Vec<DeclaredOption>, BadParameter> {
    Ok(options::declared(&Defined::of(source)?.options))
}

fn read(source: &'static Source) -> Result<Entry, BadParameter> {
    let defined = Defined::of(source)?;
    let global_names = is_old(source).then_some(&defined.free_names[..]);
    let parameters = options::parameters(&defined.options, global_names);
    Ok(Entry {
        name: &source.name,
        data: interned(source.stem()),
        summary: "A Lua script of sysbench",
        parameters: parameters.leak(),
        roles: &[],
        make,
        source: None,
    })
}

/// A script with its options decided, shared by all clients.
pub(crate) struct Decided {
    source: &'static Source,
    settings: Settings,
    seed: u64,
    is_old: bool,
    n_unique: Arc<AtomicU32>,
    /// Parameters that commands have read.
    read_by_commands: Mutex<BTreeSet<String>>,
    /// Where the end of the run has cut off events.
    cut_off: CutOffPlaces,
}

impl Decided {
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the generators run on from a seed of sysbench, instead of being set per event.
    fn has_own_seed(&self) -> bool {
        self.settings.count("rand_seed") != 0
    }

    /// Whether an error that is not ignored ends the run.
    fn ends_at_error(&self) -> bool {
        self.settings.switch(options::ERRORS)
    }

    /// Keeps the names of options that a command has read.
    fn note_read(&self, options: impl IntoIterator<Item = String>) {
        let mut read = self.read_by_commands.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |name: &&str| !options::is_of_every_script(name);
        let names = options.into_iter().map(|name| options::parameter_name(&name));
        read.extend(names.filter(is_own).map(str::to_owned));
    }

    fn is_prepared(&self) -> bool {
        self.settings.text("db_ps_mode") != "disable"
    }

    /// Creates a Lua state for one thread of the script, and runs the script's body in it.
    fn state(&self, thread: u32, threads: u32) -> Result<(State, Rc<Shared>), BadParameter> {
        let shape = options::shape(&self.settings);
        let mut random = Random::new(shape, Arc::clone(&self.n_unique), self.seed as u32);
        match self.has_own_seed() {
            true => random.seed_as_sysbench(self.settings.count("rand_seed") as u32, thread),
            false => random.seed(self.seed, u64::from(thread)),
        }
        let shared = Rc::new(Shared::new(random));
        shared.is_prepared.set(self.is_prepared());
        shared.prints_to_stdout.set(self.settings.switch(options::PRINTS));
        let state = State::new(self.source, &self.source.text, &shared, None).map_err(bad)?;
        let set_thread = || state.sysbench()?.set("tid", thread);
        set_thread().map_err(bad)?;
        if self.is_old {
            state.globals().set("thread_id", thread).map_err(bad)?;
        }
        state.run_body()?;
        options::fill(&state, &self.settings, threads, self.is_old).map_err(bad)?;
        Ok((state, shared))
    }
}

struct Script {
    decided: Arc<Decided>,
    kinds: [Kind; 1],
    /// Number of clients of the run, once it is known.
    clients: AtomicU32,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let source = make.source.expect("it was read from a file");
    let name = interned(source.stem());
    Ok(Arc::new(Script {
        decided: Arc::new(Decided {
            source,
            settings: make.settings.clone(),
            seed: make.seed,
            is_old: is_old(source),
            n_unique: Arc::default(),
            read_by_commands: Mutex::default(),
            cut_off: CutOffPlaces::default(),
        }),
        kinds: [Kind { name, weight: 1, keying_ns: 0, thinking_ns: 0 }],
        clients: AtomicU32::new(1),
    }))
}

impl Script {
    /// Returns the number of threads that the script reads, if `n` are running it.
    fn threads(&self, n: u32) -> u32 {
        match self.decided.settings.has("threads") {
            true => self.decided.settings.count("threads") as u32,
            false => n,
        }
    }
}

impl Workload for Script {
    fn script(&self) -> Option<&dyn model::Script> {
        Some(self)
    }

    fn identity(&self) -> Identity {
        let workload = self.decided.source.stem().to_owned();
        Identity { workload, version: 1, ..Identity::default() }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn refuses_new_connections(&self) -> Option<String> {
        let name = self.decided.source.stem();
        Some(format!("{name} makes its own connections in thread_init: connect there, in event"))
    }

    fn statements(&self, _dialect: &Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn refuses_clients(&self, clients: u32) -> Option<String> {
        self.clients.store(clients, Ordering::Relaxed);
        None
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        self.client_of_group(client, client)
    }

    fn client_of_group(&self, _client: u32, nth: u32) -> Box<dyn Client> {
        let threads = self.threads(self.clients.load(Ordering::Relaxed));
        Box::new(User::new(Arc::clone(&self.decided), nth, threads, Role::Events))
    }

    fn is_blind(&self) -> bool {
        true
    }
}

impl model::Script for Script {
    fn commands(&self) -> Result<Vec<Command>, BadParameter> {
        let defined = Defined::of(self.decided.source)?;
        let command = |(name, is_parallel): (&String, &bool)| Command {
            name: name.clone(),
            is_parallel: *is_parallel,
        };
        Ok(defined.commands.iter().map(command).collect())
    }

    fn commander(&self, command: &str, thread: u32, threads: u32) -> Option<Box<dyn Client>> {
        let (script, threads) = (Arc::clone(&self.decided), self.threads(threads));
        Some(Box::new(User::new(script, thread, threads, Role::Command(command.to_owned()))))
    }

    fn reporter(&self, clients: u32) -> Result<Option<Box<dyn ScriptReporter>>, BadParameter> {
        let reporter = Reporter::of(&self.decided, self.threads(clients))?;
        Ok(reporter.map(|reporter| Box::new(reporter) as _))
    }

    fn refuses_load(&self) -> Result<Option<String>, BadParameter> {
        let source = self.decided.source;
        let why = format!("{} has no function event, so there is nothing to run", source.name);
        Ok((!Defined::of(source)?.has_load).then_some(why))
    }

    fn shaping_parameters(&self) -> Vec<String> {
        let decided = &self.decided;
        if decided.is_old {
            // Its options are global variables, and any of them may matter.
            let written = decided.settings.written();
            let is_own = |name: &&str| !options::is_of_every_script(name);
            return written.map(|(name, _)| name).filter(is_own).map(str::to_owned).collect();
        }
        let read = decided.read_by_commands.lock().unwrap_or_else(PoisonError::into_inner);
        read.iter().filter(|name| decided.settings.has(name)).cloned().collect()
    }

    fn cut_off_at(&self) -> Vec<(String, u64)> {
        self.decided.cut_off.all()
    }
}
