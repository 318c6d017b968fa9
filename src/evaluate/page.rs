//! The results as one self-contained page.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::chinese;
use super::results::{Results, head, named, numbered, plain};
use super::tables::{Cell, Comparison, Look, Table};
use crate::text::decimals;

const TEMPLATE: &str = include_str!("templates/evaluation.html");

/// A table for the page.
#[derive(Serialize)]
struct Shown<'a> {
    name: String,
    table: &'a Table,
    rows: Vec<ShownRow<'a>>,
}

#[derive(Serialize)]
struct ShownRow<'a> {
    name: &'a str,
    cells: Vec<Option<ShownCell>>,
}

#[derive(Serialize)]
struct ShownCell {
    value: String,
    interval: String,
    n: usize,
    /// Its shading, 0 to 100; `None` without shading.
    shade: Option<u32>,
    /// The lines of answers.jsonl that it is computed from.
    from: String,
}

#[derive(Serialize)]
struct ShownChart<'a> {
    title: &'a str,
    key: &'a [String],
    /// What each file is, its name, and its address.
    files: [[String; 3]; 2],
}

#[derive(Serialize)]
struct ShownComparison<'a> {
    task: String,
    first: &'a str,
    second: &'a str,
    difference: String,
    interval: String,
    p: String,
    mcnemar: String,
    holm: String,
    n: usize,
    /// Whether the interval excludes 0.
    apart: bool,
}

/// The page; or the error, if the template cannot be rendered.
pub fn page(results: &Results<'_>) -> String {
    let mut env = Environment::new();
    env.add_filter("zh", |text: &str| chinese::translated(text));
    let report = results.report;
    let tables: Vec<Shown<'_>> =
        named(&report.tables).into_iter().map(|(name, table)| shown(name, table)).collect();
    let charts: Vec<ShownChart<'_>> = report
        .charts
        .iter()
        .zip(numbered(report))
        .map(|(chart, figure)| ShownChart { title: &chart.title, key: &chart.key, files: figure.links() })
        .collect();
    let drawings: Vec<Value> =
        report.charts.iter().map(|chart| Value::from_safe_string(chart.svg.clone())).collect();
    let comparisons: Vec<ShownComparison<'_>> = report.comparisons.iter().map(compared).collect();
    let values = context! {
        set => &report.set, head => head(results), draft => &report.draft, withdrawn => report.describe_withdrawn(),
        sample => report.sample.as_ref().map(|sample| sample.describe()), version => crate::VERSION,
        tables => Value::from(Serde(&tables)), charts => Value::from(Serde(&charts)), drawings,
        comparisons => Value::from(Serde(&comparisons)),
    };
    let page = env
        .add_template("evaluation.html", TEMPLATE)
        .and_then(|()| env.get_template("evaluation.html"))
        .and_then(|template| template.render(values));
    page.unwrap_or_else(|error| error.to_string())
}

fn shown(name: String, table: &Table) -> Shown<'_> {
    let row = |row: &'_ super::tables::Row| -> Vec<Option<ShownCell>> {
        row.cells.iter().map(|cell| cell.as_ref().map(|cell| shown_cell(table, cell))).collect()
    };
    let rows = table.rows.iter().map(|of| ShownRow { name: &of.name, cells: row(of) }).collect();
    Shown { name, table, rows }
}

fn shown_cell(table: &Table, cell: &Cell) -> ShownCell {
    let interval = match (cell.low, cell.high) {
        (Some(low), Some(high)) => format!("{} – {}", decimals(low, 1), decimals(high, 1)),
        _ => String::new(),
    };
    let shade = match table.look {
        Look::Heat { low, high } => {
            Some((100.0 * (cell.value - low) / (high - low)).clamp(0.0, 100.0).round() as u32)
        }
        Look::Plain | Look::Bars { .. } => None,
    };
    let from: Vec<String> = cell.from.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let value = if interval.is_empty() { plain(cell.value) } else { decimals(cell.value, 2) };
    // Coefficients and scores on a short scale get more digits than percents.
    let interval = match (cell.low, cell.high) {
        (Some(low), Some(high)) if high - low < 2.0 => {
            format!("{} – {}", decimals(low, 2), decimals(high, 2))
        }
        _ => interval,
    };
    ShownCell { value, interval, n: cell.n, shade, from: from.join(", ") }
}

/// A difference with its sign.
fn signed(difference: f64) -> String {
    let shown = decimals(difference, 2);
    if shown.starts_with('-') { shown } else { format!("+{shown}") }
}

fn compared(one: &Comparison) -> ShownComparison<'_> {
    let apart = one.difference.difference;
    let mcnemar =
        one.mcnemar.map(|m| format!("{} : {}, p {}", m.only_first, m.only_second, plain(m.exact_p)));
    ShownComparison {
        task: format!("{} {}", one.task, one.setting),
        first: &one.first,
        second: &one.second,
        difference: signed(apart.value),
        interval: format!("{} – {}", decimals(apart.low, 2), decimals(apart.high, 2)),
        p: plain(one.difference.p),
        mcnemar: mcnemar.unwrap_or_default(),
        holm: plain(one.holm_p),
        n: one.n,
        apart: apart.low > 0.0 || apart.high < 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_rounds_to_zero_is_no_loss() {
        assert_eq!([-0.004, 0.0, 0.4, -0.4].map(signed), ["+0.00", "+0.00", "+0.40", "-0.40"]);
    }

    #[test]
    fn the_ends_of_an_interval_have_no_minus_zero() {
        let cell = |value, low, high| Cell {
            low: Some(low),
            high: Some(high),
            ..Cell::plain(value, 9, Default::default())
        };
        let table = Table {
            name: "scores",
            title: String::new(),
            paper: "",
            about: String::new(),
            of: "model",
            columns: Vec::new(),
            rows: Vec::new(),
            look: Look::Plain,
        };
        let shown = shown_cell(&table, &cell(-0.001, -0.002, 0.5));
        assert_eq!((shown.value.as_str(), shown.interval.as_str()), ("0.00", "0.00 – 0.50"));
        assert_eq!(shown_cell(&table, &cell(2.0, -0.04, 4.0)).interval, "0.0 – 4.0");
    }
}
