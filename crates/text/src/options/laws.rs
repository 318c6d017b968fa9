//! Property tests of drawn options, for any input.

use proptest::prelude::*;

use super::*;

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-d甲乙丙 。]{0,3}", 1..6)
}

proptest! {
    #[test]
    fn the_right_answer_is_among_the_options(right in "[a-d甲乙]{1,3}", wrong in texts(), seed: u64, id in "[a-z0-9:]{1,8}") {
        match draw_choices(&right, &wrong, seed, "options", &id) {
            Ok(Choices { options, answer }) => {
                prop_assert_eq!(&options[answer], &right);
                let mut sorted = options.clone();
                sorted.sort();
                sorted.dedup();
                prop_assert_eq!(sorted.len(), wrong.len() + 1, "four texts stay four");
                let mut all = wrong.clone();
                all.push(right);
                all.sort();
                prop_assert_eq!(sorted, all);
            }
            Err(EqualOptions { first, second }) => prop_assert!(first < second && second <= wrong.len()),
        }
    }

    #[test]
    fn a_pair_is_wide_or_the_extremes(ratings in proptest::collection::vec(proptest::collection::vec(0u32..5, 0..4), 0..18), seed: u64) {
        let means: Vec<Mean> = ratings.iter().map(|r| Mean::new(r.iter().copied())).collect();
        let rated = || means.iter().filter(|mean| mean.count > 0);
        match gap_pair(&means, 2, seed, "q") {
            Some(GapPair { good, bad, of: 0 }) => {
                let gap = means[good].value() - means[bad].value();
                prop_assert!(gap > 0.0 && gap <= 2.0 + 1e-9);
                prop_assert!(rated().all(|mean| mean.compare(means[good]).is_le() && mean.compare(means[bad]).is_ge()));
            }
            Some(GapPair { good, bad, .. }) => prop_assert!(means[good].value() - means[bad].value() > 2.0),
            None => {
                let mut rated = rated();
                let first = rated.next().copied();
                prop_assert!(rated.all(|mean| first.is_some_and(|first| mean.compare(first).is_eq())));
            }
        }
    }

    #[test]
    fn the_order_of_judges_is_irrelevant(ratings in proptest::collection::vec(proptest::collection::vec(0u32..5, 1..6), 2..18), seed: u64) {
        let forwards: Vec<Mean> = ratings.iter().map(|r| Mean::new(r.iter().copied())).collect();
        let backwards: Vec<Mean> = ratings.iter().map(|r| Mean::new(r.iter().rev().copied())).collect();
        prop_assert_eq!(gap_pair(&forwards, 2, seed, "q"), gap_pair(&backwards, 2, seed, "q"));
    }
}

/// 4! orders of 24,000 items: about 1,000 items each.
#[test]
fn every_order_is_as_likely_as_any_other() {
    let mut counts = std::collections::BTreeMap::new();
    for item in 0..24_000 {
        *counts.entry(order(7, "options", &format!("tieba:{item}"), 4)).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
}

/// Six pairs of the answers rated 0, 0, 0, 3, 4 are wide: each is drawn equally often.
#[test]
fn wide_pairs_are_drawn_uniformly() {
    let means: Vec<Mean> = [0, 0, 0, 3, 4].map(|rating| Mean::new([rating])).to_vec();
    let mut counts = std::collections::BTreeMap::new();
    for item in 0..6_000 {
        let Some(GapPair { good, bad, of: 6 }) = gap_pair(&means, 2, 7, &item.to_string()) else { panic!() };
        *counts.entry((good, bad)).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
}

#[test]
fn exactly_the_gap_is_not_more_than_it() {
    let mean = |ratings: &[u32]| Mean::new(ratings.iter().copied());
    // 3 1/3 and 1 1/3 differ by exactly 2, which floating point cannot represent.
    assert_eq!(
        gap_pair(&[mean(&[3, 3, 4]), mean(&[1, 1, 2])], 2, 1, "q"),
        Some(GapPair { good: 0, bad: 1, of: 0 })
    );
    assert_eq!(gap_pair(&[mean(&[2]), mean(&[2, 2])], 2, 1, "q"), None);
    assert_eq!(gap_pair(&[mean(&[2])], 2, 1, "q"), None);
    assert_eq!(
        draw_choices("对", &["错".into(), "对！".into()], 1, "options", "x"),
        Err(EqualOptions { first: 0, second: 2 })
    );
}
