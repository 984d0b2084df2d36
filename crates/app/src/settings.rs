//! Changes settings of servers that dbdyno did not start, by SQL for a run, and restores them.
//!
//! Before a setting is changed, its old value is written to the restore journal on disk; the entry
//! is removed when the setting was restored and its value read back. Not here: settings of managed
//! servers, which are set when the server starts, and the choice of values (experiment, run).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use analysis::Tally;
use drivers::server_of;
use engine::Stop;
use model::{
    ChangedSetting, Database, DbError, DbErrorKind, Event, Fact, Finding, Plan, Row, SettingsBySql,
    Severity, Target, Value, is_same_value,
};
use monitor::wall_clock;
use store::Store;

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::finding::not_made;
use crate::interruptible::{run_interruptible, run_unless_asked_twice};
use crate::open::open;
use crate::watcher::Watcher;

/// Longest time that a server may take to apply a new setting, in milliseconds; after it, the
/// change fails.
const TAKEN_UP_MS: u128 = 10_000;
/// Interval of checks whether the server has applied a setting, in milliseconds.
const LOOK_EVERY_MS: u64 = 10;
/// Longest time for restoring settings after the user asked to stop; settings that are not restored
/// by then stay in the restore journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server's setting as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    name: String,
    /// Value of the setting that new sessions get.
    value: String,
    /// Value that an earlier SQL statement has stored so that it survives a server restart; `None`
    /// if there is none.
    kept: Option<String>,
    /// Reason why SQL cannot change the setting; `None` if it can.
    fixed: Option<String>,
}

/// A session that reads and changes the settings of a server.
struct SettingsSession {
    session: AdminSession,
    by: SettingsBySql,
    target: Target,
}

impl SettingsSession {
    /// Connects to the server of a target. Fails if the database has no server settings.
    fn at(database: &dyn Database, target: &Target) -> Result<SettingsSession, Error> {
        let name = database.dialect().name;
        let by = database.administration().settings;
        let by = by.ok_or_else(|| Error::Usage(format!("{name} has no settings of a server")))?;
        Ok(SettingsSession { session: AdminSession::at(database)?, by, target: target.clone() })
    }

    /// Reads a setting. Fails if the server has no such setting; the error names another spelling
    /// that exists.
    fn look(&mut self, name: &str) -> Result<Found, Error> {
        if let Some(found) = self.find(name)? {
            return Ok(found);
        }
        let remedy = match self.by.other_name(name) {
            Some(other) if self.find(other)?.is_some() => {
                format!(": it calls it {other}, so use server.{other}")
            }
            _ => String::new(),
        };
        Err(Error::Usage(format!(
            "server.{name}: {} has no setting of that name for all sessions{remedy}",
            self.target
        )))
    }

    /// Reads a setting; `None` if the server has no such setting.
    fn find(&mut self, name: &str) -> Result<Option<Found>, Error> {
        let mut found = None;
        let mut tell = |row: &dyn Row| {
            let optional = |column: usize| match row.width() > column {
                true if row.value(column) != Value::Null => row.text(column).map(str::to_owned),
                _ => Ok(String::new()),
            };
            let is_there = |column: usize| row.width() > column && row.value(column) != Value::Null;
            found = Some(Found {
                name: row.text(0)?.to_owned(),
                value: optional(1)?,
                kept: is_there(2).then(|| optional(2)).transpose()?,
                fixed: is_there(3).then(|| optional(3)).transpose()?,
            });
            Ok(())
        };
        let asked = self.session.read(&(self.by.look)(name), &mut tell);
        asked.map_err(|db_error| self.refused(name, db_error, "be read"))?;
        Ok(found)
    }

    /// Checks that a setting can be changed by SQL, without changing it. Fails if it cannot.
    fn probe(&mut self, found: &Found) -> Result<(), Error> {
        if let Some(why) = &found.fixed {
            return Err(Error::Usage(format!(
                "server.{}: {why}, so SQL cannot set it on {}; use a managed server (--target \
                 managed:...)",
                found.name, self.target
            )));
        }
        match (self.by.probe)(&found.name) {
            sql if sql.is_empty() => Ok(()),
            sql => self
                .session
                .write(&sql)
                .map(drop)
                .map_err(|db_error| self.refused(&found.name, db_error, "be set by SQL")),
        }
    }

    /// Sets a setting for new sessions, waits until the server has applied it, and returns what the
    /// server reports then.
    fn set(&mut self, name: &str, value: &str) -> Result<Found, Error> {
        let mut first = None;
        for sql in (self.by.set)(name, value) {
            match self.session.write(&sql) {
                Ok(_) => {
                    self.take_up(name)?;
                    return self.look(name);
                }
                Err(db_error) if db_error.kind.breaks_session() => return Err(db_error.into()),
                // Report the error of the first spelling, which is the most likely one.
                Err(db_error) => first = first.or(Some(db_error)),
            }
        }
        let db_error = first.unwrap_or_else(|| DbError::new(DbErrorKind::Other, "nothing to say"));
        Err(self.refused(name, db_error, &format!("be set to '{value}'")))
    }

