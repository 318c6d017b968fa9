//! Carries votes over to a text that changed after they were cast.
//!
//! A vote refers to the text that its annotator saw and counts for no other. If a rule changes a text and the
//! answers still apply, a person who has seen both texts confirms it: each vote is then stored again, for the
//! current text, in its annotator's name and with the name of who confirmed it. The original stays in the
//! log, and reverting stores the vote a third time, for the old text.

mod seen;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

pub use seen::{Seen, SeenLog};

use super::Digest;
use super::answers::{self, Answers, Fault};
use super::ballot::{Ballot, Drafts, Round};
use super::item::{Content, Item};
use super::resolve::review_item;
use super::value::Values;
use super::votes::{Carried, Vote, current_votes};

/// An item whose text changed after people voted on it.
#[derive(Clone, Debug)]
pub struct Outdated<'a> {
    /// The item today.
    pub item: &'a Item,
    /// Its content today, in the order that the recipe's seed draws, without anybody's votes.
    pub new: Content,
    /// The content that the voters saw, in the same way.
    pub old: Content,
    /// The drafts that they saw; empty on a blind ballot.
    pub old_draft: Values,
    /// Their latest votes on it, by round and annotator.
    pub votes: Vec<&'a Vote>,
}

/// Items whose votes may be carried over.
#[derive(Clone, Debug, Default)]
pub struct Carryable<'a> {
    /// In the order of the items; one for each text that was voted on.
    pub items: Vec<Outdated<'a>>,
    /// Outdated votes on a text that was not kept.
    pub unknown: usize,
}

/// Why a vote cannot be carried over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CarryError {
    /// The answers are invalid for the current text.
    #[error(
        "{item}: the answers of {annotator} do not fit the present text of the post: {field}: {fault}\n  hint: have it voted on again"
    )]
    Unfit {
        item: String,
        /// Whose vote.
        annotator: String,
        field: &'static str,
        fault: Box<Fault>,
    },
    /// The answers would get another meaning.
    #[error(
        "{item}: the answers of {annotator} would have another meaning with the present text of the post\n  hint: have it voted on again"
    )]
    Otherwise {
        item: String,
        /// Whose vote.
        annotator: String,
    },
}

impl Outdated<'_> {
    /// The fields that changed, old and new; including drafts if these were shown.
    pub fn changed_fields(&self) -> Vec<(String, String, String)> {
        let cells = |content: &Content, draft: &Values| -> Vec<(String, String)> {
            let shown = content.iter().map(|(key, value)| (key.clone(), value.to_string()));
            shown
                .chain(draft.iter().map(|(key, value)| (format!("draft.{key}"), value.to_string())))
                .collect()
        };
        let none = Values::new();
        let new_draft = if self.old_draft.is_empty() { &none } else { &self.item.draft };
        let (old, new) = (cells(&self.old, &self.old_draft), cells(&self.new, new_draft));
        let keys: Vec<&String> = new.iter().chain(&old).map(|(key, _)| key).collect();
        let mut met = BTreeSet::new();
        let of = |cells: &[(String, String)], key: &str| {
            cells.iter().find(|(known, _)| known == key).map(|(_, text)| text.clone()).unwrap_or_default()
        };
        keys.into_iter()
            .filter(|key| met.insert(*key))
            .map(|key| (key.clone(), of(&old, key), of(&new, key)))
            .filter(|(_, old, new)| old != new)
            .collect()
    }

    /// The votes on it, one line each.
    pub fn vote_lines(&self) -> Vec<String> {
        self.votes.iter().map(|vote| vote_line(vote)).collect()
    }

    /// A hash of the votes shown in a table or form, so that an answer refers to these.
    pub fn shown_votes(&self) -> Digest {
        let ids: Vec<String> = self.votes.iter().map(|vote| vote.id.to_string()).collect();
        Digest::of_parts("riddlemill carry v1", ids.iter().map(String::as_bytes))
    }
}

/// `a1 (vote): screen=keep`.
pub fn vote_line(vote: &Vote) -> String {
    let answers: Vec<String> = vote.values.iter().map(|(field, value)| format!("{field}={value}")).collect();
    format!("{} ({}): {}", vote.annotator, vote.round.name(), answers.join(", "))
}

/// The people's votes of a step that refer to an older text. `votes` may include other items.
pub fn find_carryable<'a>(
    ballot: &Ballot,
    items: &'a [Item],
    votes: &FxHashMap<&str, Vec<&'a Vote>>,
    seen: &SeenLog,
) -> Carryable<'a> {
    let mut found = Carryable::default();
    for item in items {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let mut drawn = item.clone();
        drawn.turn_order(false);
        let (today, draft) = (base_content(&drawn.content), shown_draft(ballot, &item.draft));
        let mut groups: Vec<Outdated<'a>> = Vec::new();
        for vote in latest_votes(on_it) {
            if vote.round != Round::Review && vote.content_hash == item.content_hash {
                continue;
            }
            let Some(old) = seen.get(vote.content_hash) else {
                found.unknown += usize::from(vote.round != Round::Review);
                continue;
            };
            let (old, old_draft) = (base_content(&old.content), shown_draft(ballot, &old.draft));
            // A reviewer's vote is outdated too if a voter changed their vote on the same text.
            if old == today && old_draft == draft {
                continue;
            }
            match groups.iter_mut().find(|group| group.old == old && group.old_draft == old_draft) {
                Some(group) => group.votes.push(vote),
                None => {
                    groups.push(Outdated { item, new: today.clone(), old, old_draft, votes: vec![vote] });
                }
            }
        }
        groups.iter_mut().for_each(|group| group.votes.sort_by_key(|vote| (vote.round, &vote.annotator)));
        found.items.extend(groups);
    }
    found
}

