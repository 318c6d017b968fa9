//! Import: every line of every dump becomes a post or is set aside with its reason.
//!
//! Files are read in the order of source name, file name and position, whatever the order of
//! pipeline.toml, so that the same dumps give the same rows. Text is kept verbatim; names and ids
//! of users are hashed here and go no further.

mod aiotieba;
mod cqia;
mod dump;
mod files;
mod leymore;
mod loose;
mod reddit;
mod riddles;
mod rows;
mod same_id;
mod split;
mod table;
mod thread;
mod warc;

#[cfg(test)]
mod tests;

use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;

use rayon::prelude::*;

use super::{Pulse, StageError, Stop};
use crate::config::{SourceKind, sections};
use crate::pages::Site;
use crate::record::{Outcome, Post, PostKind, Reason, pseudonym, text_id};
use crate::store::{Booked, StageWriter};
use same_id::Seen;

pub use dump::open as open_dump;
pub use files::{Dump, FileRow, files};
pub use same_id::{Again, settle_again};
pub use split::{Item, Unread};

/// A post as its source's parser sees it, before it has an identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The native id, where there is one.
    pub id: Option<String>,
    /// How title and content make up the text.
    pub kind: PostKind,
    /// The title, verbatim.
    pub title: Option<String>,
    /// The content, verbatim.
    pub content: Option<String>,
    /// The author's name or id, in clear: it is hashed before it goes on.
    pub author: Option<String>,
    /// Names in clear that stand in the text.
    pub mentions: Vec<String>,
    /// Texts of the links inside it.
    pub links: Vec<String>,
    /// When it was written, as the source says.
    pub time: Option<String>,
    /// The score its readers gave it, on the source's own scale.
    pub score: Option<f64>,
    /// How many images it shows.
    pub images: u64,
}

/// What a parser makes of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// A post.
    Post(Box<Draft>),
    /// Not a candidate, by a rule of the source.
    Out(Reason, String),
    /// Not readable as this source's format.
    Bad(String),
    /// A page with these posts; none of them is a page in turn.
    Page(Vec<Parsed>),
}

