//! TLS configuration of a target: the mode, the trusted authorities, and the client's certificate.
//!
//! Not here: when a protocol starts TLS (its sign-in), and TLS itself (tls_client).

use model::{BadParameter, DbError, DbErrorKind};

use super::address::Address;
use super::tls_client::{Config, Secured, config};
use super::tls_mode::TlsMode;
use super::tls_options::TlsOptions;

/// TLS mode of a target and the TLS configuration for it, shared by all its connections. Cheap to
/// clone.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) mode: TlsMode,
    /// Whether connections begin with TLS, without asking the server first.
    pub(crate) is_direct: bool,
    config: Option<Config>,
}

impl Tls {
    pub(crate) fn disabled() -> Tls {
        Tls { mode: TlsMode::Disable, is_direct: false, config: None }
    }

    /// Creates the TLS configuration for `mode` with these options. Fails if a file is
    /// invalid, or if `mode` requires TLS and this build lacks it.
    pub(crate) fn new(mode: TlsMode, options: TlsOptions<'_>) -> Result<Tls, BadParameter> {
        options.check(mode)?;
        if mode == TlsMode::Disable {
            return Ok(Tls::disabled());
        }
        // In a build without TLS, an optional mode means none.
        let is_direct = options.direct.is_some();
        let config = config(mode, options)?;
        Ok(config.map_or_else(Tls::disabled, |config| Tls {
            mode,
            is_direct,
            config: Some(config),
        }))
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
