//! A private server, running or not: program, folder, user and settings; and the execution of
//! commands in its environment.
//!
//! Not here: starting and stopping (server).

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use model::Secret;

use crate::data_dir::DataDir;
use crate::deadline::{Deadline, child_ends};
use crate::galera::Member;
use crate::options::Setting;
use crate::os_user::OsUser;
use crate::port::Port;
use crate::program::{PATH, Program};
use crate::{Kind, ServerError, ServerErrorKind};

/// Text in an error message between a server's exit status and its last log lines.
pub const END_OF_LOG: &str = "; the end of its log:\n";

/// All parts of a private server except its process: program, folder, settings, port. They remain
/// while the server is stopped.
pub(crate) struct Instance {
    pub(crate) kind: Kind,
    pub(crate) program: Program,
    /// Value of LD_LIBRARY_PATH for the server's programs; `None` if they need no bundled
    /// libraries.
    pub(crate) libraries: Option<String>,
    pub(crate) os_user: OsUser,
    pub(crate) settings: Vec<Setting>,
    pub(crate) password: Secret,
    pub(crate) port: Port,
    /// Time limit for starting the server, for shutting it down, and for each step of creating its
    /// data.
    pub(crate) limit: Duration,
    /// Ports and library of the server as a node of a Galera cluster; `None` for a single server.
    pub(crate) member: Option<Member>,
    pub(crate) dir: DataDir,
}

impl Instance {
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn log_tail(&self) -> String {
        self.dir.log_tail()
    }

    pub(crate) fn runs_as_root(&self) -> bool {
        self.os_user.is_root()
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<PathBuf, ServerError> {
        let written = self.dir.write(&format!("files/{name}"), contents);
        written.map_err(|error| ServerError::system(format!("writing '{name}'"), error))
    }

    pub(crate) fn unwrite(&self, name: &str) -> Result<(), ServerError> {
        let removed = fs::remove_file(self.folder().join("files").join(name));
        removed.map_err(|error| ServerError::system(format!("removing '{name}'"), error))
    }

    /// Creates a command that runs the program `exe` as the server's account, in its folder, with a
    /// clean environment. The process has its own process group, so that Ctrl-C does not reach it.
    pub(crate) fn command(&self, exe: &Path) -> Command {
        let mut command = Command::new(exe);
        command
            .env_clear()
            .env("PATH", PATH)
            .env("LC_ALL", "C")
            .env("HOME", self.folder())
            .env("TMPDIR", self.folder().join("tmp"))
            .envs(self.libraries.iter().map(|libraries| ("LD_LIBRARY_PATH", libraries)))
            .current_dir(self.folder())
            .process_group(0)
            .stdin(Stdio::null());
        self.os_user.run(&mut command);
        command
    }

    /// Runs a command to its end, with `stdin` as its input and its output in the server's log.
    /// Fails if its exit status is not 0 or it exceeds the server's time limit; `what` names the
    /// command in the error.
    pub(crate) fn run_to_end(
        &self,
        what: &str,
        command: Command,
        stdin: &[u8],
    ) -> Result<(), ServerError> {
        self.run_within(self.limit, what, command, stdin)
    }

    /// Runs a command as [`Instance::run_to_end`] does, but with `limit` instead of the server's
    /// time limit.
    pub(crate) fn run_within(
        &self,
        limit: Duration,
        what: &str,
        mut command: Command,
        stdin: &[u8],
    ) -> Result<(), ServerError> {
        // The input is a file and no pipe, so that neither process waits for the other.
        let input = self.write("stdin", stdin)?;
        let file =
            fs::File::open(&input).map_err(|error| ServerError::system(input.display(), error))?;
        command.stdin(file);
        let mut child = self.spawn(command)?;
        let status = self.end_of(&mut child, limit);
        self.unwrite("stdin")?;
        match status? {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let text = self.with_log(format!("{what} {}", how_it_ended(status)));
                Err(ServerError::new(ServerErrorKind::Ended, text))
            }
            None => {
                let text = self.with_log(format!("{what} took more than {limit:?}"));
                Err(ServerError::new(ServerErrorKind::TooSlow, self.with_remedy(text)))
            }
        }
    }

    pub(crate) fn spawn(&self, mut command: Command) -> Result<Child, ServerError> {
        let log = self.dir.log().map_err(|error| ServerError::system("the log", error))?;
        command.stdout(log);
        self.spawn_beside_log(command)
    }

    /// Starts a command with its stderr appended to the server's log, and its stdout as the caller
    /// has set it.
    pub(crate) fn spawn_beside_log(&self, mut command: Command) -> Result<Child, ServerError> {
        let log = self.dir.log().map_err(|error| ServerError::system("the log", error))?;
        command.stderr(log);
        let exe = PathBuf::from(command.get_program());
        command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let text = format!(
                    "the user '{}' cannot execute {}: make it and its folders readable and \
                     executable for all users, or name another user with ?user=",
                    self.os_user.name(),
                    exe.display()
                );
                ServerError::new(ServerErrorKind::BadOption, text)
            }
            _ => ServerError::system(exe.display(), error),
        })
    }

    /// Waits for `child` to end and returns its exit status. If it takes longer than `limit`, kills
    /// it and returns `None`.
    pub(crate) fn end_of(
        &self,
        child: &mut Child,
        limit: Duration,
    ) -> Result<Option<ExitStatus>, ServerError> {
        let mut wait = || -> io::Result<Option<ExitStatus>> {
            let ended = child_ends(child, &Deadline::new(limit)?)?;
            if !ended {
                child.kill()?;
            }
            let status = child.wait()?;
            Ok(ended.then_some(status))
        };
        wait().map_err(|error| ServerError::system("waiting for a process", error))
    }

    pub(crate) fn with_log(&self, text: String) -> String {
        let tail = self.log_tail();
        if tail.is_empty() { text } else { format!("{text}{END_OF_LOG}{tail}") }
    }

    pub(crate) fn with_remedy(&self, text: String) -> String {
        format!("{text}\nIf the machine is slow, raise ?start_limit=")
    }
}

pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
