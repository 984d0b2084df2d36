//! Both ends of the control of a server on another host: the run's, which orders, and a process
//! that changes the server's settings file there and restarts the server. That process restores the
//! file when the run has ended or is lost.
//!
//! Not here: the file itself, and when it is changed (settings).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::ChangedFile;
use monitor::wall_clock;
use store::Store;

use super::link::{Chosen, Hosts, Incoming, Link, Peer};
use super::message::{ControlOrder, FromAgent, Output, ToAgent, receive, send};
use super::permissions::{Permissions, Work};
use crate::error::Error;
use crate::settings::{Control, Controlled, Here, ReachControl, ServerRestart, dangerous};

/// Returns how a server is restarted by the agent with this name on the server's host, by the
/// command and with the file that the agent allows.
pub fn restart_by_agent(name: String, hosts: Arc<dyn Hosts>) -> ServerRestart {
    ServerRestart::by(Arc::new(ByAgent { name, hosts }))
}

struct ByAgent {
    name: String,
    hosts: Arc<dyn Hosts>,
}

impl ReachControl for ByAgent {
    fn reach(&self, journal: &Path, controlled: Controlled) -> Result<Box<dyn Control>, Error> {
        let names = [self.name.clone()];
        let Chosen { transport, .. } = self.hosts.choose_named(&names, Work::Control)?;
        let (link, peer) = transport.start(1).map_err(Error::failed)?;
        let mut control = Elsewhere {
            agent: self.name.clone(),
            journal: journal.to_owned(),
            entry: ChangedFile {
                server: controlled.server.clone(),
                target: controlled.target.clone(),
                path: String::new(),
                before: None,
                written: Vec::new(),
                restart: String::new(),
                agent: Some(self.name.clone()),
                since_unix_ms: wall_clock::unix_ms(),
                purpose: controlled.purpose.clone(),
            },
            is_changed: false,
            link,
            _peer: peer,
        };
        match control.ask(&ToAgent::Control(controlled))? {
            FromAgent::Controls { path, is_changed } => {
                (control.entry.path, control.is_changed) = (path, is_changed);
            }
            _ => return Err(control.is_lost()),
        }
        Ok(Box::new(control))
    }
}

/// Control of a server on the host of an agent.
struct Elsewhere {
    agent: String,
    /// Store with the restore journal of this host, which knows that the agent has changed a file.
    journal: PathBuf,
    entry: ChangedFile,
    is_changed: bool,
    link: Link,
    _peer: Box<dyn Peer>,
}

impl Elsewhere {
    fn order(&mut self, order: ControlOrder) -> Result<(), Error> {
        self.ask(&ToAgent::Do(order)).map(drop)
    }

    /// Sends a message, and waits for the answer.
    fn ask(&mut self, message: &ToAgent) -> Result<FromAgent, Error> {
        if send(self.link.outgoing.as_ref(), message).is_err() {
            return Err(self.is_lost());
        }
        match receive(self.link.incoming.as_mut()) {
            Some(FromAgent::Failed { why }) => {
                Err(Error::Failed(format!("the agent {}: {why}", self.agent)))
            }
            Some(answer) => Ok(answer),
            None => Err(self.is_lost()),
        }
    }

    fn is_lost(&self) -> Error {
        Error::Unreachable(format!(
            "the agent {} was lost: it restores the settings file itself, or does when it joins \
             again; 'dbdyno restore' on its host does it too",
            self.agent
        ))
    }
}

impl Control for Elsewhere {
    fn write(&mut self, settings: &[(String, String)]) -> Result<(), Error> {
        let journal = Store::open(&self.journal)?;
        journal.note_file(&self.entry)?;
        let written = self.order(ControlOrder::Write(settings.to_vec()));
        match &written {
            Ok(()) => self.is_changed = true,
            // The agent refused the settings, and has changed nothing.
            Err(Error::Failed(_)) if !self.is_changed => journal.forget_file(&self.entry)?,
            Err(_) => {}
        }
        written
    }

    fn restart(&mut self) -> Result<(), Error> {
        self.order(ControlOrder::Restart)
    }

    fn put_back(&mut self) -> Result<(), Error> {
        self.order(ControlOrder::PutBack)
    }

    fn forget(&mut self) -> Result<(), Error> {
        self.order(ControlOrder::Forget)?;
        self.is_changed = false;
        Ok(Store::open(&self.journal)?.forget_file(&self.entry)?)
    }

    fn place(&self) -> String {
        format!("{} on the host of the agent {}", self.entry.path, self.agent)
    }

    fn is_changed(&self) -> bool {
        self.is_changed
    }
}

/// Controls a server on this host as the run orders, until the connection to the run ends. Then it
/// restores the file, and restarts the server with it.
pub(super) fn control(
    job: &Controlled,
    permissions: Option<&Permissions>,
    mut incoming: Box<dyn Incoming>,
    output: &Output,
) {
    let mut here = match begin(job, permissions) {
        Ok(here) => here,
        Err(error) => return output.send(&FromAgent::Failed { why: error.to_string() }),
    };
    output.send(&FromAgent::Controls { path: here.place(), is_changed: here.is_changed() });
    while let Some(message) = receive(incoming.as_mut()) {
        let ToAgent::Do(order) = message else { continue };
        output.send(&match obey(&mut here, order) {
            Ok(()) => FromAgent::Done,
            Err(error) => FromAgent::Failed { why: error.to_string() },
        });
    }
    if here.is_changed() {
        // The restore journal keeps what fails, and the agent tries it again.
        let _ = here.put_back().and_then(|()| here.restart()).and_then(|()| here.forget());
    }
}

fn begin(job: &Controlled, permissions: Option<&Permissions>) -> Result<Here, Error> {
    let none = Permissions::default();
    let allowed = permissions.unwrap_or(&none).check_control()?;
    Here::new(&allowed.journal, job, &allowed.restart, allowed.file.as_deref())
}

fn obey(here: &mut Here, order: ControlOrder) -> Result<(), Error> {
    match order {
        ControlOrder::Write(settings) => {
            for (name, value) in &settings {
                plan::check_server_setting(name, value).map_err(Error::Usage)?;
            }
            if let Some(name) = dangerous(here, &settings) {
                return Err(Error::Usage(format!(
                    "server.{name} can start programs, load code or name other files, so no agent \
                     sets it"
                )));
            }
            here.write(&settings)
        }
        ControlOrder::Restart => here.restart(),
        ControlOrder::PutBack => here.put_back(),
        ControlOrder::Forget => here.forget(),
    }
}