    fn put_back(&mut self, setting: &ChangedSetting) -> Result<(), Error> {
        let name = &setting.name;
        let unset = (self.by.unset)(name);
        match &setting.kept_before {
            Some(kept) => self.set(name, kept).map(drop)?,
            None if unset.is_empty() => self.set(name, &setting.before).map(drop)?,
            None => {
                let said = self.session.write(&unset).map(drop);
                said.map_err(|db_error| self.refused(name, db_error, "be restored"))?;
                self.take_up(name)?;
            }
        }
        let found = self.look(name)?;
        match is_back(setting, &found) {
            true => Ok(()),
            false => Err(Error::Failed(format!(
                "{setting} is {} after it was restored to {}",
                found.value, setting.before
            ))),
        }
    }

    /// Makes the server reload its configuration if that is needed for changed settings, and waits
    /// until it has.
    fn take_up(&mut self, name: &str) -> Result<(), Error> {
        if self.by.take_up.is_empty() {
            return Ok(());
        }
        let before = self.word(self.by.taken_up)?;
        let asked = self.session.read(self.by.take_up, &mut |_| Ok(()));
        asked.map_err(|db_error| self.refused(name, db_error, "be taken up"))?;
        let began = wall_clock::now();
        while self.word(self.by.taken_up)? == before {
            if began.elapsed().as_millis() > TAKEN_UP_MS {
                return Err(Error::Failed(format!(
                    "{} does not reload its configuration: see its log",
                    self.target
                )));
            }
            wall_clock::rest_ms(LOOK_EVERY_MS);
        }
        Ok(())
    }

    fn word(&mut self, sql: &str) -> Result<String, Error> {
        let mut word = String::new();
        self.session.read(sql, &mut |row: &dyn Row| {
            word = row.text(0)?.to_owned();
            Ok(())
        })?;
        Ok(word)
    }

    fn refused(&self, name: &str, db_error: DbError, what: &str) -> Error {
        if db_error.kind.breaks_session() {
            return db_error.into();
        }
        let target = &self.target;
        let mend = match db_error.kind {
            DbErrorKind::Denied => format!("; {}", with_user(&(self.by.if_denied)(name), target)),
            _ => String::new(),
        };
        Error::Usage(format!("server.{name} of {target} cannot {what}: {db_error}{mend}"))
    }
}

/// Replaces `{user}` in SQL by the user name of a target.
pub(crate) fn with_user(sql: &str, target: &Target) -> String {
    sql.replace("{user}", target.user.as_deref().unwrap_or("USER"))
}

/// Returns true if a setting has the value again that it had before dbdyno changed it.
fn is_back(setting: &ChangedSetting, found: &Found) -> bool {
    found.value == setting.before && found.kept == setting.kept_before
}

/// Returns true if a setting has the value that dbdyno has set or was about to set, so that nobody
/// else has changed it since.
fn is_ours(setting: &ChangedSetting, found: &Found) -> bool {
    let asked = &setting.asked;
    setting.now.as_ref() == Some(&found.value)
        || found.kept.as_ref() == Some(asked)
        || is_same_value(asked, &found.value)
}

