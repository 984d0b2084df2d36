//! The random functions of TPC-C (clauses 2.1.6 and 4.3.2): NURand, its constants, names and
//! strings.
//!
//! Not here: their use (population, inputs), and the random numbers themselves (model).

use model::Rng;

/// Characters of an a-string, a random alphanumeric string (clause 4.3.2.2).
const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters of an n-string, a random numeric string (clause 4.3.2.2).
const DIGITS: &[u8; 10] = b"0123456789";

/// Syllables of a last name, for each digit of its number (clause 4.3.2.3).
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// Text that I_DATA and S_DATA contain in 10 % of the rows (clause 4.3.3.1).
pub(super) const ORIGINAL: &str = "ORIGINAL";

/// Draws a non-uniform number by NURand(a, low, high) of clause 2.1.6, with constant `c`.
pub(super) fn nurand(rng: &mut Rng, a: i64, c: i64, low: i64, high: i64) -> i64 {
    let mixed = rng.uniform(0, a) | rng.uniform(low, high);
    (mixed + c) % (high - low + 1) + low
}

/// Draws C-Load, the constant C of NURand for last names when the data are loaded, from 0 to 255
/// (clause 2.1.6.1).
pub(super) fn draw_c_load(rng: &mut Rng) -> i64 {
    rng.uniform(0, 255)
}

/// Draws C-Run, the constant C of NURand for last names in a run, uniformly from the values that
/// clause 2.1.6.1 allows for `c_load`. There is always one: `c_load` + 65 or `c_load` - 65 is from
/// 0 to 255.
pub(super) fn draw_c_run(rng: &mut Rng, c_load: i64) -> i64 {
    let n_allowed = (0..=255).filter(|c_run| is_allowed(c_load, *c_run)).count();
    let chosen = rng.uniform(0, n_allowed as i64 - 1) as usize;
    let mut allowed = (0..=255).filter(|c_run| is_allowed(c_load, *c_run));
    allowed.nth(chosen).expect("chosen among as many")
}

/// Whether the difference of C-Load and C-Run is one that clause 2.1.6.1 allows: from 65 to 119,
/// but neither 96 nor 112.
pub(super) fn is_allowed(c_load: i64, c_run: i64) -> bool {
    let delta = (c_load - c_run).abs();
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

/// Reusable buffer for at most `N` ASCII characters.
#[derive(Clone)]
pub(super) struct FixedBuf<const N: usize> {
    bytes: [u8; N],
    n_bytes: usize,
}

impl<const N: usize> Default for FixedBuf<N> {
    fn default() -> Self {
        FixedBuf { bytes: [0; N], n_bytes: 0 }
    }
}

impl<const N: usize> FixedBuf<N> {
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.n_bytes]).expect("only ASCII is ever put here")
    }

    /// Fills the buffer with a random alphanumeric string (a-string), whose length is uniform in
    /// `low..=N` (clause 4.3.2.2).
    pub(super) fn a_string(&mut self, rng: &mut Rng, low: usize) {
        self.n_bytes = rng.uniform(low as i64, N as i64) as usize;
        fill(rng, ALPHANUMERIC, &mut self.bytes[..self.n_bytes]);
    }

    /// Fills the buffer with exactly `N` random letters.
    pub(super) fn letters(&mut self, rng: &mut Rng) {
        self.n_bytes = N;
        fill(rng, &ALPHANUMERIC[10..], &mut self.bytes);
    }

    /// Fills the buffer with a random numeric string (n-string) of exactly `N` digits (clause
    /// 4.3.2.2).
    pub(super) fn n_string(&mut self, rng: &mut Rng) {
        self.n_bytes = N;
        fill(rng, DIGITS, &mut self.bytes);
    }

    /// Fills the buffer with a random alphanumeric string (a-string), which contains "ORIGINAL" at
    /// a random position in one row out of ten (clause 4.3.3.1).
    pub(super) fn data_string(&mut self, rng: &mut Rng, low: usize) {
        self.a_string(rng, low);
        if rng.chance(1, 10) {
            let at = rng.uniform(0, (self.n_bytes - ORIGINAL.len()) as i64) as usize;
            self.bytes[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL.as_bytes());
        }
    }

    /// Replaces the content of the buffer by the concatenated `parts`. Panics if they do not fit.
    pub(super) fn set(&mut self, parts: &[&str]) {
        self.n_bytes = 0;
        for part in parts {
            let end = self.n_bytes + part.len();
            self.bytes[self.n_bytes..end].copy_from_slice(part.as_bytes());
            self.n_bytes = end;
        }
    }
}

