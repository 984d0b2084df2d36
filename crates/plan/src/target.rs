//! A target's scheme and options, read where their place is still known. Not here: what they mean
//! (drivers, servers), and settings of the server that a plan names beside it (server).

use model::{BadParameter, Settings, Target};

use crate::draft::Draft;
use crate::managed;
use crate::vary::is_target;
use crate::written::From;

/// Every target that a draft names, alone or as a value of an axis, with its place. One that cannot
/// be read is refused where it is decided.
pub fn targets_of(draft: &Draft) -> Vec<(Target, &From)> {
    let alone = draft.values.get("target").map(|written| (&written.text, &written.from));
    let axes = draft.vary.iter().filter(|axis| is_target(&axis.name));
    let varied = axes.flat_map(|axis| axis.values.iter().map(move |value| (value, &axis.from)));
    let all = alone.into_iter().chain(varied);
    all.filter_map(|(url, from)| Some((Target::parse(url).ok()?, from))).collect()
}

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
