//! Identical: the same key.
//!
//! What: two texts with equal [keys](view::key), i.e. the same letters, digits and ideographs in one
//! spelling. Why: most copies differ by a full stop, a full-width comma or a traditional character.
//!
//! Needs: equality of the key, so a hash table finds every pair.
//!
//! Known problems: punctuation can be the joke (`下雨天留客天留我不留`).
//!
//! Example: `云会恐高吗？` and `雲會恐高嗎`.

use super::predicate::{Metric, Need, Predicate, PredicateSpec, Ratio, View};
use super::{Prepared, view};

pub(super) const SPEC: PredicateSpec = PredicateSpec {
    predicate: Predicate::Identical,
    view: View::Text(view::key),
    metric: Metric::Equal,
    borderline: Ratio::new(1, 1),
    same: Ratio::new(1, 1),
    least_chars: 0,
    least_chars_same: 0,
    needs: &[Need::SameView],
};

pub(super) fn measure(a: &Prepared, b: &Prepared) -> Ratio {
    Ratio::new((a.key() == b.key() && !a.key().is_empty()).into(), 1)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Predicate, Verdict, compare};

    #[test]
    fn spelling_does_not_matter() {
        let pair = compare("云会恐高吗？", "雲會恐高嗎");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Identical)));
        assert_eq!(compare("🐟", "🐟 ").verdict, Verdict::Same);
        assert_eq!(compare("🐟", "🐠").verdict, Verdict::Different);
        assert_eq!(compare("", "").verdict, Verdict::Different);
    }
}
