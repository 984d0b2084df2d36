//! Parser of the part of Python in which scripts of HammerDB are written.
//!
//! Not here: the execution (interpreter), and HammerDB's commands.

use super::expression::{Cursor, Operands, read, whole};
use super::steps::{Expr, Fault, Line, Step, UNREAD, Value};

/// Deepest nesting of blocks that is read.
const DEPTH_MOST: usize = 30;

/// Modules whose functions are called by name; other names before a point are values.
const MODULES: [&str; 12] = [
    "os",
    "sys",
    "time",
    "tclpy",
    "subprocess",
    "datetime",
    "multiprocessing",
    "environ",
    "math",
    "json",
    "shutil",
    "psycopg2",
];

/// A statement or the head of a block: its text, its indentation, and the number of its line.
#[derive(Debug, Default)]
struct Row {
    text: String,
    indent: usize,
    number: usize,
}

/// Parses a script; a statement that is not understood becomes [`Step::Unknown`]. Fails if a
/// bracket or a text is not closed.
pub(super) fn parse(text: &str) -> Result<Vec<Line>, Fault> {
    let rows = rows(text)?;
    let mut at = 0;
    let mut lines = Vec::new();
    while at < rows.len() {
        // A block that is indented without a head is read as if it were not.
        let indent = rows[at].indent;
        lines.extend(block(&rows, &mut at, indent, 0));
    }
    Ok(lines)
}

/// Divides a text into statements, without comments. A statement goes on within brackets, within
/// a text of three quotation marks, and behind a backslash.
fn rows(text: &str) -> Result<Vec<Row>, Fault> {
    let mut rows = Vec::new();
    let mut row = Row { number: 1, ..Row::default() };
    let mut number = 1;
    // Brackets that are open, with their lines.
    let mut brackets: Vec<(char, usize)> = Vec::new();
    let unclosed =
        |letter: char, line| Err(Fault { line, why: format!("the {letter} is never closed") });
    let mut cursor = Cursor::new(text);
    while let Some(letter) = cursor.peek() {
        match letter {
            '#' => drop(cursor.take_while(|letter| letter != '\n')),
            '\'' | '"' => {
                let (quoted, is_closed) = quoted(&mut cursor);
                if !is_closed {
                    return unclosed(letter, number);
                }
                number += quoted.matches('\n').count();
                row.text.push_str(quoted);
            }
            '\\' if cursor.take("\\\n") || cursor.take("\\\r\n") => {
                number += 1;
                row.text.push(' ');
            }
            '\n' | ';' if brackets.is_empty() => {
                cursor.next();
                number += usize::from(letter == '\n');
                let indent = if letter == ';' { row.indent } else { 0 };
                let done = std::mem::take(&mut row);
                row = Row { number, indent, ..Row::default() };
                rows.extend(Some(done).filter(|done| !done.text.trim().is_empty()));
            }
            ' ' | '\t' if row.text.is_empty() => {
                cursor.next();
                row.indent += if letter == '\t' { 8 } else { 1 };
            }
            _ => {
                cursor.next();
                match letter {
                    '(' | '[' | '{' => brackets.push((letter, number)),
                    ')' | ']' | '}' => drop(brackets.pop()),
                    '\n' => number += 1,
                    _ => {}
                }
                row.text.push(if letter == '\n' { ' ' } else { letter });
            }
        }
    }
    if let Some((letter, line)) = brackets.first() {
        return unclosed(*letter, *line);
    }
    rows.extend(Some(row).filter(|row| !row.text.trim().is_empty()));
    Ok(rows)
}

/// Passes over a text in quotation marks, and returns it with them, and whether it is closed. One
/// of single marks ends with its line.
fn quoted<'t>(cursor: &mut Cursor<'t>) -> (&'t str, bool) {
    let (rest, start) = (cursor.rest(), cursor.at());
    let mark = if rest.starts_with('\'') { "'" } else { "\"" };
    let triple = mark.repeat(3);
    let end = if rest.starts_with(&triple) { triple.as_str() } else { mark };
    cursor.take(end);
    let mut is_closed = cursor.take(end);
    while !is_closed && cursor.peek().is_some_and(|l| end.len() > 1 || l != '\n') {
        if cursor.next() == Some('\\') {
            cursor.next();
        }
        is_closed = cursor.take(end);
    }
    (&rest[..cursor.at() - start], is_closed)
}

