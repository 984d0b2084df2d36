//! Environment of a command: outputs, variables, and whether the process is dbdyno's own.
//!
//! Results go to one writer, everything else to the other. Tests pass their own writers and run
//! commands in parallel. Signals and terminals belong to the process, so only the shell of `main`
//! has them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

use app::Error;
use model::numbers::wrap;
use render::terminal::text_on;
use render::{Document, Style, ascii, for_shell};

use crate::outcome::{DONE, Outcome};
use crate::settings;

/// Name under which the program is usually called.
const NAME: &str = "dbdyno";

/// Minimum columns of a page, however narrow the terminal is.
const WIDTH_LEAST: usize = 40;

/// Maximum columns of a page on a wide terminal. Lists and tables, which are wider without a
/// terminal, may have more.
const WIDTH_MOST: usize = 160;

/// Columns of each line that stay free if the output is ASCII, since the ASCII text for a character
/// may be longer.
const ASCII_SPARE: usize = 4;

type Writer = Arc<Mutex<dyn Write + Send>>;
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Environment of a command: its outputs, its variables, and the command line for suggested
/// commands.
#[derive(Clone)]
pub struct Shell {
    out: Writer,
    err: Writer,
    variables: Variables,
    is_process: bool,
    /// True if results go to a terminal, or did before the terminal was closed.
    prints_on_terminal: bool,
    settings: Arc<BTreeMap<String, String>>,
    /// Program as the user calls it, quoted for a shell; `None` if that is `dbdyno`.
    program: Option<Arc<str>>,
    /// Words of the command line after the program, without `--store` and its file.
    words: Arc<[String]>,
    /// File that the user gave with `--store`; `None` without the flag.
    store: Option<Arc<str>>,
}

impl Shell {
    /// Creates a shell whose results go to `out` and all other text to `err`, with these
    /// environment variables. Its commands handle no signals, read no input and use no terminal.
    pub fn new(
        out: impl Write + Send + 'static,
        err: impl Write + Send + 'static,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Shell {
        Shell {
            out: Arc::new(Mutex::new(out)),
            err: Arc::new(Mutex::new(err)),
            variables: Arc::new(variables),
            is_process: false,
            prints_on_terminal: false,
            settings: Arc::default(),
            program: None,
            words: Arc::default(),
            store: None,
        }
    }

    /// Creates the shell of a process that is dbdyno's own: its standard streams and variables.
    pub(crate) fn of_process() -> Shell {
        #[expect(clippy::disallowed_methods, reason = "the command line is where it comes in")]
        let variables = |name: &str| std::env::var(name).ok();
        let prints_on_terminal = io::stdout().is_terminal();
        Shell {
            is_process: true,
            prints_on_terminal,
            ..Shell::new(io::stdout(), io::stderr(), variables)
        }
    }

    /// Returns true if the process is dbdyno's own, so that the shell may handle its signals.
    pub(crate) fn is_process(&self) -> bool {
        self.is_process
    }

    /// Returns true if the standard input is a terminal.
    pub(crate) fn reads_terminal(&self) -> bool {
        self.is_process && io::stdin().is_terminal()
    }

    /// Returns true if the standard error, which has all text except results, is a terminal.
    pub(crate) fn writes_terminal(&self) -> bool {
        self.is_process && io::stderr().is_terminal()
    }

    /// Returns true if the standard error is a terminal on which the cursor can be moved.
    pub(crate) fn draws_on_terminal(&self) -> bool {
        self.writes_terminal() && self.has_cursor()
    }

    /// Returns true if the terminal can move its cursor, by the variable `TERM`.
    fn has_cursor(&self) -> bool {
        self.variable("TERM").is_some_and(|term| term != "dumb")
    }

    /// Returns the style of a page: as wide as `COLUMNS` or the terminal, else with
    /// `width_without_terminal` columns. Only a terminal has colours.
    pub(crate) fn style(&self, width_without_terminal: usize) -> Style {
        let is_terminal = self.is_process && io::stdout().is_terminal();
        let columns = is_terminal.then(|| columns_of(&io::stdout())).flatten();
        // Output through a pipe, as to a pager, usually appears on the terminal of stderr.
        let is_piped = !is_terminal && self.is_process && io::stderr().is_terminal();
        let of_pager = is_piped.then(|| columns_of(&io::stderr())).flatten();
        let columns = columns.or(of_pager.filter(|columns| *columns < width_without_terminal));
        let asked = self.variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = asked.or(columns).map_or(width_without_terminal, |columns: usize| {
            columns.clamp(WIDTH_LEAST, width_without_terminal.max(WIDTH_MOST))
        });
        let is_plain = self.variable("NO_COLOR").is_some()
            || self.setting("color") == Some("off")
            || !self.has_cursor();
        // A character may be longer in ASCII.
        let spare = if self.is_ascii() { ASCII_SPARE } else { 0 };
        Style { color: is_terminal && !is_plain, width: width - spare }
    }

