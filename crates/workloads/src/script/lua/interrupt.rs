//! Ends the code of a Lua state from another thread, also an endless loop that was compiled.
//!
//! Not here: who asks for that, and when (engine).
#![expect(unsafe_code, reason = "Lua offers this only by its functions in C")]

use std::ptr;
use std::sync::{Mutex, PoisonError};

use mlua::Lua;
use mlua::ffi::{LUA_MASKCOUNT, lua_Debug, lua_error, lua_pushstring, lua_sethook};
use mlua::lua_State;
use model::Cancel;

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
        lua_pushstring(state, c"the script was ended, because its time is over".as_ptr());
        lua_error(state)
    }
}
