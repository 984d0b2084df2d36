//! The chores, each a list of steps that are run to the end, timed, and told plainly.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, now, since};
use crate::setup;
use crate::suite::{self, Tally, Which};
use crate::tidy::check;
use crate::tree::Tree;

/// The docs that are written by dbdyno itself, and the lists that they are.
const GENERATED: [(&str, &str); 3] = [
    ("docs/parameters.md", "parameters"),
    ("docs/findings.md", "findings"),
    ("docs/figures.md", "figures"),
];

/// Checks the tree, says what is wrong with it, and answers whether nothing is.
pub(crate) fn tidy(root: &Path) -> Result<bool> {
    let report = check(&Tree::read(root)?);
    for advice in &report.advice {
        println!("advice: {advice}");
    }
    for failure in &report.failures {
        println!("{failure}");
    }
    println!("tidy: {} to mend, {} to consider", report.failures.len(), report.advice.len());
    Ok(report.failures.is_empty())
}

/// Everything that must hold before a change may enter. A step that fails does not hide the next.
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
    if which == Which::All {
        step("set-up", &mut setup::set_up);
    }
    step("format", &mut || succeeds(root, &["fmt", "--all", "--check"]));
    step("tidy", &mut || tidy(root));
    let lints = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    step("lints", &mut || succeeds(root, &lints));
    step("tests", &mut || {
        let (is_good, ran) = suite::run(root, which)?;
        tally = ran;
        Ok(is_good)
    });
    step("docs", &mut || docs_are_fresh(root));

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

/// Writes the generated docs again.
pub(crate) fn docs(root: &Path) -> Result<bool> {
    for (page, list) in GENERATED {
        let path = root.join(page);
        std::fs::write(&path, listed(root, list)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{page} is written");
    }
    Ok(true)
}

/// Where the table of coverage begins and ends.
const COVERAGE: [&str; 2] =
    ["<!-- Written by 'cargo xtask coverage'. -->\n", "<!-- The end of that. -->"];

/// Holds intervals and verdicts against models whose truth is known, over many runs, and writes the
/// table into the docs. It takes an optimised build, and about half an hour.
pub(crate) fn coverage(root: &Path) -> Result<bool> {
    let study = ["selfcheck", "intervals", "--runs=1000", "--seconds=60,300", "--output=markdown"];
    let run = ["run", "-q", "--release", "-p", "dbdyno", "--"];
    let output = cargo::output(root, &[&run[..], &study].concat())?;
    let table = String::from_utf8(output.stdout)?;
    if table.is_empty() {
        bail!("'dbdyno {}' printed nothing, {}", study.join(" "), output.status);
    }
    let path = root.join("docs/measuring.md");
    let page = std::fs::read_to_string(&path)?;
    let [begin, end] = COVERAGE;
    let (head, rest) = page.split_once(begin).context("docs/measuring.md has no place for it")?;
    let (_, tail) = rest.split_once(end).context("the table in docs/measuring.md has no end")?;
    std::fs::write(&path, format!("{head}{begin}\n{table}\n{end}{tail}"))?;
    print!("{table}");
    Ok(output.status.success())
}

fn docs_are_fresh(root: &Path) -> Result<bool> {
    let mut all = true;
    for (page, list) in GENERATED {
        let written = std::fs::read_to_string(root.join(page))
            .with_context(|| format!("{page} cannot be read; run 'cargo xtask docs'"))?;
        if let Some(line) = first_difference(&written, &listed(root, list)?) {
            println!("{page}:{line}: not what dbdyno says; run 'cargo xtask docs'");
            all = false;
        }
    }
    Ok(all)
}

/// The number of the first line in which the two texts differ.
fn first_difference(written: &str, wanted: &str) -> Option<usize> {
    if written == wanted {
        return None;
    }
    let same = written.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

/// A list as dbdyno writes it.
fn listed(root: &Path, what: &str) -> Result<String> {
    let list = ["run", "-q", "-p", "dbdyno", "--", "list", what, "--output", "markdown"];
    let output = cargo::output(root, &list)?;
    if !output.status.success() {
        bail!("'dbdyno list {what} --output markdown' failed, {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_docs_are_told_by_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
