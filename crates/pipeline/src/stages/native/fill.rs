//! Operations that read one record at a time and find fields for it, as a draft does. The step declares what they read of a
//! record (`with`), and where the fields go: into columns (`keeps`), the draft of a ballot (`for`), or a group of their own.
//! `spelling` is one: typing errors in English, as proposals for a person (BrainTeaser 3.2).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;

use riddlemill_benchmarks::Expression;
use riddlemill_benchmarks::scope::Scope;
use riddlemill_record::{Outcome, Reason, Record, Row};
use riddlemill_review::Values;
use riddlemill_text::puzzle::spelling::{Speller, apply_corrections};
use serde_json::Value;

use super::rewrite::show_riddle;
use super::{About, Declared, Job, NewRows, Operation, OperationInput, Records, Stage, subjects_of};
use crate::config::Config;
use crate::stages::context::StageError;
use crate::stages::rule::Plain;
use crate::stages::subject::{self, in_scope};

/// What an operation finds of one record.
pub(super) struct OperationResult {
    /// The fields, by the operation's names.
    pub values: Values,
    pub basis: Vec<String>,
    /// What the ledger calls it.
    pub rule: Reason,
    /// What speaks for it.
    pub evidence: String,
    /// The record's text before.
    pub before: String,
    /// The text, or the fields, behind it.
    pub after: String,
}

/// A record as an operation sees it: what the step's table names.
pub(super) struct Taken<'r> {
    /// The record's id.
    pub id: &'r str,
    step: &'static Declared,
    scope: Scope<'static>,
}

impl<'r> Taken<'r> {
    /// What a step takes of a record.
    pub(super) fn from_record(step: &'static Declared, record: &'r Row) -> Taken<'r> {
        Taken { id: record.id(), step, scope: in_scope(record, step.benchmark) }
    }

    /// A text; `None` if the step names none, or if it is empty, null, or cannot be computed.
    pub(super) fn text_of_input(&self, name: &str) -> Option<String> {
        let text = self.scope.compute_text(self.step.find_input(name)?).ok().flatten();
        text.filter(|text| !text.is_empty())
    }

    /// A list of texts.
    pub(super) fn texts_of_input(&self, name: &str) -> Vec<String> {
        let list = self.step.find_input(name).and_then(|is| self.scope.compute_texts(is).ok());
        list.unwrap_or_default()
    }

    /// Whether the step applies to the record.
    fn is_asked(&self) -> bool {
        let when: Option<&Expression> = self.step.when.as_ref();
        self.scope.is_true(when).unwrap_or(true)
    }
}

/// Applies an operation to every record. A record without a finding is kept unchanged; one that it cannot judge fails with its
/// words.
///
/// # Errors
/// [`StageError`] where stages cannot be read or written, or the user stopped.
pub(super) fn fill_records<E: Display>(
    job: &Job<'_>,
    step: &'static Declared,
    find: impl Fn(&Taken<'_>) -> Result<Option<OperationResult>, E> + Sync,
) -> Result<NewRows, StageError> {
    job.each_subject(subjects_of(step), &Plain(|record: Row| fill_record(record, step, &find)))
}

/// The outcome of one record.
pub(super) fn fill_record<E: Display>(
    mut record: Row,
    step: &'static Declared,
    find: &impl Fn(&Taken<'_>) -> Result<Option<OperationResult>, E>,
) -> Outcome<Row> {
    let taken = Taken::from_record(step, &record);
    let found = if taken.is_asked() { find(&taken) } else { Ok(None) };
    match found {
        Ok(None) => Outcome::Kept(record),
        Err(error) => Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string().into() },
        Ok(Some(found)) => {
            let troubles = subject::write_findings(&mut record, step, &found.values, &found.basis);
            let flags = troubles.into_iter().map(|trouble| format!("{}: {trouble}", step.name));
            record.add_flags(flags);
            Outcome::Changed {
                row: record,
                rule: found.rule.code(),
                evidence: found.evidence.into(),
                before: found.before,
                after: found.after,
            }
        }
    }
}

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
    inputs: &[
        OperationInput { name: QUESTION, needed: true },
        OperationInput { name: ANSWER, needed: false },
    ],
    gives: &[QUESTION, ANSWER, CORRECTIONS],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(Spelling(step)),
};

impl Stage for Spelling {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn row_settings(&self, _: &Config, _recipe: &str) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        fill_records(job, self.0, |taken| Ok::<_, Infallible>(propose_corrections(taken)))
    }
}

/// The corrections that a dictionary proposes, and the texts with all of them; the texts stay as they are until people say
/// so.
fn propose_corrections(taken: &Taken<'_>) -> Option<OperationResult> {
    let (question, answer) =
        (taken.text_of_input(QUESTION).unwrap_or_default(), taken.text_of_input(ANSWER).unwrap_or_default());
    let (corrections, left) = Speller::bundled().find_corrections(&question, &answer);
    if corrections.is_empty() && left == 0 {
        return None;
    }
    let mut values = Values::new();
    let (right_question, right_answer) =
        (apply_corrections(&question, &corrections), apply_corrections(&answer, &corrections));
    let (before, after) = (show_riddle(&question, &answer), show_riddle(&right_question, &right_answer));
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
    Some(OperationResult {
        values,
        basis: vec!["dictionary".into()],
        rule: Reason::Misspelt,
        evidence,
        before,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::step;
    use super::*;
    use crate::stages::subject::rows::make_row;
    use riddlemill_record::{Outcome, Row};
    use serde_json::json;

    #[test]
    fn the_text_waits_for_people() {
        let puzzle =
            |question: &str| make_row("puzzles", json!({ "question": question, "answer": "A clock." }));
        let spelling = |puzzle: Row| {
            fill_record(puzzle, step("brainteaser", "spelling"), &|taken| {
                Ok::<_, Infallible>(propose_corrections(taken))
            })
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
