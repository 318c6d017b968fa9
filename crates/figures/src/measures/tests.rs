//! Stored figures of scikit-learn, scipy and statsmodels, and property tests.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use riddlemill_review::agreement::{Bootstrap, exact};

const CLOSE: f64 = 1e-9;

/// The output of `tests/fixtures/metrics.py`.
#[derive(Deserialize)]
struct Stored {
    classes: Vec<Classes>,
    rows: Vec<Rows>,
    splits: Vec<Split>,
    shares: Vec<Share>,
    fishers: Vec<Fisher>,
    geometric_means: Vec<Mean>,
}

#[derive(Deserialize)]
struct Classes {
    name: String,
    classes: usize,
    gold: Vec<usize>,
    #[serde(rename = "said")]
    chosen: Vec<Option<usize>>,
    accuracy: f64,
    macro_f1: f64,
}

#[derive(Deserialize)]
struct Rows {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    ranks: Vec<f64>,
    pearson: [f64; 2],
    spearman: [f64; 2],
    /// Over all permutations, for few pairs.
    exact: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct Share {
    hits: f64,
    n: usize,
    level: f64,
    ends: [f64; 2],
}

#[derive(Deserialize)]
struct Fisher {
    r: f64,
    n: usize,
    ends: [f64; 2],
}

#[derive(Deserialize)]
struct Split {
    only_first: u64,
    only_second: u64,
    exact_p: f64,
    chi_square: f64,
    chi_square_p: f64,
}

#[derive(Deserialize)]
struct Mean {
    values: Vec<f64>,
    mean: f64,
}

fn stored() -> Stored {
    serde_json::from_str(include_str!("../../../../tests/fixtures/metrics.json")).unwrap()
}

fn bootstrap(seed: u64) -> Bootstrap {
    Bootstrap { resamples: 400, seed, level: 0.95 }
}

/// Each number as a separate unit.
fn units(values: &[f64]) -> Vec<RatioUnit> {
    values.iter().enumerate().map(|(at, value)| RatioUnit { at, sum: *value, count: 1.0 }).collect()
}

#[test]
fn classes_are_counted_as_scikit_learn_counts_them() {
    for case in stored().classes {
        let pairs: Vec<_> = case.gold.iter().copied().zip(case.chosen.iter().copied()).collect();
        let f1 = macro_f1(&pairs, case.classes).unwrap();
        assert!((f1 - case.macro_f1).abs() < CLOSE, "{}: {f1} for {}", case.name, case.macro_f1);
        let right: Vec<f64> =
            pairs.iter().map(|(gold, predicted)| f64::from(Some(*gold) == *predicted)).collect();
        let accuracy = weighted_ratio(&units(&right), &vec![1; right.len()]).unwrap();
        assert!((accuracy - case.accuracy).abs() < CLOSE, "{}", case.name);
    }
    assert_eq!(macro_f1(&[], 8), None);
}

#[test]
fn correlations_are_those_of_scipy() {
    for case in stored().rows {
        let pairs: Vec<_> = case.x.iter().copied().zip(case.y.iter().copied()).collect();
        assert_eq!(mean_ranks(&case.x), case.ranks, "{}", case.name);
        let exact = case.exact.map_or([None; 2], |exact| exact.map(Some));
        assert_eq!(case.exact.is_some(), pairs.len() <= EXACT, "{}", case.name);
        for (found, [r, p], exact) in [
            (pearson_correlation(&pairs), case.pearson, exact[0]),
            (spearman_correlation(&pairs), case.spearman, exact[1]),
        ] {
            let (found, p) = (found.unwrap(), exact.unwrap_or(p));
            assert!((found.r - r).abs() < CLOSE, "{}: {found:?} for {r}", case.name);
            assert!((found.p.unwrap() - p).abs() < CLOSE, "{}: {found:?} for {p}", case.name);
        }
    }
    assert_eq!(pearson_correlation(&[(1.0, 2.0), (1.0, 3.0)]), None, "the first never varies");
}

#[test]
fn no_correlation_is_certain() {
    // Two of the six permutations of three models are perfectly correlated.
    let three = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)];
    let found = pearson_correlation(&three).unwrap();
    assert!((found.r - 1.0).abs() < CLOSE && (found.p.unwrap() - 1.0 / 3.0).abs() < CLOSE, "{found:?}");
    // Beyond enumeration: for twelve in a row one permutation of 12! on either side, for a single one among
    // twelve one of twelve.
    let row: Vec<(f64, f64)> = (0..12).map(|at| (f64::from(at), -f64::from(at))).collect();
    let p = pearson_correlation(&row).unwrap().p.unwrap();
    assert!((p * 479_001_600.0 - 2.0).abs() < 1e-6, "{p}");
    let lone: Vec<(f64, f64)> = (0..12).map(|at| (f64::from(at == 3), f64::from(at == 3))).collect();
    assert!((spearman_correlation(&lone).unwrap().p.unwrap() - 2.0 / 12.0).abs() < CLOSE);
    let (few, none) = (Resamples::new(bootstrap(1), "line", 3), bootstrap(1));
    let drawn = |weights: &[u16]| -> Vec<(f64, f64)> {
        let times = three.iter().zip(weights);
        times.flat_map(|(pair, weight)| std::iter::repeat_n(*pair, usize::from(*weight))).collect()
    };
    let (r, ends) = few.estimate_correlation(3, |weights| pearson_r(&drawn(weights))).unwrap();
    assert!((r - 1.0).abs() < CLOSE && ends.is_none(), "points on a line have no interval: {ends:?}");
    assert!(none.has_end_at_value(&none.interval_about(1.0, vec![1.0; 9])));
}

