//! What a command runs in: where its words go, its environment, and whether the process is ours.
//!
//! Results go to the one writer, everything else to the other. A test hands in its own and runs
//! commands beside other tests; signals and terminals are the process's, so only `main`'s shell
//! has them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

use app::Error;
use model::numbers::wrap;
use render::terminal::text;
use render::{Document, Style, ascii};

use crate::outcome::{DONE, Outcome};
use crate::settings;

/// A page is at least so wide, whatever the terminal.
const WIDTH_LEAST: usize = 40;

/// Longer lines are not read; only lists and tables may be wider.
const WIDTH_MOST: usize = 160;

/// Columns that a line keeps for letters which take more of them in ASCII.
const ASCII_SPARE: usize = 4;

type Writer = Arc<Mutex<dyn Write + Send>>;
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where a command's words go, and where its environment comes from.
#[derive(Clone)]
pub struct Shell {
    out: Writer,
    err: Writer,
    variables: Variables,
    is_process: bool,
    /// Whether results go to a terminal, or did before it was closed.
    prints_on_terminal: bool,
    settings: Arc<BTreeMap<String, String>>,
    /// The relative path by which the user calls the program; none if `dbdyno` is in `PATH`.
    program: Option<Arc<str>>,
}

impl Shell {
    /// A shell whose results go to `out` and all other words to `err`, with these environment
    /// variables. Its commands hear no signals, read no input and see no terminal.
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
        }
    }

    /// The shell of a process that is dbdyno's alone.
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

    /// Whether the process is dbdyno's alone: then its signals are for us.
    pub(crate) fn is_process(&self) -> bool {
        self.is_process
    }

    /// Whether somebody types at a terminal what we read.
    pub(crate) fn reads_terminal(&self) -> bool {
        self.is_process && io::stdin().is_terminal()
    }

    /// Whether words other than results go to a terminal.
    pub(crate) fn writes_terminal(&self) -> bool {
        self.is_process && io::stderr().is_terminal()
    }

    /// Whether that terminal can be drawn on: one of them prints alone.
    pub(crate) fn draws_on_terminal(&self) -> bool {
        self.writes_terminal() && self.has_cursor()
    }

    /// Whether the terminal does more than print, by its name.
    fn has_cursor(&self) -> bool {
        self.variable("TERM").is_some_and(|term| term != "dumb")
    }

    /// How a page is set for whoever reads results: as wide as `COLUMNS` says, or as the terminal,
    /// or of the width that suits the page where there is none. In colours only on a terminal.
    pub(crate) fn style(&self, width_without_terminal: usize) -> Style {
        let is_terminal = self.is_process && io::stdout().is_terminal();
        let columns = is_terminal.then(|| columns_of(&io::stdout())).flatten();
        // What goes through a pipe, as to a pager, is read on the terminal of the progress.
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
        // A letter may take more room in ASCII.
        let spare = if self.is_ascii() { ASCII_SPARE } else { 0 };
        Style { color: is_terminal && !is_plain, width: width - spare }
    }

    /// Whether the locale has no more letters than ASCII, or others than ours: by the first of
    /// these variables that is set (POSIX, "Internationalization Variables"). Without any of them,
    /// as in many containers, terminals read UTF-8 all the same.
    fn is_ascii(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.variable(name));
        locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        })
    }

    /// What is not our own text, as this terminal can show it.
    pub(crate) fn legible(&self, text: &str) -> String {
        let text = harmless(text);
        if self.is_ascii() { ascii(&text) } else { text }
    }

    /// Prints a page for people.
    pub(crate) fn print_page(&self, document: &Document, style: &Style) -> Outcome {
        let named = self.program.as_ref().map(|program| document.clone().called(program));
        let document = named.as_ref().unwrap_or(document);
        let plain = text(document, &Style { color: false, ..*style });
        // All escapes are ours, unless the page has some already.
        let is_colored = style.color && !plain.contains('\x1b');
        let page = match is_colored {
            true => {
                let page = text(document, style);
                page.split('\x1b').map(|part| self.legible(part)).collect::<Vec<_>>().join("\x1b")
            }
            false => self.legible(&plain),
        };
        self.print_bytes(page.as_bytes())
    }

    /// The same with the user's lasting defaults.
    pub(crate) fn with_settings(&self) -> Result<Shell, Error> {
        let file = settings::file(&|name| self.variable(name));
        let settings = file.map_or(Ok(BTreeMap::new()), |file| settings::read(&file))?;
        Ok(Shell { settings: Arc::new(settings), ..self.clone() })
    }

    /// Sets the program's name in suggested commands, if it is a relative path as with `cargo run`.
    pub(crate) fn called(self, program: &str) -> Shell {
        let is_near = program.contains('/') && !program.starts_with('/');
        Shell { program: is_near.then(|| program.into()), ..self }
    }

    /// What the user has set for good.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// The input, up to so many bytes.
    pub(crate) fn read(&self, bytes_max: u64) -> io::Result<String> {
        let mut text = String::new();
        if self.is_process {
            io::stdin().lock().take(bytes_max).read_to_string(&mut text)?;
        }
        Ok(text)
    }

    /// An environment variable; empty is not set.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// Writes a result. A closed pipe is no error, nor is a terminal that is gone.
    pub(crate) fn print(&self, text: &str) -> Outcome {
        self.print_bytes(harmless(text).as_bytes())
    }

    /// The same for what is not meant for a terminal: nothing in it is changed.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Outcome {
        match write(&self.out, bytes) {
            Err(error) if !is_closed(&error, self.prints_on_terminal) => {
                Err(Error::Failed(format!("the result cannot be written: {error}")))
            }
            _ => Ok(DONE),
        }
    }

    /// Says something beside the result; when nobody reads there any more, that is no error.
    pub(crate) fn say(&self, text: &str) {
        let columns = self.writes_terminal().then(|| columns_of(&io::stderr())).flatten();
        self.ask(&format!("{}\n", wrapped(text, columns.unwrap_or(usize::MAX))));
    }

    /// The same without the end of the line: the answer is typed there.
    pub(crate) fn ask(&self, text: &str) {
        let _ = write(&self.err, self.legible(text).as_bytes());
    }

    /// Shows help, or what the command line cannot mean, as its parser has written it.
    pub(crate) fn show(&self, message: &clap::Error) {
        // Nothing to do when the terminal is gone.
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

/// Whether nobody reads there any more.
fn is_closed(error: &io::Error, is_terminal: bool) -> bool {
    let is_gone = is_terminal && error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    is_gone || error.kind() == io::ErrorKind::BrokenPipe
}

/// The columns of a terminal, if it says.
fn columns_of(terminal: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// `text` with its longer lines broken between words: a terminal breaks within them.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let line = |line: &str| match line.chars().count() > columns {
        true => wrap(line, columns).join("\n"),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn write(to: &Mutex<dyn Write + Send + 'static>, bytes: &[u8]) -> io::Result<()> {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    to.write_all(bytes).and_then(|()| to.flush())
}

/// `text` without what would change a terminal: names and messages come from plans and servers.
/// JSON stays JSON.
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
    use super::*;

    #[test]
    fn a_terminal_that_is_gone_is_no_error_and_a_broken_disk_is_one() {
        let io_error = || io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error());
        assert!(is_closed(&io_error(), true));
        assert!(!is_closed(&io_error(), false), "a file");
        assert!(is_closed(&io::ErrorKind::BrokenPipe.into(), false));
        assert!(!is_closed(&io::ErrorKind::StorageFull.into(), true));
    }
}
