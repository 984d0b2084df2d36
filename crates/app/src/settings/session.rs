//! A session that reads and changes the settings of a server.
//!
//! Not here: the restore journal, and settings that the server reads from a file at its start.

use std::fmt;

use model::{
    ChangedSetting, Database, DbError, DbErrorKind, Host, Row, SettingsBySql, Target, Value,
    is_same_value, setting_amount,
};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::error::Error;

/// Longest time that a server may take to apply a new setting, in milliseconds; after it, the
/// change fails.
const TAKEN_UP_MS: u128 = 10_000;
/// Interval of checks whether the server has applied a setting, in milliseconds.
const LOOK_EVERY_MS: u64 = 10;

/// A server's setting as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    /// Value of the setting that new sessions get.
    pub(super) value: String,
    /// Value that an earlier SQL statement has stored so that it survives a server restart; `None`
    /// if there is none.
    pub(super) kept: Option<String>,
    /// Reason why SQL cannot change the setting; `None` if it can.
    pub(super) fixed: Option<String>,
    /// Whether the setting can be changed, but takes effect only at a server start.
    pub(super) is_for_start: bool,
}

/// How a setting can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    BySql,
    /// By the file that the server reads at its start.
    ByRestart,
}

/// A session that reads and changes the settings of a server.
pub(super) struct SettingsSession {
    session: AdminSession,
    pub(super) by: SettingsBySql,
    pub(super) target: Target,
    /// Addresses of the server; none if the driver does not tell them.
    pub(super) hosts: Vec<Host>,
}

impl SettingsSession {
    /// Connects to the server of a target. Fails if the database has no server settings.
    pub(super) fn at(database: &dyn Database, target: &Target) -> Result<SettingsSession, Error> {
        let name = database.dialect().name;
        let by = database.administration().settings;
        let by = by.ok_or_else(|| Error::Usage(format!("{name} has no settings of a server")))?;
        let hosts = database.hosts().map(|hosts| hosts.list()).unwrap_or_default();
        let session = AdminSession::at(database)?;
        Ok(SettingsSession { session, by, target: target.clone(), hosts })
    }

    /// Reads a setting. Fails if the server has no such setting; the error names another spelling
    /// that exists.
    pub(super) fn look(&mut self, name: &str) -> Result<Found, Error> {
        if let Some(found) = self.find(name)? {
            return Ok(found);
        }
        let remedy = match self.by.other_name(name) {
            Some(other) if self.find(other)?.is_some() => {
                format!(": it calls it {other}, so use server.{other}")
            }
            _ => String::new(),
        };
        Err(Error::Usage(format!(
            "server.{name}: {} has no setting of that name for all sessions{remedy}",
            self.target
        )))
    }

    /// Reads a setting; `None` if the server has no such setting.
    pub(super) fn find(&mut self, name: &str) -> Result<Option<Found>, Error> {
        let mut found = None;
        let mut tell = |row: &dyn Row| {
            let optional = |column: usize| match row.width() > column {
                true if row.value(column) != Value::Null => row.text(column).map(str::to_owned),
                _ => Ok(String::new()),
            };
            let is_there = |column: usize| row.width() > column && row.value(column) != Value::Null;
            found = Some(Found {
                name: row.text(0)?.to_owned(),
                value: optional(1)?,
                kept: is_there(2).then(|| optional(2)).transpose()?,
                fixed: is_there(3).then(|| optional(3)).transpose()?,
                is_for_start: is_there(4),
            });
            Ok(())
        };
        let asked = self.session.read(&(self.by.look)(name), &mut tell);
        asked.map_err(|db_error| self.refused(name, db_error, "be read"))?;
        Ok(found)
    }

    /// Returns how a setting can be changed, without changing it. Fails if it cannot.
    pub(super) fn way(&mut self, found: &Found) -> Result<Way, Error> {
        if found.is_for_start {
            return Ok(Way::ByRestart);
        }
        if let Some(why) = &found.fixed {
            return Err(Error::Usage(format!(
                "server.{}: {why}, so it cannot be set on {}; use a managed server (--target \
                 managed:...)",
                found.name, self.target
            )));
        }
        match (self.by.probe)(&found.name) {
            sql if sql.is_empty() => Ok(Way::BySql),
            sql => match self.session.write(&sql) {
                Ok(_) => Ok(Way::BySql),
                Err(no) if (self.by.file.is_fixed_while_running)(&no) => Ok(Way::ByRestart),
                Err(no) => Err(self.refused(&found.name, no, "be set by SQL")),
            },
        }
    }

    /// Checks that a setting can be changed by SQL, without changing it. Fails if it cannot.
    pub(super) fn probe(&mut self, found: &Found) -> Result<(), Error> {
        match self.way(found)? {
            Way::BySql => Ok(()),
            Way::ByRestart => Err(self.needs_restart(&found.name)),
        }
    }

    /// Returns the error that a setting needs a restart of the server.
    pub(super) fn needs_restart(&self, name: &str) -> Error {
        Error::Usage(format!(
            "server.{name} takes effect only at a start of the server: give --restart-command (and \
             --settings-file, if the server has no file of its own for it), --control-agent, or a \
             managed server (--target managed:...)"
        ))
    }

    /// Returns the time since the server's start, in seconds.
    pub(super) fn uptime_s(&mut self) -> Result<f64, Error> {
        let word = self.word(self.by.file.uptime)?;
        word.parse().map_err(|_| Error::Failed(format!("'{word}' is no time since a start")))
    }

