//! Settings that a server takes only at its start: the file from which it reads them is changed,
//! and the server is restarted.
//!
//! A restart is proven by the server's uptime, and a setting by the value that the server reports
//! then. If the server does not start, the file is restored and the server is restarted with it.
//! Not here: the file and the command themselves (`here`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::server_of;
use model::{Database, Target, is_same_value};
use monitor::wall_clock;

use super::here::{Control, Controlled, OnThisHost, ReachControl};
use super::session::{Found, SettingsSession};
use crate::error::Error;
use crate::open::open;

/// Longest time from the end of the restart command until the server answers.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);
/// Interval of attempts to reach a restarted server, in milliseconds.
const TRY_EVERY_MS: u64 = 100;
/// Age of a server, in seconds, from which a restart surely shows in its uptime, which servers
/// count in whole seconds.
const OLD_ENOUGH_S: f64 = 2.0;

/// How a server that dbdyno did not start is restarted with other settings.
#[derive(Clone)]
pub struct ServerRestart(Arc<dyn ReachControl>);

impl ServerRestart {
    /// The server is restarted on this host by a shell command. It reads `file`, or else the file
    /// that it writes itself.
    pub fn here(command: String, file: Option<PathBuf>) -> ServerRestart {
        ServerRestart(Arc::new(OnThisHost { command, file }))
    }

    pub(super) fn reach(
        &self,
        journal: &Path,
        controlled: Controlled,
    ) -> Result<Box<dyn Control>, Error> {
        self.0.reach(journal, controlled)
    }

    /// The server is restarted by somebody on its host.
    pub(crate) fn by(reach: Arc<dyn ReachControl>) -> ServerRestart {
        ServerRestart(reach)
    }
}

/// Settings files of servers that a run or an experiment has changed and must restore.
#[derive(Default)]
pub(super) struct FilesOfServers {
    held: Vec<FileOfServer>,
}

/// The settings file of a server, and how the server is restarted.
struct FileOfServer {
    target: Target,
    control: Box<dyn Control>,
    /// Whether the last restart command is known to have restarted nothing.
    is_unmoved: bool,
}

/// Settings as they are asked for: as they were found, and their new values.
pub(super) type Asked<'a> = [(Found, &'a str)];

impl FilesOfServers {
    /// Restarts a server with these settings, and otherwise with its own file. Returns a new
    /// session, and each setting as the server reports it then.
    pub(super) fn put(
        &mut self,
        by: &ServerRestart,
        journal: &Path,
        purpose: &str,
        mut session: SettingsSession,
        asked: &Asked<'_>,
    ) -> Result<(SettingsSession, Vec<Found>), Error> {
        for (found, value) in asked {
            session.check_range(&found.name, value)?;
        }
        let held = self.of_server(by, journal, purpose, &mut session)?;
        let was_changed = held.control.is_changed();
        let pairs = asked.iter().map(|(found, value)| (found.name.clone(), (*value).to_owned()));
        let pairs: Vec<(String, String)> = pairs.collect();
        held.write(&pairs)?;
        let restarted = held.restart(Some(&mut session));
        drop(session);
        if asked.is_empty() && restarted.is_ok() && was_changed {
            held.control.forget()?;
        }
        let taken = restarted.and_then(|mut session| {
            let now = pairs.iter().map(|(name, _)| session.look(name));
            let now = now.collect::<Result<Vec<Found>, Error>>()?;
            let of_file = || held.control.place();
            asked.iter().zip(&now).try_for_each(|(asked, now)| is_taken(asked, now, &of_file()))?;
            Ok((session, now))
        });
        taken.map_err(|error| {
            let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
            let with = match asked.is_empty() {
                true => "its own settings".to_owned(),
                false => pairs.collect::<Vec<String>>().join(", "),
            };
            let back = match held.is_unmoved && !was_changed {
                true => held.restore_file(),
                false => held.restore(),
            };
            let what = match back {
                Ok(()) => format!(
                    "with {with}: {error}; {} runs with its own settings again",
                    held.target
                ),
                Err(also) if also == error => format!("with {with}: {error}"),
                Err(also) => format!("with {with}: {error}; {also}"),
            };
            match error {
                Error::Usage(_) => Error::Usage(what),
                _ => Error::Failed(what),
            }
        })
    }

    /// Restores all files, and restarts their servers. Returns a note on each that could not be
    /// restored.
    pub(super) fn release(&mut self) -> Vec<String> {
        let one = |mut held: FileOfServer| {
            let error = held.restore().err()?;
            Some(format!(
                "the settings of {} are not restored: {error}; restore them with: {}",
                held.target,
                super::restore_command(&held.target)
            ))
        };
        std::mem::take(&mut self.held).into_iter().filter_map(one).collect()
    }

