//! The order in which the sides of a preference, and the texts of a list to pick from, are shown: drawn with
//! a secret of the workspace, so that the order of the texts cannot be computed from an item's id.
//!
//! The stages use one order, for an item's sides the one drawn by the recipe's seed, for a list the record's:
//! its `content_hash` is made in it, votes hold numbers of it, and nothing in staged/ or output/ holds
//! another. Everything shown to people passes through [`Blinding::show_item`], which changes the order and keeps
//! the hash: votes and sheets from before the secret was drawn stay valid. In a sheet the item's hash is
//! followed by a seal, from which the holder of the secret can read the order in which it was written.
//!
//! The hash of an item with an order never leaves as it is. Anybody who sees the texts can hash them in each
//! order, so the hash alone says which one the stages use, and with the recipe's seed, which is published,
//! whose text is whose. The same holds for the id of a vote, which covers that hash and the side that was
//! chosen. Both are handed out under a [`Cover`]: a permutation of their 128 bits that is keyed with the
//! secret, so that the program reads back exactly what it handed out, of earlier texts too.

use super::ballot::Ballot;
use super::item::{Cover, Item, Ordered, Shown};
use super::value::Value;

/// Hexadecimal digits of a seal.
const SEAL: usize = 12;

/// The secret for drawing orders.
#[derive(Clone)]
pub struct Blinding([u8; 32]);

impl Blinding {
    /// Orders are drawn with this secret.
    pub fn new(secret: [u8; 32]) -> Blinding {
        Blinding(secret)
    }

    /// Shows an item in its drawn order. Items without sides or lists stay unchanged.
    pub fn show_item(&self, ballot: &Ballot, item: &mut Item) {
        let [first, second] = &item.order[..] else { return self.shuffle_list(ballot, item) };
        let Some(key) = sides_key(item) else { return };
        let by_code = if first <= second { [first, second] } else { [second, first] };
        let place = [ballot.recipe, ballot.name, &item.id];
        let turned = self.keyed_hash("order", &place)[0] & 1 == 1;
        let first_shown = by_code[usize::from(turned)].clone();
        let seal = |first: &str, second: &str| {
            let parts = [ballot.recipe, ballot.name, &item.id, first, second];
            hex::encode(self.keyed_hash("seal", &parts))[..SEAL].to_owned()
        };
        let seals = [seal(first, second), seal(second, first)];
        let turned = first_shown != *first;
        let cover = self.cover_of_item(ballot, &item.id);
        item.shown = Some(Shown { what: Ordered::Sides(key), turned: false, seals, cover });
        item.turn_order(turned);
    }

    /// Puts the list to pick from in a drawn order.
    fn shuffle_list(&self, ballot: &Ballot, item: &mut Item) {
        let listed =
            |key: &&str| item.content.get(*key).and_then(Value::as_list).is_some_and(|l| l.len() > 1);
        let Some(key) = ballot.picked_from().find(listed) else { return };
        let many = item.candidates_in(key).len();
        let mut places: Vec<usize> = (0..many).collect();
        places.sort_by_cached_key(|place| {
            self.keyed_hash("place", &[ballot.recipe, ballot.name, &item.id, key, &place.to_string()])
        });
        let seal = |order: &str| {
            hex::encode(self.keyed_hash("seal", &[ballot.recipe, ballot.name, &item.id, key, order]))[..SEAL]
                .to_owned()
        };
        let seals = [seal("as it is"), seal("drawn")];
        let cover = self.cover_of_item(ballot, &item.id);
        item.shown = Some(Shown { what: Ordered::List(key.to_owned(), places), turned: false, seals, cover });
        item.turn_order(true);
    }

    /// What hides the hashes of an item.
    fn cover_of_item(&self, ballot: &Ballot, item: &str) -> Cover {
        Cover::new(self.keyed_hash("cover", &[ballot.recipe, ballot.name, item]))
    }

    /// An identifier in the place of one that could be computed; `parts` identify it uniquely.
    pub fn make_alias(&self, parts: &[&str]) -> String {
        hex::encode(self.keyed_hash("alias", parts))[..16].to_owned()
    }

    /// Bytes that cannot be computed without the secret.
    fn keyed_hash(&self, purpose: &str, parts: &[&str]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in ["riddlemill blinding v1", purpose].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Whether something is shown in reverse order; `parts` identify it uniquely.
    pub fn is_turned(&self, parts: &[&str]) -> bool {
        self.keyed_hash("sides", parts)[0] & 1 == 1
    }

    /// A seal of the order of something, readable with the secret.
    pub fn seal_order(&self, parts: &[&str], turned: bool) -> String {
        let order = [if turned { "turned" } else { "as it is" }];
        hex::encode(self.keyed_hash("side seal", &[parts, &order].concat()))[..SEAL].to_owned()
    }

    /// Whether a seal states the reverse order; `None` if it was made with another secret.
    pub fn read_seal(&self, parts: &[&str], seal: &str) -> Option<bool> {
        [false, true].into_iter().find(|turned| self.seal_order(parts, *turned) == seal)
    }
}

impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blinding")
    }
}

