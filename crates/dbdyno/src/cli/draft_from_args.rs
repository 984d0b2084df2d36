//! A draft of a plan from the command line, alone or over a plan file.

use app::Error;
use clap::ArgMatches;
use model::Parameter;
use plan::{Draft, EXPERIMENT, From, GroupDraft, PLAN, VaryDraft, Written, group_flags, read_toml};

use super::flags;

/// Reads what the command line says: a workload's name, or a plan file, and flags over it.
pub(crate) fn draft(what: &str, matches: &ArgMatches) -> Result<Draft, Error> {
    let mut draft = if what.ends_with(".toml") { read_file(what)? } else { of_workload(what)? };
    draft.values.extend(written(matches, PLAN.iter().map(|row| &row.parameter)));
    draft.experiment.extend(written(matches, EXPERIMENT.iter().map(|row| &row.parameter)));
    for axis in matches.get_many::<String>("vary").into_iter().flatten() {
        draft.add_axis(VaryDraft::read(axis)?);
    }
    let for_group: Vec<_> = written(matches, group_flags()).collect();
    let parameters = parameters_of(&draft, matches);
    if for_group.is_empty() && parameters.is_empty() {
        return Ok(draft);
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
    for (name, written) in parameters {
        group.parameters.retain(|(other, _)| *other != name);
        group.parameters.push((name, written));
    }
    Ok(draft)
}

/// Reads a plan file that was named on the command line.
pub(crate) fn read_file(path: &str) -> Result<Draft, Error> {
    let bad = |why: &dyn std::fmt::Display| {
        Error::Usage(format!("the plan {path} cannot be read: {why}"))
    };
    // To open a pipe would wait for whoever writes to it, and it could be read only once.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(bad(&"it is a pipe or a device: write the plan to a file"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    // Whoever names a file here may run its commands too.
    Ok(Draft { is_local: true, ..read_toml(path, &text)? })
}

/// The workload of a plan's first group, if the plan can be read at all.
pub(crate) fn workload_of_file(path: &str) -> Option<&'static workloads::Entry> {
    let draft = read_file(path).ok()?;
    let workload = draft.groups.first()?.workload()?;
    workloads::by_name(&workload.text).ok()
}

fn of_workload(name: &str) -> Result<Draft, Error> {
    let entry = workloads::by_name(name).map_err(|bad| {
        Error::Usage(format!("{bad}; a plan is a file whose name ends with .toml"))
    })?;
    let mut group = GroupDraft::default();
    group.values.insert("workload", Written::new(entry.name, From::Default));
    Ok(Draft { groups: vec![group], ..Draft::default() })
}

fn written(
    matches: &ArgMatches,
    parameters: impl Iterator<Item = &'static Parameter>,
) -> impl Iterator<Item = (&'static str, Written)> {
    parameters.filter_map(|parameter| {
        let values = matches.try_get_many::<String>(parameter.name).ok().flatten()?;
        // Several of the same flag, where that is allowed, are a list.
        let text = values.map(String::as_str).collect::<Vec<_>>().join(",");
        Some((parameter.name, Written::new(text, From::Flag(parameter.flag()))))
    })
}

/// The flags of the workload that the draft's groups name.
fn parameters_of(draft: &Draft, matches: &ArgMatches) -> Vec<(String, Written)> {
    let workload = draft.groups.first().and_then(|group| group.workload());
    let entry = workload.and_then(|written| workloads::by_name(&written.text).ok());
    let table = entry.map(|entry| entry.parameters).unwrap_or_default();
    let given = flags::given(matches, table.iter().map(|row| row.name));
    let written = |(name, text): (&'static str, &str)| {
        let from = From::Flag(name.replace('_', "-"));
        (name.to_owned(), Written::new(text, from))
    };
    given.into_iter().map(written).collect()
}
