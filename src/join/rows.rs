//! The rows of a join as sequences or sets of symbols.
//!
//! Identical rows are one record. A symbol is a token's place in the order from rare to common.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Metric;
use super::keys::Token;

/// Most characters a gram: what fits in a `u128`, so that sets are exact.
pub(super) const LONGEST_GRAM: u8 = 6;

/// Distinct, non-empty rows in the order of (size, first row), with their tokens.
pub(super) struct Records {
    /// Symbols of all records: in text order, or ascending for sets.
    symbols: Vec<u32>,
    /// Record r is `symbols[starts[r]..starts[r + 1]]`.
    starts: Vec<usize>,
    /// By symbol: the share of the records that hold it.
    pub chance: Vec<f32>,
    /// Whether records are sets, so that places mean nothing.
    pub sets: bool,
    /// The input rows of each record, ascending.
    pub copies: Vec<Vec<u32>>,
}

impl Records {
    /// Groups identical rows and numbers their tokens. Empty rows are left out.
    pub fn new(rows: &[&str], metric: Metric) -> Self {
        let (texts, copies) = distinct(rows);
        match metric {
            Metric::Levenshtein | Metric::Indel => of_characters(&texts, copies),
            Metric::Jaccard { n } => of_grams(&texts, copies, n.clamp(1, LONGEST_GRAM)),
        }
    }

    pub fn len(&self) -> usize {
        self.copies.len()
    }

    pub fn symbols(&self, record: u32) -> &[u32] {
        let record = record as usize;
        &self.symbols[self.starts[record]..self.starts[record + 1]]
    }

    /// Tokens of a record.
    pub fn size(&self, record: u32) -> u32 {
        self.symbols(record).len() as u32
    }

    /// The tokens from rare to common.
    pub fn tokens(&self, record: u32, tokens: &mut Vec<Token>) {
        tokens.clear();
        let place = |i: usize| if self.sets { 0 } else { i as u32 };
        let symbols = self.symbols(record).iter().enumerate();
        tokens.extend(symbols.map(|(i, &symbol)| Token { symbol, place: place(i) }));
        if !self.sets {
            tokens.sort_unstable_by_key(|token| u64::from(token.symbol) << 32 | u64::from(token.place));
        }
    }
}

/// Distinct non-empty rows by first occurrence, and the rows that read so.
fn distinct<'a>(rows: &[&'a str]) -> (Vec<&'a str>, Vec<Vec<u32>>) {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    let mut texts = Vec::new();
    let mut copies: Vec<Vec<u32>> = Vec::new();
    for (i, &row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let record = *seen.entry(row).or_insert_with(|| {
            texts.push(row);
            copies.push(Vec::with_capacity(1));
            copies.len() as u32 - 1
        });
        copies[record as usize].push(i as u32);
    }
    (texts, copies)
}

fn of_characters(texts: &[&str], copies: Vec<Vec<u32>>) -> Records {
    let alphabet = char::MAX as usize + 1;
    let mut holders = vec![0u32; alphabet];
    let mut last = vec![u32::MAX; alphabet];
    for (r, text) in texts.iter().enumerate() {
        for c in text.chars().map(|c| c as usize) {
            if last[c] != r as u32 {
                last[c] = r as u32;
                holders[c] += 1;
            }
        }
    }
    drop(last);
    let mut present: Vec<u32> = (0..alphabet as u32).filter(|&c| holders[c as usize] > 0).collect();
    present.sort_unstable_by_key(|&c| (holders[c as usize], c));
    let chance = share(present.iter().map(|&c| holders[c as usize]), texts.len());
    let mut symbol_of = holders;
    for (symbol, &c) in present.iter().enumerate() {
        symbol_of[c as usize] = symbol as u32;
    }
    let spell = |text: &str| text.chars().map(|c| symbol_of[c as usize]).collect::<Vec<u32>>();
    let spelled: Vec<Vec<u32>> = texts.par_iter().map(|text| spell(text)).collect();
    collect(spelled, copies, chance, false)
}

fn of_grams(texts: &[&str], copies: Vec<Vec<u32>>, n: u8) -> Records {
    let sets: Vec<Vec<u128>> = texts.par_iter().map(|text| gram_set(text, n)).collect();
    let mut holders: FxHashMap<u128, u32> = FxHashMap::default();
    for gram in sets.iter().flatten() {
        *holders.entry(*gram).or_default() += 1;
    }
    let mut present: Vec<(u32, u128)> = holders.iter().map(|(&gram, &count)| (count, gram)).collect();
    present.par_sort_unstable();
    let chance = share(present.iter().map(|&(count, _)| count), texts.len());
    let mut symbol_of = holders;
    for (symbol, (_, gram)) in present.iter().enumerate() {
        symbol_of.insert(*gram, symbol as u32);
    }
    let number = |set: &Vec<u128>| {
        let mut symbols: Vec<u32> = set.iter().map(|gram| symbol_of[gram]).collect();
        symbols.sort_unstable();
        symbols
    };
    let numbered: Vec<Vec<u32>> = sets.par_iter().map(number).collect();
    collect(numbered, copies, chance, true)
}

/// The set of a text's n-grams, each packed exactly.
fn gram_set(text: &str, n: u8) -> Vec<u128> {
    // 21 bits hold a scalar value; one more than it, so that a short gram is no prefix of a long.
    let pack = |gram: &[char]| gram.iter().fold(0u128, |packed, &c| packed << 21 | (c as u128 + 1));
    let chars: Vec<char> = text.chars().collect();
    let mut grams: Vec<u128> = match chars.len() {
        0 => Vec::new(),
        len if len < usize::from(n) => vec![pack(&chars)],
        _ => chars.windows(usize::from(n)).map(pack).collect(),
    };
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn share(holders: impl Iterator<Item = u32>, records: usize) -> Vec<f32> {
    holders.map(|count| count as f32 / records as f32).collect()
}

/// Sorts records by size; ties keep the order of first rows.
fn collect(spelled: Vec<Vec<u32>>, mut copies: Vec<Vec<u32>>, chance: Vec<f32>, sets: bool) -> Records {
    let mut order: Vec<u32> = (0..spelled.len() as u32).collect();
    order.sort_by_key(|&r| spelled[r as usize].len());
    let mut symbols = Vec::with_capacity(spelled.iter().map(Vec::len).sum());
    let mut starts = Vec::with_capacity(spelled.len() + 1);
    starts.push(0);
    for &r in &order {
        symbols.extend_from_slice(&spelled[r as usize]);
        starts.push(symbols.len());
    }
    let copies = order.iter().map(|&r| std::mem::take(&mut copies[r as usize])).collect();
    Records { symbols, starts, chance, sets, copies }
}
