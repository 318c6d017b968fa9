//! `spelling`: typing errors in English, as proposals for a person (BrainTeaser 3.2).

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde_json::Value;

use super::fill::{Found, Taken, fill};
use super::reread::shown;
use super::{About, Declared, Input, Job, NewRows, Operation, Records, Stage};
use crate::config::Config;
use crate::stages::context::StageError;
use riddlemill_record::Reason;
use riddlemill_review::Values;
use riddlemill_text::puzzle::spelling::{Speller, corrected};

#[derive(Debug)]
struct Spelling(&'static Declared);

const QUESTION: &str = "question";
const ANSWER: &str = "answer";
const CORRECTIONS: &str = "corrections";

pub(super) static OPERATION: Operation = Operation {
    name: "spelling",
    // 2 looks at every puzzle, at shorter words, and knows contractions. 3 looks for corrections of at most 24 words.
    version: 3,
    section: "puzzles",
    records: Records::AsTheyCome,
    inputs: &[Input { name: QUESTION, needed: true }, Input { name: ANSWER, needed: false }],
    gives: &[QUESTION, ANSWER, CORRECTIONS],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(Spelling(step)),
};

impl Stage for Spelling {
    fn about(&self) -> About {
        OPERATION.about(self.0)
    }

    fn settings(&self, _: &Config, _recipe: &str) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    fn make(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        fill(job, self.0, |taken| Ok::<_, Infallible>(proposals(taken)))
    }
}

/// The corrections that a dictionary proposes, and the texts with all of them; the texts stay as they are until people say
/// so.
fn proposals(taken: &Taken<'_>) -> Option<Found> {
    let (question, answer) =
        (taken.text(QUESTION).unwrap_or_default(), taken.text(ANSWER).unwrap_or_default());
    let (corrections, left) = Speller::bundled().corrections(&question, &answer);
    if corrections.is_empty() && left == 0 {
        return None;
    }
    let mut values = Values::new();
    let (right_question, right_answer) =
        (corrected(&question, &corrections), corrected(&answer, &corrections));
    let (before, after) = (shown(&question, &answer), shown(&right_question, &right_answer));
    values.set(QUESTION, right_question.as_str());
    values.set(ANSWER, right_answer.as_str());
    let list: Vec<String> = corrections.iter().map(ToString::to_string).collect();
    let mut evidence = list.join(", ");
    if left > 0 {
        let comma = if evidence.is_empty() { "" } else { "; " };
        evidence
            .push_str(&format!("{comma}{left} more words are not in the dictionary, and were not looked at"));
    }
    values.set(CORRECTIONS, list);
    Some(Found { values, basis: vec!["dictionary".into()], rule: Reason::Misspelt, evidence, before, after })
}

#[cfg(test)]
mod tests {
    use super::super::fill::filled;
    use super::super::tests::step;
    use super::*;
    use crate::stages::subject::rows::row;
    use riddlemill_record::{Outcome, Row};
    use serde_json::json;

    #[test]
    fn the_text_waits_for_people() {
        let puzzle = |question: &str| row("puzzles", json!({ "question": question, "answer": "A clock." }));
        let spelling = |puzzle: Row| {
            filled(puzzle, step("brainteaser", "spelling"), &|taken| Ok::<_, Infallible>(proposals(taken)))
        };
        let outcome = spelling(puzzle("Which mornign never ends?"));
        let Outcome::Changed { row, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (row.text("question"), evidence.as_str()),
            (Some("Which mornign never ends?"), "mornign -> morning")
        );
        assert_eq!(row.text("question_draft"), Some("Which morning never ends?"));
        assert!(matches!(spelling(puzzle("Which morning never ends?")), Outcome::Kept(_)));
        let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
        let nonsense: String =
            (0..60).map(|n| format!("glorn{}{}vk ", letter(n), letter(n / 26 + n * 7))).collect();
        let Outcome::Changed { evidence, .. } = spelling(puzzle(&nonsense)) else { panic!() };
        assert!(evidence.contains("more words are not in the dictionary"), "{evidence}");
    }
}
