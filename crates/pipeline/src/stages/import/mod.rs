//! Import: every line of every dump becomes a post or is set aside with its reason.
//!
//! Files are read in the order of source name, file name and position, whatever the order of
//! pipeline.toml, so that the same dumps give the same rows. Text is kept verbatim but for entities; names and ids
//! of users are hashed here and not passed on.

mod aiotieba;
mod census;
mod column_proposal;
mod columns;
mod cqia;
mod cut;
mod dump;
mod files;
mod findings;
mod handed_in;
mod hashed_names;
mod header;
mod judgement;
mod known_columns;
mod ledger;
mod leymore;
mod loose;
mod names;
mod native_id;
mod outcomes;
mod page;
mod pickle;
mod profile;
mod proposal;
mod published;
mod puzzles;
mod recall;
mod reddit;
mod rows;
mod same_id;
mod scanner;
mod shape;
mod site_proposal;
mod split;
pub(super) mod step;
mod table;
mod texts;
mod thread;
mod walk;
mod wanted;
mod warc;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rayon::prelude::*;
use serde::de::DeserializeSeed;

use super::withdrawal::Withdrawals;
use super::{Pulse, StageError, Stop};
use crate::config::{SourceKind, sections};
use ledger::{FileFaults, ItemLedger};
use outcomes::put_outcomes;
use page::Page;
use riddlemill_files::par_map::{SPLIT, par_map_ordered};
use riddlemill_record::{Outcome, Post, PostKind, Reason};
use riddlemill_tables::{Batch, LedgerRecord, StageWriter};
use riddlemill_text::notation;
use riddlemill_text::text::anonymise::{NameList, names_nobody};
use riddlemill_text::text::count_with_noun;
use same_id::{Fingerprint, SeenIds};
use split::Item;
use walk::DumpPortion;

pub use census::{CensusError, PartCensus, part_census};
pub use cut::{Cut, find_cut, is_divisible};
pub use dump::open_unpacked as open_dump;
pub use files::{Dump, FileRow, Piece, find_source_files, kinds_of_files, locate_files, source_kind};
pub use findings::Tally;
pub use handed_in::{RowsOfFile, as_lines, files_as_lines, rows_of_file};
pub use names::{NameRow, add_names, append_names, no_names, words_evidence};
pub use pickle::{MAGIC as NUMPY, parse_array as numpy_rows};
pub use proposal::{NoSource, SourceProposal, propose_source, source_of};
pub use published::published_rows;
pub use recall::{Block, DumpRecord, RecallFilter, is_sought, read_back, read_blocks};
pub use same_id::{RepeatedPost, settle_again};
pub use split::Unread;
pub(in crate::stages) use table::columns_of;
pub use table::note_of;
pub use thread::Threads;

/// A post as its source's parser sees it, before it has an identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawPost {
    /// The native id, where there is one.
    pub id: Option<String>,
    /// In its place: what the source says instead, which names no post.
    pub damaged_id: Option<String>,
    /// How title and content make up the text.
    pub kind: PostKind,
    /// The title, verbatim.
    pub title: Option<String>,
    /// The content, verbatim.
    pub content: Option<String>,
    /// The author's name or id, in clear: it is hashed before it is passed on.
    pub author: Option<String>,
    /// Names in clear that are in the text.
    pub mentions: Vec<String>,
    /// Texts of the links inside it.
    pub links: Vec<String>,
    /// When it was written, according to the source.
    pub time: Option<String>,
    /// The score its readers gave it, on the source's own scale.
    pub score: Option<f64>,
    /// What the thread's owner notes under it.
    pub note: Option<String>,
    /// How many images it shows.
    pub images: u64,
    /// What in its record was read as absent, because it is no JSON or no value.
    pub noted: String,
}

/// The result of parsing an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    Post(Box<RawPost>),
    /// Not a candidate, by a rule of the source.
    Out(Reason, String),
    /// Not readable as this source's format.
    Bad(String),
    /// Several posts that stand on one page.
    Page {
        /// None of them is a page in turn.
        posts: Vec<Parsed>,
        /// A content-encoding that is not known, so that the page was read as it is.
        unknown_encoding: Option<String>,
    },
    /// A row that is joined into the record of its group, which has this id.
    Part(String),
}

