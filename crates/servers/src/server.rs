//! A private database server: start, settings, pause, copies of its data, and end.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use model::managed::check_setting;
use model::{BadParameter, Host, Secret, Target};
use rustix::process::{Pid, Signal, kill_process};

use crate::credentials::{self, DATABASE, USER};
use crate::data_dir::{DataDir, sweep};
use crate::deadline::{Deadline, Woken, child_ends, handle};
use crate::galera::{self, Member};
use crate::instance::{Instance, how_it_ended};
use crate::options::{Setting, in_force, put, unset};
use crate::os_user::OsUser;
use crate::port::Port;
use crate::program::Program;
use crate::{Kind, Options, ServerError, ServerErrorKind, mysql, postgres, template};

/// Pause between two checks whether a starting server accepts connections yet.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Time limit for a server's program to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// A private database server, which dbdyno has started. Dropping it kills the server and removes
/// its data.
pub struct Server {
    version: String,
    /// Main process of the server; `None` before its start, and once its end was noticed.
    child: Option<Child>,
    has_copy: bool,
    instance: Instance,
}

/// Creates and starts a private server, and returns once it accepts connections. Also ends and
/// removes servers in the same parent folder that killed dbdyno processes have left.
pub fn start(kind: Kind, options: &Options) -> Result<Server, ServerError> {
    let mut server = set_up(kind, options, None, credentials::draw_password()?)?;
    prepare(&server.instance)?;
    server.first_launch()?;
    Ok(server)
}

/// Creates and starts a server as [`start`] does, but copies its initial data from the folder
/// `templates`. If no matching data are stored there, creates them and stores a copy.
pub(crate) fn start_from(
    templates: &Path,
    kind: Kind,
    options: &Options,
) -> Result<Server, ServerError> {
    let mut server = set_up(kind, options, None, credentials::draw_password()?)?;
    template::prepare(&mut server.instance, templates, prepare)?;
    server.first_launch()?;
    Ok(server)
}

/// Creates and starts a node of a cluster. `password` is that of the other nodes; `None` draws a
/// new one, for the first node. A node creates its initial data only if it bootstraps the cluster;
/// otherwise the other nodes send them.
pub(crate) fn start_node(
    kind: Kind,
    options: &Options,
    member: Member,
    password: Option<Secret>,
) -> Result<Server, ServerError> {
    let (has_data, is_first) = (password.is_some(), member.is_first);
    let password = password.map_or_else(credentials::draw_password, Ok)?;
    let mut server = set_up(kind, options, Some(member), password)?;
    if has_data && !is_first {
        server.launch(&[])?;
    } else {
        prepare(&server.instance)?;
        server.first_launch()?;
    }
    Ok(server)
}

fn prepare(server: &Instance) -> Result<(), ServerError> {
    match server.kind {
        Kind::Postgres => postgres::prepare(server),
        Kind::MariaDb | Kind::MySql => mysql::prepare(server),
    }
}

/// Prepares program, account, folder, port and settings of a server, but not its data.
fn set_up(
    kind: Kind,
    options: &Options,
    member: Option<Member>,
    password: Secret,
) -> Result<Server, ServerError> {
    for (name, value) in &options.settings {
        check_setting(kind, name, value)
            .map_err(|error| ServerError::new(ServerErrorKind::BadOption, error.to_string()))?;
    }
    let os_user = OsUser::choose(kind, options.user.as_deref())?;
    let program = Program::find(kind, options.bin.as_deref())?;
    let folder = options.folder.clone().unwrap_or_else(disk);
    let dir = DataDir::make(&folder, os_user.clone())?;
    // A later start sweeps what cannot be swept now.
    let _n_swept = sweep(&folder);
    let libraries = program
        .libraries(&dir.path().join("lib"))
        .map_err(|error| ServerError::system(program.base.display(), error))?;
    let instance = Instance {
        kind,
        program,
        libraries,
        os_user,
        settings: Vec::new(),
        password,
        port: Port::reserve().map_err(|error| ServerError::system("127.0.0.1", error))?,
        limit: options.start_limit,
        member,
        dir,
    };
    let mut server = Server { version: String::new(), child: None, has_copy: false, instance };
    server.version = server.ask_version()?;
    server.instance.settings = in_force(kind, &server.version, &options.settings);
    Ok(server)
}

