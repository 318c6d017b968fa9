//! An answer of a model to a record.

use riddlemill_benchmarks::draft::Draft as Declaration;
use riddlemill_record::derive_id;
use riddlemill_review::Values;

/// An answer to a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Which of the step's cases it answers.
    pub ask: usize,
    /// The model that gave it.
    pub model: String,
    /// Which of its answers it is, from 0.
    pub sample: u64,
    /// What it says, by field.
    pub values: Values,
    pub basis: String,
}

impl Answer {
    /// Its name: hashed of what it is to its record, the record's name, the model and the number.
    pub(in crate::stages) fn answer_id(&self, draft: &Declaration, record: &str) -> String {
        id_of(draft, self.ask, record, &self.model, self.sample)
    }
}

/// What an answer to a case is called.
pub(in crate::stages) fn id_of(
    draft: &Declaration,
    ask: usize,
    record: &str,
    model: &str,
    sample: u64,
) -> String {
    derive_id(role_of_case(draft, ask), &[record, model, &sample.to_string()])
}

/// What an answer to a case is to its record.
pub(super) fn role_of_case(draft: &Declaration, ask: usize) -> &'static str {
    draft.responds.get(ask).map_or("response", |asked| asked.role)
}
