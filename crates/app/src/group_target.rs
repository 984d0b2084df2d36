//! Groups whose clients use another host of the data than the plan's target, such as a replica.
//!
//! Data are built, checked and counted at the plan's target alone. Not here: how far a replica is
//! behind during the load (monitor).

use std::sync::Arc;
use std::time::Duration;

use engine::Stop;
use model::{Database, Plan, Target, format_duration};
use monitor::wall_clock;

use crate::error::Error;
use crate::open::{Data, Opened, resolve_workload_interruptible};

/// Time limit for data that were just built until another host has them.
const ARRIVED_WITHIN: Duration = Duration::from_secs(60);
/// Pause between two looks for the data.
const LOOK_EVERY_MS: u64 = 250;

/// Waits until the servers of all groups have the data of the plan's target, and tells `doing` for
/// which it waits. Fails if one does not have them in time.
pub(crate) fn wait_for_data(
    plan: &Plan,
    groups: &[Opened],
    stop: &Stop,
    doing: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    for (group, opened) in plan.groups.iter().zip(groups) {
        let (Some(database), Some(target)) = (&opened.elsewhere, group.target_beside(&plan.target))
        else {
            continue;
        };
        let began = wall_clock::now();
        loop {
            let there = resolve_workload_interruptible(
                database,
                &target,
                &group.workload,
                &group.parameters,
                plan.seed,
                stop,
            )?;
            if has_same_data(opened, &there) {
                break;
            }
            if began.elapsed() > ARRIVED_WITHIN {
                let limit = format_duration(ARRIVED_WITHIN.as_nanos() as u64);
                return Err(Error::Failed(format!(
                    "the group '{}': {target} does not have the data of {} that {} has, after \
                     {limit}: check that it replicates that server",
                    group.name, group.workload, plan.target
                )));
            }
            doing(&format!("waiting until {target} has the data"));
            if stop.is_asked() {
                return Err(Error::Interrupted("interrupted while data were awaited".to_owned()));
            }
            wall_clock::rest_ms(LOOK_EVERY_MS);
        }
    }
    Ok(())
}

/// Whether another host has complete data if the plan's target has, of the same build.
fn has_same_data(main: &Opened, there: &Opened) -> bool {
    main.data == there.data
        && (main.data != Data::Built || main.workload.identity() == there.workload.identity())
}

/// Whether the clients of some group use another server than the plan's target, so that no counter
/// of either server counts all of them.
pub(crate) fn is_divided(groups: &[Opened]) -> bool {
    groups.iter().any(|opened| opened.elsewhere.is_some())
}

/// Returns the databases that clients use beside the plan's target, each once, with its URL and a
/// name for its metrics: `replica`, or `replica_1`, `replica_2` and so on.
pub(crate) fn replicas(plan: &Plan, groups: &[Opened]) -> Vec<(String, String, Arc<dyn Database>)> {
    let mut seen: Vec<(&Target, String, Arc<dyn Database>)> = Vec::new();
    for (group, opened) in plan.groups.iter().zip(groups) {
        let url = group.target_beside(&plan.target).map(|target| target.to_string());
        if let (Some(target), Some(url), Some(database)) = (&group.target, url, &opened.elsewhere)
            && seen.iter().all(|(known, ..)| *known != target)
        {
            seen.push((target, url, Arc::clone(database)));
        }
    }
    let is_one = seen.len() == 1;
    let name = |number| if is_one { "replica".to_owned() } else { format!("replica_{number}") };
    let numbered = (1..).zip(seen);
    numbered.map(|(number, (_, url, database))| (name(number), url, database)).collect()
}
