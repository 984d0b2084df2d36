//! Identification of the data that a workload runs on.

use serde::{Deserialize, Serialize};

/// Description of a database's data, kept in the table `dbdyno_meta` beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Name of the workload.
    pub workload: String,
    /// Version of the data format: other versions build other rows.
    pub version: u32,
    /// Parameters that shape the data, as pairs of name and value.
    pub scale: Vec<(String, String)>,
    /// Seed of the data.
    pub seed: u64,
    /// Constants of the data that the load must know, such as TPC-C's C-Load, by name.
    pub constants: Vec<(String, String)>,
}

impl Identity {
    /// Makes the identity of data without constants.
    pub fn new<const N: usize>(
        workload: &str,
        version: u32,
        scale: [(&str, String); N],
        seed: u64,
    ) -> Identity {
        let scale = scale.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Identity { workload: workload.to_owned(), version, scale, seed, constants: Vec::new() }
    }

    /// Returns the constant with this name.
    pub fn constant(&self, name: &str) -> Option<&str> {
        find(&self.constants, name)
    }

    /// Returns the data-shaping parameter with this name.
    pub fn scale_of(&self, name: &str) -> Option<&str> {
        find(&self.scale, name)
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
