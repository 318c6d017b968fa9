//! `anonymise_riddle`: marks personal data in both texts of a puzzle. Texts of declared records are marked by `anonymise` with
//! `texts`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reread::goes_on;
use super::riddle::full_text;
use super::{Commit, Job, Native, Operation, Records, Reread, Shape, Signature, Written};
use crate::config::{Config, sections};
use crate::stages::anonymise::{anonymise_stage, policy_lists};
use crate::stages::overrule::overruled;
use crate::stages::stage::StageError;
use riddlemill_review::decisions::{StageDecisions, Verdict, seen_text};
use riddlemill_text::offline::Anonymise;
use riddlemill_text::record::{Outcome, Record, Row};

pub(super) struct AnonymiseRiddle;

/// The columns that are marked.
const TEXTS: [&str; 2] = ["question", "answer"];

static SIGNATURE: Signature = Signature {
    name: "anonymise_riddle",
    version: 1,
    section: "anonymise",
    records: Records::Made { of: &[Shape::Columns(&TEXTS)], into: &[Shape::Columns(&TEXTS)] },
    inputs: &[],
    gives: &[],
    settings: &[],
};

impl Operation for AnonymiseRiddle {
    fn signature(&self) -> &'static Signature {
        &SIGNATURE
    }

    fn takes(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        config.stage(Some(recipe), SIGNATURE.section)
    }

    fn evidence(&self, config: &Config, recipe: &str) -> Result<BTreeMap<String, String>, StageError> {
        let settings = config.typed(Some(recipe), SIGNATURE.section);
        Ok(policy_lists(&config.root, &settings)?.evidence())
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn reread(&self, _: Native, config: &Config, recipe: &str) -> Result<Option<Reread>, StageError> {
        let stage = english(config, recipe)?;
        Ok(Some(Box::new(move |written| match written {
            Written::Row(row) => goes_on(stage.columns(row, &TEXTS)).map(Written::Row),
            other => Some(other),
        })))
    }

    fn of_declared(&self) -> &'static str {
        "a table `[step.anonymise]` with `texts = [\"riddle.question\", \"riddle.answer\"]` marks the fields of declared records"
    }

    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        let stage = english(job.asking.config, job.asking.recipe)?;
        let mut writer = job.writer()?;
        job.each(&mut writer, |row| job.through(&row, decided(row.clone(), &stage, &job.people)))?;
        Ok(Box::new(writer))
    }
}

/// Puzzles are in English, whatever the language of a workspace's posts is.
fn english(config: &Config, recipe: &str) -> Result<Anonymise, StageError> {
    let settings: sections::Anonymise = config.typed(Some(recipe), SIGNATURE.section);
    anonymise_stage(&config.root, &sections::Anonymise { language: Some(sections::Language::En), ..settings })
}

/// Marks personal data of a riddle, with decisions.
fn decided(row: Row, stage: &Anonymise, decisions: &StageDecisions) -> Outcome<Row> {
    let seen = || seen_text(&full_text(&row));
    let Some(ruling) = decisions.ruling(row.id(), seen) else { return stage.columns(row, &TEXTS) };
    let marked = || Some(stage.marked_columns(row.clone(), &TEXTS));
    overruled(stage.columns(row.clone(), &TEXTS), &ruling, marked)
}
