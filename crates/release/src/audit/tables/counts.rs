//! Frequencies of values, distributions of numbers, and votes.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use riddlemill_benchmarks::choice::Choice;
use riddlemill_benchmarks::figure::{Bars, Counts};
use riddlemill_benchmarks::scope::{text_of_value, texts_of_value};
use riddlemill_benchmarks::{Data, Expression, ExpressionError};

use super::named::name_in_words;
use super::numbers::collect_reals;
use super::source::Records;
use super::{Found, INDENT};
use crate::figures::{Cell, Column, ColumnUnit, Digits, Place, Plot, Row, Shape, Table};
use crate::measures::percent;

/// The width of what a line is called.
const LABEL: usize = 30;

/// What is behind the most frequent values.
const OTHERS: &str = "Others";

/// A line a value: those of the options in their order, else all by their names, or the most frequent first. A record
/// counts once in each of its values.
///
/// A label of a published file counts as the option that `[compat.labels]` says, as in an evaluation.
pub(super) fn count_values(
    counts: &Counts,
    data: Option<&Data>,
    records: &Records<'_>,
) -> Result<Found, ExpressionError> {
    let code_of = |value: String| -> String {
        let ours = data.zip(counts.column).and_then(|(data, column)| data.compat.label_for(column, &value));
        let Some(ours) = ours else { return value };
        let named = |option: &&Choice| [option.code, option.label.en, option.label.zh].contains(&ours);
        counts.options.iter().find(named).map_or(value, |option| option.code.to_owned())
    };
    let several = counts.by.len() > 1;
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, (_, by)) in counts.by.iter().enumerate() {
        for values in records.values_of_expression(by)? {
            for value in texts_of_value(&values).into_iter().map(&code_of).collect::<BTreeSet<_>>() {
                found.entry(value).or_insert_with(|| vec![0; counts.by.len()])[place] += 1;
            }
        }
    }
    let number = |(name, _): &(&'static str, Expression)| {
        let behind = if several { format!(" {name} ") } else { " ".to_owned() };
        Column::of_counts(name_in_words(name))
            .with_key(name)
            .with_place(place_of_number().with_prefix(behind))
    };
    let numbers = counts.by.iter().map(number);
    let bars = |columns: &[Column]| {
        let from = columns.len() - counts.by.len();
        Some(plot_bars(Shape::Bars, (from..columns.len()).collect(), "count"))
    };
    let counted = |of: &[usize]| of.iter().map(|n| Cell::plain_number(*n as f64)).collect::<Row>();
    if !counts.options.is_empty() {
        let none = vec![0; counts.by.len()];
        let row = |(option, number): (&Choice, usize)| {
            let of = found.get(option.code).unwrap_or(&none);
            option_cells(option.code, Some((option, number))).into_iter().chain(counted(of)).collect()
        };
        let rows = counts.options.iter().zip(1..).map(row).collect();
        let columns: Vec<Column> = option_columns().into_iter().chain(numbers).collect();
        let plot = bars(&columns);
        return Ok(Found::of_table(Table { columns, rows, plot, ..Table::default() }));
    }
    let mut rows: Vec<(String, Vec<usize>)> = found.into_iter().collect();
    if let Some(most) = counts.most {
        // Ties stay in the order of their names.
        rows.sort_by_key(|(_, of)| std::cmp::Reverse(of.iter().sum::<usize>()));
        let rest = rows.split_off(most.min(rows.len()));
        if !rest.is_empty() {
            let sum = |place: usize| rest.iter().map(|(_, of)| of[place]).sum();
            rows.push((OTHERS.to_owned(), (0..counts.by.len()).map(sum).collect()));
        }
    }
    let row =
        |(value, of): (String, Vec<usize>)| std::iter::once(Cell::Text(value)).chain(counted(&of)).collect();
    let value = Column::of_words("Value").with_key("value").with_place(Place::align_left(LABEL));
    let columns: Vec<Column> = std::iter::once(value).chain(numbers).collect();
    let rows = rows.into_iter().map(row).collect();
    let plot = bars(&columns);
    Ok(Found::of_table(Table { columns, rows, plot, ..Table::default() }))
}

/// A number of up to six digits.
fn place_of_number() -> Place {
    Place::align_right(6, Digits::Fixed(0))
}

/// How the columns of a table are drawn, unless its folder says otherwise.
pub(super) fn plot_bars(shape: Shape, columns: Vec<usize>, unit: &str) -> Plot {
    Plot { shape, columns, title: None, names: None, axes: [String::new(), unit.to_owned()], most: None }
}

/// The columns of options: how people call it, and its keys.
fn option_columns() -> Vec<Column> {
    let shown = Column::of_words("Value").with_place(Place::align_left(LABEL));
    let chinese = Column::of_words("Chinese").with_key("label_zh");
    vec![shown, Column::of_key("value"), Column::of_key("label"), chinese, Column::of_key("number")]
}

