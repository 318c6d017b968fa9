//! Reviews: what people decided, taken from the votes.
//!
//! A review stage makes one item of its step's ballot from each question, resolves the votes on it and
//! puts what holds onto the question. Votes are inputs: a stage reads them and changes none.

mod ruozhibench;
mod votes;

pub use votes::Votes;

use crate::config::sections;
use crate::record::{Outcome, Question, Reason, Standing};
use crate::review::ballot::Step;
use crate::review::votes::{Vote, current};
use crate::review::{self, Item, Pending, Resolution, ballots, resolve_all};
use crate::store::StageWriter;

/// Every review step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Whether a question belongs in the benchmark (RuozhiBench 2.2).
    Screen,
    /// The English question (2.3).
    Translation,
    /// The analysis (2.3).
    Irrationality,
    /// The final categories (2.3, table 1).
    Category,
    /// The normal question, where one fits (2.3).
    Pair,
}

impl Review {
    /// Every review step.
    pub const ALL: [Review; 5] =
        [Review::Screen, Review::Translation, Review::Irrationality, Review::Category, Review::Pair];

    /// The recipe whose ballot it is, and the ballot's name.
    pub fn place(self) -> (&'static str, &'static str) {
        let name = match self {
            Review::Screen => "screen",
            Review::Translation => "translation",
            Review::Irrationality => "irrationality",
            Review::Category => "category",
            Review::Pair => "pair",
        };
        ("ruozhibench-gen", name)
    }

    /// The ballot; the settings decide whether drafts go ahead.
    pub fn ballot(self, settings: &sections::Review) -> Step {
        let (recipe, name) = self.place();
        let draft_ahead = settings.draft_ahead.iter().any(|step| step == name);
        match ballots::step(recipe, name) {
            Some(step) => Step { draft_ahead, ..step },
            None => unreachable!("{recipe} has no ballot {name}"),
        }
    }

    /// What annotators see of a question.
    pub fn item(self, step: &Step, question: &Question) -> Item {
        ruozhibench::item(self, step, question)
    }
}

/// Resolves the votes on all questions of a step.
pub fn review(
    review: Review,
    questions: Vec<Question>,
    settings: &sections::Review,
    votes: &Votes,
    writer: &mut StageWriter<Question>,
) {
    let step = review.ballot(settings);
    let optional = settings.optional.iter().any(|name| name == step.name);
    let by_item = votes.by_item(step.recipe, step.name);
    let items: Vec<Item> = questions.iter().map(|question| review.item(&step, question)).collect();
    let resolved = resolve_all(&step, &items, &by_item);
    for ((question, item), resolution) in questions.into_iter().zip(&items).zip(resolved) {
        let on_it = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        writer.put(question.id.clone(), outcome(review, question, &resolution, on_it, optional));
    }
}

fn outcome(
    review: Review,
    mut question: Question,
    resolution: &Resolution,
    votes: &[&Vote],
    optional: bool,
) -> Outcome<Question> {
    let stale = match resolution.stale.len() {
        0 => String::new(),
        n => format!("; on an older text and not counted: {n}"),
    };
    match &resolution.outcome {
        review::Outcome::Pending(_) if optional => Outcome::Kept(question),
        review::Outcome::Pending(pending) => held(pending, &stale),
        review::Outcome::Provisional { values, pending } => {
            if ruozhibench::rejection(review, values).is_some() {
                // A draft alone rejects nothing.
                return held(pending, &stale);
            }
            let before = ruozhibench::drafted(review, &question);
            ruozhibench::apply(review, &mut question, values, Standing::Provisional, Vec::new());
            changed(review, question, Reason::Provisional, format!("{pending}{stale}"), before)
        }
        review::Outcome::Confirmed { values, by, synthetic } => {
            let basis = basis(resolution, votes, by, *synthetic);
            let sample = if *synthetic { " of the sample" } else { "" };
            let evidence = format!("{sample} by {}: {}{stale}", by.join(", "), basis.join(" "));
            if let Some(reasons) = ruozhibench::rejection(review, values) {
                let evidence = format!("{}; votes{evidence}", reasons.join(", "));
                return Outcome::Dropped { reason: Reason::Rejected, evidence };
            }
            let (reason, standing) = match (resolution.edited == Some(true), synthetic) {
                (true, true) => (Reason::SampleRewritten, Standing::Synthetic),
                (false, true) => (Reason::SampleConfirmed, Standing::Synthetic),
                (true, false) => (Reason::Rewritten, Standing::Confirmed),
                (false, false) => (Reason::Confirmed, Standing::Confirmed),
            };
            let before = ruozhibench::drafted(review, &question);
            ruozhibench::apply(review, &mut question, values, standing, basis);
            changed(review, question, reason, format!("votes{evidence}"), before)
        }
    }
}

fn held(pending: &Pending, stale: &str) -> Outcome<Question> {
    let reason = match pending {
        Pending::Waiting { .. } => Reason::VotesMissing,
        Pending::Adjudicate { .. } => Reason::Disputed,
    };
    Outcome::Held { reason, evidence: format!("{pending}{stale}") }
}

fn changed(
    review: Review,
    row: Question,
    reason: Reason,
    evidence: String,
    before: Option<String>,
) -> Outcome<Question> {
    let after = ruozhibench::decided(review, &row);
    let before = before.unwrap_or_default();
    Outcome::Changed { row, rule: reason.code(), evidence, before, after }
}

/// The votes that a decision rests on: the latest of those who made it, on today's text.
fn basis(resolution: &Resolution, votes: &[&Vote], by: &[String], synthetic: bool) -> Vec<String> {
    let counts = |vote: &&&Vote| {
        by.contains(&vote.annotator) && (synthetic || !vote.synthetic) && !resolution.stale.contains(&vote.id)
    };
    current(votes).iter().filter(counts).map(|vote| format!("vote:{}", vote.id)).collect()
}

#[cfg(test)]
mod tests;
