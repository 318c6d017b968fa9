//! Signs that a text written by a model is unusable, checked before a person's time is spent on it.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::normalise::{Fold, fold};

/// Small numbers as English writes them.
const NUMBERS: [&[&str]; 13] = [
    &["zero", "no"],
    &["one", "first", "once", "a"],
    &["two", "second", "twice"],
    &["three", "third"],
    &["four", "fourth"],
    &["five", "fifth"],
    &["six", "sixth"],
    &["seven", "seventh"],
    &["eight", "eighth"],
    &["nine", "ninth"],
    &["ten", "tenth"],
    &["eleven", "eleventh"],
    &["twelve", "twelfth"],
];

/// Lost numbers and Latin names, a question that no longer asks, leftover Chinese.
///
/// What a careless translation of a Chinese text into English loses.
pub fn list_losses(chinese: &str, english: &str) -> Vec<String> {
    let narrow: String = chinese.chars().map(narrow_form).collect();
    let lower = english.to_lowercase();
    let digits = english.replace(',', "");
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let mut findings = Vec::new();
    for number in longest_runs(&narrow, |c| c.is_ascii_digit()) {
        let spelled = number.parse::<usize>().ok().and_then(|n| NUMBERS.get(n)).copied().unwrap_or_default();
        let there = longest_runs(&digits, |c| c.is_ascii_digit()).contains(&number)
            || spelled.iter().any(|word| words.contains(word));
        if !there {
            findings.push(format!("the number {number} is lost"));
        }
    }
    // A single letter may be a unit or a grade, which English writes out.
    for name in longest_runs(&narrow, |c| c.is_ascii_alphabetic()).into_iter().filter(|name| name.len() > 1) {
        if !lower.contains(&name.to_lowercase()) {
            findings.push(format!("the name {name} is lost"));
        }
    }
    if narrow.trim_end().ends_with('?') && !english.contains('?') {
        findings.push("the question is no question any more".into());
    }
    if english.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        findings.push("Chinese is left in it".into());
    }
    findings
}

fn narrow_form(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        other => other,
    }
}

/// The longest runs of matching characters, each once.
fn longest_runs(text: &str, of: impl Fn(char) -> bool) -> Vec<&str> {
    let mut runs: Vec<&str> = text.split(|c| !of(c)).filter(|run| !run.is_empty()).collect();
    runs.dedup();
    runs
}

