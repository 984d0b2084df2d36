//! Meta-commands: their names and arguments.

use model::{NS_PER_MS, NS_PER_S, NS_PER_US, did_you_mean};

use super::error::Error;
use super::expression::Expression;
use super::operand::{Distribution, Operand, SetRandom, leading_int};
use super::sql::Store;
use super::value::parse_double;
use super::variables::{Names, VariableId, is_valid_name};

/// Limit of words, as in pgbench.
const WORDS_MAX: usize = 256;

/// Names of all meta-commands.
const NAMES: &[&str] = &[
    "aset",
    "elif",
    "else",
    "endif",
    "endpipeline",
    "gset",
    "if",
    "set",
    "setrandom",
    "setshell",
    "shell",
    "sleep",
    "startpipeline",
    "syncpipeline",
];

/// Meta-command that was read alone, without the commands around it.
#[derive(Debug)]
pub(super) enum Meta {
    Store(Store),
    If(Expression),
    Elif(Expression),
    Else,
    EndIf,
    Set { variable: VariableId, expression: Expression },
    SetRandom(SetRandom),
    SetShell { variable: VariableId, words: Vec<Operand<Box<str>>> },
    Shell { words: Vec<Operand<Box<str>>> },
    Sleep { n: Operand<i64>, unit_ns: u64 },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// Splits off the first word.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(super::value::is_c_space);
    text.split_at(text.find(super::value::is_c_space).unwrap_or(text.len()))
}

/// Reads what follows a backslash; `None` if nothing does.
///
/// # Errors
///
/// The error, without its line.
pub(super) fn parse(text: &str, names: &mut Names) -> Result<Option<Meta>, Error> {
    // A line that goes on in the next one is a space.
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let (name, rest) = split_word(&text);
    if name.is_empty() {
        return Ok(None);
    }
    let words: Vec<&str> = rest.split(super::value::is_c_space).filter(|w| !w.is_empty()).collect();
    let name = name.to_ascii_lowercase();
    if !NAMES.contains(&name.as_str()) {
        let hint = did_you_mean(&name, NAMES.iter().copied());
        return Err(Error::new(format!("there is no command \\{name}{hint}")));
    }
    let meta = parse_named(&name, rest, &words, names);
    meta.map(Some).map_err(|error| Error::new(format!("\\{name}: {}", error.message)))
}

fn parse_named(name: &str, rest: &str, words: &[&str], names: &mut Names) -> Result<Meta, Error> {
    let expression = |text, names: &mut Names| Expression::parse(text, names);
    match name {
        "set" => {
            let (variable, text) = split_word(rest);
            let variable = variable_name(variable, names)?;
            Ok(Meta::Set { variable, expression: expression(text, names)? })
        }
        "if" => Ok(Meta::If(expression(rest, names)?)),
        "elif" => Ok(Meta::Elif(expression(rest, names)?)),
        _ if words.len() >= WORDS_MAX => Err(Error::new("more than 255 arguments")),
        "else" => none(words, Meta::Else),
        "endif" => none(words, Meta::EndIf),
        "startpipeline" => none(words, Meta::StartPipeline),
        "syncpipeline" => none(words, Meta::SyncPipeline),
        "endpipeline" => none(words, Meta::EndPipeline),
        "gset" => Ok(Meta::Store(Store::Gset { prefix: prefix(words)? })),
        "aset" => Ok(Meta::Store(Store::Aset { prefix: prefix(words)? })),
        "sleep" => sleep(words, names),
        "setrandom" => set_random(words, names).map(Meta::SetRandom),
        "setshell" => {
            let variable = variable_name(words.first().unwrap_or(&""), names)?;
            Ok(Meta::SetShell { variable, words: shell_words(&words[1..], names)? })
        }
        "shell" => Ok(Meta::Shell { words: shell_words(words, names)? }),
        _ => unreachable!("the name is known"),
    }
}

/// Refuses arguments of a command that takes none.
fn none(words: &[&str], meta: Meta) -> Result<Meta, Error> {
    match words.first() {
        None => Ok(meta),
        Some(word) => Err(Error::new(format!("takes no argument such as '{word}'"))),
    }
}

/// Returns the variable that a command sets.
fn variable_name(name: &str, names: &mut Names) -> Result<VariableId, Error> {
    if name.is_empty() {
        return Err(Error::new("the name of a variable is missing"));
    }
    match is_valid_name(name) {
        true => names.add(name),
        false => Err(Error::new(format!("'{name}' cannot be the name of a variable"))),
    }
}

