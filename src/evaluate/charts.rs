//! SVG charts: bars with intervals, scatter plots with regression, lines over the number of examples. Colours
//! come from the page, so that one drawing works in light and dark themes.

use std::fmt::Write;

use crate::evaluate::tables::{Cell, Row, Table};
use crate::evaluate::task::Setting;
use crate::figures::{Chart as Figure, ChartRow, Datum, Shape, stem};
use crate::text::decimals;

/// A drawing with its heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// The legend: the meaning of its colours, series by series.
    pub key: Vec<String>,
    /// The drawing; empty without data.
    pub svg: String,
    /// The same as files.
    pub figure: Figure,
}

/// A table's rows as the data of a chart.
fn figure_of(title: &str, shape: Shape, table: &Table, most: Option<f64>) -> Figure {
    let datum = |cell: &Cell| Datum {
        value: cell.value,
        ends: cell.low.zip(cell.high).map(|(low, high)| [low, high]),
    };
    let row = |row: &Row| ChartRow {
        name: row.name.clone(),
        values: row.cells.iter().map(|cell| cell.as_ref().map(datum)).collect(),
    };
    Figure {
        name: stem(&format!("chart-{}", table.name)),
        title: title.to_owned(),
        axes: [table.of.to_owned(), "percent".to_owned()],
        shape,
        series: table.columns.clone(),
        rows: table.rows.iter().map(row).collect(),
        most,
        limits: Vec::new(),
    }
}

/// Width of a drawing; the page scales it.
const WIDE: f64 = 640.0;
/// Height of a bar and of the space under a group of them.
const BAR: f64 = 11.0;
const GAP: f64 = 9.0;
/// Space on the left of bars, for names.
const LEFT: f64 = 190.0;

/// Bars from 0 to `most`, one group per row and one bar per column, with whiskers for the intervals.
pub fn bars(title: &str, table: &Table, most: f64) -> Chart {
    let mut svg = String::new();
    let wide = WIDE - LEFT - 52.0;
    let x = |value: f64| LEFT + (value / most).clamp(0.0, 1.0) * wide;
    let mut y = 4.0;
    for row in table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some)) {
        let tall = row.cells.iter().flatten().count() as f64 * (BAR + 2.0);
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + tall / 2.0 + 4.0,
            escaped(&short(&row.name))
        );
        for (at, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let _ = write!(
                svg,
                "<g><title>{}</title><rect class=\"s{}\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"1.5\"/>",
                escaped(&describe(row, &table.columns[at], cell)),
                at % 6,
                (x(cell.value) - LEFT).max(0.75)
            );
            if let (Some(low), Some(high)) = (cell.low, cell.high) {
                let middle = y + BAR / 2.0;
                let _ =
                    write!(svg, "<path class=\"whisker\" d=\"M{:.1} {middle:.1}H{:.1}\"/>", x(low), x(high));
            }
            let end = cell.high.map_or(x(cell.value), x).max(x(cell.value));
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\">{:.1}</text></g>",
                end + 4.0,
                y + BAR - 1.5,
                cell.value
            );
            y += BAR + 2.0;
        }
        y += GAP;
    }
    let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} 0V{y:.1}\"/>");
    let figure = figure_of(title, Shape::Bars, table, Some(most));
    drawn(figure, table.columns.clone(), svg, y, table.rows.is_empty())
}

/// Shares of a whole: one bar per row, one piece per column.
pub fn stacked(title: &str, table: &Table) -> Chart {
    let mut svg = String::new();
    let wide = WIDE - LEFT - 8.0;
    let tall = 16.0;
    let mut y = 2.0;
    for row in table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some)) {
        let _ = write!(
            svg,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 12.0,
            escaped(&short(&row.name))
        );
        let mut x = LEFT;
        for (at, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let long = cell.value / 100.0 * wide;
            let _ = write!(
                svg,
                "<g><title>{}</title><rect class=\"s{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{long:.1}\" height=\"{tall}\"/>",
                escaped(&describe(row, &table.columns[at], cell)),
                at % 6
            );
            // A narrower piece has no room for its number.
            if long > 26.0 {
                let _ = write!(
                    svg,
                    "<text class=\"on\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.0}</text>",
                    x + long / 2.0,
                    y + 12.0,
                    cell.value
                );
            }
            svg.push_str("</g>");
            x += long;
        }
        y += tall + 6.0;
    }
    let figure = figure_of(title, Shape::Stacked, table, Some(100.0));
    drawn(figure, table.columns.clone(), svg, y, table.rows.is_empty())
}

