//! Files with the credentials of runs and agents, which only their owner may read.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::broker::Address;
use crate::certificates::Seed;
use crate::token::{bytes_of_hex, hex};

/// Largest size of such a file, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Access to a hub's broker under one name.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Credentials {
    /// Address of the broker.
    pub(crate) hub: String,
    /// SHA-256 of the authority's certificate, in hexadecimal digits.
    pub(crate) authority: String,
    /// Seed of the key, in hexadecimal digits.
    seed: String,
    /// Certificate of the key (DER), in hexadecimal digits.
    certificate: String,
    /// Time at which the certificate expires, in seconds since 1970.
    pub(crate) expires_s: u64,
}

impl Credentials {
    pub(crate) fn new(
        hub: &Address,
        authority: [u8; 32],
        seed: &Seed,
        certificate: &[u8],
        expires_s: u64,
    ) -> Credentials {
        Credentials {
            hub: hub.to_string(),
            authority: hex(&authority),
            seed: hex(&seed.0),
            certificate: hex(certificate),
            expires_s,
        }
    }

    pub(crate) fn address(&self) -> Result<Address, String> {
        Address::parse(&self.hub)
    }

    /// Returns the SHA-256 of the authority, the key and its certificate; `None` if the file was
    /// changed by hand.
    pub(crate) fn secrets(&self) -> Option<([u8; 32], Seed, Vec<u8>)> {
        let authority = bytes_of_hex(&self.authority)?.try_into().ok()?;
        let seed = bytes_of_hex(&self.seed)?.try_into().ok()?;
        Some((authority, Seed(seed), bytes_of_hex(&self.certificate)?))
    }
}

/// Reads a file of secrets. Fails if others may read it too.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("{shown} cannot be read: {error}");
    if files::is_open_to_others(path).map_err(failed)? {
        return Err(format!("{shown} is open to other users: chmod 600 {shown}"));
    }
    let text = files::read_text(path, BYTES_MAX).map_err(failed)?;
    toml::from_str(&text).map_err(|error| format!("{shown}: {}", error.message()))
}

/// Writes a file of secrets atomically, readable by its owner alone.
pub(crate) fn write<T: Serialize>(path: &Path, secrets: &T) -> Result<(), String> {
    let text = toml::to_string(secrets).map_err(|error| error.to_string())?;
    write_text(path, &text)
}

/// Writes a text that only its owner may read.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), String> {
    let written = files::write_whole(path, 0o600, text.as_bytes());
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// Creates a folder that only its owner may enter.
pub(crate) fn make_folder(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let failed = |error: std::io::Error| format!("{} cannot be created: {error}", path.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, mode).map_err(failed)
}
