//! Certificates for servers under test, made anew each time: an authority, and what it vouches for.

use std::io::Write;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::NamedTempFile;

/// A server's certificate for the name `localhost`, and who vouches for it.
pub(crate) struct Certificates {
    ca: NamedTempFile,
    stranger: NamedTempFile,
    /// The server's certificate (PEM).
    pub(crate) certificate: String,
    /// The server's key (PEM).
    pub(crate) key: String,
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
        }
    }

    /// The file of the authority that vouches for the server.
    pub(crate) fn ca(&self) -> &str {
        self.ca.path().to_str().expect("a plain path")
    }

    /// The file of one that does not know it.
    pub(crate) fn stranger(&self) -> &str {
        self.stranger.path().to_str().expect("a plain path")
    }
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