/// How a model refuses, at the beginning of its reply. Merely mentioning regret, or something that cannot be
/// done, is not a refusal: it takes both, or the model's own part in it.
static REFUSALS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const VERBS: &str = "assist|help|provide|fulfil|comply|translate|answer|respond|create|engage|support|complete|generate|write|continue|discuss|explain|do that|do this|process";
    [
        format!(
            r"(?i)^\W*(i'?m|i am|i|we'?re|we are|we)? ?(very |so |really |truly )?(sorry|afraid|apologi[sz]e|apologies)\b.{{0,60}}\b(can'?t|cannot|can not|won'?t|will not|unable|not able|not allowed|must decline)\b.{{0,20}}\b({VERBS})"
        ),
        format!(
            r"(?i)^\W*(unfortunately,? )?(i|we) ((can'?t|cannot|can not|won'?t|will not|must decline to|decline to)|(am|are|'m|'re) (unable|not able|not allowed) to) ({VERBS})\b.{{0,40}}\b(that|this|your|request|question|content|topic)\b"
        ),
        r"(?i)^\W*as an? (ai|artificial intelligence|large language|language)\b.{0,60}\b(can'?t|cannot|unable|not able|don'?t|do not)\b".into(),
        r"(?i)^\W*(this|the|your) (request|content|question|text|prompt) (violates|goes against|is against)\b".into(),
        "^\\W*(很|非常|十分|实在|真的)?(抱歉|对不起|不好意思|遗憾).{0,12}(不能|无法|没办法|没法|不便|不会|不予|拒绝).{0,12}(回答|翻译|提供|协助|帮助|帮|完成|满足|继续|处理|生成|讨论|解释|回应|执行|写)".into(),
        "^\\W*(作为|身为)(一个|一名|一款)?.{0,6}(人工智能|AI|ai|语言模型|大模型|助手).{0,20}(不能|无法|没办法|没法|不便|不会)".into(),
        "^\\W*(我|本模型|本助手)(不能|无法|没办法|没法|不便|拒绝)(为您|为你|给您|给你|对此|就此|协助您|协助你)?.{0,6}(回答|翻译|提供|协助|帮助|完成|满足|处理|生成|讨论|解释|回应).{0,12}(请求|问题|内容|要求|话题|服务|信息|文本|这|此|该)".into(),
        "^\\W*(该|此|这个|您的|你的)(请求|内容|问题|文本|要求).{0,6}(违反|不符合|涉及敏感|违规)".into(),
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Whether a text is a model's refusal to do what it was asked, in English or Chinese.
fn is_refusal(text: &str) -> bool {
    let text = text.replace('’', "'");
    // A refusal comes first, its explanation after it.
    let head: String = text.trim_start().chars().take(200).collect();
    REFUSALS.iter().any(|refusal| refusal.is_match(&head))
}

/// Why an answer cannot be used as a draft, or `None` if it can. If `asked`, the text it is about, reads as a
/// refusal itself, an answer that does so is fine.
///
/// Unusable answers: a refusal, an empty text, or an echo of the request.
pub fn why_unusable(asked: &str, answer: &str) -> Option<&'static str> {
    if !answer.contains(char::is_alphanumeric) {
        return Some("says nothing");
    }
    if is_refusal(answer) && !is_refusal(asked) {
        return Some("refuses to answer");
    }
    (fold(asked, Fold::KEY) == fold(answer, Fold::KEY)).then_some("copies what it was asked about")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_named() {
        let zh = "一张ＤＶＤ能装４．７GB，120张能装多少？";
        assert_eq!(list_losses(zh, "A DVD holds 4.7 GB. How much do 120 DVDs hold?"), Vec::<String>::new());
        assert_eq!(
            list_losses(zh, "A disc holds 4.7 GB; 12 discs hold a lot of 东西."),
            [
                "the number 120 is lost",
                "the name DVD is lost",
                "the question is no question any more",
                "Chinese is left in it"
            ]
        );
        assert_eq!(list_losses("3个人", "three people"), Vec::<String>::new());
        assert_eq!(list_losses("3000元", "3,000 yuan"), Vec::<String>::new());
    }

    #[test]
    fn refusals_are_known_in_both_languages() {
        for text in [
            "I'm sorry, but I can't help with that request.",
            "I’m sorry, but I cannot assist with this.",
            "Sorry, I am unable to translate this text.",
            "I apologize, but I won't be able to provide a translation, as I cannot assist with it.",
            "I cannot provide a translation for this content.",
            "Unfortunately, I can't help with that.",
            "As an AI language model, I cannot judge this.",
            "This content violates our policies.",
            "抱歉，我无法翻译这段内容。",
            "很抱歉，我不能回答这个问题",
            "对不起，我没办法提供帮助。",
            "作为一个人工智能语言模型，我无法对此发表看法。",
            "我无法回答这个问题。",
            "该内容违反了相关规定，无法处理。",
        ] {
            assert!(is_refusal(text), "{text}");
            assert_eq!(why_unusable("雨伞会不会淋湿？", text), Some("refuses to answer"), "{text}");
        }
    }

    #[test]
    fn texts_that_speak_of_being_sorry_are_no_refusals() {
        for text in [
            "I'm sorry I ate the last dumpling: why is it still sorry for me?",
            "Why can't I help being late when the clock is late, too?",
            "I cannot swim, so why does the fish laugh?",
            "Sorry, is this seat dead or only taken?",
            "I can't write with my left hand. Should I buy a left pen?",
            "As an adult I cannot see why children are shorter.",
            "对不起，我把雨伞淋湿了，它会感冒吗？",
            "我无法理解为什么鱼会口渴。",
            "抱歉的抱，是拥抱的抱吗？",
            "作为一个成年人，我为什么不能再长高？",
            "这个问题问得好，可是它为什么不睡觉？",
        ] {
            assert!(!is_refusal(text), "{text}");
            assert_eq!(why_unusable("雨伞会不会淋湿？", text), None, "{text}");
        }
        // The text asked about may itself be a refusal.
        assert_eq!(why_unusable("对不起，我不能回答这个问题", "Sorry, I cannot answer this question."), None);
    }

    #[test]
    fn nothing_and_copies_are_no_answers() {
        assert_eq!(why_unusable("云会恐高吗？", "……"), Some("says nothing"));
        assert_eq!(why_unusable("雲會恐高嗎？", "云会恐高吗"), Some("copies what it was asked about"));
        assert_eq!(why_unusable("云会恐高吗？", "Are clouds afraid of heights?"), None);
    }
}
