//! A hash function that never changes, for checksums and for marks of stored routines. Not here:
//! anything secret.

/// Returns the 64-bit FNV-1a hash of the bytes (Fowler, Noll and Vo; draft-eastlake-fnv).
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_specification() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
