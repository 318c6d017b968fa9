//! Tables and figures from scored answers, as declared in the benchmark's folder.
//!
//! [`ScoreBook`] groups answers by items; `declared` computes one figure per column; tables beyond a list of
//! columns are kinds of their own, one or two per file: `judged`, `orders`, `people`, `preferences`, `free`,
//! `across`; `leaderboard` ranks the models of every task. [`report`] combines them with the charts, the comparisons of models, and the baselines' known
//! figures. Nothing here asks models, reads or writes files.

mod across;
mod classed;
mod compare;
mod conversations;
mod declared;
mod free;
mod judged;
mod known;
mod leaderboard;
mod orders;
mod people;
mod preferences;
mod replies;
mod report;
mod sampled;
mod scores;
#[cfg(test)]
mod tests;

pub use across::Point;
pub use compare::{Comparison, compare_models};
pub use conversations::conversation_tables;
pub use replies::replies_table;
pub use report::{Report, Scores, add_scores, compute_report};
pub use sampled::{calibration_tables, sample_tables};
pub use scores::{AnswerAuthor, PEOPLE, ScoreBook};

/// The shares without shading and with full shading.
const SHADED: [f64; 2] = [0.0, 100.0];
