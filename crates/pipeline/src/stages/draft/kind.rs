//! A step in which models are asked.

use super::declared;
use crate::stages::context::StageRows;
use riddlemill_benchmarks::draft::Draft as Declaration;
use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;

/// A step in which models are asked, as the folder of a benchmark declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftStep(&'static Declaration);

impl DraftStep {
    /// What a step of a benchmark asks; `None` if its folder does not declare it.
    pub fn find_draft(benchmark: &'static riddlemill_benchmarks::Benchmark, step: &str) -> Option<DraftStep> {
        benchmark.drafts.iter().find(|draft| draft.name == step).map(DraftStep)
    }

    /// Those of the built-in benchmarks.
    #[cfg(test)]
    pub(super) fn built_in() -> Vec<DraftStep> {
        riddlemill_benchmarks::all_benchmarks()
            .iter()
            .flat_map(|benchmark| &benchmark.drafts)
            .map(DraftStep)
            .collect()
    }

    /// The name of the step in flags and settings: that of its review.
    pub fn name(self) -> &'static str {
        self.0.setting_name()
    }

    /// Whose fields it fills in, or whom it is asked about.
    pub fn subject_rows(self) -> StageRows {
        StageRows::of_kind(self.0.records)
    }

    /// What it writes.
    pub fn written_rows(self) -> StageRows {
        StageRows::of_kind(self.0.leaves)
    }

    /// Whether each reply becomes a record of its own.
    pub fn is_responding(self) -> bool {
        !self.0.responds.is_empty()
    }

    /// Its prompts.
    pub fn templates(self) -> &'static [&'static str] {
        &self.0.templates
    }

    /// What the folder declares.
    pub fn draft_declaration(self) -> &'static Declaration {
        self.0
    }

    /// Reads a reply to one of its prompts as answers to the step's ballot, with remarks under names that no ballot has.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be sent to the model.
    pub fn read_reply(self, template: &str, reply: &str) -> Result<Values, Unreadable> {
        declared::read_reply(self.0, template, reply)
    }

    /// The answer that a ledger shows.
    pub(super) fn answer_for_ledger(self, values: &Values) -> String {
        let fields = match (&self.0.ledger, self.0.filled_fields()) {
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