/// Returns the default parent folder of private servers: /var/tmp if it exists, since it is on a
/// disk, else the system's folder for temporary files, often /tmp. That is in memory on many
/// systems, where a commit costs nothing.
fn disk() -> PathBuf {
    let disk = PathBuf::from("/var/tmp");
    if disk.is_dir() { disk } else { tempfile::env::temp_dir() }
}

impl Server {
    pub fn kind(&self) -> Kind {
        self.instance.kind
    }

    /// Returns the version as printed by the server's program, such as `10.11.19-MariaDB-0+deb12u1`
    /// or `15.18`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the settings with which the server starts: dbdyno's defaults and those of the user.
    pub fn settings(&self) -> &[Setting] {
        &self.instance.settings
    }

    /// Returns the path of the folder with the server's data, log and socket. The folder is removed
    /// together with the server.
    pub fn folder(&self) -> &Path {
        self.instance.folder()
    }

    /// Returns the server's TCP port on 127.0.0.1, which never changes.
    pub fn port(&self) -> u16 {
        self.instance.port.number()
    }

    pub fn socket(&self) -> PathBuf {
        match self.instance.kind {
            Kind::Postgres => postgres::socket(self.folder(), self.port()),
            Kind::MariaDb | Kind::MySql => mysql::socket(self.folder()),
        }
    }

    /// Returns the process ID of the server's main process; `None` once its end was noticed.
    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns the target for connections to the server over TCP, with a user that has all
    /// privileges.
    pub fn target(&self) -> Target {
        // The default sign-in method of newer servers first needs the password in clear text. It is
        // random, and valid on this server only.
        let options = match self.instance.kind {
            Kind::MySql => vec![("clear_password".to_owned(), "true".to_owned())],
            Kind::MariaDb | Kind::Postgres => Vec::new(),
        };
        Target {
            scheme: self.instance.kind.name().to_owned(),
            user: Some(USER.to_owned()),
            password: Some(self.instance.password.clone()),
            hosts: vec![Host { name: "127.0.0.1".to_owned(), port: Some(self.port()) }],
            path: DATABASE.to_owned(),
            options,
        }
    }

    /// Returns the target for connections to the server over its Unix socket, whose path is in the
    /// option `socket`.
    pub fn socket_target(&self) -> Target {
        let socket = self.socket();
        let path = socket.to_str().expect("a folder's path was found to be plain");
        Target { options: vec![("socket".to_owned(), path.to_owned())], ..self.target() }
    }

    pub fn log_tail(&self) -> String {
        self.instance.log_tail()
    }

    /// Returns exit status and last log lines of a server that was killed, has crashed, or was
    /// stopped in any other way; `None` while it runs.
    pub fn ended(&mut self) -> Option<String> {
        if let Some(child) = &mut self.child {
            match child.try_wait() {
                Ok(None) => return None,
                Ok(Some(status)) => {
                    self.child = None;
                    return Some(self.instance.with_log(how_it_ended(status)));
                }
                // Impossible for a child that is not reaped.
                Err(error) => return Some(error.to_string()),
            }
        }
        Some(self.instance.with_log("is not running".to_owned()))
    }

