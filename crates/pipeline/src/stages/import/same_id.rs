//! Records of one id: the first in the order of the dumps is kept, and later ones are merged into it: copies, and edits of
//! its text. One with an unlike text is another post, whose id is wrong (a spreadsheet rounds ids to 15 digits): it is kept under an
//! id of its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};
use serde::Deserialize;

use super::ReadItem;
use riddlemill_record::{Outcome, Post, Reason, State, other_text};
use riddlemill_tables::LedgerRecord;
use riddlemill_text::text::sketch::TextSketch;

/// A post of an item whose id an earlier item had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct RepeatedPost {
    /// Its place among the item's rows, from 0.
    pub row: usize,
    /// Whether its text is that of the first post of the id; if it is apart, whether it came before.
    pub same: bool,
    /// Whether its text is unlike that of the first post of the id.
    #[serde(default)]
    pub apart: bool,
}

/// How a post is known whose id occurred before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    /// [`RepeatedPost::same`].
    pub(super) same: bool,
    /// [`RepeatedPost::apart`].
    pub(super) apart: bool,
}

/// The id and the text of a post, in short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint {
    id: Id,
    text: u32,
    sketch: TextSketch,
    /// How the id occurred before, if it did.
    pub(super) again: Option<Repeat>,
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
        Fingerprint {
            id: Id([word(0), word(4), word(8)]),
            text: (hash ^ hash >> 32) as u32,
            sketch: TextSketch::new(text),
            again: None,
        }
    }
}

impl Id {
    /// That of a post which is kept apart from the first of its id.
    fn id_apart(self, text: u32) -> Id {
        let Id([first, second, third]) = self;
        Id([first.wrapping_add(text), second ^ text.rotate_left(16), !third])
    }
}

/// Which ids were read, each with a digest and a sketch of its text: 32 bytes a record, so that a hundred million fit
/// in memory. Parted by their first bits: a table that is full is moved into one of twice its size, and this way
/// a small one at a time.
pub(super) struct SeenIds([HashMap<Id, (u32, TextSketch), FxBuildHasher>; 64]);

impl Default for SeenIds {
    fn default() -> SeenIds {
        SeenIds(std::array::from_fn(|_| HashMap::default()))
    }
}

impl SeenIds {
    /// Which of these posts occur again, in their order.
    pub(super) fn observe_posts<'a>(&mut self, fingerprints: impl IntoIterator<Item = &'a mut Fingerprint>) {
        for fingerprint in fingerprints {
            let Fingerprint { id, text, sketch, .. } = *fingerprint;
            fingerprint.again = match self.enter_id(id, text, sketch) {
                None => None,
                Some((first, _)) if first == text => Some(Repeat { same: true, apart: false }),
                Some((_, first)) if first.is_like(sketch) => Some(Repeat { same: false, apart: false }),
                Some(_) => {
                    let known = self.enter_id(id.id_apart(text), text, sketch).is_some();
                    Some(Repeat { same: known, apart: true })
                }
            };
        }
    }

    /// Enters an id, unless it occurred before: then what was entered for it.
    fn enter_id(&mut self, id: Id, text: u32, sketch: TextSketch) -> Option<(u32, TextSketch)> {
        match self.0[(id.0[0] >> 26) as usize].entry(id) {
            Entry::Vacant(place) => {
                place.insert((text, sketch));
                None
            }
            Entry::Occupied(first) => Some(*first.get()),
        }
    }
}

/// Corrects an entry to what it is among all items, once [`SeenIds`] has looked up its posts.
pub(super) fn settle_read(read: ReadItem, put: impl FnMut(String, Outcome<Post>)) {
    let ReadItem { locator, outcome, fingerprints, .. } = read;
    settle_outcome(
        locator,
        outcome,
        |row| fingerprints.get(row).and_then(|fingerprint| fingerprint.again),
        put,
    );
}

/// The ledger record of a single item, where some of its posts are known to occur `again`: what it is among
/// all items.
pub fn settle_again(mut record: LedgerRecord<Post>, again: &[RepeatedPost]) -> Vec<LedgerRecord<Post>> {
    let known = |row| {
        let known = again.iter().find(|known| known.row == row)?;
        Some(Repeat { same: known.same, apart: known.apart })
    };
    let outcome = match State::from_code(&record.entry.outcome) {
        // Without a repetition, what was noted about its record stays.
        Some(State::Changed) if again.is_empty() => return vec![record],
        Some(State::Kept | State::Changed) => record.rows.pop().map(Outcome::Kept),
        Some(State::Expanded) => {
            Some(Outcome::Expanded(record.rows.into_iter().map(|row| (row, PAGE)).collect()))
        }
        _ => return vec![record],
    };
    let mut settled = Vec::new();
    if let Some(outcome) = outcome {
        settle_outcome(record.entry.id, outcome, known, |id, outcome| {
            settled.push(LedgerRecord::new(id, outcome))
        });
    }
    settled
}

