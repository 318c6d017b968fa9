//! A-not-A.
//!
//! What: a verb followed by its negation (`是不是`, `会不会`, `有没有`), `是否`, or a final `没`, that no verb governs.
//! Why: the pattern puts both answers to the reader.
//! Known problems: a softened claim (`是不是有点过分了`) counts as a question; so does
//! a noun that ends in the verb (`月亮没亮`).

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "a-not-a",
    definition: "A verb is followed by its negation: `是不是`, `会不会`.",
    example: "把日历全撕了是不是就不用过年了",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.open_from(Kind::ANotA)
}
