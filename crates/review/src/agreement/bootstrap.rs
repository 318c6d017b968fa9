//! Seeded bootstrap intervals.

use rayon::prelude::*;
use serde::Serialize;

use super::coefficients::Coefficient;
use super::exact;
use super::units::{Level, Units};
use riddlemill_text::options::Draw;

/// A coefficient with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// From the units themselves.
    pub value: f64,
    /// Lower end; the value itself without resamples.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How intervals are drawn: units are resampled with replacement, percentiles taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many resamples.
    pub resamples: usize,
    /// Of the recipe.
    pub seed: u64,
    /// The share of resamples inside the interval, such as 0.95.
    pub level: f64,
}

impl Bootstrap {
    /// The intervals of agreement everywhere, so that a coefficient has the same interval in a report, on a
    /// page and in a terminal.
    pub const AGREEMENT: Bootstrap = Bootstrap { resamples: 1000, seed: 0, level: 0.95 };

    /// No interval: saves resampling where only the coefficient is shown.
    pub const NONE: Bootstrap = Bootstrap { resamples: 0, ..Bootstrap::AGREEMENT };

    /// One resample: `count` indices below `count`, drawn with replacement, determined by seed, purpose, name
    /// and the number `at`. Each resample has its own stream, so spreading them over threads changes nothing.
    pub fn places(&self, purpose: &str, name: &str, at: usize, count: usize) -> impl Iterator<Item = usize> {
        let mut state = Draw::new(self.seed, purpose, &format!("{name} {at}")).bits();
        // The high half of the product maps 64 bits onto 0..count; the bias is below 2^-40.
        (0..count).map(move |_| ((u128::from(split_mix(&mut state)) * count as u128) >> 64) as usize)
    }

    /// The interval about `value` that contains the middle share of the resampled values.
    pub fn estimate(&self, value: f64, mut drawn: Vec<f64>) -> Estimate {
        drawn.sort_by(f64::total_cmp);
        let tail = (1.0 - self.level) / 2.0;
        let end = |share| percentile(&drawn, share).unwrap_or(value);
        Estimate { value, low: end(tail), high: end(1.0 - tail) }
    }

    /// The same for a mean of `units` units that each lie between `least` and `most`. If resamples leave no
    /// room on one side of it, because all units are alike or too few, the interval is the exact one of a
    /// share.
    pub fn bounded(&self, value: f64, drawn: Vec<f64>, units: usize, [least, most]: [f64; 2]) -> Estimate {
        let estimate = self.estimate(value, drawn);
        if !self.met(&estimate) {
            return estimate;
        }
        let span = most - least;
        let [low, high] = exact::share((value - least) / span, units, self.level);
        Estimate { value, low: least + span * low, high: least + span * high }
    }

    /// The same for a coefficient of agreement. If resamples leave no room, the exact interval of the
    /// percentage is converted to the coefficient, with the observed chance agreement.
    pub fn of_coefficient(&self, which: Coefficient, units: &Units, value: f64, drawn: Vec<f64>) -> Estimate {
        let estimate = self.estimate(value, drawn);
        let percent = Coefficient::Percent.compute(units).filter(|_| self.met(&estimate));
        let Some(percent) = percent else { return estimate };
        let ends = exact::share(percent, units.pairable(), self.level);
        let chance = match which {
            Coefficient::Percent => 0.0,
            _ if percent < 1.0 && value < 1.0 => (percent - value) / (1.0 - value),
            _ => which.chance(units).unwrap_or(0.0),
        };
        let [low, high] = ends.map(|share| ((share - chance) / (1.0 - chance)).clamp(-1.0, 1.0));
        Estimate { value, low: low.min(value), high: high.max(value) }
    }

    /// Whether an end of a drawn interval equals the value.
    pub fn met(&self, estimate: &Estimate) -> bool {
        let Estimate { value, low, high } = *estimate;
        let least = 1e-12 * value.abs().max(1.0);
        self.resamples > 0 && (value - low <= least || high - value <= least)
    }
}

/// The coefficients of many raters, with intervals from the same resamples.
pub(super) struct Estimates {
    pub(super) percent: Option<Estimate>,
    pub(super) fleiss: Option<Estimate>,
    pub(super) alpha: Option<Estimate>,
    pub(super) ac1: Option<Estimate>,
}

pub(super) fn estimate(units: &Units, level: Level, settings: &Bootstrap, name: &str) -> Estimates {
    let coefficients =
        [Coefficient::Percent, Coefficient::Fleiss, Coefficient::Alpha(level), Coefficient::Ac1];
    let all = |weights: &[u64]| coefficients.map(|which| which.weighted(units, weights));
    let values = all(&units.weights);
    let drawn: Vec<[Option<f64>; 4]> =
        (0..settings.resamples).into_par_iter().map(|at| all(&resample(units, settings, name, at))).collect();
    let interval = |at: usize| {
        let drawn = drawn.iter().filter_map(|values| values[at]).collect();
        Some(settings.of_coefficient(coefficients[at], units, values[at]?, drawn))
    };
    Estimates { percent: interval(0), fleiss: interval(1), alpha: interval(2), ac1: interval(3) }
}

/// A resample of all units with replacement, as counts per pattern.
fn resample(units: &Units, settings: &Bootstrap, name: &str, at: usize) -> Vec<u64> {
    let mut weights = vec![0; units.patterns.len()];
    for unit in settings.places("review bootstrap", name, at, units.units.len()) {
        weights[units.units[unit] as usize] += 1;
    }
    weights
}

/// SplitMix64 (Steele, Lea and Flood 2014), because resampling a million units has to be cheap.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Linear interpolation, as numpy's default.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}
