//! What is wanted of TLS, as people know it. Not here: how it is done (tls).

use std::fmt;

/// What is wanted of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// None.
    Disable,
    /// Where the server has it; any certificate. Not over Unix sockets.
    Prefer,
    /// Always; any certificate.
    Require,
    /// Always; the certificate must come from a trusted authority.
    VerifyCa,
    /// Always; the certificate must be trusted and name the host.
    VerifyFull,
}

impl TlsMode {
    /// All of them, as they are written.
    pub(crate) const NAMES: &'static [&'static str] =
        &["disable", "prefer", "require", "verify-ca", "verify-full"];

    /// The mode that is written so.
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

    /// Whether no connection is to have TLS.
    pub(crate) fn is_none(self) -> bool {
        self == TlsMode::Disable
    }

    /// Whether a connection without TLS is none at all.
    pub(crate) fn is_required(self) -> bool {
        matches!(self, TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull)
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TlsMode::NAMES[*self as usize])
    }
}
