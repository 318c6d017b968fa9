//! `[published]`: how a row of a published file becomes a record, and what it says at which step.
//!
//! A published row holds what people of another project decided. It is read back into the fields that the benchmark's
//! own steps fill, one step at a time: where people here decide otherwise, the published field gives way and the others
//! stay.

use crate::expression::{Expression, Language};
use crate::reader::Keys;

/// What rows of a published file say.
#[derive(Debug, Default)]
pub struct Published {
    /// What the set calls a row; the hash of its text where nothing is said.
    pub id: Option<Expression>,
    /// The text of a record of posts.
    pub text: Option<Expression>,
    /// What a riddle asks.
    pub question: Option<Expression>,
    /// What resolves it.
    pub answer: Option<Expression>,
    /// What rows of one record share; each row is a record where nothing is said.
    pub group: Option<Expression>,
    /// Which of its group a row is: `original`, `semantic`, `context`.
    pub role: Option<Expression>,
    /// The number that the set gave it.
    pub number: Option<Expression>,
    /// The benchmark whose steps it also speaks of, as that one's rows do.
    pub like: Option<&'static str>,
    /// By step: fields of its record, over the row.
    pub at: Vec<(&'static str, Vec<(&'static str, Expression)>)>,
}

impl Published {
    /// What it says at a step.
    pub fn at(&self, step: &str) -> &[(&'static str, Expression)] {
        self.at.iter().find(|(name, _)| *name == step).map(|(_, says)| says.as_slice()).unwrap_or_default()
    }
}

/// Reads the table from the root of a benchmark.toml; `None` where nothing is declared. `steps` are those of the folder
/// and of others that it may speak of.
pub(crate) fn read(language: Language, file: &str, keys: &Keys<'_>) -> Option<Published> {
    keys.table("published", |keys| {
        let over = |keys: &Keys<'_>, key: &str| {
            let source = keys.text(key)?;
            let place = keys.place(key).unwrap_or_else(|| file.to_owned());
            Expression::parse(language, place, source).map_err(|what| keys.problem(key, what)).ok()
        };
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
