//! Agreement by field and by annotator.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::bootstrap::{Bootstrap, Estimate, estimate_coefficients};
use super::coefficients::{Confusion, Weights};
use super::units::{Level, Units};
use crate::ballot::{AnswerKind, Ballot, Combine, Drafts, Field, KEEP, Round};
use crate::item::Item;
use crate::value::Value;
use crate::votes::{Vote, current_votes};

/// Settings of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgreementSettings {
    /// Resamples, seed and level of the intervals.
    pub bootstrap: Bootstrap,
    /// Whether a sample's votes are measured (they are never mixed with people's).
    pub synthetic: bool,
}

/// Agreement in one field, among the voters of the first round.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldAgreement {
    /// The field; `field:option` for one of several options that may be marked, as yes or no.
    pub field: String,
    /// The meaning of distances in alpha: intervals for scores, none for everything else.
    pub level: Level,
    /// Items with at least two votes.
    pub items: usize,
    /// Votes on all items.
    pub votes: u64,
    /// Share of agreeing pairs of votes.
    pub percent: Option<Estimate>,
    /// Fleiss' kappa over the items with as many votes as the step needs.
    pub fleiss: Option<Estimate>,
    /// Krippendorff's alpha.
    pub alpha: Option<Estimate>,
    /// Gwet's AC1.
    pub ac1: Option<Estimate>,
    /// Every two annotators who share an item, by name.
    pub pairs: Vec<PairAgreement>,
    /// Every annotator, by name.
    pub annotators: Vec<AnnotatorAgreement>,
    /// How often the draft was changed; empty for a ballot that is blind to drafts.
    pub drafts: Edits,
}

/// Why a coefficient is not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// Nobody's answer can be compared with another one.
    #[error("no item has two votes")]
    Unpaired,
    /// Only one answer was ever given.
    #[error("every vote gives the same answer, so there is no agreement beyond chance to measure")]
    OneAnswer,
    /// Only kappa needs this.
    #[error("Fleiss' kappa needs items with as many votes each as the ballot asks for")]
    Uneven,
    /// The answers vary, but not those of two people on the same items.
    #[error("Cohen's kappa needs two people whose answers to the same items vary")]
    NoPair,
}

impl FieldAgreement {
    /// Why a coefficient is not defined, if one is not.
    pub fn why_undefined(&self) -> Option<Undefined> {
        match (&self.percent, &self.alpha, &self.fleiss) {
            (None, ..) => Some(Undefined::Unpaired),
            (_, None, _) => Some(Undefined::OneAnswer),
            (.., None) => Some(Undefined::Uneven),
            _ if self.pairs.iter().all(|pair| pair.kappa.is_none()) => Some(Undefined::NoPair),
            _ => None,
        }
    }
}

/// Two annotators.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAgreement {
    /// Both names, in order.
    pub names: [String; 2],
    /// Items both voted on.
    pub items: u64,
    /// Share of those they agree on.
    pub percent: Option<f64>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Linearly weighted; only for scores, which have an order.
    pub linear: Option<f64>,
    /// Quadratically weighted; only for scores.
    pub quadratic: Option<f64>,
}

/// One annotator against all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnnotatorAgreement {
    /// The annotator's name.
    pub name: String,
    /// How many votes.
    pub votes: u64,
    /// Mean over this annotator's shared items of the share of others who gave the same answer.
    pub percent: Option<f64>,
    /// How this annotator changed drafts.
    pub drafts: Edits,
}

/// How often drafts were changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Votes on an item with a draft of the field.
    pub seen: u64,
    /// Of those, with another value than the draft's.
    pub changed: u64,
}

impl Edits {
    /// The edit rate.
    pub fn rate(self) -> Option<f64> {
        (self.seen > 0).then(|| self.changed as f64 / self.seen as f64)
    }
}

/// Agreement of the voters of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepAgreement {
    /// Whether these are the votes of a sample, because no person voted.
    pub sample: bool,
    /// Field by field.
    pub fields: Vec<FieldAgreement>,
}

