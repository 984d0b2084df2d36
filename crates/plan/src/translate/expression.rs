//! Expressions, as far as both languages of the scripts agree: operators with their precedence.
//!
//! Not here: the operands (tcl, python).

use super::steps::Expr;

/// Deepest nesting of expressions that is read.
const DEPTH_MOST: usize = 60;

/// Binary operators: spelling, precedence, and name. Longer spellings stand before those with which
/// they begin.
const OPERATORS: &[(&str, u8, &str)] = &[
    ("||", 1, "or"),
    ("or", 1, "or"),
    ("&&", 2, "and"),
    ("and", 2, "and"),
    ("not in", 4, "ni"),
    ("ni", 4, "ni"),
    ("in", 4, "in"),
    ("==", 4, "=="),
    ("!=", 4, "!="),
    ("<=", 4, "<="),
    (">=", 4, ">="),
    ("<", 4, "<"),
    (">", 4, ">"),
    ("eq", 4, "=="),
    ("ne", 4, "!="),
    ("is not", 4, "!="),
    ("is", 4, "=="),
    ("+", 5, "+"),
    ("-", 5, "-"),
    ("**", 8, "**"),
    ("//", 6, "//"),
    ("*", 6, "*"),
    ("/", 6, "/"),
    ("%", 6, "%"),
];
/// Precedence of the operand of `not`.
const OF_NOT: u8 = 4;
/// Precedence of the operand of a sign.
const OF_SIGN: u8 = 7;

/// A position in a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, at: 0, depth: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Passes over the text `word` if it comes next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Passes over letters as long as `is_part` holds, and returns them.
    pub(super) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().trim().is_empty()
    }

    /// Passes over an operator; a word must end there.
    fn take_operator(&mut self, operator: &str) -> bool {
        let is_word = operator.ends_with(|letter: char| letter.is_alphabetic());
        let Some(after) = self.rest().strip_prefix(operator) else { return false };
        let is_longer = after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        !(is_word && is_longer) && self.take(operator)
    }
}

/// Operands of one language.
pub(super) trait Operands {
    /// Reads an operand; `None` if there is none that is understood.
    fn operand(&self, cursor: &mut Cursor<'_>) -> Option<Expr>;
}

/// Reads a whole text as an expression; `None` if it is not understood.
pub(super) fn whole(text: &str, operands: &dyn Operands) -> Option<Expr> {
    let mut cursor = Cursor::new(text);
    let expr = read(&mut cursor, operands)?;
    cursor.is_at_end().then_some(expr)
}

/// Reads an expression, up to the first letter that cannot belong to it; `None` if it is not
/// understood.
pub(super) fn read(cursor: &mut Cursor<'_>, operands: &dyn Operands) -> Option<Expr> {
    if cursor.depth >= DEPTH_MOST {
        return None;
    }
    cursor.depth += 1;
    let expr = choice(cursor, operands);
    cursor.depth -= 1;
    expr
}

fn choice(cursor: &mut Cursor<'_>, operands: &dyn Operands) -> Option<Expr> {
    let first = binary(cursor, operands, 0)?;
    cursor.skip_blanks();
    if cursor.take("?") {
        let yes = read(cursor, operands)?;
        cursor.skip_blanks();
        let no = cursor.take(":").then(|| read(cursor, operands))??;
        return Some(Expr::Choice(Box::new(first), Box::new(yes), Box::new(no)));
    }
    if cursor.take_operator("if") {
        let condition = binary(cursor, operands, 0)?;
        cursor.skip_blanks();
        let no = cursor.take_operator("else").then(|| read(cursor, operands))??;
        return Some(Expr::Choice(Box::new(condition), Box::new(first), Box::new(no)));
    }
    Some(first)
}

/// Reads an expression of operators that bind at least as strongly as `least`.
fn binary(cursor: &mut Cursor<'_>, operands: &dyn Operands, least: u8) -> Option<Expr> {
    let mut left = unary(cursor, operands)?;
    loop {
        cursor.skip_blanks();
        let mut after = cursor.clone();
        let found = OPERATORS.iter().find(|(text, ..)| after.take_operator(text));
        let Some((_, precedence, name)) = found.filter(|found| found.1 >= least) else {
            return Some(left);
        };
        *cursor = after;
        let right = binary(cursor, operands, precedence + 1)?;
        left = Expr::Binary(name, Box::new(left), Box::new(right));
    }
}

fn unary(cursor: &mut Cursor<'_>, operands: &dyn Operands) -> Option<Expr> {
    if cursor.depth >= DEPTH_MOST {
        return None;
    }
    cursor.depth += 1;
    cursor.skip_blanks();
    let not_equal = cursor.rest().starts_with("!=");
    let expr = if cursor.take_operator("not") {
        binary(cursor, operands, OF_NOT).map(|expr| Expr::Not(Box::new(expr)))
    } else if !not_equal && cursor.take("!") {
        binary(cursor, operands, OF_SIGN).map(|expr| Expr::Not(Box::new(expr)))
    } else if cursor.take("-") {
        binary(cursor, operands, OF_SIGN).map(|expr| Expr::Negative(Box::new(expr)))
    } else {
        operands.operand(cursor)
    };
    cursor.depth -= 1;
    expr
}