/// Settings that a run or an experiment has changed and must restore, which are in the restore
/// journal.
pub(crate) struct SettingsGuard {
    store: PathBuf,
    purpose: String,
    held: Vec<ChangedSetting>,
    /// Targets of the servers whose settings are changed. Passwords are only here, not in the
    /// restore journal.
    targets: Vec<Target>,
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
    /// restore journal.
    pub(crate) fn new(store: &Path, purpose: String) -> SettingsGuard {
        SettingsGuard { store: store.to_owned(), purpose, held: Vec::new(), targets: Vec::new() }
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
        if wanted.is_empty() && !self.held.iter().any(|held| held.server == server) {
            return Ok(Set::default());
        }
        let store = Store::open(&self.store)?;
        if !self.targets.iter().any(|known| server_of(known) == server) {
            self.targets.push(target.clone());
        }
        let mut session = SettingsSession::at(database, target)?;
        let found = wanted.iter().map(|(name, _)| session.look(name));
        let found: Vec<Found> = found.collect::<Result<_, _>>()?;
        let is_wanted = |held: &ChangedSetting| found.iter().any(|one| one.name == held.name);
        let (back, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| held.server == server && !is_wanted(held));
        self.held = held;
        let back: Vec<ChangedSetting> = back;
        for (nth, setting) in back.iter().enumerate() {
            if let Err(error) = give_back(&store, &mut session, setting, Ended::AfterLoad) {
                self.held.extend_from_slice(&back[nth..]);
                return Err(error);
            }
        }
        let mut set = Set::default();
        for (found, (_, value)) in found.into_iter().zip(wanted) {
            let now = self.put_one(&store, &mut session, &server, &found, value)?;
            if !is_same_value(value, &now.value) {
                let Found { name, value: shown, .. } = &now;
                set.differs.push(adjusted_note(name, value, target, shown));
            }
            set.facts.push(Fact::new("setting", &now.name, &now.value));
        }
        Ok(set)
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
        let left =
            known.into_iter().find(|c| c.setting.server == server && c.setting.name == found.name);
        if let Some(left) = left {
            let setting = &left.setting;
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
            return Ok(ChangedSetting { purpose: self.purpose.clone(), ..left.setting });
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
        if plan.settings.is_empty() && self.held.is_empty() {
            return Ok(Set::default());
        }
        let empty = SettingsGuard::new(&self.store, self.purpose.clone());
        let mut guard = std::mem::replace(self, empty);
        let (database, plan) = (Arc::clone(database), plan.clone());
        let interrupted = "interrupted while settings were changed; see dbdyno restore";
        let (guard, set) = run_interruptible(stop, interrupted, move || {
            let set = guard.put(database.as_ref(), &plan.target, &plan.settings);
            Ok((guard, set))
        })?;
        *self = guard;
        set
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
        notes
    }
}

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

/// Settings that are changed for a moment outside of the measured phase, and restored by
/// [`Momentary::end`] or drop.
///
/// They are in the restore journal. For a setting that the run itself has changed already, the
/// journal keeps the value from before the run.
pub(crate) struct Momentary {
    session: SettingsSession,
    /// Store with the restore journal; `None` for a server that ends with the run.
    journal: Option<Store>,
    changed: Vec<Moment>,
}

/// A server setting that [`Momentary`] has changed, with what is needed to restore it.
struct Moment {
    setting: ChangedSetting,
    /// Entry that the restore journal had for this setting before; `None` if it had none.
    entry_before: Option<ChangedSetting>,
}

impl Momentary {
    /// Connects to the server, and changes nothing yet. Without a path of a restore journal,
    /// changes are not recorded on disk.
    pub(crate) fn at(
        database: &dyn Database,
        target: &Target,
        journal: Option<&Path>,
    ) -> Result<Momentary, Error> {
        let journal = journal.map(Store::open).transpose()?;
        Ok(Momentary {
            session: SettingsSession::at(database, target)?,
            journal,
            changed: Vec::new(),
        })
    }

    /// Changes a setting of the server. Returns false if the server has no such setting.
    pub(crate) fn set(&mut self, name: &str, value: &str, purpose: &str) -> Result<bool, Error> {
        let Some(found) = self.session.find(name)? else { return Ok(false) };
        if is_same_value(value, &found.value) {
            return Ok(true);
        }
        self.session.probe(&found)?;
        let entry_before = self.known(&server_of(&self.session.target), &found)?;
        let first = new_entry(&self.session, &found, value, purpose);
        let entry = entry_before.clone().unwrap_or_else(|| first.clone());
        if let Some(journal) = &self.journal {
            journal.note_setting(&ChangedSetting {
                asked: value.to_owned(),
                now: None,
                ..entry
            })?;
        }
        self.changed.push(Moment { setting: first, entry_before });
        self.session.set(&found.name, value)?;
        Ok(true)
    }

    /// Returns the restore journal's entry for a setting; `None` if the journal has no entry for
    /// it. Fails if the entry belongs to another living process.
    fn known(&self, server: &str, found: &Found) -> Result<Option<ChangedSetting>, Error> {
        let all = self.journal.as_ref().map(Store::changed_settings).transpose()?;
        let is_it = |entry: &ChangedSetting| entry.server == server && entry.name == found.name;
        let known = all.into_iter().flatten().find(|known| is_it(&known.setting));
        match known {
            Some(store::Changed { setting, process: Some(process) }) => {
                Err(Error::Failed(format!("{setting} is being varied by process {process}")))
            }
            known => Ok(known.map(|known| known.setting)),
        }
    }