/// Imports dumps into a stage.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped. What is wrong with a dump
/// is in the ledger, a failed record an item.
pub fn import(
    dumps: &[Dump],
    settings: &sections::Import,
    secrets: &Secrets<'_>,
    withdrawn: &Withdrawals,
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let mut seen = SeenIds::default();
    let mut table = writer.start_table::<FileRow>("files")?;
    let mut tally = findings::Tally::default();
    for (at, dump) in dumps.iter().enumerate() {
        let mut items = 0;
        let mut faults = FileFaults::default();
        let parse = |ledger: &mut ItemLedger, place| {
            put_outcomes(dump, place, secrets, withdrawn, |read| ledger.append_outcome(&read));
        };
        // Which of two records of one name is the first is decided in order, while the next batches are parsed.
        read(dump, settings, None, parse, |mut ledgers| {
            stop.fail_if_stopped()?;
            for ledger in &mut ledgers {
                seen.observe_posts(&mut ledger.fingerprints);
                faults.count_faults(ledger);
                tally.add(&ledger.tally);
            }
            let settled: Vec<Batch<Post>> =
                ledgers.into_par_iter().map(ItemLedger::settle_batch).collect::<Result<_, _>>()?;
            for batch in settled {
                items += batch.count_entries() as u64;
                pulse.report_done(batch.count_entries() as u64);
                writer.append_batch(batch);
            }
            Ok(writer.flush()?)
        })?;
        faults.describe_faults(dump).iter().for_each(|words| pulse.notify_user(words));
        if dumps.get(at + 1).is_none_or(|next| next.source != dump.source) {
            let own: Vec<&Dump> = dumps.iter().filter(|other| other.source == dump.source).collect();
            if let Some((locator, outcome)) = std::mem::take(&mut tally).entry_of_empty_source(&own) {
                let mut batch = Batch::with_room((), 1);
                batch.append(&locator, &outcome);
                items += 1;
                writer.append_batch(batch);
                writer.flush()?;
            }
        }
        table.append(&dump.file_row(items));
    }
    writer.add_table(table)?;
    append_published(dumps, settings, withdrawn, writer)?;
    Ok(append_names(secrets.names, writer)?)
}

/// Writes the rows of published files from which a stage's posts are made; no table if there are none.
///
/// # Errors
/// [`riddlemill_tables::Error`] where it cannot be written.
pub fn append_published(
    dumps: &[Dump],
    settings: &sections::Import,
    withdrawn: &Withdrawals,
    writer: &mut StageWriter<Post>,
) -> Result<(), riddlemill_tables::Error> {
    let rows = published_rows(dumps, settings, withdrawn);
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = writer.start_table(super::published::TABLE)?;
    rows.iter().for_each(|row| table.append(row));
    writer.add_table(table)
}

/// What may be passed on of a user's name: its hash, or the name itself for the code that marks it in texts.
#[derive(Clone, Copy, Debug)]
pub struct Secrets<'s> {
    /// The workspace's salt.
    pub salt: &'s [u8; 32],
    /// The names of users that are looked for in every text.
    pub names: &'s NameList,
}

/// An item of a dump: its position, the position's form in the ledger if that is more than the number, and its content.
struct Place {
    position: u64,
    name: Option<String>,
    parsed: Parsed,
}

