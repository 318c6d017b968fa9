//! The two formats of github.com/Leymore/ruozhiba.

use std::collections::HashMap;

use serde::Deserialize;

use super::files::Dump;
use super::split::Item;
use super::{Parsed, RawPost, loose, walk};
use crate::config::sections;
use riddlemill_harvest::pages::tieba::thread_id;
use riddlemill_record::{Post, PostKind, Reason, text_id};
use riddlemill_text::text::clean::annual::{note, numbered};

#[derive(Deserialize)]
struct Title {
    #[serde(default, deserialize_with = "loose::text")]
    title: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    abs: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    href: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    lz: Option<String>,
}

/// A thread of a list page: `title, abs, href "/p/<tid>?fr=good", lz, n_reply`. Titles are cut at
/// 20 to 31 characters; `abs` is the beginning of the first floor, or null.
pub(super) fn parse_title(line: &str) -> Parsed {
    let row: Title = match super::object(line) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    if row.title.is_none() && row.abs.is_none() {
        return Parsed::Bad("neither `title` nor `abs` is a string".into());
    }
    let mentions =
        row.lz.iter().filter(|name| super::mentioned(name, [&row.title, &row.abs])).cloned().collect();
    let tid = row.href.as_deref().and_then(thread_id);
    // A link to a thread whose number was lost.
    let damaged_id = row.href.filter(|href| tid.is_none() && href.contains("/p/"));
    Parsed::Post(Box::new(RawPost {
        damaged_id,
        id: tid.map(|tid| ["tieba:", &tid.to_string()].concat()),
        kind: PostKind::Thread,
        title: row.title,
        content: row.abs,
        author: row.lz,
        mentions,
        ..RawPost::default()
    }))
}

#[derive(Deserialize)]
struct Annual {
    #[serde(default, deserialize_with = "loose::text")]
    author: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    content: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    ctime: Option<String>,
}

/// A post of an annual thread: `author, content, l_num, ctime`, the content beginning with its rank.
pub(super) fn parse_annual_post(line: &str) -> Parsed {
    let row: Annual = match super::object(line) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    let Some(content) = row.content else {
        return Parsed::Bad("`content` must be a string".into());
    };
    let mentions =
        // A name of one character would be found in almost every text.
        row.author.iter().filter(|name| content.contains(name.as_str()) && name.chars().count() > 1);
    Parsed::Post(Box::new(RawPost {
        id: None,
        kind: PostKind::Numbered,
        mentions: mentions.cloned().collect(),
        content: Some(content),
        author: row.author,
        time: row.ctime,
        ..RawPost::default()
    }))
}

/// The owner's notes under the jokes of a file, by where they are in it: a note is on the last ranked joke above it of
/// the same author.
#[derive(Debug, Default)]
pub(super) struct JokeNotes {
    /// What is noted under a joke.
    under: HashMap<u64, String>,
    /// The id of the joke that a post is a note on; `None` if no joke is above it.
    of: HashMap<u64, Option<String>>,
    /// The last ranked joke, its author and id.
    above: Option<(u64, Option<String>, String)>,
}

impl JokeNotes {
    /// Takes the posts of a file in their order.
    pub(super) fn note_post(&mut self, position: u64, parsed: &Parsed) {
        let Parsed::Post(post) = parsed else { return };
        let text = post.content.as_deref().unwrap_or_default();
        if let Some(note) = note(text) {
            let above = self.above.as_ref().filter(|(_, author, _)| *author == post.author);
            if let Some((joke, ..)) = above {
                let noted = self.under.entry(*joke).or_default();
                if !noted.is_empty() {
                    noted.push('\n');
                }
                noted.push_str(note);
            }
            self.of.insert(position, above.map(|(.., id)| id.clone()));
        } else if numbered(text).is_some_and(|joke| joke.number.is_some()) {
            self.above = Some((
                position,
                post.author.clone(),
                text_id(&Post::join_title_and_content(None, Some(text))),
            ));
        }
    }

    /// A post with what is noted under it; a note is set aside.
    pub(super) fn settle_post(&self, position: u64, parsed: Parsed) -> Parsed {
        let Parsed::Post(mut post) = parsed else { return parsed };
        match self.of.get(&position) {
            Some(Some(joke)) => return Parsed::Out(Reason::Note, joke.clone()),
            Some(None) => return Parsed::Out(Reason::Chatter, "a note with no joke above it".into()),
            None => {}
        }
        post.note = self.under.get(&position).cloned();
        let named = post.note.as_deref().unwrap_or_default();
        let own = post.author.iter().filter(|name| named.contains(name.as_str()) && name.chars().count() > 1);
        let own: Vec<String> = own.filter(|name| !post.mentions.contains(name)).cloned().collect();
        post.mentions.extend(own);
        Parsed::Post(post)
    }
}

/// What a file of jokes of annual threads notes under them.
pub(super) fn read_notes(dump: &Dump, settings: &sections::Import) -> JokeNotes {
    let mut notes = JokeNotes::default();
    let row = |_: &JokeNotes, item: Item<'_>| {
        Some((item.position, super::parse(dump, item.bytes.ok()?, None).ok()?))
    };
    let take = |notes: &mut JokeNotes, (position, parsed): (u64, Parsed)| notes.note_post(position, &parsed);
    walk::fold_dump(dump, settings.max_line_mib << 20, &mut notes, row, |_, _| None, take);
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(parsed: Parsed) -> RawPost {
        match parsed {
            Parsed::Post(draft) => *draft,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_thread_is_known_by_its_number() {
        let line =
            r#"{"title": "<云>会恐高吗", "abs": null, "href": "/p/123456?fr=good", "lz": 7, "n_reply": "3"}"#;
        let draft = post(parse_title(line));
        assert_eq!(draft.id.as_deref(), Some("tieba:123456"));
        assert_eq!((draft.title.as_deref(), draft.content), (Some("<云>会恐高吗"), None));
        assert_eq!(draft.author.as_deref(), Some("7"));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(matches!(parse_title(r#"{"abs": 3.5, "href": null}"#), Parsed::Post(_)));
        assert!(matches!(parse_title(r#"{"title": null}"#), Parsed::Bad(_)));
        assert!(matches!(parse_annual_post(r#"{"author": "x"}"#), Parsed::Bad(_)));
        assert!(matches!(parse_title("[1,2]"), Parsed::Bad(_)));
    }
}
