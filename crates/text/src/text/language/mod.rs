//! The language of a record, which selects the rules of clean, anonymise, filter and sameness.
//!
//! A source may state it, and so may `text.language`. Otherwise [`detect`] decides by script and words. What is neither
//! Chinese nor English, and what is too little to tell, is [`Language::Und`]: only rules that hold in any language apply.
//!
//! In reading order: [`detect`] counts letters by script, and words by lists and by a dictionary; [`tag`] makes the language part of
//! a text, for joins that see texts alone.

mod detect;
pub(crate) mod dictionary;
mod tag;
mod words;

pub use detect::{Detected, detect};
pub use tag::{tagged, untagged};

pub use riddlemill_record::Language;
