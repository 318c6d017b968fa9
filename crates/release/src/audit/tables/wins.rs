//! Texts beside each other: whose of several opponents most voters prefer, how far they agree, and what was marked; lengths of
//! puzzles in tokens, and the words that a text of a group keeps of another.

use std::collections::BTreeMap;

use minijinja::Value;
use riddlemill_benchmarks::figure::{Puzzles, TextPair, Wins};
use riddlemill_benchmarks::scope::{text_of_value, texts_of_value};
use riddlemill_benchmarks::{Expression, ExpressionError};
use serde_json::{Value as Json, json};

use super::Found;
use super::counts::plot_bars;
use super::named::name_in_words;
use super::numbers::{Number, SHARE, found_of_numbers};
use super::source::Records;
use crate::figures::{Cell, Column, ColumnUnit, Digits, Place, Row, Shape, Table};
use crate::measures::{mean, percent};
use crate::puzzle::reconstruction::word_overlap;
use crate::puzzle::statistics::{Figures, QuestionRow, count_figures};

/// The votes about one opponent: one value per record in which it occurs.
#[derive(Default)]
struct OpponentVotes {
    verdicts: Vec<String>,
    /// The share of pairs of votes that agree.
    agreeing: Vec<f64>,
    marks: Vec<Vec<String>>,
}

/// A line an opponent, by name. Shares are percent of the records on whose verdict somebody voted.
/// `name_of_mark` names a mark by its code.
pub(super) fn count_wins(
    wins: &Wins,
    records: &Records<'_>,
    name_of_mark: impl Fn(&str) -> Option<&'static str>,
) -> Result<Found, ExpressionError> {
    let opponents = records.values_of_expression(&wins.opponents)?;
    let verdicts = records.values_of_expression(&wins.verdicts)?;
    let or_none = |of: &Option<_>| of.as_ref().map(|of| records.values_of_expression(of)).transpose();
    let (votes, marks) = (or_none(&wins.votes)?, or_none(&wins.marks)?);
    let mut by_opponent: BTreeMap<String, OpponentVotes> = BTreeMap::new();
    for (at, names) in opponents.iter().enumerate() {
        let codes = |of: Option<&Value>, place: usize| -> Vec<String> {
            of.and_then(|of| of.get_item_by_index(place).ok()).map(|of| split_codes(&of)).unwrap_or_default()
        };
        for (place, name) in texts_of_value(names).into_iter().enumerate() {
            let of = by_opponent.entry(name).or_default();
            of.verdicts.extend(codes(verdicts.get(at), place).into_iter().next());
            of.agreeing.extend(agreeing_share(&codes(votes.as_ref().and_then(|votes| votes.get(at)), place)));
            let marked = codes(marks.as_ref().and_then(|marks| marks.get(at)), place);
            of.marks.extend(Some(marked).filter(|marked| !marked.is_empty()));
        }
    }
    let mut marked: Vec<Row> = Vec::new();
    let rows = by_opponent
        .into_iter()
        .map(|(name, of)| {
            let share = |code: &str| {
                percent(of.verdicts.iter().filter(|verdict| *verdict == code).count(), of.verdicts.len())
            };
            let shares = wins.shares.iter().map(|(_, code)| Cell::plain_number(share(code)));
            let voted = of.agreeing.len();
            let agreement = (voted > 0).then(|| 100.0 * of.agreeing.iter().sum::<f64>() / voted as f64);
            let cells = [Cell::Text(name.clone()), Cell::plain_number(of.verdicts.len() as f64)];
            let agreement = agreement.map_or(Cell::Empty, Cell::plain_number);
            let of_marks = shares_of_marks(&of.marks);
            let listed: Json =
                of_marks.iter().map(|(code, percent)| json!({ "code": code, "percent": percent })).collect();
            let in_row = |(code, percent): (String, f64)| {
                let mark = name_of_mark(&code).map_or(code, str::to_owned);
                vec![Cell::Text(name.clone()), Cell::Text(mark), Cell::plain_number(percent)]
            };
            marked.extend(of_marks.into_iter().map(in_row));
            let marks = [Cell::plain_number(of.marks.len() as f64), Cell::Nested(listed)];
            cells.into_iter().chain(shares).chain([agreement]).chain(marks).collect()
        })
        .collect();
    let opponent = Column::of_words("Opponent").with_key("opponent").with_place(Place::align_left(30));
    let items = Column::of_counts("Items").with_key("items");
    let items = items.with_place(Place::align_right(6, Digits::Fixed(0)));
    let share = |(cell, _): &(&'static str, &'static str)| {
        let place = Place::align_right(0, Digits::Fixed(1)).with_prefix(format!("  {cell} ")).with_unit(" %");
        Column::of_numbers(format!("{}, %", name_in_words(cell))).with_key(cell).with_place(place)
    };
    let agreement = Column::of_numbers("Pairs that agree, %").with_key("agreement");
    let last = [agreement, Column::of_counts("Marked").with_key("marked"), Column::of_key("marks")];
    let columns: Vec<Column> =
        [opponent, items].into_iter().chain(wins.shares.iter().map(share)).chain(last).collect();
    let plot = Some(plot_bars(Shape::Bars, (2..2 + wins.shares.len()).collect(), "percent"));
    let mut found = Found::of_table(Table { columns, rows, plot, ..Table::default() });
    if !marked.is_empty() {
        let columns = vec![
            Column::of_words("Opponent"),
            Column::of_words("Mark"),
            Column::of_numbers("Of those marked, %"),
        ];
        found.tables.push(Table { name: "marks".to_owned(), columns, rows: marked, ..Table::default() });
    }
    Ok(found)
}

