//! Ratings by unit.

use rustc_hash::FxHashMap;

/// The meaning of the distance between two categories.
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

/// Ratings of units in categories, any number per unit.
///
/// Coefficients of many raters only need how often each category was given to each unit. Units that are equal
/// in this are stored once, with their number; the ratings of a million votes form a few hundred patterns, so
/// a bootstrap resample costs one count per unit.
#[derive(Clone, Debug)]
pub struct Units {
    /// The value of each category, ascending; the category's index if values have no meaning.
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
    /// Empty, for `categories` categories without values.
    pub fn of_categories(categories: usize) -> Units {
        Units::of_values((0..categories).map(|category| category as f64).collect())
    }

    /// Empty, for a scale of ascending values.
    pub fn of_values(values: Vec<f64>) -> Units {
        Units {
            values,
            patterns: Vec::new(),
            units: Vec::new(),
            weights: Vec::new(),
            index: FxHashMap::default(),
        }
    }

    /// Adds a unit with the categories it was given, in any order. Units without ratings and categories that
    /// do not exist are ignored.
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
    pub fn count_pairable(&self) -> usize {
        let twice = |pattern: &u32| self.patterns[*pattern as usize].iter().sum::<u32>() >= 2;
        self.units.iter().filter(|pattern| twice(pattern)).count()
    }

    /// How many ratings there are.
    pub fn count_ratings(&self) -> u64 {
        let each = self.patterns.iter().map(|pattern| u64::from(pattern.iter().sum::<u32>()));
        each.zip(&self.weights).map(|(ratings, weight)| ratings * weight).sum()
    }
}