#[test]
fn intervals_at_the_edges_are_those_of_statsmodels_and_scipy() {
    let Stored { shares, fishers, .. } = stored();
    for case in shares {
        let found = exact::share_interval(case.hits / case.n as f64, case.n, case.level);
        for (found, stored) in found.into_iter().zip(case.ends) {
            assert!((found - stored).abs() < CLOSE, "{} of {}: {found} for {stored}", case.hits, case.n);
        }
    }
    for case in fishers {
        // A statistic that is equal in all resamples.
        let resamples = Resamples::new(bootstrap(1), "z", case.n);
        let (_, ends) = resamples.estimate_correlation(case.n, |_| Some(case.r)).unwrap();
        for (found, stored) in ends.unwrap().into_iter().zip(case.ends) {
            assert!((found - stored).abs() < CLOSE, "{} of {}: {found} for {stored}", case.r, case.n);
        }
    }
    // Two right of two, and two that both models answer alike.
    let resamples = Resamples::new(bootstrap(1), "two", 2);
    let right = resamples.estimate_ratio(&units(&[1.0, 1.0]), SHARE).unwrap();
    assert!((right.low - 0.025f64.sqrt()).abs() < CLOSE && right.high == 1.0, "{right:?}");
    let rated = resamples.estimate_ratio(&units(&[4.0, 4.0]), [0.0, 4.0]).unwrap();
    assert!((rated.low - 4.0 * right.low).abs() < CLOSE && rated.high == 4.0, "{rated:?}");
    let apart = paired_difference(&resamples, &units(&[1.0, 1.0]), &units(&[0.0, 0.0]), 1.0).unwrap();
    let unseen = 1.0 - right.low;
    assert!((apart.difference.low - (1.0 - 2.0 * unseen)).abs() < CLOSE, "{apart:?}");
    assert!(apart.difference.high == 1.0 && apart.p > 0.0, "{apart:?}");
}

#[test]
fn mcnemar_is_that_of_scipy_and_statsmodels() {
    for case in stored().splits {
        let found = mcnemar_test(case.only_first, case.only_second);
        for (found, stored) in [
            (found.exact_p, case.exact_p),
            (found.chi_square, case.chi_square),
            (found.chi_square_p, case.chi_square_p),
        ] {
            assert!((found - stored).abs() < CLOSE, "{} : {}", case.only_first, case.only_second);
        }
    }
}

#[test]
fn geometric_means_are_those_of_scipy_and_of_the_paper() {
    for case in stored().geometric_means {
        assert!((geometric_mean(&case.values).unwrap() - case.mean).abs() < CLOSE);
    }
    // FLUB, table 1: the overall performance follows from the three tasks.
    assert_eq!(format!("{:.2}", geometric_mean(&[79.38, 12.31, 8.95]).unwrap()), "20.60");
    assert_eq!((geometric_mean(&[0.0, 5.0]), geometric_mean(&[])), (Some(0.0), None));
}

#[test]
fn the_interval_of_a_share_is_about_that_of_the_binomial() {
    let right: Vec<f64> = (0..400).map(|at| f64::from(at % 4 == 0)).collect();
    let resamples = Resamples::new(Bootstrap { resamples: 4000, seed: 3, level: 0.95 }, "share", 400);
    let share = resamples.estimate_ratio(&units(&right), SHARE).unwrap();
    // 1.96 sqrt(0.25 * 0.75 / 400) = 0.0424
    assert_eq!(share.value, 0.25);
    assert!((share.low - 0.2076).abs() < 0.006 && (share.high - 0.2924).abs() < 0.006, "{share:?}");
}

