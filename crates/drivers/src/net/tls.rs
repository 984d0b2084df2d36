//! How a connection is secured: modes as people know them, and whom they trust.
//!
//! Not here: when a protocol begins with TLS (its sign-in), and TLS itself (tls_client).

use std::path::Path;

use model::{BadParameter, DbError, DbErrorKind};

use super::address::Address;
use super::tls_client::{Config, Secured, config};
use super::tls_mode::TlsMode;

/// A mode and what it takes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    /// What is wanted.
    pub(crate) mode: TlsMode,
    config: Option<Config>,
}

impl Tls {
    /// No TLS.
    pub(crate) fn disabled() -> Tls {
        Tls { mode: TlsMode::Disable, config: None }
    }

    /// TLS in `mode`, trusting the authorities in the file `ca`, else the system's.
    pub(crate) fn new(mode: TlsMode, ca: Option<&Path>) -> Result<Tls, BadParameter> {
        if mode == TlsMode::Disable {
            return Ok(Tls::disabled());
        }
        // Where this build has no TLS, a mode that can do without it is no mode.
        Ok(config(mode, ca)?
            .map_or_else(Tls::disabled, |config| Tls { mode, config: Some(config) }))
    }

    /// What is wanted on a connection to `address`: a Unix socket needs no cover unless asked.
    pub(crate) fn mode_for(&self, address: &Address) -> TlsMode {
        match (self.mode, address) {
            (TlsMode::Prefer, Address::Socket(_)) => TlsMode::Disable,
            (mode, _) => mode,
        }
    }

    /// A client's side of TLS with the server at `address`.
    pub(super) fn begin(&self, address: &Address) -> Result<Secured, DbError> {
        match &self.config {
            Some(config) => config.begin(address.host()),
            None => {
                let message = "TLS was begun although it is disabled".to_owned();
                Err(DbError::new(DbErrorKind::Unsupported, message))
            }
        }
    }
}
