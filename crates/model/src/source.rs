//! The file that defines a workload, and static copies of the names in it.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// The file that defines a workload, such as a Lua script, with the content that dbdyno read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Path of the workload's file, as the user wrote it.
    pub name: String,
    /// Content of the workload's file, as it was when dbdyno read it.
    pub text: String,
    /// Content of further files that the workload's file loads, such as modules of a script, by
    /// path. They were read together with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, String>,
}

impl Source {
    /// Creates the source of a workload that consists of one file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), modules: BTreeMap::new() }
    }

    /// Limit on the size of a file that defines a workload, in bytes. A larger file is rejected.
    pub const BYTES_MAX: u64 = 1 << 20;

    /// Returns the file's name without folders and without everything after its first dot:
    /// `transfer` for `scripts/transfer.lua`.
    pub fn stem(&self) -> &str {
        let last = self.name.rsplit('/').next().unwrap_or(&self.name);
        last.split_once('.').map_or(last, |(stem, _)| stem)
    }
}

/// Returns a copy of the text that lives as long as the process; equal texts share a copy, which is
/// never freed. Names from workload files thus have the same type as those of built-in workloads.
pub fn interned(text: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        let (a, b) = (interned("a name"), interned(&["a", " name"].concat()));
        assert!(std::ptr::eq(a, b));
        assert_eq!(interned("another name"), "another name");
    }

    #[test]
    fn the_stem_of_a_source_has_neither_folder_nor_extension() {
        let stem = |name: &str| Source::new(name, "").stem().to_owned();
        assert_eq!(stem("scripts/oltp.read.lua"), "oltp");
        assert_eq!(stem("../a/transfer.sql"), "transfer");
        assert_eq!(stem("plain"), "plain");
    }
}
