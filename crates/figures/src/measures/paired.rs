//! Two models on the same items: McNemar's test and the paired bootstrap.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::factorial::ln_binomial;

use super::resamples::{RatioUnit, Resamples, count_units};
use riddlemill_review::agreement::{Estimate, exact};

/// McNemar's test of two models' right and wrong answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// Items that only the first answers correctly.
    pub only_first: u64,
    /// Items that only the second answers correctly.
    pub only_second: u64,
    /// The exact two-sided binomial p-value of this split.
    pub exact_p: f64,
    /// The statistic with Edwards' correction, `(|b - c| - 1)² / (b + c)`; 0 where they never differ.
    pub chi_square: f64,
    /// Its p-value, with one degree of freedom. Use the exact one if fewer than 25 items differ.
    pub chi_square_p: f64,
}

/// Tests the items on which two models differ.
pub fn mcnemar_test(only_first: u64, only_second: u64) -> McNemar {
    let n = only_first + only_second;
    let gap = only_first.abs_diff(only_second) as f64;
    // Where both win equally often, the correction must not make a difference of its own.
    let chi_square = if n == 0 { 0.0 } else { (gap - 1.0).max(0.0).powi(2) / n as f64 };
    let chi_square_p = ChiSquared::new(1.0).map_or(1.0, |of| of.sf(chi_square));
    McNemar { only_first, only_second, exact_p: exact_p(only_first, only_second), chi_square, chi_square_p }
}

fn exact_p(first: u64, second: u64) -> f64 {
    let (n, least) = (first + second, first.min(second));
    // Twice the tail would count the middle term twice.
    if first == second {
        return 1.0;
    }
    // In logarithms, because the binomials of large n overflow.
    let ln = |k: u64| ln_binomial(n, k) - n as f64 * std::f64::consts::LN_2;
    // From the largest term down: each is `k / (n - k + 1)` times the previous one.
    let mut term = ln(least).exp();
    let mut tail = 0.0;
    for k in (0..=least).rev() {
        tail += term;
        term *= k as f64 / (n - k + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// Holm's correction of p-values for their number, in their order: the probability of one false difference
/// among all of them stays below the level at which they are read, whatever their dependence.
pub fn holm_correction(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut corrected = vec![0.0; p.len()];
    let mut before = 0.0f64;
    for (rank, at) in order.into_iter().enumerate() {
        // A larger p is never corrected to a smaller one.
        before = before.max(((p.len() - rank) as f64 * p[at]).min(1.0));
        corrected[at] = before;
    }
    corrected
}

/// The difference of two models on the items that both answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first's ratio minus the second's, with its interval over resamples of the items.
    pub difference: Estimate,
    /// Twice the share of resamples on the other side of 0 (including those at 0, and the original items), at
    /// most 1.
    pub p: f64,
}

/// The difference of two ratios on the same resamples; `None` if either is undefined. Both are means of
/// values in a range of this `span`. If all units are alike, the interval allows for as many differing ones
/// as may be unseen.
pub fn paired_difference(
    resamples: &Resamples,
    first: &[RatioUnit],
    second: &[RatioUnit],
    span: f64,
) -> Option<Difference> {
    let (value, drawn) = resamples.combine_ratios(first, second, |first, second| first - second)?;
    let settings = resamples.settings();
    let share =
        |of: fn(&&f64) -> bool| (drawn.iter().filter(of).count() + 1) as f64 / (drawn.len() + 1) as f64;
    let p = 2.0 * share(|x| **x <= 0.0).min(share(|x| **x >= 0.0));
    let mut difference = settings.interval_about(value, drawn);
    if settings.has_end_at_value(&difference) {
        let unseen = exact::unseen_share(count_units(first).min(count_units(second)), settings.level);
        difference.low = difference.low.min(value - unseen * (value + span));
        difference.high = difference.high.max(value + unseen * (span - value));
    }
    Some(Difference { difference, p: p.min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn holm_is_that_of_r() {
        let corrected = holm_correction(&[0.01, 0.04, 0.03, 0.005]);
        for (corrected, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((corrected - expected).abs() < 1e-12, "{corrected} {expected}");
        }
        assert_eq!(holm_correction(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm_correction(&[]).is_empty());
    }
}
