//! Client implementation of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 5677, 7677).
//!
//! Deriving keys from a password takes milliseconds by design. All connections of a target share
//! the keys, so that they are derived once and not by each of a thousand clients. Not here: sending
//! and receiving messages.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use model::{DbError, DbErrorKind};
use sha2::{Digest, Sha256, Sha384, Sha512};

pub(super) const PLAIN: &str = "SCRAM-SHA-256";
pub(super) const PLUS: &str = "SCRAM-SHA-256-PLUS";

/// Limit on the iterations that a server may demand, since they cost CPU time; if it demands more,
/// the sign-in fails. PostgreSQL's default is 4,096.
const ITERATIONS_MAX: u32 = 1_000_000;
/// Limit on the number of salts whose keys are cached; before a further one, the cache is emptied.
/// A target has one salt per server, but a hostile server may invent more.
const SALTS_MAX: usize = 64;

type Hash = [u8; 32];

/// The client key and the server key of SCRAM, derived from a password.
#[derive(Clone, Copy)]
struct Keys {
    client: Hash,
    server: Hash,
}

/// Cache of the SCRAM keys of a target's user, by salt and number of iterations, since deriving
/// them costs CPU time.
#[derive(Default)]
pub(super) struct KeyCache {
    keys: Mutex<BTreeMap<(Vec<u8>, u32), Keys>>,
}

impl KeyCache {
    /// Returns the SCRAM keys of a password, and derives them if they are not cached. Concurrent
    /// callers wait for the result instead of deriving the same keys.
    fn get(&self, password: &str, salt: &[u8], iterations: u32) -> Keys {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = keys.get(&(salt.to_vec(), iterations)) {
            return *found;
        }
        if keys.len() >= SALTS_MAX {
            keys.clear();
        }
        let made = make_keys(password, salt, iterations);
        keys.insert((salt.to_vec(), iterations), made);
        made
    }
}

fn make_keys(password: &str, salt: &[u8], iterations: u32) -> Keys {
    // A password that SASLprep rejects is used unchanged, as the server does.
    let prepared = stringprep::saslprep(password);
    let password = prepared.as_deref().unwrap_or(password);
    let salted = stretch(password.as_bytes(), salt, iterations);
    Keys { client: hmac(&salted, &[b"Client Key"]), server: hmac(&salted, &[b"Server Key"]) }
}

