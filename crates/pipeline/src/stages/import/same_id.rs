//! Records of one id: the first in the order of the dumps is kept, and later ones are merged into it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};
use serde::Deserialize;

use super::Read;
use riddlemill_tables::LedgerRecord;
use riddlemill_text::record::{Outcome, Post, Reason, State};

/// A post of an item whose id an earlier item had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Again {
    /// Its place among the item's rows, from 0.
    pub row: usize,
    /// Whether its text is that of the first post of the id.
    pub same: bool,
}

/// The id and the text of a post, in short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint {
    id: Id,
    text: u32,
    /// Whether the id occurred before, and if so, with the same text.
    pub(super) again: Option<bool>,
}

/// 96 bits of the hash of an id: among a billion ids a collision is unlikely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id([u32; 3]);

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.0[0]) << 32 | u64::from(self.0[1]));
    }
}

impl Fingerprint {
    /// For a post whose text was not changed since it was read.
    pub(super) fn new(id: &str, text: &str) -> Fingerprint {
        let hash = blake3::hash(id.as_bytes());
        let word =
            |at: usize| hash.as_bytes()[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        // Only texts of one id are compared.
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        Fingerprint { id: Id([word(0), word(4), word(8)]), text: (hash ^ hash >> 32) as u32, again: None }
    }
}

/// Which ids were read, each with a digest of its text: 16 bytes a record, so that a hundred million fit in
/// memory. Parted by their first bits: a table that is full is moved into one of twice its size, and this way
/// a small one at a time.
pub(super) struct Seen([HashMap<Id, u32, FxBuildHasher>; 64]);

impl Default for Seen {
    fn default() -> Seen {
        Seen(std::array::from_fn(|_| HashMap::default()))
    }
}

impl Seen {
    /// Which of these posts occur again, in their order.
    pub(super) fn observe<'a>(&mut self, fingerprints: impl IntoIterator<Item = &'a mut Fingerprint>) {
        for fingerprint in fingerprints {
            let table = &mut self.0[(fingerprint.id.0[0] >> 26) as usize];
            fingerprint.again = match table.entry(fingerprint.id) {
                Entry::Vacant(place) => {
                    place.insert(fingerprint.text);
                    None
                }
                Entry::Occupied(first) => Some(*first.get() == fingerprint.text),
            };
        }
    }
}

/// Corrects an entry to what it is among all items, once [`Seen`] has looked up its posts.
pub(super) fn settle_read(read: Read, put: impl FnMut(String, Outcome<Post>)) {
    let Read { locator, outcome, fingerprints } = read;
    settle(locator, outcome, |row| fingerprints.get(row).and_then(|fingerprint| fingerprint.again), put);
}

/// The ledger record of a single item, where some of its posts are known to occur `again`: what it is among
/// all items.
pub fn settle_again(record: LedgerRecord<Post>, again: &[Again]) -> Vec<LedgerRecord<Post>> {
    let outcome = match State::from_code(&record.entry.outcome) {
        // Without a repetition, what was noted about its record stays.
        Some(State::Changed) if again.is_empty() => return vec![record],
        Some(State::Kept | State::Changed) => record.rows.into_iter().next().map(Outcome::Kept),
        Some(State::Expanded) => {
            Some(Outcome::Expanded(record.rows.into_iter().map(|row| (row, PAGE)).collect()))
        }
        _ => return vec![record],
    };
    let mut settled = Vec::new();
    if let Some(outcome) = outcome {
        let known = |row| again.iter().find(|known| known.row == row).map(|known| known.same);
        settle(record.entry.id, outcome, known, |id, outcome| settled.push(LedgerRecord::new(id, outcome)));
    }
    settled
}

/// What a page is to the posts on it.
pub(super) const PAGE: &str = "post";

/// The first record of an id is kept; a later one is merged into it, and a different text is kept in
/// the ledger. A page's later posts get entries of their own. `known` says about a post whether its id occurred before,
/// and if so, whether with the same text.
fn settle(
    locator: String,
    outcome: Outcome<Post>,
    known: impl Fn(usize) -> Option<bool>,
    mut put: impl FnMut(String, Outcome<Post>),
) {
    match outcome {
        Outcome::Kept(post) => {
            let outcome = match known(0) {
                None => Outcome::Kept(post),
                Some(same) => merged(post, same),
            };
            put(locator, outcome);
        }
        Outcome::Changed { row, rule, evidence, before, after } => {
            let outcome = match known(0) {
                None => Outcome::Changed { row, rule, evidence, before, after },
                Some(same) => merged(row, same),
            };
            put(locator, outcome);
        }
        Outcome::Expanded(rows) => {
            let (mut new, mut again) = (Vec::new(), Vec::new());
            for (at, (post, role)) in rows.into_iter().enumerate() {
                match known(at) {
                    None => new.push((post, role)),
                    Some(same) => again.push(merged(post, same)),
                }
            }
            put(locator.clone(), Outcome::Expanded(new));
            for (i, merged) in again.into_iter().enumerate() {
                put(format!("{locator}#again{}", i + 1), merged);
            }
        }
        other => put(locator, other),
    }
}

fn merged(post: Post, same: bool) -> Outcome<Post> {
    let evidence = match same {
        true => "same text".to_string(),
        false => format!("other text: {}", post.text),
    };
    Outcome::Merged { into: post.id, reason: Reason::SameId, score: 1.0, evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_is_known_by_its_id_and_its_text() {
        let ids: Vec<String> = (0..5000).map(|n| format!("tieba:{n}")).collect();
        let fingerprints = |text: &str| ids.iter().map(|id| Fingerprint::new(id, text)).collect::<Vec<_>>();
        let mut seen = Seen::default();
        for (text, again) in [("云会恐高吗", None), ("云会恐高吗", Some(true)), ("鱼会口渴吗", Some(false))]
        {
            let mut fingerprints = fingerprints(text);
            seen.observe(&mut fingerprints);
            assert!(fingerprints.iter().all(|fingerprint| fingerprint.again == again), "{text} {again:?}");
        }
        assert_eq!(seen.0.iter().map(HashMap::len).sum::<usize>(), ids.len());
        assert_eq!(size_of::<(Id, u32)>(), 16);
    }
}
