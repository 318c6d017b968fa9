//! The confidence that an answer states: in an object with `answer` and `confidence`, or on a line of its own.

use std::borrow::Cow;

use riddlemill_benchmarks::task::Confidence;
use serde_json::{Map, Value as Json};

use crate::llm::parse;

/// The keys of an object that holds both.
const KEYS: [&str; 2] = ["answer", "confidence"];

/// What a line with a confidence begins with, in lower case.
const LABELS: [&str; 3] = ["confidence", "置信度", "把握"];

/// The answer without its confidence, and the confidence from 0 to 1; `None` where none is stated, or where it is not
/// on the scale.
pub(super) fn split_confidence(scale: Confidence, text: &str) -> (Cow<'_, str>, Option<f64>) {
    if let Ok(object) = parse::parse_object(text, &KEYS) {
        return of_object(scale, &object);
    }
    let lines: Vec<&str> = text.lines().collect();
    // The last one: a model that reasons may weigh its confidence before.
    let Some(at) = lines.iter().rposition(|line| value_behind(line).is_some()) else {
        return (text.into(), None);
    };
    let confidence = value_behind(lines[at]).and_then(|written| parse_confidence(scale, written));
    let rest = [&lines[..at], &lines[at + 1..]].concat().join("\n");
    (rest.into(), confidence)
}

fn of_object(scale: Confidence, object: &Map<String, Json>) -> (Cow<'static, str>, Option<f64>) {
    let written = |key: &str| match object.get(key) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(list)) => {
            let texts = list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join("; ")
        }
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let [answer, confidence] = KEYS.map(written);
    (answer.into(), parse_confidence(scale, &confidence))
}

/// What a line says behind the label of a confidence.
fn value_behind(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*-#".contains(c));
    let label = LABELS
        .iter()
        .find(|label| line.get(..label.len()).is_some_and(|begin| begin.to_lowercase() == **label))?;
    let rest = line[label.len()..].trim_start_matches(|c: char| c.is_whitespace() || c == '*');
    rest.strip_prefix([':', '：', '='])
}

/// A number on the scale, from 0 to 1; with a percent sign it is of 100 on any scale.
fn parse_confidence(scale: Confidence, written: &str) -> Option<f64> {
    let written = written.trim_matches(|c: char| c.is_whitespace() || c == '*').trim_end_matches(['.', '。']);
    let (written, most) = match written.strip_suffix(['%', '％']) {
        Some(percent) => (percent.trim_end(), 100),
        None => (written, scale.most),
    };
    let confidence = written.parse::<f64>().ok()? / f64::from(most);
    (0.0..=1.0).contains(&confidence).then_some(confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERCENT: Confidence = Confidence { most: 100, bins: 10 };
    const SHARE: Confidence = Confidence { most: 1, bins: 10 };

    #[test]
    fn a_confidence_is_read_beside_the_answer_and_never_guessed() {
        for (asked, reply, answer, confidence) in [
            (PERCENT, r#"{"answer": "B", "confidence": 80}"#, "B", Some(0.8)),
            (SHARE, "```json\n{\"answer\": \"B\", \"confidence\": \"0.8\"}\n```", "B", Some(0.8)),
            (SHARE, "B\nConfidence: 80%", "B", Some(0.8)),
            (PERCENT, "B\n**Confidence:** 65", "B", Some(0.65)),
            (PERCENT, "Confidence: 20\nNo, B.\nconfidence = 90.", "Confidence: 20\nNo, B.", Some(0.9)),
            (PERCENT, "甲\n置信度：70", "甲", Some(0.7)),
            (PERCENT, "B\nConfidence: high", "B", None),
            (SHARE, "B\nConfidence: 80", "B", None),
            (SHARE, "B, and I am confident.", "B, and I am confident.", None),
            (PERCENT, r#"{"answer": "B", "confidence": -5}"#, "B", None),
        ] {
            assert_eq!(split_confidence(asked, reply), (Cow::from(answer), confidence), "{reply}");
        }
    }
}
