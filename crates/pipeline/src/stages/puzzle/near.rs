//! Distractors of word puzzles from categories in files, or from WordNet (section 3.3).

use std::collections::BTreeMap;
use std::path::Path;

use super::SuppliedFacts;
use crate::config::sections;
use crate::stages::{StageError, Unusable};
use riddlemill_text::puzzle::near::{self as beside, Near as Word};
use riddlemill_text::puzzle::wordnet::{WordNet, WordNetError};
use riddlemill_text::record::{Outcome, Puzzle, Reason};

/// The database and the categories that the settings name; none where they name none.
#[derive(Debug)]
pub struct Near {
    wordnet: Option<(WordNet, String)>,
    given: SuppliedFacts,
    seed: u64,
}

impl Near {
    /// Opens the database. Where the settings name none, a model is asked instead.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the folder is not there or cannot be read.
    pub fn open(root: &Path, settings: &sections::Puzzles, seed: u64) -> Result<Near, StageError> {
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
    pub fn refused(&self) -> &[(String, String)] {
        &self.given.refused
    }

    /// Three words beside an answer, and where they are from.
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

/// Which puzzle of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The original's answer.
    Answer,
    /// That of the new situation.
    ContextAnswer,
}

/// Drafts the distractors of a word puzzle where a file of categories or WordNet has three words beside its answer. Any
/// other puzzle goes on as it is, and a model is asked.
pub fn near(mut puzzle: Puzzle, stage: &Near, which: Beside) -> Outcome<Puzzle> {
    let (question, answer) = match which {
        Beside::Answer => (Some(puzzle.question.clone()), Some(puzzle.answer.clone())),
        Beside::ContextAnswer => (puzzle.context_question.clone(), puzzle.context_answer.clone()),
    };
    let (drafted, from, basis) = match which {
        Beside::Answer => {
            (&mut puzzle.distractors_draft, &mut puzzle.distractors_from, &mut puzzle.distractors_basis)
        }
        Beside::ContextAnswer => (
            &mut puzzle.context_distractors_draft,
            &mut puzzle.context_distractors_from,
            &mut puzzle.context_distractors_basis,
        ),
    };
    let (Some(question), Some(answer)) = (question, answer) else { return Outcome::Kept(puzzle) };
    // A person wrote them, where there are any.
    if puzzle.kind.as_deref() != Some("word") || !drafted.is_empty() {
        return Outcome::Kept(puzzle);
    }
    let (found, source) = match stage.find(&question, &answer, &puzzle.id) {
        Ok(Some(found)) => found,
        Ok(None) => return Outcome::Kept(puzzle),
        Err(error) => return Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string() },
    };
    *from = found.iter().map(|near| near.relation.clone()).collect();
    *drafted = found.into_iter().map(|near| near.text).collect();
    *basis = vec![source];
    let (evidence, after) = (from.join(", "), drafted.join("\n"));
    Outcome::Changed {
        rule: Reason::BesideAnswer.code(),
        evidence,
        before: String::new(),
        after,
        row: puzzle,
    }
}
