//! Drafts: what a model proposes for people to confirm or correct.
//!
//! What is asked, how a reply is read and what is checked before a person's time is spent on it stands in the benchmark's
//! folder; where that cannot say it, a named reader of the program is named there. What a prompt is made of and where the
//! answers go is computed in [`super::subject`]. [`ask`] holds the asking.

mod ask;
mod consent;
mod declared;
mod endpoints;
mod flight;
mod forms;
mod judge;
mod opened;
mod readers;
mod respond;
mod schema;

pub(super) use ask::{DraftOutcome, draft_outcome};
pub use ask::{
    LlmContext, Replied, Request, ask_endpoints, draft, evidence, no_endpoint, optional, papers_own, prompts,
    replies, requests,
};
pub(super) use consent::agreed;
pub(super) use declared::answer;
pub use endpoints::{Asks, Slot, asks, endpoints, is_skipped, is_unseen, named, sends, slots, wants_unseen};
pub use judge::{rated, rating_schema};
pub use opened::{open_damaged_store, open_store, refuse_lost_replies};
pub(super) use readers::PREMISES;

use super::subject::Subjects;
use crate::config::{Problem, unknown};
use riddlemill_benchmarks::reply::Reply;
use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;

/// What models are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// A model's answer to a question and to its pair (RuozhiBench 3.1).
    Respond,
    /// A judge's rating of an answer (3.1, figures 12 and 13).
    Judge,
    /// What the folder of a benchmark declares.
    Declared(&'static riddlemill_benchmarks::draft::Draft),
}

impl Draft {
    /// What a step of a benchmark asks; `None` where its folder does not say what.
    pub fn of(benchmark: &'static riddlemill_benchmarks::Benchmark, step: &str) -> Option<Draft> {
        match benchmark.drafts.iter().find(|draft| draft.name == step) {
            Some(draft) => Some(Draft::Declared(draft)),
            None if benchmark.records.is_none() => None,
            None => [Draft::Respond, Draft::Judge].into_iter().find(|draft| draft.name() == step),
        }
    }

    /// Those of the built-in benchmarks.
    #[cfg(test)]
    fn built_in() -> Vec<Draft> {
        let declared = riddlemill_benchmarks::all().iter().flat_map(|benchmark| &benchmark.drafts);
        declared.map(Draft::Declared).chain([Draft::Respond, Draft::Judge]).collect()
    }

    /// The name of the step in flags and settings: that of the review that looks at it.
    pub fn name(self) -> &'static str {
        match self {
            Draft::Respond => "respond",
            Draft::Judge => "judge",
            Draft::Declared(draft) => draft.called(),
        }
    }

    /// Whose fields it fills in, or whom it is asked about.
    pub fn subjects(self) -> Subjects {
        match self {
            Draft::Respond => Subjects::Questions,
            Draft::Judge => Subjects::Responses,
            Draft::Declared(draft) => Subjects::of_kind(draft.records),
        }
    }

    /// Its prompts.
    pub fn templates(self) -> &'static [&'static str] {
        match self {
            Draft::Respond => &["ruozhibench/respond"],
            Draft::Judge => &["ruozhibench/judge", "ruozhibench/judge_normal"],
            Draft::Declared(draft) => &draft.templates,
        }
    }

    /// What a folder declares.
    pub fn declared(self) -> Option<&'static riddlemill_benchmarks::draft::Draft> {
        match self {
            Draft::Declared(draft) => Some(draft),
            Draft::Respond | Draft::Judge => None,
        }
    }

    /// Reads a reply to one of its prompts as answers to the step's ballot, with remarks under names that no ballot has.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be put to the model.
    pub fn read(self, template: &str, reply: &str) -> Result<Values, Unreadable> {
        match self {
            Draft::Respond => respond::read(reply),
            Draft::Judge => judge::read(reply),
            Draft::Declared(draft) => declared::read(draft, template, reply),
        }
    }

    /// The answer that a ledger shows.
    fn shown(self, values: &Values) -> String {
        let all = || values.iter().map(|(field, _)| field).collect();
        let fields: Vec<&str> = match self {
            Draft::Respond => vec!["text"],
            Draft::Judge => vec!["rating"],
            Draft::Declared(draft) => match (&draft.ledger, draft.fields()) {
                (Some(fields), _) => fields.clone(),
                // What a native reader gives stands in what it gave.
                (None, declared) if declared.is_empty() => all(),
                (None, declared) => declared,
            },
        };
        let shown: Vec<String> =
            fields.iter().filter_map(|field| values.get(field)).map(ToString::to_string).collect();
        if shown.is_empty() { "none".into() } else { shown.join("; ") }
    }
}

/// What is wrong with the readers that a benchmark's folder names, and with the settings that say whom it asks.
pub fn problems(benchmark: &riddlemill_benchmarks::Benchmark) -> Vec<Problem> {
    let mut problems = Vec::new();
    for draft in &benchmark.drafts {
        let table = format!("{}/benchmark.toml [step.{}]", benchmark.name, draft.name);
        for case in &draft.cases {
            let Reply::Native(name, place) = &case.reading.form else { continue };
            let Some(reader) = readers::find(name) else {
                let what = unknown("reader", name, readers::READERS.iter().map(|reader| reader.name));
                problems.push(Problem { place: place.clone(), what });
                continue;
            };
            let fields = case.reading.fields().unwrap_or_else(|| reader.fields.to_vec());
            let discarded = draft.discards.iter().map(|(field, _)| ("discards", *field));
            let named = discarded.chain(draft.ledger.iter().flatten().map(|field| ("ledger", *field)));
            for (key, field) in named.filter(|(_, field)| !fields.contains(field)) {
                let what = unknown(&format!("field of the reader {name:?}"), field, fields.iter().copied());
                problems.push(Problem { place: table.clone(), what: format!("{key}: {what}") });
            }
        }
        if let Some(what) = endpoints::unknown_setting(benchmark, draft.asks) {
            problems.push(Problem { place: table, what: format!("asks: {what}") });
        }
    }
    problems.sort_by(|a, b| (&a.place, &a.what).cmp(&(&b.place, &b.what)));
    problems.dedup();
    problems
}
