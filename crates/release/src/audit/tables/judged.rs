//! Ratings of answers by judges: how far judges agree, how ratings are spread, and what models reach.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use riddlemill_benchmarks::figure::RatedAnswers;
use riddlemill_benchmarks::scope::{text_of_value, texts_of_value};
use riddlemill_benchmarks::{Expression, ExpressionError};
use serde_json::json;

use super::source::Records;
use super::{Found, INDENT};
use crate::figures::{Cell, Column, Digits, Place, Row, Table};
use crate::measures::judges::{self, CategoryScore, JudgePair, Rating};

/// A rating read from a record.
struct Given {
    question: String,
    normal: bool,
    response: String,
    model: String,
    judge: String,
    repeat: u32,
    rating: u32,
}

/// The ratings of the records, each of a response; a judge's later ones are repeats.
fn read_ratings(judged: &RatedAnswers, records: &Records<'_>) -> Result<Vec<Given>, ExpressionError> {
    let [questions, normal, models, judges, ratings] =
        [&judged.question, &judged.normal, &judged.model, &judged.judges, &judged.ratings]
            .map(|of| records.values_of_expression(of));
    let (questions, normal, models) = (questions?, normal?, models?);
    let (judges, ratings) = (judges?, ratings?);
    let mut found = Vec::new();
    let text_at = |values: &[Value], at: usize| values.get(at).and_then(text_of_value).unwrap_or_default();
    for (at, response) in records.record_ids().into_iter().enumerate() {
        let (judges, ratings) = (texts_of_value(&judges[at]), texts_of_value(&ratings[at]));
        for (place, (judge, rating)) in judges.iter().zip(&ratings).enumerate() {
            let Ok(rating) = rating.parse() else { continue };
            found.push(Given {
                question: text_at(&questions, at),
                normal: normal[at].is_true(),
                response: response.clone(),
                model: text_at(&models, at),
                judge: judge.clone(),
                repeat: judges[..place].iter().filter(|earlier| *earlier == judge).count() as u32,
                rating,
            });
        }
    }
    Ok(found)
}

fn to_ratings(given: &[Given]) -> Vec<Rating<'_>> {
    given
        .iter()
        .map(|of| Rating {
            question: &of.question,
            normal: of.normal,
            response: &of.response,
            model: &of.model,
            judge: &of.judge,
            repeat: of.repeat,
            rating: of.rating,
        })
        .collect()
}

/// Every two judges.
pub(super) fn judge_pairs(judged: &RatedAnswers, records: &Records<'_>) -> Result<Found, ExpressionError> {
    let given = read_ratings(judged, records)?;
    let pairs = judges::judge_pairs(&to_ratings(&given));
    let mut lines = String::new();
    if !pairs.is_empty() {
        let heads =
            ["Pearson", "difference", "2 or more apart, %"].map(|head| format!("{head:>19}")).join(" ");
        let below = format!("{:>9} {:>9} ", "single", "mean").repeat(3);
        lines.push_str(&format!("    {:<40} {heads}\n    {:<40} {}\n", "", "", below.trim_end()));
    }
    let place = || Place::align_right(9, Digits::Fixed(3)).with_none("-");
    let [pairs_key, pearson, difference, large] = [
        ["individual.pairs", "mean.pairs"],
        ["individual.pearson", "mean.pearson"],
        ["individual.difference", "mean.difference"],
        ["individual.large_percent", "mean.large_percent"],
    ];
    let keys = [pearson, difference, large].concat();
    let titles = judges::pair_titles().into_iter().zip(keys);
    let names = ["judges[]", "judges[]"].map(Column::of_key).into_iter();
    let columns = names
        .chain([Column::of_words("Judges").with_place(Place::align_left(40))])
        .chain(pairs_key.map(|key| Column::of_counts("").with_key(key)))
        .chain(titles.map(|(title, key)| Column::of_numbers(title).with_key(key).with_place(place())))
        .collect();
    let rows = pairs.iter().map(cells_of_pair).collect();
    let mut found = Found::of_table(Table { columns, rows, ..Table::default() });
    found.lines.insert_str(0, &lines);
    Ok(found)
}

/// The judges, the number of their pairs, and each figure of every rating and of the means.
fn cells_of_pair(pair: &JudgePair) -> Row {
    let sides = [&pair.individual, &pair.mean];
    let names = pair.judges.iter().cloned().chain([pair.judges.join(" vs ")]).map(Cell::Text);
    let pairs = sides.map(|of| Cell::plain_number(of.pairs as f64));
    let figures = judges::PAIR_FIGURES.iter().flat_map(|(_, of)| sides.map(of));
    names.chain(pairs).chain(figures.map(|of| of.map_or(Cell::Empty, Cell::plain_number))).collect()
}

