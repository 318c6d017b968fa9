//! Features of one item's options that give the right one away: its length, and how it is written.

use serde::Serialize;

/// An option stands out if it is at least this many times as long as every other option, or every other as
/// it.
const APART: f64 = 1.3;

/// A feature that only the right option has, or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// It is by far the longest.
    Longest,
    /// It is by far the shortest.
    Shortest,
    /// It alone quotes the text.
    Quotes,
    /// All but it quote the text.
    QuotesNot,
    /// It alone is written in several sentences.
    Sentences,
    /// All but it are written in several sentences.
    SentencesNot,
    /// It alone ends with a full stop, or alone does not.
    Stop,
}

impl Cue {
    /// A description in English and in Chinese.
    pub fn descriptions(self) -> (&'static str, &'static str) {
        match self {
            Cue::Longest => ("the right option is by far the longest", "正确选项明显最长"),
            Cue::Shortest => ("the right option is by far the shortest", "正确选项明显最短"),
            Cue::Quotes => ("only the right option quotes", "只有正确选项使用了引号"),
            Cue::QuotesNot => ("only the right option does not quote", "只有正确选项没有使用引号"),
            Cue::Sentences => ("only the right option has several sentences", "只有正确选项由多句组成"),
            Cue::SentencesNot => ("only the right option is one sentence", "只有正确选项是一句话"),
            Cue::Stop => (
                "only the right option ends, or does not end, with a full stop",
                "只有正确选项的句末标点与其他选项不同",
            ),
        }
    }
}

/// The features that give the right option away among these; empty if there are none.
pub fn cues(right: &str, wrong: &[&str]) -> Vec<Cue> {
    if wrong.is_empty() {
        return Vec::new();
    }
    let length = |text: &str| text.trim().chars().count() as f64;
    let lengths = || wrong.iter().map(|text| length(text));
    let (shortest, longest) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
    let alone = |has: fn(&str) -> bool| has(right) && !wrong.iter().any(|text| has(text));
    let lacks = |has: fn(&str) -> bool| !has(right) && wrong.iter().all(|text| has(text));
    let found = [
        (length(right) >= APART * longest, Cue::Longest),
        (length(right) * APART <= shortest, Cue::Shortest),
        (alone(quotes), Cue::Quotes),
        (lacks(quotes), Cue::QuotesNot),
        (alone(several), Cue::Sentences),
        (lacks(several), Cue::SentencesNot),
        (alone(ends) || lacks(ends), Cue::Stop),
    ];
    found.into_iter().filter(|(holds, _)| *holds).map(|(_, tell)| tell).collect()
}

fn quotes(text: &str) -> bool {
    text.contains(['“', '”', '"', '「', '『', '‘'])
}

fn several(text: &str) -> bool {
    let ends = |c: &char| matches!(c, '。' | '！' | '？' | '!' | '?' | '；');
    text.trim().trim_end_matches(|c| ends(&c)).chars().any(|c| ends(&c))
}

fn ends(text: &str) -> bool {
    text.trim_end().ends_with(['。', '.', '！', '!', '？', '?', '”'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_right_option_has_is_reported() {
        let right = "“意思”在两处不是一个意思。前一处是含义，后一处是心意。";
        let found = cues(right, &["因为送礼很贵", "因为他很小气", "因为天气不好"]);
        assert_eq!(found, [Cue::Longest, Cue::Quotes, Cue::Sentences, Cue::Stop]);
        let similar = ["“意思”指的是礼物的价钱。送得越贵越有面子。", "“意思”是说话人不高兴。他想走了。"];
        assert_eq!(cues(right, &similar), []);
        assert_eq!(cues("不能。", &["可以，因为鱼会口渴。", "可以，因为水是湿的。"]), [Cue::Shortest]);
        assert_eq!(cues("不能。", &[]), []);
    }
}
