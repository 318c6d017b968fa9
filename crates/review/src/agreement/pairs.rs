//! Coefficients for two raters.

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
    pub fn units(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The share of units that both rated alike.
    pub fn percent(&self) -> Option<f64> {
        let equal: u64 = (0..self.categories).map(|at| self.counts[at * self.categories + at]).sum();
        (self.units() > 0).then(|| equal as f64 / self.units() as f64)
    }

    /// Cohen's kappa, weighted or not.
    pub fn kappa(&self, weights: Weights) -> Option<f64> {
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
                expected += weight * in_first * in_second / self.units() as f64;
            }
        }
        (expected > 1e-12).then(|| 1.0 - observed / expected)
    }
}
