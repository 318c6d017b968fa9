//! What is open for whom, and what they may see.

use super::BallotItems;
use super::assignments::Assignments;
use super::vote_index::VoteIndex;
use crate::recipe::Recipe;
use crate::review::ballot::Round;
use crate::review::votes::current_votes;
use crate::review::{
    Annotator, Item, Pending, UndecidedReason, Vote, dispute_item, resolve_item, review_item,
};

/// A step of a recipe in one round.
#[derive(Clone, Copy)]
pub(crate) struct BallotRound<'p> {
    pub(crate) recipe: &'static Recipe,
    pub(crate) ballot: &'p BallotItems,
    pub(crate) round: Round,
}

/// An item as a person may see it in a round.
pub(crate) struct ShownItem {
    /// The item; its hash is that of what is shown.
    pub(crate) item: Item,
    /// The open questions of a dispute.
    pub(crate) why: Vec<UndecidedReason>,
}

/// People's votes on an item, without a sample's.
fn votes_of_people<'b>(vote_index: &'b VoteIndex, place: BallotRound<'_>, item: &str) -> Vec<&'b Vote> {
    let mut votes = vote_index.counted_votes(place.recipe.name, place.ballot.step.name, item);
    votes.retain(|vote| !vote.synthetic);
    votes
}

/// The votes visible in a later round, ordered by their ids, so that the order does not reveal the voters.
pub(crate) fn visible_votes<'b>(
    vote_index: &'b VoteIndex,
    place: BallotRound<'_>,
    item: &Item,
) -> Vec<&'b Vote> {
    let votes = votes_of_people(vote_index, place, &item.id);
    let mut heads = current_votes(&votes);
    heads.retain(|vote| vote.round < place.round);
    heads.retain(|vote| vote.round != Round::Vote || vote.content_hash == item.content_hash);
    heads.sort_by_key(|vote| (vote.round, vote.id));
    heads
}

/// A person's latest vote on an item in a round.
pub(crate) fn own_vote<'b>(
    vote_index: &'b VoteIndex,
    place: BallotRound<'_>,
    item: &str,
    person: &str,
) -> Option<&'b Vote> {
    let votes = votes_of_people(vote_index, place, item);
    current_votes(&votes).into_iter().find(|vote| vote.annotator == person && vote.round == place.round)
}

/// What a person sees of an item in a round; `None` if the item is not open to that round.
pub(crate) fn shown_item(vote_index: &VoteIndex, place: BallotRound<'_>, item: &Item) -> Option<ShownItem> {
    let votes = votes_of_people(vote_index, place, &item.id);
    let step = &place.ballot.step;
    match place.round {
        Round::Vote => Some(ShownItem { item: item.clone(), why: Vec::new() }),
        Round::Review => {
            let pending = resolve_item(step, item, &votes);
            let waits = matches!(pending.pending(), Some(Pending::Waiting { round: Round::Review, .. }));
            let reviewed = votes.iter().any(|vote| vote.round == Round::Review);
            (waits || reviewed).then(|| ShownItem { item: review_item(step, item, &votes), why: Vec::new() })
        }
        Round::Adjudication => {
            let why = match resolve_item(step, item, &votes).pending() {
                Some(Pending::Adjudicate { why, .. }) => why.clone(),
                _ => Vec::new(),
            };
            let decided = votes.iter().any(|vote| vote.round == Round::Adjudication);
            (!why.is_empty() || decided).then(|| ShownItem { item: dispute_item(step, item, &votes), why })
        }
    }
}

/// Whether the votes on an item do not decide it.
fn is_disputed(vote_index: &VoteIndex, place: BallotRound<'_>, item: &Item) -> bool {
    let votes = votes_of_people(vote_index, place, &item.id);
    !votes.is_empty()
        && matches!(
            resolve_item(&place.ballot.step, item, &votes).pending(),
            Some(Pending::Adjudicate { .. })
        )
}

/// The state of an item for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemState {
    /// They have voted on its current text.
    Done,
    /// It waits for their vote.
    Open,
    /// It waits for others, or for nobody.
    Others,
}

