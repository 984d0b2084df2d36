//! Random text of digits in groups of eleven with dashes between, with which sysbench fills the
//! columns `c` and `pad`.
//!
//! Not here: the rows that contain it (population, client).

use model::Rng;

/// Length of the column `c`, in characters: ten groups of digits.
pub(super) const C: usize = 119;
/// Length of the column `pad`, in characters: five groups of digits.
pub(super) const PAD: usize = 59;

const GROUP: usize = 11;
const TEN_TO_GROUP: u64 = 100_000_000_000;

/// The digit pairs `00` to `99`, as characters.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut pair = 0;
    while pair < 100 {
        pairs[pair] = [b'0' + pair as u8 / 10, b'0' + pair as u8 % 10];
        pair += 1;
    }
    pairs
};

/// Fills `bytes` with groups of eleven random digits. Each group is drawn as one random number,
/// whose distribution deviates from a uniform one by less than 1e-8.
pub(super) fn fill(rng: &mut Rng, bytes: &mut [u8]) {
    for group in bytes.chunks_mut(GROUP + 1) {
        let wide = u128::from(rng.bits()) * u128::from(TEN_TO_GROUP);
        let mut rest = (wide >> 64) as u64;
        if let Some(dash) = group.get_mut(GROUP) {
            *dash = b'-';
        }
        // Eleven digits: five pairs from the right, and one.
        for place in (1..GROUP).rev().step_by(2) {
            group[place - 1..=place].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
        }
        group[0] = b'0' + rest as u8;
    }
}

/// Reusable buffer of `N` characters with groups of digits, as [`fill`] writes them.
pub(super) struct Digits<const N: usize>([u8; N]);

impl<const N: usize> Default for Digits<N> {
    fn default() -> Self {
        Digits([b'0'; N])
    }
}

impl<const N: usize> Digits<N> {
    /// Replaces all digits by random ones.
    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) {
        fill(rng, &mut self.0);
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.0).expect("only ASCII is ever put here")
    }
}

#[cfg(test)]
mod tests {
    use model::Stream;

    use super::*;

    #[test]
    fn texts_are_groups_of_eleven_digits_with_dashes_between() {
        let mut rng = Rng::new(5, Stream::Constants, 0);
        let (mut c, mut pad) = (Digits::<C>::default(), Digits::<PAD>::default());
        let mut counts = [0u32; 10];
        for _ in 0..1000 {
            c.draw(&mut rng);
            pad.draw(&mut rng);
            for (text, n_groups) in [(c.text(), 10), (pad.text(), 5)] {
                let groups: Vec<&str> = text.split('-').collect();
                assert_eq!(groups.len(), n_groups);
                for group in groups {
                    assert_eq!(group.len(), 11);
                    group.bytes().for_each(|digit| counts[usize::from(digit - b'0')] += 1);
                }
            }
        }
        let expect = 165_000.0 / 10.0;
        assert!(counts.iter().all(|n| (f64::from(*n) / expect - 1.0).abs() < 0.04), "{counts:?}");
    }
}
