//! Parser of the part of Tcl in which scripts of HammerDB are written.
//!
//! Not here: the execution (interpreter), and HammerDB's commands.

use super::expression::{Cursor, Operands, read, whole};
use super::steps::{Expr, Fault, Line, Step, UNREAD, Value};

/// Deepest nesting of bodies that is read.
const DEPTH_MOST: usize = 30;

/// Parses a script into steps, which keep the numbers of its lines. Fails if a brace is not closed.
pub(super) fn parse(text: &str) -> Result<Vec<Line>, Fault> {
    let lines = body(text, 1, 0);
    // What is within a body counts when it is executed, as in Tcl.
    let fault = lines.iter().find_map(|line| match &line.step {
        Step::Fault(why) => Some(Fault { line: line.number, why: why.clone() }),
        _ => None,
    });
    fault.map_or(Ok(lines), Err)
}

/// A word of a command.
struct Word<'t> {
    /// Text within braces or quotation marks, or the bare word.
    raw: &'t str,
    is_braced: bool,
    /// Brace, bracket or quotation mark that is not closed.
    open: Option<char>,
    /// Line on which the word begins.
    line: usize,
}

impl Word<'_> {
    fn expr(&self) -> Expr {
        match self.is_braced {
            // A line that is continued is one blank, also in braces.
            true => Expr::text(self.raw.replace("\\\r\n", " ").replace("\\\n", " ")),
            false => substituted(self.raw),
        }
    }

    /// Returns the name that the word is; a namespace is left out.
    fn name(&self) -> String {
        self.raw.trim_start_matches("::").to_owned()
    }
}

/// Parses the commands of a body whose first line has the number `first`.
fn body(text: &str, first: usize, depth: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if depth > DEPTH_MOST {
        let step = Step::Unknown("a body that is nested too deeply".to_owned());
        return vec![Line { number: first, step }];
    }
    let mut cursor = Cursor::new(text);
    while let Some(words) = command(&mut cursor, text, first) {
        if let Some(word) = words.first() {
            let fault = words.iter().find_map(|word| Some((word.open?, word.line)));
            let (number, step) = match fault {
                Some((open, line)) => (line, Step::Fault(format!("the {open} is never closed"))),
                None => (word.line, step(&words, depth)),
            };
            lines.push(Line { number, step });
        }
    }
    lines
}

/// Reads the words of the next command; `None` at the end of the text.
fn command<'t>(cursor: &mut Cursor<'t>, text: &'t str, first: usize) -> Option<Vec<Word<'t>>> {
    cursor.take_while(|letter| letter.is_whitespace() || letter == ';');
    cursor.peek()?;
    if cursor.peek() == Some('#') {
        skip_comment(cursor);
        return Some(Vec::new());
    }
    let mut words = Vec::new();
    loop {
        cursor.take_while(|letter| letter == ' ' || letter == '\t' || letter == '\r');
        if cursor.take("\\\n") || cursor.take("\\\r\n") {
            continue;
        }
        match cursor.peek() {
            None => break,
            Some('\n' | ';') => {
                cursor.next();
                break;
            }
            Some(_) => {}
        }
        let line = first + text[..cursor.at()].matches('\n').count();
        words.push(word(cursor, line));
    }
    Some(words)
}

/// Passes over a comment, which goes on behind a backslash at the end of a line.
fn skip_comment(cursor: &mut Cursor<'_>) {
    while let Some(letter) = cursor.next() {
        match letter {
            '\n' => break,
            '\\' => drop(cursor.next()),
            _ => {}
        }
    }
}

