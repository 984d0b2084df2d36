//! The token with which an agent joins a hub: it has the hash of the hub's authority, so the agent
//! knows the hub before it shows the secret, and the secret with its expiry.
//!
//! Not here: certificates, and what is exchanged (enrolment).

use std::fmt;

use rcgen::Certificate;

use crate::certificates::{CertificateError, Seed, Validity, self_signed};

/// Name in the certificate that is made of a token.
pub(crate) const JOIN: &str = "join.dbdyno";
/// Version of the form of tokens, which they begin with.
const FORM: &str = "dd1";
/// Seconds before its expiry from which the certificate of a token is valid, which is longer than
/// any token lives.
const VALID_S: u64 = 400 * 24 * 60 * 60;

/// Secret with which an agent joins a hub, and the hash of the hub's authority.
#[derive(Clone)]
pub struct Token {
    /// SHA-256 of the certificate of the hub's authority.
    pub(crate) authority: [u8; 32],
    pub(crate) seed: Seed,
    /// Time at which the token expires, in seconds since 1970.
    pub(crate) expires_s: u32,
}

impl Token {
    /// Reads a token. The error says what it should look like, and does not repeat it.
    pub fn parse(text: &str) -> Result<Token, String> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let [FORM, authority, secret] = parts.as_slice() else {
            let has_other_form = parts.len() == 3;
            return Err(match has_other_form {
                true => format!("its form is not {FORM}: hub and agent are of different versions"),
                false => format!(
                    "it is not whole: it looks like {FORM}:HASH:SECRET, as 'dbdyno hub' prints it"
                ),
            });
        };
        let broken = || "a character is missing or wrong: copy the whole line again".to_owned();
        let authority = bytes_of_hex(authority).and_then(|bytes| bytes.try_into().ok());
        let secret: Option<[u8; 36]> = bytes_of_hex(secret).and_then(|bytes| bytes.try_into().ok());
        let (authority, secret) = authority.zip(secret).ok_or_else(broken)?;
        let (seed, expires) = secret.split_first_chunk().ok_or_else(broken)?;
        let expires_s = expires.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        let expires_s = expires_s.ok_or_else(broken)?;
        Ok(Token { authority, seed: Seed(*seed), expires_s })
    }

    /// Returns the token as text, which is secret.
    pub fn reveal(&self) -> String {
        let secret = [&self.seed.0[..], &self.expires_s.to_be_bytes()].concat();
        format!("{FORM}:{}:{}", hex(&self.authority), hex(&secret))
    }

    /// Returns the certificate with which the owner of the token connects to the broker.
    pub(crate) fn certificate(&self) -> Result<Certificate, CertificateError> {
        let to_s = u64::from(self.expires_s);
        let validity = Validity { from_s: to_s.saturating_sub(VALID_S), to_s };
        self_signed(JOIN, &self.seed, validity)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// Returns bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads bytes in hexadecimal digits; `None` if they are not that.
pub(crate) fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_a_broken_one_is_refused_without_being_repeated() {
        let token = Token { authority: [3; 32], seed: Seed([5; 32]), expires_s: 1_800_000_000 };
        let text = token.reveal();
        let read = Token::parse(&format!(" {text}\n")).unwrap();
        assert_eq!((read.reveal(), read.certificate().is_ok()), (text.clone(), true));
        assert_eq!(format!("{token:?}"), "Token(***)");
        let (cut, other) = (&text[..text.len() - 1], text.replace("dd1", "dd2"));
        for bad in [cut, &text.replace('5', "x"), &other, "", "dd1:ab", "a:b:c:d"] {
            let why = Token::parse(bad).unwrap_err();
            assert!(!why.contains("0505"), "{why}");
        }
        assert!(Token::parse(&other).unwrap_err().contains("different versions"));
    }
}
