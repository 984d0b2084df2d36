//! Running all tests: two executables at a time, the longest first, each as wide as its tests
//! allow; then those tests that need the machine to themselves. Each test has its time.
//!
//! A test that fails among others runs once more, alone. What passes then passes, but is named and
//! shown at the end: it depends on how busy the machine is, and wants mending.
//!
//! Cargo builds the executables and names them; they are run here, since cargo reports no times
//! for tests. Not here: what the tests need (setup), and what else must hold (chores).

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::{self, now, since};

/// Tests that are listed at the end, the slowest first.
const N_SLOWEST: usize = 30;

/// The executables that take longest, from the longest down: what begins last is short then.
const LONG: [&str; 6] =
    ["dbdyno it", "workloads on_servers", "app it", "analysis", "drivers", "servers it"];

/// Executables that run at once. They mostly wait for servers.
const N_LANES: usize = 2;

/// As many failed tests run once more. Where more failed, it is not the busy machine.
const AGAIN_MAX: usize = 5;

/// An executable that says nothing for so long hangs: it is ended, and counts as a failed test.
const SILENCE_MAX: Duration = Duration::from_secs(300);

/// Tests in the units that need a server, by a part of their names: the modules of one product, and
/// others.
const WITH_SERVERS: [&str; 10] = [
    "::on_server::",
    "::odd::",
    "::users::",
    "::pgbouncer::",
    "for_tests::",
    "tests::mariadb::",
    "tests::mariadb_11_4::",
    "tests::mysql_5_6::",
    "tests::postgres::",
    "tests::postgres_18::",
];

/// Stands behind the name of an executable whose tests run alone.
const ALONE_MARK: &str = ", alone";

/// Tests that need the machine to themselves, by a part of their names: they run last, one by one.
const ALONE: [&str; 2] = ["generator::", "findings::a_generator_that"];

/// Executables whose tests make many histograms, of 264 KiB each, and start no other process.
const MANY_HISTOGRAMS: [&str; 4] = ["analysis", "render", "stats", "store"];

/// For those: memory that was given back is kept and given out again. The kernel would have to
/// clear each page again, which took up to two thirds of a test's CPU time.
const KEEP_MEMORY: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824:\
     glibc.malloc.arena_max=1",
);

/// Which tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All of them.
    All,
    /// Those of units that need no server: the rest takes servers and a browser.
    Quick,
}

/// Which tests of an executable are run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group<'a> {
    /// Those that may share the machine.
    Together,
    /// Those that may not.
    Alone,
    /// This one, by its whole name.
    One(&'a str),
}

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

/// An executable with tests, as cargo has built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    /// `app`, or `app it` for the tests in a folder of their own.
    name: String,
    program: PathBuf,
    /// The folder of its package, in which its tests run.
    folder: PathBuf,
}

/// What cargo has built.
#[derive(Debug, Default)]
pub(crate) struct Built {
    pub(crate) executables: Vec<Executable>,
    /// dbdyno itself, which its tests run; none where those are left out.
    pub(crate) program: Option<PathBuf>,
}

/// What an executable has said of itself.
#[derive(Debug, Default)]
struct Ran {
    tally: Tally,
    /// Seconds by the name of a test.
    times: Vec<(f64, String)>,
    /// The names of tests that failed.
    failed: Vec<String>,
    /// What it printed but for the lines of its tests.
    said: String,
    is_good: bool,
}

/// Runs all tests, though some fail, and shows where the time goes.
pub(crate) fn run(executables: &[Executable], which: Which) -> Result<(bool, Tally)> {
    if executables.is_empty() {
        bail!("there are none: they were not built");
    }
    let queue = Mutex::new(longest_first(executables));
    let together = thread::scope(|scope| {
        let lane = || run_lane(&queue, which, Group::Together);
        let lanes: Vec<_> = (0..N_LANES).map(|_| scope.spawn(lane)).collect();
        let ran = lanes.into_iter().map(|lane| lane.join().expect("a lane has no panic"));
        ran.collect::<Result<Vec<_>>>()
    });
    let waiting = executables.iter().filter(|one| one.mostly_waits()).collect();
    let alone = run_lane(&Mutex::new(waiting), which, Group::Alone);
    let mut all: Vec<(String, f64, Ran)> =
        together?.into_iter().chain([alone?]).flatten().collect();
    let first: String = all.iter().filter(|one| !one.2.is_good).map(|one| &*one.2.said).collect();
    let passed_again = again(executables, which, &mut all)?;
    let (mut tally, mut is_good) = (Tally::default(), true);
    let (mut groups, mut tests) = (Vec::new(), Vec::new());
    for (executable, took_s, ran) in all {
        tally.passed += ran.tally.passed;
        tally.failed += ran.tally.failed;
        is_good &= ran.is_good;
        groups.push((took_s, executable.clone(), ran.tally.passed + ran.tally.failed));
        let named = |(s, name): (f64, String)| (s, format!("{executable}: {name}"));
        tests.extend(ran.times.into_iter().map(named));
    }
    println!("\n{}", times(groups, tests));
    if !first.is_empty() {
        println!("what failed:\n{first}");
    }
    for name in passed_again {
        println!("passed only when run again, alone: {name}");
    }
    Ok((is_good, tally))
}