/// Scores over the number of examples: one line per model, from a table of models and settings.
pub fn lines(title: &str, table: &Table, column: usize, settings: &[Setting]) -> Chart {
    let (tall, wide) = (240.0, WIDE - 90.0);
    // A single setting would divide by 0.
    let x = |at: usize| 50.0 + wide * at as f64 / (settings.len().max(2) - 1) as f64;
    let y = |value: f64| tall - value / 100.0 * (tall - 14.0);
    let mut models: Vec<&str> = Vec::new();
    for row in &table.rows {
        let name = row.name.rsplit_once(", ").map_or(row.name.as_str(), |(model, _)| model);
        if !models.contains(&name) {
            models.push(name);
        }
    }
    let mut svg = axes(tall, wide, 100.0, &y);
    let mut figure = figure_of(title, Shape::Lines, table, Some(100.0));
    figure.name.push_str("-shots");
    "Solved examples".clone_into(&mut figure.axes[0]);
    figure.series = models.iter().map(ToString::to_string).collect();
    figure.rows.clear();
    for (at, setting) in settings.iter().enumerate() {
        let value = |model: &&str| {
            let row = table.rows.iter().find(|row| row.name == format!("{model}, {setting}"))?;
            row.cells[column].as_ref().map(|cell| Datum::plain(cell.value))
        };
        figure.rows.push(ChartRow { name: setting.to_string(), values: models.iter().map(value).collect() });
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{setting}</text>",
            x(at),
            tall + 16.0
        );
    }
    for (number, model) in models.iter().enumerate() {
        let mut path = String::new();
        for (at, setting) in settings.iter().enumerate() {
            let row = table.rows.iter().find(|row| row.name == format!("{model}, {setting}"));
            let Some((row, Some(cell))) = row.map(|row| (row, &row.cells[column])) else { continue };
            let _ =
                write!(path, "{}{:.1} {:.1}", if path.is_empty() { "M" } else { "L" }, x(at), y(cell.value));
            let _ = write!(
                svg,
                "<circle class=\"s{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}</title></circle>",
                number % 6,
                x(at),
                y(cell.value),
                escaped(&describe(row, &table.columns[column], cell))
            );
        }
        let _ = write!(svg, "<path class=\"line l{}\" d=\"{path}\"/>", number % 6);
    }
    drawn(figure, models.iter().map(ToString::to_string).collect(), svg, tall + 24.0, models.is_empty())
}

fn axes(tall: f64, wide: f64, most: f64, y: &impl Fn(f64) -> f64) -> String {
    let mut svg = format!("<path class=\"axis\" d=\"M50 8V{tall:.1}H{:.1}\"/>", 50.0 + wide);
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M50 {0:.1}H{1:.1}\"/><text x=\"44\" y=\"{2:.1}\" text-anchor=\"end\">{value:.0}</text>",
            y(value),
            50.0 + wide,
            y(value) + 4.0
        );
    }
    svg
}