/// Parses the rows of a block, up to the first one that is indented less.
fn block(rows: &[Row], at: &mut usize, indent: usize, depth: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    while let Some(row) = rows.get(*at).filter(|row| row.indent >= indent) {
        *at += 1;
        let number = row.number;
        let text = row.text.trim();
        let step = match head(text) {
            _ if depth > DEPTH_MOST => Step::Unknown("a block that is nested too deeply".into()),
            Some((head, inline)) => compound(head, inline, rows, at, row, depth),
            None => simple(text),
        };
        lines.push(Line { number, step });
    }
    lines
}

/// Divides the head of a block from a statement on the same line; `None` for other statements.
fn head(text: &str) -> Option<(&str, &str)> {
    const HEADS: [&str; 13] = [
        "for", "while", "if", "elif", "else", "def", "with", "try", "except", "finally", "class",
        "async", "match",
    ];
    let word = Cursor::new(text).take_while(|letter| letter.is_alphanumeric() || letter == '_');
    if !HEADS.contains(&word) {
        return None;
    }
    let mut cursor = Cursor::new(text);
    let mut depth = 0usize;
    while let Some(letter) = cursor.peek() {
        match letter {
            '\'' | '"' => {
                quoted(&mut cursor);
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => {
                return Some((&text[..cursor.at()], text[cursor.at() + 1..].trim()));
            }
            _ => {}
        }
        cursor.next();
    }
    None
}

fn compound(
    head: &str,
    inline: &str,
    rows: &[Row],
    at: &mut usize,
    row: &Row,
    depth: usize,
) -> Step {
    let inner = |at: &mut usize, inline: &str, number: usize| {
        if !inline.is_empty() {
            return vec![Line { number, step: simple(inline) }];
        }
        match rows.get(*at) {
            Some(first) if first.indent > row.indent => block(rows, at, first.indent, depth + 1),
            _ => Vec::new(),
        }
    };
    let body = inner(at, inline, row.number);
    let (word, rest) = head.split_once([' ', '(']).unwrap_or((head, ""));
    let rest = if head.contains('(') && !rest.contains('(') && head[word.len()..].starts_with('(') {
        &head[word.len()..]
    } else {
        rest
    };
    match word {
        "if" => {
            let mut branches = vec![(expression(rest), body)];
            while let Some(next) = rows.get(*at).filter(|next| next.indent == row.indent) {
                let Some((head, inline)) = self::head(next.text.trim()) else { break };
                let condition = match head.split_once(' ').unwrap_or((head, "")) {
                    ("elif", condition) => expression(condition),
                    ("else", _) => Expr::text("1"),
                    _ => break,
                };
                *at += 1;
                branches.push((condition, inner(at, inline, next.number)));
            }
            Step::If(branches)
        }
        "for" => match rest.split_once(" in ") {
            Some((names, list)) => {
                let names = names.trim_matches(['(', ')']).split(',');
                let names = names.map(|name| name.trim().to_owned()).collect();
                Step::ForEach(names, expression(list), body)
            }
            None => Step::Unknown(head.to_owned()),
        },
        "while" => Step::While(expression(rest), body),
        "def" => definition(&head[4..], body),
        "with" | "try" | "else" | "finally" => Step::Block(body),
        // What happens on errors.
        "except" => Step::Block(Vec::new()),
        _ => Step::Unknown(head.to_owned()),
    }
}

fn definition(signature: &str, body: Vec<Line>) -> Step {
    let (name, rest) = signature.split_once('(').unwrap_or((signature, ""));
    let parameters = rest.rsplit_once(')').map_or("", |(inner, _)| inner).split(',');
    let name_of = |text: &str| text.split([':', '=']).next().unwrap_or("").trim().to_owned();
    let parameters = parameters.map(name_of).filter(|name| !name.is_empty()).collect();
    Step::Define(name.trim().to_owned(), parameters, body)
}

/// Parses a statement of one line.
fn simple(text: &str) -> Step {
    let first = Cursor::new(text).take_while(|letter| letter.is_alphanumeric() || letter == '_');
    let rest = text[first.len()..].trim();
    match first {
        "import" | "from" | "pass" | "del" | "assert" | "raise" | "nonlocal" => {
            return Step::Block(Vec::new());
        }
        // The environment of programs that the script starts.
        "os" if text.starts_with("os.environ[") => return Step::Block(Vec::new()),
        "global" => {
            return Step::Global(rest.split(',').map(|name| name.trim().to_owned()).collect());
        }
        "return" if rest.is_empty() => return Step::Return(None),
        "return" => return Step::Return(Some(expression(rest))),
        "break" => return Step::Break,
        "continue" => return Step::Continue,
        _ => {}
    }
    if let Some(steps) = several_assignments(text) {
        return Step::Block(steps);
    }
    if let Some((name, operator, value)) = assignment(text) {
        let value = expression(value);
        return Step::Set(
            name.to_owned(),
            match operator {
                Some(operator) => {
                    let old = Expr::Variable(name.to_owned());
                    Expr::Binary(operator, Box::new(old), Box::new(value))
                }
                None => value,
            },
        );
    }
    match whole(text, &InPython) {
        // A text alone is a comment.
        Some(Expr::Value(_)) => Step::Block(Vec::new()),
        Some(expr) => Step::Do(expr),
        None => Step::Unknown(text.to_owned()),
    }
}

/// Parses `a, b = 1, 2`; `None` for other statements. Its steps are on the line of the statement.
fn several_assignments(text: &str) -> Option<Vec<Line>> {
    let (names, values) = text.split_once('=')?;
    let is_name =
        |name: &str| !name.is_empty() && !name.contains(|l: char| !l.is_alphanumeric() && l != '_');
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    if names.len() < 2 || !names.iter().all(|name| is_name(name)) {
        return None;
    }
    let Expr::List(values) = expression(&format!("({values})")) else { return None };
    let pairs = names.iter().zip(values.iter()).map(|(name, value)| Line {
        number: 0,
        step: Step::Set((*name).to_owned(), value.clone()),
    });
    (names.len() == values.len()).then(|| pairs.collect())
}

/// Divides an assignment into its name, the operator of `+=` and the like, and its value.
fn assignment(text: &str) -> Option<(&str, Option<&'static str>, &str)> {
    let name = Cursor::new(text).take_while(|letter| letter.is_alphanumeric() || letter == '_');
    if name.is_empty() {
        return None;
    }
    let mut rest = text[name.len()..].trim_start();
    // A type stands between the name and its value.
    if let Some(typed) = rest.strip_prefix(':') {
        rest = &typed[typed.find('=')?..];
    }
    for (spelling, operator) in [("+=", "+"), ("-=", "-"), ("*=", "*"), ("//=", "//"), ("/=", "/")]
    {
        if let Some(value) = rest.strip_prefix(spelling) {
            return Some((name, Some(operator), value));
        }
    }
    let value = rest.strip_prefix('=').filter(|value| !value.starts_with('='))?;
    Some((name, None, value))
}

fn expression(text: &str) -> Expr {
    whole(text, &InPython).unwrap_or_else(|| Expr::Value(Value::Unknown(UNREAD.to_owned())))
}

/// Operands within expressions of Python.
struct InPython;

impl Operands for InPython {
    fn operand(&self, cursor: &mut Cursor<'_>) -> Option<Expr> {
        cursor.skip_blanks();
        let mut expr = match cursor.peek()? {
            '(' => {
                cursor.next();
                let (mut items, has_comma) = arguments(cursor, ")")?;
                match (items.len(), has_comma) {
                    (1, false) => items.remove(0),
                    _ => Expr::List(items),
                }
            }
            '[' => {
                cursor.next();
                Expr::List(arguments(cursor, "]")?.0)
            }
            '{' => {
                cursor.next();
                Expr::List(arguments(cursor, "}")?.0)
            }
            '\'' | '"' => texts(cursor)?,
            letter if letter.is_ascii_digit() => {
                let number = cursor.take_while(|letter| {
                    letter.is_ascii_alphanumeric() || letter == '.' || letter == '_'
                });
                Expr::text(number.replace('_', ""))
            }
            _ => named(cursor)?,
        };
        // What follows a value: an index, or the method of a value that has no name.
        loop {
            if cursor.take("[") {
                let (mut index, _) = arguments(cursor, "]")?;
                let index = index.pop()?;
                expr = match &expr {
                    Expr::Variable(name) if name == "os.environ" || name == "environ" => {
                        Expr::Environment(Box::new(index), None)
                    }
                    _ => Expr::Item(Box::new(expr), Box::new(index)),
                };
            } else if cursor.take(".") {
                let method = cursor.take_while(|l| l.is_alphanumeric() || l == '_').to_owned();
                let mut all = vec![expr];
                if cursor.take("(") {
                    all.extend(arguments(cursor, ")")?.0);
                }
                expr = Expr::Call(format!(".{method}"), all);
            } else {
                return Some(expr);
            }
        }
    }
}

/// Reads texts that stand side by side, which are one.
fn texts(cursor: &mut Cursor<'_>) -> Option<Expr> {
    let mut parts = Vec::new();
    while let Some('\'' | '"') = cursor.peek() {
        parts.push(Expr::text(inner(quoted(cursor).0)));
        cursor.skip_blanks();
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Expr::Joined(parts) })
}

