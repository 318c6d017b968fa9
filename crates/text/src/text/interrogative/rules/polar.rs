//! Particle.
//!
//! What: `吗`, `么` at the end of a clause, or `难道`, outside reported speech.
//! Why: the particle does nothing but ask.
//! Known problems: a question that is only polite (`记得我吗，我来还钱`) counts.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "polar",
    definition: "A particle makes the sentence a question: `…吗`.",
    example: "雪人退休以后有养老金吗",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.open_from(Kind::Polar)
}
