//! riddlemill rebuilds four benchmarks of cunning text from raw forum dumps and can say about every
//! post why it is in or out.
//!
//! # In reading order
//!
//! - [`record`]: what a record is, the eight [outcomes](record::Outcome) a stage can give it, the
//!   closed list of [reasons](record::Reason), and the books that must close.
//! - [`text`]: rules over `&str`: what a post says, whether it asks, whether two are one joke.
//! - [`options`]: right and wrong answers in a drawn order; [`shortcuts`]: what a model may guess from.
//! - [`judges`]: how ratings are spread and how far those who give them agree.
//! - [`join`]: every pair of texts over a threshold, none lost.
//! - [`offline`]: what the offline stages make of both, by settings.
//! - [`puzzle`]: English puzzles, their words, distractors, options and reconstructions.
//! - [`pages`] and [`warc`]: forum pages and the archives that hold them; [`crawl`] fetches them.
//! - [`log`]: the append-only logs of raw/, and the proof that no line of them is gone.
//! - [`llm`] and [`review`]: replies that were paid for and votes that people gave, both only appended.
//! - [`decisions`]: what people decided about a record or a pair, over rules, drafts and votes.
//! - [`config`] and [`store`]: settings with their origin; stage folders that are whole or absent.
//! - [`stages`]: functions from typed rows to outcomes. [`recipe`]: a benchmark as a list of stages.
//! - [`search`]: any record of any dump by a piece of its text, read back from its place.
//! - [`pipeline`]: the one loop that feeds stages and writes what they say.
//! - [`release`] and [`audit`]: what leaves the workspace, and the proof of how it came about.
//! - [`evaluate`]: models on a finished set, and the papers' tables of what they answer.
//! - [`cli`] and [`web`]: the verbs and the pages; they call the libraries above and hold no logic.
//!
//! # Invariants
//!
//! - `raw/` is everything that cannot be recomputed. Nothing here rewrites or deletes in it.
//! - `staged/` and `output/` follow from `raw/` and `pipeline.toml`, byte for byte: no clock, path,
//!   thread count or map order reaches a file in them.
//! - Every record that enters a stage leaves it in exactly one state, with a reason from the closed list.
//!   A stage whose books do not close is not written.
//! - A decision about a record or a pair depends on nothing else in the input, except which of two equal
//!   records dedup keeps.
//! - Dependencies point one way, in the order above. `text`, `record`, `options`, `shortcuts` and `join` know no tables.

pub use riddlemill_files::log;
pub use riddlemill_harvest::{crawl, fetch, pages, warc};
pub use riddlemill_llm as llm;
pub use riddlemill_pipeline::{config, pipeline, recipe, search, stages};
pub use riddlemill_review::{self as review, decisions};
pub use riddlemill_tables as store;
pub use riddlemill_text::{join, judges, offline, options, puzzle, record, shortcuts, text};

pub mod evaluate;

pub mod audit;
pub mod cli;
pub mod release;
pub mod web;

/// The program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
