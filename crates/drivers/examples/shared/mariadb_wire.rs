//! A minimal MariaDB client for examples: packets and sign-in
//! (<https://mariadb.com/kb/en/clientserver-protocol/>).

use std::io::{self, Read, Write};
use std::net::TcpStream;

use model::Target;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;

/// Error that ends an example program.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Capability flags of the client at sign-in: protocol 4.1, a default database, native passwords,
/// and authentication plugins.
const CAPABILITIES: u32 = 0x0200 | 0x0008 | 0x8000 | 0x0008_0000;

/// Signs in with a native password. `more` has additional capability flags; those from bit 32 on
/// are MariaDB's own.
pub(crate) fn sign_in(stream: &mut TcpStream, target: &Target, more: u64) -> Result<(), Failure> {
    let hello = packet(stream)?;
    let version_end = hello.iter().position(|byte| *byte == 0).ok_or("no version")?;
    let salt_at = version_end + 1 + 4;
    let mut nonce = hello[salt_at..salt_at + 8].to_vec();
    let more_at = salt_at + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10;
    nonce.extend_from_slice(&hello[more_at..more_at + 12]);
    let password = target.password.as_ref().map_or("", |password| password.reveal());
    let scramble = scramble_native(&nonce, password.as_bytes());
    let scramble = scramble.map_or_else(Vec::new, |scramble| scramble.to_vec());
    let mut out = Vec::new();
    out.extend_from_slice(&(CAPABILITIES | more as u32).to_le_bytes());
    out.extend_from_slice(&(1u32 << 24).to_le_bytes());
    // Character set utf8mb4, 19 reserved bytes, and MariaDB's own capabilities.
    out.push(45);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&((more >> 32) as u32).to_le_bytes());
    out.extend_from_slice(target.user.as_deref().unwrap_or("root").as_bytes());
    out.extend_from_slice(&[0, scramble.len() as u8]);
    out.extend_from_slice(&scramble);
    out.extend_from_slice(target.path.as_bytes());
    out.extend_from_slice(b"\0mysql_native_password\0");
    send(stream, 1, &out)?;
    match packet(stream)?.first() {
        Some(0) => Ok(()),
        _ => Err("the server refuses to let us in".into()),
    }
}

/// Returns a packet with the sequence number `number`: its header and `payload`.
pub(crate) fn framed(number: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_le_bytes().to_vec();
    out[3] = number;
    out.extend_from_slice(payload);
    out
}

/// Sends a packet with the sequence number `number`.
pub(crate) fn send(stream: &mut TcpStream, number: u8, payload: &[u8]) -> io::Result<()> {
    stream.write_all(&framed(number, payload))
}

/// Receives the next packet and returns its payload.
pub(crate) fn packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}
