//! The expected and actual figures of the baselines. A table that misses these is wrong.

use riddlemill_benchmarks::figure::Figure as Declared;
use riddlemill_benchmarks::table::{ColumnMeasure, Layout, Measures};
use riddlemill_benchmarks::task::AnswerParsing;

use super::scores::ScoreBook;
use crate::builtin::BuiltIn;
use crate::figures::{Figure, Keys, Row, Table, figure_row, figures_of, name_of};
use crate::measures::percent;
use crate::task::Task;

/// Expected and actual figures; `None` if no baseline was evaluated.
pub fn baseline_table(book: &ScoreBook<'_>, tables: &[(Table, Option<&Declared>)]) -> Option<Table> {
    let mut rows = Vec::new();
    for model in BuiltIn::ALL {
        for (table, declared) in tables {
            let is_own = |row: &&Row| {
                name_of(row) == model.name() || name_of(row).starts_with(&format!("{}, ", model.name()))
            };
            for of_model in table.rows.iter().filter(is_own) {
                for (column, figure) in table.column_titles().into_iter().skip(1).zip(figures_of(of_model)) {
                    let expected = match declared {
                        Some(declared) => expected_figure(book, model, declared, column),
                        None => (column == "Format").then_some(100.0),
                    };
                    let (Some(figure), Some(value)) = (figure, expected) else { continue };
                    let name = format!("{}: {}, {column}", name_of(of_model), table.title);
                    let expected = Figure { value, ends: None, n: figure.n, from: Keys::new(), unit: None };
                    rows.push(figure_row(name, [Some(expected), Some(figure.clone())]));
                }
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        name: "built-in".into(),
        title: "The built-in models".into(),
        paper: "none".into(),
        about: "The figures expected of models that choose at random, or always the first option, and the \
                figures measured. If an expected figure is far outside its interval, something is wrong \
                with the set or with this program."
            .into(),
        ..Table::of_figures("Figure", ["Expected", "Measured"], rows)
    })
}

/// A baseline's expected figure; `None` if that depends on the set.
fn expected_figure(book: &ScoreBook<'_>, model: BuiltIn, table: &Declared, column: &str) -> Option<f64> {
    let random = model == BuiltIn::Random;
    let native = match table.of_answers()? {
        Measures::Native(native) => native,
        Measures::Columns { columns, part, .. } => {
            let column = columns.iter().find(|known| known.title == column)?;
            let whole = part.is_none() && column.part.is_none() && column.among.is_none();
            return match &column.measure {
                ColumnMeasure::Format(_) => Some(100.0),
                ColumnMeasure::Accuracy(name) if random => {
                    Some(100.0 * chance_of_correct(book, Task::find_task(name)?)?)
                }
                ColumnMeasure::Groups(name, parts) if random => Some(
                    100.0
                        * chance_of_correct(book, Task::find_task(name)?)?
                            .powi(i32::try_from(parts.len()).ok()?),
                ),
                ColumnMeasure::Accuracy(name) if whole => first_share(book, Task::find_task(name)?),
                ColumnMeasure::F1 { task, of_set: true } if whole && !random => {
                    first_f1(book, Task::find_task(task)?)
                }
                _ => None,
            };
        }
    };
    let of_two = |by_chance, first| Some(if random { by_chance } else { first });
    match (native.kind, column) {
        (Layout::BothOrders, "Format") => Some(100.0),
        (Layout::BothOrders, "Avg") => Some(50.0),
        (Layout::BothOrders, "Good First") => of_two(50.0, 100.0),
        (Layout::BothOrders, "Bad First") => of_two(50.0, 0.0),
        (Layout::BothOrders, "Positional Bias") => of_two(0.0, 100.0),
        (Layout::BothOrdersByPart, _) => Some(0.0),
        _ => None,
    }
}

/// The share correct by chance, if all items have equally many options.
fn chance_of_correct(book: &ScoreBook<'_>, task: Task) -> Option<f64> {
    let mut options = book.set.items.iter().filter_map(|item| Some(item.options_of_task(task)?.0.len()));
    let first = options.next()?;
    (first > 0 && options.all(|count| count == first)).then(|| 1.0 / first as f64)
}

/// The share of items whose first option is right, in percent; `None` for a task without options.
fn first_share(book: &ScoreBook<'_>, task: Task) -> Option<f64> {
    let places: Vec<usize> =
        book.set.items.iter().filter_map(|item| Some(item.options_of_task(task)?.1)).collect();
    let first = places.iter().filter(|place| **place == 0).count();
    (!places.is_empty()).then(|| percent(first, places.len()))
}

/// Macro F1 of naming the first label for every item: the F1 of this one class over all classes.
fn first_f1(book: &ScoreBook<'_>, task: Task) -> Option<f64> {
    let AnswerParsing::Labels { codes: names, .. } = &task.task_declaration().wants else { return None };
    let golds: Vec<String> = book.set.items.iter().filter_map(|item| item.gold_answer(task)).collect();
    let named = |name: &str| golds.iter().filter(|gold| gold.as_str() == name).count() as f64;
    let classes = names.iter().enumerate().filter(|(at, name)| *at == 0 || named(name) > 0.0).count() as f64;
    let first = named(names.first()?);
    (!golds.is_empty()).then(|| 100.0 * 2.0 * first / (first + golds.len() as f64) / classes)
}
