//! Dialogue.
//!
//! What: the post is nothing but quotations, at least two, or a script whose lines open with a
//! speaker (`猫：… 狗：…`).
//! Why: the figures of the joke talk to each other, and even a last turn that asks is the punchline,
//! not a question to the reader. (A post that is a *single* quotation has nobody to talk to; it is
//! read without its marks.)
//! Known problems: two quotations that both ask the reader are taken for a dialogue; so is a list
//! whose items look like speakers.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::quotation::is_speech;
use crate::text::interrogative::words::is_letter;

pub(super) const PAGE: Page = Page {
    code: "dialogue",
    definition: "The post is all dialogue; its figures ask each other.",
    example: "“钥匙我放在锅里了。”“那汤在哪里？”",
    find,
};

/// The longest name of a speaker, in characters.
const SPEAKER_CHARS: usize = 5;

fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let mut speech = post.quotes.iter().filter(|span| is_speech(&post.text[(*span).clone()]));
    if post.sentences.is_empty() {
        speech.next()?;
        return speech.next_back().cloned();
    }
    let mut lines = post.sentences.iter().filter(|s| speaker(post.narration(s)).is_some());
    let opens = post.sentences.first().is_some_and(|s| speaker(post.narration(s)).is_some());
    lines.next()?;
    let last = lines.next_back()?;
    opens.then(|| last.span.clone())
}

/// The speaker that a line of a script opens with.
fn speaker(line: &str) -> Option<&str> {
    let (name, speech) = line.trim_start().split_once(['：', ':'])?;
    let is_name = !name.is_empty() && name.chars().count() <= SPEAKER_CHARS && name.chars().all(is_letter);
    (is_name && !speech.is_empty()).then_some(name)
}
