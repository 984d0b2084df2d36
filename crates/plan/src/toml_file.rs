//! Parsing of plan files, which keeps the line and column of every value.

use model::{
    FORMER_OF_EXPERIMENT, FORMER_OF_GROUP, FORMER_OF_PLAN, FORMER_PARAMETERS, FormerKey,
    did_you_mean, todays_key,
};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::bad_plan::BadPlan;
use crate::draft::{AtDraft, Draft, GroupDraft, VaryDraft};
use crate::script::{read_script, script_name};
use crate::table::{AT, EXPERIMENT, GROUP, PLAN, Row};
use crate::written::{From, Values, Written};

/// The keys that a TOML table of a plan may have: those of today, those of earlier versions of
/// dbdyno, and those of inner tables, which other code reads.
struct Keys {
    names: Vec<&'static str>,
    former: &'static [FormerKey],
    also: &'static [&'static str],
}

impl Keys {
    fn new<T>(
        rows: &'static [Row<T>],
        former: &'static [FormerKey],
        also: &'static [&'static str],
    ) -> Keys {
        Keys { names: rows.iter().map(|row| row.parameter.name).collect(), former, also }
    }

    /// Returns the present key for a dotted path in a file, which may be that of an earlier
    /// version; `None` if the path is unknown.
    fn find(&self, path: &str) -> Option<&'static str> {
        let today = self.names.iter().find(|name| **name == path).copied();
        today.or_else(|| todays_key(self.former, path))
    }

    /// Returns true if plans of earlier versions had a table of this name, whose keys are now in
    /// the table above it.
    fn is_former_table(&self, name: &str) -> bool {
        self.former.iter().any(|(table, ..)| *table == name)
    }

    /// Returns the keys of today if `table` is empty; otherwise the former keys that plans of
    /// earlier versions had in the table of this name.
    fn names_in<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'static str> + 'a {
        let today = self.names.iter().chain(self.also).filter(move |_| table.is_empty()).copied();
        let former =
            self.former.iter().filter(move |(owner, ..)| *owner == table && !owner.is_empty());
        today.chain(former.map(|(_, name, _)| *name))
    }
}

/// Parses the text of a plan file; `name` is the name of the file in errors, which also have line
/// and column.
pub fn read_toml(name: &str, text: &str) -> Result<Draft, BadPlan> {
    let file = File { name, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        file.place(at).bad(error.message())
    })?;
    let mut draft = Draft { file: Some(name.to_owned()), ..Draft::default() };
    let keys = Keys::new(PLAN, FORMER_OF_PLAN, &["group", "experiment", "at", "server", "agent"]);
    for (key, value) in table.get_ref() {
        let word = key.get_ref().as_ref();
        match (word, value.get_ref()) {
            ("group", DeValue::Array(groups)) => {
                for group in groups.iter() {
                    draft.groups.push(file.read_group(group)?);
                }
            }
            ("experiment", DeValue::Table(experiment)) => {
                file.read_experiment(experiment, &mut draft)?;
            }
            ("server", DeValue::Table(settings)) => {
                for (name, value) in settings {
                    let written = file.written(name, value)?;
                    draft.server.push((name.get_ref().to_string(), written));
                }
            }
            ("at", DeValue::Array(all)) => {
                for at in all.iter() {
                    draft.at.push(file.read_at(at)?);
                }
            }
            ("agent", DeValue::Array(all)) => {
                let written = file.read_agents(key, all)?;
                if draft.values.insert("agents", written).is_some() {
                    return Err(file.bad(key, "write agents or [[agent]], not both"));
                }
            }
            ("agent", _) => return Err(file.bad(key, "write [[agent]], with two brackets")),
            ("group", _) => return Err(file.bad(key, "write [[group]], with two brackets")),
            ("experiment", _) => {
                return Err(file.bad(key, "experiment is a table: write [experiment]"));
            }
            ("server", _) => return Err(file.bad(key, "server is a table: write [server]")),
            ("at", _) => return Err(file.bad(key, "write [[at]], with two brackets")),
            _ => file.read(&keys, "", key, value, &mut draft.values)?,
        }
    }
    Ok(draft)
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

