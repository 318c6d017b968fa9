//! The options a model chooses between: options in a drawn order, and pairs of answers whose ratings are far
//! enough apart.
//!
//! Every choice is drawn from a seed, a purpose and the item's own id ([`DrawStream`]), so that adding an item
//! changes no other. Balance over a set is therefore measured ([`crate::shortcuts`]), not enforced. Nothing
//! here depends on records, tables or stages.

mod splits;

pub use splits::{InSplit, LeftApart, SplitRow, SplitSize, divide_rows};

use std::cmp::Ordering;

use crate::text::normalise::{Fold, fold};

/// The letters of options.
pub const LETTERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// Options in the order in which they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The texts.
    pub options: Vec<String>,
    /// The index of the right one.
    pub answer: usize,
}

/// Two options that a reader cannot tell apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong answer {second} is the same as {}", if *.first == 0 { "the right one".to_owned() } else { format!("wrong answer {first}") })]
pub struct EqualOptions {
    /// The index of the first: 0 is the right answer, others are wrong ones.
    pub first: usize,
    /// The index of the second.
    pub second: usize,
}

/// A random permutation of `n` things, all equally likely: which thing is in each place.
///
/// ```
/// use riddlemill_text::options::order;
///
/// let mut places = order(1, "options", "tieba:1", 4);
/// assert_eq!(places, order(1, "options", "tieba:1", 4));
/// places.sort();
/// assert_eq!(places, [0, 1, 2, 3]);
/// ```
pub fn order(seed: u64, purpose: &str, id: &str, n: usize) -> Vec<usize> {
    let mut draw = DrawStream::new(seed, purpose, id);
    let mut places: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        places.swap(last, draw.draw_below(last + 1));
    }
    places
}

/// Puts the right answer and the wrong ones in the order drawn for `id`.
///
/// # Errors
/// [`EqualOptions`] if two of them differ only in width, case, punctuation and spaces.
pub fn draw_choices(
    right: &str,
    wrong: &[String],
    seed: u64,
    purpose: &str,
    id: &str,
) -> Result<Choices, EqualOptions> {
    let texts: Vec<&str> = std::iter::once(right).chain(wrong.iter().map(String::as_str)).collect();
    let folded: Vec<String> = texts.iter().map(|text| fold(text, Fold::KEY)).collect();
    for (second, text) in folded.iter().enumerate() {
        // A text of punctuation only folds to nothing and is compared unfolded.
        let same = |first: &usize| match text.is_empty() {
            true => texts[*first] == texts[second],
            false => folded[*first] == *text,
        };
        if let Some(first) = (0..second).find(same) {
            return Err(EqualOptions { first, second });
        }
    }
    let order = order(seed, purpose, id, texts.len());
    let answer = order.iter().position(|&place| place == 0).unwrap_or_default();
    Ok(Choices { options: order.into_iter().map(|place| texts[place].to_owned()).collect(), answer })
}

/// Wrong answers that repeat each other or the right one, which is named `called`: `number 3 says the same as
/// number 1`.
pub fn find_repetitions(called: &str, right: &str, wrong: &[String]) -> Vec<String> {
    let folded: Vec<String> = wrong.iter().map(|text| fold(text, Fold::KEY)).collect();
    let right = fold(right, Fold::KEY);
    let mut findings = Vec::new();
    for (at, text) in folded.iter().enumerate() {
        if *text == right {
            findings.push(format!("number {} is {called}", at + 1));
        }
        if let Some(first) = folded[..at].iter().position(|other| other == text) {
            findings.push(format!("number {} says the same as number {}", at + 1, first + 1));
        }
    }
    findings
}

/// A stream of draws for one purpose and one id.
#[derive(Debug)]
pub struct DrawStream(blake3::OutputReader);

impl DrawStream {
    /// The stream of `(seed, purpose, id)`.
    pub fn new(seed: u64, purpose: &str, id: &str) -> DrawStream {
        let mut hasher = blake3::Hasher::new_derive_key("riddlemill review draw v1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&(purpose.len() as u64).to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(id.as_bytes());
        DrawStream(hasher.finalize_xof())
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `n` (at least 1), each equally likely.
    pub fn draw_below(&mut self, n: usize) -> usize {
        let n = n.max(1) as u64;
        // The last, incomplete run of 0..n in the range of u64 would favour small numbers, so it is rejected.
        let limit = u64::MAX - u64::MAX % n;
        loop {
            let drawn = self.next_bits();
            if drawn < limit {
                return (drawn % n) as usize;
            }
        }
    }

    /// A number in [0, 1).
    pub fn draw_unit(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

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
    pub fn exceeds_by(self, other: Mean, gap: u32) -> bool {
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
            if means[one].exceeds_by(means[other], gap) {
                wide.push((one, other));
            } else if means[other].exceeds_by(means[one], gap) {
                wide.push((other, one));
            }
        }
    }
    if !wide.is_empty() {
        let (good, bad) = wide[DrawStream::new(seed, "gap pair", id).draw_below(wide.len())];
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

#[cfg(test)]
mod laws;
#[cfg(test)]
mod margins;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_every_part_and_nothing_else() {
        let first = |seed, purpose, id| DrawStream::new(seed, purpose, id).next_bits();
        assert_eq!(first(1, "order", "a"), first(1, "order", "a"));
        assert_ne!(first(1, "order", "a"), first(2, "order", "a"));
        assert_ne!(first(1, "order", "a"), first(1, "ordera", ""));
        assert_ne!(first(1, "order", "a"), first(1, "order", "b"));
    }

    /// Orders of options stand in releases: what was drawn once is drawn again by every version.
    #[test]
    fn what_is_drawn_never_changes() {
        let stream = || DrawStream::new(7, "order", "tieba:1");
        let mut draw = stream();
        let first = [0; 3].map(|_| draw.next_bits());
        assert_eq!(
            first,
            [12_587_316_097_847_420_014, 15_319_037_748_409_590_461, 7_961_275_397_610_095_246]
        );
        let (mut numbers, mut units) = (stream(), stream());
        assert_eq!([0; 4].map(|_| numbers.draw_below(6)), [4, 5, 2, 2]);
        assert_eq!([0; 2].map(|_| units.draw_unit()), [0.682_359_772_952_396_7, 0.830_446_700_360_656_4]);
    }

    /// Only what the range of u64 has too much of is drawn again.
    #[test]
    fn a_draw_is_rejected_only_beyond_the_last_whole_run() {
        for n in [0, 1, 2, 3, 7, 1 << 20, (1 << 62) + 1, usize::MAX] {
            let runs = n.max(1) as u64;
            let whole = u64::MAX - u64::MAX % runs;
            let (mut draw, mut bits) = (DrawStream::new(3, "runs", "x"), DrawStream::new(3, "runs", "x"));
            for _ in 0..200 {
                let kept = std::iter::repeat_with(|| bits.next_bits()).find(|bits| *bits < whole).unwrap();
                assert_eq!(draw.draw_below(n) as u64, kept % runs, "{n}");
            }
        }
    }

    #[test]
    fn below_is_close_to_uniform() {
        let mut draw = DrawStream::new(7, "test", "");
        let mut counts = [0usize; 6];
        for _ in 0..60_000 {
            counts[draw.draw_below(6)] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
