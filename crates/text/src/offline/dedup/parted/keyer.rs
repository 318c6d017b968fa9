//! The keys of rows: two similar rows share one. If all keys do not fit in memory at once, they are made in shares.

use std::str::FromStr;

use super::blocks::KeyBlocks;
use super::measure::{KeyKind, Measure, Seen, digest_value};
use super::stats::PartStats;
use super::{KeyLine, SAME};
use crate::join::{self, Order, Role, RowKey, RowSketch, Uncounted, openings_of};
use crate::text::sameness::Predicate;

/// Cuts keys of rows.
#[derive(Clone, Debug)]
pub struct Keyer {
    measure: Measure,
    orders: Vec<Order>,
}

impl Keyer {
    /// A keyer for the corpus of these statistics.
    pub fn new(measure: Measure, stats: &PartStats) -> Keyer {
        let orders = stats.join_orders(&measure);
        Keyer { measure, orders }
    }

    /// The key shared by copies, rows that compare equally with every other row; none if the text has no similar one, or
    /// the key is of another share.
    pub fn copy_key<'a>(measure: &Measure, rank: &'a str, text: &str, share: Share) -> Option<KeyLine<'a>> {
        let read = measure.read_text(text);
        let digest = (!read.is_blank()).then(|| read.copy_digest())?;
        let key = || KeyRow { rank, of: SAME, signature: "" }.key_line(format!("{digest:032x}"), 0, (0, 0));
        share.contains_hash((digest >> 64) as u64).then(key)
    }

    /// Takes the keys of a row that belong to this share: two similar rows have a key in common, the smaller
    /// with role 0, the larger with 1.
    ///
    /// # Errors
    /// [`Uncounted`] where the statistics are not of this row.
    pub fn emit_keys(
        &self,
        rank: &str,
        text: &str,
        share: Share,
        mut emit_line: impl FnMut(KeyLine),
    ) -> Result<(), Uncounted> {
        let mut signature = (KeyKind::Opening, String::new());
        self.each_key(text, share, |kind, key| {
            let of = match kind {
                KeyKind::Join(n) => self.measure.joins[usize::from(n)].of,
                KeyKind::Opening => Predicate::Opening.name(),
                KeyKind::Identical => Predicate::Identical.name(),
            };
            // Formatted once per kind, because a row has over a hundred keys.
            if signature.0 != kind {
                let text = key.sketch.signature.map(|signature| signature.to_string());
                signature = (kind, text.unwrap_or_default());
            }
            let row = KeyRow { rank, of, signature: &signature.1 };
            // A group is of one join alone.
            let role = u8::from(key.role == Role::Larger);
            let hash = format!("{:x}{:016x}", kind.code(), key.hash);
            emit_line(row.key_line(hash, role, (key.sketch.size, key.sketch.skip)));
        })
    }

    /// Puts the keys of a row that are of this share into blocks, the row by a number that is the same wherever it is.
    ///
    /// # Errors
    /// [`Uncounted`] where the statistics are not of this row.
    pub fn fill_blocks(
        &self,
        row: u64,
        text: &str,
        share: Share,
        blocks: &mut KeyBlocks,
    ) -> Result<(), Uncounted> {
        self.each_key(text, share, |kind, key| blocks.insert(row, kind, key))
    }

    fn each_key(
        &self,
        text: &str,
        share: Share,
        mut emit_key: impl FnMut(KeyKind, RowKey),
    ) -> Result<(), Uncounted> {
        let read = self.measure.read_text(text);
        for (n, (join, order)) in (0..).zip(self.measure.joins.iter().zip(&self.orders)) {
            let keys = join::keys(&self.measure.view_text(join, &read), order)?;
            keys.into_iter()
                .filter(|key| share.contains_hash(key.hash))
                .for_each(|key| emit_key(KeyKind::Join(n), key));
        }
        if let Seen::Read(reading) = &read {
            let key = |hash, role| RowKey { hash, role, sketch: RowSketch::default() };
            let (own, beginnings) = openings_of(reading.folded());
            let own = own.into_iter().map(|hash| key(hash, Role::Smaller));
            let openings = own.chain(beginnings.into_iter().map(|hash| key(hash, Role::Larger)));
            openings
                .filter(|key| share.contains_hash(key.hash))
                .for_each(|key| emit_key(KeyKind::Opening, key));
            let hash = (digest_value(&reading.key()) >> 64) as u64;
            if share.contains_hash(hash) {
                emit_key(KeyKind::Identical, key(hash, Role::Smaller));
            }
        }
        Ok(())
    }
}

/// What the lines of a row have in common.
struct KeyRow<'a> {
    rank: &'a str,
    of: &'a str,
    signature: &'a str,
}

impl<'a> KeyRow<'a> {
    fn key_line(&self, key: String, role: u8, (size, skip): (u32, u32)) -> KeyLine<'a> {
        let KeyRow { rank, of, signature } = *self;
        KeyLine {
            key,
            role,
            rank: rank.into(),
            of: of.into(),
            skip,
            size,
            signature: signature.into(),
            text: None,
        }
    }
}

/// One of several shares of all keys, as `3/16`. A key is in one share, whichever row has it: what rows of one
/// share meet under, they meet under whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    own: u64,
    of: u64,
}

/// A text that names no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a share is written as its number and the number of shares, such as 1/16")]
pub struct NoShare;

impl Share {
    /// All keys.
    pub const WHOLE: Share = Share { own: 0, of: 1 };

    /// Whether a key with this hash is in it.
    pub fn contains_hash(self, hash: u64) -> bool {
        // By its highest bits, of which every hash makes the most.
        ((u128::from(hash) * u128::from(self.of)) >> 64) as u64 == self.own
    }
}

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Self, NoShare> {
        let (number, of) = text.split_once('/').ok_or(NoShare)?;
        let (number, of): (u64, u64) =
            (number.parse().map_err(|_| NoShare)?, of.parse().map_err(|_| NoShare)?);
        let own = number.checked_sub(1).filter(|own| *own < of).ok_or(NoShare)?;
        Ok(Share { own, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_hash_is_in_one_share(hash: u64, of in 1u64..50) {
            let shares = (1..=of).map(|n| format!("{n}/{of}").parse::<Share>().unwrap());
            prop_assert_eq!(shares.filter(|share| share.contains_hash(hash)).count(), 1);
            prop_assert!(Share::WHOLE.contains_hash(hash));
        }
    }

    #[test]
    fn what_names_no_share_is_refused() {
        for text in ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b"] {
            assert_eq!(text.parse::<Share>(), Err(NoShare), "{text}");
        }
    }
}
