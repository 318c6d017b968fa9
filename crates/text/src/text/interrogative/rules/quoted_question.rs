//! Quoted question.
//!
//! What: cues are only inside quotation marks.
//! Why: a figure of the joke asks, the poster tells.
//! Known problems: scare quotes around the poster's own question hide it.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::words::has_cue;

pub(super) const PAGE: Page = Page {
    code: "quoted-question",
    definition: "Only quoted speech asks.",
    example: "“您几位？”服务员问完数了数自己的影子。",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.quotes.iter().find(|span| has_cue(&post.text[(*span).clone()])).cloned()
}
