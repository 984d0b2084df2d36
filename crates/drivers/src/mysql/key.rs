//! A password under the server's RSA key, for connections without TLS (`caching_sha2_password` and
//! `sha256_password`). The key comes from the server itself, unproven, as with other clients that
//! ask for it: it hides the password from onlookers, not from an impostor.

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use model::Refusal;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

use super::packets::broken;

/// Encrypts the password, mixed with the server's nonce, with the key that `pem` holds.
pub(super) fn encrypt(pem: &[u8], password: &[u8], nonce: &[u8]) -> Result<Vec<u8>, Refusal> {
    let bad = || broken("what it sends as its RSA key is none of 2048 to 8192 bits");
    if nonce.is_empty() {
        return Err(broken("it has sent no nonce"));
    }
    let key = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| bad())?;
    let key = PublicEncryptingKey::from_der(&key).map_err(|_| bad())?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| bad())?;
    let ended = password.iter().chain([&0]);
    let mixed: Vec<u8> =
        ended.zip(nonce.iter().cycle()).map(|(letter, salt)| letter ^ salt).collect();
    let mut out = vec![0; key.ciphertext_size()];
    let encrypted = key.encrypt(&OAEP_SHA1_MGF1SHA1, &mixed, &mut out, None);
    // A password of more letters than the key has room for.
    Ok(encrypted.map_err(|_| bad())?.to_vec())
}
