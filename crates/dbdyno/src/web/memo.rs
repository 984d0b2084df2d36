//! Texts that are made once: what they are made of changes no more, and takes long to read.
//!
//! Not here: what they say (list, experiments).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

use super::visitor::held;

/// Texts by what they are about.
pub(super) struct Memo<K> {
    texts: Mutex<HashMap<K, String>>,
    /// More are not kept: all are forgotten then.
    most: usize,
}

impl<K: Eq + Hash> Memo<K> {
    /// None yet.
    pub(super) fn of(most: usize) -> Memo<K> {
        Memo { texts: Mutex::default(), most }
    }

    /// The text about `key`, which is made if it is not known. Others are not held up meanwhile.
    pub(super) fn text(&self, key: K, make: impl FnOnce() -> String) -> String {
        if let Some(known) = held(&self.texts).get(&key) {
            return known.clone();
        }
        let text = make();
        let mut texts = held(&self.texts);
        if texts.len() >= self.most {
            texts.clear();
        }
        texts.insert(key, text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_and_no_more_are_kept_than_may_be() {
        let memo = Memo::of(2);
        let text = |key: u32, made: &str| memo.text(key, || made.to_owned());
        assert_eq!([text(1, "a"), text(1, "b"), text(2, "c")], ["a", "a", "c"]);
        // The third clears the others.
        assert_eq!([text(3, "d"), text(1, "e"), text(3, "f")], ["d", "e", "d"]);
    }
}
