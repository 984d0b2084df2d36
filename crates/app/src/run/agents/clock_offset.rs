//! Computes the offset of another process's clock from exchanges of question and answer. The answer
//! was given between the question and its arrival, so the offset is known to within half of that
//! time. The quickest of several exchanges is the most precise one (D. Mills, RFC 5905, section 8).

/// Offset of another process's clock from ours, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Time of the other clock minus ours, in nanoseconds.
    pub ns: i64,
    /// Largest possible error of `ns`, in nanoseconds.
    pub error_ns: u64,
}

impl ClockOffset {
    /// Computes the offset from one exchange: `sent_ns` and `came_ns` are the times of question and
    /// answer by our clock, `answer_ns` is the time by the other clock in between.
    pub fn of_exchange(sent_ns: u64, answer_ns: u64, came_ns: u64) -> ClockOffset {
        let error_ns = came_ns.saturating_sub(sent_ns).div_ceil(2);
        let midst_ns = sent_ns + came_ns.saturating_sub(sent_ns) / 2;
        ClockOffset { ns: answer_ns as i64 - midst_ns as i64, error_ns }
    }

    /// Converts an instant of our clock into the same instant of the other clock, both in
    /// nanoseconds.
    pub(super) fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_lies_within_its_error_wherever_the_time_was_lost() {
        for ahead_ns in [-5_000_i64, 0, 7_000_000] {
            for (there_ns, back_ns) in [(10, 10), (1_000, 10), (10, 1_001), (0, 1)] {
                let sent_ns = 1_700_000_000_000_000_000_u64;
                let answer_ns = (sent_ns + there_ns).saturating_add_signed(ahead_ns);
                let offset =
                    ClockOffset::of_exchange(sent_ns, answer_ns, sent_ns + there_ns + back_ns);
                let off_ns = (offset.ns - ahead_ns).unsigned_abs();
                assert!(off_ns <= offset.error_ns, "{offset:?} {ahead_ns} {there_ns} {back_ns}");
                assert_eq!(offset.error_ns, (there_ns + back_ns).div_ceil(2));
            }
        }
        let offset = ClockOffset { ns: -3, error_ns: 1 };
        assert_eq!(offset.there(10), 7);
    }
}
