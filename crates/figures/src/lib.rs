//! Figures: what they are computed by, and their charts and tables as text, JSON, Markdown, parts of pages, and files that go
//! into a paper (SVG that stands alone, its data as CSV, a table as LaTeX).
//!
//! Reports and evaluations compute by the same [`measures`] and describe what they show as [`Chart`] and [`Table`]; this renders
//! them and knows nothing of stages or answers. The same figures give the same bytes.
//!
//! # In reading order
//!
//! - [`Chart`]: what is drawn; `canvas`, `shapes` and `svg` draw it.
//! - [`measures`]: means, shares, correlations, classes, ratings of judges, each with its interval.
//! - [`Table`]: what is tabulated in [`Column`]s, as text, Markdown, CSV and part of a page; `objects` as JSON, `lines` as lines of a report,
//!   `latex` as LaTeX.
//! - [`markup`]: templates of pages without their layout.

mod canvas;
mod column;
mod latex;
mod lines;
pub mod markup;
pub mod measures;
mod objects;
mod place;
mod shapes;
mod svg;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use riddlemill_files::{Error, durable};
use riddlemill_review::exchange::{CsvFor, csv_table};

pub use column::{Column, ColumnUnit, format_plain};
pub use latex::render_latex;
pub use place::{Digits, Place, Side};
pub use svg::{Words, render_drawing, render_svg};
pub use table::{Cell, Figure, Keys, Plot, Row, ShownTable, Table, figure_row, figures_of, name_of};

/// The macro `table` of pages, which takes a [`ShownTable`].
pub const TABLE_TEMPLATE: &str = include_str!("templates/table.html");

/// A chart and its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The stem of its files.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The titles of the axis of rows and of the axis of values; of points those of the two values.
    pub axes: [String; 2],
    pub shape: Shape,
    /// What each value of a row is.
    pub series: Vec<String>,
    pub rows: Vec<ChartRow>,
    /// The end of the axis of values; the largest value if `None`.
    pub most: Option<f64>,
    /// Thresholds that are drawn across columns.
    pub limits: Vec<Limit>,
}

/// The values of one name, one for each series.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartRow {
    pub name: String,
    pub values: Vec<Option<Datum>>,
}

/// A value with the ends of its interval, if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datum {
    pub value: f64,
    pub ends: Option<[f64; 2]>,
}

/// A threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Its place in columns, from 0: 2.5 is the middle of the third.
    pub at: f64,
    /// What it limits, with its value.
    pub name: String,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A horizontal bar for each value, with its interval.
    Bars,
    /// The values of a row behind each other, as shares of 100.
    Stacked,
    /// Vertical bars: a histogram.
    Columns,
    /// Vertical bars whose values are piled up.
    Piles,
    /// A line for each series over the rows.
    Lines,
    /// A point for each row, whose two values are its place, and the line of least squares.
    Points {
        /// Whether the first axis is logarithmic.
        log: bool,
    },
}

/// A file: its name and its bytes.
pub type File = (String, Vec<u8>);

impl Datum {
    /// A value without an interval.
    pub fn plain(value: f64) -> Datum {
        Datum { value, ends: None }
    }
}

