//! This host, as others know it.

use std::fs;

/// Returns the name of this host.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the identity of this host until it boots again.
pub(crate) fn boot_id() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    read.trim().to_owned()
}

/// Returns the identity of the namespace in which process ids of this process count; empty if it is
/// not known.
pub(crate) fn pid_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// Returns the mean number of runnable processes over the last minute.
pub(crate) fn load() -> f64 {
    let read = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    read.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// Returns the number of CPUs that this process may use.
pub(crate) fn n_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}
