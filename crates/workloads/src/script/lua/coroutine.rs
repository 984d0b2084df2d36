//! The coroutine in which the functions of a script run: resumed with plain values, since an event
//! is too short for more.
//!
//! Not here: what it asks for (requests), and what becomes of that (client).
#![expect(unsafe_code, reason = "Lua offers this only by its functions in C")]

use std::slice;

use mlua::ffi::{
    LUA_OK, LUA_TSTRING, LUA_YIELD, lua_checkstack, lua_gettop, lua_pushboolean, lua_pushnumber,
    lua_resume_, lua_settop, lua_toboolean, lua_tointeger, lua_tolstring, lua_tonumber, lua_type,
    lua_xmove,
};
use mlua::{Function, IntoLuaMulti, Lua, Thread};

/// A coroutine that has begun, and waits at what it yielded.
pub(super) struct Coroutine(Thread);

impl Coroutine {
    /// Begins a coroutine, up to what it first yields. Fails with the message of its error.
    pub(super) fn begin(lua: &Lua, body: Function) -> mlua::Result<Result<Coroutine, String>> {
        let thread = lua.create_thread(body)?;
        let coroutine = Coroutine(thread);
        Ok(coroutine.go_on(0).map(|()| coroutine))
    }

    /// Goes on with a number. Fails with the message of an error, after which it is over.
    pub(super) fn resume_with_number(&self, number: f64) -> Result<(), String> {
        self.clear();
        // SAFETY: the coroutine lives, and has room.
        unsafe { lua_pushnumber(self.0.state(), number) };
        self.go_on(1)
    }

    /// Goes on with true. Fails with the message of an error, after which it is over.
    pub(super) fn resume_with_true(&self) -> Result<(), String> {
        self.clear();
        // SAFETY: the coroutine lives, and has room.
        unsafe { lua_pushboolean(self.0.state(), 1) };
        self.go_on(1)
    }

    /// Goes on with any values. Fails with the message of an error, after which it is over.
    pub(super) fn resume(&self, lua: &Lua, values: impl IntoLuaMulti) -> Result<(), String> {
        self.clear();
        let to = self.0.state();
        let mut n = 0;
        // SAFETY: both stacks are of one Lua state, and `to` has room for what it is given.
        let moved = unsafe {
            lua.exec_raw::<()>(values, |from| {
                n = lua_gettop(from);
                assert!(lua_checkstack(to, n) != 0, "a few values fit");
                lua_xmove(from, to, n);
            })
        };
        moved.map_err(|error| error.to_string())?;
        self.go_on(n)
    }

    /// Forgets what it yielded.
    fn clear(&self) {
        // SAFETY: the coroutine lives and does not run, so its stack is what it yielded.
        unsafe { lua_settop(self.0.state(), 0) };
    }

    fn go_on(&self, n_values: i32) -> Result<(), String> {
        let state = self.0.state();
        // SAFETY: the coroutine lives, and `n_values` values are on its stack. Errors do not leave
        // the call.
        match unsafe { lua_resume_(state, n_values) } {
            LUA_YIELD => Ok(()),
            LUA_OK => Err("the script's coroutine has ended".to_owned()),
            _ => Err(self.text(-1).unwrap_or_else(|| "the script failed".to_owned())),
        }
    }

    /// Returns the value at a place of what it yielded, counted from 1, as a whole number; 0 if it
    /// is none.
    pub(super) fn integer(&self, place: i32) -> i64 {
        // SAFETY: the coroutine lives; reading changes nothing.
        unsafe { lua_tointeger(self.0.state(), place) as i64 }
    }

    /// Returns the value at a place as a number; 0 if it is none.
    pub(super) fn number(&self, place: i32) -> f64 {
        // SAFETY: as in `integer`.
        unsafe { lua_tonumber(self.0.state(), place) }
    }

    /// Whether the value at a place is neither nil nor false.
    pub(super) fn is_true(&self, place: i32) -> bool {
        // SAFETY: as in `integer`.
        unsafe { lua_toboolean(self.0.state(), place) != 0 }
    }

    /// Returns the text at a place; `None` if it is none.
    pub(super) fn text(&self, place: i32) -> Option<String> {
        let state = self.0.state();
        // SAFETY: the value is a string, so it is not converted, and stays where it is while it is
        // copied.
        unsafe {
            if lua_type(state, place) != LUA_TSTRING {
                return None;
            }
            let mut n_bytes = 0;
            let bytes = lua_tolstring(state, place, &mut n_bytes);
            let bytes = slice::from_raw_parts(bytes.cast::<u8>(), n_bytes);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}