impl Chart {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.values.iter().all(Option::is_none))
    }

    /// Its data, one value a line.
    pub fn csv(&self) -> Vec<u8> {
        let end = |datum: &Datum, at: usize| datum.ends.map(|ends| ends[at].to_string()).unwrap_or_default();
        let rows = self.rows.iter().flat_map(|row| {
            let values = self.series.iter().zip(&row.values);
            values.filter_map(|(series, datum)| {
                let datum = datum.as_ref()?;
                let value = datum.value.to_string();
                Some([row.name.clone(), series.clone(), value, end(datum, 0), end(datum, 1)])
            })
        });
        // Rows of equal length, written into memory, cannot fail.
        csv_table(CsvFor::Programs, &["row", "column", "value", "low", "high"], rows).unwrap_or_default()
    }

    /// The same chart in other words: of its title, axes, series, rows and limits.
    #[must_use]
    pub fn translated(&self, word: impl Fn(&str) -> Option<String>) -> Chart {
        let said = |text: &String| word(text).unwrap_or_else(|| text.clone());
        let mut chart = self.clone();
        chart.title = said(&self.title);
        chart.axes = self.axes.each_ref().map(said);
        chart.series = self.series.iter().map(said).collect();
        chart.rows.iter_mut().for_each(|row| row.name = said(&row.name));
        chart.limits.iter_mut().for_each(|limit| limit.name = said(&limit.name));
        chart
    }

    /// Its drawing as a part of a page that shows one of two languages: the same as in its file, once in each.
    pub fn html(&self, chinese: impl Fn(&str) -> Option<String>) -> String {
        let (english, other) = (
            render_drawing(self, &Words::ENGLISH),
            render_drawing(&self.translated(chinese), &Words::CHINESE),
        );
        format!("<div lang=\"en\">{english}</div><div lang=\"zh-Hans\">{other}</div>")
    }

    /// The drawing and its data.
    pub fn files(&self) -> [File; 2] {
        [
            (format!("{}.svg", self.name), render_svg(self).into_bytes()),
            (format!("{}.csv", self.name), self.csv()),
        ]
    }

    /// Its data as a table: a row for each name, with a column for each series.
    pub fn to_table(&self) -> Table {
        let cell = |datum: &Option<Datum>| {
            let figure = |datum: Datum| Figure {
                value: datum.value,
                ends: datum.ends,
                n: None,
                from: Keys::new(),
                unit: None,
            };
            datum.map(figure).into()
        };
        let row = |row: &ChartRow| {
            std::iter::once(Cell::Text(row.name.clone())).chain(row.values.iter().map(cell)).collect::<Row>()
        };
        let rows: Vec<Row> = self.rows.iter().map(row).collect();
        let is_whole =
            |at: usize| rows.iter().filter_map(|row| row.get(at)?.figure()).all(|of| of.value.fract() == 0.0);
        let column = |(at, title): (usize, &String)| match is_whole(at + 1) {
            true => Column::of_counts(title),
            false => Column::of_numbers(title),
        };
        let columns = std::iter::once(Column::of_words(&self.axes[0]));
        let columns = columns.chain(self.series.iter().enumerate().map(column)).collect();
        Table { name: self.name.clone(), title: self.title.clone(), columns, rows, ..Table::default() }
    }

    /// Its files as links of a page: the drawing, its data, and these as LaTeX.
    pub fn links(&self) -> Vec<FileLink> {
        let tex = (format!("{}.tex", self.name), render_latex(&self.to_table()).into_bytes());
        self.files().into_iter().chain([tex]).filter_map(link_of_file).collect()
    }
}

/// A file within a page: what it is, its name, and its address.
pub type FileLink = [String; 3];

/// A file as a link that holds it; `None` of one that is no figure.
fn link_of_file((name, bytes): File) -> Option<FileLink> {
    let (kind, media) = match name.rsplit_once('.')?.1 {
        "svg" => ("SVG", "image/svg+xml"),
        "csv" => ("CSV", "text/csv"),
        "tex" => ("LaTeX", "application/x-tex"),
        _ => return None,
    };
    Some([kind.to_owned(), name, format!("data:{media};charset=utf-8,{}", percent_encoded(&bytes))])
}

/// How many records are left after each stage, as a chart; `first` is how many were read.
pub fn funnel(recipe: &str, first: Option<u64>, stages: impl IntoIterator<Item = (String, u64)>) -> Chart {
    let row =
        |(name, count): (String, u64)| ChartRow { name, values: vec![Some(Datum::plain(count as f64))] };
    Chart {
        name: stem(&format!("{recipe}-funnel")),
        title: format!("{recipe}: records after each stage"),
        axes: ["stage".to_owned(), "records".to_owned()],
        shape: Shape::Bars,
        series: vec!["records".to_owned()],
        rows: first.map(|read| ("read".to_owned(), read)).into_iter().chain(stages).map(row).collect(),
        most: None,
        limits: Vec::new(),
    }
}

impl Table {
    /// Its files: LaTeX and CSV, and its chart as SVG and CSV.
    pub fn files(&self) -> Vec<File> {
        let (tex, csv) = (format!("{}.tex", self.name), format!("{}.csv", self.name));
        let mut files = vec![(tex, render_latex(self).into_bytes()), (csv, self.render_csv())];
        files.extend(self.plotted_chart().iter().flat_map(Chart::files));
        files
    }

    /// Its files as links of a page; those of its chart stand beside that.
    pub fn links(&self) -> Vec<FileLink> {
        self.files().into_iter().take(2).filter_map(link_of_file).collect()
    }
}

/// Writes files into a folder, which is created; files of the same names are replaced.
///
/// # Errors
/// [`Error`] if one cannot be written.
pub fn write(folder: &Path, files: &[File]) -> Result<(), Error> {
    durable::create_folder(folder)?;
    files.iter().try_for_each(|(name, bytes)| durable::replace_file(&folder.join(name), bytes))
}

/// A name as part of a file's: letters, digits and points, everything else a hyphen.
pub fn stem(text: &str) -> String {
    let mut stem = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() || c == '.' {
            true => stem.extend(c.to_lowercase()),
            false if stem.ends_with('-') => {}
            false => stem.push('-'),
        }
    }
    stem.trim_matches(['-', '.']).to_owned()
}

fn percent_encoded(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(*byte))
            }
            byte => _ = write!(encoded, "%{byte:02X}"),
        }
    }
    encoded
}
