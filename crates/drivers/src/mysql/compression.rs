//! The compressed protocol of the MySQL family: packets within frames, each frame deflated
//! separately.
//!
//! A frame has a header with its length, a sequence number, and the length of its inflated content,
//! or 0 if the content is not deflated (<https://mariadb.com/kb/en/0-packet/>). Not here: packets,
//! and `zstd`, which no MariaDB server supports.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use model::{
    DbError, Reply, Request, RowSource, SentStatement, Statement, StatementId, Table, Traffic,
    Visit,
};

use super::packets::{HEADER_BYTES, PART_BYTES, broken};
use super::protocol::MySql;
use crate::net::{CancelKey, Input, Protocol, Step};

/// Length of the header of a compressed frame, in bytes: 3 for the length of its content, 1 for the
/// sequence number, 3 for the length after decompression.
const FRAME_HEADER_BYTES: usize = 7;
/// Shortest content of an outgoing frame, in bytes, that is compressed. Shorter frames contain
/// their packets uncompressed. Servers have the same limit.
const DEFLATED_BYTES_MIN: usize = 50;
/// Length of the longest compressed frame, in bytes, with its header.
pub(super) const FRAME_BYTES_MAX: usize = FRAME_HEADER_BYTES + PART_BYTES;

/// Converter between packets and the frames of the compressed MySQL protocol, in both directions.
pub(super) struct Compressor {
    deflate: Compress,
    inflate: Decompress,
    /// Received packets that are decompressed but not read yet.
    plain: Input,
    /// Buffer for outgoing packets before they are put into compressed frames.
    unpacked: Vec<u8>,
    /// Buffer for the decompressed content of a received frame.
    inflated: Vec<u8>,
    /// Buffer for the compressed content of an outgoing frame.
    deflated: Vec<u8>,
    /// Sequence number of the next compressed frame that the client sends. A frame that begins a
    /// command has 0 instead.
    next_frame: u8,
    /// Sequence number of the client's next packet if it continues the current command, as a
    /// further part of a long packet or as rows of a bulk load. `None` if the next packet begins a
    /// command.
    next_packet: Option<u8>,
}

impl Compressor {
    /// Creates a compressor that accepts packets of at most `packet_bytes_max` bytes from the
    /// server.
    pub(super) fn new(packet_bytes_max: usize) -> Compressor {
        // Room for an incomplete part of a packet, and one more frame.
        let part_bytes = packet_bytes_max.min(PART_BYTES) + HEADER_BYTES;
        Compressor {
            deflate: Compress::new(Compression::default(), true),
            inflate: Decompress::new(true),
            plain: Input::new(part_bytes + FRAME_BYTES_MAX),
            unpacked: Vec::new(),
            inflated: Vec::new(),
            deflated: Vec::new(),
            next_frame: 0,
            next_packet: None,
        }
    }

    /// Returns the received packets that are decompressed but not read yet.
    pub(super) fn plain(&mut self) -> &mut Input {
        &mut self.plain
    }

    /// Decompresses the next frame of `input`, and keeps its packets for reading. Returns false if
    /// the frame is incomplete; fails if it is invalid.
    pub(super) fn take(&mut self, input: &mut Input) -> Result<bool, DbError> {
        let [a, b, c, sequence, d, e, f, rest @ ..] = input.bytes() else { return Ok(false) };
        let length =
            |bytes: [u8; 3]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (n_bytes, n_plain) = (length([*a, *b, *c]), length([*d, *e, *f]));
        let Some(body) = rest.get(..n_bytes) else { return Ok(false) };
        if n_plain == 0 {
            self.plain.push(body)?;
        } else {
            self.inflated.clear();
            self.inflated.reserve_exact(n_plain);
            self.inflate.reset(true);
            let finish = FlushDecompress::Finish;
            let done = self.inflate.decompress_vec(body, &mut self.inflated, finish);
            let is_whole = matches!(done, Ok(Status::StreamEnd)) && self.inflated.len() == n_plain;
            if !is_whole {
                return Err(broken("an invalid compressed packet"));
            }
            self.plain.push(&self.inflated)?;
        }
        self.next_frame = sequence.wrapping_add(1);
        input.consume(FRAME_HEADER_BYTES + n_bytes);
        if self.inflated.capacity() > BYTES_KEPT {
            self.inflated = Vec::new();
        }
        Ok(true)
    }

