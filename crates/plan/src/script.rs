//! Looks up workloads by name: compiled in, read from a file whose path serves as the name, or
//! written in the plan itself.

use std::sync::{Mutex, PoisonError};

use model::{BadParameter, Source};
use workloads::Entry;

use crate::draft::GroupDraft;

/// Names of the scripts that are in no file.
static UNWRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns the workload with this name, or reads it if the name is the path of a workload file.
/// Returns an error if there is no such workload, or its file cannot be read or is invalid.
pub fn workload_named(name: &str) -> Result<&'static Entry, BadParameter> {
    let known = workloads::by_name(name);
    if known.is_ok() || workloads::language_of(name).is_none() {
        return known;
    }
    let text = files::read_text(name, Source::BYTES_MAX).map_err(|error| {
        BadParameter::new(format!("the workload '{name}' cannot be read: {error}"))
    })?;
    let open = |path: &str| files::read_text(path, Source::BYTES_MAX).ok();
    let read = workloads::read_with_modules(Source::new(name, text), open);
    read.map_err(|bad| {
        let text = bad.to_string();
        // Some errors begin with the file and its line.
        let is_placed = text.starts_with(&format!("{name}:"));
        BadParameter::new(if is_placed { text } else { format!("{name}: {text}") })
    })
}

/// Name of a script that is written in a plan, if neither its group nor the group's workload has a
/// name.
const UNNAMED: &str = "script";

/// Returns the workload of a script that is written in a group of a plan. Its name is that of the
/// group's workload, if that is one of a script, or of the group. Returns an error if the script is
/// invalid.
pub(crate) fn script_of(group: &GroupDraft, text: &str) -> Result<&'static Entry, BadParameter> {
    read_script(&script_name(group), text)
}

/// Returns the name of the workload that a group's script becomes.
pub(crate) fn script_name(group: &GroupDraft) -> String {
    let named = group.workload().map(|written| written.text.clone());
    let of_group = || group.values.get("name").map(|name| format!("{}.sql", name.text));
    named
        .filter(|name| workloads::language_of(name).is_some())
        .or_else(of_group)
        .unwrap_or_else(|| format!("{UNNAMED}.sql"))
}

/// Reads a script that is in no file, and from then on is the workload with this name. Returns an
/// error if the script is invalid.
pub fn read_script(name: &str, text: &str) -> Result<&'static Entry, BadParameter> {
    if text.len() as u64 > Source::BYTES_MAX {
        return Err(BadParameter::new(format!(
            "the script is longer than {} bytes: put it into files",
            Source::BYTES_MAX
        )));
    }
    let mut names = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
    workloads::read(Source::new(name, text))
}

/// Returns true if a script is in no file, so that a plan needs its text.
pub fn is_unwritten(source: &Source) -> bool {
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).contains(&source.name)
}
