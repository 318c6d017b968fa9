//! Exact intervals for cases in which resampling fails: if all units are alike, so is every resample.

use statrs::distribution::{Beta, ContinuousCDF};

/// The exact interval of a share (Clopper and Pearson 1934) of `units` units, at a level such as 0.95. Units
/// between 0 and 1 vary less than ones of 0 and 1 with the same mean, so for them it is conservative.
pub fn share_interval(value: f64, units: usize, level: f64) -> [f64; 2] {
    let n = units as f64;
    let hits = (value * n).clamp(0.0, n);
    let tail = (1.0 - level) / 2.0;
    let end = |share: f64, a: f64, b: f64, edge: f64| match Beta::new(a, b) {
        Ok(beta) if a > 0.0 && b > 0.0 => beta.inverse_cdf(share),
        _ => edge,
    };
    [end(tail, hits, n - hits + 1.0, 0.0), end(1.0 - tail, hits + 1.0, n - hits, 1.0)]
}

/// The largest possible share of units that differ, given that all observed ones are alike.
pub fn unseen_share(units: usize, level: f64) -> f64 {
    share_interval(0.0, units, level)[1]
}
