//! Places in a plan to which the names of varied parameters refer. A parameter has several
//! spellings, but one place.
//!
//! `clients` and `group.NAME.clients`, `server.a_b` and `server.A-B`, a flag and a key lead to the
//! same place, so that no parameter is varied twice, or both varied and fixed. Not here: the values
//! of varied parameters (vary).

use model::{
    FORMER_OF_GROUP, FORMER_OF_PLAN, FORMER_PARAMETERS, FormerKey, Parameter, did_you_mean,
    plain_setting, todays_key,
};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, GroupDraft, VaryDraft, spelled};
use crate::table::{EXPERIMENT, GROUP, PLAN, Row, find};
use crate::written::{From, Written};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A value at the top level of the plan, by its key, such as `duration`.
    Plan(&'static str),
    /// A setting of the server, by its normalized name.
    Server(String),
    /// A value of a group, by the group's index and the key.
    Group(usize, &'static str),
    /// A parameter of a group's workload, by the group's index and the parameter's name.
    Parameter(usize, &'static str),
}

/// Returns the values in a draft to which the name of a varied parameter refers. A name without a
/// group refers to every group that has such a parameter. Returns an error if there is none.
pub(crate) fn places(draft: &Draft, vary: &VaryDraft) -> Result<Vec<Place>, BadPlan> {
    let name = vary.name.as_str();
    if let Some(setting) = name.strip_prefix("server.") {
        return Ok(vec![Place::Server(plain_setting(setting))]);
    }
    if let Some(rest) = name.strip_prefix("group.") {
        let Some((group, path)) = rest.split_once('.') else {
            return Err(vary.bad(format!("'{name}': write group.NAME.clients")));
        };
        let called = |draft: &GroupDraft| draft.name().is_some_and(|name| name.text == group);
        let Some(index) = draft.groups.iter().position(called) else {
            return Err(vary.bad(format!("'{name}': no group is called '{group}'")));
        };
        return match in_group(draft, index, path) {
            Some(place) => Ok(vec![place]),
            None => Err(vary.unknown(path, group_names(&draft.groups[index]))),
        };
    }
    let plain = name.strip_prefix("experiment.").unwrap_or(name);
    if find(EXPERIMENT, plain).is_some() {
        let own = spelled(plain, "", &vary.from);
        let why = "applies to the whole experiment and is not an axis: write";
        return Err(vary.bad(format!("'{name}' {why} {own}, beside it")));
    }
    if let Some(row) = known(PLAN, FORMER_OF_PLAN, name) {
        return Ok(vec![Place::Plan(row.name)]);
    }
    let all = (0..draft.groups.len()).filter_map(|index| in_group(draft, index, name));
    let all: Vec<Place> = all.collect();
    if !all.is_empty() {
        return Ok(all);
    }
    let known = draft.groups.iter().flat_map(group_names);
    let known = known.chain(PLAN.iter().map(|row| row.parameter.name));
    Err(vary.unknown(name, known))
}

/// Writes one value of a varied parameter into the draft, at every place to which the parameter's
/// name refers. Returns an error if the name refers to none.
pub(crate) fn put(draft: &mut Draft, vary: &VaryDraft, value: String) -> Result<(), BadPlan> {
    let from = match &vary.from {
        // With several axes on the command line, names the one that is meant.
        From::Flag(flag) => From::Flag(format!("{flag} {}", vary.name)),
        from => from.clone(),
    };
    let written = Written::new(value, from);
    for place in places(draft, vary)? {
        let written = written.clone();
        match place {
            Place::Plan(path) => {
                draft.values.insert(path, written);
            }
            Place::Group(index, path) => {
                draft.groups[index].values.insert(path, written);
            }
            Place::Parameter(index, name) => {
                let parameters = &mut draft.groups[index].parameters;
                parameters.retain(|(other, _)| flag_of(other) != flag_of(name));
                parameters.push((name.to_owned(), written));
            }
            Place::Server(name) => {
                if !draft.values.contains_key("target") {
                    let why = "a setting of a server needs a server: --target managed:mariadb, or \
                               a URL";
                    return Err(vary.bad(why));
                }
                draft.server.retain(|(other, _)| plain_setting(other) != name);
                let spelled = vary.name["server.".len()..].to_owned();
                draft.server.push((spelled, written));
            }
        }
    }
    Ok(())
}

/// Rejects a parameter that is varied twice, or that is varied and also set to a fixed value.
pub(crate) fn check_axes(draft: &Draft, axes: &[VaryDraft]) -> Result<(), BadPlan> {
    let mut seen: Vec<(&VaryDraft, Vec<Place>)> = Vec::new();
    for vary in axes {
        let here = places(draft, vary)?;
        let is_here =
            |(_, there): &&(&VaryDraft, Vec<Place>)| there.iter().any(|place| here.contains(place));
        if let Some((other, _)) = seen.iter().find(is_here) {
            let (name, other) = (&vary.name, &other.name);
            return Err(vary.bad(match name == other {
                true => format!("'{name}' is varied twice"),
                false => format!("'{name}' is varied twice: '{other}' is the same"),
            }));
        }
        if let Some(fixed) = here.iter().find_map(|place| fixed(draft, place, vary)) {
            let why = format!("'{}' is set twice: here and at {}", vary.name, vary.from);
            return Err(fixed.bad(format!("{why}: drop one of them")));
        }
        seen.push((vary, here));
    }
    Ok(())
}

/// Returns the fixed value of a parameter that is varied too, if that is a conflict; `None` if the
/// variation replaces it. A fixed flag is always a conflict. A value fixed in a file is one only if
/// it is a server setting and the variation is in a file too.
fn fixed<'d>(draft: &'d Draft, place: &Place, vary: &VaryDraft) -> Option<&'d Written> {
    let written = written_at(draft, place);
    let is_in_file = |from: &From| matches!(from, From::File { .. });
    let is_server = matches!(place, Place::Server(_));
    written.filter(|written| match &written.from {
        From::Flag(_) => true,
        from => is_server && is_in_file(from) && is_in_file(&vary.from),
    })
}