/// The content key of an item's sides, without `_1` and `_2`.
fn sides_key(item: &Item) -> Option<String> {
    let keys = item.content.keys().filter_map(|key| key.strip_suffix("_1"));
    let mut pairs = keys.filter(|key| item.content.contains_key(&format!("{key}_2")));
    pairs.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::ballots;
    use std::borrow::Cow;

    use super::super::item::{Content, HandedHash};
    use super::*;
    use crate::value::Value;
    use riddlemill_files::Digest;

    fn step() -> Ballot {
        ballots::find_step("chumor", "preference").unwrap()
    }

    fn pair(id: &str, seed: u64) -> Item {
        let sides = [("human", "by a person".to_owned()), ("llm", "by a model".to_owned())];
        let content = Content::from([("joke".to_owned(), Value::from("云"))]);
        Item::from_sides(&step(), id, content, "explanation", sides, seed)
    }

    #[test]
    fn the_order_shown_is_drawn_with_the_secret_and_the_hash_stays() {
        let (one, other) = (Blinding::new([1; 32]), Blinding::new([2; 32]));
        let (mut human, mut alike, mut predicted) = (0, 0, 0);
        for at in 0..1000 {
            let plain = pair(&at.to_string(), 1);
            let [mut a, mut b, mut c] = [plain.clone(), plain.clone(), pair(&at.to_string(), 9)];
            one.show_item(&step(), &mut a);
            other.show_item(&step(), &mut b);
            one.show_item(&step(), &mut c);
            let first = |item: &Item| item.content["explanation_1"].as_text() == Some("by a person");
            assert_eq!(first(&a), a.order == ["human", "llm"]);
            assert_eq!(a.order, c.order, "the recipe's seed has no part in it");
            assert_eq!((a.content_hash, b.content_hash), (plain.content_hash, plain.content_hash));
            human += usize::from(first(&a));
            alike += usize::from(a.order == b.order);
            predicted += usize::from(a.order == plain.order);
        }
        for count in [human, alike, predicted] {
            assert!((430..570).contains(&count), "{human} {alike} {predicted}");
        }
    }

    #[test]
    fn a_seal_reveals_the_order_to_the_secret_alone() {
        let blinding = Blinding::new([7; 32]);
        for at in 0..40 {
            let mut item = pair(&at.to_string(), 1);
            blinding.show_item(&step(), &mut item);
            let sheet = item.sheet_hash();
            let (hash, seal) = sheet.split_once('.').unwrap();
            assert_ne!(hash, item.content_hash.to_string());
            assert_eq!(item.read_handed(&sheet), HandedHash::Today(Box::new(Cow::Borrowed(&item))));
            let uncovered = format!("{}.{seal}", item.content_hash);
            assert_eq!(item.read_handed(&uncovered), HandedHash::Today(Box::new(Cow::Borrowed(&item))));
            let mut earlier = pair(&at.to_string(), 1);
            earlier.content_hash = Digest::of_parts("earlier", []);
            blinding.show_item(&step(), &mut earlier);
            assert_eq!(item.read_handed(&earlier.sheet_hash()), HandedHash::Earlier(earlier.content_hash));
            assert_eq!(item.handed_vote(&item.sheet_vote(earlier.content_hash)), Some(earlier.content_hash));
            assert_eq!(item.handed_vote(&earlier.content_hash.to_string()), Some(earlier.content_hash));
            assert_eq!(item.as_sealed(Some(seal)).unwrap().order, item.order);
            let turned = item.shown.as_ref().map(|shown| shown.seals[usize::from(!shown.turned)].clone());
            let other = item.as_sealed(turned.as_deref()).unwrap();
            assert_eq!(other.order, [item.order[1].clone(), item.order[0].clone()]);
            assert_eq!(other.content["explanation_2"], item.content["explanation_1"]);
            // A sheet from before seals: the order of the recipe's seed.
            assert_eq!(item.as_sealed(None).unwrap().order, pair(&at.to_string(), 1).order);
            let mut elsewhere = pair(&at.to_string(), 1);
            Blinding::new([8; 32]).show_item(&step(), &mut elsewhere);
            assert!(elsewhere.as_sealed(Some(seal)).is_none());
            assert_eq!(elsewhere.read_handed(&sheet), HandedHash::OtherSecret);
            assert_eq!(elsewhere.read_handed("k0.1"), HandedHash::NoHash);
        }
    }

    /// Both arrangements of 58 ballots could be hashed, and one of them stood in the sheet.
    #[test]
    fn no_arrangement_of_the_texts_gives_the_hash_that_is_handed_out() {
        let blinding = Blinding::new([7; 32]);
        let mut handed = std::collections::BTreeSet::new();
        for at in 0..58 {
            let mut item = pair(&at.to_string(), 1);
            blinding.show_item(&step(), &mut item);
            let hash = |turned: bool| {
                let mut guess = item.clone();
                guess.turn_order(turned);
                crate::item::content_hash(&guess.content, None).to_string()
            };
            let sheet = item.sheet_hash();
            assert!([true, false].iter().all(|turned| !sheet.contains(&hash(*turned))));
            // The same texts have another hash in another item, so that no answer can be looked up elsewhere.
            assert!(handed.insert(sheet));
        }
    }

    proptest::proptest! {
        #[test]
        fn a_cover_hands_back_what_it_hid(secret: [u8; 32], bytes: [u8; 16], item in "\\PC{0,8}") {
            let cover = Blinding::new(secret).cover_of_item(&step(), &item);
            let digest = Digest::from_bytes(bytes);
            proptest::prop_assert_eq!(cover.uncover_digest(&cover.cover_digest(digest)), Some(digest));
            proptest::prop_assert_eq!(cover.uncover_digest(&digest.to_string()), None);
        }
    }

    #[test]
    fn what_is_picked_from_is_in_a_drawn_order_and_votes_hold_the_numbers_of_the_record() {
        use crate::answers::{self, Answers};
        use crate::value::Values;
        let step = ballots::find_step("flub", "wrong").unwrap();
        let texts: Vec<String> = (1..=9).map(|n| format!("错误答案{n}")).collect();
        let plain = |id: &str| {
            let content = Content::from([("candidates".to_owned(), Value::List(texts.clone()))]);
            Item::new(&step, id, content, Values::new())
        };
        let mut first = std::collections::BTreeSet::new();
        for at in 0..60 {
            let canonical = plain(&at.to_string());
            let mut item = canonical.clone();
            Blinding::new([7; 32]).show_item(&step, &mut item);
            let shown = item.content["candidates"].as_list().unwrap().to_vec();
            first.insert(shown[0].clone());
            assert_eq!(item.content_hash, canonical.content_hash);
            // Picking the first three texts shown picks these texts.
            let form = step.questions_of_round(crate::ballot::Round::Vote);
            let Answers::Given(values) =
                answers::read_answers(&form, &item, |_| Some(Value::from("1; 2; 3")))
            else {
                panic!()
            };
            let numbers = values.get("wrong").unwrap().as_list().unwrap();
            let mut picked: Vec<&String> =
                numbers.iter().map(|n| &texts[n.parse::<usize>().unwrap() - 1]).collect();
            let mut meant: Vec<&String> = shown[..3].iter().collect();
            picked.sort();
            meant.sort();
            assert_eq!(picked, meant);
            assert_eq!(answers::write_answer(&form[0], &item, values.get("wrong").unwrap()), "1; 2; 3");
            let as_stored: Vec<String> =
                item.shown_order().iter().map(|n| texts[n.parse::<usize>().unwrap() - 1].clone()).collect();
            assert_eq!(as_stored, shown);
            // A sheet is read in the order of its seal; one from before there was an order, in that of the
            // record.
            let sheet = item.sheet_hash();
            let seal = sheet.split_once('.').unwrap().1;
            assert_eq!(item.as_sealed(Some(seal)).unwrap().content, item.content);
            assert_eq!(item.as_sealed(None).unwrap().content, canonical.content);
            let more = || Content::from([("more".to_owned(), Value::from("x"))]);
            assert_eq!(item.with_more(more()).content_hash, canonical.with_more(more()).content_hash);
        }
        assert_eq!(first.len(), 9, "every text comes first somewhere");
    }

    #[test]
    fn what_a_later_round_sees_has_the_hash_it_always_had() {
        let blinding = Blinding::new([3; 32]);
        for at in 0..20 {
            let plain = pair(&at.to_string(), 1);
            let mut shown = plain.clone();
            blinding.show_item(&step(), &mut shown);
            let more = || Content::from([("votes.preference".to_owned(), Value::from("human"))]);
            assert_eq!(shown.with_more(more()).content_hash, plain.with_more(more()).content_hash);
        }
    }
}
