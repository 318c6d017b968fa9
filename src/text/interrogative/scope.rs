//! Whether an operator asks where it stands.
//!
//! `谁` asks in `谁来过？`, not in `谁都可以` (anybody), `我忘了谁来过` (governed by a verb) or
//! `谁先到谁赢` (whoever). The tests look left and right of the operator in its sentence.

use std::ops::Range;

use super::operator::{Kind, clause_after, clause_before};
use super::words::{contains_any, ends_with_any, is_break, is_clause_break, rfind_any, starts_with_any};

/// What an operator does in its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// It asks.
    Open,
    /// A verb governs it: `我知道他为什么来`.
    Embedded,
    /// It means any, some or none: `什么都没有`, `没什么`, `谁先到谁赢`.
    Indefinite,
    /// It exclaims or takes its answer for granted: `怎么这么慢`, `谁能想到`.
    Rhetorical,
}

/// The scope of an operator of a kind at `span` of `sentence`.
pub(super) fn of(kind: Kind, sentence: &str, span: Range<usize>) -> Scope {
    let (before, after) = (&sentence[..span.start], &sentence[span.end..]);
    let word = &sentence[span];
    if is_rhetorical(kind, before, word, after) {
        Scope::Rhetorical
    } else if is_indefinite(kind, before, word, after) {
        Scope::Indefinite
    } else if is_embedded(kind, before, after) {
        Scope::Embedded
    } else {
        Scope::Open
    }
}

fn is_rhetorical(kind: Kind, before: &str, word: &str, after: &str) -> bool {
    if before.contains("倒是说") {
        return true; // `你倒是说说…` dares the reader
    }
    match kind {
        Kind::How => {
            starts_with_any(
                after,
                &["这么", "那么", "如此", "可能", "会", "能", "敢", "着", "说呢", "就这么"],
            ) && !after.contains("才能")
        }
        Kind::What => {
            before.ends_with('算') && !before.ends_with("不算")
                || (before.ends_with('有')
                    && starts_with_any(after, &["好", "可", "大不了", "了不起", "办法"]))
        }
        Kind::Which => match word {
            "谁" => {
                starts_with_any(
                    after,
                    &[
                        "能想到",
                        "会想到",
                        "曾想",
                        "料",
                        "想到",
                        "让",
                        "叫",
                        "说",
                        "不",
                        "敢",
                        "再",
                        "知",
                        "还",
                    ],
                ) && !after.starts_with("知道")
            }
            "哪里" | "哪" => starts_with_any(
                after,
                &["有", "能", "会", "敢", "来那么", "来这么", "知", "怕", "吒", "么", "像", "用"],
            ),
            _ => false,
        },
        Kind::ANotA if word == "有没有" => starts_with_any(after, &["发现", "觉得", "想过"]),
        Kind::ANotA => {
            matches!(word, "好不好" | "行不行" | "懂不懂")
                && !before.contains('吗')
                && after.is_empty()
                && before.contains("不要")
        }
        _ => false,
    }
}

fn is_indefinite(kind: Kind, before: &str, word: &str, after: &str) -> bool {
    let clause = clause_before(before);
    let follows = clause_after(after);
    let governed = contains_any(before, &["无论", "不管", "不论", "任凭", "随便", "别管"]).is_some();
    match kind {
        Kind::Polar | Kind::Why => governed,
        Kind::ANotA | Kind::Alternative | Kind::Help => governed || starts_with_any(after, &["都"]),
        Kind::How => {
            governed
                || ends_with_any(clause, &["不", "没"])
                || contains_any(follows, &["也", "都"]).is_some()
                || repeats(before, word, after)
        }
        Kind::What | Kind::Which => {
            governed
                || contains_any(follows, &["都", "也"]).is_some()
                || contains_any(clause, &["没", "不要", "别", "从不", "不是"]).is_some()
                || ends_with_any(clause, &["不", "不为", "点", "些", "像"])
                || starts_with_any(after, &["的", "嘛", "就", "时候"])
                    && !after.starts_with("时候")
                    && !ends_with_any(clause, &["是", "干", "叫", "说"])
                || repeats(before, word, after)
                || (word == "什么" && is_exclaimed_noun(clause, after))
                || (before.ends_with("有") && contains_any(after, &["别", "尽管", "就"]).is_some())
        }
    }
}

/// `谁先到谁赢`, `走到哪里，哪里停电`: the word comes twice.
fn repeats(before: &str, word: &str, after: &str) -> bool {
    after.contains(word) || before.contains(word)
}

/// `什么破歌` as a clause of its own scorns; `什么时候`, `什么是…` ask.
fn is_exclaimed_noun(clause: &str, after: &str) -> bool {
    const ASKING: &[&str] = &[
        "时", "是", "样", "叫", "东西", "原因", "意思", "人", "情况", "地方", "动物", "算", "季节", "职业",
        "水果", "食物", "书", "车", "颜色",
    ];
    clause.trim().is_empty() && !after.is_empty() && !starts_with_any(after, ASKING)
}

/// Verbs that take a question as their object.
const GOVERNING: &[&str] = &[
    "知道",
    "不知",
    "未知",
    "明白",
    "懂",
    "清楚",
    "弄清",
    "搞清",
    "问",
    "询问",
    "告诉",
    "发现",
    "思考",
    "研究",
    "考虑",
    "了解",
    "判断",
    "决定",
    "取决",
    "忘",
    "记得",
    "解释",
    "在乎",
    "关心",
    "关注",
    "困惑",
    "疑惑",
    "纳闷",
    "不解",
    "抱怨",
    "质疑",
    "教",
    "意识到",
    "想到",
    "想出",
    "想起",
    "猜到",
    "猜出",
    "分辨",
    "分不清",
    "看不出",
    "看出",
    "学会",
    "学习",
    "提醒",
    "统计",
    "比赛",
    "表示",
    "强调",
    "揭秘",
    "揭示",
    "说明书",
    "理解",
    "纠结",
    "犹豫",
    "介绍",
    "关于",
    "展示",
    "演示",
    "讲述",
    "确认",
    "确定",
    "认出",
    "看见",
    "看到",
    "琢磨",
    "好奇",
    "怀疑",
    "看看",
    "比比",
    "比谁",
    "看谁",
    "get到",
    "听懂",
    "看懂",
    "想明白",
    "查",
    "预测",
    "预言",
    "检查",
    "测试",
    "试探",
    "验证",
    "检验",
];

