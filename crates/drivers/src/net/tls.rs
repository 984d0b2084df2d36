//! How a connection is secured: modes as people know them, and whom they trust.
//!
//! Not here: when a protocol begins with TLS (its sign-in), and how records move (stream).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use model::{BadParameter, Refusal, RefusalKind};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};

use super::address::Address;

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

/// A mode and what it takes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    /// What is wanted.
    pub(crate) mode: TlsMode,
    config: Option<Arc<ClientConfig>>,
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
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(mode, ca, &provider)?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Tls { mode, config: Some(Arc::new(config)) })
    }

    /// What is wanted on a connection to `address`: a Unix socket needs no cover unless asked.
    pub(crate) fn mode_for(&self, address: &Address) -> TlsMode {
        match (self.mode, address) {
            (TlsMode::Prefer, Address::Socket(_)) => TlsMode::Disable,
            (mode, _) => mode,
        }
    }

    /// A client's side of TLS with the server at `address`.
    pub(super) fn begin(&self, address: &Address) -> Result<ClientConnection, Refusal> {
        let host = address.host();
        let Some(config) = &self.config else {
            let message = "TLS was begun although it is disabled".to_owned();
            return Err(Refusal::new(RefusalKind::Unsupported, message));
        };
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let message = format!("'{host}' is not a valid host name for TLS");
            Refusal::new(RefusalKind::Denied, message)
        })?;
        ClientConnection::new(Arc::clone(config), name).map_err(|error| refusal(&error))
    }
}

/// A connection that TLS refuses, with what to do.
pub(super) fn refusal(error: &Error) -> Refusal {
    let advice = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "; name its certificate authority with tls_ca=FILE, or accept any certificate with \
             tls=require"
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "; connect by the name in the certificate, or use tls=verify-ca",
        Error::InvalidCertificate(other) if is_of_an_authority(other) => {
            "; this is the certificate of an authority (self-signed): give the server one signed \
             by that authority, or accept any certificate with tls=require"
        }
        Error::InvalidCertificate(_) => "; tls=require accepts any certificate",
        _ if is_too_old(error) => {
            "; the server does not support TLS 1.2 or later: upgrade it, or use tls=disable"
        }
        _ => "",
    };
    let kind = match error {
        Error::InvalidCertificate(_) => RefusalKind::Denied,
        _ if is_too_old(error) => RefusalKind::Denied,
        _ => RefusalKind::ConnectionLost,
    };
    Refusal::new(kind, format!("TLS: {error}{advice}"))
}

/// The library has no word of its own for it.
fn is_of_an_authority(error: &CertificateError) -> bool {
    let words = match error {
        CertificateError::Other(why) => format!("{why:?}"),
        _ => return false,
    };
    words.contains("CaUsedAsEndEntity")
}

/// Both sides have TLS, and no version or cipher in common.
fn is_too_old(error: &Error) -> bool {
    use rustls::AlertDescription::{HandshakeFailure, ProtocolVersion};
    matches!(
        error,
        Error::PeerIncompatible(_) | Error::AlertReceived(ProtocolVersion | HandshakeFailure)
    )
}

fn verifier(
    mode: TlsMode,
    ca: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, BadParameter> {
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if matches!(mode, TlsMode::Prefer | TlsMode::Require) {
        return Ok(Arc::new(Lenient { trusted: None, schemes }));
    }
    let roots = Arc::new(roots(ca)?);
    let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
    let trusted = builder.build().map_err(|error| BadParameter::of("tls_ca", error.to_string()))?;
    Ok(match mode {
        TlsMode::VerifyFull => trusted,
        _ => Arc::new(Lenient { trusted: Some(trusted), schemes }),
    })
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, BadParameter> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let words = "this system has no trusted certificate authorities; name one with \
                         tls_ca=FILE";
            return Err(BadParameter::new(words));
        }
        return Ok(roots);
    };
    let bad = |why: &dyn fmt::Display| {
        let path = path.display();
        BadParameter::of("tls_ca", format!("{path} is not a file of certificates (PEM): {why}"))
    };
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| bad(&error))? {
        roots.add(certificate.map_err(|error| bad(&error))?).map_err(|error| bad(&error))?;
    }
    if roots.is_empty() {
        return Err(bad(&"it contains no certificate"));
    }
    Ok(roots)
}

/// Looks at less of a certificate than a browser does, as `require` and `verify-ca` do elsewhere.
#[derive(Debug)]
struct Lenient {
    /// Who is trusted, whatever name a certificate has. None: whoever answers, which hides the
    /// traffic from onlookers and proves nothing about the server; the certificate is not parsed,
    /// since servers make themselves old ones (X.509 version 1) that would not be accepted.
    trusted: Option<Arc<WebPkiServerVerifier>>,
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.trusted.as_ref().map(|trusted| {
            trusted.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        match verified {
            // The name is looked at last, behind the chain and its dates.
            None
            | Some(Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ))) => Ok(ServerCertVerified::assertion()),
            Some(verified) => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.as_ref().map_or(Ok(HandshakeSignatureValid::assertion()), |trusted| {
            trusted.verify_tls12_signature(message, certificate, signature)
        })
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.as_ref().map_or(Ok(HandshakeSignatureValid::assertion()), |trusted| {
            trusted.verify_tls13_signature(message, certificate, signature)
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
