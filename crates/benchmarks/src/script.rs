//! `[[task.outputs]]`: the lines that a script of the paper's authors writes about a task, so that their outputs can be
//! evaluated here. Expressions are over the keys of such a line.

use minijinja::value::{Serde, Value};
use regex::Regex;
use serde_json::Value as Json;

use crate::expression::{Expression, ExpressionError, Language};
use crate::reader::Keys;
use crate::value::text_of_value;

/// The lines that a script writes about a task.
#[derive(Debug)]
pub struct Script {
    /// Keys that its lines have besides `reply` or `letter`.
    has: Vec<&'static str>,
    /// The question of the line's row.
    question: Expression,
    /// The id of the line's row.
    id: Option<Expression>,
    /// The key of the model's reply.
    pub reply: &'static str,
    /// The key of the letter that the script found in the reply, and that of the list it refers to.
    pub letter: Option<[&'static str; 2]>,
    /// The key of the prompt that lists the options, `A: …`.
    pub prompt: Option<&'static str>,
    /// The key of a judge's rating: a number, or the judge's reply.
    pub rating: Option<Rating>,
    /// Whether the model was asked to reason first, unless it got solved examples.
    pub cot: bool,
    file: Option<Regex>,
    /// Such a file name, for hints.
    pub example: Option<&'static str>,
}

/// A judge's rating in a line.
#[derive(Clone, Copy, Debug)]
pub struct Rating {
    pub key: &'static str,
    /// The lowest and the highest rating, as the task's judges give them.
    pub scale: [u32; 2],
}

/// What a file's name states.
#[derive(Debug, PartialEq, Eq)]
pub struct FileName {
    pub model: Option<String>,
    /// The number of solved examples.
    pub shots: u8,
}

impl Script {
    /// Whether the script wrote a line with these keys.
    pub fn has_written(&self, line: &Json) -> bool {
        let has = |key: &&str| line.get(*key).is_some();
        let letter = self.letter.map(|[letter, _]| letter);
        self.has.iter().all(has) && [Some(self.reply), letter].iter().flatten().any(has)
    }

    /// What a file's name without extension states; `None` if the script does not name its files like this.
    pub fn file_name(&self, stem: &str) -> Option<FileName> {
        let Some(file) = &self.file else { return Some(FileName { model: None, shots: 0 }) };
        let found = file.captures(stem)?;
        let shots = found.name("shots").map_or(Some(0), |shots| shots.as_str().parse().ok())?;
        Some(FileName { model: found.name("model").map(|model| model.as_str().to_owned()), shots })
    }

    /// The question and the id of a line's row.
    ///
    /// # Errors
    /// [`ExpressionError`] if one cannot be computed.
    pub fn question_and_id(&self, line: &Json) -> Result<(String, Option<String>), ExpressionError> {
        let line = Value::from(Serde(line));
        let value = |of: &Expression| Ok::<_, ExpressionError>(text_of_value(&of.compute_value(&line)?));
        let id = self.id.as_ref().map(value).transpose()?.flatten();
        Ok((value(&self.question)?.unwrap_or_default(), id))
    }
}

/// The groups that a file name may have.
const GROUPS: [&str; 2] = ["model", "shots"];

/// Parses one of `[[task.outputs]]`. `scale` is that of the task's judges, if they rate.
pub(crate) fn parse_script(language: Language, scale: Option<[u32; 2]>, keys: &Keys<'_>) -> Option<Script> {
    let expression = |key: &str| {
        let parsed = Expression::parse(language, keys.place_of_key(key)?, keys.read_text(key)?);
        parsed.map_err(|what| keys.report_problem(key, what)).ok()
    };
    let file = keys.read_text("file").and_then(|file| {
        let file = Regex::new(file).map_err(|what| keys.report_problem("file", what)).ok()?;
        for group in file.capture_names().flatten().filter(|group| !GROUPS.contains(group)) {
            keys.report_problem("file", riddlemill_text::hint::unknown("group", group, GROUPS));
        }
        Some(file)
    });
    let letter = keys.read_text("letter").map(|letter| [letter, keys.require_text("options")]);
    let rating = keys.read_text("rating").and_then(|key| {
        if scale.is_none() {
            keys.report_problem("rating", "`rating` goes with a `judge` that rates on a `scale`");
        }
        Some(Rating { key, scale: scale? })
    });
    keys.require_text("question");
    Some(Script {
        has: keys.read_texts("has").unwrap_or_default(),
        id: expression("id"),
        reply: keys.require_text("reply"),
        letter,
        prompt: keys.read_text("prompt"),
        rating,
        cot: keys.read_flag("cot").unwrap_or(false),
        file,
        example: keys.read_text("example"),
        question: expression("question")?,
    })
}
