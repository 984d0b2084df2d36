//! Scripts as steps: what the parsers of both languages produce, and the interpreter executes.
//!
//! Not here: texts, and what a command means.

/// A step with its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Line in the script, from 1; 0 for a step within the line of the one that it is a part of.
    pub(super) number: usize,
    pub(super) step: Step,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Do(Expr),
    Set(String, Expr),
    /// Executes the body with each item of a list, or with groups of them if there are several
    /// names.
    ForEach(Vec<String>, Expr, Vec<Line>),
    While(Expr, Vec<Line>),
    /// Executes the first branch whose condition is true.
    If(Vec<(Expr, Vec<Line>)>),
    /// Executes the steps as if they were in place of this one.
    Block(Vec<Line>),
    Define(String, Vec<String>, Vec<Line>),
    /// Makes names of a procedure stand for those outside of it.
    Global(Vec<String>),
    Return(Option<Expr>),
    Break,
    Continue,
    /// A statement that the parser does not understand, as text.
    Unknown(String),
    /// A statement that the language does not allow, with the reason.
    Fault(String),
}

/// Why a script cannot be translated, as the end of a sentence, with the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) why: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Value(Value),
    Variable(String),
    /// An environment variable, or what stands for it if it is not set.
    Environment(Box<Expr>, Option<Box<Expr>>),
    /// Whether an environment variable is set.
    IsInEnvironment(Box<Expr>),
    /// Whether a variable is set.
    IsSet(String),
    /// The texts of the parts, one after the other.
    Joined(Vec<Expr>),
    List(Vec<Expr>),
    Item(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// Steps that are executed for the value 0, which says that they did not fail. Their lines are
    /// counted from that of the expression.
    Succeeded(Vec<Line>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    /// Condition, and the values if it is true and false.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    pub(super) fn text(text: impl Into<String>) -> Expr {
        Expr::Value(Value::Text(text.into()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    /// A value that depends on what a translation does not see, with its origin, such as
    /// `environment variable VU`.
    Unknown(String),
}

impl Value {
    pub(super) fn of(number: f64) -> Value {
        Value::Text(format!("{number}"))
    }

    pub(super) fn of_truth(is_true: bool) -> Value {
        Value::Text(u8::from(is_true).to_string())
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// Returns whether the value counts as true; `None` if it is not known.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Value::Unknown(why) => why.starts_with(UNSET).then_some(false),
            Value::List(items) => Some(!items.is_empty()),
            Value::Text(text) => {
                let text = text.trim().to_ascii_lowercase();
                Some(!matches!(&*text, "" | "0" | "0.0" | "false" | "no" | "off" | "none"))
            }
        }
    }

    /// Returns the value as text, the items of a list separated by blanks; `None` if it is not
    /// known.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Unknown(_) => None,
            Value::List(items) => {
                let texts: Option<Vec<String>> = items.iter().map(Value::text).collect();
                Some(texts?.join(" "))
            }
        }
    }

    /// Returns the items of a list; a text is a list of its words. `None` if it is not known.
    pub(super) fn items(&self) -> Option<Vec<Value>> {
        match self {
            Value::List(items) => Some(items.clone()),
            Value::Unknown(_) => None,
            Value::Text(text) => {
                let words = text.split_whitespace();
                let bare = |word: &str| word.trim_matches(['{', '}', '"']).to_owned();
                Some(words.map(|word| Value::Text(bare(word))).collect())
            }
        }
    }
}

/// Beginning of the origin of a value that an environment variable would have; as a condition, it
/// is false.
pub(super) const UNSET: &str = "the environment variable";

/// Origin of the value of an expression that a parser does not understand. Its text is not
/// repeated, since it may contain a password.
pub(super) const UNREAD: &str = "an expression that dbdyno does not read";
