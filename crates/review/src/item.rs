//! The content shown to annotators, its hash, and the digests that are handed out of it, which nobody without the workspace's
//! secret can compute or compare.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use riddlemill_benchmarks::requirement::{OfAnswers, Unmet, VoteAnswer};
use riddlemill_files::digest::{Digest, Digester};
use riddlemill_text::options::DrawStream;
use serde::{Deserialize, Serialize};

use super::ballot::{Ballot, Drafts, Field};
use super::value::{Value, Values};

/// The shown fields, in display order.
pub type Content = IndexMap<String, Value>;

/// One thing to vote on in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The record's id.
    pub id: String,
    pub content: Content,
    /// The drafted answers by field; empty without drafts.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub draft: Values,
    /// The sides of a preference in display order; empty without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Covers what an annotator sees: the content in order, and the drafts if they are shown. The sides of a
    /// preference are hashed in the order that the recipe's seed draws, lists to pick from in that of the
    /// record, independent of the order in which they are shown.
    pub content_hash: Digest,
    /// The order of the sides or list, once shown.
    #[serde(skip)]
    pub(super) shown: Option<Shown>,
    /// Texts that no `distinct` answer may repeat. They are never shown.
    #[serde(skip)]
    pub apart: Vec<String>,
    /// Drafted codes in the order in which they were drafted, while `draft` has them in the ballot's order.
    #[serde(skip)]
    pub ranked: BTreeMap<&'static str, Vec<String>>,
    /// The votes from which the text to judge was taken.
    #[serde(skip)]
    pub written_in: Vec<Digest>,
    /// Its authors, by annotator name: they do not vote on it.
    #[serde(skip)]
    pub written_by: Vec<String>,
    /// The language that whoever votes on it must read; none if that does not depend on the item.
    #[serde(skip)]
    pub language: Option<String>,
    /// What answers must meet.
    #[serde(skip)]
    pub requires: Option<OfAnswers>,
}

/// The order in which something is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) what: Ordered,
    /// Whether the order differs from the record's and the recipe's seed.
    pub(super) turned: bool,
    /// The seals of the two orders: unchanged, and changed.
    pub(super) seals: [String; 2],
    /// Hides the hashes that are handed out.
    pub(super) cover: Cover,
}

/// What a hash in a sheet or a form says about an item.
#[derive(Clone, Debug, PartialEq)]
pub enum HandedHash<'i> {
    /// Today's text, in the order in which it was handed out.
    Today(Box<Cow<'i, Item>>),
    /// Another text, with this hash.
    Earlier(Digest),
    /// It was written with another secret.
    OtherSecret,
    /// It is no hash.
    NoHash,
}

/// What is ordered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ordered {
    /// The sides of a preference under this content key with the suffixes `_1` and `_2`; changed means
    /// swapped.
    Sides(String),
    /// The list under this content key; changed, it shows the texts at these indices of the record's list.
    List(String, Vec<usize>),
}

impl Item {
    /// An item of `step`.
    pub fn new(ballot: &Ballot, id: impl Into<String>, content: Content, draft: Values) -> Item {
        let content_hash = content_hash(&content, (ballot.drafts == Drafts::Shown).then_some(&draft));
        Item::with_content(id.into(), content, draft, content_hash)
    }

    /// An item without further properties.
    pub(crate) fn with_content(id: String, content: Content, draft: Values, content_hash: Digest) -> Item {
        Item {
            id,
            content,
            draft,
            order: Vec::new(),
            content_hash,
            shown: None,
            apart: Vec::new(),
            ranked: BTreeMap::new(),
            written_in: Vec::new(),
            written_by: Vec::new(),
            language: None,
            requires: None,
        }
    }

    /// The drafted answer to a field as shown: codes in drafted order.
    pub fn drafted_answer(&self, field: &str) -> Option<Value> {
        let draft = self.draft.get(field)?;
        Some(self.ranked.get(field).map_or_else(|| draft.clone(), |codes| Value::List(codes.clone())))
    }

    /// The first requirement of its ballot that answers do not meet.
    pub fn unmet_requirement(&self, form: &[Field], values: &Values) -> Option<Unmet> {
        let given = |field: &Field| {
            let answer = match values.get(field.name)? {
                Value::Text(text) => VoteAnswer::Text(text),
                Value::List(list) => VoteAnswer::List(list),
                Value::Number(number) => VoteAnswer::Number(*number),
            };
            Some((field.name, answer))
        };
        let answers: Vec<(&'static str, VoteAnswer<'_>)> = form.iter().filter_map(given).collect();
        self.requires.as_ref()?.find_unmet(&answers)
    }

