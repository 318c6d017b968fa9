//! Reported question.
//!
//! What: the narration asks nothing itself; it reports that somebody does. Either a speech tag
//! closes the post (`先走哪边，导游问`), or `问` with another subject governs the last sentence, or somebody is named before
//! a colon (`导游不解：先走哪边？`).
//! Why: a figure of the joke asks, and the joke is told as a statement.
//! Known problems: `问` is searched only before the question word, so an inverted report without a speech tag
//! at the end is missed; a letter that opens with its addressee (`馆长：…？`) is taken for speech.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::government::{is_asked_by_another, is_speech_after_colon};
use crate::text::interrogative::post::{Mark, Post, Sentence};
use crate::text::interrogative::words::ends_with_any;

pub(super) const PAGE: Page = Page {
    code: "reported",
    definition: "The narration reports that somebody asks: `…，导游问道`.",
    example: "车票能退吗？坐在云上的售票员问道。",
    find,
};

/// Endings of speech tags.
const TAGS: &[&str] = &[
    "问", "问道", "问到", "说", "说道", "说到", "道", "喊", "喊道", "大喊", "吼道", "大吼", "怒吼", "叫道",
    "大叫", "答道", "回答", "骂道", "追问", "反问", "质问",
];

/// What ends like a speech tag but is not one.
const NO_TAGS: &[&str] = &[
    "知道",
    "味道",
    "街道",
    "频道",
    "通道",
    "请问",
    "想问",
    "难道",
    "小说",
    "再说",
    "学说",
    "胡说",
    "按理说",
    "道道",
    "轨道",
    "管道",
    "人道",
    "地道",
    "霸道",
    "厚道",
    "跑道",
];

fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let (last, earlier) = post.sentences.split_last()?;
    let text = post.narration(last).trim();
    let asked_before = earlier.iter().any(|s| s.mark == Mark::Question)
        || last.operators.iter().any(|op| post.masked[op.span.end..last.span.end].contains(['，', ',', ' ']));
    let tagged = ends_with_any(text, TAGS)
        && !ends_with_any(text, NO_TAGS)
        && !text.contains(['都', '会', '每', '就']);
    if last.mark != Mark::Question && asked_before && tagged {
        return Some(last.span.clone());
    }
    let asked = post.sentences.iter().rposition(|s| s.mark == Mark::Question)?;
    let text = post.narration(&post.sentences[asked]);
    let by_another = is_asked_by_another(text) || is_speech_after_colon(text);
    (by_another && !post.sentences[asked + 1..].iter().any(Sentence::asks))
        .then(|| post.sentences[asked].span.clone())
}
