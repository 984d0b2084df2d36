//! A server from its start to its end.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use model::{BadParameter, Host, Secret, Target};
use rustix::process::{Pid, Signal, kill_process};

use crate::account::Account;
use crate::galera::{self, Member};
use crate::home::{Home, PATH, sweep};
use crate::options::{check_setting, in_force, put};
use crate::patience::{Patience, Woken, child_ends, handle};
use crate::port::Port;
use crate::program::Program;
use crate::{Kind, Options, ServerError, ServerErrorKind, mysql, password, postgres};

/// Who signs in.
pub(crate) const USER: &str = "dbdyno";
/// What is signed in to.
pub(crate) const DATABASE: &str = "dbdyno";

/// How often a starting server is asked whether it is there.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A program tells its version at once.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// A server of our own. Dropped, it is killed and all its data removed.
pub struct Server {
    kind: Kind,
    program: Program,
    version: String,
    /// The value of LD_LIBRARY_PATH.
    libraries: Option<String>,
    account: Account,
    settings: Vec<(String, String)>,
    password: Secret,
    port: Port,
    limit: Duration,
    /// What makes it a node of a cluster.
    member: Option<Member>,
    /// Not yet reaped.
    child: Option<Child>,
    has_copy: bool,
    home: Home,
}

/// Makes a server and starts it; it answers when this returns. Also ends what servers of earlier
/// processes have left in the same folder.
pub fn start(kind: Kind, options: &Options) -> Result<Server, ServerError> {
    let mut server = furnish(kind, options, None, password::draw()?)?;
    server.prepare()?;
    server.first_launch()?;
    Ok(server)
}

/// Makes a node of a cluster and starts it. The first one makes the data, and a password where
/// there is none; who joins gets both.
pub(crate) fn start_node(
    kind: Kind,
    options: &Options,
    member: Member,
    password: Option<Secret>,
) -> Result<Server, ServerError> {
    let (has_data, is_first) = (password.is_some(), member.is_first);
    let password = password.map_or_else(password::draw, Ok)?;
    let mut server = furnish(kind, options, Some(member), password)?;
    if has_data && !is_first {
        server.launch(&[])?;
    } else {
        server.prepare()?;
        server.first_launch()?;
    }
    Ok(server)
}

/// A server that has all but its data.
fn furnish(
    kind: Kind,
    options: &Options,
    member: Option<Member>,
    password: Secret,
) -> Result<Server, ServerError> {
    for (name, value) in &options.settings {
        check_setting(kind, name, value)
            .map_err(|error| ServerError::new(ServerErrorKind::BadOption, error.0))?;
    }
    let account = Account::choose(kind, options.user.as_deref())?;
    let program = Program::find(kind, options.bin.as_deref())?;
    let folder = options.folder.clone().unwrap_or_else(disk);
    let home = Home::make(&folder, account.clone())?;
    // What cannot be swept now can be later; that is no reason not to start.
    let _n_swept = sweep(&folder);
    let libraries = program
        .libraries(&home.path().join("lib"))
        .map_err(|error| ServerError::system(program.base.display(), error))?;
    let mut server = Server {
        kind,
        program,
        version: String::new(),
        libraries,
        account,
        settings: in_force(kind, &options.settings),
        password,
        port: Port::reserve().map_err(|error| ServerError::system("127.0.0.1", error))?,
        limit: options.start_limit,
        member,
        child: None,
        has_copy: false,
        home,
    };
    server.version = server.ask_version()?;
    Ok(server)
}

/// Where servers are made unless somebody decides otherwise. /tmp is memory on many systems, where
/// a commit costs nothing; /var/tmp is a disk.
fn disk() -> PathBuf {
    let disk = PathBuf::from("/var/tmp");
    if disk.is_dir() { disk } else { tempfile::env::temp_dir() }
}

impl Server {
    /// Which product it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// As the program tells it: `10.11.19-MariaDB-0+deb12u1`, `15.18`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it was told, defaults included, as it was written.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Its folder, which is removed with it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Its port of 127.0.0.1, the same for as long as it is ours.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Its Unix socket.
    pub fn socket(&self) -> PathBuf {
        match self.kind {
            Kind::Postgres => postgres::socket(self.home(), self.port()),
            Kind::MariaDb | Kind::MySql => mysql::socket(self.home()),
        }
    }

    /// The number of its first process, while it is there.
    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// How to sign in by TCP. The user may do everything.
    pub fn target(&self) -> Target {
        Target {
            scheme: self.kind.name().to_owned(),
            user: Some(USER.to_owned()),
            password: Some(self.password.clone()),
            hosts: vec![Host { name: "127.0.0.1".to_owned(), port: Some(self.port()) }],
            path: DATABASE.to_owned(),
            options: Vec::new(),
        }
    }

