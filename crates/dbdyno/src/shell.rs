//! What a command runs in: where its words go, its environment, and whether the process is ours.
//!
//! Results go to the one writer, everything else to the other. A test hands in its own and runs
//! commands beside other tests; signals and terminals are the process's, so only `main`'s shell
//! has them.

use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use app::Error;

use crate::outcome::{DONE, Outcome};

type Writer = Arc<Mutex<dyn Write + Send>>;
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where a command's words go, and where its environment comes from.
#[derive(Clone)]
pub struct Shell {
    out: Writer,
    err: Writer,
    variables: Variables,
    is_process: bool,
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
        }
    }

    /// The shell of a process that is dbdyno's alone.
    pub(crate) fn of_process() -> Shell {
        #[expect(clippy::disallowed_methods, reason = "the command line is where it comes in")]
        let variables = |name: &str| std::env::var(name).ok();
        Shell { is_process: true, ..Shell::new(io::stdout(), io::stderr(), variables) }
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

    /// Writes a result. A closed pipe is no error.
    pub(crate) fn print(&self, text: &str) -> Outcome {
        self.print_bytes(harmless(text).as_bytes())
    }

    /// The same for what is not meant for a terminal: nothing in it is changed.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Outcome {
        match write(&self.out, bytes) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::Failed(format!("the result cannot be written: {error}")))
            }
            _ => Ok(DONE),
        }
    }

    /// Says something beside the result; when nobody reads there any more, that is no error.
    pub(crate) fn say(&self, text: &str) {
        self.ask(&format!("{text}\n"));
    }

    /// The same without the end of the line: the answer is typed there.
    pub(crate) fn ask(&self, text: &str) {
        let _ = write(&self.err, harmless(text).as_bytes());
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
