//! Reads records of a dump again from their places, including those that import set aside: their texts, and
//! nothing about their authors.
//!
//! A dump is divided into blocks of a few records. With the places of the blocks a record can be read again
//! without reading what is before it, and its text need not be stored.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read};
use std::sync::LazyLock;

use positioned_io::ReadAt;
use rayon::prelude::*;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dump::{self, BATCH};
use super::files::Dump;
use super::page::{Page, PagePost, of_forum};
use super::shape::{self, Shape};
use super::split::{Item, Splitter};
use super::walk::{self, DumpPortion};
use super::{Parsed, parse, published, rows, thread, warc};
use crate::config::{SourceKind, Take};
use crate::stages::withdrawal::Withdrawals;
use riddlemill_files::fence;
use riddlemill_files::reading::{Packing, text_of};
use riddlemill_harvest::pages::{self, Profile, Site};
use riddlemill_harvest::warc::{Archive, Location, RecordLimits};
use riddlemill_record::{Locator, Post, text_id};
use riddlemill_tables::parquet_rows;
use riddlemill_text::text::anonymise::Anonymiser;

/// Records of one block: few enough that reading one of them again costs little.
const BLOCK: usize = 64;

/// A record read back from its dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRecord {
    /// Its place, as the import ledger calls it.
    pub locator: Locator,
    /// The ids it may have: where a thread's first floor was the thread itself, only the ledger knows.
    pub ids: Vec<String>,
    /// Its text, with its author's name and other personal data marked.
    pub text: String,
    /// Its text as import reads it: to be compared and hashed, never to be shown.
    pub verbatim: String,
}

/// Which records are read back.
#[derive(Clone, Copy, Default)]
pub struct RecallFilter<'a> {
    /// Withdrawn posts, which are no longer shown.
    pub withdrawn: Option<&'a Withdrawals>,
    /// Whether the unmarked text of a record matches the search. Marking takes most of the time of reading a record.
    pub sought: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// Leaves [`Recalled::text`] empty: nothing of the records is shown.
    pub unmarked: bool,
}

/// Records that follow one another in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Where it begins: a byte of the unpacked dump; of an archive, the member of its page.
    pub start: u64,
    /// Where it ends; of an archive, the bytes of the member before the page.
    pub end: u64,
    /// The position of its first record.
    pub first: u64,
    /// The position of its last record.
    pub last: u64,
}

/// How records are found again in a dump.
enum Layout {
    /// Items of a stream of bytes: lines, or the elements of an array.
    Stream,
    /// Rows that are counted from the beginning of the file: those of a table, or of pages.
    Csv,
    /// Rows of a Parquet file.
    Parquet,
    /// Pages of an archive, and of which site.
    Pages(Site),
    /// Pages or items of a file with a profile.
    Described,
}

impl Layout {
    fn detect_layout(dump: &Dump) -> Layout {
        match &dump.profile {
            Some(profile) if warc::is_archive(dump) => Layout::Pages(Site::Profile(profile.clone())),
            Some(_) => Layout::Described,
            None if dump.kind == SourceKind::Warc => Layout::Pages(Site::Tieba),
            None => match rows::detect_format(dump) {
                rows::RowFormat::Parquet => Layout::Parquet,
                rows::RowFormat::Csv
                | rows::RowFormat::Numpy
                | rows::RowFormat::Workbook
                | rows::RowFormat::Other => Layout::Csv,
                // A row of a page has no place of its own in the stream.
                rows::RowFormat::Json if matches!(shape::of_dump(dump), Ok(Shape::Pages { .. })) => {
                    Layout::Csv
                }
                rows::RowFormat::Json => Layout::Stream,
            },
        }
    }
}

/// Whether blocks of a dump are read where they are: others are read, or unpacked, from the beginning each time.
pub fn is_sought(dump: &Dump) -> bool {
    match Layout::detect_layout(dump) {
        Layout::Parquet => true,
        Layout::Stream => Packing::of_file(&dump.path) == Packing::Plain,
        Layout::Csv | Layout::Pages(_) | Layout::Described => false,
    }
}