    /// Calls `put`, which reads decompressed packets and writes new ones, and appends the new ones
    /// to `out` in compressed frames. `is_load` means that the new packets are rows of a bulk load
    /// and continue its command. Returns the result of `put`.
    pub(super) fn pack<T>(
        &mut self,
        out: &mut Vec<u8>,
        is_load: bool,
        put: impl FnOnce(&mut Input, &mut Vec<u8>) -> T,
    ) -> T {
        let mut unpacked = std::mem::take(&mut self.unpacked);
        let result = put(&mut self.plain, &mut unpacked);
        let mut rest = unpacked.as_slice();
        while let [a, b, c, sequence, ..] = rest {
            let n_payload = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
            let (packet, others) = rest.split_at(HEADER_BYTES + n_payload);
            let goes_on = *sequence > 0 || self.next_packet == Some(0);
            if !goes_on {
                // A command begins a new exchange.
                self.next_frame = 0;
            }
            let goes_on = n_payload == PART_BYTES || (is_load && n_payload > 0);
            self.next_packet = goes_on.then_some(sequence.wrapping_add(1));
            for piece in packet.chunks(PART_BYTES) {
                self.put_frame(out, piece);
            }
            rest = others;
        }
        unpacked.clear();
        unpacked.shrink_to(BYTES_KEPT);
        self.unpacked = unpacked;
        result
    }

    fn put_frame(&mut self, out: &mut Vec<u8>, plain: &[u8]) {
        self.deflated.clear();
        // With this capacity, deflating fails if it would not shorten the content.
        self.deflated.reserve_exact(plain.len());
        let is_deflated = plain.len() >= DEFLATED_BYTES_MIN && {
            self.deflate.reset();
            let finish = FlushCompress::Finish;
            let done = self.deflate.compress_vec(plain, &mut self.deflated, finish);
            matches!(done, Ok(Status::StreamEnd)) && self.deflated.len() < plain.len()
        };
        let (body, n_plain) = match is_deflated {
            true => (self.deflated.as_slice(), plain.len()),
            false => (plain, 0),
        };
        out.extend_from_slice(&(body.len() as u32).to_le_bytes()[..3]);
        out.push(self.next_frame);
        out.extend_from_slice(&(n_plain as u32).to_le_bytes()[..3]);
        out.extend_from_slice(body);
        self.next_frame = self.next_frame.wrapping_add(1);
        self.deflated.shrink_to(BYTES_KEPT);
    }
}

/// Size of a compression buffer, in bytes, beyond which its memory is freed after use.
const BYTES_KEPT: usize = 1 << 20;

/// MySQL protocol of a signed-in connection, with compression if client and server agreed on it.
pub(super) struct Connection {
    protocol: MySql,
    compressor: Option<Box<Compressor>>,
}

impl Connection {
    pub(super) fn new(protocol: MySql, compressor: Option<Box<Compressor>>) -> Connection {
        Connection { protocol, compressor }
    }
}

impl Protocol for Connection {
    #[inline]
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError> {
        let Connection { protocol, compressor } = self;
        match compressor {
            None => protocol.start(request, out),
            Some(compressor) => compressor.pack(out, false, |_, out| {
                protocol.start(request, out).inspect_err(|_| out.clear())
            }),
        }
    }

