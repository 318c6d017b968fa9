//! Trials on gold items: they decide who may vote, and who may be a senior.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ballot::{AnswerKind, Ballot, Combine, Field, Qualification, Round};
use super::item::Item;
use super::value::{Value, Values};
use super::votes::{Vote, current_votes};

/// An annotator's result on items with known answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    pub annotator: String,
    /// Gold items answered correctly.
    pub right: usize,
    /// Gold items answered.
    pub of: usize,
    /// What that qualifies for.
    pub level: TrialLevel,
}

/// What a trial qualifies for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialLevel {
    /// Fewer gold items than required.
    TooFew,
    /// Not above the share of a formal annotator.
    Failed,
    /// May vote.
    Formal,
    /// May be a senior.
    Senior,
}

impl TrialLevel {
    /// As written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TrialLevel::TooFew => "too_few",
            TrialLevel::Failed => "failed",
            TrialLevel::Formal => "formal",
            TrialLevel::Senior => "senior",
        }
    }
}

/// The fewest gold items that a trial is judged by: with 20 items one more error is 5 points, the distance from a
/// perfect trial to the senior's share.
pub const FEWEST: usize = 20;

/// The fields that can be compared automatically: no texts, and nothing that is collected from all voters.
pub fn comparable_fields(ballot: &Ballot) -> impl Iterator<Item = &Field> + Clone {
    ballot.fields.iter().filter(|field| {
        !matches!(field.kind, AnswerKind::Text | AnswerKind::Edited { .. })
            && !matches!(field.combine, Combine::Union | Combine::Collect)
    })
}

/// Whether only a person can judge the answers: the step asks for texts alone.
pub fn wants_a_senior(ballot: &Ballot) -> bool {
    comparable_fields(ballot).next().is_none()
}

/// Judges everybody who voted on `gold` (items with their answers). A vote is right if it gives every decided
/// field of the gold answer; texts are not compared, nor fields combined by union or collection. FLUB,
/// section 2.1: above 80 % an annotator votes, above 95 % becomes a senior.
pub fn judge_trials(
    ballot: &Ballot,
    gold: &[(&Item, &Values)],
    votes: &[&Vote],
    shares: Qualification,
    fewest: usize,
) -> Vec<Trial> {
    let gold: BTreeMap<&str, (&Item, &Values)> =
        gold.iter().map(|(item, values)| (item.id.as_str(), (*item, *values))).collect();
    let mut scores: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mine: Vec<&Vote> = votes
        .iter()
        .copied()
        .filter(|vote| vote.step == ballot.name && vote.recipe == ballot.recipe)
        .collect();
    for vote in current_votes(&mine).into_iter().filter(|vote| vote.round == Round::Vote) {
        let Some((item, values)) = gold.get(vote.item.as_str()) else { continue };
        if vote.content_hash != item.content_hash {
            continue;
        }
        let is_right = has_right_answers(ballot, values, &vote.values);
        let score = scores.entry(&vote.annotator).or_default();
        score.0 += usize::from(is_right);
        score.1 += 1;
    }
    let trial = |(annotator, (right, of)): (&str, (usize, usize))| Trial {
        annotator: annotator.to_owned(),
        right,
        of,
        level: qualified_level(right, of, shares, fewest),
    };
    scores.into_iter().map(trial).collect()
}

/// Whether answers are the known ones, as far as these are decided and can be compared.
pub fn has_right_answers(ballot: &Ballot, gold_values: &Values, answers: &Values) -> bool {
    comparable_fields(ballot).all(|field| {
        gold_values.get(field.name).is_none_or(|known| is_right(field, known, answers.get(field.name)))
    })
}

/// Whether an answer is the known one; a score may be as far from it as its ballot says.
fn is_right(field: &Field, gold_value: &Value, answer: Option<&Value>) -> bool {
    match (field.tolerance, gold_value.as_number(), answer.and_then(Value::as_number)) {
        (Some(tolerance), Some(known), Some(given)) => (known - given).abs() <= tolerance as f64,
        _ => answer == Some(gold_value),
    }
}

