//! Votes and their storage: append-only segments of JSON lines under `raw/votes`.

pub mod aside;
mod index;

pub use aside::{Admitted, AsideLine, Asides, Restored, SetAside};
pub use index::{VoteLog, VoteReceipt};
pub use riddlemill_files::log::LogError;

use std::cmp::Reverse;

use riddlemill_files::digest::{Digest, Digester};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::ballot::{Ballot, Role, Round};
use crate::item::Item;
use crate::value::Values;

/// The source of votes cast on the pages.
pub const PAGE: &str = "page";

/// Who carried a vote over to another text than it was cast on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Who confirmed it, having seen both texts.
    pub by: String,
    /// Why the answers still apply.
    pub why: String,
}

/// One annotator's vote on one item, never changed. Changing one's mind makes another vote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The hash of the fields that identify the vote: all except the time, the file, the seconds, the role
    /// and `supersedes`. So the same vote has the same id however often it is imported.
    pub id: Digest,
    pub recipe: String,
    /// The review step.
    pub step: String,
    /// The item's id.
    pub item: String,
    /// The hash of what the annotator saw.
    pub content_hash: Digest,
    pub annotator: String,
    /// The annotator's role at the time.
    pub role: Role,
    #[serde(default)]
    pub round: Round,
    /// The answers.
    pub values: Values,
    /// When it was received, RFC 3339, as given by the caller.
    pub at: String,
    /// The file or page it came from.
    pub source: String,
    /// Written for a sample; does not count as a person's.
    #[serde(default)]
    pub synthetic: bool,
    /// The sides of a preference in the order the annotator saw them, by their codes; empty if nothing is
    /// compared, and in older votes. The answer is independent of the order, so it is not part of the id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// How long the annotator took, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The annotator's own vote that was on the ballot when this one was cast, and so part of its identity:
    /// going back to an earlier answer is a new vote, importing an old file again is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Digest>,
    /// The vote of the same annotator that this one replaces; set when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Digest>,
    /// Other votes that this one replaces: of the same annotator, if logs of two machines were merged, and
    /// other adjudicators' decisions, if this is one; set when it is stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settles: Vec<Digest>,
    /// Other adjudicators' decisions on the item that this one contradicts, made without knowing of each
    /// other; set when logs of two machines are merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<Digest>,
    /// Who carried it over from the text that `base` was cast on; part of its identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// The version of the guideline that the annotator read. Editing it makes no vote stale, so it is not
    /// part of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guideline: Option<Digest>,
}

impl Vote {
    /// An empty vote on an item: whose it is, its answers, its time and its source are still to be filled in.
    pub fn on_item(ballot: &Ballot, item: &Item) -> Vote {
        Vote {
            // Replaced by the vote's own id when it is sealed.
            id: item.content_hash,
            recipe: ballot.recipe.to_owned(),
            step: ballot.name.to_owned(),
            item: item.id.clone(),
            content_hash: item.content_hash,
            annotator: String::new(),
            role: Role::Annotator,
            round: Round::Vote,
            values: Values::new(),
            at: String::new(),
            source: String::new(),
            synthetic: false,
            order: Vec::new(),
            seconds: None,
            base: None,
            supersedes: None,
            settles: Vec::new(),
            contradicts: Vec::new(),
            carried: None,
            guideline: None,
        }
    }

    /// The id computed from the fields. A stored vote with another id was tampered with.
    pub fn compute_id(&self) -> Digest {
        let mut digester = Digester::new("riddlemill vote v1");
        for part in [&self.recipe, &self.step, &self.item, &self.annotator] {
            digester.hash_part(part.as_bytes());
        }
        digester.hash_part(self.content_hash.to_string().as_bytes());
        digester.hash_part(self.round.name().as_bytes());
        digester.hash_part(&[u8::from(self.synthetic)]);
        digester.hash_part(self.base.map(|base| base.to_string()).unwrap_or_default().as_bytes());
        self.values.add_to_digest(&mut digester);
        // Hashed only if present, so that the ids of stored votes without it stay valid.
        if let Some(Carried { by, why }) = &self.carried {
            [b"carried", by.as_bytes(), why.as_bytes()].into_iter().for_each(|part| digester.hash_part(part));
        }
        digester.finish()
    }

