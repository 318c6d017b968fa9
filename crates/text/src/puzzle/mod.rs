//! English puzzles: their words, misspellings and distractors, and how an original and its reconstructions
//! become rows of BrainTeaser (Jiang et al., section 3).
//!
//! In reading order: [`words`] cuts texts into words, [`promotion`] strips a site's advertising, [`spelling`]
//! proposes corrections, [`sameness`] decides whether two riddles are the same; [`wordnet`] reads the lexical
//! database, [`near`] finds words related to an answer in it, [`letters`] detects wordplay that such a word
//! must not share, [`distractors`] checks options; [`reconstruction`] compares a variant with its original;
//! [`options`] draws orders and answers; [`statistics`] computes tables 3 and 6.
//!
//! Everything here is a function of texts and seeds: no tables, no network, no clock.

pub mod distractors;
pub mod near;
pub mod options;
pub mod reconstruction;
pub mod riddle;
pub mod spelling;
pub mod statistics;
pub mod wordnet;
pub mod words;
