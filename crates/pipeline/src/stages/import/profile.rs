//! Pages of any site that a profile describes: archived, saved one by one, or items of a file.
//!
//! A page expands into the posts on it. JSON has one page per file or per line; XML is read item by
//! item, so a dump can have any length.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use riddlemill_harvest::pages::profile::{Entry, Format, Jokes, XmlError};
use riddlemill_harvest::pages::{self, Class, Profile, Site, charset, mhtml};
use riddlemill_text::record::{PostKind, Reason};

use super::files::Dump;
use super::thread::{Census, Row, Threads};
use super::{Parsed, RawPost, dump, riddles, thread as threads, warc};
use crate::config::{Take, sections};

/// Pages or items of a batch.
const BATCH: usize = 256;

/// A page or an item, or a damaged place of an archive, with its place in the file.
pub(super) struct Unit {
    /// The record of an archive, the line of a file, the number of an item.
    pub at: u64,
    /// What the ledger calls that.
    pub name: String,
    /// What was read.
    pub read: Result<(Class, String, Vec<Entry>), (Reason, String)>,
    /// Why a page has no posts, in words.
    pub why: Option<String>,
}

/// The pages and items of a file, read ahead by a thread of their own. Its content determines whether it is an archive.
pub(super) fn batches(dump: &Dump, profile: &Profile, limit: u64) -> Receiver<Vec<Unit>> {
    let (sender, receiver) = sync_channel(2);
    let (dump, profile) = (dump.clone(), profile.clone());
    thread::spawn(move || {
        if riddles::is_archive(&dump) {
            return archive(&dump, profile, &sender);
        }
        match profile.format() {
            Format::Xml => items(&dump, &profile, limit, &sender),
            // The receiver is gone when the run was stopped.
            Format::Html | Format::Json => {
                let _ = sender.send(saved(&dump, &profile, limit));
            }
        }
    });
    receiver
}

fn archive(dump: &Dump, profile: Profile, sender: &SyncSender<Vec<Unit>>) {
    for batch in warc::batches(dump, &Site::Profile(profile)) {
        let unit = |page: warc::Archived| Unit {
            at: page.at,
            name: format!("{}{}", page.at, if page.damage { "+" } else { "" }),
            why: page.read.as_ref().ok().and_then(|(_, _, parsed)| parsed.why.clone()),
            read: page.read.map(|(class, url, parsed)| (class, url, parsed.entries)),
        };
        if sender.send(batch.into_iter().map(unit).collect()).is_err() {
            return;
        }
    }
}

/// The items of an XML file. Answers that are items of their own are looked up before, in two readings: which they are,
/// and what they say.
fn items(dump: &Dump, profile: &Profile, limit: u64, sender: &SyncSender<Vec<Unit>>) {
    let open = || dump::open(&dump.path).map(std::io::BufReader::new);
    let mut answers = HashMap::new();
    if profile.joins_answers() {
        let mut wanted = HashSet::new();
        if let Ok(file) = open() {
            profile.each_item(file, limit, false, |_, item| {
                wanted.extend(item.iter().flat_map(|item| profile.answered_by(item)));
                true
            });
        }
        if let Ok(file) = open() {
            profile.each_item(file, limit, true, |_, item| {
                let answer = item.ok().and_then(|item| profile.as_answer(&item));
                answers.extend(answer.filter(|(id, _)| wanted.contains(id)));
                true
            });
        }
    }
    let mut batch = Vec::new();
    let read = open().map(|file| {
        profile.each_item(file, limit, false, |number, item| {
            let read = match item {
                Ok(item) => Ok((Class::Ok, String::new(), profile.read_item(&item, &answers))),
                Err(error @ XmlError::Oversize(_)) => Err((Reason::Oversize, error.to_string())),
                Err(error) => Err((Reason::Truncated, error.to_string())),
            };
            batch.push(Unit { at: number, name: number.to_string(), read, why: None });
            batch.len() < BATCH || sender.send(std::mem::take(&mut batch)).is_ok()
        });
    });
    if let Err(error) = read {
        batch.push(unread(&error));
    }
    let _ = sender.send(batch);
}

fn unread(error: &std::io::Error) -> Unit {
    failed(Reason::Truncated, dump::describe(error).into())
}

fn failed(reason: Reason, what: String) -> Unit {
    Unit { at: 1, name: "1".into(), read: Err((reason, what)), why: None }
}

