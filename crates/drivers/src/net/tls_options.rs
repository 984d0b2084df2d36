//! The options of a target for TLS beside its mode. Not here: what is in their files (tls_client).

use std::path::Path;

use model::BadParameter;

use super::tls_mode::TlsMode;

/// Options of a target for its TLS connections; `None` for those that are not given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TlsOptions<'a> {
    /// Certificates of the trusted authorities; without it, those of the operating system are
    /// trusted.
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS verifies"))]
    pub(crate) ca: Option<&'a Path>,
    /// Certificate that the client presents, with those of intermediate authorities.
    pub(crate) cert: Option<&'a Path>,
    /// Private key of the client's certificate.
    pub(crate) key: Option<&'a Path>,
    /// Name of the protocol (ALPN) that the server must agree to, because TLS begins with the first
    /// byte of a connection. `None` if the server is asked for TLS first.
    pub(crate) direct: Option<&'static str>,
}

impl TlsOptions<'_> {
    /// Checks that certificate and key of the client are given together, and that options which
    /// need TLS are not given without it.
    pub(super) fn check(self, mode: TlsMode) -> Result<(), BadParameter> {
        if self.direct.is_some() && !mode.is_required() {
            let why = "direct begins with TLS, so it needs tls=require, verify-ca or verify-full";
            return Err(BadParameter::named("sslnegotiation", why));
        }
        let (given, other) = match (self.cert, self.key) {
            (None, None) => return Ok(()),
            (Some(_), None) => ("tls_cert", Some("tls_key")),
            (None, Some(_)) => ("tls_key", Some("tls_cert")),
            (Some(_), Some(_)) => ("tls_cert", None),
        };
        match other {
            Some(other) => Err(BadParameter::named(given, format!("it needs {other}=FILE too"))),
            None if mode == TlsMode::Disable => {
                let why = "with tls=disable no certificate is presented: use tls=require or above";
                Err(BadParameter::named(given, why))
            }
            None => Ok(()),
        }
    }
}
