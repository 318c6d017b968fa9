//! Whether an operator asks in its context.
//!
//! `谁` asks in `谁来过？`, not in `谁都可以` (anybody), `我忘了谁来过` (governed by a verb) or
//! `谁先到谁赢` (whoever). The tests look left and right of the operator in its sentence.

use std::ops::Range;

use super::words::{clause_after, clause_before, contains_any, ends_with_any, starts_with_any};
use super::{QuestionKind, government};

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
pub(super) fn scope_of(kind: QuestionKind, sentence: &str, span: Range<usize>) -> Scope {
    let (before, after) = (&sentence[..span.start], &sentence[span.end..]);
    let word = &sentence[span];
    if is_rhetorical(kind, before, word, after) {
        Scope::Rhetorical
    } else if is_indefinite(kind, before, word, after) {
        Scope::Indefinite
    } else if government::is_embedded(kind, word, before, after) {
        Scope::Embedded
    } else {
        Scope::Open
    }
}

fn is_rhetorical(kind: QuestionKind, before: &str, word: &str, after: &str) -> bool {
    // `你倒是说说…` dares the reader; `我说我怎么…呢` has just understood.
    if before.contains("倒是说")
        || (kind == QuestionKind::How && ends_with_any(before, &["我说我", "我说", "我说他", "我说你"]))
    {
        return true;
    }
    match kind {
        QuestionKind::How => {
            matches!(word, "怎能" | "怎会" | "怎敢" | "怎可" | "怎")
                || starts_with_any(
                    after,
                    &["这么", "那么", "如此", "可能", "会", "能", "敢", "着", "连", "说呢", "就这么"],
                ) && !after.contains("才能")
        }
        QuestionKind::What => {
            before.ends_with("这都是") && clause_after(after).chars().count() > 1
                || before.ends_with('算') && !before.ends_with("不算")
                || (before.ends_with('有')
                    && starts_with_any(after, &["好", "可", "大不了", "了不起", "办法"]))
        }
        QuestionKind::Which => match word {
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
            "哪里" | "哪" => {
                starts_with_any(after, &["有", "能", "会", "敢", "来那么", "来这么", "知", "么", "像", "用"])
            }
            _ => false,
        },
        QuestionKind::ANotA if word == "信不信" => after.starts_with('我'),
        QuestionKind::ANotA if word == "有没有" => starts_with_any(after, &["发现", "觉得", "想过"]),
        QuestionKind::ANotA => {
            matches!(word, "好不好" | "行不行" | "懂不懂")
                && !before.contains('吗')
                && after.is_empty()
                && before.contains("不要")
        }
        _ => false,
    }
}

fn is_indefinite(kind: QuestionKind, before: &str, word: &str, after: &str) -> bool {
    let clause = clause_before(before);
    let follows = clause_after(after);
    let governed = contains_any(before, &["无论", "不管", "不论", "任凭", "随便", "别管"]).is_some();
    match kind {
        QuestionKind::Polar | QuestionKind::Why => governed,
        QuestionKind::Alternative | QuestionKind::Help => governed || after.starts_with('都'),
        // `去不去都行` leaves the choice open; `是不是都去` asks.
        QuestionKind::ANotA => {
            governed || (after.starts_with('都') && !word.starts_with(['是', '会', '能', '有', '可']))
        }
        QuestionKind::How => {
            governed
                || ends_with_any(clause, &["不", "没"])
                || is_universal(follows, 3)
                || repeats_word(before, word, after)
        }
        QuestionKind::What | QuestionKind::Which => {
            governed
                || is_universal(follows, 7)
                || is_negated(clause)
                || ends_with_any(clause, &["不", "不为", "点", "些", "像"])
                || starts_with_any(after, &["的", "嘛", "就", "时候"])
                    && !after.starts_with("时候")
                    && !ends_with_any(clause, &["是", "干", "叫", "说"])
                    && !word.starts_with('干')
                || repeats_word(before, word, after)
                || (word == "什么" && is_exclaimed_noun(clause, after))
                || (before.ends_with("有") && is_offered(after))
                || (is_wished(clause) && follows.chars().count() > 2)
        }
    }
}

/// `谁先到谁赢`, `走到哪里，哪里停电`: the word occurs twice.
fn repeats_word(before: &str, word: &str, after: &str) -> bool {
    after.contains(word) || before.contains(word)
}

/// `什么都好`, `怎么甩也甩不掉`: `都` or `也` among the first characters after the word.
fn is_universal(follows: &str, chars: usize) -> bool {
    follows.chars().take(chars).any(|c| matches!(c, '都' | '也'))
}

/// `没听说过谁`, `别说什么`: a negation shortly before the word. `有没有` and nouns such as `区别` are not negations.
fn is_negated(clause: &str) -> bool {
    let near = clause.char_indices().rev().nth(4).map_or(clause, |(at, _)| &clause[at..]);
    let lacks = |(at, _): (usize, &str)| !near[..at].ends_with('有');
    near.match_indices('没').any(lacks)
        || contains_any(near, &["不要", "从不", "不是"]).is_some()
        || starts_with_any(clause, &["别", "你别", "你们别"])
}

/// `想看什么自己演`: whatever one likes to. `我想问什么…` asks.
fn is_wished(clause: &str) -> bool {
    let mut last = clause.chars().rev();
    match last.next() {
        Some('想') => true,
        Some('问' | '说' | '道' | '到') | None => false,
        Some(_) => last.next() == Some('想'),
    }
}

/// `有什么话尽管说`: whatever there is.
fn is_offered(after: &str) -> bool {
    contains_any(after, &["尽管", "说出来", "就"]).is_some()
        || (after.contains('别') && contains_any(after, &["区别", "差别", "分别", "别的"]).is_none())
}

/// `什么破歌` as a separate clause scorns; `什么时候`, `什么是…` ask.
fn is_exclaimed_noun(clause: &str, after: &str) -> bool {
    const ASKING: &[&str] = &[
        "时", "是", "样", "叫", "东西", "原因", "意思", "人", "情况", "地方", "动物", "算", "季节", "职业",
        "水果", "食物", "书", "车", "颜色",
    ];
    clause.trim().is_empty() && !after.is_empty() && !starts_with_any(after, ASKING)
}
