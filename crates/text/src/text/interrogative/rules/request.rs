//! Request.
//!
//! What: a clause of the narration opens with a task (`简述`, `试论`, `请解释`) or begs for an answer (`请问`, `求解释`),
//! somebody is asked to explain something (`请各位说说…`, `请结合…分析…`), or a question word occurs with the blank of
//! an exam paper (`（）`).
//! Why: RuozhiBench contains exam-style prompts that never have a question mark, and `请问` states explicitly
//! that the poster asks.
//! Known problems: a post that parodies an exam paper and answers it counts as a request.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::quotation::is_filler;
use crate::text::interrogative::words::{clause_after, clause_before};
use crate::text::interrogative::words::{contains_any, is_clause_break, is_letter, starts_with_any};
use crate::text::segment::falls_between_words;

pub(super) const PAGE: Page = Page {
    code: "request",
    definition: "The post sets a task (`简述…`, `请解释…`) or begs for an answer (`请问…`).",
    example: "简述把月亮换成灯泡之后潮汐的计费方法",
    find: find_request,
};

/// Phrases that set a task or ask anywhere in a sentence, with or without a connective or a condition before
/// them: `因此简述…`, `在冬天，请问…`.
const ANYWHERE: &[&str] = &[
    "简述",
    "简要列举",
    "简要说明",
    "简要概括",
    "简要分析",
    "简要概述",
    "简要描述",
    "简要回答",
    "简单说明",
    "请问",
    "敢问",
    "求问",
    "请教",
    "求教",
];

/// Verbs that set a task where they open the post or follow `请`, `试` or a connective. Elsewhere
/// they narrate: `鬼会敲门，证明鬼有礼貌`.
const VERBS: &[&str] = &[
    "述",
    "论",
    "析",
    "求",
    "说明",
    "证明",
    "分析",
    "解释",
    "阐述",
    "论证",
    "论述",
    "探讨",
    "计算",
    "描述",
    "列举",
    "列出",
    "概述",
    "概括",
    "评价",
    "推导",
    "简析",
    "写出",
    "举例",
    "给出",
    "指出",
    "比较",
    "回答",
    "谈谈",
    "说说",
    "讲讲",
    "设计",
    "判断",
    "你解释",
    "你说明",
];

/// Words after which a task verb of more than one character counts.
const LEADS: &[&str] = &[
    "",
    "请",
    "试",
    "请试",
    "因此",
    "因此请",
    "那么",
    "那么请",
    "所以",
    "所以请",
    "故",
    "据此",
    "据此请",
    "并",
    "并请",
];

/// Verbs of explaining. After `请` they set a task, with anybody or anything named in between: `请结合实际分析…`,
/// `请大家说说…`.
const SETTING_OUT: &[&str] = &[
    "说说", "谈谈", "讲讲", "聊聊", "解释", "说明", "分析", "评价", "论述", "论证", "阐述", "证明", "列举",
    "描述", "概括", "回答", "推导", "计算", "比较", "举例", "简述", "简析", "指出", "作答", "评论", "讨论",
    "探讨",
];

/// Most characters between `请` and such a verb.
const NAMED_CHARS: usize = 14;

/// Pleas that open a clause.
const PLEAS: &[&str] = &[
    "求解",
    "求助",
    "求证",
    "求指教",
    "跪求",
    "急求",
    "说说你",
    "说说为什么",
    "说说怎么",
    "谈谈你",
    "谈谈为什么",
    "解释一下",
    "大家猜猜",
    "猜猜",
    "你猜",
];

/// What a plea asks for: `求大神解释…`.
const HELPS: &[&str] = &["解释", "解答", "指点", "指教", "科普", "支招", "告知"];

fn find_request(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.iter().enumerate().find_map(|(index, sentence)| {
        let text = post.narration_of(sentence);
        let at = find_blank(&post.text[sentence.span.clone()])
            .filter(|_| sentence.is_asking())
            .or_else(|| contains_any(text, ANYWHERE).and_then(|word| asked_at(text, word)))
            .or_else(|| clause_starts(text).find(|at| opens_task(&text[*at..], index == 0 && *at == 0)))?;
        Some(sentence.span.start + at..sentence.span.end)
    })
}

/// The blank of an exam paper.
fn find_blank(text: &str) -> Option<usize> {
    ["（）", "()", "（ ）", "( )", "____"].iter().find_map(|blank| text.find(blank))
}

/// Where `word` asks in `text`: it governs a phrase after it and nobody else is said to ask.
fn asked_at(text: &str, word: &str) -> Option<usize> {
    let at = text.find(word)?;
    let clause = clause_before(&text[..at]);
    let reported = clause.contains(['让', '问', '他', '她', '说', '名', '被', '题', '道']);
    let says_more = text[at + word.len()..].chars().any(|c| is_letter(c) || is_filler(c));
    (!reported && says_more).then_some(at)
}

/// Whether a clause opens with a plea or a task; `first`: the clause opens the post.
fn opens_task(clause: &str, first: bool) -> bool {
    let begs = clause.starts_with('求') && contains_any(clause_after(clause), HELPS).is_some();
    if begs || (starts_with_any(clause, PLEAS) && !clause.starts_with("你猜怎么")) {
        return true;
    }
    if clause.strip_prefix('请').is_some_and(asks_to_set_out) {
        return true;
    }
    LEADS.iter().filter(|lead| first || !lead.is_empty()).any(|lead| {
        let Some(rest) = clause.strip_prefix(lead) else { return false };
        VERBS.iter().any(|verb| {
            let Some(task) = rest.strip_prefix(verb) else { return false };
            let short = verb.chars().count() == 1;
            (!short || lead.ends_with('试'))
                && (!lead.is_empty() || sets_task(verb))
                && !task.starts_with(['是', '了', '师', '书'])
                && task.chars().filter(|c| is_letter(*c)).count() > 2
        })
    })
}

/// Whether the text after `请` is a task: a verb of [`SETTING_OUT`] shortly after, and its object.
fn asks_to_set_out(rest: &str) -> bool {
    let near = rest.char_indices().nth(NAMED_CHARS).map_or(rest, |(end, _)| &rest[..end]);
    SETTING_OUT.iter().any(|verb| {
        near.find(verb).is_some_and(|at| {
            let (named, task) = (&rest[..at], &rest[at + verb.len()..]);
            let after = task.chars().filter(|c| is_letter(*c)).count();
            // `请对…作出评价`: the object comes before the verb.
            let before = named.starts_with(['对', '就']) && named.chars().count() > 3;
            !named.contains(['不', '别', '勿', '来', '我'])
                && !falls_between_words(rest, at..at + verb.len())
                && (after > 2 || before)
        })
    })
}

/// Whether a verb sets a task as the first word of a post, without `请`. Everyday words such as `说明`, `比较`,
/// `回答` do not.
fn sets_task(verb: &str) -> bool {
    matches!(
        verb,
        "证明"
            | "分析"
            | "解释"
            | "阐述"
            | "论证"
            | "论述"
            | "探讨"
            | "列举"
            | "列出"
            | "给出"
            | "概述"
            | "评价"
            | "推导"
            | "简析"
    )
}

/// Where the clauses of a sentence begin.
fn clause_starts(text: &str) -> impl Iterator<Item = usize> {
    let breaks = text.char_indices().filter(|(_, c)| is_clause_break(*c)).map(|(at, c)| at + c.len_utf8());
    std::iter::once(0).chain(breaks)
}
