//! Entry of a workload in the list, arguments of its constructor, and languages in which workloads
//! are written as files.

use std::sync::Arc;

use model::{BadParameter, Identity, Parameter, Settings, Source, Workload};

/// A workload that users can name.
pub struct Entry {
    pub name: &'static str,
    /// Name of the data, shared by the workloads of a family; the workload's own name if it has no
    /// data.
    pub data: &'static str,
    /// Summary in one line, for lists of workloads.
    pub summary: &'static str,
    pub parameters: &'static [Parameter],
    /// Groups of clients in a run without a plan; empty if there is a single group.
    pub roles: &'static [GroupRole],
    /// Builds the workload from its parameters.
    pub make: fn(&Make<'_>) -> Result<Arc<dyn Workload>, BadParameter>,
    /// File that the workload was read from; `None` if it is compiled in.
    pub source: Option<&'static Source>,
}

impl Entry {
    /// Builds the workload with these parameters. `data` identifies existing data, if there are
    /// any.
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

/// A group that runs of the workload have by default, such as the readers of `events`.
pub struct GroupRole {
    /// Name of the group, and of the flag for its number of clients.
    pub name: &'static str,
    /// Default number of clients.
    pub default: &'static str,
    /// Help of the flag, in one line.
    pub help: &'static str,
    /// Plan values (key and value) of the group, used if its load is not given. Load flags apply to
    /// the first group.
    pub values: &'static [(&'static str, &'static str)],
    /// Flags that apply to this group instead of the first one.
    pub flags: &'static [&'static str],
    /// Workload parameters (name and value) that this group has by default.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Name of a parameter, in all groups, whose default is this group's number of clients.
    pub count_parameter: Option<&'static str>,
}

/// Arguments of a workload's constructor.
pub struct Make<'a> {
    pub settings: &'a Settings,
    /// Seed of the plan.
    pub seed: u64,
    /// Identity of existing data, whose constants and seed take precedence; `None` if there are
    /// none.
    pub data: Option<&'a Identity>,
    /// File that the workload was read from; `None` if it is compiled in.
    pub source: Option<&'static Source>,
}
