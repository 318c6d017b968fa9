//! Tables of figures, each with its interval, its n and its origin.

use std::collections::BTreeMap;

use riddlemill_benchmarks::table as declared;
use serde::Serialize;

use crate::figures;
use crate::review::agreement::Estimate;

/// A table of the paper, or an additional one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Its name in files and links.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// The paper's table or figure.
    pub paper: &'static str,
    /// How to read it, in one or two sentences.
    pub about: String,
    /// The header of the first column.
    pub of: &'static str,
    /// The other columns.
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// How it is drawn.
    pub look: Look,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The subject of the figures.
    pub name: String,
    /// One per column; `None` for an undefined figure.
    pub cells: Vec<Option<Cell>>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub value: f64,
    /// The lower end of its interval; `None` without resampling.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The number of answers, items or pairs.
    pub n: usize,
    /// Identifies the lines of answers.jsonl it is computed from: each name is a key of these, `judge` of
    /// their ratings, `part` one of their parts. Keys without a single value are left out.
    pub from: Keys,
}

/// Keys of answers.jsonl, with values.
pub type Keys = BTreeMap<&'static str, String>;

/// How a table is drawn on the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Plain.
    Plain,
    /// Cells shaded from `low` to `high`.
    Heat {
        /// Values without shading.
        low: f64,
        /// Values with full shading.
        high: f64,
    },
}

impl Table {
    /// The table declared in a folder, without columns and rows.
    pub(super) fn headed(declared: &declared::Table, of: &'static str, look: Look) -> Table {
        Table {
            name: declared.name,
            title: declared.title.to_owned(),
            paper: declared.paper,
            about: declared.about.to_owned(),
            of,
            columns: Vec::new(),
            rows: Vec::new(),
            look,
        }
    }
}

impl Table {
    /// The same for text, files, pages and charts; `name` is the stem of its files.
    pub fn shown(&self, name: &str) -> figures::Table {
        let from = |(key, value): (&&str, &String)| format!("{key} = {value}");
        let cell = |cell: &Option<Cell>| match cell {
            None => figures::Cell::Empty,
            Some(cell) => figures::Cell::Figure(figures::Figure {
                value: cell.value,
                ends: cell.low.zip(cell.high).map(|(low, high)| [low, high]),
                n: Some(cell.n),
                from: cell.from.iter().map(from).collect::<Vec<_>>().join(", "),
            }),
        };
        let row = |row: &Row| {
            let name = figures::Cell::Text(row.name.clone());
            std::iter::once(name).chain(row.cells.iter().map(cell)).collect()
        };
        let of = figures::Column::text(self.of);
        figures::Table {
            name: name.to_owned(),
            title: self.title.clone(),
            notes: format!("{}{}", self.about, self.source()),
            columns: std::iter::once(of).chain(self.columns.iter().map(figures::Column::number)).collect(),
            rows: self.rows.iter().map(row).collect(),
            heat: match self.look {
                Look::Heat { low, high } => Some([low, high]),
                Look::Plain => None,
            },
            plot: None,
        }
    }

    /// Where it is in the paper, behind a blank; empty if it is not.
    pub fn source(&self) -> String {
        match self.paper {
            "" | "none" => String::new(),
            paper => format!(" ({paper})"),
        }
    }
}

impl Cell {
    /// An estimate, in percent if `scale` is 100.
    pub fn new(estimate: Estimate, scale: f64, n: usize, from: Keys) -> Cell {
        let Estimate { value, low, high } = estimate;
        Cell { value: scale * value, low: Some(scale * low), high: Some(scale * high), n, from }
    }

    /// A figure that may lack an interval.
    pub fn within(value: f64, ends: Option<[f64; 2]>, n: usize, from: Keys) -> Cell {
        let (low, high) = ends.map(|[low, high]| (low, high)).unzip();
        Cell { value, low, high, n, from }
    }

    /// A count or a figure without resampling.
    pub fn plain(value: f64, n: usize, from: Keys) -> Cell {
        Cell { value, low: None, high: None, n, from }
    }
}

/// `[("model", "m")]` as keys.
pub fn keys_of<const N: usize>(keys: [(&'static str, &str); N]) -> Keys {
    keys.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}
