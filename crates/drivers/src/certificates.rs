//! TLS certificates for test servers, newly generated for each test: an authority, and certificates
//! of a server and of a client that it signs.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::NamedTempFile;

/// An RSA key of 2048 bits for tests (PKCS #8, PEM); not a secret.
const RSA_KEY: &str = include_str!("certificates/rsa_test_key.pem");

/// A server certificate for the name `localhost` and its key, with the certificate of the authority
/// that signed it, for tests of TLS.
pub(crate) struct Certificates {
    ca: NamedTempFile,
    stranger: NamedTempFile,
    /// The test server's certificate (PEM), for the name `localhost`.
    pub(crate) certificate: String,
    /// Private key of the test server's certificate (PEM).
    pub(crate) key: String,
    /// Certificate of the client `law_certified`.
    pub(crate) client: OfClient,
    /// Certificate of a client of that name, signed by the unrelated authority.
    pub(crate) strange_client: OfClient,
}

/// The files of a client's certificate and key, readable by their owner alone.
pub(crate) struct OfClient {
    certificate: NamedTempFile,
    key: NamedTempFile,
}

/// Name of the client that the certificates of clients are for.
pub(crate) const CLIENT: &str = "law_certified";

impl OfClient {
    fn signed_by(authority: &CertifiedIssuer<'static, KeyPair>) -> OfClient {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, CLIENT);
        let certificate = params.signed_by(&key, authority).expect("signed");
        OfClient { certificate: file(&certificate.pem()), key: file(&key.serialize_pem()) }
    }

    /// Returns the paths of certificate and key, for the options `tls_cert` and `tls_key`.
    pub(crate) fn files(&self) -> [&str; 2] {
        [&self.certificate, &self.key].map(|file| file.path().to_str().expect("a plain path"))
    }
}

impl Certificates {
    pub(crate) fn make() -> Certificates {
        let (ca, stranger) = (authority("law"), authority("another"));
        let key = KeyPair::generate().expect("a key");
        let names = vec!["localhost".to_owned()];
        let of_server = CertificateParams::new(names).expect("a name");
        let certificate = of_server.signed_by(&key, &ca).expect("signed");
        Certificates {
            ca: file(&ca.pem()),
            stranger: file(&stranger.pem()),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            client: OfClient::signed_by(&ca),
            strange_client: OfClient::signed_by(&stranger),
        }
    }

    /// Creates a certificate for a test server with the old TLS library yaSSL: RSA, self-signed,
    /// with the key in the older format PKCS #1.
    pub(crate) fn make_old() -> Certificates {
        let key = rsa_key();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("signed");
        let bare = STANDARD.encode(bare_rsa_key());
        let lines: Vec<&str> =
            bare.as_bytes().chunks(64).map(|line| str::from_utf8(line).expect("letters")).collect();
        let label = "RSA PRIVATE KEY";
        let key = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"));
        let stranger = authority("another");
        Certificates {
            ca: file(&certificate.pem()),
            certificate: certificate.pem(),
            key,
            client: OfClient::signed_by(&stranger),
            strange_client: OfClient::signed_by(&stranger),
            stranger: file(&stranger.pem()),
        }
    }

    /// Returns the path of the file with the certificate of the authority that signed the server's
    /// certificate, for the option `tls_ca`.
    pub(crate) fn ca(&self) -> &str {
        self.ca.path().to_str().expect("a plain path")
    }

    /// Returns the path of the file with the certificate of an unrelated authority, with which
    /// verifying the server must fail.
    pub(crate) fn stranger(&self) -> &str {
        self.stranger.path().to_str().expect("a plain path")
    }
}

pub(crate) fn rsa_key() -> KeyPair {
    KeyPair::from_pem(RSA_KEY).expect("a key")
}

/// Returns the tests' RSA key in the older format PKCS #1 (DER).
pub(crate) fn bare_rsa_key() -> Vec<u8> {
    // PKCS #8 (RFC 5208) is a header of 26 bytes before PKCS #1, for a key of 2048 bits.
    rsa_key().serialized_der()[26..].to_vec()
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("signed")
}

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}
