//! Properties that hold for any two texts.

use proptest::prelude::*;

use super::predicate::{Need, TextView};
use super::prepared::Bag;
use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        // Few symbols, so that similar pairs occur.
        "[鱼猫吃不了的的第三二期a1 ，？🐟]{0,24}",
        "\\PC{0,40}",
        any::<String>(),
    ]
}

/// A text and an edited copy of it.
fn near_pair() -> impl Strategy<Value = (String, String)> {
    ("[鱼猫狗吃喝水不会了的在上下游泳，？]{5,40}", "[一-龥]{0,6}", any::<prop::sample::Index>(), 0..4usize)
        .prop_map(|(a, patch, at, cut)| {
            let chars: Vec<char> = a.chars().collect();
            let at = at.index(chars.len());
            let end = (at + cut).min(chars.len());
            let b =
                chars[..at].iter().collect::<String>() + &patch + &chars[end..].iter().collect::<String>();
            (a, b)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn symmetric_and_bounded(a in text(), b in text()) {
        let pair = compare(&a, &b);
        prop_assert_eq!(pair, compare(&b, &a));
        prop_assert!((0.0..=1.0).contains(&pair.score));
    }

    #[test]
    fn a_text_is_the_same_as_itself(a in text()) {
        let expected = if a.chars().all(char::is_whitespace) { Verdict::Different } else { Verdict::Same };
        prop_assert_eq!(compare(&a, &a).verdict, expected);
        prop_assert_eq!(compare(&a, "").verdict, Verdict::Different);
    }

    #[test]
    fn folding_twice_is_folding_once(a in "[鱼貓吃1Ａa她，？丨🐟 ]{0,24}") {
        let once = view::fold(&a);
        prop_assert_eq!(view::fold(&once), once);
    }

    #[test]
    fn a_pair_meets_the_needs((a, b) in near_pair()) {
        let pair = compare(&a, &b);
        prop_assert_eq!(pair, compare(&b, &a));
        if pair.verdict > Verdict::Different {
            let spec = all_predicates().iter().find(|spec| Some(spec.predicate) == pair.predicate).unwrap();
            for &need in spec.needs {
                prop_assert!(satisfies(need, spec.view, &a, &b), "{:?} fails {:?}", pair, need);
            }
        }
    }
}

fn satisfies(need: Need, view: TextView, a: &str, b: &str) -> bool {
    let total = |tokens: &[BagToken]| tokens.iter().map(|t| u64::from(t.count * t.weight)).sum::<u64>();
    let bag = |text: &str| Bag::of_chars(&view::fold(text).chars().collect::<Vec<_>>());
    let pairs = |text: &str| Bag::of_pairs(&view::fold(text).chars().collect::<Vec<_>>());
    let (shared, x, y) = (bag(a).weight_shared(&bag(b)), total(&bag(a).tokens), total(&bag(b).tokens));
    let string = |text: &str| match view {
        TextView::Text(view) => view(text),
        TextView::Bag(_) => view::fold(text),
    };
    let (s, t) = (string(a), string(b));
    let (n, m) = (s.chars().count() as u64, t.chars().count() as u64);
    match need {
        Need::SameView => s == t,
        Need::PrefixOfOther => s.starts_with(&t) || t.starts_with(&s),
        Need::LengthRatio(least) => Ratio::new(n.min(m), n.max(m)) >= least,
        Need::WeightRatio(least) => Ratio::new(x.min(y), x.max(y)) >= least,
        Need::SharedOfLighter(least) => Ratio::new(shared, x.min(y)) >= least,
        Need::SharedOfHeavier(least) => Ratio::new(shared, x.max(y)) >= least,
        Need::SharedPairsOfLighter(least) => {
            Ratio::new(pairs(a).weight_shared(&pairs(b)), pairs(a).total.min(pairs(b).total)) >= least
        }
        Need::CommonSubsequence(least) => {
            let lcs = rapidfuzz::distance::lcs_seq::similarity(s.chars(), t.chars());
            Ratio::new(lcs as u64, n + m) >= least
        }
    }
}

#[test]
fn thresholds_are_in_order() {
    for spec in all_predicates() {
        assert!(spec.borderline <= spec.same && spec.least_chars <= spec.least_chars_same);
        assert!(spec.same <= Ratio::new(1, 1) && !spec.needs.is_empty());
    }
}
