//! Records: distinct rows as sequences or sets of symbols, in the order of their sizes.

use super::signature::Signature;
use super::stats::Order;
use super::tokens::parted;

/// A run of records in rising order of size. A record's number is its place in the whole order, of which
/// this may be a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// The number of the first one here.
    pub first: u32,
    /// Symbols of all, in text order for sequences, ascending for sets.
    symbols: Vec<u32>,
    /// The i-th is `symbols[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    /// How many symbols of each are no pairs of neighbours.
    letters: Vec<u32>,
    sizes: Vec<u32>,
    signatures: Vec<Signature>,
}

impl Records {
    /// None yet; the first will have this number.
    pub fn from(first: u32) -> Self {
        Self { first, starts: vec![0], ..Self::default() }
    }

    /// Appends a record, which must not be smaller than the one before.
    pub fn push(&mut self, symbols: &[u32], order: &Order) {
        self.symbols.extend_from_slice(symbols);
        self.starts.push(self.symbols.len());
        self.letters.push(parted(symbols).0.len() as u32);
        self.sizes.push(order.size(symbols));
        self.signatures.push(Signature::of(symbols, order));
    }

    /// Appends a record of another run.
    pub fn push_from(&mut self, other: &Records, record: u32) {
        self.symbols.extend_from_slice(other.symbols(record));
        self.starts.push(self.symbols.len());
        self.letters.push(other.letters[other.place(record)]);
        self.sizes.push(other.size(record));
        self.signatures.push(other.signature(record));
    }

    /// One past the last number.
    pub fn end(&self) -> u32 {
        self.first + self.sizes.len() as u32
    }

    pub fn symbols(&self, record: u32) -> &[u32] {
        let i = self.place(record);
        &self.symbols[self.starts[i]..self.starts[i + 1]]
    }

    /// The letters of a bag and its pairs of neighbours.
    pub fn parts(&self, record: u32) -> (&[u32], &[u32]) {
        self.symbols(record).split_at(self.letters[self.place(record)] as usize)
    }

    pub fn size(&self, record: u32) -> u32 {
        self.sizes[self.place(record)]
    }

    pub fn signature(&self, record: u32) -> Signature {
        self.signatures[self.place(record)]
    }

    /// One past the last record from `start` on before a size that does not hold; sizes that hold come
    /// first.
    pub fn count_while(&self, start: u32, holds: impl Fn(u32) -> bool) -> u32 {
        start + self.sizes[self.place(start)..].partition_point(|&size| holds(size)) as u32
    }

    fn place(&self, record: u32) -> usize {
        (record - self.first) as usize
    }
}
