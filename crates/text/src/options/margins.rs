//! Options and splits at the margins: what reads alike, what nothing fits, and shares that do not sum to one.

use super::splits::{by_hash, in_proportion, split_weights, target_counts};
use super::*;
use SplitSize::{Count, Rest, Said, Share};

fn owned_texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn options_that_read_alike_are_told_by_their_numbers() {
    let drawn = |right: &str, wrong: &[&str]| draw_choices(right, &owned_texts(wrong), 1, "options", "x");
    // Punctuation alone is compared as it stands.
    assert!(drawn("。", &["！", "？"]).is_ok());
    assert_eq!(drawn("。", &["！", "！"]), Err(EqualOptions { first: 1, second: 2 }));
    let shown = |first, second| EqualOptions { first, second }.to_string();
    assert_eq!(shown(0, 2), "wrong answer 2 is the same as the right one");
    assert_eq!(shown(1, 2), "wrong answer 2 is the same as wrong answer 1");
    let repeated =
        find_repetitions("the explanation", "对。", &owned_texts(&["甲", "乙", "甲！", "对", "甲"]));
    let expected = [
        "number 3 says the same as number 1",
        "number 4 is the explanation",
        "number 5 says the same as number 1",
    ];
    assert_eq!(repeated, expected);
    assert!(find_repetitions("the explanation", "对", &owned_texts(&["甲", "乙"])).is_empty());
}

#[test]
fn a_mean_is_exact() {
    let mean = |ratings: &[u32]| Mean::new(ratings.iter().copied());
    assert_eq!((mean(&[]).value(), mean(&[1, 2]).value(), mean(&[4, 4, 1]).value()), (0.0, 1.5, 3.0));
    assert!(mean(&[1, 2]).compare(mean(&[3, 3, 3])).is_lt() && mean(&[1, 2]).compare(mean(&[2, 1])).is_eq());
    // 4 against 1 1/2: more than 2 above it, not more than 3, and not the other way round.
    let (high, low) = (mean(&[4, 4, 4]), mean(&[1, 2]));
    assert!(high.exceeds_by(low, 2) && !high.exceeds_by(low, 3) && !low.exceeds_by(high, 0));
    assert!(!mean(&[3]).exceeds_by(mean(&[1, 1]), 2), "exactly as much is not more");
}

#[test]
fn without_a_wide_pair_the_first_of_the_extremes_are_taken() {
    let means = [2, 1, 3, 1, 3].map(|rating| Mean::new([rating]));
    assert_eq!(gap_pair(&means, 2, 1, "q"), Some(GapPair { good: 2, bad: 1, of: 0 }));
    let unrated = [Mean::default(), means[0], Mean::default(), means[1]];
    assert_eq!(gap_pair(&unrated, 2, 1, "q"), Some(GapPair { good: 1, bad: 3, of: 0 }));
    assert_eq!(gap_pair(&unrated, 0, 1, "q"), Some(GapPair { good: 1, bad: 3, of: 1 }));
    assert_eq!(gap_pair(&[means[1], means[0]], 0, 1, "q"), Some(GapPair { good: 1, bad: 0, of: 1 }));
    assert_eq!(gap_pair(&[], 2, 1, "q"), None);
}

#[test]
fn shares_are_of_what_counts_leave() {
    assert_eq!(target_counts(&[Share(0.5), Rest], 5), [3, 2]);
    assert_eq!(target_counts(&[Share(1.0 / 3.0); 3], 10), [3, 4, 3], "each row once");
    assert_eq!(target_counts(&[Count(4), Share(0.5)], 10), [4, 3]);
    assert_eq!(target_counts(&[Rest, Count(4), Share(0.25)], 12), [6, 4, 2]);
    assert_eq!(target_counts(&[Count(20), Share(0.5), Said], 10), [20, 0, 0]);
}

