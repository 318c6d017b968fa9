//! Whether something governs a question: a verb that takes it as its object, or reported speech.

use super::QuestionKind;
use super::quotation::is_filler;
use super::words::{
    clause_after, clause_before, contains_any, ends_with_any, is_break, is_clause_break, is_letter,
    rfind_any, starts_with_any,
};
use crate::text::segment::last_tag;

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
    "教大家",
    "教你",
    "教会",
    "教我",
    "教人",
    "教他",
    "教给",
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
    "查出",
    "调查",
    "查看",
    "反思",
    "在数",
    "数数",
    "算算",
    "看你",
    "看他",
    "你看",
    "讨论了",
    "交流",
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
    "意识到",
];

/// Verbs that govern `怎么办` and the like. Others before it (`忘了带钥匙怎么办`) narrate.
const CONSULTING: &[&str] =
    &["问", "告诉", "想", "知道", "不知", "教", "思考", "研究", "考虑", "发愁", "讨论", "商量", "明白"];

/// Verbs of saying or thinking, at the end of a clause.
const SAYING: &[&str] = &["说", "想", "看", "称", "讲", "写着"];

/// The same addressed to the reader.
const SAYING_TO_READER: &[&str] =
    &["话说", "我说", "说说", "来说", "你想", "我想", "为什么说", "你说", "大家说", "应该看"];

/// Phrases that address a question to the reader, whatever verb governs it.
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
    "百度知道",
    "困扰",
    "我就问",
    "就问你",
    "就问一",
    "还记得",
    "大家看",
    "你们看",
    "各位看",
];

/// What follows a question that is the subject of a statement.
const DISMISSING: &[&str] = &[
    "不知道",
    "没人知道",
    "不重要",
    "无所谓",
    "不清楚",
    "不明白",
    "没关系",
    "有关系",
    "就知道",
    "才知道",
    "一看便知",
    "就清楚",
    "取决于",
    "的问题",
    "的秘密",
    "的原因",
    "的方法",
    "的故事",
];

/// Whether a verb or reported speech governs the operator `word` between `before` and `after`.
pub(super) fn is_embedded(kind: QuestionKind, word: &str, before: &str, after: &str) -> bool {
    if kind == QuestionKind::Polar {
        // The particle closes the whole sentence, so `你知道…吗` asks; only reported speech keeps it.
        return is_reported(before);
    }
    if contains_any(clause_after(after), DISMISSING).is_some() {
        return true;
    }
    let clause = clause_before(before);
    let clause_start = before.len() - clause.len();
    // The nearer of the two governs: `我想知道他告诉了谁` asks, `想知道？我告诉你为什么` does not.
    let asked_until = rfind_any(before, ASKING).map(|(at, word)| at + word.len());
    let verbs = if kind == QuestionKind::Help { CONSULTING } else { GOVERNING };
    let object = matches!(word, "什么" | "啥");
    if let Some((at, verb)) = find_governor(clause, verbs) {
        // `由此可以看出什么`: the word is the verb's own object, and `可以` makes it a question to the reader.
        if object && clause.ends_with(verb) && contains_any(clause, &["可以", "能", "应该"]).is_some() {
            return false;
        }
        return asked_until.is_none_or(|end| end <= clause_start + at) && !clause[..at].contains("到底");
    }
    if asked_until.is_some() {
        return false;
    }
    // `你心里想什么` asks too.
    if !object && ends_with_any(clause, SAYING) && clause.chars().count() > 1 {
        return !ends_with_any(clause, SAYING_TO_READER);
    }
    is_reported(before) || follows_colon(kind, before)
}

/// The last verb of `verbs` in a clause, not counting `问` in the nouns `问题`, `疑问`, `顾问`.
fn find_governor(clause: &str, verbs: &[&'static str]) -> Option<(usize, &'static str)> {
    let (at, verb) = rfind_any(clause, verbs)?;
    let noun = verb == "问"
        && (clause[at..].starts_with("问题") || clause[..at].ends_with(['疑', '学', '顾', '慰', '访']));
    if noun { find_governor(&clause[..at], verbs) } else { Some((at, verb)) }
}

/// Whether a colon introduces the operator's clause as somebody's speech. A label that announces a question
/// (`有个问题：`) introduces one.
fn follows_colon(kind: QuestionKind, before: &str) -> bool {
    let Some(at) = before.rfind(['：', ':']) else { return false };
    if before[at..].contains(is_filler) {
        return false; // the speech is in quotation marks; this comes after it
    }
    let said_by = clause_before(&before[..at]).trim();
    let named = said_by.chars().count() <= 5;
    let asks = said_by.contains(['问', '疑', '求', '题']);
    !said_by.is_empty()
        && !asks
        && (named || matches!(kind, QuestionKind::How | QuestionKind::What | QuestionKind::Which))
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

/// Whether a sentence introduces somebody's speech with a colon: `他大喝道：你这不孝子`.
pub(super) fn opens_speech(sentence: &str) -> bool {
    ["道：", "道:", "说：", "说:", "喊：", "喊:", "问：", "问:", "曰："].iter().any(|tag| {
        sentence.find(tag).is_some_and(|at| {
            let clause = clause_before(&sentence[..at + 3]);
            !is_poster(clause) && sentence[at + tag.len()..].chars().any(is_letter)
        })
    })
}

/// The longest name of a speaker before a colon, in characters.
const SPEAKER_CHARS: usize = 8;

/// Last characters of nouns that label a question and are not its speaker: `问题：`, `冷知识：`, `快讯：`.
const HEADS: [char; 11] = ['问', '题', '疑', '求', '知', '识', '讯', '闻', '息', '论', '理'];

/// Whether a sentence's question is spoken by somebody named before a colon: `馆长不解：月亮几点下班`, `馆长：月亮几点下班`.
pub(super) fn is_speech_after_colon(sentence: &str) -> bool {
    let Some(at) = sentence.find(['：', ':']) else { return false };
    if sentence[at..].contains(is_filler) {
        return false; // the speech is in quotation marks; the question comes after it
    }
    let clause = clause_before(&sentence[..at]).trim();
    if ends_with_any(clause, REPORTING) {
        return !is_poster(clause);
    }
    let names = || last_tag(clause).is_some_and(|tag| tag.starts_with('n'));
    let short = clause.chars().count() <= SPEAKER_CHARS;
    short && !clause.contains(HEADS) && !is_poster(clause) && names()
}

/// Whether a sentence with a question mark reports a question of somebody other than the poster.
pub(super) fn is_asked_by_another(sentence: &str) -> bool {
    sentence.match_indices('问').any(|(at, _)| {
        let clause = clause_before(&sentence[..at]);
        let other = !clause.is_empty()
            && !ends_with_any(
                clause,
                &[
                    "我", "请", "想", "就", "敢", "求", "试", "学", "慰", "访", "疑", "问", "提", "审", "顾",
                    "过", "质", "没", "有",
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
