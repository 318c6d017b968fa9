//! Published worked examples, stored figures of other libraries, and property tests.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::*;
use crate::ballot::Round;
use crate::ballots;
use crate::item::Item;
use crate::testing::{one_answer, test_item, test_vote};
use crate::votes::Vote;

/// The textbook table of ten subjects, fourteen raters and five categories.
const TEN_SUBJECTS: [[u32; 5]; 10] = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
];

#[test]
fn fleiss_kappa_of_the_ten_subjects() {
    let mut units = Units::of_categories(5);
    TEN_SUBJECTS.iter().for_each(|counts| units.push_counts(counts));
    assert!((fleiss_kappa(&units).unwrap() - 0.20993).abs() < 5e-6);
}

/// Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers,
/// twelve units, 0 where an observer gave no value.
const FOUR_OBSERVERS: [[usize; 12]; 4] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];

#[test]
fn alpha_of_the_four_observers() {
    let mut units = Units::of_values(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    for unit in 0..12 {
        units.push(FOUR_OBSERVERS.iter().filter_map(|observer| observer[unit].checked_sub(1)));
    }
    for (level, published) in
        [(Level::Nominal, 0.743), (Level::Ordinal, 0.815), (Level::Interval, 0.849), (Level::Ratio, 0.797)]
    {
        let alpha = krippendorff_alpha(&units, level).unwrap();
        assert!((alpha - published).abs() < 5e-4, "{level:?}: {alpha}");
    }
}

#[derive(serde::Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    categories: usize,
    ratings: Vec<Vec<Option<usize>>>,
    expected: std::collections::BTreeMap<String, f64>,
}

/// Seeded ratings with the figures of statsmodels, scikit-learn, krippendorff and irrCAC, whose
/// versions are in the file.
#[test]
fn other_libraries_agree_to_nine_digits() {
    let text = include_str!("../../../../tests/fixtures/agreement.json");
    let reference: Reference = serde_json::from_str(text).unwrap();
    for case in reference.cases {
        let mut units = Units::of_values((1..=case.categories).map(|value| value as f64).collect());
        let mut first_two = Confusion::new(case.categories);
        for ratings in &case.ratings {
            units.push(ratings.iter().flatten().copied());
            if let (Some(first), Some(second)) = (ratings[0], ratings[1]) {
                first_two.push(first, second);
            }
        }
        for (figure, expected) in case.expected {
            let ours = match figure.as_str() {
                "percent" => percent_agreement(&units),
                "fleiss" => fleiss_kappa(&units),
                "ac1" => gwet_ac1(&units),
                "alpha_nominal" => krippendorff_alpha(&units, Level::Nominal),
                "alpha_ordinal" => krippendorff_alpha(&units, Level::Ordinal),
                "alpha_interval" => krippendorff_alpha(&units, Level::Interval),
                "alpha_ratio" => krippendorff_alpha(&units, Level::Ratio),
                "cohen" => first_two.cohen_kappa(Weights::None),
                "cohen_linear" => first_two.cohen_kappa(Weights::Linear),
                "cohen_quadratic" => first_two.cohen_kappa(Weights::Quadratic),
                other => panic!("{other}"),
            };
            let ours = ours.unwrap();
            assert!((ours - expected).abs() < 1e-9, "{}, {figure}: {ours}, not {expected}", case.name);
        }
    }
}

#[test]
fn what_is_not_defined_has_no_figure() {
    let mut units = Units::of_categories(3);
    assert_eq!((percent_agreement(&units), krippendorff_alpha(&units, Level::Nominal)), (None, None));
    units.push([1]);
    assert_eq!((percent_agreement(&units), fleiss_kappa(&units), gwet_ac1(&units)), (None, None, None));
    units.push([1, 1]);
    // One category only: agreement by chance is certain.
    assert_eq!(
        (percent_agreement(&units), fleiss_kappa(&units), krippendorff_alpha(&units, Level::Nominal)),
        (Some(1.0), None, None)
    );
    units.push([0, 1, 1]);
    assert_eq!(fleiss_kappa(&units), None, "not rated equally often");
    assert!(krippendorff_alpha(&units, Level::Nominal).is_some());
    assert_eq!(Confusion::new(2).cohen_kappa(Weights::None), None);
}

#[test]
fn intervals_are_seeded_and_hold_the_value() {
    let mut units = Units::of_categories(5);
    TEN_SUBJECTS.iter().for_each(|counts| units.push_counts(counts));
    let settings = Bootstrap { resamples: 500, seed: 1, level: 0.95 };
    let estimate = |seed| {
        bootstrap::estimate_coefficients(&units, Level::Nominal, &Bootstrap { seed, ..settings }, "type")
            .fleiss
            .unwrap()
    };
    assert_eq!(estimate(1), estimate(1));
    assert_ne!(estimate(1), estimate(2));
    let Estimate { value, low, high } = estimate(1);
    assert!(low < value && value < high && low > -0.2 && high < 0.7, "{low} {value} {high}");
}