    /// Changes a setting of the server from the next [`Server::restart`] on. Fails if name or value
    /// is malformed, or if dbdyno itself controls the setting.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        check_setting(self.instance.kind, name, value)?;
        put(&mut self.instance.settings, name, value);
        Ok(())
    }

    /// Returns a setting to dbdyno's default for it, or else the server's, at the next restart.
    pub fn unset(&mut self, name: &str) {
        let defaults = in_force(self.instance.kind, &self.version, &[]);
        unset(&mut self.instance.settings, name, defaults);
    }

    /// Writes a file that only the server can read, such as a certificate or a key, and replaces
    /// one of the same name. Returns the path, which can be the value of a server setting.
    pub fn put_file(&self, name: &str, contents: &[u8]) -> Result<PathBuf, ServerError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let text =
                format!("'{name}' is not a valid file name: use letters, digits, '.', '_' and '-'");
            return Err(ServerError::new(ServerErrorKind::BadOption, text));
        }
        self.instance.write(name, contents)
    }

    /// Shuts the server down without losing commits if it runs, and starts it with its current
    /// settings.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        if self.ended().is_none() {
            self.stop_gently()?;
        }
        self.launch(&[])
    }

    /// Shuts the server down without losing commits; [`Server::restart`] starts it again.
    pub fn shut_down(&mut self) -> Result<(), ServerError> {
        if self.ended().is_some() { Ok(()) } else { self.stop_gently() }
    }

    /// Kills all processes of the server at once (SIGKILL), as a crash would. The data stay.
    /// PostgreSQL leaves a few KiB of System V shared memory, which only its next start frees.
    pub fn kill(&mut self) -> Result<(), ServerError> {
        let killed = self.instance.dir.marks().kill();
        killed.map_err(|error| ServerError::system("the server cannot be killed", error))?;
        self.reap();
        Ok(())
    }

    /// Suspends all processes of the server (SIGSTOP) until [`Server::resume`]. Connections stay
    /// open, but get no answers.
    pub fn pause(&self) -> Result<(), ServerError> {
        let paused = self.instance.dir.marks().signal(Signal::STOP);
        paused.map_err(|error| ServerError::system("the server cannot be paused", error))
    }

    /// Resumes a server that [`Server::pause`] has suspended.
    pub fn resume(&self) -> Result<(), ServerError> {
        let resumed = self.instance.dir.marks().signal(Signal::CONT);
        resumed.map_err(|error| ServerError::system("the server cannot be resumed", error))
    }

    /// Shuts the server down and copies its data for [`Server::put_back`]. The server stays stopped
    /// until [`Server::restart`]. The copy takes no space if the file system shares blocks
    /// (reflinks); otherwise fails if the disk has too little space.
    pub fn copy_data(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        crate::copy::keep(&self.instance)?;
        self.has_copy = true;
        Ok(())
    }

    /// Whether the server's data have been copied by [`Server::copy_data`].
    pub fn has_copy(&self) -> bool {
        self.has_copy
    }

    /// Kills the server and restores its data from the copy. The server stays stopped until
    /// [`Server::restart`]. Panics if there is no copy.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        assert!(self.has_copy, "what was not copied cannot be put back");
        // Killed, since the data are discarded.
        let ended = self.instance.dir.marks().end();
        ended.map_err(|error| ServerError::system("the server cannot be ended", error))?;
        self.reap();
        crate::copy::put_back(&self.instance)
    }

    /// Kills the server and removes its folder, as dropping it does, but returns an error if that
    /// fails.
    pub fn stop(mut self) -> Result<(), ServerError> {
        let removed = self.instance.dir.remove();
        removed.map_err(|error| ServerError::system(self.folder().display(), error))
    }

    pub(crate) fn password(&self) -> &Secret {
        &self.instance.password
    }

    /// Returns the port on which the server communicates with the other nodes of its cluster;
    /// `None` for a single server.
    pub(crate) fn group_port(&self) -> Option<u16> {
        self.instance.member.as_ref().map(Member::port)
    }

    /// Sets the ports of the other cluster nodes, and whether this node bootstraps the cluster
    /// (`is_first`), both for the next start. Does nothing to a single server.
    pub(crate) fn meet(&mut self, peers: Vec<u16>, is_first: bool) {
        if let Some(member) = &mut self.instance.member {
            (member.peers, member.is_first) = (peers, is_first);
        }
    }

    fn ask_version(&self) -> Result<String, ServerError> {
        let exe = &self.instance.program.exe;
        let mut command = self.instance.command(exe);
        if self.instance.kind != Kind::Postgres {
            command.arg("--no-defaults");
        }
        command.arg("--version");
        let shown = self.instance.write("version", b"")?;
        let file = fs::File::options().append(true).open(&shown);
        let failed = |error: io::Error| ServerError::system(shown.display(), error);
        command.stdout(file.map_err(failed)?);
        let mut child = self.instance.spawn_beside_log(command)?;
        let status = self.instance.end_of(&mut child, VERSION_LIMIT)?;
        let shown = fs::read(&shown).map_err(failed)?;
        if !status.is_some_and(|status| status.success()) {
            let text =
                self.instance.with_log(format!("{} does not print its version", exe.display()));
            return Err(ServerError::new(ServerErrorKind::NotInstalled, text));
        }
        let shown = String::from_utf8_lossy(&shown);
        match self.instance.kind {
            Kind::Postgres => postgres::version(exe, &shown),
            Kind::MariaDb | Kind::MySql => mysql::version(self.instance.kind, exe, &shown),
        }
    }

    fn first_launch(&mut self) -> Result<(), ServerError> {
        if self.instance.kind == Kind::Postgres {
            return self.launch(&[]);
        }
        let script =
            self.instance.write("first.sql", mysql::first_words(&self.instance).as_bytes())?;
        let script = format!("--init-file={}", script.display());
        let launched = self.launch(&[&script]);
        // The script contains the password.
        self.instance.unwrite("first.sql")?;
        launched
    }

    /// Starts the server with the additional arguments `more`, and returns once it accepts
    /// connections. If that takes longer than the time limit, ends the server and fails.
    fn launch(&mut self, more: &[&str]) -> Result<(), ServerError> {
        // Children of a server that was killed by others may still hold its data.
        self.kill()?;
        if let Some(member) = &self.instance.member {
            galera::before_launch(&self.instance.dir, member)?;
        }
        let mut command = self.instance.command(&self.instance.program.exe);
        match self.instance.kind {
            Kind::Postgres => command.args(postgres::arguments(&self.instance)),
            Kind::MariaDb | Kind::MySql => command.args(mysql::arguments(&self.instance)),
        };
        command.args(more);
        let child = self.instance.spawn(command)?;
        let answers = self.wait_for_answer(&child);
        self.child = Some(child);
        if let (Ok(()), Some(member)) = (&answers, &mut self.instance.member) {
            // Only for one start: bootstrapping again would create another cluster.
            member.is_first = false;
        }
        if answers.is_err() {
            let ended = self.instance.dir.marks().end();
            ended.map_err(|error| ServerError::system("the server cannot be ended", error))?;
            self.reap();
        }
        answers
    }

    fn wait_for_answer(&self, child: &Child) -> Result<(), ServerError> {
        let failed = |error: io::Error| ServerError::system("waiting for the server", error);
        let deadline = Deadline::new(self.instance.limit).map_err(failed)?;
        let process = handle(child.id()).map_err(failed)?;
        loop {
            let greets = match self.instance.kind {
                Kind::Postgres => postgres::greets(self.folder(), self.port()),
                Kind::MariaDb | Kind::MySql => mysql::greets(self.folder()),
            };
            let takes_part = self.instance.member.is_none() || galera::is_synced(self.folder());
            if takes_part && matches!(greets, Ok(true)) {
                return Ok(());
            }
            let title = self.instance.kind.title();
            match deadline.wait(Some(process.as_fd()), LOOK_EVERY) {
                Woken::Look => {}
                Woken::Ended => {
                    let text = self.instance.with_log(format!("{title} exited while starting"));
                    return Err(ServerError::new(ServerErrorKind::Ended, text));
                }
                Woken::Over => {
                    let why = match greets {
                        Err(error) => error.to_string(),
                        Ok(true) => "it has not joined its cluster".to_owned(),
                        Ok(false) => "it does not accept sign-ins".to_owned(),
                    };
                    let text =
                        format!("{title} did not answer within {:?}: {why}", self.instance.limit);
                    let text = self.instance.with_remedy(self.instance.with_log(text));
                    return Err(ServerError::new(ServerErrorKind::TooSlow, text));
                }
            }
        }
    }

    fn stop_gently(&mut self) -> Result<(), ServerError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let failed = |error: io::Error| ServerError::system("the server cannot be stopped", error);
        // PostgreSQL's "fast" shutdown, which disconnects clients.
        let signal = if self.instance.kind == Kind::Postgres { Signal::INT } else { Signal::TERM };
        // The server may be paused.
        self.instance.dir.marks().signal(Signal::CONT).map_err(failed)?;
        let pid = Pid::from_child(child);
        // The child is not reaped, so no other process has its id.
        kill_process(pid, signal).map_err(|error| failed(error.into()))?;
        let deadline = Deadline::new(self.instance.limit).map_err(failed)?;
        if !child_ends(child, &deadline).map_err(failed)? {
            let title = self.instance.kind.title();
            let text = self
                .instance
                .with_log(format!("{title} did not stop within {:?}", self.instance.limit));
            return Err(ServerError::new(
                ServerErrorKind::TooSlow,
                self.instance.with_remedy(text),
            ));
        }
        self.reap();
        Ok(())
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The child has ended already, or is killed here.
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The next start sweeps what is left.
        let _left = self.instance.dir.remove();
        self.reap();
    }
}