/// What `right` of `of` qualifies for.
pub fn qualified_level(right: usize, of: usize, shares: Qualification, fewest: usize) -> TrialLevel {
    let share = right as f64 / of.max(1) as f64;
    match () {
        () if of < fewest.max(1) => TrialLevel::TooFew,
        () if share > shares.senior => TrialLevel::Senior,
        () if share > shares.formal => TrialLevel::Formal,
        () => TrialLevel::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ballots, testing};

    /// Votes on the first `of` of 20 items, of which `right` are right.
    fn votes(ballot: &Ballot, items: &[Item], annotator: &str, right: usize, of: usize) -> Vec<Vote> {
        let vote = |(at, item): (usize, &Item)| {
            let code = if at < right { "paradox" } else { "ambiguity" };
            testing::test_vote(ballot, item, Round::Vote, annotator, testing::one_answer("type", code))
        };
        items.iter().take(of).enumerate().map(vote).collect()
    }

    #[test]
    fn everybody_is_judged_by_their_own_answers_to_todays_items() {
        let step = ballots::find_step("flub", "type").unwrap();
        let items: Vec<Item> = (0..20).map(|at| testing::test_item(&step, &format!("i{at}"), &[])).collect();
        let answers = testing::one_answer("type", "paradox");
        let gold: Vec<(&Item, &Values)> = items.iter().map(|item| (item, &answers)).collect();
        let mut all = Vec::new();
        for (who, right, of) in [("a", 20, 20), ("b", 19, 20), ("c", 16, 20), ("d", 3, 3)] {
            all.extend(votes(&step, &items, who, right, of));
        }
        // Further fields, items that are not gold, an older text, and votes as a senior are not part of the
        // trial.
        all[0].values.set("also", Value::List(vec!["ambiguity".into()]));
        let other = testing::test_item(&step, "not gold", &[]);
        all.push(testing::test_vote(
            &step,
            &other,
            Round::Vote,
            "a",
            testing::one_answer("type", "ambiguity"),
        ));
        let mut stale =
            testing::test_vote(&step, &items[3], Round::Vote, "d", testing::one_answer("type", "ambiguity"));
        stale.content_hash = other.content_hash;
        all.push(stale.with_id());
        all.push(testing::test_vote(
            &step,
            &items[4],
            Round::Review,
            "d",
            testing::one_answer("type", "ambiguity"),
        ));
        let refs: Vec<&Vote> = all.iter().collect();
        let levels: Vec<_> = judge_trials(&step, &gold, &refs, Qualification::USUAL, FEWEST)
            .into_iter()
            .map(|t| (t.annotator, t.right, t.of, t.level))
            .collect();
        let want = [
            ("a".to_owned(), 20, 20, TrialLevel::Senior),
            ("b".to_owned(), 19, 20, TrialLevel::Formal),
            ("c".to_owned(), 16, 20, TrialLevel::Failed),
            ("d".to_owned(), 3, 3, TrialLevel::TooFew),
        ];
        assert_eq!(levels, want);
    }

    #[test]
    fn a_changed_mind_is_judged_by_the_last_word() {
        let step = ballots::find_step("flub", "type").unwrap();
        let item = testing::test_item(&step, "i", &[]);
        let answers = testing::one_answer("type", "paradox");
        let first =
            testing::test_vote(&step, &item, Round::Vote, "a", testing::one_answer("type", "ambiguity"));
        let mut second = testing::test_vote(&step, &item, Round::Vote, "a", answers.clone());
        second.supersedes = Some(first.id);
        let trial =
            &judge_trials(&step, &[(&item, &answers)], &[&second, &first], Qualification::USUAL, 1)[0];
        assert_eq!((trial.right, trial.of), (1, 1));
    }

    #[test]
    fn a_rating_is_right_within_the_tolerance_of_its_ballot() {
        let mut step = ballots::find_step("flub", "type").unwrap();
        let score =
            Field { name: "rating", kind: AnswerKind::Score { min: 1, max: 5 }, ..step.fields[0].clone() };
        let item = testing::test_item(&step, "i", &[]);
        let rated = |value: f64| {
            let mut values = Values::new();
            values.set("rating", Value::Number(value));
            values
        };
        let answers = rated(4.0);
        for (tolerance, given, right) in
            [(None, 4.0, 1), (None, 3.0, 0), (Some(1), 3.0, 1), (Some(1), 5.0, 1), (Some(1), 2.0, 0)]
        {
            step.fields = vec![Field { tolerance, ..score.clone() }];
            let vote = testing::test_vote(&step, &item, Round::Vote, "a", rated(given));
            let trial = &judge_trials(&step, &[(&item, &answers)], &[&vote], Qualification::USUAL, 1)[0];
            assert_eq!(trial.right, right, "{tolerance:?} {given}");
        }
    }

    #[test]
    fn the_papers_shares_must_be_passed() {
        let shares = Qualification::USUAL;
        let of_twenty = |right| qualified_level(right, 20, shares, FEWEST);
        assert_eq!(of_twenty(20), TrialLevel::Senior);
        assert_eq!(of_twenty(19), TrialLevel::Formal);
        assert_eq!(of_twenty(16), TrialLevel::Failed);
        assert_eq!(of_twenty(17), TrialLevel::Formal);
        assert_eq!(qualified_level(10, 10, shares, FEWEST), TrialLevel::TooFew);
    }
}
