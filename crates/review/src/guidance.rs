//! Append-only files next to the votes: remarks on votes in raw/votes/notes, and edited guidelines in
//! raw/votes/guidelines. They contain no votes, and are never published.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ballot::{Ballot, Label, Round};
use riddlemill_files::digest::Digest;
use riddlemill_files::log::{Log, LogError, read_values};

/// A remark on a vote. The last one counts; an empty one withdraws the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub item: String,
    /// Its author.
    pub annotator: String,
    pub round: Round,
    /// The comment.
    pub text: String,
    /// Whether somebody should look at it.
    pub flag: bool,
    /// When, RFC 3339.
    pub at: String,
}

/// A guideline with its examples, as somebody wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BallotGuideline {
    /// How to decide, in English.
    pub en: String,
    /// How to decide, in Chinese.
    pub zh: String,
    /// Examples in English, one per line.
    pub examples: String,
    /// Examples in Chinese; if empty, those in English are used for both.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub examples_zh: String,
    /// Its author; empty for the benchmark's own.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
}

impl BallotGuideline {
    /// The benchmark's own guideline.
    pub fn of_ballot(ballot: &Ballot) -> BallotGuideline {
        let Label { en, zh } = ballot.guideline;
        let lines = |language: fn(&Label) -> &'static str| {
            ballot.examples.iter().map(language).collect::<Vec<_>>().join("\n")
        };
        let (examples, examples_zh) = (lines(|example| example.en), lines(|example| example.zh));
        let examples_zh = if examples_zh == examples { String::new() } else { examples_zh };
        BallotGuideline {
            en: en.into(),
            zh: zh.into(),
            examples,
            examples_zh,
            by: String::new(),
            at: String::new(),
        }
    }

    /// The examples for readers of Chinese.
    pub fn examples_in_chinese(&self) -> &str {
        if self.examples_zh.is_empty() { &self.examples } else { &self.examples_zh }
    }

    /// The version stored in votes: the same words have the same version.
    pub fn version(&self) -> Digest {
        // Keeps the versions from before there were two lists of examples.
        let parts = [&self.en, &self.zh, &self.examples].into_iter();
        let parts = parts.chain(Some(&self.examples_zh).filter(|examples| !examples.is_empty()));
        let parts: Vec<&[u8]> = parts.map(|part| part.as_bytes()).collect();
        Digest::of_parts("riddlemill guideline v1", parts)
    }
}

/// The remarks that count, one for each person, round and item, latest first; withdrawn ones are left out.
pub fn latest_notes(notes: &[Note]) -> Vec<&Note> {
    let mut heads: Vec<&Note> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for note in notes.iter().rev() {
        if seen.insert((&note.item, &note.annotator, note.round)) && (note.flag || !note.text.is_empty()) {
            heads.push(note);
        }
    }
    heads
}

/// The file of a step's notes, under the folder of the votes.
pub fn path_of_notes(votes: &Path, recipe: &str, step: &str) -> PathBuf {
    votes.join("notes").join(format!("{recipe}.{step}.jsonl"))
}

/// The file of a step's guidelines, under the folder of the votes.
pub fn path_of_guides(votes: &Path, recipe: &str, step: &str) -> PathBuf {
    votes.join("guidelines").join(format!("{recipe}.{step}.jsonl"))
}

/// The entries of a file, in the order they were written. Lines that are no JSON are skipped, because they contain
/// no votes; `fsck` names them.
///
/// # Errors
/// [`LogError`] if the file cannot be read, was changed, or has a line that only a newer program knows.
pub fn read_entries<T: DeserializeOwned>(path: PathBuf) -> Result<Vec<T>, LogError> {
    let lines = Log::in_file(&path).read_lines()?;
    read_values(&path, &lines, "line", |_| Ok(()), &mut Vec::new())
}

/// Adds a line, which is on disk when this returns.
///
/// # Errors
/// [`LogError`] if it cannot be written.
pub fn add<T: Serialize + DeserializeOwned>(path: PathBuf, new: &T) -> Result<(), LogError> {
    Log::in_file(path).add([new])
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
        assert_eq!(latest_notes(&notes), [&notes[3], &notes[1]]);
        let dir = tempfile::tempdir().unwrap();
        let path = notes_path(dir.path());
        for note in &notes {
            add(path.clone(), note).unwrap();
        }
        assert_eq!(read_entries::<Note>(path).unwrap(), notes);
    }

    fn notes_path(root: &std::path::Path) -> PathBuf {
        super::path_of_notes(root, "r", "s")
    }

    #[test]
    fn the_same_words_are_the_same_version() {
        let guide = |examples: &str, by: &str| BallotGuideline {
            en: "Keep it.".into(),
            zh: "保留。".into(),
            examples: examples.into(),
            examples_zh: String::new(),
            by: by.into(),
            at: String::new(),
        };
        assert_eq!(guide("", "a").version(), guide("", "b").version());
        assert_ne!(guide("", "a").version(), guide("one", "a").version());
        let chinese = BallotGuideline { examples_zh: "一".into(), ..guide("one", "a") };
        assert_ne!(chinese.version(), guide("one", "a").version());
        assert_eq!((chinese.examples_in_chinese(), guide("one", "a").examples_in_chinese()), ("一", "one"));
    }
}
