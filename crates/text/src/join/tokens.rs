//! The tokens of a text: characters, or sets of n-grams, or weighted bags of characters and their pairs, and which of the classes
//! of a signature a letter of a bag is in.

use super::Metric;
use crate::text::sameness::{self, LEAST_WEIGHT};

/// Most characters a gram: what fits in a [`TokenId`], so that sets are exact.
pub(super) const LONGEST_GRAM: u8 = 6;

/// A token's identity, the same in every corpus: a character; a gram, packed exactly; or a bigram of a bag.
pub(super) type TokenId = u128;

/// Marks a bigram among the tokens of a bag.
const PAIR: TokenId = 1 << 127;

/// The same among symbols: pairs come after all letters.
pub(super) const FIRST_PAIR: u32 = 1 << 31;

/// A scalar value takes so many bits.
const CHAR_BITS: u32 = 21;

/// The tokens of a text: in its order for metrics of sequences, ascending for sets and bags.
pub(super) fn collect_tokens(text: &str, metric: Metric, tokens: &mut Vec<TokenId>) {
    tokens.clear();
    match metric {
        Metric::Levenshtein | Metric::Indel => tokens.extend(text.chars().map(|c| c as TokenId)),
        Metric::Jaccard { n } => push_grams(text, n.clamp(1, LONGEST_GRAM), tokens),
        Metric::Reworded { .. } => {
            let chars = || text.chars().map(|c| c as TokenId);
            tokens.extend(chars());
            tokens.extend(chars().zip(chars().skip(1)).map(|(x, y)| PAIR | x << CHAR_BITS | y));
            tokens.sort_unstable();
        }
    }
}

/// The two letters of a bigram, as tokens; none where the token is no pair.
pub(super) fn letters_of_pair(token: TokenId) -> Option<(TokenId, TokenId)> {
    let letter = |packed: TokenId| packed & ((1 << CHAR_BITS) - 1);
    (token & PAIR != 0).then(|| (letter(token >> CHAR_BITS), letter(token)))
}

/// The letters of a bag, or all symbols where it is none, and its pairs.
pub(super) fn letters_and_pairs(symbols: &[u32]) -> (&[u32], &[u32]) {
    // Symbols of a sequence are in no order, but no pairs.
    if symbols.last().is_none_or(|&symbol| symbol < FIRST_PAIR) {
        return (symbols, &[]);
    }
    symbols.split_at(symbols.partition_point(|&symbol| symbol < FIRST_PAIR))
}

/// What a token is worth in the metric's unit of size.
pub(super) fn weight_of_token(token: TokenId, metric: Metric) -> u32 {
    match (metric, letters_of_pair(token)) {
        (Metric::Reworded { .. }, Some((first, second))) => {
            weight_of_token(first, metric) + weight_of_token(second, metric)
        }
        (Metric::Reworded { .. }, None) => char::from_u32(token as u32).map_or(1, sameness::weight),
        _ => 1,
    }
}

/// The set of a text's n-grams; a text shorter than n is one gram.
fn push_grams(text: &str, n: u8, grams: &mut Vec<TokenId>) {
    // One more than the scalar value, so that a short gram is no prefix of a long one.
    let pack = |gram: &[char]| gram.iter().fold(0, |packed, &c| packed << CHAR_BITS | (c as TokenId + 1));
    let chars: Vec<char> = text.chars().collect();
    match chars.len() {
        0 => {}
        len if len < usize::from(n) => grams.push(pack(&chars)),
        _ => grams.extend(chars.windows(usize::from(n)).map(pack)),
    }
    grams.sort_unstable();
    grams.dedup();
}

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
    let class =
        tier.word as u32 * 64 + tier.from + (((spread_hash(letter) >> 8 & 0xFFFF) * tier.classes) >> 16);
    class as u8
}

/// Fibonacci hashing: neighbours in rarity fall far apart.
pub(super) fn spread_hash(symbol: u32) -> u32 {
    symbol.wrapping_mul(0x9E37_79B9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenize(text: &str, metric: Metric) -> Vec<TokenId> {
        let mut found = Vec::new();
        collect_tokens(text, metric, &mut found);
        found
    }

    #[test]
    fn a_bag_counts_repetitions() {
        let bag = tokenize("鱼鱼鱼刺", Metric::REWORDED);
        let (pairs, letters): (Vec<&TokenId>, Vec<&TokenId>) =
            bag.iter().partition(|&&token| letters_of_pair(token).is_some());
        assert_eq!((letters.len(), pairs.len()), (4, 3));
        assert_eq!((letters[1], pairs[1]), (letters[2], pairs[2]), "as often as it occurs");
        let weigh = |c: char| sameness::weight(c);
        assert_eq!(weight_of_token(*pairs[1], Metric::REWORDED), 2 * weigh('鱼'));
        assert_eq!(weight_of_token(*letters[0], Metric::REWORDED), weigh('刺'));
    }

    #[test]
    fn short_texts_are_one_gram() {
        assert_eq!(tokenize("鱼", Metric::Jaccard { n: 2 }).len(), 1);
        assert_eq!(tokenize("鱼鱼鱼", Metric::Jaccard { n: 2 }).len(), 1);
        assert!(tokenize("", Metric::Jaccard { n: 2 }).is_empty());
    }
}
