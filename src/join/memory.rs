//! The join in memory, over all cores.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{Block, Effort, Match};
use super::index::Cutting;
use super::records::Records;
use super::stats::{Order, Stats};
use super::{Query, Score};

/// Keys of one block's index, about; each takes some 40 bytes while the index is built.
pub(super) const BLOCK_KEYS: u64 = 1 << 24;

/// Fewer records than keys in a block by this are not worth counting: posts have 30 or 40 keys.
const MANY_KEYS: u64 = 256;

/// Texts that one task counts or spells.
const CHUNK: usize = 1 << 13;

/// Two texts at or over the threshold, by their places in the input, `a < b`.
pub(super) type Found = (u32, u32, Score);

/// Every pair of these texts, which are distinct and not empty, ascending.
pub(super) fn matches(texts: &[&str], query: &Query, block_keys: u64) -> (Vec<Found>, Effort) {
    let order = Order::new(&count(texts, query), query.threshold);
    let (records, texts) = spell(texts, &order);
    let (mut found, mut effort) = (Vec::<Match>::new(), Effort::default());
    for range in blocks(&records, &order, block_keys) {
        let start = range.start;
        let block = Block::new(&records, range, &order);
        effort.keys += block.keys();
        let concerned = records.count_while(start, |size| block.concerns(size));
        let (more, spent) = block.matches(&records, start..concerned);
        found.extend(more);
        effort += spent;
    }
    let mut found: Vec<Found> = found
        .into_iter()
        .map(|Match { a, b, score }| {
            let (a, b) = (texts[a as usize], texts[b as usize]);
            (a.min(b), a.max(b), score)
        })
        .collect();
    found.par_sort_unstable_by_key(|&(a, b, _)| (a, b));
    (found, effort)
}

fn count(texts: &[&str], query: &Query) -> Stats {
    let share = texts.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    texts
        .par_chunks(share)
        .map(|texts| {
            let mut stats = Stats::new(query.metric);
            texts.iter().for_each(|text| stats.add(text));
            stats
        })
        .reduce(|| Stats::new(query.metric), Stats::merge)
}

/// The texts as records, and by record the text's place.
fn spell(texts: &[&str], order: &Order) -> (Records, Vec<u32>) {
    let chunks: Vec<Records> = texts
        .par_chunks(CHUNK)
        .map(|texts| {
            let mut records = Records::from(0);
            let (mut scratch, mut symbols) = (Vec::new(), Vec::new());
            for text in texts {
                symbols.clear();
                order.spell(text, &mut scratch, &mut symbols);
                records.push(&symbols, order);
            }
            records
        })
        .collect();
    let at = |text: u32| (&chunks[text as usize / CHUNK], text % CHUNK as u32);
    let mut by_size: Vec<u32> = (0..texts.len() as u32).collect();
    by_size.par_sort_by_key(|&text| at(text).0.size(at(text).1));
    let mut records = Records::from(0);
    by_size.iter().for_each(|&text| records.push_from(at(text).0, at(text).1));
    (records, by_size)
}

/// Runs of records with about so many keys in an index.
fn blocks(records: &Records, order: &Order, block_keys: u64) -> Vec<Range<u32>> {
    let all: Vec<u32> = (records.first..records.end()).collect();
    if all.len() as u64 <= block_keys / MANY_KEYS {
        return all.first().map(|&first| first..records.end()).into_iter().collect();
    }
    let counts: Vec<u32> = all
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut cutting = Cutting::default();
            chunk.iter().map(|&record| cutting.of(records, record, order)).collect::<Vec<u32>>()
        })
        .collect();
    let (mut blocks, mut start, mut keys) = (Vec::new(), records.first, 0);
    for (record, count) in (records.first..).zip(counts) {
        if record > start && keys + u64::from(count) > block_keys {
            blocks.push(start..record);
            (start, keys) = (record, 0);
        }
        keys += u64::from(count);
    }
    if start < records.end() {
        blocks.push(start..records.end());
    }
    blocks
}
