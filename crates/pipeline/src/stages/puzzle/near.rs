//! Distractors of word puzzles from WordNet (section 3.3).

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::sections;
use crate::stages::StageError;
use riddlemill_text::puzzle::near::near as beside;
use riddlemill_text::puzzle::wordnet::{WordNet, WordNetError};
use riddlemill_text::record::{Outcome, Puzzle, Reason};

/// The database that the settings name; none where they name none.
#[derive(Debug)]
pub struct Near {
    wordnet: Option<(WordNet, String)>,
    seed: u64,
}

impl Near {
    /// Opens the database. Where the settings name none, a model is asked instead.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the folder is not there or cannot be read.
    pub fn open(root: &Path, settings: &sections::Puzzles, seed: u64) -> Result<Near, StageError> {
        let folder = root.join(&settings.wordnet);
        if settings.wordnet.is_empty() {
            return Ok(Near { wordnet: None, seed });
        }
        if !folder.is_dir() {
            return Err(StageError::Settings(format!(
                "puzzles.wordnet: {} is no folder\n  hint: Debian's wordnet-base puts WordNet into /usr/share/wordnet; \
                 with puzzles.wordnet = \"\" models write all distractors",
                folder.display()
            )));
        }
        let wordnet = WordNet::open(&folder).map_err(settings_error)?;
        let fingerprint = wordnet.fingerprint();
        Ok(Near { wordnet: Some((wordnet, fingerprint)), seed })
    }

    /// What a manifest records. A folder that is not there is told as such: it stops the stage, and not whoever only
    /// asks how things stand.
    ///
    /// # Errors
    /// As of [`Near::open`], where the folder is there.
    pub fn evidence(
        root: &Path,
        settings: &sections::Puzzles,
    ) -> Result<BTreeMap<String, String>, StageError> {
        let missing = !settings.wordnet.is_empty() && !root.join(&settings.wordnet).is_dir();
        let fingerprint = if missing {
            "missing".to_owned()
        } else {
            let near = Near::open(root, settings, 0)?;
            near.wordnet.map_or_else(|| "none".to_owned(), |(_, fingerprint)| fingerprint)
        };
        Ok(BTreeMap::from([("wordnet".to_owned(), fingerprint)]))
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
