//! Heading.
//!
//! What: `如何…`, `怎样…` after a label (`生活妙招：`, `惊人发现！`, `第一课：`), or before a colon.
//! Why: the question is the title of an instruction that follows or is implied.
//! Known problems: only labels that name an instruction are known.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::{Mark, Post};
use crate::text::interrogative::words::{contains_any, starts_with_any};

pub(super) const PAGE: Page = Page {
    code: "heading",
    definition: "The question is the heading of an instruction: `生活妙招：如何…`.",
    example: "厨房小妙招：如何让鸡蛋自愿开门",
    find,
};

const LABELS: &[&str] = &[
    "妙招", "绝招", "小招", "发现", "课", "教程", "技巧", "指南", "攻略", "知识", "秘诀", "秘籍", "常识",
    "手册", "科普", "方法", "贴士", "干货", "教学", "宝典", "大全", "必看", "必备", "教你",
];

fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.iter().find_map(|sentence| {
        if sentence.mark == Mark::Question {
            return None;
        }
        let op = sentence.operators.iter().find(|op| op.kind == Kind::How && !op.is_void())?;
        let before = &post.masked[..op.span.start];
        let label = before.find(['：', ':', '！', '!', ' ', '】']).map_or("", |at| &before[..at]);
        let after = &post.masked[op.span.end..sentence.span.end];
        // `论如何…`, `浅谈怎样…`: the title of an essay.
        let essay =
            starts_with_any(before[sentence.span.start..].trim_start(), &["论", "浅谈", "浅析", "记"]);
        (essay || contains_any(label, LABELS).is_some() || after.contains(['：', ':']))
            .then(|| sentence.span.clone())
    })
}