/// Reads the prefix of `\gset` and `\aset`.
fn prefix(words: &[&str]) -> Result<Box<str>, Error> {
    match *words {
        [] => Ok("".into()),
        [prefix] if is_valid_name(prefix) => Ok(prefix.into()),
        [prefix] => Err(Error::new(format!("'{prefix}' cannot begin the name of a variable"))),
        _ => Err(Error::new(format!("takes a prefix at most, not {} arguments", words.len()))),
    }
}

/// Reads an argument that a variable may stand for.
fn operand<T>(
    word: &str,
    names: &mut Names,
    constant: impl FnOnce(&str) -> Result<T, Error>,
) -> Result<Operand<T>, Error> {
    match word.strip_prefix(':') {
        Some(name) => Ok(Operand::Variable { id: names.add(name)?, name: name.into() }),
        None => constant(word).map(Operand::Constant),
    }
}

/// Reads the words of a shell command; one that begins with two colons is a word with one.
fn shell_words(words: &[&str], names: &mut Names) -> Result<Vec<Operand<Box<str>>>, Error> {
    if words.is_empty() {
        return Err(Error::new("the shell command is missing"));
    }
    let mut read = |word: &&str| match word.strip_prefix("::") {
        Some(_) => Ok(Operand::Constant(word[1..].into())),
        None => operand(word, names, |word| Ok(word.into())),
    };
    words.iter().map(&mut read).collect()
}

/// Reads a time as `10 ms`, `10ms`, `:variable us` or, in seconds, `10`.
fn sleep(words: &[&str], names: &mut Names) -> Result<Meta, Error> {
    let (n, unit) = match *words {
        [] => return Err(Error::new("the time is missing")),
        [n] if !n.starts_with(':') => {
            let n_signs = usize::from(n.starts_with(['+', '-']));
            let n_digits = n[n_signs..].bytes().take_while(u8::is_ascii_digit).count();
            n.split_at(if n_digits == 0 { n.len() } else { n_signs + n_digits })
        }
        [n] => (n, ""),
        [n, unit] => (n, unit),
        [_, _, more, ..] => return Err(Error::new(format!("unexpected argument '{more}'"))),
    };
    let unit_ns = match unit.to_ascii_lowercase().as_str() {
        "us" => NS_PER_US,
        "ms" => NS_PER_MS,
        "s" | "" => NS_PER_S,
        _ => return Err(Error::new(format!("'{unit}' is none of the units us, ms and s"))),
    };
    let n = operand(n, names, |n| {
        let is_int = n.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
        let not_int = || Error::new(format!("'{n}' is not an integer"));
        leading_int(n).filter(|_| is_int).ok_or_else(not_int)
    })?;
    Ok(Meta::Sleep { n, unit_ns })
}

fn set_random(words: &[&str], names: &mut Names) -> Result<SetRandom, Error> {
    let [variable, low, high, distribution @ ..] = words else {
        return Err(Error::new("takes a variable, the lowest and the highest number"));
    };
    let int = |word: &str, names: &mut Names| {
        let not_int = |_| Error::new(format!("'{word}' is not an integer"));
        operand(word, names, |word| word.parse().map_err(not_int))
    };
    let double = |word: &str, names: &mut Names| {
        let not_number = || Error::new(format!("'{word}' is not a number"));
        operand(word, names, |word| parse_double(word).ok_or_else(not_number))
    };
    let variable = variable_name(variable, names)?;
    let (low, high) = (int(low, names)?, int(high, names)?);
    let name = distribution.first().map(|word| word.to_ascii_lowercase());
    let distribution = match (name.as_deref(), distribution.get(1..).unwrap_or_default()) {
        (None | Some("uniform"), []) => Distribution::Uniform,
        (Some("gaussian"), [parameter]) => Distribution::Gaussian(double(parameter, names)?),
        (Some("exponential"), [parameter]) => Distribution::Exponential(double(parameter, names)?),
        _ => {
            let known = "uniform, gaussian with a parameter, or exponential with a parameter";
            let text = format!("'{}' is not one of {known}", distribution.join(" "));
            return Err(Error::new(text));
        }
    };
    Ok(SetRandom { variable, low, high, distribution })
}
