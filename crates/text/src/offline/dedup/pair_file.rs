//! Similar pairs that wait on disk: where millions of posts have hundreds of millions of pairs, these take more memory
//! than all else. A pair takes 24 bytes in the file, and 32 more while it is sorted.

use std::path::{Path, PathBuf};

use super::similar_pairs::SimilarPair;
use crate::join::{DiskError, Merge, Reader, Sorter, Spill, Watch, Working, Writer};

/// Words of 32 bits that are sorted at once, at most: more are not worth it, and would let who stops wait.
const MOST_WORDS: usize = 1 << 24;

/// Pairs between two checks for a requested stop.
pub(super) const OFTEN: usize = 1 << 13;

/// Words of a pair, without its length.
const WORDS: usize = 5;

/// Pairs of groups in a file, in order; the file is removed when this is dropped.
pub struct PairsOnDisk {
    path: PathBuf,
    len: usize,
    names: Names,
    limit: usize,
    /// Last, so that the file is removed after its readers are closed.
    folder: Working,
}

/// A pair with the keys that it is sorted by.
pub type Sorted = ((u32, u32), SimilarPair);

/// The names of predicates and vetoes that occurred, each known by its position.
#[derive(Default)]
struct Names(Vec<&'static str>);

impl Names {
    /// A name's number, from 1.
    fn number_of_name(&mut self, name: &'static str) -> u32 {
        let at = self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        });
        at as u32 + 1
    }

    fn get(&self, number: u32) -> Option<&'static str> {
        self.0.get((number as usize).checked_sub(1)?).copied()
    }

    fn pack_pair(&mut self, pair: &SimilarPair) -> [u32; WORDS] {
        let (predicate, veto) =
            (self.number_of_name(pair.predicate), pair.veto.map_or(0, |veto| self.number_of_name(veto)));
        let score = pair.score.to_bits();
        let of = u32::from(pair.same) | predicate << 1 | veto << 16;
        [pair.a, pair.b, of, (score >> 32) as u32, score as u32]
    }

    fn unpack_pair(&self, [a, b, of, high, low]: [u32; WORDS]) -> SimilarPair {
        SimilarPair {
            a,
            b,
            score: f64::from_bits(u64::from(high) << 32 | u64::from(low)),
            same: of & 1 == 1,
            predicate: self.get(of >> 1 & 0x7FFF).unwrap_or("none"),
            veto: self.get(of >> 16),
        }
    }
}

/// Pairs on their way to the file.
pub(super) struct PairWriter {
    out: Writer,
    pairs: PairsOnDisk,
}

impl PairWriter {
    /// In a new folder where the join has its own.
    pub fn create(spill: Spill<'_>) -> Result<Self, DiskError> {
        Self::within_limit(spill.folder, (spill.memory / 8 / 4).clamp(1024, MOST_WORDS))
    }

    /// With this many words sorted at once.
    pub fn within_limit(under: &Path, limit: usize) -> Result<Self, DiskError> {
        let folder = Working::new(under, ".pairs-")?;
        let path = folder.path().join("pairs");
        let out = Writer::create(&path)?;
        Ok(PairWriter { out, pairs: PairsOnDisk { path, len: 0, names: Names::default(), limit, folder } })
    }

    pub fn push(&mut self, pair: &SimilarPair) -> Result<(), DiskError> {
        self.pairs.len += 1;
        self.out.push(&self.pairs.names.pack_pair(pair))
    }

    pub fn finish(self) -> Result<PairsOnDisk, DiskError> {
        self.out.finish()?;
        Ok(self.pairs)
    }
}

impl PairsOnDisk {
    /// Where further working files go.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them in order; none after an error.
    ///
    /// # Errors
    /// [`DiskError`] where the file cannot be read.
    pub fn read_pairs(&self) -> Result<impl Iterator<Item = Result<SimilarPair, DiskError>> + '_, DiskError> {
        let (mut from, mut list) = (Reader::open(&self.path, 0)?, Vec::new());
        let mut next = move || Ok(if from.next(&mut list)? { pack_words(&list) } else { None });
        Ok(until_failed(move || next().map(|words| words.map(|words| self.names.unpack_pair(words)))))
    }

    /// All of them, in memory.
    ///
    /// # Errors
    /// [`DiskError`] where the file cannot be read.
    pub fn into_memory(self) -> Result<Vec<SimilarPair>, DiskError> {
        self.read_pairs()?.collect()
    }

    /// Pairs ascending by these keys, once for each key that they are given; of equal keys in the order of the file.
    /// What is sorted waits on disk, too.
    ///
    /// # Errors
    /// [`DiskError`] where a working file cannot be written or read, or a stop was requested.
    pub fn sorted_by<K: IntoIterator<Item = (u32, u32)>>(
        &self,
        watch: &dyn Watch,
        keys: impl Fn(&SimilarPair) -> K,
    ) -> Result<impl Iterator<Item = Result<Sorted, DiskError>> + '_, DiskError> {
        let folder = Working::new(self.folder.path(), ".sorted-")?;
        let mut sorter = Sorter::new(folder.path(), "sorted", self.limit);
        let (mut from, mut list, mut n) = (Reader::open(&self.path, 0)?, Vec::new(), 0usize);
        while from.next(&mut list)? {
            if n.is_multiple_of(OFTEN) && watch.is_stopped() {
                return Err(DiskError::Stopped);
            }
            n += 1;
            let Some(words) = pack_words(&list) else { continue };
            for (first, second) in keys(&self.names.unpack_pair(words)) {
                let [a, b, of, high, low] = words;
                sorter.push(&[first, second, a, b, of, high, low])?;
            }
        }
        let mut sorted =
            SortedRuns { merge: sorter.finish()?.merge_runs()?, list: Vec::new(), _folder: folder };
        Ok(until_failed(move || {
            let found = sorted.next()?;
            Ok(found.map(|(keys, words)| (keys, self.names.unpack_pair(words))))
        }))
    }
}

fn pack_words(list: &[u32]) -> Option<[u32; WORDS]> {
    list.try_into().ok()
}

/// Sorted pairs as they are read.
struct SortedRuns {
    merge: Merge,
    list: Vec<u32>,
    /// Last, so that the files are removed after their readers are closed.
    _folder: Working,
}

/// The keys of a sorted pair, and its words.
type Keyed = ((u32, u32), [u32; WORDS]);

impl SortedRuns {
    fn next(&mut self) -> Result<Option<Keyed>, DiskError> {
        if !self.merge.next(&mut self.list)? {
            return Ok(None);
        }
        let &[first, second, ref rest @ ..] = self.list.as_slice() else { return Ok(None) };
        Ok(pack_words(rest).map(|words| ((first, second), words)))
    }
}

/// An iterator that an error ends.
pub(super) fn until_failed<T>(
    mut next: impl FnMut() -> Result<Option<T>, DiskError>,
) -> impl Iterator<Item = Result<T, DiskError>> {
    let mut failed = false;
    std::iter::from_fn(move || {
        let found = if failed { None } else { next().transpose() };
        failed |= matches!(found, Some(Err(_)));
        found
    })
}
