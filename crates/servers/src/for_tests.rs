//! Database servers for the tests of all crates: products and versions, where they are installed,
//! and one shared server of each per test binary. No test is skipped: if a server is not installed,
//! the test fails and says how to install it.
//!
//! Not here: fetching servers (`cargo xtask servers`), and queries.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::Target;
use rustix::fs::statvfs;

use crate::{Kind, Options, Server, ServerError, server};

/// Folder of the test servers that are not packages of Debian. The environment variable
/// `DBDYNO_TEST_SERVERS` may name another.
const UNPACKED: &str = "/opt/dbdyno-servers";

/// Folder of a file system in memory, for the data of test servers. The tests create and remove
/// thousands of files, which would cost CPU time on a disk.
const MEMORY: &str = "/dev/shm";

/// Free space in [`MEMORY`], in bytes, below which the data of test servers are stored on disk
/// instead. It is several times what tests running at the same time take, each with two warehouses.
const MEMORY_MIN_BYTES: u64 = 8 << 30;

/// A database product and version on which tests run, with its installation on this machine.
pub struct TestServer {
    pub kind: Kind,
    /// Prefix of the version that the server's program must print, such as `10.11.`.
    pub version: &'static str,
    /// Subfolder with this version in the folder of test servers; `None` if the operating system
    /// has installed the server.
    folder: Option<&'static str>,
    shared: OnceLock<Server>,
}

/// Test server: MariaDB 10.11, as packaged by Debian.
pub static MARIADB: TestServer = TestServer::new(Kind::MariaDb, "10.11.", None);
pub static MARIADB_11_4: TestServer =
    TestServer::new(Kind::MariaDb, "11.4.5-MariaDB", Some("mariadb-11.4"));
pub static MARIADB_11_8: TestServer = TestServer::new(Kind::MariaDb, "11.8.", Some("mariadb-11.8"));
pub static MYSQL_5_6: TestServer = TestServer::new(Kind::MySql, "5.6.24", Some("mysql-5.6"));
/// Test server: Oracle's MySQL 9.7, the newest series.
pub static MYSQL_9_7: TestServer = TestServer::new(Kind::MySql, "9.7.", Some("mysql-9.7"));
/// Test server: PostgreSQL 15, as packaged by Debian.
pub static POSTGRES: TestServer = TestServer::new(Kind::Postgres, "15.", None);
pub static POSTGRES_18: TestServer = TestServer::new(Kind::Postgres, "18.4", Some("postgres-18"));

pub static ALL: [&TestServer; 7] =
    [&MARIADB, &MARIADB_11_4, &MARIADB_11_8, &MYSQL_5_6, &MYSQL_9_7, &POSTGRES, &POSTGRES_18];

impl TestServer {
    const fn new(kind: Kind, version: &'static str, folder: Option<&'static str>) -> TestServer {
        TestServer { kind, version, folder, shared: OnceLock::new() }
    }

    /// Returns the server that all tests of a test binary share. The first call starts the server,
    /// which ends with the process.
    ///
    /// # Panics
    /// If the server cannot be started; the message says what to do.
    pub fn shared(&self) -> &Server {
        self.shared.get_or_init(|| self.start())
    }

    /// Starts a small server for one test (see [`TestServer::small`]). The server ends when it is
    /// dropped.
    ///
    /// # Panics
    /// If the server cannot be started; the message says what to do.
    pub fn start(&self) -> Server {
        self.start_with(&[])
    }

