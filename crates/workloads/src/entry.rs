//! What the list of workloads tells of each, what one is decided from, and in which languages they
//! are written as files.

use std::sync::Arc;

use model::{BadParameter, Identity, Parameter, Settings, Source, Workload};

/// A workload that can be asked for.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The name of its data, which workloads of one family share; its own where it has none.
    pub data: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What kinds of groups a run of it has that no plan describes; none where one group does all.
    pub roles: &'static [GroupRole],
    /// Decides it.
    pub make: fn(&Make<'_>) -> Result<Arc<dyn Workload>, BadParameter>,
    /// The file that it was read from; none of one that is compiled in.
    pub source: Option<&'static Source>,
}

impl Entry {
    /// The workload with these parameters; `data` is what data there is.
    ///
    /// # Errors
    ///
    /// Parameters that do not go together, or with the data.
    pub fn made(
        &self,
        settings: &Settings,
        seed: u64,
        data: Option<&Identity>,
    ) -> Result<Arc<dyn Workload>, BadParameter> {
        (self.make)(&Make { settings, seed, data, source: self.source })
    }
}

/// A language in which workloads are written as files that are read at run time.
pub struct Language {
    /// How the names of its files end, without the dot: `lua`.
    pub extension: &'static str,
    /// Reads a file. Names are [interned](model::interned), and the list of parameters is kept.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line.
    pub read: fn(&'static Source) -> Result<Entry, BadParameter>,
}

/// A group of a run that a command line names by its workload alone.
pub struct GroupRole {
    /// The name of the group, and of the flag for the number of its clients.
    pub name: &'static str,
    /// How many there are by default.
    pub default: &'static str,
    /// One line of help for the flag.
    pub help: &'static str,
    /// Values of the group where nothing is said of its load; the load that is asked for is that of
    /// the first group.
    pub values: &'static [(&'static str, &'static str)],
    /// Flags of a group that are this one's, not the first group's.
    pub flags: &'static [&'static str],
    /// Parameters of the group.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The parameter of all groups that is equal to the number of its clients, unless it is given.
    pub count_parameter: Option<&'static str>,
}

/// What a workload is decided from.
pub struct Make<'a> {
    /// Its parameters, decided.
    pub settings: &'a Settings,
    /// The seed of the plan.
    pub seed: u64,
    /// What data there is, if there is any: its constants and seed hold.
    pub data: Option<&'a Identity>,
    /// The file that the workload was read from.
    pub source: Option<&'static Source>,
}
