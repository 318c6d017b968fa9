//! `anonymise_riddle`: marks personal data in both texts of a puzzle. Texts of declared records are marked by `anonymise` with
//! `texts`.

use std::collections::BTreeMap;

use super::reread::full_text;
use super::{
    About, Declared, Job, NewRows, Operation, Records, Reread, Shape, Stage, StepContext, Written, goes_on,
};
use crate::config::{Config, sections};
use crate::stages::anonymise::{anonymise_stage, policy_lists};
use crate::stages::context::{Rows, StageError};
use crate::stages::rule::Overrulable;
use riddlemill_review::decisions::Verdict;
use riddlemill_text::offline::Anonymise;

#[derive(Debug)]
struct AnonymiseRiddle(&'static Declared);

/// The columns that are marked.
const TEXTS: [&str; 2] = ["question", "answer"];

pub(super) static OPERATION: Operation = Operation {
    name: "anonymise_riddle",
    version: 1,
    section: "anonymise",
    records: Records::Made { of: &[Shape::Columns(&TEXTS)], into: &[Shape::Columns(&TEXTS)] },
    inputs: &[],
    gives: &[],
    settings: &[],
    of_declared: "a table `[step.anonymise]` with `texts = [\"riddle.question\", \"riddle.answer\"]` marks the fields of declared records",
    stage: |step| Box::new(AnonymiseRiddle(step)),
};

impl Stage for AnonymiseRiddle {
    fn about(&self) -> About {
        OPERATION.about(self.0)
    }

    fn takes(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(policy_lists(&step.config.root, &step.settings(OPERATION.section))?.evidence())
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn reread(&self, config: &Config, recipe: &str) -> Result<Option<Reread>, StageError> {
        let stage = english(config, recipe)?;
        Ok(Some(Box::new(move |written| match written {
            Written::Row(row) => goes_on(stage.columns(row, &TEXTS)).map(Written::Row),
            other => Some(other),
        })))
    }

    fn make(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let stage = english(job.asking.config, job.asking.recipe)?;
        let rule = Overrulable {
            rule: |row| stage.columns(row, &TEXTS),
            seen: full_text,
            passing: |row| stage.marked_columns(row, &TEXTS),
        };
        job.each_row(Rows::columns, &rule)
    }
}

/// Puzzles are in English, whatever the language of a workspace's posts is.
fn english(config: &Config, recipe: &str) -> Result<Anonymise, StageError> {
    let settings: sections::Anonymise = config.typed(Some(recipe), OPERATION.section);
    anonymise_stage(&config.root, &sections::Anonymise { language: Some(sections::Language::En), ..settings })
}
