//! The list of all run members (steps of a run before or after its load). Not here: the trait
//! (member).

use std::sync::OnceLock;

use super::checks::{ChecksAfter, ChecksBefore};
use super::crosscheck::{OwnCount, Restarts, ServerCommits};
use super::database_mark::Mark;
use super::instruments::Instruments;
use super::later_indexes::LaterIndexes;
use super::member::RunMember;
use super::query_plans::QueryPlans;
use super::script_reporting::ScriptReporting;
use super::settings_after::SettingsAfter;
use super::settling::Settles;
use super::way_probe::WayProbe;

/// Function that creates a [`RunMember`] (a step besides the load) for one run.
pub type MakeMember = fn() -> Box<dyn RunMember>;

/// Built-in run members in the order in which they act; each may rely on the ones before it.
const ALL: [MakeMember; 13] = [
    || Box::new(ChecksBefore),
    || Box::new(LaterIndexes),
    || Box::new(QueryPlans::default()),
    || Box::new(Settles),
    || Box::<Instruments>::default(),
    || Box::new(WayProbe),
    || Box::new(ScriptReporting),
    || Box::new(SettingsAfter),
    || Box::<Mark>::default(),
    || Box::<OwnCount>::default(),
    || Box::<ServerCommits>::default(),
    || Box::<Restarts>::default(),
    || Box::new(ChecksAfter),
];

/// Further run members (steps besides the load), which a program that links dbdyno has added; unset
/// if there are none.
static ADDED: OnceLock<&'static [MakeMember]> = OnceLock::new();

/// Adds run members (steps besides the load), which act after the built-in ones in every run. Call
/// it once, before any run; panics at a second call.
pub fn add_members(members: &'static [MakeMember]) {
    assert!(ADDED.set(members).is_ok(), "members are added once");
}

/// Creates all members (steps besides the load) of one run, in the order in which they act.
pub(super) fn members() -> Vec<Box<dyn RunMember>> {
    let added = ADDED.get().copied().unwrap_or_default();
    ALL.iter().chain(added).map(|make| make()).collect()
}
