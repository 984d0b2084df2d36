//! Entry of a workload in the list, arguments of its constructor, and languages in which workloads
//! are written as files.

use std::sync::Arc;

use model::{BadParameter, Identity, Parameter, Settings, Source, Workload};

/// A workload that users can name, such as `tpcc`, with all that is known before it is built.
pub struct Entry {
    pub name: &'static str,
    /// Name of the data on which the workload runs. Workloads with the same name of data run on the
    /// same tables. A workload without data has its own name here.
    pub data: &'static str,
    /// Description of the workload in one line, for lists of workloads.
    pub summary: &'static str,
    pub parameters: &'static [Parameter],
    /// Groups of clients, such as writers and readers, in a run for which the user writes no plan;
    /// empty if there is a single group.
    pub roles: &'static [GroupRole],
    /// Function that builds the workload. Fails if its parameters contradict each other or existing
    /// data.
    pub make: fn(&Make<'_>) -> Result<Arc<dyn Workload>, BadParameter>,
    /// File that the workload was read from; `None` if it is compiled in.
    pub source: Option<&'static Source>,
}

impl Entry {
    /// Builds the workload with the given parameters. `data` identifies existing data on which it
    /// will run; `None` if there are none.
    ///
    /// # Errors
    ///
    /// Parameters that contradict each other or the data.
    pub fn made(
        &self,
        settings: &Settings,
        seed: u64,
        data: Option<&Identity>,
    ) -> Result<Arc<dyn Workload>, BadParameter> {
        (self.make)(&Make { settings, seed, data, source: self.source })
    }
}

/// A language of workload files, which are read at run time.
pub struct Language {
    /// File name extension, without the dot: `lua`.
    pub extension: &'static str,
    /// Reads a workload from the text of a file. Names are [interned](model::interned), and the
    /// list of parameters is never freed.
    ///
    /// # Errors
    ///
    /// An error in the file, with its line.
    pub read: fn(&'static Source) -> Result<Entry, BadParameter>,
}

/// Group of clients that a run of the workload has if the user writes no plan, such as the readers
/// of `events`.
pub struct GroupRole {
    /// Name of the group, and of the command-line flag for its number of clients.
    pub name: &'static str,
    /// Number of clients if the flag is not given.
    pub default: &'static str,
    /// Help text of the flag, in one line.
    pub help: &'static str,
    /// Settings of the group in a plan (key and value), used if the user does not give its load by
    /// flags. Flags of the load apply to the first group.
    pub values: &'static [(&'static str, &'static str)],
    /// Names of command-line flags that set this group, although flags apply to the first group
    /// otherwise.
    pub flags: &'static [&'static str],
    /// Workload parameters (name and value) that differ from the workload's defaults in this group.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Name of a workload parameter that is set to this group's number of clients, in all groups,
    /// unless the user sets it.
    pub count_parameter: Option<&'static str>,
}

/// Arguments of a workload's constructor.
pub struct Make<'a> {
    pub settings: &'a Settings,
    /// Seed of the plan, from which the random numbers of data and load are drawn.
    pub seed: u64,
    /// Identity of existing data, whose constants and seed take precedence; `None` if there are
    /// none.
    pub data: Option<&'a Identity>,
    /// File that the workload was read from; `None` if it is compiled in.
    pub source: Option<&'static Source>,
}
