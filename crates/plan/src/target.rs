//! A target's scheme and options, read where their place is still known. Not here: what they mean
//! (drivers, servers), and settings of the server that a plan names beside it (server).

use model::{BadParameter, Settings, Target};

use crate::managed;

/// Refuses an unknown scheme, and options that its driver or server does not know.
pub(crate) fn check_target(target: &Target) -> Result<(), BadParameter> {
    if managed::is_managed(target) {
        return managed::read(target).map(drop);
    }
    let entry = drivers::by_scheme(&target.scheme)?;
    let options = target.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Settings::decide(entry.name, entry.parameters, options).map(|_| ())
}
