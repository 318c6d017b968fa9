//! What is kept beside the votes, a line each and only appended to: remarks on votes in raw/votes/notes, and guidelines as
//! they were edited in raw/votes/guidelines. None of it is a vote, and none of it is ever published.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ballot::{Ballot, Label, Round};
use riddlemill_files::digest::Digest;
use riddlemill_files::log::{Log, LogError};

/// What somebody remarked on their vote. The last one holds; an empty one takes the one before back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The item.
    pub item: String,
    /// By whom.
    pub annotator: String,
    /// In which round.
    pub round: Round,
    /// The comment.
    pub text: String,
    /// Whether somebody is to look at it.
    pub flag: bool,
    /// When, RFC 3339.
    pub at: String,
}

/// A guideline with its examples, as somebody wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guide {
    /// How to decide, in English.
    pub en: String,
    /// How to decide, in Chinese.
    pub zh: String,
    /// Examples, a line each, in English.
    pub examples: String,
    /// The same in Chinese; where nothing is here, those above hold for both.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub examples_zh: String,
    /// By whom; nobody for what the benchmark comes with.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
}

impl Guide {
    /// What the benchmark comes with.
    pub fn declared(step: &Ballot) -> Guide {
        let Label { en, zh } = step.guideline;
        let lines =
            |said: fn(&Label) -> &'static str| step.examples.iter().map(said).collect::<Vec<_>>().join("\n");
        let (examples, examples_zh) = (lines(|example| example.en), lines(|example| example.zh));
        let examples_zh = if examples_zh == examples { String::new() } else { examples_zh };
        Guide { en: en.into(), zh: zh.into(), examples, examples_zh, by: String::new(), at: String::new() }
    }

    /// The examples for readers of Chinese.
    pub fn examples_in_chinese(&self) -> &str {
        if self.examples_zh.is_empty() { &self.examples } else { &self.examples_zh }
    }

    /// What votes carry: who wrote the same words wrote the same version.
    pub fn version(&self) -> Digest {
        // Versions from before there were two lists of examples stay what they are.
        let parts = [&self.en, &self.zh, &self.examples].into_iter();
        let parts = parts.chain(Some(&self.examples_zh).filter(|examples| !examples.is_empty()));
        let parts: Vec<&[u8]> = parts.map(|part| part.as_bytes()).collect();
        Digest::of_parts("riddlemill guideline v1", parts)
    }
}

/// What holds of the remarks, one for each person, round and item, the last first; those taken back are left out.
pub fn standing(notes: &[Note]) -> Vec<&Note> {
    let mut heads: Vec<&Note> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for note in notes.iter().rev() {
        if seen.insert((&note.item, &note.annotator, note.round)) && (note.flag || !note.text.is_empty()) {
            heads.push(note);
        }
    }
    heads
}

/// Where the notes of a step are, below the folder of the votes.
pub fn notes(votes: &Path, recipe: &str, step: &str) -> PathBuf {
    votes.join("notes").join(format!("{recipe}.{step}.jsonl"))
}

/// Where the guidelines of a step are, below the folder of the votes.
pub fn guides(votes: &Path, recipe: &str, step: &str) -> PathBuf {
    votes.join("guidelines").join(format!("{recipe}.{step}.jsonl"))
}

/// What is in a file, in the order it was written. A line that cannot be read holds nobody's judgement.
///
/// # Errors
/// [`LogError`] where the file cannot be read, or is not what was written.
pub fn read<T: DeserializeOwned>(path: PathBuf) -> Result<Vec<T>, LogError> {
    let lines = Log::at(path).read()?;
    let lines = lines.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Adds a line, on disk when it returns.
///
/// # Errors
/// [`LogError`] where it cannot be written.
pub fn add(path: PathBuf, new: &impl Serialize) -> Result<(), LogError> {
    let mut line = serde_json::to_vec(new).map_err(|source| LogError::Unwritable { source })?;
    line.push(b'\n');
    Log::at(path).append(&line)
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
        super::notes(root, "r", "s")
    }

    #[test]
    fn the_same_words_are_the_same_version() {
        let guide = |examples: &str, by: &str| Guide {
            en: "Keep it.".into(),
            zh: "保留。".into(),
            examples: examples.into(),
            examples_zh: String::new(),
            by: by.into(),
            at: String::new(),
        };
        assert_eq!(guide("", "a").version(), guide("", "b").version());
        assert_ne!(guide("", "a").version(), guide("one", "a").version());
        let chinese = Guide { examples_zh: "一".into(), ..guide("one", "a") };
        assert_ne!(chinese.version(), guide("one", "a").version());
        assert_eq!((chinese.examples_in_chinese(), guide("one", "a").examples_in_chinese()), ("一", "one"));
    }
}