proptest! {
    #[test]
    fn an_interval_is_drawn_by_its_seed(values in prop::collection::vec(0u8..2, 1..60), seed in 0u64..9) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let estimate = |seed| Resamples::new(bootstrap(seed), "law", values.len()).estimate_ratio(&units(&values), SHARE).unwrap();
        let (one, again) = (estimate(seed), estimate(seed));
        prop_assert_eq!(one, again);
        prop_assert!(one.low <= one.value + 1e-12 && one.value <= one.high + 1e-12, "{:?}", one);
        prop_assert!((0.0..=1.0).contains(&one.low) && (0.0..=1.0).contains(&one.high));
    }

    #[test]
    fn side_by_side_or_one_by_one_a_ratio_is_the_same(values in prop::collection::vec(0u8..5, 1..60), resamples in 1usize..600) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let drawn = Resamples::new(Bootstrap { resamples, ..bootstrap(2) }, "law", values.len());
        let units = units(&values);
        let range = [0.0, 4.0];
        let one = drawn.estimate_statistic(units.len(), range, |weights| weighted_ratio(&units, weights));
        prop_assert_eq!(drawn.estimate_ratio(&units, range), one);
        let (value, both) = drawn.combine_ratios(&units, &units[..1], |a, b| a - 2.0 * b).unwrap();
        prop_assert_eq!(value, weighted_ratio(&units, &vec![1; units.len()]).unwrap() - 2.0 * values[0]);
        let one_by_one = drawn.resample_statistic(|weights| Some(weighted_ratio(&units, weights)? - 2.0 * weighted_ratio(&units[..1], weights)?));
        prop_assert_eq!(both, one_by_one);
    }

    #[test]
    fn every_resample_has_as_many_units(units in 1usize..80, seed in 0u64..9) {
        let resamples = Resamples::new(bootstrap(seed), "sizes", units);
        let sizes = resamples.resample_statistic(|weights| Some(weights.iter().map(|w| f64::from(*w)).sum()));
        prop_assert!(sizes.iter().all(|size| *size == units as f64));
        prop_assert_eq!(sizes.len(), 400);
    }

    #[test]
    fn f1_is_a_share_and_forgets_names(pairs in prop::collection::vec((0usize..4, prop::option::of(0usize..4)), 1..40)) {
        let f1 = macro_f1(&pairs, 4).unwrap();
        prop_assert!((0.0..=1.0).contains(&f1));
        let renamed: Vec<_> = pairs.iter().map(|(g, s)| (3 - g, s.map(|s| 3 - s))).collect();
        prop_assert!((macro_f1(&renamed, 4).unwrap() - f1).abs() < 1e-12);
    }

    #[test]
    fn correlations_are_symmetric_and_bounded(pairs in prop::collection::vec((-5i32..5, -5i32..5), 2..40)) {
        let pairs: Vec<(f64, f64)> = pairs.into_iter().map(|(a, b)| (a.into(), b.into())).collect();
        let turned: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        for of in [pearson_correlation, spearman_correlation] {
            let (one, other) = (of(&pairs), of(&turned));
            prop_assert_eq!(one.is_some(), other.is_some());
            if let (Some(one), Some(other)) = (one, other) {
                prop_assert!((one.r - other.r).abs() < 1e-9 && one.r.abs() <= 1.0);
            }
        }
    }

    #[test]
    fn mcnemar_turns_around(b in 0u64..300, c in 0u64..300) {
        let (one, other) = (mcnemar_test(b, c), mcnemar_test(c, b));
        prop_assert!((one.exact_p - other.exact_p).abs() < 1e-12 && (0.0..=1.0).contains(&one.exact_p));
        prop_assert_eq!(one.chi_square, other.chi_square);
    }

    #[test]
    fn a_model_is_no_better_than_itself(values in prop::collection::vec(0u8..2, 1..40)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let resamples = Resamples::new(bootstrap(1), "same", values.len());
        let apart = paired_difference(&resamples, &units(&values), &units(&values), 1.0).unwrap();
        prop_assert_eq!((apart.difference.value, apart.p), (0.0, 1.0));
        prop_assert!(apart.difference.low < 0.0 && apart.difference.high > 0.0, "they may differ on what was not seen");
    }
}
