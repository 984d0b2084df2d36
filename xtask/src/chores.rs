//! Development tasks (`cargo xtask ...`): each is a list of steps, which are all run and timed even
//! if one fails.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, now, since};
use crate::dist;
use crate::setup;
use crate::suite::{self, Built, Condition, Tally, Which};
use crate::tidy::{Report, check};
use crate::tree::Tree;

/// Lists of `dbdyno list` that are also pages of `docs/reference`.
const LISTS: [&str; 3] = ["parameters", "findings", "figures"];

/// Checks the rules of tidy and prints the problems. Returns false if something must be corrected.
pub(crate) fn tidy(root: &Path) -> Result<bool> {
    Ok(is_tidy(&check(&Tree::read(root)?)))
}

fn is_tidy(report: &Report) -> bool {
    for advice in &report.advice {
        println!("advice: {advice}");
    }
    for failure in &report.failures {
        println!("{failure}");
    }
    println!("tidy: {} to mend, {} to consider", report.failures.len(), report.advice.len());
    report.failures.is_empty()
}

/// Runs all checks and tests that must pass before a change is accepted; returns true if all pass.
/// A step that fails does not prevent the next.
///
/// What the tests need is installed and fetched while they are built, which is mostly waiting; the
/// rules of tidy are checked while they run.
pub(crate) fn everything(root: &Path, which: Which) -> Result<bool> {
    let begun = now();
    let mut tally = Tally::default();
    let mut failed = Vec::new();
    let mut step = |name: &'static str, work: &mut dyn FnMut() -> Result<bool>| {
        println!("== {name}");
        let begun = now();
        let good = work().unwrap_or_else(|error| {
            println!("{error:#}");
            false
        });
        let word = if good { "ok" } else { "FAILED" };
        println!("== {name}: {word}, {}", seconds(since(begun)));
        if !good {
            failed.push(name);
        }
    };
    let mut set_up = (which == Which::All).then(|| thread::spawn(setup::set_up));
    let mut built = Built::default();
    step("format", &mut || succeeds(root, &["fmt", "--all", "--check"]));
    let lints = [
        &["clippy", "--quiet", "--workspace", "--all-targets"],
        &cargo::EVERYTHING[..],
        &["--", "-D", "warnings"],
    ];
    step("lints", &mut || succeeds(root, &lints.concat()));
    step("building", &mut || {
        built = suite::build(root, which)?;
        Ok(true)
    });
    if set_up.is_some() {
        let mut end = || {
            set_up.take().map_or(Ok(true), |installing| installing.join().expect("it has no panic"))
        };
        step("set-up", &mut end);
    }
    let tree = root.to_owned();
    let mut tidied = Some(thread::spawn(move || anyhow::Ok(check(&Tree::read(&tree)?))));
    let bare = (which == Which::All).then(|| begin_bare_lints(root));
    step("tests", &mut || {
        let (is_good, ran) = suite::run(&built.executables, which, Condition::Whole)?;
        tally = ran;
        Ok(is_good)
    });
    step("tidy", &mut || {
        let report = tidied.take().expect("a step is done once").join();
        Ok(is_tidy(&report.expect("it has no panic")?))
    });
    if which == Which::All {
        let program = || built.program.as_deref().context("dbdyno was not built");
        step("packages", &mut || dist::pack(root, program()?));
    }
    if let Some(begun) = bare {
        let mut begun = Some(begun);
        step("lints without features", &mut || {
            end_bare_lints(begun.take().expect("a step is done once")?)
        });
    }

    if which == Which::Quick {
        println!("left out: tests with servers, processes and a browser ('cargo xtask test')");
    }
    if failed.is_empty() {
        println!("everything holds, {}", seconds(since(begun)));
    } else {
        println!("failed: {}, {}", failed.join(", "), seconds(since(begun)));
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(failed.is_empty())
}

