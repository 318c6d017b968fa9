//! Where the records of a dump are, in a separate file that can be rebuilt from the dump.
//!
//! A line of JSON, then numbers, lowest byte first: a row for each block of records (start, end, first and last
//! position, words of its filter), the hash of every id with its block, in order, and the filters.
//!
//! The words of a filter are hashes of n-grams: two neighbours if one of them is not ASCII, three if all are: there are so many Chinese characters that
//! two distinguish texts, and so few Latin letters that three are needed. A single non-ASCII character counts
//! too.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;
use riddlemill_files::fence;
use riddlemill_tables::Error;
use riddlemill_tables::durable::digest_plain;
use riddlemill_text::text::normalise::{Fold, fold};
use serde::{Deserialize, Serialize};

use crate::stages::import::{Block, Dump, DumpRecord, RecallFilter, read_blocks};

/// Raised whenever the layout changes, or the extraction of texts.
const VERSION: u32 = 2;

/// Bytes of a block's entry.
const ROW: usize = 40;

/// Bytes of an id's entry.
const NAME: usize = 12;

/// Held while an index is made, so that concurrent requests read the dump once.
static MAKING: Mutex<()> = Mutex::new(());

/// The inputs of an index, which is valid while they are unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IndexOrigin {
    version: u32,
    /// The source's name, its kind and the columns of a table; the profile of pages, and the place of a list in JSON.
    source: String,
    /// Longest record that is read, in bytes.
    limit: u64,
    bytes: u64,
    /// When the dump was last written, in nanoseconds of the system's clock.
    modified: u128,
}

#[derive(Serialize, Deserialize)]
struct IndexHead {
    origin: IndexOrigin,
    sha256: String,
    blocks: usize,
    ids: usize,
}

/// The index of one dump, in memory.
pub(super) struct Index {
    head: IndexHead,
    bytes: Vec<u8>,
    /// Offset of the blocks' entries.
    from: usize,
}

/// The data of a block while an index is made.
struct IndexBlock {
    ids: Vec<u64>,
    filter: Vec<u64>,
}

