//! The census of a dump in pieces: facts of each piece about the threads and the users of its file, as lines that are
//! merged and then passed to the import of each piece.
//!
//! It contains people as hashes, and the notes under jokes and the numbers of posts unchanged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use super::cut::of_pages;
use super::files::Dump;
use super::hashed_names::{HashedName, HashedNames, format_hash, hash_name};
use super::page::PagePost;
use super::split::Item;
use super::thread::{Census, RankedNote, ThreadPost, Threads};
use super::{add_names, columns, dump, walk, warc};
use crate::config::{SourceKind, sections};
use riddlemill_files::reading::Packing;
use riddlemill_harvest::pages::Site;
use riddlemill_harvest::warc::{RecordLimits, Totals};
use riddlemill_text::text::anonymise::{NameKey, NameList};

/// What is wrong with the lines of a census.
#[derive(Debug, thiserror::Error)]
pub enum CensusError {
    /// They cannot be read or written.
    #[error("the census: {0}")]
    Io(#[from] io::Error),
    /// A line is none of a census.
    #[error("line {line} is not a line of a census: {what}")]
    Line {
        /// Its number.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Its hashes were made with another salt.
    #[error(
        "the census was made with another salt\n  hint: use raw/salt of the workspace that it comes from"
    )]
    OtherSalt,
    /// A file was cut in the middle of an item, or refers to other pieces.
    #[error(
        "the pieces are not those of one file that can be cut there\n  hint: take the census of the whole file"
    )]
    Apart,
}

/// How a piece fits with the others of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The bytes before it.
    pub byte: u64,
    /// Its own bytes.
    pub bytes: u64,
    /// How its first bytes are compressed. A piece whose first bytes are damaged seems not to be.
    pub packing: Packing,
    /// Its lines, unpacked.
    pub lines: u64,
    /// Bytes of the bodies of its pages.
    pub bodies: u64,
    /// Whether it can be read without the others.
    pub apart: bool,
    /// Whether another piece can begin behind it.
    pub ends: bool,
}

/// A line of a census.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CensusLine {
    /// The first line of a piece: the salt's mark, and how the piece fits.
    Piece(String, Fit),
    /// For a thread: the author of its first floor.
    Owner(String, String),
    /// Of somebody in a thread: how many posts may be jokes, and the ranked jokes and notes.
    Wrote(String, String, u64, Vec<RankedNote>),
    /// The columns of the rows of a piece.
    Columns(Vec<String>),
    /// A name: the hash of its first two characters, that of the whole, and its characters.
    Name(String, String, usize),
}

/// The threads and names in pieces of a file, with people as hashes.
#[derive(Debug)]
pub struct PartCensus {
    key: NameKey,
    fits: Vec<Fit>,
    threads: Census,
    names: BTreeSet<HashedName>,
    columns: Vec<String>,
}

/// Takes the census of a dump or of a piece of one, and adds the names of its users to a list.
pub fn part_census(
    dump: &Dump,
    settings: &sections::Import,
    names: &mut NameList,
    salt: &[u8; 32],
) -> PartCensus {
    let bytes = std::fs::metadata(&dump.path).map_or(0, |meta| meta.len());
    let packing = Packing::of_file(&dump.path);
    let fit = Fit { byte: dump.piece.byte, bytes, packing, lines: 0, bodies: 0, apart: true, ends: true };
    let (fit, census) = if of_pages(dump.kind) && warc::is_archive(dump) {
        let (totals, census) = of_archive(dump, names);
        let apart = totals.revisits == 0 && !totals.bomb;
        (Fit { bodies: totals.bytes, apart, ends: !totals.damaged, ..fit }, census)
    } else {
        add_names(names, dump, settings);
        let census = raw_census(dump, settings);
        let (lines, ends) = count_lines(dump);
        // Pages are separate records only in an archive.
        (Fit { lines, ends, apart: !of_pages(dump.kind), ..fit }, census)
    };
    let columns = columns::read_columns(dump, settings.max_line_mib << 20);
    // A table with its columns above the rows is never cut.
    let columns = if columns.is_header { Vec::new() } else { columns.names };
    PartCensus { columns, ..PartCensus::hash_census(NameKey::new(salt), fit, census) }
}

/// The threads of a file; none where its posts are in no threads. What cannot be read is reported on the second reading.
pub(super) fn raw_census(dump: &Dump, settings: &sections::Import) -> Census {
    let mut census = Census::default();
    let has_threads = match &dump.profile {
        Some(profile) => !profile.holds_riddles(),
        None => matches!(dump.kind, SourceKind::ThreadDump | SourceKind::Aiotieba | SourceKind::Warc),
    };
    if has_threads {
        let row = |_: &Census, item: Item<'_>| {
            super::row(dump, simdutf8::basic::from_utf8(item.bytes.ok()?).ok()?)?.ok()
        };
        walk::fold_dump(
            dump,
            settings.max_line_mib << 20,
            &mut census,
            row,
            |_, post| in_thread(post),
            Census::add_row,
        );
    }
    census
}

