//! Functions and operators of expressions.
//!
//! Not here: `AND`, `OR` and `CASE`, which do not evaluate all that they are given (expression),
//! and distributions of random numbers (random).

use super::error::Error;
use super::prng::Prng;
use super::random;
use super::value::Value;

/// Number of arguments that pgbench evaluates at most.
pub(super) const ARGUMENTS_MAX: usize = 16;

/// What a call computes: operators first, then functions by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    LessOrEqual,
    Less,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Is,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Function that a script can call by its name.
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) arguments_min: usize,
    pub(super) arguments_max: usize,
    /// Whether the variable `default_seed` follows if there are only the fewest arguments.
    pub(super) is_seeded: bool,
}

const fn named(name: &'static str, function: Function, n_arguments: usize) -> Named {
    let (arguments_min, arguments_max) = (n_arguments, n_arguments);
    Named { name, function, arguments_min, arguments_max, is_seeded: false }
}

const fn variadic(name: &'static str, function: Function) -> Named {
    Named { arguments_max: ARGUMENTS_MAX, ..named(name, function, 1) }
}

const fn seeded(name: &'static str, function: Function, n_arguments: usize) -> Named {
    Named { arguments_max: n_arguments + 1, is_seeded: true, ..named(name, function, n_arguments) }
}

/// All functions, by name.
pub(super) static ALL: &[Named] = &[
    named("abs", Function::Abs, 1),
    named("debug", Function::Debug, 1),
    named("double", Function::Double, 1),
    named("exp", Function::Exp, 1),
    variadic("greatest", Function::Greatest),
    seeded("hash", Function::HashMurmur2, 1),
    seeded("hash_fnv1a", Function::HashFnv1a, 1),
    seeded("hash_murmur2", Function::HashMurmur2, 1),
    named("int", Function::Int, 1),
    variadic("least", Function::Least),
    named("ln", Function::Ln, 1),
    named("mod", Function::Modulo, 2),
    seeded("permute", Function::Permute, 2),
    named("pi", Function::Pi, 0),
    named("pow", Function::Power, 2),
    named("power", Function::Power, 2),
    named("random", Function::Random, 2),
    named("random_exponential", Function::RandomExponential, 3),
    named("random_gaussian", Function::RandomGaussian, 3),
    named("random_zipfian", Function::RandomZipfian, 3),
    named("sqrt", Function::Sqrt, 1),
];

/// Returns the value of a function other than `debug`. The arguments are as many as the function
/// takes.
pub(super) fn call(function: Function, values: &[Value], prng: &mut Prng) -> Result<Value, Error> {
    use Function as F;
    if function == F::Is {
        return Ok(Value::Bool(values[0] == values[1]));
    }
    if values.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    match function {
        F::Add | F::Subtract | F::Multiply | F::Divide => {
            arithmetic(function, values[0], values[1])
        }
        F::Modulo => remainder(values[0].to_int()?, values[1].to_int()?).map(Value::Int),
        F::Equal | F::NotEqual | F::LessOrEqual | F::Less => {
            compare(function, values[0], values[1]).map(Value::Bool)
        }
        F::BitAnd | F::BitOr | F::BitXor | F::ShiftLeft | F::ShiftRight => {
            Ok(Value::Int(of_bits(function, values[0].to_int()?, values[1].to_int()?)))
        }
        F::Not => Ok(Value::Bool(!values[0].to_bool()?)),
        F::Abs => match values[0] {
            Value::Int(value) => Ok(Value::Int(value.wrapping_abs())),
            value => Ok(Value::Double(absolute(value.to_double()?))),
        },
        F::Int => values[0].to_int().map(Value::Int),
        F::Pi => Ok(Value::Double(std::f64::consts::PI)),
        F::Double => values[0].to_double().map(Value::Double),
        F::Exp => Ok(Value::Double(values[0].to_double()?.exp())),
        F::Ln => Ok(Value::Double(values[0].to_double()?.ln())),
        F::Sqrt => Ok(Value::Double(values[0].to_double()?.sqrt())),
        F::Power => Ok(Value::Double(values[0].to_double()?.powf(values[1].to_double()?))),
        F::Greatest => extreme(values, |a, b| a > b, |a, b| a > b),
        F::Least => extreme(values, |a, b| a < b, |a, b| a < b),
        F::HashFnv1a => Ok(Value::Int(hash_fnv1a(values[0].to_int()?, values[1].to_int()?))),
        F::HashMurmur2 => Ok(Value::Int(hash_murmur2(values[0].to_int()?, values[1].to_int()?))),
        F::Permute => {
            let [value, size, seed] =
                [values[0].to_int()?, values[1].to_int()?, values[2].to_int()?];
            random::permute(value, size, seed).map(Value::Int)
        }
        F::Random | F::RandomExponential | F::RandomGaussian | F::RandomZipfian => {
            draw(function, values, prng).map(Value::Int)
        }
        F::Is | F::Debug => unreachable!("evaluated before"),
    }
}

