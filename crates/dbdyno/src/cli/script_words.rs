//! Scripts on the command line: `-f FILE@WEIGHT` and `--sql STATEMENTS`, which stand in place of a
//! workload's name.
//!
//! They become a workload before the command line is parsed, because the variables of a script are
//! options of the command. Not here: the language of the scripts (workloads).

use std::path::Path;

use app::Error;
use clap::{Arg, ArgAction, ArgMatches};
use model::Source;
use workloads::script::pgbench::NO_COMMANDS;

use super::STDIN;
use crate::shell::Shell;

/// Commands that take scripts.
const COMMANDS: [&str; 5] = ["run", "show", "build", "check", "drop"];
/// Name of the workload that statements of the command line become.
const OF_STATEMENTS: &str = "statements.sql";
/// Largest number of scripts, as in pgbench.
const SCRIPTS_MAX: usize = 128;

/// A script with its weight.
struct Script {
    name: String,
    weight: u64,
    text: String,
}

/// Returns the flags for scripts, for help. [`resolved`] replaces them before a command line is
/// parsed.
pub(super) fn flags() -> [Arg; 3] {
    [
        Arg::new("file")
            .long("file")
            .short('f')
            .value_name("FILE[@WEIGHT]")
            .action(ArgAction::Append)
            .help_heading("Scripts")
            .help(
                "Transactions in SQL with pgbench's meta-commands, instead of a workload; repeat \
                 the flag for several types",
            ),
        Arg::new("sql")
            .long("sql")
            .value_name("STATEMENTS[@WEIGHT]")
            .action(ArgAction::Append)
            .help_heading("Scripts")
            .help(
                "A transaction as text, instead of a file: --sql 'SELECT * FROM t WHERE id = :id' \
                 -D id=7",
            ),
        Arg::new("define")
            .long("define")
            .short('D')
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .help_heading("Scripts")
            .help("Value of a variable of the script"),
    ]
}

/// Returns the values of variables that `--define` gives, in the order of the command line.
///
/// # Errors
///
/// A value without a name.
pub(super) fn defined(matches: &ArgMatches) -> Result<Vec<(String, String)>, Error> {
    let texts = matches.try_get_many::<String>("define").ok().flatten();
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .ok_or_else(|| Error::Usage(format!("--define: '{text}' is not NAME=VALUE")))
    };
    texts.into_iter().flatten().map(pair).collect()
}

/// Returns the parameters of a workload that the command line gives, by flags of their own or by
/// `--define`, which counts more.
///
/// # Errors
///
/// A defined value without a name.
pub(super) fn parameters(
    matches: &ArgMatches,
    entry: &workloads::Entry,
) -> Result<Vec<(String, String)>, Error> {
    let given = super::flags::given(matches, entry.parameters.iter().map(|row| row.name));
    let mut all: Vec<(String, String)> =
        given.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    for (name, value) in defined(matches)? {
        all.retain(|(other, _)| *other != name);
        all.push((name, value));
    }
    Ok(all)
}

/// Replaces the scripts of a command line by the name of the workload that they become. A command
/// line without scripts stays as it is.
///
/// # Errors
///
/// A file that cannot be read, an error in a script, or a value that is missing.
pub(super) fn resolved(words: Vec<String>, shell: &Shell) -> Result<Vec<String>, Error> {
    let at = words.iter().skip(1).position(|word| COMMANDS.contains(&word.as_str()));
    let Some(at) = at.map(|at| at + 2) else { return Ok(words) };
    let mut left: Vec<String> = words[..at].to_vec();
    let mut scripts = Vec::new();
    let mut rest = words[at..].iter().peekable();
    if let Some(word) = rest.next_if(|word| has_weight(word)) {
        scripts.push(of_file(word, shell)?);
    }
    while let Some(word) = rest.next() {
        let Some((flag, value)) = flag_of(word) else {
            left.push(word.clone());
            continue;
        };
        let value = match value {
            Some(value) => value.to_owned(),
            None => {
                let next = rest.next().cloned();
                next.ok_or_else(|| Error::Usage(format!("{word} needs a value")))?
            }
        };
        scripts.push(match flag {
            Flag::File => of_file(&value, shell)?,
            Flag::Sql => of_statements(&value, scripts.len()),
        });
    }
    if scripts.is_empty() {
        return Ok(words);
    }
    left.insert(at, registered(scripts)?);
    Ok(left)
}

#[derive(Clone, Copy)]
enum Flag {
    File,
    Sql,
}

