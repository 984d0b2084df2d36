//! Encoding and decoding of NUMERIC values, in binary format and as text.
//!
//! The binary format is that of `numeric_send` in PostgreSQL's `numeric.c`: digits of base 10,000,
//! the weight of the first one, and the scale.

use model::Value;

const BASE: u128 = 10_000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const MINUS_INFINITY: u16 = 0xF000;

/// Limit on the digits after the decimal point of a decoded number. More do not fit into an `i64`
/// together with one digit before the point.
const SCALE_MAX: u8 = 18;

/// Appends the NUMERIC value `unscaled` / 10^`scale` in binary format, without its length.
pub(super) fn put(out: &mut Vec<u8>, unscaled: i64, scale: u8) {
    // Digits of base 10,000 do not span the point: the scale is padded to a multiple of four.
    let n_fill = (4 - scale % 4) % 4;
    let mut rest = u128::from(unscaled.unsigned_abs()) * 10u128.pow(u32::from(n_fill));
    let mut digits = [0u16; 8];
    let mut n_digits = 0;
    // Trailing zeros are omitted, but count for the weight of the first digit.
    let mut n_zeros = 0;
    while rest > 0 {
        let digit = (rest % BASE) as u16;
        rest /= BASE;
        if n_digits == 0 && digit == 0 {
            n_zeros += 1;
            continue;
        }
        digits[n_digits] = digit;
        n_digits += 1;
    }
    let n_behind = i16::from((scale + n_fill) / 4);
    let weight = if n_digits == 0 { 0 } else { (n_digits + n_zeros) as i16 - 1 - n_behind };
    let sign = if unscaled < 0 { NEGATIVE } else { 0 };
    out.extend_from_slice(&(n_digits as u16).to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&u16::from(scale).to_be_bytes());
    for digit in digits[..n_digits].iter().rev() {
        out.extend_from_slice(&digit.to_be_bytes());
    }
}

/// Decodes a NUMERIC value in binary format; `None` if it is malformed. Excess digits after the
/// decimal point are cut off; if the digits before the point do not fit into `i64`, the value
/// becomes a float.
pub(super) fn read(bytes: &[u8]) -> Option<Value<'static>> {
    let (head, digits) = bytes.split_first_chunk::<8>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (n_digits, weight, sign, scale) = (word(0), word(2) as i16, word(4), word(6));
    match sign {
        NAN => return Some(Value::Float(f64::NAN)),
        INFINITY => return Some(Value::Float(f64::INFINITY)),
        MINUS_INFINITY => return Some(Value::Float(f64::NEG_INFINITY)),
        0 | NEGATIVE => {}
        _ => return None,
    }
    if digits.len() != 2 * usize::from(n_digits) {
        return None;
    }
    let digits = Digits { digits, weight: i32::from(weight) };
    let sign = if sign == NEGATIVE { -1 } else { 1 };
    let mut unscaled = 0i64;
    for place in (0..=i32::from(weight)).rev() {
        match push(unscaled, 10_000, sign * digits.at(place)) {
            Some(more) => unscaled = more,
            None => return Some(Value::Float(sign as f64 * digits.approximate())),
        }
    }
    let mut kept = 0;
    while u16::from(kept) < scale && kept < SCALE_MAX {
        let group = digits.at(-1 - i32::from(kept / 4));
        let digit = group / 10i64.pow(3 - u32::from(kept % 4)) % 10;
        let Some(more) = push(unscaled, 10, sign * digit) else { break };
        (unscaled, kept) = (more, kept + 1);
    }
    Some(Value::Decimal { unscaled, scale: kept })
}

/// Parses a NUMERIC value written in decimal digits; `None` if it is malformed. Excess digits are
/// treated as in [`read`].
pub(super) fn read_text(text: &str) -> Option<Value<'static>> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !all_digits(whole) || !all_digits(behind) {
        // "NaN", "Infinity", or an unknown text.
        return text.parse().ok().map(Value::Float);
    }
    let mut unscaled = 0i64;
    for digit in whole.bytes() {
        match push(unscaled, 10, sign * i64::from(digit - b'0')) {
            Some(more) => unscaled = more,
            None => return text.parse().ok().map(Value::Float),
        }
    }
    let mut scale = 0;
    for digit in behind.bytes().take(usize::from(SCALE_MAX)) {
        let Some(more) = push(unscaled, 10, sign * i64::from(digit - b'0')) else { break };
        (unscaled, scale) = (more, scale + 1);
    }
    Some(Value::Decimal { unscaled, scale })
}

