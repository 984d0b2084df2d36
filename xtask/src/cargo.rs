//! Starts cargo in the workspace, and reads the clock to time a step. Not here: what cargo is
//! started for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Arguments of cargo that enable all optional features of dbdyno.
pub(crate) const EVERYTHING: [&str; 2] = ["--features", "dbdyno/pictures,dbdyno/agents"];

/// Runs cargo in the workspace and returns its standard output. Its messages go to this process's
/// standard error.
pub(crate) fn output(root: &Path, arguments: &[&str]) -> Result<Output> {
    Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")
}

/// Builds one program and returns its path in cargo's target folder. `which` are cargo's arguments
/// that select the program.
pub(crate) fn build(root: &Path, which: &[&str]) -> Result<PathBuf> {
    let built = output(root, &[&["build", "--quiet", "--message-format=json"], which].concat())?;
    if !built.status.success() {
        bail!("'cargo build {}' failed", which.join(" "));
    }
    let lines = String::from_utf8(built.stdout)?;
    let program = lines.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    program.context("cargo named no program")
}

#[expect(clippy::disallowed_methods, reason = "chores are timed for their reader, not measured")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) fn since(begun: Instant) -> Duration {
    now().saturating_duration_since(begun)
}