/// Reads the word that begins on a line.
fn word<'t>(cursor: &mut Cursor<'t>, line: usize) -> Word<'t> {
    let (rest, start) = (cursor.rest(), cursor.at());
    match cursor.peek() {
        Some('{') => {
            let (raw, is_closed) = enclosed(cursor, '{', '}');
            Word { raw, is_braced: true, open: (!is_closed).then_some('{'), line }
        }
        Some('"') => {
            let (raw, open) = quoted(cursor);
            Word { raw, is_braced: false, open, line }
        }
        _ => {
            let mut open = None;
            while let Some(letter) = cursor.peek() {
                match letter {
                    '[' | '{' => {
                        let close = if letter == '[' { ']' } else { '}' };
                        let is_closed = enclosed(cursor, letter, close).1;
                        open = open.or((!is_closed).then_some(letter));
                    }
                    '\\' if cursor.rest().starts_with("\\\n") => break,
                    '\\' => {
                        cursor.next();
                        cursor.next();
                    }
                    ';' => break,
                    letter if letter.is_whitespace() => break,
                    _ => drop(cursor.next()),
                }
            }
            Word { raw: &rest[..cursor.at() - start], is_braced: false, open, line }
        }
    }
}

/// Passes over a text in quotation marks, and returns what is within them, and what is not closed.
/// Commands in it may have quotation marks of their own.
fn quoted<'t>(cursor: &mut Cursor<'t>) -> (&'t str, Option<char>) {
    cursor.next();
    let (rest, start) = (cursor.rest(), cursor.at());
    while let Some(letter) = cursor.peek() {
        match letter {
            '[' if !enclosed(cursor, '[', ']').1 => return (rest, Some('[')),
            '[' => {}
            '"' => {
                cursor.next();
                return (&rest[..cursor.at() - start - 1], None);
            }
            _ => {
                cursor.next();
                if letter == '\\' {
                    cursor.next();
                }
            }
        }
    }
    (rest, Some('"'))
}

/// Passes over a text in brackets, and returns what is within the outer ones, and whether they are
/// closed. Within square brackets, words in braces and quotation marks may have others.
fn enclosed<'t>(cursor: &mut Cursor<'t>, open: char, close: char) -> (&'t str, bool) {
    cursor.next();
    let (rest, start) = (cursor.rest(), cursor.at());
    let mut depth = 1usize;
    let mut begins_word = true;
    while let Some(letter) = cursor.peek() {
        if open == '[' && begins_word && (letter == '{' || letter == '"') {
            let mut after = cursor.clone();
            let is_closed = match letter {
                '{' => enclosed(&mut after, '{', '}').1,
                _ => quoted(&mut after).1.is_none(),
            };
            if !is_closed {
                return (rest, false);
            }
            *cursor = after;
            begins_word = false;
            continue;
        }
        cursor.next();
        begins_word = letter.is_whitespace() || letter == '[';
        if letter == '\\' {
            cursor.next();
        } else if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return (&rest[..cursor.at() - start - close.len_utf8()], true);
            }
        }
    }
    (rest, false)
}

