//! Rules for posts that have cues of a question, or none, and ask nothing.

use super::Page;
use crate::text::interrogative::scope::Scope;
use crate::text::interrogative::words::has_cue;

/// No cue.
///
/// What: nothing in the post could make it a question: no mark, particle, question word, A-not-A,
/// alternative or word of request.
/// Why: most posts are plain statements; they leave after one pass and are never parsed.
/// Known problems: a question by intonation alone (`你真走了`) is a statement here.
pub(super) const NO_CUE: Page = Page {
    code: "no-cue",
    definition: "Nothing in the post suggests a question.",
    example: "邻居家的闹钟辞职去当了公鸡",
    // Decided before a post is parsed; a parsed post has a cue.
    find: |_| None,
};

/// Passing remark.
///
/// What: an open question word or alternative without a mark, and the post goes on past it.
/// Why: `怎么还不下班，我的影子都回家了`: the word laments or sets the scene; what counts comes after.
/// Known problems: a real question without mark that is explained in the next clause is missed.
pub(super) const PASSING_REMARK: Page = Page {
    code: "passing-remark",
    definition: "A question word without a mark, and the post goes on past it.",
    example: "楼下的路灯怎么还不下班，看来它也没有双休",
    find: |post| post.operators().find(|op| op.is_open()).map(|op| op.span.clone()),
};

/// Embedded question.
///
/// What: every operator of the narration is governed by a verb (`不知道他为什么来`) or by reported
/// speech (`他想，怎么办`).
/// Why: the sentence states that somebody knows, asks or forgot; it does not ask.
/// Known problems: the governing verb is searched anywhere before the operator in its clause.
pub(super) const EMBEDDED: Page = Page {
    code: "embedded",
    definition: "A verb governs the question: `我知道他为什么来`.",
    example: "裁缝忘了自己把袖子缝在了哪里",
    find: |post| post.operators().find(|op| op.scope == Scope::Embedded).map(|op| op.span.clone()),
};

/// Indefinite.
///
/// What: the question words of the narration mean any, some or none (`什么都没有`, `谁先到谁赢`) or
/// exclaim (`怎么这么慢`, `哪有天才`).
/// Why: such words look like a question and ask nothing.
/// Known problems: `怎么…都` as "why … all" is taken for "however … all".
pub(super) const INDEFINITE: Page = Page {
    code: "indefinite",
    definition: "The question word means any, some or none, or exclaims: `谁都可以`.",
    example: "这把椅子谁坐谁就长高",
    find: |post| post.operators().next().map(|op| op.span.clone()),
};

/// Quoted question.
///
/// What: cues are only inside quotation marks.
/// Why: a character of the joke asks, not the poster.
/// Known problems: scare quotes around the poster's own question hide it.
pub(super) const QUOTED_QUESTION: Page = Page {
    code: "quoted-question",
    definition: "Only quoted speech asks.",
    example: "“您几位？”服务员问完数了数自己的影子。",
    find: |post| post.quotes.iter().find(|span| has_cue(&post.text[(*span).clone()])).cloned(),
};

/// No open question.
///
/// What: a cue that turns out not to be one (`还是` as "still", `多大` in another word).
/// Why: the last resort; it always decides.
/// Known problems: what every other rule missed lands here.
pub(super) const NO_OPEN_QUESTION: Page = Page {
    code: "no-open-question",
    definition: "What looked like a cue asks nothing.",
    example: "他最后还是把雨伞借给了雨",
    find: |_| Some(0..0),
};
