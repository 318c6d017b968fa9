//! How well stated confidences fit: the expected calibration error, and Brier's score.

/// An answer that states a confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// The index of its unit of resampling.
    pub at: usize,
    /// From 0 to 1.
    pub confidence: f64,
    /// Whether the answer is right.
    pub right: bool,
}

impl Stated {
    /// The square of how far the confidence is from what came: 1 or 0.
    pub fn brier_score(&self) -> f64 {
        (self.confidence - f64::from(self.right)).powi(2)
    }

    /// Its bin among some of equal width, of which each has its upper end, as in scikit-learn.
    fn bin_index(&self, bins: usize) -> usize {
        (1..bins).find(|end| self.confidence <= *end as f64 / bins as f64).unwrap_or(bins) - 1
    }
}

/// Answers in bins of equal width by their confidence.
#[derive(Clone, Debug)]
pub struct Binned {
    /// The bin of each, its unit, and its confidence minus what came.
    answers: Vec<(usize, usize, f64)>,
    bins: usize,
}

impl Binned {
    /// Puts answers into `bins` bins from 0 to 1; at least one.
    pub fn new(stated: &[Stated], bins: usize) -> Binned {
        let bins = bins.max(1);
        let one = |one: &Stated| (one.bin_index(bins), one.at, one.confidence - f64::from(one.right));
        Binned { answers: stated.iter().map(one).collect(), bins }
    }

    /// The expected calibration error with these weights of units (Guo et al. 2017): the mean over the answers of how far the
    /// mean confidence of their bin is from the share of right answers in it. `None` without answers.
    pub fn calibration_error(&self, weights: &[u16]) -> Option<f64> {
        let mut apart = vec![0.0; self.bins];
        let mut all = 0.0;
        for (bin, unit, difference) in &self.answers {
            let weight = f64::from(weights[*unit]);
            apart[*bin] += weight * difference;
            all += weight;
        }
        (all > 0.0).then(|| apart.iter().map(|apart: &f64| apart.abs()).sum::<f64>() / all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// The output of `tests/fixtures/calibration_figures.py`.
    #[derive(Deserialize)]
    struct Stored {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        confidence: Vec<f64>,
        right: Vec<bool>,
        weights: Vec<u16>,
        bins: usize,
        ece: f64,
        brier: f64,
    }

    fn stated(confidence: &[f64], right: &[bool]) -> Vec<Stated> {
        let both = confidence.iter().zip(right).enumerate();
        both.map(|(at, (&confidence, &right))| Stated { at, confidence, right }).collect()
    }

    #[test]
    fn figures_are_those_of_scikit_learn() {
        let text = include_str!("../../../../tests/fixtures/calibration_figures.json");
        let Stored { cases } = serde_json::from_str(text).unwrap();
        assert!(cases.len() >= 5);
        for case in cases {
            let answers = stated(&case.confidence, &case.right);
            let ece = Binned::new(&answers, case.bins).calibration_error(&case.weights).unwrap();
            assert!((ece - case.ece).abs() < 1e-9, "{}: {ece} for {}", case.name, case.ece);
            let (mut sum, mut all) = (0.0, 0.0);
            for one in &answers {
                sum += f64::from(case.weights[one.at]) * one.brier_score();
                all += f64::from(case.weights[one.at]);
            }
            assert!((sum / all - case.brier).abs() < 1e-9, "{}: {} for {}", case.name, sum / all, case.brier);
        }
    }

    #[test]
    fn without_answers_there_is_no_error() {
        assert_eq!(Binned::new(&[], 10).calibration_error(&[]), None);
        assert_eq!(Binned::new(&stated(&[0.5], &[true]), 10).calibration_error(&[0]), None);
    }

    proptest! {
        /// More bins only part what one bin averages; and no figure leaves its range.
        #[test]
        fn one_bin_has_the_smallest_error(answers in prop::collection::vec((0u32..=100, any::<bool>()), 1..40), bins in 1usize..20) {
            let (confidence, right): (Vec<f64>, Vec<bool>) =
                answers.iter().map(|(percent, right)| (f64::from(*percent) / 100.0, *right)).unzip();
            let answers = stated(&confidence, &right);
            let weights = vec![1; answers.len()];
            let error = |bins| Binned::new(&answers, bins).calibration_error(&weights).unwrap();
            prop_assert!(error(1) <= error(bins) + 1e-12 && error(bins) <= 1.0 + 1e-12);
            prop_assert!(answers.iter().all(|one| one.bin_index(bins) < bins && (0.0..=1.0).contains(&one.brier_score())));
        }
    }
}