impl File<'_> {
    fn place(&self, offset: usize) -> From {
        let before = &self.text[..offset.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        From::File { name: self.name.to_owned(), line, column }
    }

    fn bad(&self, key: &Key<'_>, why: &str) -> BadPlan {
        self.place(key.span().start).bad(why)
    }

    fn read_experiment(&self, table: &DeTable<'_>, draft: &mut Draft) -> Result<(), BadPlan> {
        let keys = Keys::new(EXPERIMENT, FORMER_OF_EXPERIMENT, &["vary"]);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("vary", DeValue::Table(axes)) => {
                    // In the order of the file: the last axis varies fastest.
                    let mut axes: Vec<_> = axes.iter().collect();
                    axes.sort_by_key(|(name, _)| name.span().start);
                    for (name, values) in axes {
                        draft.vary.push(self.read_axis(name, values)?);
                    }
                }
                ("vary", _) => {
                    return Err(self.bad(key, "vary is a table: write vary = { clients = [1, 2] }"));
                }
                _ => self.read(&keys, "", key, value, &mut draft.experiment)?,
            }
        }
        Ok(())
    }

    fn read_axis(
        &self,
        name: &Key<'_>,
        values: &Spanned<DeValue<'_>>,
    ) -> Result<VaryDraft, BadPlan> {
        let DeValue::Array(items) = values.get_ref() else {
            let why = format!("the values of '{}' must be a list", name.get_ref());
            return Err(self.bad(name, &why));
        };
        let read: Option<Vec<String>> = items.iter().map(|item| plain(item.get_ref())).collect();
        let Some(read) = read else {
            let why = format!("a value of '{}' must be a text, a number or true", name.get_ref());
            return Err(self.bad(name, &why));
        };
        let from = self.place(values.span().start);
        Ok(VaryDraft { name: name.get_ref().to_string(), values: read, from })
    }

    fn read_group(&self, group: &Spanned<DeValue<'_>>) -> Result<GroupDraft, BadPlan> {
        let DeValue::Table(table) = group.get_ref() else {
            let place = self.place(group.span().start);
            return Err(place.bad("a group is a table: write [[group]]"));
        };
        let from = Some(self.place(group.span().start));
        let mut draft = GroupDraft { from, ..GroupDraft::default() };
        let keys = Keys::new(GROUP, FORMER_OF_GROUP, &["parameters"]);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("parameters", DeValue::Table(parameters)) => {
                    for (name, value) in parameters {
                        let written = self.written(name, value)?;
                        let name = name.get_ref().as_ref();
                        let name = todays_key(FORMER_PARAMETERS, name).unwrap_or(name);
                        draft.parameters.push((name.to_owned(), written));
                    }
                }
                ("parameters", _) => return Err(self.bad(key, "parameters must be a table")),
                _ => self.read(&keys, "", key, value, &mut draft.values)?,
            }
        }
        // A script becomes a workload with a name, which all that follows looks up.
        if let Some(script) = draft.values.get("script").cloned() {
            let other =
                draft.workload().filter(|name| workloads::language_of(&name.text).is_none());
            if let Some(other) = other {
                let why = "a group has a workload or a script, not both: leave out one of them";
                return Err(other.from.bad(why));
            }
            let name = script_name(&draft);
            read_script(&name, &script.text).map_err(|bad| script.from.bad(bad))?;
            draft.values.insert("workload", Written::new(name, script.from));
        }
        Ok(draft)
    }

    /// Reads the tables `[[agent]]`, with `name` and `share`, as the list that `agents` is.
    fn read_agents(&self, key: &Key<'_>, all: &DeArray<'_>) -> Result<Written, BadPlan> {
        let mut list = Vec::new();
        for agent in all.iter() {
            let place = self.place(agent.span().start);
            let DeValue::Table(table) = agent.get_ref() else {
                return Err(place.bad("an agent is a table: write [[agent]]"));
            };
            let (mut name, mut share) = (None, "1".to_owned());
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "name" => name = Some(self.written(key, value)?.text),
                    "share" => share = self.written(key, value)?.text,
                    other => {
                        let why = format!("unknown key '{other}': an agent has name and share");
                        return Err(self.bad(key, &why));
                    }
                }
            }
            let name = name.ok_or_else(|| place.bad("this [[agent]] has no name"))?;
            list.push(format!("{name}={share}"));
        }
        let from = self.place(key.span().start);
        Ok(Written { text: list.join(","), list: Some(list), from })
    }

    fn read_at(&self, at: &Spanned<DeValue<'_>>) -> Result<AtDraft, BadPlan> {
        let from = self.place(at.span().start);
        let DeValue::Table(table) = at.get_ref() else {
            return Err(from.bad("a disturbance is a table: write [[at]]"));
        };
        let keys = Keys::new(AT, &[], &[]);
        let mut draft = AtDraft { from, values: Values::new() };
        for (key, value) in table {
            self.read(&keys, "", key, value, &mut draft.values)?;
        }
        Ok(draft)
    }

    /// Reads one key with its value into `values`. If the value is a table that only earlier
    /// versions had, reads each key in it. Returns an error for an unknown key, or one that is
    /// written twice.
    fn read(
        &self,
        keys: &Keys,
        table: &str,
        key: &Key<'_>,
        value: &Spanned<DeValue<'_>>,
        values: &mut Values,
    ) -> Result<(), BadPlan> {
        let word = key.get_ref().as_ref();
        let path = if table.is_empty() { word.to_owned() } else { format!("{table}.{word}") };
        if let DeValue::Table(inner) = value.get_ref()
            && keys.is_former_table(&path)
        {
            return inner
                .iter()
                .try_for_each(|(key, value)| self.read(keys, &path, key, value, values));
        }
        let Some(name) = keys.find(&path) else {
            // A key of another table is likelier than a similar spelling.
            let there = elsewhere(word);
            let hint =
                if there.is_empty() { did_you_mean(word, keys.names_in(table)) } else { there };
            return Err(self.bad(key, &format!("unknown key '{path}'{hint}")));
        };
        let written = self.written(key, value)?;
        match values.insert(name, written) {
            Some(other) => {
                let why = format!("'{path}' is '{name}', which is written at {} too", other.from);
                Err(self.bad(key, &format!("{why}: drop one of them")))
            }
            None => Ok(()),
        }
    }

    fn written(&self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Result<Written, BadPlan> {
        let text = plain(value.get_ref()).ok_or_else(|| {
            let name = key.get_ref();
            self.bad(key, &format!("'{name}' must be a text, a number, true, false or a list"))
        })?;
        let list = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| plain(item.get_ref())).collect(),
            _ => None,
        };
        Ok(Written { text, list, from: self.place(value.span().start) })
    }
}

