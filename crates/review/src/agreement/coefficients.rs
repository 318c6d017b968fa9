//! Coefficients for two raters, and for any number of them.

use super::units::{Level, Units};

/// Mean over the units of the share of rating pairs that agree. Units rated once are ignored.
pub fn percent_agreement(units: &Units) -> Option<f64> {
    weighted::percent_agreement(units, &units.weights)
}

/// Fleiss' kappa (1971). Defined for units with equally many ratings; `None` otherwise. Units rated once are
/// ignored.
pub fn fleiss_kappa(units: &Units) -> Option<f64> {
    weighted::fleiss_kappa(units, &units.weights)
}

/// Krippendorff's alpha (2011). Accepts any number of ratings per unit; units rated once are ignored.
pub fn krippendorff_alpha(units: &Units, level: Level) -> Option<f64> {
    weighted::krippendorff_alpha(units, &units.weights, level)
}

/// Gwet's AC1 (2008), with all categories of the scale, including unused ones.
pub fn gwet_ac1(units: &Units) -> Option<f64> {
    weighted::gwet_ac1(units, &units.weights)
}

/// A coefficient by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coefficient {
    /// Percent agreement: the share of agreeing pairs.
    Percent,
    /// Fleiss' kappa.
    Fleiss,
    /// Krippendorff's alpha.
    Alpha(Level),
    /// Gwet's AC1.
    Ac1,
}

impl Coefficient {
    /// Its value.
    pub fn compute_value(self, units: &Units) -> Option<f64> {
        self.compute_weighted(units, &units.weights)
    }

    /// The value with other numbers of units per pattern.
    pub(super) fn compute_weighted(self, units: &Units, weights: &[u64]) -> Option<f64> {
        match self {
            Coefficient::Percent => weighted::percent_agreement(units, weights),
            Coefficient::Fleiss => weighted::fleiss_kappa(units, weights),
            Coefficient::Alpha(level) => weighted::krippendorff_alpha(units, weights, level),
            Coefficient::Ac1 => weighted::gwet_ac1(units, weights),
        }
    }

    /// The expected chance agreement by the coefficient's definition; for alpha as if all differences were
    /// equally large.
    pub fn chance_agreement(self, units: &Units) -> Option<f64> {
        match self {
            Coefficient::Percent => Some(0.0),
            Coefficient::Fleiss | Coefficient::Alpha(_) => weighted::by_shares(units, &units.weights),
            Coefficient::Ac1 => weighted::ac1_chance(units, &units.weights),
        }
    }
}

/// The coefficients with other numbers of units per pattern, for resamples.
pub(super) mod weighted {
    use super::{Level, Units};