/// A post of a page as one of its thread; `None` for a row of a list.
fn in_thread(post: PagePost) -> Option<ThreadPost> {
    (!post.is_listed()).then(|| post.into_row())
}

fn of_archive(dump: &Dump, names: &mut NameList) -> (Totals, Census) {
    let mut census = Census::default();
    let site = dump.profile.clone().map_or(Site::Tieba, Site::Profile);
    let totals = warc::visit_pages(dump, &site, |page| {
        for post in page.into_posts() {
            post.author().into_iter().for_each(|name| names.add(name));
            in_thread(post).into_iter().for_each(|row| census.add_row(row));
        }
    });
    (totals, census)
}

/// The line feeds of a dump, and whether it is whole and ends with one. A piece that is unpacked to nothing does, but the
/// first: a mark at the head of the file would be behind it.
fn count_lines(dump: &Dump) -> (u64, bool) {
    let mut lines = 0;
    let mut last = if dump.piece.is_first() { 0 } else { b'\n' };
    let mut buffer = vec![0; 1 << 18];
    let Ok(mut file) = dump::open_unpacked(&dump.path) else { return (0, false) };
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return (lines, last == b'\n'),
            Ok(read) => {
                lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
                last = buffer[read - 1];
            }
            // A signal came during the read, which is repeated.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return (lines, false),
        }
    }
}

impl PartCensus {
    fn empty(key: NameKey) -> PartCensus {
        PartCensus {
            key,
            fits: Vec::new(),
            threads: Census::default(),
            names: BTreeSet::new(),
            columns: Vec::new(),
        }
    }

    fn hash_census(key: NameKey, fit: Fit, census: Census) -> PartCensus {
        let person = |(thread, person): (String, String)| (thread, format_hash(key.hash(&person)));
        let threads = Census {
            owners: census.owners.into_iter().map(person).collect(),
            ranked: census.ranked.into_iter().map(|(who, count)| (person(who), count)).collect(),
            wrote: census.wrote.into_iter().map(|(who, wrote)| (person(who), wrote)).collect(),
            names: BTreeSet::new(),
        };
        PartCensus {
            key,
            fits: vec![fit],
            threads,
            names: census.names.iter().filter_map(|name| hash_name(key, name)).collect(),
            columns: Vec::new(),
        }
    }

    /// Reads the censuses of pieces, one after another, in the order of their file.
    ///
    /// # Errors
    /// [`CensusError`].
    pub fn read_parts(lines: impl BufRead, salt: &[u8; 32]) -> Result<PartCensus, CensusError> {
        let key = NameKey::new(salt);
        let mut read = PartCensus::empty(key);
        for (at, line) in lines.lines().enumerate() {
            let wrong = |what: String| CensusError::Line { line: at + 1, what };
            let hash = |hex: &str| u64::from_str_radix(hex, 16).map_err(|e| wrong(e.to_string()));
            match serde_json::from_str(&line?).map_err(|e| wrong(e.to_string()))? {
                CensusLine::Piece(mark, _) if mark != key.salt_mark() => return Err(CensusError::OtherSalt),
                CensusLine::Piece(_, fit) => read.fits.push(fit),
                _ if read.fits.is_empty() => return Err(wrong("no piece is before it".into())),
                // The first floor that comes first in the file.
                CensusLine::Owner(thread, person) => {
                    read.threads.owners.entry(thread).or_insert(person);
                }
                CensusLine::Wrote(thread, person, ranked, wrote) => {
                    let who = (thread, person);
                    if ranked > 0 {
                        *read.threads.ranked.entry(who.clone()).or_default() += ranked;
                    }
                    if !wrote.is_empty() {
                        read.threads.wrote.entry(who).or_default().extend(wrote);
                    }
                }
                CensusLine::Columns(names) => {
                    let new: Vec<String> =
                        names.into_iter().filter(|name| !read.columns.contains(name)).collect();
                    read.columns.extend(new);
                }
                CensusLine::Name(begins, whole, chars) => {
                    read.names.insert((hash(&begins)?, hash(&whole)?, chars));
                }
            }
        }
        Ok(read)
    }

