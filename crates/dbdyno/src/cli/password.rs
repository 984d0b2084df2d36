//! Reads passwords of databases from their sources, and hides them in the command line.
//!
//! The first source that exists is used: `--ask-password`, `--password-file` or `--password-from`,
//! the URL, the environment variable `DBDYNO_PASSWORD`. Passwords are never printed or stored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::{Choice, Secret, Target};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::password_files::PasswordFrom;
use crate::shell::Shell;

/// Environment variable with the password of the target.
pub(super) const VARIABLE: &str = "DBDYNO_PASSWORD";
/// Maximum bytes of a password file; a longer file is taken for a mistake.
const BYTES_MAX: u64 = 4096;

/// Adds the options `--password-file` and `--ask-password` to a command.
pub(crate) fn add(command: Command) -> Command {
    command
        .arg(Arg::new("password_file").long("password-file").value_name("FILE").help(
            "File whose first line is the password (or put the password itself in DBDYNO_PASSWORD)",
        ))
        .arg(
            Arg::new("password_from")
                .long("password-from")
                .value_name("PLACE")
                .conflicts_with_all(["password_file", "ask_password"])
                .help("Where another program keeps the password: pgpass, PGPASSWORD, my.cnf or MYSQL_PWD"),
        )
        .arg(
            Arg::new("ask_password")
                .long("ask-password")
                .action(ArgAction::SetTrue)
                .conflicts_with("password_file")
                .help("Ask for the password on the terminal"),
        )
}

/// Sets the password of a target from the first source that has one. Fails if a flag gives a
/// password for a target without a user.
pub(crate) fn give(target: &mut Target, matches: &ArgMatches, shell: &Shell) -> Result<(), Error> {
    let file = matches.get_one::<String>("password_file");
    let asks = matches.get_flag("ask_password");
    let from = matches.get_one::<String>("password_from").map(|name| {
        PasswordFrom::by_name(name).ok_or_else(|| {
            let names = PasswordFrom::NAMES.join(", ");
            Error::Usage(format!("--password-from: '{name}' is not one of {names}"))
        })
    });
    let from = from.transpose()?;
    if target.user.is_none() {
        let flag = match (asks, from) {
            (true, _) => "--ask-password",
            (false, Some(_)) => "--password-from",
            (false, None) => "--password-file",
        };
        return match file.is_some() || asks || from.is_some() {
            true => Err(Error::Usage(format!("{flag}: {target} has no sign-in"))),
            false => Ok(()),
        };
    }
    let given = match file {
        Some(file) => Some(read_file(file)?),
        None if from.is_some() => from.map(|from| from.read(target, shell)).transpose()?,
        None if asks => Some(ask(&target.to_string(), VARIABLE)?),
        None if target.password.is_none() => shell.variable(VARIABLE),
        None => None,
    };
    if let Some(password) = given {
        target.password = Some(Secret::new(password));
    }
    Ok(())
}

/// Reads a password from the first line of a file.
pub(super) fn read_file(path: &str) -> Result<String, Error> {
    let bad = |why: &dyn std::fmt::Display| Error::Usage(format!("--password-file {path}: {why}"));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| bad(&error))?;
    file.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| bad(&error))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(bad(&format!("it is longer than {BYTES_MAX} bytes, so it is not a password")));
    }
    // Editors may write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(bad(&"its first line is empty; write the password there")),
    }
}

/// Asks for the password of `what` on the terminal, whatever stdin is. Without a terminal, the
/// error suggests the environment variable `variable`.
pub(super) fn ask(what: &str, variable: &str) -> Result<String, Error> {
    let failed = |error: io::Error| {
        let why = format!(
            "--ask-password: there is no terminal to ask on ({error}); use --password-file, or \
             the environment's {variable}"
        );
        Error::Usage(why)
    };
    let mut terminal =
        OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let before = tcgetattr(&terminal).map_err(|error| failed(error.into()))?;
    let mut quiet: Termios = before.clone();
    // Ctrl-C is read as a character, so that the echo is always restored.
    quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(&terminal, OptionalActions::Flush, &quiet).map_err(|error| failed(error.into()))?;
    let asked = write!(terminal, "Password for {what}: ").and_then(|()| read_line(&mut terminal));
    // Fails only if changing it failed.
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    let _ = writeln!(terminal);
    asked.map_err(failed)?.ok_or_else(|| {
        Error::Interrupted("interrupted while the password was asked for".to_owned())
    })
}

