//! Figures of labels against stored ones of scikit-learn, and what holds of all of them.

use proptest::prelude::*;
use riddlemill_benchmarks::table::{ClassScore, Classes};
use serde::Deserialize;

use super::Confusions;

const CLOSE: f64 = 1e-9;

const ALL: [ClassScore; 6] = [
    ClassScore::Precision,
    ClassScore::Recall,
    ClassScore::F1,
    ClassScore::Mcc,
    ClassScore::FalsePositives,
    ClassScore::FalseNegatives,
];

/// The output of `tests/fixtures/class_figures.py`.
#[derive(Deserialize)]
struct Stored {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    classes: usize,
    gold: Vec<usize>,
    said: Vec<Option<usize>>,
    precision_macro: f64,
    precision_micro: f64,
    recall_macro: f64,
    recall_micro: f64,
    f1_macro: f64,
    f1_micro: f64,
    mcc: f64,
    /// Of the first class against all others.
    first: First,
}

#[derive(Deserialize)]
struct First {
    precision: f64,
    recall: f64,
    f1: f64,
    mcc: f64,
    fpr: f64,
    fnr: f64,
}

fn counted(classes: usize, gold: &[usize], said: &[Option<usize>]) -> Confusions {
    let mut confusions = Confusions::new(classes);
    gold.iter().zip(said).for_each(|(gold, said)| confusions.add(*gold, *said, 1.0));
    confusions
}

#[test]
fn figures_of_labels_are_those_of_scikit_learn() {
    let stored: Stored =
        serde_json::from_str(include_str!("../../../../tests/fixtures/class_figures.json")).unwrap();
    assert_eq!(stored.cases.len(), 5);
    for case in stored.cases {
        let confusions = counted(case.classes, &case.gold, &case.said);
        for (score, over, expected) in [
            (ClassScore::Precision, Classes::Macro, case.precision_macro),
            (ClassScore::Precision, Classes::Micro, case.precision_micro),
            (ClassScore::Recall, Classes::Macro, case.recall_macro),
            (ClassScore::Recall, Classes::Micro, case.recall_micro),
            (ClassScore::F1, Classes::Macro, case.f1_macro),
            (ClassScore::F1, Classes::Micro, case.f1_micro),
            (ClassScore::Mcc, Classes::Macro, case.mcc),
            (ClassScore::Precision, Classes::One(0), case.first.precision),
            (ClassScore::Recall, Classes::One(0), case.first.recall),
            (ClassScore::F1, Classes::One(0), case.first.f1),
            (ClassScore::Mcc, Classes::One(0), case.first.mcc),
            (ClassScore::FalsePositives, Classes::One(0), case.first.fpr),
            (ClassScore::FalseNegatives, Classes::One(0), case.first.fnr),
        ] {
            let found = confusions.compute_score(score, over).unwrap();
            assert!(
                (found - expected).abs() < CLOSE,
                "{}, {score:?} {over:?}: {found}, {expected}",
                case.name
            );
        }
        // The mean that the papers' tables show is the same one.
        let f1 = confusions.compute_score(ClassScore::F1, Classes::Macro);
        assert!((f1.unwrap() - confusions.macro_f1().unwrap()).abs() < CLOSE);
    }
}

#[test]
fn a_figure_without_a_denominator_is_none() {
    let nothing = Confusions::new(3);
    for score in ALL {
        assert_eq!(nothing.compute_score(score, Classes::One(0)), None, "{score:?}");
        assert_eq!(nothing.compute_score(score, Classes::Macro), None, "{score:?}");
    }
    // Always the same answer: what it is not was never named, and nothing varies.
    let same = counted(2, &[0, 1, 0], &[Some(0), Some(0), Some(0)]);
    assert_eq!(same.compute_score(ClassScore::Precision, Classes::One(1)), None);
    assert_eq!(same.compute_score(ClassScore::Recall, Classes::One(1)), Some(0.0));
    assert_eq!(same.compute_score(ClassScore::Mcc, Classes::Macro), None);
    assert_eq!(same.compute_score(ClassScore::FalsePositives, Classes::One(0)), Some(1.0));
}

proptest! {
    /// Every figure is in its range; right answers are perfect; missed and found parts of a class are the whole of it.
    #[test]
    fn figures_stay_in_their_ranges(
        answers in proptest::collection::vec((0usize..4, proptest::option::of(0usize..4)), 1..60),
    ) {
        let (gold, said): (Vec<usize>, Vec<Option<usize>>) = answers.into_iter().unzip();
        let confusions = counted(4, &gold, &said);
        for score in ALL {
            for over in [Classes::Macro, Classes::Micro, Classes::One(0), Classes::One(3)] {
                let least = if score == ClassScore::Mcc { -1.0 } else { 0.0 };
                if let Some(found) = confusions.compute_score(score, over) {
                    prop_assert!((least - CLOSE..=1.0 + CLOSE).contains(&found), "{score:?} {over:?}: {found}");
                }
            }
        }
        let of_first = |score| confusions.compute_score(score, Classes::One(0));
        if let (Some(recall), Some(missed)) = (of_first(ClassScore::Recall), of_first(ClassScore::FalseNegatives)) {
            prop_assert!((recall + missed - 1.0).abs() < CLOSE);
        }
        let perfect: Vec<Option<usize>> = gold.iter().copied().map(Some).collect();
        prop_assert_eq!(counted(4, &gold, &perfect).compute_score(ClassScore::F1, Classes::Macro), Some(1.0));
    }
}
