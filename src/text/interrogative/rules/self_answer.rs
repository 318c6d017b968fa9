//! Self-answer.
//!
//! What: a question, and what follows answers it: it opens with a reason or a remedy (`因为`, `当然`,
//! `别担心`, `只要`), or the question asks for a phrase and a phrase without the poster in it follows.
//! Why: a riddle told with its answer is a statement.
//! Known problems: an answer that looks like a further thought (`我想是猫`) is not recognised; a
//! short remark after `什么…？` may be taken for an answer.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::operator::{Kind, Operator};
use crate::text::interrogative::post::{Mark, Post, Sentence};
use crate::text::interrogative::words::{contains_any, is_break, starts_with_any};

pub(super) const PAGE: Page = Page {
    code: "self-answer",
    definition: "The post answers its own question: `为什么…？因为…`.",
    example: "为什么蜗牛从不搬家？因为房贷还没还清。",
};

/// What an answer opens with.
const ANSWERS: &[&str] = &[
    "因为",
    "可能因为",
    "可能是因为",
    "大概因为",
    "大概是因为",
    "是因为",
    "这是因为",
    "那是因为",
    "由于",
    "毕竟",
    "原来",
    "答案",
    "答：",
    "答:",
    "当然",
    "不妨",
    "只要",
    "只需",
    "首先",
    "别担心",
    "别怕",
    "别慌",
    "别急",
    "别着急",
    "不用",
    "不要",
    "不怕",
    "莫慌",
    "专家",
    "教你",
    "建议",
    "回答",
    "其实是",
    "恭喜",
    "没错",
    "很简单",
    "简单",
    "你只",
    "你就",
    "你可以",
    "告诉",
    "快来",
    "快用",
    "可以用",
    "试试",
    "小编",
    "方法",
    "相信",
    "一招",
];

/// What answers a yes-no question.
const YES_OR_NO: &[&str] = &["不", "是的", "是啊", "对", "没有", "没呢", "会的", "可以", "能", "嗯"];

/// Who else answers.
const REPLIES: &[&str] = &["回答说", "回答道", "答道", "回答：", "答曰", "回答:", "回答到"];

/// What a further thought opens with, rather than an answer.
const ELABORATIONS: &[&str] = &[
    "我",
    "俺",
    "在下",
    "急",
    "在线",
    "求",
    "真",
    "太",
    "也太",
    "好",
    "明明",
    "怎么",
    "每次",
    "多",
    "这",
    "那",
    "之前",
    "为什么",
    "难道",
    "是不是",
    "听",
    "昨",
    "今",
    "已",
    "刚",
    "再",
    "一个",
    "有没有",
    "想",
    "现在",
    "不然",
    "要不",
    "虽然",
    "但",
    "可是",
    "如果",
    "总",
    "谁",
    "A",
    "1",
    "①",
];

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    let last_asks = post.sentences.last().is_some_and(Sentence::asks);
    post.sentences.iter().enumerate().find_map(|(index, sentence)| {
        let tail = &post.sentences[index + 1..];
        if !sentence.asks() {
            return None;
        }
        if let Some(within) = answered_within(post, sentence) {
            return Some(within);
        }
        let next = tail.first()?;
        let answer = post.text[next.span.clone()].trim_matches(is_break);
        let yes_no =
            sentence.operators.iter().any(|op| op.is_open() && matches!(op.kind, Kind::Polar | Kind::ANotA));
        let opens = starts_with_any(answer, ANSWERS)
            || (yes_no && starts_with_any(answer, YES_OR_NO))
            || tail.iter().any(|s| contains_any(&post.masked[s.span.clone()], REPLIES).is_some());
        let phrase = sentence.mark == Mark::Question
            && !last_asks
            && sentence.operators.iter().any(|op| op.is_open() && op.kind.wants_phrase())
            && !starts_with_any(answer, ELABORATIONS)
            && contains_any(answer, &["我", "俺"]).is_none();
        ((opens && !last_asks) || phrase).then(|| sentence.span.start..next.span.end)
    })
}

/// `怎么会……呢 可能因为……`: question and reason in one sentence.
fn answered_within(post: &Post<'_>, sentence: &Sentence) -> Option<Range<usize>> {
    let open: &Operator = sentence.operators.iter().find(|op| !op.is_embedded())?;
    let after = &post.masked[open.span.end..sentence.span.end];
    let at = after.find(is_break)?;
    let next = after[at..].trim_start_matches(is_break);
    let reasons =
        ["因为", "可能因为", "可能是因为", "大概因为", "大概是因为", "是因为", "原来", "当然是", "答案"];
    starts_with_any(next, &reasons).then(|| open.span.start..sentence.span.end)
}