/// Reads a whole dump, once. `make` works on the sifted records of each block, on all cores, and `take` gets what it made, in
/// order. `limit` is the most bytes that a record may have.
pub fn read_blocks<T: Send>(
    dump: &Dump,
    limit: u64,
    sift: &RecallFilter<'_>,
    make: impl Fn(Vec<DumpRecord>) -> T + Sync,
    mut take: impl FnMut(Block, T),
) {
    if let Layout::Pages(site) = Layout::detect_layout(dump) {
        each_page(dump, &site, None, sift, |block, records| take(block, make(records)));
        return;
    }
    for batch in walk::read_portions(dump, limit) {
        let made: Vec<(Block, T)> = match batch {
            DumpPortion::Rows(items) => {
                let firsts: Vec<usize> = (0..items.len()).step_by(BLOCK).collect();
                let made = firsts.into_par_iter().filter_map(|from| {
                    let to = (from + BLOCK).min(items.len());
                    let (first, last) = (items.get(from)?.position, items.get(to - 1)?.position);
                    let block = Block {
                        start: items.start_of_item(from),
                        end: items.end_of_item(to - 1),
                        first,
                        last,
                    };
                    let records = (from..to).filter_map(|at| recall_item(dump, &items.get(at)?, sift));
                    Some((block, make(records.collect())))
                });
                made.collect()
            }
            DumpPortion::Pages(pages) => {
                let made = pages.into_par_iter().map(|found| {
                    let (block, records) = of_page(dump, found, sift);
                    (block, make(records))
                });
                made.collect()
            }
        };
        made.into_iter().for_each(|(block, made)| take(block, made));
    }
}

/// The records of these blocks, without withdrawn ones, block by block, in order. A block that can no longer be read
/// is empty: the dump is another one by now.
///
/// # Errors
/// The system's error about the dump.
pub fn read_back(
    dump: &Dump,
    limit: u64,
    blocks: &[Block],
    sift: &RecallFilter<'_>,
) -> io::Result<Vec<Vec<DumpRecord>>> {
    match Layout::detect_layout(dump) {
        Layout::Stream => recall_from_stream(dump, limit, blocks, sift),
        Layout::Csv => Ok(recall_from_csv(dump, limit, blocks, sift)),
        Layout::Parquet => {
            Ok(blocks.par_iter().map(|block| recall_from_parquet(dump, block, sift)).collect())
        }
        Layout::Described => {
            let places: HashMap<u64, usize> =
                blocks.iter().enumerate().map(|(at, block)| (block.first, at)).collect();
            let mut found = vec![Vec::new(); blocks.len()];
            for batch in walk::read_portions(dump, limit) {
                let DumpPortion::Pages(pages) = batch else { break };
                let wanted = pages.into_par_iter().filter(|page| places.contains_key(&page.at));
                let read: Vec<_> = wanted.map(|page| of_page(dump, page, sift)).collect();
                for (block, records) in read {
                    if let Some(at) = places.get(&block.first) {
                        found[*at] = records;
                    }
                }
            }
            Ok(found)
        }
        Layout::Pages(site) => {
            let places: HashMap<(u64, u64), usize> =
                blocks.iter().enumerate().map(|(at, block)| ((block.start, block.end), at)).collect();
            let mut found = vec![Vec::new(); blocks.len()];
            each_page(dump, &site, Some(blocks), sift, |block, records| {
                if let Some(at) = places.get(&(block.start, block.end)) {
                    found[*at] = records;
                }
            });
            Ok(found)
        }
    }
}

