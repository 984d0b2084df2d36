//! All that a driver knows of its product, in three parts.

use crate::{Administration, Dialect, Monitoring};

/// What only one product knows, filled by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// How its SQL is spelled: for workloads.
    pub dialect: Dialect,
    /// How it is built in and administered: for what is done before and after a load.
    pub administration: Administration,
    /// How what it says of itself is read: for what is done beside a load.
    pub monitoring: Monitoring,
}

impl Product {
    /// The least. Drivers and tests say what differs.
    pub const PLAIN: Product = Product {
        dialect: Dialect::PLAIN,
        administration: Administration::PLAIN,
        monitoring: Monitoring::NONE,
    };
}
