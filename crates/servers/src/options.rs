//! Server settings of private servers: dbdyno's defaults, and those of the user.
//!
//! Not here: which settings users may give (model).

use model::plain_setting;

use crate::{DefaultSetting, Kind, defaults};

/// A server setting as a pair of name and value, in the form in which it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    pub name: String,
    pub value: String,
    /// Whether this setting is a default of dbdyno, and not given by the user.
    pub is_default: bool,
}

/// Returns the settings with which a server of this version starts: dbdyno's defaults, overridden
/// by those of the user in `asked`. If a name is given twice, the last value applies.
pub(crate) fn in_force(kind: Kind, version: &str, asked: &[(String, String)]) -> Vec<Setting> {
    let default = |row: &DefaultSetting| Setting {
        name: row.name.to_owned(),
        value: row.value.to_owned(),
        is_default: true,
    };
    let mut settings: Vec<Setting> = defaults(kind, version).map(default).collect();
    for (name, value) in asked {
        put(&mut settings, name, value);
    }
    settings
}

/// Adds a setting of the user to `settings`. Replaces a default or an earlier value of the same
/// setting.
pub(crate) fn put(settings: &mut Vec<Setting>, name: &str, value: &str) {
    let is_same = |known: &&mut Setting| bare(&known.name) == bare(name);
    let asked = Setting { name: name.to_owned(), value: value.to_owned(), is_default: false };
    match settings.iter_mut().find(is_same) {
        Some(setting) => *setting = asked,
        None => settings.push(asked),
    }
}

/// Removes a setting of the user from `settings`, and puts the one of `defaults` in its place.
pub(crate) fn unset(settings: &mut Vec<Setting>, name: &str, defaults: Vec<Setting>) {
    let is_same = |known: &Setting| bare(&known.name) == bare(name);
    settings.retain(|known| !is_same(known));
    settings.extend(defaults.into_iter().find(is_same));
}

/// Normalizes the name of a server setting for comparisons, since servers accept `-` for `_`, and
/// either case. Also removes MySQL's prefix `loose_`.
fn bare(name: &str) -> String {
    let name = plain_setting(name);
    name.strip_prefix("loose_").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_takes_the_place_of_a_default() {
        let check = |kind: Kind, version: &str, name: &str| {
            let settings = in_force(kind, version, &[(name.to_owned(), "7".to_owned())]);
            assert_eq!(settings.len(), defaults(kind, version).count());
            let asked: Vec<&Setting> = settings.iter().filter(|one| !one.is_default).collect();
            let expect =
                Setting { name: name.to_owned(), value: "7".to_owned(), is_default: false };
            assert_eq!(asked, [&expect]);
        };
        check(Kind::Postgres, "15.18", "Max-Connections");
        check(Kind::MySql, "9.7.4", "loose_innodb-redo-log-capacity");
    }
}
