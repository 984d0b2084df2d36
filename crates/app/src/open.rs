//! Opens a target, and creates a workload whose parameters fit the data in it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::Opening;
use engine::Stop;
use model::{
    BadParameter, Database, Dialect, Group, Identity, Plan, Row, ScaleInData, ScaleOf, Settings,
    Target, Workload, format_count,
};
use plan::{managed, workload_of};
use store::{holds_runs, is_of_store};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::managed::Managed;
use crate::meta::{self, Found};
use crate::scale_in_data::{has_no_gap, last_numbers, numbered, scale_found};
use crate::script_data::{self, ScriptData};
use crate::table_list::TableList;

/// State of a workload's data (its tables) in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// The workload needs no data, so that none can be missing.
    None,
    /// No table of the workload exists.
    Absent,
    /// Tables of the workload exist, but dbdyno did not build them: `dbdyno_meta` has no entry
    /// about them.
    Unmarked,
    /// A build of the data was begun, and is not complete.
    Unfinished,
    /// The data are complete and were built by dbdyno.
    Built,
}

/// An open target. Drop ends the managed server that was started for it, if any.
pub struct OpenTarget {
    pub database: Arc<dyn Database>,
    pub(crate) server: Option<Managed>,
}

/// Opens a target; starts the server first if it is a `managed:` target. With `create`, a missing
/// database file is created. `seed` is for simulated databases. `doing` is called with the current
/// step. Returns early if a stop is requested.
pub fn open_target(
    target: &Target,
    seed: u64,
    create: bool,
    stop: &Stop,
    doing: &mut dyn FnMut(&str),
) -> Result<OpenTarget, Error> {
    is_apart_from(None, target)?;
    if !managed::is_managed(target) {
        let target = target.clone();
        let opened = move || open(&target, seed, create);
        let interrupted = "interrupted while connecting";
        return Ok(OpenTarget {
            database: run_interruptible(stop, interrupted, opened)?,
            server: None,
        });
    }
    let wanted = managed::read(target).map_err(|bad| Error::Usage(format!("the target: {bad}")))?;
    doing(&format!("starting {}", wanted.kind.title()));
    let started = move || {
        let server = Managed::start(&wanted)?;
        let database = open(&server.target, seed, create)?;
        Ok(OpenTarget { database, server: Some(server) })
    };
    let interrupted = "interrupted while the server was started; nothing was kept";
    run_interruptible(stop, interrupted, started)
}

/// Fails if the target is a file in which dbdyno keeps runs, so that no tables are built among
/// them: `store` (which need not exist yet), another store, or an export of one.
pub fn is_apart_from(store: Option<&Path>, target: &Target) -> Result<(), Error> {
    let Some(path) = drivers::file_of(target) else { return Ok(()) };
    match store.is_some_and(|store| is_of_store(&path, store)) || holds_runs(&path) {
        true => Err(Error::Usage(format!(
            "{target} is a store of dbdyno, where runs are kept: name another file to measure"
        ))),
        false => Ok(()),
    }
}

impl OpenTarget {
    /// Changes the managed server to the settings of `target` and restarts it if needed, with its
    /// present data, or with the copied ones if `from_copy`. `None` if `target` needs another
    /// server. `seed` is for simulated databases.
    pub(crate) fn change(
        self,
        target: &Target,
        seed: u64,
        from_copy: bool,
        stop: &Stop,
    ) -> Result<Option<OpenTarget>, Error> {
        let Some(server) = self.server.filter(|_| managed::is_managed(target)) else {
            return Ok(None);
        };
        let wanted =
            managed::read(target).map_err(|bad| Error::Usage(format!("the target: {bad}")))?;
        let changed = move || {
            let Some(server) = server.change(&wanted, from_copy)? else { return Ok(None) };
            let database = open(&server.target, seed, false)?;
            Ok(Some(OpenTarget { database, server: Some(server) }))
        };
        run_interruptible(stop, "interrupted while the server was restarted", changed)
    }

    /// Copies the data of the managed server, so that later trials can start from them again. Does
    /// nothing without a managed server.
    pub(crate) fn copied(self, seed: u64, stop: &Stop) -> Result<OpenTarget, Error> {
        let Some(server) = self.server else { return Ok(self) };
        run_interruptible(stop, "interrupted while the data were copied", move || {
            let server = server.copied()?;
            let database = open(&server.target, seed, false)?;
            Ok(OpenTarget { database, server: Some(server) })
        })
    }

