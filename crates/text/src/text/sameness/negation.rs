//! Veto: one states what the other denies.
//!
//! What: without their words of negation the two are nearly equal (an Indel ratio of 0.95), and one has an
//! odd number of them, the other an even one. The pair is one step less similar. Why: `鱼会淹死` and `鱼不会淹死` are
//! two claims, and often two jokes; only one step, because a rhetorical question may negate nothing.
//!
//! Known problems: negation without such a word (`难道`, `才怪`).
//!
//! Example: `为什么天气越冷鱼越会感冒` and `为什么天气越冷鱼越不会感冒`.

use super::near::indel;
use super::{Prepared, Ratio};

const WORDS: [char; 6] = ['不', '没', '未', '非', '别', '勿'];

pub(super) fn vetoes(a: &Prepared, b: &Prepared) -> bool {
    let count = |x: &Prepared| x.chars.iter().filter(|c| WORDS.contains(c)).count();
    if count(a) % 2 == count(b) % 2 {
        return false;
    }
    let rest = |x: &Prepared| x.chars.iter().copied().filter(|c| !WORDS.contains(c)).collect::<Vec<_>>();
    let least = Ratio::new(95, 100);
    indel(&rest(a), &rest(b), least, || u64::MAX) >= least
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, Veto, compare};

    #[test]
    fn a_denial_is_borderline() {
        let pair = compare("为什么天气越冷鱼越会感冒", "为什么天气越冷鱼越不会感冒");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Negation)));
    }
}