    /// Returns true if the locale's encoding is not UTF-8, by the first of `LC_ALL`, `LC_CTYPE` and
    /// `LANG` that is set (POSIX, "Internationalization Variables"). If none is set, as in many
    /// containers, UTF-8 is assumed.
    fn is_ascii(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.variable(name));
        locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        })
    }

    /// Makes foreign text safe for this terminal: without control characters, and in ASCII if the
    /// locale is not UTF-8.
    pub(crate) fn legible(&self, text: &str) -> String {
        let text = harmless(text);
        if self.is_ascii() { ascii(&text) } else { text }
    }

    /// Prints a page as text on the standard output. Commands on the page call the program as the
    /// user called it.
    pub(crate) fn print_page(&self, document: &Document, style: &Style) -> Outcome {
        let program = self.program.as_deref().unwrap_or(NAME);
        let program = match &self.store {
            Some(store) => format!("DBDYNO_STORE={} {program}", for_shell(store)),
            None => program.to_owned(),
        };
        let named = (program != NAME).then(|| document.clone().called(&program));
        let document = named.as_ref().unwrap_or(document);
        let write = |style: &Style| -> String {
            let rows = self.is_process.then(|| rows_of(&io::stdout())).flatten();
            text_on(document, style, rows.unwrap_or(usize::MAX))
        };
        let plain = write(&Style { color: false, ..*style });
        // All escapes are ours, unless the page contains some already.
        let is_colored = style.color && !plain.contains('\x1b');
        let page = match is_colored {
            true => {
                let page = write(style);
                page.split('\x1b').map(|part| self.legible(part)).collect::<Vec<_>>().join("\x1b")
            }
            false => self.legible(&plain),
        };
        self.print_bytes(page.as_bytes())
    }

    /// Returns a shell that also has the user's lasting defaults, read from their file.
    pub(crate) fn with_settings(&self) -> Result<Shell, Error> {
        let file = settings::file(&|name| self.variable(name));
        let settings = file.map_or(Ok(BTreeMap::new()), |file| settings::read(&file))?;
        Ok(Shell { settings: Arc::new(settings), ..self.clone() })
    }

    /// Sets the command line of this command. Suggested commands call the program as that command
    /// line does: by its path, unless its folder is in `PATH`, and with its store.
    pub(crate) fn called(self, words: &[String]) -> Shell {
        let (program, words) =
            words.split_first().map_or(("", words), |(first, rest)| (&**first, rest));
        let is_known = match program.rsplit_once('/') {
            Some((folder, NAME)) => {
                let path = self.variable("PATH").unwrap_or_default();
                path.split(':').any(|known| known == folder)
            }
            Some(_) => false,
            None => program.is_empty() || program == NAME,
        };
        let program = (!is_known).then(|| for_shell(program).into());
        let mut rest = words.iter();
        let mut store = None;
        let mut kept = Vec::new();
        while let Some(word) = rest.next() {
            match (word.as_str(), word.strip_prefix("--store=")) {
                ("--store", _) => store = rest.next().map(|file| file.as_str().into()),
                (_, Some(file)) => store = Some(file.into()),
                _ => kept.push(word.clone()),
            }
        }
        Shell { program, words: kept.into(), store, ..self }
    }

    /// Returns the command line that repeats this command with other words added, as a suggestion,
    /// quoted for a shell. A password in it is left out, and asked for; a plan from stdin is taken
    /// from the last run.
    pub(crate) fn again(&self, more: &str) -> String {
        // A plan on the standard input is gone.
        if let [run, stdin, rest @ ..] = &self.words[..]
            && (run.as_str(), stdin.as_str()) == ("run", "-")
        {
            let rest: String = rest.iter().map(|word| format!(" {}", quoted(word))).collect();
            return format!("{NAME} runs show last --plan | {NAME} run -{rest} {more}");
        }
        let has_password = self.words.iter().any(|word| quoted(word) != for_shell(word));
        let is_asked = self.words.iter().any(|word| word == "--ask-password");
        let ask = if has_password && !is_asked { " --ask-password" } else { "" };
        let words: String = self.words.iter().map(|word| format!(" {}", quoted(word))).collect();
        format!("{NAME}{words}{ask} {more}")
    }

    /// Returns the command line that repeats this `run` command with another duration, as
    /// [`Shell::again`] does; `None` for another command, or a run that ends by other than a
    /// duration.
    pub(crate) fn again_longer(&self, duration: &str) -> Option<String> {
        const FLAG: &str = "--duration";
        const OTHER_ENDS: [&str; 2] = ["--transactions", "--until"];
        let begins = |word: &String, flag: &str| {
            word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let ends_otherwise = |word: &String| OTHER_ENDS.iter().any(|flag| begins(word, flag));
        if self.words.first().is_none_or(|word| word != "run")
            || self.words.iter().any(ends_otherwise)
        {
            return None;
        }
        let mut words = Vec::with_capacity(self.words.len());
        let mut is_value = false;
        for word in self.words.iter() {
            let is_flag = begins(word, FLAG);
            if !is_value && !is_flag {
                words.push(word.clone());
            }
            is_value = is_flag && word == FLAG;
        }
        let shorter = Shell { words: words.into(), ..self.clone() };
        Some(shorter.again(&format!("{FLAG} {duration}")))
    }

    /// Returns the value of the user's lasting default with this name; `None` if the user has set
    /// none.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Reads the standard input, up to `bytes_max` bytes; empty if the process is not dbdyno's own.
    pub(crate) fn read(&self, bytes_max: u64) -> io::Result<String> {
        let mut text = String::new();
        if self.is_process {
            io::stdin().lock().take(bytes_max).read_to_string(&mut text)?;
        }
        Ok(text)
    }

    /// Returns the environment variable with this name; `None` if it is not set or empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// Writes a result, which is text. A closed pipe or terminal is no error.
    pub(crate) fn print(&self, text: &str) -> Outcome {
        self.print_bytes(harmless(text).as_bytes())
    }

    /// Writes a result that is not text, unchanged. A closed pipe or terminal is no error.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Outcome {
        match write(&self.out, bytes) {
            Err(error) if !is_closed(&error, self.prints_on_terminal) => {
                Err(Error::Failed(format!("the result cannot be written: {error}")))
            }
            _ => Ok(DONE),
        }
    }

    /// Prints a line of text on the standard error. Commands in it call the program as the user
    /// called it. A closed output is no error.
    pub(crate) fn say(&self, text: &str) {
        let named = self.program.as_ref().map(|program| {
            let named = text.replace("'dbdyno ", &format!("'{program} "));
            named.replace("\n  dbdyno ", &format!("\n  {program} "))
        });
        let text = named.as_deref().unwrap_or(text);
        let columns = self.writes_terminal().then(|| columns_of(&io::stderr())).flatten();
        self.ask(&format!("{}\n", wrapped(text, columns.unwrap_or(usize::MAX))));
    }

    /// Prints text on the standard error without a line end, so that the user can type an answer on
    /// the same line.
    pub(crate) fn ask(&self, text: &str) {
        let _ = write(&self.err, self.legible(text).as_bytes());
    }

    /// Prints help or a usage error from clap, the parser of the command line.
    pub(crate) fn show(&self, message: &clap::Error) {
        // Ignore a closed terminal.
        let _ = match (self.is_process, message.use_stderr()) {
            (true, _) => message.print(),
            (false, true) => write(&self.err, message.render().to_string().as_bytes()),
            (false, false) => write(&self.out, message.render().to_string().as_bytes()),
        };
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").field("is_process", &self.is_process).finish_non_exhaustive()
    }
}

