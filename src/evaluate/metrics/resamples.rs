//! Bootstrap resamples of the items of a set, shared by every figure of it.

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::review::agreement::{Bootstrap, Estimate};

/// What the draws are for: the same seed draws otherwise elsewhere.
const PURPOSE: &str = "evaluation bootstrap";

/// Resamples that are summed side by side.
const ABREAST: usize = 256;

/// Between which a share lies.
pub const SHARE: [f64; 2] = [0.0, 1.0];

/// How often each unit is in each resample. One drawing serves all figures: two models are then compared on the
/// same resamples, and a thousand figures cost a thousand sums.
#[derive(Debug)]
pub struct Resamples {
    units: usize,
    /// Resample by resample, `units` each.
    weights: Vec<u16>,
    /// The same unit by unit, a resample each: a ratio then runs along both.
    by_unit: Vec<u16>,
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
        let by_unit = (0..units)
            .into_par_iter()
            .flat_map_iter(|unit| weights.iter().skip(unit).step_by(units).copied())
            .collect();
        Resamples { units, weights, by_unit, settings }
    }

    /// How the intervals are drawn.
    pub fn settings(&self) -> Bootstrap {
        self.settings
    }

    /// A statistic of weighted units: its value where each unit counts once, and its interval. `None` where it is
    /// not defined; resamples in which it is not are left out. It is of so many units and lies in a range: where
    /// resamples leave no room its interval is that of a share.
    pub fn estimate(
        &self,
        units: usize,
        range: [f64; 2],
        statistic: impl Fn(&[u16]) -> Option<f64> + Sync,
    ) -> Option<Estimate> {
        let value = statistic(&vec![1; self.units])?;
        Some(self.settings.bounded(value, self.drawn(statistic), units, range))
    }

    /// The same of a correlation over so many pairs: where resamples leave no room its interval is that of Fisher's z, and
    /// where the pairs lie on a line, or are fewer than four, it has none.
    pub fn correlation(
        &self,
        pairs: usize,
        statistic: impl Fn(&[u16]) -> Option<f64> + Sync,
    ) -> Option<(f64, Option<[f64; 2]>)> {
        let r = statistic(&vec![1; self.units])?;
        let estimate = self.settings.estimate(r, self.drawn(statistic));
        if !self.settings.met(&estimate) {
            return Some((r, Some([estimate.low, estimate.high])));
        }
        let free = pairs.checked_sub(3).filter(|free| *free > 0 && r.abs() < 1.0 - 1e-12);
        let ends = free.map(|free| {
            let half =
                Normal::standard().inverse_cdf((1.0 + self.settings.level) / 2.0) / (free as f64).sqrt();
            [r.atanh() - half, r.atanh() + half].map(f64::tanh)
        });
        Some((r, ends))
    }

    /// What a statistic comes to in every resample in which it is defined, in their order.
    pub fn drawn(&self, statistic: impl Fn(&[u16]) -> Option<f64> + Sync) -> Vec<f64> {
        self.weights.par_chunks(self.units.max(1)).filter_map(&statistic).collect()
    }

    /// The sum of the numerators over that of the denominators, a mean of what lies in a range. Units in neither need
    /// not be named.
    pub fn ratio(&self, units: &[Unit], range: [f64; 2]) -> Option<Estimate> {
        let drawn = || self.ratios(units).into_iter().flatten().collect();
        self.alone(units).map(|value| self.settings.bounded(value, drawn(), count(units), range))
    }

    /// What is made of two ratios: where each unit counts once, and in every resample in which both are defined.
    pub fn both(
        &self,
        first: &[Unit],
        second: &[Unit],
        of: impl Fn(f64, f64) -> f64,
    ) -> Option<(f64, Vec<f64>)> {
        let value = of(self.alone(first)?, self.alone(second)?);
        let pairs = self.ratios(first).into_iter().zip(self.ratios(second));
        Some((value, pairs.filter_map(|(first, second)| Some(of(first?, second?))).collect()))
    }

    /// A ratio where each unit counts once.
    fn alone(&self, units: &[Unit]) -> Option<f64> {
        ratio(units, &vec![1; self.units])
    }

    /// A ratio in every resample; the sums are those of [`ratio`], in its order.
    fn ratios(&self, units: &[Unit]) -> Vec<Option<f64>> {
        let all = self.settings.resamples;
        let some = |start: usize| {
            let len = ABREAST.min(all - start);
            let (mut sums, mut counts) = ([0.0; ABREAST], [0.0; ABREAST]);
            for unit in units {
                let weights = &self.by_unit[unit.at * all + start..][..len];
                for ((sum, count), weight) in sums.iter_mut().zip(&mut counts).zip(weights) {
                    let weight = f64::from(*weight);
                    *sum += weight * unit.sum;
                    *count += weight * unit.count;
                }
            }
            sums.into_iter().zip(counts).take(len).map(|(sum, count)| (count > 0.0).then(|| sum / count))
        };
        (0..all.div_ceil(ABREAST)).into_par_iter().flat_map_iter(|part| some(part * ABREAST)).collect()
    }
}

/// How many units there are, whatever they are named for.
pub(super) fn count(units: &[Unit]) -> usize {
    let mut places: Vec<usize> = units.iter().map(|unit| unit.at).collect();
    places.sort_unstable();
    places.dedup();
    places.len()
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