/// Imports dumps into a stage.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped. What is wrong with a dump
/// is in the ledger, a failed record an item.
pub fn import(
    dumps: &[Dump],
    settings: &sections::Import,
    salt: &[u8; 32],
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let mut seen = Seen::default();
    let mut table = writer.table::<FileRow>("files")?;
    for dump in dumps {
        let mut items = 0;
        // Which of two records of one name is the first is decided in order, while the next batch is parsed.
        std::thread::scope(|scope| {
            let (sender, batches) = sync_channel::<Vec<Reads>>(1);
            let parsing = scope.spawn(move || {
                read(dump, settings, |batch| {
                    let parsed = batch.into_par_iter().map(|item| outcomes(dump, item, salt)).collect();
                    // Nobody listens where the run was stopped or the disk is full; the listener says so.
                    sender.send(parsed).map_err(|_| StageError::Stopped)
                })
            });
            for batch in batches {
                stop.check()?;
                let count = batch.len() as u64;
                for read in batch.into_iter().flat_map(Reads::into_each) {
                    items += seen.settle(read, |locator, outcome| writer.put(locator, outcome));
                }
                writer.flush()?;
                pulse.advance(count);
            }
            parsing.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        table.put(dump.row(items));
    }
    writer.keep(table)?;
    Ok(())
}

/// An item of a dump: its position, how the ledger writes that, and what it says.
struct Place {
    position: u64,
    name: String,
    parsed: Parsed,
}

/// Reads a dump in batches of items, parsed on all cores.
fn read(
    dump: &Dump,
    settings: &sections::Import,
    mut take: impl FnMut(Vec<Place>) -> Result<(), StageError>,
) -> Result<(), StageError> {
    if dump.kind == SourceKind::Warc {
        let known = warc::census(dump, settings);
        for batch in warc::batches(dump, &Site::Tieba) {
            let place = |page: warc::Archived| {
                let name = format!("{}{}", page.at, if page.damage { "+" } else { "" });
                Place { position: page.at, name, parsed: warc::page(page, &known, dump) }
            };
            take(batch.into_iter().map(place).collect())?;
        }
        return Ok(());
    }
    if let Some(site) = riddles::site(dump.kind) {
        for batch in riddles::batches(dump, &site, settings.max_line_mib << 20) {
            let place =
                |page: riddles::Paged| Place { position: page.at, name: page.name, parsed: page.parsed };
            take(batch.into_iter().map(place).collect())?;
        }
        return Ok(());
    }
    let known =
        matches!(dump.kind, SourceKind::ThreadDump | SourceKind::Aiotieba).then(|| census(dump, settings));
    for batch in rows::batches(dump, settings.max_line_mib << 20) {
        let place = |item: Item| {
            let parsed = item
                .bytes
                .as_ref()
                .map_err(|unread| *unread)
                .and_then(|bytes| parse(dump, bytes, known.as_ref()));
            let parsed = parsed.unwrap_or_else(|unread| Parsed::Out(unread.reason(), unread.to_string()));
            Place { position: item.position, name: item.position.to_string(), parsed }
        };
        take(batch.into_par_iter().map(place).collect())?;
    }
    Ok(())
}

/// What a file of posts says of its threads. Lines that cannot be read are reported on the second reading.
fn census(dump: &Dump, settings: &sections::Import) -> thread::Threads {
    let mut census = thread::Census::default();
    for batch in dump::batches(dump, settings.max_line_mib << 20) {
        let rows: Vec<_> = batch
            .into_par_iter()
            .filter_map(|item| row(dump, std::str::from_utf8(&item.bytes.ok()?).ok()?)?.ok())
            .collect();
        rows.into_iter().for_each(|row| census.take(row));
    }
    census.finish(settings)
}

/// A line of the formats that hold posts of threads; `None` for the others.
fn row(dump: &Dump, text: &str) -> Option<Result<thread::Row, Parsed>> {
    match dump.kind {
        SourceKind::ThreadDump => Some(thread::row(text)),
        SourceKind::Aiotieba => Some(aiotieba::row(text)),
        _ => None,
    }
}

/// Reads one item as its source's format. `threads` is what a file of whole threads knows of them.
pub(crate) fn parse(dump: &Dump, bytes: &[u8], threads: Option<&thread::Threads>) -> Result<Parsed, Unread> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unread::of_bytes(bytes))?;
    if let Some(row) = row(dump, text) {
        return Ok(row.map_or_else(|parsed| parsed, |row| thread::post(row, threads, dump.take)));
    }
    Ok(match dump.kind {
        SourceKind::LeymoreTitles => leymore::title(text),
        SourceKind::LeymoreAnnual => leymore::annual(text),
        SourceKind::Reddit => reddit::post(text),
        SourceKind::Cqia => cqia::post(text),
        SourceKind::Table => table::post(text, &dump.fields),
        SourceKind::Puzzles => riddles::puzzle(text),
        SourceKind::ThreadDump
        | SourceKind::Aiotieba
        | SourceKind::Warc
        | SourceKind::RiddlesCom
        | SourceKind::Rd => Parsed::Bad("an item of another format".into()),
    })
}

/// How many posts a dump holds, and how many of its items are set aside: an import without a store, for
/// fuzzing.
pub fn survey(dump: &Dump, settings: &sections::Import) -> (u64, u64) {
    let (mut posts, mut others) = (0, 0);
    let surveyed = read(dump, settings, |batch| {
        for read in batch.into_iter().flat_map(|place| outcomes(dump, place, &[0; 32]).into_each()) {
            match read.outcome {
                Outcome::Kept(_) => posts += 1,
                Outcome::Expanded(rows) => posts += rows.len() as u64,
                _ => others += 1,
            }
        }
        Ok(())
    });
    // Nothing in the closure fails.
    let _ = surveyed;
    (posts, others)
}

/// Imports one dump by itself, in order. Of records with one id the first is kept; `unsettled` leaves that to
/// [`settle_again`], for whoever imports several dumps apart.
///
/// # Errors
/// What `take` fails with.
pub fn books<E: Send>(
    dump: &Dump,
    settings: &sections::Import,
    salt: &[u8; 32],
    unsettled: bool,
    mut take: impl FnMut(Vec<Booked<Post>>) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = Seen::default();
    let mut failed = Ok(());
    let read = read(dump, settings, |batch| {
        let reads: Vec<Reads> = batch.into_par_iter().map(|place| outcomes(dump, place, salt)).collect();
        let mut booked = Vec::with_capacity(reads.len());
        let mut put = |locator, outcome| booked.push(Booked::of(locator, outcome));
        for read in reads.into_iter().flat_map(Reads::into_each) {
            match unsettled {
                true => put(read.locator, read.outcome),
                false => drop(seen.settle(read, &mut put)),
            }
        }
        failed = take(booked);
        failed.as_ref().map_err(|_| StageError::Stopped).copied()
    });
    // The only error of reading is the one that was just kept.
    let _ = read;
    failed
}