/// If everybody agrees on everything, resamples do not vary; with few items another outcome is well possible.
#[test]
fn intervals_at_the_edge_are_exact() {
    let settings = Bootstrap { resamples: 200, seed: 1, level: 0.95 };
    let mut units = Units::of_categories(2);
    units.push([0, 0, 0]);
    units.push([1, 1, 1]);
    let estimated = bootstrap::estimate_coefficients(&units, Level::Nominal, &settings, "two");
    // Clopper and Pearson: of two of two at least the root of 0.025. By chance half of all pairs would agree.
    let least = 0.025f64.sqrt();
    let percent = estimated.percent.unwrap();
    assert!((percent.low - least).abs() < 1e-9 && percent.high == 1.0, "{percent:?}");
    for coefficient in [estimated.fleiss, estimated.alpha, estimated.ac1] {
        let found = coefficient.unwrap();
        assert!((found.low - (least - 0.5) / 0.5).abs() < 1e-9 && found.high == 1.0, "{found:?}");
    }
    // For a million that agree, the exact interval is as narrow as that of resamples.
    assert!(exact::share_interval(1.0, 1_000_000, 0.95)[0] > 0.99999);
    // Without resamples there is no interval.
    let plain =
        bootstrap::estimate_coefficients(&units, Level::Nominal, &Bootstrap::NONE, "two").percent.unwrap();
    assert_eq!((plain.low, plain.high), (1.0, 1.0));
}

fn ratings() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0usize..4, 1..5), 2..30)
}

fn figures(ratings: &[Vec<usize>]) -> Vec<Option<f64>> {
    let mut units = Units::of_values(vec![0.0, 1.0, 2.0, 5.0]);
    ratings.iter().for_each(|ratings| units.push(ratings.iter().copied()));
    let levels = [Level::Nominal, Level::Ordinal, Level::Interval, Level::Ratio];
    let alphas = levels.map(|level| krippendorff_alpha(&units, level));
    [percent_agreement(&units), fleiss_kappa(&units), gwet_ac1(&units)].into_iter().chain(alphas).collect()
}

fn close(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a.is_none() && b.is_none(),
    })
}

proptest! {
    #[test]
    fn the_order_of_units_and_raters_is_irrelevant(mut ratings in ratings(), by in 0usize..5) {
        let before = figures(&ratings);
        let by = by % ratings.len();
        ratings.rotate_left(by);
        ratings.iter_mut().for_each(|ratings| ratings.reverse());
        prop_assert!(close(&before, &figures(&ratings)));
    }

    #[test]
    fn figures_are_bounded(ratings in ratings()) {
        for figure in figures(&ratings).into_iter().flatten() {
            prop_assert!(figure.is_finite() && figure <= 1.0 + 1e-12, "{figure}");
        }
        if let Some(share) = figures(&ratings)[0] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
    }

    #[test]
    fn renaming_categories_changes_no_nominal_figure(ratings in ratings(), by in 0usize..4) {
        let nominal = |ratings: &[Vec<usize>]| figures(ratings)[..4].to_vec();
        let renamed: Vec<Vec<usize>> =
            ratings.iter().map(|ratings| ratings.iter().map(|rating| (rating + by) % 4).collect()).collect();
        prop_assert!(close(&nominal(&ratings), &nominal(&renamed)));
    }

    #[test]
    fn kappa_does_not_care_who_is_first(pairs in prop::collection::vec((0usize..4, 0usize..4), 1..40)) {
        let (mut one, mut other) = (Confusion::new(4), Confusion::new(4));
        for (a, b) in pairs {
            one.push(a, b);
            other.push(b, a);
        }
        for weights in [Weights::None, Weights::Linear, Weights::Quadratic] {
            let (one, other) = (one.cohen_kappa(weights), other.cohen_kappa(weights));
            prop_assert!(close(&[one], &[other]));
            prop_assert!(one.is_none_or(|kappa| (-1.0 - 1e-12..=1.0 + 1e-12).contains(&kappa)));
        }
    }
}

