//! Registration of workloads and of the languages in which workload files are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{BadParameter, Identity, Parameter, Settings, Source, Workload};

/// A workload that users can name, such as `tpcc`, with its parameters and all else that is known
/// before it is built.
pub struct Entry {
    pub name: &'static str,
    /// Name of the data on which the workload runs. Workloads with the same name here run on the
    /// same tables. A workload without data has its own name.
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

/// A language in which workload files are written. dbdyno reads such files at run time.
pub struct Language {
    /// Extension of file names in this language, without the dot: `lua`.
    pub extension: &'static str,
    /// Whether a file in this language can do whatever the user may, such as read files and start
    /// programs, and not only send statements.
    pub is_code: bool,
    /// Reads a workload from the text of a file. Names are [interned](model::interned), and the
    /// list of parameters is never freed.
    ///
    /// # Errors
    ///
    /// An error in the file, with its line.
    pub read: fn(&'static Source) -> Result<Entry, BadParameter>,
    /// Returns the texts of the further files that a workload's file loads, by path; `None` if
    /// files in this language load no others. See [`ReadModules`].
    pub modules: Option<ReadModules>,
}

/// Returns the texts of the files that a source loads, by path. Its second argument returns the
/// text of a file, or `None` if it does not exist. Fails if the source has an error.
pub type ReadModules =
    fn(&Source, fn(&str) -> Option<String>) -> Result<BTreeMap<String, String>, BadParameter>;

/// A group of clients that a run of the workload has if the user writes no plan, such as the
/// readers of `events`.
pub struct GroupRole {
    /// Name of the group, which is also the command-line flag for its number of clients.
    pub name: &'static str,
    /// Number of clients in the group if the flag is not given.
    pub default: &'static str,
    /// Help text of the flag for the number of clients, in one line.
    pub help: &'static str,
    /// Plan settings of the group (key and value), such as its rate, that apply unless the user
    /// sets the group's load by command-line flags. Such flags apply to the first group.
    pub values: &'static [(&'static str, &'static str)],
    /// Names of command-line flags that apply to this group, although flags otherwise apply to the
    /// first group.
    pub flags: &'static [&'static str],
    /// Parameters of the workload (name and value) that have another value in this group than the
    /// workload's default.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Name of a workload parameter that gets this group's number of clients, in all groups, unless
    /// the user sets it; `None` if there is none.
    pub count_parameter: Option<&'static str>,
}

/// Parameters, seed and existing data from which a workload is built.
pub struct Make<'a> {
    pub settings: &'a Settings,
    /// Seed of the plan, from which the random numbers of data and load are drawn.
    pub seed: u64,
    /// Identity of existing data, whose constants and seed replace those of the plan; `None` if
    /// there are none.
    pub data: Option<&'a Identity>,
    /// File that the workload was read from; `None` if it is compiled in.
    pub source: Option<&'static Source>,
}
