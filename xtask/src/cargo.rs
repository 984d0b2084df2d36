//! Starting cargo in the workspace, and how long things take. Not here: what for.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Runs cargo to its end and keeps what it prints to stdout; messages go where ours go.
pub(crate) fn output(root: &Path, arguments: &[&str]) -> Result<Output> {
    Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")
}

#[expect(clippy::disallowed_methods, reason = "chores are timed for their reader, not measured")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time since then.
pub(crate) fn since(begun: Instant) -> Duration {
    now().saturating_duration_since(begun)
}
