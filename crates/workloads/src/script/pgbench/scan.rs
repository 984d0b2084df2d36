//! Splits scripts into SQL commands and meta-commands, as psql's scanner does.
//!
//! Not here: what meta-commands mean (commands), and variables in SQL (sql).

use super::error::Error;
use super::variables::is_name_byte;

/// SQL command as it is sent, before variables are replaced. At its beginning, space and comments
/// that begin with `--` are left out; elsewhere they stay.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text {
    pub(super) text: String,
    /// Indexes in the text of the semicolons that are written as `\;`.
    pub(super) joins: Vec<usize>,
    /// Indexes in the text of the colons outside of quotes, comments and brackets.
    pub(super) plain_colons: Vec<usize>,
    /// Line in which the text begins.
    pub(super) line: u32,
}

/// Piece of a script.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    Sql(Text),
    /// What follows a backslash to the end of the line; lines that end with a backslash go on.
    Meta {
        line: u32,
        text: &'a str,
    },
}

pub(super) struct Scanner<'a> {
    script: &'a str,
    at: usize,
    /// Line of the byte at `counted_to`.
    line: u32,
    counted_to: usize,
    /// The SQL command that is being read.
    sql: Text,
    n_open: usize,
    /// Number of square brackets that are open.
    n_brackets: usize,
    /// Whether a name in the quotes of MySQL is open.
    is_in_backticks: bool,
    words: Words,
    /// Whether the byte before the next piece is the backslash of a meta-command.
    is_meta: bool,
}

/// Words at the beginning of an SQL statement, to find the ends of SQL function bodies.
#[derive(Default)]
struct Words {
    first: Vec<String>,
    /// Number of `BEGIN`s and, within them, `CASE`s that have no `END` yet.
    n_begun: usize,
}

