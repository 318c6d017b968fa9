//! Import: every line of every dump becomes a post or is set aside with its reason.
//!
//! Files are read in the order of source name, file name and position, whatever the order of
//! pipeline.toml, so that the same dumps give the same rows. Text is kept verbatim; names and ids
//! of users are hashed here and go no further.

mod dump;
mod files;
mod leymore;
mod loose;
mod split;
mod thread;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::{Pulse, StageError, Stop};
use crate::config::{SourceKind, sections};
use crate::record::{Outcome, Post, PostKind, Reason, pseudonym, text_id};
use crate::store::StageWriter;

pub use files::{Dump, FileRow, files};
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
    /// When it was written, as the source says.
    pub time: Option<String>,
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
        let context = match dump.kind {
            SourceKind::ThreadDump => Some(thread::Threads::of(dump, settings)),
            _ => None,
        };
        for batch in dump::batches(dump, settings.max_line_mib << 20) {
            stop.check()?;
            let read: Vec<(u64, Parsed)> = batch
                .into_par_iter()
                .map(|item| {
                    let parsed = match &item.bytes {
                        Ok(bytes) => parse(dump, bytes, context.as_ref()),
                        Err(unread) => Err(*unread),
                    };
                    (
                        item.position,
                        parsed.unwrap_or_else(|unread| Parsed::Out(unread.reason(), unread.to_string())),
                    )
                })
                .collect();
            items += read.len() as u64;
            let count = read.len() as u64;
            let outcomes: Vec<(String, Outcome<Post>, u128)> = read
                .into_par_iter()
                .map(|(position, parsed)| {
                    let (outcome, digest) = outcome(dump, position, parsed, salt);
                    (dump.locator(position), outcome, digest)
                })
                .collect();
            for (locator, outcome, digest) in outcomes {
                writer.put(locator, seen.settle(outcome, digest));
            }
            writer.flush()?;
            pulse.advance(count);
        }
        table.put(dump.row(items));
    }
    writer.keep(table)?;
    Ok(())
}

/// Reads one item as its source's format. `threads` is what a thread dump knows of its threads.
pub(crate) fn parse(dump: &Dump, bytes: &[u8], threads: Option<&thread::Threads>) -> Result<Parsed, Unread> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unread::of_bytes(bytes))?;
    Ok(match dump.kind {
        SourceKind::LeymoreTitles => leymore::title(text),
        SourceKind::LeymoreAnnual => leymore::annual(text),
        SourceKind::ThreadDump => thread::post(text, threads, dump.take),
    })
}

fn outcome(dump: &Dump, position: u64, parsed: Parsed, salt: &[u8; 32]) -> (Outcome<Post>, u128) {
    let draft = match parsed {
        Parsed::Post(draft) => *draft,
        // A line that could not be read is a failure; one that a rule of the source leaves out is not.
        Parsed::Out(reason @ (Reason::NotOwner | Reason::Chatter), evidence) => {
            return (Outcome::Dropped { reason, evidence }, 0);
        }
        Parsed::Out(reason, evidence) => return (Outcome::Failed { reason, evidence }, 0),
        Parsed::Bad(evidence) => return (Outcome::Failed { reason: Reason::Unreadable, evidence }, 0),
    };
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
        time: draft.time,
        score: None,
        number: None,
        images: draft.images,
        source: dump.source.clone(),
        file: dump.file.clone(),
        position,
        licence: dump.licence.clone(),
    };
    (Outcome::Kept(post), digest)
}

/// Which ids were read, each with a digest of its text: 32 bytes a record, so that a hundred
/// million fit in memory.
#[derive(Default)]
struct Seen(HashMap<u128, u128, FxBuildHasher>);

impl Seen {
    /// The first record of an id stays; a later one goes into it, and what it says otherwise is kept
    /// in the ledger.
    fn settle(&mut self, outcome: Outcome<Post>, digest: u128) -> Outcome<Post> {
        let Outcome::Kept(post) = outcome else { return outcome };
        let first = match self.0.entry(short_digest(&post.id)) {
            Entry::Vacant(place) => {
                place.insert(digest);
                return Outcome::Kept(post);
            }
            Entry::Occupied(first) => *first.get(),
        };
        let evidence = match first == digest {
            true => "same text".to_string(),
            false => format!("other text: {}", post.text),
        };
        Outcome::Merged { into: post.id, reason: Reason::SameId, score: 1.0, evidence }
    }
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
