//! Tables of figures: what reports and evaluations show, before it is text, CSV, Markdown, LaTeX, a part of a page or a chart.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use riddlemill_benchmarks::figure as declared;
use riddlemill_review::agreement::Estimate;
use riddlemill_review::exchange::{CsvFor, csv_table};
use riddlemill_text::text::format_decimals;
use serde::Serialize;
use serde_json::Value as Json;

use super::column::format_plain;
use super::{Chart, ChartRow, Column, ColumnUnit, Datum, FileLink, Shape};

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The stem of its files.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The paper's table or figure; empty, or `none`, if it is in no paper.
    pub paper: String,
    /// How to read it; empty if its title says it.
    pub about: String,
    /// The first is what rows are called after.
    pub columns: Vec<Column>,
    /// As many cells as columns.
    pub rows: Vec<Row>,
    /// The values without shading and with full shading on a page; no shading if `None`.
    pub heat: Option<[f64; 2]>,
    /// How it is drawn, if it is.
    pub plot: Option<Plot>,
}

/// The cells of a row.
pub type Row = Vec<Cell>;

/// Keys of the answers that a figure is computed from, with their values.
pub type Keys = BTreeMap<&'static str, String>;

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing, or a figure that is not defined.
    #[default]
    Empty,
    Text(String),
    Figure(Figure),
    /// Several values, or a condition: for JSON alone.
    Nested(Json),
}

/// A number, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    /// The ends of its interval.
    pub ends: Option<[f64; 2]>,
    /// How many answers, items or pairs it is computed from.
    pub n: Option<usize>,
    /// Identifies the answers it is computed from: each name is a key of theirs, `judge` of their ratings, `part` one of
    /// their parts. Keys without a single value are left out.
    pub from: Keys,
    /// What it is, where it is not what its column holds.
    pub unit: Option<ColumnUnit>,
}

/// How a table is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub shape: Shape,
    /// The columns whose figures are drawn.
    pub columns: Vec<usize>,
    /// Its heading; that of the table if `None`.
    pub title: Option<String>,
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
    about: &'a str,
    source: String,
    columns: Vec<&'a str>,
    rows: Vec<(String, Vec<Option<ShownCell>>)>,
    /// Its files.
    links: Vec<FileLink>,
}

impl Cell {
    /// A number of which nothing else is known.
    pub fn plain_number(value: f64) -> Cell {
        Cell::Figure(Figure { value, ends: None, n: None, from: Keys::new(), unit: None })
    }

    /// A number in a column of several units; empty if there is none.
    pub fn of_unit(value: Option<f64>, unit: ColumnUnit) -> Cell {
        let figure = |value| Figure { value, ends: None, n: None, from: Keys::new(), unit: Some(unit) };
        value.map(figure).into()
    }

    /// Its number, if it is one.
    pub fn figure(&self) -> Option<&Figure> {
        match self {
            Cell::Figure(figure) => Some(figure),
            Cell::Empty | Cell::Text(_) | Cell::Nested(_) => None,
        }
    }

    /// As it stands in a table of a paper: `62.00 [59.10, 64.90]`.
    pub(super) fn format_with_interval(&self, column: &Column) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Nested(value) => value.to_string(),
            Cell::Figure(figure) => format_value(figure, column),
        }
    }

    /// The same with its n: `62.00 [59.10, 64.90] n 677`.
    fn format_with_count(&self, column: &Column) -> String {
        match self {
            Cell::Figure(Figure { n: Some(n), .. }) => format!("{} n {n}", self.format_with_interval(column)),
            cell => cell.format_with_interval(column),
        }
    }

    /// With all its digits, for programs.
    pub(super) fn format_exact(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Nested(value) => value.to_string(),
            Cell::Figure(figure) => figure.value.to_string(),
        }
    }
}

impl From<Option<Figure>> for Cell {
    fn from(figure: Option<Figure>) -> Cell {
        figure.map_or(Cell::Empty, Cell::Figure)
    }
}

impl Figure {
    /// An estimate, in percent if `scale` is 100.
    pub fn new(estimate: Estimate, scale: f64, n: usize, from: Keys) -> Figure {
        let Estimate { value, low, high } = estimate;
        Figure::with_ends(scale * value, Some([scale * low, scale * high]), n, from)
    }

    /// A figure that may lack an interval.
    pub fn with_ends(value: f64, ends: Option<[f64; 2]>, n: usize, from: Keys) -> Figure {
        Figure { value, ends, n: Some(n), from, unit: None }
    }

    /// A count or a figure without resampling.
    pub fn without_interval(value: f64, n: usize, from: Keys) -> Figure {
        Figure::with_ends(value, None, n, from)
    }

    /// What it is computed from, in words; empty if that is the whole set.
    fn describe_origin(&self) -> String {
        let keys = self.from.iter().map(|(key, value)| format!("{key} = {value}"));
        keys.collect::<Vec<_>>().join(", ")
    }

