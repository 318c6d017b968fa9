//! The length of right options compared with the others, in characters.

use serde::Serialize;

use super::position::uniform;
use super::{Item, Share, credit};

/// The right options by their length among the options of their item.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lengths {
    /// How many right options are the longest, the second longest …; options of equal length share a rank in
    /// parts.
    pub ranks: Vec<f64>,
    /// Pearson's chi-square against a uniform distribution.
    pub chi_square: f64,
    /// The probability of ranks at least this uneven if length says nothing.
    pub p: f64,
    /// The rule of taking the longest option.
    pub longest: Share,
    /// The rule of taking the shortest option.
    pub shortest: Share,
}

/// Ranks the right options by length.
pub fn lengths(items: &[Item<'_>]) -> Lengths {
    let options = items.first().map_or(0, |item| item.options.len());
    let mut ranks = vec![0.0; options];
    let (mut longest, mut shortest) = (0.0, 0.0);
    for item in items {
        let lengths: Vec<f64> = item.options.iter().map(|text| text.chars().count() as f64).collect();
        let Some(&gold) = lengths.get(item.gold) else { continue };
        let longer = lengths.iter().filter(|length| **length > gold).count();
        let equal = lengths.iter().filter(|length| **length == gold).count();
        for rank in ranks.iter_mut().skip(longer).take(equal) {
            *rank += 1.0 / equal as f64;
        }
        longest += credit(&lengths, item.gold);
        shortest += credit(&lengths.iter().map(|length| -length).collect::<Vec<_>>(), item.gold);
    }
    let (chi_square, p) = uniform(&ranks);
    let share = |right| Share::new(right, items.len(), options);
    Lengths { ranks, chi_square, p, longest: share(longest), shortest: share(shortest) }
}