/// Removes quotation marks and backslashes.
fn inner(quoted: &str) -> String {
    let mark = if quoted.starts_with("'''") || quoted.starts_with("\"\"\"") { 3 } else { 1 };
    let inner = quoted.get(mark..quoted.len().saturating_sub(mark)).unwrap_or("");
    inner.replace("\\n", "\n").replace("\\'", "'").replace("\\\"", "\"")
}

/// Reads a name, a call, or a text with a letter before it, such as `f"{x}"`.
fn named(cursor: &mut Cursor<'_>) -> Option<Expr> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    let name = cursor.take_while(is_part);
    if name.is_empty() {
        return None;
    }
    if let Some('\'' | '"') = cursor.peek() {
        let text = inner(quoted(cursor).0);
        return Some(if name.contains(['f', 'F']) { formatted(&text) } else { Expr::text(text) });
    }
    if !cursor.take("(") {
        return Some(match name {
            "True" => Expr::text("true"),
            "False" => Expr::text("false"),
            "None" => Expr::text(""),
            _ => Expr::Variable(name.to_owned()),
        });
    }
    let (args, _) = arguments(cursor, ")")?;
    let mut args = args.into_iter();
    let of_module = |(first, _): (&str, &str)| MODULES.contains(&first);
    if let Some((value, method)) = name.rsplit_once('.')
        && !name.split_once('.').is_some_and(of_module)
    {
        let value = Expr::Variable(value.to_owned());
        let all = std::iter::once(value).chain(args).collect();
        return Some(Expr::Call(format!(".{method}"), all));
    }
    Some(match name {
        "os.getenv" | "getenv" | "os.environ.get" | "environ.get" => {
            Expr::Environment(Box::new(args.next()?), args.next().map(Box::new))
        }
        _ => Expr::Call(name.to_owned(), args.collect()),
    })
}