/// Runs the tests in real time under conditions that reveal a dependence on the machine: on one
/// core, beside spinning processes, and at the lowest priority. Returns whether all pass.
pub(crate) fn stress(root: &Path) -> Result<bool> {
    if !setup::set_up()? {
        return Ok(false);
    }
    let built = suite::build(root, Which::All)?;
    let (mut tally, mut all_good) = (Tally::default(), true);
    for condition in Condition::STRESS {
        println!("== {}", condition.name());
        let (is_good, ran) = suite::run(&built.executables, Which::All, condition)?;
        println!("== {}: {} passed, {} failed", condition.name(), ran.passed, ran.failed);
        tally.passed += ran.passed;
        tally.failed += ran.failed;
        all_good &= is_good;
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(all_good)
}

/// Writes the generated pages of docs again. If somebody forgets to do so, the test of dbdyno fails
/// that compares them with its lists.
pub(crate) fn docs(root: &Path) -> Result<bool> {
    // With the features of the whole workspace, as for the tests, so that nothing is built twice.
    let what = [&["--workspace", "--bin", "dbdyno"], &cargo::EVERYTHING[..]];
    let program = cargo::build(root, &what.concat())?;
    for list in LISTS {
        let listed = Command::new(&program)
            .args(["list", list, "--output", "markdown"])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot start {}", program.display()))?;
        if !listed.status.success() {
            bail!("'dbdyno list {list} --output markdown' failed, {}", listed.status);
        }
        let page = format!("docs/reference/{list}.md");
        std::fs::write(root.join(&page), listed.stdout)
            .with_context(|| format!("cannot write {page}"))?;
        println!("{page} is written");
    }
    Ok(true)
}

/// Lines before and after the generated table in `docs/explanation/intervals.md`.
const COVERAGE: [&str; 2] =
    ["<!-- Written by 'cargo xtask coverage'. -->\n", "<!-- The end of that. -->"];

/// Measures how often intervals and verdicts are right on models with known true values, over many
/// runs, and writes the table into the docs. It needs an optimized build, and about half an hour.
pub(crate) fn coverage(root: &Path) -> Result<bool> {
    let study = ["selfcheck", "intervals", "--runs=1000", "--seconds=60,300", "--output=markdown"];
    let run = ["run", "-q", "--release", "-p", "dbdyno", "--"];
    let output = cargo::output(root, &[&run[..], &study].concat())?;
    let table = String::from_utf8(output.stdout)?;
    if table.is_empty() {
        bail!("'dbdyno {}' printed nothing, {}", study.join(" "), output.status);
    }
    let path = root.join("docs/explanation/intervals.md");
    let page = std::fs::read_to_string(&path)?;
    let [begin, end] = COVERAGE;
    let (head, rest) =
        page.split_once(begin).context("docs/explanation/intervals.md has no place for it")?;
    let (_, tail) =
        rest.split_once(end).context("the table in docs/explanation/intervals.md has no end")?;
    std::fs::write(&path, format!("{head}{begin}\n{table}\n{end}{tail}"))?;
    print!("{table}");
    Ok(output.status.success())
}

/// Starts linting dbdyno without its default features. Since that builds some crates again, it runs
/// at low priority beside the tests. Tests are not linted, because they need the features.
fn begin_bare_lints(root: &Path) -> Result<Child> {
    Command::new("nice")
        .args(["-n", "19", "cargo", "clippy", "--quiet", "-p", "dbdyno", "--lib", "--bins"])
        .args(["--no-default-features", "--", "-D", "warnings"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start nice")
}

fn end_bare_lints(begun: Child) -> Result<bool> {
    let ended = begun.wait_with_output()?;
    print!("{}", String::from_utf8_lossy(&ended.stderr));
    Ok(ended.status.success())
}

fn succeeds(root: &Path, arguments: &[&str]) -> Result<bool> {
    let status = Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .status()
        .context("cannot start cargo")?;
    Ok(status.success())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