/// Keys that users of other tools try, each with the hint that an error gives.
const OTHER_WORDS: [(&[&str], &str); 6] = [
    (&["threads", "connections", "users", "virtual_users", "vus"], "it is 'clients' in [[group]]"),
    (&["warmup", "warm_up", "rampup"], "it is 'ramp_up' at the top"),
    (&["time", "measure", "runtime"], "it is 'duration' at the top"),
    (&["vary", "axes"], "it is a table of its own: [experiment.vary]"),
    (&["require", "fail_if"], "a limit is an option of the command: --require 'p99<300ms'"),
    (&["label", "labels"], "a label is an option of the command: --label KEY=VALUE"),
];

/// Returns a hint for an unknown key: where in a plan it belongs, or which key to use; empty if not
/// known.
fn elsewhere(word: &str) -> String {
    if word == "build" {
        let why = ": this is the plan of a build of data: repeat it with the command in its first \
                   line (dbdyno build ...)";
        return why.to_owned();
    }
    if let Some((_, meant)) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&word)) {
        return format!(": {meant}");
    }
    let tables = [
        (Keys::new(PLAN, FORMER_OF_PLAN, &[]), "at the top"),
        (Keys::new(EXPERIMENT, FORMER_OF_EXPERIMENT, &[]), "in [experiment]"),
        (Keys::new(GROUP, FORMER_OF_GROUP, &[]), "in [[group]]"),
        (Keys::new(AT, &[], &[]), "in [[at]]"),
    ];
    let own = |keys: &Keys| keys.names_in("").find(|name| *name == word);
    let former = |keys: &Keys| {
        let former = || keys.former.iter().find(|(_, name, _)| *name == word);
        keys.find(word).or_else(|| former().map(|(.., today)| *today))
    };
    let found = tables.iter().find_map(|(keys, place)| Some((own(keys)?, place)));
    let found = found.or_else(|| tables.iter().find_map(|(keys, at)| Some((former(keys)?, at))));
    if let Some((name, place)) = found {
        return format!(": it is '{name}' {place}");
    }
    let has_it =
        |entry: &&workloads::Entry| entry.parameters.iter().any(|parameter| parameter.name == word);
    match workloads::all().find(has_it) {
        Some(entry) => format!(
            ": it is a parameter of {}: write parameters = {{ {word} = ... }} in [[group]]",
            entry.name
        ),
        None => String::new(),
    }
}

/// Formats a TOML value as it would be written on the command line; `None` for tables and dates.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(value) => Some(value.to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|i| plain(i.get_ref())).collect();
            items.map(|items| items.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}
