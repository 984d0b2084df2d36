//! Encrypts a password with the server's RSA key, for connections without TLS
//! (`caching_sha2_password` and `sha256_password`). The key comes unverified from the server, so it
//! hides the password from eavesdroppers, but not from an impostor. It is therefore used only if
//! the password may be sent in clear text.

use model::DbError;
use mysql_common::crypto::der::{PubKeyFileType, pem_to_der};
use mysql_common::crypto::rsa::{GetRandom, Pkcs1OaepPadding, PublicKey};
use num_bigint::BigUint;
use yasna::{ASN1Error, ASN1ErrorKind, ASN1Result, BERReader};

use super::packets::broken;

/// Overhead of OAEP padding with SHA-1, in bytes (RFC 8017, section 7.1.1).
const PADDING: usize = 42;

/// Encrypts the password, XORed with the server's nonce, with the RSA key in `pem`. Fails if the
/// key is invalid or too short for the password, or the nonce is empty.
pub(super) fn encrypt(pem: &[u8], password: &[u8], nonce: &[u8]) -> Result<Vec<u8>, DbError> {
    let bad = || broken("its RSA key is not a valid key of 2048 to 8192 bits");
    if nonce.is_empty() {
        return Err(broken("it sent no nonce"));
    }
    let (key, PubKeyFileType::Pkcs8) = pem_to_der(pem).map_err(|_| bad())? else {
        return Err(bad());
    };
    let key = yasna::parse_der(&key, public_key).map_err(|_| bad())?;
    let ended = password.iter().chain([&0]);
    let mixed: Vec<u8> =
        ended.zip(nonce.iter().cycle()).map(|(letter, salt)| letter ^ salt).collect();
    if mixed.len() + PADDING > key.num_octets() {
        return Err(broken("its RSA key is too short for a password of this length"));
    }
    key.encrypt_block(mixed, Pkcs1OaepPadding::new(GetRandom)).map_err(|_| bad())
}

/// Parses an RSA public key in the format of X.509 (RFC 5280, section 4.1.2.7; RFC 8017, appendix
/// A.1.1). Fails unless the key has 2,048 to 8,192 bits: a shorter one is not safe, and encrypting
/// with a longer one would slow the client.
fn public_key(reader: BERReader<'_, '_>) -> ASN1Result<PublicKey> {
    let (key, bits) = reader.read_sequence(|reader| {
        reader.next().read_sequence(|reader| {
            reader.next().read_oid()?;
            reader.read_optional(|reader| reader.read_null()).map(drop)
        })?;
        reader.next().read_bitvec_bytes()
    })?;
    let invalid = || ASN1Error::new(ASN1ErrorKind::Invalid);
    if key.len() * 8 != bits {
        return Err(invalid());
    }
    let (modulus, exponent) = yasna::parse_der(&key, |reader| {
        reader.read_sequence(|reader| {
            let modulus = reader.next().read_bigint_bytes()?;
            Ok((modulus, reader.next().read_bigint_bytes()?))
        })
    })?;
    let number = |(bytes, is_positive): (Vec<u8>, bool)| match is_positive {
        true => Ok(BigUint::from_bytes_be(&bytes)),
        false => Err(invalid()),
    };
    let (modulus, exponent) = (number(modulus)?, number(exponent)?);
    // Whole bytes, because the padding is counted in bytes.
    let is_sound = (2048..=8192).contains(&modulus.bits())
        && modulus.bits().is_multiple_of(8)
        && modulus.bit(0)
        && (2..=33).contains(&exponent.bits())
        && exponent.bit(0);
    if is_sound { Ok(PublicKey::new(modulus, exponent)) } else { Err(invalid()) }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// Returns the PEM text of an RSA public key with this modulus and exponent, as a server sends
    /// it.
    fn pem(modulus: &[u8], exponent: &[u8]) -> String {
        let key = yasna::construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_bigint_bytes(modulus, true);
                writer.next().write_bigint_bytes(exponent, true);
            });
        });
        let whole = yasna::construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_sequence(|writer| {
                    // rsaEncryption (RFC 8017, appendix A.1).
                    let rsa = [1, 2, 840, 113_549, 1, 1, 1];
                    writer.next().write_oid(&yasna::models::ObjectIdentifier::from_slice(&rsa));
                    writer.next().write_null();
                });
                writer.next().write_bitvec_bytes(&key, key.len() * 8);
            });
        });
        let whole = STANDARD.encode(whole);
        format!("-----BEGIN PUBLIC KEY-----\n{whole}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn keys_without_sense_are_refused_before_any_arithmetic() {
        let sound = [0xc5; 256];
        let exponent = [1, 0, 1];
        let check = |modulus: &[u8], exponent: &[u8], n_letters: usize| {
            encrypt(pem(modulus, exponent).as_bytes(), &vec![b'x'; n_letters], b"salt")
        };
        assert_eq!(check(&sound, &exponent, 213).expect("it fits").len(), 256);
        let no = check(&sound, &exponent, 214).expect_err("one letter too many");
        assert!(no.message.contains("too short for a password"), "{no}");
        let mut even = sound;
        even[255] = 0xc4;
        let mut of_2041_bits = sound;
        of_2041_bits[0] = 1;
        for (modulus, exponent) in [
            (&sound[..128], &exponent[..]),
            (&[0xc5; 1025], &exponent),
            (&even, &exponent),
            (&of_2041_bits, &exponent),
            (&[0], &exponent),
            (&sound, &[0]),
            (&sound, &[1]),
            (&sound, &[2]),
            (&sound, &[1, 0, 0, 0, 0, 1]),
        ] {
            let no = check(modulus, exponent, 6).expect_err("refused");
            assert!(no.message.contains("not a valid key of 2048 to 8192 bits"), "{no}");
        }
    }
}
