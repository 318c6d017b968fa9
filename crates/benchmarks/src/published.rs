//! `[published]`: how a row of a published file becomes a record, and its values for each step.
//!
//! A published row contains decisions of another project's people. It is converted into the fields of the
//! benchmark's own steps, step by step: if people here decide differently, only that field is replaced.

use crate::expression::{Expression, Language};
use crate::reader::Keys;

/// The contents of rows of a published file.
#[derive(Debug, Default)]
pub struct Published {
    /// The row's id in the set; the hash of its text by default.
    pub id: Option<Expression>,
    /// The text of a record of posts.
    pub text: Option<Expression>,
    /// A riddle's question.
    pub question: Option<Expression>,
    /// A riddle's answer.
    pub answer: Option<Expression>,
    /// A key shared by the rows of one record; by default each row is a record.
    pub group: Option<Expression>,
    /// A row's role in its group: `original`, `semantic`, `context`.
    pub role: Option<Expression>,
    /// Its number in the set.
    pub number: Option<Expression>,
    /// The benchmark whose steps it also covers, like that one's rows.
    pub like: Option<&'static str>,
    /// By step: fields of its record, over the row.
    pub at: Vec<(&'static str, Vec<(&'static str, Expression)>)>,
}

impl Published {
    /// Its values at a step.
    pub fn at(&self, step: &str) -> &[(&'static str, Expression)] {
        self.at.iter().find(|(name, _)| *name == step).map(|(_, says)| says.as_slice()).unwrap_or_default()
    }
}

/// Parses the table of a benchmark.toml; `None` if nothing is declared. `steps` are those of the folder and
/// of others that it may cover.
pub(crate) fn read(language: Language, file: &str, keys: &Keys<'_>) -> Option<Published> {
    keys.table("published", |keys| {
        let over = |keys: &Keys<'_>, key: &str| Expression::at(language, file, keys, key);
        let published = Published {
            id: over(keys, "id"),
            text: over(keys, "text"),
            question: over(keys, "question"),
            answer: over(keys, "answer"),
            group: over(keys, "group"),
            role: over(keys, "role"),
            number: over(keys, "number"),
            like: keys.text("like"),
            at: keys.each("at", |step, keys| {
                let says = keys.names().into_iter().filter_map(|name| Some((name, over(keys, name)?)));
                (step, says.collect())
            }),
        };
        if published.text.is_none() && published.question.is_none() {
            keys.problem(
                "text",
                "`text` is missing: what a record says (of riddles `question` and `answer`)",
            );
        }
        published
    })
}
