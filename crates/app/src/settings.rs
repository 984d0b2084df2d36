//! Changes settings of servers that dbdyno did not start, for a run, and restores them: by SQL, or
//! by the file that a server reads at its start.
//!
//! Before a setting is changed, its old value is written to the restore journal on disk; the entry
//! is removed when the setting was restored and its value read back. Not here: settings of managed
//! servers, which are set when the server starts, and the choice of values (experiment, run).

mod at_start;
mod here;
mod momentary;
mod restore;
mod session;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use analysis::Tally;
use drivers::server_of;
use engine::Stop;
use model::{
    ChangedSetting, Database, Event, Fact, Finding, Plan, Severity, Target, is_same_value,
};
use monitor::wall_clock;
use store::{Changed, Store};

use crate::error::Error;
use crate::finding::not_made;
use crate::interruptible::{run_interruptible, run_unless_asked_twice};
use crate::open::open;
use crate::watcher::Watcher;
use plan::managed::is_managed;

use self::at_start::FilesOfServers;
use self::session::{Found, SettingsSession, Way, is_back, is_ours};

pub use self::at_start::ServerRestart;
pub(crate) use self::here::{Control, Controlled, Here, ReachControl, dangerous, without_secrets};
pub(crate) use self::momentary::Momentary;
pub use self::restore::{
    Fate, Left, RestoreOptions, Restored, forget, forget_files, left, left_files, restore,
    restore_file, restore_left_files,
};
pub(crate) use self::session::with_user;

/// Longest time for restoring settings after the user asked to stop; settings that are not restored
/// by then stay in the restore journal.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time for restarting servers with restored files after the user asked to stop.
const RESTART_PATIENCE: Duration = Duration::from_secs(400);

/// Settings that a run or an experiment has changed and must restore, which are in the restore
/// journal.
pub(crate) struct SettingsGuard {
    store: PathBuf,
    purpose: String,
    held: Vec<ChangedSetting>,
    /// Targets of the servers whose settings are changed. Passwords are only here, not in the
    /// restore journal.
    targets: Vec<Target>,
    /// How servers are restarted; `None` if they may not be.
    restart: Option<ServerRestart>,
    files: FilesOfServers,
}

/// Settings that were changed, as they are reported in a run.
#[derive(Default)]
pub(crate) struct Set {
    /// Facts with name and value of each setting, in the server's spelling.
    pub(crate) facts: Vec<Fact>,
    /// Notes on settings to which the server gave another value than the requested one.
    pub(crate) differs: Vec<String>,
}

impl Set {
    /// Adds a setting as the server reports it after it was set to `asked`.
    fn add(&mut self, now: &Found, asked: &str, target: &Target) {
        if !is_same_value(asked, &now.value) {
            self.differs.push(adjusted_note(&now.name, asked, target, &now.value));
        }
        self.facts.push(Fact::new("setting", &now.name, &now.value));
    }

    /// Converts the result into events for the run, and shows its notes to the user through
    /// `watcher`.
    pub(crate) fn into_events(self, watcher: &mut dyn Watcher) -> Vec<Event> {
        self.differs.iter().for_each(|note| watcher.note(note));
        let facts = self.facts.into_iter().map(Event::Fact);
        facts.chain(taken_otherwise(&self.differs)).collect()
    }
}

/// Returns the finding that the server gave settings other values than requested, as `notes` say;
/// `None` if there are no notes.
pub(crate) fn taken_otherwise(notes: &[String]) -> Option<Event> {
    (!notes.is_empty()).then(|| {
        let observed = format!("{}.", notes.join("; "));
        let finding = Finding::from_catalog("setting_adjusted", Severity::Warning, observed);
        Event::Finding(finding)
    })
}

/// Returns the note that the server reports the value `shown` for a setting that was set to
/// `asked`.
pub(crate) fn adjusted_note(name: &str, asked: &str, target: &Target, shown: &str) -> String {
    format!("{name} was set to {asked}, but {target} reports {shown}")
}

impl SettingsGuard {
    /// Creates a guard that has changed no settings. `purpose` names the run or experiment in the
    /// restore journal. Without `restart`, settings that need one are refused.
    pub(crate) fn new(
        store: &Path,
        purpose: String,
        restart: Option<ServerRestart>,
    ) -> SettingsGuard {
        SettingsGuard {
            store: store.to_owned(),
            purpose,
            held: Vec::new(),
            targets: Vec::new(),
            restart,
            files: FilesOfServers::default(),
        }
    }

