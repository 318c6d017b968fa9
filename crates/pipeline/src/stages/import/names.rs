//! The names of all users of all dumps, to be searched for in all texts.
//!
//! A user's name in their own post is found when that post is parsed. The names of others are known only after every dump
//! has been read, which needs an additional pass that reads only names.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::files::Dump;
use super::page::PagePost;
use super::split::Item;
use super::{known_columns, parse, row, walk};
use crate::config::{SourceKind, sections};
use crate::stages::{StageError, Unusable};
use riddlemill_files::reading::decode_text;
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
        let text = fs::read(root.join(name)).and_then(|bytes| decode_text(&bytes)).map_err(|e| {
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
    let row = |list: &NameList, item: Item<'_>| {
        let names = names_of_row(dump, item.bytes.ok()?);
        Some(names.iter().filter_map(|name| list.hash_name(name)).collect::<Vec<_>>())
    };
    let post = |list: &NameList, post: PagePost| Some(vec![list.hash_name(post.author()?)?]);
    let add = |list: &mut NameList, names: Vec<_>| names.into_iter().for_each(|name| list.add_hashed(name));
    walk::fold_dump(dump, settings.max_line_mib << 20, list, row, post, add);
}

/// Every name of people in an item: whoever wrote it, also by their other names, and whom its columns name beside them.
fn names_of_row(dump: &Dump, bytes: &[u8]) -> Vec<String> {
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else { return Vec::new() };
    let read = |text: &str| {
        let mut names = Vec::new();
        let people = PeopleNames { in_person: false, names: &mut names };
        people.deserialize(&mut serde_json::Deserializer::from_str(text)).map(|()| names)
    };
    let mut names = read(text).or_else(|_| read(&notation::strict_json(text))).unwrap_or_default();
    // The author of a table may be in a column whose name does not say so.
    let author = match dump.kind {
        SourceKind::Table => match parse(dump, bytes, None) {
            Ok(super::Parsed::Post(draft)) => draft.author,
            _ => None,
        },
        SourceKind::Aiotieba => row(dump, text).and_then(|row| row.ok()?.user_name),
        _ => None,
    };
    names.extend(author);
    names.sort();
    names.dedup();
    names
}

/// Collects the names of people in a value, however deep: authors of replies, mentions, lists of participants.
struct PeopleNames<'n> {
    /// Whether the value is a person, or people.
    in_person: bool,
    names: &'n mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for PeopleNames<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PeopleNames<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let is_name = known_columns::holds_name(&key, self.in_person);
            // What else a person has are their level, their places and their pictures.
            match self.in_person && !is_name {
                true => drop(map.next_value::<IgnoredAny>()?),
                false => map.next_value_seed(PeopleNames { in_person: is_name, names: &mut *self.names })?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(PeopleNames { names: &mut *self.names, ..self })?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        if self.in_person {
            self.names.push(name.to_owned());
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_person_is_known() {
        let of = |kind: &str, line: &str| {
            let kind = SourceKind::from_name(kind).unwrap();
            let dump = Dump { kind, ..Dump::looked_at(Path::new("none")) };
            names_of_row(&dump, line.as_bytes()).join(" ")
        };
        let line = r#"{"tid": 1, "pid": 2, "text": "云", "user": {"user_id": 7, "portrait": "tb.1.x", "user_name": "aaa",
            "nick_name_old": "bbb", "nick_name_new": "ccc", "show_name": "ddd", "ip": "北京", "level_name": "初级"}}"#;
        assert_eq!(of("aiotieba", line), "aaa bbb ccc ddd");
        let line = r#"{"pid": 1, "tid": 2, "user_name": "aaa", "nick_name": "bbb", "show_name": "ccc", "user_id": "u-7", "text": "云"}"#;
        assert_eq!(of("thread-dump", line), "aaa bbb ccc");
        let line = r#"{"id": "t3_1", "author": "kim-lee", "author_fullname": "t2_x", "title": "Do fish drown?", "link_author": "max-m", "user_reports": []}"#;
        assert_eq!(of("reddit", line), "kim-lee max-m");
        assert_eq!(of("leymore-titles", r#"{"title": "云", "lz": "甲甲甲", "href": "/p/1"}"#), "甲甲甲");
        let line = r#"{"title": "云", "user": {"name": "aaa", "level": {"name": "初级"}, "profile": {"name": "x"}}, "mentions": ["bbb", {"screen_name": "ccc"}],
            "comments": [{"author": {"login": "ddd"}, "body": "雨"}, {"userName": "eee", "replies": [{"nickname": "fff"}]}],
            "tags": [{"name": "joke"}], "user_reports": [["spam", 1]], "crosspost_parent_list": [{"author": "ggg"}]}"#;
        assert_eq!(of("table", line), "aaa bbb ccc ddd eee fff ggg");
    }
}
