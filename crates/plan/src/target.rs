//! Checks of a target's scheme and options, made while their source position is known. Not here:
//! the meaning of options (drivers, servers), and server settings (server).

use model::{BadParameter, Dialect, Settings, Target, Workload};

use crate::managed;

/// Returns true if the target stores what is written to it, so that its data can be queried,
/// disturbed and rebuilt.
pub(crate) fn keeps_data(target: &Target) -> bool {
    drivers::of_target(target).is_none_or(|entry| entry.product.administration.keeps_data)
}

/// Returns true if dbdyno can restart the target: it is a managed server, or a database opened in
/// dbdyno's process.
pub(crate) fn can_restart(target: &Target) -> bool {
    let is_in_process = |entry: &drivers::Entry| entry.product.administration.is_in_process;
    managed::is_managed(target) || drivers::of_target(target).is_some_and(is_in_process)
}

/// Returns an error message if the target's database does not have the storage engine that the
/// workload requests; `None` if it does, or none is requested.
pub fn refused_engine(
    target: &Target,
    dialect: &Dialect,
    workload: &dyn Workload,
) -> Option<String> {
    let name = workload.population()?.storage_engine()?;
    if dialect.engine(name).is_some() {
        return None;
    }
    let database = if managed::is_managed(target) { &target.path } else { &target.scheme };
    let there: Vec<&str> = dialect.storage_engines.iter().map(|engine| engine.name).collect();
    Some(match there.as_slice() {
        [] => format!(
            "'{name}' cannot be had, since {database} has no choice of storage engines: leave \
             out --engine"
        ),
        there => format!(
            "'{name}' cannot be had on {database}: choose {}, or leave out --engine",
            there.join(", ")
        ),
    })
}

/// Returns an error if the scheme is unknown, or an option is unknown to its driver or server.
pub(crate) fn check_target(target: &Target) -> Result<(), BadParameter> {
    if managed::is_managed(target) {
        return managed::read(target).map(drop);
    }
    let entry = drivers::by_scheme(&target.scheme)?;
    let options = target.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Settings::decide(entry.name, entry.parameters, options).map(|_| ())
}

/// Returns an error if the target's driver cannot use it, such as for a value that it cannot read.
pub(crate) fn check_values(target: &Target) -> Result<(), BadParameter> {
    if managed::is_managed(target) {
        return Ok(());
    }
    drivers::check(target)
}
