//! Looks up workloads by name: compiled in, or read from a file whose path serves as the name.

use model::{BadParameter, Source};
use workloads::Entry;

/// Returns the workload with this name, or reads it if the name is the path of a workload file.
/// Returns an error if there is no such workload, or its file cannot be read or is invalid.
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