/// Runs tests that failed once more, alone, and returns the names of those that passed then. Their
/// executable is good if nothing else in it failed.
fn again(
    executables: &[Executable],
    which: Which,
    all: &mut [(String, f64, Ran)],
) -> Result<Vec<String>> {
    let mut passed = Vec::new();
    if all.iter().map(|(.., ran)| ran.failed.len()).sum::<usize>() > AGAIN_MAX {
        return Ok(passed);
    }
    for (name, _, ran) in all {
        let name = name.trim_end_matches(ALONE_MARK);
        let Some(executable) = executables.iter().find(|one| one.name == name) else { continue };
        for test in std::mem::take(&mut ran.failed) {
            println!("\n     Running {name} {test} again, alone");
            let mut say = |line: &str| println!("{line}");
            let one = executable.run((which, Group::One(&test)), &mut say)?;
            if one.is_good && one.tally.passed == 1 {
                ran.tally.failed -= 1;
                ran.tally.passed += 1;
                passed.push(format!("{name}: {test}"));
            }
        }
        ran.is_good |= ran.tally.failed == 0;
    }
    Ok(passed)
}

/// The executables in the order in which they are begun.
fn longest_first(executables: &[Executable]) -> VecDeque<&Executable> {
    let place = |one: &&Executable| LONG.iter().position(|name| *name == one.name);
    let mut all: Vec<&Executable> = executables.iter().collect();
    all.sort_by_key(|one| place(one).unwrap_or(LONG.len()));
    all.into()
}

/// Runs executables one after the other, as long as there are any; each with its seconds.
fn run_lane(
    queue: &Mutex<VecDeque<&Executable>>,
    which: Which,
    group: Group,
) -> Result<Vec<(String, f64, Ran)>> {
    let next = || queue.lock().expect("a lane has no panic").pop_front();
    let mut all = Vec::new();
    while let Some(executable) = next() {
        let begun = now();
        let name = match group {
            Group::Together => executable.name.clone(),
            _ => format!("{}{ALONE_MARK}", executable.name),
        };
        if group == Group::Together {
            println!("\n     Running {name}");
        }
        // Tests are shown as they end; what else an executable says stays together.
        let mut said = String::new();
        let ran = executable.run((which, group), &mut |line| match line.starts_with("test ") {
            true => println!("{line}"),
            false => said.extend([line, "\n"]),
        });
        let ran = Ran { said, ..ran? };
        // Hardly any executable has tests that run alone.
        if group == Group::Together || ran.tally != Tally::default() {
            print!("{name}: {}", ran.said);
            all.push((name, seconds(begun), ran));
        }
    }
    Ok(all)
}

/// Where the time went: the executables, and the slowest tests.
fn times(mut groups: Vec<(f64, String, u64)>, mut tests: Vec<(f64, String)>) -> String {
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut lines = vec!["time of each executable, and its tests:".to_owned()];
    lines.extend(groups.iter().map(|(s, name, n)| format!("{s:8.1} s  {n:5}  {name}")));
    lines.push(format!("the {} slowest tests:", tests.len().min(N_SLOWEST)));
    lines.extend(tests.iter().take(N_SLOWEST).map(|(s, name)| format!("{s:8.1} s  {name}")));
    lines.join("\n")
}

/// Builds all tests.
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
    // The order in which cargo has built them is another each time.
    let mut all: Vec<Executable> = text.lines().filter_map(executable).collect();
    all.sort_by(|a, b| (&a.name, &a.program).cmp(&(&b.name, &b.program)));
    Ok(Built { executables: all, program: text.lines().find_map(dbdyno) })
}

/// Where dbdyno itself is, if a line of cargo's says so.
fn dbdyno(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = &message["target"];
    let is_it = target["name"] == "dbdyno" && target["kind"][0] == "bin";
    let is_test = message["profile"]["test"] != false;
    if !is_it || is_test {
        return None;
    }
    Some(PathBuf::from(message["executable"].as_str()?))
}