/// The cells of an option, or of a code that is none.
fn option_cells(code: &str, option: Option<(&Choice, usize)>) -> Row {
    let text = |text: &str| Cell::Text(text.to_owned());
    let Some((Choice { label, .. }, number)) = option else {
        return vec![text(code), text(code), Cell::Empty, Cell::Empty, Cell::Empty];
    };
    vec![
        text(label.en),
        text(code),
        text(label.en),
        text(label.zh),
        Cell::of_unit(Some(number as f64), ColumnUnit::Count),
    ]
}

/// Bars of one width; a number is in the bar that ends with it.
pub(super) fn count_bars(bars: &Bars, records: &Records<'_>) -> Result<Found, ExpressionError> {
    // The smallest step keeps a third and two thirds from missing a whole number.
    const LEAST: f64 = 1e-9;
    let numbers = collect_reals(&records.values_of_expression(&bars.of)?);
    let many = ((bars.to - bars.from) / bars.wide - LEAST).ceil() as u32;
    let mut rows: Vec<Row> = Vec::new();
    for at in 0..many {
        let end = |at: u32| bars.from + f64::from(at) * bars.wide;
        let (over, to) = (end(at), end(at + 1).min(bars.to));
        let inside = numbers.iter().filter(|number| **number > over + LEAST && **number <= to + LEAST);
        let names = [format!("{over:.1}–{to:.1}"), format!("{over:.1} to {to:.1}")].map(Cell::Text);
        let numbers = [over, to, inside.count() as f64].map(Cell::plain_number);
        rows.push(names.into_iter().chain(numbers).collect());
    }
    let columns = vec![
        Column::of_words("Range"),
        Column::of_words("").with_place(Place::align_left(0)),
        Column::of_key("over").with_unit(ColumnUnit::Number { digits: 2 }),
        Column::of_key("to").with_unit(ColumnUnit::Number { digits: 2 }),
        Column::of_counts("Count").with_key("count").with_place(place_of_number()),
    ];
    let plot = Some(plot_bars(Shape::Columns, vec![4], "count"));
    let table = Table { columns, rows, plot, ..Table::default() };
    // Lines are of bars that can be seen.
    let is_seen = |row: &&Row| row.last().and_then(Cell::figure).is_some_and(|count| count.value > 0.0);
    let rows = table.rows.iter().filter(is_seen).cloned().collect();
    let lines = Table { rows, ..table.clone() }.render_lines(INDENT);
    Ok(Found { lines, ..Found::of_table(table) })
}

/// The votes for each code over all records, and its percent of all votes.
pub(super) fn count_votes(
    expression: &Expression,
    options: &[Choice],
    records: &Records<'_>,
) -> Result<Found, ExpressionError> {
    let mut sums: Vec<(String, u64)> = options.iter().map(|option| (option.code.to_owned(), 0)).collect();
    for tally in records.values_of_expression(expression)? {
        for (code, count) in read_tally(&tally, expression)? {
            match sums.iter_mut().find(|(known, _)| *known == code) {
                Some((_, sum)) => *sum += count,
                None => sums.push((code, count)),
            }
        }
    }
    let all: u64 = sums.iter().map(|(_, count)| count).sum();
    let row = |(number, (code, votes)): (usize, &(String, u64))| {
        let option = options.iter().find(|option| option.code == code).map(|option| (option, number));
        let percent = percent(*votes as usize, all as usize);
        option_cells(code, option)
            .into_iter()
            .chain([*votes as f64, percent].map(Cell::plain_number))
            .collect()
    };
    let votes = Column::of_counts("Votes").with_key("votes").with_place(place_of_number());
    let percent = Column::of_numbers("Votes, %")
        .with_key("percent")
        .with_place(Place::align_right(5, Digits::Fixed(1)).with_unit(" %"));
    let columns: Vec<Column> = option_columns().into_iter().chain([votes, percent]).collect();
    let plot = Some(plot_bars(Shape::Bars, vec![columns.len() - 2], "count"));
    let rows = (1..).zip(&sums).map(row).collect();
    Ok(Found::of_table(Table { columns, rows, plot, ..Table::default() }))
}

/// The codes of a tally with their votes; none where nobody voted.
fn read_tally(tally: &Value, expression: &Expression) -> Result<Vec<(String, u64)>, ExpressionError> {
    if tally.is_none() || tally.is_undefined() {
        return Ok(Vec::new());
    }
    let wrong = || {
        expression.make_trouble(format!("{} is no tally, such as BALLOT.tally.FIELD", expression.source()))
    };
    let count = |code: Value| {
        let count = tally.get_item(&code).ok().and_then(|count| count.as_usize())?;
        Some((text_of_value(&code)?, count as u64))
    };
    tally.try_iter().map_err(|_| wrong())?.map(|code| count(code).ok_or_else(wrong)).collect()
}
