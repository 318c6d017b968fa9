//! Vetoes on pairs of English texts, by their words.
//!
//! What: each has a number that the other lacks; one denies what the other states, or says the opposite; two words take each other's place; or what is
//! not shared names something else on both sides, where the rest is in the same order. The pair is one step less similar.
//!
//! Why: a retelling changes function words and adds or leaves out; the same sentence about something else is another joke.
//! A word that differs by a slip of the hand, or shares its beginning, is the same thing.
//!
//! Known problems: which words mean the same is not known: `physician` for `doctor` is another subject.
//!
//! Example: `Why do cats hate water?` and `Why do dogs hate water?`

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::PreparedText;
use super::measures::indel_ratio;
use super::order;
use super::predicate::{Predicate, Ratio};
use super::symbols::is_symbol;
use super::vetoes::Veto;
use super::words::{is_content, is_number, stem_word};
use crate::text::language::dictionary;

/// As [stems](stem_word).
static DENIALS: LazyLock<[String; 8]> = LazyLock::new(|| {
    ["not", "no", "never", "without", "nobody", "nothing", "none", "neither"].map(stem_word)
});

fn is_denial(stem: &str) -> bool {
    DENIALS.iter().any(|denial| denial == stem)
}

pub(super) fn find_veto(predicate: Predicate, a: &PreparedText, b: &PreparedText) -> Option<Veto> {
    let (own, other) = (only_in(a, b), only_in(b, a));
    let numbers = |words: &[&str]| words.iter().any(|word| is_number(word));
    if numbers(&own) && numbers(&other) {
        return Some(Veto::Number);
    }
    if predicate == Predicate::Opening {
        return None;
    }
    if is_denied(a, b) || are_opposite(&own, &other) || differ_in_quantity(&own, &other) {
        return Some(Veto::Negation);
    }
    if order::differ_in_order(a, b) || exchange_opposites(a, b) {
        return Some(Veto::Order);
    }
    another_subject(&own, &other).then_some(Veto::Subject)
}

/// Words that say the opposite of each other, and nothing by themselves.
const OPPOSITES: [(&str, &str); 42] = [
    ("before", "after"),
    ("above", "below"),
    ("above", "under"),
    ("over", "under"),
    ("up", "down"),
    ("in", "out"),
    ("into", "out"),
    ("inside", "outside"),
    ("on", "off"),
    ("with", "without"),
    ("more", "less"),
    ("more", "fewer"),
    ("most", "least"),
    ("many", "few"),
    ("to", "from"),
    ("always", "never"),
    ("everybody", "nobody"),
    ("everyone", "nobody"),
    ("everything", "nothing"),
    ("all", "none"),
    ("behind", "before"),
    ("since", "until"),
    ("he", "she"),
    ("top", "bottom"),
    ("first", "last"),
    ("early", "late"),
    ("high", "low"),
    ("big", "small"),
    ("long", "short"),
    ("old", "new"),
    ("old", "young"),
    ("good", "bad"),
    ("hot", "cold"),
    ("open", "close"),
    ("left", "right"),
    ("push", "pull"),
    ("buy", "sell"),
    ("start", "stop"),
    ("love", "hate"),
    ("come", "go"),
    ("east", "west"),
    ("north", "south"),
];

/// Whether one text says the opposite of the other in one word.
fn are_opposite(own: &[&str], other: &[&str]) -> bool {
    let has = |words: &[&str], word: &str| words.contains(&&*stem_word(word));
    OPPOSITES
        .iter()
        .any(|(one, opposite)| has(own, one) && has(other, opposite) || has(own, opposite) && has(other, one))
}

/// How many of them it is said of.
const QUANTITIES: [&str; 9] = ["all", "half", "most", "some", "few", "none", "every", "each", "no"];

/// Whether each of two texts says another quantity. `every` and `each` are all.
fn differ_in_quantity(own: &[&str], other: &[&str]) -> bool {
    let quantity = |words: &[&str]| {
        let word = QUANTITIES.iter().find(|word| words.contains(&&*stem_word(word)))?;
        Some(if matches!(*word, "every" | "each") {
            "all"
        } else if *word == "no" {
            "none"
        } else {
            word
        })
    };
    matches!((quantity(own), quantity(other)), (Some(one), Some(another)) if one != another)
}

