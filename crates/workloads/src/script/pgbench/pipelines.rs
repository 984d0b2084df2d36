//! Check of a script for commands that fail whenever they are reached, because a pipeline is open
//! or none is.
//!
//! Misuse that depends on conditions is not found here, but when it happens.

use super::command::{Command, What};
use super::error::Error;
use super::sql::Store;

/// Whether a command can be reached without and with an open pipeline.
#[derive(Clone, Copy, Default)]
struct Reach {
    without: bool,
    within: bool,
}

impl Reach {
    fn add(&mut self, other: Reach) {
        self.without |= other.without;
        self.within |= other.within;
    }

    fn is_always_within(self) -> bool {
        self.within && !self.without
    }

    fn is_always_without(self) -> bool {
        self.without && !self.within
    }
}

/// Follows all ways through the commands; conditions can go both. Jumps lead forwards.
pub(super) fn check(commands: &[Command]) -> Result<(), Error> {
    const OPEN: Reach = Reach { without: false, within: true };
    const CLOSED: Reach = Reach { without: true, within: false };
    let mut reached = vec![Reach::default(); commands.len() + 1];
    reached[0] = CLOSED;
    for (index, command) in commands.iter().enumerate() {
        let here = reached[index];
        let fail = |message: &str| Err(Error::at(command.line, message));
        let mut after = here;
        match &command.what {
            What::StartPipeline if here.is_always_within() => {
                return fail("\\startpipeline within a pipeline");
            }
            What::StartPipeline => after = OPEN,
            What::SyncPipeline if here.is_always_without() => {
                return fail("\\syncpipeline without \\startpipeline");
            }
            What::EndPipeline if here.is_always_without() => {
                return fail("\\endpipeline without \\startpipeline");
            }
            What::EndPipeline => after = CLOSED,
            What::Sql(sql) if sql.store != Store::Nothing && here.is_always_within() => {
                return fail("\\gset and \\aset cannot be used within a pipeline");
            }
            What::Jump { to } => {
                reached[*to].add(here);
                continue;
            }
            What::JumpUnless { to, .. } => reached[*to].add(here),
            _ => {}
        }
        reached[index + 1].add(after);
    }
    match reached[commands.len()].is_always_within() {
        true => {
            let line = commands.last().map_or(1, |command| command.line);
            Err(Error::at(line, "\\endpipeline is missing at the end of the script"))
        }
        false => Ok(()),
    }
}
