//! Printing of a draft as TOML, with only the values that were written, and as a command line. Not
//! here: decided plans (print).

use model::Parameter;
use toml::Value;

use crate::draft::{Draft, GroupDraft};
use crate::table::{AT, EXPERIMENT, GROUP, PLAN, Row};
use crate::written::{Values, Written};

/// Returns the TOML text of a draft, which parses to the same draft, with keys in the order of
/// their declarations. Comments of the draft's file are lost.
pub fn draft_to_toml(draft: &Draft) -> String {
    let mut text = lines(PLAN, &draft.values);
    let named = |(name, written): &(String, Written)| line(name, written);
    if !draft.server.is_empty() {
        text += "\n[server]\n";
        text.extend(draft.server.iter().map(named));
    }
    for group in &draft.groups {
        text += &format!("\n[[group]]\n{}", lines(GROUP, &group.values));
        if !group.parameters.is_empty() {
            text += "[group.parameters]\n";
            text.extend(group.parameters.iter().map(named));
        }
    }
    for at in &draft.at {
        text += &format!("\n[[at]]\n{}", lines(AT, &at.values));
    }
    if !draft.experiment.is_empty() {
        text += &format!("\n[experiment]\n{}", lines(EXPERIMENT, &draft.experiment));
    }
    if !draft.vary.is_empty() {
        text += "\n[experiment.vary]\n";
        for axis in &draft.vary {
            let values: Vec<Value> = axis.values.iter().map(|text| scalar(text)).collect();
            text += &format!("{} = {}\n", key(&axis.name), Value::Array(values));
        }
    }
    text.trim_start().to_owned()
}

fn lines<T>(rows: &'static [Row<T>], values: &Values) -> String {
    let names = rows.iter().map(|row| row.parameter.name);
    names.filter_map(|name| Some(line(name, values.get(name)?))).collect()
}

fn line(name: &str, written: &Written) -> String {
    let value = match &written.list {
        Some(items) => Value::Array(items.iter().map(|item| scalar(item)).collect()),
        None => scalar(&written.text),
    };
    format!("{} = {value}\n", key(name))
}

/// Formats a name as a TOML key, in quotes if necessary.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// Converts a text to a TOML number or truth value if that reads back as the same text, otherwise
/// to a TOML string.
fn scalar(text: &str) -> Value {
    let integer = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let float = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let float = float.filter(|number| number.to_string() == text && text.contains('.'));
    match (integer, float, text) {
        (Some(integer), ..) => integer.into(),
        (None, Some(float), _) => float.into(),
        (None, None, "true" | "false") => (text == "true").into(),
        (None, None, text) => text.into(),
    }
}

impl Draft {
    /// Removes values that are equal to their defaults, so that the plan looks as a person would
    /// write it.
    pub fn without_defaults(mut self) -> Draft {
        let is_counted = self.groups.iter().any(|g| g.values.contains_key("transactions"));
        let workload = self.groups.first().and_then(GroupDraft::workload).cloned();
        // With a transaction count, a duration is a limit, whatever its length.
        let limit = self.values.get("duration").filter(|_| is_counted).cloned();
        keep_said(PLAN, &mut self.values);
        self.values.extend(limit.map(|limit| ("duration", limit)));
        keep_said(EXPERIMENT, &mut self.experiment);
        if self.values.get("name").map(|name| &name.text)
            == workload.as_ref().map(|written| &written.text)
        {
            self.values.remove("name");
        }
        for group in &mut self.groups {
            keep_said(GROUP, &mut group.values);
            let name = group.workload().map(|workload| workload.text.clone());
            if group.values.get("name").map(|name| &name.text) == name.as_ref() {
                group.values.remove("name");
            }
            let entry = name.and_then(|name| workloads::by_name(&name).ok());
            let table = entry.map(|entry| entry.parameters).unwrap_or_default();
            group.parameters.retain(|(name, written)| {
                !table.iter().any(|row| row.name == name && is_default(row, &written.text))
            });
        }
        self
    }

    /// Returns the arguments of `dbdyno run` for the same plan; `None` if the plan needs a file,
    /// for example because it has several groups, server settings or disturbances.
    pub fn words(&self) -> Option<Vec<String>> {
        let [group] = self.groups.as_slice() else { return None };
        let workload = &group.workload()?.text;
        let entry = workloads::by_name(workload).ok()?;
        let is_named = group.values.get("name").is_some_and(|name| name.text != *workload);
        if !self.server.is_empty() || !self.at.is_empty() || is_named || !entry.roles.is_empty() {
            return None;
        }
        let mut words = vec![workload.clone()];
        let flag = |name: &str, text: &str| [format!("--{}", name.replace('_', "-")), text.into()];
        let of_group =
            group.values.iter().filter(|(name, _)| !matches!(**name, "name" | "workload"));
        let given = self.values.iter().chain(of_group).chain(&self.experiment);
        words.extend(given.flat_map(|(name, written)| flag(name, &written.text)));
        let parameters = group.parameters.iter();
        words.extend(parameters.flat_map(|(name, written)| flag(name, &written.text)));
        for axis in &self.vary {
            if axis.values.iter().any(|value| value.contains(',')) {
                return None;
            }
            words.extend(flag("vary", &format!("{}={}", axis.name, axis.values.join(","))));
        }
        Some(words)
    }
}

/// Returns true if a text means the parameter's default, in any spelling.
fn is_default(row: &Parameter, text: &str) -> bool {
    let read = |text: &str| row.parse(text).ok();
    text == row.default || (read(text).is_some() && read(text) == read(row.default))
}

fn keep_said<T>(rows: &'static [Row<T>], values: &mut Values) {
    for row in rows.iter().map(|row| &row.parameter).filter(|row| !row.default.is_empty()) {
        if values.get(row.name).is_some_and(|written| is_default(row, &written.text)) {
            values.remove(row.name);
        }
    }
}
