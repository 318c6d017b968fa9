//! The rows of RuozhiBench-Gen: a clean typed layout, and the one that was published.

use serde::Serialize;

use crate::record::{PostKind, Question, record};
use crate::store::{Error, StageReader};

/// The file in the published layout.
pub(super) const COMPAT: &str = "compat/ruozhibench_gen.jsonl";

record! {
    /// A question as it leaves the workspace. Each reviewed field has its standing beside it:
    /// `confirmed`, `provisional` or `synthetic`.
    pub struct QuestionRow {
        /// The post's id.
        id: String,
        /// The question in Chinese.
        question_zh: String,
        /// Whether people kept it.
        screen_status: Option<String>,
        /// The question in English.
        question_en: Option<String>,
        /// How sure it is.
        translation_status: Option<String>,
        /// What is irrational about it.
        irrationality: Option<String>,
        /// How sure that is.
        irrationality_status: Option<String>,
        /// Its categories, `1` to `6`, ascending.
        categories: Vec<String>,
        /// How sure they are.
        category_status: Option<String>,
        /// The normal question; null where none fits.
        pair: Option<String>,
        /// How sure that is; null where nobody decided.
        pair_status: Option<String>,
        /// What part of a forum it was.
        kind: PostKind,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// When it was written, as the source says.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
    }
}

/// The clean row of a question.
pub fn question_row(question: Question) -> QuestionRow {
    QuestionRow {
        id: question.id,
        question_zh: question.text,
        screen_status: question.screen_status,
        question_en: question.question_en,
        translation_status: question.translation_status,
        irrationality: question.irrationality,
        irrationality_status: question.irrationality_status,
        categories: question.categories,
        category_status: question.category_status,
        pair: question.pair,
        pair_status: question.pair_status,
        kind: question.kind,
        score: question.score,
        number: question.number,
        time: question.time,
        source: question.source,
        file: question.file,
        position: question.position,
        licence: question.licence,
    }
}

/// A question in the published layout, its keys in the published order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The question in Chinese.
    pub question_zh: String,
    /// The question in English.
    pub question_en: String,
    /// What is irrational about it.
    pub irrationality: String,
    /// The normal question, or null.
    pub pair: Option<String>,
    /// `2(Commonsense Misunderstanding), 3(Erroneous Assumption)`, ascending.
    pub category: String,
    /// Its ordinal, from 1.
    pub index: u64,
}

/// The categories of table 1, by number from 1.
pub const CATEGORIES: [&str; 6] = [
    "Logical Error",
    "Commonsense Misunderstanding",
    "Erroneous Assumption",
    "Scientific Misconception",
    "Absurd Imagination",
    "Others",
];

/// The published layout of a question; `None` where a field it needs is not there.
pub fn published(question: &Question, index: u64) -> Option<Published> {
    let mut numbers: Vec<usize> =
        question.categories.iter().filter_map(|number| number.parse().ok()).collect();
    numbers.sort_unstable();
    let named = |number: &usize| Some(format!("{number}({})", CATEGORIES.get(number.checked_sub(1)?)?));
    let category: Vec<String> = numbers.iter().map(named).collect::<Option<_>>()?;
    (!category.is_empty()).then_some(())?;
    Some(Published {
        question_zh: question.text.clone(),
        question_en: question.question_en.clone()?,
        irrationality: question.irrationality.clone()?,
        pair: question.pair.clone(),
        category: category.join(", "),
        index,
    })
}

/// The published layout of a stage's questions as JSON Lines. Ordinals count all of them, so that one
/// that is not there yet leaves its number free.
pub(super) fn compat(stage: &StageReader) -> Result<Vec<u8>, Error> {
    let mut lines = Vec::new();
    let mut index = 0;
    for part in stage.parts::<Question>("rows") {
        for question in part? {
            index += 1;
            if let Some(row) = published(&question, index) {
                lines.extend(serde_json::to_vec(&row).unwrap_or_default());
                lines.push(b'\n');
            }
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_layout_is_that_of_the_paper() {
        let mut question = Question {
            text: "鱼渴吗？".into(),
            question_en: Some("Are fish thirsty?".into()),
            irrationality: Some("Fish live in water.".into()),
            categories: vec!["3".into(), "2".into()],
            ..Question::default()
        };
        let line = serde_json::to_string(&published(&question, 7).unwrap()).unwrap();
        assert_eq!(
            line,
            r#"{"question_zh":"鱼渴吗？","question_en":"Are fish thirsty?","irrationality":"Fish live in water.","pair":null,"category":"2(Commonsense Misunderstanding), 3(Erroneous Assumption)","index":7}"#
        );
        question.irrationality = None;
        assert_eq!(published(&question, 7), None);
    }

    /// The published rows, put in as reviewed questions, come out field for field in their key order.
    #[test]
    fn published_rows_come_out_as_they_went_in() {
        let Some(folder) = std::env::var_os("RIDDLEMILL_REFERENCE") else {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
            return;
        };
        let path = std::path::Path::new(&folder).join("data/reference/ruozhibench-gen-dev.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let mut rows = 0;
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().map(str::to_string);
            let categories = text("category").unwrap();
            let question = Question {
                text: text("question_zh").unwrap(),
                question_en: text("question_en"),
                irrationality: text("irrationality"),
                pair: text("pair"),
                categories: categories.split(", ").map(|one| one[..1].to_string()).collect(),
                ..Question::default()
            };
            let out = published(&question, row["index"].as_u64().unwrap()).unwrap();
            assert_eq!(serde_json::to_string(&out).unwrap(), serde_json::to_string(&row).unwrap());
            rows += 1;
        }
        assert!(rows > 100, "{rows}");
    }
}