fn draw(function: Function, values: &[Value], prng: &mut Prng) -> Result<i64, Error> {
    let range = random::Range::new(values[0].to_int()?, values[1].to_int()?)?;
    let Some(parameter) = values.get(2) else {
        return Ok(range.uniform(prng));
    };
    let parameter = parameter.to_double()?;
    match function {
        Function::RandomExponential => range.exponential(parameter, prng),
        Function::RandomGaussian => range.gaussian(parameter, prng),
        _ => range.zipfian(parameter, prng),
    }
}

fn is_double(value: &Value) -> bool {
    matches!(value, Value::Double(_))
}

fn arithmetic(function: Function, left: Value, right: Value) -> Result<Value, Error> {
    if is_double(&left) || is_double(&right) {
        let (left, right) = (left.to_double()?, right.to_double()?);
        return Ok(Value::Double(match function {
            Function::Add => left + right,
            Function::Subtract => left - right,
            Function::Multiply => left * right,
            _ => left / right,
        }));
    }
    let (left, right) = (left.to_int()?, right.to_int()?);
    let (result, sign) = match function {
        Function::Add => (left.checked_add(right), '+'),
        Function::Subtract => (left.checked_sub(right), '-'),
        Function::Multiply => (left.checked_mul(right), '*'),
        _ if right == 0 => return Err(division_by_zero()),
        _ => (left.checked_div(right), '/'),
    };
    let too_large = || Error::new(format!("{left} {sign} {right} is out of range for int"));
    result.map(Value::Int).ok_or_else(too_large)
}

fn remainder(left: i64, right: i64) -> Result<i64, Error> {
    match right {
        0 => Err(division_by_zero()),
        // The least integer has a remainder too.
        right => Ok(left.wrapping_rem(right)),
    }
}

fn division_by_zero() -> Error {
    Error::new("division by zero")
}

fn compare(function: Function, left: Value, right: Value) -> Result<bool, Error> {
    fn holds<T: PartialOrd>(function: Function, left: T, right: T) -> bool {
        match function {
            Function::Equal => left == right,
            Function::NotEqual => left != right,
            Function::LessOrEqual => left <= right,
            _ => left < right,
        }
    }
    match is_double(&left) || is_double(&right) {
        true => Ok(holds(function, left.to_double()?, right.to_double()?)),
        false => Ok(holds(function, left.to_int()?, right.to_int()?)),
    }
}

/// Shifts use the low six bits of the distance, as processors do.
fn of_bits(function: Function, left: i64, right: i64) -> i64 {
    match function {
        Function::BitAnd => left & right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        Function::ShiftLeft => left.wrapping_shl(right as u32),
        _ => left.wrapping_shr(right as u32),
    }
}

/// Keeps the sign of zeros and of what is not a number.
fn absolute(value: f64) -> f64 {
    if value < 0.0 { -value } else { value }
}

/// Returns the value that is better than all others; a double if one of them is.
fn extreme(
    values: &[Value],
    is_better: fn(i64, i64) -> bool,
    is_better_double: fn(f64, f64) -> bool,
) -> Result<Value, Error> {
    if values.iter().any(is_double) {
        let mut best = values[0].to_double()?;
        for value in &values[1..] {
            let value = value.to_double()?;
            // If they cannot be compared, the later one is taken.
            best = if is_better_double(best, value) { best } else { value };
        }
        return Ok(Value::Double(best));
    }
    let mut best = values[0].to_int()?;
    for value in &values[1..] {
        let value = value.to_int()?;
        best = if is_better(best, value) { best } else { value };
    }
    Ok(Value::Int(best))
}

/// FNV-1a of the eight bytes of a number, the least first; the seed changes the offset basis
/// (<http://www.isthe.com/chongo/tech/comp/fnv/>).
fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01B3;
    let start = OFFSET_BASIS ^ seed as u64;
    let bytes = value.to_le_bytes();
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME)) as i64
}

/// MurmurHash64A of the eight bytes of a number (<https://github.com/aappleby/smhasher>).
fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    const N_BYTES: u64 = 8;
    let mix = |number: u64| number ^ (number >> 47);
    let block = mix((value as u64).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    let start = seed as u64 ^ N_BYTES.wrapping_mul(MULTIPLIER);
    let hash = (start ^ block).wrapping_mul(MULTIPLIER);
    mix(mix(hash).wrapping_mul(MULTIPLIER)) as i64
}
