//! What is told of a person's votes as figures.

use super::super::ballot::label_in;
use super::super::faults::answer_label;
use crate::i18n::Language;
use crate::review::people::{Distribution, Given, Person, Sign};

use super::{AnswerShares, Figures};

pub(super) fn describe_figures(
    recipe: &'static str,
    ballot: &crate::review::Ballot,
    title: &'static str,
    person: Person,
    stopped: bool,
    language: Language,
) -> Figures {
    let honest = person.honest_probability();
    let sign = |(sign, p): &(Sign, f64)| {
        let key = match sign {
            Sign::Haste => "sign_haste",
            Sign::Others => "sign_others",
            Sign::Gold => "sign_gold",
        };
        (key, format_chance(*p))
    };
    let shares = |of: &Distribution| {
        let own: usize = of.answers.iter().map(|given| given.count).sum();
        let others: usize = of.answers.iter().map(|given| given.others).sum();
        let part = |count: usize, of: usize| (count * 1000).checked_div(of).unwrap_or(0);
        let field = ballot.fields.iter().find(|field| field.name == of.field);
        let label =
            |code: &str| field.map_or_else(|| code.to_string(), |field| answer_label(language, field, code));
        let answer = |given: &Given| {
            (label(&given.code), given.count, part(given.count, own), part(given.others, others))
        };
        AnswerShares {
            field: field.map_or(of.field, |field| label_in(language, field.label)),
            answers: of.answers.iter().map(answer).collect(),
        }
    };
    Figures {
        recipe,
        step: ballot.name,
        title,
        honest,
        chance: format_chance(honest),
        signs: person.signs.iter().map(sign).collect(),
        distributions: person.distributions.iter().map(shares).collect(),
        stopped,
        votes: person.votes,
        outcome: person.outcome,
        others: person.others,
        gold: person.gold,
        hasty: person.hasty,
        name: person.annotator,
    }
}

/// A probability for people.
fn format_chance(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_string() } else { format!("{p:.4}") }
}
