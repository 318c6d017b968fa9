//! Distractors of word puzzles from WordNet (section 3.3).

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::sections;
use crate::stages::StageError;
use riddlemill_text::puzzle::near::near as beside;
use riddlemill_text::puzzle::wordnet::{WordNet, WordNetError};
use riddlemill_text::record::{Outcome, Puzzle, Reason};

/// The database that the settings name; none where there is none.
#[derive(Debug)]
pub struct Near {
    wordnet: Option<(WordNet, String)>,
    seed: u64,
}

impl Near {
    /// Opens the database. A folder that is not there is no error: a model is asked instead.
    ///
    /// # Errors
    /// [`StageError::Settings`] where it is there and cannot be read.
    pub fn open(root: &Path, settings: &sections::Puzzles, seed: u64) -> Result<Near, StageError> {
        let folder = root.join(&settings.wordnet);
        if settings.wordnet.is_empty() || !folder.is_dir() {
            return Ok(Near { wordnet: None, seed });
        }
        let wordnet = WordNet::open(&folder).map_err(settings_error)?;
        let fingerprint = wordnet.fingerprint();
        Ok(Near { wordnet: Some((wordnet, fingerprint)), seed })
    }

    /// What a manifest records.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let fingerprint = self.wordnet.as_ref().map_or("none", |(_, fingerprint)| fingerprint);
        BTreeMap::from([("wordnet".to_owned(), fingerprint.to_owned())])
    }
}

fn settings_error(error: WordNetError) -> StageError {
    StageError::Settings(format!("puzzles.wordnet: {error}"))
}

/// Drafts the distractors of a word puzzle where WordNet has three words beside its answer. Any other puzzle goes on as
/// it is, and a model is asked.
pub fn near(mut puzzle: Puzzle, stage: &Near) -> Outcome<Puzzle> {
    let Some((wordnet, fingerprint)) = stage.wordnet.as_ref().filter(|_| puzzle.is_word()) else {
        return Outcome::Kept(puzzle);
    };
    let found = match beside(wordnet, &puzzle.question, &puzzle.answer, stage.seed, &puzzle.id) {
        Ok(found) if found.len() == 3 => found,
        Ok(_) => return Outcome::Kept(puzzle),
        Err(error) => return Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string() },
    };
    puzzle.distractors_from = found.iter().map(|near| near.relation.clone()).collect();
    puzzle.distractors_draft = found.into_iter().map(|near| near.text).collect();
    puzzle.distractors_basis = vec![format!("wordnet:{fingerprint}")];
    Outcome::Changed {
        rule: Reason::BesideAnswer.code(),
        evidence: puzzle.distractors_from.join(", "),
        before: String::new(),
        after: puzzle.distractors_draft.join("\n"),
        row: puzzle,
    }
}
