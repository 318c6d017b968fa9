//! The weight of a character: how rare it is in Chinese at large.
//!
//! The weight is `10·(ln(N / n) − 2)` rounded, with n the summed frequency of all words of jieba's dictionary
//! that contain the character (plus 50) and N the sum over all characters; the 2 removes most of the weight
//! from the characters of function words, which two posts share by chance. The table lists every character
//! below [`RARE`]; any other ideograph is rare. Letters and digits, of which the dictionary has few, all
//! weigh the same: one of 36 is not rare.
//!
//! Weights are integers, so that sums and thresholds are exact.

use std::sync::LazyLock;

use super::words;

/// The weight of a character that the dictionary hardly knows.
const RARE: u32 = MOST_WEIGHT;

/// The greatest weight of any character.
pub(crate) const MOST_WEIGHT: u32 = 120;

/// The weight of a Latin letter or a digit; the smallest of any character.
pub(crate) const LEAST_WEIGHT: u32 = 20;

/// The weight of a folded character, or of a word's symbol, in tenths of a nat; at least 20.
///
/// ```
/// # use riddlemill_text::text::sameness::weight;
/// assert!(weight('的') < weight('鱼') && weight('鱼') < weight('鳄'));
/// ```
pub fn weight(c: char) -> u32 {
    match c {
        c if c.is_ascii() => LEAST_WEIGHT,
        c => TABLE.get(c as usize).map_or_else(|| words::weight(c).unwrap_or(RARE), |&weight| weight.into()),
    }
}

/// Weights by scalar value, up to the last character that is not rare.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let last = listed().map(|(c, _)| c as usize).max().unwrap_or(0);
    let mut table = vec![RARE as u8; last + 1];
    listed().for_each(|(c, weight)| table[c as usize] = weight);
    table
});

/// `weights.txt`: a line for each weight, the weight and the characters that have it.
fn listed() -> impl Iterator<Item = (char, u8)> {
    include_str!("weights.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(weight, chars)| Some((weight.parse().ok()?, chars)))
        .flat_map(|(weight, chars): (u8, &str)| chars.chars().map(move |c| (c, weight)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::segment::jieba;

    #[test]
    fn every_line_parses_and_no_character_has_two_weights() {
        let mut listed = 0;
        for line in include_str!("weights.txt").lines() {
            let (weight, chars) = line.split_once(' ').unwrap();
            assert!((LEAST_WEIGHT..RARE).contains(&weight.parse().unwrap()), "{line}");
            listed += chars.chars().count();
        }
        let distinct: std::collections::HashSet<char> = super::listed().map(|(c, _)| c).collect();
        assert_eq!(listed, distinct.len());
        assert!(listed > 7000);
    }

    /// A character's frequency is at least that of the word it is by itself.
    #[test]
    fn the_table_agrees_with_the_dictionary() {
        const TOTAL: f64 = 99_950_878.0;
        for (c, weight) in listed() {
            let alone = jieba().suggest_freq(c.encode_utf8(&mut [0; 4])) as f64;
            let at_most = 10.0 * ((TOTAL / (alone + 49.0)).ln() - 2.0);
            assert!(f64::from(weight) <= at_most + 1.0, "{c}: {weight}, alone {alone}");
        }
    }
}
