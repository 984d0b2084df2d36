//! Figures measured elsewhere, stored by name and separate from runs.
//!
//! Not here: parsing their files (app), and their use (study).

use model::Imported;
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::codec;
use super::error::{StoreError, StoreErrorKind};
use super::wall_clock::unix_ms;

/// Handling of imported figures whose name the store has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfKnown {
    /// Keeps the stored figures, and imports nothing.
    Refuse,
    /// Replaces the stored figures of this name by the imported ones.
    Replace,
}

/// Figures that were measured by another program and imported, with the time of their import.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow {
    pub imported: Imported,
    /// Time of the import, in milliseconds since 1970.
    pub since_unix_ms: i64,
}

impl Store {
    /// Stores figures that were measured by another program, under their name. Returns false, and
    /// stores nothing, if the name exists and `known` is [`IfKnown::Refuse`].
    pub fn put_imported(&self, imported: &Imported, known: IfKnown) -> Result<bool, StoreError> {
        let body = codec::to_json(imported)
            .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("figures: {why}")))?;
        let sql = match known {
            IfKnown::Refuse => "INSERT OR IGNORE INTO imported VALUES (?, ?, ?)",
            IfKnown::Replace => "INSERT OR REPLACE INTO imported VALUES (?, ?, ?)",
        };
        let put = self.connection.execute(sql, params![imported.name, unix_ms(), body]);
        put.map(|n| n > 0).map_err(|error| self.reader().said(&error))
    }

    /// Returns the imported figures stored under `name`; `None` if there are none.
    pub fn imported(&self, name: &str) -> Result<Option<Imported>, StoreError> {
        let sql = "SELECT body FROM imported WHERE name = ?";
        let body: Result<Option<String>, _> =
            self.connection.query_row(sql, [name], |row| row.get(0)).optional();
        let body = body.map_err(|error| self.reader().said(&error))?;
        body.map(|body| self.read_imported(&body)).transpose()
    }

    /// Returns all imported figures with the times of their imports, ordered by name.
    pub fn all_imported(&self) -> Result<Vec<ImportedRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(i64, String)>> {
            let sql = "SELECT since_unix_ms, body FROM imported ORDER BY name";
            let mut select = self.connection.prepare(sql)?;
            select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let rows = read().map_err(|error| self.reader().said(&error))?;
        let row = |(since_unix_ms, body): (i64, String)| {
            Ok(ImportedRow { imported: self.read_imported(&body)?, since_unix_ms })
        };
        rows.into_iter().map(row).collect()
    }

    /// Removes the imported figures stored under `name`; returns false if there are none.
    pub fn remove_imported(&self, name: &str) -> Result<bool, StoreError> {
        let gone = self.connection.execute("DELETE FROM imported WHERE name = ?", [name]);
        gone.map(|n| n > 0).map_err(|error| self.reader().said(&error))
    }

    fn read_imported(&self, body: &str) -> Result<Imported, StoreError> {
        serde_json::from_str(body).map_err(|error| StoreError::damaged(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use model::ImportedValue;

    use super::*;

    fn figures(name: &str, value: f64) -> Imported {
        let value = ImportedValue {
            at: vec!["1.2".into(), "8".into()],
            figure: "tps".into(),
            value,
            unit: String::new(),
            half_width: Some(0.1),
            count: None,
            time: Some("2015-06-01".into()),
        };
        let columns = vec!["version".into(), "clients".into()];
        Imported { name: name.into(), source: "a page".into(), columns, values: vec![value] }
    }

    #[test]
    fn imported_figures_are_kept_by_name_until_they_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
        // A third is an infinite fraction, both in binary and decimal.
        let (old, new) = (figures("arm", 1.0 / 3.0), figures("arm", 2.0 / 3.0));
        assert!(store.put_imported(&old, IfKnown::Refuse).expect("written"));
        assert!(!store.put_imported(&new, IfKnown::Refuse).expect("it is known"));
        assert_eq!(store.imported("arm").expect("read"), Some(old));
        assert!(store.put_imported(&new, IfKnown::Replace).expect("written"));
        assert!(store.put_imported(&figures("a", 1.0), IfKnown::Refuse).expect("written"));
        let all = store.all_imported().expect("read");
        let names: Vec<&str> = all.iter().map(|row| row.imported.name.as_str()).collect();
        assert_eq!((names, &all[1].imported), (vec!["a", "arm"], &new));
        assert!(store.remove_imported("arm").expect("removed"));
        assert!(!store.remove_imported("arm").expect("there is none"));
        assert_eq!(store.imported("arm").expect("read"), None);
        // Imported figures are not listed as runs.
        assert!(store.list(&crate::Filter::default()).expect("read").is_empty());
    }
}
