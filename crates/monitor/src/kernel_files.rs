//! The small files in which a kernel tells about itself. Not here: what they mean.

use std::fs;
use std::path::Path;

/// The file's text, or nothing: every reader takes nothing for "not known".
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
