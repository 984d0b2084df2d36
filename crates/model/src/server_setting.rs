//! Settings of a server that dbdyno did not start: SQL to read and change them, the file from which
//! the server reads others at its start, and journal entries from which both are restored.
//!
//! Not here: the restore journal itself (store), and when settings are changed (app).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::DbError;

/// SQL to read and change the settings of a running server, filled in by a driver. Names of
/// settings consist of letters, digits, `_` and `.`; values are single lines of text.
#[derive(Clone, Copy, Debug)]
pub struct SettingsBySql {
    /// Returns the query for the setting with this name. It returns no row if the server has no
    /// such setting; otherwise one row with two or five columns. These are the name in the server's
    /// spelling, the value for new sessions, the value that SQL has set persistently (null if
    /// none), the reason why SQL cannot change the setting (null if it can), and that reason again
    /// if the setting takes effect only at a server start (null if not).
    pub look: fn(name: &str) -> String,
    /// Returns a statement that changes nothing, but fails if changing the setting would fail;
    /// empty if there is no such test.
    pub probe: fn(name: &str) -> String,
    /// Returns alternative statements that give the setting this value. If one fails, the next is
    /// tried.
    pub set: fn(name: &str, value: &str) -> Vec<String>,
    /// Returns the statement that removes a value that SQL has set persistently; empty if this
    /// server keeps no values across a restart.
    pub unset: fn(name: &str) -> String,
    /// Statement that makes a running server apply changed settings, such as a reload of its
    /// configuration; empty if the server applies them at once.
    pub take_up: &'static str,
    /// Query for a text that changes when the server has applied new settings, such as the time of
    /// its last reload; empty if the server applies them at once.
    pub taken_up: &'static str,
    /// Query for the name and value of every setting, as new sessions get them.
    pub all: &'static str,
    /// Sizes of the units in which the server may count a setting that is written without a unit,
    /// in bytes or milliseconds: 8192 for settings that count pages of 8 KiB. Empty if the server
    /// reports no values with units.
    pub base_units: &'static [f64],
    /// Returns advice for a user who lacks the privilege to read or change the setting. `{user}` in
    /// the advice stands for the user's name.
    pub if_denied: fn(name: &str) -> String,
    /// Pairs of names for the same setting in older and newer versions of the server.
    pub other_names: &'static [[&'static str; 2]],
    /// Settings that are not stored with a run, because they only identify the server, such as its
    /// host name, or because the server itself changes them.
    pub of_place: &'static [&'static str],
    /// File from which the server reads settings at its start.
    pub file: SettingsByFile,
}

/// The file from which a server reads settings at its start, filled in by a driver.
#[derive(Clone, Copy, Debug)]
pub struct SettingsByFile {
    /// Query for the path of the file that the server itself writes, such as
    /// `postgresql.auto.conf`; `None` if it writes none, so that the user names a file.
    pub path: Option<&'static str>,
    /// Returns the lines that give the settings these values. They come last in the file, so that
    /// they take precedence over lines before them.
    pub lines: fn(settings: &[(String, String)]) -> String,
    /// Query for the time since the server's start, in seconds, in its last column.
    pub uptime: &'static str,
    /// Returns alternative queries for the smallest and the largest value of a numeric setting
    /// (null if there is none), and for the factor between values without a unit and bytes or
    /// milliseconds. If one fails, the next is tried.
    pub ranges: fn(name: &str) -> Vec<String>,
    /// Returns the arguments with which the server's own program reads its configuration and ends,
    /// derived from those with which the server runs, its program's name left out.
    pub check: fn(arguments: &[String]) -> Vec<String>,
    /// Settings by which a server starts programs, loads code, or uses other files, in lower case
    /// with `_`. Others may not change them on the host of an agent.
    pub dangerous: &'static [&'static str],
    /// Returns whether this error of [`SettingsBySql::probe`] means that the setting takes effect
    /// only at a server start.
    pub is_fixed_while_running: fn(&DbError) -> bool,
}

impl SettingsBySql {
    /// Returns the name that other versions of the server have for this setting; `None` if it has
    /// the same name in all versions.
    pub fn other_name(&self, name: &str) -> Option<&'static str> {
        let [old, new] = self.other_names.iter().find(|names| names.contains(&name))?;
        Some(if name == *old { new } else { old })
    }

    /// Whether the setting with this name is not stored with a run, because it only identifies the
    /// server or the server itself changes it. Upper and lower case are the same.
    pub fn is_of_place(&self, name: &str) -> bool {
        self.of_place.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A setting that dbdyno has changed and not yet restored: an entry of the restore journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Identifier of the server, which is the same for all its databases and users.
    pub server: String,
    /// Target through which the setting was changed, without its password.
    pub target: String,
    /// Name of the setting in the server's spelling.
    pub name: String,
    /// Value of the setting before dbdyno's first change, to which it will be restored.
    pub before: String,
    /// Value that SQL had set persistently before dbdyno's first change; `None` if there was none.
    pub kept_before: Option<String>,
    /// Value to which dbdyno set the setting last, as given in the plan.
    pub asked: String,
    /// Value that the server reported after dbdyno's last change, in its own spelling; `None` until
    /// the first change is confirmed.
    pub now: Option<String>,
    /// Time at which dbdyno first changed the setting, in milliseconds since 1970-01-01T00:00:00Z.
    pub since_unix_ms: i64,
    /// Purpose of the change: `run`, or an experiment as `experiment 0197…`.
    pub purpose: String,
}

