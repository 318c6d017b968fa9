//! Texts that begin with another text.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::text::sameness::{Predicate, Ratio, all_predicates};

/// Pairs of texts of which one begins with the other, whole and at least so long by comparison, as
/// (shorter, longer) by their places; empty ones are in no pair.
///
/// A text's beginnings are hashed in one sweep, so that the work is linear in its length.
pub(super) fn find_openings(texts: &[&str], least: Ratio) -> Vec<(u32, u32)> {
    // Texts by hash; of equal hashes each leads to the one before.
    let mut last: FxHashMap<u64, u32> = FxHashMap::default();
    let hashes: Vec<u64> = texts.par_iter().map(|text| text.chars().fold(0, extend_hash)).collect();
    let before: Vec<Option<u32>> = hashes
        .iter()
        .zip(0u32..)
        .map(|(&hash, i)| if texts[i as usize].is_empty() { None } else { last.insert(hash, i) })
        .collect();
    (0..texts.len() as u32)
        .into_par_iter()
        .flat_map_iter(|long| {
            let text = texts[long as usize];
            let chars = text.chars().count() as u64;
            let (mut hash, mut found) = (0, Vec::new());
            for (n, (at, c)) in (1u64..).zip(text.char_indices()) {
                hash = extend_hash(hash, c);
                if n < chars && Ratio::new(n, chars) >= least {
                    let mut short = last.get(&hash).copied();
                    while let Some(i) = short {
                        // Different texts may have one hash.
                        if texts[i as usize] == &text[..at + c.len_utf8()] {
                            found.push((i, long));
                        }
                        short = before[i as usize];
                    }
                }
            }
            found
        })
        .collect()
}

/// A text by itself: the hash of the whole where another may begin with it, and those of its beginnings that
/// may be another text, by the predicate's least length and ratio. Texts of which one begins with the other
/// share a hash; a collision costs a comparison.
pub fn openings_of(text: &str) -> (Option<u64>, Vec<u64>) {
    let Some(spec) = all_predicates().iter().find(|spec| spec.predicate == Predicate::Opening) else {
        return (None, Vec::new());
    };
    let chars = text.chars().count();
    if chars < spec.least_chars {
        return (None, Vec::new());
    }
    let mut hash = 0;
    let mut beginnings = Vec::new();
    for (n, c) in (1..).zip(text.chars()) {
        hash = extend_hash(hash, c);
        if (spec.least_chars..chars).contains(&n) && Ratio::new(n as u64, chars as u64) >= spec.borderline {
            beginnings.push(hash);
        }
    }
    (Some(hash), beginnings)
}

fn extend_hash(hash: u64, c: char) -> u64 {
    let product =
        u128::from(hash ^ u64::from(u32::from(c)) ^ 0x9E37_79B9_7F4A_7C15) * 0x9FB2_1C65_1E98_DF25_u128;
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_texts_open_others() {
        let texts = ["鱼", "", "鱼会", "鱼会游泳吗", "会游泳吗"];
        assert_eq!(find_openings(&texts, Ratio::new(1, 5)), [(0, 2), (0, 3), (2, 3)]);
        assert_eq!(find_openings(&texts, Ratio::new(2, 5)), [(0, 2), (2, 3)]);
    }
}
