//! Parameters of the simulated network, and the greeting with which clients connect through it.
//!
//! Not here: the process that simulates it (network_path), and the clients (drivers).

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{byte_rate, format_count};

/// Delay and bandwidth of a simulated network between clients and server. By default there is no
/// simulated network, and clients connect directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkConditions {
    /// Delay of each byte in each direction, in nanoseconds; a round trip takes twice as long.
    pub delay_ns: u64,
    /// Limit on the bytes per second of all connections together, in each direction; `None` for no
    /// limit.
    pub bytes_per_s: Option<u64>,
}

impl NetworkConditions {
    /// Whether there is no simulated network, so that clients connect directly.
    pub fn is_direct(self) -> bool {
        self == NetworkConditions::default()
    }

    /// Formats the bandwidth with its unit, such as `10 MB/s`; `None` if unlimited.
    pub fn bandwidth_in_words(self) -> Option<String> {
        let (count, unit) = byte_rate(self.bytes_per_s?);
        Some(format!("{} {unit}", format_count(count)))
    }
}

/// Address at which clients on this machine enter the simulated network. It contains a secret, so
/// it has no `Debug`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PathEntrance {
    /// Port on 127.0.0.1 on which the simulated network listens.
    pub port: u16,
    /// Secret by which the simulated network recognises dbdyno's clients among other programs.
    pub token: [u8; 16],
}

impl PathEntrance {
    /// Returns the secret `token` in hexadecimal digits.
    pub fn token_hex(&self) -> String {
        self.token.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a text takes all that is written");
            text
        })
    }

    /// Returns the line with which a client begins a connection: the secret, and the addresses of
    /// the server to try in turn.
    pub fn greeting(&self, to: &[SocketAddr]) -> String {
        let to: Vec<String> = to.iter().map(SocketAddr::to_string).collect();
        format!("{} {}\n", self.token_hex(), to.join(","))
    }

    /// Parses a greeting without its line end into the addresses to try; `None` if the secret or an
    /// address is wrong.
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
