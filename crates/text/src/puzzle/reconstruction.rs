//! Checks on the two reconstructions of a puzzle (section 3.4), before a person's time is spent on them.
//!
//! The bounds come from the 172 published groups of a reference half: apart from whole copies, no rephrasing
//! shares more than [`COPIED`] of the words both ways, and three in a hundred new situations share more than
//! [`REPHRASED`] of them both ways.

use std::collections::BTreeSet;

use super::options::NONE;
use super::words::{NUMBERS, cut_sentences, find_content_words, list_words, number_in_digits, word_key};

/// A rephrasing that shares more of the words than this, both ways, is nearly a copy.
pub const COPIED: f64 = 0.95;
/// A rephrasing that shares less than this, both ways, has little left of the puzzle.
pub const LOST: f64 = 0.2;
/// A new situation that shares more than this, both ways, is a rephrasing.
pub const REPHRASED: f64 = 0.75;

/// How much two questions share of their content words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionOverlap {
    /// The share of the original's words that the variant has.
    pub kept: f64,
    /// The share of the variant's words that the original has.
    pub known: f64,
}

/// The word overlap of two questions, both ways.
pub fn word_overlap(original: &str, variant: &str) -> QuestionOverlap {
    let (a, b) = (find_content_words(original), find_content_words(variant));
    let both = a.intersection(&b).count() as f64;
    let share = |of: &BTreeSet<String>| if of.is_empty() { 0.0 } else { both / of.len() as f64 };
    QuestionOverlap { kept: share(&a), known: share(&b) }
}

/// What is suspicious about a rephrasing.
pub fn check_rephrasing(question: &str, answer: &str, variant: &str, distractors: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    let found = word_overlap(question, variant);
    let shares = format!("{:.0} % of the words kept, {:.0} % known", found.kept * 100.0, found.known * 100.0);
    if found.kept > COPIED && found.known > COPIED {
        findings.push(format!("hardly a word has changed: {shares}"));
    } else if found.kept < LOST && found.known < LOST {
        findings.push(format!("little of the puzzle is left: {shares}"));
    }
    let there: BTreeSet<String> = list_words(variant).iter().map(|word| plain_word(word.text)).collect();
    for lost in fixed_words(question).difference(&there) {
        findings.push(format!("{lost} is lost"));
    }
    let (before, now) = (find_content_words(question), find_content_words(variant));
    // A word that is in an option too gives nothing away.
    let options: BTreeSet<String> = distractors.iter().flat_map(|text| find_content_words(text)).collect();
    let revealed: Vec<String> = find_content_words(answer)
        .into_iter()
        .filter(|w| now.contains(w) && !before.contains(w) && !options.contains(w))
        .collect();
    if !revealed.is_empty() {
        findings.push(format!("gives words of the answer away: {}", revealed.join(", ")));
    }
    findings
}

/// What is suspicious about a new situation.
pub fn check_new_situation(
    question: &str,
    answer: &str,
    new_question: &str,
    new_answer: &str,
) -> Vec<String> {
    let mut findings = Vec::new();
    let found = word_overlap(question, new_question);
    if found.kept > REPHRASED && found.known > REPHRASED {
        let (kept, known) = (found.kept * 100.0, found.known * 100.0);
        findings
            .push(format!("the situation is hardly new: {kept:.0} % of the words kept, {known:.0} % known"));
    }
    if word_key(answer) == word_key(new_answer) && word_key(answer) != word_key(NONE) {
        findings.push("the answer is that of the original".into());
    }
    findings
}

/// Numbers, and names inside sentences: what a rephrasing must not lose.
fn fixed_words(text: &str) -> BTreeSet<String> {
    let starts: BTreeSet<usize> = cut_sentences(text).into_iter().map(|(at, _)| at).collect();
    let fixed = list_words(text).into_iter().filter(|word| {
        let number =
            word.text.parse::<u64>().is_ok() || NUMBERS[2..].contains(&word.text.to_lowercase().as_str());
        // At the start of a sentence a name looks like any other word; in the middle it has a capital.
        let name = word.text.starts_with(char::is_uppercase)
            && !starts.contains(&word.at)
            && word.text.chars().count() > 2
            && !text[..word.at].trim_end().ends_with(['"', '“', '.', '?', '!']);
        number || name
    });
    fixed.map(|word| plain_word(word.text)).collect()
}

/// A word in lower case without its `'s`; a small number in digits.
fn plain_word(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    number_in_digits(lower.trim_end_matches("'s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str =
        "How could a cowboy ride into town on Friday, stay two days, and ride out on Wednesday?";
    const ANSWER: &str = "His horse is named Wednesday.";

    #[test]
    fn overlap_is_measured_both_ways() {
        let found = word_overlap("a red hen crows", "a red hen crows loudly at noon");
        assert_eq!((found.kept, (found.known * 10.0).round()), (1.0, 6.0));
        assert_eq!(word_overlap("", "x"), QuestionOverlap { kept: 0.0, known: 0.0 });
    }

    #[test]
    fn a_rephrasing_keeps_premises_and_the_secret() {
        let check = |variant| check_rephrasing(QUESTION, ANSWER, variant, &["He stays in bed.".to_owned()]);
        assert_eq!(
            check("A cowboy came to town on Friday, spent 2 days there and left on Wednesday. How?"),
            Vec::<String>::new()
        );
        assert!(check(QUESTION)[0].starts_with("hardly a word"));
        let found = check("A cowboy came on his horse on Friday and left on Wednesday. How?");
        assert_eq!(found, ["2 is lost", "gives words of the answer away: horse"]);
        assert!(check("Why does it rain?")[0].starts_with("little of the puzzle"));
    }

    #[test]
    fn a_new_situation_is_new() {
        let new = "How can a pilot take off in Lima on Tuesday, fly 48 hours and land in Rome on Tuesday?";
        assert_eq!(
            check_new_situation(QUESTION, ANSWER, new, "His airplane is named Tuesday."),
            Vec::<String>::new()
        );
        assert_eq!(check_new_situation(QUESTION, ANSWER, QUESTION, ANSWER).len(), 2);
    }
}
