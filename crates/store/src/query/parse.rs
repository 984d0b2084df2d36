//! Parser of queries, by recursive descent: `or` binds less than `and`, `and` less than `not`. Not
//! here: values (value).

use super::value::Value;
use super::{Askable, BadQuery, CHARACTERS_MAX, Condition, DEPTH_MAX, Field, Operator};

/// Word, operator or parenthesis of a query, with the position of its first character, counted from
/// 1.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    at: usize,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Open,
    Close,
    Operator(Operator),
    /// A word of the query; a quoted one is never 'and', 'or' or 'not'.
    Word {
        text: String,
        is_quoted: bool,
    },
}

pub(super) struct Parser {
    asked: Askable,
    tokens: Vec<Token>,
    next: usize,
    /// Position, in characters, after the last character of the query.
    end: usize,
    depth: usize,
    now_unix_ms: i64,
}

impl Parser {
    pub(super) fn new(asked: Askable, text: &str, now_unix_ms: i64) -> Result<Parser, BadQuery> {
        let end = text.chars().count() + 1;
        if end > CHARACTERS_MAX {
            let why = format!("it is longer than {CHARACTERS_MAX} characters");
            return Err(BadQuery::at(CHARACTERS_MAX, why));
        }
        Ok(Parser { asked, tokens: tokens(text)?, next: 0, end, depth: 0, now_unix_ms })
    }

    pub(super) fn query(mut self) -> Result<Condition, BadQuery> {
        if self.tokens.is_empty() {
            let why = format!("it is empty: write {}", self.asked.listed.example);
            return Err(BadQuery::at(1, why));
        }
        let condition = self.any()?;
        match self.tokens.get(self.next) {
            None => Ok(condition),
            Some(Token { at, what: What::Close }) => {
                Err(BadQuery::at(*at, "this ')' has no '(' before it"))
            }
            Some(Token { at, .. }) => {
                let why = "'and' or 'or' is missing before it (quote values with blanks)";
                Err(BadQuery::at(*at, why))
            }
        }
    }

    fn any(&mut self) -> Result<Condition, BadQuery> {
        let mut any = vec![self.all()?];
        while self.takes_word("or") {
            any.push(self.all()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Condition::Any(any) })
    }

    fn all(&mut self) -> Result<Condition, BadQuery> {
        let mut all = vec![self.one()?];
        while self.takes_word("and") {
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Condition::All(all) })
    }

    fn one(&mut self) -> Result<Condition, BadQuery> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let why = format!("more than {DEPTH_MAX} brackets within each other");
            return Err(BadQuery::at(self.at(), why));
        }
        let one = if self.takes_word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.takes(&What::Open) {
            let inner = self.any()?;
            if !self.takes(&What::Close) {
                return Err(BadQuery::at(self.at(), "a ')' is missing"));
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(one)
    }

    fn comparison(&mut self) -> Result<Condition, BadQuery> {
        let (at, name) = self.word("a column such as nopm")?;
        let field = Field::named(&name, at, self.asked)?;
        let Some(Token { at: operator_at, what: What::Operator(operator) }) =
            self.tokens.get(self.next).cloned()
        else {
            return Ok(Condition::Known(field));
        };
        self.next += 1;
        let (value_at, written) = self.word("a value")?;
        let value = Value::read(&field, operator, &written, self.now_unix_ms);
        let value = value.map_err(|why| {
            let at = if why.is_of_operator { operator_at } else { value_at };
            BadQuery::at(at, why.words)
        })?;
        Ok(Condition::Compared(field, operator, value))
    }

    /// Returns the position of the next token in the query, in characters counted from 1.
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |token| token.at)
    }

    fn takes(&mut self, what: &What) -> bool {
        let is_it = self.tokens.get(self.next).is_some_and(|token| token.what == *what);
        self.next += usize::from(is_it);
        is_it
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_word = |token: &Token| {
            matches!(&token.what, What::Word { text, is_quoted: false }
                if text.eq_ignore_ascii_case(word))
        };
        let is_it = self.tokens.get(self.next).is_some_and(is_word);
        self.next += usize::from(is_it);
        is_it
    }

    fn word(&mut self, expected: &str) -> Result<(usize, String), BadQuery> {
        let at = self.at();
        match self.tokens.get(self.next).map(|token| &token.what) {
            Some(What::Word { text, .. }) => {
                let text = text.clone();
                self.next += 1;
                Ok((at, text))
            }
            _ => Err(BadQuery::at(at, format!("{expected} is missing"))),
        }
    }
}

