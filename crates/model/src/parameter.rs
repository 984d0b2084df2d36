//! A parameter is a row in its owner's table; flag, TOML key, help, form and docs derive from it.

use std::collections::BTreeMap;
use std::fmt;

use crate::{
    ArrivalRate, Choice, did_you_mean, parse_bytes, parse_count, parse_duration, parse_number,
    parse_rate,
};

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A whole number.
    Count {
        /// The least that is accepted.
        min: u64,
        /// The most that is accepted.
        max: u64,
    },
    /// A number.
    Number {
        /// The least that is accepted.
        min: f64,
        /// The most that is accepted.
        max: f64,
    },
    /// A duration with its unit.
    Duration,
    /// A rate.
    Rate,
    /// Arrivals a second as they may change, or `file PATH`; see [`ArrivalRate`].
    ArrivalRate,
    /// A size in bytes.
    Bytes,
    /// Yes or no.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `n` whole numbers, separated by `/` or `,`.
    Counts(usize),
    /// `n` durations, separated by `/` or `,`.
    Durations(usize),
    /// Words, separated by `,`; its flag may be given several times.
    Words,
    /// Anything.
    Text,
}

/// One row of an owner's table.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name: TOML key as it stands, flag with `_` written `-`.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParameterKind,
    /// What holds when nobody says, as one would write it; empty where it has no default.
    pub default: &'static str,
    /// One line of help, without a full stop.
    pub help: &'static str,
    /// It shapes the data: a database built with another value is another database.
    pub shapes_data: bool,
}

/// What a text is, by the name of its parameter.
const TEXTS: [(&str, &str); 17] = [
    ("application_name", "NAME"),
    ("bin", "PATH"),
    ("folder", "PATH"),
    ("name", "NAME"),
    ("network_bandwidth", "BYTES/s"),
    ("objective", "LIMIT"),
    ("reference", "FILE"),
    ("repeat", "N|until=..."),
    ("repeat_rebuild", "N|until=..."),
    ("repeat_restart", "N|until=..."),
    ("scenario", "SCENARIO"),
    ("seek", "NAME=LOW..HIGH"),
    ("socket", "PATH"),
    ("target", "URL"),
    ("tls_ca", "FILE"),
    ("transactions", "N"),
    ("wait_until", "SQL"),
];

impl Parameter {
    /// A row that shapes no data, such as an option of a target's URL.
    pub const fn option(
        name: &'static str,
        kind: ParameterKind,
        default: &'static str,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, kind, default, help, shapes_data: false }
    }

    /// What to write, for help and forms: `N`, `DURATION`, `a|b`; of a text, what it is.
    pub fn placeholder(&self) -> String {
        let texts = || TEXTS.iter().find(|(name, _)| *name == self.name).map(|(_, what)| *what);
        match self.kind {
            ParameterKind::Text => texts().unwrap_or("TEXT").to_owned(),
            ParameterKind::Words => texts().unwrap_or("TEXT").to_owned() + ",...",
            kind => kind.placeholder(),
        }
    }

    /// The flag on the command line, without dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Reads a value.
    pub fn parse(&self, text: &str) -> Result<Setting, BadParameter> {
        self.kind.parse(text).map_err(|why| BadParameter::of(self.name, why))
    }
}

/// A value as decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A whole number, or a size in bytes.
    Count(u64),
    /// A number, or a rate per second.
    Number(f64),
    /// Nanoseconds.
    Duration(u64),
    /// Yes or no.
    Switch(bool),
    /// A word or any text.
    Text(String),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Nanoseconds, several.
    Durations(Vec<u64>),
}

/// A parameter that cannot be accepted; its words name the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// Which one; none where it is not about one alone.
    pub parameter: Option<String>,
    /// What is wrong, without its name.
    pub why: String,
}

impl BadParameter {
    /// What is wrong with the parameter of this name.
    pub fn of(parameter: &str, why: impl Into<String>) -> BadParameter {
        BadParameter { parameter: Some(parameter.to_owned()), why: why.into() }
    }

    /// What is wrong with several, or with something that has no name.
    pub fn new(why: impl Into<String>) -> BadParameter {
        BadParameter { parameter: None, why: why.into() }
    }
}