/// Quotes a word of the command line for a shell, without the passwords of URLs in it.
fn quoted(word: &str) -> String {
    let mut parts = word.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (authority, rest) = part.split_at(part.find(['/', '?']).unwrap_or(part.len()));
        shown.push_str("://");
        shown.push_str(&match authority.rsplit_once('@') {
            Some((user, hosts)) => match user.split_once(':') {
                Some((user, _)) => format!("{user}@{hosts}"),
                None => authority.to_owned(),
            },
            None => authority.to_owned(),
        });
        shown.push_str(rest);
    }
    for_shell(&shown)
}

/// Returns true if an error means that nobody reads the output any more: the pipe is closed, or the
/// terminal is gone. `is_terminal` says whether the output was a terminal.
fn is_closed(error: &io::Error, is_terminal: bool) -> bool {
    let is_gone = is_terminal && error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    is_gone || error.kind() == io::ErrorKind::BrokenPipe
}

/// Returns the number of lines of a terminal; `None` if it does not tell.
fn rows_of(terminal: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_row)).filter(|rows| *rows > 0)
}

/// Returns the number of columns of a terminal; `None` if it does not tell.
fn columns_of(terminal: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Breaks lines longer than `columns` between words, since a terminal breaks within them. Indented
/// lines, which are commands, stay whole.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    // A command, which is indented, stays whole.
    let is_broken = |line: &str| line.chars().count() > columns && !line.starts_with("  ");
    let line = |line: &str| match is_broken(line) {
        true => wrap(line, columns).join("\n"),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn write(to: &Mutex<dyn Write + Send + 'static>, bytes: &[u8]) -> io::Result<()> {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    to.write_all(bytes).and_then(|()| to.flush())
}

/// Escapes characters that would control a terminal, since names and messages come from plans and
/// servers. Line ends and tabs stay, and JSON stays valid.
pub(crate) fn harmless(text: &str) -> String {
    let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\t');
    let put = |mut shown: String, letter: char| {
        match is_plain(letter) {
            true => shown.push(letter),
            false => shown.push_str(&format!("\\u{:04x}", letter as u32)),
        }
        shown
    };
    text.chars().fold(String::with_capacity(text.len()), put)
}

#[cfg(test)]
mod tests {
    use render::document::Block;

    use super::*;

    fn called(words: &[&str]) -> Shell {
        let shell = Shell::new(io::sink(), io::sink(), |name| {
            (name == "PATH").then(|| "/usr/bin:/opt/bin".to_owned())
        });
        shell.called(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn suggested_commands_call_the_program_as_the_user_does() {
        let check = |program: &str, expect: Option<&str>| {
            assert_eq!(called(&[program, "run"]).program.as_deref(), expect, "{program}");
        };
        check("dbdyno", None);
        check("/opt/bin/dbdyno", None);
        check("target/release/dbdyno", Some("target/release/dbdyno"));
        check("/home/me/my files/dbdyno", Some("'/home/me/my files/dbdyno'"));
        check("./dbdyno", Some("./dbdyno"));
        let printed = |words: &[&str], command: &str| {
            let next = vec![(command.to_owned(), String::new())];
            let out = Arc::new(Mutex::new(Vec::new()));
            let shell = Shell { out: Arc::clone(&out) as Writer, ..called(words) };
            let mut page = Document::default();
            page.section("next", "", vec![Block::Next(next)]);
            shell.print_page(&page, &Style::default()).expect("it is memory");
            let bytes = out.lock().expect("nobody else").clone();
            String::from_utf8(bytes).expect("text").trim().to_owned()
        };
        let last = "dbdyno runs show last";
        assert_eq!(printed(&["./dbdyno"], last), "Next:\n  ./dbdyno runs show last");
        let two = "dbdyno runs show last --plan > a.toml && dbdyno run a.toml";
        let both = "Next:\n  ./dbdyno runs show last --plan > a.toml && ./dbdyno run a.toml";
        assert_eq!(printed(&["./dbdyno"], two), both);
        let with_store = ["dbdyno", "run", "tpcc", "--store", "my runs.db"];
        let expect = "Next:\n  DBDYNO_STORE='my runs.db' dbdyno runs show last";
        assert_eq!(printed(&with_store, last), expect);
    }

    #[test]
    fn a_command_that_is_suggested_again_is_whole_and_has_no_password() {
        let check = |words: &[&str], expect: &str| {
            assert_eq!(called(words).again("--repeat 5"), expect, "{words:?}");
        };
        check(
            &["x", "run", "tpcc", "--require", "p99<5ms"],
            "dbdyno run tpcc --require 'p99<5ms' --repeat 5",
        );
        check(
            &["x", "run", "tpcc", "--target=mariadb://me:s3:c@ret@db:3306/bench?tls=off"],
            "dbdyno run tpcc '--target=mariadb://me@db:3306/bench?tls=off' --ask-password --repeat 5",
        );
        check(
            &["x", "run", "tpcc", "--target", "postgres://me:a,b@h/db", "--ask-password"],
            "dbdyno run tpcc --target 'postgres://me@h/db' --ask-password --repeat 5",
        );
        check(
            &["x", "run", "-", "--quiet"],
            "dbdyno runs show last --plan | dbdyno run - --quiet --repeat 5",
        );
    }

    #[test]
    fn a_terminal_that_is_gone_is_no_error_and_a_broken_disk_is_one() {
        let io_error = || io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error());
        assert!(is_closed(&io_error(), true));
        assert!(!is_closed(&io_error(), false), "a file");
        assert!(is_closed(&io::ErrorKind::BrokenPipe.into(), false));
        assert!(!is_closed(&io::ErrorKind::StorageFull.into(), true));
    }
}
