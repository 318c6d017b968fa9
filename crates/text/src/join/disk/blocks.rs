//! Last pass: block after block of the sorted records is indexed, and the larger records stream past.

use std::path::Path;

use rayon::prelude::*;

use super::sorter::{Reader, Runs, Sorter};
use super::{DiskError, DiskLimits};
use crate::join::block::Block;
use crate::join::index::Cutting;
use crate::join::records::Records;
use crate::join::stats::Order;
use crate::join::watch::WorkPart;
use crate::join::{Effort, Match, Score};

/// What looking for partners takes of a block's work, about.
const PROBE: f64 = 0.8;

/// Matches in both directions, as row, partner, numerator and denominator, and of bags what the bigrams weigh
/// that both hold; in order.
pub(super) fn match_blocks(
    records: &Path,
    count: usize,
    order: &Order,
    folder: &Path,
    limits: DiskLimits,
    part: WorkPart<'_>,
) -> Result<(Runs, Effort), DiskError> {
    let mut found = Sorter::new(folder, "pairs", limits.sort);
    let mut effort = Effort::default();
    let of_bags = order.query.metric.is_of_bags();
    let (mut first, mut position) = (0, 0);
    loop {
        let mut stream = Stream::open(records, first, position)?;
        let (block, rows) = stream.read_block(order, limits, part)?;
        if rows.is_empty() {
            break;
        }
        (first, position) = (block.next_number(), stream.from.position);
        // A block's part of the work is that of its records; nearly all of it is looking for partners.
        let part = part.narrow_to(rows.len() as f64 / count.max(1) as f64);
        let items = part.narrow_to(1.0 - PROBE).over_items(rows.len());
        let index = Block::new(&block, block.first..block.next_number(), order, items);
        let items = part.narrow_to(PROBE).over_items(count - block.first as usize);
        DiskError::unless_stopped(part)?;
        effort.keys += index.count_keys();
        let mut put = |matches: Vec<Match>, probes: &[u32], probes_from: u32| -> Result<(), DiskError> {
            for Match { a, b, score: Score { num, den }, shared_pairs } in matches {
                let (a, b) = (probes[(a - probes_from) as usize], rows[(b - block.first) as usize]);
                let figures = if of_bags { &[num, den, shared_pairs][..] } else { &[num, den] };
                found.push(&[&[a, b], figures].concat())?;
                found.push(&[&[b, a], figures].concat())?;
            }
            Ok(())
        };
        let (matches, spent) = index.match_records(&block, block.first..block.next_number(), items);
        effort += spent;
        put(matches, &rows, block.first)?;
        loop {
            DiskError::unless_stopped(part)?;
            let (chunk, rows) = stream.read_chunk(order, limits.chunk)?;
            let concerned = if rows.is_empty() {
                chunk.first
            } else {
                chunk.count_while(chunk.first, |size| index.may_concern(size))
            };
            let (matches, spent) = index.match_records(&chunk, chunk.first..concerned, items);
            effort += spent;
            put(matches, &rows, chunk.first)?;
            if concerned < chunk.next_number() || rows.is_empty() {
                break;
            }
        }
    }
    Ok((found.finish()?, effort))
}

/// The sorted records from some number on.
struct Stream {
    from: Reader,
    next: u32,
    list: Vec<u32>,
}

impl Stream {
    fn open(path: &Path, next: u32, position: u64) -> Result<Self, DiskError> {
        Ok(Self { from: Reader::open(path, position)?, next, list: Vec::new() })
    }

    /// The next so many records, fewer at the end, and their rows.
    fn read_chunk(&mut self, order: &Order, most: usize) -> Result<(Records, Vec<u32>), DiskError> {
        let (mut records, mut rows) = (Records::from(self.next), Vec::new());
        while rows.len() < most && self.from.next(&mut self.list)? {
            if let [_, row, symbols @ ..] = self.list.as_slice() {
                records.push(symbols, order);
                rows.push(*row);
            }
        }
        self.next = records.next_number();
        Ok((records, rows))
    }

    /// As many chunks as have about the keys of a block together.
    fn read_block(
        &mut self,
        order: &Order,
        limits: DiskLimits,
        part: WorkPart<'_>,
    ) -> Result<(Records, Vec<u32>), DiskError> {
        let (mut records, mut rows) = (Records::from(self.next), Vec::new());
        let mut keys = 0;
        while keys < limits.block_keys(order.query.metric) {
            DiskError::unless_stopped(part)?;
            let (chunk, more) = self.read_chunk(order, limits.chunk)?;
            if more.is_empty() {
                break;
            }
            let all: Vec<u32> = (chunk.first..chunk.next_number()).collect();
            let count = |part: &[u32]| {
                let mut cutting = Cutting::default();
                part.iter().map(|&r| u64::from(cutting.count_keys(&chunk, r, order))).sum::<u64>()
            };
            keys += all.par_chunks(1 << 10).map(count).sum::<u64>();
            all.iter().for_each(|&record| records.push_from(&chunk, record));
            rows.extend(more);
        }
        Ok((records, rows))
    }
}
