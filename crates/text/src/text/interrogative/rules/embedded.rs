//! Embedded question.
//!
//! What: every operator of the narration is governed by a verb (`不知道他为什么来`) or by reported
//! speech (`他想，怎么办`).
//! Why: the sentence states that somebody knows, asks or forgot; it does not ask.
//! Known problems: the governing verb is searched anywhere before the operator in its clause.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::scope::Scope;

pub(super) const PAGE: Page = Page {
    code: "embedded",
    definition: "A verb governs the question: `我知道他为什么来`.",
    example: "裁缝忘了自己把袖子缝在了哪里",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.operators().find(|op| op.scope == Scope::Embedded).map(|op| op.span.clone())
}
