//! Restores what a killed process has left changed: settings, and settings files of servers.
//!
//! Not here: how a run restores what it has changed.

use std::path::Path;

use engine::Stop;
use model::{ChangedFile, ChangedSetting, Target};
use store::{Changed, Store, StoreError};

use super::at_start::ServerRestart;
use super::here::Controlled;
use super::session::{SettingsSession, is_back, is_ours};
use super::{at_start, here};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::open;

/// An entry of the restore journal, which is not yet restored.
pub type Left<T = ChangedSetting> = Changed<T>;

/// Returns the settings in a store's restore journal; empty if the store does not exist.
pub fn left(store: &Path) -> Result<Vec<Left>, Error> {
    match store.is_file() {
        true => Ok(Store::open_existing(store)?.changed_settings()?),
        false => Ok(Vec::new()),
    }
}

/// Returns the settings files in a store's restore journal; empty if the store does not exist.
pub fn left_files(store: &Path) -> Result<Vec<Left<ChangedFile>>, Error> {
    match store.is_file() {
        true => Ok(Store::open_existing(store)?.changed_files()?),
        false => Ok(Vec::new()),
    }
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

/// An entry of the restore journal, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored<T = ChangedSetting> {
    pub entry: T,
    /// Value that the server reported for a setting; `None` if the server was not asked.
    pub found: Option<String>,
    pub fate: Fate,
}

/// Removes settings from the restore journal without asking the servers. Keeps entries of living
/// processes.
pub fn forget(store: &Path, all: Vec<Left>) -> Result<Vec<Restored>, Error> {
    let store = Store::open(store)?;
    forget_each(all, |setting| store.forget_setting(setting))
}

/// Removes settings files from the restore journal and leaves them as they are. Keeps entries of
/// living processes.
pub fn forget_files(
    store: &Path,
    all: Vec<Left<ChangedFile>>,
) -> Result<Vec<Restored<ChangedFile>>, Error> {
    let store = Store::open(store)?;
    forget_each(all, |file| store.forget_file(file))
}

fn forget_each<T>(
    all: Vec<Left<T>>,
    forget: impl Fn(&T) -> Result<(), StoreError>,
) -> Result<Vec<Restored<T>>, Error> {
    let one = |left: Left<T>| {
        let fate = match left.process {
            Some(process) => Fate::InUse(process),
            None => {
                forget(&left.entry)?;
                Fate::Forgotten
            }
        };
        Ok(Restored { entry: left.entry, found: None, fate })
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
        entry: left.entry.clone(),
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
    let setting = &left.entry;
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
    Ok(Restored { entry: setting.clone(), found: Some(found.value), fate })
}

/// Restores a settings file of the restore journal, and restarts its server, which `target` names,
/// with `command`, or else that of the run that changed it. A file on another host is restored by
/// its agent, which `by_agent` reaches.
pub fn restore_file(
    store: &Path,
    target: &Target,
    left: Left<ChangedFile>,
    (command, by_agent): (Option<&str>, Option<ServerRestart>),
    options: RestoreOptions,
    stop: &Stop,
) -> Restored<ChangedFile> {
    let (path, there, file) = (store.to_owned(), target.clone(), left.clone());
    let command = command.unwrap_or(&left.entry.restart).to_owned();
    let done = run_interruptible(stop, "interrupted", move || {
        let (entry, store) = (&file.entry, Store::open(&path)?);
        if entry.agent.is_some() {
            return restore_by_agent(&path, &store, file, by_agent, options);
        }
        let (is_back, is_ours) = here::state(entry)?;
        Ok(match file.process {
            Some(process) if !options.force => Fate::InUse(process),
            _ if !is_back && !is_ours && !options.force => Fate::ChangedSince,
            _ if options.dry_run => Fate::ToBeSetBack,
            // The file may be restored already, and the server not restarted.
            _ => {
                let _lock = here::lock_folder_of(Path::new(&entry.path))?;
                here::put_back(entry)?;
                here::restart(&command)?;
                at_start::wait_for(&there)?;
                store.forget_file(entry)?;
                Fate::SetBack
            }
        })
    });
    let fate = done.unwrap_or_else(|why| Fate::Failed(why.to_string()));
    Restored { entry: left.entry, found: None, fate }
}

/// Lets the agent of a host restore a settings file, if it has not yet.
fn restore_by_agent(
    journal: &Path,
    store: &Store,
    file: Left<ChangedFile>,
    by_agent: Option<ServerRestart>,
    options: RestoreOptions,
) -> Result<Fate, Error> {
    let entry = file.entry;
    if let Some(process) = file.process.filter(|_| !options.force) {
        return Ok(Fate::InUse(process));
    }
    if options.dry_run {
        return Ok(Fate::ToBeSetBack);
    }
    let name = entry.agent.as_deref().unwrap_or_default();
    let by_agent = by_agent.ok_or_else(|| {
        Error::Failed(format!(
            "it is on the host of the agent {name}, which cannot be reached here"
        ))
    })?;
    let mut control = by_agent.reach(journal, Controlled::for_restoring(&entry))?;
    let fate = match control.is_changed() {
        true => {
            control.put_back()?;
            control.restart()?;
            control.forget()?;
            Fate::SetBack
        }
        false => Fate::WasBack,
    };
    store.forget_file(&entry)?;
    Ok(fate)
}

/// Restores the settings files of this host that ended processes have left changed, and restarts
/// their servers, of which no password is known. Returns a sentence on each.
pub fn restore_left_files(store: &Path) -> Vec<String> {
    let restored = |entry: &ChangedFile| -> Result<(), Error> {
        let _lock = here::lock_folder_of(Path::new(&entry.path))?;
        here::put_back(entry)?;
        here::restart(&entry.restart)?;
        Ok(Store::open(store)?.forget_file(entry)?)
    };
    let all = match left_files(store) {
        Ok(all) => all,
        Err(error) => return vec![format!("the restore journal cannot be read: {error}")],
    };
    let ours = all.into_iter().filter(|left| left.process.is_none() && left.entry.agent.is_none());
    let sentence = |left: Left<ChangedFile>| match restored(&left.entry) {
        Ok(()) => format!("restored {}, and restarted its server", left.entry.path),
        Err(error) => format!("{} is not restored: {error}", left.entry.path),
    };
    ours.map(sentence).collect()
}
