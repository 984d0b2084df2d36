//! A target's scheme and options, read where their place is still known. Not here: what they mean
//! (drivers, servers), and settings of the server that a plan names beside it (server).

use model::{BadParameter, Settings, Target};

use crate::managed;

/// Whether a target is a database that holds what is written there: it can be asked, disturbed and
/// built again.
pub(crate) fn keeps_data(target: &Target) -> bool {
    drivers::of_target(target).is_none_or(|entry| entry.product.administration.keeps_data)
}

/// Whether a target can be started again by us: a server of ours, or what is opened in this
/// process.
pub(crate) fn can_restart(target: &Target) -> bool {
    let is_in_process = |entry: &drivers::Entry| entry.product.administration.is_in_process;
    managed::is_managed(target) || drivers::of_target(target).is_some_and(is_in_process)
}

/// Refuses an unknown scheme, and options that its driver or server does not know.
pub(crate) fn check_target(target: &Target) -> Result<(), BadParameter> {
    if managed::is_managed(target) {
        return managed::read(target).map(drop);
    }
    let entry = drivers::by_scheme(&target.scheme)?;
    let options = target.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Settings::decide(entry.name, entry.parameters, options).map(|_| ())
}