impl Index {
    /// The index of a dump: the existing one if it was made from this file, else a new one.
    pub(super) fn open(folder: &Path, dump: &Dump, limit: u64) -> Result<Index, Error> {
        let origin = origin_of_dump(dump, limit)?;
        let name = blake3::hash(format!("{}/{}", dump.source, dump.file).as_bytes());
        let path = folder.join(format!("{}.index", &name.to_hex()[..16]));
        let kept = || Index::read_file(&path).filter(|index| index.head.origin == origin);
        if let Some(index) = kept() {
            return Ok(index);
        }
        let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept() {
            return Ok(index);
        }
        let bytes = build_index(dump, origin, limit)?;
        // A temporary name, because two processes may make it at once. Not synced, because it can be rebuilt.
        let write = || {
            fence::create_folder(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&bytes)?;
            file.persist(&path).map_err(|e| e.error)
        };
        match write().map(drop) {
            // On a disk that may only be read, it is made for each call.
            Err(e) if matches!(e.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {}
            written => written.map_err(Error::io("write", &path))?,
        }
        Index::from_bytes(bytes).ok_or_else(|| Error::stale_file(&path, "an index that was just made"))
    }

    fn read_file(path: &Path) -> Option<Index> {
        Index::from_bytes(fs::read(path).ok()?)
    }

    /// `None` if the bytes are not a complete index.
    fn from_bytes(bytes: Vec<u8>) -> Option<Index> {
        let line = memchr::memchr(b'\n', &bytes)?;
        let head: IndexHead = serde_json::from_slice(&bytes[..line]).ok()?;
        let index = Index { head, bytes, from: line + 1 };
        let size: usize = (0..index.head.blocks).map(|block| index.block_words(block)).sum();
        (index.offset_of_filters() + size * 8 == index.bytes.len()).then_some(index)
    }

    pub(super) fn sha256(&self) -> &str {
        &self.head.sha256
    }

    pub(super) fn limit(&self) -> u64 {
        self.head.origin.limit
    }

    fn offset_of_ids(&self) -> usize {
        self.from + self.head.blocks * ROW
    }

    fn offset_of_filters(&self) -> usize {
        self.offset_of_ids() + self.head.ids * NAME
    }

    fn read_number(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    fn block_words(&self, block: usize) -> usize {
        self.read_number(self.from + block * ROW + 32) as usize
    }

    pub(super) fn read_block(&self, block: usize) -> Block {
        let at = self.from + block * ROW;
        let [start, end, first, last] = [0, 8, 16, 24].map(|field| self.read_number(at + field));
        Block { start, end, first, last }
    }

    /// The blocks that may contain all of these n-grams, in order.
    pub(super) fn blocks_with_runs(&self, runs: &[u64]) -> Vec<usize> {
        let mut at = self.offset_of_filters();
        let places: Vec<(usize, usize, usize)> = (0..self.head.blocks)
            .map(|block| {
                let size = self.block_words(block);
                let place = (block, at, size);
                at += size * 8;
                place
            })
            .collect();
        let set = |at: usize, bit: usize| {
            self.bytes.get(at + bit / 8).is_some_and(|byte| byte & 1 << (bit % 8) != 0)
        };
        places
            .into_par_iter()
            .filter(|(_, at, size)| runs.iter().all(|run| probe_bits(*run, *size).all(|bit| set(*at, bit))))
            .map(|(block, ..)| block)
            .collect()
    }

    /// The blocks that may contain a record with this id.
    pub(super) fn blocks_with_id(&self, id: &str) -> Vec<usize> {
        let wanted = hash(id);
        let name = |row: usize| self.read_number(self.offset_of_ids() + row * NAME);
        let (mut low, mut high) = (0, self.head.ids);
        while low < high {
            let middle = low + (high - low) / 2;
            if name(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        let block = |row: usize| {
            let at = self.offset_of_ids() + row * NAME + 8;
            self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
        };
        (low..self.head.ids)
            .take_while(|row| name(*row) == wanted)
            .filter_map(|row| Some(block(row)? as usize))
            .collect()
    }

    /// The block that contains the record at a position.
    pub(super) fn block_at_position(&self, position: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.head.blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.read_block(middle).last < position { low = middle + 1 } else { high = middle }
        }
        (low < self.head.blocks && self.read_block(low).first <= position).then_some(low)
    }
}

fn origin_of_dump(dump: &Dump, limit: u64) -> Result<IndexOrigin, Error> {
    let read = || {
        let meta = dump.path.metadata()?;
        let modified = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        Ok((meta.len(), modified))
    };
    let (bytes, modified) = read().map_err(Error::io("read", &dump.path))?;
    let mut source = serde_json::json!([dump.source, dump.kind, dump.fields]);
    let more = [dump.profile.as_ref().map(|profile| profile.decides()), dump.at.clone().map(Into::into)];
    if let Some(list) = source.as_array_mut() {
        list.extend(more.into_iter().flatten());
    }
    Ok(IndexOrigin { version: VERSION, source: source.to_string(), limit, bytes, modified })
}

/// Reads a dump and builds its index.
fn build_index(dump: &Dump, origin: IndexOrigin, limit: u64) -> Result<Vec<u8>, Error> {
    let digest_of = |records: Vec<DumpRecord>| {
        let mut runs: Vec<u64> = Vec::new();
        for record in &records {
            let text = fold(&record.text, Fold::KEY);
            runs.extend(hash_ngrams(&text).chain(hash_whole_text(&text)));
        }
        runs.sort_unstable();
        runs.dedup();
        let ids = records.iter().flat_map(|record| &record.ids).map(|id| hash(id)).collect();
        IndexBlock { ids, filter: build_filter(&runs) }
    };
    let mut found: Vec<(Block, IndexBlock)> = Vec::new();
    // What is withdrawn may come back: places are kept of all.
    read_blocks(dump, limit, &RecallFilter::default(), digest_of, |block, made| found.push((block, made)));
    // Pages that revisit others come last, wherever they are.
    found.sort_by_key(|(block, _)| block.first);
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let mut ids: Vec<(u64, u32)> = found
        .iter()
        .enumerate()
        .flat_map(|(place, (_, made))| made.ids.iter().map(move |id| (*id, number(place))))
        .collect();
    ids.par_sort_unstable();
    ids.dedup();
    let (sha256, _) = digest_plain(&dump.path).map_err(Error::io("read", &dump.path))?;
    let head = IndexHead { origin, sha256, blocks: found.len(), ids: ids.len() };
    let mut bytes = serde_json::to_vec(&head).map_err(|e| Error::stale_file(&dump.path, e))?;
    bytes.push(b'\n');
    for (block, made) in &found {
        for number in [block.start, block.end, block.first, block.last, made.filter.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
    }
    for (id, block) in ids {
        bytes.extend(id.to_le_bytes());
        bytes.extend(block.to_le_bytes());
    }
    for (_, made) in found {
        made.filter.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    Ok(bytes)
}

fn hash(id: &str) -> u64 {
    let hash = blake3::hash(id.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The hashes of a folded text's n-grams. All n-grams of a text occur in every text that contains it, except
/// that a word of one or two ASCII characters has none.
pub(super) fn hash_ngrams(folded: &str) -> impl Iterator<Item = u64> + '_ {
    let mut before = ['\0'; 2];
    folded.chars().flat_map(move |c| {
        let [first, second] = before;
        before = [second, c];
        let latin = |c: char| c != '\0' && c.is_ascii();
        let one = (!c.is_ascii()).then(|| hash_gram(&['\0', '\0', c]));
        let two =
            (second != '\0' && !(second.is_ascii() && c.is_ascii())).then(|| hash_gram(&['\0', second, c]));
        let three = (latin(first) && latin(second) && c.is_ascii()).then(|| hash_gram(&[first, second, c]));
        [one, two, three].into_iter().flatten()
    })
}

/// Entries for a whole text: three hashes, so that false positives are rare.
pub(super) fn hash_whole_text(folded: &str) -> [u64; 3] {
    let hash = blake3::hash(folded.as_bytes());
    let word = |n: usize| {
        hash.as_bytes()[n * 8..][..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    [word(0), word(1), word(2)]
}

/// N-grams of different lengths or characters have different numbers before mixing.
fn hash_gram(run: &[char; 3]) -> u64 {
    let number = run.iter().fold(0, |number, c| number << 21 | u64::from(u32::from(*c)));
    // The finaliser of splitmix64.
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Bits of a filter per entry.
const BITS: usize = 8;

/// Bits set per entry.
const PROBES: u64 = 3;

/// A Bloom filter of n-grams: false positives only.
pub(super) fn build_filter(runs: &[u64]) -> Vec<u64> {
    let mut bits = vec![0; (runs.len() * BITS).div_ceil(64).max(1)];
    for run in runs {
        for bit in probe_bits(*run, bits.len()) {
            bits[bit / 64] |= 1 << (bit % 64);
        }
    }
    bits
}

/// The bits of an entry in a filter with this many words.
pub(super) fn probe_bits(run: u64, size: usize) -> impl Iterator<Item = usize> {
    let bits = size as u64 * 64;
    let step = run >> 32 | 1;
    (0..PROBES).map(move |n| (run.wrapping_add(n.wrapping_mul(step)) % bits) as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use riddlemill_harvest::pages::Profile;

    use super::*;
    use crate::config::{SourceKind, Take};
    use crate::stages::import::Piece;

    #[test]
    fn an_index_is_of_one_way_to_read_a_dump() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        fs::write(&path, "<p>one</p><div>two</div>").unwrap();
        let with = |item: Option<&str>, at: Option<&str>| Dump {
            source: "s".into(),
            kind: SourceKind::Profile,
            language: None,
            take: Take::Jokes,
            published: None,
            fields: BTreeMap::new(),
            optional: Vec::new(),
            at: at.map(str::to_owned),
            profile: item.map(|item| Profile::from_json(&serde_json::json!({ "item": item })).unwrap()),
            licence: None,
            file: "dump".into(),
            named: path.clone(),
            path: path.clone(),
            sha256: String::new(),
            bytes: 0,
            piece: Piece::default(),
        };
        let origins = [(None, None), (Some("p"), None), (Some("div"), None), (None, Some("/data"))]
            .map(|(item, at)| origin_of_dump(&with(item, at), 1).unwrap());
        for (at, one) in origins.iter().enumerate() {
            assert_eq!(origins.iter().position(|other| other == one), Some(at));
        }
    }

    proptest! {
        #[test]
        fn a_text_has_every_run_of_what_it_holds(text in "[a-c云雨会恐高1-3]{0,40}", from in 0usize..40, length in 0usize..40) {
            let part: String = text.chars().skip(from).take(length).collect();
            let runs: Vec<u64> = hash_ngrams(&text).collect();
            let filter_of_text = build_filter(&runs);
            for run in hash_ngrams(&part) {
                prop_assert!(runs.contains(&run));
                prop_assert!(probe_bits(run, filter_of_text.len()).all(|bit| filter_of_text[bit / 64] & 1 << (bit % 64) != 0));
            }
        }
    }

    #[test]
    fn runs_tell_texts_apart() {
        let runs = |text: &str| hash_ngrams(text).collect::<Vec<_>>();
        assert_eq!((runs("云").len(), runs("云会").len(), runs("ab").len(), runs("abc").len()), (1, 3, 0, 1));
        assert_ne!(runs("云会"), runs("会云"));
    }
}