fn recall_from_stream(
    dump: &Dump,
    limit: u64,
    blocks: &[Block],
    sift: &RecallFilter<'_>,
) -> io::Result<Vec<Vec<DumpRecord>>> {
    let text = text_of(dump::open_unpacked(&dump.path)?)?;
    let packed = Packing::of_file(&dump.path) != Packing::Plain || text.encoding.is_some();
    let shape = shape::of_dump(dump).unwrap_or(Shape::Lines);
    let read = |block: &Block, bytes: &[u8]| {
        let mut splitter = Splitter::resume_at(limit, &shape, block.first);
        splitter.feed_piece(bytes);
        splitter.finish(None);
        let items = splitter.take_items();
        let within = |item: &Item<'_>| (block.first..=block.last).contains(&item.position);
        (0..items.len())
            .filter_map(|at| items.get(at))
            .filter(within)
            .filter_map(|item| recall_item(dump, &item, sift))
            .collect()
    };
    if !packed {
        let file = fence::open_plain(&dump.path)?;
        return blocks
            .par_iter()
            .map(|block| {
                let mut bytes = vec![0; (block.end - block.start) as usize];
                // A last line has no line feed behind it.
                let got = read_at(&file, block.start + text.mark, &mut bytes)?;
                Ok(read(block, &bytes[..got]))
            })
            .collect();
    }
    let mut reader = text.reader;
    let mut at = 0;
    let mut found = Vec::new();
    for block in blocks {
        let from = block.start;
        // A compressed stream has to be unpacked from its beginning.
        io::copy(&mut reader.by_ref().take(from.saturating_sub(at)), &mut io::sink())?;
        let mut bytes = Vec::new();
        reader.by_ref().take(block.end - block.start).read_to_end(&mut bytes)?;
        at = from + bytes.len() as u64;
        found.push(read(block, &bytes));
    }
    Ok(found)
}

fn read_at(file: &std::fs::File, from: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < bytes.len() {
        match file.read_at(from + got as u64, &mut bytes[got..])? {
            0 => break,
            more => got += more,
        }
    }
    Ok(got)
}

fn recall_from_csv(
    dump: &Dump,
    limit: u64,
    blocks: &[Block],
    sift: &RecallFilter<'_>,
) -> Vec<Vec<DumpRecord>> {
    let mut found = vec![Vec::new(); blocks.len()];
    let Some(last) = blocks.iter().map(|block| block.last).max() else { return found };
    let by_first: BTreeMap<u64, usize> =
        blocks.iter().enumerate().map(|(at, block)| (block.first, at)).collect();
    for items in rows::read_batches(dump, limit) {
        let read = |at: usize| {
            let item = items.get(at)?;
            let (_, at) = by_first.range(..=item.position).next_back()?;
            Some((*at, recall_item(dump, &item, sift).filter(|_| item.position <= blocks[*at].last)?))
        };
        let read: Vec<_> = (0..items.len()).into_par_iter().filter_map(read).collect();
        read.into_iter().for_each(|(at, record)| found[at].push(record));
        if items.get(items.len().saturating_sub(1)).is_some_and(|item| item.position >= last) {
            break;
        }
    }
    found
}

fn recall_from_parquet(dump: &Dump, block: &Block, sift: &RecallFilter<'_>) -> Vec<DumpRecord> {
    let count = (block.last - block.first + 1).min(BATCH as u64) as usize;
    // A decoder that panics on foreign bytes has found damage.
    let read = std::panic::catch_unwind(|| parquet_rows(&dump.path, block.first - 1, count).ok());
    let rows = read.ok().flatten().unwrap_or_default();
    let record = |(row, position): (serde_json::Map<String, Value>, u64)| {
        let object = Value::Object(row).to_string();
        recall_item(dump, &Item { position, bytes: Ok(object.as_bytes()) }, sift)
    };
    rows.into_iter().zip(block.first..).filter_map(record).collect()
}

/// The records of a page or an item of a file, which is a block of its own.
fn of_page(dump: &Dump, found: Page, sift: &RecallFilter<'_>) -> (Block, Vec<DumpRecord>) {
    let at = found.at;
    (Block { start: at, end: at, first: at, last: at }, recall_page(dump, at, found.into_posts(), sift))
}