    /// The census of the file that these pieces make up: of everybody but the owners of threads only the names are left.
    ///
    /// # Errors
    /// [`CensusError::Apart`] where they do not join: the file must be read as one.
    pub fn merge_parts(mut self) -> Result<PartCensus, CensusError> {
        let bytes: u64 = self.fits.iter().map(|fit| fit.bytes).sum();
        let bodies = self.fits.iter().fold(0u64, |sum, fit| sum.saturating_add(fit.bodies));
        let follow = self.fits.windows(2).all(|two| {
            two[0].ends && two[0].byte + two[0].bytes == two[1].byte && two[0].packing == two[1].packing
        });
        let first = self.fits.first().is_some_and(|fit| fit.byte == 0);
        let apart = self.fits.len() == 1 || self.fits.iter().all(|fit| fit.apart);
        if !(first && follow && apart && (self.fits.len() == 1 || bodies <= RecordLimits::of_file(bytes))) {
            return Err(CensusError::Apart);
        }
        let (lines, last) = (self.fits.iter().map(|fit| fit.lines).sum(), self.fits.last().copied());
        self.fits = last.map(|last| Fit { byte: 0, bytes, lines, bodies, ..last }).into_iter().collect();
        let owners = &self.threads.owners;
        self.threads.ranked.retain(|(thread, person), _| owners.get(thread) == Some(person));
        self.threads.wrote.retain(|(thread, person), _| owners.get(thread) == Some(person));
        Ok(self)
    }

    /// Writes its lines. The same census gives the same lines.
    ///
    /// # Errors
    /// The system's error.
    pub fn write_lines(self, out: &mut impl Write) -> io::Result<()> {
        let mut put = |line: &CensusLine| {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")
        };
        for fit in &self.fits {
            put(&CensusLine::Piece(self.key.salt_mark(), *fit))?;
        }
        if !self.columns.is_empty() {
            put(&CensusLine::Columns(self.columns))?;
        }
        for (thread, person) in sort_map(self.threads.owners) {
            put(&CensusLine::Owner(thread, person))?;
        }
        let mut people: BTreeMap<(String, String), (u64, Vec<RankedNote>)> = BTreeMap::new();
        self.threads.ranked.into_iter().for_each(|(who, count)| people.entry(who).or_default().0 = count);
        self.threads.wrote.into_iter().for_each(|(who, wrote)| people.entry(who).or_default().1 = wrote);
        for ((thread, person), (ranked, wrote)) in people {
            put(&CensusLine::Wrote(thread, person, ranked, wrote))?;
        }
        for (begins, whole, chars) in self.names {
            put(&CensusLine::Name(format_hash(begins), format_hash(whole), chars))?;
        }
        Ok(())
    }

    /// What import needs to know of the file.
    ///
    /// # Errors
    /// [`CensusError::Apart`] where it is not the census of a whole file.
    pub fn into_threads(self, settings: &sections::Import) -> Result<Threads, CensusError> {
        let whole = self.merge_parts()?;
        let bytes = whole.fits.iter().map(|fit| fit.bytes).sum();
        let names = HashedNames::new(whole.key, whole.names);
        Ok(Threads::of_hashes(whole.threads, names, settings).of_file(whole.columns, bytes))
    }
}

fn sort_map<V>(map: HashMap<String, V>) -> BTreeMap<String, V> {
    map.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_as_hashes_are_found_as_those_in_clear(
            names in prop::collection::btree_set("[云鹤a丶]{1,5}", 0..8),
            text in "[云鹤a丶b]{0,40}",
        ) {
            let clear = Census { names: names.clone(), ..Census::default() };
            let settings = sections::Import { max_line_mib: 1, annual_posts: 2, common_words: Vec::new() };
            let fit = Fit { byte: 0, bytes: 1, packing: Packing::Plain, lines: 0, bodies: 0, apart: true, ends: true };
            let hashed = PartCensus::hash_census(NameKey::new(&[7; 32]), fit, clear);
            let mut lines = Vec::new();
            hashed.write_lines(&mut lines).unwrap();
            let read = PartCensus::read_parts(&lines[..], &[7; 32]).unwrap().into_threads(&settings).unwrap();
            let clear = Census { names, ..Census::default() }.finish(&settings);
            prop_assert_eq!(read.named_in(&text), clear.named_in(&text));
        }
    }

    #[test]
    fn a_census_of_another_salt_is_refused() {
        let fit =
            Fit { byte: 0, bytes: 1, packing: Packing::Plain, lines: 0, bodies: 0, apart: true, ends: true };
        let mut lines = Vec::new();
        PartCensus::hash_census(NameKey::new(&[7; 32]), fit, Census::default())
            .write_lines(&mut lines)
            .unwrap();
        assert!(matches!(PartCensus::read_parts(&lines[..], &[8; 32]), Err(CensusError::OtherSalt)));
        let twice = [&lines[..], &lines[..]].concat();
        let merged = PartCensus::read_parts(&twice[..], &[7; 32]).unwrap().merge_parts();
        assert!(matches!(merged, Err(CensusError::Apart)));
    }
}