impl fmt::Display for BadParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(parameter) => write!(f, "{parameter}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for BadParameter {}

impl ParameterKind {
    /// Reads a value; the error lacks the parameter's name.
    pub fn parse(self, text: &str) -> Result<Setting, String> {
        let words = |error: crate::BadUnit| error.0;
        match self {
            ParameterKind::Count { min, max } => {
                let value = parse_count(text).map_err(words)?;
                in_range(value, min, max)?;
                Ok(Setting::Count(value))
            }
            ParameterKind::Number { min, max } => {
                let value = parse_number(text).map_err(words)?;
                in_range(value, min, max)?;
                Ok(Setting::Number(value))
            }
            ParameterKind::Duration => parse_duration(text).map(Setting::Duration).map_err(words),
            ParameterKind::Rate => parse_rate(text).map(Setting::Number).map_err(words),
            ParameterKind::ArrivalRate if text.starts_with("file ") => {
                Ok(Setting::Text(text.to_owned()))
            }
            ParameterKind::ArrivalRate => {
                text.parse::<ArrivalRate>().map(|_| Setting::Text(text.to_owned())).map_err(words)
            }
            ParameterKind::Bytes => parse_bytes(text).map(Setting::Count).map_err(words),
            ParameterKind::Switch => parse_switch(text).map(Setting::Switch),
            ParameterKind::Choice(choices) if choices.contains(&text) => {
                Ok(Setting::Text(text.to_owned()))
            }
            ParameterKind::Choice(choices) => {
                let hint = did_you_mean(text, choices.iter().copied());
                Err(format!("'{text}' is not one of {}{hint}", choices.join(", ")))
            }
            ParameterKind::Counts(n) => {
                let values = list(text, n, |part| parse_count(part).map_err(words))?;
                Ok(Setting::Counts(values))
            }
            ParameterKind::Durations(n) => {
                let values = list(text, n, |part| parse_duration(part).map_err(words))?;
                Ok(Setting::Durations(values))
            }
            ParameterKind::Text | ParameterKind::Words => Ok(Setting::Text(text.to_owned())),
        }
    }

    /// What to write, as far as the kind says it.
    fn placeholder(self) -> String {
        match self {
            ParameterKind::Count { .. } => "N".to_owned(),
            ParameterKind::Number { .. } => "X".to_owned(),
            ParameterKind::Duration => "DURATION".to_owned(),
            ParameterKind::Rate | ParameterKind::ArrivalRate => "RATE".to_owned(),
            ParameterKind::Bytes => "BYTES".to_owned(),
            ParameterKind::Switch => "true|false".to_owned(),
            ParameterKind::Choice(choices) => choices.join("|"),
            ParameterKind::Counts(n) => vec!["N"; n].join("/"),
            ParameterKind::Durations(n) => vec!["DURATION"; n].join("/"),
            ParameterKind::Text | ParameterKind::Words => "TEXT".to_owned(),
        }
    }
}

/// Refuses a value that is not from `min` to `max`.
pub fn in_range<T: PartialOrd + fmt::Display>(value: T, min: T, max: T) -> Result<(), String> {
    if value < min {
        return Err(format!("{value} is too small: it must be at least {min}"));
    }
    if value > max {
        return Err(format!("{value} is too large: it must be at most {max}"));
    }
    Ok(())
}

/// Reads yes or no.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("'{text}' is neither true nor false")),
    }
}

fn list<T>(
    text: &str,
    n: usize,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let parts: Vec<&str> = text.split(['/', ',']).collect();
    if parts.len() != n {
        return Err(format!("'{text}' has {} values, expected {n} with / between", parts.len()));
    }
    parts.into_iter().map(parse).collect()
}

/// The decided values of an owner's parameters: every row of its table has one, but those
/// without a default that nobody gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, (Setting, String)>,
    given: Vec<&'static str>,
}

/// Whether other programs have a file of the client's certificate or key by this name.
fn is_of_client_certificate(name: &str) -> bool {
    let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
    let of_client = ["cert", "key", "clientcert", "clientkey", "certificate", "password"];
    let rest = plain.strip_prefix("ssl").or_else(|| plain.strip_prefix("tls"));
    rest.is_some_and(|rest| of_client.contains(&rest))
}

/// What something is called here that other programs call `name`.
fn elsewhere(name: &str) -> Option<&'static str> {
    let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
    Some(match plain.as_str() {
        "ssl" | "sslmode" | "usessl" | "requiressl" => "tls",
        "sslca" | "sslrootcert" | "cafile" => "tls_ca",
        "unixsocket" | "host" => "socket",
        "timeout" | "connectiontimeout" => "connect_timeout",
        "scale" | "scalefactor" => "warehouses",
        "threads" | "vu" => "clients",
        _ => return None,
    })
}

