use rapidfuzz::distance::lcs_seq;

use super::predicate::{Need, Predicate, PredicateSpec, Ratio, TextView, ViewMetric};
use super::prepared::{Bag, BagToken, Shared};
use super::{PreparedText, view};

/// Identical: the same key.
///
/// What: two texts with equal [keys](view::copy_key), i.e. the same letters, digits and ideographs in one
/// spelling. Why: most copies differ by a full stop, a full-width comma or a traditional character.
///
/// Needs: equality of the key, so a hash table finds every pair.
///
/// Known problems: punctuation can be the joke (`下雨天留客天留我不留`).
///
/// Example: `云会恐高吗？` and `雲會恐高嗎`.
pub(super) const IDENTICAL: PredicateSpec = PredicateSpec {
    predicate: Predicate::Identical,
    view: TextView::Text(view::copy_key),
    metric: ViewMetric::Equal,
    borderline: Ratio::new(1, 1),
    same: Ratio::new(1, 1),
    least_chars: 0,
    least_chars_same: 0,
    needs: &[Need::SameView],
};

pub(super) fn measure_identical(a: &PreparedText, b: &PreparedText) -> Ratio {
    Ratio::new((a.key() == b.key() && !a.key().is_empty()).into(), 1)
}

/// Near: the same characters in the same order, apart from a few.
///
/// What: an Indel ratio of the folded texts of 0.85. Why: a typo, a swapped particle, a filtered word
/// put back.
///
/// Needs: the common subsequence has at least 17/40 of |a| + |b| characters, so the lengths are at
/// least as 17 to 23 and an index of rare characters with a skip budget finds every pair.
///
/// Known problems: one character can be the joke; see the vetoes [series](super::vetoes) and
/// [negation](super::vetoes), and texts under 8 characters, which are at most borderline.
///
/// Example: `冰箱里的灯关门后还亮吗，我钻进去看过` and `冰箱里的灯关了门还亮吗，我钻进去看过`.
pub(super) const NEAR: PredicateSpec = PredicateSpec {
    predicate: Predicate::Near,
    view: TextView::Text(view::fold),
    metric: ViewMetric::Indel,
    borderline: Ratio::new(17, 20),
    same: Ratio::new(17, 20),
    least_chars: 5,
    least_chars_same: 8,
    needs: &[Need::LengthRatio(Ratio::new(17, 23)), Need::CommonSubsequence(Ratio::new(17, 40))],
};

pub(super) fn measure_near(a: &PreparedText, b: &PreparedText) -> Ratio {
    indel_ratio(&a.chars, &b.chars, NEAR.borderline, || a.bag().count_shared(b.bag()).0)
}

/// Whether two texts are near, but so much of the lighter is not in the other that the frame may be about something else. A copy
/// with as many other characters rarely exchanges weighty ones.
pub(super) fn names_another(a: &PreparedText, b: &PreparedText, shared: Shared<'_>) -> bool {
    Ratio::new(shared.letter_weight(), shared.total_weights().0.max(1)) < Ratio::new(82, 100)
        && measure_near(a, b) >= NEAR.borderline
}