    /// An item whose two `sides` (code, text) are compared. They are shown as `<key>_1` and `<key>_2`
    /// after `content`, in an order drawn from `seed` and the item's id.
    pub fn from_sides(
        ballot: &Ballot,
        id: impl Into<String>,
        mut content: Content,
        key: &str,
        mut sides: [(&str, String); 2],
        seed: u64,
    ) -> Item {
        let id = id.into();
        if DrawStream::new(seed, &format!("review order {}/{}", ballot.recipe, ballot.name), &id)
            .draw_below(2)
            == 1
        {
            sides.swap(0, 1);
        }
        let order = sides.iter().map(|(code, _)| (*code).to_owned()).collect();
        for (at, (_, text)) in sides.into_iter().enumerate() {
            content.insert(format!("{key}_{}", at + 1), Value::Text(text));
        }
        Item { order, ..Item::new(ballot, id, content, Values::new()) }
    }

    /// The same item with `more` shown below its content, and the drafts too: what a reviewer sees.
    pub(crate) fn with_more(&self, more: Content) -> Item {
        let turned = self.shown.as_ref().is_some_and(|shown| shown.turned);
        let mut item = self.clone();
        item.turn_order(false);
        item.content.extend(more);
        item.content_hash = content_hash(&item.content, Some(&item.draft));
        item.turn_order(turned);
        item
    }

    /// Shows it in one of its two orders: as record and seed have it, or changed.
    pub(super) fn turn_order(&mut self, turned: bool) {
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.turned != turned) else { return };
        shown.turned = turned;
        match &shown.what {
            Ordered::Sides(key) => {
                let [first, second] = ["1", "2"].map(|n| self.content.get_index_of(&format!("{key}_{n}")));
                if let (Some(first), Some(second)) = (first, second) {
                    let text = self.content[first].clone();
                    self.content[first] = std::mem::replace(&mut self.content[second], text);
                }
                self.order.reverse();
            }
            Ordered::List(key, places) => {
                let Some(Value::List(list)) = self.content.get_mut(key) else { return };
                let mut moved = list.clone();
                for (now, then) in places.iter().enumerate() {
                    let (from, to) = if turned { (*then, now) } else { (now, *then) };
                    moved[to].clone_from(&list[from]);
                }
                *list = moved;
            }
        }
    }

    /// The permutation of the list `key` if it differs from the record: for each shown text its index there.
    fn moved_places(&self, key: &str) -> Option<&[usize]> {
        match self.shown.as_ref().filter(|shown| shown.turned).map(|shown| &shown.what) {
            Some(Ordered::List(list, places)) if list == key => Some(places),
            _ => None,
        }
    }

    /// The number in votes of the text that is shown as number `shown` of the list `key`, from 1.
    pub fn stored_number(&self, key: &str, shown: usize) -> usize {
        let place = self.moved_places(key).and_then(|places| places.get(shown.checked_sub(1)?));
        place.map_or(shown, |place| place + 1)
    }

    /// The number under which the text is shown that is number `stored` in votes of the list `key`, from 1.
    pub fn shown_number(&self, key: &str, stored: usize) -> usize {
        let at =
            self.moved_places(key).and_then(|places| places.iter().position(|place| place + 1 == stored));
        at.map_or(stored, |at| at + 1)
    }

    /// The hash in a sheet or a form. With an order it is covered, and followed by the order's seal.
    pub fn sheet_hash(&self) -> String {
        match &self.shown {
            Some(Shown { cover, seals, turned, .. }) => {
                format!("{}.{}", cover.cover_digest(self.content_hash), seals[usize::from(*turned)])
            }
            None => self.content_hash.to_string(),
        }
    }

    /// The id of an annotator's own vote in a sheet or a form.
    pub fn sheet_vote(&self, vote: Digest) -> String {
        self.shown.as_ref().map_or_else(|| vote.to_string(), |shown| shown.cover.cover_digest(vote))
    }

    /// The vote that was handed out like this, covered or as it is in older sheets; `None` if it is no id.
    pub fn handed_vote(&self, cell: &str) -> Option<Digest> {
        let covered = self.shown.as_ref().and_then(|shown| shown.cover.uncover_digest(cell.trim()));
        covered.or_else(|| cell.trim().parse().ok())
    }

    /// What the hash in a sheet or a form says, also in one from before hashes were covered or orders sealed.
    pub fn read_handed(&self, cell: &str) -> HandedHash<'_> {
        let (hash, seal) = match cell.split_once('.') {
            Some((hash, seal)) => (hash.trim(), Some(seal.trim())),
            None => (cell.trim(), None),
        };
        let (content_hash, is_covered) = match hash.parse::<Digest>() {
            Ok(plain) => (plain, false),
            Err(_) => match self.shown.as_ref().map(|shown| shown.cover.uncover_digest(hash)) {
                Some(Some(covered)) => (covered, true),
                _ => return HandedHash::NoHash,
            },
        };
        let sealed = self.as_sealed(seal);
        match sealed {
            Some(item) if content_hash == self.content_hash => HandedHash::Today(Box::new(item)),
            // A wrong cover gives any hash: only the seal says that the secret is the same.
            None if is_covered || content_hash == self.content_hash => HandedHash::OtherSecret,
            _ => HandedHash::Earlier(content_hash),
        }
    }

    /// The item in the order of a sheet's seal; without a seal in that of record and seed, as in older
    /// sheets. `None` if the seal was made with another secret.
    pub(crate) fn as_sealed(&self, seal: Option<&str>) -> Option<Cow<'_, Item>> {
        let Some(shown) = &self.shown else { return seal.is_none().then_some(Cow::Borrowed(self)) };
        let turned = match seal {
            Some(seal) => shown.seals.iter().position(|known| known == seal)? == 1,
            None => false,
        };
        if turned == shown.turned {
            return Some(Cow::Borrowed(self));
        }
        let mut item = self.clone();
        item.turn_order(turned);
        Some(Cow::Owned(item))
    }

    /// The sides in the order in which the annotator saw them, for the vote.
    pub fn shown_order(&self) -> Vec<String> {
        match self.shown.as_ref().map(|shown| &shown.what) {
            Some(Ordered::List(key, places)) if self.moved_places(key).is_some() => {
                places.iter().map(|place| (place + 1).to_string()).collect()
            }
            _ => self.order.clone(),
        }
    }

    /// The candidates in the content list `key`.
    pub(crate) fn candidates_in(&self, key: &str) -> &[String] {
        self.content.get(key).and_then(Value::as_list).unwrap_or_default()
    }
}

