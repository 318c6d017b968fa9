//! Reworded: the weighty characters are the same, whatever their order.
//!
//! What: shared / (4/5·lighter + 1/5·heavier) over the weights of the folded characters, from 0.60
//! borderline and from 0.64 the same, for texts of 8 characters or more (9 to be the same) that
//! also share pairs of neighbours.
//!
//! Why: people retell a joke with clauses swapped and particles changed; its rare characters stay. Weighting
//! the lighter text more allows an added tail; the fifth of the heavier keeps a short text from matching any
//! long one. Under 9 characters one rare word makes half of the weight.
//!
//! Needs: since no more is shared than the lighter weighs, its weight is at least 3/13 of the
//! heavier's, and the shared weight at least 3/5 of the lighter and 3/13 of the heavier; of the
//! pairs of neighbours at least a third of the lighter by weight. So the rarest characters of the
//! lighter, up to 2/5 of its weight, hold a shared one, and so does some pair of neighbours.
//!
//! Among many posts a pair is looked at only where both hold a pair of neighbours that at most 256 of the posts hold. What is
//! in more of them, a saying or a frame, says little about two of them, and the number of pairs that share nothing else grows
//! with the square of the posts. Two texts alone are compared without it.
//!
//! Known problems: a retelling with synonyms throughout shares too little. A joke in the same frame about
//! something else shares much; see [template](super::template). A text that contains the joke and another
//! one; see [compilation](super::compilation). Posts of one forum share its name; see [place](super::place).
//!
//! Example: `鳄鱼被做成了皮包，于是鳄鱼愤怒地咬了皮包` and `鳄鱼愤怒地咬了皮包，因为自己被做成了皮包`.

use super::predicate::{Metric, Need, Predicate, PredicateSpec, Ratio, View};
use super::prepared::{Bag, Shared, Token};
use super::view;

/// How much the lighter text counts.
const TOWARD: Ratio = Ratio::new(4, 5);

/// Part of the pairs of neighbours that must be shared: reordering leaves that much, chance does not.
/// Labelled retellings keep 0.45 of them and more.
pub(crate) const PAIRS: Ratio = Ratio::new(1, 3);

/// How many posts of a join hold each pair of neighbours at most by which two of them are looked at. What lower and higher
/// bounds cost and lose is in docs/quality.md.
pub(crate) const MOST_POSTS: u32 = 256;

pub(super) const SPEC: PredicateSpec = PredicateSpec {
    predicate: Predicate::Reworded,
    view: View::Bag(bag),
    metric: Metric::Overlap { toward: TOWARD },
    borderline: Ratio::new(60, 100),
    same: Ratio::new(64, 100),
    least_chars: 8,
    least_chars_same: 9,
    needs: &[
        Need::WeightRatio(Ratio::new(3, 13)),
        Need::SharedOfLighter(Ratio::new(3, 5)),
        Need::SharedOfHeavier(Ratio::new(3, 13)),
        Need::SharedPairsOfLighter(PAIRS),
    ],
};

fn bag(text: &str) -> Vec<Token> {
    Bag::of_chars(&view::fold(text).chars().collect::<Vec<_>>()).tokens
}

/// The overlap of the characters; 0 if too few pairs of neighbours are shared.
pub(super) fn measure(shared: Shared<'_>) -> Ratio {
    let chars = overlap(shared.letters(), shared.weights());
    if chars < SPEC.borderline {
        return chars;
    }
    let pairs = Ratio::new(shared.pairs(), shared.weights_of_pairs().0.max(1));
    if pairs < PAIRS { Ratio::new(0, 1) } else { chars }
}

/// [`Metric::Overlap`] with [`TOWARD`] of two bags that share this weight, the lighter's weight first; 0 for
/// two empty ones.
pub(super) fn overlap(shared: u64, (lighter, heavier): (u64, u64)) -> Ratio {
    let Ratio { num, den } = TOWARD;
    Ratio::new(den * shared, (num * lighter + (den - num) * heavier).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn swapped_clauses_are_the_same() {
        let pair =
            compare("鳄鱼被做成了皮包，于是鳄鱼愤怒地咬了皮包", "鳄鱼愤怒地咬了皮包，因为自己被做成了皮包");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Reworded)));
    }

    #[test]
    fn common_characters_alone_are_not_enough() {
        let pair = compare("为什么我的鱼不会说话？", "为什么你的猫不会做饭？");
        assert_eq!(pair.verdict, Verdict::Different);
    }

    #[test]
    fn the_needs_follow_from_the_threshold() {
        // lighter >= t·(n·lighter + (d − n)·heavier)/d, solved for lighter / heavier.
        let (t, n, d) = (SPEC.borderline, TOWARD.num, TOWARD.den);
        let least = Ratio::new(t.num * (d - n), t.den * d - t.num * n);
        assert!(SPEC.needs.contains(&Need::WeightRatio(least)));
        assert!(SPEC.needs.contains(&Need::SharedOfHeavier(least)));
        assert!(SPEC.needs.contains(&Need::SharedOfLighter(t)));
    }
}