/// A person's progress: the number of items with their vote on the current text, and the items that wait for
/// one, in the order of the ballot. These are their assigned items or, if nothing was assigned to anybody,
/// all that lack votes.
pub(crate) fn person_progress<'p>(
    vote_index: &VoteIndex,
    place: BallotRound<'p>,
    assignments: &Assignments,
    person: &Annotator,
) -> (usize, Vec<&'p Item>) {
    let (mut done, mut open) = (0, Vec::new());
    let step = &place.ballot.step;
    // Most items of a large set have no votes yet, and each page goes through all of them: what is the same for
    // all of these is looked up once.
    let voted = vote_index.voted_items(place.recipe.name, step.name);
    let mine = assignments
        .is_round_assigned(Round::Vote)
        .then(|| assignments.items_of_person(Round::Vote, &person.name));
    let is_open_without_votes = |item: &Item| match (place.round, mine) {
        (Round::Vote, _) if person.is_kept_from(item) => false,
        (Round::Vote, Some(mine)) => mine.is_some_and(|mine| mine.contains(&item.id)),
        (Round::Vote, None) => step.votes_needed > 0,
        (Round::Review | Round::Adjudication, _) => false,
    };
    for item in &place.ballot.items {
        if !voted.is_some_and(|voted| voted.contains_key(&item.id)) {
            if is_open_without_votes(item) {
                open.push(item);
            }
            continue;
        }
        match is_current(vote_index, place, assignments, person, item) {
            ItemState::Done => done += 1,
            ItemState::Open => open.push(item),
            ItemState::Others => {}
        }
    }
    (done, open)
}

/// How many votes an item lacks in a round: as many people may have it open at once without one of them being
/// too late.
pub(crate) fn count_lacking_votes(vote_index: &VoteIndex, place: BallotRound<'_>, item: &Item) -> usize {
    let needed = place.ballot.step.votes_in(place.round);
    if place.round != Round::Vote {
        return needed;
    }
    let votes = votes_of_people(vote_index, place, &item.id);
    let counts = |vote: &&&Vote| vote.round == Round::Vote && vote.content_hash == item.content_hash;
    needed.saturating_sub(current_votes(&votes).iter().filter(counts).count())
}

/// Whether a vote that comes when all that were needed are there is one more vote: in the first round people
/// vote independently, and another opinion is never wrong. Reviews and adjudications answer the votes before
/// them, and the first one is the answer.
pub(crate) fn takes_more(
    place: BallotRound<'_>,
    assignments: &Assignments,
    person: &Annotator,
    item: &Item,
) -> bool {
    let theirs = !assignments.is_round_assigned(Round::Vote)
        || assignments.is_assigned(Round::Vote, &person.name, &item.id);
    place.round == Round::Vote && theirs && !person.is_kept_from(item)
}

/// Whether an item waits for a person's vote.
pub(crate) fn is_waiting_for(
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    assignments: &Assignments,
    person: &Annotator,
    item: &Item,
) -> bool {
    is_current(vote_index, place, assignments, person, item) == ItemState::Open
}

fn is_current(
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    assignments: &Assignments,
    person: &Annotator,
    item: &Item,
) -> ItemState {
    let step = &place.ballot.step;
    let votes = votes_of_people(vote_index, place, &item.id);
    let heads = if votes.is_empty() { Vec::new() } else { current_votes(&votes) };
    let in_round = || heads.iter().filter(|vote| vote.round == place.round);
    // What a reviewer sees has a hash of its own.
    let hash = match place.round {
        Round::Review if !votes.is_empty() => review_item(step, item, &votes).content_hash,
        _ => item.content_hash,
    };
    if in_round().any(|vote| vote.annotator == person.name && vote.content_hash == hash) {
        return ItemState::Done;
    }
    // Nobody votes on a text that they wrote themselves, or in a language that they do not read.
    if person.cannot_read(item) || place.round == Round::Vote && person.is_kept_from(item) {
        return ItemState::Others;
    }
    let wanted = match place.round {
        Round::Vote if assignments.is_round_assigned(Round::Vote) => {
            assignments.is_assigned(Round::Vote, &person.name, &item.id)
        }
        // Votes on an earlier text of the item do not count.
        Round::Vote => in_round().filter(|vote| vote.content_hash == hash).count() < step.votes_needed,
        Round::Review => {
            !votes.is_empty() && {
                let pending = resolve_item(step, item, &votes);
                matches!(pending.pending(), Some(Pending::Waiting { round: Round::Review, .. }))
            }
        }
        Round::Adjudication => is_disputed(vote_index, place, item),
    };
    if wanted { ItemState::Open } else { ItemState::Others }
}
