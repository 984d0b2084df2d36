//! Made-up sides and studies for tests, of the made-up runs of `analysis::fixtures`.

pub mod sides;
pub mod studies;
