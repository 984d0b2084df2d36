//! Texts of statements: their class, their placeholders, and those that a script has prepared.

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;

use model::{Placeholder, StatementId, StatementKind, TransactionControl};

/// Most statements that one client prepares: nine for each of 65,000 tables. A script that prepares
/// one per event and closes it gets the same one again if its text is the same.
const STATEMENTS_MAX: usize = 600_000;
/// Most statements of one text on a connection that are not closed. Beyond, some are the same one:
/// a script that never closes any would use up the memory.
const SAME_MAX: usize = 1_024;
/// Number of statements of a client that the server prepares when the script does, as in sysbench.
/// Further ones are prepared when they are first executed: there may be some for each of many
/// tables, and a server keeps a limited number.
pub(super) const AHEAD_MOST: usize = 4_096;

/// Returns the class of a statement by its first word. sysbench looks at the reply instead: rows
/// are a read, changed rows a write, all else is other.
pub(super) fn kind_of(sql: &str) -> StatementKind {
    const READS: [&str; 10] = [
        "select", "show", "with", "explain", "values", "table", "desc", "describe", "fetch",
        "check",
    ];
    const WRITES: [&str; 7] = ["insert", "update", "delete", "replace", "merge", "load", "copy"];
    let word = first_word(sql);
    match () {
        () if READS.iter().any(|known| word.eq_ignore_ascii_case(known)) => StatementKind::Read,
        () if WRITES.iter().any(|known| word.eq_ignore_ascii_case(known)) => StatementKind::Write,
        () => StatementKind::Other,
    }
}

/// Returns the first word of a statement, behind blanks, comments and brackets.
fn first_word(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '(');
        if let Some(comment) = rest.strip_prefix("/*").filter(|more| !more.starts_with('!')) {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("--").or_else(|| rest.strip_prefix('#')) {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            return &rest[..end];
        }
    }
}

