//! A Lua state with a script in it, and the functions that it offers to the script.
//!
//! Not here: what the script asks of databases (client).

use std::rc::Rc;

use mlua::{Function, LightUserData, Lua, LuaOptions, LuaString, StdLib, Table};
use model::{BadParameter, Source};

use super::coroutine::Coroutine;
use super::interrupt::BodyLimit;
use super::requests;
use super::results::Results;
use super::shared::Shared;

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

/// What the coroutine does for Rust, by the numbers from 1 that it is resumed with.
pub(super) const ACTS: [&str; 8] =
    ["event", "thread_init", "thread_done", "thread_run", "command", "report", "init", "done"];

/// A Lua state with a script in it.
pub(super) struct State {
    lua: Lua,
    rust: Table,
    text: &'static str,
    /// What the functions of the state use, which ends after it.
    _shared: Rc<Shared>,
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
        rust.set("acts", ACTS)?;
        shared.modules.borrow_mut().extend(source.modules.clone());
        offer_files(&lua, &rust, shared, read)?;
        requests::offer(&lua, &rust, shared)?;
        offer_counters(&lua, &rust, shared)?;
        offer_random(&lua, &rust, shared)?;
        offer_results(&lua, &rust, shared)?;
        for (name, part) in PRELUDE {
            lua.load(part).set_name(name).call::<()>(&rust)?;
        }
        Ok(State { lua, rust, text, _shared: Rc::clone(shared) })
    }

    /// Runs the body of the script.
    ///
    /// # Errors
    ///
    /// The error of the script, with its line.
    pub(super) fn run_body(&self) -> Result<(), BadParameter> {
        let run: Function = self.rust.get("run_body").map_err(bad)?;
        let _limit = BodyLimit::begin(&self.lua).map_err(bad)?;
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

    /// Whether the script has a loop over events of its own.
    pub(super) fn has_own_loop(&self) -> bool {
        let ask = self.rust.get::<Function>("has_own_loop");
        ask.and_then(|ask| ask.call(())).unwrap_or(false)
    }

    /// Creates the coroutine that runs the functions of the script, one act after the other.
    pub(super) fn begin_loop(&self) -> mlua::Result<Result<Coroutine, String>> {
        Coroutine::begin(&self.lua, self.rust.get("loop")?)
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

/// Offers the function with which a script adds to the counts of its statements. Counters have the
/// numbers of sysbench.
fn offer_counters(lua: &Lua, rust: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
    const OTHER: i64 = 0;
    const READ: i64 = 1;
    const WRITE: i64 = 2;
    const ERROR: i64 = 4;
    let counts = Rc::clone(shared);
    let count = lua.create_function(move |_, (counter, n): (i64, f64)| {
        let (mut counts, n) = (counts.counts.borrow_mut(), n.max(0.0) as u64);
        match counter {
            OTHER => counts.others += n,
            READ => counts.reads += n,
            WRITE => counts.writes += n,
            ERROR => counts.refused += n,
            _ => {}
        }
        Ok(())
    })?;
    rust.set("count", count)
}

fn offer_random(lua: &Lua, rust: &Table, shared: &Rc<Shared>) -> mlua::Result<()> {
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
    let bind = lua.create_function(move |_, (place, n): (usize, usize)| {
        let mut statements = statements.statements.borrow_mut();
        let places = statements.get(place).map(|statement| statement.places(n).as_ptr());
        Ok(places.map(|places| LightUserData(places.cast_mut().cast())))
    })?;
    rust.set("bind", bind)
}