/// Points with their names and a regression line; the first axis is logarithmic if `log`.
pub fn scatter(title: &str, names: [&str; 2], points: &[super::tables::Point], log: bool) -> Chart {
    // 0 has no logarithm.
    let on = |x: f64| if log { x.max(1e-9).log10() } else { x };
    let pairs: Vec<(f64, f64)> = points.iter().map(|point| (on(point.x), point.y)).collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let low = pairs.iter().map(of).fold(f64::MAX, f64::min);
        let high = pairs.iter().map(of).fold(f64::MIN, f64::max);
        // Equal values would make a range without width, and the scales divide by it.
        let pad = ((high - low) * 0.08).max(0.05);
        (low - pad, high + pad)
    };
    let ((left, right), (low, high)) = (range(|pair| pair.0), range(|pair| pair.1));
    let (tall, wide) = (320.0, WIDE - 80.0);
    let x = |value: f64| 56.0 + (value - left) / (right - left) * wide;
    let y = |value: f64| tall - (value - low) / (high - low) * (tall - 12.0);
    let mut svg = format!("<path class=\"axis\" d=\"M56 8V{tall}H{:.1}\"/>", 56.0 + wide);
    for part in 0..=4 {
        let (at, up) =
            (left + (right - left) * f64::from(part) / 4.0, low + (high - low) * f64::from(part) / 4.0);
        let shown = if log { 10f64.powf(at) } else { at };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(at),
            tall + 16.0,
            figure(shown)
        );
        let _ =
            write!(svg, "<text x=\"50\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", y(up) + 4.0, figure(up));
    }
    if let Some((slope, from)) = line(&pairs) {
        // A steep line would leave the frame.
        let end = |at: f64| (x(at), y((from + slope * at).clamp(low, high)));
        let ((x1, y1), (x2, y2)) = (end(left), end(right));
        let _ = write!(svg, "<path class=\"fit\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>");
    }
    for (point, pair) in points.iter().zip(&pairs) {
        let (cx, cy) = (x(pair.0), y(pair.1));
        let about =
            format!("{} {}: {}, {}: {}", point.model, names[0], figure(point.x), names[1], figure(point.y));
        let _ = write!(
            svg,
            "<circle class=\"s0 point\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4.5\"><title>{}</title></circle>",
            escaped(about.trim())
        );
        if !point.model.is_empty() {
            // Near the right edge a name only fits on the left of its point.
            let (dx, anchor) = if cx > WIDE * 0.7 { (-8.0, "end") } else { (8.0, "start") };
            let _ = write!(
                svg,
                "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                cx + dx,
                cy - 6.0,
                escaped(&point.model)
            );
        }
    }
    let _ = write!(
        svg,
        "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        56.0 + wide / 2.0,
        tall + 36.0,
        escaped(names[0])
    );
    let _ = write!(
        svg,
        "<text class=\"name\" transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        tall / 2.0,
        escaped(names[1])
    );
    let row = |point: &super::tables::Point| ChartRow {
        name: point.model.clone(),
        values: vec![Some(Datum::plain(point.x)), Some(Datum::plain(point.y))],
    };
    let figure = Figure {
        name: stem(&format!("chart-{}-{}", names[0], names[1])),
        title: title.to_owned(),
        axes: names.map(str::to_owned),
        shape: Shape::Points { log },
        series: names.map(str::to_owned).into(),
        rows: points.iter().map(row).collect(),
        most: None,
        limits: Vec::new(),
    };
    drawn(figure, Vec::new(), svg, tall + 44.0, points.is_empty())
}

/// Slope and intercept of least squares; `None` without variation.
fn line(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = pairs.len() as f64;
    let (a, b) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = pairs.iter().map(|p| (p.0 - a).powi(2)).sum();
    let slope = pairs.iter().map(|p| (p.0 - a) * (p.1 - b)).sum::<f64>() / spread;
    (spread > 1e-12).then_some((slope, b - slope * a))
}

fn drawn(figure: Figure, key: Vec<String>, svg: String, tall: f64, is_empty: bool) -> Chart {
    let title = figure.title.clone();
    let svg = match is_empty {
        true => String::new(),
        false => format!(
            "<svg viewBox=\"0 0 {WIDE} {tall:.0}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" aria-label=\"{}\">{svg}</svg>",
            escaped(&title)
        ),
    };
    Chart { title, key, svg, figure }
}

/// The text of a tooltip.
fn describe(row: &Row, column: &str, cell: &Cell) -> String {
    let interval = match (cell.low, cell.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", decimals(low, 2), decimals(high, 2)),
        _ => String::new(),
    };
    format!("{}, {column}: {}{interval}, n = {}", row.name, decimals(cell.value, 2), cell.n)
}

fn figure(value: f64) -> String {
    decimals(value, usize::from(value.abs() < 10.0))
}

/// A name that fits left of the bars.
fn short(name: &str) -> String {
    const CHARS: usize = 30;
    match name.chars().count() > CHARS {
        true => name.chars().take(CHARS - 1).chain(['…']).collect(),
        false => name.into(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
