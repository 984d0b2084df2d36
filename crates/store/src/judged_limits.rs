//! Outcomes of limits (gates) that commands judged, stored with their run or experiment.
//!
//! Not here: how a limit is judged (analysis, study).

use model::{JudgedLimit, RunId};
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::codec;
use super::error::{StoreError, StoreErrorKind};

impl Store {
    /// Stores the outcomes of limits on a run. They replace earlier ones.
    pub fn put_run_limits(&self, run: &RunId, limits: &[JudgedLimit]) -> Result<(), StoreError> {
        let number = self.reader().number(run)?;
        let sql = "INSERT OR REPLACE INTO run_limits VALUES (?, ?)";
        let put = self.connection.execute(sql, params![number, to_json(limits)?]);
        put.map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Returns the outcomes of limits on a run; empty if none was judged.
    pub fn run_limits(&self, run: &RunId) -> Result<Vec<JudgedLimit>, StoreError> {
        let number = self.reader().number(run)?;
        let sql = "SELECT body FROM run_limits WHERE run = ?";
        let body: Result<Option<String>, _> =
            self.connection.query_row(sql, [number], |row| row.get(0)).optional();
        let body = body.map_err(|error| self.reader().said(&error))?;
        Ok(body.map(|body| read(&body)).unwrap_or_default())
    }

    /// Stores the outcomes of limits on an experiment. They replace earlier ones of the same
    /// option, such as `require`.
    pub fn put_experiment_limits(
        &self,
        id: &str,
        option: &str,
        limits: &[JudgedLimit],
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO experiment_limits
                   SELECT number, ?, ? FROM experiment WHERE id = ?";
        let put = self.connection.execute(sql, params![option, to_json(limits)?, id]);
        put.map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Returns the outcomes of limits on an experiment; empty if none was judged.
    pub fn experiment_limits(&self, id: &str) -> Result<Vec<JudgedLimit>, StoreError> {
        let select = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT experiment_limits.body FROM experiment_limits
                       JOIN experiment ON experiment.number = experiment_limits.experiment
                       WHERE experiment.id = ? ORDER BY option";
            let mut select = self.connection.prepare(sql)?;
            select.query_map([id], |row| row.get(0))?.collect()
        };
        let bodies = select().map_err(|error| self.reader().said(&error))?;
        Ok(bodies.iter().flat_map(|body| read(body)).collect())
    }
}

fn to_json(limits: &[JudgedLimit]) -> Result<String, StoreError> {
    codec::to_json(&limits)
        .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("limits: {why}")))
}

/// Reads stored outcomes; those of a damaged row are left out.
fn read(body: &str) -> Vec<JudgedLimit> {
    serde_json::from_str(body).unwrap_or_default()
}