/// Reads a dump in batches of items, parsed on all cores; `put` gathers what a task parses, in order. What the
/// tasks of a batch gathered is taken in their order. `given` is the census of its threads; otherwise it is read
/// for that first.
fn read<T: Default + Send>(
    dump: &Dump,
    settings: &sections::Import,
    given: Option<&thread::Threads>,
    put: impl Fn(&mut T, Place) + Sync,
    mut take: impl FnMut(Vec<T>) -> Result<(), StageError>,
) -> Result<(), StageError> {
    let limit = settings.max_line_mib << 20;
    let cut = given.filter(|given| given.is_of_more_than(dump)).map(|_| dump.as_cut());
    let dump = cut.as_ref().unwrap_or(dump);
    let whole = |name: Option<String>, reason, evidence| {
        let mut found = T::default();
        put(&mut found, Place { position: 1, name, parsed: Parsed::Out(reason, evidence) });
        found
    };
    if let Some(findings::Finding { reason, evidence, is_read }) = findings::of_file(dump, limit, given) {
        let is_first = dump.piece.is_first();
        match is_read {
            // The first piece says it for all.
            false if is_first => return take(vec![whole(None, reason, evidence)]),
            false => return Ok(()),
            true if is_first => take(vec![whole(Some("columns".into()), reason, evidence)])?,
            true => {}
        }
    }
    let parts = findings::of_parts(dump);
    if !parts.is_empty() {
        let parts = parts.into_iter().zip(1..);
        take(parts.map(|(part, n)| whole(Some(format!("part{n}")), Reason::ForeignFile, part)).collect())?;
    }
    let own: thread::Threads;
    let known = match given {
        Some(given) => given,
        None => {
            own = census::raw_census(dump, settings).finish(settings);
            &own
        }
    };
    let notes = (dump.kind == SourceKind::LeymoreAnnual).then(|| leymore::read_notes(dump, settings));
    let published =
        (dump.kind == SourceKind::Published).then(|| published::PublishedRows::read_rows(dump, settings));
    let row = |item: Item<'_>| {
        let parsed = item.bytes.and_then(|bytes| parse(dump, bytes, Some(known)));
        let parsed = parsed.unwrap_or_else(|unread| Parsed::Out(unread.reason(), unread.to_string()));
        let parsed = match &notes {
            Some(notes) => notes.settle_post(item.position, parsed),
            None => parsed,
        };
        let parsed = match &published {
            Some(published) => published.settle_row(item.position, parsed),
            None => parsed,
        };
        Place { position: item.position, name: None, parsed }
    };
    let page = |page: Page| Place {
        position: page.at,
        name: Some(page.name),
        parsed: walk::judge_page(page.read, known, dump),
    };
    let gather = |mut gathered: T, place: Place| {
        put(&mut gathered, place);
        gathered
    };
    let gather = |portion: DumpPortion| {
        Ok(match portion {
            DumpPortion::Rows(items) => {
                items.par_iter().with_min_len(SPLIT).map(row).fold(T::default, gather).collect()
            }
            DumpPortion::Pages(pages) => pages.into_par_iter().map(page).fold(T::default, gather).collect(),
        })
    };
    par_map_ordered(walk::read_portions(dump, limit), gather, take)
}

/// A line of the formats that hold posts of threads; `None` for the others. What is no JSON is read as absent.
fn row(dump: &Dump, text: &str) -> Option<Result<thread::ThreadPost, Parsed>> {
    match row_as_it_is(dump, text)? {
        Err(Parsed::Bad(why)) => match mend(text) {
            Some((mended, _)) => row_as_it_is(dump, &mended),
            None => Some(Err(Parsed::Bad(why))),
        },
        read => Some(read),
    }
}

fn row_as_it_is(dump: &Dump, text: &str) -> Option<Result<thread::ThreadPost, Parsed>> {
    match dump.kind {
        SourceKind::ThreadDump => Some(thread::parse_row(text)),
        SourceKind::Aiotieba => Some(aiotieba::parse_row(text)),
        _ => None,
    }
}

/// Reads one item as its source's format. `threads` is what a file of whole threads knows of them.
pub(crate) fn parse(dump: &Dump, bytes: &[u8], threads: Option<&thread::Threads>) -> Result<Parsed, Unread> {
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| Unread::of_bytes(bytes))?;
    let parsed = parse_text(dump, text, threads);
    // Only what is no JSON is looked at twice.
    if !matches!(parsed, Parsed::Bad(_)) {
        return Ok(parsed);
    }
    let Some((mended, what)) = mend(text) else { return Ok(parsed) };
    Ok(match parse_text(dump, &mended, threads) {
        Parsed::Post(mut post) => {
            let halves = (what.halves > 0).then(|| {
                format!(
                    "half of a pair of surrogates at {}, left out",
                    count_with_noun(what.halves as u64, "place")
                )
            });
            let bare = (what.bare > 0).then(|| {
                format!("NaN or Infinity at {}, read as absent", count_with_noun(what.bare as u64, "place"))
            });
            let noted = halves.into_iter().chain(bare).chain((!post.noted.is_empty()).then_some(post.noted));
            post.noted = noted.collect::<Vec<_>>().join("; ");
            Parsed::Post(post)
        }
        other => other,
    })
}

/// A record that is no JSON as it stands, without what makes it none: halves of characters are left out, numbers that are none are
/// absent.
fn mend(text: &str) -> Option<(Cow<'_, str>, notation::Mended)> {
    let (mended, what) = notation::mend_json(text);
    if !what.has_changes() {
        return None;
    }
    // Where the record says U+FFFD itself, it was read in another encoding, and is set aside for that.
    let halved = what.halves > 0 && !text.contains("\\ufffd");
    Some((if halved { mended.replace("\\ufffd", "").into() } else { mended }, what))
}

