//! Why.
//!
//! What: `为什么`, `凭什么`, `为何` that no verb governs, anywhere in a narration that does not end in a full stop, or after a
//! premise (`既然`, `明明`) whatever ends it.
//! Why: asking for a reason needs no mark, and the text after it is mostly the poster's puzzlement. A full
//! stop marks a statement, unless a premise contradicts the fact: then the reason is what is asked for.
//! Known problems: a lament (`为什么受伤的总是我！`) counts as a question; one with a full stop does not.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "why",
    definition: "The poster asks for a reason: `为什么…`.",
    example: "我都把闹钟调成静音了，为什么天还是亮了",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.open_from(Kind::Why).filter(|asked| !post.is_narrated() || has_premise(&post.masked[asked.clone()]))
}

/// Whether the premise of the question is stated before it.
fn has_premise(sentence: &str) -> bool {
    sentence.contains("既然") || sentence.contains("明明")
}
