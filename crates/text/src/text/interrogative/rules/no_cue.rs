//! No cue.
//!
//! What: nothing in the post could make it a question: no mark, particle, question word, A-not-A,
//! alternative or word of request.
//! Why: most posts are plain statements; they leave after one pass and are never parsed.
//! Known problems: a question by intonation alone (`你真走了`) is a statement here.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "no-cue",
    definition: "Nothing in the post suggests a question.",
    example: "邻居家的闹钟辞职去当了公鸡",
};

/// Decided before a post is parsed; a parsed post has a cue.
pub(super) fn find(_: &Post<'_>) -> Option<Range<usize>> {
    None
}
