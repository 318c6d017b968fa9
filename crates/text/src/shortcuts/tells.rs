//! Features of one item's options that give the right one away: its length, and how it is written.

use serde::Serialize;

/// An option stands out if it is at least this many times as long as every other option, or every other as
/// it.
const APART: f64 = 1.3;

/// A feature that only the right option has, or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
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

impl Tell {
    /// A description in English and in Chinese.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Tell::Longest => ("the right option is by far the longest", "正确选项明显最长"),
            Tell::Shortest => ("the right option is by far the shortest", "正确选项明显最短"),
            Tell::Quotes => ("only the right option quotes", "只有正确选项使用了引号"),
            Tell::QuotesNot => ("only the right option does not quote", "只有正确选项没有使用引号"),
            Tell::Sentences => ("only the right option has several sentences", "只有正确选项由多句组成"),
            Tell::SentencesNot => ("only the right option is one sentence", "只有正确选项是一句话"),
            Tell::Stop => (
                "only the right option ends, or does not end, with a full stop",
                "只有正确选项的句末标点与其他选项不同",
            ),
        }
    }
}

/// The features that give the right option away among these; empty if there are none.
pub fn tells(right: &str, wrong: &[&str]) -> Vec<Tell> {
    if wrong.is_empty() {
        return Vec::new();
    }
    let length = |text: &str| text.trim().chars().count() as f64;
    let lengths = || wrong.iter().map(|text| length(text));
    let (shortest, longest) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
    let alone = |has: fn(&str) -> bool| has(right) && !wrong.iter().any(|text| has(text));
    let lacks = |has: fn(&str) -> bool| !has(right) && wrong.iter().all(|text| has(text));
    let found = [
        (length(right) >= APART * longest, Tell::Longest),
        (length(right) * APART <= shortest, Tell::Shortest),
        (alone(quotes), Tell::Quotes),
        (lacks(quotes), Tell::QuotesNot),
        (alone(several), Tell::Sentences),
        (lacks(several), Tell::SentencesNot),
        (alone(ends) || lacks(ends), Tell::Stop),
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
    fn what_only_the_right_option_has_is_told() {
        let right = "“意思”在两处不是一个意思。前一处是含义，后一处是心意。";
        let told = tells(right, &["因为送礼很贵", "因为他很小气", "因为天气不好"]);
        assert_eq!(told, [Tell::Longest, Tell::Quotes, Tell::Sentences, Tell::Stop]);
        let alike = ["“意思”指的是礼物的价钱。送得越贵越有面子。", "“意思”是说话人不高兴。他想走了。"];
        assert_eq!(tells(right, &alike), []);
        assert_eq!(tells("不能。", &["可以，因为鱼会口渴。", "可以，因为水是湿的。"]), [Tell::Shortest]);
        assert_eq!(tells("不能。", &[]), []);
    }
}
