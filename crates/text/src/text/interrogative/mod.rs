//! Whether a post asks a question.
//!
//! The benchmarks separate questions from statements, and question marks are not enough for that: half of the
//! posts that ask have none, and many that have one quote somebody else's question, answer themselves, or use
//! it as an exclamation. [`judge`] therefore reads a post in steps, one file each:
//!
//! 1. `quotation` finds what the poster quotes. Quotations are spoken by somebody in the post, not by the
//!    poster, and are masked.
//! 2. `post` splits the rest, the narration, at punctuation.
//! 3. `operator` finds words that can make a sentence a question (`吗`, `是不是`, `为什么`, `谁` …), `scope` decides
//!    whether they do so in their context (`谁都可以` asks nothing), and `government` whether a verb or reported
//!    speech governs them (`我忘了谁来过`).
//! 4. `rules` are tried in order; the first that matches decides. Each states what it looks for, why, its
//!    known problems and an example that is a test.
//!
//! There are two definitions of a question, [`Notion::Sense`] and [`Notion::Form`]: the poster wants an
//! answer, or the text ends in a question mark.
//!
//! Everything works on characters and short word lists. Posts without any cue, most of them, are decided
//! after one pass over their characters. jieba is used where a list would have to enumerate other words:
//! whether a question word is part of another word (`哪吒`, `认为何方`), and whether the text after a question
//! opens with a verb or an adverb.

mod government;
mod judgement;
mod kind;
mod operator;
mod post;
mod quotation;
mod rules;
mod scope;
#[cfg(test)]
mod tests;
mod words;

pub use judgement::{Judgement, Notion, READ_CHARS, is_question, judge, judge_by};
pub use rules::{Example, Rule};