/// How often each judge gives each rating: over all models, then by model.
pub(super) fn count_ratings(judged: &RatedAnswers, records: &Records<'_>) -> Result<Found, ExpressionError> {
    let given = read_ratings(judged, records)?;
    let spread = judges::count_ratings(&to_ratings(&given));
    let row = |of: &judges::Distribution| {
        let model = of.model.as_deref().unwrap_or("all models");
        let names = [of.judge.as_str(), model, if of.normal { "normal" } else { "" }]
            .map(|name| Cell::Text(name.to_owned()));
        let questions = Cell::Text(if of.normal { "normal" } else { "trick" }.to_owned());
        let values = [json!(of.model), json!(of.normal)].map(Cell::Nested);
        let counts = of.counts.iter().map(|count| Cell::plain_number(*count as f64));
        names.into_iter().chain(values).chain([questions]).chain(counts).collect::<Row>()
    };
    let place = |width: usize| Place::align_left(width).with_prefix(" ");
    let names = [
        Column::of_words("Judge").with_key("judge").with_place(Place::align_left(20)),
        Column::of_words("Model").with_place(place(20)),
        Column::of_words("").with_place(place(7)),
        Column::of_key("model"),
        Column::of_key("normal"),
        Column::of_words("Questions"),
    ];
    let count = |rating: u32| {
        let place = Place::align_right(5, Digits::Fixed(0));
        Column::of_counts(rating.to_string()).with_key("counts[]").with_place(place)
    };
    let columns = names.into_iter().chain(judges::SCALE.map(count)).collect();
    Ok(Found::of_table(Table { columns, rows: spread.iter().map(row).collect(), ..Table::default() }))
}

/// The scores of models on the questions that are items, over all and by part; `last` holds the questions. Others count in
/// neither, as in an evaluation of the set, which the papers' figures are. Where the items are not known, those are that have
/// a part. `name_of_part` names a part by its code.
pub(super) fn scores_by_part(
    judged: &RatedAnswers,
    records: &Records<'_>,
    parts: &Expression,
    last: &Records<'_>,
    items: Option<&BTreeSet<String>>,
    name_of_part: impl Fn(&str) -> Option<&'static str>,
) -> Result<Found, ExpressionError> {
    let of_question: BTreeMap<String, Vec<String>> = last
        .record_ids()
        .into_iter()
        .zip(last.values_of_expression(parts)?.iter().map(texts_of_value))
        .collect();
    let is_item = |question: &str| match items {
        Some(items) => items.contains(question),
        None => of_question.get(question).is_some_and(|parts| !parts.is_empty()),
    };
    let mut given = read_ratings(judged, records)?;
    given.retain(|rating| is_item(&rating.question));
    let cells = judges::mean_scores(&to_ratings(&given), |question| {
        of_question.get(question).map(Vec::as_slice).unwrap_or_default()
    });
    let table = scores_of_models(&cells, name_of_part);
    Ok(Found { lines: table.render_lines(INDENT), tables: vec![table], ..Found::new(cells, String::new()) })
}

/// A row for each model, with a column for each part and one for all; lines have what all comes to first, and the codes.
fn scores_of_models(cells: &[CategoryScore], name_of_part: impl Fn(&str) -> Option<&'static str>) -> Table {
    let parts: BTreeSet<&str> = cells.iter().filter_map(|cell| cell.category.as_deref()).collect();
    let row = |of_model: &[CategoryScore]| {
        let score = |part: Option<&str>| {
            let found = of_model.iter().find(|cell| cell.category.as_deref() == part);
            found.map_or(Cell::Empty, |found| Cell::plain_number(found.score))
        };
        let named = [Cell::Text(of_model[0].model.clone()), score(None)];
        let of_parts = parts.iter().map(|part| score(Some(part)));
        named.into_iter().chain(of_parts).chain([score(None)]).collect()
    };
    let place = |before: String| Place::align_right(0, Digits::Fixed(2)).with_prefix(before);
    let of_part = |part: &&str| {
        let title = name_of_part(part).map_or_else(|| (*part).to_owned(), str::to_owned);
        Column::of_numbers(title).with_place(place(format!("  {part} ")))
    };
    let model = Column::of_words("Model").with_place(Place::align_left(20));
    let all = [model, Column::of_numbers("").with_place(place(" all ".to_owned()))].into_iter();
    let columns = all.chain(parts.iter().map(of_part)).chain([Column::of_numbers("All")]).collect();
    let rows = cells.chunk_by(|one, next| one.model == next.model).map(row).collect();
    Table { columns, rows, ..Table::default() }
}
