//! What is kept beside the votes, a line each and only appended to: remarks on votes in raw/votes/notes, and guidelines as
//! they were edited in raw/votes/guidelines. None of it is a vote, and none of it is ever published.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::log::{Log, LogError};
use crate::review::ballot::{Label, Round};
use crate::review::{Digest, Step};
use crate::store::{Error, Workspace};

/// What somebody remarked on their vote. The last one holds; an empty one takes the one before back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::web) struct Note {
    /// The item.
    pub(in crate::web) item: String,
    /// By whom.
    pub(in crate::web) annotator: String,
    /// In which round.
    pub(in crate::web) round: Round,
    /// The comment.
    pub(in crate::web) text: String,
    /// Whether somebody is to look at it.
    pub(in crate::web) flag: bool,
    /// When, RFC 3339.
    pub(in crate::web) at: String,
}

/// A guideline with its examples, as somebody wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::web) struct Guide {
    /// How to decide, in English.
    pub(in crate::web) en: String,
    /// How to decide, in Chinese.
    pub(in crate::web) zh: String,
    /// Examples, a line each.
    pub(in crate::web) examples: String,
    /// By whom; nobody for what the benchmark comes with.
    pub(in crate::web) by: String,
    /// When, RFC 3339.
    pub(in crate::web) at: String,
}

impl Guide {
    /// What the benchmark comes with.
    pub(in crate::web) fn declared(step: &Step) -> Guide {
        let Label { en, zh } = step.guideline;
        let nothing = String::new;
        Guide { en: en.into(), zh: zh.into(), examples: nothing(), by: nothing(), at: nothing() }
    }

    /// What votes carry: who wrote the same words wrote the same version.
    pub(in crate::web) fn version(&self) -> Digest {
        let parts = [&self.en, &self.zh, &self.examples].map(|part| part.as_bytes());
        Digest::of("riddlemill guideline v1", parts)
    }
}

/// What holds of the remarks, one for each person, round and item, the last first; those taken back are left out.
pub(in crate::web) fn standing(notes: &[Note]) -> Vec<&Note> {
    let mut heads: Vec<&Note> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for note in notes.iter().rev() {
        if seen.insert((&note.item, &note.annotator, note.round)) && (note.flag || !note.text.is_empty()) {
            heads.push(note);
        }
    }
    heads
}

/// Where the notes of a step are.
pub(super) fn notes(workspace: &Workspace, recipe: &str, step: &str) -> PathBuf {
    workspace.raw().join("votes/notes").join(format!("{recipe}.{step}.jsonl"))
}

/// Where the guidelines of a step are.
pub(super) fn guides(workspace: &Workspace, recipe: &str, step: &str) -> PathBuf {
    workspace.raw().join("votes/guidelines").join(format!("{recipe}.{step}.jsonl"))
}

/// What stands in a file, in the order it was written. A line that cannot be read holds nobody's judgement.
pub(super) fn read<T: DeserializeOwned>(path: PathBuf) -> Result<Vec<T>, Error> {
    let lines = Log::at(path).read()?;
    let lines = lines.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Adds a line, on disk when it returns.
pub(super) fn add(path: PathBuf, new: &impl Serialize) -> Result<(), Error> {
    let mut line = serde_json::to_vec(new).map_err(|source| LogError::Unwritable { source })?;
    line.push(b'\n');
    Ok(Log::at(path).append(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_remark_holds_and_an_empty_one_takes_it_back() {
        let note = |item: &str, annotator: &str, text: &str, flag| Note {
            item: item.into(),
            annotator: annotator.into(),
            round: Round::Vote,
            text: text.into(),
            flag,
            at: String::new(),
        };
        let notes = [
            note("1", "a", "odd", false),
            note("1", "b", "", true),
            note("2", "a", "gone", true),
            note("1", "a", "odder", false),
            note("2", "a", "", false),
        ];
        assert_eq!(standing(&notes), [&notes[3], &notes[1]]);
        let dir = tempfile::tempdir().unwrap();
        let path = notes_path(dir.path());
        for note in &notes {
            add(path.clone(), note).unwrap();
        }
        assert_eq!(read::<Note>(path).unwrap(), notes);
    }

    fn notes_path(root: &std::path::Path) -> PathBuf {
        super::notes(&Workspace::new(root), "r", "s")
    }

    #[test]
    fn the_same_words_are_the_same_version() {
        let guide = |examples: &str, by: &str| Guide {
            en: "Keep it.".into(),
            zh: "保留。".into(),
            examples: examples.into(),
            by: by.into(),
            at: String::new(),
        };
        assert_eq!(guide("", "a").version(), guide("", "b").version());
        assert_ne!(guide("", "a").version(), guide("one", "a").version());
    }
}