/// The text of a post of a page, whatever its outcome.
fn text_of_page_post(dump: &Dump, post: PagePost) -> RecalledText {
    let entry = match post {
        PagePost::Forum(post) => return recalled_text(of_forum(post)),
        PagePost::Described(entry) => entry,
    };
    let (title, content) = match dump.profile.as_ref().is_some_and(Profile::holds_riddles) {
        true => (entry.body.or(entry.title), entry.answer),
        false => (entry.title, entry.body),
    };
    let text = Post::join_title_and_content(title.as_deref(), content.as_deref());
    RecalledText {
        ids: vec![entry.id.unwrap_or_else(|| text_id(&text))],
        text,
        names: entry.author.into_iter().collect(),
    }
}

/// Passes the pages of an archive with their records to `take`, or only those of the `wanted` blocks.
fn each_page(
    dump: &Dump,
    site: &Site,
    wanted: Option<&[Block]>,
    sift: &RecallFilter<'_>,
    mut take: impl FnMut(Block, Vec<DumpRecord>),
) {
    let block = |at: Location| {
        let position = at.member + at.skip;
        Block { start: at.member, end: at.skip, first: position, last: position }
    };
    let wanted: Option<HashSet<(u64, u64)>> =
        wanted.map(|blocks| blocks.iter().map(|block| (block.start, block.end)).collect());
    let pages = Archive::new(vec![dump.path.clone()], RecordLimits::default()).pages();
    let mut pages = pages
        .filter_map(Result::ok)
        .filter(|page| wanted.as_ref().is_none_or(|wanted| wanted.contains(&(page.at.member, page.at.skip))));
    loop {
        let batch: Vec<_> = pages.by_ref().take(BLOCK).collect();
        if batch.is_empty() {
            return;
        }
        let read = |archived: riddlemill_harvest::warc::ArchivedPage| {
            let (archived, parsed) = pages::read_page(site, archived);
            let at = block(archived.at);
            let posts = PagePost::from_parsed(parsed.posts, parsed.entries);
            (at, recall_page(dump, at.first, posts, sift))
        };
        let read: Vec<_> = batch.into_par_iter().map(read).collect();
        read.into_iter().for_each(|(at, records)| take(at, records));
    }
}

/// The text of a record, before it has a place.
#[derive(Default)]
struct RecalledText {
    ids: Vec<String>,
    text: String,
    /// Who wrote it, in clear: to be marked where it is in the text.
    names: Vec<String>,
}

/// Posts of a page are numbered as the ledger numbers those that are set aside.
fn recall_page(dump: &Dump, at: u64, posts: Vec<PagePost>, sift: &RecallFilter<'_>) -> Vec<DumpRecord> {
    let place = |(post, number): (PagePost, u64)| {
        recall_text(place_of(dump, at).post_on_page(number), text_of_page_post(dump, post), sift)
    };
    posts.into_iter().zip(1..).filter_map(place).collect()
}

fn place_of(dump: &Dump, position: u64) -> Locator {
    Locator::new(format!("{}/{}", dump.source, dump.file), position)
}

/// `None` if there is no text, if it was withdrawn by one of its ids or by its text, or if it does not match the search.
fn recall_text(locator: Locator, recalled_text: RecalledText, sift: &RecallFilter<'_>) -> Option<DumpRecord> {
    if sift.sought.is_some_and(|sought| !sought(&recalled_text.text)) {
        return None;
    }
    let gone = |withdrawn: &Withdrawals| {
        withdrawn.of_text(&recalled_text.text).is_some()
            || recalled_text.ids.iter().any(|id| withdrawn.of_id(id).is_some())
    };
    if sift.withdrawn.is_some_and(gone) {
        return None;
    }
    static MARKS: LazyLock<Anonymiser> = LazyLock::new(Anonymiser::default);
    let names: Vec<&str> =
        recalled_text.names.iter().map(String::as_str).filter(|name| name.chars().count() > 1).collect();
    let text = match sift.unmarked {
        true => String::new(),
        false => MARKS.apply(recalled_text.text.trim(), &names).text.into_owned(),
    };
    let is_blank = recalled_text.text.trim().is_empty();
    (!is_blank || !recalled_text.ids.is_empty()).then_some(DumpRecord {
        locator,
        ids: recalled_text.ids,
        text,
        verbatim: recalled_text.text,
    })
}

