//! Rules for posts that have cues of a question, or none, and ask nothing.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::QuestionKind;
use crate::text::interrogative::government::{is_asked_by_another, is_speech_after_colon};
use crate::text::interrogative::post::{Post, Sentence, SentenceMark};
use crate::text::interrogative::quotation::is_speech;
use crate::text::interrogative::scope::Scope;
use crate::text::interrogative::words::{contains_any, ends_with_any, has_cue, is_letter, starts_with_any};

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

/// Dialogue.
///
/// What: the post is nothing but quotations, at least two, or a script whose lines open with a
/// speaker (`猫：… 狗：…`).
/// Why: the figures of the joke talk to each other, and even a last turn that asks is the punchline,
/// not a question to the reader. (A post that is a *single* quotation has nobody to talk to; it is
/// read without its marks.)
/// Known problems: two quotations that both ask the reader are taken for a dialogue; so is a list
/// whose items look like speakers.
pub(super) const DIALOGUE: Page = Page {
    code: "dialogue",
    definition: "The post is all dialogue; its figures ask each other.",
    example: "“钥匙我放在锅里了。”“那汤在哪里？”",
    find: find_dialogue,
};

/// The longest name of a speaker, in characters.
const SPEAKER_CHARS: usize = 5;

fn find_dialogue(post: &Post<'_>) -> Option<Range<usize>> {
    let mut speech = post.quotes.iter().filter(|span| is_speech(&post.text[(*span).clone()]));
    if post.sentences.is_empty() {
        speech.next()?;
        return speech.next_back().cloned();
    }
    let mut lines = post.sentences.iter().filter(|s| speaker_of(post.narration_of(s)).is_some());
    let opens = post.sentences.first().is_some_and(|s| speaker_of(post.narration_of(s)).is_some());
    lines.next()?;
    let last = lines.next_back()?;
    opens.then(|| last.span.clone())
}

/// The speaker that a line of a script opens with.
fn speaker_of(line: &str) -> Option<&str> {
    let (name, speech) = line.trim_start().split_once(['：', ':'])?;
    let is_name = !name.is_empty() && name.chars().count() <= SPEAKER_CHARS && name.chars().all(is_letter);
    (is_name && !speech.is_empty()).then_some(name)
}

/// Heading.
///
/// What: `如何…`, `怎样…` after a label (`生活妙招：`, `惊人发现！`, `第一课：`), or before a colon.
/// Why: the question is the title of an instruction that follows or is implied.
/// Known problems: only labels that name an instruction are known.
pub(super) const HEADING: Page = Page {
    code: "heading",
    definition: "The question is the heading of an instruction: `生活妙招：如何…`.",
    example: "厨房小妙招：如何让鸡蛋自愿开门",
    find: find_heading,
};

const LABELS: &[&str] = &[
    "妙招", "绝招", "小招", "发现", "课", "教程", "技巧", "指南", "攻略", "知识", "秘诀", "秘籍", "常识",
    "手册", "科普", "方法", "贴士", "干货", "教学", "宝典", "大全", "必看", "必备", "教你",
];

fn find_heading(post: &Post<'_>) -> Option<Range<usize>> {
    post.sentences.iter().find_map(|sentence| {
        if sentence.mark == SentenceMark::Question {
            return None;
        }
        let op = sentence.operators.iter().find(|op| op.kind == QuestionKind::How && !op.is_void())?;
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

/// Opener.
///
/// What: `谁能想到…`, `你知道吗？…`, `谁曾想` open the sentence that the mark, if any, closes.
/// Why: they announce a surprise and expect no answer.
/// Known problems: a real `你知道吗` with nothing after it stays a question.
pub(super) const OPENER: Page = Page {
    code: "opener",
    definition: "The question only announces a statement: `谁能想到…`, `你知道吗？…`.",
    example: "谁能想到，从不迟到的他竟然住在钟楼里？",
    find: find_opener,
};

const SURPRISES: &[&str] = &["谁能想到", "谁会想到", "谁能想象", "谁曾想", "谁想到", "谁料"];

const CALLS: &[&str] = &[
    "你知道吗",
    "你们知道吗",
    "大家知道吗",
    "你敢信吗",
    "你敢信",
    "听说了吗",
    "大家有没有发现",
    "你们有没有发现",
    "有没有发现",
];

fn find_opener(post: &Post<'_>) -> Option<Range<usize>> {
    let (first, rest) = post.sentences.split_first()?;
    let text = post.narration_of(first).trim();
    let surprise =
        post.sentences.last().filter(|last| starts_with_any(post.narration_of(last).trim(), SURPRISES));
    if let Some(last) = surprise {
        return Some(last.span.clone());
    }
    let called = CALLS.iter().any(|call| {
        text == *call || text.strip_prefix(call).is_some_and(|t| t.starts_with(['，', ',', ' ']))
    });
    let asks_later =
        rest.iter().any(|s| s.is_asking()) || first.operators.iter().filter(|op| op.is_open()).count() > 1;
    (called && !asks_later && (!rest.is_empty() || text.contains(['，', ',', ' '])))
        .then(|| first.span.clone())
}

/// Reported question.
///
/// What: the narration asks nothing itself; it reports that somebody does. Either a speech tag
/// closes the post (`先走哪边，导游问`), or `问` with another subject governs the last sentence, or somebody is named before
/// a colon (`导游不解：先走哪边？`).
/// Why: a figure of the joke asks, and the joke is told as a statement.
/// Known problems: `问` is searched only before the question word, so an inverted report without a speech tag
/// at the end is missed; a letter that opens with its addressee (`馆长：…？`) is taken for speech.
pub(super) const REPORTED: Page = Page {
    code: "reported",
    definition: "The narration reports that somebody asks: `…，导游问道`.",
    example: "车票能退吗？坐在云上的售票员问道。",
    find: find_report,
};

/// Endings of speech tags.
const TAGS: &[&str] = &[
    "问", "问道", "问到", "说", "说道", "说到", "道", "喊", "喊道", "大喊", "吼道", "大吼", "怒吼", "叫道",
    "大叫", "答道", "回答", "骂道", "追问", "反问", "质问",
];

/// What ends like a speech tag but is not one.
const NO_TAGS: &[&str] = &[
    "知道",
    "味道",
    "街道",
    "频道",
    "通道",
    "请问",
    "想问",
    "难道",
    "小说",
    "再说",
    "学说",
    "胡说",
    "按理说",
    "道道",
    "轨道",
    "管道",
    "人道",
    "地道",
    "霸道",
    "厚道",
    "跑道",
];

fn find_report(post: &Post<'_>) -> Option<Range<usize>> {
    let (last, earlier) = post.sentences.split_last()?;
    let text = post.narration_of(last).trim();
    let asked_before = earlier.iter().any(|s| s.mark == SentenceMark::Question)
        || last.operators.iter().any(|op| post.masked[op.span.end..last.span.end].contains(['，', ',', ' ']));
    let tagged = ends_with_any(text, TAGS)
        && !ends_with_any(text, NO_TAGS)
        && !text.contains(['都', '会', '每', '就']);
    if last.mark != SentenceMark::Question && asked_before && tagged {
        return Some(last.span.clone());
    }
    let asked = post.sentences.iter().rposition(|s| s.mark == SentenceMark::Question)?;
    let text = post.narration_of(&post.sentences[asked]);
    let by_another = is_asked_by_another(text) || is_speech_after_colon(text);
    (by_another && !post.sentences[asked + 1..].iter().any(Sentence::is_asking))
        .then(|| post.sentences[asked].span.clone())
}