/// What is shown everywhere: people's votes without a sample's, a sample's if no person voted, and one
/// interval.
#[test]
fn a_sample_is_reported_only_where_no_person_voted() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let items: Vec<Item> = (0..6).map(|at| test_item(&step, &format!("i{at}"), &[])).collect();
    let cast = |synthetic: bool, answers_of: &dyn Fn(usize) -> [&'static str; 2]| -> Vec<Vote> {
        let votes = items.iter().enumerate().flat_map(|(at, item)| {
            let who = if synthetic { ["s", "t"] } else { ["p", "q"] };
            who.into_iter().zip(answers_of(at)).map(move |(who, code)| (item, who, code))
        });
        let made = |(item, who, code)| Vote {
            synthetic,
            ..test_vote(&step, item, Round::Vote, who, one_answer("preference", code))
        };
        votes.map(made).map(Vote::with_id).collect()
    };
    let people = cast(false, &|at| if at < 3 { ["human", "human"] } else { ["human", "llm"] });
    let sample = cast(true, &|_| ["llm", "llm"]);
    let report = |votes: &[&Vote], bootstrap| {
        let mut by_item: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
        votes.iter().for_each(|vote| by_item.entry(&vote.item).or_default().push(vote));
        step_agreement(&step, &items, &by_item, bootstrap)
    };
    let both: Vec<&Vote> = people.iter().chain(&sample).collect();
    let of_people = report(&both, Bootstrap::AGREEMENT);
    assert!(!of_people.sample);
    let preference = |agreement: &StepAgreement| {
        agreement.fields.iter().find(|f| f.field == "preference").unwrap().clone()
    };
    let field = preference(&of_people);
    let percent = field.percent.unwrap();
    assert_eq!((field.items, field.votes, percent.value), (6, 12, 0.5));
    assert!(percent.low < 0.5 && percent.high > 0.5, "{percent:?}");
    let of_sample = report(&sample.iter().collect::<Vec<_>>(), Bootstrap::AGREEMENT);
    assert!(of_sample.sample);
    assert_eq!(preference(&of_sample).percent.unwrap().value, 1.0);
    assert!(report(&[], Bootstrap::AGREEMENT).sample, "nobody is no person");
    let plain = preference(&report(&both, Bootstrap::NONE)).percent.unwrap();
    assert_eq!((plain.low, plain.value, plain.high), (0.5, 0.5, 0.5));
}

/// Section 3.5 of BrainTeaser: mean shares over the experts, one kappa over the three questions.
#[test]
fn questions_with_the_same_options_are_pooled() {
    let step = ballots::find_step("brainteaser", "validity").unwrap();
    let items: Vec<Item> = (0..4).map(|at| test_item(&step, &format!("i{at}"), &[])).collect();
    let mut votes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for who in ["a", "b", "c"] {
            let context = if at == 0 && who != "a" { "no" } else { "yes" };
            let answers =
                [("original", "yes"), ("semantic", "yes"), ("context", context)].into_iter().collect();
            votes.push(test_vote(&step, item, Round::Vote, who, answers).with_id());
        }
    }
    let mut by_item: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
    votes.iter().for_each(|vote| by_item.entry(&vote.item).or_default().push(vote));
    let found = pool_questions(&step, &items, &by_item, Bootstrap::NONE).unwrap();
    assert_eq!((found.code, found.items, found.sample), ("yes", 4, false));
    let shares: Vec<(&str, i64)> =
        found.shares.iter().map(|(field, share)| (*field, (share * 1e4) as i64)).collect();
    assert_eq!(shares, [("original", 10_000), ("semantic", 10_000), ("context", 8_333)]);
    // 34 of 36 ratings are yes; 11 of 12 units agree, the last in one of three pairs.
    assert!((found.fleiss.unwrap().value - 8.0 / 17.0).abs() < 1e-9, "{:?}", found.fleiss);
    assert_eq!(pool_questions(&step, &items, &FxHashMap::default(), Bootstrap::NONE), None);
    let one_question = ballots::find_step("brainteaser", "kind").unwrap();
    assert_eq!(pool_questions(&one_question, &items, &by_item, Bootstrap::NONE), None);
}

#[test]
fn what_is_not_defined_says_why() {
    let some = Some(Estimate { value: 0.5, low: 0.1, high: 0.9 });
    let pair = |kappa: Option<f64>| PairAgreement {
        names: ["a".into(), "b".into()],
        items: 2,
        percent: Some(1.0),
        kappa,
        linear: None,
        quadratic: None,
    };
    let field = |percent, alpha, fleiss, kappa| FieldAgreement {
        field: "f".into(),
        level: Level::Nominal,
        items: 2,
        votes: 4,
        percent,
        fleiss,
        alpha,
        ac1: some,
        pairs: vec![pair(kappa)],
        annotators: Vec::new(),
        drafts: Edits::default(),
    };
    for (field, why) in [
        (field(None, None, None, None), Some(Undefined::Unpaired)),
        (field(some, None, None, None), Some(Undefined::OneAnswer)),
        (field(some, some, None, Some(0.1)), Some(Undefined::Uneven)),
        (field(some, some, some, None), Some(Undefined::NoPair)),
        (field(some, some, some, Some(0.1)), None),
    ] {
        assert_eq!(field.why_undefined(), why);
    }
}