/// Returns the flag that a word is, and its value if the word has it too.
fn flag_of(word: &str) -> Option<(Flag, Option<&str>)> {
    match word {
        "-f" | "--file" => return Some((Flag::File, None)),
        "--sql" => return Some((Flag::Sql, None)),
        _ => {}
    }
    if let Some(value) = word.strip_prefix("--file=") {
        return Some((Flag::File, Some(value)));
    }
    if let Some(value) = word.strip_prefix("--sql=") {
        return Some((Flag::Sql, Some(value)));
    }
    let short = word.strip_prefix("-f").filter(|value| !value.is_empty())?;
    Some((Flag::File, Some(short.strip_prefix('=').unwrap_or(short))))
}

/// Divides `tpcb.sql@3` into name and weight; the weight is 1 if there is none.
fn weighted(text: &str) -> (&str, u64) {
    let parts = text.rsplit_once('@');
    let weight = parts.and_then(|(name, weight)| Some((name, weight.parse::<u64>().ok()?)));
    weight.filter(|(name, _)| !name.is_empty()).unwrap_or((text, 1))
}

/// Whether a word names a script with a weight, such as `read.sql@3`, and no file of this name.
fn has_weight(word: &str) -> bool {
    let (name, _) = weighted(word);
    name != word && workloads::language_of(name).is_some() && !Path::new(word).exists()
}

fn of_file(value: &str, shell: &Shell) -> Result<Script, Error> {
    let (name, weight) = weighted(value);
    let unread = |why: &dyn std::fmt::Display| {
        Error::Usage(format!("the script {name} cannot be read: {why}"))
    };
    let text = match name {
        STDIN => shell.read(Source::BYTES_MAX).map_err(|error| unread(&error))?,
        _ => files::read_text(name, Source::BYTES_MAX).map_err(|error| unread(&error))?,
    };
    let name = if name == STDIN { "stdin" } else { name };
    Ok(Script { name: name.to_owned(), weight, text })
}

fn of_statements(value: &str, n_before: usize) -> Script {
    let (text, weight) = weighted(value);
    // The last statement needs no semicolon, and a meta-command must have none.
    let name = format!("statements-{}", n_before + 1);
    Script { name, weight, text: format!("{}\n", text.trim_end()) }
}

/// Makes a workload of scripts, and returns its name.
fn registered(scripts: Vec<Script>) -> Result<String, Error> {
    if scripts.len() > SCRIPTS_MAX {
        return Err(Error::Usage(format!("there are more than {SCRIPTS_MAX} scripts")));
    }
    if let [Script { name, weight: 1, .. }] = scripts.as_slice()
        && workloads::language_of(name).is_some()
    {
        // The file is a workload as it is.
        return Ok(name.clone());
    }
    let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let name = match names.iter().all(|name| name.starts_with("statements-")) {
        true => OF_STATEMENTS.to_owned(),
        false => {
            let joined = names.join("+");
            let is_sql = joined.to_ascii_lowercase().ends_with(".sql");
            if is_sql { joined } else { format!("{joined}.sql") }
        }
    };
    let parts =
        scripts.iter().map(|script| (script.name.as_str(), script.weight, script.text.as_str()));
    let text = workloads::script::sql::composed(parts);
    plan::read_script(&name, &text).map_err(|bad| Error::Usage(of_flag(bad.to_string())))?;
    Ok(name)
}

/// Names the flag instead of a file if there is nothing in the statements of the command line.
fn of_flag(why: String) -> String {
    let is_empty = why.starts_with("statements-") && why.ends_with(NO_COMMANDS);
    if is_empty { "--sql: there is no statement in it".to_owned() } else { why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_stands_behind_the_last_at_sign() {
        assert_eq!(weighted("a@b.sql@3"), ("a@b.sql", 3));
        assert_eq!(weighted("a@b.sql"), ("a@b.sql", 1));
        assert_eq!(weighted("SELECT '@'"), ("SELECT '@'", 1));
        assert_eq!(weighted("@3"), ("@3", 1));
    }

    #[test]
    fn statements_are_read_as_they_are_written() {
        for text in ["SELECT 1 AS a \\gset", "\\set a 1", "SELECT 1; SELECT 2", "SELECT 1;"] {
            let script = of_statements(text, 0);
            assert_eq!(script.text, format!("{text}\n"));
            let read = plan::read_script("read.sql", &script.text);
            assert!(read.is_ok(), "{text}: {:?}", read.err());
        }
    }

    #[test]
    fn statements_become_a_workload_in_place_of_its_name() {
        let words = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect();
        let shell = Shell::of_process();
        let line = ["dbdyno", "run", "--sql", "SELECT 1", "--target", "sim:", "--sql=SELECT 2@3"];
        let resolved = resolved(words(&line), &shell).expect("two statements");
        assert_eq!(resolved, ["dbdyno", "run", OF_STATEMENTS, "--target", "sim:"]);
        let entry = workloads::by_name(OF_STATEMENTS).expect("it was read");
        let text = &entry.source.expect("it is a script").text;
        assert!(text.contains("statements-2 weight 3"), "{text}");
    }
}
