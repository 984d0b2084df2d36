//! TLS to a hub's broker: the broker must show the authority that is expected, whatever its address
//! is, and this side shows a certificate that can be renewed while it is connected.
//!
//! Not here: who signs certificates (certificates).

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, PeerIncompatible, RootCertStore, SignatureScheme,
    version,
};

use crate::certificates::{BROKER, Seed, fingerprint};

/// The certificate that this side shows, which can be replaced.
#[derive(Debug)]
pub(crate) struct Shown(Mutex<Arc<CertifiedKey>>);

fn certified(certificate: Vec<u8>, seed: &Seed) -> Arc<CertifiedKey> {
    let key = ring::sign::any_eddsa_type(&seed.pkcs8()).expect("every seed makes a key");
    Arc::new(CertifiedKey::new(vec![CertificateDer::from(certificate)], key))
}

impl Shown {
    pub(crate) fn new(certificate: Vec<u8>, seed: &Seed) -> Arc<Shown> {
        Arc::new(Shown(Mutex::new(certified(certificate, seed))))
    }

    /// Shows another certificate from the next connection on.
    pub(crate) fn replace(&self, certificate: Vec<u8>, seed: &Seed) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = certified(certificate, seed);
    }
}

impl ResolvesClientCert for Shown {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Accepts a broker only if its authority has the expected SHA-256, and its certificate the name
/// [`BROKER`]. The address does not matter, so a hub may have any.
#[derive(Debug)]
struct Pinned {
    authority: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authority = intermediates.iter().find(|shown| fingerprint(shown) == self.authority);
        let other = || Error::General("the hub is another one than that of the token".to_owned());
        let mut roots = RootCertStore::empty();
        roots.add(authority.ok_or_else(other)?.clone().into_owned())?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&self.provider))
                .build()
                .map_err(|error| Error::General(error.to_string()))?;
        let name = ServerName::try_from(BROKER).expect("a valid name");
        verifier.verify_server_cert(end_entity, &[], &name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Not offered.
        Err(Error::PeerIncompatible(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the settings of connections to the broker whose authority has this SHA-256.
pub(crate) fn client_config(authority: [u8; 32], shown: Arc<Shown>) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned { authority, provider: Arc::clone(&provider) };
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])
        .expect("the provider has TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_client_cert_resolver(shown)
}