    /// Sets the settings in `wanted` on the server of `target`, and restores settings that were
    /// changed before and are not in `wanted`. `database` is the open target.
    pub(crate) fn put(
        &mut self,
        database: &dyn Database,
        target: &Target,
        wanted: &[(String, String)],
    ) -> Result<Set, Error> {
        let server = server_of(target);
        let holds = self.held.iter().any(|held| held.server == server);
        if wanted.is_empty() && !holds && self.restart.is_none() {
            return Ok(Set::default());
        }
        let store = Store::open(&self.store)?;
        if !self.targets.iter().any(|known| server_of(known) == server) {
            self.targets.push(target.clone());
        }
        let mut session = SettingsSession::at(database, target)?;
        let found = wanted.iter().map(|(name, _)| session.look(name));
        let found: Vec<Found> = found.collect::<Result<_, _>>()?;
        let asked = found.into_iter().zip(wanted.iter().map(|(_, value)| value.as_str()));
        let (at_start, by_sql) = divide(&mut session, asked.collect())?;
        let is_by_sql =
            |held: &ChangedSetting| by_sql.iter().any(|(found, _)| found.name == held.name);
        let (back, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| held.server == server && !is_by_sql(held));
        self.held = held;
        let back: Vec<ChangedSetting> = back;
        for (nth, setting) in back.iter().enumerate() {
            if let Err(error) = give_back(&store, &mut session, setting, Ended::AfterLoad) {
                self.held.extend_from_slice(&back[nth..]);
                return Err(error);
            }
        }
        let mut set = Set::default();
        let (mut session, taken) = self.put_at_start(session, &at_start)?;
        for (now, (_, value)) in taken.iter().zip(&at_start) {
            set.add(now, value, target);
        }
        for (found, value) in by_sql {
            let now = self.put_one(&store, &mut session, &server, &found, value)?;
            set.add(&now, value, target);
        }
        Ok(set)
    }

    /// Sets settings that the server takes only at its start. A server that may be restarted is
    /// restarted in any case, so that all runs begin alike. Returns a session that the restart has
    /// not ended, and each setting as the server reports it.
    fn put_at_start(
        &mut self,
        session: SettingsSession,
        asked: &[(Found, &str)],
    ) -> Result<(SettingsSession, Vec<Found>), Error> {
        match (&self.restart, asked.first()) {
            (Some(restart), _) => {
                self.files.put(restart, &self.store, &self.purpose, session, asked)
            }
            (None, Some((found, _))) => Err(session.needs_restart(&found.name)),
            (None, None) => Ok((session, Vec::new())),
        }
    }

    fn put_one(
        &mut self,
        store: &Store,
        session: &mut SettingsSession,
        server: &str,
        found: &Found,
        value: &str,
    ) -> Result<Found, Error> {
        let is_it = |held: &ChangedSetting| held.server == server && held.name == found.name;
        let index = match self.held.iter().position(is_it) {
            Some(index) => index,
            None => {
                session.probe(found)?;
                let entry = self.entry(store, session, server, found, value)?;
                self.held.push(entry);
                self.held.len() - 1
            }
        };
        self.held[index].asked = value.to_owned();
        store.note_setting(&self.held[index])?;
        let now = session.set(&found.name, value)?;
        self.held[index].now = Some(now.value.clone());
        store.note_setting(&self.held[index])?;
        Ok(now)
    }

    /// Returns the restore journal's entry for a setting before this guard first changes it. If a
    /// killed process has left an entry, the old value in it is kept. Fails if a living process has
    /// an entry, or if somebody has changed the setting since an entry was made.
    fn entry(
        &self,
        store: &Store,
        session: &SettingsSession,
        server: &str,
        found: &Found,
        value: &str,
    ) -> Result<ChangedSetting, Error> {
        let known = store.changed_settings()?;
        let is_it =
            |known: &Changed| known.entry.server == server && known.entry.name == found.name;
        if let Some(left) = known.into_iter().find(is_it) {
            let setting = &left.entry;
            if let Some(process) = left.process {
                return Err(Error::Failed(format!(
                    "{setting} is being varied by process {process}: retry when it has ended"
                )));
            }
            // After a restart, the server may have lost the changed value.
            if !is_back(setting, found) && !is_ours(setting, found) {
                return Err(Error::Failed(format!(
                    "{setting} was left at {} by a killed {}, and somebody has changed it to {} \
                     since: see dbdyno restore --dry-run",
                    setting.asked, setting.purpose, found.value
                )));
            }
            return Ok(ChangedSetting { purpose: self.purpose.clone(), ..left.entry });
        }
        Ok(new_entry(session, found, value, &self.purpose))
    }

