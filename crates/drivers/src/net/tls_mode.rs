//! TLS modes, which users choose with the option `tls`. Not here: TLS itself (tls_client).

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Never uses TLS, even if the server supports it.
    Disable,
    /// Uses TLS if the server supports it, and accepts any certificate. Uses none over Unix
    /// sockets.
    Prefer,
    /// Requires TLS, and accepts any certificate. Fails if the server does not support TLS.
    Require,
    /// Requires TLS with a certificate from a trusted authority, for any host name.
    VerifyCa,
    /// Requires TLS with a certificate from a trusted authority for the host's name.
    VerifyFull,
}

impl TlsMode {
    /// Names of the TLS modes, as users write them in the option `tls`, in the order of the
    /// variants.
    pub(crate) const NAMES: &'static [&'static str] =
        &["disable", "prefer", "require", "verify-ca", "verify-full"];

    /// Returns the TLS mode with this name, as users write it; `None` if there is none.
    pub(crate) fn by_name(name: &str) -> Option<TlsMode> {
        Some(match name {
            "disable" => TlsMode::Disable,
            "prefer" => TlsMode::Prefer,
            "require" => TlsMode::Require,
            "verify-ca" => TlsMode::VerifyCa,
            "verify-full" => TlsMode::VerifyFull,
            _ => return None,
        })
    }

    /// Whether this is the mode `disable`, which never uses TLS.
    pub(crate) fn is_none(self) -> bool {
        self == TlsMode::Disable
    }

    /// Whether this mode fails to connect if the server does not offer TLS.
    pub(crate) fn is_required(self) -> bool {
        matches!(self, TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull)
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TlsMode::NAMES[*self as usize])
    }
}
