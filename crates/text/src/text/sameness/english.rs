//! Vetoes on pairs of English texts, by their words.
//!
//! What: each has a number that the other lacks; one denies what the other states; two words take each other's place; or what is
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
use super::predicate::{Predicate, Ratio};
use super::vetoes::{self, Veto};
use super::words::{is_content, is_number, stem_word};

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
    if is_denied(a, b) {
        return Some(Veto::Negation);
    }
    if vetoes::differ_in_order(a, b) {
        return Some(Veto::Order);
    }
    another_subject(&own, &other).then_some(Veto::Subject)
}

/// The words of a text that the other lacks, repetitions counted.
fn only_in<'a>(a: &'a PreparedText, b: &PreparedText) -> Vec<&'a str> {
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

/// Whether two words are one, but for a slip of the hand or an ending.
fn is_variant(a: &str, b: &str) -> bool {
    let least = a.len().min(b.len());
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let close =
        least >= 4 && rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars()) <= 1 + least / 7;
    close || least >= 4 && common >= least.max(4)
}
