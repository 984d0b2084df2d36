//! What is waited for before each trial: a query, and for how long.
//!
//! Not here: how it is waited for (app).

use model::{Condition, Target, parse_duration};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, spelled};

/// A condition is a query: there must be something that can answer one.
pub(crate) fn can_be_asked<'t>(
    draft: &Draft,
    mut targets: impl Iterator<Item = &'t Target>,
) -> Result<(), BadPlan> {
    match (targets.any(|target| target.scheme == "sim"), draft.values.get("experiment.until")) {
        (true, Some(written)) => Err(written.bad(
            "sim: has no database that could be asked, and may run in virtual time: there is \
             nothing to wait for",
        )),
        _ => Ok(()),
    }
}

/// What must hold before each trial.
pub(crate) fn decide_until(draft: &Draft) -> Result<Option<Condition>, BadPlan> {
    let at_most = parse_duration(&draft.word("experiment.until_at_most")?).unwrap_or(0);
    let Some(written) = draft.plan("experiment.until") else {
        return match draft.values.get("experiment.until_at_most") {
            Some(written) => {
                let until = spelled("experiment.until", "SELECT ...", &written.from);
                Err(written.bad(format!("nothing is waited for: write {until} too")))
            }
            None => Ok(None),
        };
    };
    if written.text.trim().is_empty() {
        let until = spelled("experiment.until", "SELECT ...", &written.from);
        return Err(written.bad(format!("there is no query: write {until}")));
    }
    Ok(Some(Condition { sql: written.text, at_most_ns: at_most }))
}