/// What a page is to the posts on it.
pub(super) const PAGE: &str = "post";

/// The first record of an id is kept; a later one is merged into it, and a different text is kept in
/// the ledger. A page's later posts get entries of their own. `known` says about a post how its id occurred before.
fn settle_outcome(
    locator: String,
    outcome: Outcome<Post>,
    known: impl Fn(usize) -> Option<Repeat>,
    mut put: impl FnMut(String, Outcome<Post>),
) {
    match outcome {
        Outcome::Kept(post) => {
            let outcome = match known(0) {
                None => Outcome::Kept(post),
                Some(repeat) => outcome_of_repeat(post, repeat),
            };
            put(locator, outcome);
        }
        Outcome::Changed { row, rule, evidence, before, after } => {
            let outcome = match known(0) {
                None => Outcome::Changed { row, rule, evidence, before, after },
                Some(repeat) => outcome_of_repeat(row, repeat),
            };
            put(locator, outcome);
        }
        Outcome::Expanded(rows) => {
            let (mut new, mut again) = (Vec::new(), Vec::new());
            for (at, (post, role)) in rows.into_iter().enumerate() {
                match known(at) {
                    None => new.push((post, role)),
                    Some(repeat) => again.push(outcome_of_repeat(post, repeat)),
                }
            }
            put(locator.clone(), Outcome::Expanded(new));
            for (i, outcome) in again.into_iter().enumerate() {
                put(format!("{locator}#again{}", i + 1), outcome);
            }
        }
        other => put(locator, other),
    }
}

/// What becomes of a post whose id occurred before.
fn outcome_of_repeat(post: Post, Repeat { same, apart }: Repeat) -> Outcome<Post> {
    if !apart {
        let evidence = match same {
            true => "same text".to_string(),
            false => other_text(&post.text),
        };
        return Outcome::Merged { into: post.id, reason: Reason::SameId, score: 1.0, evidence };
    }
    let id = apart_id(&post.id, &post.text);
    if same {
        let evidence = "same text".to_owned();
        return Outcome::Merged { into: id, reason: Reason::SameId, score: 1.0, evidence };
    }
    let evidence =
        format!("another post has the id {}, with an unlike text: one of the two ids is wrong", post.id);
    let after = post.text.clone();
    let rule = Reason::IdTaken.code();
    let row = Post { id, ..post };
    Outcome::Changed { row, rule, evidence: evidence.into(), before: String::new(), after }
}

/// The id of a post that another one has, too: the id, and eight digits of the text's hash.
fn apart_id(id: &str, text: &str) -> String {
    [id, "~", &blake3::hash(text.as_bytes()).to_hex()[..8]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_is_known_by_its_id_and_its_text() {
        let ids: Vec<String> = (0..5000).map(|n| format!("tieba:{n}")).collect();
        let fingerprints = |text: &str| ids.iter().map(|id| Fingerprint::new(id, text)).collect::<Vec<_>>();
        let mut seen = SeenIds::default();
        let repeat = |same, apart| Some(Repeat { same, apart });
        for (text, again) in [
            ("把月亮关掉，海水会不会失业？", None),
            ("把月亮关掉，海水会不会失业？", repeat(true, false)),
            ("把月亮关掉，海水会不会失业呢？（编辑）", repeat(false, false)),
            ("影子欠了光的钱，会不会被拉长？", repeat(false, true)),
            ("影子欠了光的钱，会不会被拉长？", repeat(true, true)),
        ] {
            let mut fingerprints = fingerprints(text);
            seen.observe_posts(&mut fingerprints);
            assert!(fingerprints.iter().all(|fingerprint| fingerprint.again == again), "{text} {again:?}");
        }
        assert_eq!(seen.0.iter().map(HashMap::len).sum::<usize>(), 2 * ids.len());
        assert_eq!(size_of::<(Id, (u32, TextSketch))>(), 32);
    }
}
