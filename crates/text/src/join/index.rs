//! The inverted index from keys to a block of records, in shards that are built apart.

use std::ops::Range;

use rayon::prelude::*;

use super::keys::{Cutter, Key};
use super::rarest_bigram::{Rarer, Side};
use super::records::Records;
use super::signature::Classes;
use super::stats::Order;
use super::watch::Items;

/// Shards; a power of two.
pub(super) const SHARDS: usize = 256;

/// Bits of the filter a key, about.
const FILTER_BITS: usize = 8;

/// Postings that are read while a lookup waits for memory, about.
const LOOKUP: u64 = 32;

/// Records whose keys are cut in one go.
const CHUNK: usize = 4096;

/// The number of records that are fetched at once.
pub(super) const FETCHED: usize = 64;

/// A record in the list of a key, with data that can reject it without accessing the record, which would be a wait
/// for memory each time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posting {
    pub record: u32,
    /// The record's size, 65535 where it is that or more.
    size: u16,
    /// The key's skip, 65535 where it is more: a lower bound.
    pub skip: u16,
    /// The record's classes, and part of the key's hash for lists that share a bucket.
    tagged: [u64; 2],
}

impl Posting {
    /// The record's size, where it is small.
    #[inline(always)]
    pub fn known_size(self) -> Option<u32> {
        (self.size < u16::MAX).then_some(self.size.into())
    }

    #[inline(always)]
    pub fn classes(self) -> Classes {
        Classes::of_tagged(self.tagged)
    }

    #[inline(always)]
    fn may_hold(self, hash: u64) -> bool {
        self.tagged[0] as u8 == hash as u8
    }
}

/// A bag in the list of a bigram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub posting: Posting,
    /// The rarer pairs next to the list's pair.
    pub rarer: Rarer,
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
    /// Of bags, by posting: the rarer pairs next to the one that is the key.
    rarer: Vec<Rarer>,
}

/// What a shard is made of.
#[derive(Clone, Default)]
struct Entries {
    entries: Vec<IndexEntry>,
    /// Of bags, by entry.
    rarer: Vec<Rarer>,
}

#[derive(Clone, Copy)]
struct IndexEntry {
    hash: u64,
    record: u32,
    skip: u16,
}

impl Index {
    /// Indexes a block of records for partners of their sizes and above.
    pub fn new(records: &Records, block: Range<u32>, order: &Order, items: Items<'_>) -> Self {
        let all: Vec<u32> = block.collect();
        let chunks: Vec<Vec<Entries>> = all
            .par_chunks(CHUNK)
            .map(|chunk| {
                let chunk = if items.begin_items(chunk.len()) { chunk } else { &[] };
                entries_of(records, order, chunk)
            })
            .collect();
        // By shard, so that what a shard is made of goes when it is made.
        let mut of_shards: Vec<Vec<Entries>> = (0..SHARDS).map(|_| Vec::new()).collect();
        for chunk in chunks {
            of_shards.iter_mut().zip(chunk).for_each(|(parts, part)| parts.push(part));
        }
        Self { shards: of_shards.into_par_iter().map(|parts| Shard::new(&parts, records)).collect() }
    }

    /// Keys of the block.
    pub fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.postings.len() as u64).sum()
    }

    /// Whether a key may be here: false for nearly all that are not.
    pub fn may_hold(&self, hash: u64) -> bool {
        let shard = &self.shards[shard_of(hash)];
        let (word, bit) = shard.filter_bit(hash);
        shard.filter[word] >> bit & 1 == 1
    }

    /// The work of so many lookups of a [list](Index::listed_bags), about: each pair of a record that looks it up and one of the
    /// list is one at most. What it is exactly is known only when it is done.
    pub fn estimate_work(&self, hash: u64, lookups: usize) -> u64 {
        let shard = &self.shards[shard_of(hash)];
        let bucket = shard.bucket_of_hash(hash);
        lookups as u64 * (LOOKUP + u64::from(shard.starts[bucket + 1] - shard.starts[bucket]))
    }

    /// The work of one lookup of a key for a record, about: the postings before it are read.
    pub fn work_before(&self, hash: u64, record: u32) -> u64 {
        let bucket = self.holder_range(hash);
        let postings = &self.shards[shard_of(hash)].postings[bucket.start as usize..bucket.end as usize];
        LOOKUP + postings.partition_point(|posting| posting.record < record) as u64
    }

    /// Where the holders of a key are, if anywhere.
    pub fn holder_range(&self, hash: u64) -> Range<u32> {
        if !self.may_hold(hash) {
            return 0..0;
        }
        let shard = &self.shards[shard_of(hash)];
        let bucket = shard.bucket_of_hash(hash);
        shard.starts[bucket]..shard.starts[bucket + 1]
    }

    /// Bags that may hold a key, of whose hash the lower 48 bits and the shard are known, ascending, and few that do
    /// not.
    pub fn listed_bags(&self, hash: u64) -> impl Iterator<Item = Listed> + '_ {
        let shard = &self.shards[shard_of(hash)];
        let bucket = shard.bucket_of_hash(hash);
        let range = shard.starts[bucket] as usize..shard.starts[bucket + 1] as usize;
        let listed = shard.postings[range.clone()].iter().zip(&shard.rarer[range]);
        let listed = listed.map(|(&posting, &rarer)| Listed { posting, rarer });
        listed.filter(move |listed| listed.posting.may_hold(hash))
    }

    /// Whether a bucket that is not empty may have a holder of the key before this record, by its first one.
    pub fn may_have(&self, hash: u64, bucket: &Range<u32>, before: u32) -> bool {
        let first = self.shards[shard_of(hash)].postings[bucket.start as usize];
        first.record < before && (bucket.len() > 1 || first.may_hold(hash))
    }

    /// Records of a bucket that may hold the key, ascending, and few that do not.
    #[inline(always)]
    pub fn find_holders(&self, hash: u64, bucket: Range<u32>) -> impl Iterator<Item = Posting> + '_ {
        let postings = &self.shards[shard_of(hash)].postings[bucket.start as usize..bucket.end as usize];
        postings.iter().copied().filter(move |posting| posting.may_hold(hash))
    }
}

