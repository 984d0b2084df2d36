//! Packets of the MySQL protocol: their headers, and the replies with a fixed layout.
//!
//! Layouts are those of MariaDB's and MySQL's protocol documentation
//! (<https://mariadb.com/kb/en/clientserver-protocol/>). Not here: rows and values.

use model::{DbError, DbErrorKind};

use crate::net::Input;

/// Longest payload of one packet, in bytes. A payload of this length or more continues in the next
/// packet.
pub(super) const PART_BYTES: usize = 0xff_ffff;
pub(super) const HEADER_BYTES: usize = 4;

/// First byte of an OK packet. The first byte of a packet tells its type; see also [`ERROR`].
pub(super) const OK: u8 = 0x00;
pub(super) const FILE_WANTED: u8 = 0xfb;
pub(super) const END: u8 = 0xfe;
pub(super) const ERROR: u8 = 0xff;

/// Flag in the server's status at the end of a reply: the session is in a transaction.
pub(super) const IN_TRANSACTION: u16 = 0x0001;
pub(super) const MORE_RESULTS: u16 = 0x0008;
pub(super) const NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// Splits received bytes into packets, and joins the parts of a packet that is longer than 16 MiB.
pub(super) struct Framer {
    parts: Vec<u8>,
    bytes_max: usize,
}

/// A packet that was received completely and whose bytes are still in the receive buffer.
#[derive(Clone, Copy)]
pub(super) struct Framed {
    /// Number of bytes in the receive buffer that belong to the packet (or to its last part),
    /// including the header.
    n_bytes: usize,
    /// Sequence number of the packet (or of its last part) within the current command.
    pub(super) sequence: u8,
    is_joined: bool,
}

impl Framer {
    /// Creates a framer that rejects packets from the server with payloads of more than `bytes_max`
    /// bytes.
    pub(super) fn new(bytes_max: usize) -> Framer {
        Framer { parts: Vec::new(), bytes_max }
    }

    /// Returns the next packet in `input`; `None` if more bytes must be received. Fails if the
    /// packet is longer than the limit.
    #[inline]
    pub(super) fn next(&mut self, input: &mut Input) -> Result<Option<Framed>, DbError> {
        loop {
            let bytes = input.bytes();
            let [a, b, c, sequence, rest @ ..] = bytes else { return Ok(None) };
            let n_payload = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
            if self.parts.len() + n_payload > self.bytes_max {
                return Err(too_long(self.bytes_max));
            }
            if rest.len() < n_payload {
                return Ok(None);
            }
            let (n_bytes, sequence) = (HEADER_BYTES + n_payload, *sequence);
            if n_payload < PART_BYTES && self.parts.is_empty() {
                return Ok(Some(Framed { n_bytes, sequence, is_joined: false }));
            }
            self.parts.extend_from_slice(&rest[..n_payload]);
            if n_payload < PART_BYTES {
                return Ok(Some(Framed { n_bytes, sequence, is_joined: true }));
            }
            input.consume(n_bytes);
        }
    }

    /// Returns the payload of the packet that [`Framer::next`] has just returned, if it was joined
    /// from several parts; otherwise an empty vector. The result is an argument of
    /// [`Framed::payload`].
    #[inline]
    pub(super) fn take_parts(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parts)
    }
}

impl Framed {
    /// Returns the packet's payload, in `input` or in `parts`, which is the result of
    /// [`Framer::take_parts`].
    #[inline]
    pub(super) fn payload<'p>(&self, input: &'p Input, parts: &'p [u8]) -> &'p [u8] {
        if self.is_joined { parts } else { &input.bytes()[HEADER_BYTES..self.n_bytes] }
    }

    /// Removes the packet's bytes from the receive buffer, after the packet was parsed.
    #[inline]
    pub(super) fn consume(self, input: &mut Input) {
        input.consume(self.n_bytes);
    }
}

#[cold]
fn too_long(bytes_max: usize) -> DbError {
    let message = format!(
        "the server sends more than {bytes_max} bytes in one packet; raise max_packet in the \
         target's URL"
    );
    DbError::new(DbErrorKind::ConnectionLost, message)
}

/// Appends a packet to `out`: a header, and the payload that `write` appends. A payload of 16 MiB
/// or more is split into several packets, numbered from `sequence` on.
#[inline]
pub(super) fn put_packet(out: &mut Vec<u8>, sequence: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, sequence]);
    write(out);
    let n_payload = out.len() - start - HEADER_BYTES;
    if n_payload >= PART_BYTES {
        return split(out, start, sequence);
    }
    let [a, b, c, ..] = (n_payload as u32).to_le_bytes();
    out[start..start + 3].copy_from_slice(&[a, b, c]);
}