/// What a line of cargo's says of an executable with tests.
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
    /// How many of its tests run at once. Those in folders of their own mostly wait: for servers,
    /// for processes, and for loads of some seconds.
    fn width(&self, group: Group) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        match group {
            Group::Alone | Group::One(_) => 1,
            Group::Together if self.mostly_waits() => 2 * cores,
            Group::Together => cores,
        }
    }

    fn mostly_waits(&self) -> bool {
        self.name.contains(' ')
    }

    /// `say` gets what it prints, line by line.
    fn run(&self, (which, group): (Which, Group), say: &mut dyn FnMut(&str)) -> Result<Ran> {
        let mut command = Command::new(&self.program);
        if which == Which::Quick {
            command.args(WITH_SERVERS.map(|name| format!("--skip={name}")));
        }
        match group {
            Group::Alone => _ = command.args(ALONE),
            Group::One(name) => _ = command.args(["--exact", name]),
            Group::Together if self.mostly_waits() => {
                command.args(ALONE.map(|name| format!("--skip={name}")));
            }
            Group::Together => {}
        }
        if MANY_HISTOGRAMS.contains(&&*self.name) {
            command.env(KEEP_MEMORY.0, KEEP_MEMORY.1);
        }
        let mut child = command
            // Times of tests are an unstable option of every test executable.
            .args(["-Z", "unstable-options", "--report-time"])
            .args(["--test-threads", &self.width(group).to_string()])
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
                if line.contains(" ... FAILED") {
                    ran.failed.push(name.clone());
                }
                ran.times.push((s, name));
            }
        }
        let status = child.wait()?;
        ran.is_good = status.success();
        if !ran.is_good && ran.tally.failed == 0 {
            // It died before it could say what had failed.
            say(&format!("{} ended with {status}", self.name));
            ran.tally.failed = 1;
            // Others had no turn: one that passes now would not make it good.
            ran.failed.clear();
        }
        Ok(ran)
    }
}

/// The lines of an executable as they come, while somebody waits for them.
fn lines(output: ChildStdout) -> Receiver<std::io::Result<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let text = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
        let all = BufReader::new(output).split(b'\n').map(|line| line.map(text));
        // Nobody listens any more once it was ended.
        let _ = all.into_iter().try_for_each(|line| sender.send(line));
    });
    receiver
}

/// Reads `test a::b has been running for over 60 seconds`.
fn long_one(line: &str) -> Option<String> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" has been running for over ")?;
    Some(name.to_owned())
}

/// Reads `test result: ok. 5 passed; 0 failed; ...`.
fn tally_of(line: &str) -> Option<Tally> {
    let words: Vec<&str> = line.strip_prefix("test result:")?.split_whitespace().collect();
    let before = |name: &str| {
        let place = words.iter().position(|word| word.trim_end_matches(';') == name)?;
        words[place.checked_sub(1)?].parse().ok()
    };
    Some(Tally { passed: before("passed")?, failed: before("failed")? })
}

/// Reads `test records::a_record ... ok <1.234s>`.
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

    /// An executable whose test `busy` passes alone only, and whose test `wrong` never does.
    #[test]
    fn what_fails_among_others_is_run_again_alone_and_named() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let program = folder.path().join("it");
        let script = r#"case "$*" in
                *--exact\ busy*) echo "test busy ... ok <0.1s>"
                    echo "test result: ok. 1 passed; 0 failed"; exit 0;;
                *--exact*) echo "test wrong ... FAILED <0.1s>"
                    echo "test result: FAILED. 0 passed; 1 failed"; exit 101;;
            esac
            echo "test fine ... ok <0.1s>"; echo "test busy ... FAILED <0.1s>"
            echo "$WRONG"
            echo "test result: FAILED. 1 passed; $N_FAILED failed"; exit 101"#;
        let run = |wrong: &str| {
            let n_failed = if wrong.is_empty() { "1" } else { "2" };
            let script = script.replace("$WRONG", wrong).replace("$N_FAILED", n_failed);
            let script = format!("#!/bin/sh\n{script}");
            std::fs::write(&program, script).expect("it can be written");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&program, mode).expect("it can be made executable");
            let folder = folder.path().to_owned();
            let all = [Executable { name: "app it".to_owned(), program: program.clone(), folder }];
            let queue = Mutex::new(all.iter().collect());
            let mut ran = run_lane(&queue, Which::All, Group::Together).expect("it runs");
            let passed = again(&all, Which::All, &mut ran).expect("it runs again");
            let (.., ran) = ran.remove(0);
            (passed, ran.tally, ran.is_good)
        };
        let busy = vec!["app it: busy".to_owned()];
        assert_eq!(run(""), (busy.clone(), Tally { passed: 2, failed: 0 }, true));
        let wrong = run("test wrong ... FAILED <0.1s>");
        assert_eq!(wrong, (busy, Tally { passed: 2, failed: 1 }, false));
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
