//! Opening: one text is the beginning of the other.
//!
//! What: the shorter folded text is a prefix of the longer, has at least 6 characters (8 to be the same) and
//! makes up at least an eighth of it (a quarter to be the same). Why: a title is a truncated post; a copy
//! carries an added tail.
//!
//! Needs: the shorter view is a prefix of the longer, so a hash table of whole views, asked for each
//! prefix of at least 6 characters and an eighth of the length, finds every pair.
//!
//! Known problems: two posts that open with the same saying and then continue differently, unless one of them
//! is only the saying.
//!
//! Example: `我家的鱼学会了游泳` and `我家的鱼学会了游泳，于是我把水倒了`.

use super::predicate::{Metric, Need, Predicate, PredicateSpec, Ratio, View};
use super::{Prepared, view};

pub(super) const SPEC: PredicateSpec = PredicateSpec {
    predicate: Predicate::Opening,
    view: View::Text(view::fold),
    metric: Metric::Prefix,
    borderline: Ratio::new(1, 8),
    same: Ratio::new(1, 4),
    least_chars: 6,
    least_chars_same: 8,
    needs: &[Need::PrefixOfOther, Need::LengthRatio(Ratio::new(1, 8))],
};

pub(super) fn measure(a: &Prepared, b: &Prepared) -> Ratio {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() || !long.chars.starts_with(&short.chars) {
        return Ratio::new(0, 1);
    }
    Ratio::new(short.len() as u64, long.len() as u64)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Predicate, Verdict, compare};

    #[test]
    fn a_cut_copy_is_the_same() {
        let pair = compare("我家的鱼学会了游泳", "我家的鱼学会了游泳，于是我把水倒了");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Opening)));
    }

    #[test]
    fn a_short_or_small_opening_is_not() {
        assert_eq!(compare("为什么", "为什么鱼不会淹死").verdict, Verdict::Different);
        assert_eq!(
            compare("鱼缸的故事", "鱼缸的故事说来话长，从前有个人买了一条鱼").verdict,
            Verdict::Different
        );
        let tail = "然后又发生了许多事情".repeat(4);
        assert_eq!(
            compare("我家的鱼学会了游泳", &format!("我家的鱼学会了游泳{tail}")).verdict,
            Verdict::Borderline
        );
    }
}