    fn of_server(
        &mut self,
        by: &ServerRestart,
        journal: &Path,
        purpose: &str,
        session: &mut SettingsSession,
    ) -> Result<&mut FileOfServer, Error> {
        let target = session.target.clone();
        let server = server_of(&target);
        if let Some(index) = self.held.iter().position(|held| server_of(&held.target) == server) {
            return Ok(&mut self.held[index]);
        }
        let own_file = session.by.file.path.map(|sql| session.word(sql)).transpose();
        let own_file = own_file.map_err(|error| {
            Error::Usage(format!("the path of the server's settings file is not known: {error}"))
        })?;
        let controlled = Controlled {
            server,
            target: target.to_string(),
            hosts: session.hosts.clone(),
            own_file,
            purpose: purpose.to_owned(),
        };
        let control = by.reach(journal, controlled)?;
        self.held.push(FileOfServer { target, control, is_unmoved: false });
        let last = self.held.len() - 1;
        Ok(&mut self.held[last])
    }
}

impl FileOfServer {
    /// Adds settings to the file, or restores it if there are none.
    fn write(&mut self, settings: &[(String, String)]) -> Result<(), Error> {
        match settings.is_empty() {
            false => self.control.write(settings),
            // The server runs with the changed file until it is restarted.
            true if self.control.is_changed() => self.control.put_back(),
            true => Ok(()),
        }
    }

    /// Restarts the server, and waits until it answers. `session` is one before the restart, by
    /// which the restart is proven; `None` if the server may be down.
    fn restart(&mut self, session: Option<&mut SettingsSession>) -> Result<SettingsSession, Error> {
        if let Some(session) = session {
            let age_s = session.uptime_s()?;
            wall_clock::rest_ms(((OLD_ENOUGH_S - age_s).max(0.0) * 1e3) as u64);
        }
        let began = wall_clock::now();
        self.is_unmoved = false;
        self.control.restart()?;
        let ended = wall_clock::now();
        loop {
            let reached = open(&self.target, 0, false)
                .and_then(|database| SettingsSession::at(database.as_ref(), &self.target))
                .and_then(|mut session| Ok((session.uptime_s()?, session)));
            let is_late = ended.elapsed() > ANSWERS_WITHIN;
            match reached {
                // A server counts whole seconds, so it may have started a second earlier.
                Ok((age_s, session)) if age_s <= began.elapsed().as_secs_f64() => {
                    return Ok(session);
                }
                Ok((age_s, _)) if is_late => {
                    self.is_unmoved = true;
                    return Err(Error::Failed(format!(
                        "{} has run for {age_s:.0} s, so the restart command has not restarted it",
                        self.target
                    )));
                }
                Err(error) if is_late => return Err(error),
                _ => wall_clock::rest_ms(TRY_EVERY_MS),
            }
        }
    }

    /// Restores the file of a server that has not been restarted with the changed one.
    fn restore_file(&mut self) -> Result<(), Error> {
        self.control.put_back()?;
        self.control.forget()
    }

    /// Restores the file, and restarts the server with it.
    fn restore(&mut self) -> Result<(), Error> {
        if !self.control.is_changed() {
            return Ok(());
        }
        self.control.put_back()?;
        self.restart(None).map_err(|error| match error {
            Error::Failed(why) => Error::Failed(format!(
                "{} is restored, but the server could not be restarted with it ({why}): restart it, \
                 and then: dbdyno restore --forget, or: dbdyno restore --restart-command COMMAND",
                self.control.place()
            )),
            error => error,
        })?;
        self.control.forget()
    }
}

/// Fails if a restarted server has not taken a value from its file, but has the one of before.
fn is_taken((before, value): &(Found, &str), now: &Found, file: &str) -> Result<(), Error> {
    let is_old = now.value == before.value && !is_same_value(value, &now.value);
    match is_old {
        false => Ok(()),
        true => Err(Error::Usage(format!(
            "server.{} is still {} after a restart with {value} in {file}: does the server read this \
             file last? A value on its command line, or set by SET PERSIST, takes precedence",
            now.name, now.value
        ))),
    }
}

/// Waits until a server answers that was restarted with its own settings, of which nothing is
/// known but its target.
pub(super) fn wait_for(target: &Target) -> Result<Arc<dyn Database>, Error> {
    let began = wall_clock::now();
    loop {
        match open(target, 0, false) {
            Err(error) if began.elapsed() > ANSWERS_WITHIN => return Err(error),
            Err(_) => wall_clock::rest_ms(TRY_EVERY_MS),
            Ok(database) => return Ok(database),
        }
    }
}