    #[inline]
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        let Connection { protocol, compressor } = self;
        let Some(compressor) = compressor else { return protocol.advance(input, out, visit) };
        loop {
            let step = compressor
                .pack(out, false, |plain, out| protocol.advance(plain, out, &mut *visit))?;
            if !matches!(step, Step::More) || !compressor.take(input)? {
                return Ok(step);
            }
        }
    }

    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError> {
        let Connection { protocol, compressor } = self;
        match compressor {
            None => protocol.start_load(table, out),
            Some(compressor) => compressor.pack(out, false, |_, out| {
                protocol.start_load(table, out).inspect_err(|_| out.clear())
            }),
        }
    }

    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        let Connection { protocol, compressor } = self;
        let Some(compressor) = compressor else { return protocol.advance_load(input, out, source) };
        loop {
            // Only one chunk of rows is in the output at a time.
            if protocol.is_sending() && !out.is_empty() {
                return Ok(Step::Send);
            }
            let step = compressor
                .pack(out, true, |plain, out| protocol.advance_load(plain, out, source))?;
            if !matches!(step, Step::More) || !compressor.take(input)? {
                return Ok(step);
            }
        }
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        self.protocol.prepare(statement)
    }

    fn close(&mut self, statement: StatementId) {
        self.protocol.close(statement);
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        self.protocol.sent(request)
    }

    #[inline]
    fn traffic(&self) -> Traffic {
        self.protocol.traffic()
    }

    #[inline]
    fn n_unanswered(&self) -> usize {
        self.protocol.n_unanswered()
    }

    fn is_committing(&self) -> bool {
        self.protocol.is_committing()
    }

    fn cancel_key(&self) -> CancelKey {
        self.protocol.cancel_key()
    }

    fn say_goodbye(&mut self, out: &mut Vec<u8>) {
        let Connection { protocol, compressor } = self;
        match compressor {
            None => protocol.say_goodbye(out),
            Some(compressor) => compressor.pack(out, false, |_, out| protocol.say_goodbye(out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::put_packet;
    use super::*;

    /// Compresses payloads with one compressor and decompresses them with another, which receives
    /// pieces of `n_piece` bytes.
    fn through(payloads: &[Vec<u8>], n_piece: usize) -> Vec<u8> {
        let (mut from, mut to) = (Compressor::new(1 << 30), Compressor::new(1 << 30));
        let (mut packed, mut input) = (Vec::new(), Input::new(FRAME_BYTES_MAX));
        from.pack(&mut packed, false, |_, out| {
            payloads.iter().for_each(|payload| put_packet(out, 0, |out| out.extend(payload)));
        });
        let mut plain = Vec::new();
        for piece in packed.chunks(n_piece) {
            input.push(piece).expect("within the limit");
            while to.take(&mut input).expect("frames") {
                plain.extend_from_slice(to.plain.bytes());
                to.plain.consume(to.plain.bytes().len());
            }
        }
        assert!(input.bytes().is_empty(), "nothing is left");
        plain
    }

    #[test]
    fn what_is_packed_comes_out_as_it_was() {
        let payloads = [vec![], vec![7; 49], vec![7; 50], (0..=255).collect(), vec![1; 100_000]];
        let mut expect = Vec::new();
        payloads.iter().for_each(|payload| put_packet(&mut expect, 0, |out| out.extend(payload)));
        for n_piece in [1, 3, 7, 1_000, 1 << 20] {
            assert!(through(&payloads, n_piece) == expect, "in pieces of {n_piece}");
        }
        let long = [vec![1; 17 << 20]];
        let mut expect = Vec::new();
        put_packet(&mut expect, 0, |out| out.extend(&long[0]));
        assert!(through(&long, 1 << 20) == expect, "more than a frame holds");
    }

    #[test]
    fn a_command_begins_an_exchange_and_rows_go_on() {
        let mut compressor = Compressor::new(1 << 20);
        let numbers = |out: &[u8]| {
            let (mut rest, mut numbers) = (out, Vec::new());
            while let [a, 0, 0, number, 0, 0, 0, others @ ..] = rest {
                numbers.push(*number);
                rest = &others[usize::from(*a)..];
            }
            assert!(rest.is_empty(), "short packets go as they are");
            numbers
        };
        let put = |sequence: u8, payload: &'static [u8]| {
            move |_: &mut Input, out: &mut Vec<u8>| {
                put_packet(out, sequence, |out| out.extend(payload));
            }
        };
        let mut out = Vec::new();
        compressor.pack(&mut out, false, put(0, b"LOAD"));
        let mut input = Input::new(1 << 20);
        input.push(&[5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0xfb]).expect("room");
        assert_eq!(compressor.take(&mut input), Ok(true));
        (2..=255).for_each(|sequence| compressor.pack(&mut out, true, put(sequence, b"row")));
        compressor.pack(&mut out, true, put(0, b"row"));
        compressor.pack(&mut out, true, put(1, b""));
        compressor.pack(&mut out, true, put(0, b"SHOW WARNINGS"));
        let expect: Vec<u8> = [0].into_iter().chain(2..=255).chain([0, 1, 0]).collect();
        assert_eq!(numbers(&out), expect);
    }

    #[test]
    fn a_frame_that_is_none_breaks_the_connection() {
        let taken = |bytes: &[u8]| {
            let mut input = Input::new(FRAME_BYTES_MAX);
            input.push(bytes).expect("room");
            Compressor::new(1 << 16).take(&mut input)
        };
        let mut packed = Vec::new();
        Compressor::new(1 << 16).pack(&mut packed, false, |_, out| {
            put_packet(out, 0, |out| out.extend([7; 1_000]));
        });
        assert_eq!(taken(&packed), Ok(true));
        for (at, value) in [(4, 0xff), (4, 1), (5, 0xff), (8, 0x55), (9, 0), (packed.len() - 1, 0)]
        {
            let mut bytes = packed.clone();
            bytes[at] ^= value ^ 0x33;
            assert!(taken(&bytes).is_err(), "byte {at}");
        }
        assert_eq!(taken(&packed[..packed.len() - 1]), Ok(false));
    }
}
