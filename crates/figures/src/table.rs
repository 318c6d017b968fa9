//! Tables of figures: what reports and evaluations show, before it is text, CSV, Markdown, LaTeX, a part of a page or a chart.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Chart, ChartRow, Datum, Shape};
use riddlemill_review::exchange::{CsvFor, csv_table};
use riddlemill_text::text::decimals;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The stem of its files.
    pub name: String,
    /// The heading.
    pub title: String,
    /// How to read it; empty if its title says it.
    pub notes: String,
    /// The first is what rows are called after.
    pub columns: Vec<Column>,
    /// As many cells as columns.
    pub rows: Vec<Vec<Cell>>,
    /// The values without shading and with full shading on a page; no shading if `None`.
    pub heat: Option<[f64; 2]>,
    /// How it is drawn, if it is.
    pub plot: Option<Plot>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub title: String,
    pub unit: Unit,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Names and words.
    Text,
    /// Whole numbers.
    Count,
    /// Numbers that are shown with so many digits behind the point.
    Number { digits: usize },
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing, or a figure that is not defined.
    #[default]
    Empty,
    Text(String),
    Figure(Figure),
}

/// A number, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    /// The ends of its interval.
    pub ends: Option<[f64; 2]>,
    /// How many answers, items or pairs it is computed from.
    pub n: Option<usize>,
    /// What it is computed from, in words; empty if that is the whole set.
    pub from: String,
}

/// How a table is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub shape: Shape,
    /// The columns whose figures are drawn.
    pub columns: Vec<usize>,
    /// What the rows are called; by their first cells if `None`.
    pub names: Option<Vec<String>>,
    /// The titles of the axis of rows and of the axis of values.
    pub axes: [String; 2],
    /// The end of the axis of values; the largest value if `None`.
    pub most: Option<f64>,
}

/// A cell as pages show it.
#[derive(Debug, PartialEq, Serialize)]
pub struct ShownCell {
    pub value: String,
    /// `59.1 – 64.9`; empty without one.
    pub interval: String,
    pub n: Option<usize>,
    /// Its shading, 0 to 100; `None` without shading.
    pub shade: Option<u32>,
    pub from: String,
    /// Whether it is words.
    pub word: bool,
}

/// A table as the template `table.html` takes it.
#[derive(Debug, Serialize)]
pub struct ShownTable<'a> {
    name: &'a str,
    title: &'a str,
    columns: Vec<&'a str>,
    rows: Vec<(String, Vec<Option<ShownCell>>)>,
}

impl Column {
    /// A column of names and words.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), unit: Unit::Text }
    }

    /// A column of numbers with two digits behind the point.
    pub fn number(title: impl Into<String>) -> Column {
        Column { title: title.into(), unit: Unit::Number { digits: 2 } }
    }

    /// A column whose unit is that of its cells: words, whole numbers, or numbers with more digits where they are small.
    pub fn fitting<'c>(title: impl Into<String>, cells: impl Iterator<Item = &'c Cell> + Clone) -> Column {
        let values = cells.clone().filter_map(|cell| match cell {
            Cell::Figure(figure) => Some(figure.value),
            Cell::Empty | Cell::Text(_) => None,
        });
        let unit = match cells.clone().any(|cell| matches!(cell, Cell::Text(_))) {
            true => Unit::Text,
            false if values.clone().all(|value| value.fract() == 0.0) => Unit::Count,
            false if values.map(f64::abs).fold(0.0, f64::max) <= 1.0 => Unit::Number { digits: 4 },
            false => Unit::Number { digits: 2 },
        };
        Column { title: title.into(), unit }
    }

    fn digits(&self) -> usize {
        match self.unit {
            Unit::Text => 2,
            Unit::Count => 0,
            Unit::Number { digits } => digits,
        }
    }
}

impl Cell {
    /// A number of which nothing else is known.
    pub fn plain(value: f64) -> Cell {
        Cell::Figure(Figure { value, ends: None, n: None, from: String::new() })
    }

