//! A frame: what one message of the broker carries between a run and an agent.
//!
//! Not here: which frame is sent when (delivery).

/// Largest number of bytes of a message in one frame. A broker accepts 1 MiB by default.
pub(crate) const PART_BYTES_MAX: usize = 256 << 10;

/// One frame of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Part of a message. Sequence numbers count from 0 in each direction of a conversation.
    Part { number: u64, is_last: bool, bytes: Vec<u8> },
    /// Acknowledges all parts before `next`. Repeated every second, as a heartbeat.
    Ack { next: u64 },
    /// Requests the retransmission of all parts from `next` on.
    Nack { next: u64 },
    /// The conversation has ended, for the reason `why`.
    End { why: String },
}

const PART: u8 = 1;
const LAST_PART: u8 = 2;
const ACK: u8 = 3;
const NACK: u8 = 4;
const END: u8 = 5;

impl Frame {
    /// Encodes the frame: its kind in one byte, a number in eight (big-endian), and bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, number, bytes) = match self {
            Frame::Part { number, is_last: false, bytes } => (PART, *number, bytes.as_slice()),
            Frame::Part { number, is_last: true, bytes } => (LAST_PART, *number, bytes.as_slice()),
            Frame::Ack { next } => (ACK, *next, &[][..]),
            Frame::Nack { next } => (NACK, *next, &[][..]),
            Frame::End { why } => (END, 0, why.as_bytes()),
        };
        [&[kind][..], &number.to_be_bytes(), bytes].concat()
    }

    /// Decodes a frame; `None` if the bytes are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Frame> {
        let (kind, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u64::from_be_bytes(*number);
        match *kind {
            PART | LAST_PART if rest.len() <= PART_BYTES_MAX => {
                Some(Frame::Part { number, is_last: *kind == LAST_PART, bytes: rest.to_vec() })
            }
            ACK if rest.is_empty() => Some(Frame::Ack { next: number }),
            NACK if rest.is_empty() => Some(Frame::Nack { next: number }),
            END => Some(Frame::End { why: String::from_utf8_lossy(rest).into_owned() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_nothing_else_is() {
        for frame in [
            Frame::Part { number: 0, is_last: false, bytes: vec![1, 2, 3] },
            Frame::Part { number: u64::MAX, is_last: true, bytes: Vec::new() },
            Frame::Ack { next: 7 },
            Frame::Nack { next: 9 },
            Frame::End { why: "the agent was stopped".to_owned() },
        ] {
            assert_eq!(Frame::decode(&frame.encode()), Some(frame));
        }
        let too_large = [&[PART][..], &[0; 8], &vec![0; PART_BYTES_MAX + 1]].concat();
        let behind_a_number = [&[ACK][..], &[0; 9]].concat();
        let of_no_kind = [9; 20];
        for bytes in [&[][..], &[PART], &[ACK; 8], &of_no_kind, &too_large, &behind_a_number] {
            assert_eq!(Frame::decode(bytes), None, "{} bytes", bytes.len());
        }
    }
}
