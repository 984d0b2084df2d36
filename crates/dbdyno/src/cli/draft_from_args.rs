//! Builds the draft of a plan from the command line, alone or over a plan file. In a draft, every
//! value is text with its source.

use std::path::Path;

use app::Error;
use clap::ArgMatches;
use model::Parameter;
use plan::{Draft, EXPERIMENT, From, GroupDraft, PLAN, VaryDraft, Written, group_flags, read_toml};
use workloads::GroupRole;

use super::scripts::{self, PLAN_BYTES_MAX};
use super::{STDIN, flags, run_options, script_words, server_params, target_from};
use crate::shell::Shell;

/// Creates the draft of a plan from `what` (a workload's name, a plan file, or `-` for a plan on
/// standard input) and from the flags, which override values of the plan. The report interval may
/// come from the user's lasting defaults.
pub(crate) fn draft(what: &str, matches: &ArgMatches, shell: &Shell) -> Result<Draft, Error> {
    let mut draft = draft_written(what, matches, shell)?;
    if let Some(target) = target_from::named(matches, shell)? {
        let written = Written::new(target.to_string(), From::Flag("target-from".to_owned()));
        draft.values.insert("target", written);
    }
    if let Some(interval) = shell.setting("report-interval")
        && !draft.values.contains_key("report_interval")
    {
        let written = Written::new(interval, From::Flag("report-interval".to_owned()));
        draft.values.insert("report_interval", written);
    }
    Ok(draft)
}

fn draft_written(what: &str, matches: &ArgMatches, shell: &Shell) -> Result<Draft, Error> {
    let is_file = what.ends_with(".toml") || what == STDIN;
    let mut draft = match what {
        STDIN => read_stdin(shell)?,
        file if is_file => read_file(file)?,
        workload => of_workload(workload, matches)?,
    };
    let roles = if is_file { &[] } else { plan::workload_named(what)?.roles };
    draft.values.extend(written(matches, PLAN.iter().map(|row| &row.parameter)));
    draft.experiment.extend(written(matches, EXPERIMENT.iter().map(|row| &row.parameter)));
    for axis in matches.get_many::<String>("vary").into_iter().flatten() {
        draft.add_axis(of_role(VaryDraft::read(axis)?, roles));
    }
    if let Some(path) = matches.try_get_one::<String>(server_params::NAME).ok().flatten() {
        server_params::read(path)?.into_iter().for_each(|axis| draft.add_axis(axis));
    }
    let for_group: Vec<_> = written(matches, group_flags()).collect();
    let parameters = parameters_of(&draft, matches)?;
    if for_group.is_empty() && parameters.is_empty() {
        return Ok(draft);
    }
    if !roles.is_empty() {
        return put_by_role(draft, roles, for_group, parameters);
    }
    let [group] = draft.groups.as_mut_slice() else {
        let first = for_group.first().map(|(_, written)| written);
        let first = first.or_else(|| parameters.first().map(|(_, written)| written));
        let flag = first.map_or(String::new(), |written| written.from.to_string());
        let n = draft.groups.len();
        let why = format!("{flag} belongs to a group, and the plan has {n}: write it in the plan");
        return Err(Error::Usage(why));
    };
    group.values.extend(for_group);
    put_parameters(group, parameters);
    Ok(draft)
}

/// Adds workload parameters to a group of clients, and overrides those that the group has.
fn put_parameters(group: &mut GroupDraft, parameters: Vec<(String, Written)>) {
    for (name, written) in parameters {
        group.parameters.retain(|(other, _)| *other != name);
        group.parameters.push((name, written));
    }
}

