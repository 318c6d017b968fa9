//! The letters of one list of the index, in the list's own order, and the records of the list by their first ones.

use super::block::Block;
use super::index::{FETCHED, Listed};

/// Letters are counted in so many records of a list.
const SAMPLE: usize = 64;

/// A letter that one in so many records of a list holds comes last there.
const COMMON: usize = 8;

/// Where no letter's records begin.
const NOWHERE: u32 = u32::MAX;

/// Letters of one list.
pub(super) struct Letters {
    /// By letter: in how many of the sample it is, and whether that is many.
    counts: Vec<u16>,
    is_common: Vec<bool>,
    counted: Vec<u32>,
    /// Each letter that a record of the list has before what it may leave unshared, with the record.
    prefixes: Vec<(u32, Node)>,
    /// The same by letter, for each in the order of the list: those of a letter are `nodes[starts[letter]..ends[letter]]`.
    nodes: Vec<Node>,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

/// A record of a list under one of its letters.
#[derive(Clone, Copy, Default)]
pub(super) struct Node {
    /// Its place in the list.
    pub i: u32,
    pub size: u32,
    /// What it leaves unshared at least where this is the first letter that it shares.
    pub skip: u32,
}

impl Letters {
    /// Of a list that is not there yet, over an alphabet of so many letters.
    pub fn new(alphabet: usize) -> Self {
        Self {
            counts: vec![0; alphabet],
            is_common: vec![false; alphabet],
            counted: Vec::new(),
            prefixes: Vec::new(),
            nodes: Vec::new(),
            starts: vec![NOWHERE; alphabet],
            ends: vec![0; alphabet],
        }
    }

    /// Records of the list that have a letter before what they may leave unshared, in its order.
    #[inline(always)]
    pub fn records_with(&self, letter: u32) -> &[Node] {
        let range = self.starts[letter as usize] as usize..self.ends[letter as usize] as usize;
        // Nothing where no record of the list has the letter so early.
        self.nodes.get(range).unwrap_or_default()
    }

    /// Which letters many of the list hold.
    pub fn count_letters(&mut self, block: &Block<'_>, list: &[Listed]) {
        let step = list.len().div_ceil(SAMPLE).max(1);
        let sample = list.iter().step_by(step).map(|listed| listed.posting.record);
        let many = (sample.len() / COMMON).max(2) as u16;
        block.records.fetch_with_letters(sample.clone());
        for record in sample {
            let letters = block.records.letters_and_pairs(record).0;
            for of_letter in letters.chunk_by(|x, y| x == y) {
                let count = &mut self.counts[of_letter[0] as usize];
                *count += 1;
                if *count == 1 {
                    self.counted.push(of_letter[0]);
                }
            }
        }
        for &letter in &self.counted {
            self.is_common[letter as usize] = self.counts[letter as usize] > many;
        }
    }

    /// Puts the records of a list under their letters, for partners of this size and above.
    pub fn index(&mut self, block: &Block<'_>, list: &[Listed], least: u32) {
        let query = block.order.query;
        for (listed, i) in list.iter().zip(0u32..) {
            let record = listed.posting.record;
            if (i as usize).is_multiple_of(FETCHED) {
                let some = list[i as usize..].iter().take(FETCHED);
                block.records.fetch_with_letters(some.map(|listed| listed.posting.record));
            }
            let size = block.records.size(record);
            let spare = size - query.metric.least_shared(query.threshold, size, least.max(size)).min(size);
            self.each_prefix_letter(
                block.records.letters_and_pairs(record).0,
                spare,
                block,
                |letters, letter, skip| {
                    letters.prefixes.push((letter, Node { i, size, skip }));
                    letters.ends[letter as usize] += 1;
                },
            );
        }
        let mut start = 0;
        for &(letter, _) in &self.prefixes {
            // How many there are becomes where they begin, once for each letter.
            let end = &mut self.ends[letter as usize];
            let place = &mut self.starts[letter as usize];
            if *place == NOWHERE {
                (*place, start) = (start, start + *end);
                *end = *place;
            }
        }
        self.nodes.clear();
        self.nodes.resize(self.prefixes.len(), Node::default());
        for &(letter, node) in &self.prefixes {
            let end = &mut self.ends[letter as usize];
            self.nodes[*end as usize] = node;
            *end += 1;
        }
    }

    /// Each letter of a record, in the order of the list, before which it may leave all unshared, and what that weighs.
    #[inline(always)]
    pub fn each_prefix_letter(
        &mut self,
        letters: &[u32],
        spare: u32,
        block: &Block<'_>,
        mut visit_letter: impl FnMut(&mut Self, u32, u32),
    ) {
        let mut skipped = 0;
        for common in [false, true] {
            let mut rest = letters;
            while let Some(&letter) = rest.first() {
                let times = rest.iter().take_while(|other| **other == letter).count();
                rest = &rest[times..];
                if self.is_common[letter as usize] != common {
                    continue;
                }
                if skipped > spare {
                    return;
                }
                visit_letter(self, letter, skipped);
                skipped += block.order.weight_of_symbol(letter) * times as u32;
            }
        }
    }

    pub fn reset_letters(&mut self) {
        // Only what was used is reset, because the tables have an entry for the whole alphabet.
        for &letter in &self.counted {
            self.counts[letter as usize] = 0;
            self.is_common[letter as usize] = false;
        }
        for (letter, _) in self.prefixes.drain(..) {
            (self.starts[letter as usize], self.ends[letter as usize]) = (NOWHERE, 0);
        }
        self.counted.clear();
    }
}