/// Agreement as shown everywhere: people's, or a sample's if no person voted. `votes` are one step's, by
/// item; `bootstrap` is [`Bootstrap::AGREEMENT`], or [`Bootstrap::NONE`] if no interval is shown.
pub fn step_agreement(
    ballot: &Ballot,
    items: &[Item],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    bootstrap: Bootstrap,
) -> StepAgreement {
    let sample = votes.values().flatten().all(|vote| vote.synthetic);
    let by_id: FxHashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let settings = AgreementSettings { bootstrap, synthetic: sample };
    StepAgreement { sample, fields: measure_agreement(ballot, votes, |id| by_id.get(id).copied(), &settings) }
}

/// Measures the latest, current votes of the first round. `votes` are one step's, by item.
pub fn measure_agreement<'i>(
    ballot: &Ballot,
    votes: &FxHashMap<&str, Vec<&Vote>>,
    item: impl Fn(&str) -> Option<&'i Item> + Sync,
    settings: &AgreementSettings,
) -> Vec<FieldAgreement> {
    let mut ids: Vec<&str> = votes.keys().copied().collect();
    ids.sort_unstable();
    let counted: Vec<(&Item, Vec<&Vote>)> = ids
        .into_par_iter()
        .filter_map(|id| {
            let item = item(id)?;
            let counts = |vote: &&Vote| {
                vote.round == Round::Vote
                    && vote.content_hash == item.content_hash
                    && vote.synthetic == settings.synthetic
            };
            let mut heads = current_votes(&votes[id]);
            heads.retain(counts);
            (!heads.is_empty()).then_some((item, heads))
        })
        .collect();
    let scales = ballot.fields.iter().flat_map(|field| Scale::scales_of_field(field, &counted));
    let scales: Vec<Scale<'_>> = scales.collect();
    scales.par_iter().map(|scale| measure_scale(ballot, scale, &counted, settings)).collect()
}

/// How a field's answers are mapped to categories.
struct Scale<'f> {
    field: &'f Field,
    /// One option of several, as yes or no.
    option: Option<&'static str>,
    level: Level,
    values: Vec<f64>,
    /// The category of each answer; by code, by number or by the whole set.
    categories: BTreeMap<String, usize>,
}

