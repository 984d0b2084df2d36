//! TLS modes that users choose with the option `tls`. Not here: TLS itself (tls_client).

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Never uses TLS, even if offered.
    Disable,
    /// Uses TLS if the server supports it, with any certificate, but not over Unix sockets.
    Prefer,
    /// Requires TLS, with any certificate.
    Require,
    /// Requires TLS, with a certificate from a trusted authority.
    VerifyCa,
    /// Requires TLS, with a trusted certificate for the host's name.
    VerifyFull,
}

impl TlsMode {
    /// Names of all modes, as users write them, in the order of the variants.
    pub(crate) const NAMES: &'static [&'static str] =
        &["disable", "prefer", "require", "verify-ca", "verify-full"];

    /// Returns the mode with this name; `None` if there is none.
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

    /// Whether TLS is never used.
    pub(crate) fn is_none(self) -> bool {
        self == TlsMode::Disable
    }

    /// Whether connections without TLS are rejected.
    pub(crate) fn is_required(self) -> bool {
        matches!(self, TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull)
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TlsMode::NAMES[*self as usize])
    }
}
