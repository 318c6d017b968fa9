//! What riddlemill knows of texts, with neither files of a workspace, nor tables, nor a network.
//!
//! # In reading order
//!
//! - [`record`]: what a record is, the eight [outcomes](record::Outcome) a stage can give it, the
//!   closed list of [reasons](record::Reason), and the accounting that must close.
//! - [`text`]: rules over `&str`: what a post says, whether it asks, whether two are one joke.
//! - [`options`]: right and wrong answers in a drawn order; [`shortcuts`]: what a model may guess from.
//! - [`judges`]: how ratings are spread and how far those who give them agree.
//! - [`join`]: every pair of texts over a threshold, none lost.
//! - [`offline`]: what the offline stages make of both, by settings.
//! - [`hint`]: the word that was probably meant; [`problem`]: what is wrong with a file of settings, and where.
//! - [`puzzle`]: English puzzles, their words, distractors, options and reconstructions.

pub mod hint;
pub mod join;
pub mod judges;
pub mod offline;
pub mod options;
pub mod problem;
pub mod puzzle;
pub mod record;
pub mod shortcuts;
pub mod text;