impl Words {
    /// Takes the next word. Only statements that create functions or procedures can contain
    /// `BEGIN ATOMIC ... END`; in other statements, `BEGIN` is a name or a statement of its own.
    fn push(&mut self, word: &str, n_open: usize) {
        let word = word.to_ascii_lowercase();
        if self.first.len() < 4 {
            self.first.push(word.clone());
        }
        let first: Vec<&str> = self.first.iter().map(String::as_str).collect();
        let creates = match first.as_slice() {
            ["create", "or", "replace", kind, ..] | ["create", kind, ..] => {
                matches!(*kind, "function" | "procedure")
            }
            _ => false,
        };
        match word.as_str() {
            _ if !creates || n_open > 0 => {}
            "begin" => self.n_begun += 1,
            "case" if self.n_begun > 0 => self.n_begun += 1,
            "end" => self.n_begun = self.n_begun.saturating_sub(1),
            _ => {}
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c')
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Number of bytes at the beginning of a text for which a condition holds.
fn run(text: &str, holds: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| holds(*byte)).count()
}

impl<'a> Scanner<'a> {
    pub(super) fn new(script: &'a str) -> Scanner<'a> {
        Scanner {
            script,
            at: 0,
            line: 1,
            counted_to: 0,
            sql: Text::default(),
            n_open: 0,
            n_brackets: 0,
            is_in_backticks: false,
            words: Words::default(),
            is_meta: false,
        }
    }

    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    /// Line of the next byte.
    pub(super) fn line(&mut self) -> u32 {
        let passed = &self.script.as_bytes()[self.counted_to..self.at];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.counted_to = self.at;
        self.line
    }

    /// Returns the next piece; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, Error> {
        if self.is_meta {
            self.is_meta = false;
            return Ok(Some(self.meta()));
        }
        while let Some(byte) = self.rest().bytes().next() {
            match byte {
                b'\\' if self.rest()[1..].starts_with([';', ':']) => self.escaped(),
                b'\\' => {
                    self.check_closed()?;
                    self.at += 1;
                    if self.sql.text.is_empty() {
                        return Ok(Some(self.meta()));
                    }
                    self.is_meta = true;
                    return Ok(Some(self.finish()));
                }
                b';' => {
                    self.take(1);
                    if self.n_open == 0 && self.words.n_begun == 0 {
                        return Ok(Some(self.finish()));
                    }
                }
                _ => self.token(byte)?,
            }
        }
        self.check_closed()?;
        Ok((!self.sql.text.is_empty()).then(|| Piece::Sql(self.take_sql())))
    }

    /// Moves bytes to the SQL command.
    fn take(&mut self, n_bytes: usize) {
        if self.sql.text.is_empty() {
            self.sql.line = self.line();
        }
        self.sql.text.push_str(&self.rest()[..n_bytes]);
        self.at += n_bytes;
    }

    fn take_sql(&mut self) -> Text {
        self.n_open = 0;
        self.n_brackets = 0;
        self.is_in_backticks = false;
        self.words = Words::default();
        std::mem::take(&mut self.sql)
    }

    fn finish(&mut self) -> Piece<'a> {
        Piece::Sql(self.take_sql())
    }

    fn check_closed(&self) -> Result<(), Error> {
        match self.n_open {
            0 => Ok(()),
            _ => Err(Error::at(self.sql.line, "a parenthesis is not closed")),
        }
    }

    /// Takes `\;` or `\:`: the second character, without a meaning for the scanner.
    fn escaped(&mut self) {
        self.at += 1;
        self.take(1);
        if self.sql.text.ends_with(';') {
            self.sql.joins.push(self.sql.text.len() - 1);
            self.words = Words::default();
        }
    }

    /// Returns the meta-command after a backslash.
    fn meta(&mut self) -> Piece<'a> {
        let line = self.line();
        let rest = self.rest();
        let mut end = 0;
        loop {
            let Some(length) = rest[end..].find('\n') else {
                end = rest.len();
                break;
            };
            end += length;
            let before = rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]);
            if !before.ends_with('\\') {
                break;
            }
            end += 1;
        }
        // The newline stays: it is space before the next command.
        self.at += end;
        Piece::Meta { line, text: &rest[..end] }
    }

    /// Takes a token other than a backslash or a semicolon.
    fn token(&mut self, first: u8) -> Result<(), Error> {
        let rest = self.rest();
        match first {
            _ if is_space(first) => match self.sql.text.is_empty() {
                true => self.at += run(rest, is_space),
                false => self.take(run(rest, is_space)),
            },
            b'-' if rest.starts_with("--") => {
                let length = run(rest, |byte| !is_newline(byte));
                match self.sql.text.is_empty() {
                    true => self.at += length,
                    false => self.take(length),
                }
            }
            b'/' if rest.starts_with("/*") => {
                let length = block_comment(rest);
                self.take_closed(length, "a comment")?;
            }
            b'\'' => self.quoted(0, false)?,
            b'e' | b'E' if rest[1..].starts_with('\'') => self.quoted(1, true)?,
            b'"' => {
                let length = rest[1..].find('"').map(|length| length + 2);
                self.take_closed(length, "a quoted name")?;
            }
            b'$' => self.dollar()?,
            b':' => match rest.starts_with("::") {
                true => self.take(2),
                false => {
                    if self.n_brackets == 0 && !self.is_in_backticks {
                        self.sql.plain_colons.push(self.sql.text.len());
                    }
                    self.take(1 + run(&rest[1..], is_name_byte));
                }
            },
            b'0'..=b'9' => self.take(number(rest)),
            _ if is_name_byte(first) => {
                let length = run(rest, |byte| is_name_byte(byte) || byte == b'$');
                self.words.push(&rest[..length], self.n_open);
                self.take(length);
            }
            _ => {
                match first {
                    b'(' => self.n_open += 1,
                    b')' => self.n_open = self.n_open.saturating_sub(1),
                    b'[' => self.n_brackets += 1,
                    b']' => self.n_brackets = self.n_brackets.saturating_sub(1),
                    b'`' => self.is_in_backticks = !self.is_in_backticks,
                    _ => {}
                }
                self.take(1);
            }
        }
        Ok(())
    }

    /// Takes what has an end, which is missing if there is no length.
    fn take_closed(&mut self, length: Option<usize>, what: &str) -> Result<(), Error> {
        let Some(length) = length else {
            let line = self.line();
            return Err(Error::at(line, format!("{what} is not closed")));
        };
        self.take(length);
        Ok(())
    }

    /// Takes a quoted string, and further ones that continue it; `before` counts the bytes before
    /// the quote. With `has_escapes`, a backslash hides the next character.
    fn quoted(&mut self, before: usize, has_escapes: bool) -> Result<(), Error> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut end = before + 1;
        let length = loop {
            match bytes.get(end) {
                None => break None,
                Some(b'\\') if has_escapes => end += 2,
                Some(b'\'') => match continuation(&rest[end + 1..]) {
                    0 => break Some(end + 1),
                    length => end += 1 + length,
                },
                Some(_) => end += 1,
            }
        };
        self.take_closed(length, "a quoted string")
    }

    /// Takes a string between tags such as `$$` or `$tag$`, a parameter such as `$1`, or a dollar.
    fn dollar(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        let n_digits = run(&rest[1..], |byte| byte.is_ascii_digit());
        if n_digits > 0 {
            self.take(1 + number(&rest[1..]));
            return Ok(());
        }
        let n_name = run(&rest[1..], is_name_byte);
        if !rest[1 + n_name..].starts_with('$') {
            self.take(1);
            return Ok(());
        }
        let (tag, text) = rest.split_at(n_name + 2);
        let length = text.find(tag).map(|length| tag.len() + length + tag.len());
        self.take_closed(length, "a quoted string")
    }
}

/// Length of the digits with which a text begins, and of a name that follows at once: in `1e'a'`,
/// the letter belongs to the number and not to the string.
fn number(text: &str) -> usize {
    let n_digits = run(text, |byte| byte.is_ascii_digit());
    let rest = &text[n_digits..];
    match rest.starts_with('$') {
        true => n_digits,
        false => n_digits + run(rest, |byte| is_name_byte(byte) || byte == b'$'),
    }
}

/// Length of the comment with which a text begins; comments nest. `None` if it has no end.
pub(super) fn block_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// Length of what follows the closing quote of a string if the string goes on: another quote, at
/// once or in another line. 0 if it does not.
fn continuation(text: &str) -> usize {
    if text.starts_with('\'') {
        return 1;
    }
    let mut at = 0;
    let mut has_newline = false;
    loop {
        let rest = &text[at..];
        if rest.starts_with("--") {
            at += run(rest, |byte| !is_newline(byte));
        } else if rest.starts_with('\'') && has_newline {
            return at + 1;
        } else if let Some(byte) = rest.bytes().next().filter(|byte| is_space(*byte)) {
            has_newline |= is_newline(byte);
            at += 1;
        } else {
            return 0;
        }
    }
}