    /// Sets settings of a plan as [`SettingsGuard::put`] does, but returns early with
    /// `Error::Interrupted` when a stop is requested. Then only the restore journal knows which
    /// settings were changed.
    pub(crate) fn put_interruptible(
        &mut self,
        database: &Arc<dyn Database>,
        plan: &Plan,
        stop: &Stop,
    ) -> Result<Set, Error> {
        if plan.settings.is_empty() && self.held.is_empty() && self.restart.is_none() {
            return Ok(Set::default());
        }
        if self.restart.is_some() && is_managed(&plan.target) {
            return Err(Error::Usage(
                "a managed server needs no --restart-command or --control-agent: dbdyno restarts \
                 it itself"
                    .to_owned(),
            ));
        }
        let empty = SettingsGuard::new(&self.store, self.purpose.clone(), self.restart.clone());
        let mut guard = std::mem::replace(self, empty);
        let (database, plan) = (Arc::clone(database), plan.clone());
        let interrupted = "interrupted while settings were changed; 'dbdyno restore --dry-run' shows \
                           what is left";
        let restarts = guard.restart.is_some();
        let work = move || {
            let set = guard.put(database.as_ref(), &plan.target, &plan.settings);
            Ok((guard, set))
        };
        let (guard, set) = match restarts {
            // Else the server would be left in the middle of a restart.
            true => run_unless_asked_twice(stop, RESTART_PATIENCE, interrupted, work)?,
            false => run_interruptible(stop, interrupted, work)?,
        };
        *self = guard;
        match set {
            Ok(_) if restarts && stop.is_asked() => {
                Err(Error::Interrupted("interrupted before the load".to_owned()))
            }
            set => set,
        }
    }

    /// Restores all changed settings. Returns notes on those that could not be restored. They stay
    /// in the restore journal, except for settings of a rejected run that the server cannot
    /// restore.
    pub(crate) fn release(&mut self, ended: Ended, stop: &Stop) -> Vec<String> {
        let mut notes = Vec::new();
        for target in std::mem::take(&mut self.targets) {
            let server = server_of(&target);
            let (of_it, rest) = std::mem::take(&mut self.held)
                .into_iter()
                .partition::<Vec<_>, _>(|held| held.server == server);
            self.held = rest;
            if of_it.is_empty() {
                continue;
            }
            let (store, there) = (self.store.clone(), patient(target.clone()));
            let back = run_unless_asked_twice(stop, PATIENCE, "interrupted", move || {
                let store = Store::open(&store)?;
                let database = open(&there, 0, false)?;
                let mut session = SettingsSession::at(database.as_ref(), &there)?;
                // Try each one, even if others fail.
                let tried = of_it.iter().map(|one| give_back(&store, &mut session, one, ended));
                let tried: Vec<Result<Option<String>, Error>> = tried.collect();
                tried.into_iter().collect::<Result<Vec<Option<String>>, Error>>()
            });
            match back {
                Ok(given_up) => notes.extend(given_up.into_iter().flatten()),
                Err(error) => notes.push(format!(
                    "not all settings of {target} are restored: {error}; restore them with: {}",
                    restore_command(&target)
                )),
            }
        }
        let mut files = std::mem::take(&mut self.files);
        let limit = "the server is being restarted";
        let back =
            run_unless_asked_twice(stop, RESTART_PATIENCE, limit, move || Ok(files.release()));
        match back {
            Ok(not_restored) => notes.extend(not_restored),
            Err(error) => notes.push(format!(
                "a settings file may not be restored: {error}; see: dbdyno restore --dry-run"
            )),
        }
        notes
    }
}

/// Divides settings into those that are set by a restart, and those that are set by SQL. If one
/// needs a restart, all that can be in the server's file are set by it, since SQL may write the
/// same file.
fn divide<'a>(
    session: &mut SettingsSession,
    asked: Vec<(Found, &'a str)>,
) -> Result<Divided<'a>, Error> {
    let ways = asked.iter().map(|(found, _)| session.way(found));
    let ways: Vec<Way> = ways.collect::<Result<_, _>>()?;
    if !ways.contains(&Way::ByRestart) {
        return Ok((Vec::new(), asked));
    }
    // A name with a colon is that of an instrument, which no file knows.
    Ok(asked.into_iter().partition(|(found, _)| !found.name.contains(':')))
}