/// The pages of a file without an archive around them.
pub(super) fn saved(dump: &Dump, profile: &Profile, limit: u64) -> Vec<Unit> {
    let mut bytes = Vec::new();
    // One byte more shows that a page is too long, without reading all of it.
    if let Err(error) = dump::open(&dump.path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)) {
        return vec![unread(&error)];
    }
    if bytes.len() as u64 > limit {
        let what = format!("the page is longer than {} MiB", limit >> 20);
        return vec![failed(Reason::Oversize, what)];
    }
    let site = Site::Profile(profile.clone());
    let saved = match mhtml::is_mhtml(&bytes).then(|| mhtml::page(&bytes)) {
        Some(Ok(saved)) => saved,
        Some(Err(why)) => return vec![failed(Reason::Unreadable, why.to_string())],
        None => mhtml::Saved { body: bytes, content_type: None, url: None },
    };
    let text = charset::decode(&saved.body, saved.content_type.as_deref(), &site).text;
    let page = |text: &str, url: &str, at: usize| {
        let parsed = pages::parse(&site, url, 200, text, None);
        let read = Ok((parsed.class, url.to_owned(), parsed.entries));
        Unit { at: at as u64, name: at.to_string(), read, why: parsed.why }
    };
    if profile.format() == Format::Html {
        return vec![page(&text, &saved.url.or_else(|| pages::address(&text)).unwrap_or_default(), 1)];
    }
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    // A page a line: each line is a whole value, which no line of a value over several lines is.
    let by_line = lines.len() > 1 && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err();
    match by_line {
        true => lines.into_iter().map(|(at, line)| page(line, "", at + 1)).collect(),
        false => vec![page(&text, "", 1)],
    }
}

/// The threads of a file and their authors.
pub(super) fn raw_census(dump: &Dump, profile: &Profile, settings: &sections::Import) -> Census {
    let mut census = Census::default();
    for batch in batches(dump, profile, settings.max_line_mib << 20) {
        for (_, _, entries) in batch.into_iter().filter_map(|unit| unit.read.ok()) {
            entries.into_iter().for_each(|entry| census.take(row(entry)));
        }
    }
    census
}

/// The outcome of a page or an item.
pub(super) fn unit(unit: Unit, known: &Threads, dump: &Dump, profile: &Profile) -> Parsed {
    let (class, url, entries) = match unit.read {
        Ok(read) => read,
        Err((reason, evidence)) => return Parsed::Out(reason, evidence),
    };
    match warc::set_aside(class) {
        None => Parsed::Page(entries.into_iter().map(|entry| post(entry, known, dump, profile)).collect()),
        Some(reason) => Parsed::Out(reason, warc::in_words(&url, unit.why)),
    }
}

/// The outcome of a post.
pub(super) fn post(entry: Entry, known: &Threads, dump: &Dump, profile: &Profile) -> Parsed {
    if let Some(mark) = entry.removed {
        return Parsed::Out(Reason::TakenAway, mark);
    }
    let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    if profile.holds_riddles() {
        let Some(question) = some(entry.body).or(some(entry.title)) else {
            return Parsed::Bad("a riddle without a question: neither `body` nor `title` is found".into());
        };
        let answer = some(entry.answer);
        return Parsed::Post(Box::new(RawPost {
            id: entry.id,
            kind: PostKind::Riddle,
            title: Some(question),
            content: answer,
            author: entry.author,
            time: entry.time.or(entry.time_raw),
            score: entry.score,
            images: entry.images,
            ..RawPost::default()
        }));
    }
    match profile.jokes() {
        Jokes::Numbered if dump.take == Take::Jokes => {
            return threads::post(row(entry), Some(known), dump.take);
        }
        Jokes::First if dump.take == Take::Jokes && !entry.first => {
            return Parsed::Out(Reason::Chatter, "a reply in a thread".into());
        }
        _ => {}
    }
    if entry.title.is_none() && entry.body.is_none() {
        return Parsed::Bad("neither `title` nor `body` is found".into());
    }
    let named =
        [entry.title.as_deref(), entry.body.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n");
    Parsed::Post(Box::new(RawPost {
        damaged_id: None,
        id: entry.id,
        kind: if entry.title.is_some() { PostKind::Thread } else { PostKind::Plain },
        title: entry.title,
        content: entry.body,
        mentions: known.named_in(&named),
        author: entry.author,
        time: entry.time.or(entry.time_raw),
        score: entry.score,
        note: None,
        links: Vec::new(),
        images: entry.images,
        noted: String::new(),
    }))
}

pub(super) fn row(entry: Entry) -> Row {
    Row {
        pid: entry.native,
        tid: entry.thread.or(Some(String::new())),
        id: entry.id,
        user_name: entry.author,
        user_id: None,
        title: entry.title,
        text: entry.body,
        time: entry.time.or(entry.time_raw),
        image_links: entry.images,
        is_comment: false,
        floor: if entry.first { Some("1".into()) } else { entry.floor.map(|floor| floor.to_string()) },
        score: entry.score,
    }
}