    /// Restarts the managed server with the same settings and data. Does nothing without a managed
    /// server.
    pub(crate) fn restarted(self, seed: u64, stop: &Stop) -> Result<OpenTarget, Error> {
        let Some(server) = self.server else { return Ok(self) };
        run_interruptible(stop, "interrupted while the server was restarted", move || {
            let server = server.restarted()?;
            let database = open(&server.target, seed, false)?;
            Ok(OpenTarget { database, server: Some(server) })
        })
    }

    /// Returns true if the data of the managed server were copied.
    pub(crate) fn has_copy(&self) -> bool {
        self.server.as_ref().is_some_and(Managed::has_copy)
    }

    /// Returns true if there is a managed server that has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| server.ended().is_some())
    }

    /// Returns sentences for the user about the managed server, and about hosts that do not answer.
    pub fn sentences(&self) -> Vec<String> {
        let server = self.server.iter().map(|server| {
            let (name, folder) = (server.name(), server.folder().display());
            format!(
                "a managed server was started in {folder}: {name}; server and data are \
                 deleted on exit"
            )
        });
        let hosts = self.database.hosts();
        let silent = hosts.into_iter().flat_map(|hosts| hosts.silent()).map(|host| {
            format!("warning: the host {host} does not answer; another one is used instead")
        });
        server.chain(silent).collect()
    }

    /// Adds to `error` how the managed server ended, if it has ended by itself, since that may be
    /// the cause.
    pub fn with_end_of_server(&mut self, error: Error) -> Error {
        let Some(how) = self.server.as_mut().and_then(Managed::ended) else { return error };
        let with_end = |why| format!("{why}; the managed server {how}");
        match error {
            Error::Failed(why) | Error::Unreachable(why) => Error::Failed(with_end(why)),
            Error::Script(error) => Error::Failed(with_end(error.to_string())),
            Error::Interrupted(why) => Error::Interrupted(with_end(why)),
            error @ Error::Usage(_) => error,
        }
    }
}

/// A workload whose parameters fit the data in a database.
#[derive(Clone)]
pub struct Opened {
    pub database: Arc<dyn Database>,
    /// The workload, created with parameters that fit the existing data.
    pub workload: Arc<dyn Workload>,
    /// All parameters of the workload with their values.
    pub settings: Settings,
    /// State of the workload's data in the database.
    pub data: Data,
    /// True if the database still exists after this command; false for a managed server.
    pub is_kept: bool,
    /// Server of the group's clients; `None` if it is `database`.
    pub(crate) elsewhere: Option<Arc<dyn Database>>,
    /// State of the tables that a script builds; `None` if the workload is no script, or a script
    /// that builds no tables.
    pub(crate) script: Option<ScriptData>,
}

impl Opened {
    /// Creates an opened workload that is no script, and whose clients use `database`.
    fn new(
        database: Arc<dyn Database>,
        workload: Arc<dyn Workload>,
        settings: Settings,
        data: Data,
        is_kept: bool,
    ) -> Opened {
        Opened { database, workload, settings, data, is_kept, script: None, elsewhere: None }
    }

    /// Returns the database that the clients of the group use.
    pub(crate) fn of_clients(&self) -> &Arc<dyn Database> {
        self.elsewhere.as_ref().unwrap_or(&self.database)
    }

    /// Returns the parameters that shape the workload's data, as pairs of name and value, for a
    /// build in another database. The storage engine is left out, since another database may not
    /// have it.
    pub fn data_parameters(&self) -> Vec<(String, String)> {
        let of_engine = |row: &&ScaleInData| matches!(row.of, ScaleOf::StorageEngine(_));
        let engine = self.workload.scale_in_data().iter().find(of_engine);
        let is_engine = |name: &str| engine.is_some_and(|row| row.parameter == name);
        let mut scale = self.workload.identity().scale;
        scale.retain(|(name, _)| !is_engine(name));
        scale
    }
}

/// Returns the folder for dbdyno's files: `$XDG_DATA_HOME/dbdyno`, or `$HOME/.local/share/dbdyno`.
/// `None` if neither variable is set. `variable` reads an environment variable.
pub fn data_folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let base = set("XDG_DATA_HOME").map(PathBuf::from);
    let base = base.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    base.map(|base| base.join("dbdyno"))
}

