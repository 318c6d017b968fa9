//! Archived pages of the forum: a page expands into the posts on it.
//!
//! Pages without posts are set aside with their class: a captcha, a shell, a deletion. The raw record of
//! a post is the record of its page in the archive.

use std::io::Read as _;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use url::Url;

use super::files::Dump;
use super::page::{Contents, Page, PageResult, of_forum};
use super::thread::Threads;
use super::{Parsed, RawPost, thread as threads};
use riddlemill_files::fence;
use riddlemill_files::reading::{Form, sniff_form};
use riddlemill_harvest::pages::tieba::Address;
use riddlemill_harvest::pages::{self, Class, Site};
use riddlemill_harvest::warc::{ArchiveTrouble, ArchivedPage as Archived, Location, RecordLimits, Totals};
use riddlemill_record::{PostKind, Reason};

/// Pages of a batch.
const BATCH: usize = 256;

/// Whether a file is an archive, and not one page.
pub(super) fn is_archive(dump: &Dump) -> bool {
    matches!(sniff_form(&dump.path), Form::Warc | Form::Wacz)
}

/// The pages of an archive as those of a site, read ahead by a thread of their own.
pub(super) fn read_batches(dump: &Dump, site: &Site) -> Receiver<Vec<Page>> {
    let (sender, receiver) = sync_channel(2);
    let (dump, site) = (dump.clone(), site.clone());
    thread::spawn(move || {
        let mut batch = Vec::new();
        visit_pages(&dump, &site, |page| {
            batch.push(page);
            if batch.len() == BATCH {
                // The receiver is gone if the run was stopped; then the rest is not read.
                let _ = sender.send(std::mem::take(&mut batch));
            }
        });
        let _ = sender.send(batch);
    });
    receiver
}

/// Calls back with each page of an archive. Returns the totals of the archive.
pub(super) fn visit_pages(dump: &Dump, site: &Site, mut take: impl FnMut(Page)) -> Totals {
    let byte = dump.piece.byte;
    // In the first piece no place is shifted.
    let packed = byte > 0 && is_packed(dump);
    pages::for_each_page(vec![dump.path.clone()], site, RecordLimits::default(), |item| {
        take(match item {
            Ok((page, parsed)) => {
                let at = offset_of_location(page.at) + byte;
                Page { at, name: at.to_string(), read: contents_of_page(page, parsed, site) }
            }
            Err(mut error) => {
                shift_damage(&mut error.trouble, byte, packed);
                damaged_page(&error.trouble)
            }
        });
    })
}

