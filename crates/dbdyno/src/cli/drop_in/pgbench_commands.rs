//! Failures and retries of each command of a script, for the report of `-r`.
//!
//! Not here: the times of commands, which are custom metrics of the run.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{KindIndex, Rejection, ScriptHost, ShellEnded};
use render::drop_in::{CommandWords, RETRIED};
use workloads::script::sql;

use crate::cli::script_host::OfProcess;

/// Numbers of attempts that failed, and of those that were retried.
type Counts = (u64, u64);

/// Host of scripts that counts what became of the commands that the database has rejected.
pub(super) struct CountingHost {
    process: Arc<OfProcess>,
    /// Of transactions that failed and were retried, by transaction type and index of the command.
    counts: Mutex<BTreeMap<(KindIndex, usize), Counts>>,
}

impl CountingHost {
    pub(super) fn new(process: Arc<OfProcess>) -> CountingHost {
        CountingHost { process, counts: Mutex::default() }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<(KindIndex, usize), Counts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the commands of each transaction type of a script.
    pub(super) fn commands(&self, script: &str) -> Vec<Vec<CommandWords>> {
        let entry = plan::workload_named(script);
        let source = entry.ok().and_then(|entry| entry.source);
        let types = source.and_then(|source| sql::timed_commands(source).ok()).unwrap_or_default();
        let counts = self.counts();
        let words = |kind: KindIndex, command: sql::TimedCommand| {
            let (failures, retries) = counts.get(&(kind, command.at)).copied().unwrap_or_default();
            let sql::TimedCommand { metric, first_line, .. } = command;
            CommandWords { first_line, metric, failures, retries }
        };
        let of_type = |(kind, commands): (KindIndex, Vec<sql::TimedCommand>)| {
            commands.into_iter().map(|command| words(kind, command)).collect()
        };
        (0..).zip(types).map(of_type).collect()
    }
}

impl ScriptHost for CountingHost {
    fn allows_shell(&self) -> bool {
        self.process.allows_shell()
    }

    fn run(&self, command: &str, reads: bool) -> io::Result<ShellEnded> {
        self.process.run(command, reads)
    }

    fn show(&self, line: &str) {
        self.process.show(line);
    }

    /// Other errors end their client, and are no failures of pgbench's.
    fn rejected(&self, rejection: Rejection) {
        if RETRIED.contains(&rejection.error.name()) {
            self.counts().entry((rejection.kind, rejection.command)).or_default().0 += 1;
        }
    }

    fn retried(&self, rejection: Rejection) {
        if let Some(of) = self.counts().get_mut(&(rejection.kind, rejection.command)) {
            *of = (of.0 - 1, of.1 + 1);
        }
    }
}
