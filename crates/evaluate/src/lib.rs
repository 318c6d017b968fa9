//! Evaluates models on a set, with the papers' tables.
//!
//! # In reading order
//!
//! - [`Set`] and [`Item`] are the subject, [`Task`] and [`Setting`] the questions.
//! - [`Plan`] asks endpoints and baselines, [`outputs`] imports answers from elsewhere, [`ballots`] those of people.
//! - `read` parses the choice of an answer; `judge` has other answers judged.
//! - [`tables`] computes figures from answers, by the measures of `riddlemill_figures`; [`write`] writes a results folder.
//!
//! Parsing, scoring and figures do not need stage tables; asking, loading and writing need the workspace.
//!
//! # Invariants
//!
//! - A figure follows from the set, the answers and the seed, independent of how the answers were obtained and in which order.
//! - An answer that cannot be parsed is a format error, counted separately, and never a guess.
//! - Every figure has its n, and an interval if it is computed from items.
//! - Every answer has its origin, every figure the answers it is computed from.

mod answer;
mod builtin;
mod charts;
mod chinese;
mod confidence;
mod item;
mod pair_order;
mod prompt;
mod read;
mod set;
pub mod tables;
mod task;
#[cfg(test)]
mod testing;

mod ask;
pub mod ballots;
mod converse;
mod error;
mod evaluation;
mod folder;
mod join;
mod judge;
mod load;
pub mod names;
pub mod outputs;
mod page;
mod released;
mod results;

use riddlemill_figures::{self as figures, markup, measures};
use riddlemill_files::reading;
use riddlemill_llm as llm;
use riddlemill_pipeline::{config, pipeline, recipe, stages};
use riddlemill_record as record;
use riddlemill_release::{self as release, VERSION, audit};
use riddlemill_review as review;
use riddlemill_tables as store;
use riddlemill_text::{notation, options, puzzle, text};

pub use answer::{Answer, NoAnswer, Rating, RawAnswer};
pub use builtin::BuiltIn;
pub use item::Item;
pub use pair_order::person_first;
pub use prompt::{Form, build_ask as request, draw_shots, record_of_request};
pub use read::parse_choice;
pub use set::{Sample, Set, Stratum};
pub use task::{Setting, Task, UnknownTask};

pub use ask::{Missing, Model, Plan};
pub use error::{EvaluateError, SetAside};
pub use evaluation::{Evaluated, ModelAccess, Settings, estimate_sets, evaluate_sets};
pub use folder::write_results;
pub use load::load_set;
pub use results::{Results, figure_files, format_errors, without_answer};
