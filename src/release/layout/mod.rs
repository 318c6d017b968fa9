//! What the rows of each set look like: typed columns with their meaning, the published form beside
//! them, and the task they pose.
//!
//! A recipe names its layouts ([`of`]). A layout is data and two functions; each set's file also holds
//! its typed item, which a recipe's last stage fills and from which the row is made.

mod brainteaser;
mod chumor;
mod flub;
mod posts;
mod ruozhibench_gen;
mod ruozhibench_mc;

use serde_json::{Map, Value as Json};

use super::row::Row;
use crate::stages::Rows;

pub use brainteaser::Puzzle;
pub use chumor::{Joke, Opponent};
pub use flub::Cunning;
pub use posts::post_row;
pub use ruozhibench_gen::{Question, Statuses, categories};
pub use ruozhibench_mc::{Choice, Rating};

/// The shape of one config of a release.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The config's name: its folder under data/ and what `load_dataset` takes.
    pub config: &'static str,
    /// What a row is, in a sentence.
    pub about: &'static str,
    /// The columns, in order; the first is the id.
    pub columns: &'static [Column],
    /// The published form, where it is known.
    pub compat: &'static [Compat],
    /// What a model is asked, where the rows hold the answer.
    pub task: Option<Task>,
    /// Columns whose values are counted in the card and crossed in a diff.
    pub labels: &'static [&'static str],
    /// The column that says `confirmed`, `provisional` or `synthetic`, where people had to look.
    pub standing: Option<&'static str>,
    /// What must hold within a row beyond its types.
    pub check: fn(&Row) -> Result<(), String>,
}

/// A column of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its key in JSON and its name in Parquet.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether a row may lack it.
    pub nullable: bool,
    /// What it means, in a sentence.
    pub about: &'static str,
    /// The values it may hold; empty where it is open.
    pub values: &'static [&'static str],
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A whole number from 0.
    Count,
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Counts,
    /// A list of real numbers.
    Reals,
}

impl Kind {
    /// What a message calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Count => "a whole number",
            Kind::Real => "a number",
            Kind::Flag => "true or false",
            Kind::Texts => "a list of texts",
            Kind::Counts => "a list of whole numbers",
            Kind::Reals => "a list of numbers",
        }
    }

    /// Whether it is a list, and the type of what it lists or of itself.
    pub fn item(self) -> (bool, Kind) {
        match self {
            Kind::Texts => (true, Kind::Text),
            Kind::Counts => (true, Kind::Count),
            Kind::Reals => (true, Kind::Real),
            other => (false, other),
        }
    }
}

/// A file in the form that the set's authors published.
#[derive(Clone, Copy, Debug)]
pub struct Compat {
    /// Its name under compat/.
    pub file: &'static str,
    /// Objects line by line, or one array.
    pub lines: bool,
    /// The row as published, keys in the published order; `None` where the row is not in this file.
    pub published: fn(&Row) -> Option<Map<String, Json>>,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The column with the question.
    pub question: &'static str,
    /// What stands before it in the prompt.
    pub instruction: &'static str,
    /// How the answer is given.
    pub answer: Answer,
}

/// How an answer is given.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// One of the options in a list column; the gold is a column with its letter or its number.
    Choice {
        /// The column with the options.
        options: &'static str,
        /// The column with the gold.
        gold: &'static str,
    },
    /// In the model's own words, held against this column.
    Words(&'static str),
}

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, nullable: false, about, values: &[] }
}

const fn maybe(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, nullable: true, about, values: &[] }
}

const fn one_of(name: &'static str, values: &'static [&'static str], about: &'static str) -> Column {
    Column { name, kind: Kind::Text, nullable: false, about, values }
}

const STANDING: Column = one_of(
    "standing",
    &["confirmed", "provisional", "synthetic"],
    "Whether people confirmed the row, have still to, or votes written for a test stand in for theirs.",
);

const PROVENANCE: Column =
    column("source_id", Kind::Text, "The post the row was made from, as `explain` takes it.");

/// Nothing beyond the types.
fn no_check(_: &Row) -> Result<(), String> {
    Ok(())
}

impl Layout {
    /// A column's place.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
}

/// Candidate posts, as the recipes that end at dedup bring them out.
pub fn posts(recipe: &'static str) -> Layout {
    Layout { config: recipe, ..posts::LAYOUT }
}

/// Every layout of a finished set.
pub const LAYOUTS: &[Layout] =
    &[ruozhibench_gen::LAYOUT, ruozhibench_mc::LAYOUT, flub::LAYOUT, chumor::LAYOUT, brainteaser::LAYOUT];

/// The layouts of a recipe's candidates, where these are their rows.
pub fn of(recipe: &crate::recipe::Recipe, rows: Rows) -> Vec<Layout> {
    match rows {
        Rows::Posts => vec![posts(recipe.name)],
        Rows::Questions => vec![ruozhibench_gen::LAYOUT],
        Rows::Choices => vec![ruozhibench_mc::LAYOUT],
        Rows::Texts => vec![flub::LAYOUT],
        Rows::Jokes => vec![chumor::LAYOUT],
        // No recipe ends at responses.
        Rows::Responses => Vec::new(),
        // A puzzle is no row before it is a group of three.
        Rows::Puzzles | Rows::Variants => vec![brainteaser::LAYOUT],
    }
}

impl Layout {
    /// The layout where the groups of the set are split into parts; the same where its rows know none.
    pub fn split(self) -> Layout {
        if self.config == brainteaser::LAYOUT.config { brainteaser::SPLIT_LAYOUT } else { self }
    }

    /// The layout whose columns these are, for rows that were released with or without a split.
    pub fn of_keys<'a>(self, keys: impl Iterator<Item = &'a str> + Clone) -> Layout {
        let fits = |layout: &Layout| keys.clone().eq(layout.columns.iter().map(|column| column.name));
        Some(self.split()).filter(fits).unwrap_or(self)
    }
}

/// A finished set's layout by its config.
pub fn find(config: &str) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|l| l.config == config)
}