    fn on_page(&self, column: &Column, heat: Option<[f64; 2]>) -> ShownCell {
        let scale = self.unit.unwrap_or(column.unit).scale();
        let interval = self.ends.map(|ends| ends.map(|end| scale * end)).map(|[low, high]| {
            // Coefficients and scores on a short scale get more digits than percents.
            let digits = if high - low < 2.0 { 2 } else { 1 };
            format!("{} – {}", format_decimals(low, digits), format_decimals(high, digits))
        });
        let value = format_value(self, column);
        let value = value.split_once(" [").map_or(value.as_str(), |(value, _)| value).to_owned();
        let shade = heat
            .map(|[low, high]| (100.0 * (self.value - low) / (high - low)).clamp(0.0, 100.0).round() as u32);
        let interval = interval.unwrap_or_default();
        ShownCell { value, interval, n: self.n, shade, from: self.describe_origin(), word: false }
    }
}

/// Whether a finished cell is a number, perhaps with its interval, or says that there is none.
fn is_number(cell: &str) -> bool {
    let first = cell.split_whitespace().next().unwrap_or_default().trim_end_matches(['%', ',']);
    matches!(first, "" | "-") || first.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A row of figures under a name.
pub fn figure_row(name: impl Into<String>, figures: impl IntoIterator<Item = Option<Figure>>) -> Row {
    std::iter::once(Cell::Text(name.into())).chain(figures.into_iter().map(Cell::from)).collect()
}

/// What a row is called.
pub fn name_of(row: &[Cell]) -> &str {
    match row.first() {
        Some(Cell::Text(name)) => name,
        _ => "",
    }
}

/// The figures of a row behind its name.
pub fn figures_of(row: &[Cell]) -> impl Iterator<Item = Option<&Figure>> {
    row.iter().skip(1).map(Cell::figure)
}

impl Table {
    /// A table of figures, whose rows have names under the heading `of`.
    pub fn of_figures(
        of: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<String>>,
        rows: Vec<Row>,
    ) -> Table {
        let columns =
            std::iter::once(Column::of_words(of)).chain(columns.into_iter().map(Column::of_numbers));
        Table { columns: columns.collect(), rows, ..Table::default() }
    }

    /// The same under the name and the heading that a folder declares.
    #[must_use]
    pub fn with_heading(self, declared: &declared::Figure) -> Table {
        Table {
            name: declared.name.to_owned(),
            title: declared.heading.to_owned(),
            paper: declared.paper.to_owned(),
            about: declared.about.to_owned(),
            ..self
        }
    }

    /// The same under another name.
    #[must_use]
    pub fn with_name(&self, name: impl Into<String>) -> Table {
        Table { name: name.into(), ..self.clone() }
    }

    /// The same without what only lines and JSON have: columns without a heading, and those without any cell.
    #[must_use]
    pub fn without_hidden(&self) -> Table {
        let has_cell =
            |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| *cell != Cell::Empty));
        let is_shown =
            |at: &usize| !self.columns[*at].title.is_empty() && (self.rows.is_empty() || has_cell(*at));
        let shown: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        let place = |column: &usize| shown.iter().position(|at| at == column);
        let plot = self
            .plot
            .as_ref()
            .map(|plot| Plot { columns: plot.columns.iter().filter_map(place).collect(), ..plot.clone() });
        let row = |row: &Row| shown.iter().filter_map(|at| row.get(*at)).cloned().collect();
        Table {
            columns: shown.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
            plot,
            ..self.clone()
        }
    }

    /// Whether there is any figure in it.
    pub fn has_figures(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.figure().is_some())
    }

    /// Where it is in the paper, behind a blank; empty if it is not.
    pub fn source(&self) -> String {
        match self.paper.as_str() {
            "" | "none" => String::new(),
            paper => format!(" ({paper})"),
        }
    }

    /// A table of words and finished numbers.
    pub fn of_texts(name: String, title: String, header: &[&str], rows: Vec<Vec<String>>) -> Table {
        let column = |(at, title): (usize, &&str)| {
            let is_number = rows.iter().filter_map(|row| row.get(at)).all(|cell| is_number(cell));
            if is_number { Column::of_numbers(*title) } else { Column::of_words(*title) }
        };
        let columns = header.iter().enumerate().map(column).collect();
        let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::Text).collect()).collect();
        Table { name, title, columns, rows, ..Table::default() }
    }

    /// The titles of its columns.
    pub fn column_titles(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.title.as_str()).collect()
    }

    /// The cells of a row, each as a text.
    pub(super) fn cell_texts(&self, row: &[Cell]) -> Vec<String> {
        row.iter().zip(&self.columns).map(|(cell, column)| cell.format_with_interval(column)).collect()
    }

    /// The table as CSV: a line for each figure where they have an n, so that any program can plot them; else as it stands.
    pub fn render_csv(&self) -> Vec<u8> {
        let of_answers = |cell: &Cell| matches!(cell, Cell::Figure(Figure { n: Some(_), .. }));
        let written = if self.rows.iter().flatten().any(of_answers) {
            let figures = self.rows.iter().flat_map(|row| {
                let name = row.first().map(Cell::format_exact).unwrap_or_default();
                let cells = self.columns.iter().zip(row).skip(1);
                cells.filter_map(move |(column, cell)| {
                    Some((name.clone(), column.title.clone(), cell.figure()?))
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
                &self.column_titles(),
                self.rows.iter().map(|row| row.iter().map(Cell::format_exact)),
            )
        };
        // Rows of equal length, written into memory, cannot fail.
        written.unwrap_or_default()
    }

    /// Its chart, if it is drawn.
    pub fn plotted_chart(&self) -> Option<Chart> {
        self.plot.as_ref().map(|plot| self.chart_of_plot(plot))
    }

    /// Its rows, drawn in this way.
    pub fn chart_of_plot(&self, plot: &Plot) -> Chart {
        let datum = |cell: &Cell| {
            let figure = cell.figure()?;
            Some(Datum { value: figure.value, ends: figure.ends })
        };
        let row = |(at, row): (usize, &Row)| {
            let named = plot.names.as_ref().and_then(|names| names.get(at)).cloned();
            ChartRow {
                name: named.unwrap_or_else(|| row.first().map(Cell::format_exact).unwrap_or_default()),
                values: plot.columns.iter().map(|column| datum(row.get(*column)?)).collect(),
            }
        };
        let series = plot.columns.iter().filter_map(|column| self.columns.get(*column));
        Chart {
            name: format!("{}-chart", self.name),
            title: plot.title.clone().unwrap_or_else(|| self.title.clone()),
            axes: plot.axes.clone(),
            shape: plot.shape,
            series: series.map(|column| column.title.clone()).collect(),
            rows: self.rows.iter().enumerate().map(row).collect(),
            most: plot.most,
            limits: Vec::new(),
        }
    }

    /// The table for a terminal, whose texts are so wide. Columns without any figure are left out.
    pub fn render_text(&self, wide: impl Fn(&str) -> usize) -> String {
        let mut lines = vec![String::new(); self.rows.len() + 1];
        for (at, column) in self.columns.iter().enumerate() {
            let cells = self
                .rows
                .iter()
                .map(|row| row.get(at).map(|cell| cell.format_with_count(column)).unwrap_or_default());
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
    pub fn render_markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("## {}\n\n", self.title);
        let about = self.about.clone() + &self.source();
        if !about.is_empty() {
            let _ = write!(text, "{about}\n\n");
        }
        text += &line(self.column_titles().into_iter().map(escaped).collect());
        text += &line(vec!["---".to_owned(); self.columns.len()]);
        for row in &self.rows {
            let cells =
                row.iter().zip(&self.columns).map(|(cell, column)| escaped(&cell.format_with_count(column)));
            text += &line(cells.collect());
        }
        text
    }

    /// For pages.
    pub fn on_page(&self) -> ShownTable<'_> {
        let cell = |(cell, column): (&Cell, &Column)| match cell {
            Cell::Empty => None,
            Cell::Text(_) | Cell::Nested(_) => Some(ShownCell {
                value: cell.format_exact(),
                interval: String::new(),
                n: None,
                shade: None,
                from: String::new(),
                word: true,
            }),
            Cell::Figure(figure) => Some(figure.on_page(column, self.heat)),
        };
        let row = |row: &Row| {
            let name =
                row.iter().zip(&self.columns).next().map(|(cell, column)| cell.format_with_interval(column));
            (name.unwrap_or_default(), row.iter().zip(&self.columns).skip(1).map(cell).collect())
        };
        let rows = self.rows.iter().map(row).collect();
        let Table { name, title, about, .. } = self;
        let (source, columns, links) = (self.source(), self.column_titles(), self.links());
        ShownTable { name, title, about, source, columns, rows, links }
    }
}

/// A number as it stands in a table of a paper: `62.00 [59.10, 64.90]`, `62.00 % [59.10, 64.90]`.
pub(super) fn format_value(figure: &Figure, column: &Column) -> String {
    let unit = figure.unit.unwrap_or(column.unit);
    let (digits, sign) = match unit {
        ColumnUnit::Text => (2, ""),
        ColumnUnit::Count => (0, ""),
        ColumnUnit::Number { digits } => (digits, ""),
        ColumnUnit::Percent { digits } | ColumnUnit::Share { digits } => (digits, " %"),
    };
    let number = |value: f64| format_decimals(unit.scale() * value, digits);
    match figure.ends {
        Some([low, high]) => format!("{}{sign} [{}, {}]", number(figure.value), number(low), number(high)),
        None if sign.is_empty() => format_plain(figure.value, digits),
        None => format!("{}{sign}", number(figure.value)),
    }
}
