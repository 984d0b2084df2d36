//! Parameters of plans, workloads and drivers, as rows of tables from which flags, TOML keys, help,
//! web forms and docs are derived.

use std::collections::BTreeMap;
use std::fmt;

use crate::{
    ArrivalRate, Choice, did_you_mean, parse_bytes, parse_count, parse_duration, parse_number,
    parse_rate,
};

/// Type and range of the values that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A whole number from `min` to `max`, both included.
    Count {
        /// Smallest whole number that the parameter accepts.
        min: u64,
        /// Largest whole number that the parameter accepts.
        max: u64,
    },
    /// A number from `min` to `max`, both included.
    Number {
        /// Smallest number that the parameter accepts.
        min: f64,
        /// Largest number that the parameter accepts.
        max: f64,
    },
    /// A duration with a unit, such as `30s` or `1h30m`.
    Duration,
    /// A rate above zero, such as `500` or `500/min`.
    Rate,
    /// A rate of arrivals that may change over time (see [`ArrivalRate`](crate::ArrivalRate)), or
    /// `file PATH` for a file with one.
    ArrivalRate,
    /// A size in bytes, such as `64MiB`.
    Bytes,
    /// A truth value: `true`, `yes`, `on`, `1`, or `false`, `no`, `off`, `0`.
    Switch,
    /// One of the given words and no other.
    Choice(&'static [&'static str]),
    /// The given number of whole numbers, separated by `/` or `,`.
    Counts(usize),
    /// The given number of durations, separated by `/` or `,`.
    Durations(usize),
    /// Any number of words, separated by `,`; the flag may also be given several times.
    Words,
    /// Any text, which is not checked.
    Text,
}

/// Declaration of a parameter that a plan, workload or driver accepts: name, type, default and
/// help.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name of the parameter: the TOML key, and the flag with `-` instead of `_`.
    pub name: &'static str,
    /// Type and range of the values that the parameter accepts.
    pub kind: ParameterKind,
    /// Default value, as a user would write it; empty if there is none.
    pub default: &'static str,
    /// Help text for the parameter in one line, without a full stop.
    pub help: &'static str,
    /// Whether the parameter determines the rows of the data, so that another value needs another
    /// build of the data.
    pub shapes_data: bool,
}

/// Placeholders that help shows for the values of text parameters, as pairs of the parameter's name
/// and the placeholder, such as `tls_ca` and `FILE`.
const TEXTS: [(&str, &str); 19] = [
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
    ("tls_cert", "FILE"),
    ("tls_key", "FILE"),
    ("transactions", "N"),
    ("wait_until", "SQL"),
];

impl Parameter {
    /// Declares a parameter that does not change the rows of the data, such as an option of a
    /// target's URL.
    pub const fn option(
        name: &'static str,
        kind: ParameterKind,
        default: &'static str,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, kind, default, help, shapes_data: false }
    }

    /// Returns the placeholder for the value in help and forms: `N`, `DURATION`, `a|b`, or one such
    /// as `FILE` for a text.
    pub fn placeholder(&self) -> String {
        let texts = || TEXTS.iter().find(|(name, _)| *name == self.name).map(|(_, what)| *what);
        match self.kind {
            ParameterKind::Text => texts().unwrap_or("TEXT").to_owned(),
            ParameterKind::Words => texts().unwrap_or("TEXT").to_owned() + ",...",
            kind => kind.placeholder(),
        }
    }

    /// Returns the name of the parameter's command line flag, without dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Parses a text that a user wrote as a value of this parameter. Fails with the parameter's
    /// name and the reason.
    pub fn parse(&self, text: &str) -> Result<Setting, BadParameter> {
        self.kind.parse(text).map_err(|why| BadParameter::named(self.name, why))
    }
}

/// Parsed value of a parameter, with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// Value of a parameter that is a whole number, or a size in bytes.
    Count(u64),
    /// Value of a parameter that is a number, or a rate per second.
    Number(f64),
    /// Value of a parameter that is a duration, in nanoseconds.
    Duration(u64),
    /// Value of a parameter that is switched on (`true`) or off.
    Switch(bool),
    /// Value of a parameter that is a word of a list, an arrival rate as text, or any other text.
    Text(String),
    /// Values of a parameter that takes several whole numbers, in order.
    Counts(Vec<u64>),
    /// Values of a parameter that takes several durations, in nanoseconds and in order.
    Durations(Vec<u64>),
}

/// Error for a parameter that is unknown or has an invalid value; the message says what to write
/// instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// Name of the parameter; `None` if the error concerns several parameters or something without
    /// a name.
    pub parameter: Option<String>,
    /// Reason why the parameter is not accepted, without its name.
    pub why: String,
}

impl BadParameter {
    /// Creates an error that concerns the parameter with this name.
    pub fn named(parameter: &str, why: impl Into<String>) -> BadParameter {
        BadParameter { parameter: Some(parameter.to_owned()), why: why.into() }
    }

    /// Creates an error that concerns several parameters, or something without a name.
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
    /// Parses a text that a user wrote as a value of this type. Fails with the reason, without the
    /// parameter's name.
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

