//! Tables of figures, each figure with its interval, its n and where it comes from.

use std::collections::BTreeMap;

use riddlemill_benchmarks::table as declared;
use serde::Serialize;

use crate::review::agreement::Estimate;

/// A table of the paper, or one beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Its name in files and links.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// The paper's table or figure.
    pub paper: &'static str,
    /// How to read it, in a sentence or two.
    pub about: String,
    /// What is at the head of the first column.
    pub of: &'static str,
    /// The other columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// How it is drawn.
    pub look: Look,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What the figures are of.
    pub name: String,
    /// As many as there are columns; none where a figure is not defined.
    pub cells: Vec<Option<Cell>>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Its value.
    pub value: f64,
    /// The lower end of its interval; none where nothing is drawn from.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How many answers, items or pairs it rests on.
    pub n: usize,
    /// Which lines of answers.jsonl these are: each name is a key of them, `judge` of their ratings, `part` one of
    /// their parts. Figures without one value of a key leave it out.
    pub from: Keys,
}

/// Keys of answers.jsonl, and what they hold.
pub type Keys = BTreeMap<&'static str, String>;

/// How a table is drawn on the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Plain.
    Plain,
    /// Cells shaded from `low` to `high`.
    Heat {
        /// What is not shaded.
        low: f64,
        /// What is shaded fully.
        high: f64,
    },
    /// Bars beside the figures, from 0 to `high`.
    Bars {
        /// The longest bar.
        high: f64,
    },
}

impl Table {
    /// The table that a folder declares, without columns and rows.
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

impl Cell {
    /// An estimate, in percent where `scale` is 100.
    pub fn new(estimate: Estimate, scale: f64, n: usize, from: Keys) -> Cell {
        let Estimate { value, low, high } = estimate;
        Cell { value: scale * value, low: Some(scale * low), high: Some(scale * high), n, from }
    }

    /// A figure whose interval may be none.
    pub fn within(value: f64, ends: Option<[f64; 2]>, n: usize, from: Keys) -> Cell {
        let (low, high) = ends.map(|[low, high]| (low, high)).unzip();
        Cell { value, low, high, n, from }
    }

    /// A count or a figure that is not drawn from anything.
    pub fn plain(value: f64, n: usize, from: Keys) -> Cell {
        Cell { value, low: None, high: None, n, from }
    }
}

/// `[("model", "m")]` as keys.
pub fn keys_of<const N: usize>(keys: [(&'static str, &str); N]) -> Keys {
    keys.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}
