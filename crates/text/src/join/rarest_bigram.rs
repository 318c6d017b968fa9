//! Which rarer bigrams are next to a pair of a bag.
//!
//! Two records that share a phrase meet in the list of each of its pairs, but are compared only in the list of the rarest.
//! In the other lists, the rarest pair, or another one that is rarer than the list's, is found in both records by walking
//! through the phrase from the list's pair. So it is known without reading the records that the two are compared
//! elsewhere.

use super::stats::Order;
use super::tokens::{FIRST_PAIR, spread_hash};

/// The nearest rarer pairs before and after a pair, by symbol; 0, which is no pair, where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rarer([u32; 2]);

impl Rarer {
    /// Whether two records that hold a pair are known to share one of these, too.
    #[inline(always)]
    pub fn shares_one(self, other: Rarer) -> bool {
        let (Rarer([before, after]), Rarer([others_before, others_after])) = (self, other);
        (before == others_before && before != 0) || (after == others_after && after != 0)
    }

    /// The one before, or the one after; 0 where none is known.
    #[inline(always)]
    pub fn pair_on_side(self, side: Side) -> u32 {
        self.0[side as usize]
    }
}

/// Where from a bigram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Where the two are among the pairs of the bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BagPlaces([u8; 2]);

/// No place, or none that fits in a byte.
const NOWHERE: u8 = u8::MAX;

/// How many pairs are visited at most on the way to a rarer one.
const FARTHEST: usize = 16;

/// A table to look up pairs by one of their letters. Of two in one slot the rarer one is found.
const SLOTS: usize = 256;

/// Of a bag with these pairs, the rarer ones next to the one at this place. `places` are those of [`append_places`].
#[inline(always)]
pub(super) fn rarer_neighbours(at: usize, pairs: &[u32], places: &[BagPlaces]) -> Rarer {
    let Some(&BagPlaces(places)) = places.get(at) else { return Rarer::default() };
    Rarer(places.map(|place| if place == NOWHERE { 0 } else { pairs[usize::from(place)] }))
}

/// Appends, for each pair of a bag, the places of the rarer ones next to it.
///
/// A bag has no order, but a pair is followed by one that begins with its second letter. If a letter repeats, that may not
/// be the pair that follows in the text; it is a pair of the bag in any case, which is enough.
pub(super) fn append_places(pairs: &[u32], order: &Order, places: &mut Vec<BagPlaces>) {
    let letters = |at: u8| order.pairs[(pairs[usize::from(at)] - FIRST_PAIR) as usize];
    let slot = |letter: u32| (spread_hash(letter) >> 24) as usize;
    let known = pairs.len().min(NOWHERE.into()) as u8;
    let (mut by_first, mut by_second) = ([NOWHERE; SLOTS], [NOWHERE; SLOTS]);
    for at in (0..known).rev() {
        let (first, second) = letters(at);
        by_first[slot(first)] = at;
        by_second[slot(second)] = at;
    }
    let before = |letter: u32| {
        let at = by_second[slot(letter)];
        (at != NOWHERE).then(|| (at, letters(at))).filter(|(_, (_, second))| *second == letter)
    };
    let after = |letter: u32| {
        let at = by_first[slot(letter)];
        (at != NOWHERE).then(|| (at, letters(at))).filter(|(_, (first, _))| *first == letter)
    };
    let all = places.len() + pairs.len();
    for at in 0..known {
        let is_rarer = |other: u8| pairs[usize::from(other)] < pairs[usize::from(at)];
        let (mut first, mut second) = letters(at);
        let mut beside = [NOWHERE; 2];
        for _ in 0..FARTHEST {
            let Some((other, (next, _))) = before(first) else { break };
            if is_rarer(other) {
                beside[0] = other;
                break;
            }
            first = next;
        }
        for _ in 0..FARTHEST {
            let Some((other, (_, next))) = after(second) else { break };
            if is_rarer(other) {
                beside[1] = other;
                break;
            }
            second = next;
        }
        places.push(BagPlaces(beside));
    }
    places.resize(all, BagPlaces([NOWHERE; 2]));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::join::tokens::letters_and_pairs;
    use crate::join::{Metric, Stats, Threshold};

    fn order(texts: &[&str]) -> Order {
        let mut stats = Stats::new(Metric::REWORDED);
        texts.iter().for_each(|text| stats.add(text));
        Order::new(&stats, Threshold::ONE)
    }

    fn pairs(text: &str, order: &Order) -> Vec<u32> {
        let (mut scratch, mut symbols) = (Vec::new(), Vec::new());
        assert!(order.spell_text(text, &mut scratch, &mut symbols));
        letters_and_pairs(&symbols).1.to_vec()
    }

    fn beside(pair: u32, pairs: &[u32], order: &Order) -> Rarer {
        let mut found = Vec::new();
        append_places(pairs, order, &mut found);
        assert_eq!(found.len(), pairs.len());
        let at = pairs.iter().position(|&other| other == pair).expect("a pair of the bag");
        rarer_neighbours(at, pairs, &found)
    }

    #[test]
    fn the_rarest_pair_of_a_shared_phrase_is_seen_from_each_other_one() {
        let texts = ["冰箱里的灯还亮吗", "一只冰箱里的灯泡", "冰箱", "箱里", "里的", "里的"];
        let order = order(&texts);
        let (a, b) = (pairs(texts[0], &order), pairs(texts[1], &order));
        let shared: Vec<u32> = a.iter().copied().filter(|pair| b.contains(pair)).collect();
        let (rarest, others) = shared.split_first().expect("a phrase");
        assert_eq!(others.len(), 3, "冰箱, 箱里, 里的, 的灯");
        let shares = |pair| beside(pair, &a, &order).shares_one(beside(pair, &b, &order));
        assert!(!shares(*rarest));
        assert!(others.iter().all(|&pair| shares(pair)));
    }

    proptest! {
        #[test]
        fn what_is_named_as_shared_is_rarer_and_in_both(
            a in "[一丁七a]{0,40}",
            b in "[一丁七a]{0,40}",
            long in "[一-俿]{0,400}",
        ) {
            let texts = [format!("{a}{long}"), format!("{long}{b}")];
            let order = order(&[&texts[0], &texts[1], &a, &b]);
            let [a, b] = texts.each_ref().map(|text| pairs(text, &order));
            for &pair in a.iter().filter(|pair| b.contains(pair)) {
                if beside(pair, &a, &order).shares_one(beside(pair, &b, &order)) {
                    let first = a.iter().find(|other| b.contains(other));
                    prop_assert!(first.is_some_and(|first| *first < pair));
                }
            }
        }
    }
}
