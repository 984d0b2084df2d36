//! How scripts are read: pieces become commands, conditions become jumps.
//!
//! Not here: the scanner of pieces (scan), and single meta-commands (commands).

use super::command::{Command, Script, What};
use super::commands::{self, Meta};
use super::error::Error;
use super::expression::Expression;
use super::pipelines;
use super::scan::{Piece, Scanner, Text};
use super::sql::{Sql, Store};
use super::variables::Names;

/// Reads a script. The names of its variables are added to those of other scripts.
///
/// # Errors
///
/// The first error in the script.
pub fn parse(text: &str, names: &mut Names) -> Result<Script, Error> {
    // Editors of some systems begin files with a byte order mark.
    let mut scanner = Scanner::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut builder = Builder::default();
    while let Some(piece) = scanner.next()? {
        match piece {
            Piece::Sql(text) => builder.push_sql(text, names)?,
            Piece::Meta { line, text } => {
                let at_line = |error: Error| Error::at(line, error.message);
                if let Some(meta) = commands::parse(text, names).map_err(at_line)? {
                    builder.push_meta(line, meta).map_err(at_line)?;
                }
            }
        }
    }
    builder.finish()
}

/// Condition whose `\endif` was not read yet.
struct OpenIf {
    line: u32,
    /// Index of the jump of the last `\if` or `\elif`; `None` after `\else`.
    unless: Option<usize>,
    /// Indexes of the jumps to the end.
    jumps: Vec<usize>,
}

/// Commands read so far.
#[derive(Default)]
struct Builder {
    commands: Vec<Command>,
    n_commands: u32,
    open: Vec<OpenIf>,
    /// Whether the command that was read last is the last one of `commands`, and SQL.
    is_after_sql: bool,
}

impl Builder {
    fn push(&mut self, line: u32, what: What) {
        self.commands.push(Command { line, number: self.n_commands, what });
    }

    fn push_sql(&mut self, text: Text, names: &mut Names) -> Result<(), Error> {
        let line = text.line;
        let sql = Sql::new(&text, names).map_err(|error| Error::at(line, error.message))?;
        self.n_commands += 1;
        self.push(line, What::Sql(sql));
        self.is_after_sql = true;
        Ok(())
    }

    fn push_meta(&mut self, line: u32, meta: Meta) -> Result<(), Error> {
        if let Meta::Store(store) = meta {
            return self.store(store);
        }
        self.is_after_sql = false;
        self.n_commands += 1;
        match meta {
            Meta::Store(_) => unreachable!("handled above"),
            Meta::If(condition) => {
                self.open.push(OpenIf { line, unless: None, jumps: Vec::new() });
                self.push_condition(line, condition);
            }
            Meta::Elif(condition) => {
                self.end_branch(line, "elif")?;
                self.push_condition(line, condition);
            }
            Meta::Else => self.end_branch(line, "else")?,
            Meta::EndIf => {
                let end = self.commands.len();
                let open = self.open.pop().ok_or_else(|| Error::new("\\endif without \\if"))?;
                for jump in open.jumps.into_iter().chain(open.unless) {
                    self.set_target(jump, end);
                }
            }
            Meta::Set { variable, expression } => {
                self.push(line, What::Set { variable, expression })
            }
            Meta::SetRandom(set) => self.push(line, What::SetRandom(set)),
            Meta::SetShell { variable, words } => {
                self.push(line, What::SetShell { variable, words });
            }
            Meta::Shell { words } => self.push(line, What::Shell { words }),
            Meta::Sleep { n, unit_ns } => self.push(line, What::Sleep { n, unit_ns }),
            Meta::StartPipeline => self.push(line, What::StartPipeline),
            Meta::SyncPipeline => self.push(line, What::SyncPipeline),
            Meta::EndPipeline => self.push(line, What::EndPipeline),
        }
        Ok(())
    }

    /// Adds a `\gset` or `\aset` to the SQL command before it.
    fn store(&mut self, store: Store) -> Result<(), Error> {
        let last = self.commands.last_mut().filter(|_| self.is_after_sql);
        match last.map(|command| &mut command.what) {
            Some(What::Sql(sql)) if sql.store == Store::Nothing => {
                sql.store = store;
                Ok(())
            }
            _ => Err(Error::new("\\gset and \\aset must follow an SQL command")),
        }
    }

    fn push_condition(&mut self, line: u32, condition: Expression) {
        let index = self.commands.len();
        self.push(line, What::JumpUnless { condition, to: 0 });
        self.open.last_mut().expect("a condition is open").unless = Some(index);
    }

    /// Ends the commands after a condition with a jump to the end; if the condition does not hold,
    /// those after the jump follow.
    fn end_branch(&mut self, line: u32, name: &str) -> Result<(), Error> {
        let index = self.commands.len();
        let Some(open) = self.open.last_mut() else {
            return Err(Error::new(format!("\\{name} without \\if")));
        };
        let Some(unless) = open.unless.take() else {
            return Err(Error::new(format!("\\{name} after \\else")));
        };
        open.jumps.push(index);
        self.push(line, What::Jump { to: 0 });
        self.set_target(unless, index + 1);
        Ok(())
    }

    fn set_target(&mut self, jump: usize, target: usize) {
        match &mut self.commands[jump].what {
            What::JumpUnless { to, .. } | What::Jump { to } => *to = target,
            _ => unreachable!("jumps alone have targets"),
        }
    }

    fn finish(self) -> Result<Script, Error> {
        if let Some(open) = self.open.last() {
            return Err(Error::at(open.line, "\\if without \\endif"));
        }
        if self.n_commands == 0 {
            return Err(Error::at(1, "the script has no commands"));
        }
        pipelines::check(&self.commands)?;
        Ok(Script { commands: self.commands })
    }
}