/// Whether the records of an archive are packed one by one.
fn is_packed(dump: &Dump) -> bool {
    let mut head = [0; 2];
    fence::open_plain(&dump.path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == [0x1f, 0x8b]
}

/// The places of damage in a piece as those of its file.
fn shift_damage(trouble: &mut ArchiveTrouble, byte: u64, packed: bool) {
    let place = |at: &mut Location| match packed || at.member > 0 {
        true => at.member += byte,
        false => at.skip += byte,
    };
    match trouble {
        ArchiveTrouble::Open(_) => {}
        ArchiveTrouble::Read { error, until } => {
            place(&mut error.at);
            *until = until.map(|until| until + byte);
        }
        ArchiveTrouble::Bomb { at, .. } | ArchiveTrouble::Body { at, .. } => place(at),
    }
}

/// For the forum, the address shows what a page should be, and also if a profile lists addresses.
fn contents_of_page(page: Archived, parsed: pages::Parsed, site: &Site) -> PageResult {
    let url = Url::parse(&page.url).ok();
    let known = match site {
        Site::Tieba => url.as_ref().and_then(Address::parse_address).is_some(),
        Site::Profile(profile) => url.as_ref().is_none_or(|url| profile.describes(url)),
        _ => true,
    };
    // What tools fetch along with pages: pictures, styles, scripts.
    let other = no_page(page.content_type.as_deref());
    match (parsed.class, page.truncated) {
        (_, Some(why)) => Err((Reason::Truncated, format!("{}: cut by {}", page.url, why.token()))),
        // A site without one has taken nothing down.
        _ if url.is_some_and(|url| url.path() == "/robots.txt") => Err((Reason::PageOther, page.url)),
        (Class::Unparsed, _) if !known => Err((Reason::PageOther, page.url)),
        (Class::Unparsed | Class::Shell, _) if other.is_some() => {
            Err((Reason::PageOther, format!("{}: {}, and no page", page.url, other.unwrap_or_default())))
        }
        _ => {
            let unknown_encoding = page.unknown_encoding;
            let coded = unknown_encoding
                .as_ref()
                .map(|name| format!("its content-encoding {name:?} is not known, so it was read as it is"));
            let why = [parsed.why.clone(), coded].into_iter().flatten().collect::<Vec<_>>().join("; ");
            let why = (!why.is_empty()).then_some(why);
            Ok(Contents { why, unknown_encoding, ..Contents::new(page.url, parsed) })
        }
    }
}

/// The type of something that is no page.
fn no_page(content_type: Option<&str>) -> Option<String> {
    let kind = content_type?.split(';').next()?.trim().to_ascii_lowercase();
    let (class, name) = kind.split_once('/')?;
    let other = match class {
        "image" | "audio" | "video" | "font" => true,
        "text" => matches!(name, "css" | "javascript" | "ecmascript"),
        "application" => [
            "javascript",
            "x-javascript",
            "pdf",
            "zip",
            "octet-stream",
            "wasm",
            "font-woff",
            "font-woff2",
            "manifest+json",
        ]
        .contains(&name),
        _ => false,
    };
    other.then_some(kind)
}

/// The address of a page that has no post, and why it has none.
pub(super) fn in_words(url: &str, why: Option<String>) -> String {
    match (url, why) {
        (url, None) => url.to_owned(),
        ("", Some(why)) => why,
        (url, Some(why)) => format!("{url}: {why}"),
    }
}

/// A plus behind the place says that the damage is after a record and is not the record.
fn damaged_page(trouble: &ArchiveTrouble) -> Page {
    let (at, reason, plus) = match trouble {
        ArchiveTrouble::Open(_) => (0, Reason::Unreadable, "+"),
        ArchiveTrouble::Read { error, .. } => (offset_of_location(error.at), Reason::Truncated, "+"),
        ArchiveTrouble::Bomb { at, .. } => (offset_of_location(*at), Reason::Truncated, "+"),
        ArchiveTrouble::Body { at, .. } => (offset_of_location(*at), Reason::Unreadable, ""),
    };
    Page { at, name: format!("{at}{plus}"), read: Err((reason, trouble.to_string())) }
}

fn offset_of_location(at: Location) -> u64 {
    at.member + at.skip
}

/// Why a page of this class gives no post; `None` where it gives what it has.
pub(super) fn set_aside(class: Class) -> Option<Reason> {
    Some(match class {
        Class::Ok => return None,
        Class::Blocked => Reason::PageBlocked,
        Class::Forbidden => Reason::PageForbidden,
        Class::Shell => Reason::PageShell,
        Class::Deleted => Reason::PageDeleted,
        Class::Hidden => Reason::PageHidden,
        Class::Merged => Reason::PageMerged,
        Class::Empty => Reason::PageEmpty,
        Class::Unparsed => Reason::PageUnparsed,
    })
}

/// A row of a list is its thread; a post of a thread is judged as in a thread dump.
pub(super) fn judge_post(post: pages::Post, file_threads: &Threads, dump: &Dump) -> Parsed {
    if post.kind != pages::PostKind::Thread {
        return threads::judge_post(of_forum(post), Some(file_threads), dump.take);
    }
    let Some(tid) = post.tid else {
        return Parsed::Out(Reason::NoNumber, post.title.unwrap_or_default());
    };
    let mentions = post.author.iter().filter(|name| super::mentioned(name, [&post.title, &post.text]));
    Parsed::Post(Box::new(RawPost {
        damaged_id: None,
        id: Some(format!("tieba:{tid}")),
        kind: PostKind::Thread,
        mentions: mentions.cloned().collect(),
        title: post.title,
        content: post.text,
        author: post.author_id.map(|id| id.to_string()).or(post.author),
        time: post.time.or(post.time_raw),
        score: None,
        note: None,
        links: Vec::new(),
        images: post.images.len() as u64,
        noted: String::new(),
    }))
}
