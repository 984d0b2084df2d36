//! Reads small files of /proc and /sys. Not here: their meaning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Initial buffer size in bytes. Most kernel files fit into it, and are read by one system call and
/// a second that finds the end.
const BYTES_FIRST: usize = 4 << 10;

/// Returns the text of a kernel file, or an empty string if it cannot be read, which every caller
/// treats as "not known".
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let Ok(file) = File::open(path) else { return String::new() };
    let mut text = String::with_capacity(BYTES_FIRST);
    // `take` prevents a query for the size, which these files do not have.
    match file.take(u64::MAX).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}
