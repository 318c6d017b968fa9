//! Mark within.
//!
//! What: a sentence with a question mark that is not the last, and what follows does not answer it.
//! Why: posters ask and then give their reason, or the content goes on where the title asked.
//! Known problems: none beyond those of the rules that look for answers.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::{Mark, Post};

pub(super) const PAGE: Page = Page {
    code: "mark-within",
    definition: "A question mark inside the post, and nothing after it answers.",
    example: "雨伞能报工伤吗？我每次下雨都看见它在加班。",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.iter().find(|s| s.mark == Mark::Question).map(|s| s.span.clone())
}
