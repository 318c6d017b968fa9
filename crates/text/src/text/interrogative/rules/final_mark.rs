//! Final mark.
//!
//! What: the last thing the narration says ends in a question mark. Placeholders and pleas after it
//! (`如题`, `在线等`) do not count.
//! Why: outside quotations, a mark at the end is nearly always meant.
//! Known problems: a mark of disbelief or sarcasm (`你管这叫早饭？`) counts as a question, as it does
//! in FLUB.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::{Mark, Post};

pub(super) const PAGE: Page = Page {
    code: "final-mark",
    definition: "The last sentence outside quotations carries a question mark.",
    example: "把温度计放进冰箱，它会发烧吗？",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.last().filter(|last| last.mark == Mark::Question).map(|last| last.span.clone())
}
