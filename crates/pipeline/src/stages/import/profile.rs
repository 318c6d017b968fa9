//! Pages of any site that a profile describes: archived, saved one by one, or items of a file.
//!
//! A page expands into the posts on it. JSON has one page per file or per line; XML is read item by
//! item, so a dump can have any length.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use riddlemill_harvest::pages::profile::{Format, FoundPost, Jokes, XmlError};
use riddlemill_harvest::pages::{self, Class, Profile, Site, charset, mhtml};
use riddlemill_record::{PostKind, Reason};
use url::Url;

use super::files::Dump;
use super::page::{Contents, Page, PagePost, of_profile};
use super::thread::Threads;
use super::{Parsed, RawPost, dump, thread as threads, warc};
use crate::config::Take;

/// Pages or items of a batch.
const BATCH: usize = 256;

/// The pages and items of a file, read ahead by a thread of their own. Its content determines whether it is an archive.
pub(super) fn read_batches(dump: &Dump, profile: &Profile, limit: u64) -> Receiver<Vec<Page>> {
    if warc::is_archive(dump) {
        return warc::read_batches(dump, &Site::Profile(profile.clone()));
    }
    let (sender, receiver) = sync_channel(2);
    let (dump, profile) = (dump.clone(), profile.clone());
    thread::spawn(move || match profile.format() {
        Format::Xml => send_items(&dump, &profile, limit, &sender),
        // The receiver is gone when the run was stopped.
        Format::Html | Format::Json => {
            let _ = sender.send(read_saved_pages(&dump, &profile, limit));
        }
    });
    receiver
}

/// The items of an XML file. Answers that are items of their own are looked up before, in two readings: which they are,
/// and what they say.
fn send_items(dump: &Dump, profile: &Profile, limit: u64, sender: &SyncSender<Vec<Page>>) {
    let open = || dump::open_unpacked(&dump.path).map(std::io::BufReader::new);
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
                Ok(item) => {
                    let posts = PagePost::from_parsed(Vec::new(), profile.read_item(&item, &answers));
                    Ok(Contents {
                        class: Class::Ok,
                        url: String::new(),
                        posts,
                        why: None,
                        unknown_encoding: None,
                    })
                }
                Err(error @ XmlError::Oversize(_)) => Err((Reason::Oversize, error.to_string())),
                Err(error) => Err((Reason::Truncated, error.to_string())),
            };
            batch.push(Page { at: number, name: number.to_string(), read });
            batch.len() < BATCH || sender.send(std::mem::take(&mut batch)).is_ok()
        });
    });
    if let Err(error) = read {
        batch.push(unread_page(&error));
    }
    let _ = sender.send(batch);
}

fn unread_page(error: &std::io::Error) -> Page {
    failed_page(Reason::Truncated, dump::describe_error(error).into())
}

fn failed_page(reason: Reason, what: String) -> Page {
    Page { at: 1, name: "1".into(), read: Err((reason, what)) }
}

/// The pages of a file without an archive around them.
pub(super) fn read_saved_pages(dump: &Dump, profile: &Profile, limit: u64) -> Vec<Page> {
    let mut bytes = Vec::new();
    // One byte more shows that a page is too long, without reading all of it.
    if let Err(error) =
        dump::open_unpacked(&dump.path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    {
        return vec![unread_page(&error)];
    }
    if bytes.len() as u64 > limit {
        let what = format!("the page is longer than {} MiB", limit >> 20);
        return vec![failed_page(Reason::Oversize, what)];
    }
    let site = Site::Profile(profile.clone());
    let saved = match mhtml::is_mhtml(&bytes).then(|| mhtml::main_page(&bytes)) {
        Some(Ok(saved)) => saved,
        Some(Err(why)) => return vec![failed_page(Reason::Unreadable, why.to_string())],
        None => mhtml::Saved { body: bytes, content_type: None, url: None },
    };
    let text = charset::decode_page(&saved.body, saved.content_type.as_deref(), &site).text;
    let page = |text: &str, url: &str, at: usize| {
        let parsed = pages::parse_page(&site, url, 200, text, None);
        let other = Url::parse(url).is_ok_and(|url| profile.is_other(&url));
        let read = match parsed.class {
            Class::Unparsed if other => Err((Reason::PageOther, warc::in_words(url, parsed.why))),
            _ => Ok(Contents::new(url.to_owned(), parsed)),
        };
        Page { at: at as u64, name: at.to_string(), read }
    };
    if profile.format() == Format::Html {
        return vec![page(&text, &saved.url.or_else(|| pages::saved_address(&text)).unwrap_or_default(), 1)];
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

/// The outcome of a post.
pub(super) fn judge_post(
    mut entry: FoundPost,
    file_threads: &Threads,
    dump: &Dump,
    profile: &Profile,
) -> Parsed {
    if let Some(mark) = entry.removed {
        return Parsed::Out(Reason::TakenAway, mark);
    }
    let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let links = std::mem::take(&mut entry.links);
    let links = links.into_iter().filter(|text| !text.trim().is_empty()).collect();
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
            links,
            ..RawPost::default()
        }));
    }
    match profile.jokes() {
        Jokes::Numbered if dump.take == Take::Jokes => {
            return threads::judge_post(of_profile(entry), Some(file_threads), dump.take);
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
        mentions: file_threads.named_in(&named),
        author: entry.author,
        time: entry.time.or(entry.time_raw),
        score: entry.score,
        note: None,
        links,
        images: entry.images,
        noted: String::new(),
    }))
}
