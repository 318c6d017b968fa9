//! Opener.
//!
//! What: `谁能想到…`, `你知道吗？…`, `谁曾想` open the sentence that the mark, if any, closes.
//! Why: they announce a surprise and expect no answer.
//! Known problems: a real `你知道吗` with nothing after it stays a question.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::words::starts_with_any;

pub(super) const PAGE: Page = Page {
    code: "opener",
    definition: "The question only announces a statement: `谁能想到…`, `你知道吗？…`.",
    example: "谁能想到，从不迟到的他竟然住在钟楼里？",
    find,
};

const SURPRISES: &[&str] = &["谁能想到", "谁会想到", "谁能想象", "谁曾想", "谁想到", "谁料"];
const CALLS: &[&str] = &[
    "你知道吗",
    "你们知道吗",
    "大家知道吗",
    "你敢信吗",
    "你敢信",
    "听说了吗",
    "大家有没有发现",
    "你们有没有发现",
    "有没有发现",
];

fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let (first, rest) = post.sentences.split_first()?;
    let text = post.narration(first).trim();
    let surprise =
        post.sentences.last().filter(|last| starts_with_any(post.narration(last).trim(), SURPRISES));
    if let Some(last) = surprise {
        return Some(last.span.clone());
    }
    let called = CALLS.iter().any(|call| {
        text == *call || text.strip_prefix(call).is_some_and(|t| t.starts_with(['，', ',', ' ']))
    });
    let asks_later =
        rest.iter().any(|s| s.asks()) || first.operators.iter().filter(|op| op.is_open()).count() > 1;
    (called && !asks_later && (!rest.is_empty() || text.contains(['，', ',', ' '])))
        .then(|| first.span.clone())
}
