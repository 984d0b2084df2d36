//! Certificates with which runs, agents and the hub's broker know each other: an authority of the
//! hub's own, and what it signs. All keys are Ed25519.
//!
//! Not here: who gets a certificate (hub), and what its name may do (subjects).

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ED25519, PublicKeyData, SignatureAlgorithm,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use sha2::{Digest, Sha256};

/// Name in the certificate of the broker. Agents and runs accept no other name.
pub(crate) const BROKER: &str = "broker.dbdyno";
/// Seconds by which certificates are dated back, so that hosts with a slow clock accept them.
const EARLIER_S: u64 = 60 * 60;

/// Error from creating or signing a certificate.
#[derive(Debug)]
pub(crate) struct CertificateError(rcgen::Error);

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no certificate can be made: {}", self.0)
    }
}

/// The seed of an Ed25519 key, which is secret.
#[derive(Clone)]
pub(crate) struct Seed(pub(crate) [u8; 32]);

impl Seed {
    /// Draws a new seed from the operating system.
    pub(crate) fn new() -> Seed {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the operating system has random numbers");
        Seed(seed)
    }

    /// Returns the key as PKCS #8 (RFC 8410, section 7).
    pub(crate) fn pkcs8(&self) -> PrivatePkcs8KeyDer<'static> {
        const HEAD: [u8; 16] =
            [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        PrivatePkcs8KeyDer::from([&HEAD[..], &self.0].concat())
    }

    pub(crate) fn key_pair(&self) -> KeyPair {
        KeyPair::from_pkcs8_der_and_sign_algo(&self.pkcs8(), &PKCS_ED25519)
            .expect("every seed makes a key")
    }

    pub(crate) fn public_key(&self) -> PublicKey {
        let pair = self.key_pair();
        PublicKey(pair.public_key_raw().try_into().expect("a public key has 32 bytes"))
    }
}

/// A public Ed25519 key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey(pub(crate) [u8; 32]);

impl PublicKeyData for PublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ED25519
    }
}

/// Time span in which a certificate is valid, in seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity {
    pub(crate) from_s: u64,
    pub(crate) to_s: u64,
}

impl Validity {
    /// Returns the span from an hour before now until `seconds` from now.
    pub(crate) fn of(now_s: u64, seconds: u64) -> Validity {
        Validity { from_s: now_s.saturating_sub(EARLIER_S), to_s: now_s + seconds }
    }
}

fn params_of(name: &str, validity: Validity) -> CertificateParams {
    let names = vec![name.to_owned()];
    let mut params = CertificateParams::new(names).expect("a name without special characters");
    params.distinguished_name.push(DnType::CommonName, name);
    let at = |seconds| rcgen::date_time_ymd(1970, 1, 1).add(Duration::from_secs(seconds));
    (params.not_before, params.not_after) = (at(validity.from_s), at(validity.to_s));
    params
}

/// The authority that signs all certificates of a hub.
pub(crate) struct Authority {
    seed: Seed,
    validity: Validity,
}

impl Authority {
    /// Creates the authority with this key. The same arguments make the same certificate.
    pub(crate) fn new(seed: Seed, validity: Validity) -> Authority {
        Authority { seed, validity }
    }

    fn params(&self) -> CertificateParams {
        let mut params = params_of("authority.dbdyno", self.validity);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params
    }

    /// Returns the authority's own certificate.
    pub(crate) fn certificate(&self) -> Result<Certificate, CertificateError> {
        self.params().self_signed(&self.seed.key_pair()).map_err(CertificateError)
    }

    /// Returns a certificate for a name and the owner of a key.
    pub(crate) fn sign(
        &self,
        name: &str,
        key: &PublicKey,
        validity: Validity,
    ) -> Result<Certificate, CertificateError> {
        let mut params = params_of(name, validity);
        let usage = match name {
            BROKER => ExtendedKeyUsagePurpose::ServerAuth,
            _ => ExtendedKeyUsagePurpose::ClientAuth,
        };
        params.extended_key_usages = vec![usage];
        let issuer = Issuer::new(self.params(), self.seed.key_pair());
        params.signed_by(key, &issuer).map_err(CertificateError)
    }
}

/// Returns a certificate that its own key has signed. The same arguments make the same bytes,
/// so two sides that know the seed need not exchange it.
pub(crate) fn self_signed(
    name: &str,
    seed: &Seed,
    validity: Validity,
) -> Result<Certificate, CertificateError> {
    let mut params = params_of(name, validity);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.self_signed(&seed.key_pair()).map_err(CertificateError)
}

/// Returns the SHA-256 of a certificate (DER).
pub(crate) fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    Sha256::digest(certificate).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_certificates() {
        let (seed, validity) = (Seed([7; 32]), Validity::of(1_800_000_000, 86_400));
        let certificate = || self_signed("join.dbdyno", &seed, validity).unwrap().der().to_vec();
        assert_eq!(certificate(), certificate());
        let authority =
            || Authority::new(seed.clone(), validity).certificate().unwrap().der().to_vec();
        assert_eq!(authority(), authority());
        assert_ne!(fingerprint(&authority()), fingerprint(&certificate()));
        assert_ne!(Seed::new().0, Seed::new().0);
    }
}