/// Returns the default target of a workload: a file in [`data_folder`] of the embedded database
/// that suits the workload. Workloads that share their data have the same file. Fails if there is
/// no such folder.
pub fn default_target(
    workload: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Target, String> {
    let folder = data_folder(variable).ok_or_else(|| {
        "neither XDG_DATA_HOME nor HOME is set: name the database with --target".to_owned()
    })?;
    // Workloads that share their data share the file.
    let name = workloads::by_name(workload).map_or(workload, |entry| entry.data);
    let driver = chosen_driver(workload).map_or(drivers::EMBEDDED, |chosen| chosen.entry);
    let suffix = if driver.name == drivers::EMBEDDED.name { "db" } else { driver.name };
    let path = folder.join(format!("{name}.{suffix}"));
    Ok(Target {
        scheme: driver.schemes[0].to_owned(),
        user: None,
        password: None,
        hosts: Vec::new(),
        path: path.to_string_lossy().into_owned(),
        options: Vec::new(),
    })
}

/// Returns the embedded driver that is chosen for a workload on this machine, with the reason;
/// `None` for workloads that any embedded database suits.
pub fn chosen_driver(workload: &str) -> Option<drivers::ForAnalytics> {
    let entry = workloads::by_name(workload).ok()?;
    let settings = Settings::decide(entry.name, entry.parameters, []).ok()?;
    let is_analytic = entry.made(&settings, 0, None).is_ok_and(|made| made.is_analytic());
    is_analytic.then(drivers::for_analytics)
}

/// Opens a target that needs no managed server. With `create`, a missing database file is created.
/// `seed` is for simulated databases.
pub fn open(target: &Target, seed: u64, create: bool) -> Result<Arc<dyn Database>, Error> {
    Ok(drivers::open(target, Opening { create, seed })?)
}

/// Creates a workload as [`resolve_workload`] does, but returns early with `Error::Interrupted`
/// when a stop is requested.
pub fn resolve_workload_interruptible(
    database: &Arc<dyn Database>,
    target: &Target,
    workload: &str,
    parameters: &[(String, String)],
    seed: u64,
    stop: &Stop,
) -> Result<Opened, Error> {
    let (database, target, workload) = (Arc::clone(database), target.clone(), workload.to_owned());
    let parameters = parameters.to_vec();
    run_interruptible(stop, "interrupted while the data were inspected", move || {
        resolve_workload(&database, &target, &workload, &parameters, seed)
    })
}

/// Creates the workload of one group of a plan, as [`resolve_workload_interruptible`] does.
pub(crate) fn resolve_group(
    plan: &Plan,
    database: &Arc<dyn Database>,
    group: &Group,
    stop: &Stop,
) -> Result<Opened, Error> {
    let opened = resolve_workload_interruptible(
        database,
        &plan.target,
        &group.workload,
        &group.parameters,
        plan.seed,
        stop,
    )?;
    Ok(Opened { elsewhere: open_elsewhere(plan, database, group, stop)?, ..opened })
}

/// Opens the server of a group's clients; `None` if it is the plan's target, `main`.
fn open_elsewhere(
    plan: &Plan,
    main: &Arc<dyn Database>,
    group: &Group,
    stop: &Stop,
) -> Result<Option<Arc<dyn Database>>, Error> {
    let Some(target) = group.target_beside(&plan.target) else { return Ok(None) };
    let (seed, interrupted) = (plan.seed, "interrupted while connecting");
    let shown = target.to_string();
    let opened = run_interruptible(stop, interrupted, move || open(&target, seed, false))?;
    let [own, others] = [&opened, main].map(|database| database.dialect().name);
    match own == others {
        true => Ok(Some(opened)),
        false => Err(Error::Usage(format!(
            "the group '{}': {shown} is {own}, and the plan's target is {others}: name a host of \
             its data",
            group.name
        ))),
    }
}

/// Creates the workloads of all groups of a plan, in their order.
pub(crate) fn resolve_groups(
    plan: &Plan,
    database: &Arc<dyn Database>,
    stop: &Stop,
) -> Result<Vec<Opened>, Error> {
    plan.groups.iter().map(|group| resolve_group(plan, database, group, stop)).collect()
}

/// Creates a workload for an open target, and finds the state of its data. Parameters that the user
/// has not given in `parameters` are taken from existing data, or else from defaults. Fails if the
/// given ones contradict the data, or the database does not support the workload.
pub fn resolve_workload(
    database: &Arc<dyn Database>,
    target: &Target,
    workload: &str,
    parameters: &[(String, String)],
    seed: u64,
) -> Result<Opened, Error> {
    let (database, is_kept) = (Arc::clone(database), !managed::is_managed(target));
    let entry = workloads::by_name(workload)?;
    let pairs = || parameters.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, pairs())?;
    let make = |settings: &Settings, data: Option<&Identity>| {
        entry.made(settings, seed, data).map_err(Error::from)
    };
    let fresh = make(&settings, None)?;
    refuse(target, database.dialect(), fresh.as_ref())?;
    let keeps_data = database.administration().keeps_data;
    if fresh.population().is_none() || (!keeps_data && fresh.is_blind()) {
        let data = Data::None;
        let plain = Opened::new(database, fresh, settings, data, is_kept);
        return match keeps_data {
            true => with_script_data(plain, target, entry, seed),
            false => Ok(plain),
        };
    }
    if !keeps_data {
        return Err(needs_tables(database.dialect(), entry, workload, parameters));
    }
    let mut session = AdminSession::at(database.as_ref())?;
    let (data, identity) = match meta::read(&mut session, &fresh.identity().workload)? {
        Found::Complete(identity) => (Data::Built, Some(identity)),
        Found::Unfinished(identity) => (Data::Unfinished, Some(identity)),
        Found::Nothing => {
            if let Some(clash) = clash(&mut session, fresh.as_ref())? {
                let (why, remedy) = (clash.sentence(), remedy(target, &clash.holder));
                return Err(Error::Failed(format!("{target} {why}; {remedy}")));
            }
            has_no_gap(&mut session, database.as_ref(), fresh.as_ref(), &settings, target)?;
            match has_tables(&mut session, database.as_ref(), fresh.as_ref())? {
                true => (Data::Unmarked, None),
                false => (Data::Absent, None),
            }
        }
    };
    let held = match &identity {
        Some(identity) => {
            is_visible(&mut session, database.as_ref(), identity, target)?;
            agree(target, &fresh.identity(), identity, &settings, entry)?;
            identity.scale.clone()
        }
        None if data == Data::Unmarked => {
            let found = scale_found(&mut session, database.as_ref(), fresh.as_ref())?;
            is_in_its_engine(target, fresh.as_ref(), &found, &settings)?;
            found
        }
        None => return Ok(Opened::new(database, fresh, settings, data, is_kept)),
    };
    // Existing data, not defaults, decide the parameters that shape them.
    let held = held.iter().filter(|(name, _)| !settings.is_given(name));
    let held: Vec<(&str, &str)> = held.map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let settings = Settings::decide(entry.name, entry.parameters, pairs().chain(held))
        .map_err(|bad| Error::Failed(format!("the data of {target} do not match: {bad}")))?;
    let workload = make(&settings, identity.as_ref())?;
    Ok(Opened::new(database, workload, settings, data, is_kept))
}

