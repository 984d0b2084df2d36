//! Runs all tests: two test executables at a time, the longest first, each with as many threads as
//! its tests allow. Reports the time of each test.
//!
//! A failed test is not repeated, since none may depend on the speed, number or load of the
//! processors. Tests in real time can be run under conditions that reveal such a dependence
//! (`Condition`).
//!
//! Cargo builds the executables and names them. They are run here, since cargo reports no times of
//! tests. Not here: requirements of the tests (`setup`), and other checks (`chores`).

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::fs::statvfs;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde_json::Value;

use crate::cargo::{self, now, since};

/// Number of tests in the printed list of the slowest ones.
const N_SLOWEST: usize = 30;

/// Names of the executables that take longest, in descending order. They start first, so that the
/// last ones to run are short.
const LONG: [&str; 7] =
    ["dbdyno it", "workloads on_servers", "app it", "analysis", "study", "drivers", "servers it"];

/// Number of test executables that run at the same time. They mostly wait for servers.
const N_LANES: usize = 2;

/// Time without output after which a test executable counts as hanging: it is killed, and counts as
/// a failed test. Tests themselves give up a wait after 15 minutes.
const SILENCE_MAX: Duration = Duration::from_secs(1200);

/// Parts of the names of unit tests that need a server, which the quick run skips.
const WITH_SERVERS: [&str; 11] = [
    "::on_server::",
    "::odd::",
    "::users::",
    "::pgbouncer::",
    "for_tests::",
    "tests::mariadb::",
    "tests::mariadb_11_4::",
    "tests::mariadb_11_8::",
    "tests::mysql_5_6::",
    "tests::postgres::",
    "tests::postgres_18::",
];

/// Crates whose test executables only compute, without a clock.
const COMPUTING: [&str; 7] = ["analysis", "model", "plan", "render", "stats", "study", "xtask"];

/// Minimum free disk space in bytes to start the tests: twice the most that they use (two
/// executables with servers, about 3 GiB).
const ROOM_MIN: u64 = 6 << 30;

/// Number of processes that keep the CPUs busy beside the tests, under the condition `Busy`.
const SPINNING: usize = 10;

/// Test executables that create many histograms of 264 KiB each, and start no other process. They
/// run with [`KEEP_MEMORY`].
const MANY_HISTOGRAMS: [&str; 5] = ["analysis", "render", "stats", "store", "study"];

/// Environment variable that makes glibc's allocator keep freed memory. Otherwise the kernel clears
/// each page again, which took up to two thirds of a test's CPU time.
const KEEP_MEMORY: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824:\
     glibc.malloc.arena_max=1",
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Only unit tests that need no server. All other tests need servers, processes or a browser.
    Quick,
}

/// Condition of the machine under which the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Whole,
    OneCore,
    /// Tests run beside ten processes that keep the CPUs busy.
    Busy,
    /// Tests run at the lowest priority of the system.
    Nice,
}

impl Condition {
    /// Conditions that reveal whether tests in real time depend on the machine.
    pub(crate) const STRESS: [Condition; 3] =
        [Condition::OneCore, Condition::Busy, Condition::Nice];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Condition::Whole => "tests",
            Condition::OneCore => "tests on one core",
            Condition::Busy => "tests beside ten spinning processes",
            Condition::Nice => "tests at the lowest priority",
        }
    }

    /// Returns the command that runs a program under this condition. `Busy` needs [`Spinners`] in
    /// addition.
    fn command(self, program: &Path) -> Command {
        let through = |before: &[&str]| {
            let mut command = Command::new(before[0]);
            command.args(&before[1..]).arg(program);
            command
        };
        match self {
            Condition::Whole | Condition::Busy => Command::new(program),
            Condition::OneCore => through(&["taskset", "--cpu-list", &first_core().to_string()]),
            // The lowest priority: larger values are clamped.
            Condition::Nice => through(&["nice", "-n", "39"]),
        }
    }
}

/// Returns the number of the first processor that this process may use.
fn first_core() -> usize {
    let allowed = sched_getaffinity(None).expect("it can be asked");
    let mut cores = 0..CpuSet::MAX_CPU;
    cores.find(|core| allowed.is_set(*core)).expect("we run on one")
}

