//! Executes one transaction of each requested type, and records the requests that it sends to the
//! database (`dbdyno trace`).
//!
//! Not here: recording (engine), and display (render).

use std::sync::Arc;

use engine::{CannotTrace, Stop, Traced};
use model::{KindIndex, Settings, Target, Trace, TransactionTrace, did_you_mean};
use plan::managed::is_managed;

use crate::build::{BuildOptions, Progress, build_interruptible};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::{
    Data, OpenTarget, Opened, has_all_tables, no_complete_data, resolve_workload_interruptible,
};
use crate::{routines, storage_engine};

#[derive(Clone, Debug)]
pub struct TraceOptions {
    pub workload: String,
    /// Parameters of the workload as written by the user.
    pub parameters: Vec<(String, String)>,
    /// Name of the transaction type; `None` traces one transaction of each type.
    pub transaction: Option<String>,
    /// Seed of the transactions' inputs.
    pub seed: u64,
    /// Number of the first transaction that may be traced; the inputs are drawn from seed and
    /// number.
    pub number: u64,
    /// Number of transactions of the same type that each connection executes before the traced one.
    pub warm_up: u32,
}

/// Returns true if a missing target may be created: only if it is a managed server, or the workload
/// needs no data. Fails if a file does not exist that should have data.
pub fn may_create(options: &TraceOptions, target: &Target) -> Result<bool, Error> {
    let entry = workloads::by_name(&options.workload)?;
    let pairs = options.parameters.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, pairs)?;
    let workload = entry.made(&settings, options.seed, None)?;
    if is_managed(target) || workload.population().is_none() {
        return Ok(true);
    }
    match drivers::file_of(target).filter(|file| !file.exists()) {
        Some(_) => Err(no_complete_data(target, &options.workload)),
        None => Ok(false),
    }
}

/// Executes the requested transactions, each on a connection of its own, and returns what they
/// sent. Types that are not in the mix are left out unless requested by name.
pub fn trace(
    options: &TraceOptions,
    target: &Target,
    open_target: &OpenTarget,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Trace, Error> {
    let mut groups = Vec::new();
    for parameters in parameters_by_role(options)? {
        groups.push(prepare(options, &parameters, target, open_target, stop, progress)?);
    }
    let chosen = chosen(options, &groups)?;
    let database = Arc::clone(&open_target.database);
    let facts =
        run_interruptible(stop, "interrupted while connecting", move || Ok(database.facts()?))?;
    let fact =
        |name| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.to_string());
    let product = fact("product").unwrap_or_else(|| target.scheme.clone());
    let version = fact("version").map_or(String::new(), |version| format!(" {version}"));
    let mut transactions: Vec<TransactionTrace> = Vec::new();
    let dialect = open_target.database.dialect();
    let all = groups.iter().flat_map(|opened| opened.workload.routines(dialect));
    let all: Vec<(String, String)> =
        all.map(|routine| (routine.name.to_owned(), routine.create)).collect();
    for (opened, kind) in chosen {
        if changes_data_for_good(opened, kind) {
            if options.transaction.is_none() {
                continue;
            }
            let why = "this transaction is shown only if it can be rolled back, and the storage \
                       engine of the tables has no transactions: show another one";
            return Err(Error::Usage(why.to_owned()));
        }
        let (workload, database) = (Arc::clone(&opened.workload), Arc::clone(&opened.database));
        let TraceOptions { number, warm_up, .. } = *options;
        let traced = Traced { workload, database, kind, number, warm_up };
        let name = opened.workload.kinds()[usize::from(kind)].name;
        let interrupted = "interrupted during a transaction, which was not committed or whose \
                           outcome is unknown";
        let shown = run_interruptible(stop, interrupted, move || Ok(engine::trace(&traced)))?;
        match shown {
            Ok(shown) => transactions.push(shown),
            // Types that are not in the mix are left out unless requested.
            Err(CannotTrace::NotInMix) if options.transaction.is_none() => {}
            Err(why) => return Err(cannot(&why, name, options)),
        }
    }
    let settings = groups.first().map(|opened| opened.settings.written());
    let parameters = settings.into_iter().flatten().map(|(k, v)| (k.to_owned(), v.to_owned()));
    let statements = transactions.iter().flat_map(|transaction| &transaction.exchanges);
    let statements: Vec<&str> = statements
        .flat_map(|exchange| exchange.statements.iter().map(|statement| statement.sql.as_str()))
        .collect();
    let is_called = |name: &str| statements.iter().any(|sql| sql.contains(&format!("{name}(")));
    let routines = all.into_iter().filter(|(name, _)| is_called(name)).collect();
    Ok(Trace {
        routines,
        target: target.to_string(),
        database: format!("{product}{version}"),
        workload: options.workload.clone(),
        parameters: parameters.collect(),
        seed: options.seed,
        warm_up: options.warm_up,
        transactions,
    })
}

