//! Bit-parallel verification: one record, prepared once, against many.
//!
//! The longest common subsequence is Hyyrö 2004's recurrence, the edit distance Myers 1999's in
//! Hyyrö's form, both over words of 64 characters; a record of up to 64 characters takes one word
//! and no carry. Sets are merged in order. All stop when the need is out of reach.

use super::metric::{Metric, overlap_score};
use super::tokens::{FIRST_PAIR, letters_and_pairs};
use super::{Query, Score, Threshold};

/// One record prepared for comparison. Reused from record to record.
pub(super) struct Pattern<'a> {
    metric: Metric,
    threshold: Threshold,
    /// By symbol, what it is worth; empty where each is worth 1.
    weights: &'a [u32],
    /// By bigram, what it weighs.
    of_pairs: &'a [u8],
    /// By symbol: its row in `masks`, 0 where the pattern does not hold it.
    row: Vec<u32>,
    /// Rows of `words` words: where the symbol is in the pattern.
    masks: Vec<u64>,
    words: usize,
    symbols: Vec<u32>,
    size: u32,
    /// With the record that was scored last.
    shared_pairs: u32,
    /// Vectors of the recurrences.
    plus: Vec<u64>,
    minus: Vec<u64>,
}

impl<'a> Pattern<'a> {
    /// Room for records over an alphabet of this many symbols.
    pub fn new(query: Query, alphabet: usize, weights: &'a [u32], of_pairs: &'a [u8]) -> Self {
        let Query { metric, threshold } = query;
        let row = if metric.of_sequences() { vec![0; alphabet] } else { Vec::new() };
        let (masks, symbols, plus, minus) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            metric,
            threshold,
            weights,
            of_pairs,
            row,
            masks,
            words: 1,
            symbols,
            size: 0,
            shared_pairs: 0,
            plus,
            minus,
        }
    }

    /// Makes `symbols`, of this size, the record to compare with.
    pub fn set_record(&mut self, symbols: &[u32], size: u32) {
        self.size = size;
        // Only the symbols of the last record are reset: the table has an entry for the whole alphabet.
        for &symbol in &self.symbols {
            if let Some(row) = self.row.get_mut(symbol as usize) {
                *row = 0;
            }
        }
        self.symbols.clear();
        self.symbols.extend_from_slice(symbols);
        if !self.metric.of_sequences() {
            return;
        }
        self.words = symbols.len().div_ceil(64).max(1);
        self.masks.clear();
        // Row 0 stays empty, for symbols that are not in the pattern.
        self.masks.resize(self.words, 0);
        for (i, &symbol) in symbols.iter().enumerate() {
            let row = &mut self.row[symbol as usize];
            if *row == 0 {
                *row = (self.masks.len() / self.words) as u32;
                self.masks.resize(self.masks.len() + self.words, 0);
            }
            self.masks[*row as usize * self.words + i / 64] |= 1 << (i % 64);
        }
    }

    /// The score with `other`, of this size, where it is at or over the threshold.
    pub fn score_with(&mut self, other: &[u32], size: u32) -> Option<Score> {
        let (a, b) = (self.size, size);
        let need = self.metric.least_shared(self.threshold, a, b);
        if need > a.min(b) {
            return None;
        }
        match self.metric {
            Metric::Indel => {
                let common =
                    if self.words == 1 { self.lcs_word(other, need) } else { self.lcs_words(other, need) };
                (common >= need).then_some(Score { num: 2 * common, den: a + b })
            }
            Metric::Levenshtein => {
                let longest = a.max(b);
                let most = longest - need;
                let edits = if self.words == 1 {
                    self.edits_word(other, most)
                } else {
                    self.edits_words(other, most)
                };
                (edits <= most).then(|| Score { num: longest - edits, den: longest })
            }
            Metric::Jaccard { .. } => {
                let shared = intersection_size(&self.symbols, other, need);
                (shared >= need).then(|| Score { num: shared, den: a + b - shared })
            }
            Metric::Reworded { .. } => {
                let ((letters, pairs), (others, other_pairs)) =
                    (letters_and_pairs(&self.symbols), letters_and_pairs(other));
                let of_letter = |letter: u32| self.weights[letter as usize];
                let shared = shared_weight((letters, a), (others, b), of_letter, need);
                if shared < need {
                    return None;
                }
                let of_pair = |pair: u32| u32::from(self.of_pairs[(pair - FIRST_PAIR) as usize]);
                let weigh = |pairs: &[u32]| pairs.iter().map(|&pair| of_pair(pair)).sum();
                let (of_a, of_b) = (weigh(pairs), weigh(other_pairs));
                let need = Metric::need_of_pairs(of_a, of_b);
                self.shared_pairs = shared_weight((pairs, of_a), (other_pairs, of_b), of_pair, need);
                (self.shared_pairs >= need).then(|| overlap_score(shared, a, b))
            }
        }
    }

    /// Of bags: what the bigrams weigh that both hold, of the record and the one that scored last.
    pub fn shared_pairs(&self) -> u32 {
        self.shared_pairs
    }

    /// Length of the longest common subsequence, or less than `need` where it is less.
    fn lcs_word(&self, other: &[u32], need: u32) -> u32 {
        let mut open = !0u64;
        let mut left = other.len() as u32;
        // The bound is checked once for several characters, so that the check does not slow the loop.
        for part in other.chunks(8) {
            for &symbol in part {
                let matches = open & self.masks[self.row[symbol as usize] as usize];
                open = open.wrapping_add(matches) | (open - matches);
            }
            left -= part.len() as u32;
            if open.count_zeros() + left < need {
                return 0;
            }
        }
        open.count_zeros()
    }

    fn lcs_words(&mut self, other: &[u32], need: u32) -> u32 {
        let open = &mut self.plus;
        open.clear();
        open.resize(self.words, !0);
        let mut left = other.len() as u32;
        let mut common = 0;
        for part in other.chunks(32) {
            for &symbol in part {
                let row = self.row[symbol as usize] as usize;
                if row == 0 {
                    continue;
                }
                let mut carry = false;
                for (open, &mask) in open.iter_mut().zip(&self.masks[row * self.words..]) {
                    let matches = *open & mask;
                    let (sum, first) = open.overflowing_add(matches);
                    let (sum, second) = sum.overflowing_add(u64::from(carry));
                    carry = first | second;
                    *open = sum | (*open - matches);
                }
            }
            left -= part.len() as u32;
            common = open.iter().map(|word| word.count_zeros()).sum();
            if common + left < need {
                return 0;
            }
        }
        common
    }

    /// Levenshtein distance, or more than `most` where it is more.
    fn edits_word(&self, other: &[u32], most: u32) -> u32 {
        let size = self.symbols.len() as u32;
        let last = 1u64 << (size - 1);
        let (mut plus, mut minus, mut edits) = (!0u64, 0u64, size);
        let mut left = other.len() as u32;
        for &symbol in other {
            let matches = self.masks[self.row[symbol as usize] as usize];
            let diagonal = ((matches & plus).wrapping_add(plus) ^ plus) | matches | minus;
            let up = minus | !(diagonal | plus);
            let down = plus & diagonal;
            edits += u32::from(up & last != 0);
            edits -= u32::from(down & last != 0);
            left -= 1;
            if edits > most + left {
                return u32::MAX;
            }
            let up = up << 1 | 1;
            plus = down << 1 | !(diagonal | up);
            minus = up & diagonal;
        }
        edits
    }

    fn edits_words(&mut self, other: &[u32], most: u32) -> u32 {
        let size = self.symbols.len() as u32;
        let last = 1u64 << ((size - 1) % 64);
        self.plus.clear();
        self.plus.resize(self.words, !0);
        self.minus.clear();
        self.minus.resize(self.words, 0);
        let mut edits = size;
        let mut left = other.len() as u32;
        for &symbol in other {
            let row = self.row[symbol as usize] as usize * self.words;
            // The horizontal difference that enters a word from the one before: +1, 0 or −1.
            let (mut enters_up, mut enters_down) = (1u64, 0u64);
            for word in 0..self.words {
                let (plus, minus) = (self.plus[word], self.minus[word]);
                let matches = self.masks[row + word];
                let reach = matches | enters_down;
                let diagonal = ((reach & plus).wrapping_add(plus) ^ plus) | reach | minus;
                let up = minus | !(diagonal | plus);
                let down = plus & diagonal;
                if word + 1 == self.words {
                    edits += u32::from(up & last != 0);
                    edits -= u32::from(down & last != 0);
                }
                let (shifted_up, shifted_down) = (up << 1 | enters_up, down << 1 | enters_down);
                (enters_up, enters_down) = (up >> 63, down >> 63);
                self.plus[word] = shifted_down | !(diagonal | shifted_up);
                self.minus[word] = shifted_up & diagonal;
            }
            left -= 1;
            if edits > most.saturating_add(left) {
                return u32::MAX;
            }
        }
        edits
    }
}

/// Common elements of two ascending sequences without repeats, or less than `need`.
fn intersection_size(a: &[u32], b: &[u32], need: u32) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if shared + ((a.len() - i).min(b.len() - j) as u32) < need {
            return 0;
        }
        let (x, y) = (a[i], b[j]);
        shared += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// The weight of the common elements of two ascending sequences, repeats counted, each with its whole weight, or
/// less than `need`.
fn shared_weight(a: (&[u32], u32), b: (&[u32], u32), weight: impl Fn(u32) -> u32, need: u32) -> u32 {
    let ((a, of_a), (b, of_b)) = (a, b);
    let (mut i, mut j, mut shared) = (0, 0, 0);
    // What each may still leave unshared.
    let (mut spare_a, mut spare_b) = (i64::from(of_a) - i64::from(need), i64::from(of_b) - i64::from(need));
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let (left, right) = (i64::from(weight(x)), i64::from(weight(y)));
        match x.cmp(&y) {
            std::cmp::Ordering::Less => {
                spare_a -= left;
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                spare_b -= right;
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                shared += left as u32;
                i += 1;
                j += 1;
            }
        }
        if spare_a < 0 || spare_b < 0 {
            return 0;
        }
    }
    shared
}
