//! Questions with the same options, pooled: the share of items rated yes, and one coefficient over all
//! questions (BrainTeaser, section 3.5: 99, 100 and 97 % valid, an overall Fleiss' kappa of 0.948).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::bootstrap::{Bootstrap, Estimate, estimate_coefficients};
use super::units::{Level, Units};
use crate::ballot::{AnswerKind, Ballot, Round};
use crate::item::Item;
use crate::votes::{Vote, current_votes};

/// Several questions of one ballot.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// The first option of all of them, `yes`.
    pub code: &'static str,
    /// Each question with the share of items that got this answer, 0 to 1: the mean over annotators.
    pub shares: Vec<(&'static str, f64)>,
    /// Items with at least two votes.
    pub items: usize,
    /// Fleiss' kappa over every question of every item with as many votes as the step needs.
    pub fleiss: Option<Estimate>,
    /// Whether these are the votes of a sample, because no person voted.
    pub sample: bool,
}

/// The questions of a step that share their options; `None` if there are fewer than two, or nobody voted.
/// `votes` are the step's, by item; the latest of the first round on the current text count.
pub fn pool_questions(
    ballot: &Ballot,
    items: &[Item],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    bootstrap: Bootstrap,
) -> Option<Pooled> {
    let codes = |kind: &AnswerKind| match kind {
        AnswerKind::Choice(options) => Some(options.iter().map(|option| option.code).collect::<Vec<_>>()),
        _ => None,
    };
    let options = ballot.fields.iter().find_map(|field| codes(&field.kind))?;
    let with_same_options =
        ballot.fields.iter().filter(|field| codes(&field.kind).as_ref() == Some(&options));
    let fields: Vec<&'static str> = with_same_options.map(|field| field.name).collect();
    let code = options.first().copied().filter(|_| fields.len() > 1)?;
    let sample = votes.values().flatten().all(|vote| vote.synthetic);
    let mut units = Units::of_categories(options.len());
    let mut twice = 0;
    // By question and annotator: how many ratings were the first option, of how many.
    let mut rated: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    for item in items {
        let mut heads = votes.get(item.id.as_str()).map(|votes| current_votes(votes)).unwrap_or_default();
        heads.retain(|vote| {
            vote.round == Round::Vote && vote.content_hash == item.content_hash && vote.synthetic == sample
        });
        twice += usize::from(heads.len() > 1);
        for (number, field) in fields.iter().enumerate() {
            let answers = heads.iter().filter_map(|vote| {
                let answer = vote.values.text_of(field)?;
                Some((vote.annotator.as_str(), options.iter().position(|option| *option == answer)?))
            });
            let answers: Vec<(&str, usize)> = answers.collect();
            for (annotator, place) in &answers {
                let (so, all) = rated.entry((number, annotator)).or_default();
                *so += usize::from(*place == 0);
                *all += 1;
            }
            if answers.len() == ballot.votes_needed.max(2) {
                units.push(answers.into_iter().map(|(_, place)| place));
            }
        }
    }
    let share = |number: usize| {
        let of_it = rated.iter().filter(|((question, _), _)| *question == number);
        let shares: Vec<f64> = of_it.map(|(_, (so, all))| *so as f64 / *all as f64).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let shares: Option<Vec<_>> =
        fields.iter().enumerate().map(|(number, field)| Some((*field, share(number)?))).collect();
    let fleiss = estimate_coefficients(&units, Level::Nominal, &bootstrap, "pooled").fleiss;
    Some(Pooled { code, shares: shares?, items: twice, fleiss, sample })
}
