//! Seeded bootstrap intervals.

use rayon::prelude::*;
use serde::Serialize;

use super::coefficients::Coefficient;
use super::exact;
use super::units::{Level, Units};
use riddlemill_text::options::DrawStream;

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
    pub fn draw_places(
        &self,
        purpose: &str,
        name: &str,
        at: usize,
        count: usize,
    ) -> impl Iterator<Item = usize> {
        let mut state = DrawStream::new(self.seed, purpose, &format!("{name} {at}")).next_bits();
        // The high half of the product maps 64 bits onto 0..count; the bias is below 2^-40.
        (0..count).map(move |_| ((u128::from(split_mix(&mut state)) * count as u128) >> 64) as usize)
    }

    /// The interval about `value` that contains the middle share of the resampled values.
    pub fn interval_about(&self, value: f64, mut drawn: Vec<f64>) -> Estimate {
        drawn.sort_by(f64::total_cmp);
        let tail = (1.0 - self.level) / 2.0;
        let end = |share| percentile_of(&drawn, share).unwrap_or(value);
        Estimate { value, low: end(tail), high: end(1.0 - tail) }
    }

    /// The same for a mean of `units` units that each lie between `least` and `most`. If resamples leave no
    /// room on one side of it, because all units are alike or too few, the interval is the exact one of a
    /// share.
    pub fn bounded_interval(
        &self,
        value: f64,
        drawn: Vec<f64>,
        units: usize,
        [least, most]: [f64; 2],
    ) -> Estimate {
        let estimate = self.interval_about(value, drawn);
        if !self.has_end_at_value(&estimate) {
            return estimate;
        }
        let span = most - least;
        let [low, high] = exact::share_interval((value - least) / span, units, self.level);
        Estimate { value, low: least + span * low, high: least + span * high }
    }

    /// The same for a coefficient of agreement. If resamples leave no room, the exact interval of the
    /// percentage is converted to the coefficient, with the observed chance agreement.
    pub fn of_coefficient(&self, which: Coefficient, units: &Units, value: f64, drawn: Vec<f64>) -> Estimate {
        let estimate = self.interval_about(value, drawn);
        let percent = Coefficient::Percent.compute_value(units).filter(|_| self.has_end_at_value(&estimate));
        let Some(percent) = percent else { return estimate };
        let ends = exact::share_interval(percent, units.count_pairable(), self.level);
        let chance = match which {
            Coefficient::Percent => 0.0,
            _ if percent < 1.0 && value < 1.0 => (percent - value) / (1.0 - value),
            _ => which.chance_agreement(units).unwrap_or(0.0),
        };
        let [low, high] = ends.map(|share| ((share - chance) / (1.0 - chance)).clamp(-1.0, 1.0));
        Estimate { value, low: low.min(value), high: high.max(value) }
    }

    /// Whether an end of a drawn interval equals the value.
    pub fn has_end_at_value(&self, estimate: &Estimate) -> bool {
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

pub(super) fn estimate_coefficients(
    units: &Units,
    level: Level,
    settings: &Bootstrap,
    name: &str,
) -> Estimates {
    let coefficients =
        [Coefficient::Percent, Coefficient::Fleiss, Coefficient::Alpha(level), Coefficient::Ac1];
    let all = |weights: &[u64]| coefficients.map(|which| which.compute_weighted(units, weights));
    let values = all(&units.weights);
    let drawn: Vec<[Option<f64>; 4]> = (0..settings.resamples)
        .into_par_iter()
        .map(|at| all(&resample_units(units, settings, name, at)))
        .collect();
    let interval = |at: usize| {
        let drawn = drawn.iter().filter_map(|values| values[at]).collect();
        Some(settings.of_coefficient(coefficients[at], units, values[at]?, drawn))
    };
    Estimates { percent: interval(0), fleiss: interval(1), alpha: interval(2), ac1: interval(3) }
}

/// A resample of all units with replacement, as counts per pattern.
fn resample_units(units: &Units, settings: &Bootstrap, name: &str, at: usize) -> Vec<u64> {
    let mut weights = vec![0; units.patterns.len()];
    for unit in settings.draw_places("review bootstrap", name, at, units.units.len()) {
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
fn percentile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Bootstrap = Bootstrap { resamples: 5, seed: 1, level: 0.5 };

    /// The generator's published sequence for the state 1234567.
    #[test]
    fn the_stream_is_split_mix() {
        let mut state = 1_234_567;
        let drawn: Vec<u64> = (0..5).map(|_| split_mix(&mut state)).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(drawn, published);
    }

    #[test]
    fn places_are_drawn_from_all_with_replacement() {
        let drawn = |at| HALF.draw_places("review bootstrap", "type", at, 1000).collect::<Vec<usize>>();
        let first = drawn(0);
        assert!(first.len() == 1000 && first.iter().all(|place| *place < 1000));
        let different: std::collections::BTreeSet<&usize> = first.iter().collect();
        // 1 - 1/e of them.
        assert!((590..680).contains(&different.len()), "{}", different.len());
        assert!(first.iter().any(|place| *place < 20) && first.iter().any(|place| *place >= 980));
        assert_eq!(first, drawn(0));
        assert_ne!(first, drawn(1));
    }

    #[test]
    fn an_interval_holds_the_middle_share() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let drawn = || vec![100.0, 0.0, 60.0, 10.0, 30.0];
        let half = HALF.interval_about(20.0, drawn());
        assert!(half.value == 20.0 && close(half.low, 10.0) && close(half.high, 60.0), "{half:?}");
        let most = Bootstrap { level: 0.9, ..HALF }.interval_about(20.0, drawn());
        assert!(close(most.low, 2.0) && close(most.high, 92.0), "{most:?}");
        assert_eq!(HALF.interval_about(20.0, Vec::new()), Estimate { value: 20.0, low: 20.0, high: 20.0 });
    }

    #[test]
    fn a_mean_at_its_bound_has_the_exact_interval() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let settings = Bootstrap { resamples: 10, seed: 1, level: 0.95 };
        let top = settings.bounded_interval(5.0, vec![5.0; 10], 10, [1.0, 5.0]);
        assert!(close(top.low, 1.0 + 4.0 * 0.025f64.powf(0.1)) && top.high == 5.0, "{top:?}");
        let [low, high] = exact::share_interval(0.5, 10, 0.95);
        let middle = settings.bounded_interval(3.0, vec![3.0; 10], 10, [1.0, 5.0]);
        assert!(close(middle.low, 1.0 + 4.0 * low) && close(middle.high, 1.0 + 4.0 * high), "{middle:?}");
        let spread: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(
            settings.bounded_interval(4.5, spread.clone(), 10, [0.0, 9.0]),
            settings.interval_about(4.5, spread)
        );
    }

    #[test]
    fn an_interval_is_met_at_either_end() {
        let settings = Bootstrap { resamples: 1, ..HALF };
        let met = |value, low, high| settings.has_end_at_value(&Estimate { value, low, high });
        assert!(met(0.5, 0.5, 0.9) && met(0.5, 0.1, 0.5) && !met(0.5, 0.1, 0.9));
        assert!(met(0.0, -1e-12, 1.0) && met(0.0, -1.0, 1e-12), "as near as counts as met");
        assert!(met(1e6, 1e6 - 1e-7, 2e6), "as near as the size of the value allows");
        assert!(!Bootstrap::NONE.has_end_at_value(&Estimate { value: 0.5, low: 0.5, high: 0.5 }));
    }

    /// Units that are all alike, but not in agreement: the exact interval of the percentage, by the coefficient's chance.
    #[test]
    fn alike_units_that_disagree_have_an_exact_interval() {
        let settings = Bootstrap { resamples: 50, seed: 1, level: 0.95 };
        let mut units = Units::of_categories(2);
        (0..40).for_each(|_| units.push([0, 0, 1]));
        let found = estimate_coefficients(&units, Level::Nominal, &settings, "alike");
        let ends = exact::share_interval(1.0 / 3.0, 40, 0.95);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for (found, chance) in [(found.percent, 0.0), (found.fleiss, 5.0 / 9.0), (found.ac1, 4.0 / 9.0)] {
            let found = found.unwrap();
            let [low, high] = ends.map(|share| ((share - chance) / (1.0 - chance)).max(-1.0));
            assert!(close(found.value, (1.0 / 3.0 - chance) / (1.0 - chance)), "{found:?}");
            assert!(close(found.low, low) && close(found.high, high), "{found:?}");
        }
        // Alpha's own chance: of 120 ratings, drawn without putting back.
        let alpha = found.alpha.unwrap();
        let chance = (80.0 * 79.0 + 40.0 * 39.0) / (120.0 * 119.0);
        assert!(close(alpha.value, (1.0 / 3.0 - chance) / (1.0 - chance)), "{alpha:?}");
        assert!(close(alpha.high, (ends[1] - chance) / (1.0 - chance)), "{alpha:?}");
    }
}