/// Returns the value that is written in the draft at a place, such as a key of a group; `None` if
/// none is written there.
pub(crate) fn written_at<'d>(draft: &'d Draft, place: &Place) -> Option<&'d Written> {
    match place {
        Place::Plan(path) => draft.values.get(path),
        Place::Group(index, path) => draft.groups[*index].values.get(path),
        Place::Parameter(index, name) => {
            let mut parameters = draft.groups[*index].parameters.iter();
            parameters.find(|(other, _)| flag_of(other) == flag_of(name)).map(|(_, at)| at)
        }
        Place::Server(name) => {
            draft.server.iter().find(|(other, _)| plain_setting(other) == *name).map(|(_, at)| at)
        }
    }
}

impl Draft {
    /// Adds a varied parameter of the command line. It replaces variations of the same parameters
    /// in the plan file.
    pub fn add_axis(&mut self, axis: VaryDraft) {
        // Invalid axes are reported when everything is decided.
        let here = places(self, &axis).unwrap_or_default();
        let is_over = |other: &VaryDraft| {
            let there = places(self, other).unwrap_or_default();
            let is_covered = !there.is_empty() && there.iter().all(|place| here.contains(place));
            other.from != axis.from && (other.name == axis.name || is_covered)
        };
        let kept = self.vary.iter().filter(|other| !is_over(other)).cloned().collect();
        self.vary = kept;
        self.vary.push(axis);
    }
}

pub(crate) fn flag_of(name: &str) -> String {
    name.replace('_', "-")
}

/// Returns the parameter in `rows` with this name, which may be a key, a flag, or a key of an
/// earlier version of dbdyno; `None` if there is none.
fn known<T>(
    rows: &'static [Row<T>],
    former: &'static [FormerKey],
    name: &str,
) -> Option<&'static Parameter> {
    find(rows, todays_key(former, name).unwrap_or(name))
}

/// Returns the place of the parameter that a name means within the group with this index; `None` if
/// neither the group nor its workload has such a parameter.
fn in_group(draft: &Draft, index: usize, name: &str) -> Option<Place> {
    if let Some(row) = known(GROUP, FORMER_OF_GROUP, name) {
        return Some(Place::Group(index, row.name));
    }
    let name = name.strip_prefix("parameters.").unwrap_or(name);
    let name = flag_of(todays_key(FORMER_PARAMETERS, name).unwrap_or(name));
    let row = parameters_of(&draft.groups[index]).iter().find(|row| row.flag() == name);
    row.map(|row| Place::Parameter(index, row.name))
}

pub(crate) fn parameters_of(group: &GroupDraft) -> &'static [Parameter] {
    let entry = group.workload().and_then(|written| workloads::by_name(&written.text).ok());
    entry.map(|entry| entry.parameters).unwrap_or_default()
}

fn group_names(group: &GroupDraft) -> Vec<&'static str> {
    let rows = GROUP.iter().map(|row| row.parameter.name);
    rows.chain(parameters_of(group).iter().map(|row| row.name)).collect()
}

/// Names of parameters in other benchmark programs, each with the name that dbdyno has for it.
const OF_OTHERS: [(&str, &str); 8] = [
    ("threads", "clients"),
    ("users", "clients"),
    ("virtual_users", "clients"),
    ("connections", "clients"),
    ("time", "duration"),
    ("warehouse", "warehouses"),
    ("database", "target"),
    ("server", "target, or server.NAME for one of its settings"),
];

/// Returns true if a word looks like the name of a server setting: letters, digits and at least one
/// underscore.
fn is_like_a_setting(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl VaryDraft {
    fn unknown<'a>(&self, word: &str, known: impl IntoIterator<Item = &'a str>) -> BadPlan {
        let hint = match OF_OTHERS.iter().find(|(theirs, _)| *theirs == word) {
            Some((_, ours)) => format!("; write {ours}"),
            None => match did_you_mean(word, known) {
                hint if !hint.is_empty() => hint,
                _ if is_like_a_setting(word) => {
                    format!("; a setting of the server is written server.{word}")
                }
                _ => {
                    ": a parameter of the workload, a key of the plan, target, or server.NAME for \
                      a setting of the server can"
                        .to_owned()
                }
            },
        };
        self.bad(format!("'{word}' cannot be varied{hint}"))
    }
}