/// Applies flags to a workload whose clients have several roles, such as readers and writers, with
/// a group each: parameters to all groups, load flags to the first unless they belong to another.
/// Refuses `--clients` and parameters that a role sets itself.
fn put_by_role(
    mut draft: Draft,
    roles: &'static [GroupRole],
    for_group: Vec<(&'static str, Written)>,
    parameters: Vec<(String, Written)>,
) -> Result<Draft, Error> {
    let is_of_role =
        |name: &str| roles.iter().flat_map(|role| role.parameters).any(|(other, _)| *other == name);
    let all = for_group.iter().map(|(name, written)| (*name, written));
    let all = all.chain(parameters.iter().map(|(name, written)| (name.as_str(), written)));
    if let Some((_, written)) =
        all.into_iter().find(|(name, _)| *name == "clients" || is_of_role(name))
    {
        let flags: Vec<String> = roles.iter().map(|role| format!("--{} N", role.name)).collect();
        let why = "this workload has a number of clients per role: write";
        return Err(Error::Usage(format!("{}: {why} {}", written.from, flags.join(" "))));
    }
    let (of_others, for_first): (Vec<_>, Vec<_>) =
        for_group.into_iter().partition(|(name, _)| role_of_flag(roles, name).is_some());
    for (name, written) in of_others {
        let role = role_of_flag(roles, name).map(|role| role.name);
        let has_role = |group: &&mut GroupDraft| {
            group.values.get("name").map(|name| name.text.as_str()) == role
        };
        match draft.groups.iter_mut().find(has_role) {
            Some(group) => drop(group.values.insert(name, written)),
            None => {
                let role = role.unwrap_or_default();
                let why = format!("{}: it applies to {role}, and there are none", written.from);
                return Err(Error::Usage(format!("{why}: leave it out")));
            }
        }
    }
    if let Some(first) = draft.groups.first_mut()
        && !for_first.is_empty()
    {
        let is_load = |name: &str| matches!(name, "load" | "keythink_scale");
        if for_first.iter().any(|(name, _)| is_load(name)) {
            roles[0].values.iter().for_each(|(name, _)| drop(first.values.remove(name)));
        }
        first.values.extend(for_first);
    }
    for group in &mut draft.groups {
        put_parameters(group, parameters.clone());
    }
    Ok(draft)
}

/// Finds the role, such as readers, to whose group of clients a flag applies; `None` if it applies
/// to the first group.
fn role_of_flag(roles: &'static [GroupRole], name: &str) -> Option<&'static GroupRole> {
    roles.iter().find(|role| role.flags.contains(&name))
}

/// Replaces the short name of a parameter to vary by its place in a plan with several groups, such
/// as `group.readers.clients`. Other names stay.
fn of_role(axis: VaryDraft, roles: &'static [GroupRole]) -> VaryDraft {
    let Some(first) = roles.first() else { return axis };
    let key = axis.name.replace('-', "_");
    let place = match roles.iter().find(|role| role.name == key) {
        Some(role) => format!("group.{}.clients", role.name),
        None if group_flags().any(|row| row.name == key) => {
            let role = role_of_flag(roles, &key).unwrap_or(first);
            format!("group.{}.{key}", role.name)
        }
        None => return axis,
    };
    VaryDraft { name: place, ..axis }
}

/// Reads a plan file that is named on the command line. Disturbances of the plan may run commands
/// later, since the user chose the file.
pub(crate) fn read_file(path: &str) -> Result<Draft, Error> {
    let bad = |why: &dyn std::fmt::Display| {
        Error::Usage(format!("the plan {path} cannot be read: {why}"))
    };
    if files::refuse_special(Path::new(path)).is_err() {
        return Err(bad(&"it is a pipe or a device: write the plan to a file"));
    }
    let text = files::read_text(path, PLAN_BYTES_MAX).map_err(|error| bad(&error))?;
    let mut draft = plan_of(path, &text)?;
    draft.groups.iter_mut().for_each(|group| put_script_beside(group, Path::new(path)));
    // A file named by the user may run commands.
    Ok(Draft { is_local: true, ..draft })
}

/// Replaces the script that a group names by the one beside the plan, if there is one.
fn put_script_beside(group: &mut GroupDraft, plan: &Path) {
    let Some(written) = group.values.get_mut("workload") else { return };
    let beside = plan.parent().map(|folder| folder.join(&written.text));
    let is_script = workloads::language_of(&written.text).is_some();
    if let Some(beside) = beside.filter(|beside| is_script && beside.is_file()) {
        written.text = beside.to_string_lossy().into_owned();
    }
}

/// Reads a plan from standard input. A program may have written it, so its commands are not run.
fn read_stdin(shell: &Shell) -> Result<Draft, Error> {
    let bad = |why: &dyn std::fmt::Display| {
        Error::Usage(format!("the plan from standard input cannot be read: {why}"))
    };
    let text = shell.read(PLAN_BYTES_MAX + 1).map_err(|error| bad(&error))?;
    if text.len() as u64 > PLAN_BYTES_MAX {
        return Err(bad(&format!("it is longer than {PLAN_BYTES_MAX} bytes")));
    }
    plan_of("stdin", &text)
}

/// Parses a plan. If the text is the script of another tool, the error says so. `name` is the
/// file's, for errors.
fn plan_of(name: &str, text: &str) -> Result<Draft, Error> {
    read_toml(name, text).map_err(|bad| match scripts::sentence_of_text(name, text) {
        // An error in a plan is reported as such.
        Some(sentence) if !is_plan(text) => Error::Usage(sentence),
        _ => bad.into(),
    })
}

/// Returns true if a text has a table of a plan. If it cannot be parsed, it is then an invalid
/// plan, and not the script of another tool.
fn is_plan(text: &str) -> bool {
    let tables = ["[[group]]", "[experiment", "[phases]", "[target]", "[server]", "[[at]]"];
    text.lines().any(|line| tables.iter().any(|table| line.trim_start().starts_with(table)))
}

/// Returns the workload of the first group of a plan file; `None` if the file cannot be parsed or
/// the workload is unknown.
pub(crate) fn workload_of_file(path: &str) -> Option<&'static workloads::Entry> {
    let draft = read_file(path).ok()?;
    let workload = draft.groups.first()?.workload()?;
    plan::workload_named(&workload.text).ok()
}

fn of_workload(name: &str, matches: &ArgMatches) -> Result<Draft, Error> {
    let entry = plan::workload_named(name).map_err(|bad| no_workload(name, &bad))?;
    let mut group = GroupDraft::default();
    group.values.insert("workload", Written::new(entry.name, From::Default));
    // A script that is in no file is part of the plan.
    if let Some(source) = entry.source.filter(|source| plan::is_unwritten(source)) {
        group.values.insert("script", Written::new(source.text.as_str(), From::Default));
    }
    let groups = match entry.roles {
        [] => vec![group],
        roles => {
            roles.iter().filter_map(|role| of_one_role(&group, role, roles, matches)).collect()
        }
    };
    Ok(Draft { groups, ..Draft::default() })
}

/// Names of programs and workloads of other tools, each list with what to write here instead.
const WORKLOADS_OF_OTHERS: [(&[&str], &str); 6] = [
    (
        &["pgbench", "tpcb-like", "simple-update", "select-only", "tpc-b"],
        "write dbdyno run tpcb, or 'dbdyno pgbench' with pgbench's own options",
    ),
    (
        &["sysbench", "oltp"],
        "write dbdyno run oltp-read-write, or 'dbdyno sysbench' with sysbench's own options",
    ),
    (
        &["hammerdb", "tpc-c", "tprocc", "tproc-c", "TPC-C", "TPROC-C", "benchbase"],
        "write dbdyno run tpcc; 'dbdyno translate FILE' makes a plan of a script",
    ),
    (&["tpc-h", "TPC-H", "tproch", "tproc-h", "TPROC-H"], "write dbdyno run tpch"),
    (
        &["ycsb", "mysqlslap", "linkbench"],
        "the nearest is oltp-read-write; write dbdyno list workloads",
    ),
    (&["last"], "it is a run; write dbdyno runs show last"),
];

pub(super) fn no_workload(name: &str, bad: &dyn std::fmt::Display) -> Error {
    if let Some(sentence) = scripts::sentence_of_library(name) {
        return Error::Usage(sentence);
    }
    if workloads::language_of(name).is_some() {
        return Error::Usage(bad.to_string());
    }
    let of_file = scripts::sentence_of_file(name);
    let of_other = WORKLOADS_OF_OTHERS.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, ours)) = of_other {
        return Error::Usage(format!("there is no workload '{name}' here: {ours}"));
    }
    Error::Usage(
        of_file.unwrap_or_else(|| format!("{bad}; a plan is a file whose name ends with .toml")),
    )
}

