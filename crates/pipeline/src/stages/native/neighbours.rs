//! `neighbours`: three English words related to an answer, as its distractors, from categories in files or from WordNet
//! (BrainTeaser 3.3).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::fill::{OperationResult, Taken, fill_records};
use super::given_premises::SuppliedFacts;
use super::{
    About, Declared, Job, NewRows, Operation, OperationInput, Records, Stage, StepContext, puzzle_settings,
};
use crate::config::{Config, sections};
use crate::stages::{StageError, Unusable};
use riddlemill_record::{Reason, is_published};
use riddlemill_review::Values;
use riddlemill_text::puzzle::near::{self as beside, NearWord as Word};
use riddlemill_text::puzzle::wordnet::{WordNet, WordNetError};

#[derive(Debug)]
struct Neighbours(&'static Declared);

const QUESTION: &str = "question";
const ANSWER: &str = "answer";
const DISTRACTORS: &str = "distractors";
/// How each is related to the answer.
const FROM: &str = "from";

pub(super) static OPERATION: Operation = Operation {
    name: "neighbours",
    // 2 takes all three words from the sense that the puzzle means, at most one of them a synonym; 3 takes words that readers
    // know alone; 4 takes words of things that one can point at alone; 5 looks at hypernyms further up; 6 leaves published puzzles
    // alone, whose distractors are published too.
    version: 6,
    section: "puzzles",
    records: Records::AsTheyCome,
    inputs: &[OperationInput { name: QUESTION, needed: true }, OperationInput { name: ANSWER, needed: true }],
    gives: &[DISTRACTORS, FROM],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(Neighbours(step)),
};

/// What helps where WordNet is missing.
const INSTALL: &str = "Debian's wordnet-base puts WordNet into /usr/share/wordnet; with puzzles.wordnet = \"\" models write all \
                       distractors";

impl Stage for Neighbours {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    // The location of the database does not matter for freshness; its content does.
    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        config.stage_settings(Some(recipe), "options")
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Near::manifest_evidence(step.config, &puzzle_settings(step.config, step.recipe).0)
    }

    fn missing_resource(&self, config: &Config, recipe: &str) -> Option<String> {
        let settings = puzzle_settings(config, recipe).0;
        let folder = config.root.join(&settings.wordnet);
        (!settings.wordnet.is_empty() && !folder.is_dir()).then(|| {
            format!("puzzles.wordnet: {} is not a folder; answers need it that no category has words beside\n  hint: {INSTALL}", folder.display())
        })
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let (settings, seed) = puzzle_settings(job.step.config, job.step.recipe);
        let near = Near::open(job.step.config, &settings, seed)?;
        job.report_refused(near.refused_lines());
        let written = fill_records(job, self.0, |taken| beside_answer(taken, &near))?;
        // What was found until then is not kept: with the database it would be something else.
        near.missing_database().map_or(Ok(written), Err)
    }
}

/// The database and the categories that the settings name.
#[derive(Debug)]
struct Near {
    wordnet: Database,
    given: SuppliedFacts,
    seed: u64,
}

/// The WordNet that the settings name.
#[derive(Debug)]
enum Database {
    /// They name none: a model is asked instead.
    None,
    /// The folder is not there. This stops the step only if a puzzle needs it: a workspace with published puzzles alone, or with
    /// categories for every answer, does not.
    Missing { folder: PathBuf, needed: AtomicBool },
    /// With its fingerprint.
    Open(WordNet, String),
}

impl Near {
    /// Opens what the settings name.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the folder cannot be read.
    fn open(config: &Config, settings: &sections::Puzzles, seed: u64) -> Result<Near, StageError> {
        let folder = config.root.join(&settings.wordnet);
        let wordnet = if settings.wordnet.is_empty() {
            Database::None
        } else if folder.is_dir() {
            let wordnet = WordNet::open(&folder).map_err(settings_error)?;
            let fingerprint = wordnet.fingerprint();
            Database::Open(wordnet, fingerprint)
        } else {
            Database::Missing { folder, needed: AtomicBool::new(false) }
        };
        Ok(Near { wordnet, given: SuppliedFacts::open(config, settings)?, seed })
    }

    /// Why the step cannot be made, where a puzzle needed a database that is not there.
    fn missing_database(&self) -> Option<StageError> {
        let Database::Missing { folder, needed } = &self.wordnet else { return None };
        // Read when all records are done, so no thread can still set it.
        needed.load(Ordering::Relaxed).then(|| {
            Unusable::at_place("puzzles.wordnet", format!("{} is not a folder", folder.display()))
                .with_hint(INSTALL)
                .into()
        })
    }

    /// Lines of files that cannot be used: where, and why.
    fn refused_lines(&self) -> &[(String, String)] {
        &self.given.refused
    }

    /// Three words related to an answer, and where they are from.
    fn find_neighbours(
        &self,
        question: &str,
        answer: &str,
        id: &str,
    ) -> Result<Option<(Vec<Word>, String)>, WordNetError> {
        if let Some((members, category, place)) = self.given.members_of_category(answer) {
            let found = beside::draw_from_category(question, answer, members, category, self.seed, id);
            if found.len() == 3 {
                return Ok(Some((found, format!("file:{place}"))));
            }
        }
        let (wordnet, fingerprint) = match &self.wordnet {
            Database::Open(wordnet, fingerprint) => (wordnet, fingerprint),
            Database::Missing { needed, .. } => {
                needed.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            Database::None => return Ok(None),
        };
        let found = beside::draw_distractors(wordnet, question, answer, self.seed, id)?;
        Ok((found.len() == 3).then(|| (found, format!("wordnet:{fingerprint}"))))
    }

    /// What a manifest records.
    ///
    /// # Errors
    /// As of [`Near::open`].
    fn manifest_evidence(
        config: &Config,
        settings: &sections::Puzzles,
    ) -> Result<BTreeMap<String, String>, StageError> {
        // The seed does not matter: nothing is drawn here.
        let near = Near::open(config, settings, 0)?;
        let fingerprint = match near.wordnet {
            Database::Open(_, fingerprint) => fingerprint,
            Database::Missing { .. } => "missing".to_owned(),
            Database::None => "none".to_owned(),
        };
        let mut evidence = near.given.manifest_evidence();
        evidence.insert("wordnet".to_owned(), fingerprint);
        Ok(evidence)
    }
}

fn settings_error(error: WordNetError) -> StageError {
    Unusable::at_place("puzzles.wordnet", error).into()
}

/// Three words related to the answer, if a file of categories or WordNet has them; otherwise a model is asked. A published
/// puzzle has its distractors.
fn beside_answer(taken: &Taken<'_>, near: &Near) -> Result<Option<OperationResult>, WordNetError> {
    if is_published(taken.id) {
        return Ok(None);
    }
    let (Some(question), Some(answer)) = (taken.text_of_input(QUESTION), taken.text_of_input(ANSWER)) else {
        return Ok(None);
    };
    let found = near.find_neighbours(&question, &answer, taken.id)?;
    let Some((words, source)) = found else { return Ok(None) };
    let from: Vec<String> = words.iter().map(|near| near.relation.clone()).collect();
    let texts: Vec<String> = words.into_iter().map(|near| near.text).collect();
    let (evidence, after) = (from.join(", "), texts.join("\n"));
    let mut values = Values::new();
    values.set(DISTRACTORS, texts);
    values.set(FROM, from);
    let (basis, before) = (vec![source], String::new());
    Ok(Some(OperationResult { values, basis, rule: Reason::BesideAnswer, evidence, before, after }))
}