    /// The vote with its correct id.
    pub fn with_id(self) -> Vote {
        Vote { id: self.compute_id(), ..self }
    }

    /// Identifies the annotator, item and round, for which one vote is current.
    pub(crate) fn seat_digest(&self) -> Digest {
        let parts = [&self.recipe, &self.step, &self.item, &self.annotator].map(|part| part.as_bytes());
        Digest::of_parts("riddlemill seat v1", parts.into_iter().chain([self.round.name().as_bytes()]))
    }

    /// Whether this vote comes from a sheet that is older than `head`, its annotator's current vote: `head`
    /// was cast with more votes known than the sheet contains, or on the pages while the sheet was out.
    pub(crate) fn is_late(&self, head: &Vote) -> bool {
        let has_seen = self.base == Some(head.id);
        !has_seen && (self.base != head.base || (head.source == PAGE && self.source != PAGE))
    }

    /// Whether the other vote is on the same item of the same step.
    pub(crate) fn is_about(&self, other: &Vote) -> bool {
        (&self.item, &self.step, &self.recipe) == (&other.item, &other.step, &other.recipe)
    }

    /// Whether the other vote has the same answers on the same text.
    pub(crate) fn same_content(&self, other: &Vote) -> bool {
        self.values == other.values
            && self.content_hash == other.content_hash
            && self.synthetic == other.synthetic
    }
}

/// The current ones of `votes`, which are in the order they were stored: one for each annotator, round and
/// item, ordered by `(annotator, round, id)`. A vote replaces the one it names if that is its own annotator's
/// on the same item; a sample's never replaces a person's. If more than one is left, because logs of two
/// machines were merged, a person's counts before a sample's and a later stored one before an earlier: clocks
/// are not used.
pub fn current_votes<'v>(votes: &[&'v Vote]) -> Vec<&'v Vote> {
    let mut heads = unreplaced_votes(votes);
    heads.sort_by_key(|(at, vote)| (seat_of(vote), vote.synthetic, Reverse(*at)));
    heads.dedup_by(|other, head| seat_of(other.1) == seat_of(head.1));
    let mut heads: Vec<&Vote> = heads.into_iter().map(|(_, vote)| vote).collect();
    heads.sort_by(|a, b| (&a.annotator, a.round, a.id).cmp(&(&b.annotator, b.round, b.id)));
    heads
}