#[cold]
fn split(out: &mut Vec<u8>, start: usize, mut sequence: u8) {
    let payload = out.split_off(start + HEADER_BYTES);
    out.truncate(start);
    let mut rest = payload.as_slice();
    loop {
        let n_part = rest.len().min(PART_BYTES);
        let [a, b, c, ..] = (n_part as u32).to_le_bytes();
        out.extend_from_slice(&[a, b, c, sequence]);
        out.extend_from_slice(&rest[..n_part]);
        rest = &rest[n_part..];
        sequence = sequence.wrapping_add(1);
        // A last part of maximum length is followed by an empty one.
        if n_part < PART_BYTES {
            return;
        }
    }
}

/// Appends a command packet: the command byte and its argument `text`.
pub(super) fn put_command(out: &mut Vec<u8>, command: u8, text: &[u8]) {
    put_packet(out, 0, |out| {
        out.push(command);
        out.extend_from_slice(text);
    });
}

/// Appends `n` as a length-encoded integer, MySQL's variable-length format of 1 to 9 bytes.
#[inline]
pub(super) fn put_length(out: &mut Vec<u8>, n: usize) {
    match n {
        0..=250 => out.push(n as u8),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(n as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&(n as u64).to_le_bytes());
        }
    }
}

/// Reader of the fields of a packet, one after the other. Its methods return `None` if too few
/// bytes are left.
#[derive(Clone, Copy)]
pub(super) struct Reader<'p>(pub(super) &'p [u8]);

impl<'p> Reader<'p> {
    #[inline]
    pub(super) fn take(&mut self, n_bytes: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a length-encoded integer. `None` if too few bytes are left, or the first byte means
    /// null (0xfb) or an error (0xff).
    #[inline]
    pub(super) fn length(&mut self) -> Option<u64> {
        match self.u8()? {
            0xfb | 0xff => None,
            0xfc => self.u16().map(u64::from),
            0xfd => {
                let [a, b, c] = self.array()?;
                Some(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.u64(),
            short => Some(u64::from(short)),
        }
    }

    /// Reads a length-encoded string: a length-encoded integer, and as many bytes after it. `None`
    /// if too few bytes are left.
    #[inline]
    pub(super) fn string(&mut self) -> Option<&'p [u8]> {
        let n_bytes = usize::try_from(self.length()?).ok()?;
        self.take(n_bytes)
    }
}

/// Content of the OK or EOF packet that ends a reply: affected rows, status flags and number of
/// warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) n_affected: u64,
    pub(super) status: u16,
    pub(super) n_warnings: u16,
}

/// Parses an OK packet, which ends a reply; `None` if it is truncated.
pub(super) fn read_ok(payload: &[u8]) -> Option<Done> {
    let mut reader = Reader(payload.get(1..)?);
    let n_affected = reader.length()?;
    let _last_insert_id = reader.length()?;
    Some(Done { n_affected, status: reader.u16()?, n_warnings: reader.u16()? })
}

/// Parses an EOF packet, which ends rows unless client and server agreed on
/// `CLIENT_DEPRECATE_EOF`; `None` if it is truncated.
pub(super) fn read_eof(payload: &[u8]) -> Option<Done> {
    let mut reader = Reader(payload.get(1..)?);
    let n_warnings = reader.u16()?;
    Some(Done { n_affected: 0, status: reader.u16()?, n_warnings })
}

/// Error number, SQLSTATE and message in an ERR packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerError {
    pub(super) code: u16,
    pub(super) sqlstate: String,
    pub(super) message: String,
}

/// Parses an ERR packet; `None` if it is truncated. The SQLSTATE is empty for errors during the
/// sign-in, which have none.
pub(super) fn read_error(payload: &[u8]) -> Option<ServerError> {
    let mut reader = Reader(payload.get(1..)?);
    let code = reader.u16()?;
    let sqlstate = match reader.0.first() {
        Some(b'#') => String::from_utf8_lossy(reader.take(6)?.get(1..)?).into_owned(),
        _ => String::new(),
    };
    let message = String::from_utf8_lossy(reader.0).into_owned();
    Some(ServerError { code, sqlstate, message })
}

/// Content of the first packet of the reply to COM_STMT_PREPARE: the statement's ID, and its
/// numbers of columns and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreparedHeader {
    pub(super) id: u32,
    pub(super) n_columns: u16,
    pub(super) n_values: u16,
}

/// Parses the first packet of the reply to COM_STMT_PREPARE; `None` if it is truncated.
pub(super) fn read_prepared(payload: &[u8]) -> Option<PreparedHeader> {
    let mut reader = Reader(payload.get(1..)?);
    Some(PreparedHeader { id: reader.u32()?, n_columns: reader.u16()?, n_values: reader.u16()? })
}

/// Returns the error for a server that violates the protocol. The error breaks the connection.
/// `what` describes the violation, such as `a truncated OK packet`.
#[cold]
pub(super) fn broken(what: &str) -> DbError {
    let message =
        format!("MySQL protocol error: {what}; check that the target is a MySQL or MariaDB server");
    DbError::new(DbErrorKind::ConnectionLost, message)
}
