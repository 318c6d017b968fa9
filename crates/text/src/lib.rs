//! Texts, without workspace files, tables or network.
//!
//! # In reading order
//!
//! - [`text`]: rules over `&str`: cleaning, anonymising, whether a text is a question, whether two texts are one joke.
//! - [`options`]: right and wrong answers in a random order; [`shortcuts`]: how well the right one can be guessed from the
//!   options alone.
//! - [`join`]: an exact similarity join, which finds every pair of texts over a threshold.
//! - [`vectors`]: pairs of embeddings that point the same way.
//! - [`offline`]: the rules and the join combined as the offline stages use them, according to settings.
//! - [`notation`]: JSON as Python and JavaScript write it.
//! - [`hint`]: suggestions for misspelt words; [`problem`]: an error in a settings file, with its place.
//! - [`replies`]: signs that a text written by a model is unusable.
//! - [`puzzle`]: English puzzles, their words, distractors, options and reconstructions.

pub mod join;
pub mod notation;
pub mod offline;
pub mod options;
pub mod puzzle;
pub mod replies;
pub mod shortcuts;
pub mod text;
pub mod vectors;

pub use riddlemill_schema::{hint, problem};
