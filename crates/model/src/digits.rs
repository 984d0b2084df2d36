//! Fast formatting of numbers into a byte buffer. Not here: parsing.

/// Appends `n` in decimal digits, with leading zeros up to `width` digits.
pub fn put_unsigned(out: &mut Vec<u8>, mut n: u64, width: usize) {
    let n_digits = n.checked_ilog10().map_or(1, |log| log as usize + 1).max(width);
    let start = out.len();
    out.resize(start + n_digits, b'0');
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (n % 10) as u8;
        n /= 10;
    }
}

/// Appends the decimal number `unscaled` / 10^`scale`: -5 with scale 2 is `-0.05`.
pub fn put_decimal(out: &mut Vec<u8>, unscaled: i64, scale: u8) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let (value, n_behind) = (unscaled.unsigned_abs(), usize::from(scale));
    // Above 10^19 the whole part is 0: only leading zeros are left.
    let Some(unit) = 10u64.checked_pow(u32::from(scale)) else {
        out.extend_from_slice(b"0.");
        return put_unsigned(out, value, n_behind);
    };
    put_unsigned(out, value / unit, 1);
    if n_behind > 0 {
        out.push(b'.');
        put_unsigned(out, value % unit, n_behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_their_point_where_the_scale_says() {
        let check = |unscaled: i64, scale: u8, expect: &str| {
            let mut out = Vec::new();
            put_decimal(&mut out, unscaled, scale);
            assert_eq!(String::from_utf8_lossy(&out), expect);
        };
        check(0, 0, "0");
        check(-5, 2, "-0.05");
        check(123_456, 2, "1234.56");
        check(i64::MIN, 0, "-9223372036854775808");
        check(i64::MAX, 19, "0.9223372036854775807");
        check(7, 22, "0.0000000000000000000007");
    }
}
