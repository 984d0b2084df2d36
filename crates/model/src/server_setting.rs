//! Settings of a server that dbdyno did not start: SQL to read and set them, and the record of a
//! changed one, from which it is restored.
//!
//! Not here: the store of these records (store), and the times of changes (app).

use std::fmt;

use serde::{Deserialize, Serialize};

/// SQL to read and set settings of a running server, filled in by a driver. Names consist of
/// letters, digits, `_` and `.`; values are any single line.
#[derive(Clone, Copy, Debug)]
pub struct SettingsBySql {
    /// Returns the query for a setting. Its row: the name in the server's spelling; the value for
    /// new sessions; and, if there are more columns, the value that SQL has set beyond a restart
    /// (null if none), and why SQL cannot set it (null if it can). No row if the server has no such
    /// setting.
    pub look: fn(name: &str) -> String,
    /// Returns a statement that changes nothing, and fails where setting it would; empty if only
    /// setting it tells.
    pub probe: fn(name: &str) -> String,
    /// Returns statements that set it: alternatives, of which the next is tried if one fails.
    pub set: fn(name: &str, value: &str) -> Vec<String>,
    /// Returns the statement that removes a value set beyond a restart; empty if there are none.
    pub unset: fn(name: &str) -> String,
    /// Statement that makes the server apply changed settings; empty if it applies them at once.
    pub take_up: &'static str,
    /// Query whose result changes as soon as they are applied.
    pub taken_up: &'static str,
    /// Query for name and value of all settings of new sessions.
    pub all: &'static str,
    /// Possible units of a bare number if the server reports a value with its unit, in bytes and
    /// milliseconds.
    pub base_units: &'static [f64],
    /// Returns the remedy if the user may not read or set it; `{user}` stands for the user.
    pub if_denied: fn(name: &str) -> String,
    /// Pairs of names of one setting in different versions.
    pub other_names: &'static [[&'static str; 2]],
    /// Settings that identify a server and its location, not its behaviour, and those that it
    /// changes by itself: not recorded.
    pub of_place: &'static [&'static str],
}

impl SettingsBySql {
    /// Returns the name of a setting in other versions; `None` if it has only one name.
    pub fn other_name(&self, name: &str) -> Option<&'static str> {
        let [old, new] = self.other_names.iter().find(|names| names.contains(&name))?;
        Some(if name == *old { new } else { old })
    }

    /// Whether a setting is in `of_place`, ignoring case.
    pub fn is_of_place(&self, name: &str) -> bool {
        self.of_place.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A changed setting until it is restored: an entry of the restore journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Identifier of the server, the same for all its databases and users.
    pub server: String,
    /// Target through which it was changed, without its password.
    pub target: String,
    /// Name in the server's spelling.
    pub name: String,
    /// Value before the change.
    pub before: String,
    /// Value that SQL had set beyond a restart before the change, if any.
    pub kept_before: Option<String>,
    /// Value last requested, in our spelling.
    pub asked: String,
    /// Value last read after a change, in the server's spelling; `None` until the first change is
    /// confirmed.
    pub now: Option<String>,
    /// Time of the first change, in milliseconds since 1970-01-01T00:00:00Z.
    pub since_unix_ms: i64,
    /// Purpose: `experiment 0197…`, or `run`.
    pub purpose: String,
}

impl fmt::Display for ChangedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.target)
    }
}

/// Normalizes a setting's name for comparison: servers accept `-` for `_`, and either case.
pub fn plain_setting(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// Whether two spellings of a value are equal: `on` and `1`, `64MB` and `65536kB`.
pub fn is_same_value(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().to_ascii_lowercase(), b.trim().to_ascii_lowercase());
    a == b || amount(&a).is_some_and(|amount_of_a| Some(amount_of_a) == amount(&b))
}

/// Converts a word or a number with a unit to bytes, milliseconds, or a count.
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

/// Whether a server adjusted a setting to another number than requested. Texts are not compared:
/// modes have more spellings than we know. Values not above 0 are not either: they often mean
/// "automatic". A bare number may be in one of the `base_units` of a server that has units.
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

    /// A page and a second.
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
