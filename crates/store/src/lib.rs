//! The store: every run of this user in one SQLite file, written while it runs and readable by all
//! later versions.
//!
//! A run is stored as its stream of events: [`Store::events`] replays exactly what [`Writer::send`]
//! was given, so that everything derived from a live run can be derived again. Many processes may
//! read and write one store at once. A run whose writer died shows as interrupted; readers derive
//! that, and no clean-up is needed.
//!
//! Not here: the meaning of a report or finding, and the decision to store a run.

mod checksum;
mod codec;
mod digests;
mod error;
mod experiment_lock;
mod experiments;
mod histories;
mod import_export;
mod imported;
mod interval_log;
mod jobs;
mod judged_limits;
mod place;
mod process;
mod query;
mod reader;
mod schema;
mod settings;
mod store;
mod summary;
#[cfg(test)]
mod tests;
mod wall_clock;
mod writer;

pub use self::digests::Digest;
pub use self::error::{StoreError, StoreErrorKind};
pub use self::experiment_lock::{ExperimentLock, ExperimentLockRow};
pub use self::experiments::{TrialRow, trials_completed};
pub use self::import_export::{Imported, RunCheck};
pub use self::imported::{IfKnown, ImportedRow};
pub use self::interval_log::interval_log;
pub use self::jobs::{ActionRow, Job, JobKind, JobRow, JobStatus};
pub use self::place::{default_path, is_of_store};
pub use self::process::{Fate, Process};
pub use self::query::{BadQuery, ExperimentFilter, Figures, HasFigures, Query, Sort, why_no_label};
pub use self::reader::{Filter, ID_SHOWN, LAST, RunRow};
pub use self::schema::{holds_runs, is_exported};
pub use self::settings::Changed;
pub use self::store::Store;
pub use self::summary::{INFINITE_NS, PrimaryFigure, Summary, listed_ns};
pub use self::wall_clock::utc;
pub use self::writer::Writer;
