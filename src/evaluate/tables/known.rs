//! The built-in models: what their figures must come to, and what they came to. A table that misses these is wrong.

use super::book::Book;
use super::table::{Cell, Keys, Look, Row, Table};
use crate::evaluate::builtin::BuiltIn;
use crate::evaluate::item::types;
use crate::evaluate::task::Task;

/// Expected and measured, figure by figure; none where no built-in model was asked.
pub fn known(book: &Book<'_>, tables: &[Table]) -> Option<Table> {
    let mut rows = Vec::new();
    for model in BuiltIn::ALL {
        for table in tables {
            let is_own =
                |row: &&Row| row.name == model.name() || row.name.starts_with(&format!("{}, ", model.name()));
            for row in table.rows.iter().filter(is_own) {
                for (column, cell) in table.columns.iter().zip(&row.cells) {
                    let (Some(cell), Some(expected)) = (cell, expected(book, model, table.name, column))
                    else {
                        continue;
                    };
                    let name = format!("{}: {}, {column}", row.name, table.title);
                    let expected = Cell::plain(expected, cell.n, Keys::new());
                    rows.push(Row { name, cells: vec![Some(expected), Some(cell.clone())] });
                }
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        name: "built-in",
        title: "The built-in models".into(),
        paper: "none",
        about: "What models that choose at random, or always the first option, must come to, and what they came to. \
                Where the expected figure lies far outside of the interval, something is wrong with the set or with \
                this program."
            .into(),
        of: "Figure",
        columns: ["Expected", "Measured"].map(str::to_string).into(),
        rows,
        look: Look::Plain,
    })
}

/// What a built-in model's figure comes to on average; `None` where that hangs on the set.
pub fn expected(book: &Book<'_>, model: BuiltIn, table: &str, column: &str) -> Option<f64> {
    let random = model == BuiltIn::Random;
    Some(match (table, column) {
        (_, "Format") => 100.0,
        ("orders", "Avg") => 50.0,
        ("orders", "Good First") => {
            if random {
                50.0
            } else {
                100.0
            }
        }
        ("orders", "Bad First") => {
            if random {
                50.0
            } else {
                0.0
            }
        }
        ("orders", "Positional Bias") => {
            if random {
                0.0
            } else {
                100.0
            }
        }
        ("categories", _) => 0.0,
        (
            "sentence-puzzles" | "word-puzzles" | "puzzles",
            "Original" | "Semantic" | "Context" | "Overall",
        ) if random => 25.0,
        ("sentence-puzzles" | "word-puzzles" | "puzzles", "Ori & Sem") if random => 100.0 / 16.0,
        ("sentence-puzzles" | "word-puzzles" | "puzzles", "Ori & Sem & Con") if random => 100.0 / 64.0,
        ("puzzles", "Overall") => first_share(book, Task::Solve)?,
        ("tasks" | "questions" | "statements", "Selection accuracy") if random => 25.0,
        ("tasks", "Selection accuracy") => first_share(book, Task::Select)?,
        ("tasks", "Classification F1") if !random => first_f1(book)?,
        ("tasks", "Format, selection" | "Format, classification") => 100.0,
        _ => return None,
    })
}

/// The share of items whose first option is right, in percent.
fn first_share(book: &Book<'_>, task: Task) -> Option<f64> {
    let items: Vec<_> = book.set.items.iter().filter(|item| item.takes(task)).collect();
    let first = items.iter().filter(|item| item.options().is_some_and(|(_, answer)| answer == 0)).count();
    (!items.is_empty()).then(|| 100.0 * first as f64 / items.len() as f64)
}

/// Macro F1 of the first type for every text: that of this one class over all classes there are.
fn first_f1(book: &Book<'_>) -> Option<f64> {
    let golds: Vec<String> = book.set.items.iter().filter_map(|item| item.gold(Task::Classify)).collect();
    let names = types();
    let named = |name: &str| golds.iter().filter(|gold| gold.as_str() == name).count() as f64;
    let classes = names.iter().enumerate().filter(|(at, name)| *at == 0 || named(name) > 0.0).count() as f64;
    let first = named(names.first()?);
    (!golds.is_empty()).then(|| 100.0 * 2.0 * first / (first + golds.len() as f64) / classes)
}
