//! TLS configuration of a target: the mode, and the trusted authorities.
//!
//! Not here: when a protocol starts TLS (its sign-in), and TLS itself (tls_client).

use std::path::Path;

use model::{BadParameter, DbError, DbErrorKind};

use super::address::Address;
use super::tls_client::{Config, Secured, config};
use super::tls_mode::TlsMode;

/// TLS mode of a target and the TLS configuration for it, shared by all its connections. Cheap to
/// clone.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) mode: TlsMode,
    config: Option<Config>,
}

impl Tls {
    pub(crate) fn disabled() -> Tls {
        Tls { mode: TlsMode::Disable, config: None }
    }

    /// Creates the TLS configuration for `mode`. Trusts the certificate authorities in the file
    /// `ca`, or those of the operating system if `ca` is `None`. Fails if the file is invalid, or
    /// if `mode` requires TLS and this build lacks it.
    pub(crate) fn new(mode: TlsMode, ca: Option<&Path>) -> Result<Tls, BadParameter> {
        if mode == TlsMode::Disable {
            return Ok(Tls::disabled());
        }
        // In a build without TLS, an optional mode means none.
        Ok(config(mode, ca)?
            .map_or_else(Tls::disabled, |config| Tls { mode, config: Some(config) }))
    }

    /// Returns the TLS mode for a connection to `address`: that of the target, but no TLS over Unix
    /// sockets if it is `prefer`.
    pub(crate) fn mode_for(&self, address: &Address) -> TlsMode {
        match (self.mode, address) {
            (TlsMode::Prefer, Address::Socket(_)) => TlsMode::Disable,
            (mode, _) => mode,
        }
    }

    /// Starts TLS for a connection to the server at `address`. Fails if the target disables TLS.
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
