//! The shape of a config's rows.

use riddlemill_benchmarks::Data;
use riddlemill_benchmarks::compat::Compat;
use riddlemill_benchmarks::data::{Kind, Poses};

/// The shape of one config of a release.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The config's name: its folder under data/ and the argument of `load_dataset`.
    pub config: &'static str,
    /// A description of a row, in one sentence.
    pub about: &'static str,
    /// The columns, in order; the first is the id.
    pub columns: &'static [Column],
    /// The published form, if it is known.
    pub compat: &'static [Compat],
    /// The task for a model, if the rows contain the answer.
    pub task: Option<&'static Poses>,
    /// Columns whose values are counted on the card and cross-tabulated in a diff.
    pub labels: &'static [&'static str],
    /// The column with `confirmed`, `provisional` or `synthetic`, if people review the rows.
    pub standing: Option<&'static str>,
    /// Columns that only some releases have.
    pub sometimes: &'static [&'static str],
    /// The declaration in the benchmark's folder; `None` for candidate posts.
    pub(crate) declared: Option<&'static Data>,
}

/// A column of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its key in JSON and its name in Parquet.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether it may be null.
    pub nullable: bool,
    /// Its meaning, in one sentence.
    pub about: &'static str,
    /// The allowed values; empty if any is.
    pub values: &'static [&'static str],
}
