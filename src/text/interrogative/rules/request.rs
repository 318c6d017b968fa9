//! Request.
//!
//! What: a clause of the narration opens with a task (`简述`, `试论`, `请解释`) or begs for an answer
//! (`请问`, `求解释`), or a question word stands beside the blank of an exam paper (`（）`).
//! Why: RuozhiBench holds exam-style prompts that never carry a question mark, and `请问` says in so
//! many words that the poster asks.
//! Known problems: a post that parodies an exam paper and answers it counts as a request.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::operator::clause_before;
use crate::text::interrogative::post::Post;
use crate::text::interrogative::quotation::is_filler;
use crate::text::interrogative::words::{is_letter, starts_with_any};

pub(super) const PAGE: Page = Page {
    code: "request",
    definition: "The post sets a task (`简述…`, `请解释…`) or begs for an answer (`请问…`).",
    example: "简述把月亮换成灯泡之后潮汐的计费方法",
};

/// Tasks that may follow a connective: `因此简述…`, `在冬天，试论…`.
const TASKS: &[&str] = &[
    "简述",
    "简要列举",
    "简要说明",
    "简要概括",
    "简要分析",
    "简要概述",
    "简要描述",
    "简要回答",
    "简单说明",
    "试述",
    "试论",
    "试析",
    "试说明",
    "试证明",
    "试分析",
    "试求",
    "试解释",
    "论述",
    "列举",
    "概述",
    "请问",
    "敢问",
    "求问",
    "请教",
    "求教",
];

/// Tasks that are also ordinary verbs and count only where a clause opens with them.
const PLEAS: &[&str] = &[
    "请解释",
    "请说明",
    "请证明",
    "请分析",
    "请论述",
    "请论证",
    "请列举",
    "请写出",
    "请计算",
    "请描述",
    "请谈谈",
    "请举例",
    "请给出",
    "请指出",
    "请比较",
    "请回答",
    "请简述",
    "请教",
    "请说说",
    "请你解释",
    "请你说明",
    "求解释",
    "求解答",
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
    "证明：",
    "证明:",
    "分析：",
    "解释一下",
    "说明理由",
    "大家猜猜",
    "猜猜",
    "你猜",
];

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.iter().find_map(|sentence| {
        let text = post.narration(sentence);
        let blank = ["（）", "()", "（ ）", "( )"]
            .iter()
            .find_map(|blank| post.text[sentence.span.clone()].find(blank));
        if let Some(at) = blank.filter(|_| sentence.asks()) {
            return Some(sentence.span.start..sentence.span.start + at);
        }
        let at = TASKS.iter().filter_map(|task| task_at(text, task)).min().or_else(|| plea_at(text))?;
        Some(sentence.span.start + at..sentence.span.end)
    })
}

/// Where `text` sets a task: the word governs a further phrase and nobody else is said to set it.
fn task_at(text: &str, task: &str) -> Option<usize> {
    let at = text.find(task)?;
    let clause = clause_before(&text[..at]);
    let told = clause.contains(['让', '问', '我', '他', '她', '说', '名', '被', '题'])
        && !clause.contains("我想")
        && !clause.contains("我们");
    let said_more = text[at + task.len()..].chars().any(|c| is_letter(c) || is_filler(c));
    (!told && said_more).then_some(at)
}

fn plea_at(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let clause = &text[at..];
        if starts_with_any(clause, PLEAS) {
            return Some(at);
        }
        at += clause.char_indices().find(|(_, c)| matches!(c, '，' | ',' | ' ' | '：' | ':' | '、'))?.0;
        at += text[at..].chars().next()?.len_utf8();
    }
}
