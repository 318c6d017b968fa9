//! The inverted index from keys to records, in shards that are built apart.

use rayon::prelude::*;

use super::keys::{Key, Plan, Token, cut};
use super::rows::Records;

/// Shards; a power of two.
const SHARDS: usize = 256;

/// Records whose keys are cut in one go.
const CHUNK: usize = 4096;

/// A record in the list of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub record: u32,
    /// Part of the key's hash, for lists that share a bucket.
    tag: u16,
    /// The key's skip, 255 where it is more: a lower bound.
    pub skip: u8,
}

/// Lists of records by key, each in the order of the records.
pub(super) struct Index {
    shards: Vec<Shard>,
}

#[derive(Default)]
struct Shard {
    /// Bucket k is `postings[starts[k]..starts[k + 1]]`; their number is a power of two.
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    record: u32,
}

impl Index {
    /// Indexes every record for partners of its size and above.
    pub fn new(records: &Records, plan: &Plan) -> Self {
        let all: Vec<u32> = (0..records.len() as u32).collect();
        let chunks: Vec<Vec<Vec<Entry>>> =
            all.par_chunks(CHUNK).map(|chunk| entries(records, plan, chunk)).collect();
        let shards = (0..SHARDS).into_par_iter().map(|s| Shard::new(chunks.iter().map(|chunk| &chunk[s])));
        Self { shards: shards.collect() }
    }

    /// Records that may hold the key, ascending, and few that do not.
    pub fn holders(&self, hash: u64) -> impl Iterator<Item = Posting> + '_ {
        let shard = &self.shards[shard_of(hash)];
        let bucket = shard.bucket(hash);
        let range = shard.starts[bucket] as usize..shard.starts[bucket + 1] as usize;
        shard.postings[range].iter().copied().filter(move |posting| posting.tag == hash as u16)
    }
}

fn entries(records: &Records, plan: &Plan, chunk: &[u32]) -> Vec<Vec<Entry>> {
    let mut shards: Vec<Vec<Entry>> = vec![Vec::new(); SHARDS];
    let (mut tokens, mut keys) = (Vec::<Token>::new(), Vec::new());
    let mut budget = None;
    for &record in chunk {
        let size = records.size(record);
        let (_, budget) = *match &budget {
            Some((of, _)) if *of == size => &budget,
            _ => {
                budget = Some((size, plan.upward(size)));
                &budget
            }
        }
        .as_ref()
        .expect("set above");
        records.tokens(record, &mut tokens);
        keys.clear();
        cut(&tokens, budget, records.len() as f64, &records.chance, &mut keys);
        for &key in &keys {
            shards[shard_of(key.hash)].push(Entry { key, record });
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
        let mut shard = Self { starts: vec![0; buckets + 2], postings: Vec::new() };
        let blank = Posting { record: 0, tag: 0, skip: 0 };
        shard.postings.resize(total, blank);
        // Counts two places on, so that after the fill below each start is where it belongs.
        for entry in parts.clone().flatten() {
            let bucket = shard.bucket(entry.key.hash);
            shard.starts[bucket + 2] += 1;
        }
        for i in 2..shard.starts.len() {
            shard.starts[i] += shard.starts[i - 1];
        }
        for entry in parts.flatten() {
            let bucket = shard.bucket(entry.key.hash);
            let place = &mut shard.starts[bucket + 1];
            shard.postings[*place as usize] = Posting {
                record: entry.record,
                tag: entry.key.hash as u16,
                skip: entry.key.skip.min(255) as u8,
            };
            *place += 1;
        }
        shard
    }

    fn bucket(&self, hash: u64) -> usize {
        let buckets = self.starts.len() - 2;
        (hash >> 20) as usize & (buckets - 1)
    }
}
