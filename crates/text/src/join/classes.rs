//! Which of the classes of a signature a letter of a bag is in.

use crate::text::sameness::LEAST_WEIGHT;

/// Bits of a class map that a tag takes next to a key.
pub(super) const TAG_BITS: u32 = 8;

/// Letters of a bag that weigh so much are in classes of their own, so that a class that is missing says what it
/// weighs. Of the letters of a post about four in ten are heavy, as many middling.
pub(super) const HEAVY: u32 = 55;

/// The same for those that weigh less, but so much. Lighter ones are in none of the 120 classes.
pub(super) const MIDDLING: u32 = 35;

/// Where in a signature the letters of a bag are that weigh so much at least. Folded, light ones meet the tag's bits.
pub(super) struct Tier {
    pub(super) least: u32,
    pub(super) word: usize,
    pub(super) from: u32,
    pub(super) classes: u32,
}

/// From heavy to light; the last one has all others.
pub(super) const TIERS: [Tier; 6] = [
    Tier { least: 70, word: 3, from: 0, classes: 64 },
    Tier { least: HEAVY, word: 1, from: 0, classes: 64 },
    Tier { least: 45, word: 2, from: TAG_BITS, classes: 64 - TAG_BITS },
    Tier { least: MIDDLING, word: 0, from: TAG_BITS, classes: 64 - TAG_BITS },
    Tier { least: 30, word: 2, from: 0, classes: TAG_BITS },
    Tier { least: LEAST_WEIGHT, word: 0, from: 0, classes: TAG_BITS },
];

/// The class of a letter of a bag that weighs so much.
pub(super) fn class_of_letter(letter: u32, weight: u32) -> u8 {
    let tier = TIERS.iter().find(|tier| tier.least <= weight).unwrap_or(&TIERS[TIERS.len() - 1]);
    let class = tier.word as u32 * 64 + tier.from + (((spread(letter) >> 8 & 0xFFFF) * tier.classes) >> 16);
    class as u8
}

/// Fibonacci hashing: neighbours in rarity fall far apart.
pub(super) fn spread(symbol: u32) -> u32 {
    symbol.wrapping_mul(0x9E37_79B9)
}
