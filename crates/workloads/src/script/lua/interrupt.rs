//! Ends the code of a Lua state from another thread, also an endless loop that was compiled.
//!
//! Not here: who asks for that, and when (engine).
#![expect(unsafe_code, reason = "Lua offers this only by its functions in C")]

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use mlua::Lua;
use mlua::ffi::{
    LUA_MASKCOUNT, LUA_REGISTRYINDEX, lua_Debug, lua_concat, lua_error, lua_getfield, lua_isnil,
    lua_pop, lua_pushstring, lua_setfield, lua_sethook, lua_tostring, luaL_where,
};
use mlua::lua_State;
use model::Cancel;

use super::names::PRELUDE_NAMES;

/// Handle with which another thread ends the code of one Lua state.
#[derive(Default)]
pub(super) struct Interrupt(Mutex<Interrupted>);

#[derive(Default)]
struct Interrupted {
    state: Option<Address>,
    is_cancelled: bool,
}

/// Address of a Lua state, which lives as long as it is in an [`Interrupt`].
struct Address(*mut lua_State);

// SAFETY: the address is used only for `lua_sethook`, which LuaJIT allows from other threads, and
// only while the lock is held with which the state is removed before it ends.
unsafe impl Send for Address {}

impl Interrupt {
    /// Names the state whose code is to be ended.
    pub(super) fn begin(&self, lua: &Lua) -> mlua::Result<()> {
        let mut state = ptr::null_mut();
        // SAFETY: the function only keeps the address, and leaves the stack as it is.
        unsafe { lua.exec_raw::<()>((), |raw| state = raw)? };
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.state = Some(Address(state));
        if held.is_cancelled {
            interrupt(state);
        }
        Ok(())
    }

    /// Whether the code was ended by [`Cancel::cancel`].
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_cancelled
    }

    /// Forgets the state, which may then end.
    pub(super) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).state = None;
    }
}

impl Cancel for Interrupt {
    fn cancel(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_cancelled = true;
        if let Some(Address(state)) = &held.state {
            interrupt(*state);
        }
    }
}

/// Name in Lua's registry of the line of the script at which its code was ended.
const PLACE: &CStr = c"dbdyno.ended_at";
/// Most calls between the code that was ended and the script.
const CALLS_MOST: c_int = 32;

/// Returns the line of the script at which the code of a state was ended, such as `my.lua:7`;
/// `None` if it was not, or not within the script.
pub(super) fn ended_at(lua: &Lua) -> Option<String> {
    let place = lua.named_registry_value::<Option<String>>(PLACE.to_str().ok()?).ok()??;
    Some(place.trim_end().trim_end_matches(':').to_owned())
}

/// Keeps the innermost line of the script that is being executed, unless one is kept already.
///
/// # Safety
///
/// `state` must be that of the hook which calls this.
unsafe fn note_place(state: *mut lua_State) {
    // SAFETY: the functions leave the stack as it was: each push is popped.
    unsafe {
        lua_getfield(state, LUA_REGISTRYINDEX, PLACE.as_ptr());
        let is_kept = lua_isnil(state, -1) == 0;
        lua_pop(state, 1);
        for level in 0..CALLS_MOST {
            if is_kept {
                return;
            }
            luaL_where(state, level);
            let place = lua_tostring(state, -1);
            let place = if place.is_null() { c"" } else { CStr::from_ptr(place) };
            let chunk = place.to_bytes().split(|byte| *byte == b':').next().unwrap_or_default();
            if !chunk.is_empty() && !PRELUDE_NAMES.iter().any(|name| name.as_bytes() == chunk) {
                lua_setfield(state, LUA_REGISTRYINDEX, PLACE.as_ptr());
                return;
            }
            lua_pop(state, 1);
        }
    }
}

/// Most instructions of the body of a script, which defines functions and does no work: some
/// seconds.
const BODY_MOST: i32 = 100_000_000;

/// Ends the body of a script that runs for too long, until [`BodyLimit`] is dropped.
pub(super) struct BodyLimit(*mut lua_State);

impl BodyLimit {
    /// Begins to count the instructions of the state's code. The state must outlive the limit.
    pub(super) fn begin(lua: &Lua) -> mlua::Result<BodyLimit> {
        let mut state = ptr::null_mut();
        // SAFETY: the function only keeps the address, and leaves the stack as it is; no code of
        // the state runs while its hook is set.
        unsafe {
            lua.exec_raw::<()>((), |raw| state = raw)?;
            lua_sethook(state, Some(fail_body), LUA_MASKCOUNT, BODY_MOST);
        }
        Ok(BodyLimit(state))
    }
}

impl Drop for BodyLimit {
    fn drop(&mut self) {
        // SAFETY: the state lives, since it outlives the limit; none of its code runs.
        unsafe { lua_sethook(self.0, None, 0, 0) };
    }
}

unsafe extern "C-unwind" fn fail_body(state: *mut lua_State, _: *mut lua_Debug) {
    // SAFETY: Lua calls the hook with its own state, and `lua_error` does not return.
    unsafe {
        // The script may catch the error, so the next instruction fails too.
        lua_sethook(state, Some(fail_body), LUA_MASKCOUNT, 1);
        luaL_where(state, 0);
        lua_pushstring(
            state,
            c"the body of the script does not end: move its work into event or \
                                prepare"
                .as_ptr(),
        );
        lua_concat(state, 2);
        lua_error(state)
    }
}

/// Makes the next instruction of the state's code fail, and each one after it.
fn interrupt(state: *mut lua_State) {
    // SAFETY: the caller holds the lock, so the state lives. Setting a hook is the one operation
    // that LuaJIT allows beside running code (luajit.c does it in a signal handler, lj_record.c
    // names other threads); compiled loops look for it, since LuaJIT is built so.
    unsafe { lua_sethook(state, Some(fail), LUA_MASKCOUNT, 1) };
}

unsafe extern "C-unwind" fn fail(state: *mut lua_State, _: *mut lua_Debug) {
    // SAFETY: Lua calls the hook with its own state, and `lua_error` does not return.
    unsafe {
        note_place(state);
        lua_pushstring(state, c"the script was ended, because its time is over".as_ptr());
        lua_error(state)
    }
}
