//! A Lua state with a script in it, and the functions that it offers to the script.
//!
//! Not here: what the script asks of databases (client).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{
    Function, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Thread, Value, Variadic,
};
use model::{BadParameter, Source};

use super::random::Random;
use super::results::Results;
use super::statements::Statements;

/// Most memory of one Lua state. What is beyond fails in the script as an error.
const BYTES_MAX: usize = 1 << 30;

/// Parts of the environment of scripts, in the order in which they are run.
const PRELUDE: [(&str, &str); 4] = [
    ("=sysbench", include_str!("prelude/base.lua")),
    ("=sysbench.sql", include_str!("prelude/sql.lua")),
    ("=sysbench.report", include_str!("prelude/report.lua")),
    ("=sysbench.old", include_str!("prelude/old.lua")),
];

/// Reads a file for a script that is read for the first time; `None` if there is no such file.
pub type ReadFile = fn(&str) -> Option<String>;

/// Numbers by which the prelude names what it asks of Rust.
pub(super) mod request {
    pub(crate) const DONE: i64 = 0;
    pub(crate) const CONNECT: i64 = 1;
    pub(crate) const QUERY: i64 = 2;
    pub(crate) const EXECUTE: i64 = 3;
    pub(crate) const DISCONNECT: i64 = 4;
    pub(crate) const RECONNECT: i64 = 5;
    pub(crate) const SLEEP: i64 = 6;
    pub(super) const NAMES: [(&str, i64); 7] = [
        ("DONE", DONE),
        ("CONNECT", CONNECT),
        ("QUERY", QUERY),
        ("EXECUTE", EXECUTE),
        ("DISCONNECT", DISCONNECT),
        ("RECONNECT", RECONNECT),
        ("SLEEP", SLEEP),
    ];
}

/// What functions of the script and the client both use.
pub(super) struct Shared {
    pub(super) random: RefCell<Random>,
    /// The last reply on each connection.
    pub(super) results: RefCell<Vec<Results>>,
    pub(super) statements: RefCell<Statements>,
    /// Name that the script gets for the driver of its database.
    pub(super) driver_name: Cell<&'static str>,
    /// Whether each statement that is prepared takes numbers of the generator, as in sysbench with
    /// placeholders such as `$1`.
    pub(super) draws_names: Cell<bool>,
    /// Whether a request failed with an error that sysbench does not ignore.
    pub(super) is_fatal: Cell<bool>,
    /// Whether what the script prints goes to the standard output.
    pub(super) prints_to_stdout: Cell<bool>,
    /// Files that were read with the script, by path.
    pub(super) modules: RefCell<BTreeMap<String, String>>,
}

impl Shared {
    pub(super) fn new(random: Random) -> Shared {
        Shared {
            random: RefCell::new(random),
            results: RefCell::default(),
            statements: RefCell::default(),
            driver_name: Cell::new(""),
            draws_names: Cell::new(false),
            is_fatal: Cell::new(false),
            prints_to_stdout: Cell::new(false),
            modules: RefCell::default(),
        }
    }
}

/// A Lua state with a script in it.
pub(super) struct State {
    lua: Lua,
    rust: Table,
    text: &'static str,
}

impl State {
    /// Creates a state with the environment of scripts, without running the script. `read` reads
    /// files that the source does not contain yet.
    pub(super) fn new(
        source: &Source,
        text: &'static str,
        shared: &Rc<Shared>,
        read: Option<ReadFile>,
    ) -> mlua::Result<State> {
        let lua = new_lua();
        lua.set_memory_limit(BYTES_MAX)?;
        let rust = lua.create_table()?;
        rust.set("script_path", source.name.as_str())?;
        for (name, number) in request::NAMES {
            rust.set(name, number)?;
        }
        shared.modules.borrow_mut().extend(source.modules.clone());
        offer_files(&lua, &rust, shared, read)?;
        offer_random(&lua, &rust, shared)?;
        offer_results(&lua, &rust, shared)?;
        for (name, part) in PRELUDE {
            lua.load(part).set_name(name).call::<()>(&rust)?;
        }
        Ok(State { lua, rust, text })
    }

    /// Runs the body of the script.
    ///
    /// # Errors
    ///
    /// The error of the script, with its line.
    pub(super) fn run_body(&self) -> Result<(), BadParameter> {
        let run: Function = self.rust.get("run_body").map_err(bad)?;
        match run.call::<Option<LuaString>>(self.text).map_err(bad)? {
            None => Ok(()),
            Some(message) => Err(BadParameter::new(message.to_string_lossy())),
        }
    }

    pub(super) fn lua(&self) -> &Lua {
        &self.lua
    }

    pub(super) fn rust(&self) -> &Table {
        &self.rust
    }

    pub(super) fn globals(&self) -> Table {
        self.lua.globals()
    }

    /// Returns the table `sysbench` of the script.
    pub(super) fn sysbench(&self) -> mlua::Result<Table> {
        self.lua.globals().get("sysbench")
    }

    /// Creates the coroutine that runs the functions of the script, one act after the other.
    pub(super) fn begin_loop(&self) -> mlua::Result<Thread> {
        let thread = self.lua.create_thread(self.rust.get("loop")?)?;
        Ok(thread)
    }
}

/// Converts an error of Lua itself, such as too little memory.
pub(super) fn bad(error: mlua::Error) -> BadParameter {
    BadParameter::new(message_of(&error))
}

/// Returns the message of an error without the stack of calls behind it.
pub(super) fn message_of(error: &mlua::Error) -> String {
    let text = error.to_string();
    text.split("\nstack traceback:").next().unwrap_or(&text).to_owned()
}

