//! Ratings of answers by judges: how far judges agree, how ratings are spread, and what models reach.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use riddlemill_benchmarks::figure::RatedAnswers;
use riddlemill_benchmarks::scope::{text_of_value, texts_of_value};
use riddlemill_benchmarks::{Expression, ExpressionError};

use super::source::Records;
use super::{Found, INDENT};
use crate::figures::{Cell, Column, Digits, Place, Row, Table};
use crate::measures::judges::{self, JudgePair, Measures, Rating};

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
    let number = || Column::of_numbers("").with_place(Place::align_right(9, Digits::Fixed(3)));
    let columns = std::iter::once(Column::of_words("").with_place(Place::align_left(40)))
        .chain((0..6).map(|_| number()));
    let rows = pairs.iter().map(cells_of_pair).collect();
    lines.push_str(&Table { columns: columns.collect(), rows, ..Table::default() }.render_lines(INDENT));
    Ok(Found::new(pairs, lines))
}

/// Each figure of every rating, and of the means.
fn cells_of_pair(pair: &JudgePair) -> Row {
    let figures: [fn(&Measures) -> Option<f64>; 3] =
        [|measures| measures.pearson, |measures| measures.difference, |measures| measures.large_percent];
    let numbers = figures.iter().flat_map(|of| [of(&pair.individual), of(&pair.mean)]);
    let number = |number: Option<f64>| number.map_or_else(|| Cell::Text("-".to_owned()), Cell::plain_number);
    std::iter::once(Cell::Text(pair.judges.join(" vs "))).chain(numbers.map(number)).collect()
}

/// How often each judge gives each rating: over all models, then by model.
pub(super) fn count_ratings(judged: &RatedAnswers, records: &Records<'_>) -> Result<Found, ExpressionError> {
    let given = read_ratings(judged, records)?;
    let spread = judges::count_ratings(&to_ratings(&given));
    let row = |of: &judges::Distribution| {
        let model = of.model.as_deref().unwrap_or("all models");
        let names = [of.judge.as_str(), model, if of.normal { "normal" } else { "" }];
        let counts = of.counts.iter().map(|count| Cell::plain_number(*count as f64));
        names.map(|name| Cell::Text(name.to_owned())).into_iter().chain(counts).collect::<Row>()
    };
    let word = |width: usize| Column::of_words("").with_place(Place::align_left(width).with_prefix(" "));
    let names = [Column::of_words("").with_place(Place::align_left(20)), word(20), word(7)];
    let counts =
        judges::SCALE.map(|_| Column::of_counts("").with_place(Place::align_right(5, Digits::Fixed(0))));
    let columns = names.into_iter().chain(counts).collect();
    let table = Table { columns, rows: spread.iter().map(row).collect(), ..Table::default() };
    Ok(Found::new(spread, table.render_lines(INDENT)))
}

/// The scores of models on the questions that are items, over all and by part; `last` holds the questions. Others count in
/// neither, as in an evaluation of the set, which the papers' figures are. Where the items are not known, those are that have
/// a part.
pub(super) fn scores_by_part(
    judged: &RatedAnswers,
    records: &Records<'_>,
    parts: &Expression,
    last: &Records<'_>,
    items: Option<&BTreeSet<String>>,
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
    let mut lines = String::new();
    for of_model in cells.chunk_by(|one, next| one.model == next.model) {
        let scores: Vec<String> = of_model
            .iter()
            .map(|cell| format!("{} {:.2}", cell.category.as_deref().unwrap_or("all"), cell.score))
            .collect();
        lines.push_str(&format!("    {:<20} {}\n", of_model[0].model, scores.join("  ")));
    }
    Ok(Found::new(cells, lines))
}
