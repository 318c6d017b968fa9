//! `neighbours`: three English words related to an answer, as its distractors, from categories in files or from WordNet
//! (BrainTeaser 3.3).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::fill::{Found, Taken, fill};
use super::given_premises::SuppliedFacts;
use super::{Commit, Input, Job, Operation, Records, Signature, puzzles};
use crate::config::{Config, sections};
use crate::stages::{StageError, Unusable};
use riddlemill_review::Values;
use riddlemill_text::puzzle::near::{self as beside, Near as Word};
use riddlemill_text::puzzle::wordnet::{WordNet, WordNetError};
use riddlemill_text::record::Reason;

pub(super) struct Neighbours;

const QUESTION: &str = "question";
const ANSWER: &str = "answer";
const DISTRACTORS: &str = "distractors";
/// How each is related to the answer.
const FROM: &str = "from";

static SIGNATURE: Signature = Signature {
    name: "neighbours",
    // 2 takes all three words from the sense that the puzzle means, at most one of them a synonym; 3 takes words that readers
    // know alone; 4 takes words of things that one can point at alone; 5 looks at hypernyms further up.
    version: 5,
    section: "puzzles",
    records: Records::AsTheyCome,
    inputs: &[Input { name: QUESTION, needed: true }, Input { name: ANSWER, needed: true }],
    gives: &[DISTRACTORS, FROM],
    settings: &[],
};

impl Operation for Neighbours {
    fn signature(&self) -> &'static Signature {
        &SIGNATURE
    }

    // Where the database lies decides nothing; what it holds is evidence.
    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        config.stage(Some(recipe), "options")
    }

    fn evidence(&self, config: &Config, recipe: &str) -> Result<BTreeMap<String, String>, StageError> {
        Near::evidence(&config.root, &puzzles(config, recipe).0)
    }

    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        let (settings, seed) = job.puzzles();
        let near = Near::open(&job.asking.config.root, &settings, seed)?;
        job.tell_refused(near.refused());
        fill(job, |taken| beside_answer(taken, &near))
    }
}

/// The database and the categories that the settings name; none where they name none.
#[derive(Debug)]
struct Near {
    wordnet: Option<(WordNet, String)>,
    given: SuppliedFacts,
    seed: u64,
}

impl Near {
    /// Opens the database. Where the settings name none, a model is asked instead.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the folder is not there or cannot be read.
    fn open(root: &Path, settings: &sections::Puzzles, seed: u64) -> Result<Near, StageError> {
        let folder = root.join(&settings.wordnet);
        let given = SuppliedFacts::open(root, settings)?;
        if settings.wordnet.is_empty() {
            return Ok(Near { wordnet: None, given, seed });
        }
        if !folder.is_dir() {
            let none = Unusable::at("puzzles.wordnet", format!("{} is not a folder", folder.display()));
            return Err(none
                .hint(
                    "Debian's wordnet-base puts WordNet into /usr/share/wordnet; with puzzles.wordnet = \"\" models \
                     write all distractors",
                )
                .into());
        }
        let wordnet = WordNet::open(&folder).map_err(settings_error)?;
        let fingerprint = wordnet.fingerprint();
        Ok(Near { wordnet: Some((wordnet, fingerprint)), given, seed })
    }

    /// Lines of files that cannot be used: where, and why.
    fn refused(&self) -> &[(String, String)] {
        &self.given.refused
    }

    /// Three words related to an answer, and where they are from.
    fn find(
        &self,
        question: &str,
        answer: &str,
        id: &str,
    ) -> Result<Option<(Vec<Word>, String)>, WordNetError> {
        if let Some((members, category, place)) = self.given.members(answer) {
            let found = beside::members(question, answer, members, category, self.seed, id);
            if found.len() == 3 {
                return Ok(Some((found, format!("file:{place}"))));
            }
        }
        let Some((wordnet, fingerprint)) = &self.wordnet else { return Ok(None) };
        let found = beside::near(wordnet, question, answer, self.seed, id)?;
        Ok((found.len() == 3).then(|| (found, format!("wordnet:{fingerprint}"))))
    }

    /// What a manifest records. A missing folder is recorded as missing: it stops the stage, but not code that only
    /// asks how things stand.
    ///
    /// # Errors
    /// As of [`Near::open`], where the folder is there.
    fn evidence(root: &Path, settings: &sections::Puzzles) -> Result<BTreeMap<String, String>, StageError> {
        let missing = !settings.wordnet.is_empty() && !root.join(&settings.wordnet).is_dir();
        let mut evidence = SuppliedFacts::open(root, settings)?.evidence();
        let fingerprint = if missing {
            "missing".to_owned()
        } else {
            let near = Near::open(root, settings, 0)?;
            near.wordnet.map_or_else(|| "none".to_owned(), |(_, fingerprint)| fingerprint)
        };
        evidence.insert("wordnet".to_owned(), fingerprint);
        Ok(evidence)
    }
}

fn settings_error(error: WordNetError) -> StageError {
    Unusable::at("puzzles.wordnet", error).into()
}

/// Three words related to the answer, if a file of categories or WordNet has them; otherwise a model is asked.
fn beside_answer(taken: &Taken<'_>, near: &Near) -> Result<Option<Found>, WordNetError> {
    let (Some(question), Some(answer)) = (taken.text(QUESTION), taken.text(ANSWER)) else { return Ok(None) };
    let found = near.find(&question, &answer, taken.id)?;
    let Some((words, source)) = found else { return Ok(None) };
    let from: Vec<String> = words.iter().map(|near| near.relation.clone()).collect();
    let texts: Vec<String> = words.into_iter().map(|near| near.text).collect();
    let (evidence, after) = (from.join(", "), texts.join("\n"));
    let mut values = Values::new();
    values.set(DISTRACTORS, texts);
    values.set(FROM, from);
    let (basis, before) = (vec![source], String::new());
    Ok(Some(Found { values, basis, rule: Reason::BesideAnswer, evidence, before, after }))
}
