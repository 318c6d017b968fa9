//! Alternative.
//!
//! What: `A还是B` with parallel sides, as the last thing said.
//! Why: it leaves the choice to the reader.
//! Known problems: `还是` also means "still"; sides that do not begin or end alike and have no `是` are missed.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "alternative",
    definition: "Two alternatives are put to the reader: `A还是B`.",
    example: "睡着的鱼算午睡还是算潜水",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.open_last(|kind| kind == Kind::Alternative)
}
