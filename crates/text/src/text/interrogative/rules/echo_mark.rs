//! Echo mark.
//!
//! What: a question mark inside the post, after words without particle or question word, and the
//! post goes on without asking.
//! Why: such a mark repeats what somebody said (`早起？我还没睡呢`) or shouts (`？！`).
//! Known problems: a question by intonation, explained afterwards (`你们也困？我困了一年了`), is
//! taken for an echo.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::operator::Operator;
use crate::text::interrogative::post::{Mark, Post, Sentence};
use crate::text::interrogative::words::{ends_with_any, starts_with_any};

/// Particles that turn words without an operator into a question.
const PARTICLES: &[&str] = &["吧", "呢", "吗", "么", "嘛", "不", "没", "没有", "否"];

pub(super) const PAGE: Page = Page {
    code: "echo-mark",
    definition: "A question mark after words that ask nothing, and the post goes on: `早起？我还没睡呢`.",
    example: "减肥？我连影子都没瘦过。",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let mut marked = post.sentences.iter().filter(|s| s.mark == Mark::Question);
    let first = marked.clone().next()?;
    // A mark at the end of the line closes a title that asks; the rest of the post is in another voice.
    let echoes = |s: &Sentence| {
        let text = post.narration(s).trim();
        !ends_with_any(text, PARTICLES)
            && !starts_with_any(text, &["不是", "莫非", "真的"])
            && !post.masked[s.span.end..].trim_start_matches(is_question_end).starts_with('\n')
    };
    let nothing_asks = post.operators().all(Operator::is_void);
    (nothing_asks && marked.all(echoes)).then(|| first.span.clone())
}

fn is_question_end(c: char) -> bool {
    matches!(c, '?' | '？' | '!' | '！' | ' ' | '\r')
}