/// Whether two opposites take each other's place, and all else is in its own: `goes up but never comes down`.
fn exchange_opposites(a: &PreparedText, b: &PreparedText) -> bool {
    OPPOSITES.iter().any(|(one, opposite)| {
        let (one, opposite) = (stem_word(one), stem_word(opposite));
        let split = |text: &'_ PreparedText| -> (Vec<bool>, Vec<char>) {
            let (mut sides, mut rest) = (Vec::new(), Vec::new());
            for (stem, symbol) in text.words().iter_stems().zip(text.words().symbols().chars()) {
                match stem {
                    stem if stem == one => sides.push(true),
                    stem if stem == opposite => sides.push(false),
                    _ => rest.push(symbol),
                }
            }
            (sides, rest)
        };
        let (sides_a, rest_a) = split(a);
        // Most texts have neither.
        if sides_a.len() < 2 {
            return false;
        }
        let (sides_b, rest_b) = split(b);
        let common = rapidfuzz::distance::lcs_seq::similarity(rest_a.iter().copied(), rest_b.iter().copied());
        sides_a.len() == sides_b.len()
            && sides_a != sides_b
            && 20 * common >= 9 * (rest_a.len() + rest_b.len())
    })
}

/// The words of a text that the other lacks, repetitions counted.
pub(super) fn only_in<'a>(a: &'a PreparedText, b: &PreparedText) -> Vec<&'a str> {
    let mut theirs: FxHashMap<&str, usize> = FxHashMap::default();
    b.words().iter_stems().for_each(|word| *theirs.entry(word).or_default() += 1);
    a.words()
        .iter_stems()
        .filter(|word| match theirs.get_mut(word).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        })
        .collect()
}

fn is_denied(a: &PreparedText, b: &PreparedText) -> bool {
    let count = |x: &PreparedText| x.words().iter_stems().filter(|word| is_denial(word)).count();
    if count(a) % 2 == count(b) % 2 {
        return false;
    }
    let rest = |x: &PreparedText| -> Vec<char> {
        let words = x.words().iter_stems().zip(x.words().symbols().chars());
        words.filter(|(word, _)| !is_denial(word)).map(|(_, symbol)| symbol).collect()
    };
    let least = Ratio::new(85, 100);
    indel_ratio(&rest(a), &rest(b), least, || u64::MAX) >= least
}

/// Whether both sides name something that the other does not.
fn another_subject(own: &[&str], other: &[&str]) -> bool {
    let named = |words: &[&str], others: &[&str]| {
        words.iter().any(|word| is_content(word) && !others.iter().any(|other| is_variant(word, other)))
    };
    named(own, other) && named(other, own)
}

/// Whether two words are one, but for a slip of the hand or an ending. No slip makes one word of the dictionary another: `bear` is
/// no `beer`.
fn is_variant(a: &str, b: &str) -> bool {
    // Symbols have bytes in common.
    if a.contains(is_symbol) || b.contains(is_symbol) {
        return false;
    }
    let least = a.len().min(b.len());
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let is_word = |stem: &str| dictionary::contains(stem) || dictionary::contains(&[stem, "e"].concat());
    let close = least >= 4
        && !(is_word(a) && is_word(b))
        && rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars()) <= 1 + least / 7;
    close || least >= 4 && common >= least.max(4)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::Verdict;
    use crate::text::sameness::tests::compare_as_detected;

    #[test]
    fn another_word_in_its_place_is_another_joke() {
        for (a, b) in [
            ("Should I brush my teeth before breakfast?", "Should I brush my teeth after breakfast?"),
            ("Do you brush before you eat breakfast?", "Do you brush after you eat breakfast?"),
            ("Can I drink a bear in the bar?", "Can I drink a beer in the bar?"),
            ("Is it legal to hunt bear in Texas?", "Is it legal to hunt beer in Texas?"),
            ("Why do cats hate dogs at night?", "Why do dogs hate cats at night?"),
            ("What goes up but never comes down?", "What goes down but never comes up?"),
            ("What has four legs in the morning?", "What has four legs in the evening?"),
            ("What runs but never walks in the morning?", "What runs but never walks in the evening?"),
            ("Half of the people laughed at my joke", "All of the people laughed at my joke"),
            ("Most of my friends are invisible on Mondays", "None of my friends are invisible on Mondays"),
            ("Is my car inside the garage or lost?", "Is my car outside the garage or lost?"),
        ] {
            let pair = compare_as_detected(a, b);
            assert_ne!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
        for (a, b) in [
            ("Is it legal to hunt bears in Texas?", "is it legal to hunt bear in texas"),
            ("Why do elephants never forget my birthday?", "Why do elefants never forget my birthday?"),
        ] {
            let pair = compare_as_detected(a, b);
            assert_eq!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
    }
}