fn recall_item(dump: &Dump, item: &Item<'_>, sift: &RecallFilter<'_>) -> Option<DumpRecord> {
    let bytes = item.bytes.ok()?;
    let text = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text.into(),
        // A record that import refused for its encoding is still shown, read as GBK.
        Err(_) => encoding_rs::GB18030.decode(bytes).0,
    };
    let recalled_text = match super::row(dump, &text) {
        Some(Ok(row)) => recalled_text(row),
        Some(Err(_)) => text_of_unread(dump, &text),
        None => match recalled_post(dump, &text) {
            Some(post) => text_of_parsed(post),
            None => text_of_unread(dump, &text),
        },
    };
    recall_text(place_of(dump, item.position), recalled_text, sift)
}

/// A comment has the id that it would have as a candidate.
fn recalled_post(dump: &Dump, text: &str) -> Option<Parsed> {
    let parsed = match dump.kind {
        SourceKind::Reddit => parse(&Dump { take: Take::Main, ..dump.clone() }, text.as_bytes(), None),
        _ => parse(dump, text.as_bytes(), None),
    };
    parsed.ok().filter(|parsed| matches!(parsed, Parsed::Post(_)))
}

fn recalled_text(row: thread::ThreadPost) -> RecalledText {
    let number = |field: &Option<String>| field.as_deref().and_then(|f| f.parse::<u64>().ok());
    let (tid, pid) = (number(&row.tid), number(&row.pid));
    let whole = row.title.is_some() && (row.first_floor() || pid.is_none());
    let thread = tid.filter(|_| whole).map(|tid| format!("tieba:{tid}"));
    let post = tid.zip(pid).map(|(tid, pid)| format!("tieba:{tid}:{pid}"));
    RecalledText {
        ids: thread.into_iter().chain(post).collect(),
        text: Post::join_title_and_content(row.title.as_deref(), row.text.as_deref()),
        names: [row.user_name, row.user_id].into_iter().flatten().collect(),
    }
}

fn text_of_parsed(parsed: Parsed) -> RecalledText {
    let Parsed::Post(draft) = parsed else { return RecalledText::default() };
    let text = Post::join_title_and_content(draft.title.as_deref(), draft.content.as_deref());
    RecalledText {
        ids: vec![draft.id.unwrap_or_else(|| text_id(&text))],
        text,
        names: draft.author.into_iter().collect(),
    }
}

/// The readable part of an item that its parser refuses: only the texts in the fields of its format, because
/// other fields may be personal.
fn text_of_unread(dump: &Dump, text: &str) -> RecalledText {
    static PAIR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\\n]|\\.)*)"#).ok());
    let fields = match dump.kind {
        SourceKind::LeymoreTitles => vec!["title", "abs"],
        SourceKind::LeymoreAnnual => vec!["content"],
        SourceKind::ThreadDump => vec!["text"],
        SourceKind::Aiotieba => vec!["title", "text"],
        SourceKind::Reddit => vec!["title", "selftext", "body"],
        SourceKind::Cqia => vec!["instruction", "input"],
        SourceKind::Table => ["title", "content"]
            .iter()
            .filter_map(|name| dump.fields.get(*name))
            .map(String::as_str)
            .collect(),
        SourceKind::Puzzles => vec!["question", "answer"],
        SourceKind::Published => published::text_keys(dump),
        SourceKind::Warc | SourceKind::Profile => return RecalledText::default(),
    };
    let unquoted =
        |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).unwrap_or_else(|_| text.into());
    let pairs = PAIR.iter().flat_map(|pair| pair.captures_iter(text));
    let texts: Vec<String> = pairs
        .filter(|pair| fields.contains(&&pair[1]))
        .map(|pair| unquoted(&pair[2]))
        .filter(|text| !text.is_empty())
        .collect();
    RecalledText { text: texts.join("\n"), ..RecalledText::default() }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