/// Fails if a workload of the plan needs tables and the database of its target keeps none, which is
/// known before anything is opened. Other errors are those of the run.
pub(crate) fn can_have_tables(plan: &Plan) -> Result<(), Error> {
    let Some(product) = drivers::of_target(&plan.target).map(|entry| entry.product) else {
        return Ok(());
    };
    if product.administration.keeps_data {
        return Ok(());
    }
    for group in &plan.groups {
        let Ok(entry) = workloads::by_name(&group.workload) else { continue };
        let fresh = workload_of(group, plan.seed).map(|(_, fresh)| fresh);
        if fresh.is_some_and(|fresh| fresh.population().is_some() && !fresh.is_blind()) {
            let Group { workload, parameters, .. } = group;
            return Err(needs_tables(&product.dialect, entry, workload, parameters));
        }
    }
    Ok(())
}

/// Returns the error that a database keeps no tables, with the role of the workload to leave out.
fn needs_tables(
    dialect: &Dialect,
    entry: &workloads::Entry,
    workload: &str,
    parameters: &[(String, String)],
) -> Error {
    let name = dialect.name;
    let is_given =
        |(k, v): &(&str, &str)| parameters.iter().any(|(name, value)| name == k && value == v);
    let role = entry.roles.iter().find(|role| role.parameters.iter().all(is_given));
    let without = role.filter(|_| entry.roles.len() > 1);
    let without = without.map(|role| format!(", or leave it out: --{} 0", role.name));
    Error::Usage(format!(
        "{workload} needs tables, and {name} has none: choose another target{}",
        without.unwrap_or_default()
    ))
}

