//! Measurement ids and class numbers that a run reserves in the database before it writes, so that
//! runs do not use the same ones. Not here: the statements that reserve them (writer).

use super::measurement::Head;

/// Number of measurement ids that a run reserves for itself.
pub(super) const RANGE: i64 = 1 << 40;
/// Class number of the row in `arm_buffer` that reserves measurement ids; no measurement has this
/// class.
pub(super) const NO_CLASS: i64 = -1;

/// Measurement ids and class numbers that a group of clients has reserved for one run, so that runs
/// do not collide.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Last measurement id before the reserved ones.
    pub(super) base: i64,
    /// Numbers by which the tables identify the classes of measurements, in the order of the
    /// classes in the parameter `scenario`.
    pub(super) classes: Vec<i64>,
}

impl Claim {
    pub(super) fn id(&self, number: u64) -> i64 {
        self.base + number as i64
    }

    /// Returns the number by which the tables identify the class of a measurement.
    pub(super) fn class(&self, head: &Head) -> i64 {
        self.classes[usize::from(head.class)]
    }

    /// Returns a number for each class in `names`, and whether the number is new. A class in
    /// `held`, the classes in the database, keeps its number; any other gets a new one above all
    /// others.
    pub(super) fn number<'n>(
        names: impl Iterator<Item = &'n str>,
        held: &[(i64, String)],
    ) -> Vec<(i64, bool)> {
        let mut next = held.iter().map(|(class, _)| class + 1).max().unwrap_or(0).max(0);
        let number = |name: &str| match held.iter().find(|(_, other)| other == name) {
            Some((class, _)) => (*class, false),
            None => {
                next += 1;
                (next - 1, true)
            }
        };
        names.map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_keeps_its_number_and_new_ones_follow() {
        let held = [(NO_CLASS, ""), (0, "simple"), (1, "metrics")];
        let held = held.map(|(class, name)| (class, name.to_owned()));
        let number =
            |names: &[&str], held: &[(i64, String)]| Claim::number(names.iter().copied(), held);
        assert_eq!(number(&["simple", "correlator"], &[]), [(0, true), (1, true)]);
        assert_eq!(number(&["simple"], &held[..1]), [(0, true)]);
        let numbers = number(&["correlator", "metrics", "context-5", "simple"], &held);
        assert_eq!(numbers, [(2, true), (1, false), (3, true), (0, false)]);
    }
}
