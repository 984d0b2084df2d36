//! What `dbdyno_meta` says of the tables that a script has built: whether the build is complete,
//! and with which parameters.
//!
//! Not here: running the build (script_commands).

use std::sync::Arc;

use model::{Database, Identity, Settings, Target, Workload};
use render::for_shell;
use workloads::Entry;

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::meta::{self, Found};

/// Name of the command of a script that creates and fills tables.
pub const PREPARE: &str = "prepare";

/// Beginning of the names under which `dbdyno_meta` has the tables of scripts.
const KEY: &str = "script ";
/// Longest part of a file name that `dbdyno_meta` has.
const NAME_MOST: usize = 40;
/// Longest name and value of a parameter that `dbdyno_meta` takes beside the name of the script.
const PARAMETER_MOST: (usize, usize) = (40, 1000);

/// Tables of a script, as `dbdyno_meta` describes them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScriptData {
    /// Script as the user names it, such as `sql/bank.sql`.
    pub(crate) name: &'static str,
    /// Commands that build and drop the tables, with their options.
    target: Target,
    pub(crate) found: Found,
    /// Parameters with which the tables were built and which the user gave otherwise, in words.
    pub(crate) differs: Option<String>,
}

/// Whether data in `dbdyno_meta` are those of a script.
pub(crate) fn is_key(workload: &str) -> bool {
    workload.starts_with(KEY)
}

impl ScriptData {
    /// Returns the name under which `dbdyno_meta` has the tables.
    pub(crate) fn key(&self) -> String {
        let file = self.name.rsplit('/').next().unwrap_or(self.name);
        let short: String = file.chars().filter(|letter| *letter != '\'').take(NAME_MOST).collect();
        format!("{KEY}{short}")
    }

    /// Returns the identity of tables that were built with these settings.
    pub(crate) fn identity(&self, workload: &dyn Workload, settings: &Settings) -> Identity {
        let shaping = workload.script().map_or_else(Vec::new, |script| script.shaping_parameters());
        let (name_most, value_most) = PARAMETER_MOST;
        let fits = |(name, value): &(&str, &str)| {
            shaping.iter().any(|one| one == name)
                && name.len() <= name_most
                && value.len() <= value_most
        };
        let scale = settings.written().filter(fits);
        Identity {
            workload: self.key(),
            version: 1,
            scale: scale.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            ..Identity::default()
        }
    }

    /// Returns the command line of dbdyno with this command for the script.
    pub(crate) fn command(&self, command: &str) -> String {
        let (name, target) = (for_shell(self.name), for_shell(&self.target.to_string()));
        format!("dbdyno {command} {name} --target {target}")
    }

    /// Returns what to do about tables that were built in part, since no script goes on where it
    /// has stopped.
    pub(crate) fn again(&self) -> String {
        let (drop, build) = (self.command("drop"), self.command("build"));
        format!("a script's build is not resumed: {drop}, then {build}")
    }

    /// Fails if the tables were built in part, or if none of the tables that the script creates is
    /// there.
    pub(crate) fn is_ready(
        &self,
        database: &dyn Database,
        workload: &dyn Workload,
    ) -> Result<(), Error> {
        let (name, target) = (self.name, &self.target);
        if let Found::Unfinished(_) = self.found {
            let again = self.again();
            return Err(Error::Failed(format!(
                "{target} has no complete data of {name}: its build did not end; {again}"
            )));
        }
        let created = workload.script().map_or_else(Vec::new, |script| script.created_tables());
        if created.is_empty() {
            return Ok(());
        }
        let mut session = AdminSession::at(database)?;
        for table in &created {
            if session.has_table(table)? {
                return Ok(());
            }
        }
        Err(Error::Failed(format!(
            "{target} has no table {} of {name}: build first: {}",
            created[0],
            self.command("build")
        )))
    }
}

/// A script, with the parameters with which its tables were built where the user gave none.
pub(crate) struct Resolved {
    pub(crate) data: ScriptData,
    pub(crate) workload: Arc<dyn Workload>,
    pub(crate) settings: Settings,
}

/// Reads what is known of the tables of a script, which was created with `settings`; `None` if the
/// script builds none. Fails if the user gave a parameter another value than the tables have.
pub(crate) fn resolve(
    database: &dyn Database,
    target: &Target,
    entry: &'static Entry,
    fresh: &Arc<dyn Workload>,
    settings: &Settings,
    seed: u64,
) -> Result<Option<Resolved>, Error> {
    let commands = fresh.script().map(|script| script.commands()).transpose()?;
    if !commands.is_some_and(|all| all.iter().any(|command| command.name == PREPARE)) {
        return Ok(None);
    }
    let mut data = ScriptData {
        name: entry.name,
        target: target.clone(),
        found: Found::Nothing,
        differs: None,
    };
    data.found = meta::read(&mut AdminSession::at(database)?, &data.key())?;
    let as_given =
        |data| Resolved { data, workload: Arc::clone(fresh), settings: settings.clone() };
    let Found::Complete(held) = data.found.clone() else { return Ok(Some(as_given(data))) };
    let mut written: Vec<(&str, &str)> =
        settings.written().filter(|(name, _)| settings.is_given(name)).collect();
    let n_given = written.len();
    for (name, has) in &held.scale {
        let Some(row) = entry.parameters.iter().find(|row| row.name == name) else { continue };
        let text = settings.written().find(|(other, _)| other == name).map(|(_, text)| text);
        match text.filter(|text| *text != has) {
            Some(text) if settings.is_given(name) => {
                let why = format!("built with {name} {has}, not {text}");
                if row.shapes_data {
                    let drop = data.command("drop");
                    return Err(Error::Usage(format!(
                        "the tables of {} in {target} were {why}: leave {name} out to use them, \
                         or drop them: {drop}",
                        entry.name
                    )));
                }
                data.differs.get_or_insert(format!("the tables of {} were {why}", entry.name));
            }
            _ if !settings.is_given(name) && text != Some(has) => written.push((name, has)),
            _ => {}
        }
    }
    if written.len() == n_given {
        return Ok(Some(as_given(data)));
    }
    let settings = Settings::decide(entry.name, entry.parameters, written)?;
    let workload = entry.made(&settings, seed, None)?;
    Ok(Some(Resolved { data, workload, settings }))
}
