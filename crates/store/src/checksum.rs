//! Checksum of an exported file: a digest of the whole file, appended after the pages of SQLite,
//! which ignores it. A file with a flipped bit is rejected.
//!
//! Not here: a store that is written to, which has no checksum; there, only SQLite and the readers
//! find damage.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::StoreError;

/// Text before the digest in the line that ends an exported file.
const PREFIX: &str = "dbdyno sha256 ";
/// Number of hexadecimal characters in the SHA-256 digest of an exported file.
const HEX: usize = 64;
/// Length of the appended checksum in bytes, including the end of line.
const BYTES: usize = PREFIX.len() + HEX + 1;
/// Number of bytes that are read from a file at once to compute its checksum.
const BUFFER_BYTES: usize = 1 << 16;

/// Appends a line with a checksum to an exported file, which must not be changed after that.
pub(super) fn put(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let bytes = file.metadata()?.len();
    let checksum = checksum_of(&mut file, bytes)?;
    file.write_all(checksum.as_bytes())?;
    file.sync_all()
}

/// Verifies the checksum of an exported file. Fails if it is missing or wrong.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let damaged = |why: &str| Err(StoreError::damaged_file(path, why));
    match is_right(path) {
        Ok(true) => Ok(()),
        Ok(false) => damaged("its checksum does not match its content"),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        Err(error) => damaged(&format!("it cannot be read: {error}")),
    }
}

fn is_right(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(bytes) = file.metadata()?.len().checked_sub(BYTES as u64) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let expected = checksum_of(&mut file, bytes)?;
    let mut found = [0; BYTES];
    file.seek(SeekFrom::Start(bytes))?;
    file.read_exact(&mut found)?;
    Ok(found == expected.as_bytes())
}

/// Returns the line with the checksum of the first `bytes` bytes of a file.
fn checksum_of(file: &mut File, bytes: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; BUFFER_BYTES]);
    let mut rest = file.take(bytes);
    loop {
        let n = rest.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        digest.update(&buffer[..n]);
    }
    let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{PREFIX}{hex}\n"))
}
