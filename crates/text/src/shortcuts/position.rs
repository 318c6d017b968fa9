//! Positions of the right options.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::Item;

/// Right options by place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Positions {
    /// How many right options are at each position.
    pub counts: Vec<u64>,
    /// Pearson's chi-square against a uniform distribution.
    pub chi_square: f64,
    /// The probability of counts at least this uneven if positions are drawn.
    pub p: f64,
}

/// Counts the positions. All items have as many options as the first. Options at the `fixed` positions are
/// not drawn: they are counted, but left out of the test.
pub fn positions(items: &[Item<'_>], fixed: &[usize]) -> Positions {
    let mut counts = vec![0; items.first().map_or(0, |item| item.options.len())];
    for item in items {
        if let Some(count) = counts.get_mut(item.gold) {
            *count += 1;
        }
    }
    let drawn = counts.iter().enumerate().filter(|(at, _)| !fixed.contains(at));
    let (chi_square, p) = uniform(&drawn.map(|(_, count)| *count as f64).collect::<Vec<_>>());
    Positions { counts, chi_square, p }
}

/// Chi-square of counts against equal ones, and its p-value.
pub(super) fn uniform(counts: &[f64]) -> (f64, f64) {
    let expected = counts.iter().sum::<f64>() / counts.len().max(1) as f64;
    if counts.len() < 2 || expected <= 0.0 {
        return (0.0, 1.0);
    }
    let chi_square = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    let p = ChiSquared::new((counts.len() - 1) as f64).map_or(1.0, |of| of.sf(chi_square));
    (chi_square, p)
}
