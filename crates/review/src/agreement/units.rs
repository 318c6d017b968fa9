//! Ratings, unit by unit.

use rustc_hash::FxHashMap;

/// What the distance between two categories means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Equal or not.
    Nominal,
    /// By rank.
    Ordinal,
    /// By difference.
    Interval,
    /// By difference relative to the sum; values must not be negative.
    Ratio,
}

/// Ratings of units in categories, any number of ratings a unit.
///
/// Coefficients of many raters need only how often each category was given to each unit. Units alike
/// in that are kept once, with how many there are; the ratings of a million votes come to a few hundred
/// patterns, so a bootstrap resample costs one count a unit.
#[derive(Clone, Debug)]
pub struct Units {
    /// The value of each category, ascending; the category's number where values mean nothing.
    pub(super) values: Vec<f64>,
    /// How often each category was given.
    pub(super) patterns: Vec<Box<[u32]>>,
    /// The pattern of each unit.
    pub(super) units: Vec<u32>,
    /// How many units have each pattern.
    pub(super) weights: Vec<u64>,
    index: FxHashMap<Box<[u32]>, u32>,
}

impl Units {
    /// No units yet, rated in `categories` categories without values.
    pub fn nominal(categories: usize) -> Units {
        Units::scaled((0..categories).map(|category| category as f64).collect())
    }

    /// No units yet, rated on a scale of ascending values.
    pub fn scaled(values: Vec<f64>) -> Units {
        Units {
            values,
            patterns: Vec::new(),
            units: Vec::new(),
            weights: Vec::new(),
            index: FxHashMap::default(),
        }
    }

    /// Adds a unit with the categories it was given, in any order. A unit without ratings is left out,
    /// and so is a category that does not exist.
    pub fn push(&mut self, ratings: impl IntoIterator<Item = usize>) {
        let mut counts = vec![0u32; self.values.len()];
        for rating in ratings {
            if let Some(count) = counts.get_mut(rating) {
                *count += 1;
            }
        }
        self.push_counts(&counts);
    }

    /// Adds a unit by how often each category was given to it.
    pub fn push_counts(&mut self, counts: &[u32]) {
        if counts.iter().all(|&count| count == 0) {
            return;
        }
        let next = self.patterns.len() as u32;
        let at = *self.index.entry(counts.into()).or_insert(next);
        if at == next {
            self.patterns.push(counts.into());
            self.weights.push(0);
        }
        self.weights[at as usize] += 1;
        self.units.push(at);
    }

    /// How many units were rated twice or more.
    pub fn pairable(&self) -> usize {
        let twice = |pattern: &u32| self.patterns[*pattern as usize].iter().sum::<u32>() >= 2;
        self.units.iter().filter(|pattern| twice(pattern)).count()
    }

    /// How many ratings there are.
    pub fn ratings(&self) -> u64 {
        let each = self.patterns.iter().map(|pattern| u64::from(pattern.iter().sum::<u32>()));
        each.zip(&self.weights).map(|(ratings, weight)| ratings * weight).sum()
    }
}
