//! Settings of a server that somebody else started: how SQL reads and sets them, and what is
//! remembered of one that we have changed, so that it can be set back.
//!
//! Not here: where it is remembered (store), and when settings are changed (app).

use std::fmt;

use serde::{Deserialize, Serialize};

/// How settings are read and set by SQL while a server runs: a capability that a driver fills.
/// Names are made of letters, digits, `_` and `.` alone; values are any line of text.
#[derive(Clone, Copy, Debug)]
pub struct SettingsBySql {
    /// The query for a setting. Its row: the name as the server spells it; the value that new
    /// sessions find; and, where there are more columns, the value that SQL has set beyond a
    /// restart (null if none), and why SQL cannot set it (null if it can). No row if the server
    /// has no such setting.
    pub look: fn(name: &str) -> String,
    /// What changes nothing, and is refused wherever setting it would be; empty if only setting
    /// it tells.
    pub probe: fn(name: &str) -> String,
    /// What sets it: spellings of the same, of which the next is tried if one is refused.
    pub set: fn(name: &str, value: &str) -> Vec<String>,
    /// What takes back a value that SQL has set beyond a restart; empty if there are none.
    pub unset: fn(name: &str) -> String,
    /// What makes the server take up what was set; empty if it does at once.
    pub take_up: &'static str,
    /// A query whose answer is another as soon as that has happened.
    pub taken_up: &'static str,
    /// The query for all settings that new sessions find: a name and a value each.
    pub all: &'static str,
    /// What a bare number may be counted in where the server says a value with its unit: in bytes
    /// and milliseconds.
    pub base_units: &'static [f64],
    /// What to do if the user may not read or set it, in which `{user}` stands for the user.
    pub if_denied: fn(name: &str) -> String,
    /// Names of one setting in different versions.
    pub other_names: &'static [[&'static str; 2]],
    /// Settings that say where and who a server is, not how it works, and those that it changes by
    /// itself: they are not kept.
    pub of_place: &'static [&'static str],
}

impl SettingsBySql {
    /// What a setting is called in another version; none where it is called the same in all.
    pub fn other_name(&self, name: &str) -> Option<&'static str> {
        let [old, new] = self.other_names.iter().find(|names| names.contains(&name))?;
        Some(if name == *old { new } else { old })
    }

    /// Whether a setting is of the place.
    pub fn is_of_place(&self, name: &str) -> bool {
        self.of_place.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A setting that we have changed, until it is set back: an entry of the restore journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Which server, whatever database or user of it a target names.
    pub server: String,
    /// The target by which it was changed, without its password.
    pub target: String,
    /// Its name as the server spells it.
    pub name: String,
    /// The value that was found.
    pub before: String,
    /// The value that SQL had set beyond a restart, if any.
    pub kept_before: Option<String>,
    /// The value that it was last to have, as we wrote it.
    pub asked: String,
    /// The value that was last read after we had set one, as the server spells it; none while
    /// the first is being set.
    pub now: Option<String>,
    /// When it was first changed, in milliseconds since 1970-01-01T00:00:00Z.
    pub since_unix_ms: i64,
    /// For what: `experiment 0197…`, or `run`.
    pub purpose: String,
}

impl fmt::Display for ChangedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.target)
    }
}

/// A setting's name in the one spelling that is compared: servers take `-` for `_`, and letters of
/// either case.
pub fn plain_setting(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// Whether two spellings of a setting's value are the same: `on` and `1`, `64MB` and `65536kB`.
pub fn is_same_value(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().to_ascii_lowercase(), b.trim().to_ascii_lowercase());
    a == b || amount(&a).is_some_and(|amount_of_a| Some(amount_of_a) == amount(&b))
}

/// What a word or a number with a unit amounts to: bytes, milliseconds, or a count.
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

/// Whether a server took a setting to another value than was asked for, as far as numbers can
/// tell: modes have more spellings than we know, and what is not above 0 is often a word for
/// "choose yourself". A bare number may be in one of the `base_units` of a server that has units.
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