/// Creates a Lua state with all libraries, as sysbench has them: scripts use `ffi` and `debug`.
#[expect(unsafe_code, reason = "scripts of sysbench use ffi, which can do everything")]
fn new_lua() -> Lua {
    // SAFETY: a script can break memory by `ffi`, as it can in sysbench. It is a program that the
    // user names on the command line of this machine, and never one that comes from a page.
    unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::default()) }
}

fn offer_files(
    lua: &Lua,
    rust: &Table,
    shared: &Rc<Shared>,
    read: Option<ReadFile>,
) -> mlua::Result<()> {
    let files = Rc::clone(shared);
    let open = lua.create_function(move |lua, path: LuaString| {
        let path = path.to_string_lossy();
        let mut modules = files.modules.borrow_mut();
        if let (None, Some(read)) = (modules.get(&path), read)
            && let Some(text) = read(&path)
        {
            modules.insert(path.clone(), text);
        }
        modules.get(&path).map(|text| lua.create_string(text)).transpose()
    })?;
    rust.set("open", open)?;
    // While a script is read it prints nothing, since it is read more than once.
    rust.set("is_silent", read.is_some())?;
    rust.set("prints_to_stdout", shared.prints_to_stdout.get())?;
    let names = Rc::clone(shared);
    rust.set("driver_name", lua.create_function(move |_, ()| Ok(names.driver_name.get()))?)?;
    let fatal = Rc::clone(shared);
    let note = lua.create_function(move |_, ()| {
        fatal.is_fatal.set(true);
        Ok(())
    })?;
    rust.set("note_fatal", note)
}

/// Draws a random number from a range.
type Draw = fn(&mut Random, f64, f64) -> f64;

fn offer_random(lua: &Lua, rust: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let ranges: [(&str, Draw); 6] = [
        ("rand_default", Random::default),
        ("rand_uniform", Random::uniform),
        ("rand_gaussian", Random::gaussian),
        ("rand_special", Random::special),
        ("rand_pareto", Random::pareto),
        ("rand_zipfian", Random::zipfian),
    ];
    for (name, draw) in ranges {
        let shared = Rc::clone(shared);
        let function = lua.create_function(move |_, (low, high): (f64, f64)| {
            Ok(draw(&mut shared.random.borrow_mut(), low, high))
        })?;
        rust.set(name, function)?;
    }
    let unique = Rc::clone(shared);
    let function = lua.create_function(move |_, ()| Ok(unique.random.borrow_mut().unique()));
    rust.set("rand_unique", function?)?;
    let string = Rc::clone(shared);
    let function = lua.create_function(move |lua, format: LuaString| {
        lua.create_string(string.random.borrow_mut().string(&format.as_bytes()))
    });
    rust.set("rand_string", function?)?;
    let varied = Rc::clone(shared);
    let function = lua.create_function(move |lua, (shortest, longest): (f64, f64)| {
        lua.create_string(varied.random.borrow_mut().varied_string(shortest, longest))
    });
    rust.set("rand_varstring", function?)?;
    let unit = Rc::clone(shared);
    let function = lua.create_function(move |_, ()| Ok(unit.random.borrow_mut().unit()));
    rust.set("rand_double", function?)?;
    let bits = Rc::clone(shared);
    let function = lua.create_function(move |_, ()| {
        let bits = bits.random.borrow_mut().bits();
        Ok(((bits >> 32) as f64, (bits & u64::from(u32::MAX)) as f64))
    });
    rust.set("rand_bits", function?)
}

fn offer_results(lua: &Lua, rust: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    let rows = Rc::clone(shared);
    let row = lua.create_function(move |lua, (handle, generation, nth): (usize, u64, u64)| {
        let results = rows.results.borrow();
        let table = lua.create_table()?;
        let values = results.get(handle).into_iter().flat_map(|one| one.row(generation, nth));
        for (value, place) in values.zip(1..) {
            if let Some(text) = value {
                table.raw_set(place, lua.create_string(text)?)?;
            }
        }
        Ok(table)
    })?;
    rust.set("row", row)?;
    let sets = Rc::clone(shared);
    let n_sets = lua.create_function(move |_, handle: usize| {
        Ok(sets.results.borrow().get(handle).map_or(0, Results::n_sets))
    })?;
    rust.set("result_sets", n_sets)?;
    let sets = Rc::clone(shared);
    let use_result = lua.create_function(move |_, (handle, set): (usize, usize)| {
        Ok(sets.results.borrow().get(handle).map(|one| one.set(set)).unwrap_or_default())
    })?;
    rust.set("use_result", use_result)?;
    let statements = Rc::clone(shared);
    let prepare = lua.create_function(move |_, (handle, sql): (usize, LuaString)| {
        let sql = sql.to_string_lossy();
        if statements.draws_names.get() {
            // sysbench makes a name for the statement of two numbers.
            let mut random = statements.random.borrow_mut();
            random.bits();
            random.bits();
        }
        let place = statements.statements.borrow_mut().prepare(handle, sql);
        place.ok_or_else(|| mlua::Error::runtime("too many different prepared statements"))
    })?;
    rust.set("prepare", prepare)?;
    let statements = Rc::clone(shared);
    let bind = lua.create_function(move |_, (place, kinds): (usize, LuaString)| {
        if let Some(statement) = statements.statements.borrow_mut().get(place) {
            statement.floats = kinds.as_bytes().iter().map(|kind| *kind == b'f').collect();
        }
        Ok(())
    })?;
    rust.set("bind", bind)
}

/// Collects what a coroutine yielded.
pub(super) type Yielded = Variadic<Value>;

/// Creates the values with which a coroutine is resumed.
pub(super) fn values(of: impl IntoIterator<Item = Value>) -> MultiValue {
    of.into_iter().collect()
}