/// The Indel ratio, or 0 if it is under the threshold. `common` counts the characters that the two have in
/// common in any order, an upper bound of their common subsequence.
pub(super) fn indel_ratio(a: &[char], b: &[char], threshold: Ratio, common: impl Fn() -> u64) -> Ratio {
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

/// Sound: the same syllables in the same order, apart from a few.
///
/// What: an Indel ratio of 0.9 over the toneless syllables. Why: to pass a filter, words are replaced by
/// others that sound the same.
///
/// Needs: as for near, over the view of sounds: a common subsequence of 9/20 of
/// |a| + |b| syllables, lengths as 9 to 11.
///
/// Known problems: one reading a character, so a homophone by a second reading is missed; a pun that
/// explains itself (`期中`, `期终`) sounds the same in both of two jokes.
///
/// Example: `校长说食堂的米饭要细嚼慢咽` and `校长说食堂的蜜犯要细嚼慢咽`.
pub(super) const SOUND: PredicateSpec = PredicateSpec {
    predicate: Predicate::Sound,
    view: TextView::Text(view::sound),
    metric: ViewMetric::Indel,
    borderline: Ratio::new(9, 10),
    same: Ratio::new(9, 10),
    least_chars: 5,
    least_chars_same: 8,
    needs: &[Need::LengthRatio(Ratio::new(9, 11)), Need::CommonSubsequence(Ratio::new(9, 20))],
};

pub(super) fn measure_sound(a: &PreparedText, b: &PreparedText) -> Ratio {
    indel_ratio(a.sounds(), b.sounds(), SOUND.borderline, || a.sound_bag().count_shared(b.sound_bag()).0)
}

/// Opening: one text is the beginning of the other.
///
/// What: the shorter folded text is a prefix of the longer, has at least 6 characters (8 to be the same) and
/// makes up at least an eighth of it (a quarter to be the same). Why: a title is a truncated post; a copy
/// carries an added tail.
///
/// Needs: the shorter view is a prefix of the longer, so a hash table of whole views, asked for each
/// prefix of at least 6 characters and an eighth of the length, finds every pair.
///
/// Known problems: two posts that open with the same saying and then continue differently, unless one of them
/// is only the saying.
///
/// Example: `我家的鱼学会了游泳` and `我家的鱼学会了游泳，于是我把水倒了`.
pub(super) const OPENING: PredicateSpec = PredicateSpec {
    predicate: Predicate::Opening,
    view: TextView::Text(view::fold),
    metric: ViewMetric::Prefix,
    borderline: Ratio::new(1, 8),
    same: Ratio::new(1, 4),
    least_chars: 6,
    least_chars_same: 8,
    needs: &[Need::PrefixOfOther, Need::LengthRatio(Ratio::new(1, 8))],
};

pub(super) fn measure_opening(a: &PreparedText, b: &PreparedText) -> Ratio {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() || !long.chars.starts_with(&short.chars) {
        return Ratio::new(0, 1);
    }
    Ratio::new(short.len() as u64, long.len() as u64)
}

/// How much the lighter text counts.
const TOWARD: Ratio = Ratio::new(4, 5);

/// Part of the bigrams that must be shared: reordering leaves that much, chance does not.
/// Labelled retellings keep 0.45 of them and more.
pub(crate) const PAIRS: Ratio = Ratio::new(1, 3);

/// How many posts of a join hold each bigram at most by which two of them are looked at. What lower and higher
/// bounds cost and lose is in docs/quality.md.
pub(crate) const MOST_POSTS: u32 = 256;

/// Reworded: the weighty characters are the same, whatever their order.
///
/// What: shared / (4/5·lighter + 1/5·heavier) over the weights of the folded characters, from 0.60
/// borderline and from 0.64 the same, for texts of 8 characters or more (9 to be the same) that
/// also share bigrams.
///
/// Why: people retell a joke with clauses swapped and particles changed; its rare characters stay. Weighting
/// the lighter text more allows an added tail; the fifth of the heavier keeps a short text from matching any
/// long one. Under 9 characters one rare word makes half of the weight.
///
/// Needs: since no more is shared than the lighter weighs, its weight is at least 3/13 of the
/// heavier's, and the shared weight at least 3/5 of the lighter and 3/13 of the heavier; of the
/// bigrams at least a third of the lighter by weight. So the rarest characters of the
/// lighter, up to 2/5 of its weight, hold a shared one, and so does some bigram.
///
/// Among many posts a pair is looked at only where both hold a bigram that at most 256 of the posts hold. What is
/// in more of them, a saying or a frame, says little about two of them, and the number of pairs that share nothing else grows
/// with the square of the posts. Two texts alone are compared without it.
///
/// Known problems: a retelling with synonyms throughout shares too little. A joke in the same frame about
/// something else shares much; see [template](super::vetoes). A text that contains the joke and another
/// one; see [compilation](super::vetoes). Posts of one forum share its name; see [place](super::vetoes).
///
/// Example: `鳄鱼被做成了皮包，于是鳄鱼愤怒地咬了皮包` and `鳄鱼愤怒地咬了皮包，因为自己被做成了皮包`.
pub(super) const REWORDED: PredicateSpec = PredicateSpec {
    predicate: Predicate::Reworded,
    view: TextView::Bag(weighty_bag),
    metric: ViewMetric::Overlap { toward: TOWARD },
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

fn weighty_bag(text: &str) -> Vec<BagToken> {
    Bag::of_chars(&view::fold(text).chars().collect::<Vec<_>>()).tokens
}

/// The overlap of the characters; 0 if too few bigrams are shared.
pub(super) fn measure_reworded(shared: Shared<'_>) -> Ratio {
    let chars = overlap_ratio(shared.letter_weight(), shared.total_weights());
    if chars < REWORDED.borderline {
        return chars;
    }
    let pairs = Ratio::new(shared.pair_weight(), shared.weights_of_pairs().0.max(1));
    if pairs < PAIRS { Ratio::new(0, 1) } else { chars }
}

/// [`ViewMetric::Overlap`] with [`TOWARD`] of two bags that share this weight, the lighter's weight first; 0 for
/// two empty ones.
pub(super) fn overlap_ratio(shared: u64, (lighter, heavier): (u64, u64)) -> Ratio {
    let Ratio { num, den } = TOWARD;
    Ratio::new(den * shared, (num * lighter + (den - num) * heavier).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sameness::{Predicate, Verdict, compare};

    #[test]
    fn spelling_does_not_matter() {
        let pair = compare("云会恐高吗？", "雲會恐高嗎");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Identical)));
        assert_eq!(compare("🐟", "🐟 ").verdict, Verdict::Same);
        assert_eq!(compare("🐟", "🐠").verdict, Verdict::Different);
        assert_eq!(compare("", "").verdict, Verdict::Different);
    }

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
        assert_eq!(indel_ratio(&a, &b, Ratio::new(3, 4), || 3), Ratio::new(3, 4));
        assert_eq!(indel_ratio(&a, &b, Ratio::new(76, 100), || 3), Ratio::new(0, 1));
    }

    #[test]
    fn homophones_meet() {
        let pair = compare("叫兽说食堂的蜜犯要细嚼慢咽", "教授说食堂的米饭要细嚼慢咽");
        assert_eq!((pair.verdict, pair.predicate), (Verdict::Same, Some(Predicate::Sound)));
    }

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
        let (t, n, d) = (REWORDED.borderline, TOWARD.num, TOWARD.den);
        let least = Ratio::new(t.num * (d - n), t.den * d - t.num * n);
        assert!(REWORDED.needs.contains(&Need::WeightRatio(least)));
        assert!(REWORDED.needs.contains(&Need::SharedOfHeavier(least)));
        assert!(REWORDED.needs.contains(&Need::SharedOfLighter(t)));
    }
}