/// Cuts keys for an index, record after record.
#[derive(Default)]
pub(super) struct Cutting {
    cutter: Cutter,
    keys: Vec<Key>,
}

impl Cutting {
    /// How many keys a record has in an index.
    pub fn count_keys(&mut self, records: &Records, record: u32, order: &Order) -> u32 {
        self.cut_keys(records, record, order);
        self.keys.len() as u32
    }

    fn cut_keys(&mut self, records: &Records, record: u32, order: &Order) {
        self.keys.clear();
        let budget = order.plan.budget_upward(records.size(record));
        self.cutter.cut_keys(records.symbols(record), budget, order, &mut self.keys);
    }
}

fn entries_of(records: &Records, order: &Order, chunk: &[u32]) -> Vec<Entries> {
    let mut shards: Vec<Entries> = vec![Entries::default(); SHARDS];
    let mut cutter = Cutting::default();
    let of_bags = order.query.metric.is_of_bags();
    for &record in chunk {
        cutter.cut_keys(records, record, order);
        let keys = cutter.keys.iter().filter(|key| !records.is_lone(record, key.pair, order));
        for &Key { hash, skip, pair } in keys {
            let skip = u16::try_from(skip).unwrap_or(u16::MAX);
            let shard = &mut shards[shard_of(hash)];
            shard.entries.push(IndexEntry { hash, record, skip });
            if of_bags {
                shard.rarer.push(records.rarer_neighbours(record, pair));
            }
        }
    }
    for shard in &mut shards {
        // What is not used of thousands of lists is as much again.
        shard.entries.shrink_to_fit();
        shard.rarer.shrink_to_fit();
    }
    shards
}

pub(super) fn shard_of(hash: u64) -> usize {
    (hash >> 56) as usize % SHARDS
}

/// A hash of a shard, with bits that say nothing more of it.
pub(super) fn hash_in(shard: usize, hash: u64) -> u64 {
    ((shard as u64) << 56) | (hash & ((1 << 56) - 1))
}

impl Shard {
    fn new(parts: &[Entries], records: &Records) -> Self {
        let total: usize = parts.iter().map(|part| part.entries.len()).sum();
        let of_bags = parts.iter().any(|part| !part.rarer.is_empty());
        // A power of two, so that the bucket of a hash is found without a division.
        let buckets = total.next_power_of_two();
        let filter = vec![0; (total * FILTER_BITS / 64).next_power_of_two()];
        let postings = vec![Posting::default(); total];
        let rarer = vec![Rarer::default(); if of_bags { total } else { 0 }];
        let mut shard = Self { filter, starts: vec![0; buckets + 2], postings, rarer };
        // Counts two places on, so that after the fill below each start is where it belongs.
        for entry in parts.iter().flat_map(|part| &part.entries) {
            let bucket = shard.bucket_of_hash(entry.hash);
            shard.starts[bucket + 2] += 1;
            let (word, bit) = shard.filter_bit(entry.hash);
            shard.filter[word] |= 1 << bit;
        }
        for i in 2..shard.starts.len() {
            shard.starts[i] += shard.starts[i - 1];
        }
        for part in parts {
            for (n, &IndexEntry { hash, record, skip }) in part.entries.iter().enumerate() {
                if n.is_multiple_of(FETCHED) {
                    records.fetch_heads(part.entries[n..].iter().take(FETCHED).map(|entry| entry.record));
                }
                let bucket = shard.bucket_of_hash(hash);
                let place = &mut shard.starts[bucket + 1];
                let size = u16::try_from(records.size(record)).unwrap_or(u16::MAX);
                let tagged = records.signature(record).classes().with_tag(hash as u8);
                shard.postings[*place as usize] = Posting { record, size, skip, tagged };
                if let Some(&beside) = part.rarer.get(n) {
                    shard.rarer[*place as usize] = beside;
                }
                *place += 1;
            }
        }
        shard
    }

    fn filter_bit(&self, hash: u64) -> (usize, u32) {
        ((hash >> 30) as usize & (self.filter.len() - 1), (hash >> 16) as u32 & 63)
    }

    /// By the bits from 20 to 47: a shard has no more buckets.
    fn bucket_of_hash(&self, hash: u64) -> usize {
        let buckets = self.starts.len() - 2;
        (hash >> 20) as usize & (buckets - 1)
    }
}

/// The size of the sample of a list from which the most frequent rarer neighbour of its pair is determined.
const SAMPLE: usize = 64;

/// The rarer pair that is next to the list's own in most of its records, judging from a sample.
pub(super) fn common_pair(list: &[Listed]) -> Option<(Side, u32)> {
    let step = list.len().div_ceil(SAMPLE).max(1);
    let of_side = |side: Side| {
        let mut sample = [0; SAMPLE];
        let beside = list.iter().step_by(step).map(|listed| listed.rarer.pair_on_side(side));
        sample.iter_mut().zip(beside).for_each(|(place, beside)| *place = beside);
        sample.sort_unstable();
        let alike = sample.chunk_by(|x, y| x == y).filter(|alike| alike[0] != 0);
        alike.max_by_key(|alike| alike.len()).map(|alike| (alike.len(), side, alike[0]))
    };
    let found = [Side::Before, Side::After].into_iter().filter_map(of_side);
    found.max_by_key(|(count, ..)| *count).map(|(_, side, beside)| (side, beside))
}