/// Percent of the records of which each code is a mark.
fn shares_of_marks(marks: &[Vec<String>]) -> Vec<(String, f64)> {
    let mut codes: Vec<&String> = marks.iter().flatten().collect();
    codes.sort();
    codes.dedup();
    let share =
        |code: &String| percent(marks.iter().filter(|marks| marks.contains(code)).count(), marks.len());
    codes.into_iter().map(|code| (code.clone(), share(code))).collect()
}

/// Codes in a list, or in a text with blanks between.
fn split_codes(value: &Value) -> Vec<String> {
    let all = texts_of_value(value);
    let codes = all.iter().flat_map(|text| text.split(' '));
    codes.filter(|code| !code.is_empty()).map(str::to_owned).collect()
}

/// The share of pairs of votes that agree; none of fewer than two votes.
fn agreeing_share(votes: &[String]) -> Option<f64> {
    let pairs =
        votes.iter().enumerate().flat_map(|(at, one)| votes[at + 1..].iter().map(move |other| one == other));
    let (agree, all) = pairs.fold((0, 0), |(agree, all), same| (agree + u32::from(same), all + 1));
    (all > 0).then(|| f64::from(agree) / f64::from(all))
}

/// Key statistics of puzzles with their options (BrainTeaser, table 3).
pub(super) fn puzzle_statistics(puzzles: &Puzzles, records: &Records<'_>) -> Result<Found, ExpressionError> {
    let texts_of = |of: &Expression| -> Result<Vec<String>, ExpressionError> {
        Ok(records
            .values_of_expression(of)?
            .iter()
            .map(|value| text_of_value(value).unwrap_or_default())
            .collect())
    };
    let (questions, answers) = (texts_of(&puzzles.question)?, texts_of(&puzzles.answer)?);
    let options: Vec<Vec<String>> =
        records.values_of_expression(&puzzles.options)?.iter().map(texts_of_value).collect();
    let row = |((question, answer), choices)| QuestionRow { question, answer, choices };
    let rows = questions.iter().map(String::as_str).zip(answers.iter().map(String::as_str));
    let found = count_figures(rows.zip(options.iter().map(Vec::as_slice)).map(row));
    let of = |number: fn(&Figures) -> f64| found.as_ref().map(number);
    let digits = ColumnUnit::Number { digits: 2 };
    let numbers = [
        Number::new("puzzles", "puzzles", of(|of| of.puzzles as f64), ColumnUnit::Count),
        Number::new("question_tokens", "average question tokens", of(|of| of.question_tokens), digits),
        Number::new("long_questions", "long questions (over 30 tokens)", of(|of| of.long_questions), SHARE),
        Number::new("answer_tokens", "average answer tokens", of(|of| of.answer_tokens), digits),
        Number::new(
            "choice_tokens_std",
            "standard deviation of choice tokens",
            of(|of| of.choice_tokens_std),
            digits,
        ),
    ];
    let value = numbers.iter().map(|number| (number.name.to_owned(), number.to_value()));
    let value = found.as_ref().map_or(Json::Null, |_| Json::Object(value.collect()));
    Ok(found_of_numbers(value, &numbers))
}

/// The share of a text's content words that the other text of its group keeps, on average.
pub(super) fn words_kept(kept: &TextPair, records: &Records<'_>) -> Result<Found, ExpressionError> {
    let (all, groups) =
        (records.values_of_expression(&kept.text)?, records.values_of_expression(&kept.group)?);
    let (from, to) = (records.values_of_expression(&kept.from)?, records.values_of_expression(&kept.to)?);
    let at = |place: usize| text_of_value(&groups[place]).zip(text_of_value(&all[place]));
    let mut others: BTreeMap<String, String> = BTreeMap::new();
    for (group, other) in (0..records.len()).filter(|place| to[*place].is_true()).filter_map(at) {
        others.entry(group).or_insert(other);
    }
    let shares: Vec<f64> = (0..records.len())
        .filter(|place| from[*place].is_true())
        .filter_map(at)
        .filter_map(|(group, text)| Some(word_overlap(&text, others.get(&group)?).kept))
        .collect();
    let share = Number::new("value", kept.label, mean(&shares), SHARE);
    Ok(found_of_numbers(share.to_value(), &[share]))
}
