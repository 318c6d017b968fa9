//! Drafts: what a model proposes for people to confirm or correct.
//!
//! The benchmark's folder declares what is asked, how a reply is read, and what is checked before a person's time is spent on
//! it; what cannot be declared is done by a reader of the program that the folder names. [`super::subject`] computes the values
//! of a prompt and where the answers go. [`ask`] sends the requests.

mod ask;
mod consent;
mod declared;
mod demands;
mod endpoints;
mod flight;
mod forms;
mod opened;
mod outcome;
mod rating;
mod ratings;
mod readers;
mod schema;
mod several;
mod trial;

pub use ask::{
    LlmContext, Request, ask_endpoints, draft, evidence, no_endpoint, papers_own, prompts, replies, requests,
};
pub(super) use consent::agreed;
pub(super) use declared::answer;
pub use demands::Demands;
pub(super) use endpoints::number;
pub use endpoints::{
    Asks, Slot, asks, endpoints, is_skipped, is_unseen, judging, named, optional, sends, slots, wants_unseen,
};
pub(super) use flight::{Flight, waits_for, words};
pub use opened::{open_damaged_store, open_store, refuse_lost_replies};
pub use outcome::Replied;
pub(super) use outcome::{DraftOutcome, draft_outcome};
pub use rating::{rated, rating_schema};
pub use ratings::Ratings;
pub(super) use readers::PREMISES;
pub use trial::try_endpoint;

use super::stage::Rows;
use crate::config::{Kind, Problem, unknown};
use riddlemill_benchmarks::draft::{Count, Draft as Declaration};
use riddlemill_benchmarks::reply::Reply;
use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;

/// A step in which models are asked, as the folder of a benchmark declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft(&'static Declaration);

impl Draft {
    /// What a step of a benchmark asks; `None` if its folder does not declare it.
    pub fn find(benchmark: &'static riddlemill_benchmarks::Benchmark, step: &str) -> Option<Draft> {
        benchmark.drafts.iter().find(|draft| draft.name == step).map(Draft)
    }

    /// Those of the built-in benchmarks.
    #[cfg(test)]
    fn built_in() -> Vec<Draft> {
        riddlemill_benchmarks::all().iter().flat_map(|benchmark| &benchmark.drafts).map(Draft).collect()
    }

    /// The name of the step in flags and settings: that of its review.
    pub fn name(self) -> &'static str {
        self.0.called()
    }

    /// Whose fields it fills in, or whom it is asked about.
    pub fn subjects(self) -> Rows {
        Rows::of_kind(self.0.records)
    }

    /// What it writes.
    pub fn rows(self) -> Rows {
        Rows::of_kind(self.0.leaves)
    }

    /// Whether each reply becomes a record of its own.
    pub fn responds(self) -> bool {
        !self.0.responds.is_empty()
    }

    /// Its prompts.
    pub fn templates(self) -> &'static [&'static str] {
        &self.0.templates
    }

    /// What the folder declares.
    pub fn declared(self) -> &'static Declaration {
        self.0
    }

    /// Reads a reply to one of its prompts as answers to the step's ballot, with remarks under names that no ballot has.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be sent to the model.
    pub fn read(self, template: &str, reply: &str) -> Result<Values, Unreadable> {
        declared::read(self.0, template, reply)
    }

    /// The answer that a ledger shows.
    fn shown(self, values: &Values) -> String {
        let fields = match (&self.0.ledger, self.0.fields()) {
            (Some(fields), _) => fields.clone(),
            // The fields of a native reader are in its result.
            (None, declared) if declared.is_empty() => values.iter().map(|(field, _)| field).collect(),
            (None, declared) => declared,
        };
        let shown: Vec<String> =
            fields.iter().filter_map(|field| values.get(field)).map(ToString::to_string).collect();
        if shown.is_empty() { "none".into() } else { shown.join("; ") }
    }
}

/// What is wrong with the readers that a benchmark's folder names, and with the settings that name its endpoints.
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
        let names = |kind: Kind| matches!(kind, Kind::Text | Kind::Texts);
        let counts = |kind: Kind| matches!(kind, Kind::Whole(..));
        let of_count = match draft.replies {
            Count::Setting(key) => Some(("replies", key)),
            Count::Fixed(_) => None,
        };
        let barred = draft.barred.as_ref().map(|barred| ("barred.by", barred.by));
        let numbers = of_count.into_iter().chain(draft.at_least.map(|key| ("at_least", key)));
        let texts =
            [("asks", draft.asks)].into_iter().chain(barred).chain(draft.sample.map(|key| ("sample", key)));
        let settings = numbers
            .map(|(key, setting)| (key, endpoints::unknown_setting(benchmark, setting, counts, "a number")))
            .chain(texts.map(|(key, setting)| {
                (key, endpoints::unknown_setting(benchmark, setting, names, "a name"))
            }));
        for (key, what) in settings {
            problems
                .extend(what.map(|what| Problem { place: table.clone(), what: format!("{key}: {what}") }));
        }
        if draft.made.is_some_and(|made| (made == "responses") == draft.responds.is_empty()) {
            let what =
                "made: \"responses\" are of a step of kind \"respond\", \"ratings\" of a draft".to_owned();
            problems.push(Problem { place: table.clone(), what });
        }
        if draft.made == Some("ratings") && draft.scale().is_none() {
            let what = "made: ratings need a `reply` with a rating on a scale, such as { scale = [0, 4] }"
                .to_owned();
            problems.push(Problem { place: table, what });
        }
    }
    problems.sort_by(|a, b| (&a.place, &a.what).cmp(&(&b.place, &b.what)));
    problems.dedup();
    problems
}
