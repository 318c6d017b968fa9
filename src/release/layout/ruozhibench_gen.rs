//! RuozhiBench-Gen (Zhai et al., 2.2–2.4, table 1): a trick question, why it is irrational, of which
//! kinds, and a normal question beside it.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{Answer, Column, Compat, Kind, Layout, PROVENANCE, STANDING, Task, column, maybe};
use crate::release::row::{Row, Value};
use crate::review::ballots;

/// A reviewed item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The allotted number, for good.
    pub index: u64,
    /// The question in Chinese.
    pub question_zh: String,
    /// The question in English.
    pub question_en: String,
    /// Why it is irrational.
    pub irrationality: String,
    /// A normal question of the same form; none where none fits.
    pub pair: Option<String>,
    /// Numbers from 1 to 6, ascending.
    pub categories: Vec<u64>,
    /// The post it was made from.
    pub source_id: String,
    /// The source of that post.
    pub source: String,
    /// The licence that source states.
    pub licence: Option<String>,
    /// How sure each reviewed field is.
    pub statuses: Statuses,
}

/// How sure the reviewed fields of a question are, each `confirmed`, `provisional` or `synthetic`; `None`
/// where the recipe never asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses {
    /// That people kept it.
    pub screen: Option<String>,
    /// Its English.
    pub translation: Option<String>,
    /// Its analysis.
    pub irrationality: Option<String>,
    /// Its categories.
    pub category: Option<String>,
    /// Its normal question, or that none fits.
    pub pair: Option<String>,
    /// The reviews that hold nothing: without an answer of theirs a question is as sure as with one.
    pub optional: BTreeSet<&'static str>,
}

impl Statuses {
    /// Where people decided on everything.
    pub fn confirmed() -> Self {
        let confirmed = || Some("confirmed".to_string());
        Self {
            screen: confirmed(),
            translation: confirmed(),
            irrationality: confirmed(),
            category: confirmed(),
            pair: confirmed(),
            optional: BTreeSet::new(),
        }
    }

    /// The least sure of all: what the item is.
    pub(super) fn least(&self) -> &'static str {
        let needed = [
            ("screen", &self.screen),
            ("translation", &self.translation),
            ("irrationality", &self.irrationality),
            ("category", &self.category),
        ];
        let word = |(review, status): (&str, &'_ Option<String>)| match status.as_deref() {
            Some("provisional") => "provisional",
            Some("synthetic") => "synthetic",
            None if !self.optional.contains(review) => "provisional",
            _ => "confirmed",
        };
        let mut words: Vec<&str> = needed.into_iter().map(word).collect();
        // Where the recipe makes no pairs, nobody decides on one.
        words.extend(self.pair.as_deref());
        ["provisional", "synthetic"].into_iter().find(|s| words.contains(s)).unwrap_or("confirmed")
    }
}

pub(super) const COLUMNS: &[Column] = &[
    column("id", Kind::Text, "`RB-` and the index."),
    column("index", Kind::Count, "The number allotted at the first release, never given twice."),
    column("question_zh", Kind::Text, "The question in Chinese."),
    column("question_en", Kind::Text, "The question in English."),
    column("irrationality", Kind::Text, "Why the question is irrational, in English."),
    maybe("pair", Kind::Text, "A normal question of the same form, in English; null where none fits."),
    column("categories", Kind::Counts, "The kinds of irrationality, numbers from 1 to 6, ascending."),
    column("category_names", Kind::Texts, "The names of those kinds."),
    PROVENANCE,
    column("source", Kind::Text, "The source's name."),
    maybe("licence", Kind::Text, "The licence its source states."),
    STANDING,
    maybe("screen_status", Kind::Text, "How sure it is that people kept the question."),
    maybe("translation_status", Kind::Text, "How sure `question_en` is."),
    maybe("irrationality_status", Kind::Text, "How sure `irrationality` is."),
    maybe("category_status", Kind::Text, "How sure `categories` is."),
    maybe("pair_status", Kind::Text, "How sure `pair` is; null where nobody decided."),
];

