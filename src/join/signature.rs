//! Bitmaps of records that refuse most candidates with a few popcounts.

/// Which of 256 classes of symbols a record holds.
///
/// A bit of a that b lacks is at least one token of a without a partner in b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature([u64; 4]);

impl Signature {
    pub fn of(symbols: &[u32]) -> Self {
        let mut bits = [0u64; 4];
        for &symbol in symbols {
            let class = class(symbol);
            bits[class / 64] |= 1 << (class % 64);
        }
        Self(bits)
    }

    /// False only where the record does not hold the symbol.
    pub fn holds(self, symbol: u32) -> bool {
        let class = class(symbol);
        self.0[class / 64] >> (class % 64) & 1 == 1
    }

    /// The least number of tokens of `self` that are not in `other`.
    pub fn missing_from(self, other: Self) -> u32 {
        self.0.iter().zip(other.0).map(|(mine, theirs)| (mine & !theirs).count_ones()).sum()
    }
}

/// Fibonacci hashing: neighbours in rarity fall far apart.
fn class(symbol: u32) -> usize {
    (symbol.wrapping_mul(0x9E37_79B9) >> 24) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_counts_more_than_are_missing(
            a in proptest::collection::vec(0u32..500, 0..60),
            b in proptest::collection::vec(0u32..500, 0..60),
        ) {
            let missing = a.iter().filter(|symbol| !b.contains(symbol)).count() as u32;
            prop_assert!(Signature::of(&a).missing_from(Signature::of(&b)) <= missing);
        }
    }
}
