//! A plan file, read with the line and column of everything in it.

use model::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::bad_plan::BadPlan;
use crate::draft::{AtDraft, Draft, From, GroupDraft, VaryDraft, Written};
use crate::table::{self, AT, GROUP, PLAN, Row};

/// Reads `text`, the contents of the file `name`.
pub fn read_toml(name: &str, text: &str) -> Result<Draft, BadPlan> {
    let file = File { name, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        BadPlan(format!("{}: {}", file.place(at), error.message()))
    })?;
    let mut draft = Draft { file: Some(name.to_owned()), ..Draft::default() };
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
            ("group", _) => return Err(file.bad(key, "write [[group]], with two brackets")),
            ("server", _) => return Err(file.bad(key, "server is a table: write [server]")),
            ("at", _) => return Err(file.bad(key, "write [[at]], with two brackets")),
            _ => {
                let also = ["group", "experiment", "at", "server"];
                file.read(PLAN, "", key, value, &also, &mut |path, written| {
                    draft.values.insert(path, written);
                })?
            }
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
        BadPlan(format!("{}: {why}", self.place(key.span().start)))
    }

    fn read_experiment(&self, table: &DeTable<'_>, draft: &mut Draft) -> Result<(), BadPlan> {
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("vary", DeValue::Table(axes)) => {
                    // As they are written: the last one's values follow each other.
                    let mut axes: Vec<_> = axes.iter().collect();
                    axes.sort_by_key(|(name, _)| name.span().start);
                    for (name, values) in axes {
                        draft.vary.push(self.read_axis(name, values)?);
                    }
                }
                ("vary", _) => {
                    return Err(self.bad(key, "vary is a table: write vary = { clients = [1, 2] }"));
                }
                _ => {
                    self.read(PLAN, "experiment", key, value, &["vary"], &mut |path, written| {
                        draft.values.insert(path, written);
                    })?
                }
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
            return Err(BadPlan(format!("{place}: a group is a table: write [[group]]")));
        };
        let from = Some(self.place(group.span().start));
        let mut draft = GroupDraft { from, ..GroupDraft::default() };
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("parameters", DeValue::Table(parameters)) => {
                    for (name, value) in parameters {
                        let written = self.written(name, value)?;
                        draft.parameters.push((name.get_ref().to_string(), written));
                    }
                }
                ("parameters", _) => return Err(self.bad(key, "parameters must be a table")),
                _ => self.read(GROUP, "", key, value, &["parameters"], &mut |path, written| {
                    draft.values.insert(path, written);
                })?,
            }
        }
        Ok(draft)
    }

    fn read_at(&self, at: &Spanned<DeValue<'_>>) -> Result<AtDraft, BadPlan> {
        let from = self.place(at.span().start);
        let DeValue::Table(table) = at.get_ref() else {
            return Err(BadPlan(format!("{from}: a disturbance is a table: write [[at]]")));
        };
        let mut draft = AtDraft { from, values: Default::default(), sql: Vec::new() };
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("sql", DeValue::Array(statements)) => {
                    for statement in statements.iter() {
                        draft.sql.push(self.written(key, statement)?);
                    }
                }
                ("sql", _) => draft.sql.push(self.written(key, value)?),
                _ => self.read(AT, "", key, value, &[], &mut |path, written| {
                    draft.values.insert(path, written);
                })?,
            }
        }
        Ok(draft)
    }

    /// Reads a key that is a row of `table`, or a table of such keys.
    fn read(
        &self,
        table: &'static [Row],
        above: &str,
        key: &Key<'_>,
        value: &Spanned<DeValue<'_>>,
        also: &[&str],
        keep: &mut dyn FnMut(&'static str, Written),
    ) -> Result<(), BadPlan> {
        let word = key.get_ref().as_ref();
        let path = if above.is_empty() { word.to_owned() } else { format!("{above}.{word}") };
        let within = format!("{path}.");
        if let Some(row) = table::row(table, &path) {
            keep(row.path, self.written(key, value)?);
            return Ok(());
        }
        let has_rows = table.iter().any(|row| row.path.starts_with(&within));
        match value.get_ref() {
            DeValue::Table(inner) if has_rows => {
                for (key, value) in inner {
                    self.read(table, &path, key, value, &[], keep)?;
                }
                Ok(())
            }
            _ if has_rows => Err(self.bad(key, &format!("'{path}' must be a table"))),
            _ => {
                let known = keys_below(table, above).into_iter().chain(also.iter().copied());
                let near = did_you_mean(word, known);
                let hint = if near.is_empty() { elsewhere(word) } else { near };
                Err(self.bad(key, &format!("there is no key '{path}' here{hint}")))
            }
        }
    }

    fn written(&self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Result<Written, BadPlan> {
        let text = plain(value.get_ref()).ok_or_else(|| {
            let name = key.get_ref();
            self.bad(key, &format!("'{name}' must be a text, a number, true, false or a list"))
        })?;
        Ok(Written { text, from: self.place(value.span().start) })
    }
}

/// The next words of all paths of `table` below `above`.
fn keys_below(table: &'static [Row], above: &str) -> Vec<&'static str> {
    let word = |row: &'static Row| {
        let rest = match above {
            "" => Some(row.path),
            _ => row.path.strip_prefix(above).and_then(|rest| rest.strip_prefix('.')),
        };
        rest.map(|rest| rest.split('.').next().unwrap_or(rest))
    };
    table.iter().filter_map(word).collect()
}

/// Where in a plan a key of this name belongs, in words; empty where there is none.
fn elsewhere(word: &str) -> String {
    let of_plan = PLAN.iter().map(|row| match row.path.rsplit_once('.') {
        Some((table, name)) => (name, format!("in [{table}]")),
        None => (row.path, "at the top".to_owned()),
    });
    let of_group = GROUP.iter().map(|row| match row.path.split_once('.') {
        Some((first, name)) => (name, format!("in '{first}' of [[group]]")),
        None => (row.path, "in [[group]]".to_owned()),
    });
    let of_at = AT.iter().map(|row| (row.path, "in [[at]]".to_owned()));
    let mut all = of_plan.chain(of_group).chain(of_at);
    let found = all.find(|(name, _)| *name == word);
    found.map_or_else(String::new, |(name, place)| format!(": it is '{name}' {place}"))
}

/// A value as one would write it on the command line; none for tables and dates.
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
