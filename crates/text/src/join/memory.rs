//! The join in memory, over all cores.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{Block, can_concern};
use super::index::Cutting;
use super::records::Records;
use super::stats::{Order, Stats};
use super::watch::WorkPart;
use super::{Effort, Match, Query};

/// Keys of one block's index, about; each takes some 40 bytes while the index is built, of bags some 56.
pub(super) const BLOCK_KEYS: u64 = 1 << 24;

/// Fewer records than keys in a block by this are not worth counting: posts have 30 or 40 keys.
const MANY_KEYS: u64 = 256;

/// Texts that one task counts or spells.
const CHUNK: usize = 1 << 13;

/// What the steps before the looking up take of them, about: guessed, and of no effect but on how long a bar says that it
/// will take.
const COUNT: f64 = 0.13;
const SPELL: f64 = 0.20;
const CUT: f64 = 0.17;
const INDEX: f64 = 0.50;

/// Every pair of these texts, which are distinct and not empty, by their places in the input, `a < b`, ascending. The rows
/// of each text are counted, too.
pub(super) fn match_texts(
    texts: &[&str],
    rows: &[Vec<u32>],
    query: &Query,
    block_keys: u64,
    part: WorkPart<'_>,
) -> (Vec<Match>, Effort) {
    let (probe, before) = part.of_join();
    let order = Order::new(&count_texts(texts, rows, query, before.narrow_to(COUNT)), query.threshold);
    let (records, texts) = spell_texts(texts, &order, before.narrow_to(SPELL));
    let (mut found, mut effort) = (Vec::<Match>::new(), Effort::default());
    if part.is_stopped() {
        return (Vec::new(), effort);
    }
    let blocks = split_blocks(&records, &order, block_keys, before.narrow_to(CUT));
    let index = before.narrow_to(INDEX);
    let concerned: Vec<u32> = blocks
        .iter()
        .map(|range| {
            let largest = records.size(range.end - 1);
            records.count_while(range.start, |size| can_concern(&order, largest, size))
        })
        .collect();
    let probes: usize = blocks.iter().zip(&concerned).map(|(range, end)| (end - range.start) as usize).sum();
    let (indexed, probed) = (index.over_items(texts.len()), probe.over_items(probes));
    for (range, concerned) in blocks.into_iter().zip(concerned) {
        if part.is_stopped() {
            return (Vec::new(), effort);
        }
        let start = range.start;
        let block = Block::new(&records, range, &order, indexed);
        effort.keys += block.count_keys();
        let (more, spent) = block.match_records(&records, start..concerned, probed);
        found.extend(more);
        effort += spent;
    }
    for found in &mut found {
        let (a, b) = (texts[found.a as usize], texts[found.b as usize]);
        (found.a, found.b) = (a.min(b), a.max(b));
    }
    found.par_sort_unstable_by_key(|found| (found.a, found.b));
    (found, effort)
}

fn count_texts(texts: &[&str], rows: &[Vec<u32>], query: &Query, part: WorkPart<'_>) -> Stats {
    let items = part.over_items(texts.len());
    let share = texts.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    texts
        .par_chunks(share)
        .zip(rows.par_chunks(share))
        .map(|(texts, rows)| {
            let mut stats = Stats::new(query.metric);
            for (texts, rows) in texts.chunks(CHUNK).zip(rows.chunks(CHUNK)) {
                if !items.begin_items(texts.len()) {
                    break;
                }
                texts.iter().zip(rows).for_each(|(text, rows)| stats.add_copies(text, rows.len() as u64));
            }
            stats
        })
        .reduce(|| Stats::new(query.metric), Stats::merge)
}

/// The texts as records, and by record the text's place.
fn spell_texts(texts: &[&str], order: &Order, part: WorkPart<'_>) -> (Records, Vec<u32>) {
    let items = part.over_items(texts.len());
    let chunks: Vec<Records> = texts
        .par_chunks(CHUNK)
        .map(|texts| {
            let mut records = Records::from(0);
            let (mut scratch, mut symbols) = (Vec::new(), Vec::new());
            // What is spelled as nothing is found nowhere, and still has its place.
            let go = items.begin_items(texts.len());
            for text in texts {
                let text = if go { text } else { "" };
                symbols.clear();
                order.spell_text(text, &mut scratch, &mut symbols);
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
fn split_blocks(records: &Records, order: &Order, block_keys: u64, part: WorkPart<'_>) -> Vec<Range<u32>> {
    let items = part.over_items((records.next_number() - records.first) as usize);
    let all: Vec<u32> = (records.first..records.next_number()).collect();
    if all.len() as u64 <= block_keys / MANY_KEYS {
        items.begin_items(all.len());
        return all.first().map(|&first| first..records.next_number()).into_iter().collect();
    }
    let counts: Vec<u32> = all
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut cutting = Cutting::default();
            let chunk = if items.begin_items(chunk.len()) { chunk } else { &[] };
            chunk.iter().map(|&record| cutting.count_keys(records, record, order)).collect::<Vec<u32>>()
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
    if start < records.next_number() {
        blocks.push(start..records.next_number());
    }
    blocks
}
