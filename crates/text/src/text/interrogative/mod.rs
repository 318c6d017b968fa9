//! Whether a post asks a question.
//!
//! The benchmarks keep questions apart from statements, and a question mark does not tell them
//! apart: half of the posts that ask carry none, and many that carry one quote somebody else's
//! question, answer themselves, or mean it as a shout. [`judge`] therefore reads a post in steps,
//! each a file of its own:
//!
//! 1. `quotation` finds what the poster quotes. What is quoted is said by somebody in the post,
//!    not by the poster, and is masked.
//! 2. `post` splits what is left, the narration, at punctuation.
//! 3. `operator` finds what can make a sentence a question (`吗`, `是不是`, `为什么`, `谁` …), `scope`
//!    whether it still does where it stands (`谁都可以` asks nothing), and `government` whether a
//!    verb or reported speech governs it (`我忘了谁来过`).
//! 4. `rules` are tried in order; the first that finds its case decides. Each states what it
//!    looks for, why, its known problems and an example that is a test.
//!
//! Two notions of a question are distinguished, [`Notion::Sense`] and [`Notion::Form`]: the poster wants an answer, or what
//! is there ends in a question mark.
//!
//! Everything works on characters and short word lists. Posts without a single cue, most of them,
//! are answered after one pass over their characters. jieba is asked where a list would have to name words that are not
//! meant: whether a question word is part of another word (`哪吒`, `认为何方`), and whether what follows a question opens
//! with a verb or an adverb.

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