/// Parses a formatted text; what follows a colon in braces is its format.
fn formatted(text: &str) -> Expr {
    let mut parts = Vec::new();
    for part in text.split('}') {
        let (plain, inner) = part.split_once('{').unwrap_or((part, ""));
        parts.push(Expr::text(plain));
        let inner = inner.split([':', '!']).next().unwrap_or("");
        if !inner.is_empty() {
            parts.push(expression(inner));
        }
    }
    Expr::Joined(parts)
}

/// Reads values up to a closing bracket, and passes over it. Names of arguments and keys are left
/// out. The second value is whether there was a comma.
fn arguments(cursor: &mut Cursor<'_>, close: &str) -> Option<(Vec<Expr>, bool)> {
    let mut all = Vec::new();
    let mut has_comma = false;
    loop {
        cursor.skip_blanks();
        if cursor.take(close) {
            return Some((all, has_comma));
        }
        if !all.is_empty() {
            if !cursor.take(",") {
                return None;
            }
            has_comma = true;
            cursor.skip_blanks();
            if cursor.take(close) {
                return Some((all, true));
            }
        }
        // `name=value` and `key: value`.
        let mut after = cursor.clone();
        let name = after.take_while(|letter| letter.is_alphanumeric() || letter == '_');
        after.skip_blanks();
        if !name.is_empty() && !after.rest().starts_with("==") && after.take("=") {
            *cursor = after;
        }
        let value = read(cursor, &InPython)?;
        cursor.skip_blanks();
        if close == "}" && cursor.take(":") {
            let pair = Expr::List(vec![value, read(cursor, &InPython)?]);
            all.push(pair);
        } else {
            all.push(value);
        }
    }
}