    /// As it stands in a table of a paper: `62.00 [59.10, 64.90]`.
    fn shown(&self, column: &Column) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Figure(figure) => figure.shown(column.digits()),
        }
    }

    /// The same with its n: `62.00 [59.10, 64.90] n 677`.
    fn told(&self, column: &Column) -> String {
        match self {
            Cell::Figure(Figure { n: Some(n), .. }) => format!("{} n {n}", self.shown(column)),
            cell => cell.shown(column),
        }
    }

    /// With all its digits, for programs.
    fn exact(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Figure(figure) => figure.value.to_string(),
        }
    }
}

impl Figure {
    fn shown(&self, digits: usize) -> String {
        match self.ends {
            Some([low, high]) => {
                let [value, low, high] = [self.value, low, high].map(|number| decimals(number, digits));
                format!("{value} [{low}, {high}]")
            }
            None => plain(self.value, digits),
        }
    }

    fn on_page(&self, column: &Column, heat: Option<[f64; 2]>) -> ShownCell {
        let interval = self.ends.map(|[low, high]| {
            // Coefficients and scores on a short scale get more digits than percents.
            let digits = if high - low < 2.0 { 2 } else { 1 };
            format!("{} – {}", decimals(low, digits), decimals(high, digits))
        });
        let digits = column.digits();
        let value =
            if self.ends.is_none() { plain(self.value, digits) } else { decimals(self.value, digits) };
        let shade = heat
            .map(|[low, high]| (100.0 * (self.value - low) / (high - low)).clamp(0.0, 100.0).round() as u32);
        let interval = interval.unwrap_or_default();
        ShownCell { value, interval, n: self.n, shade, from: self.from.clone(), word: false }
    }
}

/// A figure without an interval: small ones, such as p-values, with their first digits.
pub fn plain(value: f64, digits: usize) -> String {
    let least = 0.5 * 0.1f64.powi(i32::try_from(digits).unwrap_or(i32::MAX));
    if value != 0.0 && value.abs() < least { format!("{value:.1e}") } else { decimals(value, digits) }
}

/// Whether a finished cell is a number, perhaps with its interval, or says that there is none.
fn is_number(cell: &str) -> bool {
    let first = cell.split_whitespace().next().unwrap_or_default().trim_end_matches(['%', ',']);
    matches!(first, "" | "-") || first.parse::<f64>().is_ok_and(f64::is_finite)
}

