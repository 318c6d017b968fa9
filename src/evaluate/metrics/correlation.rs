//! Correlations of two rows of numbers (RuozhiBench figures 6, 8 and 9; FLUB table 2).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::judges::Measures;

/// A coefficient from -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The coefficient.
    pub r: f64,
    /// How likely one so far from 0 is without any correlation, two-sided, by Student's t with n - 2 degrees of
    /// freedom; `None` of fewer than three pairs.
    pub p: Option<f64>,
    /// How many pairs.
    pub n: usize,
}

/// Pearson's correlation; `None` where either row never varies.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<Correlation> {
    let r = Measures::of(pairs).pearson?.clamp(-1.0, 1.0);
    Some(Correlation { r, p: p(r, pairs.len()), n: pairs.len() })
}

/// Spearman's correlation: Pearson's of the ranks, ties at their mean rank.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<Correlation> {
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    pearson(&first.into_iter().zip(second).collect::<Vec<_>>())
}

/// Ranks from 1; equal numbers share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = |at: &&usize| values[**at] == values[order[from]];
        let to = from + order[from..].iter().take_while(same).count().max(1);
        let mean = (from + 1 + to) as f64 / 2.0;
        order[from..to].iter().for_each(|&at| ranks[at] = mean);
        from = to;
    }
    ranks
}

fn p(r: f64, n: usize) -> Option<f64> {
    let free = n.checked_sub(2).filter(|free| *free > 0)? as f64;
    let rest = (1.0 - r) * (1.0 + r);
    if rest <= 0.0 {
        return Some(0.0);
    }
    let t = r.abs() * (free / rest).sqrt();
    Some(2.0 * StudentsT::new(0.0, 1.0, free).ok()?.sf(t))
}