impl FixedBuf<9> {
    /// Fills the buffer with a ZIP code: four random digits and "11111" (clause 4.3.2.7).
    pub(super) fn zip(&mut self, rng: &mut Rng) {
        let mut head = FixedBuf::<4>::default();
        head.n_string(rng);
        self.set(&[head.text(), "11111"]);
    }
}

/// Buffer for a last name of three syllables, with at most five letters each.
pub(super) type LastName = FixedBuf<15>;

impl LastName {
    /// Fills the buffer with the last name that has the given number from 0 to 999 (clause
    /// 4.3.2.3).
    pub(super) fn last_name(&mut self, number: i64) {
        let digit = |place: i64| SYLLABLES[(number / place % 10) as usize];
        self.set(&[digit(100), digit(10), digit(1)]);
    }
}

/// Fills `bytes` with characters from `alphabet`, eight per random number. The high half of a
/// product with the alphabet's size selects a character, and the low half is used for the next one.
/// The strings deviate from a uniform distribution by less than 62^8 / 2^64, about 1e-5.
fn fill(rng: &mut Rng, alphabet: &[u8], bytes: &mut [u8]) {
    for eight in bytes.chunks_mut(8) {
        let mut rest = rng.bits();
        for byte in eight {
            let wide = u128::from(rest) * alphabet.len() as u128;
            *byte = alphabet[(wide >> 64) as usize];
            rest = wide as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Stream;

    use super::*;

    fn rng(number: u64) -> Rng {
        Rng::new(11, Stream::Constants, number)
    }

    #[test]
    fn nurand_stays_in_its_range_and_is_not_uniform() {
        let mut rng = rng(0);
        for (a, low, high) in [(255, 0, 999), (1023, 1, 3000), (8191, 1, 100_000)] {
            for c in [0, a / 2, a] {
                let mut counts = vec![0u32; high as usize + 1];
                for _ in 0..20_000 {
                    let drawn = nurand(&mut rng, a, c, low, high);
                    assert!((low..=high).contains(&drawn), "{drawn} of NURand({a},{low},{high})");
                    counts[drawn as usize] += 1;
                }
                let squares: u64 = counts.iter().map(|n| u64::from(*n).pow(2)).sum();
                let uniform = 20_000u64.pow(2) / (high - low + 1) as u64 + 20_000;
                assert!(squares > uniform * 6 / 5, "{squares} against {uniform} for NURand({a})");
            }
        }
    }

    #[test]
    fn c_run_keeps_its_distance_from_c_load() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..1000 {
            let mut rng = rng(number);
            let c_load = draw_c_load(&mut rng);
            let c_run = draw_c_run(&mut rng, c_load);
            assert!((0..=255).contains(&c_load) && (0..=255).contains(&c_run));
            let delta = (c_load - c_run).abs();
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{delta}");
            seen.insert(delta);
        }
        assert_eq!(seen.len(), 53, "every allowed distance occurs");
    }

    #[test]
    fn every_c_load_has_a_c_run() {
        for c_load in 0..=255 {
            assert!((0..=255).any(|c_run| is_allowed(c_load, c_run)), "{c_load}");
        }
    }

    #[test]
    fn last_names_are_three_syllables() {
        let check = |number, expect: &str| {
            let mut name = LastName::default();
            name.last_name(number);
            assert_eq!(name.text(), expect);
        };
        check(0, "BARBARBAR");
        check(371, "PRICALLYOUGHT");
        check(999, "EINGEINGEING");
        check(777, "CALLYCALLYCALLY");
    }

    #[test]
    fn strings_keep_their_lengths_and_characters() {
        let mut rng = rng(1);
        let (mut shortest, mut longest) = (usize::MAX, 0);
        let mut characters = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let mut text = FixedBuf::<16>::default();
            text.a_string(&mut rng, 8);
            shortest = shortest.min(text.text().len());
            longest = longest.max(text.text().len());
            characters.extend(text.text().bytes());
            let mut zip = FixedBuf::<9>::default();
            zip.zip(&mut rng);
            assert!(zip.text().ends_with("11111") && zip.text().len() == 9);
            assert!(zip.text().bytes().all(|byte| byte.is_ascii_digit()));
        }
        assert_eq!((shortest, longest, characters.len()), (8, 16, 62));
    }
}
