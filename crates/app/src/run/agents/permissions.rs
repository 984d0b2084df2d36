//! What an agent lets runs do on its host: load certain servers, use certain files, execute scripts
//! that are programs. Everything else is refused before anything is opened.
//!
//! Not here: who may ask an agent (its hub).

use std::fmt;
use std::path::{Path, PathBuf};

use model::{Host, Plan, Source, Target};
use plan::Draft;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Word behind the name of the transport with which a client process expects its permissions as
/// the first message, before its job.
pub(super) const LIMITED: &str = "limited";
/// Word that allows scripts that are programs, such as Lua.
const SCRIPTS: &str = "scripts";

/// Word that allows to monitor the host.
const MONITOR: &str = "monitor";

/// Word that allows to restart a server with other settings.
const CONTROL: &str = "control";

/// Task of a process that a run starts on another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// To execute clients of the run.
    Clients,
    /// To read the load of the host.
    Monitor,
    /// To change the settings file of a server on the host, and restart the server.
    Control,
}

/// How an agent lets runs change the settings of the server on its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedControl {
    /// Shell command that restarts the server.
    pub restart: String,
    /// File to which settings are added; `None` for the one that the server itself writes.
    pub file: Option<PathBuf>,
    /// Store with the restore journal of this host.
    pub journal: PathBuf,
}

/// Permissions of an agent. Without any, it loads only databases without data, such as `sim`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    /// Servers that runs may connect to. A host without a port allows all its ports.
    pub hosts: Vec<Host>,
    /// Files that runs may use: databases, certificates, libraries.
    pub files: Vec<PathBuf>,
    /// Whether runs may execute scripts that can read files and start programs.
    pub scripts: bool,
    /// Whether runs may read the load of the host: CPU, memory, disks, network, and the process of
    /// a server at the port of their target.
    pub monitor: bool,
    /// How runs may change settings of the server on the host, and restart it; `None` if they may
    /// not.
    pub control: Option<AllowedControl>,
}

impl Permissions {
    /// Adds what a word allows: `db1:5432`, `db1`, `/data/bench.db`, `scripts`, or `monitor`.
    pub fn allow(&mut self, word: &str) -> Result<(), String> {
        match word {
            SCRIPTS => self.scripts = true,
            MONITOR => self.monitor = true,
            CONTROL => return Err("'control' needs a --restart-command".to_owned()),
            path if path.starts_with('/') => self.files.push(PathBuf::from(path)),
            host => {
                let bad = |why| {
                    format!(
                        "'{host}' is no server, file (/...), 'scripts', 'monitor' or 'control': \
                         {why}"
                    )
                };
                self.hosts.push(Host::parse(host).map_err(bad)?);
            }
        }
        Ok(())
    }

    /// Returns what is left of the permissions for a process that does this work.
    pub fn for_work(&self, work: Work) -> Permissions {
        let none = Permissions::default();
        match work {
            Work::Monitor => Permissions { monitor: self.monitor, ..none },
            Work::Control => Permissions { control: self.control.clone(), ..none },
            Work::Clients => Permissions { monitor: false, control: None, ..self.clone() },
        }
    }

    /// Fails with a sentence unless the host may be monitored, or its server be controlled.
    pub fn check_work(&self, work: Work) -> Result<(), Error> {
        match work {
            Work::Monitor => self.check_monitor(),
            Work::Control => self.check_control().map(drop),
            Work::Clients => Ok(()),
        }
    }

    /// Returns how the server may be controlled. Fails if it may not be.
    pub(super) fn check_control(&self) -> Result<&AllowedControl, Error> {
        self.control.as_ref().ok_or_else(|| {
            refused("does not let a server be restarted with other settings".to_owned(), CONTROL)
        })
    }

    /// Fails unless the host may be monitored.
    pub(super) fn check_monitor(&self) -> Result<(), Error> {
        match self.monitor {
            true => Ok(()),
            false => Err(refused("does not let its host be monitored".to_owned(), MONITOR)),
        }
    }

    /// Fails if a script of the run is a program, and programs are not allowed. To be called before
    /// a script is read, because reading one executes it.
    pub(super) fn check_sources(&self, sources: &[Source]) -> Result<(), Error> {
        let is_code = |source: &&Source| {
            workloads::language_of(&source.name).is_none_or(|language| language.is_code)
        };
        match sources.iter().find(is_code) {
            Some(source) if !self.scripts => Err(refused(
                format!("executes no scripts that are programs ({})", source.name),
                SCRIPTS,
            )),
            _ => Ok(()),
        }
    }