/// Adds what is known of the tables of a script, and takes the parameters with which they were
/// built where the user gave none.
fn with_script_data(
    opened: Opened,
    target: &Target,
    entry: &'static workloads::Entry,
    seed: u64,
) -> Result<Opened, Error> {
    if !opened.is_kept {
        return Ok(opened);
    }
    let (database, workload) = (opened.database.as_ref(), &opened.workload);
    let found = script_data::resolve(database, target, entry, workload, &opened.settings, seed)?;
    let Some(script_data::Resolved { data, workload, settings }) = found else {
        return Ok(opened);
    };
    Ok(Opened { workload, settings, script: Some(data), ..opened })
}

/// Fails if the workload does not support the database or its requested storage engine.
fn refuse(target: &Target, dialect: &Dialect, workload: &dyn Workload) -> Result<(), BadParameter> {
    if let Some(why) = workload.refuses(dialect) {
        return Err(BadParameter::new(why));
    }
    let refused = plan::refused_engine(target, dialect, workload);
    refused.map_or(Ok(()), |why| Err(BadParameter::named("engine", why)))
}

/// Checks a workload and its parameters as far as that is possible before the target is opened.
pub fn check_workload(
    target: &Target,
    workload: &str,
    parameters: &[(String, String)],
    seed: u64,
) -> Result<(), BadParameter> {
    let entry = workloads::by_name(workload)?;
    let pairs = parameters.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, pairs)?;
    let fresh = entry.made(&settings, seed, None)?;
    match drivers::of_target(target) {
        Some(driver) => refuse(target, &driver.product.dialect, fresh.as_ref()),
        None => Ok(()),
    }
}

/// Returns a note if numbered tables of another program, such as those of sysbench, have different
/// numbers of rows, since the workload uses the smallest number in each; else `None`.
pub(crate) fn unused_rows(opened: &Opened, stop: &Stop) -> Result<Option<String>, Error> {
    let numbers = |row: &ScaleInData| match row.of {
        ScaleOf::LastNumber(stem, column) => Some((row.parameter, stem, column)),
        _ => None,
    };
    let row = opened.workload.scale_in_data().iter().find_map(numbers);
    let Some((parameter, stem, column)) = row.filter(|_| opened.data == Data::Unmarked) else {
        return Ok(None);
    };
    let (database, n_used) = (Arc::clone(&opened.database), opened.settings.count(parameter));
    let tables = opened.workload.population().map(|population| population.tables());
    let n_tables = tables.map_or(0, |tables| tables.len());
    run_interruptible(stop, "interrupted while the tables were inspected", move || {
        let mut session = AdminSession::at(database.as_ref())?;
        let tables = numbered(&mut session, database.as_ref(), stem)?;
        let tables = tables.into_iter().take(n_tables);
        let all = last_numbers(&mut session, tables, column)?.into_iter();
        let rows = all.map(|(table, last)| (table, last.map_or(0, i64::unsigned_abs)));
        Ok(unequal(&rows.collect::<Vec<_>>(), n_used))
    })
}

/// Returns a note about tables with different numbers of rows, of which the workload uses `n_used`
/// in each; `None` if all have the same number.
fn unequal(rows: &[(String, u64)], n_used: u64) -> Option<String> {
    let (most, n_most) = rows.iter().max_by_key(|(_, n)| *n)?;
    let (least, n_least) = rows.iter().min_by_key(|(_, n)| *n)?;
    let [more, less, used] = [*n_most, *n_least, n_used].map(format_count);
    (n_most != n_least)
        .then(|| format!("{most} has {more} rows, {least} {less}: {used} of each table are used"))
}

/// Fails if a name of the workload's tables means a table of another schema, which dbdyno would
/// read, change or drop in place of the one that it built.
fn is_visible(
    session: &mut AdminSession,
    database: &dyn Database,
    identity: &Identity,
    target: &Target,
) -> Result<(), Error> {
    let Some(query) = database.administration().hiding_tables else { return Ok(()) };
    let ours = tables_of(identity).unwrap_or_default();
    let mut hides: Option<(String, String, String)> = None;
    session.read(query, &mut |row: &dyn Row| {
        let name = row.text(0)?;
        if hides.is_none() && ours.iter().any(|table| table == name) {
            hides = Some((name.to_owned(), row.text(1)?.to_owned(), row.text(2)?.to_owned()));
        }
        Ok(())
    })?;
    match hides {
        None => Ok(()),
        Some((table, schema, home)) => Err(Error::Failed(format!(
            "{target}: the name '{table}' means {schema}.{table}, and not the table that dbdyno \
             built, {home}.{table}: put {home} first in the user's search_path (ALTER ROLE ... SET \
             search_path = {home})"
        ))),
    }
}

