//! riddlemill rebuilds four benchmarks of cunning text from raw forum dumps. For any post it can tell why it was kept or left
//! out.
//!
//! # In reading order
//!
//! - [`record`]: what a record is, the eight [outcomes](record::Outcome) a stage can give it, the closed list of
//!   [reasons](record::Reason), and the accounting that must close.
//! - [`text`]: rules over `&str`: cleaning, anonymising, whether a text is a question, whether two texts are one joke.
//! - [`options`]: right and wrong answers in a random order; [`shortcuts`]: how well the right one can be guessed from the
//!   options alone.
//! - [`join`]: an exact similarity join, which finds every pair of texts over a threshold.
//! - [`offline`]: the rules and the join combined as the offline stages use them, according to settings.
//! - [`puzzle`]: English puzzles, their words, distractors, options and reconstructions.
//! - [`pages`] and [`warc`]: forum pages and the archives that contain them; [`crawl`] fetches them.
//! - [`log`]: the append-only logs of raw/, with proof that no line is missing.
//! - [`llm`] and [`review`]: paid replies and people's votes, both append-only.
//! - [`decisions`]: people's decisions about a record or a pair, which overrule rules, drafts and votes.
//! - [`config`] and [`store`]: settings with their origin; stage folders, written as a whole or not at all.
//! - [`stages`]: functions from typed rows to outcomes. [`recipe`]: a benchmark as a list of stages.
//! - [`search`]: finds any record of any dump by a piece of its text.
//! - [`pipeline`]: the loop that runs stages and writes their outcomes.
//! - [`release`] and [`audit`]: packaging versions, and proving where their rows come from.
//! - [`report`]: what verbs and pages tell of a workspace, as structs.
//! - [`evaluate`]: models on a finished set, and the papers' tables of their answers.
//! - [`figures`]: charts and tables as files for a paper: SVG, CSV, LaTeX.
//! - [`cli`] and [`web`]: the verbs and the web pages. They call the libraries above and contain no logic of their own.
//!
//! # Invariants
//!
//! - `raw/` is everything that cannot be recomputed. No code rewrites or deletes anything in it.
//! - `staged/` and `output/` follow from `raw/` and `pipeline.toml`, byte for byte: no time, path, thread count or map
//!   order gets into a file.
//! - Every record that enters a stage leaves it in exactly one state, with a reason from the closed list.
//!   A stage whose accounting does not close is not written.
//! - A decision about a record or a pair does not depend on other records, except which of two equal records dedup keeps.
//! - Dependencies point one way, in the order above. `text`, `record`, `options`, `shortcuts` and `join` do not use tables.

pub use riddlemill_evaluate as evaluate;
pub use riddlemill_figures as figures;
pub use riddlemill_files::{log, reading, trust};
pub use riddlemill_harvest::{crawl, fetch, pages, warc};
pub use riddlemill_llm as llm;
pub use riddlemill_pipeline::{config, pipeline, recipe, search, stages};
pub use riddlemill_record as record;
pub use riddlemill_release::{self as release, VERSION, audit};
pub use riddlemill_report as report;
pub use riddlemill_review::{self as review, decisions};
pub use riddlemill_tables as store;
pub use riddlemill_text::{join, notation, offline, options, puzzle, shortcuts, text};
pub use riddlemill_web as web;

pub mod cli;
