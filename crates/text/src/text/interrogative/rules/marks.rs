//! Rules for question marks.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::operator::Operator;
use crate::text::interrogative::post::{Mark, Post, Sentence};
use crate::text::interrogative::words::{ends_with_any, starts_with_any};

/// Final mark.
///
/// What: the last thing the narration says ends in a question mark. Placeholders and pleas after it
/// (`如题`, `在线等`) do not count.
/// Why: outside quotations, a mark at the end is nearly always meant.
/// Known problems: a mark of disbelief or sarcasm (`你管这叫早饭？`) counts as a question, as it does
/// in FLUB.
pub(super) const FINAL_MARK: Page = Page {
    code: "final-mark",
    definition: "The last sentence outside quotations carries a question mark.",
    example: "把温度计放进冰箱，它会发烧吗？",
    find: |post| {
        post.sentences.last().filter(|last| last.mark == Mark::Question).map(|last| last.span.clone())
    },
};

/// Echo mark.
///
/// What: a question mark inside the post, after words without particle or question word, and the
/// post goes on without asking.
/// Why: such a mark repeats what somebody said (`早起？我还没睡呢`) or shouts (`？！`).
/// Known problems: a question by intonation, explained afterwards (`你们也困？我困了一年了`), is
/// taken for an echo.
pub(super) const ECHO_MARK: Page = Page {
    code: "echo-mark",
    definition: "A question mark after words that ask nothing, and the post goes on: `早起？我还没睡呢`.",
    example: "减肥？我连影子都没瘦过。",
    find: echo_mark,
};

fn echo_mark(post: &Post<'_>) -> Option<Range<usize>> {
    let mut marked = post.sentences.iter().filter(|s| s.mark == Mark::Question);
    let first = marked.clone().next()?;
    // A mark at the end of the line closes a title that asks; the rest of the post is in another voice.
    let echoes = |s: &Sentence| {
        let text = post.narration(s).trim();
        !ends_with_any(text, PARTICLES)
            && !starts_with_any(text, &["不是", "莫非", "真的"])
            && !post.masked[s.span.end..].trim_start_matches(is_question_end).starts_with('\n')
    };
    let nothing_asks = post.operators().all(Operator::is_void);
    (nothing_asks && marked.all(echoes)).then(|| first.span.clone())
}

/// Particles that turn words without an operator into a question.
const PARTICLES: &[&str] = &["吧", "呢", "吗", "么", "嘛", "不", "没", "没有", "否"];

fn is_question_end(c: char) -> bool {
    matches!(c, '?' | '？' | '!' | '！' | ' ' | '\r')
}

/// Mark within.
///
/// What: a sentence with a question mark that is not the last, and what follows does not answer it.
/// Why: posters ask and then give their reason, or the content goes on where the title asked.
/// Known problems: none beyond those of the rules that look for answers.
pub(super) const MARK_WITHIN: Page = Page {
    code: "mark-within",
    definition: "A question mark inside the post, and nothing after it answers.",
    example: "雨伞能报工伤吗？我每次下雨都看见它在加班。",
    find: |post| post.sentences.iter().find(|s| s.mark == Mark::Question).map(|s| s.span.clone()),
};