/// Returns the text with the dialect's placeholders in place of `?`, except within quotes.
pub(super) fn with_placeholders(sql: &str, placeholder: Placeholder) -> String {
    if placeholder == Placeholder::Question {
        return sql.to_owned();
    }
    let (mut text, mut quote, mut n) = (String::with_capacity(sql.len() + 16), None, 0);
    for letter in sql.chars() {
        match (quote, letter) {
            (None, '?') => {
                n += 1;
                text += &placeholder.mark(n);
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        text.push(letter);
    }
    text
}

/// Numbers by which the prelude says what it has put into a place.
pub(super) mod place_kind {
    /// A number, which is sent as an integer if it is one.
    pub(crate) const NUMBER: f64 = 1.0;
    pub(crate) const FLOAT: f64 = 2.0;
    pub(crate) const TEXT: f64 = 3.0;
    pub(crate) const NAMES: [(&str, f64); 4] =
        [("NULL", 0.0), ("NUMBER", NUMBER), ("FLOAT", FLOAT), ("TEXT", TEXT)];
}

/// Place for the value of a parameter, into which the script writes, as an array of numbers and
/// pointers.
#[repr(C)]
pub(super) struct Place {
    pub(super) kind: Cell<f64>,
    /// The number, or the length of the text.
    pub(super) number: Cell<f64>,
    pub(super) text: Cell<*const u8>,
}

impl Place {
    fn empty() -> Place {
        Place { kind: Cell::new(0.0), number: Cell::new(0.0), text: Cell::new(ptr::null()) }
    }
}

/// A statement that a script has prepared on a connection.
pub(super) struct Prepared {
    pub(super) handle: usize,
    pub(super) sql: String,
    pub(super) kind: StatementKind,
    /// What the statement does, if it begins or ends a transaction and does nothing else. A commit
    /// whose reply is lost then counts as unknown.
    pub(super) control: Option<TransactionControl>,
    /// Identifier in the session; `None` if the session does not know it, because it has connected
    /// again since.
    pub(super) id: Option<StatementId>,
    /// Whether the server has prepared it.
    pub(super) is_at_server: bool,
    /// Whether it is sent as text, because the server cannot prepare it.
    pub(super) is_text: bool,
    /// Places for the values of parameters. The last has most of them; the script may still use
    /// those before.
    places: Vec<Box<[Place]>>,
}

impl Prepared {
    fn new(handle: usize, sql: String) -> Prepared {
        let (kind, control) = (kind_of(&sql), TransactionControl::of(&sql));
        let (id, is_at_server, is_text, places) = (None, false, false, Vec::new());
        Prepared { handle, sql, kind, control, id, is_at_server, is_text, places }
    }

    /// Returns places for so many values, which stay as long as the statement.
    pub(super) fn places(&mut self, n: usize) -> &[Place] {
        if self.places.last().is_none_or(|last| last.len() < n) {
            self.places.push((0..n).map(|_| Place::empty()).collect());
        }
        &self.places[self.places.len() - 1]
    }
}

/// All statements that a script has prepared.
#[derive(Default)]
pub(super) struct Statements {
    all: Vec<Prepared>,
    same: HashMap<(usize, String), Same>,
}

/// The indexes of the statements of one text on a connection.
#[derive(Default)]
struct Same {
    all: Vec<usize>,
    /// Indexes of statements that the script has closed.
    closed: Vec<usize>,
}

impl Statements {
    /// Returns the index of a statement with this text on a connection that the script does not use
    /// yet; `None` if there are too many.
    pub(super) fn prepare(&mut self, handle: usize, sql: String) -> Option<usize> {
        let place = self.all.len();
        let same = self.same.entry((handle, sql.clone())).or_default();
        let known = same.closed.pop();
        match known.or_else(|| same.all.first().copied().filter(|_| same.all.len() >= SAME_MAX)) {
            Some(known) => return Some(known),
            None if place >= STATEMENTS_MAX => return None,
            None => same.all.push(place),
        }
        self.all.push(Prepared::new(handle, sql));
        Some(place)
    }

    /// Notes that the script uses a statement no more. Returns its identifier in the session.
    pub(super) fn close(&mut self, place: usize) -> Option<StatementId> {
        let statement = self.all.get_mut(place)?;
        statement.is_at_server = false;
        let same = self.same.get_mut(&(statement.handle, statement.sql.clone()));
        same.expect("each statement is in its list").closed.push(place);
        statement.id
    }

    pub(super) fn get(&mut self, place: usize) -> Option<&mut Prepared> {
        self.all.get_mut(place)
    }

    /// Forgets the identifiers of a connection's statements, because it connects again; of all
    /// connections if `handle` is `None`.
    pub(super) fn forget_ids(&mut self, handle: Option<usize>) {
        let is_meant = |one: &&mut Prepared| handle.is_none_or(|handle| one.handle == handle);
        let forget = |one: &mut Prepared| (one.id, one.is_at_server) = (None, false);
        self.all.iter_mut().filter(is_meant).for_each(forget);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_counted_by_its_first_word() {
        let check = |sql: &str, expect| assert_eq!(kind_of(sql), expect, "{sql}");
        check("SELECT 1", StatementKind::Read);
        check(" (select 1) union (select 2)", StatementKind::Read);
        check("/* a */ -- b\n# c\nUPDATE t SET a = 1", StatementKind::Write);
        check("insert into t values (1)", StatementKind::Write);
        check("BEGIN", StatementKind::Other);
        check("CREATE TABLE t (a int)", StatementKind::Other);
        check("/*! SELECT 1 */", StatementKind::Other);
        check("", StatementKind::Other);
        check("/* never closed", StatementKind::Other);
    }

    #[test]
    fn placeholders_are_the_dialect_s_but_not_within_quotes() {
        let dollar = |sql: &str| with_placeholders(sql, Placeholder::Dollar);
        assert_eq!(dollar("SELECT ? + ?, '?', \"a?\""), "SELECT $1 + $2, '?', \"a?\"");
        assert_eq!(dollar("SELECT 'it''s ?' || ?"), "SELECT 'it''s ?' || $1");
        assert_eq!(with_placeholders("a = ?", Placeholder::Question), "a = ?");
    }

    #[test]
    fn a_statement_that_is_closed_is_used_for_the_same_text() {
        let mut all = Statements::default();
        assert_eq!(all.prepare(0, "a".to_owned()), Some(0));
        assert_eq!(all.prepare(1, "a".to_owned()), Some(1));
        assert_eq!(all.prepare(0, "a".to_owned()), Some(2));
        all.get(0).unwrap().id = Some(StatementId(3));
        assert_eq!(all.close(0), Some(StatementId(3)));
        assert_eq!(all.close(9), None);
        assert_eq!(all.prepare(1, "a".to_owned()), Some(3));
        assert_eq!(all.prepare(0, "b".to_owned()), Some(4));
        assert_eq!(all.prepare(0, "a".to_owned()), Some(0));
        all.forget_ids(Some(1));
        assert!(all.get(0).unwrap().id.is_some());
        all.forget_ids(None);
        assert!(all.get(0).unwrap().id.is_none());
        // Statements that are never closed are the same one in the end.
        for _ in 0..2 * SAME_MAX {
            all.prepare(2, "c".to_owned()).expect("there is room");
        }
        assert_eq!(all.prepare(2, "c".to_owned()), Some(5));
        assert_eq!(all.all.len(), 5 + SAME_MAX);
    }
}
