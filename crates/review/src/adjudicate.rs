//! Disputes, and their decision.

use super::answers::{self, Answers, Fault};
use super::assign::Annotator;
use super::ballot::{Ballot, REASON, Round};
use super::item::Item;
use super::resolve::{Pending, Resolution, UndecidedReason, dispute_item};
use super::value::Value;
use super::votes::{Vote, current_votes};

/// An item that its votes do not decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispute {
    /// The item with its votes shown, as on the adjudicator's ballot.
    pub item: Item,
    /// What has to be decided.
    pub why: Vec<UndecidedReason>,
    /// The votes, ordered by name; curators see names, ballots do not.
    pub votes: Vec<Vote>,
}

/// The disputes among `resolved` items.
pub fn find_disputes<'v>(
    ballot: &Ballot,
    resolved: impl IntoIterator<Item = (&'v Item, &'v Resolution)>,
    votes_on: impl Fn(&str) -> Vec<&'v Vote>,
) -> Vec<Dispute> {
    let dispute = |(item, resolution): (&Item, &Resolution)| {
        let Some(Pending::Adjudicate { why, .. }) = resolution.pending() else { return None };
        let votes = votes_on(&item.id);
        let of_step = |vote: &&&Vote| vote.step == ballot.name && vote.recipe == ballot.recipe;
        let mine: Vec<&Vote> = votes.iter().filter(of_step).copied().collect();
        Some(Dispute {
            item: dispute_item(ballot, item, &mine),
            why: why.clone(),
            votes: current_votes(&mine).into_iter().cloned().collect(),
        })
    };
    resolved.into_iter().filter_map(dispute).collect()
}

/// A settled or not fully voted item as a dispute without open questions: an adjudicator may decide any item,
/// overriding its votes and its draft.
pub fn reopen_item(ballot: &Ballot, item: &Item, votes: &[&Vote]) -> Dispute {
    let of_step =
        |vote: &&Vote| vote.step == ballot.name && vote.recipe == ballot.recipe && vote.item == item.id;
    let mine: Vec<&Vote> = votes.iter().copied().filter(of_step).collect();
    Dispute {
        item: dispute_item(ballot, item, &mine),
        why: Vec::new(),
        votes: current_votes(&mine).into_iter().cloned().collect(),
    }
}

