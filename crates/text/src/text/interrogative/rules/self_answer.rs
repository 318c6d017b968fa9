//! Self-answer.
//!
//! What: a question, and what follows answers it: it opens with a reason or a remedy (`因为`, `当然`,
//! `别担心`, `只要`), or the question asks for a phrase and a short one without the poster in it follows.
//! Why: a riddle told with its answer is a statement.
//! Known problems: an answer in a sentence of its own, without such an opening, is not recognised; a short remark after
//! `什么…？` may be taken for an answer.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::QuestionKind;
use crate::text::interrogative::operator::Operator;
use crate::text::interrogative::post::{Post, Sentence, SentenceMark};
use crate::text::interrogative::words::{contains_any, is_break, starts_with_any};
use crate::text::segment::first_tag;

pub(super) const PAGE: Page = Page {
    code: "self-answer",
    definition: "The post answers its own question: `为什么…？因为…`.",
    example: "为什么蜗牛从不搬家？因为房贷还没还清。",
    find: find_self_answer,
};

/// Openings of an answer: a reason, an answer that is called one, or advice to the asker.
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
    "专家",
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
    "莫慌",
    "建议",
    "回答",
    "其实是",
    "很简单",
    "你可以",
    "试试",
];

/// Openings of an answer to a yes-no question.
const YES_OR_NO: &[&str] = &["不", "是的", "是啊", "对", "没有", "没呢", "会的", "可以", "能", "嗯"];

/// Openings of a reason in the same sentence.
const REASONS: &[&str] =
    &["因为", "可能因为", "可能是因为", "大概因为", "大概是因为", "是因为", "原来", "当然是", "答案"];

/// The longest `那第一名呢？`, in characters.
const SHORT_TOPIC_CHARS: usize = 7;

/// Openings of a reason without a subject.
const WHY_ANSWERS: &[&str] = &["怕", "为了", "以防", "免得", "省得"];

/// Verbs by which a poster speaks of himself without a subject: `为什么…？想不通。`
const OWN_VERBS: &[&str] = &["想", "看", "说", "求", "问", "搞", "弄", "感觉", "觉得", "希望", "反正", "难"];

/// Phrases by which somebody else answers.
const REPLIES: &[&str] = &["回答说", "回答道", "答道", "回答：", "答曰", "回答:", "回答到"];

/// Most characters of an answer that is a phrase and not a remark.
const PHRASE_CHARS: usize = 8;

fn find_self_answer(post: &Post<'_>) -> Option<Range<usize>> {
    let last_asks = post.sentences.last().is_some_and(Sentence::is_asking);
    post.sentences.iter().enumerate().filter(|(_, sentence)| sentence.is_asking()).find_map(
        |(index, sentence)| {
            if let Some(within) = answered_within(post, sentence) {
                return Some(within);
            }
            let (next, later) = post.sentences[index + 1..].split_first()?;
            if last_asks {
                return None;
            }
            let answer = post.text[next.span.clone()].trim_matches(is_break);
            let replied = starts_with_any(answer, ANSWERS)
                || answers_yes_no(sentence, answer)
                || answers_why(sentence, answer)
                || answers_help(sentence, answer)
                || answers_phrase(post, sentence, next)
                || std::iter::once(next)
                    .chain(later)
                    .any(|s| contains_any(post.narration_of(s), REPLIES).is_some());
            replied.then_some(sentence.span.start..next.span.end)
        },
    )
}

/// `是…吗？不…`, or `…吗？…不就…了`.
fn answers_yes_no(asked: &Sentence, answer: &str) -> bool {
    let yes_no = |op: &Operator| op.is_open() && matches!(op.kind, QuestionKind::Polar | QuestionKind::ANotA);
    asked.operators.iter().any(yes_no)
        && (starts_with_any(answer, YES_OR_NO) || (answer.contains("不就") && answer.ends_with('了')))
}

/// `为什么…？怕黑。`, `…？会头晕的。`: a predicate without subject refers to the subject of the question.
fn answers_why(asked: &Sentence, answer: &str) -> bool {
    let predicate = || {
        answer.ends_with('的')
            && first_tag(answer).is_some_and(|tag| tag.starts_with('v'))
            && !starts_with_any(answer, OWN_VERBS)
    };
    asked.operators.iter().any(|op| op.is_open() && op.kind == QuestionKind::Why)
        && (starts_with_any(answer, WHY_ANSWERS) || predicate())
}

/// `…怎么办？观察四周，…`: a poster who is at a loss and continues with a verb gives the solution.
fn answers_help(asked: &Sentence, answer: &str) -> bool {
    asked.operators.iter().any(|op| op.is_open() && op.kind == QuestionKind::Help)
        && first_tag(answer) == Some("v")
        && !starts_with_any(answer, OWN_VERBS)
        && !answer.contains(['我', '俺'])
}

/// `谁？小明。`: a question for a phrase, with a question mark, followed by a short phrase that is not about the
/// poster.
fn answers_phrase(post: &Post<'_>, asked: &Sentence, next: &Sentence) -> bool {
    let text = post.narration_of(asked);
    let statement = post.text[next.span.clone()].trim_matches(is_break);
    // `钢琴，因为…`: the reason is not part of the phrase.
    let (first, rest) = statement.split_at(statement.find(is_break).unwrap_or(statement.len()));
    let reasoned = starts_with_any(rest.trim_start_matches(is_break), REASONS);
    let answer = if reasoned { first } else { statement };
    // `也太舒服了`: an adverb opens a remark; a phrase begins with a noun.
    let remarks = first_tag(answer).is_some_and(|tag| tag == "d");
    let wants_phrase =
        asked.operators.iter().any(|op| op.is_open() && op.kind.wants_phrase(&post.text[op.span.clone()]))
            || (text.ends_with('呢') && text.chars().count() <= SHORT_TOPIC_CHARS);
    let names = answer.starts_with('是') && !starts_with_any(answer, &["是不是", "是否"]);
    asked.mark == SentenceMark::Question
        && wants_phrase
        && !next.is_asking()
        && !remarks
        && (names || (answer.chars().count() <= PHRASE_CHARS && !answer.contains(['我', '俺'])))
}

/// `怎么会……呢 可能因为……`: question and reason in one sentence.
fn answered_within(post: &Post<'_>, sentence: &Sentence) -> Option<Range<usize>> {
    let asked = sentence.operators.iter().find(|op| !op.is_embedded())?;
    let after = &post.masked[asked.span.end..sentence.span.end];
    let next = after[after.find(is_break)?..].trim_start_matches(is_break);
    let concludes = asked.kind == QuestionKind::Polar && starts_with_any(next, &["所以", "因此"]);
    (concludes || starts_with_any(next, REASONS)).then_some(asked.span.start..sentence.span.end)
}
