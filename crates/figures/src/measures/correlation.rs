//! Correlations of two rows of numbers (RuozhiBench figures 6, 8 and 9; FLUB table 2).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::judges::Measures;

/// Up to this many pairs all permutations are enumerated: 362,880 of them.
pub const EXACT: usize = 9;

/// Tolerance for equal sums of products.
const SAME: f64 = 1e-12;

/// A coefficient from -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The coefficient.
    pub r: f64,
    /// The two-sided p-value: over all permutations of one row, like scipy's `permutation_test`, for at most
    /// [`EXACT`] pairs, by Student's t with n - 2 degrees of freedom beyond; `None` for fewer than three
    /// pairs.
    pub p: Option<f64>,
    /// How many pairs.
    pub n: usize,
}

/// Pearson's correlation; `None` if either row is constant.
pub fn pearson_correlation(pairs: &[(f64, f64)]) -> Option<Correlation> {
    // Rounding can put a perfect correlation slightly over 1.
    let r = Measures::measure_pairs(pairs).pearson?.clamp(-1.0, 1.0);
    Some(Correlation { r, p: p_value(pairs, r), n: pairs.len() })
}

/// The coefficient alone, because resamples need no p-value.
pub fn pearson_r(pairs: &[(f64, f64)]) -> Option<f64> {
    Measures::measure_pairs(pairs).pearson.map(|r| r.clamp(-1.0, 1.0))
}

/// Spearman's coefficient alone.
pub fn spearman_r(pairs: &[(f64, f64)]) -> Option<f64> {
    pearson_r(&rank_pairs(pairs))
}

/// Spearman's correlation: Pearson's of the ranks, ties at their mean rank.
pub fn spearman_correlation(pairs: &[(f64, f64)]) -> Option<Correlation> {
    pearson_correlation(&rank_pairs(pairs))
}

fn rank_pairs(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let first = mean_ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = mean_ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    first.into_iter().zip(second).collect()
}

/// Ranks from 1; equal numbers share the mean of their ranks.
pub fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = |at: &&usize| values[**at] == values[order[from]];
        // NaN does not equal itself, and without the 1 the loop would not advance.
        let to = from + order[from..].iter().take_while(same).count().max(1);
        let mean = (from + 1 + to) as f64 / 2.0;
        order[from..to].iter().for_each(|&at| ranks[at] = mean);
        from = to;
    }
    ranks
}

fn p_value(pairs: &[(f64, f64)], r: f64) -> Option<f64> {
    let n = pairs.len();
    let free = n.checked_sub(2).filter(|free| *free > 0)? as f64;
    if n <= EXACT {
        return Some(over_orders(pairs));
    }
    // Less rounding than in 1 - r² if r is nearly 1.
    let rest = (1.0 - r) * (1.0 + r);
    if rest <= SAME {
        return Some(of_perfect(pairs));
    }
    let t = r.abs() * (free / rest).sqrt();
    Some(2.0 * StudentsT::new(0.0, 1.0, free).ok()?.sf(t))
}

/// Twice the share of permutations of the second row with at least the observed association, on the rarer
/// side, at most 1. Means and variances are equal in all permutations, so comparing the sums of products is
/// enough.
fn over_orders(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len();
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n as f64;
    let (a, b) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let first: Vec<f64> = pairs.iter().map(|pair| pair.0 - a).collect();
    let mut second: Vec<f64> = pairs.iter().map(|pair| pair.1 - b).collect();
    let products = |second: &[f64]| first.iter().zip(second).map(|(a, b)| a * b).sum::<f64>();
    let here = products(&second);
    let least = SAME * first.iter().zip(&second).map(|(a, b)| (a * b).abs()).sum::<f64>();
    let (mut orders, mut below, mut above) = (0u64, 0u64, 0u64);
    let mut count = |second: &[f64]| {
        let there = products(second);
        orders += 1;
        below += u64::from(there <= here + least);
        above += u64::from(there >= here - least);
    };
    count(&second);
    // Heap's algorithm: consecutive permutations differ by one swap.
    let mut turns = vec![0; n];
    let mut at = 1;
    while at < n {
        if turns[at] < at {
            second.swap(if at % 2 == 0 { 0 } else { turns[at] }, at);
            count(&second);
            turns[at] += 1;
            at = 1;
        } else {
            turns[at] = 0;
            at += 1;
        }
    }
    (2.0 * below.min(above) as f64 / orders as f64).min(1.0)
}

/// The same for two perfectly correlated rows: only permutations that swap equal numbers reach that.
fn of_perfect(pairs: &[(f64, f64)]) -> f64 {
    let mut values: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    values.sort_by(f64::total_cmp);
    // ln 2 / n!, plus ln m! for every m equal numbers.
    let (mut ln, mut equal) = (2f64.ln(), 0.0);
    for (at, value) in values.iter().enumerate() {
        equal = if at > 0 && values[at - 1] == *value { equal + 1.0 } else { 1.0 };
        ln += f64::ln(equal) - f64::ln((at + 1) as f64);
    }
    ln.exp().min(1.0)
}
