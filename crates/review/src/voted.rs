//! Summary of a step's votes for cards, reports and pages: agreement, disputes, seniors' changes, trials.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::agreement::{Bootstrap, Estimate, FieldAgreement, step_agreement};
use super::assign::Annotator;
use super::ballot::{AnswerKind, Ballot, Round};
use super::item::Item;
use super::qualify::TrialLevel;
use super::resolve::{Outcome, Pending, Resolution};
use super::value::Value;
use super::votes::{Vote, current_votes};
use riddlemill_text::shortcuts::{self, Shortcuts};

/// Summary of the votes of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Voted {
    /// Agreement of the first round in each field with at least two voters.
    pub fields: Vec<Agreement>,
    /// Whether these votes are a sample's.
    pub sample: bool,
    /// Items that people's votes did not decide and an adjudicator did.
    pub settled: usize,
    /// Items that wait for an adjudicator.
    pub disputed: usize,
    /// Items that a senior changed, and the number reviewed.
    pub modified: Option<(usize, usize)>,
    /// How the voters were admitted; `None` for a step without a trial.
    pub trial: Option<Trialled>,
    /// Votes that a manager set aside: they count in none of these figures.
    #[serde(skip_serializing_if = "is_zero")]
    pub set_aside: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Agreement in one field.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    pub field: String,
    /// Items with at least two votes.
    pub items: usize,
    /// The share of agreeing pairs of votes, 0 to 1, with its interval if requested.
    pub percent: Option<[f64; 3]>,
    /// Krippendorff's alpha.
    pub alpha: Option<[f64; 3]>,
    /// Fleiss' kappa, over the items with equally many votes.
    pub fleiss: Option<[f64; 3]>,
    /// Cohen's kappa of every two who share items: mean, smallest and greatest.
    pub cohen: Option<[f64; 3]>,
    /// The number of pairs of annotators.
    pub pairs: usize,
    /// Why one of these coefficients is not defined, if one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

/// How the voters of a step with a trial were admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Trialled {
    /// The share that voters have to exceed, 0 to 1.
    pub formal: f64,
    /// The share that seniors have to exceed.
    pub senior: f64,
    /// By a graded trial.
    pub passed: usize,
    /// Only by `qualified = true` in the settings.
    pub by_hand: usize,
    /// By neither, or by a failed trial: their votes are from before.
    pub failed: usize,
}

impl Voted {
    /// Summarises a step's items with their resolutions; `votes` are the step's, by item.
    pub fn summarise_step(
        ballot: &Ballot,
        items: &[Item],
        resolved: &[Resolution],
        votes: &FxHashMap<&str, Vec<&Vote>>,
        people: &[Annotator],
        bootstrap: Bootstrap,
    ) -> Voted {
        let agreement = step_agreement(ballot, items, votes, bootstrap);
        let fields =
            agreement.fields.into_iter().filter(|field| field.items > 0).map(Agreement::new).collect();
        let looked: Vec<bool> = resolved.iter().filter_map(|resolution| resolution.modified).collect();
        let disputed =
            |resolution: &&Resolution| matches!(resolution.pending(), Some(Pending::Adjudicate { .. }));
        let mut settled = 0;
        let mut voters: BTreeMap<&str, Round> = BTreeMap::new();
        for item in items {
            let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let heads = current_votes(on_it);
            let people = || heads.iter().filter(|vote| !vote.synthetic);
            settled += usize::from(people().any(|vote| vote.round == Round::Adjudication));
            for vote in people().filter(|vote| vote.round != Round::Adjudication) {
                let round = voters.entry(&vote.annotator).or_insert(vote.round);
                *round = (*round).max(vote.round);
            }
        }
        Voted {
            fields,
            sample: agreement.sample,
            settled,
            disputed: resolved.iter().filter(disputed).count(),
            modified: (!looked.is_empty())
                .then(|| (looked.iter().filter(|modified| **modified).count(), looked.len())),
            trial: trialled_voters(ballot, &voters, people),
            set_aside: 0,
        }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
            && self.settled + self.disputed + self.set_aside == 0
            && self.modified.is_none()
            && self.trial.is_none_or(|trial| trial.passed + trial.by_hand + trial.failed == 0)
    }
}

fn trialled_voters(
    ballot: &Ballot,
    voters: &BTreeMap<&str, Round>,
    people: &[Annotator],
) -> Option<Trialled> {
    let shares = ballot.qualification?;
    let mut trialled = Trialled { formal: shares.formal, senior: shares.senior, ..Trialled::default() };
    for (name, round) in voters {
        let person = people.iter().find(|person| person.name == *name);
        match person.and_then(|person| Some((person, person.trial_level(ballot)?))) {
            Some((_, level)) if level >= TrialLevel::Formal && *round == Round::Vote => trialled.passed += 1,
            Some((_, TrialLevel::Senior)) => trialled.passed += 1,
            Some(_) => trialled.failed += 1,
            None if person.is_some_and(|person| person.qualified) => trialled.by_hand += 1,
            None => trialled.failed += 1,
        }
    }
    Some(trialled)
}

impl Agreement {
    fn new(field: FieldAgreement) -> Agreement {
        let three = |e: Option<Estimate>| e.map(|e| [e.value, e.low, e.high]);
        let kappas: Vec<f64> = field.pairs.iter().filter_map(|pair| pair.kappa).collect();
        let mean = kappas.iter().sum::<f64>() / kappas.len().max(1) as f64;
        let least = kappas.iter().copied().fold(f64::INFINITY, f64::min);
        let most = kappas.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Agreement {
            undefined: field.why_undefined().map(|why| why.to_string()),
            items: field.items,
            percent: three(field.percent),
            alpha: three(field.alpha),
            fleiss: three(field.fleiss),
            cohen: (!kappas.is_empty()).then_some([mean, least, most]),
            pairs: kappas.len(),
            field: field.field,
        }
    }
}

/// How well answers can be guessed in the sets that a step has made so far of texts picked to be shown with a
/// right one; `None` for a step without such picks, and before any pick. Positions are not drawn yet and are
/// ignored.
pub fn measure_guessing(
    ballot: &Ballot,
    items: &[Item],
    resolved: &[Resolution],
    seed: u64,
) -> Option<Shortcuts> {
    let fields = ballot.fields.iter().chain(ballot.review.iter().flat_map(|review| &review.fields));
    let (name, from, right_answer) = fields.into_iter().find_map(|field| match field.kind {
        AnswerKind::Pick { from, right_answer: Some(right_answer), .. } => {
            Some((field.name, from, right_answer))
        }
        _ => None,
    })?;
    let set = |(item, resolution): (&Item, &Resolution)| {
        let Outcome::Confirmed { values, .. } = &resolution.outcome else { return None };
        let picked = values.get(name)?.as_list()?.iter().filter_map(|number| {
            let shown = item.shown_number(from, number.parse().ok()?);
            item.content.get(from)?.as_list()?.get(shown.checked_sub(1)?).cloned()
        });
        let right = item.content.get(right_answer).map(Value::to_string)?;
        let asked = ballot.shows.first().and_then(|(key, _)| item.content.get(*key)).map(Value::to_string)?;
        Some((item.id.clone(), asked, std::iter::once(right).chain(picked).collect::<Vec<String>>()))
    };
    let sets: Vec<(String, String, Vec<String>)> = items.iter().zip(resolved).filter_map(set).collect();
    let items: Vec<shortcuts::Item<'_>> = sets
        .iter()
        .map(|(id, question, options)| shortcuts::Item { id, group: id, question, options, gold: 0 })
        .collect();
    shortcuts::measure_shortcuts(&items, &[], seed)
}