/// Returns true if a character, such as `=` or a parenthesis, ends an unquoted word of a query.
pub(super) fn is_sign(letter: char) -> bool {
    letter.is_whitespace() || "()=!<>~'\"".contains(letter)
}

fn tokens(text: &str) -> Result<Vec<Token>, BadQuery> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut next = 0;
    while let Some(&letter) = letters.get(next) {
        let at = next + 1;
        let rest = &letters[next..];
        let (what, length) = match letter {
            _ if letter.is_whitespace() => {
                next += 1;
                continue;
            }
            '(' => (What::Open, 1),
            ')' => (What::Close, 1),
            '\'' | '"' => quoted(rest)
                .ok_or_else(|| BadQuery::at(at, format!("this {letter} has no closing one")))?,
            _ if is_sign(letter) => operator(rest).ok_or_else(|| {
                BadQuery::at(at, "signs are =, !=, <, <=, >, >= and ~ (contains)")
            })?,
            _ => {
                let text = word(rest).ok_or_else(|| BadQuery::at(at, "a ')' is missing"))?;
                let length = text.chars().count();
                (What::Word { text, is_quoted: false }, length)
            }
        };
        tokens.push(Token { at, what });
        next += length;
    }
    Ok(with_quotients(tokens))
}

/// Joins a word, a slash and another word into one word, such as `a / b`, the name of a quotient of
/// two figures. Blanks around the slash do not matter.
fn with_quotients(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(Token { at, what }) = tokens.next() {
        let is_slash = what == What::Word { text: "/".to_owned(), is_quoted: false };
        if let (true, Some(What::Word { text: left, .. }), Some(What::Word { text: right, .. })) = (
            is_slash,
            joined.last_mut().map(|token| &mut token.what),
            tokens.peek().map(|token| &token.what),
        ) {
            *left = format!("{left} / {right}");
            tokens.next();
            continue;
        }
        joined.push(Token { at, what });
    }
    joined
}

/// Returns the unquoted word at the start of `rest`, with an argument in parentheses as in
/// `below(20ms)`; `None` if the parenthesis is not closed. After 'not', 'and' and 'or', a
/// parenthesis opens a group and is not part of the word.
fn word(rest: &[char]) -> Option<String> {
    let text: String = rest.iter().take_while(|letter| !is_sign(**letter)).collect();
    let rest = &rest[text.chars().count()..];
    let is_joint = ["and", "or", "not"].iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_joint || rest.first() != Some(&'(') {
        return Some(text);
    }
    let end = rest.iter().position(|letter| *letter == ')')?;
    Some(text + &rest[..=end].iter().collect::<String>())
}

fn operator(rest: &[char]) -> Option<(What, usize)> {
    let starts = |sign: &str| sign.chars().eq(rest.iter().copied().take(sign.len()));
    let (sign, operator) = Operator::ALL.into_iter().find(|(sign, _)| starts(sign))?;
    Some((What::Operator(operator), sign.len()))
}

/// Returns the text in quotes at the start of `rest`, and its length with the quotes; `None` if the
/// closing quote is missing.
fn quoted(rest: &[char]) -> Option<(What, usize)> {
    let end = rest.iter().skip(1).position(|letter| *letter == rest[0])?;
    let text = rest[1..=end].iter().collect();
    Some((What::Word { text, is_quoted: true }, end + 2))
}