/// A ledger entry in the making: the place in the dump, the outcome, a digest of each post's text.
struct Read {
    locator: String,
    outcome: Outcome<Post>,
    digests: Vec<u128>,
}

/// The entries of an item: one, or that of a page and one for each post on it that is set aside. Boxed, since a
/// post is large and changes hands often.
struct Reads {
    first: Box<Read>,
    more: Vec<Read>,
}

impl Reads {
    fn into_each(self) -> impl Iterator<Item = Read> {
        std::iter::once(*self.first).chain(self.more)
    }
}

fn outcomes(dump: &Dump, place: Place, salt: &[u8; 32]) -> Reads {
    let locator = dump.locator(&place.name);
    let Parsed::Page(posts) = place.parsed else {
        let (outcome, digests) = match place.parsed {
            Parsed::Post(draft) => {
                let (post, digest) = post(dump, place.position, *draft, salt);
                (Outcome::Kept(post), vec![digest])
            }
            other => (set_aside(other), Vec::new()),
        };
        return Reads { first: Box::new(Read { locator, outcome, digests }), more: Vec::new() };
    };
    let (mut rows, mut digests, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for (i, parsed) in posts.into_iter().enumerate() {
        if let Parsed::Post(draft) = parsed {
            let (post, digest) = post(dump, place.position, *draft, salt);
            rows.push((post, same_id::PAGE));
            digests.push(digest);
        } else {
            let locator = format!("{locator}#{}", i + 1);
            more.push(Read { locator, outcome: set_aside(parsed), digests: Vec::new() });
        }
    }
    Reads { first: Box::new(Read { locator, outcome: Outcome::Expanded(rows), digests }), more }
}

/// What could not be read is a failure; what a rule of the source leaves out is not.
fn set_aside(parsed: Parsed) -> Outcome<Post> {
    use Reason::{Encoding, Oversize, PageUnparsed, Truncated, Unreadable};
    match parsed {
        Parsed::Out(reason @ (Encoding | Oversize | PageUnparsed | Truncated | Unreadable), evidence) => {
            Outcome::Failed { reason, evidence }
        }
        Parsed::Out(reason, evidence) => Outcome::Dropped { reason, evidence },
        Parsed::Bad(evidence) => Outcome::Failed { reason: Unreadable, evidence },
        Parsed::Post(_) | Parsed::Page(_) => {
            Outcome::Failed { reason: Unreadable, evidence: "a page inside a page".into() }
        }
    }
}

fn post(dump: &Dump, position: u64, draft: Draft, salt: &[u8; 32]) -> (Post, u128) {
    let text = match (&draft.title, &draft.content) {
        (Some(title), Some(content)) => format!("{title}\n{content}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    let digest = short_digest(&text);
    let post = Post {
        id: draft.id.unwrap_or_else(|| text_id(&text)),
        kind: draft.kind,
        text,
        title: draft.title,
        content: draft.content,
        author: draft.author.map(|name| pseudonym(salt, &name)),
        mentions: draft.mentions,
        links: draft.links,
        time: draft.time,
        score: draft.score,
        number: None,
        images: draft.images,
        source: dump.source.clone(),
        file: dump.file.clone(),
        position,
        licence: dump.licence.clone(),
    };
    (post, digest)
}

fn short_digest(text: &str) -> u128 {
    let hash = blake3::hash(text.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    u128::from_le_bytes(bytes)
}

/// Whether an author's name stands in what they wrote. One character is no name to look for.
fn mentioned(name: &str, texts: [&Option<String>; 2]) -> bool {
    name.chars().count() > 1 && texts.into_iter().flatten().any(|text| text.contains(name))
}

/// An item that must be a JSON object: a list of values in the order of the fields is none.
fn object<T: serde::de::DeserializeOwned>(item: &str) -> Result<T, Parsed> {
    let beginning = || item.trim_start().chars().take(60).collect::<String>();
    if !item.trim_start().starts_with('{') {
        return Err(Parsed::Bad(format!("no JSON object: {:?}", beginning())));
    }
    serde_json::from_str(item).map_err(|e| Parsed::Bad(json_error(&e, item)))
}

/// A JSON error with the place in the item and the beginning of what stands there.
fn json_error(error: &serde_json::Error, item: &str) -> String {
    let beginning: String = item.trim_start().chars().take(60).collect();
    format!("column {}: {} in {beginning:?}", error.column(), reason_of(error))
}

fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_string())
}