pub(super) const LAYOUT: Layout = Layout {
    config: "ruozhibench-gen",
    about: "A trick question in Chinese and English, why it is irrational, of which kinds, and a normal question beside it.",
    columns: COLUMNS,
    compat: &[Compat { file: "ruozhibench_gen.jsonl", lines: true, published }],
    task: Some(Task {
        question: "question_en",
        instruction: "Please answer the following question.",
        answer: Answer::Words("irrationality"),
    }),
    labels: &["category_names", "standing"],
    standing: Some("standing"),
    check,
};

impl Question {
    /// The released row.
    pub fn row(self) -> Row {
        Row(self.values())
    }

    pub(super) fn values(self) -> Vec<Value> {
        let names: Vec<String> = self.categories.iter().map(|n| name(*n).to_string()).collect();
        vec![
            format!("RB-{}", self.index).into(),
            self.index.into(),
            self.question_zh.into(),
            self.question_en.into(),
            self.irrationality.into(),
            self.pair.into(),
            self.categories.into(),
            names.into(),
            self.source_id.into(),
            self.source.into(),
            self.licence.into(),
            self.statuses.least().to_string().into(),
            self.statuses.screen.into(),
            self.statuses.translation.into(),
            self.statuses.irrationality.into(),
            self.statuses.category.into(),
            self.statuses.pair.into(),
        ]
    }

    /// Reads an item of the published file; `None` where it has another form.
    pub fn from_published(json: &Map<String, Json>) -> Option<Question> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_string);
        Some(Question {
            index: json.get("index")?.as_u64()?,
            question_zh: text("question_zh")?,
            question_en: text("question_en")?,
            irrationality: text("irrationality")?,
            pair: text("pair"),
            categories: numbers(&text("category")?)?,
            statuses: Statuses::confirmed(),
            ..Question::default()
        })
    }
}

/// The six categories by number, from 1 (RuozhiBench 2.4, figure 11).
pub fn categories() -> Vec<&'static str> {
    ballots::names("ruozhibench-gen", "categories")
}

fn name(number: u64) -> &'static str {
    let category =
        number.checked_sub(1).and_then(|i| ballots::options("ruozhibench-gen", "categories").get(i as usize));
    category.map(|category| category.label.en).unwrap_or_default()
}

/// `"2(Commonsense Misunderstanding), 5(Absurd Imagination)"` as numbers.
fn numbers(category: &str) -> Option<Vec<u64>> {
    let one = |part: &str| {
        let (number, rest) = part.split_once('(')?;
        let number: u64 = number.trim().parse().ok()?;
        (rest.strip_suffix(')')? == name(number)).then_some(number)
    };
    category.split(", ").map(one).collect()
}

fn published(row: &Row) -> Option<Map<String, Json>> {
    let Value::Counts(numbers) = &row.0[6] else { return None };
    let category: Vec<String> = numbers.iter().map(|n| format!("{n}({})", name(*n))).collect();
    let mut json = Map::new();
    for (key, column) in [("question_zh", 2), ("question_en", 3), ("irrationality", 4), ("pair", 5)] {
        json.insert(key.into(), row.0[column].to_json());
    }
    json.insert("category".into(), json!(category.join(", ")));
    json.insert("index".into(), row.0[1].to_json());
    Some(json)
}

pub(super) fn check(row: &Row) -> Result<(), String> {
    let (Value::Counts(numbers), Value::Texts(names)) = (&row.0[6], &row.0[7]) else { return Ok(()) };
    if numbers.is_empty()
        || numbers.iter().any(|n| !(1..=6).contains(n))
        || !numbers.is_sorted_by(|a, b| a < b)
    {
        return Err(format!("categories: {numbers:?} are not numbers from 1 to 6, ascending"));
    }
    if !numbers.iter().map(|n| name(*n)).eq(names.iter().map(String::as_str)) {
        return Err(format!("category_names: {names:?} are not those of {numbers:?}"));
    }
    if row.0[1] != Value::Count(row.id().strip_prefix("RB-").and_then(|n| n.parse().ok()).unwrap_or(u64::MAX))
    {
        return Err("index: not the number in the id".into());
    }
    Ok(())
}
