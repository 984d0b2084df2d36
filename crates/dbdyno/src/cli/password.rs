//! Where passwords come from, and how they are kept out of sight.
//!
//! The first of these that is there holds: `--ask-password` or `--password-file`, the URL, the
//! environment's `DBDYNO_PASSWORD`. None of them is ever printed or stored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::{Secret, Target};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::shell::Shell;

/// The environment's password of the target.
pub(super) const VARIABLE: &str = "DBDYNO_PASSWORD";
/// Nobody has a longer one; a file that is longer is another one.
const BYTES_MAX: u64 = 4096;

/// Adds the flags.
pub(crate) fn add(command: Command) -> Command {
    command
        .arg(
            Arg::new("password_file")
                .long("password-file")
                .value_name("FILE")
                .help("File whose first line is the password [env: DBDYNO_PASSWORD]"),
        )
        .arg(
            Arg::new("ask_password")
                .long("ask-password")
                .action(ArgAction::SetTrue)
                .conflicts_with("password_file")
                .help("Ask for the password on the terminal"),
        )
}

/// Gives the target its password.
pub(crate) fn give(target: &mut Target, matches: &ArgMatches, shell: &Shell) -> Result<(), Error> {
    let file = matches.get_one::<String>("password_file");
    let asks = matches.get_flag("ask_password");
    if target.user.is_none() {
        let flag = if asks { "--ask-password" } else { "--password-file" };
        return match file.is_some() || asks {
            true => Err(Error::Usage(format!("{flag}: {target} has no sign-in"))),
            false => Ok(()),
        };
    }
    let given = match file {
        Some(file) => Some(read_file(file)?),
        None if asks => Some(ask(&target.to_string(), VARIABLE)?),
        None if target.password.is_none() => shell.variable(VARIABLE),
        None => None,
    };
    if let Some(password) = given {
        target.password = Some(Secret::new(password));
    }
    Ok(())
}

/// The first line of a file.
pub(super) fn read_file(path: &str) -> Result<String, Error> {
    let bad = |why: &dyn std::fmt::Display| Error::Usage(format!("--password-file {path}: {why}"));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| bad(&error))?;
    file.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| bad(&error))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(bad(&format!("it is longer than {BYTES_MAX} bytes, so it is not a password")));
    }
    // Editors may put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(bad(&"its first line is empty; write the password there")),
    }
}

/// Asks on the terminal, whatever stdin is, for the password of `what`; `variable` is where it may
/// come from instead.
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
    // Ctrl-C comes as a letter too, so that the terminal is never left mute.
    quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(&terminal, OptionalActions::Flush, &quiet).map_err(|error| failed(error.into()))?;
    let asked = write!(terminal, "Password for {what}: ").and_then(|()| read_line(&mut terminal));
    // What cannot be restored could not have been changed.
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    let _ = writeln!(terminal);
    asked.map_err(failed)?.ok_or_else(|| {
        Error::Interrupted("interrupted while the password was asked for".to_owned())
    })
}

/// A line as it is typed, with backspace; none after Ctrl-C or Ctrl-D.
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

/// Overwrites the passwords of URLs in our command line where the system shows it to everybody.
/// Nothing can be done where it cannot be written; whoever minds has the other ways.
pub(crate) fn hide() {
    let _ = try_to_hide();
}

/// What the system shows is our memory, from the address that it tells.
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
    // proc(5): arg_start is field 48; the second field is in brackets and may hold anything.
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

/// A word of the command line with stars for a password, filled up with zeros to its length.
fn without_password(word: &[u8]) -> Vec<u8> {
    let Some(span) = span_of_password(word) else { return word.to_owned() };
    let n_stars = span.len().min(3);
    let mut out = [&word[..span.start], &b"***"[..n_stars], &word[span.end..]].concat();
    out.resize(word.len(), 0);
    out
}

/// Where the password of a URL is: from the first ':' behind `://` to the last '@'; without an
/// '@' to the end, unless it is a port.
fn span_of_password(word: &[u8]) -> Option<std::ops::Range<usize>> {
    let text = std::ffi::OsStr::from_bytes(word).to_string_lossy();
    // A letter that is none in UTF-8 shifts all that follows.
    if text.len() != word.len() {
        return None;
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
