//! Lines of a script at which clients were when their transactions were cut off.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Lines of a script, each with the number of clients that were there; shared by all clients.
#[derive(Debug, Default)]
pub(super) struct CutOffPlaces(Mutex<BTreeMap<String, u64>>);

impl CutOffPlaces {
    /// Counts a client whose transaction was cut off at `place`, such as `bank.sql:7`.
    pub(super) fn note(&self, place: &str) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *places.entry(place.to_owned()).or_default() += 1;
    }

    /// Returns the places with their numbers of clients, the most frequent first.
    pub(super) fn all(&self) -> Vec<(String, u64)> {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<(String, u64)> =
            places.iter().map(|(place, n)| (place.clone(), *n)).collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        all
    }
}
