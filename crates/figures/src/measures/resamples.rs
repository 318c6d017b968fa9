//! Bootstrap resamples of the items of a set, shared by all its figures.

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use riddlemill_review::agreement::{Bootstrap, Estimate};

/// Purpose of the draws: the same seed draws differently elsewhere.
const PURPOSE: &str = "evaluation bootstrap";

/// Number of resamples summed in parallel.
const ABREAST: usize = 256;

/// The range of a share.
pub const SHARE: [f64; 2] = [0.0, 1.0];

/// How often each unit is in each resample. All figures use the same resamples: so two models are compared on
/// the same ones, and a thousand figures cost a thousand sums.
#[derive(Debug)]
pub struct Resamples {
    units: usize,
    /// By resample, `units` each.
    weights: Vec<u16>,
    /// The same by unit, one value per resample, so that a ratio iterates over both.
    by_unit: Vec<u16>,
    settings: Bootstrap,
}

/// What a unit adds to a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioUnit {
    /// Its index.
    pub at: usize,
    /// Its addend to the numerator.
    pub sum: f64,
    /// Its addend to the denominator.
    pub count: f64,
}

impl Resamples {
    /// Draws `settings.resamples` resamples of `units` units with replacement.
    pub fn new(settings: Bootstrap, name: &str, units: usize) -> Resamples {
        let mut weights = vec![0u16; settings.resamples * units];
        // An empty set has no units, and chunks must not have the length 0.
        weights.par_chunks_mut(units.max(1)).enumerate().for_each(|(at, weights)| {
            for unit in settings.draw_places(PURPOSE, name, at, units) {
                weights[unit] = weights[unit].saturating_add(1);
            }
        });
        let by_unit = (0..units)
            .into_par_iter()
            .flat_map_iter(|unit| weights.iter().skip(unit).step_by(units).copied())
            .collect();
        Resamples { units, weights, by_unit, settings }
    }

    /// The settings of the intervals.
    pub fn settings(&self) -> Bootstrap {
        self.settings
    }

    /// A statistic of weighted units: its value with all weights 1, and its interval. `None` if it is
    /// undefined; resamples in which it is undefined are ignored. It is computed from `units` units and lies
    /// in a range: if resamples leave no room, its interval is that of a share.
    pub fn estimate_statistic(
        &self,
        units: usize,
        range: [f64; 2],
        statistic: impl Fn(&[u16]) -> Option<f64> + Sync,
    ) -> Option<Estimate> {
        let value = statistic(&vec![1; self.units])?;
        Some(self.settings.bounded_interval(value, self.resample_statistic(statistic), units, range))
    }

    /// The same for a statistic that is greater in resamples than in what they are drawn from, as an error of calibration is:
    /// the basic interval, which mirrors the resamples at the value, within the range.
    pub fn estimate_biased(
        &self,
        range: [f64; 2],
        statistic: impl Fn(&[u16]) -> Option<f64> + Sync,
    ) -> Option<Estimate> {
        let value = statistic(&vec![1; self.units])?;
        let drawn = self.settings.interval_about(value, self.resample_statistic(statistic));
        let [low, high] = [drawn.high, drawn.low].map(|end| (2.0 * value - end).clamp(range[0], range[1]));
        Some(Estimate { low: low.min(value), high: high.max(value), ..drawn })
    }

    /// The same for a correlation over this many pairs: if resamples leave no room its interval is that of
    /// Fisher's z, and if the pairs are perfectly correlated, or fewer than four, it has none.
    pub fn estimate_correlation(
        &self,
        pairs: usize,
        statistic: impl Fn(&[u16]) -> Option<f64> + Sync,
    ) -> Option<(f64, Option<[f64; 2]>)> {
        let r = statistic(&vec![1; self.units])?;
        let estimate = self.settings.interval_about(r, self.resample_statistic(statistic));
        if !self.settings.has_end_at_value(&estimate) {
            return Some((r, Some([estimate.low, estimate.high])));
        }
        // The standard error of Fisher's z is 1/√(n - 3), and z of a perfect correlation is infinite.
        let free = pairs.checked_sub(3).filter(|free| *free > 0 && r.abs() < 1.0 - 1e-12);
        let ends = free.map(|free| {
            let half =
                Normal::standard().inverse_cdf((1.0 + self.settings.level) / 2.0) / (free as f64).sqrt();
            [r.atanh() - half, r.atanh() + half].map(f64::tanh)
        });
        Some((r, ends))
    }

    /// The values of a statistic in all resamples in which it is defined, in order.
    pub fn resample_statistic(&self, statistic: impl Fn(&[u16]) -> Option<f64> + Sync) -> Vec<f64> {
        self.weights.par_chunks(self.units.max(1)).filter_map(&statistic).collect()
    }

    /// The sum of the numerators over that of the denominators, a mean of values in a range. Units in neither
    /// may be omitted.
    pub fn estimate_ratio(&self, units: &[RatioUnit], range: [f64; 2]) -> Option<Estimate> {
        let drawn = || self.resample_ratios(units).into_iter().flatten().collect();
        self.unweighted_ratio(units)
            .map(|value| self.settings.bounded_interval(value, drawn(), count_units(units), range))
    }

    /// A function of two ratios: with all weights 1, and in every resample in which both are defined.
    pub fn combine_ratios(
        &self,
        first: &[RatioUnit],
        second: &[RatioUnit],
        of: impl Fn(f64, f64) -> f64,
    ) -> Option<(f64, Vec<f64>)> {
        let value = of(self.unweighted_ratio(first)?, self.unweighted_ratio(second)?);
        let pairs = self.resample_ratios(first).into_iter().zip(self.resample_ratios(second));
        Some((value, pairs.filter_map(|(first, second)| Some(of(first?, second?))).collect()))
    }

    /// A ratio with all weights 1.
    fn unweighted_ratio(&self, units: &[RatioUnit]) -> Option<f64> {
        weighted_ratio(units, &vec![1; self.units])
    }

    /// A ratio in every resample; the sums are those of [`Resamples::estimate_ratio`], in the same order.
    fn resample_ratios(&self, units: &[RatioUnit]) -> Vec<Option<f64>> {
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

/// Number of distinct units.
pub fn count_units(units: &[RatioUnit]) -> usize {
    let mut places: Vec<usize> = units.iter().map(|unit| unit.at).collect();
    places.sort_unstable();
    places.dedup();
    places.len()
}

/// A ratio of weighted sums; `None` if the denominator is 0.
pub fn weighted_ratio(units: &[RatioUnit], weights: &[u16]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for unit in units {
        let weight = f64::from(weights[unit.at]);
        sum += weight * unit.sum;
        count += weight * unit.count;
    }
    (count > 0.0).then(|| sum / count)
}
