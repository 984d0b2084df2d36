//! How a server of ours is signed in to: user, database, and a password that nobody has seen.

use model::Secret;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::ServerError;

/// Who signs in.
pub(crate) const USER: &str = "dbdyno";
/// What is signed in to.
pub(crate) const DATABASE: &str = "dbdyno";

/// 128 bits from the system, as hex digits: nothing that SQL or a URL would have to quote.
pub(crate) fn draw_password() -> Result<Secret, ServerError> {
    let mut bytes = [0u8; 16];
    // Up to 256 bytes come whole, once the system's pool is filled.
    let n = getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|error| ServerError::system("cannot get random bytes for a password", error))?;
    assert_eq!(n, bytes.len(), "so few bytes come whole");
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