    /// Starts a small server for one test, with additional server settings as pairs of name and
    /// value.
    ///
    /// # Panics
    /// If the server cannot be started; the message says what to do.
    pub fn start_with(&self, settings: &[(&str, &str)]) -> Server {
        let mut options = self.small();
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        options.settings.extend(settings);
        start(self.kind, &options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns options to start this product with default settings: where its program is and, if
    /// enough memory is free, a folder in memory for the data.
    ///
    /// # Panics
    /// If the server is not installed; the message says how to install it.
    pub fn options(&self) -> Options {
        let bin = self.folder.map(|folder| place().join(folder));
        if let Some(bin) = &bin {
            assert!(bin.is_dir(), "{}", missing(bin));
        }
        Options { bin, folder: memory(), ..Options::default() }
    }

    /// Returns options to start this product small and quickly, without waiting for the disk at
    /// each commit. Commits survive a crash of the server, but not of the machine.
    ///
    /// # Panics
    /// If the server is not installed; the message says how to install it.
    pub fn small(&self) -> Options {
        let settings: &[(&str, &str)] = match self.kind {
            Kind::Postgres => {
                &[("shared_buffers", "64MB"), ("max_connections", "100"), ("fsync", "off")]
            }
            // MySQL 5.6 sizes its performance_schema by max_connections.
            Kind::MariaDb | Kind::MySql => &[
                ("innodb_buffer_pool_size", "64M"),
                ("loose_innodb_log_file_size", "32M"),
                ("loose_innodb_redo_log_capacity", "64M"),
                ("sync_binlog", "0"),
                ("innodb_flush_log_at_trx_commit", "2"),
                ("max_connections", "100"),
                ("performance_schema", "0"),
            ],
        };
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Options { settings: settings.collect(), ..self.options() }
    }
}

/// Starts a server for a test like [`crate::start`], but faster: copies initial data that an
/// earlier test stored beside cargo's executables, and creates them only if there are none. Tests
/// of that creation use [`crate::start`].
pub fn start(kind: Kind, options: &Options) -> Result<Server, ServerError> {
    match templates() {
        Some(templates) => server::start_from(&templates, kind, options),
        None => crate::start(kind, options),
    }
}

/// Returns the folder in memory for the data of test servers; `None` if less than
/// [`MEMORY_MIN_BYTES`] is free in it.
fn memory() -> Option<PathBuf> {
    let free = statvfs(MEMORY).map(|there| there.f_bavail.saturating_mul(there.f_frsize));
    free.is_ok_and(|bytes| bytes >= MEMORY_MIN_BYTES).then(|| MEMORY.into())
}

/// Returns the folder, beside cargo's executables, with initial data that test servers copy; `None`
/// for a test binary outside of cargo's target folder.
fn templates() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    folder.ends_with("deps").then(|| folder.with_file_name("server-templates"))
}

/// Returns the path of a file that tests need and that no Debian package contains, such as
/// `axe-core-4.14/axe.min.js`. The file is in the folder of the test servers.
///
/// # Panics
/// If the file is missing; the message says how to fetch it.
pub fn fetched(file: &str) -> PathBuf {
    let path = place().join(file);
    assert!(path.is_file(), "{}", missing(&path));
    path
}

/// Returns the target of a further server for tests, which the user has named in the environment
/// variable `DBDYNO_TEST_MARIADB_URL`, `DBDYNO_TEST_MYSQL_URL` or `DBDYNO_TEST_POSTGRES_URL`;
/// `None` if it is not set. The target's user must have a password and all privileges; tests create
/// and drop users, databases and tables.
///
/// # Panics
/// If the variable is not a valid URL of a target.
#[expect(clippy::disallowed_methods, reason = "a server for tests is named from outside")]
pub fn named(kind: Kind) -> Option<Target> {
    let name = format!("DBDYNO_TEST_{}_URL", kind.name().to_ascii_uppercase());
    let url = std::env::var(&name).ok()?;
    Some(Target::parse(&url).unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[expect(clippy::disallowed_methods, reason = "where the servers lie is the machine's matter")]
fn place() -> PathBuf {
    let named = std::env::var_os("DBDYNO_TEST_SERVERS").filter(|place| !place.is_empty());
    named.unwrap_or_else(|| UNPACKED.into()).into()
}

fn missing(bin: &Path) -> String {
    format!(
        "this test needs {}, which is not there: run 'cargo xtask servers' to fetch it (to the \
         folder that DBDYNO_TEST_SERVERS names, if it is set)",
        bin.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_not_there_is_reported_with_its_remedy() {
        let words = missing(Path::new("/nowhere/mysql-5.6"));
        assert!(words.contains("/nowhere/mysql-5.6") && words.contains("cargo xtask servers"));
    }

    #[test]
    fn data_are_made_once_and_copied_for_every_further_server() {
        let templates = tempfile::tempdir().expect("a folder");
        let start = || server::start_from(templates.path(), Kind::Postgres, &POSTGRES.small());
        let (first, second) = (start().expect("made"), start().expect("copied"));
        assert_ne!(first.folder(), second.folder());
        assert_eq!(first.target().password, second.target().password, "it stands in the data");
        let mut names: Vec<PathBuf> = Vec::new();
        for entry in templates.path().read_dir().expect("a folder") {
            names.push(entry.expect("listed").path());
        }
        names.sort();
        let [template, lock] = &names[..] else { panic!("{names:?}") };
        assert_eq!(template.with_extension("lock"), *lock);
        // A server works on a copy of the template.
        assert!(first.folder().join("data/postmaster.pid").exists());
        assert!(!template.join("data/postmaster.pid").exists());
        let version = |folder: &Path| std::fs::read(folder.join("data/PG_VERSION")).expect("read");
        assert_eq!(version(second.folder()), version(template));
    }

    #[test]
    fn one_that_is_shared_is_started_once() {
        assert!(std::ptr::eq(POSTGRES.shared(), POSTGRES.shared()));
    }
}
