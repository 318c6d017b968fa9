//! Whether two riddles are the same (section 3.2): similar questions with answers that agree.
//!
//! Questions alone do not decide. `What part of London is in France?` and `What part of Korea is in China?`
//! are similar but two puzzles; `A man …` and `A woman …` with the same solution are one puzzle, but two if
//! the solution depends on the person. So similar questions are one riddle if their answers say the same.

use std::collections::BTreeSet;

use super::words::{content, key, letters, number};

/// Two answers agree from this share of the shorter one's words on.
const AGREES: f64 = 0.6;

/// Whether two answers say the same, and the share of the shorter one's words that the other has, 0 to 1.
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

/// Letters and numbers, which must match exactly: `the letter N` is not `the letters N and S`, nor nine ten.
fn exact(text: &str) -> BTreeSet<String> {
    let exact = content(text)
        .into_iter()
        .map(|word| number(&word))
        .filter(|word| word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit()));
    exact.collect()
}

/// Content words without inflectional endings.
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

    proptest! {
        #[test]
        fn agreement_is_symmetric_and_bounded(a in "[a-z .]{0,20}", b in "[a-z .]{0,20}") {
            prop_assert_eq!(answers_agree(&a, &b), answers_agree(&b, &a));
            prop_assert!((0.0..=1.0).contains(&answers_agree(&a, &b).1));
        }
    }
}