/// Data of another workload that occupy table names which the wanted workload needs.
pub(crate) struct Clash {
    /// Name of the workload to which the existing tables belong.
    holder: String,
    /// Name of the workload that needs tables with the names of the existing ones.
    wanted: String,
    tables: Vec<String>,
}

impl Clash {
    /// Returns the end of a sentence about the clash that begins with the name of the database.
    pub(crate) fn sentence(&self) -> String {
        let Clash { holder, wanted, tables } = self;
        let (tables, s) = (tables.join(", "), if tables.len() == 1 { "" } else { "s" });
        format!(
            "holds data of {holder}, and {wanted} needs table{s} of the same name{s} ({tables})"
        )
    }
}

/// Finds data of another workload that occupy table names which `workload` needs; `None` if there
/// are none.
pub(crate) fn clash(
    session: &mut AdminSession,
    workload: &dyn Workload,
) -> Result<Option<Clash>, Error> {
    let wanted = workload.identity().workload;
    let of_others = meta::read_all(session)?.into_iter().map(|held| held.identity);
    let is_other =
        |held: &Identity| held.workload != wanted && !script_data::is_key(&held.workload);
    let of_others: Vec<Identity> = of_others.filter(is_other).collect();
    let needed = workload.population().map(|population| population.tables()).unwrap_or_default();
    for held in of_others {
        let theirs = match tables_of(&held) {
            Some(tables) => tables,
            None => meta::read_done_tables(session)?,
        };
        let theirs: HashSet<String> = theirs.iter().map(|name| name.to_ascii_lowercase()).collect();
        let is_theirs = |name: &&str| theirs.contains(&name.to_ascii_lowercase());
        let tables = needed.iter().map(|table| &*table.name).filter(is_theirs);
        let tables: Vec<String> = tables.map(str::to_owned).collect();
        if !tables.is_empty() {
            return Ok(Some(Clash { holder: held.workload, wanted, tables }));
        }
    }
    Ok(None)
}

/// Returns the names of the tables of a workload's data, derived from its parameters; `None` if
/// dbdyno does not know the workload.
fn tables_of(held: &Identity) -> Option<Vec<String>> {
    let entry = workloads::by_data(&held.workload)?;
    let scale = held.scale.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, scale).ok()?;
    let workload = entry.made(&settings, held.seed, None).ok()?;
    let tables = workload.population()?.tables();
    Some(tables.iter().map(|table| table.name.to_string()).collect())
}

/// Returns the advice for a target that already has the data of another workload, `held`: use
/// another target, or drop the data.
fn remedy(target: &Target, held: &str) -> String {
    let holder = workloads::by_data(held).map_or(held, |entry| entry.name);
    format!("use another --target, or drop the data: dbdyno drop {holder} --target '{target}'")
}