    /// Patterns that occur, with the number of their units and of ratings per unit.
    fn rated_patterns<'u>(
        units: &'u Units,
        weights: &'u [u64],
        least: u32,
    ) -> impl Iterator<Item = (&'u [u32], f64, f64)> {
        units.patterns.iter().zip(weights).filter_map(move |(pattern, &weight)| {
            let ratings: u32 = pattern.iter().sum();
            (weight > 0 && ratings >= least).then_some((&**pattern, weight as f64, f64::from(ratings)))
        })
    }

    fn agreeing_pairs(pattern: &[u32], ratings: f64) -> f64 {
        let agreeing: f64 = pattern.iter().map(|&count| f64::from(count) * (f64::from(count) - 1.0)).sum();
        agreeing / (ratings * (ratings - 1.0))
    }

    /// `numerator / denominator`, if defined.
    fn defined_ratio(numerator: f64, denominator: f64) -> Option<f64> {
        (denominator.abs() > 1e-12).then(|| numerator / denominator)
    }

    pub(crate) fn percent_agreement(units: &Units, weights: &[u64]) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (pattern, weight, ratings) in rated_patterns(units, weights, 2) {
            sum += weight * agreeing_pairs(pattern, ratings);
            count += weight;
        }
        defined_ratio(sum, count)
    }

    pub(crate) fn fleiss_kappa(units: &Units, weights: &[u64]) -> Option<f64> {
        let mut given = vec![0.0; units.values.len()];
        let (mut total, mut each) = (0.0, None);
        for (pattern, weight, ratings) in rated_patterns(units, weights, 2) {
            if *each.get_or_insert(ratings) != ratings {
                return None;
            }
            total += weight * ratings;
            for (given, &count) in given.iter_mut().zip(pattern) {
                *given += weight * f64::from(count);
            }
        }
        let observed = percent_agreement(units, weights)?;
        let expected: f64 = given.iter().map(|given| (given / total).powi(2)).sum();
        defined_ratio(observed - expected, 1.0 - expected)
    }

    pub(crate) fn krippendorff_alpha(units: &Units, weights: &[u64], level: Level) -> Option<f64> {
        let mut given = vec![0.0; units.values.len()];
        for (pattern, weight, _) in rated_patterns(units, weights, 2) {
            for (given, &count) in given.iter_mut().zip(pattern) {
                *given += weight * f64::from(count);
            }
        }
        let total: f64 = given.iter().sum();
        let distances = squared_distances(units, &given, level);
        let distance = |a: usize, b: usize| distances[a * given.len() + b];
        let mut observed = 0.0;
        for (pattern, weight, ratings) in rated_patterns(units, weights, 2) {
            for a in 0..pattern.len() {
                for b in later_categories(a, pattern.len()).filter(|_| pattern[a] > 0) {
                    let pairs = 2.0 * f64::from(pattern[a]) * f64::from(pattern[b]);
                    observed += weight * pairs * distance(a, b) / (ratings - 1.0);
                }
            }
        }
        let mut expected = 0.0;
        for a in 0..given.len() {
            for b in later_categories(a, given.len()) {
                expected += 2.0 * given[a] * given[b] * distance(a, b);
            }
        }
        // D_o = observed / n, D_e = expected / (n (n - 1)).
        defined_ratio(observed * (total - 1.0), expected).map(|disagreement| 1.0 - disagreement)
    }

    /// The categories after one.
    fn later_categories(category: usize, of: usize) -> std::ops::Range<usize> {
        category + 1..of
    }

    /// Squared distances from categories to later ones; those of ranks depend on how often each category was given.
    fn squared_distances(units: &Units, category_counts: &[f64], level: Level) -> Vec<f64> {
        let size = category_counts.len();
        let mut distances = vec![0.0; size * size];
        for a in 0..size {
            let mut between = category_counts[a] / 2.0;
            for b in later_categories(a, size) {
                let (low, high) = (units.values[a], units.values[b]);
                let distance = match level {
                    Level::Nominal => 1.0,
                    Level::Ordinal => between + category_counts[b] / 2.0,
                    Level::Interval => high - low,
                    Level::Ratio if high + low == 0.0 => 0.0,
                    Level::Ratio => (high - low) / (high + low),
                };
                between += category_counts[b];
                distances[a * size + b] = distance * distance;
            }
        }
        distances
    }

    /// The share of equal pairs among all ratings together.
    pub(crate) fn by_shares(units: &Units, weights: &[u64]) -> Option<f64> {
        let mut given = vec![0.0; units.values.len()];
        for (pattern, weight, _) in rated_patterns(units, weights, 2) {
            for (given, &count) in given.iter_mut().zip(pattern) {
                *given += weight * f64::from(count);
            }
        }
        let total: f64 = given.iter().sum();
        defined_ratio(given.iter().map(|given| given * given).sum(), total * total)
    }

    pub(crate) fn gwet_ac1(units: &Units, weights: &[u64]) -> Option<f64> {
        let observed = percent_agreement(units, weights)?;
        let expected = ac1_chance(units, weights)?;
        defined_ratio(observed - expected, 1.0 - expected)
    }

    pub(crate) fn ac1_chance(units: &Units, weights: &[u64]) -> Option<f64> {
        let categories = units.values.len() as f64;
        let mut shares = vec![0.0; units.values.len()];
        let mut count = 0.0;
        for (pattern, weight, ratings) in rated_patterns(units, weights, 1) {
            count += weight;
            for (share, &given) in shares.iter_mut().zip(pattern) {
                *share += weight * f64::from(given) / ratings;
            }
        }
        let expected: f64 = shares.iter().map(|share| share / count).map(|share| share * (1.0 - share)).sum();
        defined_ratio(expected, categories - 1.0)
    }
}

/// How disagreements are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Equally: Cohen's kappa (1960).
    None,
    /// By the number of categories between them.
    Linear,
    /// By the square of that number.
    Quadratic,
}

/// Confusion matrix of two raters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    categories: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// Two raters and a scale of `categories` categories, in order.
    pub fn new(categories: usize) -> Confusion {
        Confusion { categories, counts: vec![0; categories * categories] }
    }

    /// Adds a unit that both rated.
    pub fn push(&mut self, first: usize, second: usize) {
        if first < self.categories && second < self.categories {
            self.counts[first * self.categories + second] += 1;
        }
    }

    /// How many units both rated.
    pub fn count_units(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The share of units that both rated alike.
    pub fn percent_agreement(&self) -> Option<f64> {
        let equal: u64 = (0..self.categories).map(|at| self.counts[at * self.categories + at]).sum();
        (self.count_units() > 0).then(|| equal as f64 / self.count_units() as f64)
    }

    /// Cohen's kappa, weighted or not.
    pub fn cohen_kappa(&self, weights: Weights) -> Option<f64> {
        let size = self.categories;
        let count = |a: usize, b: usize| self.counts[a * size + b] as f64;
        let first: Vec<f64> = (0..size).map(|a| (0..size).map(|b| count(a, b)).sum()).collect();
        let second: Vec<f64> = (0..size).map(|b| (0..size).map(|a| count(a, b)).sum()).collect();
        let (mut observed, mut expected) = (0.0, 0.0);
        for (a, in_first) in first.iter().enumerate() {
            for (b, in_second) in second.iter().enumerate() {
                let apart = a.abs_diff(b) as f64;
                let weight = match weights {
                    Weights::None => f64::from(u8::from(a != b)),
                    Weights::Linear => apart,
                    Weights::Quadratic => apart * apart,
                };
                observed += weight * count(a, b);
                expected += weight * in_first * in_second / self.count_units() as f64;
            }
        }
        (expected > 1e-12).then(|| 1.0 - observed / expected)
    }
}
