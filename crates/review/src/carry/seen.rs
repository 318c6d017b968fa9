//! What annotators saw, kept in case it changes.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::item::{Content, Item, content_hash};
use crate::value::Values;
use riddlemill_files::log::{LineError, LogError, Segments, read_values, to_lines};

/// What an annotator saw of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The hash that votes on it carry.
    pub content_hash: Digest,
    /// The content; sides that are compared are in the order that the recipe's seed draws.
    pub content: Content,
    /// The drafts that were shown with it.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub draft: Values,
}

impl Seen {
    pub(super) fn new(item: &Item, draft: Values) -> Seen {
        Seen { content_hash: item.content_hash, content: item.content.clone(), draft }
    }

    /// Whether it matches its hash, with the drafts or without.
    fn is_sound(&self) -> bool {
        [None, Some(&self.draft)]
            .into_iter()
            .any(|draft| content_hash(&self.content, draft) == self.content_hash)
    }
}

/// The texts of a folder, usually raw/seen, by the hash in votes.
#[derive(Clone, Debug, Default)]
pub struct SeenLog {
    texts: FxHashMap<Digest, Seen>,
    damaged: Vec<String>,
}

impl SeenLog {
    /// Reads the texts in `folder`; empty if it is missing. Does not create it.
    ///
    /// # Errors
    /// [`LogError`] if a segment cannot be read, or has a line that only a newer program knows.
    pub fn read_folder(folder: &Path) -> Result<SeenLog, LogError> {
        let mut log = SeenLog::default();
        let check = |seen: &Seen| match seen.is_sound() {
            true => Ok(()),
            false => Err(LineError::Edited(seen.content_hash)),
        };
        for (path, lines) in Segments::in_folder(folder).read_lines()? {
            let texts = read_values(&path, &lines, "text", check, &mut log.damaged)?;
            log.texts.extend(texts.into_iter().map(|seen| (seen.content_hash, seen)));
        }
        Ok(log)
    }

    /// The text of this hash.
    pub fn get(&self, hash: Digest) -> Option<&Seen> {
        self.texts.get(&hash)
    }

    /// All of them.
    pub fn iter_texts(&self) -> impl Iterator<Item = &Seen> {
        self.texts.values()
    }

    /// Lines that are not texts, or have another hash. They are ignored.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// Stores those of `texts` that the folder lacks, and returns their number when they are on disk.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read or written.
    pub fn append_texts(folder: &Path, mut texts: Vec<Seen>) -> Result<usize, LogError> {
        let known = SeenLog::read_folder(folder)?;
        texts.sort_by_key(|seen| seen.content_hash);
        texts.dedup_by_key(|seen| seen.content_hash);
        texts.retain(|seen| known.get(seen.content_hash).is_none());
        if texts.is_empty() {
            return Ok(0);
        }
        Segments::in_folder(folder).open_writer()?.append_blocks(&[to_lines(&texts)?])?;
        Ok(texts.len())
    }
}