    /// Fails if a plan as it was sent has parts that read files when it is decided, or that no run
    /// needs.
    pub(super) fn check_draft(&self, draft: &Draft) -> Result<(), Error> {
        let has_more = !draft.vary.is_empty()
            || !draft.at.is_empty()
            || !draft.server.is_empty()
            || !draft.experiment.is_empty();
        let reads_file = draft.groups.iter().any(|group| {
            let rate = group.values.get("rate");
            rate.is_some_and(|rate| rate.text.trim_start().starts_with("file"))
        });
        match has_more || reads_file {
            true => Err(Error::Failed("the agent refuses this plan: no run sends it".to_owned())),
            false => Ok(()),
        }
    }

    /// Fails if the plan's target, or that of a group, is none that is allowed.
    pub(super) fn check_targets(&self, plan: &Plan, has_scripts: bool) -> Result<(), Error> {
        plan.targets().try_for_each(|target| self.check_target(&target, has_scripts))
    }

    /// Fails if a server that the plan names by its host is none that is allowed. Files and sockets
    /// are those of the agent's host, and checked there.
    pub(super) fn check_servers(&self, plan: &Plan) -> Result<(), Error> {
        plan.targets().try_for_each(|target| {
            // A managed server is known by its address once it runs.
            let Ok(entry) = drivers::by_scheme(&target.scheme) else { return Ok(()) };
            match self.forbidden_host(&target, entry) {
                Some(host) if !host.name.starts_with('/') => Err(refused_host(&host)),
                _ => Ok(()),
            }
        })
    }

    fn check_target(&self, target: &Target, has_scripts: bool) -> Result<(), Error> {
        let entry = drivers::by_scheme(&target.scheme).map_err(Error::failed)?;
        for (name, path) in &target.options {
            let is_file = plan::FILES.contains(&name.as_str()) || name == "socket";
            if is_file && !path.is_empty() {
                self.check_file(Path::new(path))?;
            }
        }
        if entry.product.administration.is_in_process {
            // Statements of a script could name further files.
            if has_scripts && !self.scripts {
                return Err(refused(format!("executes no scripts on {target}"), SCRIPTS));
            }
            return (entry.file)(target).map_or(Ok(()), |path| self.check_file(&path));
        }
        match self.forbidden_host(target, entry) {
            Some(host) if host.name.starts_with('/') => self.check_file(Path::new(&host.name)),
            Some(host) => Err(refused_host(&host)),
            None => Ok(()),
        }
    }

    /// Returns the first host of a target that is not allowed, with its port; `None` if all are, or
    /// if the target is a file or a socket.
    fn forbidden_host(&self, target: &Target, entry: &drivers::Entry) -> Option<Host> {
        let has_socket = target.option("socket").is_some_and(|path| !path.is_empty());
        if entry.product.administration.is_in_process || has_socket {
            return None;
        }
        let port = entry.local_server.map(|server| server.port);
        let default = Host { name: "localhost".to_owned(), port: None };
        let hosts = match target.hosts.as_slice() {
            [] => std::slice::from_ref(&default),
            hosts => hosts,
        };
        let forbidden = hosts.iter().find(|host| !self.allows_host(host, port))?;
        Some(Host { port: forbidden.port.or(port), ..forbidden.clone() })
    }

    fn allows_host(&self, host: &Host, default_port: Option<u16>) -> bool {
        self.hosts.iter().any(|allowed| {
            let same_name = allowed.name.eq_ignore_ascii_case(&host.name);
            same_name && allowed.port.is_none_or(|port| Some(port) == host.port.or(default_port))
        })
    }

    /// Fails unless a file is allowed. Both are compared as they are after links are followed, if
    /// they exist, so that no link leads elsewhere.
    fn check_file(&self, path: &Path) -> Result<(), Error> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let asked = real(path);
        match self.files.iter().any(|allowed| real(allowed) == asked) {
            true => Ok(()),
            false => {
                let path = path.display().to_string();
                Err(refused(format!("may not use the file {path}"), &path))
            }
        }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.iter().map(ToString::to_string);
        let files = self.files.iter().map(|path| path.display().to_string());
        let scripts = self.scripts.then(|| SCRIPTS.to_owned());
        let monitor = self.monitor.then(|| MONITOR.to_owned());
        let control = self.control.as_ref().map(|_| CONTROL.to_owned());
        let words = scripts.into_iter().chain(monitor).chain(control);
        let all: Vec<String> = hosts.chain(files).chain(words).collect();
        match all.is_empty() {
            true => f.write_str("nothing but sim"),
            false => f.write_str(&all.join(", ")),
        }
    }
}

fn refused_host(host: &Host) -> Error {
    refused(format!("may not load {host}"), &host.to_string())
}

fn refused(what: String, word: &str) -> Error {
    Error::Failed(format!("the agent {what}: start it with --allow {word} if it should"))
}
