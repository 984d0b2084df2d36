//! A driver's knowledge of its product, in three parts.

use crate::{Administration, Dialect, Monitoring};

/// Properties of a product, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Spelling of its SQL, for workloads.
    pub dialect: Dialect,
    /// Building and administration, before and after a load.
    pub administration: Administration,
    /// Monitoring queries, during a load.
    pub monitoring: Monitoring,
}

impl Product {
    /// The minimum. Drivers and tests override what differs.
    pub const PLAIN: Product = Product {
        dialect: Dialect::PLAIN,
        administration: Administration::PLAIN,
        monitoring: Monitoring::NONE,
    };
}
