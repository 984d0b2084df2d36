//! Knowledge of a driver about its database product: SQL dialect, administration, monitoring.

use crate::{Administration, Dialect, Monitoring};

/// Everything that dbdyno knows about a database product: dialect, administration and monitoring.
/// Filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// SQL dialect of the database, for the statements of workloads.
    pub dialect: Dialect,
    /// Capabilities for building and administering data, before and after a load.
    pub administration: Administration,
    /// Queries for what the database reports about itself during a load.
    pub monitoring: Monitoring,
}

impl Product {
    /// Defaults for a new driver, without optional capabilities. Drivers and tests override
    /// individual fields.
    pub const PLAIN: Product = Product {
        dialect: Dialect::PLAIN,
        administration: Administration::PLAIN,
        monitoring: Monitoring::NONE,
    };
}
