//! Printing of a decided plan in TOML that parses to the same plan. Not here: the varied parameters
//! of an experiment (print_experiment), and the format of single values (form).

use model::{Group, Plan};
use toml::{Table, Value};

use crate::script::workload_named;
use crate::table::{AT, GROUP, PLAN, printed};

/// Returns the TOML text of a plan with every value decided, without the password of its target.
pub fn to_toml(plan: &Plan) -> String {
    let mut top = printed(PLAN, plan);
    if !plan.settings.is_empty() {
        put(&mut top, "server", texts(&plan.settings));
    }
    let mut groups: Vec<Table> = plan.groups.iter().map(group).collect();
    if !plan.agents.is_empty() {
        // One on each agent, which need not be said.
        groups.iter_mut().for_each(|group| drop(group.remove("processes")));
    }
    put(&mut top, "group", groups);
    let at: Vec<Table> = plan.disturbances.iter().map(|at| printed(AT, at)).collect();
    if !at.is_empty() {
        put(&mut top, "at", at);
    }
    toml::to_string(&top).expect("a table of texts, numbers and tables is TOML")
}

fn group(group: &Group) -> Table {
    let mut table = printed(GROUP, group);
    let mut parameters = group.parameters.clone();
    parameters.retain(|(name, value)| has_effect(group, name, value));
    put(&mut table, "parameters", texts(&parameters));
    table
}

/// Returns true if a parameter of a group has an effect and so belongs into the TOML text: its
/// value is not the default, or the load of the group uses it.
fn has_effect(group: &Group, name: &str, value: &str) -> bool {
    let entry = workload_named(&group.workload).ok();
    let row = entry.and_then(|entry| entry.parameters.iter().find(|row| row.name == name));
    let is_default = row.is_some_and(|row| row.default == value);
    !group.load.ignores(name) || !is_default
}

fn texts(pairs: &[(String, String)]) -> Table {
    pairs.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect()
}

pub(crate) fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}
