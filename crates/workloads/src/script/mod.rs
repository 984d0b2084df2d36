//! Workloads that users write in files, in the languages of other tools: a folder per language.
//!
//! Not here: the registration of a workload that was read (the crate's root).

#[cfg(feature = "lua")]
pub mod lua;
pub mod pgbench;
mod places;
pub mod sql;

use crate::entry::Language;

/// Languages in which users may write workloads.
pub(crate) static LANGUAGES: &[&Language] = &[
    #[cfg(feature = "lua")]
    &lua::LANGUAGE,
    &sql::LANGUAGE,
    &sql::PGBENCH,
];
