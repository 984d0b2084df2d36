//! The restore journal: changed settings and settings files of servers that must be restored.
//!
//! An entry is flushed to the disk before its setting is changed, and removed when the setting is
//! restored. Not here: changing and restoring settings (app).

use model::{ChangedFile, ChangedSetting};
use rusqlite::params;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{StoreError, StoreErrorKind};
use super::process::{Fate, Process};
use super::{Store, codec};

/// An entry of the restore journal: a setting, or a settings file of a server, that dbdyno has
/// changed and not restored yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed<T = ChangedSetting> {
    pub entry: T,
    /// Id of the living process, other than this one, that made the change and will restore it;
    /// `None` if no process will.
    pub process: Option<u32>,
}

/// A kind of entry of the restore journal, and its table.
trait Entry: Serialize + DeserializeOwned {
    const TABLE: &'static str;
    /// Column that names the entry among those of its server.
    const NAME: &'static str;

    /// Returns the server, and the name of the entry among those of the server.
    fn key(&self) -> (&str, String);
}

impl Entry for ChangedSetting {
    const TABLE: &'static str = "changed_setting";
    const NAME: &'static str = "name";

    fn key(&self) -> (&str, String) {
        (&self.server, self.name.clone())
    }
}

impl Entry for ChangedFile {
    const TABLE: &'static str = "changed_file";
    const NAME: &'static str = "path";

    fn key(&self) -> (&str, String) {
        // The agent's own entry may be in the same store.
        let name = match &self.agent {
            Some(agent) => format!("{agent}:{}", self.path),
            None => self.path.clone(),
        };
        (&self.server, name)
    }
}

impl Store {
    /// Stores the old value of a server's setting before this process changes it, so that it can be
    /// restored after a crash. Replaces an earlier entry. The entry is on the disk on return.
    pub fn note_setting(&self, setting: &ChangedSetting) -> Result<(), StoreError> {
        self.note(setting)
    }

    /// Stores the old contents of a server's settings file before this process changes it, as
    /// [`Store::note_setting`] does a setting.
    pub fn note_file(&self, file: &ChangedFile) -> Result<(), StoreError> {
        self.note(file)
    }

    /// Removes the entry of a setting, which has been restored, from the restore journal.
    pub fn forget_setting(&self, setting: &ChangedSetting) -> Result<(), StoreError> {
        self.forget(setting)
    }

    /// Removes the entry of a settings file, which has been restored, from the restore journal.
    pub fn forget_file(&self, file: &ChangedFile) -> Result<(), StoreError> {
        self.forget(file)
    }

    /// Returns all changed settings of servers that are not restored yet, ordered by server and
    /// name.
    pub fn changed_settings(&self) -> Result<Vec<Changed>, StoreError> {
        self.changed()
    }

    /// Returns all changed settings files of servers that are not restored yet, ordered by server
    /// and path.
    pub fn changed_files(&self) -> Result<Vec<Changed<ChangedFile>>, StoreError> {
        self.changed()
    }

    fn note<T: Entry>(&self, entry: &T) -> Result<(), StoreError> {
        let body = codec::to_json(entry)
            .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("setting: {why}")))?;
        let us = Process::current();
        let noted = || -> rusqlite::Result<()> {
            self.connection.pragma_update(None, "synchronous", "FULL")?;
            let sql = format!(
                "INSERT OR REPLACE INTO {}
                 (server, {}, boot_id, pid_namespace, pid, pid_start_time, body)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
                T::TABLE,
                T::NAME
            );
            let start = us.start_column();
            let (server, name) = entry.key();
            let row = params![server, name, us.boot_id, us.pid_namespace, us.pid, start, body];
            let inserted = self.connection.execute(&sql, row);
            self.connection.pragma_update(None, "synchronous", "NORMAL")?;
            inserted.map(drop)
        };
        noted().map_err(|error| self.reader().said(&error))
    }

    fn forget<T: Entry>(&self, entry: &T) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {} WHERE server = ? AND {} = ?", T::TABLE, T::NAME);
        let (server, name) = entry.key();
        let gone = self.connection.execute(&sql, params![server, name]);
        gone.map(drop).map_err(|error| self.reader().said(&error))
    }

    fn changed<T: Entry>(&self) -> Result<Vec<Changed<T>>, StoreError> {
        let sql = format!(
            "SELECT body, boot_id, pid_namespace, pid, pid_start_time
             FROM {} ORDER BY server, {}",
            T::TABLE,
            T::NAME
        );
        let read = || -> rusqlite::Result<Vec<(String, Process)>> {
            let mut select = self.connection.prepare(&sql)?;
            let rows =
                select.query_map((), |row| Ok((row.get("body")?, Process::from_row(row)?)))?;
            rows.collect()
        };
        let us = Process::current();
        let entry = |(body, process): (String, Process)| {
            let entry = serde_json::from_str(&body)
                .map_err(|error| StoreError::damaged(&self.path, error))?;
            let is_others = process != us && process.fate(&us) == Fate::Alive;
            Ok(Changed { entry, process: is_others.then_some(process.pid) })
        };
        let rows = read().map_err(|error| self.reader().said(&error))?;
        rows.into_iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, asked: &str) -> ChangedSetting {
        ChangedSetting {
            server: "mysql://h".to_owned(),
            target: "mysql://me@h/d".to_owned(),
            name: name.to_owned(),
            before: "200".to_owned(),
            kept_before: None,
            asked: asked.to_owned(),
            now: None,
            since_unix_ms: 7,
            purpose: "run".to_owned(),
        }
    }

    #[test]
    fn a_setting_is_known_until_it_is_back_and_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.sqlite");
        let store = Store::open(&path).expect("a store");
        store.note_setting(&setting("a", "1")).expect("written");
        store.note_setting(&setting("a", "2")).expect("written");
        store.note_setting(&setting("b", "3")).expect("written");
        let again = Store::open_existing(&path).expect("a store");
        let known = |store: &Store| -> Vec<String> {
            let all = store.changed_settings().expect("read").into_iter();
            all.map(|changed| format!("{}={}", changed.entry.name, changed.entry.asked)).collect()
        };
        assert_eq!(known(&again), ["a=2", "b=3"]);
        again.forget_setting(&setting("a", "2")).expect("forgotten");
        assert_eq!(known(&store), ["b=3"]);
        assert_eq!(store.changed_settings().expect("read")[0].process, None, "it is ours");
    }

    #[test]
    fn who_still_answers_for_a_setting_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
        store.note_setting(&setting("a", "1")).expect("written");
        let answers = |pid: u32, is_alive: bool| {
            let set = "UPDATE changed_setting SET pid = ?, pid_start_time = ?";
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
            let ticks = stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(20));
            let ticks: i64 = ticks.expect("a start").parse().expect("a number");
            let start = if is_alive { ticks } else { ticks + 1 };
            store.connection.execute(set, params![pid, start]).expect("changed");
            store.changed_settings().expect("read")[0].process
        };
        let parent = std::os::unix::process::parent_id();
        assert_eq!(answers(parent, true), Some(parent));
        assert_eq!(answers(parent, false), None);
    }
}
