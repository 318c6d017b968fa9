//! Echo mark.
//!
//! What: a question mark inside the post, after words without particle or question word, and the
//! post goes on without asking.
//! Why: such a mark repeats what somebody said (`早起？我还没睡呢`) or shouts (`？！`).
//! Known problems: a question by intonation, explained afterwards (`你们也困？我困了一年了`), is
//! taken for an echo.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::{Mark, Post, Sentence};
use crate::text::interrogative::words::contains_any;

pub(super) const PAGE: Page = Page {
    code: "echo-mark",
    definition: "A question mark after words that ask nothing, and the post goes on: `早起？我还没睡呢`.",
    example: "减肥？我连影子都没瘦过。",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let marked = post.sentences.iter().find(|s| s.mark == Mark::Question)?;
    let any_asks = post.sentences.iter().any(|s| s.operators.iter().any(|op| op.is_open()));
    let particle =
        |s: &Sentence| contains_any(post.narration(s), &["吧", "呢", "吗", "么", "是吧", "对吧"]).is_some();
    (!any_asks && !post.sentences.iter().filter(|s| s.mark == Mark::Question).any(particle))
        .then(|| marked.span.clone())
}
