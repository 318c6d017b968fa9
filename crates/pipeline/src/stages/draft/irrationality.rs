//! What is irrational about a question, within the bounds of figure 10.

use riddlemill_llm::parse::{Unreadable, plain, sentences, words};
use riddlemill_review::Values;

/// The longest analysis, in words (figure 10).
const MAX_WORDS: usize = 100;
/// More sentences than this are not "one sentence where possible".
const MAX_SENTENCES: usize = 3;
/// Leads that figure 10 forbids, in lower case.
const BANNED: [&str; 4] =
    ["the irrationality", "the irrational part", "this question is irrational", "the question is irrational"];
/// Leads of somebody who answers instead of analysing, in lower case.
const ANSWERS: [&str; 6] = ["yes,", "no,", "the answer is", "you should", "you can", "i would"];

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let text = plain(reply, &["Irrationality Analysis", "Irrationality", "Analysis"])?;
    Ok([("irrationality", text)].into_iter().collect())
}

pub(in crate::stages) fn check(analysis: &str) -> Vec<String> {
    let lower = analysis.trim_start().to_lowercase();
    let mut findings = Vec::new();
    let count = words(analysis);
    if count > MAX_WORDS {
        findings.push(format!("{count} words; at most {MAX_WORDS} are allowed"));
    }
    let count = sentences(analysis);
    if count > MAX_SENTENCES {
        findings.push(format!("{count} sentences; one is asked for where possible"));
    }
    if let Some(lead) = BANNED.iter().find(|lead| lower.starts_with(**lead)) {
        findings.push(format!("opens with the banned phrase \"{lead}\""));
    }
    if let Some(lead) = ANSWERS.iter().find(|lead| lower.starts_with(**lead)) {
        findings.push(format!("seems to answer the question (\"{lead}\")"));
    }
    if analysis.trim_end().ends_with('?') {
        findings.push("ends with a question".into());
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_the_figure_are_checked() {
        assert_eq!(check("Fish live in water, so they cannot drown in it."), Vec::<String>::new());
        assert!(check("The irrationality of this question is plain.")[0].contains("banned"));
        assert!(check("Yes, because fish swim.")[0].contains("answer"));
        assert!(check(&"word ".repeat(101))[0].contains("101 words"));
        assert!(check("One. Two. Three. Four.")[0].contains("sentences"));
    }
}