/// Verbs that report speech or thought over a break: `他想，如果……怎么办`.
const REPORTING: &[&str] = &[
    "问",
    "问道",
    "说",
    "说道",
    "喊",
    "喊道",
    "大喊",
    "吼",
    "大吼",
    "叫道",
    "答",
    "答道",
    "想",
    "心想",
    "思考",
    "沉思",
    "感叹",
    "感慨",
    "抱怨",
    "质疑",
    "疑惑",
    "不解",
    "嘀咕",
    "道",
    "表示",
    "怒斥",
    "骂",
    "骂道",
    "反问",
    "询问",
    "大叫",
    "曰",
    "不知道",
];

/// What hands a question to the reader, whatever verb governs it.
const ASKING: &[&str] = &[
    "请问",
    "想问",
    "问一下",
    "问下",
    "问个问题",
    "问一个问题",
    "问问",
    "想知道",
    "求问",
    "敢问",
    "试问",
    "谁知道",
    "人知道",
    "你知道",
    "你们知道",
    "大家知道",
    "知不知道",
    "你猜",
    "你们猜",
    "大家猜",
    "猜猜",
    "说说",
    "谁能告诉",
    "能告诉",
    "告诉我",
    "谁能解释",
    "能解释",
    "我在想",
    "我时常在想",
    "我一直在想",
    "有没有人",
    "不知各位",
    "不知大家",
    "不知诸位",
    "不知道各位",
    "不知道大家",
    "讨论",
    "困扰",
    "就问",
    "还记得",
];

/// What comes after a question that is the subject of a statement.
const DISMISSING: &[&str] = &[
    "不知道",
    "没人知道",
    "不重要",
    "无所谓",
    "不清楚",
    "不明白",
    "没关系",
    "有关系",
    "取决于",
    "的问题",
    "的秘密",
    "的原因",
    "的方法",
    "的故事",
];

fn is_embedded(kind: Kind, before: &str, after: &str) -> bool {
    if contains_any(before, ASKING).is_some() {
        return false;
    }
    if kind == Kind::Polar {
        // The particle closes the whole sentence, so `你知道…吗` asks; only reported speech keeps it.
        return is_reported(before);
    }
    if contains_any(clause_after(after), DISMISSING).is_some() {
        return true;
    }
    let clause = clause_before(before);
    if let Some((at, _)) = rfind_any(clause, GOVERNING) {
        return !clause[..at].contains("到底");
    }
    if ends_with_any(clause, &["说", "想", "看", "称", "讲", "写着"])
        && !clause.ends_with("应该看")
        && clause.chars().count() > 1
    {
        return !ends_with_any(
            clause,
            &["我说", "说说", "来说", "你想", "我想", "为什么说", "你说", "大家说"],
        );
    }
    is_reported(before)
}

/// Whether `before` ends inside reported speech: somebody other than the poster speaks or thinks,
/// then a break.
fn is_reported(before: &str) -> bool {
    let mut rest = before;
    while let Some(at) = rest.rfind(is_clause_break) {
        let clause = clause_before(&rest[..at]);
        if ends_with_any(clause, REPORTING) && !is_poster(clause) {
            return true;
        }
        rest = &rest[..at];
    }
    // `老师问我`, `他问` govern without a break too.
    let clause = clause_before(before);
    clause
        .find("问")
        .is_some_and(|at| !is_poster(&clause[..at]) && !clause[at..].starts_with("问题") && at > 0)
}

/// Whether a sentence with a question mark reports what somebody other than the poster asks.
pub(super) fn is_asked_by_another(sentence: &str) -> bool {
    sentence.match_indices('问').any(|(at, _)| {
        let clause = clause_before(&sentence[..at]);
        let other = !clause.is_empty()
            && !ends_with_any(
                clause,
                &[
                    "我", "请", "想", "就", "敢", "求", "试", "学", "慰", "访", "疑", "提", "审", "顾", "过",
                    "质", "没", "有",
                ],
            );
        other && !starts_with_any(&sentence[at..], &["问题", "问号", "问候", "问世", "问卷"])
    })
}

/// Whether a clause's subject is the poster, or it is a fixed opener such as `听说`, `说实话`.
fn is_poster(clause: &str) -> bool {
    let clause = clause.trim_matches(is_break);
    starts_with_any(
        clause,
        &[
            "我想",
            "我就想",
            "我在想",
            "我一直",
            "我很",
            "想",
            "问",
            "请",
            "求",
            "据说",
            "都说",
            "听说",
            "常言道",
            "俗话说",
            "按理说",
            "有人说",
            "我说",
            "你说",
            "试",
        ],
    ) || ends_with_any(
        clause,
        &[
            "话说",
            "据说",
            "听说",
            "都说",
            "俗话说",
            "按理说",
            "人说",
            "来说",
            "我想",
            "你想",
            "知道",
            "难道",
            "我说",
            "你说",
            "味道",
            "街道",
            "频道",
            "你们说",
            "大家说",
            "请",
            "想",
            "老话说",
            "常说",
            "理说",
        ],
    ) && !ends_with_any(clause, &["心想", "不知道"])
}