fn step(words: &[Word<'_>], depth: usize) -> Step {
    let inner = |word: &Word<'_>| body(word.raw, word.line, depth + 1);
    let name = words[0].name();
    match (name.as_str(), &words[1..]) {
        ("set", [name, value]) => Step::Set(name.name(), value.expr()),
        ("incr", [name, by @ ..]) => {
            let by = by.first().map_or(Expr::text("1"), Word::expr);
            let old = Expr::Variable(name.name());
            Step::Set(name.name(), Expr::Binary("+", Box::new(old), Box::new(by)))
        }
        ("lappend", [name, items @ ..]) => {
            let list = Expr::Variable(name.name());
            let items = Expr::List(items.iter().map(Word::expr).collect());
            Step::Set(name.name(), Expr::Call("concat".to_owned(), vec![list, items]))
        }
        ("foreach", [names, list, steps]) => {
            let names = names.raw.split_whitespace().map(str::to_owned).collect();
            Step::ForEach(names, list.expr(), inner(steps))
        }
        ("for", [start, condition, next, steps]) => {
            let mut all = inner(start);
            let mut steps = inner(steps);
            steps.extend(inner(next));
            let number = condition.line;
            all.push(Line { number, step: Step::While(expression(condition.raw), steps) });
            Step::Block(all)
        }
        ("while", [condition, steps]) => Step::While(expression(condition.raw), inner(steps)),
        ("if", rest) => branches(rest, depth),
        ("switch", rest) => switch(rest, depth),
        ("proc", [name, parameters, steps]) => {
            let parameters = parameters.raw.split_whitespace().map(str::to_owned).collect();
            Step::Define(name.name(), parameters, inner(steps))
        }
        ("catch" | "eval" | "time" | "uplevel", [steps, ..]) => Step::Block(inner(steps)),
        ("try", [steps, ..]) => Step::Block(inner(steps)),
        ("global" | "variable", names) => Step::Global(names.iter().map(Word::name).collect()),
        ("return", value) => Step::Return(value.first().map(Word::expr)),
        ("break", []) => Step::Break,
        ("continue", []) => Step::Continue,
        (name, rest) => {
            Step::Do(Expr::Call(name.to_owned(), rest.iter().map(Word::expr).collect()))
        }
    }
}

/// Parses what stands behind `if`: conditions and bodies, with `elseif` and `else`.
fn branches(words: &[Word<'_>], depth: usize) -> Step {
    let mut all = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        match (word.raw, word.is_braced) {
            ("elseif" | "then", false) => rest = after,
            ("else", false) => {
                let steps = after.first().map(|steps| body(steps.raw, steps.line, depth + 1));
                all.push((Expr::text("1"), steps.unwrap_or_default()));
                break;
            }
            _ => {
                let after = match after.first() {
                    Some(then) if then.raw == "then" && !then.is_braced => &after[1..],
                    _ => after,
                };
                let Some((steps, after)) = after.split_first() else { break };
                all.push((expression(word.raw), body(steps.raw, steps.line, depth + 1)));
                rest = after;
            }
        }
    }
    Step::If(all)
}

/// Parses what stands behind `switch`: options, a value, and pairs of a value and a body. A body
/// `-` is that of the next pair.
fn switch(words: &[Word<'_>], depth: usize) -> Step {
    let is_option = |word: &&Word<'_>| word.raw.starts_with('-') && !word.is_braced;
    let n_options = words.iter().take_while(is_option).count();
    let [value, rest @ ..] = &words[n_options..] else { return Step::Block(Vec::new()) };
    let listed;
    let pairs = match rest {
        [all] => {
            let mut cursor = Cursor::new(all.raw);
            let commands = std::iter::from_fn(|| command(&mut cursor, all.raw, all.line));
            listed = commands.flatten().collect::<Vec<Word<'_>>>();
            &listed[..]
        }
        pairs => pairs,
    };
    let mut branches = Vec::new();
    for (nth, pair) in pairs.chunks_exact(2).enumerate() {
        let own = pairs.chunks_exact(2).skip(nth).find(|pair| pair[1].raw != "-");
        let steps = own.map(|pair| body(pair[1].raw, pair[1].line, depth + 1)).unwrap_or_default();
        let condition = match pair[0].raw {
            "default" => Expr::text("1"),
            _ => Expr::Binary("==", Box::new(value.expr()), Box::new(pair[0].expr())),
        };
        branches.push((condition, steps));
    }
    Step::If(branches)
}

fn expression(text: &str) -> Expr {
    whole(text, &InExpression).unwrap_or_else(|| Expr::Value(Value::Unknown(UNREAD.to_owned())))
}

/// Parses a word with variables and commands in it.
fn substituted(text: &str) -> Expr {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut cursor = Cursor::new(text);
    while let Some(letter) = cursor.peek() {
        let part = match letter {
            '$' => variable(&mut cursor),
            '[' => Some(call(enclosed(&mut cursor, '[', ']').0)),
            _ => None,
        };
        match part {
            Some(part) => {
                if !plain.is_empty() {
                    parts.push(Expr::text(std::mem::take(&mut plain)));
                }
                parts.push(part);
            }
            None => {
                cursor.next();
                match (letter, cursor.peek()) {
                    ('\\', Some('\n')) => plain.push(' '),
                    ('\\', Some('n')) => plain.push('\n'),
                    ('\\', Some(escaped)) => plain.push(escaped),
                    (letter, _) => {
                        plain.push(letter);
                        continue;
                    }
                }
                cursor.next();
            }
        }
    }
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Expr::text(plain));
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => Expr::Joined(parts),
    }
}

