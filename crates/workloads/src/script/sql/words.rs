//! What can be told from an SQL command without a database: its class, how it changes the state of
//! the transaction, and which of its variables must have a value.
//!
//! Not here: the division of scripts into commands (pgbench).

use model::StatementKind;

use crate::script::pgbench::{Part, Sql, VariableId};

/// Effect of a statement on the transaction of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// The statement leaves the transaction as it is.
    None,
    /// The statement begins a transaction.
    Begin,
    /// The statement commits the transaction.
    Commit,
    /// The statement rolls back the transaction.
    Rollback,
}

/// Class and effects of the statements of one SQL command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Class by which the whole command is counted: a write if one of its statements is one.
    pub(super) kind: StatementKind,
    /// Effect of each of its statements, in order.
    pub(super) controls: Vec<Control>,
    /// Whether a statement copies rows from or to the client.
    pub(super) copies: bool,
}

/// Returns what can be told from a command.
pub(super) fn told(sql: &Sql) -> Told {
    let mut kinds = Vec::new();
    let mut controls = Vec::new();
    let mut copies = false;
    for statement in statements(sql) {
        let words = first_words(&statement);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        controls.push(control_of(&words));
        copies |= words.first() == Some(&"copy") && has_stream(&statement);
        kinds.push(kind_of(&words));
    }
    let of = |kind| kinds.contains(&kind);
    let kind = [StatementKind::Write, StatementKind::Read].into_iter().find(|kind| of(*kind));
    Told { kind: kind.unwrap_or(StatementKind::Other), controls, copies }
}

/// Returns the texts of the joined statements, in which variables stand as `?`.
fn statements(sql: &Sql) -> Vec<String> {
    let mut all = vec![String::new()];
    for part in &sql.parts {
        let last = all.last_mut().expect("it begins with one");
        match part {
            Part::Text(text) => last.push_str(text),
            Part::Variable { .. } => last.push('?'),
            Part::Join => all.push(String::new()),
        }
    }
    all.retain(|text| !first_words(text).is_empty());
    all
}

/// Returns the first three words of a statement in lower case, after comments and parentheses.
fn first_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while words.len() < 3 {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '(');
        if let Some(comment) = rest.strip_prefix("--").or_else(|| rest.strip_prefix('#')) {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        // The text of `/*! ... */` is executed by some servers; its first word decides.
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '?';
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        words.push(rest[..end].to_ascii_lowercase());
        rest = &rest[end..];
    }
    words
}

/// Whether a COPY statement names the client as source or destination.
fn has_stream(statement: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = statement.split(|letter| !is_word(letter));
    words.any(|word| ["stdin", "stdout"].iter().any(|stream| word.eq_ignore_ascii_case(stream)))
}

fn control_of(words: &[&str]) -> Control {
    match words {
        ["begin", ..] | ["start", "transaction", ..] => Control::Begin,
        ["prepare", "transaction", ..] | ["commit", "prepared", ..] => Control::None,
        ["rollback", "prepared" | "to", ..] | ["rollback", "work" | "transaction", "to"] => {
            Control::None
        }
        ["commit" | "end", ..] => Control::Commit,
        ["rollback" | "abort", ..] => Control::Rollback,
        _ => Control::None,
    }
}

fn kind_of(words: &[&str]) -> StatementKind {
    match words.first().copied().unwrap_or_default() {
        "select" | "with" | "values" | "table" | "show" | "explain" | "describe" | "desc"
        | "fetch" => StatementKind::Read,
        "insert" | "update" | "delete" | "merge" | "replace" | "copy" | "load" | "call"
        | "execute" | "truncate" => StatementKind::Write,
        _ => StatementKind::Other,
    }
}

/// Returns the variables that stand outside of quotes, comments and brackets, where a statement is
/// wrong without their value.
pub(super) fn needed(sql: &Sql) -> Vec<VariableId> {
    let mut needed = Vec::new();
    let mut state = Quoting::default();
    for part in &sql.parts {
        match part {
            Part::Text(text) => state.read(text),
            Part::Join => {}
            Part::Variable { id, .. } if state.is_plain() => needed.push(*id),
            Part::Variable { .. } => {}
        }
    }
    needed
}

/// Position within quotes, comments and brackets of a statement.
#[derive(Default)]
struct Quoting {
    /// Text that ends the current quotes or comment; `None` outside of them.
    until: Option<String>,
    n_brackets: u32,
}

