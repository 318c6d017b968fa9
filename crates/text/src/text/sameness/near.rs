//! Near: the same characters in the same order, apart from a few.
//!
//! What: an Indel ratio of the folded texts of 0.85. Why: a typo, a swapped particle, a filtered word
//! put back.
//!
//! Needs: the common subsequence has at least 17/40 of |a| + |b| characters, so the lengths are at
//! least as 17 to 23 and an index of rare characters with a skip budget finds every pair.
//!
//! Known problems: one character can be the joke; see the vetoes [series](super::series) and
//! [negation](super::negation), and texts under 8 characters, which are at most borderline.
//!
//! Example: `冰箱里的灯关门后还亮吗，我钻进去看过` and `冰箱里的灯关了门还亮吗，我钻进去看过`.

use rapidfuzz::distance::lcs_seq;

use super::predicate::{Metric, Need, Predicate, PredicateSpec, Ratio, View};
use super::prepared::Shared;
use super::{Prepared, view};

pub(super) const SPEC: PredicateSpec = PredicateSpec {
    predicate: Predicate::Near,
    view: View::Text(view::fold),
    metric: Metric::Indel,
    borderline: Ratio::new(17, 20),
    same: Ratio::new(17, 20),
    least_chars: 5,
    least_chars_same: 8,
    needs: &[Need::LengthRatio(Ratio::new(17, 23)), Need::CommonSubsequence(Ratio::new(17, 40))],
};

pub(super) fn measure(a: &Prepared, b: &Prepared) -> Ratio {
    indel(&a.chars, &b.chars, SPEC.borderline, || a.bag().common(b.bag()).0)
}

/// Whether two texts are near, but so much of the lighter is not in the other that the frame may be about something else. A copy
/// with as many other characters rarely exchanges weighty ones.
pub(super) fn names_another(a: &Prepared, b: &Prepared, shared: Shared<'_>) -> bool {
    Ratio::new(shared.letters(), shared.weights().0.max(1)) < Ratio::new(82, 100)
        && measure(a, b) >= SPEC.borderline
}

/// The Indel ratio, or 0 if it is under the threshold. `common` counts the characters that the two have in
/// common in any order, an upper bound of their common subsequence.
pub(super) fn indel(a: &[char], b: &[char], threshold: Ratio, common: impl Fn() -> u64) -> Ratio {
    let sum = (a.len() + b.len()) as u64;
    let best = 2 * a.len().min(b.len()) as u64;
    if sum == 0 || Ratio::new(best, sum) < threshold {
        return Ratio::new(0, 1);
    }
    let need = (threshold.num * sum).div_ceil(2 * threshold.den);
    if common() < need {
        return Ratio::new(0, 1);
    }
    let args = lcs_seq::Args::default().score_cutoff(need as usize);
    match lcs_seq::similarity_with_args(a.iter().copied(), b.iter().copied(), &args) {
        Some(lcs) => Ratio::new(2 * lcs as u64, sum),
        None => Ratio::new(0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn a_character_or_two_do_not_matter() {
        let pair = compare("冰箱里的灯关门后还亮吗，我钻进去看过", "冰箱里的灯关了门还亮吗，我钻进去看过");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Near)));
    }

    #[test]
    fn short_texts_are_at_most_borderline() {
        assert_eq!(compare("大鱼吃小鱼", "大鱼吃小虾鱼").verdict, Verdict::Borderline);
        assert_eq!(compare("吃了吗", "吃了么").verdict, Verdict::Different);
    }

    #[test]
    fn ties_are_in() {
        let (a, b) = (['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'e']);
        assert_eq!(indel(&a, &b, Ratio::new(3, 4), || 3), Ratio::new(3, 4));
        assert_eq!(indel(&a, &b, Ratio::new(76, 100), || 3), Ratio::new(0, 1));
    }
}
