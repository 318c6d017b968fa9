//! The inverted index from keys to a block of records, in shards that are built apart.

use std::ops::Range;

use rayon::prelude::*;

use super::keys::{Key, Placed, cut, placed};
use super::records::Records;
use super::stats::Order;

/// Shards; a power of two.
const SHARDS: usize = 256;

/// Bits of the filter a key, about.
const FILTER_BITS: usize = 8;

/// Records whose keys are cut in one go.
const CHUNK: usize = 4096;

/// A record in the list of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub record: u32,
    /// Part of the key's hash, for lists that share a bucket.
    tag: u16,
    /// The key's skip, 65535 where it is more: a lower bound.
    pub skip: u16,
}

/// Lists of records by key, each in the order of the records.
pub(super) struct Index {
    shards: Vec<Shard>,
}

#[derive(Default)]
struct Shard {
    /// A bit by hash, set where some key has it: most keys that are looked up are in no index, and this is
    /// a tenth of the memory to look at. Their number is a power of two.
    filter: Vec<u64>,
    /// Bucket k is `postings[starts[k]..starts[k + 1]]`; their number is a power of two.
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    record: u32,
    skip: u16,
}

impl Index {
    /// Indexes a block of records for partners of their sizes and above.
    pub fn new(records: &Records, block: Range<u32>, order: &Order) -> Self {
        let all: Vec<u32> = block.collect();
        let chunks: Vec<Vec<Vec<Entry>>> =
            all.par_chunks(CHUNK).map(|chunk| entries(records, order, chunk)).collect();
        let shards = (0..SHARDS).into_par_iter().map(|s| Shard::new(chunks.iter().map(|chunk| &chunk[s])));
        Self { shards: shards.collect() }
    }

    /// Keys of the block.
    pub fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.postings.len() as u64).sum()
    }

    /// Where the holders of a key are, if anywhere.
    pub fn bucket(&self, hash: u64) -> Range<u32> {
        let shard = &self.shards[shard_of(hash)];
        let (word, bit) = shard.filter_bit(hash);
        if shard.filter[word] >> bit & 1 == 0 {
            return 0..0;
        }
        let bucket = shard.bucket(hash);
        shard.starts[bucket]..shard.starts[bucket + 1]
    }

    /// Records of a bucket that may hold the key, ascending, and few that do not.
    pub fn holders(&self, hash: u64, bucket: Range<u32>) -> impl Iterator<Item = Posting> + '_ {
        let postings = &self.shards[shard_of(hash)].postings[bucket.start as usize..bucket.end as usize];
        postings.iter().copied().filter(move |posting| posting.tag == hash as u16)
    }
}

/// Cuts keys for an index, record after record.
#[derive(Default)]
pub(super) struct Cutting {
    tokens: Vec<Placed>,
    keys: Vec<Key>,
}

impl Cutting {
    /// How many keys a record has in an index.
    pub fn of(&mut self, records: &Records, record: u32, order: &Order) -> u32 {
        self.cut(records, record, order);
        self.keys.len() as u32
    }

    fn cut(&mut self, records: &Records, record: u32, order: &Order) {
        placed(records.symbols(record), order, &mut self.tokens);
        self.keys.clear();
        cut(&self.tokens, order.plan.upward(records.size(record)), order, &mut self.keys);
    }
}

fn entries(records: &Records, order: &Order, chunk: &[u32]) -> Vec<Vec<Entry>> {
    let mut shards: Vec<Vec<Entry>> = vec![Vec::new(); SHARDS];
    let mut cutter = Cutting::default();
    for &record in chunk {
        cutter.cut(records, record, order);
        for &Key { hash, skip } in &cutter.keys {
            let skip = u16::try_from(skip).unwrap_or(u16::MAX);
            shards[shard_of(hash)].push(Entry { hash, record, skip });
        }
    }
    shards
}

fn shard_of(hash: u64) -> usize {
    (hash >> 56) as usize % SHARDS
}

impl Shard {
    fn new<'a>(parts: impl Iterator<Item = &'a Vec<Entry>> + Clone) -> Self {
        let total: usize = parts.clone().map(Vec::len).sum();
        let buckets = (total / 2).next_power_of_two();
        let blank = Posting { record: 0, tag: 0, skip: 0 };
        let filter = vec![0; (total * FILTER_BITS / 64).next_power_of_two()];
        let mut shard = Self { filter, starts: vec![0; buckets + 2], postings: vec![blank; total] };
        // Counts two places on, so that after the fill below each start is where it belongs.
        for entry in parts.clone().flatten() {
            let bucket = shard.bucket(entry.hash);
            shard.starts[bucket + 2] += 1;
            let (word, bit) = shard.filter_bit(entry.hash);
            shard.filter[word] |= 1 << bit;
        }
        for i in 2..shard.starts.len() {
            shard.starts[i] += shard.starts[i - 1];
        }
        for entry in parts.flatten() {
            let bucket = shard.bucket(entry.hash);
            let place = &mut shard.starts[bucket + 1];
            shard.postings[*place as usize] =
                Posting { record: entry.record, tag: entry.hash as u16, skip: entry.skip };
            *place += 1;
        }
        shard
    }

    fn filter_bit(&self, hash: u64) -> (usize, u32) {
        ((hash >> 30) as usize & (self.filter.len() - 1), (hash >> 16) as u32 & 63)
    }

    fn bucket(&self, hash: u64) -> usize {
        let buckets = self.starts.len() - 2;
        (hash >> 20) as usize & (buckets - 1)
    }
}
