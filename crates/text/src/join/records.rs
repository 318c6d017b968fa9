//! Records: distinct rows as sequences or sets of symbols, in the order of their sizes.

use std::hint::black_box;

use super::keys::NO_PAIR;
use super::rarest_bigram::{BagPlaces, Rarer, append_places, rarer_neighbours};
use super::signature::{PairClasses, Signature};
use super::stats::Order;
use super::tokens::letters_and_pairs;

/// A run of records in ascending order of size. The number of a record is its place in the whole order, of which
/// this may be a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// The number of the first one here.
    pub first: u32,
    /// Symbols of all, in text order for sequences, ascending for sets.
    symbols: Vec<u32>,
    heads: Vec<Head>,
    /// Of bags.
    pairs: Vec<OfPairs>,
    /// Of bags, for each of their bigrams, in the order of the symbols.
    places: Vec<BagPlaces>,
}

/// Data on the bigrams of a bag in addition to their symbols.
#[derive(Clone, Copy, Debug)]
struct OfPairs {
    classes: PairClasses,
    /// What they weigh.
    weight: u32,
    /// Where those of the bag begin in `places`.
    start: usize,
}

/// Data on a record in addition to its symbols, on one cache line, because records are accessed in random order.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Head {
    /// Its symbols are `symbols[start..start + letters + pairs]`.
    start: usize,
    /// How many of them are no bigrams.
    letters: u32,
    pairs: u32,
    size: u32,
    signature: Signature,
}

impl Records {
    /// None yet; the first will have this number.
    pub fn from(first: u32) -> Self {
        Self { first, ..Self::default() }
    }

    /// Appends a record, which must not be smaller than the one before.
    pub fn push(&mut self, symbols: &[u32], order: &Order) {
        let (letters, pairs) = letters_and_pairs(symbols);
        self.heads.push(Head {
            start: self.symbols.len(),
            letters: letters.len() as u32,
            pairs: pairs.len() as u32,
            size: order.size_of_symbols(symbols),
            signature: Signature::new(symbols, order),
        });
        self.symbols.extend_from_slice(symbols);
        if order.query.metric.is_of_bags() {
            let weight =
                pairs.iter().fold(0, |sum: u32, &pair| sum.saturating_add(order.weight_of_pair(pair)));
            let classes = PairClasses::from_pairs(pairs);
            self.pairs.push(OfPairs { classes, weight, start: self.places.len() });
            append_places(pairs, order, &mut self.places);
        }
    }

    /// Appends a record of another run.
    pub fn push_from(&mut self, other: &Records, record: u32) {
        let at = other.place_of_record(record);
        self.heads.push(Head { start: self.symbols.len(), ..other.heads[at] });
        self.symbols.extend_from_slice(other.symbols(record));
        if let Some(&of_pairs) = other.pairs.get(at) {
            let start = of_pairs.start;
            self.pairs.push(OfPairs { start: self.places.len(), ..of_pairs });
            self.places.extend_from_slice(&other.places[start..start + other.heads[at].pairs as usize]);
        }
    }

    /// One past the last number.
    pub fn next_number(&self) -> u32 {
        self.first + self.heads.len() as u32
    }

    pub fn symbols(&self, record: u32) -> &[u32] {
        let head = self.head(record);
        &self.symbols[head.start..head.start + (head.letters + head.pairs) as usize]
    }

    /// The letters of a bag and its bigrams.
    #[inline(always)]
    pub fn letters_and_pairs(&self, record: u32) -> (&[u32], &[u32]) {
        let head = self.head(record);
        let (pairs, end) =
            (head.start + head.letters as usize, head.start + (head.letters + head.pairs) as usize);
        (&self.symbols[head.start..pairs], &self.symbols[pairs..end])
    }

    #[inline(always)]
    pub fn size(&self, record: u32) -> u32 {
        self.head(record).size
    }

    pub fn signature(&self, record: u32) -> Signature {
        self.head(record).signature
    }

    /// Of a bag: the classes of its bigrams, and what they weigh.
    pub fn classes_of_pairs(&self, record: u32) -> (PairClasses, u32) {
        let OfPairs { classes, weight, .. } = self.pairs[self.place_of_record(record)];
        (classes, weight)
    }

    /// Of a bag: the rarer bigrams next to the one at this place among its pairs, if there are any.
    pub fn rarer_neighbours(&self, record: u32, at: u16) -> Rarer {
        let (pairs, start) =
            (self.letters_and_pairs(record).1, self.pairs[self.place_of_record(record)].start);
        rarer_neighbours(at.into(), pairs, &self.places[start..start + pairs.len()])
    }

    /// Whether no other record has a certain key, whose bigram is at this place.
    pub fn is_lone(&self, record: u32, at: u16, order: &Order) -> bool {
        self.letters_and_pairs(record)
            .1
            .get(usize::from(at))
            .is_some_and(|&pair| at != NO_PAIR && pair < order.shared_pairs)
    }

    /// Loads the data of records, without their symbols, into the processor's caches, for all of them at once: read one
    /// after the other, each would cause a wait.
    #[inline(always)]
    pub fn fetch_heads(&self, records: impl Iterator<Item = u32>) {
        black_box(records.fold(0, |bits, record| bits ^ self.size(record)));
    }

    /// The same with their letters.
    #[inline(always)]
    pub fn fetch_with_letters(&self, records: impl Iterator<Item = u32> + Clone) {
        self.fetch_heads(records.clone());
        Self::fetch_symbols(records.map(|record| self.letters_and_pairs(record).0));
    }

    /// The same with their bigrams, and with what is known of these.
    #[inline(always)]
    pub fn fetch_pairs(&self, records: impl Iterator<Item = u32> + Clone) {
        self.fetch_heads(records.clone());
        black_box(records.clone().fold(0, |bits, record| bits ^ self.classes_of_pairs(record).1));
        Self::fetch_symbols(records.map(|record| self.letters_and_pairs(record).1));
    }

    /// Most have only three places, so one is fetched together with fifteen others.
    #[inline(always)]
    fn fetch_symbols<'s>(of_records: impl Iterator<Item = &'s [u32]>) {
        let at = |symbols: &[u32], place: usize| symbols.get(place).copied().unwrap_or_default();
        black_box(of_records.fold(0, |bits, symbols| {
            bits ^ at(symbols, 0)
                ^ at(symbols, symbols.len() / 2)
                ^ at(symbols, symbols.len().saturating_sub(1))
        }));
    }

    /// The end of the records from `start` on whose size satisfies the predicate; these come first.
    pub fn count_while(&self, start: u32, holds: impl Fn(u32) -> bool) -> u32 {
        start + self.heads[self.place_of_record(start)..].partition_point(|head| holds(head.size)) as u32
    }

    fn head(&self, record: u32) -> &Head {
        &self.heads[self.place_of_record(record)]
    }

    fn place_of_record(&self, record: u32) -> usize {
        (record - self.first) as usize
    }
}
