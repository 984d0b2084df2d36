//! This host, as others know it.

use std::fs;

/// Returns the name of this host.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
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
