//! The figures of the papers' evaluations, computed from plain numbers.
//!
//! Nothing here depends on models, files or requests. Undefined figures (no units, no variation) are `None`.

mod calibration;
mod classes;
mod correlation;
mod paired;
mod resamples;
mod samples;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_classes;

pub use calibration::{Binned, Stated};
pub use classes::{Confusions, macro_f1};
pub use correlation::{Correlation, EXACT, pearson, pearson_r, ranks, spearman, spearman_r};
pub use paired::{Difference, McNemar, difference, holm, mcnemar};
pub use resamples::{Resamples, SHARE, Unit, count, ratio};
pub use samples::{Voted, majority, pass_at};

/// The geometric mean of positive numbers; 0 if one of them is 0, `None` if one is negative or there are
/// none.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| *value < 0.0) {
        return None;
    }
    if values.contains(&0.0) {
        return Some(0.0);
    }
    Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}
