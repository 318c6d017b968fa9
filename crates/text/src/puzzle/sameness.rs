//! Whether two riddles are one (section 3.2): near questions with answers that agree.
//!
//! Questions alone do not tell. `What part of London is in France?` and `What part of Korea is in China?` are near and
//! two puzzles; `A man …` and `A woman …` with one solution are one puzzle, and two where the solution turns on who it
//! is. So a pair of near questions is one riddle where their answers say the same.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::words::{content, key, letters, number};

/// From here on two answers agree: the share of the shorter one's words that the other has too.
const AGREES: f64 = 0.6;

/// Whether two answers say the same, and how much of the shorter one the other holds, 0 to 1.
pub fn answers_agree(a: &str, b: &str) -> (bool, f64) {
    if key(a) == key(b) {
        return (true, 1.0);
    }
    let (left, right) = (meaning(a), meaning(b));
    let shorter = left.len().min(right.len());
    if shorter == 0 {
        return (false, 0.0);
    }
    let share = left.intersection(&right).count() as f64 / shorter as f64;
    (share >= AGREES && exact(a) == exact(b) && letters(a) == letters(b), share)
}

/// Every pair of vectors whose cosine is at or over a threshold, by number, with the cosine: each is compared with each,
/// none is lost. A vector that is missing, of another length or without direction is like none.
pub fn similar(vectors: &[Option<Vec<f32>>], threshold: f64) -> Vec<(usize, usize, f64)> {
    let units: Vec<Option<Vec<f64>>> = vectors.par_iter().map(|vector| unit(vector.as_deref()?)).collect();
    let of_row = |a: usize| {
        let units = &units;
        let pair = move |b: usize| {
            let (left, right) = units[a].as_deref().zip(units[b].as_deref())?;
            let cosine: f64 = left.iter().zip(right).map(|(x, y)| x * y).sum();
            (left.len() == right.len() && cosine >= threshold).then_some((a, b, cosine.min(1.0)))
        };
        (a + 1..units.len()).filter_map(pair).collect::<Vec<_>>()
    };
    (0..units.len()).into_par_iter().flat_map_iter(of_row).collect()
}

fn unit(vector: &[f32]) -> Option<Vec<f64>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| vector.iter().map(|x| f64::from(*x) / length).collect())
}

/// Letters and numbers: `the letter N` is not nearly `the letters N and S`, nor nine nearly ten.
fn exact(text: &str) -> BTreeSet<String> {
    let exact = content(text)
        .into_iter()
        .map(|word| number(&word))
        .filter(|word| word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit()));
    exact.collect()
}

/// Content words without endings that only grammar asks for.
fn meaning(text: &str) -> BTreeSet<String> {
    let stem = |word: String| {
        let word = number(&word);
        let ending = ["'s", "ing", "es", "ed", "s"]
            .into_iter()
            .find(|ending| word.strip_suffix(ending).is_some_and(|stem| stem.chars().count() > 2));
        ending.map_or(word.clone(), |ending| word[..word.len() - ending.len()].to_owned())
    };
    content(text).into_iter().map(stem).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_decide() {
        let agree = |a, b| answers_agree(a, b).0;
        assert!(agree(
            "He sells ovens, and none of those in his shop is switched on.",
            "He sells ovens; none in his shop is on."
        ));
        assert!(agree("A clock.", "The clock"));
        assert!(agree("She is a barber.", "The man is a barber!"));
        assert!(!agree("The letter N.", "The letter A."));
        assert!(!agree("She was his mother.", "He was her father."));
        assert!(!agree("The letter N.", "The letters N and S."));
        assert!(!agree("There are nine people.", "There are 10 people."));
        assert!(agree("There are 9 people.", "There are nine people."));
        assert!(!agree("", "A clock."));
        assert!(!agree("The letter 'i'.", "The letter 'a'."));
        assert!(!agree("The letter a", "The letter i"));
        assert!(!agree("G,T,F.", "F,T,G."));
        assert!(agree("The letter 'a'.", "the letter A"));
    }

    #[test]
    fn every_similar_pair_is_found() {
        let vectors = [
            Some(vec![1.0, 0.0]),
            Some(vec![2.0, 0.1]),
            None,
            Some(vec![0.0, 1.0]),
            Some(vec![0.0, 0.0]),
            Some(vec![3.0]),
        ];
        let found = similar(&vectors, 0.99);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == 0 && found[0].1 == 1 && found[0].2 > 0.998);
        assert_eq!(similar(&vectors, 0.0).len(), 3);
    }

    proptest! {
        #[test]
        fn agreement_is_symmetric_and_bounded(a in "[a-z .]{0,20}", b in "[a-z .]{0,20}") {
            prop_assert_eq!(answers_agree(&a, &b), answers_agree(&b, &a));
            prop_assert!((0.0..=1.0).contains(&answers_agree(&a, &b).1));
        }
    }
}
