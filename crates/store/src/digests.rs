//! Digests of reports: what a history needs of a run, so that a history of thousands of runs reads
//! no report of each.
//!
//! A digest is derived from a report, which never changes, and may be missing. It is not exported:
//! each store makes its own. Not here: what is in a digest (app).

use std::collections::BTreeMap;

use model::RunId;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::Store;
use super::error::StoreError;
use super::reader;

/// What a history needs of the report of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Runs with the same number have the same setup.
    pub setup: u64,
    /// Everything that differs between runs of one setup, as text.
    pub body: String,
}

impl Store {
    /// Passes each digest of this version to `visit`, with its run. Digests of other versions are
    /// from another dbdyno, and as if missing, as are those of reports of another length.
    pub fn digests(
        &self,
        version: u32,
        visit: &mut dyn FnMut(RunId, Digest),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut select = self.connection.prepare(
                "SELECT run.id, digest.setup, digest.body
                 FROM digest JOIN run ON run.number = digest.number
                 WHERE digest.version = ? AND digest.report_bytes = octet_length(run.report)",
            )?;
            let mut rows = select.query([version])?;
            while let Some(row) = rows.next()? {
                let setup: i64 = row.get(1)?;
                let digest = Digest { setup: setup.cast_unsigned(), body: row.get(2)? };
                visit(RunId(row.get(0)?), digest);
            }
            Ok(())
        };
        read().map_err(|error| self.reader().said(&error))
    }

    /// Stores digests of runs. Stores none, and returns false, while a run is being measured, which
    /// must not be disturbed.
    pub fn put_digests(
        &self,
        version: u32,
        digests: &BTreeMap<RunId, Digest>,
    ) -> Result<bool, StoreError> {
        let put = || match digests.is_empty() || reader::any_alive(&self.connection)? {
            true => Ok(digests.is_empty()),
            false => put_all(&self.connection, version, digests).map(|()| true),
        };
        put().map_err(|error| self.reader().said(&error))
    }
}

fn put_all(
    connection: &Connection,
    version: u32,
    digests: &BTreeMap<RunId, Digest>,
) -> rusqlite::Result<()> {
    let all = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // A run that was removed in the meantime gets none.
    let mut insert = all.prepare(
        "INSERT OR REPLACE INTO digest
         SELECT number, ?, ?, ?, octet_length(report) FROM run
         WHERE id = ? AND report IS NOT NULL",
    )?;
    for (run, Digest { setup, body }) in digests {
        insert.execute(params![version, setup.cast_signed(), body, run.0])?;
    }
    drop(insert);
    all.commit()
}