/// Returns true if a transaction would have to be rolled back once shown, and cannot be.
fn changes_data_for_good(opened: &Opened, kind: KindIndex) -> bool {
    let workload = opened.workload.as_ref();
    workload.is_shown_without_commit(kind)
        && storage_engine::has_no_transactions(opened.database.dialect(), workload)
}

/// Returns the parameters of each role of clients that the workload has. If it has no roles, or the
/// user's parameters choose the role, returns only the user's parameters.
fn parameters_by_role(options: &TraceOptions) -> Result<Vec<Vec<(String, String)>>, Error> {
    let roles = workloads::by_name(&options.workload)?.roles;
    let given = &options.parameters;
    let is_chosen = |name: &str| given.iter().any(|(given, _)| given == name);
    if roles.iter().flat_map(|role| role.parameters).all(|(name, _)| is_chosen(name)) {
        return Ok(vec![given.clone()]);
    }
    let of_role = |role: &workloads::GroupRole| {
        let own = role.parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        given.iter().cloned().chain(own).collect()
    };
    Ok(roles.iter().map(of_role).collect())
}

/// Creates a workload for tracing. Builds its data on a managed server, and installs its routines.
/// Fails if another target has no complete data.
fn prepare(
    options: &TraceOptions,
    parameters: &[(String, String)],
    target: &Target,
    open_target: &OpenTarget,
    stop: &Arc<Stop>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Opened, Error> {
    let resolve = || {
        let (name, seed) = (&options.workload, options.seed);
        resolve_workload_interruptible(&open_target.database, target, name, parameters, seed, stop)
    };
    let mut opened = resolve()?;
    has_all_tables(&opened, target, stop)?;
    if matches!(opened.data, Data::Absent | Data::Unfinished) {
        if !is_managed(target) {
            return Err(no_complete_data(target, &options.workload));
        }
        build_interruptible(&opened, BuildOptions::default(), stop, progress)?;
        opened = resolve()?;
    }
    let to_install = opened.clone();
    run_interruptible(stop, "interrupted while procedures were created", move || {
        routines::install(&to_install)
    })?;
    Ok(opened)
}

/// Returns the requested transaction types, each with the group that executes it. Fails if no group
/// has the requested type.
fn chosen<'o>(
    options: &TraceOptions,
    groups: &'o [Opened],
) -> Result<Vec<(&'o Opened, KindIndex)>, Error> {
    let all = groups.iter().flat_map(|opened| {
        (0..opened.workload.kinds().len()).map(move |kind| (opened, kind as KindIndex))
    });
    let name = |pair: &(&Opened, KindIndex)| pair.0.workload.kinds()[usize::from(pair.1)].name;
    let Some(wanted) = &options.transaction else { return Ok(all.collect()) };
    if let Some(found) = all.clone().find(|pair| name(pair) == wanted) {
        return Ok(vec![found]);
    }
    let names: Vec<&str> = all.map(|pair| name(&pair)).collect();
    let hint = did_you_mean(wanted, names.iter().copied());
    let workload = &options.workload;
    Err(Error::Usage(format!(
        "--transaction: {workload} has no transaction '{wanted}'{hint}; choose {}",
        names.join(", ")
    )))
}

fn cannot(why: &CannotTrace, name: &str, options: &TraceOptions) -> Error {
    let workload = &options.workload;
    match why {
        CannotTrace::NotInMix => Error::Usage(format!(
            "{workload} executes no {name} with these parameters: change the parameter that \
             decides how often it comes, such as --weights"
        )),
        CannotTrace::NothingToSend => Error::Failed(format!(
            "{workload} has nothing to send with these parameters: leave them out"
        )),
        CannotTrace::Refused(db_error) => Error::failed(db_error),
    }
}