/// Why a decision is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecisionError {
    /// The person is not an adjudicator of this step.
    #[error("{0} may not decide here")]
    NotEntitled(String),
    /// The reason is missing.
    #[error("a decision needs a reason")]
    NoReason,
    /// An answer is missing or invalid.
    #[error("{}", .0.iter().map(|(field, fault)| format!("{field}: {fault}")).collect::<Vec<_>>().join("; "))]
    Answers(Vec<(&'static str, Fault)>),
}

/// The vote that decides a dispute. `given` contains the value of each field, `reason` among them; `at` is
/// the time, RFC 3339. Store it with [`VoteLog::append_votes`](crate::VoteLog::append_votes).
pub fn decide_dispute(
    ballot: &Ballot,
    dispute: &Dispute,
    by: &Annotator,
    value_of: impl Fn(&str) -> Option<Value>,
    at: &str,
    source: &str,
) -> Result<Vote, DecisionError> {
    if !by.may_vote(ballot, Round::Adjudication) {
        return Err(DecisionError::NotEntitled(by.name.clone()));
    }
    let item = &dispute.item;
    let typed = |field: &str| value_of(field).map(Value::trim_text);
    let values = match answers::read_answers(&ballot.questions_of_round(Round::Adjudication), item, typed) {
        Answers::Given(values) => values,
        Answers::Blank => return Err(DecisionError::NoReason),
        Answers::Faulty(faults) if faults.iter().any(|(field, _)| *field == REASON) => {
            return Err(DecisionError::NoReason);
        }
        Answers::Faulty(faults) => return Err(DecisionError::Answers(faults)),
    };
    let last_words = || dispute.votes.iter().filter(|vote| vote.round == Round::Adjudication);
    let own = last_words().find(|vote| vote.annotator == by.name);
    let vote = Vote {
        annotator: by.name.clone(),
        role: by.role,
        round: Round::Adjudication,
        values,
        at: at.to_owned(),
        source: source.to_owned(),
        order: item.shown_order(),
        base: own.map(|vote| vote.id),
        settles: last_words().filter(|vote| vote.annotator != by.name).map(|vote| vote.id).collect(),
        ..Vote::on_item(ballot, item)
    };
    Ok(vote.with_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::Role;
    use crate::resolve::{Outcome, resolve_item};
    use crate::value::Values;
    use crate::{ballots, testing};

    fn step() -> Ballot {
        ballots::find_step("ruozhibench-gen", "category").unwrap()
    }

    fn cast(ballot: &Ballot, item: &Item, who: &str, codes: &[&str]) -> Vote {
        let codes = Value::List(codes.iter().map(|code| (*code).to_owned()).collect());
        let values: Values = [("categories", codes), ("sure", Value::from("yes"))].into_iter().collect();
        testing::test_vote(ballot, item, Round::Vote, who, values)
    }

    /// Three items: the voters disagree on the first, agree on the second, and one vote is missing on the
    /// third.
    fn bench(ballot: &Ballot) -> (Vec<Item>, Vec<Vote>) {
        let items: Vec<Item> =
            ["i0", "i1", "i2"].iter().map(|id| testing::test_item(ballot, id, &[])).collect();
        let votes = vec![
            cast(ballot, &items[0], "b", &["2", "3"]),
            cast(ballot, &items[0], "a", &["2"]),
            cast(ballot, &items[1], "a", &["4"]),
            cast(ballot, &items[1], "b", &["4"]),
            cast(ballot, &items[2], "a", &["1"]),
        ];
        (items, votes)
    }

    fn on<'v>(votes: &'v [Vote], item: &str) -> Vec<&'v Vote> {
        votes.iter().filter(|vote| vote.item == item).collect()
    }

    fn open(ballot: &Ballot, items: &[Item], votes: &[Vote]) -> Vec<Dispute> {
        let resolved: Vec<_> =
            items.iter().map(|item| resolve_item(ballot, item, &on(votes, &item.id))).collect();
        find_disputes(ballot, items.iter().zip(&resolved), |id| on(votes, id))
    }

    fn meta() -> Annotator {
        Annotator::new("m", Role::Meta)
    }

    fn answer(field: &str) -> Option<Value> {
        match field {
            "categories" => Some(Value::from("3; 2")),
            REASON => Some(Value::from("both hold")),
            _ => None,
        }
    }

    #[test]
    fn a_dispute_shows_every_vote_side_by_side() {
        let step = step();
        let (items, votes) = bench(&step);
        let found = open(&step, &items, &votes);
        assert_eq!(found.len(), 1);
        let dispute = &found[0];
        assert_eq!((dispute.item.id.as_str(), dispute.item.content_hash), ("i0", items[0].content_hash));
        let who: Vec<&str> = dispute.votes.iter().map(|vote| vote.annotator.as_str()).collect();
        assert_eq!(who, ["a", "b"]);
        assert!(
            matches!(&dispute.why[..], [UndecidedReason::Differ { field: "categories", .. }]),
            "{:?}",
            dispute.why
        );
        let shown = dispute.item.content["votes.categories"].as_list().unwrap();
        assert!(shown.contains(&"2".to_owned()) && shown.contains(&"2; 3".to_owned()), "{shown:?}");
    }

    #[test]
    fn a_decision_needs_the_right_person_a_reason_and_answers() {
        let step = step();
        let (items, votes) = bench(&step);
        let dispute = &open(&step, &items, &votes)[0];
        let voter = Annotator { role: Role::Annotator, ..meta() };
        let decide = |by: &Annotator, given: &dyn Fn(&str) -> Option<Value>| {
            decide_dispute(&step, dispute, by, given, "2026-01-02T00:00:00Z", "test")
        };
        assert_eq!(decide(&voter, &answer), Err(DecisionError::NotEntitled("m".into())));
        assert_eq!(decide(&meta(), &|_| None), Err(DecisionError::NoReason));
        let unexplained = |field: &str| answer(field).filter(|_| field != REASON);
        assert_eq!(decide(&meta(), &unexplained), Err(DecisionError::NoReason));
        let unknown =
            |field: &str| if field == "categories" { Some(Value::from("9")) } else { answer(field) };
        let error = decide(&meta(), &unknown).unwrap_err();
        assert!(error.to_string().starts_with("categories: unknown choice `9`"), "{error}");
    }

    #[test]
    fn a_decision_settles_the_item_and_outlives_later_votes() {
        let step = step();
        let (items, mut votes) = bench(&step);
        let dispute = &open(&step, &items, &votes)[0];
        let vote = decide_dispute(&step, dispute, &meta(), answer, "2026-01-02T00:00:00Z", "test").unwrap();
        assert_eq!(vote.compute_id(), vote.id);
        assert_eq!((vote.round, vote.role, vote.base), (Round::Adjudication, Role::Meta, None));
        let first = vote.id;
        votes.push(vote);
        votes.push(cast(&step, &items[0], "c", &["5"]));
        assert!(open(&step, &items, &votes).is_empty());
        let settled = resolve_item(&step, &items[0], &on(&votes, "i0"));
        let Outcome::Confirmed { values, by, .. } = settled.outcome else { panic!("{settled:?}") };
        assert_eq!(values.get("categories").unwrap().as_list().unwrap(), ["2", "3"]);
        assert!(by.contains(&"m".to_owned()), "{by:?}");
        // A later decision builds on the earlier one.
        let again = Dispute { votes: votes.clone(), ..dispute.clone() };
        let vote = decide_dispute(&step, &again, &meta(), answer, "2026-01-03T00:00:00Z", "test").unwrap();
        assert_eq!(vote.base, Some(first));
    }
}