fn push(unscaled: i64, base: i64, digit: i64) -> Option<i64> {
    unscaled.checked_mul(base)?.checked_add(digit)
}

struct Digits<'a> {
    digits: &'a [u8],
    weight: i32,
}

impl Digits<'_> {
    /// Returns a base-10,000 digit of the number: `place` 0 is the last one before the decimal
    /// point, and -1 the first one after it.
    fn at(&self, place: i32) -> i64 {
        let index = usize::try_from(self.weight - place).unwrap_or(usize::MAX);
        let pair = self.digits.chunks_exact(2).nth(index);
        // A malformed digit may be too large; sums are checked.
        pair.map_or(0, |pair| i64::from(u16::from_be_bytes([pair[0], pair[1]])))
    }

    fn approximate(&self) -> f64 {
        // A double has at most 17 decimal digits.
        let places = (self.weight - 5..=self.weight).rev();
        places.map(|place| self.at(place) as f64 * 10_000f64.powi(place)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(unscaled: i64, scale: u8) -> Option<Value<'static>> {
        let mut out = Vec::new();
        put(&mut out, unscaled, scale);
        read(&out)
    }

    #[test]
    fn decimals_come_back_as_they_went() {
        let numbers = [0, 1, -1, 5, 42, 9_999, 10_000, 10_001, 12_340_000, 99_999_999_999_999];
        for unscaled in numbers.into_iter().chain([i64::MAX, i64::MIN]) {
            for scale in 0..=SCALE_MAX {
                let expect = Value::Decimal { unscaled, scale };
                assert_eq!(there_and_back(unscaled, scale), Some(expect), "{unscaled} {scale}");
            }
        }
    }

    #[test]
    fn the_form_is_the_servers() {
        let check = |unscaled: i64, scale: u8, expect: &[u16]| {
            let mut out = Vec::new();
            put(&mut out, unscaled, scale);
            let expect: Vec<u8> = expect.iter().flat_map(|word| word.to_be_bytes()).collect();
            assert_eq!(out, expect, "{unscaled} {scale}");
        };
        // As `SELECT numeric_send('...')` shows them.
        check(1_234_567, 2, &[3, 1, 0, 2, 1, 2345, 6700]);
        check(0, 2, &[0, 0, 0, 2]);
        check(-1, 2, &[1, 0xffff, 0x4000, 2, 100]);
        check(1_000_000, 2, &[1, 1, 0, 2, 1]);
        check(10_000, 0, &[1, 1, 0, 0, 1]);
        check(1, 5, &[1, 0xfffe, 0, 5, 1000]);
    }

    #[test]
    fn what_does_not_fit_is_rounded_or_a_float() {
        let words = |words: &[u16]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_be_bytes()).collect()
        };
        // 0.3333333333333333333333333333 (28 digits behind the point).
        let third = words(&[7, 0xffff, 0, 28, 3333, 3333, 3333, 3333, 3333, 3333, 3333]);
        let expect = Value::Decimal { unscaled: 333_333_333_333_333_333, scale: 18 };
        assert_eq!(read(&third), Some(expect));
        let large = words(&[2, 10, 0x4000, 0, 1, 5000]);
        assert_eq!(read(&large), Some(Value::Float(-1.5e40)));
        assert_eq!(read(&words(&[0, 0, INFINITY, 0])), Some(Value::Float(f64::INFINITY)));
        assert_eq!(read(&words(&[2, 0, 0, 0, 1])), None);
        assert_eq!(read(&[1, 2, 3]), None);
    }

    #[test]
    fn written_digits_are_read() {
        let check = |text: &str, expect: Option<Value<'_>>| {
            assert_eq!(read_text(text), expect, "{text}");
        };
        check("12.50", Some(Value::Decimal { unscaled: 1250, scale: 2 }));
        check("-0.05", Some(Value::Decimal { unscaled: -5, scale: 2 }));
        check("7", Some(Value::Decimal { unscaled: 7, scale: 0 }));
        check("100000000000000000000", Some(Value::Float(1e20)));
        check("", None);
        check("-", None);
        check("1.2.3", None);
    }
}