/// The hash of the content, with drafts if given.
pub(super) fn content_hash(content: &Content, draft: Option<&Values>) -> Digest {
    let mut digester = Digester::new("riddlemill review content v1");
    for (key, value) in content {
        digester.hash_part(key.as_bytes());
        value.add_to_digest(&mut digester);
    }
    if let Some(draft) = draft {
        digester.hash_part(b"draft");
        draft.add_to_digest(&mut digester);
    }
    digester.finish()
}

/// What a covered digest begins with, which no digest does: sheets from before covers have none.
const COVERED: char = 'k';

/// Rounds of the permutation. Four make it indistinguishable from a random one (Luby and Rackoff, 1988).
const ROUNDS: u8 = 6;

/// A keyed permutation of digests, of one item.
#[derive(Clone, PartialEq)]
pub(super) struct Cover([u8; 32]);

impl Cover {
    pub(super) fn new(key: [u8; 32]) -> Cover {
        Cover(key)
    }

    fn hash_half(&self, round: u8, half: [u8; 8]) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&[round]);
        hasher.update(&half);
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A digest as it is handed out.
    pub(super) fn cover_digest(&self, digest: Digest) -> String {
        let [mut left, mut right] = split_digest(digest);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.hash_half(round, right.to_le_bytes()));
        }
        format!("{COVERED}{}", join_digest([left, right]))
    }

    /// The digest that was handed out like this; `None` if it was handed out uncovered.
    pub(super) fn uncover_digest(&self, handed: &str) -> Option<Digest> {
        let [mut left, mut right] = split_digest(handed.strip_prefix(COVERED)?.parse().ok()?);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.hash_half(round, left.to_le_bytes()), left);
        }
        Some(join_digest([left, right]))
    }
}

fn split_digest(digest: Digest) -> [u64; 2] {
    let bits = u128::from_le_bytes(digest.to_bytes());
    [bits as u64, (bits >> 64) as u64]
}

fn join_digest([left, right]: [u64; 2]) -> Digest {
    Digest::from_bytes((u128::from(left) | (u128::from(right) << 64)).to_le_bytes())
}

impl std::fmt::Debug for Cover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cover")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballots;

    fn content(text: &str) -> Content {
        Content::from([("text".to_owned(), Value::from(text))])
    }

    #[test]
    fn the_hash_covers_what_is_seen_and_no_more() {
        let blind = ballots::find_step("flub", "type").unwrap();
        let draft: Values = [("type", "paradox")].into_iter().collect();
        let item = Item::new(&blind, "a", content("x"), Values::new());
        assert_eq!(item.content_hash, Item::new(&blind, "b", content("x"), draft.clone()).content_hash);
        assert_ne!(item.content_hash, Item::new(&blind, "a", content("y"), Values::new()).content_hash);

        let open = ballots::find_step("ruozhibench-gen", "category").unwrap();
        let with = Item::new(&open, "a", content("x"), draft);
        assert_ne!(with.content_hash, Item::new(&open, "a", content("x"), Values::new()).content_hash);
    }

    #[test]
    fn the_order_of_a_pair_is_drawn_per_item() {
        let step = ballots::find_step("chumor", "preference").unwrap();
        let first = |id: String| {
            let sides = [("human", "h".to_owned()), ("llm", "l".to_owned())];
            let item = Item::from_sides(&step, id, content("joke"), "explanation", sides, 1);
            let shown = item.content["explanation_1"].as_text().unwrap().to_owned();
            assert_eq!(shown == "h", item.order == ["human", "llm"]);
            shown
        };
        let human_first = (0..1000).filter(|id| first(id.to_string()) == "h").count();
        assert!((430..570).contains(&human_first), "{human_first}");
    }
}
