//! Parsing of models' replies: tolerant of wrapping, strict about the value inside.
//!
//! Nothing here guesses. A reply that says two things, or nothing, is [`Unreadable`], never a default.

mod choice;
mod denied;
mod json;
mod letter;
mod mended;
mod repeated;
mod text;

pub use choice::{choice_within, has_name, one_of, parse_choice, parse_numbers, text_after_label};
pub use json::{
    ends_with_object, make_strict_json, optional_text, parse_flag, parse_object, parse_strings, text_field,
    without_halves,
};
pub use letter::{parse_letter, parse_option};
pub use riddlemill_text::text::{count_sentences, count_words};
pub use text::plain_text;
use text::{narrow_forms, strip_fence};

use serde_json::{Map, Value};
use std::fmt;
use std::ops::RangeInclusive;

/// What begins a line with a rating, before a colon.
const NUMBER_LABELS: [&str; 8] = ["rating", "my rating", "score", "answer", "评分", "得分", "分数", "答案"];

/// The words by which replies are read, by what they are for: programs beside this one read by the same.
pub fn reading_words() -> Vec<(&'static str, Vec<&'static str>)> {
    let lists: [(&str, &[&str]); 13] = [
        ("labels", &letter::LABELS),
        ("phrases", &letter::PHRASES),
        ("doubts", &letter::DOUBTS),
        ("refusals", &letter::REFUSALS),
        ("behind_letters", &letter::BEHIND_LETTERS),
        ("before_letters", &letter::BEFORE_LETTERS),
        ("keys", &letter::KEYS),
        ("number_labels", &NUMBER_LABELS),
        ("denials_before", &denied::BEFORE),
        ("denials_behind", &denied::BEHIND),
        ("denials_behind_first", &denied::BEHIND_FIRST),
        ("fillers", &denied::FILLERS),
        ("exceptions", &denied::TURNS),
    ];
    lists.into_iter().map(|(name, words)| (name, words.to_vec())).collect()
}

/// Why a reply cannot be parsed, worded for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    what: String,
    /// How earlier versions said it.
    before: Option<String>,
    /// The same for a model that was asked in Chinese.
    chinese: Option<String>,
}

impl Unreadable {
    /// What is wrong with the reply.
    pub fn new(what: impl Into<String>) -> Unreadable {
        Unreadable { what: what.into(), before: None, chinese: None }
    }

    /// The same, which earlier versions put in these words: what they asked again is stored under them.
    fn said_before(self, words: String) -> Unreadable {
        Unreadable { before: Some(words), ..self }
    }

    /// The same for a model that was asked in Chinese. Ledgers keep the English, in which earlier versions asked again.
    pub fn in_chinese(self, words: impl Into<String>) -> Unreadable {
        let before = self.before.clone().or_else(|| Some(self.what.clone()));
        Unreadable { before, chinese: Some(words.into()), ..self }
    }

    /// The same with its words changed, such as cut.
    pub(crate) fn with_changed_words(&self, change: impl Fn(&str) -> String) -> Unreadable {
        let chinese = self.chinese.as_deref().map(&change);
        Unreadable { what: change(&self.what), before: None, chinese }
    }

    /// What a model is told whose reply is asked for again, in the language of its prompt.
    pub(crate) fn message_to_model(&self) -> String {
        match &self.chinese {
            Some(words) => format!(
                "你的回复无法采用：{}。请重新回答第一条消息，严格采用其中要求的格式，不要写任何其他内容。",
                words.trim_end_matches('。')
            ),
            None => format!(
                "Your reply could not be read: {self}. Answer the first message again, in exactly the form it asks for, and write nothing else."
            ),
        }
    }

    /// The same in the words of earlier versions; `None` if they had no others.
    pub fn as_before(&self) -> Option<Unreadable> {
        self.before.clone().map(Unreadable::new)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Unreadable {}

/// The rating of a judge's JSON reply (RuozhiBench, figures 12 and 13): a whole number within `scale` under
/// the key `rating`, bare, in a list of one as in the figure's example, or as text (`"2"`, `"２"`, `"2/4"`).
///
/// # Errors
/// If there is no rating, several, or one off the scale. It is never rounded, clamped or taken for 0.
pub fn parse_rating(reply: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    on_scale(&parse_object(reply, &["rating"])?, "rating", scale)
}

/// Such a number under a key of an object.
///
/// # Errors
/// As of [`parse_rating`].
pub fn on_scale(map: &Map<String, Value>, key: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    let wrong = || {
        let (least, most) = (scale.start(), scale.end());
        Unreadable::new(format!("\"{key}\" must be one whole number from {least} to {most}"))
    };
    let value = match map.get(key) {
        Some(Value::Array(list)) if list.len() == 1 => &list[0],
        Some(other) => other,
        None => return Err(wrong()),
    };
    let number = match value {
        Value::Number(number) => whole_number(number.as_f64()),
        Value::String(text) => {
            let text = narrow_forms(text);
            let number = match text.split_once('/') {
                // A fraction of another scale, such as `3/5` on a scale up to 4, is not accepted.
                Some((number, out_of)) if out_of.trim() == scale.end().to_string() => number,
                _ => &text,
            };
            whole_number(number.trim().parse().ok())
        }
        _ => None,
    };
    number.filter(|number| scale.contains(number)).ok_or_else(wrong)
}

/// The rating in double brackets, `[[5]]` (FLUB, figure 6): the last one, because judges quote the format
/// before they use it. Full-width digits and brackets are accepted.
///
/// # Errors
/// If there is none, or it is off the scale.
pub fn parse_bracketed_rating(reply: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    let narrowed = narrow_forms(reply).replace('【', "[").replace('】', "]");
    // A quoted format, `[[rating]]`, has no number in it and is passed over.
    let last = narrowed.rmatch_indices("[[").find_map(|(at, _)| {
        let inner = narrowed[at + 2..].split_once("]]")?.0.trim();
        whole_number(inner.parse().ok())
    });
    let (least, most) = (scale.start(), scale.end());
    let what = format!("the rating must be given as [[number]], a whole number from {least} to {most}");
    last.filter(|number| scale.contains(number)).ok_or_else(|| Unreadable::new(what))
}

/// The whole number that is all of a reply, bare or behind a label: `2`, `**2**`, `2.0`, `２`, `Rating: 2`; `None` for any other text.
pub fn parse_plain_number(reply: &str) -> Option<i64> {
    let reply = narrow_forms(strip_fence(reply));
    let text = text_after_label(&reply, &NUMBER_LABELS).unwrap_or(&reply);
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_`\"'".contains(c)).trim_end_matches('.');
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let is_whole = !rest.is_empty() && rest.bytes().all(|digit| digit == b'0');
    whole.parse().ok().filter(|_| is_whole && !whole.starts_with('+'))
}

fn whole_number(number: Option<f64>) -> Option<u32> {
    let number = number?;
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    fits.then_some(number as u32)
}

#[cfg(test)]
mod tests;
