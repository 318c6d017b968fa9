//! Rules for posts that ask: by a question mark, or by a word such as `吗`, `为什么` or `是不是`, with or without one.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::QuestionKind;
use crate::text::interrogative::operator::Operator;
use crate::text::interrogative::post::{Post, Sentence, SentenceMark};
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
        post.sentences.last().filter(|last| last.mark == SentenceMark::Question).map(|last| last.span.clone())
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
    let mut marked = post.sentences.iter().filter(|s| s.mark == SentenceMark::Question);
    let first = marked.clone().next()?;
    // A mark at the end of the line closes a title that asks; the rest of the post is in another voice.
    let echoes = |s: &Sentence| {
        let text = post.narration_of(s).trim();
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
    find: |post| post.sentences.iter().find(|s| s.mark == SentenceMark::Question).map(|s| s.span.clone()),
};

/// Help.
///
/// What: `怎么办`, `咋整`, `怎么回事` that no verb governs.
/// Why: the poster is at a loss and says so; a mark is often left out.
/// Known problems: a plan told as `怎么办就怎么办` is excluded only by the repetition.
pub(super) const HELP: Page = Page {
    code: "help",
    definition: "The poster is at a loss: `…怎么办`.",
    example: "冰箱把我的外卖冻成了化石怎么办",
    find: |post| post.open_from(QuestionKind::Help),
};

/// Why.
///
/// What: `为什么`, `凭什么`, `为何` that no verb governs, anywhere in a narration that does not end in a full stop, or after a
/// premise (`既然`, `明明`) whatever ends it.
/// Why: asking for a reason needs no mark, and the text after it is mostly the poster's puzzlement. A full
/// stop marks a statement, unless a premise contradicts the fact: then the reason is what is asked for.
/// Known problems: a lament (`为什么受伤的总是我！`) counts as a question; one with a full stop does not.
pub(super) const WHY: Page = Page {
    code: "why",
    definition: "The poster asks for a reason: `为什么…`.",
    example: "我都把闹钟调成静音了，为什么天还是亮了",
    find: |post| {
        post.open_from(QuestionKind::Why)
            .filter(|asked| !post.is_narrated() || has_premise(&post.masked[asked.clone()]))
    },
};

/// Whether the premise of the question is stated before it.
fn has_premise(sentence: &str) -> bool {
    sentence.contains("既然") || sentence.contains("明明")
}

/// Particle.
///
/// What: `吗`, `么` at the end of a clause, or `难道`, outside reported speech.
/// Why: the particle does nothing but ask.
/// Known problems: a question that is only polite (`记得我吗，我来还钱`) counts.
pub(super) const POLAR: Page = Page {
    code: "polar",
    definition: "A particle makes the sentence a question: `…吗`.",
    example: "雪人退休以后有养老金吗",
    find: |post| post.open_from(QuestionKind::Polar),
};

/// A-not-A.
///
/// What: a verb followed by its negation (`是不是`, `会不会`, `有没有`), `是否`, or a final `没`, that no verb governs.
/// Why: the pattern puts both answers to the reader.
/// Known problems: a softened claim (`是不是有点过分了`) counts as a question; so does
/// a noun that ends in the verb (`月亮没亮`).
pub(super) const A_NOT_A: Page = Page {
    code: "a-not-a",
    definition: "A verb is followed by its negation: `是不是`, `会不会`.",
    example: "把日历全撕了是不是就不用过年了",
    find: |post| post.open_from(QuestionKind::ANotA),
};

/// Alternative.
///
/// What: `A还是B` with parallel sides, at the end of the text.
/// Why: it leaves the choice to the reader.
/// Known problems: `还是` also means "still"; sides that do not begin or end alike and have no `是` are missed.
pub(super) const ALTERNATIVE: Page = Page {
    code: "alternative",
    definition: "Two alternatives are put to the reader: `A还是B`.",
    example: "睡着的鱼算午睡还是算潜水",
    find: |post| post.open_last(|kind| kind == QuestionKind::Alternative),
};

/// Question word.
///
/// What: an open `谁`, `什么`, `哪`, `怎么`, `多少` … in the last sentence, without a full stop after it.
/// Why: with nothing after it the question is left to the reader; a full stop marks a statement.
/// Known problems: a lament in the last clause (`怎么又下雨了`) counts, unless it ends in `！`.
pub(super) const QUESTION_WORD: Page = Page {
    code: "question-word",
    definition: "The last thing said has a question word that asks.",
    example: "剃了光头的蒲公英要怎么许愿",
    find: |post| {
        if post.is_narrated() {
            return None;
        }
        post.open_last(|kind| matches!(kind, QuestionKind::How | QuestionKind::What | QuestionKind::Which))
    },
};