impl Settings {
    /// Decides `table` from what was written, as pairs of name and text.
    pub fn decide<'a>(
        owner: &str,
        table: &[Parameter],
        written: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings, BadParameter> {
        let mut settings = Settings::default();
        for row in table.iter().filter(|row| !row.default.is_empty()) {
            settings.values.insert(row.name, (row.parse(row.default)?, row.default.to_owned()));
        }
        for (name, text) in written {
            let Some(row) = table.iter().find(|row| row.name == name) else {
                let hint =
                    match elsewhere(name).filter(|ours| table.iter().any(|r| r.name == *ours)) {
                        Some(ours) => format!(" (here it is called '{ours}')"),
                        None if is_of_client_certificate(name) => {
                            ": dbdyno presents no certificate of a client".to_owned()
                        }
                        None => did_you_mean(name, table.iter().map(|row| row.name)),
                    };
                return Err(BadParameter::new(format!("{owner} has no parameter '{name}'{hint}")));
            };
            settings.values.insert(row.name, (row.parse(text)?, text.to_owned()));
            settings.given.push(row.name);
        }
        Ok(settings)
    }

    /// Whether somebody gave it, rather than its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Whether it has a value at all.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Every value as one would write it, by name.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(name, (_, text))| (*name, text.as_str()))
    }

    /// A whole number or size. Panics unless the table has such a row: our mistake, not a user's.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Setting::Count(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a count"),
        }
    }

    /// A number or rate per second. Panics as [`Settings::count`] does.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Setting::Number(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a number"),
        }
    }

    /// Nanoseconds. Panics as [`Settings::count`] does.
    pub fn duration_ns(&self, name: &str) -> u64 {
        match self.get(name) {
            Setting::Duration(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a duration"),
        }
    }

    /// Yes or no. Panics as [`Settings::count`] does.
    pub fn switch(&self, name: &str) -> bool {
        match self.get(name) {
            Setting::Switch(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a switch"),
        }
    }

    /// A word or text. Panics as [`Settings::count`] does.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Setting::Text(value) => value,
            other => panic!("parameter '{name}' is {other:?}, not text"),
        }
    }

    /// One of a closed list of words. Panics as [`Settings::count`] does, and where the
    /// parameter's table takes other words than the list has.
    pub fn chosen<C: Choice>(&self, name: &str) -> C {
        C::by_name(self.text(name)).expect("the table of parameters takes no other word")
    }

    /// A text without a default; none where nobody gave it, or gave it empty.
    pub fn text_given(&self, name: &str) -> Option<&str> {
        if !self.has(name) {
            return None;
        }
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Whole numbers. Panics as [`Settings::count`] does.
    pub fn counts(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Setting::Counts(values) => values,
            other => panic!("parameter '{name}' is {other:?}, not counts"),
        }
    }

    /// Durations in nanoseconds. Panics as [`Settings::count`] does.
    pub fn durations_ns(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Setting::Durations(values) => values,
            other => panic!("parameter '{name}' is {other:?}, not durations"),
        }
    }

    fn get(&self, name: &str) -> &Setting {
        match self.values.get(name) {
            Some((setting, _)) => setting,
            None => panic!("parameter '{name}' has no value and no default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Parameter] = &[
        Parameter {
            name: "warehouses",
            kind: ParameterKind::Count { min: 1, max: 100_000 },
            default: "1",
            help: "",
            shapes_data: true,
        },
        Parameter {
            name: "mode",
            kind: ParameterKind::Choice(&["queue", "retry"]),
            default: "queue",
            help: "",
            shapes_data: false,
        },
    ];

    #[test]
    fn what_nobody_gives_has_its_default() {
        let settings = Settings::decide("tpcc", TABLE, [("mode", "retry")]).expect("valid");
        assert_eq!(settings.count("warehouses"), 1);
        assert_eq!(settings.text("mode"), "retry");
        assert!(!settings.is_given("warehouses") && settings.is_given("mode"));
    }

    #[test]
    fn a_wrong_parameter_is_reported_with_its_remedy() {
        let check = |name: &str, value: &str, expect: &str| {
            let error = Settings::decide("tpcc", TABLE, [(name, value)]).expect_err("wrong");
            assert_eq!(error.to_string(), expect);
        };
        check("warehuoses", "4", "tpcc has no parameter 'warehuoses' (did you mean 'warehouses'?)");
        check("warehouses", "0", "warehouses: 0 is too small: it must be at least 1");
        check("mode", "queu", "mode: 'queu' is not one of queue, retry (did you mean 'queue'?)");
    }
}
