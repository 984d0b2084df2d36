//! Workloads that are written in files: a file's name stands where a workload's does.

use model::{BadParameter, Source};
use workloads::Entry;

/// The workload of this name: a compiled one, or that of a file. A file is read once.
///
/// # Errors
///
/// There is no such workload, or the file cannot be read, or is wrong.
pub fn workload_named(name: &str) -> Result<&'static Entry, BadParameter> {
    let known = workloads::by_name(name);
    if known.is_ok() || workloads::language_of(name).is_none() {
        return known;
    }
    let text = files::read_text(name, Source::BYTES_MAX).map_err(|error| {
        BadParameter::new(format!("the workload '{name}' cannot be read: {error}"))
    })?;
    let read = workloads::read(Source { name: name.to_owned(), text });
    read.map_err(|bad| BadParameter::new(format!("{name}: {bad}")))
}
