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
mod kind;
mod opened;
mod outcome;
mod ratings;
mod readers;
mod schema;
mod several;
pub(super) mod step;
mod trial;

pub use super::context::LlmContext;
pub use ask::{
    Request, ask_endpoints, ask_for_replies, collect_evidence, draft_records, load_prompts, no_endpoint,
    papers_own, requests_of_step,
};
pub(super) use consent::require_consent;
pub(super) use declared::answer_as_template;
pub use demands::Demands;
pub(super) use endpoints::number_of_setting;
pub use endpoints::{
    Asks, Slot, endpoints_by_name, endpoints_of_draft, is_optional, is_skipped, is_unseen, may_answer_later,
    slots_of_draft, slots_of_judges, wants_unseen, whom_to_ask, with_pack_of,
};
pub(super) use flight::{EndpointLoad, describe_progress, stop_message};
pub use kind::DraftStep;
pub use opened::{open_damaged_store, open_store, refuse_lost_replies};
pub use outcome::ReplyOutcome;
pub(super) use outcome::{DraftOutcome, draft_outcome};
pub use ratings::Ratings;
pub(super) use readers::PREMISES;
pub use readers::{rating_of_reply, rating_schema};
pub use trial::try_endpoint;

use crate::config::{Kind, Problem, unknown};
use riddlemill_benchmarks::draft::Count;
use riddlemill_benchmarks::reply::Reply;

/// What is wrong with the readers that a benchmark's folder names, and with the settings that name its endpoints.
pub fn find_problems(benchmark: &riddlemill_benchmarks::Benchmark) -> Vec<Problem> {
    let mut problems = Vec::new();
    for draft in &benchmark.drafts {
        let table = format!("{}/benchmark.toml [step.{}]", benchmark.name, draft.name);
        for case in &draft.cases {
            let Reply::Native(name, place) = &case.reading.form else { continue };
            let Some(reader) = readers::find_reader(name) else {
                let what = unknown("reader", name, readers::READERS.iter().map(|reader| reader.name));
                problems.push(Problem { place: place.clone(), what });
                continue;
            };
            let fields = case.reading.filled_fields().unwrap_or_else(|| reader.fields.to_vec());
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
        if draft.made == Some("ratings") && draft.rating_scale().is_none() {
            let what = "made: ratings need a `reply` with a rating on a scale, such as { scale = [0, 4] }"
                .to_owned();
            problems.push(Problem { place: table, what });
        }
    }
    problems.sort_by(|a, b| (&a.place, &a.what).cmp(&(&b.place, &b.what)));
    problems.dedup();
    problems
}
