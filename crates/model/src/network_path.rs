//! A way to a server with a known delay and bandwidth: what is asked of it, and how a connection
//! through it begins.
//!
//! Not here: the way itself (network_path), and who connects (drivers).

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{byte_rate, format_count};

/// What is asked of the way to the server. The default asks for nothing: clients connect directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkConditions {
    /// By how much bytes arrive later, in each direction: a round trip takes twice as long.
    pub delay_ns: u64,
    /// Bytes per second of all connections together, in each direction; unlimited if none.
    pub bytes_per_s: Option<u64>,
}

impl NetworkConditions {
    /// Whether clients connect directly.
    pub fn is_direct(self) -> bool {
        self == NetworkConditions::default()
    }

    /// Its bandwidth, as people read it; none where it is unlimited.
    pub fn bandwidth_in_words(self) -> Option<String> {
        let (count, unit) = byte_rate(self.bytes_per_s?);
        Some(format!("{} {unit}", format_count(count)))
    }
}

/// Where clients of this machine enter the way. It has a secret, and is never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PathEntrance {
    /// A port of 127.0.0.1.
    pub port: u16,
    /// What distinguishes our clients from others on the machine.
    pub token: [u8; 16],
}

impl PathEntrance {
    /// The secret in letters and digits.
    pub fn token_hex(&self) -> String {
        self.token.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a text takes all that is written");
            text
        })
    }

    /// The line with which a connection begins: the secret, and the addresses to try in turn.
    pub fn greeting(&self, to: &[SocketAddr]) -> String {
        let to: Vec<String> = to.iter().map(SocketAddr::to_string).collect();
        format!("{} {}\n", self.token_hex(), to.join(","))
    }

    /// The addresses of such a line without its end; none if it is not one of ours.
    pub fn read_greeting(token_hex: &str, line: &str) -> Option<Vec<SocketAddr>> {
        let to = line.strip_prefix(token_hex)?.strip_prefix(' ')?;
        to.split(',').map(|address| address.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_by_who_knows_the_secret() {
        let entrance = PathEntrance { port: 1, token: [171; 16] };
        let to: Vec<SocketAddr> =
            ["[::1]:3306", "127.0.0.1:3306"].map(|text| text.parse().expect("valid")).into();
        let line = entrance.greeting(&to);
        assert_eq!(line, format!("{} [::1]:3306,127.0.0.1:3306\n", "ab".repeat(16)));
        let read = |token: &str| PathEntrance::read_greeting(token, line.trim_end());
        assert_eq!(read(&entrance.token_hex()), Some(to));
        assert_eq!(read(&"ac".repeat(16)), None);
        assert_eq!(PathEntrance::read_greeting("ab", "ab localhost:1"), None);
    }
}