#[test]
fn blocks_go_where_most_is_missing() {
    let placed = |sizes: &[SplitSize], lengths: &[usize]| in_proportion(sizes, lengths);
    assert_eq!(placed(&[Share(0.5), Share(0.5)], &[3, 3]), [Some(0), Some(1)]);
    assert_eq!(placed(&[Count(1)], &[1, 1, 1]), [None, Some(0), None]);
    // What fits nowhere goes where most is left, and the next where there is room.
    assert_eq!(placed(&[Count(2), Count(1)], &[3, 1]), [Some(0), Some(1)]);
    assert_eq!(placed(&[Count(1), Count(2)], &[3]), [Some(1)]);
    assert_eq!(placed(&[Count(1), Count(2)], &[1, 2]), [Some(1), Some(0)], "one that is full takes no more");
    let mixed = placed(&[Share(0.75), Share(0.25)], &[1; 8]);
    assert_eq!(mixed.iter().map(|split| split.unwrap()).collect::<Vec<_>>(), [0, 0, 1, 0, 0, 0, 1, 0]);
}

#[test]
fn later_rows_follow_shares_else_counts_and_never_the_examples() {
    assert_eq!(split_weights(&[Share(0.75), Rest], None), [0.75, 0.25]);
    assert_eq!(split_weights(&[Rest, Count(5)], None), [1.0, 0.0]);
    assert_eq!(split_weights(&[Share(0.5), Count(10)], None), [0.5, 0.0]);
    assert_eq!(split_weights(&[Count(30), Count(10)], None), [0.75, 0.25]);
    assert_eq!(split_weights(&[Count(30), Count(10), Count(40)], Some(2)), [0.75, 0.25, 0.0]);
    assert_eq!(split_weights(&[Count(0)], None), [0.0]);
    assert_eq!(split_weights(&[Count(4)], Some(0)), [0.0]);
    assert_eq!(split_weights(&[Said, Said], None), [0.0, 0.0]);
    assert_eq!(split_weights(&[Share(0.75), Share(0.5), Rest], None), [0.75, 0.5, 0.0]);
}

#[test]
fn a_hash_falls_into_one_weight() {
    assert_eq!([0.0, 0.49, 0.5, 0.99].map(|drawn| by_hash(&[0.5, 0.5], drawn)), [0, 0, 1, 1].map(Some));
    assert_eq!(by_hash(&[0.5, 0.0], 0.7), None, "half of them go to none");
    // Ten tenths sum to a little less than 1, which the greatest hash is not below.
    let tenths = [[0.1; 10].as_slice(), &[0.0]].concat();
    assert_eq!(by_hash(&tenths, 1.0 - f64::EPSILON / 2.0), Some(9));
    assert_eq!(by_hash(&[], 0.5), None);
}

#[test]
fn where_a_row_was_released_it_stays_or_it_is_told_why_not() {
    let row = |released, said| SplitRow { released, said, ..SplitRow::default() };
    let rows = [
        row(Some(InSplit::Nowhere), Some(0)),
        row(Some(InSplit::Undeclared), Some(0)),
        row(Some(InSplit::At(1)), Some(1)),
        row(Some(InSplit::At(1)), Some(0)),
        row(Some(InSplit::At(1)), None),
        row(None, None),
        row(None, Some(0)),
    ];
    let [untaken, undeclared, said] =
        [LeftApart::Untaken, LeftApart::Undeclared, LeftApart::Said].map(Err::<usize, _>);
    let placed = divide_rows(&[Said, Said], None, 1, &rows, &[]);
    assert_eq!(placed, [untaken, undeclared, Ok(1), said, Ok(1), said, Ok(0)]);
    // The reasons differ, and all are listed.
    let reasons: std::collections::BTreeSet<&str> =
        LeftApart::all_reasons().into_iter().map(LeftApart::reason).collect();
    assert!(reasons.len() == 4 && reasons.iter().all(|reason| reason.len() > 20));
}

#[test]
fn what_belongs_together_is_one_block_in_the_first_draw() {
    let row = |at: usize, groups: &[&str]| SplitRow {
        key: format!("post:{at}"),
        groups: owned_texts(groups),
        ..SplitRow::default()
    };
    // 0 and 2 by a group, 2 and 4 by another, 4 and 5 by nearness; 1 and 3 are alone.
    let rows = [row(0, &["g"]), row(1, &[]), row(2, &["g", "h"]), row(3, &[]), row(4, &["h"]), row(5, &[])];
    for seed in 0..8 {
        let placed = divide_rows(&[Count(4), Count(2)], None, seed, &rows, &[(5, 4)]);
        assert_eq!(placed, [Ok(0), Ok(1), Ok(0), Ok(1), Ok(0), Ok(0)], "{seed}");
    }
}
