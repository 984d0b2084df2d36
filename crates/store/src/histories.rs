//! Users' decisions about histories (a metric over builds): acknowledged changes and pinned
//! baselines.
//!
//! Not here: the effect of these decisions (study).

use model::Acknowledged;
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::error::StoreError;
use super::wall_clock::unix_ms;

impl Store {
    /// Stores that the user accepts `change`, a lasting change of a metric, as normal. The history
    /// is that of runs with the label key `label`, whose value names the build. Replaces an earlier
    /// acceptance of the same change.
    pub fn acknowledge(&self, label: &str, change: &Acknowledged) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO acknowledged VALUES (?, ?, ?, ?, ?, ?)";
        let Acknowledged { build, point, reason, size } = change;
        let now = unix_ms();
        let added = self.connection.execute(sql, params![label, build, point, reason, now, size]);
        added.map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Removes the acceptance of the change that begins at `build`. `point` has the values of the
    /// experiment's axes, such as `clients=8`; empty for all points. Returns false if there was
    /// none.
    pub fn unacknowledge(&self, label: &str, build: &str, point: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM acknowledged WHERE label = ? AND build = ? AND point = ?";
        let gone = self.connection.execute(sql, params![label, build, point]);
        gone.map(|n| n > 0).map_err(|error| self.reader().said(&error))
    }

    /// Returns the changes that the user has accepted as normal, oldest first, in the history of
    /// runs with the label key `label`, whose value names the build.
    pub fn acknowledged(&self, label: &str) -> Result<Vec<Acknowledged>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Acknowledged>> {
            let mut select = self.connection.prepare(
                "SELECT build, point, reason, size FROM acknowledged WHERE label = ?
                 ORDER BY since_unix_ms, build, point",
            )?;
            let rows = select.query_map([label], |row| {
                let (build, point, reason) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Acknowledged { build, point, reason, size: row.get(3)? })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.reader().said(&error))
    }

    /// Sets the build with which the newest builds are compared, in the history of runs with the
    /// label key `label`, whose value names the build; `None` removes the setting.
    pub fn pin_baseline(&self, label: &str, build: Option<&str>) -> Result<(), StoreError> {
        let done = match build {
            Some(build) => self.connection.execute(
                "INSERT OR REPLACE INTO baseline VALUES (?, ?, ?)",
                params![label, build, unix_ms()],
            ),
            None => self.connection.execute("DELETE FROM baseline WHERE label = ?", [label]),
        };
        done.map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Returns the builds set by [`Store::pin_baseline`], as (label key, build), ordered by label
    /// key.
    pub fn baselines(&self) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let sql = "SELECT label, build FROM baseline ORDER BY label";
            let mut select = self.connection.prepare(sql)?;
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|error| self.reader().said(&error))
    }

    pub fn baseline(&self, label: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT build FROM baseline WHERE label = ?";
        let read = self.connection.query_row(sql, [label], |row| row.get(0)).optional();
        read.map_err(|error| self.reader().said(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(build: &str, point: &str, reason: &str) -> Acknowledged {
        let (build, point, reason) = (build.into(), point.into(), reason.into());
        Acknowledged { build, point, reason, size: Some(0.05) }
    }

    #[test]
    fn what_is_acknowledged_or_pinned_is_known_until_it_is_taken_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
        store.acknowledge("build", &change("1.2", "", "slow")).expect("written");
        store.acknowledge("build", &change("1.2", "", "slower codec")).expect("written");
        store.acknowledge("build", &change("1.2", "clients=8", "x")).expect("written");
        store.acknowledge("kernel", &change("6.1", "", "y")).expect("written");
        let reasons = |label: &str| -> Vec<String> {
            let all = store.acknowledged(label).expect("read").into_iter();
            all.map(|one| one.reason).collect()
        };
        assert_eq!(reasons("build"), ["slower codec", "x"]);
        assert!(store.unacknowledge("build", "1.2", "").expect("taken"));
        assert!(!store.unacknowledge("build", "1.2", "").expect("there is none"));
        assert_eq!((reasons("build"), reasons("kernel")), (vec!["x".into()], vec!["y".into()]));
        store.pin_baseline("build", Some("1.0")).expect("pinned");
        store.pin_baseline("build", Some("1.1")).expect("pinned");
        assert_eq!(store.baseline("build").expect("read").as_deref(), Some("1.1"));
        store.pin_baseline("build", None).expect("unpinned");
        assert_eq!(store.baseline("build").expect("read"), None);
    }
}