/// Derives 32 bytes from a password by PBKDF2 with HMAC-SHA-256 (the function `Hi` of RFC 5802,
/// section 2.2).
fn stretch(password: &[u8], salt: &[u8], iterations: u32) -> Hash {
    let keyed = keyed(password);
    let next = |parts: &[&[u8]]| -> Hash {
        let mut mac = keyed.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    };
    let mut block = next(&[salt, &1u32.to_be_bytes()]);
    let mut sum = block;
    for _ in 1..iterations {
        block = next(&[&block]);
        sum = xor(sum, block);
    }
    sum
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key may have any length")
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Hash {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn xor(mut a: Hash, b: Hash) -> Hash {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// Channel binding of a SCRAM sign-in, which ties it to the TLS connection so that nobody can relay
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// No channel binding is possible, because there is no TLS, or none is defined for the server's
    /// certificate.
    Impossible,
    /// No channel binding is used, because the server does not offer any.
    NotOffered,
    /// Binds the sign-in to TLS by this hash of the server's certificate (`tls-server-end-point`,
    /// RFC 5929).
    Certificate(Vec<u8>),
}

impl Binding {
    fn header(&self) -> &'static str {
        match self {
            Binding::Impossible => "n,,",
            Binding::NotOffered => "y,,",
            Binding::Certificate(_) => "p=tls-server-end-point,,",
        }
    }
}

pub(super) struct Scram {
    binding: Binding,
    nonce: String,
    /// Signature with which the server must prove at the end that it knows the password; `None`
    /// before the client's last message is made.
    server_signature: Option<Hash>,
}

impl Scram {
    /// Begins a SCRAM sign-in, and returns its state and the client's first message. `nonce` must
    /// be random and never be used again.
    pub(super) fn begin(binding: Binding, nonce: [u8; 18]) -> (Scram, String) {
        let nonce = STANDARD.encode(nonce);
        let first = format!("{}{}", binding.header(), first_bare(&nonce));
        (Scram { binding, nonce, server_signature: None }, first)
    }

    /// Returns the client's last message, which answers the server's first one with a proof of the
    /// password. Fails if the server's message is malformed or demands too many iterations.
    pub(super) fn answer(
        &mut self,
        server_first: &[u8],
        password: &str,
        cache: &KeyCache,
    ) -> Result<String, DbError> {
        let server_first = std::str::from_utf8(server_first).map_err(|_| wrong("not UTF-8"))?;
        let (nonce, salt, iterations) =
            read_first(server_first).ok_or_else(|| wrong("its first message is malformed"))?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(wrong("its nonce does not begin with the client's"));
        }
        if !(1..=ITERATIONS_MAX).contains(&iterations) {
            let words = format!("it asks for {iterations} iterations; 1 to {ITERATIONS_MAX} are");
            return Err(wrong(&format!("{words} accepted")));
        }
        let keys = cache.get(password, &salt, iterations);
        let mut bound = self.binding.header().as_bytes().to_vec();
        if let Binding::Certificate(hash) = &self.binding {
            bound.extend_from_slice(hash);
        }
        let bare = format!("c={},r={nonce}", STANDARD.encode(bound));
        let first = first_bare(&self.nonce);
        let parts: [&[u8]; 5] =
            [first.as_bytes(), b",", server_first.as_bytes(), b",", bare.as_bytes()];
        let stored: Hash = Sha256::digest(keys.client).into();
        let proof = xor(keys.client, hmac(&stored, &parts));
        self.server_signature = Some(hmac(&keys.server, &parts));
        Ok(format!("{bare},p={}", STANDARD.encode(proof)))
    }

    /// Verifies the server's last message, by which it proves that it knows the password.
    pub(super) fn finish(&mut self, server_final: &[u8]) -> Result<(), DbError> {
        let expect = self.server_signature.take();
        let expect = expect.ok_or_else(|| wrong("its last message comes too early"))?;
        let signature = server_final.strip_prefix(b"v=").and_then(|v| STANDARD.decode(v).ok());
        if signature.as_deref() != Some(&expect[..]) {
            return Err(wrong("it does not prove that it knows the password"));
        }
        Ok(())
    }
}

/// Returns the client's first message without the header for channel binding. The user name in it
/// is empty, since the start-up message already contains it.
fn first_bare(nonce: &str) -> String {
    format!("n=,r={nonce}")
}

/// Parses the server's first message, `r=nonce,s=salt,i=iterations`, which unknown extensions may
/// follow. `None` if it is malformed.
fn read_first(message: &str) -> Option<(&str, Vec<u8>, u32)> {
    let mut parts = message.split(',');
    let nonce = parts.next()?.strip_prefix("r=")?;
    let salt = STANDARD.decode(parts.next()?.strip_prefix("s=")?).ok()?;
    let iterations = parts.next()?.strip_prefix("i=")?.parse().ok()?;
    Some((nonce, salt, iterations))
}

#[cold]
fn wrong(what: &str) -> DbError {
    DbError::new(
        DbErrorKind::Denied,
        format!(
            "the server's SCRAM authentication is invalid: {what}; check that this is the right \
             server"
        ),
    )
}

/// Returns the hash of a certificate (DER) for channel binding, by the hash function of its
/// signature, but SHA-256 instead of MD5 and SHA-1 (RFC 5929, section 4.1). `None` if none is
/// defined.
pub(super) fn certificate_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbs SEQUENCE, algorithm SEQUENCE { OBJECT IDENTIFIER, ... }, ... }
    let (certificate_body, _) = der(certificate, 0x30)?;
    let (_, behind_tbs) = der(certificate_body, 0x30)?;
    let (algorithm, _) = der(behind_tbs, 0x30)?;
    let (identifier, _) = der(algorithm, 0x06)?;
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let rsa = identifier.strip_prefix(RSA);
    let ecdsa = identifier.strip_prefix(ECDSA);
    match (rsa, ecdsa) {
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => {
            Some(Sha256::digest(certificate).to_vec())
        }
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(certificate).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(certificate).to_vec()),
        // RSA-PSS, Ed25519 and future ones.
        _ => None,
    }
}