/// Reads `$name`, `${name}` or `$::env(NAME)`; `None`, without moving, if there is no name.
fn variable(cursor: &mut Cursor<'_>) -> Option<Expr> {
    let mut after = cursor.clone();
    after.take("$");
    if after.peek() == Some('{') {
        let name = enclosed(&mut after, '{', '}').0.trim_start_matches("::");
        *cursor = after;
        return Some(Expr::Variable(name.to_owned()));
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let name = after.take_while(is_part).trim_start_matches("::");
    if name.is_empty() {
        return None;
    }
    let index = (after.peek() == Some('(')).then(|| enclosed(&mut after, '(', ')').0);
    *cursor = after;
    Some(match (name, index) {
        ("env", Some(index)) => Expr::Environment(Box::new(substituted(index)), None),
        (name, Some(index)) => Expr::Variable(format!("{name}({index})")),
        (name, None) => Expr::Variable(name.to_owned()),
    })
}

/// Parses the command within brackets.
fn call(text: &str) -> Expr {
    let mut cursor = Cursor::new(text);
    let words = command(&mut cursor, text, 1).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else { return Expr::text("") };
    let args = || rest.iter().map(Word::expr).collect();
    match (first.name().as_str(), rest) {
        ("expr", all) => {
            let text: Vec<&str> = all.iter().map(|word| word.raw).collect();
            expression(&text.join(" "))
        }
        ("info", [what, name]) if what.raw == "exists" => {
            let name = name.name();
            let of_env = name.strip_prefix("env(").and_then(|rest| rest.strip_suffix(')'));
            match of_env {
                Some(name) => Expr::IsInEnvironment(Box::new(substituted(name))),
                None => Expr::IsSet(name),
            }
        }
        ("list", _) => Expr::List(args()),
        // The limit keeps texts from nesting without end.
        ("catch", [steps, ..]) if steps.raw.matches("catch").count() < DEPTH_MOST => {
            Expr::Succeeded(body(steps.raw, 1, 1))
        }
        ("string" | "dict" | "file" | "clock", [what, more @ ..]) => {
            let name = format!("{} {}", first.name(), what.raw);
            Expr::Call(name, more.iter().map(Word::expr).collect())
        }
        (name, _) => Expr::Call(name.to_owned(), args()),
    }
}

/// Operands within expressions of Tcl.
struct InExpression;

impl Operands for InExpression {
    fn operand(&self, cursor: &mut Cursor<'_>) -> Option<Expr> {
        cursor.skip_blanks();
        match cursor.peek()? {
            '(' => {
                cursor.next();
                let inner = read(cursor, self)?;
                cursor.skip_blanks();
                cursor.take(")").then_some(inner)
            }
            '$' => variable(cursor),
            '[' => Some(call(enclosed(cursor, '[', ']').0)),
            '{' => Some(Expr::text(enclosed(cursor, '{', '}').0)),
            '"' => Some(substituted(quoted(cursor).0)),
            _ => {
                let is_part =
                    |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
                let bare = cursor.take_while(is_part);
                if bare.is_empty() {
                    return None;
                }
                if cursor.peek() != Some('(') {
                    return Some(Expr::text(bare));
                }
                cursor.next();
                let argument = read(cursor, self)?;
                cursor.skip_blanks();
                cursor.take(")").then(|| Expr::Call(bare.to_owned(), vec![argument]))
            }
        }
    }
}