    /// Restores all settings, the last changed one first. Returns notes on those that could not be
    /// restored; these stay in the restore journal.
    pub(crate) fn end(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        while let Some(Moment { setting, entry_before }) = self.changed.pop() {
            let back = self.session.put_back(&setting).and_then(|()| {
                match (&self.journal, &entry_before) {
                    (Some(journal), Some(entry)) => journal.note_setting(entry)?,
                    (Some(journal), None) => journal.forget_setting(&setting)?,
                    (None, _) => {}
                }
                Ok(())
            });
            if let Err(error) = back {
                notes.push(format!(
                    "{} is not restored to {}: {error}; restore it with: {}",
                    setting.name,
                    setting.before,
                    restore_command(&self.session.target)
                ));
            }
        }
        notes
    }
}

/// Returns the command with which the user restores settings of a target that are still in the
/// restore journal.
pub(crate) fn restore_command(target: &Target) -> String {
    let password = if target.password.is_some() { " --ask-password" } else { "" };
    format!("dbdyno restore --target '{target}'{password}")
}

impl Drop for Momentary {
    fn drop(&mut self) {
        self.end();
    }
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

/// An entry of the restore journal: a changed setting that is not yet restored.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    pub setting: ChangedSetting,
    /// Id of the living process that will restore the setting; `None` if that process is gone.
    pub process: Option<u32>,
}

/// Returns the entries of a store's restore journal; empty if the store does not exist.
pub fn left(store: &Path) -> Result<Vec<Left>, Error> {
    if !store.is_file() {
        return Ok(Vec::new());
    }
    let store = Store::open_existing(store)?;
    let all = store.changed_settings()?.into_iter();
    Ok(all.map(|changed| Left { setting: changed.setting, process: changed.process }).collect())
}

/// Options of `dbdyno restore`.
#[derive(Clone, Copy, Debug)]
pub struct RestoreOptions {
    /// True to report what would be restored, and change nothing.
    pub dry_run: bool,
    /// True to restore also settings that somebody has changed since, or that a living process will
    /// restore.
    pub force: bool,
}

/// Result of restoring one setting of the restore journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The setting would be restored without `dry_run`.
    ToBeSetBack,
    /// The setting's old value was restored, and read back.
    SetBack,
    /// The setting had its old value already. Its journal entry was removed, except in a dry run.
    WasBack,
    /// Somebody has changed the setting since, so it was left as it is.
    ChangedSince,
    /// The setting was left as it is, because the living process with this id will restore it.
    InUse(u32),
    /// The journal entry was removed without asking the server.
    Forgotten,
    /// The setting was not restored, for this reason.
    Failed(String),
}

/// A setting of the restore journal, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub setting: ChangedSetting,
    /// Value that the server reported for the setting; `None` if the server was not asked.
    pub found: Option<String>,
    pub fate: Fate,
}

/// Removes entries from the restore journal without asking the servers. Keeps entries of living
/// processes.
pub fn forget(store: &Path, all: Vec<Left>) -> Result<Vec<Restored>, Error> {
    let store = Store::open(store)?;
    let one = |left: Left| {
        let fate = match left.process {
            Some(process) => Fate::InUse(process),
            None => {
                store.forget_setting(&left.setting)?;
                Fate::Forgotten
            }
        };
        Ok(Restored { setting: left.setting, found: None, fate })
    };
    all.into_iter().map(one).collect()
}

/// Restores the settings in `all`, entries of the restore journal, on the server of `target`.
/// Continues if some cannot be restored, and returns what became of each.
pub fn restore(
    store: &Path,
    target: &Target,
    all: Vec<Left>,
    options: RestoreOptions,
    stop: &Stop,
) -> Vec<Restored> {
    let failed = |left: &Left, why: &Error| Restored {
        setting: left.setting.clone(),
        found: None,
        fate: Fate::Failed(why.to_string()),
    };
    let (path, there, asked) = (store.to_owned(), target.clone(), all.clone());
    let done = run_interruptible(stop, "interrupted", move || {
        let store = Store::open(&path)?;
        let database = open(&there, 0, false)?;
        let mut session = SettingsSession::at(database.as_ref(), &there)?;
        let one = |left: &Left| {
            restore_one(&store, &mut session, left, options)
                .unwrap_or_else(|why| failed(left, &why))
        };
        Ok(asked.iter().map(one).collect::<Vec<Restored>>())
    });
    done.unwrap_or_else(|why| all.iter().map(|left| failed(left, &why)).collect())
}

fn restore_one(
    store: &Store,
    session: &mut SettingsSession,
    left: &Left,
    options: RestoreOptions,
) -> Result<Restored, Error> {
    let setting = &left.setting;
    let found = session.look(&setting.name)?;
    let fate = match left.process {
        Some(process) if !options.force => Fate::InUse(process),
        _ if is_back(setting, &found) => {
            if !options.dry_run {
                store.forget_setting(setting)?;
            }
            Fate::WasBack
        }
        _ if !is_ours(setting, &found) && !options.force => Fate::ChangedSince,
        _ if options.dry_run => Fate::ToBeSetBack,
        _ => {
            session.put_back(setting)?;
            store.forget_setting(setting)?;
            Fate::SetBack
        }
    };
    Ok(Restored { setting: setting.clone(), found: Some(found.value), fate })
}

#[cfg(test)]
mod tests;