impl fmt::Display for ChangedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.target)
    }
}

/// A settings file of a server that dbdyno has changed and not yet restored: an entry of the
/// restore journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Identifier of the server, which is the same for all its databases and users.
    pub server: String,
    /// Target of the run that changed the file, without its password.
    pub target: String,
    /// Absolute path of the file.
    pub path: String,
    /// The file before dbdyno's first change; `None` if it did not exist.
    pub before: Option<FileBefore>,
    /// Contents that dbdyno wrote last, or was about to write.
    pub written: Vec<u8>,
    /// Shell command that restarts the server; empty if an agent does it.
    pub restart: String,
    /// Agent that has changed the file on its host, and restores it; `None` for a file of this
    /// host.
    #[serde(default)]
    pub agent: Option<String>,
    /// Time at which dbdyno first changed the file, in milliseconds since 1970-01-01T00:00:00Z.
    pub since_unix_ms: i64,
    /// Purpose of the change: `run`, or an experiment as `experiment 0197…`.
    pub purpose: String,
}

/// Contents of a file with its owner and permissions, from which it is restored byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBefore {
    /// Contents, which need not be text.
    pub contents: Vec<u8>,
    /// Permission bits, without the type of the file.
    pub mode: u32,
    /// Id of the owner.
    pub user: u32,
    /// Id of the owner's group.
    pub group: u32,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.path, self.target)
    }
}

/// Returns the number that a value of a setting means: sizes in bytes, times in milliseconds, truth
/// values as 1 and 0; `None` for any other text.
pub fn setting_amount(value: &str) -> Option<f64> {
    amount(&value.trim().to_ascii_lowercase())
}

/// Normalizes the name of a setting for comparison, because servers accept `-` instead of `_`, and
/// either case.
pub fn plain_setting(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// Whether two texts are the same value of a setting: `on` and `1`, `64MB` and `65536kB`.
pub fn is_same_value(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().to_ascii_lowercase(), b.trim().to_ascii_lowercase());
    a == b || amount(&a).is_some_and(|amount_of_a| Some(amount_of_a) == amount(&b))
}

/// Converts a truth value, or a number with a unit, to a number: sizes in bytes, times in
/// milliseconds. `None` for any other text.
fn amount(text: &str) -> Option<f64> {
    match text {
        "on" | "true" | "yes" => return Some(1.0),
        "off" | "false" | "no" => return Some(0.0),
        _ => {}
    }
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok()?;
    let scale = match unit {
        "" | "b" | "ms" => 1.0,
        "us" => 1e-3,
        "s" => 1e3,
        "min" => 60e3,
        "h" => 3600e3,
        "d" => 86_400e3,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024f64.powi(2),
        "g" | "gb" => 1024f64.powi(3),
        "t" | "tb" => 1024f64.powi(4),
        _ => return None,
    };
    Some(number * scale)
}

/// Whether a server reports another number, `shown`, than the number `asked` to which a setting was
/// changed. False for texts, because modes may have several spellings, and if `asked` is 0 or less,
/// which often means "automatic". If only `shown` has a unit, `asked` may be in any of
/// `base_units`.
pub fn is_taken_otherwise(asked: &str, shown: &str, base_units: &[f64]) -> bool {
    let (asked, shown) = (asked.trim().to_ascii_lowercase(), shown.trim().to_ascii_lowercase());
    let (Some(wanted), Some(has)) = (amount(&asked), amount(&shown)) else { return false };
    let is_bare = |text: &str| !text.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_in_units =
        is_bare(&asked) && !is_bare(&shown) && base_units.iter().any(|unit| wanted * unit == has);
    wanted > 0.0 && wanted != has && !is_in_units
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units that numbers without a unit may have, for tests: a page of 8 KiB, and a second in
    /// milliseconds.
    const UNITS: [f64; 2] = [8192.0, 1e3];

    #[test]
    fn a_value_that_a_server_rounds_is_another_and_its_unit_is_not() {
        for (asked, shown) in
            [("1234567", "2097152"), ("100", "10"), ("1G", "1048576"), ("on", "2")]
        {
            assert!(is_taken_otherwise(asked, shown, &UNITS), "{asked} {shown}");
        }
        let same = [
            ("1G", "1073741824"),
            ("16384", "128MB"),
            ("60", "1min"),
            ("on", "1"),
            ("-1", "4MB"),
            ("0", "8"),
            ("TRADITIONAL", "STRICT_ALL_TABLES,TRADITIONAL"),
            ("2", "O_DIRECT"),
        ];
        assert!(is_taken_otherwise("60", "1min", &[]));
        for (asked, shown) in same {
            assert!(!is_taken_otherwise(asked, shown, &UNITS), "{asked} {shown}");
        }
    }

    #[test]
    fn values_are_the_same_however_they_are_spelled() {
        for (a, b) in [("ON", "1"), ("64MB", "65536kB"), ("4M", "4194304"), ("2", "2.000000")] {
            assert!(is_same_value(a, b), "{a} {b}");
        }
        for (a, b) in [("on", "off"), ("64MB", "64kB"), ("row", "mixed"), ("1s", "1min")] {
            assert!(!is_same_value(a, b), "{a} {b}");
        }
    }
}
