//! Reads plain files named by users, up to a limit. Pipes and devices are refused, because a pipe
//! would block when opened, and a device may have no end.

use std::fs::{self, OpenOptions};
use std::io::{self, Error, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Flag of open(2) with which a pipe opens without waiting for a writer, so that it can be refused.
const O_NONBLOCK: i32 = 0o4000;

/// Returns the text of a plain file of at most `bytes_max` bytes. Fails if the file is longer, is a
/// pipe, socket or device, or is not UTF-8.
pub fn read_text(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<String> {
    let bytes = read_bytes(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Returns the bytes of a plain file of at most `bytes_max` bytes. Fails if the file is longer, or
/// is a pipe, socket or device.
pub fn read_bytes(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(special());
    }
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(Error::new(ErrorKind::FileTooLarge, too_long(bytes_max))),
        false => Ok(bytes),
    }
}

/// Whether a user of this machine other than the owner may read the file at `path`. A file of the
/// system's administrator may also be readable by its group. Fails if there is no such file.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let there = fs::metadata(path)?;
    let others = if there.uid() == 0 { 0o037 } else { 0o077 };
    Ok(there.mode() & others != 0)
}

/// Fails if there is a pipe, a socket or a device at `path`. Succeeds if nothing exists there.
pub fn refuse_special(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => Err(special()),
        _ => Ok(()),
    }
}

fn special() -> Error {
    Error::new(ErrorKind::InvalidInput, "it is a pipe or a device: name a plain file")
}

fn too_long(bytes_max: u64) -> String {
    match bytes_max >> 20 {
        0 => format!("it is longer than {bytes_max} bytes"),
        mib => format!("it is longer than {mib} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_a_device_and_a_file_that_is_too_long_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        fs::write(at("text"), "12345").expect("written");
        assert_eq!(read_text(at("text"), 5).expect("it is short enough"), "12345");
        let refused = |path: &Path, words: &str| {
            let error = read_text(path, 4).expect_err("refused").to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(&at("text"), "longer than 4 bytes");
        refused(&at("pipe"), "a pipe or a device");
        refused(Path::new("/dev/zero"), "a pipe or a device");
        assert!(refuse_special(&at("pipe")).is_err() && refuse_special(&at("text")).is_ok());
        fs::set_permissions(at("text"), fs::Permissions::from_mode(0o600)).expect("changed");
        assert!(!is_open_to_others(&at("text")).expect("a file"));
        fs::set_permissions(at("text"), fs::Permissions::from_mode(0o604)).expect("changed");
        assert!(is_open_to_others(&at("text")).expect("a file"));
        assert!(is_open_to_others(&at("none")).is_err());
        assert!(refuse_special(folder.path()).is_ok() && refuse_special(&at("none")).is_ok());
    }
}
