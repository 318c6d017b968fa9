//! Trials on gold items: who may vote, who may be a senior.

use std::collections::BTreeMap;

use super::ballot::{Combine, Kind, Qualification, Round, Step};
use super::item::Item;
use super::value::Values;
use super::votes::{Vote, current};

/// How an annotator did on items whose answers are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Who.
    pub annotator: String,
    /// Gold items answered right.
    pub right: usize,
    /// Gold items answered.
    pub of: usize,
    /// What that entitles to.
    pub level: TrialLevel,
}

/// What a trial entitles to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialLevel {
    /// Fewer gold items than asked for.
    TooFew,
    /// Not above the share of a formal annotator.
    Failed,
    /// May vote.
    Formal,
    /// May be a senior.
    Senior,
}

/// The fewest gold items that a trial is judged by: with 20 items one more error is 5 points, the distance from a
/// perfect trial to the senior's share.
pub const FEWEST: usize = 20;

/// Judges everybody who voted on `gold` (an item and its answers). A vote is right where it gives every
/// decided field of the gold answer; texts are not compared, nor what combines by union or collection.
/// FLUB, section 2.1: above 80 % an annotator votes, above 95 % becomes a senior.
pub fn trials(
    step: &Step,
    gold: &[(&Item, &Values)],
    votes: &[&Vote],
    shares: Qualification,
    fewest: usize,
) -> Vec<Trial> {
    let gold: BTreeMap<&str, (&Item, &Values)> =
        gold.iter().map(|(item, values)| (item.id.as_str(), (*item, *values))).collect();
    let mut scores: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mine: Vec<&Vote> =
        votes.iter().copied().filter(|vote| vote.step == step.name && vote.recipe == step.recipe).collect();
    for vote in current(&mine).into_iter().filter(|vote| vote.round == Round::Vote) {
        let Some((item, values)) = gold.get(vote.item.as_str()) else { continue };
        if vote.content_hash != item.content_hash {
            continue;
        }
        let compared = step.fields.iter().filter(|field| {
            !matches!(field.kind, Kind::Text | Kind::Edited { .. })
                && !matches!(field.combine, Combine::Union | Combine::Collect)
        });
        let is_right = compared.clone().all(|field| {
            values.get(field.name).is_none_or(|value| vote.values.get(field.name) == Some(value))
        });
        let score = scores.entry(&vote.annotator).or_default();
        score.0 += usize::from(is_right);
        score.1 += 1;
    }
    let trial = |(annotator, (right, of)): (&str, (usize, usize))| Trial {
        annotator: annotator.to_owned(),
        right,
        of,
        level: level(right, of, shares, fewest),
    };
    scores.into_iter().map(trial).collect()
}

fn level(right: usize, of: usize, shares: Qualification, fewest: usize) -> TrialLevel {
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

    #[test]
    fn the_papers_shares_must_be_passed() {
        let shares = Qualification { formal: 0.80, senior: 0.95 };
        let of_twenty = |right| level(right, 20, shares, FEWEST);
        assert_eq!(of_twenty(20), TrialLevel::Senior);
        assert_eq!(of_twenty(19), TrialLevel::Formal);
        assert_eq!(of_twenty(16), TrialLevel::Failed);
        assert_eq!(of_twenty(17), TrialLevel::Formal);
        assert_eq!(level(10, 10, shares, FEWEST), TrialLevel::TooFew);
    }
}
