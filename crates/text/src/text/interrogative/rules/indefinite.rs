//! Indefinite.
//!
//! What: the question words of the narration mean any, some or none (`什么都没有`, `谁先到谁赢`) or
//! exclaim (`怎么这么慢`, `哪有天才`).
//! Why: such words look like a question and ask nothing.
//! Known problems: `怎么…都` as "why … all" is taken for "however … all".

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "indefinite",
    definition: "The question word means any, some or none, or exclaims: `谁都可以`.",
    example: "这把椅子谁坐谁就长高",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.operators().next().map(|op| op.span.clone())
}
