//! Identity of the data that a workload runs on: how they were built.

use serde::{Deserialize, Serialize};

/// Description of how the data of a workload were built: workload, scale and seed. Stored beside
/// the data in the table `dbdyno_meta`, so that a run can check that the data fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Name of the workload for which the data were built.
    pub workload: String,
    /// Version of the rules that build the data; with another version, the same seed gives other
    /// rows.
    pub version: u32,
    /// Parameters that shape the data, such as the number of warehouses, as pairs of name and
    /// value.
    pub scale: Vec<(String, String)>,
    /// Seed from which the rows were generated.
    pub seed: u64,
    /// Constants chosen when the data were built and needed by the load, such as TPC-C's C-Load, as
    /// pairs of name and value.
    pub constants: Vec<(String, String)>,
}

impl Identity {
    /// Creates the identity of data for which no constants were chosen when they were built.
    pub fn new<const N: usize>(
        workload: &str,
        version: u32,
        scale: [(&str, String); N],
        seed: u64,
    ) -> Identity {
        let scale = scale.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Identity { workload: workload.to_owned(), version, scale, seed, constants: Vec::new() }
    }

    /// Returns the value of the constant with this name; `None` if there is none.
    pub fn constant(&self, name: &str) -> Option<&str> {
        find(&self.constants, name)
    }

    /// Returns the value of the parameter with this name that shapes the data, such as
    /// `warehouses`; `None` if there is none.
    pub fn scale_of(&self, name: &str) -> Option<&str> {
        find(&self.scale, name)
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