fn parse_text(dump: &Dump, text: &str, threads: Option<&thread::Threads>) -> Parsed {
    if let Some(row) = row_as_it_is(dump, text) {
        let parsed = row.map_or_else(|parsed| parsed, |row| thread::judge_post(row, threads, dump.take));
        return texts::decode_parsed(dump.kind, parsed);
    }
    let parsed = match dump.kind {
        SourceKind::LeymoreTitles => leymore::parse_title(text),
        SourceKind::LeymoreAnnual => leymore::parse_annual_post(text),
        SourceKind::Reddit => reddit::parse_post(text, dump.take),
        SourceKind::Cqia => cqia::parse_post(text),
        SourceKind::Table => table::parse_post(text, &dump.fields),
        SourceKind::Puzzles => puzzles::parse_puzzle(text),
        SourceKind::Published => published::parse_row(dump, text),
        SourceKind::ThreadDump | SourceKind::Aiotieba | SourceKind::Warc | SourceKind::Profile => {
            Parsed::Bad("an item of another format".into())
        }
    };
    texts::decode_parsed(dump.kind, parsed)
}

/// How many posts a dump holds, and how many of its items are set aside: an import without a store, for
/// fuzzing.
pub fn survey(dump: &Dump, settings: &sections::Import) -> (u64, u64) {
    let none = NameList::new(&[0; 32]);
    let count = |counted: &mut (u64, u64), place| {
        let secrets = Secrets { salt: &[0; 32], names: &none };
        put_outcomes(dump, place, &secrets, &Withdrawals::default(), |read| match read.outcome {
            Outcome::Kept(_) => counted.0 += 1,
            Outcome::Expanded(rows) => counted.0 += rows.len() as u64,
            _ => counted.1 += 1,
        });
    };
    let (mut posts, mut others) = (0, 0);
    let surveyed = read(dump, settings, None, count, |counted| {
        for (some, rest) in counted {
            (posts, others) = (posts + some, others + rest);
        }
        Ok(())
    });
    // Nothing in the closure fails.
    let _ = surveyed;
    (posts, others)
}

/// Imports one dump by itself, in order. Of records with one id the first is kept; `unsettled` leaves that to
/// [`settle_again`], for callers that import several dumps separately. `given` is the census of the file, for a piece of it.
///
/// # Errors
/// What `take` fails with.
pub fn ledger_records<E: Send>(
    dump: &Dump,
    settings: &sections::Import,
    secrets: &Secrets<'_>,
    withdrawn: &Withdrawals,
    file_threads: Option<&Threads>,
    unsettled: bool,
    mut take: impl FnMut(Vec<LedgerRecord<Post>>) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = SeenIds::default();
    let mut failed = Ok(());
    let gather = |reads: &mut Vec<ReadItem>, place| {
        put_outcomes(dump, place, secrets, withdrawn, |read| reads.push(read));
    };
    let read = read(dump, settings, file_threads, gather, |batch| {
        let mut records = Vec::new();
        for mut read in batch.into_iter().flatten() {
            if !unsettled {
                seen.observe_posts(&mut read.fingerprints);
            }
            same_id::settle_read(read, |locator, outcome| records.push(LedgerRecord::new(locator, outcome)));
        }
        failed = take(records);
        failed.as_ref().map_err(|_| StageError::Stopped).copied()
    });
    // The only error of reading is the one that was just kept.
    let _ = read;
    failed
}

/// A ledger entry in the making: the place in the dump, the outcome, and of each post whether it came before.
struct ReadItem {
    locator: String,
    outcome: Outcome<Post>,
    fingerprints: Vec<Fingerprint>,
    /// A content-encoding that is not known, of a page that was read as it is.
    unknown_encoding: Option<String>,
}

/// Whether an author's name is in what they wrote. Names of one character are not looked for, nor what is no name.
fn mentioned(name: &str, texts: [&Option<String>; 2]) -> bool {
    name.chars().count() > 1
        && !names_nobody(name)
        && texts.into_iter().flatten().any(|text| text.contains(name))
}

/// An item that must be a JSON object: a list of values in the order of the fields is none.
fn object<T: serde::de::DeserializeOwned>(item: &str) -> Result<T, Parsed> {
    object_of(item, std::marker::PhantomData)
}

/// [`object`], for the fields that `seed` reads. Errors do not quote the item: it may begin with a
/// person's name.
fn object_of<'a, S: DeserializeSeed<'a>>(item: &'a str, seed: S) -> Result<S::Value, Parsed> {
    if !item.trim_start().starts_with('{') {
        return Err(Parsed::Bad("no JSON object".into()));
    }
    let mut reader = serde_json::Deserializer::from_str(item);
    let read = seed.deserialize(&mut reader).and_then(|read| reader.end().map(|()| read));
    read.map_err(|e| Parsed::Bad(format!("column {}: {}", e.column(), reason_of(&e))))
}

fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_string())
}
