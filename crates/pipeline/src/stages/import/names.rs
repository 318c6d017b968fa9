//! The names of all users of all dumps, to be searched for in all texts.
//!
//! A user's name in their own post is found when that post is parsed. The names of others are known only after every dump
//! has been read, which needs an additional pass that reads only names.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::files::Dump;
use super::page::PagePost;
use super::split::Item;
use super::{loose, parse, row, walk};
use crate::config::{SourceKind, sections};
use crate::stages::{StageError, Unusable};
use riddlemill_record::{Post, record};
use riddlemill_tables::{Error, StageWriter};
use riddlemill_text::notation;
use riddlemill_text::text::anonymise::NameList;

record! {
    /// A name that was looked for, as the hash that finds it.
    pub struct NameRow {
        /// A line of the list.
        id: String,
    }
}

/// A list without names: the words that the settings except.
///
/// # Errors
/// [`StageError::Settings`] naming the list that cannot be read.
pub fn no_names(root: &Path, settings: &sections::Import, salt: &[u8; 32]) -> Result<NameList, StageError> {
    let mut list = NameList::new(salt);
    for name in &settings.common_words {
        let text = fs::read_to_string(root.join(name)).map_err(|e| {
            StageError::from(unreadable_list(name, &e).with_hint("a path relative to pipeline.toml"))
        })?;
        let words = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        list.except_words(words.map(str::to_owned));
    }
    Ok(list)
}

fn unreadable_list(name: &str, error: &std::io::Error) -> Unusable {
    Unusable::at_place("import.common_words", format!("cannot read the list {name:?}: {error}"))
}

/// Writes the list as a table of the stage: what was looked for, and no name.
///
/// # Errors
/// [`Error`] where it cannot be written.
pub fn append_names(names: &NameList, writer: &mut StageWriter<Post>) -> Result<(), Error> {
    let mut table = writer.start_table::<NameRow>("names")?;
    // The first line is the head of a file, and no name.
    for line in names.to_file().lines().skip(1) {
        table.append(&NameRow { id: line.to_owned() });
    }
    writer.add_table(table)
}

/// The hashes of the lists that the settings name: evidence of the stage.
///
/// # Errors
/// As [`no_names`].
pub fn words_evidence(root: &Path, settings: &sections::Import) -> Result<Vec<(String, String)>, StageError> {
    let hash = |name: &String| {
        let bytes = fs::read(root.join(name)).map_err(|e| unreadable_list(name, &e))?;
        Ok((format!("common words {name}"), blake3::hash(&bytes).to_hex()[..16].to_string()))
    };
    settings.common_words.iter().map(hash).collect()
}

/// Adds the names of a dump's users. What cannot be read is reported by import itself.
pub fn add_names(list: &mut NameList, dump: &Dump, settings: &sections::Import) {
    let names_authors = match &dump.profile {
        Some(profile) => profile.names_authors(),
        None => !matches!(dump.kind, SourceKind::Puzzles | SourceKind::Cqia | SourceKind::Published),
    };
    if !names_authors {
        return;
    }
    let row = |list: &NameList, item: Item<'_>| list.hash_name(&name_of(dump, item.bytes.ok()?)?);
    let post = |list: &NameList, post: PagePost| list.hash_name(post.author()?);
    walk::fold_dump(dump, settings.max_line_mib << 20, list, row, post, NameList::add_hashed);
}

/// Whoever wrote an item, by name.
#[derive(Deserialize)]
struct ItemAuthor {
    #[serde(default, alias = "username", deserialize_with = "loose::text")]
    user_name: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    author: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    lz: Option<String>,
}

fn name_of(dump: &Dump, bytes: &[u8]) -> Option<String> {
    let text = simdutf8::basic::from_utf8(bytes).ok()?;
    let who = || {
        super::object::<ItemAuthor>(text)
            .or_else(|_| super::object::<ItemAuthor>(&notation::strict_json(text)))
            .ok()
    };
    match dump.kind {
        SourceKind::LeymoreTitles => who()?.lz,
        SourceKind::LeymoreAnnual | SourceKind::Reddit => who()?.author,
        SourceKind::ThreadDump => who()?.user_name,
        SourceKind::Aiotieba => row(dump, text)?.ok()?.user_name,
        SourceKind::Table => match parse(dump, bytes, None) {
            Ok(super::Parsed::Post(draft)) => draft.author,
            _ => None,
        },
        _ => None,
    }
}