/// Processes that keep the CPUs busy until this value is dropped, or until this process ends.
struct Spinners(Vec<Child>);

impl Spinners {
    fn start(condition: Condition) -> Result<Spinners> {
        let n_spinning = if condition == Condition::Busy { SPINNING } else { 0 };
        let mut spinners = Spinners(Vec::new());
        for _ in 0..n_spinning {
            let spins = Command::new("sh").args(["-c", "while kill -0 $PPID; do :; done"]).spawn();
            spinners.0.push(spins.context("cannot start sh")?);
        }
        Ok(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // The child may have been killed already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A watch on the free space of the disk with temporary files, until it is ended. On a full disk,
/// unrelated tests fail.
struct Room {
    at_start: u64,
    watcher: thread::JoinHandle<u64>,
    end: Sender<()>,
}

impl Room {
    /// Starts to watch the free disk space.
    ///
    /// # Errors
    ///
    /// If there is too little space for the tests.
    fn watch() -> Result<Room> {
        let at_start = free()?;
        if at_start < ROOM_MIN {
            bail!(
                "{} has {} free, and the tests need {}: make room, or set TMPDIR",
                std::env::temp_dir().display(),
                gib(at_start),
                gib(ROOM_MIN)
            );
        }
        let (end, ended) = mpsc::channel();
        let watcher = thread::spawn(move || {
            let mut least = at_start;
            let second = Duration::from_secs(1);
            while ended.recv_timeout(second) == Err(mpsc::RecvTimeoutError::Timeout) {
                least = least.min(free().unwrap_or(least));
            }
            least
        });
        Ok(Room { at_start, watcher, end })
    }

    fn end(self) -> String {
        drop(self.end);
        let least = self.watcher.join().expect("the watcher has no panic");
        format!("free disk: {} at the start, {} at least", gib(self.at_start), gib(least))
    }
}

/// Returns the free bytes in the folder of temporary files.
fn free() -> Result<u64> {
    let folder = std::env::temp_dir();
    let room = statvfs(&folder).with_context(|| folder.display().to_string())?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Number of tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

/// A test executable, as built by cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    /// Name of the package, such as `app`; `app it` for tests of its folder `tests`.
    name: String,
    program: PathBuf,
    /// Folder of the package, in which its tests run.
    folder: PathBuf,
}

/// Results of a build of the tests by cargo: the executables, and dbdyno itself.
#[derive(Debug, Default)]
pub(crate) struct Built {
    pub(crate) executables: Vec<Executable>,
    /// Path of dbdyno itself, which its tests run; `None` if its tests are not run.
    pub(crate) program: Option<PathBuf>,
}

/// Results and output of a test executable that was run.
#[derive(Debug, Default)]
struct Ran {
    tally: Tally,
    /// Duration of each test in seconds, with its name.
    times: Vec<(f64, String)>,
    /// Output of the executable without the lines that report tests.
    said: String,
    is_good: bool,
}

/// Runs all tests even if some fail, and prints where the time goes. Returns whether all passed,
/// and how many did. Under any condition but [`Condition::Whole`], it runs only the executables
/// that use real time.
pub(crate) fn run(
    executables: &[Executable],
    which: Which,
    condition: Condition,
) -> Result<(bool, Tally)> {
    if executables.is_empty() {
        bail!("there are none: they were not built");
    }
    let room = Room::watch()?;
    let mut queue = longest_first(executables);
    queue.retain(|one| condition == Condition::Whole || one.runs_in_real_time());
    let (queue, _spinners) = (Mutex::new(queue), Spinners::start(condition)?);
    let all = thread::scope(|scope| {
        let lane = || run_lane(&queue, which, condition);
        let lanes: Vec<_> = (0..N_LANES).map(|_| scope.spawn(lane)).collect();
        let ran = lanes.into_iter().map(|lane| lane.join().expect("a lane has no panic"));
        ran.collect::<Result<Vec<_>>>()
    });
    let (mut tally, mut is_good, mut failures) = (Tally::default(), true, String::new());
    let (mut groups, mut tests) = (Vec::new(), Vec::new());
    for (executable, took_s, ran) in all?.into_iter().flatten() {
        tally.passed += ran.tally.passed;
        tally.failed += ran.tally.failed;
        is_good &= ran.is_good;
        if !ran.is_good {
            failures += &ran.said;
        }
        groups.push((took_s, executable.clone(), ran.tally.passed + ran.tally.failed));
        let named = |(s, name): (f64, String)| (s, format!("{executable}: {name}"));
        tests.extend(ran.times.into_iter().map(named));
    }
    println!("\n{}\n{}", times(groups, tests), room.end());
    if !failures.is_empty() {
        println!("what failed:\n{failures}");
    }
    Ok((is_good, tally))
}

/// Returns the executables in the order in which they start: those of [`LONG`], then the others.
fn longest_first(executables: &[Executable]) -> VecDeque<&Executable> {
    let place = |one: &&Executable| LONG.iter().position(|name| *name == one.name);
    let mut all: Vec<&Executable> = executables.iter().collect();
    all.sort_by_key(|one| place(one).unwrap_or(LONG.len()));
    all.into()
}

/// Runs executables from the queue until it is empty; returns each with its duration in seconds.
fn run_lane(
    queue: &Mutex<VecDeque<&Executable>>,
    which: Which,
    condition: Condition,
) -> Result<Vec<(String, f64, Ran)>> {
    let next = || queue.lock().expect("a lane has no panic").pop_front();
    let mut all = Vec::new();
    while let Some(executable) = next() {
        let begun = now();
        let name = executable.name.clone();
        println!("\n     Running {name}");
        // Lines of tests are printed at once; other output is kept together.
        let mut said = String::new();
        let ran = executable.run(which, condition, &mut |line| match line.starts_with("test ") {
            true => println!("{line}"),
            false => said.extend([line, "\n"]),
        });
        let ran = Ran { said, ..ran? };
        print!("{name}: {}", ran.said);
        all.push((name, seconds(begun), ran));
    }
    Ok(all)
}

/// Formats the times of the executables and of the slowest tests, in descending order.
fn times(mut groups: Vec<(f64, String, u64)>, mut tests: Vec<(f64, String)>) -> String {
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut lines = vec!["time of each executable, and its tests:".to_owned()];
    lines.extend(groups.iter().map(|(s, name, n)| format!("{s:8.1} s  {n:5}  {name}")));
    lines.push(format!("the {} slowest tests:", tests.len().min(N_SLOWEST)));
    lines.extend(tests.iter().take(N_SLOWEST).map(|(s, name)| format!("{s:8.1} s  {name}")));
    lines.join("\n")
}

pub(crate) fn build(root: &Path, which: Which) -> Result<Built> {
    let mut tests =
        vec!["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"];
    tests.extend(cargo::EVERYTHING);
    if which == Which::Quick {
        tests.extend(["--lib", "--bins"]);
    }
    let built = cargo::output(root, &tests)?;
    if !built.status.success() {
        bail!("the tests cannot be built");
    }
    let text = String::from_utf8(built.stdout)?;
    // Cargo's order varies.
    let mut all: Vec<Executable> = text.lines().filter_map(executable).collect();
    all.sort_by(|a, b| (&a.name, &a.program).cmp(&(&b.name, &b.program)));
    Ok(Built { executables: all, program: text.lines().find_map(dbdyno) })
}

/// Returns the path of dbdyno, if a line of cargo's JSON output is about its program and not about
/// a test.
fn dbdyno(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = &message["target"];
    let is_program = target["name"] == "dbdyno" && target["kind"][0] == "bin";
    let is_test = message["profile"]["test"] != false;
    if !is_program || is_test {
        return None;
    }
    Some(PathBuf::from(message["executable"].as_str()?))
}

/// Parses a line of cargo's JSON output; `None` unless it is about an executable with tests.
fn executable(line: &str) -> Option<Executable> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_str()?.to_owned();
    let target = message["target"]["name"].as_str()?;
    let kind = message["target"]["kind"][0].as_str()?;
    let name = match kind {
        "test" | "example" | "bench" => format!("{package} {target}"),
        "bin" if target != package => format!("{package} {target}"),
        _ => package,
    };
    let program = PathBuf::from(message["executable"].as_str()?);
    Some(Executable { name, program, folder })
}

impl Executable {
    /// Returns the number of tests of the executable that run at once. Tests in a separate folder
    /// mostly wait (for servers, processes, and loads of some seconds), so there are two for each
    /// core.
    fn width(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        if self.name.contains(' ') { 2 * cores } else { cores }
    }

    fn runs_in_real_time(&self) -> bool {
        let package = self.name.split(' ').next().unwrap_or_default();
        !COMPUTING.contains(&package)
    }

    /// Runs the test executable, and stops it if it hangs. `say` gets its output line by line.
    fn run(&self, which: Which, condition: Condition, say: &mut dyn FnMut(&str)) -> Result<Ran> {
        let mut command = condition.command(&self.program);
        if which == Which::Quick {
            command.args(WITH_SERVERS.map(|name| format!("--skip={name}")));
        }
        if MANY_HISTOGRAMS.contains(&&*self.name) {
            command.env(KEEP_MEMORY.0, KEEP_MEMORY.1);
        }
        let mut child = command
            // Times of tests are an unstable option of every test executable.
            .args(["-Z", "unstable-options", "--report-time"])
            .args(["--test-threads", &self.width().to_string()])
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let lines = lines(child.stdout.take().expect("it is piped"));
        let mut ran = Ran::default();
        let mut long: Vec<String> = Vec::new();
        loop {
            let line = match lines.recv_timeout(SILENCE_MAX) {
                Ok(line) => line?,
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let tests = if long.is_empty() { "none known" } else { &long.join(", ") };
                    say(&format!("{} says nothing and is ended; running: {tests}", self.name));
                    child.kill()?;
                    break;
                }
            };
            say(&line);
            if let Some(one) = tally_of(&line) {
                ran.tally.passed += one.passed;
                ran.tally.failed += one.failed;
            }
            long.extend(long_one(&line));
            if let Some((s, name)) = time_of(&line) {
                long.retain(|long| *long != name);
                ran.times.push((s, name));
            }
        }
        let status = child.wait()?;
        ran.is_good = status.success();
        if !ran.is_good && ran.tally.failed == 0 {
            // The program ended before it could report failures.
            say(&format!("{} ended with {status}", self.name));
            ran.tally.failed = 1;
        }
        Ok(ran)
    }
}

/// Receives the lines of an executable's output as they arrive.
fn lines(output: ChildStdout) -> Receiver<std::io::Result<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let text = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
        let all = BufReader::new(output).split(b'\n').map(|line| line.map(text));
        // The receiver is gone once it was killed.
        let _ = all.into_iter().try_for_each(|line| sender.send(line));
    });
    receiver
}

