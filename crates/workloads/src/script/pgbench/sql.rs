//! SQL commands of scripts: text with variables in it.

use super::error::Error;
use super::scan::{Text, block_comment};
use super::variables::{Names, VariableId, Variables, is_name_byte, is_name_start};

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
        /// Whether it stands outside of quotes, comments and brackets, where a statement is wrong
        /// without its value.
        is_plain: bool,
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
    /// Finds the variables in the text of a command.
    pub(super) fn new(text: &Text, names: &mut Names) -> Result<Sql, Error> {
        let mut parts = Vec::new();
        let mut n_statements = 0;
        let mut from = 0;
        for end in text.joins.iter().copied().chain([text.text.len()]) {
            let statement = &text.text[from..end];
            if from > 0 {
                parts.push(Part::Join);
            }
            n_statements += usize::from(!is_empty_statement(statement));
            let is_plain = |colon: usize| text.plain_colons.contains(&(from + colon));
            push_parts(statement, &is_plain, &mut parts, names)?;
            from = end + 1;
        }
        Ok(Sql {
            parts,
            n_statements: u16::try_from(n_statements).unwrap_or(u16::MAX),
            store: Store::Nothing,
            first_word: first_word(&text.text).into(),
        })
    }

    /// Appends the command as it is sent by the simple protocol: values replace variables, even
    /// within quotes and comments, and variables that are not set stay as they are written.
    pub fn text_into(&self, variables: &Variables, out: &mut String) {
        self.write(|id| variables.text(id), out);
    }

    fn write<'a>(&self, text_of: impl Fn(VariableId) -> Option<&'a str>, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Join => out.push(';'),
                Part::Variable { id, name, .. } => match text_of(*id) {
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
        self.write(|_| None, &mut text);
        text
    }
}

/// Whether a statement is nothing but space, comments and semicolons.
fn is_empty_statement(text: &str) -> bool {
    after_comments(text, &[';']).is_empty()
}

/// Whether a text is nothing but comments, other than those whose text MySQL and MariaDB execute.
pub(super) fn is_comment(text: &str) -> bool {
    after_comments(text, &[]).is_empty() && !text.starts_with("/*!")
}

/// Skips space, comments and these characters at the beginning.
fn after_comments<'a>(text: &'a str, skipped: &[char]) -> &'a str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || skipped.contains(&c));
        let length = match rest {
            _ if rest.starts_with("/*") => block_comment(rest).unwrap_or(rest.len()),
            _ if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            _ => return rest,
        };
        rest = &rest[length..];
    }
}

fn first_word(text: &str) -> String {
    let text = after_comments(text, &['(', ';']);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let length = text.bytes().take_while(is_letter).count();
    text[..length].to_ascii_lowercase()
}

/// Splits a text at its variables: a colon that is not beside another one, and a name. `is_plain`
/// tells of the index of a colon whether it stands outside of quotes, comments and brackets.
fn push_parts(
    text: &str,
    is_plain: &dyn Fn(usize) -> bool,
    parts: &mut Vec<Part>,
    names: &mut Names,
) -> Result<(), Error> {
    let bytes = text.as_bytes();
    let (mut from, mut at) = (0, 0);
    while let Some(colon) = text[at..].find(':').map(|length| at + length) {
        at = colon + 1;
        if !bytes.get(at).is_some_and(|byte| is_name_start(*byte)) {
            at += bytes[at..].iter().take_while(|byte| **byte == b':').count();
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_name_byte(**byte)).count();
        if from < colon {
            parts.push(Part::Text(text[from..colon].into()));
        }
        let name = &text[at..end];
        let (id, is_plain) = (names.add(name)?, is_plain(colon));
        parts.push(Part::Variable { id, name: name.into(), is_plain });
        (from, at) = (end, end);
    }
    if from < text.len() {
        parts.push(Part::Text(text[from..].into()));
    }
    Ok(())
}
