//! FLUB (Li et al., 2.1–2.3, appendix E.2): a cunning text, its type, its explanation, and four
//! explanations to choose from.

use serde_json::{Map, Value as Json, json};
use sha1::{Digest, Sha1};

use super::{Answer, Column, Compat, Kind, Layout, PROVENANCE, STANDING, Task, column, maybe, one_of};
use crate::release::row::{Row, Value};

const LETTERS: [&str; 4] = ["A", "B", "C", "D"];

/// A reviewed item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cunning {
    /// The text, as people rewrote it.
    pub text: String,
    /// Whether it asks.
    pub is_question: bool,
    /// One of the eight types; none where it is Undefined.
    pub kind: Option<String>,
    /// The right explanation.
    pub explanation: String,
    /// Four explanations, one of them the right one.
    pub options: [String; 4],
    /// The place of the right one, from 0.
    pub answer: usize,
    /// Who wrote the wrong ones: `people`, `model` or `sample`.
    pub wrong_from: String,
    /// The post it was made from.
    pub source_id: String,
    /// `confirmed`, `provisional` or `synthetic`.
    pub standing: String,
}

const COLUMNS: &[Column] = &[
    column("id", Kind::Text, "The SHA-1 of the text's UTF-8 bytes, in hex."),
    column("text", Kind::Text, "The cunning text, in Chinese."),
    column("is_question", Kind::Flag, "Whether the text asks."),
    maybe("type", Kind::Text, "The type of its cunning; null where none fits."),
    column("explanation", Kind::Text, "What is cunning about it."),
    column("options", Kind::Texts, "Four explanations, one of them the right one: A, B, C and D."),
    one_of("answer", &LETTERS, "The letter of the right one."),
    one_of(
        "wrong_from",
        &["people", "model", "sample"],
        "Who wrote the wrong ones that a senior picked from; of a published item it is not known and said to be people.",
    ),
    PROVENANCE,
    STANDING,
];

pub(super) const LAYOUT: Layout = Layout {
    config: "flub",
    about: "A cunning text, the type of its cunning, its explanation, and four explanations to choose from.",
    columns: COLUMNS,
    compat: &[Compat { file: "FLUB.jsonl", lines: true, published }],
    task: Some(Task {
        question: "text",
        instruction: "下面这段话的正确解释是哪一个？",
        answer: Answer::Choice { options: "options", gold: "answer" },
    }),
    labels: &["type", "answer", "is_question", "standing"],
    standing: Some("standing"),
    check,
};

impl Cunning {
    /// The released row. Its id follows from its text.
    pub fn row(self) -> Row {
        let text = Value::from(self.text);
        let id = match &text {
            Value::Text(text) => sha1_hex(text),
            _ => String::new(),
        };
        Row(vec![
            id.into(),
            text,
            self.is_question.into(),
            self.kind.into(),
            self.explanation.into(),
            self.options.to_vec().into(),
            LETTERS[self.answer.min(3)].to_string().into(),
            self.wrong_from.into(),
            self.source_id.into(),
            self.standing.into(),
        ])
    }

    /// Reads an item of the published file; `None` where it has another form.
    pub fn from_published(json: &Map<String, Json>) -> Option<Cunning> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_string);
        let options = json.get("options")?.as_object()?;
        let option = |i: usize| options.get(LETTERS[i])?.as_str().map(str::to_string);
        let letter = text("answer")?;
        Some(Cunning {
            text: text("text")?,
            is_question: json.get("is_question")?.as_bool()?,
            kind: text("type"),
            explanation: text("explanation")?,
            options: [option(0)?, option(1)?, option(2)?, option(3)?],
            answer: LETTERS.iter().position(|l| *l == letter)?,
            wrong_from: "people".into(),
            source_id: String::new(),
            standing: "confirmed".into(),
        })
    }
}

fn sha1_hex(text: &str) -> String {
    hex::encode(Sha1::digest(text.as_bytes()))
}

fn published(row: &Row) -> Option<Map<String, Json>> {
    let Value::Texts(options) = &row.0[5] else { return None };
    let options: Map<String, Json> =
        LETTERS.iter().zip(options).map(|(l, o)| (l.to_string(), json!(o))).collect();
    let mut json = Map::new();
    for (key, column) in [("text", 1), ("is_question", 2), ("type", 3), ("explanation", 4), ("id", 0)] {
        json.insert(key.into(), row.0[column].to_json());
    }
    json.insert("options".into(), Json::Object(options));
    json.insert("answer".into(), row.0[6].to_json());
    Some(json)
}

fn check(row: &Row) -> Result<(), String> {
    let Value::Texts(options) = &row.0[5] else { return Ok(()) };
    if options.len() != 4 {
        return Err(format!("options: {} of them, not 4", options.len()));
    }
    if (1..4).any(|i| options[..i].contains(&options[i])) {
        return Err("options: two are the same".into());
    }
    let gold = LETTERS.iter().position(|l| *l == row.text(6));
    if gold.is_none_or(|gold| options[gold] != row.text(4)) {
        return Err("answer: that option is not the explanation".into());
    }
    if row.id() != sha1_hex(row.text(1)) {
        return Err("id: not the SHA-1 of the text".into());
    }
    Ok(())
}
