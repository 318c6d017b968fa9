//! The shape of a config's rows.

use riddlemill_benchmarks::Data;
use riddlemill_benchmarks::data::{Compat, Kind, Poses};

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
    pub task: Option<&'static Poses>,
    /// Columns whose values are counted in the card and crossed in a diff.
    pub labels: &'static [&'static str],
    /// The column that says `confirmed`, `provisional` or `synthetic`, where people had to look.
    pub standing: Option<&'static str>,
    /// Columns that are only in some releases.
    pub sometimes: &'static [&'static str],
    /// What the benchmark's folder declares; nothing of candidate posts.
    pub(super) declared: Option<&'static Data>,
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
