//! Expressions of `\set`, `\if` and `\elif`.

use super::error::Error;
use super::prng::Prng;
use super::value::Value;
use super::variables::{Names, Variables};

/// Expression, parsed.
#[derive(Clone, Debug)]
pub struct Expression {}

impl Expression {
    /// Parses an expression. The names of its variables are added to those known.
    ///
    /// # Errors
    ///
    /// The first error in the text.
    pub fn parse(text: &str, names: &mut Names) -> Result<Expression, Error> {
        let _ = (text, names);
        todo!("the next commit")
    }

    /// Returns the value. `debug` gets what `debug(x)` writes, such as `int 5`, without the number
    /// of the script and the command.
    ///
    /// # Errors
    ///
    /// A variable is not set, a value has the wrong type or is out of range, or something is
    /// divided by zero.
    pub fn evaluate(
        &self,
        variables: &Variables,
        prng: &mut Prng,
        debug: &mut dyn FnMut(&str),
    ) -> Result<Value, Error> {
        let _ = (variables, prng, debug);
        todo!("the next commit")
    }
}
