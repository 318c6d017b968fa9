//! Bootstrap resamples of the items of a set, shared by every figure of it.

use rayon::prelude::*;

use crate::review::agreement::{Bootstrap, Estimate};

/// What the draws are for: the same seed draws otherwise elsewhere.
const PURPOSE: &str = "evaluation bootstrap";

/// How often each unit is in each resample. One drawing serves all figures: two models are then compared on the
/// same resamples, and a thousand figures cost a thousand sums.
#[derive(Debug)]
pub struct Resamples {
    units: usize,
    /// Resample by resample, `units` each.
    weights: Vec<u16>,
    settings: Bootstrap,
}

/// What a unit adds to a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its place.
    pub at: usize,
    /// What it adds to the numerator.
    pub sum: f64,
    /// What it adds to the denominator.
    pub count: f64,
}

impl Resamples {
    /// Draws `settings.resamples` times `units` units with replacement.
    pub fn new(settings: Bootstrap, name: &str, units: usize) -> Resamples {
        let mut weights = vec![0u16; settings.resamples * units];
        weights.par_chunks_mut(units.max(1)).enumerate().for_each(|(at, weights)| {
            for unit in settings.places(PURPOSE, name, at, units) {
                weights[unit] = weights[unit].saturating_add(1);
            }
        });
        Resamples { units, weights, settings }
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units
    }

    /// How the intervals are drawn.
    pub fn settings(&self) -> Bootstrap {
        self.settings
    }

    /// A statistic of weighted units: its value where each unit counts once, and its interval. `None` where it is
    /// not defined; resamples in which it is not are left out.
    pub fn estimate(&self, statistic: impl Fn(&[u16]) -> Option<f64> + Sync) -> Option<Estimate> {
        let value = statistic(&vec![1; self.units])?;
        Some(self.settings.estimate(value, self.drawn(statistic)))
    }

    /// What a statistic comes to in every resample in which it is defined, in their order.
    pub fn drawn(&self, statistic: impl Fn(&[u16]) -> Option<f64> + Sync) -> Vec<f64> {
        self.weights.par_chunks(self.units.max(1)).filter_map(&statistic).collect()
    }

    /// The sum of the numerators over that of the denominators. Units in neither need not be named.
    pub fn ratio(&self, units: &[Unit]) -> Option<Estimate> {
        self.estimate(|weights| ratio(units, weights))
    }
}

/// A ratio of weighted sums; `None` without a denominator.
pub fn ratio(units: &[Unit], weights: &[u16]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for unit in units {
        let weight = f64::from(weights[unit.at]);
        sum += weight * unit.sum;
        count += weight * unit.count;
    }
    (count > 0.0).then(|| sum / count)
}
