//! Which variables of a script a user may give: those that are read before the script sets them.
//!
//! Not here: their values (workload).

use std::collections::BTreeSet;

use crate::script::pgbench::{Names, Operand, Part, Script, Sql, Store, VariableId, What};

/// Variables that were read before they were set, and those that are set, along a script.
pub(super) struct Flow<'a> {
    names: &'a Names,
    set: BTreeSet<VariableId>,
    read_first: BTreeSet<VariableId>,
}

impl<'a> Flow<'a> {
    /// Begins without any variable that is set.
    pub(super) fn new(names: &'a Names) -> Flow<'a> {
        Flow { names, set: BTreeSet::new(), read_first: BTreeSet::new() }
    }

    /// Returns the variables that are set.
    pub(super) fn clone_set(&self) -> BTreeSet<VariableId> {
        self.set.clone()
    }

    /// Goes on with a script before which these variables are set.
    pub(super) fn begin_with(&mut self, set: &BTreeSet<VariableId>) {
        self.set.clone_from(set);
    }

    /// Returns the variables that were read before they were set.
    pub(super) fn read_first(self) -> BTreeSet<VariableId> {
        self.read_first
    }

    /// Notes that a variable is read.
    pub(super) fn read(&mut self, id: VariableId) {
        if !self.set.contains(&id) {
            self.read_first.insert(id);
        }
    }

    fn operand<T>(&mut self, operand: &Operand<T>) {
        if let Operand::Variable { id, .. } = operand {
            self.read(*id);
        }
    }

    /// Follows the commands of a script. What is set under a condition counts as set.
    pub(super) fn follow(&mut self, script: &Script) {
        for command in &script.commands {
            match &command.what {
                What::Sql(sql) => self.sql(sql),
                What::Set { variable, expression } => {
                    expression.variables().into_iter().for_each(|id| self.read(id));
                    self.set.insert(*variable);
                }
                What::JumpUnless { condition, .. } => {
                    condition.variables().into_iter().for_each(|id| self.read(id));
                }
                What::Sleep { n, .. } => self.operand(n),
                What::SetRandom(set) => {
                    self.operand(&set.low);
                    self.operand(&set.high);
                    self.set.insert(set.variable);
                }
                What::Shell { words } => words.iter().for_each(|word| self.operand(word)),
                What::SetShell { variable, words } => {
                    words.iter().for_each(|word| self.operand(word));
                    self.set.insert(*variable);
                }
                What::Jump { .. }
                | What::StartPipeline
                | What::SyncPipeline
                | What::EndPipeline => {}
            }
        }
    }

    /// Follows an SQL command.
    pub(super) fn sql(&mut self, sql: &Sql) {
        for part in &sql.parts {
            if let Part::Variable { id, .. } = part {
                self.read(*id);
            }
        }
        let (Store::Gset { prefix } | Store::Aset { prefix }) = &sql.store else { return };
        // The columns are those that the statement names.
        let text = sql.written();
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        for word in text.split(|letter| !is_word(letter)) {
            let lower = word.to_lowercase();
            for name in [word, &lower] {
                self.set.extend(self.names.lookup(&format!("{prefix}{name}")));
            }
        }
    }
}
