//! Tokens of expressions.

use super::error::Error;
use super::value::parse_double;
use super::variables::is_name_byte;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    /// The digits of 2^63, which only a minus makes an integer.
    LeastInt,
    Double(f64),
    Variable(&'a str),
    /// Keyword or name of a function.
    Word(&'a str),
    Symbol(&'static str),
}

impl Token<'_> {
    /// Whether it is this keyword, which is given in lower case.
    pub(super) fn is_word(&self, keyword: &str) -> bool {
        matches!(self, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// The token as it is quoted in error messages.
    pub(super) fn written(&self) -> String {
        match self {
            Token::Int(value) => value.to_string(),
            Token::LeastInt => "9223372036854775808".to_owned(),
            Token::Double(value) => value.to_string(),
            Token::Variable(name) => format!(":{name}"),
            Token::Word(word) => (*word).to_owned(),
            Token::Symbol(symbol) => (*symbol).to_owned(),
        }
    }
}

/// Operators and punctuation; the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "<=", ">=", "<>", "!=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "#", "~",
    "(", ")", ",",
];

/// Splits the text of an expression.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(super::value::is_c_space);
        let Some(first) = rest.bytes().next() else {
            return Ok(found);
        };
        let (token, length) = match first {
            b'0'..=b'9' | b'.' => number(rest)?,
            b':' => variable(rest)?,
            _ if is_name_byte(first) => {
                let length = name_length(rest);
                (Token::Word(&rest[..length]), length)
            }
            _ => symbol(rest)?,
        };
        found.push(token);
        rest = &rest[length..];
    }
}

/// Number of bytes of the name with which a text begins.
fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| is_name_byte(*byte)).count()
}

fn unexpected(text: &str) -> Error {
    let character = text.chars().next().expect("the text is not empty");
    Error::new(format!("unexpected '{character}' in an expression"))
}

fn variable(text: &str) -> Result<(Token<'_>, usize), Error> {
    match name_length(&text[1..]) {
        0 => Err(unexpected(text)),
        length => Ok((Token::Variable(&text[1..=length]), 1 + length)),
    }
}

fn symbol(text: &str) -> Result<(Token<'_>, usize), Error> {
    let symbol = SYMBOLS.iter().find(|symbol| text.starts_with(**symbol));
    symbol.map(|symbol| (Token::Symbol(symbol), symbol.len())).ok_or_else(|| unexpected(text))
}

/// Reads digits, perhaps with a point and an exponent; at least one digit before the exponent.
fn number(text: &str) -> Result<(Token<'_>, usize), Error> {
    let n_digits =
        |from: usize| text[from..].bytes().take_while(|byte| byte.is_ascii_digit()).count();
    let n_whole = n_digits(0);
    let mut length = n_whole;
    if text[length..].starts_with('.') {
        let n_fraction = n_digits(length + 1);
        if n_whole == 0 && n_fraction == 0 {
            return Err(unexpected(text));
        }
        length += 1 + n_fraction;
    }
    if text[length..].starts_with(['e', 'E']) {
        let n_signs = usize::from(text[length + 1..].starts_with(['+', '-']));
        match n_digits(length + 1 + n_signs) {
            0 => {}
            n_exponent => length += 1 + n_signs + n_exponent,
        }
    }
    let written = &text[..length];
    let token = match length == n_whole {
        true => match written.parse() {
            Ok(value) => Some(Token::Int(value)),
            Err(_) => (written == "9223372036854775808").then_some(Token::LeastInt),
        },
        false => parse_double(written).map(Token::Double),
    };
    let token = token.ok_or_else(|| Error::new(format!("{written} is out of range")))?;
    Ok((token, length))
}
