//! What can be guessed of multiple choices.

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::data::{AnswerForm, Data};
use riddlemill_benchmarks::figure::ChoiceColumns;
use riddlemill_benchmarks::scope::{text_of_value, texts_of_value};
use serde_json::Value as Json;

use super::Found;
use super::source::{Item as Released, Records};
use crate::figures::{Cell, Column, ColumnUnit, Figure, Keys, Row, Table};
use riddlemill_text::shortcuts::{Item, RuleShare, Shortcuts, measure_shortcuts};

/// A multiple choice read from a record.
struct Held {
    id: String,
    group: String,
    question: String,
    options: Vec<String>,
    gold: usize,
}

/// From records; those without options or without a right one are skipped.
pub(super) fn find_shortcuts(
    posed: &ChoiceColumns,
    records: &Records<'_>,
    seed: u64,
) -> Result<Found, ExpressionError> {
    let (questions, options) =
        (records.values_of_expression(&posed.question)?, records.values_of_expression(&posed.options)?);
    let golds = records.values_of_expression(&posed.gold)?;
    let groups = posed.group.as_ref().map(|group| records.values_of_expression(group)).transpose()?;
    let mut items = Vec::new();
    for (at, id) in records.record_ids().into_iter().enumerate() {
        let Some(gold) = golds[at].as_usize().filter(|_| !options[at].is_none()) else { continue };
        let group =
            groups.as_ref().and_then(|groups| text_of_value(&groups[at])).unwrap_or_else(|| id.clone());
        let question = text_of_value(&questions[at]).unwrap_or_default();
        items.push(Held { id, group, question, options: texts_of_value(&options[at]), gold });
    }
    Ok(measure_items(&items, &posed.apart, seed))
}

/// From items, by their question; `None` if they have no options.
pub(super) fn of_items(data: Option<&Data>, rows: &[Released], seed: u64) -> Found {
    let Some(poses) = data.and_then(|data| data.poses.as_ref()) else { return Found::default() };
    let AnswerForm::Choice { options, gold } = poses.answer else { return Found::default() };
    let text_of = |row: &Released, name: &str| row.get(name)?.as_str().map(str::to_owned);
    let listed = |row: &Released| -> Option<Vec<String>> {
        row.get(options)?.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let place = |row: &Released| match row.get(gold)? {
        Json::String(letter) => crate::options::LETTERS.iter().position(|known| known == letter),
        number => number.as_u64().and_then(|place| usize::try_from(place).ok()),
    };
    let item_of = |row: &Released| {
        let (id, options, gold) = (text_of(row, "id")?, listed(row)?, place(row)?);
        let question = text_of(row, poses.question)?;
        (gold < options.len()).then(|| Held { group: id.clone(), id, question, options, gold })
    };
    measure_items(&rows.iter().filter_map(item_of).collect::<Vec<_>>(), &[], seed)
}

fn measure_items(rows: &[Held], apart: &[&str], seed: u64) -> Found {
    let items: Vec<Item<'_>> = rows
        .iter()
        .map(|of| Item {
            id: &of.id,
            group: &of.group,
            question: &of.question,
            options: &of.options,
            gold: of.gold,
        })
        .collect();
    let figures = measure_shortcuts(&items, apart, seed);
    let lines = figures.as_ref().map(describe_shortcuts).unwrap_or_default();
    let tables =
        figures.iter().flat_map(|figures| [table_of_rules(figures), table_of_places(figures)]).collect();
    Found { tables, ..Found::new(figures, lines) }
}

/// What rules get right, with their intervals, against chance.
fn table_of_rules(figures: &Shortcuts) -> Table {
    let row = |(rule, share): (&'static str, &RuleShare)| {
        let ends = Some([100.0 * share.low, 100.0 * share.high]);
        let right = Figure { value: 100.0 * share.value, ends, n: None, from: Keys::new(), unit: None };
        vec![Cell::Text(rule.to_owned()), Cell::Figure(right), Cell::plain_number(100.0 * share.chance)]
    };
    let columns = ["Right, %", "By chance, %"].map(Column::of_numbers);
    let columns = std::iter::once(Column::of_words("Rule")).chain(columns).collect();
    let rows = rules_of(figures).into_iter().map(row).collect();
    Table { columns, rows, ..Table::default() }
}

/// The rules by which an option may be taken, with what they get right.
fn rules_of(figures: &Shortcuts) -> Vec<(&'static str, &RuleShare)> {
    let mut rules = vec![
        ("the longest", &figures.lengths.longest),
        ("the shortest", &figures.lengths.shortest),
        ("most of the question", &figures.overlap.most),
        ("least of the question", &figures.overlap.least),
    ];
    rules.extend(figures.baseline.as_ref().map(|of| ("options-only classifier", &of.accuracy)));
    rules
}

/// How many right options are at each place: as they stand, and by their lengths.
fn table_of_places(figures: &Shortcuts) -> Table {
    let one = ColumnUnit::Number { digits: 1 };
    let row = |name: &str, counts: Vec<f64>, unit: ColumnUnit, [chi_square, p]: [f64; 2]| {
        let counts = (0..figures.options).map(|at| Cell::of_unit(counts.get(at).copied(), unit));
        let tests = [chi_square, p].map(Cell::plain_number);
        std::iter::once(Cell::Text(name.to_owned())).chain(counts).chain(tests).collect::<Row>()
    };
    let (positions, lengths) = (&figures.positions, &figures.lengths);
    let counts = positions.counts.iter().map(|count| *count as f64).collect();
    let rows = vec![
        row("by place", counts, ColumnUnit::Count, [positions.chi_square, positions.p]),
        row("by length, longest first", lengths.ranks.clone(), one, [lengths.chi_square, lengths.p]),
    ];
    let places = (1..=figures.options).map(|at| Column::of_numbers(at.to_string()).with_unit(one));
    let p = Column::of_numbers("p").with_unit(ColumnUnit::Number { digits: 3 });
    let tests = [Column::of_numbers("Chi-square"), p];
    let columns = std::iter::once(Column::of_words("Right options")).chain(places).chain(tests).collect();
    Table { name: "places".to_owned(), columns, rows, ..Table::default() }
}

fn describe_shortcuts(figures: &Shortcuts) -> String {
    let percent = |share: &RuleShare| {
        format!("{:>5.1} % [{:.1}, {:.1}]", share.value * 100.0, share.low * 100.0, share.high * 100.0)
    };
    let mut text = format!(
        "  what can be guessed of {} items; chance is {:.1} %\n",
        figures.items,
        figures.lengths.longest.chance * 100.0
    );
    text.push_str(&format!(
        "    right options by place    {:?}, chi-square {:.2}, p {:.3}\n",
        figures.positions.counts, figures.positions.chi_square, figures.positions.p
    ));
    let ranks: Vec<String> = figures.lengths.ranks.iter().map(|rank| format!("{rank:.1}")).collect();
    text.push_str(&format!(
        "    by length, longest first  [{}], chi-square {:.2}, p {:.3}\n",
        ranks.join(", "),
        figures.lengths.chi_square,
        figures.lengths.p
    ));
    for (rule, share) in rules_of(figures) {
        text.push_str(&format!("    {rule:<25} {}\n", percent(share)));
    }
    text + &format!(
        "    {} pairs of options hardly differ, {} options occur in several items\n",
        figures.near_equal.len(),
        figures.reused.len()
    )
}
