//! Riddles and their answers: pages of riddle sites, saved or archived, and puzzles line by line.
//!
//! A page expands into the riddles on it, including those that it only lists next to its own: a riddle that is on
//! several pages has one id and is one record.

use std::io::Read;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use serde::Deserialize;

use super::files::Dump;
use super::native_id::as_meant;
use super::{Parsed, RawPost, dump, loose, warc};
use crate::config::SourceKind;
use riddlemill_files::reading::{Form, sniff};
use riddlemill_harvest::pages::{self, Class, Riddle, Site, charset, mhtml};
use riddlemill_text::record::{PostKind, Reason};

/// A page, or a damaged place of an archive, with its place in the file and what the ledger calls that.
pub(super) struct Paged {
    pub at: u64,
    pub name: String,
    pub parsed: Parsed,
}

/// Whose pages a source holds; `None` where it holds none.
pub(super) fn site(kind: SourceKind) -> Option<Site> {
    match kind {
        SourceKind::RiddlesCom => Some(Site::Riddles),
        SourceKind::Rd => Some(Site::Rd),
        _ => None,
    }
}

/// The pages of a file: its content determines whether it is an archive or one page.
pub(super) fn batches(dump: &Dump, site: &Site, limit: u64) -> Receiver<Vec<Paged>> {
    let (sender, receiver) = sync_channel(2);
    let (dump, site) = (dump.clone(), site.clone());
    thread::spawn(move || {
        if is_archive(&dump) {
            for batch in warc::batches(&dump, &site) {
                let page = |page: warc::Archived| Paged {
                    at: page.at,
                    name: format!("{}{}", page.at, if page.damage { "+" } else { "" }),
                    parsed: match page.read {
                        Ok((class, url, parsed)) => riddles(class, &url, parsed.riddles, parsed.why),
                        Err((reason, evidence)) => Parsed::Out(reason, evidence),
                    },
                };
                // The receiver is gone when the run was stopped.
                if sender.send(batch.into_iter().map(page).collect()).is_err() {
                    return;
                }
            }
            return;
        }
        let _ = sender.send(vec![Paged { at: 1, name: "1".into(), parsed: saved(&dump, &site, limit) }]);
    });
    receiver
}

pub(super) fn is_archive(dump: &Dump) -> bool {
    matches!(sniff(&dump.path), Form::Warc | Form::Wacz)
}

/// A page in its own file.
pub(super) fn saved(dump: &Dump, site: &Site, limit: u64) -> Parsed {
    let mut bytes = Vec::new();
    let read = dump::open(&dump.path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Parsed::Out(Reason::Truncated, dump::describe(&error).into());
    }
    if bytes.len() as u64 > limit {
        return Parsed::Out(Reason::Oversize, format!("the page is longer than {} MiB", limit >> 20));
    }
    let saved = match mhtml::is_mhtml(&bytes).then(|| mhtml::page(&bytes)) {
        Some(Ok(saved)) => saved,
        Some(Err(why)) => return Parsed::Out(Reason::Unreadable, why.to_string()),
        None => mhtml::Saved { body: bytes, content_type: None, url: None },
    };
    let text = charset::decode(&saved.body, saved.content_type.as_deref(), site).text;
    let url = saved.url.or_else(|| pages::address(&text)).unwrap_or_default();
    let parsed = pages::parse(site, &url, 200, &text, None);
    riddles(parsed.class, &url, parsed.riddles, parsed.why)
}

fn riddles(class: Class, url: &str, riddles: Vec<Riddle>, why: Option<String>) -> Parsed {
    let Some(reason) = warc::set_aside(class) else {
        return Parsed::Page(riddles.into_iter().map(riddle).collect());
    };
    // A page that speaks of riddles in its address and has none is a layout that this version does not know.
    let known = url.is_empty() || url.contains("riddle") || url.contains("teaser");
    let reason = if class == Class::Unparsed && !known { Reason::PageOther } else { reason };
    Parsed::Out(reason, warc::in_words(url, why))
}

pub(super) fn riddle(riddle: Riddle) -> Parsed {
    let text = |text: &String| !text.trim().is_empty();
    Parsed::Post(Box::new(RawPost {
        id: riddle.id.map(|id| format!("riddle:{id}")),
        kind: PostKind::Riddle,
        title: Some(riddle.question),
        content: riddle.answer.filter(text),
        links: riddle.anchors.into_iter().filter(text).collect(),
        ..RawPost::default()
    }))
}

#[derive(Deserialize)]
struct Line {
    #[serde(default, deserialize_with = "loose::id")]
    id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    question: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    answer: Option<String>,
}

/// A puzzle as JSON. An id with a namespace (`riddle:42`) is an identity that other sources share; a bare one is the
/// file's own.
pub(super) fn puzzle(line: &str) -> Parsed {
    let line: Line = match super::object(line) {
        Ok(line) => line,
        Err(bad) => return bad,
    };
    let Some(question) = line.question.filter(|text| !text.trim().is_empty()) else {
        return Parsed::Bad("`question` must be a string".into());
    };
    let (id, damaged_id) = match line.id.filter(|id| !id.trim().is_empty()) {
        Some(id) if as_meant(&id).is_err() => (None, Some(id)),
        id => (id, None),
    };
    Parsed::Post(Box::new(RawPost {
        damaged_id,
        id: id.map(|id| if id.contains(':') { id } else { format!("puzzle:{id}") }),
        kind: PostKind::Riddle,
        title: Some(question),
        content: line.answer.filter(|text| !text.trim().is_empty()),
        ..RawPost::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(parsed: Parsed) -> (Option<String>, Option<String>, Option<String>) {
        match parsed {
            Parsed::Post(draft) => (draft.id, draft.title, draft.content),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn puzzles_line_by_line() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            draft(puzzle(r#"{"id": "riddle:7", "question": "Why?", "answer": "So."}"#)),
            (some("riddle:7"), some("Why?"), some("So."))
        );
        assert_eq!(
            draft(puzzle(r#"{"id": 7, "question": "Why?", "answer": null}"#)),
            (some("puzzle:7"), some("Why?"), None)
        );
        assert_eq!(draft(puzzle(r#"{"question": "Why?", "answer": " "}"#)), (None, some("Why?"), None));
        assert!(matches!(puzzle(r#"{"question": " "}"#), Parsed::Bad(_)));
        assert!(matches!(puzzle("Why?"), Parsed::Bad(_)));
    }

    #[test]
    fn a_page_without_riddles_is_recognised_by_its_address() {
        let reason = |url: &str| match riddles(Class::Unparsed, url, Vec::new(), None) {
            Parsed::Out(reason, _) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason("https://www.riddles.com/riddle/7"), Reason::PageUnparsed);
        assert_eq!(reason("https://www.rd.com/about"), Reason::PageOther);
    }
}
