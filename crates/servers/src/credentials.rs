//! Credentials of a private server: user, database and a random password.

use model::Secret;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::ServerError;

pub(crate) const USER: &str = "dbdyno";
pub(crate) const DATABASE: &str = "dbdyno";

/// Returns a random password for a server's user: 128 bits as hex digits, which need no quoting in
/// SQL or a URL.
pub(crate) fn draw_password() -> Result<Secret, ServerError> {
    let mut bytes = [0u8; 16];
    // Up to 256 bytes are never returned partly, once the system's pool is initialized.
    let n = getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|error| ServerError::system("cannot get random bytes for a password", error))?;
    assert_eq!(n, bytes.len(), "so few bytes come whole");
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