impl Table {
    /// A table of words and finished numbers.
    pub fn of_texts(name: String, title: String, header: &[&str], rows: Vec<Vec<String>>) -> Table {
        let column = |(at, title): (usize, &&str)| {
            let is_number = rows.iter().filter_map(|row| row.get(at)).all(|cell| is_number(cell));
            if is_number { Column::number(*title) } else { Column::text(*title) }
        };
        let columns = header.iter().enumerate().map(column).collect();
        let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::Text).collect()).collect();
        Table { name, title, columns, rows, ..Table::default() }
    }

    /// The titles of its columns.
    pub fn header(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.title.as_str()).collect()
    }

    /// The cells of a row, each as a text.
    pub(super) fn texts(&self, row: &[Cell]) -> Vec<String> {
        row.iter().zip(&self.columns).map(|(cell, column)| cell.shown(column)).collect()
    }

    /// The table as CSV: a line for each figure where they have an n, so that any program can plot them; else as it stands.
    pub fn csv(&self) -> Vec<u8> {
        let of_answers = |cell: &Cell| matches!(cell, Cell::Figure(Figure { n: Some(_), .. }));
        let written = if self.rows.iter().flatten().any(of_answers) {
            let figures = self.rows.iter().flat_map(|row| {
                let name = row.first().map(Cell::exact).unwrap_or_default();
                let cells = self.columns.iter().zip(row).skip(1);
                cells.filter_map(move |(column, cell)| match cell {
                    Cell::Figure(figure) => Some((name.clone(), column.title.clone(), figure)),
                    Cell::Empty | Cell::Text(_) => None,
                })
            });
            let line = |(name, column, of): (String, String, &Figure)| {
                let end = |at: usize| of.ends.map(|ends| ends[at].to_string()).unwrap_or_default();
                let n = of.n.map(|n| n.to_string()).unwrap_or_default();
                [name, column, of.value.to_string(), end(0), end(1), n]
            };
            csv_table(CsvFor::Programs, &["row", "column", "value", "low", "high", "n"], figures.map(line))
        } else {
            csv_table(
                CsvFor::Programs,
                &self.header(),
                self.rows.iter().map(|row| row.iter().map(Cell::exact)),
            )
        };
        // Rows of equal length, written into memory, cannot fail.
        written.unwrap_or_default()
    }

    /// Its chart, if it is drawn.
    pub fn chart(&self) -> Option<Chart> {
        self.plot.as_ref().map(|plot| self.drawn(plot))
    }

    /// Its rows, drawn in this way.
    pub fn drawn(&self, plot: &Plot) -> Chart {
        let datum = |cell: &Cell| match cell {
            Cell::Figure(figure) => Some(Datum { value: figure.value, ends: figure.ends }),
            Cell::Empty | Cell::Text(_) => None,
        };
        let row = |(at, row): (usize, &Vec<Cell>)| {
            let named = plot.names.as_ref().and_then(|names| names.get(at)).cloned();
            ChartRow {
                name: named.unwrap_or_else(|| row.first().map(Cell::exact).unwrap_or_default()),
                values: plot.columns.iter().map(|column| datum(row.get(*column)?)).collect(),
            }
        };
        let series = plot.columns.iter().filter_map(|column| self.columns.get(*column));
        Chart {
            name: format!("{}-chart", self.name),
            title: self.title.clone(),
            axes: plot.axes.clone(),
            shape: plot.shape,
            series: series.map(|column| column.title.clone()).collect(),
            rows: self.rows.iter().enumerate().map(row).collect(),
            most: plot.most,
            limits: Vec::new(),
        }
    }

    /// The table for a terminal, whose texts are so wide. Columns without any figure are left out.
    pub fn text(&self, wide: impl Fn(&str) -> usize) -> String {
        let mut lines = vec![String::new(); self.rows.len() + 1];
        for (at, column) in self.columns.iter().enumerate() {
            let cells =
                self.rows.iter().map(|row| row.get(at).map(|cell| cell.told(column)).unwrap_or_default());
            let cells: Vec<String> = cells.collect();
            if at > 0 && cells.iter().all(String::is_empty) {
                continue;
            }
            let title = if at > 0 { column.title.clone() } else { String::new() };
            let cells: Vec<String> = std::iter::once(title).chain(cells).collect();
            let widest = cells.iter().map(|cell| wide(cell)).max().unwrap_or(0);
            for (line, cell) in lines.iter_mut().zip(&cells) {
                let _ = write!(line, "  {cell}{}", " ".repeat(widest - wide(cell)));
            }
        }
        lines.iter().fold(format!("{}\n", self.title), |text, line| text + line.trim_end() + "\n")
    }

    /// The table in Markdown, with its heading.
    pub fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("## {}\n\n", self.title);
        if !self.notes.is_empty() {
            let _ = write!(text, "{}\n\n", self.notes);
        }
        text += &line(self.header().into_iter().map(escaped).collect());
        text += &line(vec!["---".to_owned(); self.columns.len()]);
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).map(|(cell, column)| escaped(&cell.told(column)));
            text += &line(cells.collect());
        }
        text
    }

    /// For pages.
    pub fn on_page(&self) -> ShownTable<'_> {
        let cell = |(cell, column): (&Cell, &Column)| match cell {
            Cell::Empty => None,
            Cell::Text(text) => Some(ShownCell {
                value: text.clone(),
                interval: String::new(),
                n: None,
                shade: None,
                from: String::new(),
                word: true,
            }),
            Cell::Figure(figure) => Some(figure.on_page(column, self.heat)),
        };
        let row = |row: &Vec<Cell>| {
            let name = row.iter().zip(&self.columns).next().map(|(cell, column)| cell.shown(column));
            (name.unwrap_or_default(), row.iter().zip(&self.columns).skip(1).map(cell).collect())
        };
        let rows = self.rows.iter().map(row).collect();
        ShownTable { name: &self.name, title: &self.title, columns: self.header(), rows }
    }
}
