//! No open question.
//!
//! What: a cue that turns out not to be one (`还是` as "still", `多大` in another word).
//! Why: the last resort; it always decides.
//! Known problems: what every other rule missed lands here.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "no-open-question",
    definition: "What looked like a cue asks nothing.",
    example: "他最后还是把雨伞借给了雨",
};

pub(super) fn find(_: &Post<'_>) -> Option<Range<usize>> {
    Some(0..0)
}
