//! The charts of an evaluation: tables as bars with intervals, shares and lines over the number of examples, models as points.
//! [`crate::figures`] draws them, on the page as in files.

use crate::figures::{Chart, ChartRow, Datum, Plot, Shape, Table, name_of, stem};
use crate::tables::Point;
use crate::task::Setting;

/// A table's rows as a chart.
fn of_rows(title: &str, shape: Shape, table: &Table, most: f64) -> Chart {
    let plot = Plot {
        shape,
        columns: (1..table.columns.len()).collect(),
        title: Some(title.to_owned()),
        names: None,
        axes: [table.column_titles().first().copied().unwrap_or_default().to_owned(), "percent".to_owned()],
        most: Some(most),
    };
    let name = stem(&format!("chart-{}", table.name));
    Chart { name, ..table.chart_of_plot(&plot) }
}

/// Bars from 0 to `most`, one group per row and one bar per column, with their intervals.
pub fn bar_chart(title: &str, table: &Table, most: f64) -> Chart {
    of_rows(title, Shape::Bars, table, most)
}

/// Shares of a whole: one bar per row, one piece per column.
pub fn stacked_chart(title: &str, table: &Table) -> Chart {
    of_rows(title, Shape::Stacked, table, 100.0)
}

/// Scores over the number of examples: one line per model, from a table of models and settings.
pub fn line_chart(title: &str, table: &Table, column: usize, settings: &[Setting]) -> Chart {
    let mut models: Vec<&str> = Vec::new();
    for row in &table.rows {
        let name = name_of(row).rsplit_once(", ").map_or(name_of(row), |(model, _)| model);
        if !models.contains(&name) {
            models.push(name);
        }
    }
    let row = |setting: &Setting| {
        let value = |model: &&str| {
            let row = table.rows.iter().find(|row| name_of(row) == format!("{model}, {setting}"))?;
            row.get(column)?.figure().map(|figure| Datum::plain(figure.value))
        };
        ChartRow { name: setting.to_string(), values: models.iter().map(value).collect() }
    };
    Chart {
        name: stem(&format!("chart-{}-shots", table.name)),
        axes: ["Solved examples".to_owned(), "percent".to_owned()],
        rows: settings.iter().map(row).collect(),
        series: models.iter().map(ToString::to_string).collect(),
        ..of_rows(title, Shape::Lines, table, 100.0)
    }
}

/// Points with their names and the line of least squares; the first axis is logarithmic if `log`.
pub fn scatter_chart(title: &str, names: [&str; 2], points: &[Point], log: bool) -> Chart {
    let row = |point: &Point| ChartRow {
        name: point.model.clone(),
        values: vec![Some(Datum::plain(point.x)), Some(Datum::plain(point.y))],
    };
    Chart {
        name: stem(&format!("chart-{}-{}", names[0], names[1])),
        title: title.to_owned(),
        axes: names.map(str::to_owned),
        shape: Shape::Points { log },
        series: names.map(str::to_owned).into(),
        rows: points.iter().map(row).collect(),
        most: None,
        limits: Vec::new(),
    }
}
