//! Refuses runs that would change server settings without a restore journal, the record of settings
//! to restore. The journal is in the store, so a run that is not stored must not change settings of
//! a server that outlives it.

use engine::Stop;
use model::{Action, Disturbance, Plan, Settling, SettlingStep};

use super::settling::settling_at;
use crate::error::Error;
use crate::open::OpenTarget;

/// Returns the error for server settings that would be changed without a restore journal. `by`
/// names the option that changes them.
pub(super) fn no_journal(by: &str) -> Error {
    Error::Usage(format!(
        "{by} changes settings of the server, which needs a journal in the store, to restore them \
         after a crash: store the run (without --no-store), or leave out {by}"
    ))
}

/// Fails if settling, optional counters (`instruments`) or a disturbance of `plan` would change
/// settings of the server, for a run without a restore journal.
pub(super) fn may_have_no_journal(
    plan: &Plan,
    open_target: &OpenTarget,
    settling: Option<&Settling>,
    stop: &Stop,
) -> Result<(), Error> {
    let changes = |step: &SettlingStep| !step.settings.is_empty();
    if settling.is_some_and(|settling| settling.steps.iter().any(changes)) {
        return Err(no_journal("--settle"));
    }
    if plan.instruments && !open_target.database.monitoring().instruments.is_empty() {
        return Err(no_journal("--instruments"));
    }
    let named = |one: &Disturbance| match &one.action {
        Action::Settle(name) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<String> = plan.disturbances.iter().filter_map(named).collect();
    if names.is_empty() {
        return Ok(());
    }
    let steps = settling_at(open_target, stop)?.steps;
    let is_named = |step: &&SettlingStep| names.iter().any(|name| name == step.name);
    match steps.iter().filter(is_named).any(changes) {
        true => Err(no_journal("settle in [[at]]")),
        false => Ok(()),
    }
}
