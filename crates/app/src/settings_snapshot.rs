//! Reads all settings that new sessions of a server get, before and after the load, and compares
//! them.
//!
//! Not here: settings that a plan changes (settings), and judging the changes (analysis).

use std::path::Path;
use std::sync::Arc;

use analysis::Tally;
use engine::Stop;
use model::{Database, Event, Fact, Row, Target, Value, is_taken_otherwise};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::managed::Managed;
use crate::open::OpenTarget;
use crate::settings::{adjusted_note, taken_otherwise};

/// Words whose occurrence in the name of a setting means that its value may be a secret. Other
/// names are recognised by their ends and beginnings, such as `_command`, since commands may
/// contain secrets.
const SECRET: [&str; 7] =
    ["password", "passwd", "passphrase", "secret", "token", "credential", "conninfo"];
const SECRET_ENDS: [&str; 4] = ["_key", "_auth", "_command", "_provider_options"];
const SECRET_BEGINS: [&str; 1] = ["init_"];

/// Text that is stored instead of a secret value.
const MASKED: &str = "(not kept)";

/// Text that is stored instead of a managed server's folder, which has another name in each run.
const HOME: &str = "<home>";

/// Largest number of characters that are stored of a value; the rest is cut off. Lists of optimizer
/// switches have about 600.
const CHARACTERS_MAX: usize = 1_000;

/// Reads all settings of the server before the load. Returns them (`None` if there are none or they
/// cannot be read), and events for the run: the list of settings, or a fact with the error.
pub(crate) fn before(
    open_target: &OpenTarget,
    stop: &Stop,
) -> (Option<SettingsSnapshot>, Vec<Event>) {
    let database = Arc::clone(&open_target.database);
    let interrupted = "interrupted while settings were read";
    match run_interruptible(stop, interrupted, move || SettingsSnapshot::read(database.as_ref())) {
        Ok(Some(in_force)) => {
            let server = open_target.server.as_ref();
            let settings = in_force.to_pairs(server.map(Managed::folder));
            let mut printed = vec![Event::Settings { settings }];
            let by = open_target.database.administration().settings;
            let units = by.map_or(&[][..], |by| by.base_units);
            let unlike = |server: &Managed| in_force.unlike(server.asked(), &server.target, units);
            let notes = server.map(unlike);
            printed.extend(taken_otherwise(&notes.unwrap_or_default()));
            (Some(in_force), printed)
        }
        Ok(None) => (None, Vec::new()),
        Err(why) => {
            let fact = Fact::new("monitor", "settings", format!("not read: {why}"));
            (None, vec![Event::Fact(fact)])
        }
    }
}

/// Returns a fact for each mode or setting of the database that differs from before the load. Its
/// size is ignored, since it may change. Empty if the settings cannot be read.
pub(crate) fn changed(
    database: Option<&Arc<dyn Database>>,
    before: Option<&SettingsSnapshot>,
    stop: &Stop,
    tally: &Tally,
) -> Vec<Fact> {
    let Some(database) = database.map(Arc::clone) else { return Vec::new() };
    let interrupted = "interrupted while settings were read";
    let all = run_interruptible(stop, interrupted, move || {
        Ok((database.facts()?, SettingsSnapshot::read(database.as_ref())?))
    });
    // A database that does not answer has its own finding.
    let Ok((now, after)) = all else { return Vec::new() };
    let settings = now.into_iter().filter(|fact| {
        matches!(fact.about.as_str(), "mode" | "database") && fact.name != "size_bytes"
    });
    let changed = settings.filter_map(|fact| {
        let was = tally.fact(&fact.about, &fact.name)?;
        let printed = || Fact::new("changed", &fact.name, format!("from {was} to {}", fact.value));
        (*was != fact.value).then(printed)
    });
    let mut changed: Vec<Fact> = changed.collect();
    if let (Some(before), Some(after)) = (before, after) {
        let is_new = |fact: &Fact| changed.iter().all(|known| known.name != fact.name);
        let others: Vec<Fact> = before.changes_to(&after).into_iter().filter(is_new).collect();
        changed.extend(others);
    }
    changed
}

/// Settings that new sessions of a server get. Values may be secrets: show them only through
/// [`SettingsSnapshot::to_pairs`].
#[derive(Clone, Default)]
pub(crate) struct SettingsSnapshot {
    /// Names and values of the settings, sorted by name.
    settings: Vec<(String, String)>,
}

impl SettingsSnapshot {
    /// Reads all settings of the server; `None` if the database has no query for them.
    pub(crate) fn read(database: &dyn Database) -> Result<Option<SettingsSnapshot>, Error> {
        let Some(by) = database.administration().settings else { return Ok(None) };
        let mut session = AdminSession::at(database)?;
        let mut settings = Vec::new();
        let mut tell = |row: &dyn Row| {
            let name = row.text(0)?;
            if !by.is_of_place(name) {
                let value = match row.value(1) {
                    Value::Null => String::new(),
                    _ => row.text(1)?.to_owned(),
                };
                settings.push((name.to_owned(), value));
            }
            Ok(())
        };
        session.read(by.all, &mut tell)?;
        Ok(Some(SettingsSnapshot::from_settings(settings)))
    }

