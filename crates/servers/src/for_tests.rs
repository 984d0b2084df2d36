//! The servers that tests run on, those of other crates too: which there are, where they lie, and
//! one of each for a whole test binary. Nothing is skipped: what is missing fails with its remedy.
//!
//! Not here: fetching them (`cargo xtask servers`), and what is asked of them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::Target;
use rustix::fs::statvfs;

use crate::{Kind, Options, Server, ServerError, server};

/// Where the servers that Debian has not are unpacked to, unless `DBDYNO_TEST_SERVERS` names
/// another folder.
const UNPACKED: &str = "/opt/dbdyno-servers";

/// A folder in memory. Thousands of files are made and removed in the course of all tests, which
/// costs CPU time on a disk.
const MEMORY: &str = "/dev/shm";

/// Free there before servers of tests are made in it: several times what those of some tests at
/// once, with two warehouses each, take.
const MEMORY_MIN_BYTES: u64 = 8 << 30;

/// A product of one version, as tests have it.
pub struct TestServer {
    /// The product.
    pub kind: Kind,
    /// How its version begins, as the program tells it.
    pub version: &'static str,
    /// Its folder below `DBDYNO_TEST_SERVERS`; none is the system's own.
    folder: Option<&'static str>,
    shared: OnceLock<Server>,
}

/// Debian's MariaDB.
pub static MARIADB: TestServer = TestServer::new(Kind::MariaDb, "10.11.", None);
/// MariaDB 11.4.
pub static MARIADB_11_4: TestServer =
    TestServer::new(Kind::MariaDb, "11.4.5-MariaDB", Some("mariadb-11.4"));
/// Oracle's MySQL 5.6.
pub static MYSQL_5_6: TestServer = TestServer::new(Kind::MySql, "5.6.24", Some("mysql-5.6"));
/// Oracle's MySQL 9.7, the newest series.
pub static MYSQL_9_7: TestServer = TestServer::new(Kind::MySql, "9.7.", Some("mysql-9.7"));
/// Debian's PostgreSQL.
pub static POSTGRES: TestServer = TestServer::new(Kind::Postgres, "15.", None);
/// PostgreSQL 18.
pub static POSTGRES_18: TestServer = TestServer::new(Kind::Postgres, "18.4", Some("postgres-18"));

/// All of them.
pub static ALL: [&TestServer; 6] =
    [&MARIADB, &MARIADB_11_4, &MYSQL_5_6, &MYSQL_9_7, &POSTGRES, &POSTGRES_18];

impl TestServer {
    const fn new(kind: Kind, version: &'static str, folder: Option<&'static str>) -> TestServer {
        TestServer { kind, version, folder, shared: OnceLock::new() }
    }

    /// The one server of this sort that all tests of a binary share. It ends with the process.
    ///
    /// # Panics
    /// If it cannot be started, with what to do.
    pub fn shared(&self) -> &Server {
        self.shared.get_or_init(|| self.start())
    }

    /// A server of one's own, which ends when it is dropped.
    ///
    /// # Panics
    /// If it cannot be started, with what to do.
    pub fn start(&self) -> Server {
        self.start_with(&[])
    }

    /// The same with settings besides.
    ///
    /// # Panics
    /// If it cannot be started, with what to do.
    pub fn start_with(&self, settings: &[(&str, &str)]) -> Server {
        let mut options = self.small();
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        options.settings.extend(settings);
        start(self.kind, &options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Where its program is and, if there is room, a folder in memory for its data.
    ///
    /// # Panics
    /// If it is not there, with what to do.
    pub fn options(&self) -> Options {
        let bin = self.folder.map(|folder| place().join(folder));
        if let Some(bin) = &bin {
            assert!(bin.is_dir(), "{}", missing(bin));
        }
        Options { bin, folder: memory(), ..Options::default() }
    }

    /// Options of a server for tests: small, quick to start, and it does not wait for the disk at
    /// each commit. What it has promised outlives its process, though not the machine.
    ///
    /// # Panics
    /// If it is not there, with what to do.
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

/// Starts a server whose data are copied, if they were made before for a test: they lie beside
/// cargo's executables, and go with them. Tests of how data are made use [`crate::start`].
pub fn start(kind: Kind, options: &Options) -> Result<Server, ServerError> {
    match templates() {
        Some(templates) => server::start_from(&templates, kind, options),
        None => crate::start(kind, options),
    }
}

/// The folder in memory, if it is one with enough room.
fn memory() -> Option<PathBuf> {
    let free = statvfs(MEMORY).map(|there| there.f_bavail.saturating_mul(there.f_frsize));
    free.is_ok_and(|bytes| bytes >= MEMORY_MIN_BYTES).then(|| MEMORY.into())
}

/// Where data are kept to be copied; nowhere for a test that is not where cargo has built it.
fn templates() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    folder.ends_with("deps").then(|| folder.with_file_name("server-templates"))
}

/// A file that tests need and Debian has not, such as `axe-core-4.14/axe.min.js`; it lies beside
/// the servers.
///
/// # Panics
/// If it is not there, with what to do.
pub fn fetched(file: &str) -> PathBuf {
    let path = place().join(file);
    assert!(path.is_file(), "{}", missing(&path));
    path
}

/// A real server of this kind that somebody wants to have tested too: what
/// `DBDYNO_TEST_MARIADB_URL`, `DBDYNO_TEST_MYSQL_URL` or `DBDYNO_TEST_POSTGRES_URL` names. Its user
/// signs in with a password and may do everything; tests make and drop users, databases, tables.
///
/// # Panics
/// If it is no URL of a target.
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
        // What servers do to their data they do to their own.
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
