//! What names the data that a workload runs on.

use serde::{Deserialize, Serialize};

/// What data a database holds: kept in `dbdyno_meta` beside the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The workload's name.
    pub workload: String,
    /// The version of its data format: other versions build other rows.
    pub version: u32,
    /// The parameters that shape the data, by name.
    pub scale: Vec<(String, String)>,
    /// The seed of the data.
    pub seed: u64,
    /// Constants drawn for the load that the run must know, such as TPC-C's C-Load.
    pub constants: Vec<(String, String)>,
}

impl Identity {
    /// That of data without constants.
    pub fn new<const N: usize>(
        workload: &str,
        version: u32,
        scale: [(&str, String); N],
        seed: u64,
    ) -> Identity {
        let scale = scale.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Identity { workload: workload.to_owned(), version, scale, seed, constants: Vec::new() }
    }

    /// The constant of this name.
    pub fn constant(&self, name: &str) -> Option<&str> {
        find(&self.constants, name)
    }

    /// The data-shaping parameter of this name.
    pub fn scale_of(&self, name: &str) -> Option<&str> {
        find(&self.scale, name)
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