/// Returns the content of the DER element at the start of `bytes`, and the bytes after the element.
/// `None` if the element is malformed or has another tag.
fn der(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let n_of_length = match first {
        0..=0x7f => return rest.split_at_checked(usize::from(first)),
        // No certificate exceeds 16 MiB.
        0x81..=0x83 => usize::from(first & 0x7f),
        _ => return None,
    };
    let (length, rest) = rest.split_at_checked(n_of_length)?;
    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests with the example of RFC 7677, section 3, whose first message, unlike dbdyno's,
    /// contains a user name.
    #[test]
    fn keys_are_those_of_the_rfc() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").expect("base64");
        let keys = KeyCache::default().get("pencil", &salt, 4096);
        let said = b"n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let stored: Hash = Sha256::digest(keys.client).into();
        let proof = xor(keys.client, hmac(&stored, &[said]));
        assert_eq!(STANDARD.encode(proof), "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let signature = hmac(&keys.server, &[said]);
        assert_eq!(STANDARD.encode(signature), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        let cache = KeyCache::default();
        let (mut scram, first) = Scram::begin(Binding::Impossible, [7; 18]);
        let nonce = first.strip_prefix("n,,n=,r=").expect("our nonce");
        let server_first = format!("r={nonce}more,s=AAAA,i=1");
        scram.answer(server_first.as_bytes(), "pencil", &cache).expect("well formed");
        let no = scram.finish(b"v=AAAA").expect_err("not the signature");
        assert_eq!(no.kind, DbErrorKind::Denied);
        assert!(scram.finish(b"v=AAAA").is_err());
    }

    #[test]
    fn a_servers_first_message_may_be_anything() {
        let answer = |message: &str| {
            let (mut scram, first) = Scram::begin(Binding::NotOffered, [7; 18]);
            assert!(first.starts_with("y,,n=,r="));
            scram.answer(message.as_bytes(), "pencil", &KeyCache::default()).expect_err(message)
        };
        let nonce = STANDARD.encode([7; 18]);
        answer("");
        answer("r=,s=,i=");
        answer(&format!("r={nonce},s=AAAA,i=1"));
        answer(&format!("r={nonce}x,s=AAAA,i=0"));
        answer(&format!("r={nonce}x,s=AAAA,i=4000000000"));
        answer(&format!("r={nonce}x,s=!,i=1"));
        answer("r=another,s=AAAA,i=1");
    }

    #[test]
    fn stretched_passwords_are_kept_and_their_number_is_bounded() {
        let cache = KeyCache::default();
        let first = cache.get("pencil", b"salt", 2);
        assert_eq!(first.client, cache.get("pencil", b"salt", 2).client);
        for n in 0..200u8 {
            cache.get("pencil", &[n], 1);
        }
        assert!(cache.keys.lock().expect("not poisoned").len() <= SALTS_MAX);
    }

    #[test]
    fn a_certificate_is_hashed_by_the_function_of_its_signature() {
        let certificate = |identifier: &[u8]| {
            let mut algorithm = vec![0x06, identifier.len() as u8];
            algorithm.extend_from_slice(identifier);
            let mut body = vec![0x30, 0x81, 2, 5, 0, 0x30, algorithm.len() as u8];
            body.extend_from_slice(&algorithm);
            [&[0x30, body.len() as u8], &body[..]].concat()
        };
        let length =
            |identifier: &[u8]| certificate_hash(&certificate(identifier)).map(|h| h.len());
        let rsa = |last| [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, last];
        assert_eq!(length(&rsa(5)), Some(32));
        assert_eq!(length(&rsa(11)), Some(32));
        assert_eq!(length(&rsa(12)), Some(48));
        assert_eq!(length(&rsa(13)), Some(64));
        assert_eq!(length(&rsa(10)), None, "RSA-PSS");
        assert_eq!(length(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 3, 3]), Some(48));
        assert_eq!(length(&[0x2b, 0x65, 0x70]), None, "Ed25519");
        let whole = certificate(&rsa(11));
        for n_bytes in 0..whole.len() {
            assert_eq!(certificate_hash(&whole[..n_bytes]), None);
        }
    }
}
