//! Certificate of the web service: a self-signed one, created once and stored beside the store, or
//! the user's files.
//!
//! Not here: when TLS is used (serve).

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::Error;
use files::write_whole;
use model::Civil;
use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;

use super::pidfile::beside;

/// Days for which dbdyno's self-signed certificate is valid, the most that browsers accept.
const VALID_DAYS: u32 = 825;
/// Days before its expiry at which dbdyno's self-signed certificate is replaced.
const RENEWED_DAYS: u32 = 30;
/// Maximum bytes of a file with a certificate chain or a key; a larger file is rejected.
const PEM_BYTES_MAX: u64 = 1 << 20;
const DAY_S: u64 = 24 * 60 * 60;

/// Certificate with its key, ready to accept TLS connections.
pub(crate) struct Identity {
    pub(super) acceptor: TlsAcceptor,
    /// SHA-256 of the certificate.
    pub(crate) digest: [u8; 32],
    /// Path of dbdyno's self-signed certificate; `None` for the user's certificate.
    pub(super) own: Option<PathBuf>,
}

/// Loads the user's certificate and key from PEM files.
pub(super) fn of_files(certificate: &Path, key: &Path) -> Result<Identity, Error> {
    let bad = |flag: &str, path: &Path, why: String| {
        Error::Usage(format!("{flag} {}: {why}", path.display()))
    };
    let chain = chain_of(certificate).map_err(|why| bad("--tls-cert", certificate, why))?;
    let secret = key_of(key).map_err(|why| bad("--tls-key", key, why))?;
    identity(chain, secret, None).map_err(|why| bad("--tls-cert", certificate, why))
}

/// Loads dbdyno's self-signed certificate from beside the store. Creates it if it is missing or
/// expires within [`RENEWED_DAYS`] days.
pub(crate) fn own(store: &Path, listen: IpAddr) -> Result<Identity, Error> {
    let (certificate, key) = (beside(store, "web.crt"), beside(store, "web.key"));
    let failed = |path: &Path, why: String| {
        let path = path.display();
        Error::Failed(format!("{path}: {why}: remove it, and another is created"))
    };
    if !certificate.exists() || !key.exists() || is_old(&certificate) {
        make(&certificate, &key, listen).map_err(|why| {
            let folder = certificate.parent().unwrap_or(Path::new(".")).display();
            Error::Failed(format!("no certificate can be created in {folder}: {why}"))
        })?;
    }
    is_private(&key).map_err(|why| failed(&key, why))?;
    let chain = chain_of(&certificate).map_err(|why| failed(&certificate, why))?;
    let secret = key_of(&key).map_err(|why| failed(&key, why))?;
    identity(chain, secret, Some(certificate.clone())).map_err(|why| failed(&certificate, why))
}

/// Returns true if dbdyno's self-signed certificate expires within [`RENEWED_DAYS`] days, by the
/// age of its file.
fn is_old(certificate: &Path) -> bool {
    let made = fs::metadata(certificate).and_then(|file| file.modified());
    let age = made.ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > u64::from(VALID_DAYS - RENEWED_DAYS) * DAY_S)
}

fn chain_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = files::read_bytes(path, PEM_BYTES_MAX).map_err(|error| error.to_string())?;
    let read = CertificateDer::pem_slice_iter(&pem);
    let chain: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    match chain.is_empty() {
        true => Err("it has no certificate (PEM)".to_owned()),
        false => Ok(chain),
    }
}

fn key_of(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let pem = files::read_bytes(path, PEM_BYTES_MAX).map_err(|error| error.to_string())?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| error.to_string())
}

fn identity(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    own: Option<PathBuf>,
) -> Result<Identity, String> {
    let digest = Sha256::digest(&chain[0]).into();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let mut config = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Ok(Identity { acceptor, digest, own })
}

impl Identity {
    /// Returns the SHA-256 fingerprint of the certificate, as browsers show it.
    pub(super) fn fingerprint(&self) -> String {
        let pairs: Vec<String> = self.digest.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(":")
    }
}

/// Creates a self-signed certificate for this machine: for `localhost`, its name, and the address
/// to listen on.
fn make(certificate: &Path, key: &Path, listen: IpAddr) -> Result<(), String> {
    let secret = KeyPair::generate().map_err(|error| error.to_string())?;
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    if !listen.is_unspecified() && !listen.is_loopback() {
        names.push(listen.to_string());
    }
    if machine.is_ascii() && machine != "localhost" && !machine.is_empty() {
        names.push(machine);
    }
    let mut params = CertificateParams::new(names).map_err(|error| error.to_string())?;
    let day = |days: i64| {
        let seconds = app::unix_ms() / 1_000 + days * DAY_S as i64;
        let date = Civil::of_us(seconds * 1_000_000);
        rcgen::date_time_ymd(date.year as i32, date.month, date.day)
    };
    // Valid for clients whose clock is slightly behind, too.
    params.not_before = day(-1);
    params.not_after = day(VALID_DAYS.into());
    params.distinguished_name.push(DnType::CommonName, "dbdyno web");
    let made = params.self_signed(&secret).map_err(|error| error.to_string())?;
    let wrong = |error: io::Error| error.to_string();
    write_whole(key, 0o600, secret.serialize_pem().as_bytes()).map_err(wrong)?;
    write_whole(certificate, 0o644, made.pem().as_bytes()).map_err(wrong)
}

fn is_private(key: &Path) -> Result<(), String> {
    let mode = fs::metadata(key).map_err(|error| error.to_string())?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(format!("others may read this key (mode {:o})", mode & 0o777)),
    }
}
