//! Offset of another process's clock, from questions and answers: the answer was given between the
//! question and its arrival, so the offset is known within half of that time. The quickest of
//! several exchanges is the most precise (D. Mills, RFC 5905, section 8).

/// Offset of another clock from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockOffset {
    /// In nanoseconds; negative if the other clock is behind.
    pub(super) ns: i64,
    /// Largest possible error of `ns`.
    pub(super) error_ns: u64,
}

impl ClockOffset {
    /// Computes the offset from the times of question and answer by our clock, and the answer of
    /// the other clock.
    pub(super) fn of_exchange(sent_ns: u64, answer_ns: u64, came_ns: u64) -> ClockOffset {
        let error_ns = came_ns.saturating_sub(sent_ns).div_ceil(2);
        let midst_ns = sent_ns + came_ns.saturating_sub(sent_ns) / 2;
        ClockOffset { ns: answer_ns as i64 - midst_ns as i64, error_ns }
    }

    /// Time of the other clock at an instant of ours.
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
