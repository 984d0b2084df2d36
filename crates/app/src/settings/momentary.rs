//! Settings that are changed for a moment outside of the measured phase, such as the slow log that
//! an instrument needs.
//!
//! Not here: settings of a plan.

use std::path::Path;

use drivers::server_of;
use model::{ChangedSetting, Database, Target, is_same_value};
use store::{Changed, Store};

use super::session::{Found, SettingsSession};
use super::{new_entry, restore_command};
use crate::error::Error;

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
        let known = all.into_iter().flatten().find(|known| is_it(&known.entry));
        match known {
            Some(Changed { entry, process: Some(process) }) => {
                Err(Error::Failed(format!("{entry} is being varied by process {process}")))
            }
            known => Ok(known.map(|known| known.entry)),
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

impl Drop for Momentary {
    fn drop(&mut self) {
        self.end();
    }
}
