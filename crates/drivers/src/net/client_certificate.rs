//! The certificate that clients present to a server, and its private key, read from files.
//!
//! Not here: the files of trusted authorities (tls_client).

use std::fmt;
use std::path::Path;

use model::BadParameter;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::tls_options::TlsOptions;

/// Limit on the size of a file with a certificate or a key, in bytes; a larger file is rejected.
const BYTES_MAX: u64 = 1 << 20;

/// Marks of a private key that is encrypted by a passphrase, in PKCS #8 (RFC 7468) and in older
/// files (RFC 1421).
const ENCRYPTED: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED"];

/// A certificate of a client, with those of intermediate authorities, and its private key.
pub(super) struct ClientCertificate {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl ClientCertificate {
    /// Reads certificate and key from the files that the target's options name; `None` if they name
    /// none.
    pub(super) fn read(options: TlsOptions<'_>) -> Result<Option<ClientCertificate>, BadParameter> {
        let (Some(cert), Some(key)) = (options.cert, options.key) else { return Ok(None) };
        Ok(Some(ClientCertificate { chain: chain(cert)?, key: private_key(key)? }))
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadParameter> {
    let bad = |why: &dyn fmt::Display| of_file("tls_cert", path, why);
    let text = files::read_bytes(path, BYTES_MAX).map_err(|error| bad(&error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|_| bad(&NO_CERTIFICATE))?;
    if found.is_empty() {
        return Err(bad(&NO_CERTIFICATE));
    }
    Ok(found)
}

const NO_CERTIFICATE: &str = "it contains no certificate (PEM)";

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, BadParameter> {
    let bad = |why: &dyn fmt::Display| of_file("tls_key", path, why);
    let text = files::read_bytes(path, BYTES_MAX).map_err(|error| bad(&error))?;
    if files::is_open_to_others(path).map_err(|error| bad(&error))? {
        let why = format!("others may read this private key: chmod 600 {}", path.display());
        return Err(bad(&why));
    }
    let contains = |mark: &[u8]| text.windows(mark.len()).any(|window| window == mark);
    if ENCRYPTED.iter().any(|mark| contains(mark)) {
        let why = "it is encrypted; dbdyno takes a key without a passphrase, as openssl pkey -in \
                   KEY -out PLAIN writes it";
        return Err(bad(&why));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound => bad(&"it contains no private key (PEM)"),
        _ => bad(&"its private key cannot be read: it is not valid PEM"),
    })
}

fn of_file(option: &'static str, path: &Path, why: &dyn fmt::Display) -> BadParameter {
    BadParameter::named(option, format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::certificates::Certificates;
    use crate::net::{Tls, TlsMode};

    #[test]
    fn a_certificate_or_key_that_cannot_be_used_is_said_in_one_sentence() {
        let certificates = Certificates::make();
        let [cert, key] = certificates.client.files();
        let [_, strange_key] = certificates.strange_client.files();
        let folder = tempfile::tempdir().expect("a folder");
        let made = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("changed");
            path.to_str().expect("a plain path").to_owned()
        };
        let tls = |mode, cert: Option<&str>, key: Option<&str>| {
            let [cert, key] = [cert, key].map(|path| path.map(Path::new));
            Tls::new(mode, TlsOptions { cert, key, ..TlsOptions::default() }).map(drop)
        };
        let refused = |cert: &str, key: &str, expect: &str| {
            let why = tls(TlsMode::Require, Some(cert), Some(key)).expect_err(expect).to_string();
            assert!(why.contains(expect), "{why}");
        };
        assert!(tls(TlsMode::Require, Some(cert), Some(key)).is_ok());
        refused(cert, strange_key, "tls_key: this private key is not that of tls_cert");
        refused(cert, "/nowhere/key.pem", "tls_key: /nowhere/key.pem: No such file");
        refused("/nowhere/cert.pem", key, "tls_cert: /nowhere/cert.pem: No such file");
        refused(key, key, "it contains no certificate (PEM)");
        refused(cert, cert, "it contains no private key (PEM)");
        let open = made("open.pem", &fs::read_to_string(key).expect("a key"), 0o644);
        refused(cert, &open, &format!("others may read this private key: chmod 600 {open}"));
        let label = "ENCRYPTED PRIVATE KEY";
        let text = format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
        refused(cert, &made("locked.pem", &text, 0o600), "it is encrypted; dbdyno takes a key");
        let label = "RSA PRIVATE KEY";
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n";
        let text = format!("-----BEGIN {label}-----\n{head}\nAAAA\n-----END {label}-----\n");
        refused(cert, &made("old.pem", &text, 0o600), "it is encrypted; dbdyno takes a key");
        let half = |cert, key| tls(TlsMode::Prefer, cert, key).expect_err("half").to_string();
        assert_eq!(half(Some(cert), None), "tls_cert: it needs tls_key=FILE too");
        assert_eq!(half(None, Some(key)), "tls_key: it needs tls_cert=FILE too");
        let why = tls(TlsMode::Disable, Some(cert), Some(key)).expect_err("no TLS").to_string();
        assert!(why.starts_with("tls_cert: with tls=disable no certificate"), "{why}");
    }
}
