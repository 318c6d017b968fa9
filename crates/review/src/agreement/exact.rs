//! Intervals where resamples say nothing: at the edges, where every unit is alike and so is every resample.

use statrs::distribution::{Beta, ContinuousCDF};

/// The exact interval of a share (Clopper and Pearson 1934) of so many units, at a level such as 0.95. Where units lie
/// between 0 and 1 they vary less than ones of 0 and 1 with their mean, and it is wider than it need be.
pub fn share(value: f64, units: usize, level: f64) -> [f64; 2] {
    let n = units as f64;
    let hits = (value * n).clamp(0.0, n);
    let tail = (1.0 - level) / 2.0;
    let end = |share: f64, a: f64, b: f64, edge: f64| match Beta::new(a, b) {
        Ok(beta) if a > 0.0 && b > 0.0 => beta.inverse_cdf(share),
        _ => edge,
    };
    [end(tail, hits, n - hits + 1.0, 0.0), end(1.0 - tail, hits + 1.0, n - hits, 1.0)]
}

/// The largest share of units that may be otherwise where all that were seen are alike.
pub fn unseen(units: usize, level: f64) -> f64 {
    share(0.0, units, level)[1]
}
