//! Writers: those who may add runs to a store through its web service, each with a token of its
//! own. The file of a store's writers has the hashes of their secrets, so it opens nothing.
//!
//! Not here: what a writer may send (pushed), and people with a password (auth).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use app::Error;
use axum::http::{HeaderMap, header};
use files::write_whole;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::pidfile::beside;

/// Beginning of a token, by which it is known among other words.
const PREFIX: &str = "dw1:";
/// Text in place of the fingerprint of a certificate that an authority has signed.
const ANY: &str = "-";
/// Largest size of a store's file of writers, in bytes.
const BYTES_MAX: u64 = 1 << 20;
/// Number of bytes of a secret, and of a fingerprint.
const BYTES: usize = 32;

/// Token of a writer: the secret, and the certificate of the service to which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriterToken {
    /// SHA-256 of the service's self-signed certificate; `None` if the system trusts its authority.
    pub(crate) fingerprint: Option<[u8; BYTES]>,
    secret: [u8; BYTES],
}

impl WriterToken {
    /// Parses a token as [`WriterToken::text`] prints it.
    pub(crate) fn parse(text: &str) -> Result<WriterToken, Error> {
        let bad = || {
            Error::Usage(
                "the token is damaged: take the one that 'dbdyno web writer add' printed"
                    .to_owned(),
            )
        };
        let rest = text.trim().strip_prefix(PREFIX).ok_or_else(bad)?;
        let (fingerprint, secret) = rest.split_once(':').ok_or_else(bad)?;
        let fingerprint = match fingerprint {
            ANY => None,
            hex => Some(bytes(hex).ok_or_else(bad)?),
        };
        Ok(WriterToken { fingerprint, secret: bytes(secret).ok_or_else(bad)? })
    }

    /// Returns the token as a word.
    pub(crate) fn text(&self) -> String {
        let fingerprint = self.fingerprint.map_or(ANY.to_owned(), |bytes| hex(&bytes));
        format!("{PREFIX}{fingerprint}:{}", hex(&self.secret))
    }

    /// Returns the header value that shows the secret to the service (RFC 6750, section 2.1).
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", hex(&self.secret))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<[u8; BYTES]> {
    let digits = (hex.len() == 2 * BYTES && hex.is_ascii()).then_some(hex)?;
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok();
    let all: Option<Vec<u8>> = (0..BYTES).map(byte).collect();
    all?.try_into().ok()
}

/// Writers of a store: names, and hashes of their secrets.
pub(crate) struct Writers {
    path: PathBuf,
    by_name: BTreeMap<String, String>,
}

impl Writers {
    /// Reads the writers of a store; none if there is no file of them.
    pub(crate) fn of_store(store: &Path) -> Result<Writers, Error> {
        let path = beside(store, "web.writers");
        if !path.exists() {
            return Ok(Writers { path, by_name: BTreeMap::new() });
        }
        let shown = path.display();
        let text = files::read_text(&path, BYTES_MAX)
            .map_err(|error| Error::Failed(format!("{shown} cannot be read: {error}")))?;
        let by_name = toml::from_str(&text)
            .map_err(|error| Error::Failed(format!("{shown}: {}", error.message())))?;
        Ok(Writers { path, by_name })
    }

    /// Returns the names of all writers, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Adds a writer and returns its token. Fails if there is one of this name.
    pub(crate) fn add(
        &mut self,
        name: &str,
        fingerprint: Option<[u8; BYTES]>,
    ) -> Result<WriterToken, Error> {
        if let Some(why) = store::why_no_label(PUSHED_BY, name) {
            return Err(Error::Usage(format!("'{name}' is no name of a writer: {why}")));
        }
        if self.by_name.contains_key(name) {
            return Err(Error::Usage(format!(
                "there is a writer {name}: choose another name, or 'dbdyno web writer remove {name}' \
                 first"
            )));
        }
        let mut secret = [0; BYTES];
        getrandom::fill(&mut secret)
            .map_err(|error| Error::Failed(format!("the system gives no random bits: {error}")))?;
        self.by_name.insert(name.to_owned(), hash(&hex(&secret)));
        self.write()?;
        Ok(WriterToken { fingerprint, secret })
    }

    /// Removes a writer. Its token opens nothing from then on.
    pub(crate) fn remove(&mut self, name: &str) -> Result<(), Error> {
        if self.by_name.remove(name).is_none() {
            return Err(Error::Usage(format!(
                "there is no writer {name}: 'dbdyno web writer list' names them"
            )));
        }
        self.write()
    }

    fn write(&self) -> Result<(), Error> {
        let failed = |why: String| Error::Failed(format!("{}: {why}", self.path.display()));
        let text = toml::to_string(&self.by_name).map_err(|error| failed(error.to_string()))?;
        write_whole(&self.path, 0o600, text.as_bytes()).map_err(|error| failed(error.to_string()))
    }

    /// Returns the name of the writer whose secret a request shows; `None` if it shows none that is
    /// known.
    pub(super) fn of_request(&self, headers: &HeaderMap) -> Option<&str> {
        let shown = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, secret) = shown.split_once(' ')?;
        let given = hash(secret.trim());
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        // Compare all of them, so that the time reveals nothing.
        self.by_name.iter().fold(None, |found, (name, known)| {
            let is_right = bool::from(given.as_bytes().ct_eq(known.as_bytes()));
            if is_right && is_bearer { Some(name.as_str()) } else { found }
        })
    }
}

/// Key of the label with the name of the writer that has pushed a run.
pub(super) const PUSHED_BY: &str = "pushed_by";

fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_token_opens_for_its_writer_until_that_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("runs.sqlite");
        let mut writers = Writers::of_store(&store).expect("none yet");
        let token = writers.add("ci", Some([7; 32])).expect("added");
        let other = writers.add("ann", None).expect("added");
        assert!(writers.add("ci", None).is_err() && writers.add("a\nb", None).is_err());
        assert_eq!(WriterToken::parse(&token.text()).expect("a token"), token);
        assert_eq!(WriterToken::parse(&format!(" {}\n", other.text())).expect("a token"), other);
        for damaged in ["", "dw1:", "dw1:-:", "dw1:-:12", "dd1:-:00", &token.text()[..100]] {
            assert!(WriterToken::parse(damaged).is_err(), "{damaged}");
        }
        let mut writers = Writers::of_store(&store).expect("it was written");
        let whose = |writers: &Writers, shown: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(shown).expect("a text"));
            writers.of_request(&headers).map(str::to_owned)
        };
        assert_eq!(whose(&writers, &token.bearer()).as_deref(), Some("ci"));
        assert_eq!(whose(&writers, &other.bearer()).as_deref(), Some("ann"));
        assert_eq!(whose(&writers, &token.bearer().replace("Bearer", "Basic")), None);
        assert_eq!(whose(&writers, "Bearer 00"), None);
        let text = std::fs::read_to_string(&writers.path).expect("a file");
        assert!(!text.contains(&token.bearer()[7..]), "{text}");
        writers.remove("ci").expect("removed");
        assert!(writers.remove("ci").is_err());
        assert_eq!(whose(&writers, &token.bearer()), None);
    }
}