    /// How to sign in by the Unix socket: the same with `?socket=` and its path.
    pub fn socket_target(&self) -> Target {
        let socket = self.socket();
        let path = socket.to_str().expect("a home's path was found to be plain");
        Target { options: vec![("socket".to_owned(), path.to_owned())], ..self.target() }
    }

    /// The last lines that it said.
    pub fn log_tail(&self) -> String {
        self.home.log_tail()
    }

    /// How it ended and what it said last, if it has ended: killed, crashed, or stopped by SQL.
    pub fn ended(&mut self) -> Option<String> {
        if let Some(child) = &mut self.child {
            match child.try_wait() {
                Ok(None) => return None,
                Ok(Some(status)) => {
                    self.child = None;
                    return Some(self.with_log(how_it_ended(status)));
                }
                // Cannot be for a child that we have not reaped.
                Err(error) => return Some(error.to_string()),
            }
        }
        Some(self.with_log("is not running".to_owned()))
    }

    /// Changes a setting from the next [`Server::restart`] on.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        check_setting(self.kind, name, value)?;
        put(&mut self.settings, name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Writes a file that only the server can read (a certificate, a key, rules for signing in),
    /// to be named in a setting. One of the same name is replaced.
    pub fn put_file(&self, name: &str, contents: &[u8]) -> Result<PathBuf, ServerError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let text = format!("'{name}' is no name for a file: letters, digits, '.', '_', '-'");
            return Err(ServerError::new(ServerErrorKind::BadOption, text));
        }
        self.write(name, contents)
    }

    /// Stops it in its own way, keeping all it has promised to keep, and starts it with the
    /// settings that hold now. Starts it if it is not running, as after [`Server::kill`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        if self.ended().is_none() {
            self.stop_gently()?;
        }
        self.launch(&[])
    }

    /// Stops it in its own way, keeping all it has promised to keep; [`Server::restart`] starts it
    /// again.
    pub fn shut_down(&mut self) -> Result<(), ServerError> {
        if self.ended().is_some() { Ok(()) } else { self.stop_gently() }
    }

    /// Kills all its processes at once (SIGKILL), as a crash would; the data stays. PostgreSQL then
    /// leaves a few KiB of the system's shared memory, which only its next start frees.
    pub fn kill(&mut self) -> Result<(), ServerError> {
        let killed = self.home.marks().kill();
        killed.map_err(|error| ServerError::system("the server cannot be killed", error))?;
        self.reap();
        Ok(())
    }

    /// Freezes all its processes (SIGSTOP): connections stay, and nothing is answered.
    pub fn pause(&self) -> Result<(), ServerError> {
        let paused = self.home.marks().signal(Signal::STOP);
        paused.map_err(|error| ServerError::system("the server cannot be paused", error))
    }

    /// Lets a paused server go on.
    pub fn resume(&self) -> Result<(), ServerError> {
        let resumed = self.home.marks().signal(Signal::CONT);
        resumed.map_err(|error| ServerError::system("the server cannot go on", error))
    }

    /// Stops it in its own way and copies its data, to be put back by [`Server::put_back`];
    /// [`Server::restart`] starts it again. Where the file system shares blocks, the copy costs
    /// none; elsewhere it is refused unless there is room for it.
    pub fn copy_data(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        crate::copy::keep(self)?;
        self.has_copy = true;
        Ok(())
    }

    /// Whether its data were copied.
    pub fn has_copy(&self) -> bool {
        self.has_copy
    }

    /// Ends it and puts its data back as they were copied; [`Server::restart`] starts it again.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        assert!(self.has_copy, "what was not copied cannot be put back");
        // Nothing of it is written out: nobody will read it.
        let ended = self.home.marks().end();
        ended.map_err(|error| ServerError::system("the server cannot be ended", error))?;
        self.reap();
        crate::copy::put_back(self)
    }

    /// Ends it and removes all it has, as dropping it does, and tells if that fails. Nothing is
    /// written out before: nobody will read it.
    pub fn stop(mut self) -> Result<(), ServerError> {
        let removed = self.home.remove();
        removed.map_err(|error| ServerError::system(self.home().display(), error))
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn password(&self) -> &Secret {
        &self.password
    }

    pub(crate) fn name(&self) -> &str {
        self.home.name()
    }

    pub(crate) fn member(&self) -> Option<&Member> {
        self.member.as_ref()
    }

    /// Where other nodes of its cluster reach it; none where it is of none.
    pub(crate) fn group_port(&self) -> Option<u16> {
        self.member.as_ref().map(Member::port)
    }

    /// Tells a node who the others are, and whether it begins the cluster anew, from its next start
    /// on.
    pub(crate) fn meet(&mut self, peers: Vec<u16>, is_first: bool) {
        if let Some(member) = &mut self.member {
            (member.peers, member.is_first) = (peers, is_first);
        }
    }

    /// Writes a file anew below its folder, for the server alone.
    pub(crate) fn write_anew(&self, path: &str, contents: &[u8]) -> Result<(), ServerError> {
        let written = self.home.write(path, contents).map(drop);
        written.map_err(|error| ServerError::system(format!("writing '{path}'"), error))
    }

    pub(crate) fn runs_as_root(&self) -> bool {
        self.account.is_root()
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<PathBuf, ServerError> {
        let written = self.home.write(&format!("files/{name}"), contents);
        written.map_err(|error| ServerError::system(format!("writing '{name}'"), error))
    }

    pub(crate) fn unwrite(&self, name: &str) -> Result<(), ServerError> {
        let removed = fs::remove_file(self.home().join("files").join(name));
        removed.map_err(|error| ServerError::system(format!("removing '{name}'"), error))
    }

    /// A command that runs as the server's account, in its folder, with no word of our environment.
    /// In a process group of its own: the Ctrl-C that ends us is not for it.
    pub(crate) fn command(&self, exe: &Path) -> Command {
        let mut command = Command::new(exe);
        command
            .env_clear()
            .env("PATH", PATH)
            .env("LC_ALL", "C")
            .env("HOME", self.home())
            .env("TMPDIR", self.home().join("tmp"))
            .envs(self.libraries.iter().map(|libraries| ("LD_LIBRARY_PATH", libraries)))
            .current_dir(self.home())
            .process_group(0)
            .stdin(Stdio::null());
        self.account.run(&mut command);
        command
    }

    /// Runs a command that makes something, with `stdin` as its input and the log as its output.
    pub(crate) fn run_to_end(
        &self,
        what: &str,
        command: Command,
        stdin: &[u8],
    ) -> Result<(), ServerError> {
        self.run_within(self.limit, what, command, stdin)
    }

    /// The same with a limit of its own.
    pub(crate) fn run_within(
        &self,
        limit: Duration,
        what: &str,
        mut command: Command,
        stdin: &[u8],
    ) -> Result<(), ServerError> {
        // A file rather than a pipe: neither side ever waits for the other.
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

    fn ask_version(&self) -> Result<String, ServerError> {
        let exe = &self.program.exe;
        let mut command = self.command(exe);
        if self.kind != Kind::Postgres {
            command.arg("--no-defaults");
        }
        command.arg("--version");
        let told = self.write("version", b"")?;
        let file = fs::File::options().append(true).open(&told);
        let failed = |error: io::Error| ServerError::system(told.display(), error);
        command.stdout(file.map_err(failed)?);
        let mut child = self.spawn_beside_log(command)?;
        let status = self.end_of(&mut child, VERSION_LIMIT)?;
        let told = fs::read(&told).map_err(failed)?;
        if !status.is_some_and(|status| status.success()) {
            let text = self.with_log(format!("{} does not print its version", exe.display()));
            return Err(ServerError::new(ServerErrorKind::NotInstalled, text));
        }
        let told = String::from_utf8_lossy(&told);
        match self.kind {
            Kind::Postgres => postgres::version(exe, &told),
            Kind::MariaDb | Kind::MySql => mysql::version(self.kind, exe, &told),
        }
    }

    fn prepare(&self) -> Result<(), ServerError> {
        match self.kind {
            Kind::Postgres => postgres::prepare(self),
            Kind::MariaDb | Kind::MySql => mysql::prepare(self),
        }
    }

    fn first_launch(&mut self) -> Result<(), ServerError> {
        if self.kind == Kind::Postgres {
            return self.launch(&[]);
        }
        let script = self.write("first.sql", mysql::first_words(self).as_bytes())?;
        let script = format!("--init-file={}", script.display());
        let launched = self.launch(&[&script]);
        // It holds the password.
        self.unwrite("first.sql")?;
        launched
    }

    /// Starts it and waits until it answers; what does not is ended.
    fn launch(&mut self, more: &[&str]) -> Result<(), ServerError> {
        // Children of a server that was killed by others may still hold its data.
        self.kill()?;
        if let Some(member) = &self.member {
            galera::before_launch(self, member)?;
        }
        let mut command = self.command(&self.program.exe);
        match self.kind {
            Kind::Postgres => command.args(postgres::arguments(self)),
            Kind::MariaDb | Kind::MySql => command.args(mysql::arguments(self)),
        };
        command.args(more);
        let child = self.spawn(command)?;
        let answers = self.wait_for_answer(&child);
        self.child = Some(child);
        if let (Ok(()), Some(member)) = (&answers, &mut self.member) {
            // Once is enough: a second beginning would be another cluster.
            member.is_first = false;
        }
        if answers.is_err() {
            let ended = self.home.marks().end();
            ended.map_err(|error| ServerError::system("the server cannot be ended", error))?;
            self.reap();
        }
        answers
    }

    fn wait_for_answer(&self, child: &Child) -> Result<(), ServerError> {
        let failed = |error: io::Error| ServerError::system("waiting for the server", error);
        let patience = Patience::new(self.limit).map_err(failed)?;
        let process = handle(child.id()).map_err(failed)?;
        loop {
            let greets = match self.kind {
                Kind::Postgres => postgres::greets(self.home(), self.port()),
                Kind::MariaDb | Kind::MySql => mysql::greets(self.home()),
            };
            let takes_part = self.member.is_none() || galera::is_synced(self.home());
            if takes_part && matches!(greets, Ok(true)) {
                return Ok(());
            }
            let title = self.kind.title();
            match patience.wait(Some(process.as_fd()), LOOK_EVERY) {
                Woken::Look => {}
                Woken::Ended => {
                    let text = self.with_log(format!("{title} ended at its start"));
                    return Err(ServerError::new(ServerErrorKind::Ended, text));
                }
                Woken::Over => {
                    let why = match greets {
                        Err(error) => error.to_string(),
                        Ok(true) => "it is not yet one of its cluster".to_owned(),
                        Ok(false) => "it lets nobody sign in".to_owned(),
                    };
                    let text = format!("{title} did not answer within {:?}: {why}", self.limit);
                    let text = self.with_remedy(self.with_log(text));
                    return Err(ServerError::new(ServerErrorKind::TooSlow, text));
                }
            }
        }
    }

    fn stop_gently(&mut self) -> Result<(), ServerError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let failed = |error: io::Error| ServerError::system("the server cannot be stopped", error);
        // PostgreSQL's "fast" way: who is connected is sent away.
        let signal = if self.kind == Kind::Postgres { Signal::INT } else { Signal::TERM };
        // It may be paused.
        self.home.marks().signal(Signal::CONT).map_err(failed)?;
        let pid = Pid::from_child(child);
        // Not reaped, so the number is its own.
        kill_process(pid, signal).map_err(|error| failed(error.into()))?;
        let patience = Patience::new(self.limit).map_err(failed)?;
        if !child_ends(child, &patience).map_err(failed)? {
            let title = self.kind.title();
            let text = self.with_log(format!("{title} did not stop within {:?}", self.limit));
            return Err(ServerError::new(ServerErrorKind::TooSlow, self.with_remedy(text)));
        }
        self.reap();
        Ok(())
    }

    fn spawn(&self, mut command: Command) -> Result<Child, ServerError> {
        let log = self.home.log().map_err(|error| ServerError::system("the log", error))?;
        command.stdout(log);
        self.spawn_beside_log(command)
    }

    /// With its stdout as it is.
    fn spawn_beside_log(&self, mut command: Command) -> Result<Child, ServerError> {
        let log = self.home.log().map_err(|error| ServerError::system("the log", error))?;
        command.stderr(log);
        let exe = PathBuf::from(command.get_program());
        command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let text = format!(
                    "the user '{}' may not run {}: let all read and run it, its folders too, or \
                     name another user with ?user=",
                    self.account.name(),
                    exe.display()
                );
                ServerError::new(ServerErrorKind::BadOption, text)
            }
            _ => ServerError::system(exe.display(), error),
        })
    }

    /// How `child` ended; none if it had to be killed at its limit.
    fn end_of(
        &self,
        child: &mut Child,
        limit: Duration,
    ) -> Result<Option<ExitStatus>, ServerError> {
        let mut wait = || -> io::Result<Option<ExitStatus>> {
            let ended = child_ends(child, &Patience::new(limit)?)?;
            if !ended {
                child.kill()?;
            }
            let status = child.wait()?;
            Ok(ended.then_some(status))
        };
        wait().map_err(|error| ServerError::system("waiting for a process", error))
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It has ended already, or must now.
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }

    fn with_log(&self, text: String) -> String {
        let tail = self.log_tail();
        if tail.is_empty() { text } else { format!("{text}; its last words:\n{tail}") }
    }

    fn with_remedy(&self, text: String) -> String {
        format!("{text}\nIf the machine is merely slow, raise ?start_limit=")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is left is swept by the next start; there is nobody to tell.
        let _left = self.home.remove();
        self.reap();
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
