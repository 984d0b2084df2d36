//! The small files in which a kernel tells about itself. Not here: what they mean.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most of these files fit, and are read by one call and a second that finds the end.
const BYTES_FIRST: usize = 4 << 10;

/// The file's text, or nothing: every reader takes nothing for "not known".
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let Ok(file) = File::open(path) else { return String::new() };
    let mut text = String::with_capacity(BYTES_FIRST);
    // Through `take` nobody asks for the size, which these files do not have.
    match file.take(u64::MAX).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}