/// The votes on the current text that a person makes of those on an older text, all of an item or none; not
/// yet stored. `votes` are those on the item.
///
/// # Errors
/// [`CarryError`] if an answer does not fit what is shown today.
pub fn carry_votes(
    ballot: &Ballot,
    outdated: &Outdated<'_>,
    votes: &[&Vote],
    by: &Carried,
    at: &str,
    source: &str,
) -> Result<Vec<Vote>, CarryError> {
    let mut carried: Vec<Vote> = Vec::new();
    for vote in &outdated.votes {
        let shown = match vote.round {
            Round::Review => {
                let mut all: Vec<&Vote> = votes.to_vec();
                all.extend(&carried);
                review_item(ballot, outdated.item, &all)
            }
            Round::Vote | Round::Adjudication => outdated.item.clone(),
        };
        check_fit(ballot, &shown, vote)?;
        carried.push(move_vote(vote, &shown, vote.order.clone(), by, at, source));
    }
    Ok(carried)
}

/// The votes that revert an item's carried ones to the text that they were cast on; not yet stored. Empty if
/// none was carried.
pub fn take_back(
    ballot: &Ballot,
    item: &Item,
    votes: &[&Vote],
    by: &Carried,
    at: &str,
    source: &str,
) -> Vec<Vote> {
    let reviewed = review_item(ballot, item, votes).content_hash;
    let back = |vote: &&Vote| {
        let before = votes.iter().find(|before| Some(before.id) == vote.base)?;
        let today = if vote.round == Round::Review { reviewed } else { item.content_hash };
        let counts = vote.content_hash == today;
        let moves = vote.carried.is_some() && counts && before.content_hash != vote.content_hash;
        let old = Item { content_hash: before.content_hash, ..item.clone() };
        moves.then(|| move_vote(vote, &old, vote.order.clone(), by, at, source))
    };
    latest_votes(votes).iter().filter_map(back).collect()
}

/// The texts that the answers to a step refer to, to be kept before they change: those of all people's votes
/// that count today.
pub fn rested_on(ballot: &Ballot, items: &[Item], votes: &FxHashMap<&str, Vec<&Vote>>) -> Vec<Seen> {
    let mut kept = Vec::new();
    for item in items {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let heads = latest_votes(on_it);
        if heads.is_empty() {
            continue;
        }
        let counts = |shown: &Item, review: bool| {
            heads.iter().any(|vote| {
                (vote.round == Round::Review) == review && vote.content_hash == shown.content_hash
            })
        };
        if counts(item, false) {
            kept.push(Seen::new(item, shown_draft(ballot, &item.draft)));
        }
        let reviewed = review_item(ballot, item, on_it);
        if ballot.review.is_some() && counts(&reviewed, true) {
            kept.push(Seen::new(&reviewed, reviewed.draft.clone()));
        }
    }
    kept
}

/// The latest vote of each person, without samples.
fn latest_votes<'v>(votes: &[&'v Vote]) -> Vec<&'v Vote> {
    let people: Vec<&Vote> = votes.iter().copied().filter(|vote| !vote.synthetic).collect();
    current_votes(&people)
}

fn move_vote(vote: &Vote, to: &Item, order: Vec<String>, by: &Carried, at: &str, source: &str) -> Vote {
    Vote {
        content_hash: to.content_hash,
        at: at.to_owned(),
        source: source.to_owned(),
        order,
        // The time was that for another text.
        seconds: None,
        base: Some(vote.id),
        supersedes: Some(vote.id),
        settles: Vec::new(),
        contradicts: Vec::new(),
        carried: Some(by.clone()),
        ..vote.clone()
    }
    .with_id()
}

fn check_fit(ballot: &Ballot, shown: &Item, vote: &Vote) -> Result<(), CarryError> {
    let (item, annotator) = (vote.item.clone(), vote.annotator.clone());
    match answers::read_answers(&ballot.questions_of_round(vote.round), shown, |field| {
        vote.values.get(field).cloned()
    }) {
        Answers::Given(values) if values == vote.values => Ok(()),
        Answers::Given(_) | Answers::Blank => Err(CarryError::Otherwise { item, annotator }),
        Answers::Faulty(faults) => match faults.into_iter().next() {
            Some((field, fault)) => Err(CarryError::Unfit { item, annotator, field, fault: Box::new(fault) }),
            None => Err(CarryError::Otherwise { item, annotator }),
        },
    }
}

/// The content of the item itself, without the votes that a second reviewer sees.
fn base_content(content: &Content) -> Content {
    let own = |key: &str| !key.starts_with("votes.") && !key.starts_with("review.");
    content.iter().filter(|(key, _)| own(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn shown_draft(ballot: &Ballot, draft: &Values) -> Values {
    match ballot.drafts {
        Drafts::Shown => draft.clone(),
        Drafts::Hidden => Values::new(),
    }
}

#[cfg(test)]
mod tests;
