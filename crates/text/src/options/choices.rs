//! One right answer among wrong ones.

use super::Draw;
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
    let mut draw = Draw::new(seed, purpose, id);
    let mut places: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        places.swap(last, draw.below(last + 1));
    }
    places
}

/// Puts the right answer and the wrong ones in the order drawn for `id`.
///
/// # Errors
/// [`EqualOptions`] if two of them differ only in width, case, punctuation and spaces.
pub fn choices(
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
pub fn repetitions(called: &str, right: &str, wrong: &[String]) -> Vec<String> {
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
