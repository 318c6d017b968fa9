//! A good and a bad answer to one question (RuozhiBench 4.2).

use std::cmp::Ordering;

use super::Draw;

/// The mean of whole ratings, kept exact, so that it does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mean {
    pub sum: u32,
    /// How many there are; 0 means that there is no mean.
    pub count: u32,
}

impl Mean {
    /// The mean of some ratings.
    pub fn new(ratings: impl IntoIterator<Item = u32>) -> Mean {
        ratings
            .into_iter()
            .fold(Mean::default(), |mean, rating| Mean { sum: mean.sum + rating, count: mean.count + 1 })
    }

    /// The mean as a number; 0 without ratings.
    pub fn value(self) -> f64 {
        if self.count == 0 { 0.0 } else { f64::from(self.sum) / f64::from(self.count) }
    }

    /// By value, without rounding.
    pub fn compare(self, other: Mean) -> Ordering {
        let scaled = |a: Mean, b: Mean| u64::from(a.sum) * u64::from(b.count);
        scaled(self, other).cmp(&scaled(other, self))
    }

    /// Whether it is more than `gap` above another.
    pub fn exceeds(self, other: Mean, gap: u32) -> bool {
        let (a, b) = (u64::from(self.count), u64::from(other.count));
        u64::from(self.sum) * b > u64::from(other.sum) * a + u64::from(gap) * a * b
    }
}

/// The two answers of a pair, as indices into the list they were drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapPair {
    /// The one with the higher rating.
    pub good: usize,
    /// The other.
    pub bad: usize,
    /// How many pairs were far enough apart; 0 if the highest and the lowest were taken instead.
    pub of: usize,
}

/// Draws a pair of answers whose means differ by more than `gap`, all such pairs equally likely. If there is
/// none, takes the highest and the lowest, the first of each in the list. `None` if all are rated alike, or
/// there are fewer than two.
///
/// The list has to be in an order that does not depend on arrival, such as by name: then only the answers to
/// this question decide.
pub fn gap_pair(means: &[Mean], gap: u32, seed: u64, id: &str) -> Option<GapPair> {
    let rated: Vec<usize> = (0..means.len()).filter(|&at| means[at].count > 0).collect();
    let mut wide = Vec::new();
    for (at, &one) in rated.iter().enumerate() {
        for &other in &rated[at + 1..] {
            if means[one].exceeds(means[other], gap) {
                wide.push((one, other));
            } else if means[other].exceeds(means[one], gap) {
                wide.push((other, one));
            }
        }
    }
    if !wide.is_empty() {
        let (good, bad) = wide[Draw::new(seed, "gap pair", id).below(wide.len())];
        return Some(GapPair { good, bad, of: wide.len() });
    }
    let (&first, rest) = rated.split_first()?;
    let (mut good, mut bad) = (first, first);
    for &at in rest {
        if means[at].compare(means[good]) == Ordering::Greater {
            good = at;
        }
        if means[at].compare(means[bad]) == Ordering::Less {
            bad = at;
        }
    }
    (means[good].compare(means[bad]) == Ordering::Greater).then_some(GapPair { good, bad, of: 0 })
}