fn has_tables(
    session: &mut AdminSession,
    database: &dyn Database,
    workload: &dyn Workload,
) -> Result<bool, Error> {
    let tables = workload.population().map(|population| population.tables());
    let tables = tables.unwrap_or_default();
    let list = TableList::read(session, database.administration(), tables.len())?;
    for table in tables {
        if list.has(session, &table.name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fails if complete data lack a table, or if tables that dbdyno did not build lack other tables or
/// columns of the workload and so belong to another program.
pub fn has_all_tables(opened: &Opened, target: &Target, stop: &Stop) -> Result<(), Error> {
    let is_ours = match opened.data {
        Data::Built => true,
        Data::Unmarked => false,
        Data::None | Data::Absent | Data::Unfinished => return Ok(()),
    };
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    let target = target.clone();
    run_interruptible(stop, "interrupted while the tables were inspected", move || {
        let mut session = AdminSession::at(database.as_ref())?;
        let tables = workload.population().map(|population| population.tables());
        let tables = tables.unwrap_or_default();
        let list = TableList::read(&mut session, database.administration(), tables.len())?;
        for table in tables {
            let name = &table.name;
            if list.has(&mut session, name)? {
                // dbdyno created the table with all its columns.
                if is_ours {
                    continue;
                }
            } else if is_ours {
                let workload = workload.identity().workload;
                return Err(Error::Failed(format!(
                    "the table {name} of the data of {workload} in {target} is gone: drop the \
                     rest with dbdyno drop {workload} --target '{target}', and build again"
                )));
            } else {
                return Err(Error::Failed(format!(
                    "{target} has tables that dbdyno did not build, and no table {name}: name \
                     another database, which is created if it does not exist"
                )));
            }
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            let sql = format!("SELECT {} FROM {name} WHERE 1 = 0", columns.join(", "));
            if let Err(no) = session.read(&sql, &mut |_| Ok(())) {
                if no.kind.breaks_session() {
                    return Err(no.into());
                }
                return Err(Error::Failed(format!(
                    "the table {name} of {target} is not one of {}: dbdyno did not build it, and \
                     it does not have all of the columns {} ({no}); name another database, which is created if \
                     it does not exist, or drop that table",
                    workload.identity().workload,
                    columns.join(", ")
                )));
            }
        }
        Ok(())
    })
}

/// Returns the error for missing or incomplete data in a command that does not build them.
pub(crate) fn no_complete_data(target: &Target, workload: &str) -> Error {
    Error::Failed(format!(
        "{target} has no complete data of {workload}: build it with dbdyno build {workload} \
         --target '{target}'"
    ))
}

/// Fails if tables that dbdyno did not build have another storage engine than the user requested.
fn is_in_its_engine(
    target: &Target,
    workload: &dyn Workload,
    found: &[(String, String)],
    settings: &Settings,
) -> Result<(), Error> {
    let is_seen = |row: &&ScaleInData| matches!(row.of, ScaleOf::StorageEngine(_));
    let Some(name) = workload.scale_in_data().iter().find(is_seen).map(|row| row.parameter) else {
        return Ok(());
    };
    let asked = workload.population().and_then(|population| population.storage_engine());
    let has = found.iter().find(|(found, _)| found == name).map(|(_, has)| has.as_str());
    match asked.filter(|asked| settings.is_given(name) && Some(*asked) != has) {
        None => Ok(()),
        Some(asked) => Err(Error::Usage(format!(
            "the tables of {target} are in the storage engine {}, not {asked}: leave out --{name} \
             to use them",
            has.unwrap_or("of the database")
        ))),
    }
}

/// Fails if the existing data have another version, or another scale than the user requested. For a
/// parameter that is newer than the data, its default counts.
fn agree(
    target: &Target,
    wanted: &Identity,
    held: &Identity,
    settings: &Settings,
    entry: &workloads::Entry,
) -> Result<(), Error> {
    // Name the requested one of the workloads that share the data.
    let (workload, remedy) = (&wanted.workload, remedy(target, entry.name));
    let parameters = entry.parameters;
    if held.version != wanted.version {
        return Err(Error::Failed(format!(
            "{target} holds {workload} data of version {}, this dbdyno needs {}; {remedy}",
            held.version, wanted.version
        )));
    }
    for (name, value) in &wanted.scale {
        let default = || Some(parameters.iter().find(|row| row.name == name)?.default);
        match held.scale_of(name).or_else(default) {
            Some(has) if settings.is_given(name) && has != value => {
                let why = format!("{target} was built with {name} {has}, not {value}");
                return Err(Error::Usage(format!(
                    "{why}: leave {name} out to use its data, {remedy}"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::unequal;

    #[test]
    fn rows_that_are_not_used_are_said() {
        let check = |rows: &[u64], n_used, expect: Option<&str>| {
            let named = rows.iter().zip(1..).map(|(n, number)| (format!("sbtest{number}"), *n));
            assert_eq!(unequal(&named.collect::<Vec<_>>(), n_used).as_deref(), expect);
        };
        let said = "sbtest1 has 1,000 rows, sbtest2 900: 900 of each table are used";
        check(&[1000, 900], 900, Some(said));
        let said = "sbtest4 has 1,000 rows, sbtest3 0: 10 of each table are used";
        check(&[900, 900, 0, 1000], 10, Some(said));
        check(&[900, 900], 900, None);
        check(&[900], 500, None);
        check(&[], 1, None);
    }
}