/// Returns the name of the test in a line such as `test a::b has been running for over 60 seconds`.
fn long_one(line: &str) -> Option<String> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" has been running for over ")?;
    Some(name.to_owned())
}

/// Returns the numbers of tests in a line such as `test result: ok. 5 passed; 0 failed; ...`.
fn tally_of(line: &str) -> Option<Tally> {
    let words: Vec<&str> = line.strip_prefix("test result:")?.split_whitespace().collect();
    let before = |name: &str| {
        let place = words.iter().position(|word| word.trim_end_matches(';') == name)?;
        words[place.checked_sub(1)?].parse().ok()
    };
    Some(Tally { passed: before("passed")?, failed: before("failed")? })
}

/// Returns seconds and name in a line such as `test records::a_record ... ok <1.234s>`.
fn time_of(line: &str) -> Option<(f64, String)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let time = rest.rsplit_once('<')?.1.strip_suffix("s>")?;
    Some((time.parse().ok()?, name.to_owned()))
}

fn seconds(begun: Instant) -> f64 {
    since(begun).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_tests_are_read_from_their_own_lines() {
        let check = |line: &str, expect: Option<(u64, u64)>| {
            let expect = expect.map(|(passed, failed)| Tally { passed, failed });
            assert_eq!(tally_of(line), expect, "{line}");
        };
        check("test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured", Some((5, 0)));
        check("test result: FAILED. 3 passed; 2 failed; 0 ignored", Some((3, 2)));
        check("test tally ... ok", None);
        check("test result: a test may print anything", None);
    }

    #[test]
    fn the_slowest_tests_are_shown_first() {
        assert_eq!(time_of("test a::b ... ok <1.234s>"), Some((1.234, "a::b".to_owned())));
        assert_eq!(time_of("test a::b ... FAILED <0.010s>"), Some((0.01, "a::b".to_owned())));
        assert_eq!(time_of("test a::b - should panic ... ok"), None);
        assert_eq!(time_of("test result: ok. 5 passed; 0 failed"), None);
        let line = "test a::b has been running for over 60 seconds";
        assert_eq!((long_one(line), time_of(line)), (Some("a::b".to_owned()), None));
        let tests = (0..40).map(|n| (f64::from(n), format!("test {n}"))).collect();
        let groups = vec![(1.0, "stats".to_owned(), 3), (75.25, "app it".to_owned(), 20)];
        let text = times(groups, tests);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "    75.2 s     20  app it");
        assert_eq!(lines[4], "    39.0 s  test 39");
        assert_eq!(lines.len(), 4 + N_SLOWEST);
    }

    /// Checks that a failed test counts under each condition. A script takes the place of an
    /// executable: one test passes, one fails, and it prints its priority and cores.
    #[test]
    fn a_test_that_fails_has_failed_under_each_condition() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let program = folder.path().join("it");
        let script = "#!/bin/sh\necho \"test fine ... ok <0.1s>\"\necho \"priority $(nice)\"\n\
                      echo \"cores $(nproc)\"\necho \"test bad ... FAILED <0.1s>\"\n\
                      echo \"test result: FAILED. 1 passed; 1 failed\"\nexit 101\n";
        std::fs::write(&program, script).expect("it can be written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("it can be made executable");
        let folder = folder.path().to_owned();
        let one = Executable { name: "app it".to_owned(), program, folder };
        let run = |condition| {
            let queue = Mutex::new([&one].into());
            let mut ran = run_lane(&queue, Which::All, condition).expect("it runs");
            let (.., ran) = ran.remove(0);
            assert_eq!((ran.tally, ran.is_good), (Tally { passed: 1, failed: 1 }, false));
            ran.said
        };
        run(Condition::Whole);
        assert!(run(Condition::OneCore).contains("cores 1\n"));
        assert!(run(Condition::Nice).contains("priority 19\n"));
        assert_eq!(Spinners::start(Condition::Busy).expect("they start").0.len(), SPINNING);
        assert!(one.runs_in_real_time());
    }

    #[test]
    fn the_longest_executables_are_begun_first() {
        let executable = |name: &str| Executable {
            name: name.to_owned(),
            program: PathBuf::new(),
            folder: PathBuf::new(),
        };
        let all = ["analysis", "app", "app it", "dbdyno it", "stats"].map(executable);
        let order: Vec<&str> = longest_first(&all).iter().map(|one| one.name.as_str()).collect();
        assert_eq!(order, ["dbdyno it", "app it", "analysis", "app", "stats"]);
    }

    #[test]
    fn executables_are_those_that_cargo_names() {
        let line = |kind: &str, name: &str, is_test: bool| {
            format!(
                r#"{{"reason": "compiler-artifact", "manifest_path": "/h/crates/app/Cargo.toml",
                "target": {{"kind": ["{kind}"], "name": "{name}"}},
                "profile": {{"test": {is_test}}}, "executable": "/h/target/{name}-1"}}"#
            )
            .replace('\n', " ")
        };
        let name = |kind: &str, name: &str| executable(&line(kind, name, true)).map(|it| it.name);
        assert_eq!(name("lib", "app").as_deref(), Some("app"));
        assert_eq!(name("test", "it").as_deref(), Some("app it"));
        assert_eq!(name("example", "seek").as_deref(), Some("app seek"));
        assert_eq!(executable(&line("lib", "app", false)), None);
        assert_eq!(executable("warning: none"), None);
        let folder = executable(&line("lib", "app", true)).expect("one").folder;
        assert_eq!(folder, Path::new("/h/crates/app"));
        let is_dbdyno = |kind, name, is_test| dbdyno(&line(kind, name, is_test)).is_some();
        assert!(is_dbdyno("bin", "dbdyno", false));
        assert!(!is_dbdyno("bin", "dbdyno", true) && !is_dbdyno("lib", "dbdyno", false));
        assert!(!is_dbdyno("bin", "xtask", false) && dbdyno("warning: none").is_none());
    }
}