impl Quoting {
    fn is_plain(&self) -> bool {
        self.until.is_none() && self.n_brackets == 0
    }

    fn read(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(until) = &self.until {
                let Some(at) = rest.find(until.as_str()) else { return };
                rest = &rest[at + until.len()..];
                self.until = None;
                continue;
            }
            let until = match rest.as_bytes()[0] {
                b'\'' => Some("'".to_owned()),
                b'"' => Some("\"".to_owned()),
                b'`' => Some("`".to_owned()),
                b'-' if rest.starts_with("--") => Some("\n".to_owned()),
                b'/' if rest.starts_with("/*") => Some("*/".to_owned()),
                b'$' => dollar_tag(rest),
                b'[' => {
                    self.n_brackets += 1;
                    None
                }
                b']' => {
                    self.n_brackets = self.n_brackets.saturating_sub(1);
                    None
                }
                _ => None,
            };
            let opener = match &until {
                Some(tag) if rest.starts_with('$') => tag.len(),
                Some(_) if rest.starts_with("--") || rest.starts_with("/*") => 2,
                _ => rest.chars().next().map_or(1, char::len_utf8),
            };
            self.until = until;
            rest = &rest[opener..];
        }
    }
}

/// Returns the tag of dollar quotes with which a text begins, such as `$body$`.
fn dollar_tag(text: &str) -> Option<String> {
    let end = text[1..].find('$')? + 2;
    let tag = &text[1..end - 1];
    let is_tag = !tag.starts_with(|letter: char| letter.is_ascii_digit())
        && tag.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_tag.then(|| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::pgbench::{self, Names, What};

    fn command(text: &str) -> (Sql, Names) {
        let mut names = Names::new();
        let script = pgbench::parse(text, &mut names).expect("it is a script");
        match script.commands.into_iter().next().expect("it has a command").what {
            What::Sql(sql) => (sql, names),
            other => panic!("{other:?} is no SQL"),
        }
    }

    #[test]
    fn a_command_is_classified_by_the_words_of_its_statements() {
        use Control::{Begin, Commit, None, Rollback};
        use StatementKind::{Other, Read, Write};
        let check = |text: &str, kind, controls: &[Control]| {
            let expect = Told { kind, controls: controls.to_vec(), copies: false };
            assert_eq!(told(&command(text).0), expect, "{text}");
        };
        check("SELECT 1;", Read, &[None]);
        check("/* note */ (select 1) union (select 2);", Read, &[None]);
        check("-- note\nUPDATE t SET a = :b;", Write, &[None]);
        check("BEGIN\\; INSERT INTO t VALUES (1)\\; COMMIT;", Write, &[Begin, None, Commit]);
        check("START TRANSACTION;", Other, &[Begin]);
        check("END;", Other, &[Commit]);
        check("ROLLBACK TO SAVEPOINT s;", Other, &[None]);
        check("ROLLBACK WORK TO s;", Other, &[None]);
        check("ABORT;", Other, &[Rollback]);
        check("PREPARE TRANSACTION 'x';", Other, &[None]);
        check("VACUUM t;", Other, &[None]);
    }

    #[test]
    fn a_copy_of_files_is_none_of_the_client() {
        let check =
            |text: &str, expect| assert_eq!(told(&command(text).0).copies, expect, "{text}");
        check("COPY (SELECT :a) TO STDOUT;", true);
        check("copy t(id) from stdin with (format csv);", true);
        check("COPY t FROM '/data/t.csv';", false);
        check("SELECT 'copy to stdout';", false);
    }

    #[test]
    fn variables_within_quotes_comments_and_brackets_need_no_value() {
        let check = |text: &str, expect: &[&str]| {
            let (sql, names) = command(text);
            let needed: Vec<&str> = needed(&sql).into_iter().map(|id| names.name_of(id)).collect();
            assert_eq!(needed, expect, "{text}");
        };
        check("SELECT :a, ':b', \":c\", :d;", &["a", "d"]);
        check("SELECT 'it''s :a' || :b;", &["b"]);
        check("SELECT a[1:n], :b /* :c */;", &["b"]);
        check("SELECT $x$ :a $x$, $1, :b;", &["b"]);
        check("SELECT a::text, :b;", &["b"]);
    }
}
