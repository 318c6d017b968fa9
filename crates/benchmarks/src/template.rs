//! The prompt of a task, of its judge or of a host: the same for all rows, or by conditions over the row, as the cases of a draft.

use minijinja::value::Value;

use crate::expression::{Expression, ExpressionError};

/// A prompt, and others for the rows that meet their conditions.
#[derive(Debug)]
pub struct Template {
    cases: Vec<(Expression, &'static str)>,
    usual: &'static str,
}

impl Template {
    /// The prompt of a row that meets no condition; the first condition that holds decides.
    pub(crate) fn new(cases: Vec<(Expression, &'static str)>, usual: &'static str) -> Template {
        Template { cases, usual }
    }

    /// The name of the prompt of a row, of which the columns are computed only if something depends on them.
    ///
    /// # Errors
    /// [`ExpressionError`] if a condition cannot be computed.
    pub fn prompt_of_row(&self, columns: impl FnOnce() -> Value) -> Result<&'static str, ExpressionError> {
        if self.cases.is_empty() {
            return Ok(self.usual);
        }
        let columns = columns();
        for (when, name) in &self.cases {
            if when.is_true(&columns)? {
                return Ok(name);
            }
        }
        Ok(self.usual)
    }

    /// The name of the prompt that is asked where no condition holds.
    pub fn default_prompt(&self) -> &'static str {
        self.usual
    }

    /// The names of all its prompts.
    pub fn prompt_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.cases.iter().map(|(_, name)| *name).chain([self.usual])
    }

    /// Whether a prompt is one of them.
    pub fn has_prompt(&self, name: &str) -> bool {
        self.prompt_names().any(|own| own == name)
    }

    /// The conditions.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Expression> {
        self.cases.iter().map(|(when, _)| when)
    }
}
