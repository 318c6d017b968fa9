//! The simplest figures, which reports and evaluations compute alike. Intervals, correlations and figures of classes are in
//! `evaluate::metrics`, agreement in `review::agreement`, those of judges in `judges`.

/// The mean; `None` of nothing.
pub fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A part of a whole in percent; 0 of nothing.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
