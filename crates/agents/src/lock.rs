//! A file that is locked as long as a process has it open, so that there is only one hub of a
//! folder, and one agent with a key.

use std::fs::File;
use std::path::Path;

use app::Error;
use rustix::fs::{FlockOperation, flock};

/// Locks a file, which it creates if it is missing. Fails with the sentence `taken` if another
/// process has the lock.
pub(crate) fn take(path: &Path, taken: impl Fn() -> &'static str) -> Result<File, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::Failed(format!("{} cannot be written: {error}", path.display()))
    };
    let file = File::create(path).map_err(|error| failed(&error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Usage(taken().to_owned())),
        Err(error) => Err(failed(&error)),
    }
}
