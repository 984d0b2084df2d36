//! A temporary home folder for tests: dbdyno runs as a process with all its files there, or in the
//! process of the tests, with that folder and a clean environment.
//!
//! Not here: expectations.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use dbdyno::Shell;
use rusqlite::{Connection, OpenFlags};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use serde_json::Value;
use tempfile::TempDir;

use crate::waiting::Started;

/// Environment variable that makes glibc's allocator keep freed memory. Otherwise the kernel clears
/// pages for each of many histograms of 264 KiB, which takes a fifth of the CPU time of short runs.
const KEEP_MEMORY: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824",
);

/// Flag that makes the data of tpcc so small that they are checked and copied quickly.
pub(crate) const SMALL: &str = "--shrink=10";

/// Temporary home folder of a new user, removed when dropped.
pub(crate) struct Home {
    folder: TempDir,
}

/// Output of a process, and its exit code; `None` if a signal ended it.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Home {
        let folder = tempfile::Builder::new().prefix("dbdyno-").tempdir();
        Home { folder: folder.expect("temporary folders can be made") }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file, and returns its path as text.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("the folder is ours");
        path.to_string_lossy().into_owned()
    }

    /// Returns the path of the store that dbdyno uses by default in this home.
    pub(crate) fn store(&self) -> PathBuf {
        self.path("data/dbdyno/runs.sqlite")
    }

    /// Writes bytes as the file of the home's default store.
    pub(crate) fn put_store(&self, bytes: &[u8]) {
        let to = self.store();
        fs::create_dir_all(to.parent().expect("it lies in a folder")).expect("it is ours");
        fs::write(to, bytes).expect("there is room for it");
    }

    /// Returns the path of the SQLite file that dbdyno uses by default for a workload in this home.
    pub(crate) fn database(&self, workload: &str) -> PathBuf {
        self.path(&format!("data/dbdyno/{workload}.db"))
    }

    /// Makes a command that runs a program with this home and a clean environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        // Printed commands call dbdyno by its name only where the name is enough.
        let folder = Path::new(env!("CARGO_BIN_EXE_dbdyno")).parent().expect("it is in a folder");
        let mut command = Command::new(program);
        command
            .env_clear()
            .env(
                "PATH",
                format!("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:{}", folder.display()),
            )
            .env("HOME", self.path("home"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("RUST_BACKTRACE", "1")
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn dbdyno<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_dbdyno"));
        command.args(args).env(KEEP_MEMORY.0, KEEP_MEMORY.1);
        command
    }

    /// Runs dbdyno as a process with this home folder until it ends.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Ran {
        Started::new(self.dbdyno(args)).end()
    }

    /// Runs dbdyno in this process. Must not be used for measurements in real time, since all tests
    /// share the process, nor for signals and terminals, which belong to the process.
    pub(crate) fn call(&self, args: &[&str]) -> Ran {
        self.call_with(&[("HOME", self.path("home")), ("XDG_DATA_HOME", self.path("data"))], args)
    }

    /// Runs dbdyno as [`Home::call`] does, with these environment variables only.
    pub(crate) fn call_with(&self, variables: &[(&str, PathBuf)], args: &[&str]) -> Ran {
        let words: Vec<String> =
            ["dbdyno"].iter().chain(args).map(|&word| word.to_owned()).collect();
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, path)| (name.to_string(), path.to_string_lossy().into_owned()))
            .collect();
        let variable = move |name: &str| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let (out, err) = (Written::default(), Written::default());
        let shell = Shell::new(out.clone(), err.clone(), variable);
        let code = self.within(|| dbdyno::run(&words, &shell));
        Ran { code: Some(i32::from(code)), out: out.text(), err: err.text() }
    }

    /// Runs `work` on a thread whose current folder is this home. The current folder of other
    /// threads stays.
    fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let there = || {
            #[expect(unsafe_code, reason = "threads must not lose each other's descriptors")]
            // SAFETY: what is no longer shared is the current folder and the mask of new files;
            // descriptors stay shared.
            unsafe { unshare_unsafe(UnshareFlags::FS) }.expect("a thread may have its own folder");
            std::env::set_current_dir(self.folder()).expect("it is there");
            work()
        };
        thread::scope(|scope| match scope.spawn(there).join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Runs another program with this home folder until it ends.
    pub(crate) fn run_other(&self, program: &str, args: &[&str]) -> Ran {
        let mut command = self.command(program);
        command.args(args);
        Started::new(command).end()
    }

    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: &[S]) -> Started {
        Started::new(self.dbdyno(args))
    }

    /// Runs dbdyno, which must succeed and print only JSON.
    pub(crate) fn json<S: AsRef<OsStr>>(&self, args: &[S]) -> Value {
        let mut args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        args.extend([OsStr::new("--output"), OsStr::new("json")]);
        self.run(&args).good().json()
    }

    /// Runs dbdyno until it completes with this exit code; returns its report. The code is 1 for a
    /// run with a finding that makes it invalid, as short ones have, and 0 for all others.
    #[track_caller]
    pub(crate) fn report_with_code<S: AsRef<OsStr>>(&self, code: i32, args: &[S]) -> Value {
        let mut args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        args.extend([OsStr::new("--output"), OsStr::new("json")]);
        let report = self.run(&args).code(code).json();
        assert_eq!(report["status"], "completed");
        report
    }

    /// Copies data of tpcc to their default path: one warehouse with a tenth of the rows, of seed
    /// 1. The data are built once per process.
    pub(crate) fn put_tpcc(&self) {
        static BUILT: OnceLock<File> = OnceLock::new();
        let built = BUILT.get_or_init(|| {
            let home = Home::new();
            home.run(&["build", "tpcc", SMALL]).good();
            // The file lives as long as this handle.
            File::open(home.database("tpcc")).expect("it was just built")
        });
        let to = self.database("tpcc");
        fs::create_dir_all(to.parent().expect("it lies in a folder")).expect("it is ours");
        let from = format!("/proc/self/fd/{}", built.as_raw_fd());
        fs::copy(from, to).expect("there is room for a copy");
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Ran {
        let out: String = self.out.chars().take(4000).collect();
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{}", self.err);
        for defect in ["panicked", "bug in dbdyno", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!self.err.contains(defect), "{}", self.err);
        }
        self
    }

    /// Asserts that the command succeeded: its exit code is 0.
    #[track_caller]
    pub(crate) fn good(self) -> Ran {
        self.code(0)
    }

    /// Asserts that stdout contains all `fragments` of text.
    #[track_caller]
    pub(crate) fn says(self, fragments: &[&str]) -> Ran {
        for fragment in fragments {
            assert!(self.out.contains(fragment), "no '{fragment}' in stdout:\n{}", self.out);
        }
        self
    }

    /// Asserts that stderr contains all `fragments` of text.
    #[track_caller]
    pub(crate) fn warns(self, fragments: &[&str]) -> Ran {
        for fragment in fragments {
            assert!(self.err.contains(fragment), "no '{fragment}' in stderr:\n{}", self.err);
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|bad| panic!("{bad}:\n{}\n{}", self.out, self.err))
    }
}

/// Writer that keeps its text, shared by clones.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        let bytes = self.0.lock().expect("whoever writes does not panic").clone();
        String::from_utf8(bytes).expect("dbdyno writes UTF-8")
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whoever reads does not panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a database read-only that another process uses.
pub(crate) fn look_into(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Returns the number that `sql` returns from a database; `None` while the file, table or row does
/// not exist.
pub(crate) fn number_in(path: &Path, sql: &str) -> Option<i64> {
    look_into(path).and_then(|database| database.query_row(sql, [], |row| row.get(0))).ok()
}

/// Returns the number in JSON at a path of keys such as `counts.offered`, which must exist.
#[track_caller]
pub(crate) fn number(value: &Value, path: &str) -> f64 {
    let found = at(value, path);
    found.as_f64().unwrap_or_else(|| panic!("{path} is {found}, not a number"))
}

/// Returns the value in JSON at a path of keys, which must exist.
#[track_caller]
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let inner = |value: &'a Value, key: &str| match key.parse::<usize>() {
        Ok(index) if value.is_array() => value.get(index),
        _ => value.get(key),
    };
    let found = path.split('.').try_fold(value, inner);
    found.unwrap_or_else(|| panic!("there is no {path}"))
}
