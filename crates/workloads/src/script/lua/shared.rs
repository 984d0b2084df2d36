//! What the functions of a script and its client both use, and the client's connections.
//!
//! Not here: the functions (requests, state), and when they are called (client).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr;
use std::task::Context;

use model::{
    DbError, DbErrorKind, FurtherSession, Session, Sessions, StatementKind, Traffic, TxContext,
};

use super::random::Random;
use super::results::Results;
use super::statements::Statements;

/// A connection of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Handle {
    /// The client's main session.
    Own,
    Further(FurtherSession),
    Closed,
}

/// Figures of the last reply, which the script reads in place, so the prelude declares it too.
#[repr(C)]
#[derive(Default)]
pub(super) struct Figures {
    /// Number of rows; negative if the reply has no result set.
    pub(super) rows: Cell<f64>,
    pub(super) columns: Cell<f64>,
    pub(super) generation: Cell<f64>,
    pub(super) affected: Cell<f64>,
}

/// What the script waits for.
#[derive(Clone, Copy)]
pub(super) enum UnderWay {
    /// A statement on a connection, with its class.
    Statement(usize, StatementKind),
    /// The preparation of a statement on a connection, with its index among the prepared ones.
    Preparation(usize, usize),
}

impl UnderWay {
    pub(super) fn handle(self) -> usize {
        match self {
            UnderWay::Statement(handle, _) | UnderWay::Preparation(handle, _) => handle,
        }
    }
}

/// Where a request is made: in which transaction, and in which task.
#[derive(Clone, Copy)]
pub(super) struct RequestContext {
    pub(super) context: *mut TxContext<'static>,
    pub(super) task: *mut Context<'static>,
}

/// What functions of the script and the client both use.
pub(super) struct Shared {
    pub(super) random: RefCell<Random>,
    pub(super) handles: RefCell<Vec<Handle>>,
    /// The last reply on each connection.
    pub(super) results: RefCell<Vec<Results>>,
    pub(super) figures: Figures,
    /// Statements since the client took them, as sysbench counts them.
    pub(super) counts: RefCell<Traffic>,
    pub(super) statements: RefCell<Statements>,
    /// Whether prepared statements are sent so, and not as text.
    pub(super) is_prepared: Cell<bool>,
    /// Where requests are made; `None` while the script does not run for a client.
    request_context: Cell<Option<RequestContext>>,
    /// What was sent and is not answered yet.
    pub(super) under_way: Cell<Option<UnderWay>>,
    /// The error of the last request that failed in this act.
    pub(super) last_error: RefCell<Option<DbError>>,
    /// What a request has panicked with, which must not pass through code of LuaJIT.
    pub(super) panic: RefCell<Option<Box<dyn Any + Send>>>,
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
            handles: RefCell::default(),
            results: RefCell::default(),
            figures: Figures::default(),
            counts: RefCell::default(),
            statements: RefCell::default(),
            is_prepared: Cell::new(true),
            request_context: Cell::new(None),
            under_way: Cell::new(None),
            last_error: RefCell::default(),
            panic: RefCell::default(),
            driver_name: Cell::new(""),
            draws_names: Cell::new(false),
            is_fatal: Cell::new(false),
            prints_to_stdout: Cell::new(false),
            modules: RefCell::default(),
        }
    }

    /// Calls `run`, in which the script makes its requests in this transaction and task.
    pub(super) fn within<T>(
        &self,
        context: &mut TxContext<'_>,
        task: &mut Context<'_>,
        run: impl FnOnce() -> T,
    ) -> T {
        /// Forgets the context at the end of the call, also by a panic.
        struct Forgets<'s>(&'s Cell<Option<RequestContext>>);
        impl Drop for Forgets<'_> {
            fn drop(&mut self) {
                self.0.set(None);
            }
        }
        self.request_context.set(Some(RequestContext {
            context: ptr::from_mut(context).cast(),
            task: ptr::from_mut(task).cast(),
        }));
        let _forgets = Forgets(&self.request_context);
        run()
    }

    /// Returns where requests are made, until [`Shared::within`] ends.
    pub(super) fn request_context(&self) -> Option<RequestContext> {
        self.request_context.get()
    }

    /// Returns the session of a connection. Fails if the script has closed it.
    pub(super) fn session<'s>(
        &self,
        handle: usize,
        sessions: &'s mut Sessions,
    ) -> Result<&'s mut dyn Session, DbError> {
        let session = match self.handles.borrow().get(handle).copied() {
            Some(Handle::Own) => Some(sessions.own()),
            Some(Handle::Further(further)) => sessions.further(further),
            Some(Handle::Closed) | None => None,
        };
        session.ok_or_else(|| broken("the script has closed this connection"))
    }
}

/// Creates the error for a fault of the script itself.
pub(super) fn broken(message: impl std::fmt::Display) -> DbError {
    DbError::new(DbErrorKind::Other, message.to_string())
}
