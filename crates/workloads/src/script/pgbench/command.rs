//! Scripts that were read: lists of commands, in which conditions are jumps.

use super::error::Error;
use super::expression::Expression;
use super::operand::{Operand, SetRandom};
use super::sql::{MARKS_MAX, Sql};
use super::variables::VariableId;

/// Script that was read: a transaction executes its commands from the first to the last.
#[derive(Clone, Debug)]
pub struct Script {
    pub commands: Vec<Command>,
}

/// Command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    /// Line in which the command begins, from 1.
    pub line: u32,
    /// Number of the command as pgbench counts, from 1, for its messages.
    pub number: u32,
    pub what: What,
}

/// What a command does.
#[derive(Clone, Debug)]
pub enum What {
    Sql(Sql),
    Set {
        variable: VariableId,
        expression: Expression,
    },
    /// `\if` and `\elif`: goes on with the command at the index `to`, which may be the number of
    /// commands, unless the condition holds ([`super::Value::is_true`]).
    JumpUnless {
        condition: Expression,
        to: usize,
    },
    /// The end of what an `\if`, `\elif` or `\else` encloses: goes on with the command at `to`.
    Jump {
        to: usize,
    },
    /// Waits for as long as [`super::sleep_ns`] says.
    Sleep {
        n: Operand<i64>,
        unit_ns: u64,
    },
    /// Sets a variable to the integer that a shell command writes.
    SetShell {
        variable: VariableId,
        words: Vec<Operand<Box<str>>>,
    },
    /// Executes a shell command: the words with spaces between them.
    Shell {
        words: Vec<Operand<Box<str>>>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    SetRandom(SetRandom),
}

impl Script {
    /// Checks that variables can become parameters, as they do when statements are prepared.
    ///
    /// # Errors
    ///
    /// A command has more than [`MARKS_MAX`] variables.
    pub fn check_marks(&self) -> Result<(), Error> {
        for command in &self.commands {
            if let What::Sql(sql) = &command.what
                && sql.n_marks() > MARKS_MAX
            {
                let text = format!("a prepared statement has at most {MARKS_MAX} variables");
                return Err(Error::at(command.line, text));
            }
        }
        Ok(())
    }
}
