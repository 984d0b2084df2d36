//! SQL commands of scripts: text with variables in it.

use super::variables::{VariableId, Variables};

/// Number of variables that pgbench allows in a command whose variables become parameters.
pub const MARKS_MAX: usize = 255;

/// Piece of an SQL command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(Box<str>),
    /// `:name`, wherever it stands: within quotes and comments too.
    Variable {
        id: VariableId,
        name: Box<str>,
    },
    /// `\;`, which joins two statements of a command and is sent as `;`.
    Join,
}

/// What becomes of the rows of an SQL command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    Nothing,
    /// `\gset`: the last statement must return one row, whose columns set the variables that are
    /// called as they are, after a prefix.
    Gset {
        prefix: Box<str>,
    },
    /// `\aset`: as `\gset`, for the last row of every statement; statements without rows set
    /// nothing.
    Aset {
        prefix: Box<str>,
    },
}

/// SQL command: one statement, or several that are joined by `\;` and sent at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sql {
    pub parts: Vec<Part>,
    /// Number of statements that are not empty.
    pub n_statements: u16,
    pub store: Store,
    pub(super) first_word: Box<str>,
}

impl Sql {
    /// Appends the command as it is sent by the simple protocol: values replace variables, even
    /// within quotes and comments, and variables that are not set stay as they are written.
    pub fn text_into(&self, variables: &Variables, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Join => out.push(';'),
                Part::Variable { id, name } => match variables.text(*id) {
                    Some(text) => out.push_str(text),
                    None => {
                        out.push(':');
                        out.push_str(name);
                    }
                },
            }
        }
    }

    /// Returns the command with a placeholder for each occurrence of a variable, and the variables
    /// in the order of the placeholders. `mark` writes the placeholder with an index, from 0.
    ///
    /// pgbench allows [`MARKS_MAX`] of them ([`super::Script::check_marks`]).
    pub fn with_marks(&self, mark: &mut dyn FnMut(usize) -> String) -> (String, Vec<VariableId>) {
        let mut text = String::new();
        let mut variables = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Join => text.push(';'),
                Part::Variable { id, .. } => {
                    text.push_str(&mark(variables.len()));
                    variables.push(*id);
                }
            }
        }
        (text, variables)
    }

    /// Number of occurrences of variables.
    pub fn n_marks(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, Part::Variable { .. })).count()
    }

    /// First keyword in lower case, such as `select`; comments and parentheses are skipped. Empty
    /// if the command begins with something else.
    pub fn first_word(&self) -> &str {
        &self.first_word
    }

    /// Returns the command as it is written in the script, with its `:name`s.
    pub fn written(&self) -> String {
        let mut text = String::new();
        self.text_into(&Variables::new(0), &mut text);
        text
    }
}
