//! Arguments of meta-commands other than expressions, and the commands that consist of them.

use super::error::Error;
use super::prng::Prng;
use super::random::Range;
use super::value::{is_c_space, parse_double};
use super::variables::{VariableId, Variables};

/// Argument that is written in the script, or taken from a variable when the command is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<T> {
    Constant(T),
    Variable { id: VariableId, name: Box<str> },
}

impl<T> Operand<T> {
    /// Returns the argument, a variable's text by a conversion of its own.
    fn get<'a, V>(
        &'a self,
        variables: &'a Variables,
        constant: impl FnOnce(&'a T) -> V,
        of_text: impl FnOnce(&'a str) -> Option<V>,
    ) -> Result<V, Error> {
        match self {
            Operand::Constant(value) => Ok(constant(value)),
            Operand::Variable { id, name } => {
                let Some(text) = variables.text(*id) else {
                    return Err(Error::new(format!("variable '{name}' is not set")));
                };
                of_text(text).ok_or_else(|| {
                    Error::new(format!("variable '{name}' is no such number: '{text}'"))
                })
            }
        }
    }
}

impl Operand<Box<str>> {
    /// Returns the word, such as one of a shell command.
    ///
    /// # Errors
    ///
    /// The variable is not set.
    pub fn text<'a>(&'a self, variables: &'a Variables) -> Result<&'a str, Error> {
        self.get(variables, |word| &**word, Some)
    }
}

/// Time that `\sleep` waits, in nanoseconds; a negative one is none.
///
/// # Errors
///
/// The variable is not set, or does not begin with a number.
pub fn sleep_ns(n: &Operand<i64>, unit_ns: u64, variables: &Variables) -> Result<u64, Error> {
    let n = n.get(variables, |n| *n, leading_int)?;
    Ok(u64::try_from(n).unwrap_or(0).saturating_mul(unit_ns))
}

/// Reads the integer with which a text begins, as C's `atoi` does: what follows does not matter.
/// `None` if there is none.
pub(super) fn leading_int(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(is_c_space);
    let n_signs = usize::from(text.starts_with(['+', '-']));
    let n_digits = text[n_signs..].bytes().take_while(u8::is_ascii_digit).count();
    text[..n_signs + n_digits].parse().ok()
}

/// Distribution of `\setrandom`.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    Gaussian(Operand<f64>),
    Exponential(Operand<f64>),
}

/// `\setrandom` of pgbench up to PostgreSQL 9.5, which later versions do without.
#[derive(Clone, Debug, PartialEq)]
pub struct SetRandom {
    pub variable: VariableId,
    pub low: Operand<i64>,
    pub high: Operand<i64>,
    pub distribution: Distribution,
}

impl SetRandom {
    /// Draws the number to which the variable is to be set.
    ///
    /// # Errors
    ///
    /// A variable is not set or no number, or a limit or parameter is out of range.
    pub fn draw(&self, variables: &Variables, prng: &mut Prng) -> Result<i64, Error> {
        let int = |operand: &Operand<i64>| operand.get(variables, |n| *n, |text| text.parse().ok());
        let double = |operand: &Operand<f64>| operand.get(variables, |x| *x, parse_double);
        let range = Range::new(int(&self.low)?, int(&self.high)?)?;
        match &self.distribution {
            Distribution::Uniform => Ok(range.uniform(prng)),
            Distribution::Gaussian(parameter) => range.gaussian(double(parameter)?, prng),
            Distribution::Exponential(parameter) => range.exponential(double(parameter)?, prng),
        }
    }
}