    fn from_settings(mut settings: Vec<(String, String)>) -> SettingsSnapshot {
        settings.sort();
        SettingsSnapshot { settings }
    }

    /// Returns names and values for storage and display. Secrets are masked, long values cut off,
    /// and the folder `home` of a managed server is replaced by `<home>`.
    pub(crate) fn to_pairs(&self, home: Option<&Path>) -> Vec<(String, String)> {
        let home = home.and_then(Path::to_str).filter(|home| home.len() > 1);
        let printed = |(name, value): &(String, String)| {
            let value = match (is_secret(name), home) {
                (true, _) if !value.is_empty() => MASKED.to_owned(),
                (_, Some(home)) => value.replace(home, HOME),
                _ => value.clone(),
            };
            (name.clone(), value.chars().take(CHARACTERS_MAX).collect())
        };
        self.settings.iter().map(printed).collect()
    }

    /// Returns notes on settings whose value is another number than the one that was requested at
    /// the start of the server. A number without a unit may be in any of `base_units`.
    fn unlike(
        &self,
        asked: &[(String, String)],
        target: &Target,
        base_units: &[f64],
    ) -> Vec<String> {
        let unlike = |(name, value): &(String, String)| {
            let is_it = |known: &str| known.eq_ignore_ascii_case(&name.replace('-', "_"));
            let (_, printed) = self.settings.iter().find(|(known, _)| is_it(known))?;
            let other = is_taken_otherwise(value, printed, base_units) && !is_secret(name);
            other.then(|| adjusted_note(name, value, target, printed))
        };
        asked.iter().filter_map(unlike).collect()
    }

    /// Returns a fact for each setting whose value in `after` differs from the one in this
    /// snapshot.
    pub(crate) fn changes_to(&self, after: &SettingsSnapshot) -> Vec<Fact> {
        let changed = |(name, was): &(String, String)| {
            let place = after.settings.binary_search_by(|(known, _)| known.cmp(name)).ok()?;
            let (_, is) = &after.settings[place];
            let text = match is_secret(name) {
                true => "to another value, which is not stored".to_owned(),
                false => format!("from {} to {}", shown(was), shown(is)),
            };
            (is != was).then(|| Fact::new("changed", name, text))
        };
        self.settings.iter().filter_map(changed).collect()
    }
}

/// Returns true if the value of a setting may be secret, judged by the setting's name.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|word| name.contains(word))
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || SECRET_BEGINS.iter().any(|begin| name.starts_with(begin))
}

/// Shortens a long value for display, and calls an empty one `nothing`.
fn shown(value: &str) -> String {
    const SHOWN_MAX: usize = 60;
    match value {
        "" => "nothing".to_owned(),
        value if value.chars().count() > SHOWN_MAX => {
            format!("{}…", value.chars().take(SHOWN_MAX).collect::<String>())
        }
        value => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_force(settings: &[(&str, &str)]) -> SettingsSnapshot {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        SettingsSnapshot::from_settings(settings.iter().map(owned).collect())
    }

    #[test]
    fn secrets_are_never_reported() {
        let all = in_force(&[
            ("primary_conninfo", "host=h password=x"),
            ("wsrep_sst_auth", "root:x"),
            ("ssl_key", "/etc/x"),
            ("master_password", "x"),
            ("archive_command", "curl -u me:x"),
            ("init_connect", "SET @p = 'x'"),
            ("report_password", ""),
            ("key_buffer_size", "8"),
            ("datadir", "/tmp/dbdyno-1/data"),
        ]);
        let printed = all.to_pairs(Some(Path::new("/tmp/dbdyno-1")));
        let open: Vec<(&str, &str)> = printed
            .iter()
            .filter(|(_, value)| value != MASKED)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let expect =
            [("datadir", "<home>/data"), ("key_buffer_size", "8"), ("report_password", "")];
        assert_eq!(open, expect);
    }

    #[test]
    fn a_setting_that_the_server_took_otherwise_is_reported() {
        let all = in_force(&[("innodb_log_buffer_size", "2097152"), ("max_connections", "10")]);
        let asked =
            [("innodb-log-buffer-size", "1234567"), ("max_connections", "10"), ("bin", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let target = Target::parse("mariadb://h").expect("valid");
        let printed = all.unlike(&asked, &target, &[]);
        let expect = "innodb-log-buffer-size was set to 1234567, but mariadb://h/ reports 2097152";
        assert_eq!(printed, [expect]);
    }

    #[test]
    fn what_changed_is_reported_with_both_values_and_a_secret_without() {
        let before = in_force(&[("a", "1"), ("b", ""), ("gone", "1"), ("x_password", "p")]);
        let after = in_force(&[("a", "1"), ("b", "on"), ("new", "1"), ("x_password", "q")]);
        let facts = before.changes_to(&after);
        let printed: Vec<(&str, Option<&str>)> =
            facts.iter().map(|fact| (fact.name.as_str(), fact.value.text())).collect();
        let expect = [
            ("b", Some("from nothing to on")),
            ("x_password", Some("to another value, which is not stored")),
        ];
        assert_eq!(printed, expect);
        assert!(before.changes_to(&before).is_empty());
    }
}
