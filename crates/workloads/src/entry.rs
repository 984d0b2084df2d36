//! What the list of workloads tells of each, and what one is decided from.

use std::sync::Arc;

use model::{BadParameter, Identity, Parameter, Settings, Workload};

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
    /// Decides it.
    pub make: fn(&Make<'_>) -> Result<Arc<dyn Workload>, BadParameter>,
}

/// What a workload is decided from.
pub struct Make<'a> {
    /// Its parameters, decided.
    pub settings: &'a Settings,
    /// The seed of the plan.
    pub seed: u64,
    /// What data there is, if there is any: its constants and seed hold.
    pub data: Option<&'a Identity>,
}
