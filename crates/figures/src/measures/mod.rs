//! What figures are computed by, for reports and evaluations alike: counts and means, shares with intervals, correlations,
//! classes, paired comparisons, several answers to an item, and what judges rate. Agreement is in `review::agreement`.
//!
//! Nothing here depends on models, files or requests. Undefined figures (no units, no variation) are `None`.

mod calibration;
mod classes;
mod correlation;
pub mod judges;
mod paired;
mod resamples;
mod samples;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_classes;

pub use calibration::{Binned, Stated};
pub use classes::{Confusions, macro_f1};
pub use correlation::{
    Correlation, EXACT, mean_ranks, pearson_correlation, pearson_r, spearman_correlation, spearman_r,
};
pub use paired::{Difference, McNemar, holm_correction, mcnemar_test, paired_difference};
pub use resamples::{RatioUnit, Resamples, SHARE, count_units, weighted_ratio};
pub use samples::{Voted, majority_answer, pass_at};

/// The mean; `None` of nothing.
pub fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A part of a whole in percent; 0 of nothing.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

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
