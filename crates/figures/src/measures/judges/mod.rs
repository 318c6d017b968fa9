//! How judges rate, and how far they agree (RuozhiBench 3.2–3.4).
//!
//! A rating is a whole number from 0 to 4 (figures 12 and 13). Shares are percent throughout, unlike in the
//! paper's table 3, which mixes shares and percent.

mod means;

pub use means::{CategoryScore, Distribution, count_ratings, mean_of_judges, mean_scores};

use std::collections::BTreeMap;

use serde::Serialize;

/// The lowest and the highest rating.
pub const SCALE: std::ops::RangeInclusive<u32> = 0..=4;

/// One rating of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating<'a> {
    /// The question that was answered.
    pub question: &'a str,
    /// Whether it is the paired normal question.
    pub normal: bool,
    pub response: &'a str,
    /// The model that answered.
    pub model: &'a str,
    pub judge: &'a str,
    /// Which of the judge's ratings of this response it is, from 0.
    pub repeat: u32,
    /// 0 to 4.
    pub rating: u32,
}

/// From this distance on, two ratings count as a large difference (table 3).
const LARGE: f64 = 2.0;

/// Two judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgePair {
    /// Their names, sorted.
    pub judges: [String; 2],
    /// Ratings paired one by one: the judges' first ratings of a response, their second ones, and so on.
    pub individual: Measures,
    /// The means of each judge's ratings of all answers to one question.
    pub mean: Measures,
}

/// Statistics of pairs of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// How many pairs.
    pub pairs: usize,
    /// Pearson's correlation; `None` if either side is constant.
    pub pearson: Option<f64>,
    /// Mean of the first judge minus mean of the second.
    pub difference: Option<f64>,
    /// Percent of pairs that differ by 2 points or more.
    pub large_percent: Option<f64>,
}

/// A figure of two judges' ratings.
pub type PairFigure = fn(&Measures) -> Option<f64>;

/// The figures of table 3, by their headings.
pub const PAIR_FIGURES: [(&str, PairFigure); 3] = [
    ("Pearson", |measures| measures.pearson),
    ("Mean difference", |measures| measures.difference),
    ("Large disagreement %", |measures| measures.large_percent),
];

/// The headings of the columns of table 3: of each figure that of single ratings, and that of means.
pub fn pair_titles() -> Vec<String> {
    let of_both = |(title, _): &(&str, PairFigure)| ["individual", "mean"].map(|of| format!("{title}, {of}"));
    PAIR_FIGURES.iter().flat_map(of_both).collect()
}

/// Every two judges who rated at least one response in common, sorted by name. `ratings` are of tricky or of
/// normal questions, not of both.
pub fn judge_pairs(ratings: &[Rating<'_>]) -> Vec<JudgePair> {
    let mut single: BTreeMap<(&str, u32), BTreeMap<&str, f64>> = BTreeMap::new();
    let mut sums: BTreeMap<&str, BTreeMap<&str, (f64, f64)>> = BTreeMap::new();
    for rating in ratings {
        let value = f64::from(rating.rating);
        single.entry((rating.response, rating.repeat)).or_default().insert(rating.judge, value);
        let sum = sums.entry(rating.question).or_default().entry(rating.judge).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    let means: Vec<BTreeMap<&str, f64>> = sums
        .into_values()
        .map(|of| of.into_iter().map(|(judge, (sum, n))| (judge, sum / n)).collect())
        .collect();
    let single: Vec<BTreeMap<&str, f64>> = single.into_values().collect();
    let mut judges: Vec<&str> = ratings.iter().map(|rating| rating.judge).collect();
    judges.sort_unstable();
    judges.dedup();
    let mut pairs = Vec::new();
    for (at, &first) in judges.iter().enumerate() {
        for &second in &judges[at + 1..] {
            let both = |of: &[BTreeMap<&str, f64>]| -> Vec<(f64, f64)> {
                of.iter().filter_map(|by| Some((*by.get(first)?, *by.get(second)?))).collect()
            };
            let individual = Measures::measure_pairs(&both(&single));
            if individual.pairs > 0 {
                let judges = [first.to_owned(), second.to_owned()];
                pairs.push(JudgePair { judges, individual, mean: Measures::measure_pairs(&both(&means)) });
            }
        }
    }
    pairs
}

impl Measures {
    /// Statistics of (first judge, second judge) pairs.
    pub fn measure_pairs(pairs: &[(f64, f64)]) -> Measures {
        let n = pairs.len() as f64;
        if pairs.is_empty() {
            return Measures::default();
        }
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let (a, b) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let spread = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
        let together = spread(&|pair| (pair.0 - a) * (pair.1 - b));
        let alone = spread(&|pair| (pair.0 - a).powi(2)) * spread(&|pair| (pair.1 - b).powi(2));
        // The tolerance keeps sums such as 1/3 + 2/3 from falling just short of a whole number.
        let large = pairs.iter().filter(|pair| (pair.0 - pair.1).abs() >= LARGE - 1e-9).count();
        Measures {
            pairs: pairs.len(),
            pearson: (alone > 0.0).then(|| together / alone.sqrt()),
            difference: Some(a - b),
            large_percent: Some(100.0 * large as f64 / n),
        }
    }
}

#[cfg(test)]
mod tests;
