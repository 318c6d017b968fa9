//! Sound: the same syllables in the same order, apart from a few.
//!
//! What: an Indel ratio of 0.9 over the toneless syllables. Why: to pass a filter, words are replaced by
//! others that sound the same.
//!
//! Needs: as for [near](super::near), over the view of sounds: a common subsequence of 9/20 of
//! |a| + |b| syllables, lengths as 9 to 11.
//!
//! Known problems: one reading a character, so a homophone by a second reading is missed; a pun that
//! explains itself (`期中`, `期终`) sounds the same in both of two jokes.
//!
//! Example: `校长说食堂的米饭要细嚼慢咽` and `校长说食堂的蜜犯要细嚼慢咽`.

use super::near::indel;
use super::predicate::{Metric, Need, Predicate, PredicateSpec, Ratio, View};
use super::{Prepared, view};

pub(super) const SPEC: PredicateSpec = PredicateSpec {
    predicate: Predicate::Sound,
    view: View::Text(view::sound),
    metric: Metric::Indel,
    borderline: Ratio::new(9, 10),
    same: Ratio::new(9, 10),
    least_chars: 5,
    least_chars_same: 8,
    needs: &[Need::LengthRatio(Ratio::new(9, 11)), Need::CommonSubsequence(Ratio::new(9, 20))],
};

pub(super) fn measure(a: &Prepared, b: &Prepared) -> Ratio {
    indel(a.sounds(), b.sounds(), SPEC.borderline, || a.sound_bag().common(b.sound_bag()).0)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Predicate, Verdict, compare};

    #[test]
    fn homophones_meet() {
        let pair = compare("叫兽说食堂的蜜犯要细嚼慢咽", "教授说食堂的米饭要细嚼慢咽");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Sound)));
    }
}