/// Settings to be set by a restart, and those to be set by SQL, each with its new value.
type Divided<'a> = (Vec<(Found, &'a str)>, Vec<(Found, &'a str)>);

/// Returns the target with a connect timeout of 30 s, unless the user set one, because a setting
/// that is not restored now stays changed until somebody runs `dbdyno restore`.
fn patient(target: Target) -> Target {
    if target.hosts.is_empty() { target } else { target.with_default("connect_timeout", "30s") }
}

/// Returns the finding that settings of the plan no longer have the value that the run set, because
/// the server was restarted; `None` if there are none.
pub(crate) fn lost(
    plan: &Plan,
    database: &Arc<dyn Database>,
    stop: &Stop,
    tally: &Tally,
) -> Option<Event> {
    let (target, settings) = (plan.target.clone(), plan.settings.clone());
    let database = Arc::clone(database);
    let look = move || {
        let mut session = SettingsSession::at(database.as_ref(), &target)?;
        let found = settings.iter().map(|(name, _)| session.look(name));
        found.collect::<Result<Vec<Found>, Error>>()
    };
    if plan.settings.is_empty() {
        return None;
    }
    // A database that does not answer has its own finding.
    let now = run_interruptible(stop, "interrupted while settings were read", look).ok()?;
    let lost = now.into_iter().filter_map(|Found { name, value, .. }| {
        let was = tally.fact("setting", &name)?;
        (*was != value).then(|| format!("{name} is {value}, and was set to {was}"))
    });
    let lost: Vec<String> = lost.collect();
    let text = format!("Settings of the server changed during the load: {}.", lost.join("; "));
    (!lost.is_empty()).then(|| not_made("settings_lost", text))
}

/// Returns a new entry of the restore journal for a setting, before its first change.
fn new_entry(
    session: &SettingsSession,
    found: &Found,
    value: &str,
    purpose: &str,
) -> ChangedSetting {
    ChangedSetting {
        server: server_of(&session.target),
        target: session.target.to_string(),
        name: found.name.clone(),
        before: found.value.clone(),
        kept_before: found.kept.clone(),
        asked: value.to_owned(),
        now: None,
        since_unix_ms: wall_clock::unix_ms(),
        purpose: purpose.to_owned(),
    }
}

/// Returns the command with which the user restores settings of a target that are still in the
/// restore journal.
pub(crate) fn restore_command(target: &Target) -> String {
    let password = if target.password.is_some() { " --ask-password" } else { "" };
    format!("dbdyno restore --target '{target}'{password}")
}

/// Restores a setting and removes its entry from the restore journal. If the server cannot restore
/// a setting of a rejected run, removes the entry too, and returns a note on the value that
/// remains; else `None`.
fn give_back(
    store: &Store,
    session: &mut SettingsSession,
    setting: &ChangedSetting,
    ended: Ended,
) -> Result<Option<String>, Error> {
    let found = session.look(&setting.name)?;
    if !is_back(setting, &found)
        && let Err(error) = session.put_back(setting)
    {
        return match ended {
            Ended::Refused => give_up(store, session, setting, error).map(Some),
            Ended::AfterLoad => Err(error),
        };
    }
    store.forget_setting(setting)?;
    Ok(None)
}

/// Removes the restore journal's entry of a setting that the server cannot restore, since another
/// try would fail too. Returns a note on the value that remains.
fn give_up(
    store: &Store,
    session: &mut SettingsSession,
    setting: &ChangedSetting,
    error: Error,
) -> Result<String, Error> {
    // A server that does not answer now may restore the setting later.
    let Ok(found) = session.look(&setting.name) else { return Err(error) };
    store.forget_setting(setting)?;
    Ok(format!(
        "{setting} stays at {} ({} before), though the {} was refused: {error}; a restart of the \
         server sets it back unless its configuration says otherwise",
        found.value, setting.before, setting.purpose
    ))
}

/// End of the run or experiment whose settings are restored. If the server cannot restore a
/// setting, the kind of end decides whether the setting stays in the restore journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The run or experiment was rejected before any load. A setting that the server cannot restore
    /// is then removed from the restore journal.
    Refused,
    /// The run or experiment ended after a load, with any result. A setting that the server cannot
    /// restore then stays in the restore journal.
    AfterLoad,
}

#[cfg(test)]
mod tests;
