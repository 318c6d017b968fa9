//! What of a text is counted: characters, or sets of n-grams, or a weighted bag of characters.

use super::Metric;
use crate::text::sameness;

/// Most characters a gram: what fits in a [`Token`], so that sets are exact.
pub(super) const LONGEST_GRAM: u8 = 6;

/// A token's identity, the same in every corpus: a character; a gram, packed exactly; or, of a bag, a
/// character and how many of it stand before.
pub(super) type Token = u128;

/// A scalar value takes so many bits.
const CHAR_BITS: u32 = 21;

/// The tokens of a text: in its order for metrics of sequences, ascending for sets and bags.
pub(super) fn tokens(text: &str, metric: Metric, tokens: &mut Vec<Token>) {
    tokens.clear();
    match metric {
        Metric::Levenshtein | Metric::Indel => tokens.extend(text.chars().map(|c| c as Token)),
        Metric::Jaccard { n } => grams(text, n.clamp(1, LONGEST_GRAM), tokens),
        Metric::Overlap => {
            tokens.extend(text.chars().map(|c| c as Token));
            tokens.sort_unstable();
            let mut nth = 0;
            for i in 1..tokens.len() {
                let same = tokens[i] == tokens[i - 1] & ((1 << CHAR_BITS) - 1);
                nth = if same { nth + 1 } else { 0 };
                tokens[i] |= nth << CHAR_BITS;
            }
            tokens.sort_unstable();
        }
    }
}

/// What a token is worth in the metric's unit of size.
pub(super) fn weight(token: Token, metric: Metric) -> u32 {
    match metric {
        Metric::Overlap => character(token).map_or(1, sameness::weight),
        _ => 1,
    }
}

/// Whether a token says little for what it is worth, so that it comes last in the order of rarity.
pub(super) fn says_little(token: Token, metric: Metric) -> bool {
    matches!(metric, Metric::Overlap) && character(token).is_some_and(|c| c.is_ascii())
}

fn character(token: Token) -> Option<char> {
    char::from_u32((token & ((1 << CHAR_BITS) - 1)) as u32)
}

/// The set of a text's n-grams; a text shorter than n is one gram.
fn grams(text: &str, n: u8, grams: &mut Vec<Token>) {
    // One more than the scalar value, so that a short gram is no prefix of a long one.
    let pack = |gram: &[char]| gram.iter().fold(0, |packed, &c| packed << CHAR_BITS | (c as Token + 1));
    let chars: Vec<char> = text.chars().collect();
    match chars.len() {
        0 => {}
        len if len < usize::from(n) => grams.push(pack(&chars)),
        _ => grams.extend(chars.windows(usize::from(n)).map(pack)),
    }
    grams.sort_unstable();
    grams.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, metric: Metric) -> Vec<Token> {
        let mut found = Vec::new();
        tokens(text, metric, &mut found);
        found
    }

    #[test]
    fn a_bag_counts_repetitions() {
        let (one, two) = (of("鱼刺鱼", Metric::Overlap), of("鱼鱼鱼刺", Metric::Overlap));
        assert_eq!((one.len(), two.len()), (3, 4));
        assert!(one.iter().all(|token| two.contains(token)));
    }

    #[test]
    fn short_texts_are_one_gram() {
        assert_eq!(of("鱼", Metric::Jaccard { n: 2 }).len(), 1);
        assert_eq!(of("鱼鱼鱼", Metric::Jaccard { n: 2 }).len(), 1);
        assert!(of("", Metric::Jaccard { n: 2 }).is_empty());
    }
}