impl<'f> Scale<'f> {
    /// The scales of a field: none for texts, one for choices, one for the set and one for each option if
    /// several may be marked.
    fn scales_of_field(field: &'f Field, counted: &[(&Item, Vec<&Vote>)]) -> Vec<Scale<'f>> {
        let nominal = |codes: Vec<String>| Scale {
            field,
            option: None,
            level: Level::Nominal,
            values: (0..codes.len()).map(|at| at as f64).collect(),
            categories: codes.into_iter().zip(0..).collect(),
        };
        let codes = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
        match &field.kind {
            // Remarks that are only weighed by a later reviewer are not decisions to agree on.
            _ if field.combine == Combine::Collect => Vec::new(),
            AnswerKind::Text | AnswerKind::Edited { .. } => Vec::new(),
            AnswerKind::Choice(options) => {
                vec![nominal(options.iter().map(|option| option.code.to_owned()).collect())]
            }
            AnswerKind::Preference { sides, tie } => vec![nominal(codes(&[sides[0], sides[1], tie.code]))],
            AnswerKind::Keep { .. } => vec![nominal(codes(&[KEEP, "reject"]))],
            AnswerKind::Score { min, max } => vec![Scale {
                level: Level::Interval,
                values: (*min..=*max).map(f64::from).collect(),
                ..nominal((*min..=*max).map(|score| score.to_string()).collect())
            }],
            AnswerKind::Pick { .. } | AnswerKind::Choices { .. } => {
                let answers = counted
                    .iter()
                    .flat_map(|(_, votes)| votes)
                    .filter_map(|vote| vote.values.get(field.name));
                let mut sets: Vec<String> = answers.map(Value::to_string).collect();
                sets.sort_unstable();
                sets.dedup();
                let marked =
                    |code: &'static str| Scale { option: Some(code), ..nominal(codes(&["no", "yes"])) };
                std::iter::once(nominal(sets))
                    .chain(field.options().iter().map(|option| marked(option.code)))
                    .collect()
            }
        }
    }

    fn category_of(&self, value: &Value) -> Option<usize> {
        match (self.option, value) {
            (Some(option), Value::List(codes)) => Some(usize::from(codes.iter().any(|code| code == option))),
            (Some(_), _) => None,
            (None, Value::List(_)) if matches!(self.field.kind, AnswerKind::Keep { .. }) => Some(1),
            (None, value) => self.categories.get(&value.to_string()).copied(),
        }
    }

    fn scale_name(&self) -> String {
        match self.option {
            Some(option) => format!("{}:{option}", self.field.name),
            None => self.field.name.to_owned(),
        }
    }
}

fn measure_scale(
    ballot: &Ballot,
    scale: &Scale<'_>,
    counted: &[(&Item, Vec<&Vote>)],
    settings: &AgreementSettings,
) -> FieldAgreement {
    let mut names: Vec<&str> =
        counted.iter().flat_map(|(_, votes)| votes).map(|vote| vote.annotator.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let number: FxHashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let mut people: Vec<(AnnotatorAgreement, f64, u64)> = names
        .iter()
        .map(|name| (AnnotatorAgreement { name: (*name).to_owned(), ..Default::default() }, 0.0, 0))
        .collect();
    let size = scale.values.len();
    let mut all = Units::of_values(scale.values.clone());
    // Fleiss' kappa requires every item to be rated equally often.
    let mut even = all.clone();
    let mut pairs: BTreeMap<(usize, usize), Confusion> = BTreeMap::new();
    let mut given: Vec<(usize, usize)> = Vec::new();
    for (item, votes) in counted {
        given.clear();
        // On a blind ballot nobody saw a draft.
        let seen = item.draft.get(scale.field.name).filter(|_| ballot.drafts == Drafts::Shown);
        let draft = seen.and_then(|draft| scale.category_of(draft));
        for vote in votes {
            let Some(category) = vote.values.get(scale.field.name).and_then(|value| scale.category_of(value))
            else {
                continue;
            };
            let who = number[vote.annotator.as_str()];
            let person = &mut people[who].0;
            person.votes += 1;
            if let Some(draft) = draft {
                person.drafts.seen += 1;
                person.drafts.changed += u64::from(draft != category);
            }
            given.push((who, category));
        }
        let categories = || given.iter().map(|(_, category)| *category);
        all.push(categories());
        if given.len() == ballot.votes_needed.max(2) {
            even.push(categories());
        }
        for (at, &(first, one)) in given.iter().enumerate() {
            if given.len() > 1 {
                let same = categories().filter(|other| *other == one).count() - 1;
                people[first].1 += same as f64 / (given.len() - 1) as f64;
                people[first].2 += 1;
            }
            for &(second, other) in &given[at + 1..] {
                // Votes are in the order of names, and so are pairs.
                pairs.entry((first, second)).or_insert_with(|| Confusion::new(size)).push(one, other);
            }
        }
    }
    let name = scale.scale_name();
    let estimates = estimate_coefficients(&all, scale.level, &settings.bootstrap, &name);
    let fleiss = match even.count_pairable() == all.count_pairable() {
        true => estimates.fleiss,
        false => estimate_coefficients(&even, scale.level, &settings.bootstrap, &name).fleiss,
    };
    let ordered = scale.level != Level::Nominal;
    let pair = |((first, second), confusion): ((usize, usize), Confusion)| PairAgreement {
        names: [names[first].to_owned(), names[second].to_owned()],
        items: confusion.count_units(),
        percent: confusion.percent_agreement(),
        kappa: confusion.cohen_kappa(Weights::None),
        linear: confusion.cohen_kappa(Weights::Linear).filter(|_| ordered),
        quadratic: confusion.cohen_kappa(Weights::Quadratic).filter(|_| ordered),
    };
    let person = |(person, sum, shared): (AnnotatorAgreement, f64, u64)| AnnotatorAgreement {
        percent: (shared > 0).then(|| sum / shared as f64),
        ..person
    };
    let annotators: Vec<AnnotatorAgreement> = people.into_iter().map(person).collect();
    let drafts = annotators.iter().fold(Edits::default(), |sum, person| Edits {
        seen: sum.seen + person.drafts.seen,
        changed: sum.changed + person.drafts.changed,
    });
    FieldAgreement {
        field: name,
        level: scale.level,
        items: all.count_pairable(),
        votes: all.count_ratings(),
        percent: estimates.percent,
        fleiss,
        alpha: estimates.alpha,
        ac1: estimates.ac1,
        pairs: pairs.into_iter().map(pair).collect(),
        annotators,
        drafts,
    }
}
