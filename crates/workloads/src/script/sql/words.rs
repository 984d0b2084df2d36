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

/// Returns the names of the tables that an SQL command creates, unless they have quotes or
/// variables in them.
pub(super) fn created_tables(sql: &Sql) -> Vec<String> {
    statements(sql).iter().filter_map(|statement| created_table(statement)).collect()
}

fn created_table(statement: &str) -> Option<String> {
    let mut words = after_comments(statement).split_whitespace();
    let mut next = || words.next().map(str::to_ascii_lowercase);
    if next()? != "create" {
        return None;
    }
    let kind = next()?;
    let is_table = match kind.as_str() {
        "unlogged" => next()? == "table",
        word => word == "table",
    };
    let mut name = words.next().filter(|_| is_table)?;
    if name.eq_ignore_ascii_case("if") {
        name = words.nth(2)?;
    }
    let name = name.split('(').next()?.trim_end_matches(';');
    let is_plain = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// Returns a statement without the comments and spaces with which it begins.
fn after_comments(statement: &str) -> &str {
    let mut rest = statement.trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("--") => rest.split_once('\n'),
            _ if rest.starts_with("/*") => rest.split_once("*/"),
            _ => return rest,
        };
        rest = end.map_or("", |(_, rest)| rest).trim_start();
    }
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
    let plain = |part: &Part| match part {
        Part::Variable { id, is_plain: true, .. } => Some(*id),
        _ => None,
    };
    sql.parts.iter().filter_map(plain).collect()
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
    fn the_tables_that_a_command_creates_are_known() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(created_tables(&command(text).0), expect, "{text}");
        };
        check("CREATE TABLE account (id BIGINT);", &["account"]);
        check(
            "-- note\ncreate unlogged table if not exists s.b(id int)\\; create table c (i int);",
            &["s.b", "c"],
        );
        check("CREATE TABLE \"a b\" (id BIGINT);", &[]);
        check("CREATE TABLE t:n (id BIGINT);", &[]);
        check("CREATE TEMPORARY TABLE t (id BIGINT);", &[]);
        check("CREATE INDEX i ON t (id);", &[]);
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
        check("SELECT `:a`, :b;", &["b"]);
        check("SELECT E'\\':a', :b /* '*/, :c\\; SELECT ':d', :e;", &["b", "c", "e"]);
    }
}