/// Returns the draft of the group of clients for one role of a workload; `None` if the role has no
/// clients. The first role always has a group.
fn of_one_role(
    group: &GroupDraft,
    role: &'static GroupRole,
    roles: &'static [GroupRole],
    matches: &ArgMatches,
) -> Option<GroupDraft> {
    let clients = |role: &'static GroupRole| match flags::given(matches, [role.name]).first() {
        Some((_, text)) => Written::new(*text, From::Flag(role.name.to_owned())),
        None => Written::new(role.default, From::Default),
    };
    let mut group = group.clone();
    group.values.insert("name", Written::new(role.name, From::Default));
    group.values.insert("clients", clients(role));
    for (name, text) in role.values {
        group.values.insert(name, Written::new(*text, From::Default));
    }
    for (name, text) in role.parameters {
        group.parameters.push(((*name).to_owned(), Written::new(*text, From::Default)));
    }
    for other in roles {
        if let Some(parameter) = other.count_parameter {
            group.parameters.push((parameter.to_owned(), clients(other)));
        }
    }
    // The other groups depend on the first.
    let is_left_out = !std::ptr::eq(role, &raw const roles[0]) && clients(role).text == "0";
    (!is_left_out).then_some(group)
}

fn written(
    matches: &ArgMatches,
    parameters: impl Iterator<Item = &'static Parameter>,
) -> impl Iterator<Item = (&'static str, Written)> {
    parameters.filter_map(|parameter| {
        let values = matches.try_get_many::<String>(parameter.name).ok().flatten()?;
        // Repeated flags form a list, where that is allowed.
        let text = values.map(String::as_str).collect::<Vec<_>>().join(",");
        Some((parameter.name, Written::new(text, From::Flag(parameter.flag()))))
    })
}

/// Returns the parameters of the first group's workload that the command line gives, each with its
/// flag as the source.
fn parameters_of(draft: &Draft, matches: &ArgMatches) -> Result<Vec<(String, Written)>, Error> {
    let workload = draft.groups.first().and_then(|group| group.workload());
    let entry = workload.and_then(|written| workloads::by_name(&written.text).ok());
    let table = entry.map(|entry| entry.parameters).unwrap_or_default();
    // A variable of a script that is called as an option has no flag of its own.
    let is_option = |name: &str| run_options::names().iter().any(|option| option == name);
    let names = table.iter().map(|row| row.name).filter(|name| !is_option(name));
    let given = flags::given(matches, names);
    let written = |(name, text): (&'static str, &str)| {
        let from = From::Flag(name.replace('_', "-"));
        (name.to_owned(), Written::new(text, from))
    };
    let mut all: Vec<(String, Written)> = given.into_iter().map(written).collect();
    for (name, value) in script_words::defined(matches)? {
        all.retain(|(other, _)| *other != name);
        all.push((name, Written::new(value, From::Flag("define".to_owned()))));
    }
    Ok(all)
}