/// Reads a line from a terminal as it is typed, with backspace; `None` after Ctrl-C, Ctrl-D or the
/// end of the input.
fn read_line(from: &mut impl Read) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut byte = [0];
    while from.read(&mut byte)? == 1 {
        match byte[0] {
            b'\r' | b'\n' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            3 | 4 => return Ok(None),
            8 | 127 => drop(line.pop()),
            letter => line.push(letter),
        }
        if line.len() as u64 > BYTES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
    }
    Ok(None)
}

/// Overwrites the passwords of URLs in this process's command line, which all users of the machine
/// can see. Does nothing if the command line is not writable; there are safer ways to pass a
/// password.
pub(crate) fn hide() {
    let _ = try_to_hide();
}

/// Overwrites the passwords in the memory of this process, where the visible command line is.
/// Changes nothing if the memory differs from it.
fn try_to_hide() -> io::Result<()> {
    let shown = fs::read("/proc/self/cmdline")?;
    let mut hidden = Vec::with_capacity(shown.len());
    for word in shown.split_inclusive(|byte| *byte == 0) {
        hidden.extend_from_slice(&without_password(word));
    }
    assert_eq!(hidden.len(), shown.len(), "every word keeps its place");
    if hidden == shown {
        return Ok(());
    }
    let stat = fs::read_to_string("/proc/self/stat")?;
    // proc(5): arg_start is field 48; the second field is in parentheses and may contain anything.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace());
    let start = fields.and_then(|mut fields| fields.nth(45)?.parse::<u64>().ok());
    let start = start.ok_or(io::ErrorKind::InvalidData)?;
    let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem")?;
    let mut there = vec![0; shown.len()];
    memory.read_exact_at(&mut there, start)?;
    if there == shown {
        memory.write_all_at(&hidden, start)?;
    }
    Ok(())
}

/// Replaces the password in a word of the command line by stars, padded with zero bytes to the
/// word's length.
fn without_password(word: &[u8]) -> Vec<u8> {
    let Some(span) = span_of_password(word) else { return word.to_owned() };
    let n_stars = span.len().min(3);
    let mut out = [&word[..span.start], &b"***"[..n_stars], &word[span.end..]].concat();
    out.resize(word.len(), 0);
    out
}

/// Returns the byte range of the password in a URL, from the first ':' after `://` to the last '@'.
/// Without an '@' it ends at a '/' or with the word, unless it is a port. `None` if there is no
/// password.
fn span_of_password(word: &[u8]) -> Option<std::ops::Range<usize>> {
    let text = std::ffi::OsStr::from_bytes(word).to_string_lossy();
    // An invalid UTF-8 character shifts the rest.
    if text.len() != word.len() {
        return None;
    }
    // The token of a hub or of a writer, also as --token=...
    if let Some(start) = ["dd1:", "dw1:"].iter().find_map(|prefix| text.find(prefix)) {
        return Some(start..text.trim_end_matches('\0').len());
    }
    let authority = text.find("://")? + 3;
    let start = authority + text[authority..].find(':')? + 1;
    if let Some(length) = text[start..].rfind('@') {
        return (length > 0).then_some(start..start + length);
    }
    let part = text[start..].split(['/', '\0']).next().unwrap_or_default();
    (!part.is_empty() && part.parse::<u16>().is_err()).then_some(start..start + part.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_word_is_starred_and_the_word_keeps_its_length() {
        let check = |word: &str, expect: &str| {
            let hidden = without_password(word.as_bytes());
            assert_eq!(hidden.len(), word.len());
            assert_eq!(String::from_utf8_lossy(&hidden).trim_end_matches('\0'), expect);
        };
        check("mariadb://me:hunter2@host/shop\0", "mariadb://me:***@host/shop");
        check(
            "--target=mariadb://me:hunter2@h1,h2:3306/shop?tls=require\0",
            "--target=mariadb://me:***@h1,h2:3306/shop?tls=require",
        );
        check("mariadb://me:a/b@c@host/shop\0", "mariadb://me:***@host/shop");
        check("mysql://root:hunter2\0", "mysql://root:***");
        check("mariadb://me:x@host/shop\0", "mariadb://me:*@host/shop");
        check("mariadb://me@host:3306/shop\0", "mariadb://me@host:3306/shop");
        check("mariadb://host:3306/shop\0", "mariadb://host:3306/shop");
        check("run\0", "run");
    }

    #[test]
    fn a_line_is_read_as_it_is_typed() {
        let check = |typed: &str, expect: Option<&str>| {
            let line = read_line(&mut typed.as_bytes()).expect("bytes can be read");
            assert_eq!(line.as_deref(), expect);
        };
        check("hunter2\n", Some("hunter2"));
        check("huu\u{7f}nter2\rmore", Some("hunter2"));
        check("hun\u{3}ter2\n", None);
        check("hunter2", None);
    }
}
