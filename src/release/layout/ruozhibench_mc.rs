//! RuozhiBench-MC (Zhai et al., 4.1): a Gen item with a good and a bad answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{
    Answer, Column, Compat, Kind, Layout, PROVENANCE, STANDING, Task, column, maybe, ruozhibench_gen,
};
use crate::release::row::{Row, Value};

/// A Gen item and the two answers drawn for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The Gen item.
    pub question: ruozhibench_gen::Question,
    /// The answer the judges rated higher.
    pub good: (String, String),
    /// The answer they rated lower; model and text, as above.
    pub bad: (String, String),
    /// Whether the good answer stands first.
    pub good_first: bool,
    /// Every judge's rating of every model's answer.
    pub ratings: Vec<Rating>,
}

/// What one judge gave one model's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rating {
    /// The model that answered.
    pub model: String,
    /// The model that judged.
    pub judge: String,
    /// 0 to 4 (figure 12).
    pub rating: u64,
}

const GEN: usize = 8;
const OWN: usize = 9;

const COLUMNS: &[Column] = &[
    ruozhibench_gen::COLUMNS[0],
    ruozhibench_gen::COLUMNS[1],
    ruozhibench_gen::COLUMNS[2],
    ruozhibench_gen::COLUMNS[3],
    ruozhibench_gen::COLUMNS[4],
    ruozhibench_gen::COLUMNS[5],
    ruozhibench_gen::COLUMNS[6],
    ruozhibench_gen::COLUMNS[7],
    column("options", Kind::Texts, "The two answers; the other order is the reverse."),
    column("answer", Kind::Count, "The place of the good answer among the options, from 0."),
    column("option_models", Kind::Texts, "The models that gave the two answers."),
    column("option_scores", Kind::Reals, "The mean rating of the two answers, 0 to 4."),
    column("rating_models", Kind::Texts, "All ratings of answers to this question: the model that answered."),
    column("rating_judges", Kind::Texts, "The model that judged, for each of these."),
    column("ratings", Kind::Counts, "The rating, 0 to 4, for each of these."),
    maybe("gap", Kind::Real, "How far the two means are apart."),
    PROVENANCE,
    STANDING,
];

pub(super) const LAYOUT: Layout = Layout {
    config: "ruozhibench-mc",
    about: "A trick question with a good and a bad answer, and every judge's rating.",
    columns: COLUMNS,
    compat: &[Compat { file: "ruozhibench_mc.jsonl", lines: true, published }],
    task: Some(Task {
        question: "question_en",
        instruction: "Which of the two answers to the question is the better one?",
        answer: Answer::Choice { options: "options", gold: "answer" },
    }),
    labels: &["answer", "category_names", "standing"],
    standing: Some("standing"),
    check,
};

impl Choice {
    /// The released row. Means are over the ratings of each model.
    pub fn row(self) -> Row {
        let means = means(self.ratings.iter().map(|r| (r.model.as_str(), r.rating)));
        let mean = |model: &str| means.get(model).copied();
        let gap = mean(&self.good.0).zip(mean(&self.bad.0)).map(|(good, bad)| good - bad);
        let mut options = vec![self.good, self.bad];
        if !self.good_first {
            options.reverse();
        }
        let scores: Vec<f64> = options.iter().filter_map(|(model, _)| means.get(model).copied()).collect();
        let (models, texts): (Vec<String>, Vec<String>) = options.into_iter().unzip();
        let (source_id, standing) = (self.question.source_id.clone(), self.question.statuses.least());
        let mut values = self.question.values();
        values.truncate(GEN);
        values.extend([
            texts.into(),
            u64::from(!self.good_first).into(),
            models.into(),
            scores.into(),
            self.ratings.iter().map(|r| r.model.clone()).collect::<Vec<_>>().into(),
            self.ratings.iter().map(|r| r.judge.clone()).collect::<Vec<_>>().into(),
            self.ratings.iter().map(|r| r.rating).collect::<Vec<_>>().into(),
            gap.into(),
            source_id.into(),
            standing.to_string().into(),
        ]);
        Row(values)
    }
}

/// The mean rating of each model, models in the order of their names.
fn means<'a>(ratings: impl Iterator<Item = (&'a str, u64)>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (model, rating) in ratings {
        let sum = sums.entry(model.to_string()).or_default();
        *sum = (sum.0 + rating, sum.1 + 1);
    }
    sums.into_iter().map(|(model, (sum, n))| (model, sum as f64 / n as f64)).collect()
}

/// The Gen columns, then the two answers as the evaluation of the paper reads them. The published file
/// is not public in this form: its scores are taken to be an object from model to mean.
fn published(row: &Row) -> Option<Map<String, Json>> {
    let mut json = (ruozhibench_gen::LAYOUT.compat[0].published)(row)?;
    let (Value::Texts(texts), Value::Count(gold), Value::Texts(models)) =
        (&row.0[8], &row.0[OWN], &row.0[10])
    else {
        return None;
    };
    let (good, bad) = (*gold as usize, 1usize.checked_sub(*gold as usize)?);
    for (key, list, place) in [
        ("Good Answer", texts, good),
        ("Bad Answer", texts, bad),
        ("Good Model", models, good),
        ("Bad Model", models, bad),
    ] {
        json.insert(key.into(), json!(list.get(place)?));
    }
    let (Value::Texts(rated), Value::Counts(ratings)) = (&row.0[12], &row.0[14]) else { return None };
    let means = means(rated.iter().map(String::as_str).zip(ratings.iter().copied()));
    json.insert("response_scores".into(), json!(means));
    Some(json)
}

fn check(row: &Row) -> Result<(), String> {
    ruozhibench_gen::check(row)?;
    let (Value::Texts(options), Value::Count(gold), Value::Texts(models), Value::Reals(scores)) =
        (&row.0[8], &row.0[OWN], &row.0[10], &row.0[11])
    else {
        return Ok(());
    };
    if options.len() != 2 || *gold > 1 || options[0] == options[1] {
        return Err("options: not two different answers with one gold".into());
    }
    if models.len() != 2 || scores.len() != 2 || scores[*gold as usize] <= scores[1 - *gold as usize] {
        return Err("option_scores: the good answer is not rated higher".into());
    }
    let (Value::Texts(rated), Value::Texts(judges), Value::Counts(ratings)) =
        (&row.0[12], &row.0[13], &row.0[14])
    else {
        return Ok(());
    };
    if rated.len() != judges.len() || rated.len() != ratings.len() {
        return Err("ratings: the three lists differ in length".into());
    }
    match ratings.iter().find(|r| **r > 4) {
        Some(rating) => Err(format!("ratings: {rating} is not from 0 to 4")),
        None => Ok(()),
    }
}