    /// Fails if the value of a numeric setting is outside of what the server takes.
    pub(super) fn check_range(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let Some(range) = self.range(name)? else { return Ok(()) };
        let Some(amount) = setting_amount(value) else { return Ok(()) };
        let has_unit = value.trim().ends_with(|c: char| c.is_ascii_alphabetic());
        let factor = if has_unit { range.factor } else { 1.0 };
        match amount < range.least * factor || amount > range.most * factor {
            true => Err(Error::Usage(format!(
                "server.{name}: {value} is outside of what {} takes: {range}",
                self.target
            ))),
            false => Ok(()),
        }
    }

    /// Returns the values that a numeric setting may have; `None` if the server does not tell them.
    fn range(&mut self, name: &str) -> Result<Option<Range>, Error> {
        for sql in (self.by.file.ranges)(name) {
            let mut range = None;
            let asked = self.session.read(&sql, &mut |row: &dyn Row| {
                if (0..row.width()).all(|column| row.value(column) != Value::Null) {
                    let text = |column: usize| row.text(column).map(str::to_owned);
                    range = Range::parse(text(0)?, text(1)?, &text(2)?);
                }
                Ok(())
            });
            match asked {
                Ok(_) => return Ok(range),
                Err(no) if no.kind.breaks_session() => return Err(no.into()),
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Sets a setting for new sessions, waits until the server has applied it, and returns what the
    /// server reports then.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Found, Error> {
        let mut first = None;
        for sql in (self.by.set)(name, value) {
            match self.session.write(&sql) {
                Ok(_) => {
                    self.take_up(name)?;
                    return self.look(name);
                }
                Err(db_error) if db_error.kind.breaks_session() => return Err(db_error.into()),
                // Report the error of the first spelling, which is the most likely one.
                Err(db_error) => first = first.or(Some(db_error)),
            }
        }
        let db_error = first.unwrap_or_else(|| DbError::new(DbErrorKind::Other, "nothing to say"));
        Err(self.refused(name, db_error, &format!("be set to '{value}'")))
    }

    pub(super) fn put_back(&mut self, setting: &ChangedSetting) -> Result<(), Error> {
        let name = &setting.name;
        let unset = (self.by.unset)(name);
        match &setting.kept_before {
            Some(kept) => self.set(name, kept).map(drop)?,
            None if unset.is_empty() => self.set(name, &setting.before).map(drop)?,
            None => {
                let said = self.session.write(&unset).map(drop);
                said.map_err(|db_error| self.refused(name, db_error, "be restored"))?;
                self.take_up(name)?;
            }
        }
        let found = self.look(name)?;
        match is_back(setting, &found) {
            true => Ok(()),
            false => Err(Error::Failed(format!(
                "{setting} is {} after it was restored to {}",
                found.value, setting.before
            ))),
        }
    }

    /// Makes the server reload its configuration if that is needed for changed settings, and waits
    /// until it has.
    fn take_up(&mut self, name: &str) -> Result<(), Error> {
        if self.by.take_up.is_empty() {
            return Ok(());
        }
        let before = self.word(self.by.taken_up)?;
        let asked = self.session.read(self.by.take_up, &mut |_| Ok(()));
        asked.map_err(|db_error| self.refused(name, db_error, "be taken up"))?;
        let began = wall_clock::now();
        while self.word(self.by.taken_up)? == before {
            if began.elapsed().as_millis() > TAKEN_UP_MS {
                return Err(Error::Failed(format!(
                    "{} does not reload its configuration: see its log",
                    self.target
                )));
            }
            wall_clock::rest_ms(LOOK_EVERY_MS);
        }
        Ok(())
    }

    pub(super) fn word(&mut self, sql: &str) -> Result<String, Error> {
        let mut word = String::new();
        self.session.read(sql, &mut |row: &dyn Row| {
            word = row.text(row.width() - 1)?.to_owned();
            Ok(())
        })?;
        Ok(word)
    }

    fn refused(&self, name: &str, db_error: DbError, what: &str) -> Error {
        if db_error.kind.breaks_session() {
            return db_error.into();
        }
        let target = &self.target;
        let mend = match db_error.kind {
            DbErrorKind::Denied => format!("; {}", with_user(&(self.by.if_denied)(name), target)),
            _ => String::new(),
        };
        Error::Usage(format!("server.{name} of {target} cannot {what}: {db_error}{mend}"))
    }
}

/// Values that a numeric setting may have.
struct Range {
    least: f64,
    most: f64,
    /// Factor between values without a unit and bytes or milliseconds.
    factor: f64,
    /// Both ends as the server has them.
    shown: (String, String),
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = &self.shown;
        match self.factor {
            1.0 => write!(f, "{least} to {most}"),
            pages if pages % 1024.0 == 0.0 => {
                write!(f, "{} to {} KiB", self.least * pages / 1024.0, self.most * pages / 1024.0)
            }
            ms => write!(f, "{} to {} ms", self.least * ms, self.most * ms),
        }
    }
}

impl Range {
    fn parse(least: String, most: String, factor: &str) -> Option<Range> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        Some(Range {
            least: number(&least)?,
            most: number(&most)?,
            factor: number(factor)?,
            shown: (least, most),
        })
    }
}

/// Replaces `{user}` in SQL by the user name of a target.
pub(crate) fn with_user(sql: &str, target: &Target) -> String {
    sql.replace("{user}", target.user.as_deref().unwrap_or("USER"))
}

/// Returns true if a setting has the value again that it had before dbdyno changed it.
pub(super) fn is_back(setting: &ChangedSetting, found: &Found) -> bool {
    found.value == setting.before && found.kept == setting.kept_before
}

/// Returns true if a setting has the value that dbdyno has set or was about to set, so that nobody
/// else has changed it since.
pub(super) fn is_ours(setting: &ChangedSetting, found: &Found) -> bool {
    let asked = &setting.asked;
    setting.now.as_ref() == Some(&found.value)
        || found.kept.as_ref() == Some(asked)
        || is_same_value(asked, &found.value)
}
