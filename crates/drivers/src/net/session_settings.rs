//! Options of targets for what each session sets when it begins: isolation level and settings.
//!
//! Not here: how a product sets them (its sign-in).

use model::{BadParameter, Parameter, ParameterKind, Settings};

/// Value of the option `isolation` that leaves the server's isolation level.
const OF_SERVER: &str = "server";

pub(crate) const ISOLATION: Parameter = Parameter::option(
    "isolation",
    ParameterKind::Choice(&[
        OF_SERVER,
        "read-uncommitted",
        "read-committed",
        "repeatable-read",
        "serializable",
    ]),
    OF_SERVER,
    "Isolation level of all transactions; server: what the server gives to new sessions",
);

pub(crate) const SESSION: Parameter = Parameter::option(
    "session",
    ParameterKind::Text,
    "",
    "Settings of each session, as NAME=VALUE separated by semicolons, such as \
     search_path=app;work_mem=64MB",
);

/// Settings on which dbdyno's own statements and values depend, so that no target may change them.
const OURS: [&str; 9] = [
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "client_encoding",
    "completion_type",
    "datestyle",
    "standard_conforming_strings",
    "time_zone",
];

/// What each session sets when it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionSettings {
    /// Isolation level as SQL writes it, such as `REPEATABLE READ`; `None` for the server's.
    pub(crate) isolation: Option<String>,
    /// Settings in the order of the target, as pairs of name and value.
    pub(crate) settings: Vec<(String, String)>,
}

impl SessionSettings {
    /// Reads the options of a target. Fails if one is no pair of name and value.
    pub(crate) fn read(settings: &Settings) -> Result<SessionSettings, BadParameter> {
        let isolation = match settings.text(ISOLATION.name) {
            OF_SERVER => None,
            level => Some(level.replace('-', " ").to_uppercase()),
        };
        let mut pairs = Vec::new();
        let written = settings.text_given(SESSION.name).unwrap_or_default();
        for text in written.split(';').map(str::trim).filter(|text| !text.is_empty()) {
            let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
            let is_name = |name: &str| {
                let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
                !name.is_empty() && name.chars().all(letter)
            };
            match pair {
                Some((name, _)) if OURS.contains(&name.to_ascii_lowercase().as_str()) => {
                    let why = format!("dbdyno's own statements need its own {name}: leave it out");
                    return Err(BadParameter::named(SESSION.name, why));
                }
                Some((name, value)) if is_name(name) => {
                    pairs.push((name.to_owned(), value.to_owned()));
                }
                _ => {
                    let why = format!("'{text}' is not NAME=VALUE, such as work_mem=64MB");
                    return Err(BadParameter::named(SESSION.name, why));
                }
            }
        }
        Ok(SessionSettings { isolation, settings: pairs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[(&str, &str)]) -> Result<SessionSettings, String> {
        let table = [ISOLATION, SESSION];
        let settings = Settings::decide("test", table.to_vec().leak(), options.iter().copied());
        SessionSettings::read(&settings.expect("declared")).map_err(|bad| bad.to_string())
    }

    #[test]
    fn levels_and_settings_are_read_as_the_target_has_them() {
        assert_eq!(read(&[]), Ok(SessionSettings::default()));
        let both = read(&[
            ("isolation", "repeatable-read"),
            ("session", "search_path=a,b; work_mem = 64MB;"),
        ]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expect = SessionSettings {
            isolation: Some("REPEATABLE READ".to_owned()),
            settings: vec![pair("search_path", "a,b"), pair("work_mem", "64MB")],
        };
        assert_eq!(both, Ok(expect));
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for text in ["work_mem", "=1", "a b=1", "x'=1"] {
            let why = read(&[("session", text)]).expect_err(text);
            assert!(why.contains("is not NAME=VALUE"), "{why}");
        }
        let why = read(&[("session", "DateStyle=German")]).expect_err("ours");
        assert!(why.contains("leave it out"), "{why}");
    }
}