    /// Returns the placeholder for values of this kind in help.
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

/// Checks that a value is not below `min` and not above `max`; fails with a message for the user.
pub fn in_range<T: PartialOrd + fmt::Display>(value: T, min: T, max: T) -> Result<(), String> {
    if value < min {
        return Err(format!("{value} is too small: it must be at least {min}"));
    }
    if value > max {
        return Err(format!("{value} is too large: it must be at most {max}"));
    }
    Ok(())
}

/// Parses a truth value: `true`, `yes`, `on`, `1`, or `false`, `no`, `off`, `0`. Fails for anything
/// else.
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

/// Values for the parameters of a workload, driver or target: those that the user gave, and the
/// defaults of the others. A parameter that has neither has no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, (Setting, String)>,
    given: Vec<&'static str>,
}

/// Returns dbdyno's name for a parameter that other programs call `name`, for an error message;
/// `None` if no such name is known.
fn elsewhere(name: &str) -> Option<&'static str> {
    let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
    Some(match plain.as_str() {
        "ssl" | "sslmode" | "usessl" | "requiressl" => "tls",
        "sslca" | "sslrootcert" | "cafile" => "tls_ca",
        "sslcert" | "clientcert" | "tlsclientcert" => "tls_cert",
        "sslkey" | "clientkey" | "tlsclientkey" => "tls_key",
        "unixsocket" | "host" => "socket",
        "timeout" | "connectiontimeout" => "connect_timeout",
        "scale" | "scalefactor" => "warehouses",
        "threads" | "vu" => "clients",
        _ => return None,
    })
}

impl Settings {
    /// Decides the values of all parameters in `table`: those in `written`, pairs of name and text,
    /// and defaults for the others. `owner` names the table in error messages. Fails if a name is
    /// unknown or a value is invalid.
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
                        None => did_you_mean(name, table.iter().map(|row| row.name)),
                    };
                return Err(BadParameter::new(format!("{owner} has no parameter '{name}'{hint}")));
            };
            settings.values.insert(row.name, (row.parse(text)?, text.to_owned()));
            settings.given.push(row.name);
        }
        Ok(settings)
    }

    /// Whether the user gave a value for this parameter; false if it has its default or no value.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Whether the parameter has a value, given by the user or by default.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns name and text of all parameters that have a value, as a user would write them.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(name, (_, text))| (*name, text.as_str()))
    }

    /// Returns the value of a parameter that is a whole number or size. Panics if it has another
    /// type or no value, because that is a bug and not a mistake of the user.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Setting::Count(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a count"),
        }
    }

    /// Returns the value of a parameter that is a number or a rate per second. Panics as
    /// [`Settings::count`] does.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Setting::Number(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a number"),
        }
    }

    /// Returns the value of a parameter that is a duration, in nanoseconds. Panics as
    /// [`Settings::count`] does.
    pub fn duration_ns(&self, name: &str) -> u64 {
        match self.get(name) {
            Setting::Duration(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a duration"),
        }
    }

    /// Returns the value of a parameter that is a switch. Panics as [`Settings::count`] does.
    pub fn switch(&self, name: &str) -> bool {
        match self.get(name) {
            Setting::Switch(value) => *value,
            other => panic!("parameter '{name}' is {other:?}, not a switch"),
        }
    }

    /// Returns the value of a parameter that is a word or text. Panics as [`Settings::count`] does.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Setting::Text(value) => value,
            other => panic!("parameter '{name}' is {other:?}, not text"),
        }
    }

    /// Returns the value of a parameter whose values are those of the enum `C`. Panics as
    /// [`Settings::count`] does, and if the parameter allows a word that `C` does not have.
    pub fn chosen<C: Choice>(&self, name: &str) -> C {
        C::by_name(self.text(name)).expect("the table of parameters takes no other word")
    }

    /// Returns the value of a text parameter without a default; `None` if it was not given or is
    /// empty.
    pub fn text_given(&self, name: &str) -> Option<&str> {
        if !self.has(name) {
            return None;
        }
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns the value of a parameter that is several whole numbers. Panics as
    /// [`Settings::count`] does.
    pub fn counts(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Setting::Counts(values) => values,
            other => panic!("parameter '{name}' is {other:?}, not counts"),
        }
    }

    /// Returns the value of a parameter that is several durations, in nanoseconds. Panics as
    /// [`Settings::count`] does.
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
        check("threads", "4", "tpcc has no parameter 'threads'");
    }

    #[test]
    fn names_of_other_programs_lead_to_those_of_dbdyno() {
        let named = |name| Parameter { name, kind: ParameterKind::Text, ..TABLE[0] };
        let table = ["tls_ca", "tls_cert", "tls_key", "socket"].map(named);
        let check = |name: &str, hint: &str| {
            let error = Settings::decide("mysql", &table, [(name, "x")]).expect_err("wrong");
            assert_eq!(error.to_string(), format!("mysql has no parameter '{name}' ({hint})"));
        };
        check("sslrootcert", "here it is called 'tls_ca'");
        for name in ["sslcert", "ssl-cert", "ssl_cert"] {
            check(name, "here it is called 'tls_cert'");
        }
        for name in ["sslkey", "ssl-key"] {
            check(name, "here it is called 'tls_key'");
        }
        check("sokcet", "did you mean 'socket'?");
    }
}
