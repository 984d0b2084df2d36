//! Cache of values that do not change, and take long to read.
//!
//! Not here: the values (list, experiments).

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::Mutex;

use super::visitor::held;

/// Values that are cached by key, and are cheap to clone.
pub(super) struct Memo<K, V = String> {
    known: Mutex<HashMap<K, V>>,
    /// Maximum number of entries in the cache. If it is reached, all are removed before one more is
    /// added.
    most: usize,
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// Creates an empty cache for at most `most` entries.
    pub(super) fn with_capacity(most: usize) -> Memo<K, V> {
        Memo { known: Mutex::default(), most }
    }

    /// Returns the cached value of `key`; if it is missing, makes it. Other callers are not blocked
    /// meanwhile, so two may make the same value.
    pub(super) fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        match self.try_get(key, || Ok::<V, Infallible>(make())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Returns the cached value of `key`; if it is missing, makes it. A failure to make it is
    /// returned, and not cached.
    pub(super) fn try_get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(known) = held(&self.known).get(&key) {
            return Ok(known.clone());
        }
        let value = make()?;
        let mut known = held(&self.known);
        if known.len() >= self.most {
            known.clear();
        }
        known.insert(key, value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_and_no_more_are_kept_than_may_be() {
        let memo = Memo::with_capacity(2);
        let text = |key: u32, made: &str| memo.get(key, || made.to_owned());
        assert_eq!([text(1, "a"), text(1, "b"), text(2, "c")], ["a", "a", "c"]);
        // The third clears the others.
        assert_eq!([text(3, "d"), text(1, "e"), text(3, "f")], ["d", "e", "d"]);
        assert_eq!(memo.try_get(4, || Err("not now")), Err("not now"));
        assert_eq!(text(4, "g"), "g");
    }
}
