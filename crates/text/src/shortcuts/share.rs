//! A share of successes with its interval.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// How often a rule is right, against chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The share of items it gets right; ties count in parts.
    pub value: f64,
    /// The share by guessing.
    pub chance: f64,
    /// The lower end of the 95 % interval (Wilson's score interval).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// `successes` of `items`, each with one right option of `options`.
    pub fn new(successes: f64, items: usize, options: usize) -> Share {
        let chance = if options == 0 { 0.0 } else { 1.0 / options as f64 };
        if items == 0 {
            return Share { chance, high: 1.0, ..Share::default() };
        }
        let n = items as f64;
        let value = successes / n;
        let z = Normal::standard().inverse_cdf(0.975);
        let middle = value + z * z / (2.0 * n);
        let half = z * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        Share {
            value,
            chance,
            low: ((middle - half) / scale).max(0.0),
            high: ((middle + half) / scale).min(1.0),
        }
    }

    /// Whether the interval lies above chance.
    pub fn above_chance(self) -> bool {
        self.low > self.chance
    }
}
