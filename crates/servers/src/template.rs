//! Stored initial data of servers (templates), for tests. Creating such data takes seconds, copying
//! them a tenth of a second.
//!
//! The name of a template is a hash of all that its data depend on: the program, the account, the
//! settings, and the code that creates them. One process creates a template while others wait. The
//! template gets its name when it is complete, and never changes. Not here: servers outside of
//! tests, whose data are created each time.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use model::Secret;

use crate::instance::Instance;
use crate::{Kind, ServerError, mysql};

/// Source code of the functions that create initial data. Its hash is a part of a template's name,
/// so that a change of the code leads to new templates.
const MAKERS: [&str; 2] = [include_str!("mysql.rs"), include_str!("postgres.rs")];

/// Copies stored initial data (a template) from the folder `templates` to a server. If none match,
/// calls `make` to create the server's data, and stores a copy of them.
pub(crate) fn prepare(
    server: &mut Instance,
    templates: &Path,
    make: impl FnOnce(&Instance) -> Result<(), ServerError>,
) -> Result<(), ServerError> {
    let failed = |error: io::Error| ServerError::system(templates.display(), error);
    let path = templates.join(name(server).map_err(failed)?);
    if !path.is_dir() {
        let lock = lock(templates, &path).map_err(failed)?;
        if !path.is_dir() {
            make(server)?;
            return keep(server, &path).map_err(failed);
        }
        drop(lock);
    }
    take(server, &path).map_err(failed)
}

/// Locks the stored initial data (template) at `path`, so that only one process creates them. The
/// lock is released when the file is closed or the process ends.
fn lock(templates: &Path, path: &Path) -> io::Result<File> {
    fs::create_dir_all(templates)?;
    let lock = File::create(path.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn keep(server: &Instance, path: &Path) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    if unfinished.exists() {
        // Left by a process that was killed.
        fs::remove_dir_all(&unfinished)?;
    }
    DirBuilder::new().mode(0o700).create(&unfinished)?;
    copy(&server.folder().join("data"), &unfinished.join("data"))?;
    let password = unfinished.join("password");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(password)?;
    file.write_all(server.password.reveal().as_bytes())?;
    fs::rename(unfinished, path)
}

fn take(server: &mut Instance, path: &Path) -> io::Result<()> {
    let data = server.folder().join("data");
    // Empty; the copy replaces it, with owner and mode.
    fs::remove_dir(&data)?;
    copy(&path.join("data"), &data)?;
    // The password is stored in the data of PostgreSQL.
    server.password = Secret::new(fs::read_to_string(path.join("password"))?);
    Ok(())
}

/// Copies a folder, keeping the owners of its files. Runs as dbdyno's user, since the server's
/// account may not enter cargo's folders.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut command = Command::new("cp");
    command.args(["-a", "--reflink=auto"]).arg(from).arg(to).stdin(Stdio::null());
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(io::Error::other(format!("'cp' ended with {status}"))),
    }
}

/// Returns the name of the stored initial data that match a server: its product, and a hash of all
/// that its data depend on.
fn name(server: &Instance) -> io::Result<String> {
    let program = fs::metadata(&server.program.exe)?;
    let mut hasher = DefaultHasher::new();
    MAKERS.hash(&mut hasher);
    (&server.program.exe, program.len(), program.mtime(), program.mtime_nsec()).hash(&mut hasher);
    server.os_user.name().hash(&mut hasher);
    // The data of PostgreSQL do not depend on its settings.
    if server.kind != Kind::Postgres {
        mysql::making_data(server).collect::<Vec<_>>().hash(&mut hasher);
    }
    Ok(format!("{}-{:016x}", server.kind.name(), hasher.finish()))
}