/// Different answers of one annotator on the same text, given without knowing of each other, as on two
/// machines: for each seat the current vote, and the others that differ. The annotator's next vote settles
/// it.
pub fn find_contradictions<'v>(votes: &[&'v Vote]) -> Vec<(&'v Vote, Vec<&'v Vote>)> {
    let mut heads = unreplaced_votes(votes);
    heads.retain(|(_, vote)| !vote.synthetic);
    heads.sort_by_key(|(at, vote)| (seat_of(vote), Reverse(*at)));
    let of_a_seat = heads.chunk_by(|a, b| seat_of(a.1) == seat_of(b.1));
    let contradicting = |heads: &[(usize, &'v Vote)]| {
        let ((_, head), others) = heads.split_first()?;
        let differs = |other: &&Vote| other.content_hash == head.content_hash && !other.same_content(head);
        let others: Vec<&Vote> = others.iter().map(|(_, vote)| *vote).filter(differs).collect();
        (!others.is_empty()).then_some((*head, others))
    };
    of_a_seat.filter_map(contradicting).collect()
}

fn seat_of(vote: &Vote) -> (&str, Round, [&str; 3]) {
    (&vote.annotator, vote.round, [&vote.recipe, &vote.step, &vote.item])
}

/// The votes that no other replaces, each with its index.
fn unreplaced_votes<'v>(votes: &[&'v Vote]) -> Vec<(usize, &'v Vote)> {
    let mut replaced: FxHashSet<Digest> = FxHashSet::default();
    if votes.iter().any(|vote| vote.supersedes.is_some()) {
        let known: FxHashMap<Digest, &Vote> = votes.iter().map(|vote| (vote.id, *vote)).collect();
        for vote in votes {
            for first in vote.supersedes.iter().chain(&vote.settles) {
                let mut before = known.get(first);
                // A sample's vote may hide what it could not replace. There are at most as many steps as
                // votes.
                for _ in votes {
                    let Some(other) =
                        before.filter(|other| other.id != vote.id && seat_of(other) == seat_of(vote))
                    else {
                        break;
                    };
                    if vote.synthetic && !other.synthetic {
                        break;
                    }
                    replaced.insert(other.id);
                    before = other.supersedes.filter(|_| other.synthetic).and_then(|id| known.get(&id));
                }
            }
        }
    }
    let is_current = |(_, vote): &(usize, &Vote)| !replaced.contains(&vote.id);
    votes.iter().copied().enumerate().filter(is_current).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ballots, testing};

    fn vote(annotator: &str, kind: &str, at: &str, synthetic: bool) -> Vote {
        let step = ballots::find_step("flub", "type").unwrap();
        let item = testing::test_item(&step, "i", &[]);
        let values = [("type", kind)].into_iter().collect();
        let vote = testing::test_vote(&step, &item, Round::Vote, annotator, values);
        Vote { at: at.into(), synthetic, ..vote }.with_id()
    }

    #[test]
    fn a_person_counts_before_a_sample_and_the_order_before_the_clock() {
        let sample = vote("a", "paradox", "2026-01-03T00:00:00Z", true);
        let first = vote("a", "ambiguity", "2026-01-02T00:00:00Z", false);
        // The clock was set back.
        let second = vote("a", "word_game", "2026-01-01T00:00:00Z", false);
        assert_eq!(current_votes(&[&first, &sample]), [&first]);
        assert_eq!(current_votes(&[&sample, &first]), [&first]);
        assert_eq!(current_votes(&[&sample, &first, &second]), [&second]);
        let over = Vote { supersedes: Some(first.id), ..sample.clone() };
        assert_eq!(current_votes(&[&first, &over]), [&first], "a sample replaces no person");
        let after = Vote { supersedes: Some(over.id), ..second };
        for votes in [[&first, &over, &after], [&after, &over, &first]] {
            assert_eq!(current_votes(&votes), [&after]);
        }
    }

    #[test]
    fn who_answered_twice_is_asked_which_holds() {
        let mine = vote("a", "paradox", "2026-01-01T00:00:00Z", false);
        let theirs = vote("a", "ambiguity", "2026-01-01T00:00:00Z", false);
        let contradicting = find_contradictions(&[&mine, &theirs]);
        assert_eq!(contradicting, [(&theirs, vec![&mine])]);
        let again = Vote { supersedes: Some(theirs.id), base: Some(theirs.id), ..mine.clone() }.with_id();
        assert_eq!(find_contradictions(&[&mine, &theirs, &again]), [], "equal to the other");
        let third = Vote { base: Some(theirs.id), ..vote("a", "word_game", "2026-01-01T00:00:00Z", false) };
        let third = Vote { supersedes: Some(theirs.id), ..third.with_id() };
        assert_eq!(find_contradictions(&[&mine, &theirs, &third]), [(&third, vec![&mine])]);
        let settled = Vote { settles: vec![mine.id], ..third };
        assert_eq!(find_contradictions(&[&mine, &theirs, &settled]), []);
        assert_eq!(current_votes(&[&mine, &theirs, &settled]), [&settled]);
    }

    #[test]
    fn nobody_replaces_somebody_elses_vote() {
        let one = vote("a", "paradox", "2026-01-01T00:00:00Z", false);
        let other = vote("b", "ambiguity", "2026-01-01T00:00:00Z", false);
        let edited = Vote { supersedes: Some(one.id), ..other };
        assert_eq!(current_votes(&[&one, &edited]), [&one, &edited]);
    }
}
