//! English puzzles: what a riddle says, which words of it are misspelt, what tempts beside its answer,
//! and how an original and its reconstructions become rows of BrainTeaser (Jiang et al., section 3).
//!
//! In reading order: [`words`] cuts texts into words, [`promotion`] takes a site's own talk off them,
//! [`spelling`] proposes corrections, [`sameness`] says whether two riddles are one; [`wordnet`] reads
//! the lexical database, [`near`] finds words beside an answer in it, [`letters`] knows the plays on
//! letters that such a word must not repeat, [`distractors`] checks options; [`reconstruction`] compares a
//! variant with its original; [`options`] draws orders and answers; [`statistics`] counts like tables 3 and 6.
//!
//! Everything here is a function of texts and seeds: no tables, no network, no clock.

pub mod distractors;
pub mod letters;
pub mod near;
pub mod options;
pub mod promotion;
pub mod reconstruction;
pub mod sameness;
pub mod spelling;
pub mod statistics;
pub mod wordnet;
pub mod words;
