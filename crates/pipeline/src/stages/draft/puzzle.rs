//! The replies of BrainTeaser's steps (3.2 to 3.4, appendix A.1).

use serde_json::{Map, Value as Json};

use riddlemill_llm::parse::{Unreadable, object, one_of, plain, strings, text_field};
use riddlemill_review::{Value, Values};
use riddlemill_text::puzzle::distractors::alike;
use riddlemill_text::puzzle::options::NONE;
use riddlemill_text::puzzle::statistics;
use riddlemill_text::puzzle::words::{key, words};

/// The fields of three distractors.
pub(in crate::stages) const DISTRACTORS: [&str; 3] = ["distractor_1", "distractor_2", "distractor_3"];
/// The numbers of the premises that they overturn; no field of a ballot is called so.
pub(in crate::stages) const OVERTURNED: &str = "overturned";
/// Fewer premises leave no three that distractors could overturn beside the answer's. Prompts and ballots ask for as many.
pub(in crate::stages) const PREMISES: std::ops::RangeInclusive<usize> = 4..=8;
/// The kinds of a puzzle, and what is none.
pub(super) const KINDS: [&str; 3] = ["sentence", "word", "neither"];
/// A topic is named in so many words.
const TOPIC_WORDS: usize = 3;

pub(super) fn kind(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["kind"])?;
    let kind = one_of(text_field(&map, "kind")?, &KINDS)?;
    Ok([("kind", kind)].into_iter().collect())
}

/// The premises, one a line, and the one that the answer overturns.
pub(super) fn premises(reply: &str) -> Result<Values, Unreadable> {
    listed(&object(reply, &["premises", "overturned"])?)
}

fn listed(map: &Map<String, Json>) -> Result<Values, Unreadable> {
    let count = map.get("premises").and_then(Json::as_array).map_or(0, Vec::len);
    if !PREMISES.contains(&count) {
        let (fewest, most) = (PREMISES.start(), PREMISES.end());
        return Err(Unreadable::new(format!(
            "\"premises\" must list {fewest} to {most} premises, not {count}"
        )));
    }
    let premises: Vec<String> = strings(map, "premises", count)?.iter().map(|text| one_line(text)).collect();
    let stumper = map.get("overturned").and_then(Json::as_u64).and_then(|at| premises.get(at as usize));
    let Some(stumper) = stumper else {
        return Err(Unreadable::new(format!("\"overturned\" must be a number from 0 to {}", count - 1)));
    };
    Ok([("premises", premises.join("\n").as_str()), ("stumper", stumper)].into_iter().collect())
}

/// Three distractors as texts, or each with the premise that it overturns.
pub(super) fn distractors(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["distractors"])?;
    let list = map.get("distractors").and_then(Json::as_array).cloned().unwrap_or_default();
    let mut values = Values::new();
    if list.iter().any(Json::is_object) {
        let (mut texts, mut overturned) = (Vec::new(), Vec::new());
        for entry in &list {
            let Some(entry) = entry.as_object() else {
                return Err(Unreadable::new(
                    "every distractor must be an object with \"text\" and \"premise\"",
                ));
            };
            texts.push(Json::from(text_field(entry, "text")?));
            let premise = entry.get("premise").and_then(Json::as_u64);
            overturned
                .push(premise.ok_or_else(|| Unreadable::new("\"premise\" must be a number"))?.to_string());
        }
        insert_all(&mut values, &Map::from_iter([("distractors".to_owned(), Json::Array(texts))]))?;
        values.set(OVERTURNED, Value::List(overturned));
    } else {
        insert_all(&mut values, &map)?;
    }
    Ok(values)
}

pub(super) fn semantic(reply: &str) -> Result<Values, Unreadable> {
    let text = one_line(plain(reply, &["Rephrased puzzle", "Rephrased", "Puzzle", "Question"])?);
    Ok([("question", text.as_str())].into_iter().collect())
}

/// Question and answer of a new situation, with its premises where it is a sentence puzzle; of a word puzzle one premise
/// is asked for, which keeps the model to it.
pub(super) fn context(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["question", "answer"])?;
    let mut values = match map.contains_key("premise") && !map.contains_key("premises") {
        true => text_field(&map, "premise").map(|_| Values::new())?,
        false => listed(&map)?,
    };
    for field in ["question", "answer"] {
        values.set(field, one_line(text_field(&map, field)?).as_str());
    }
    Ok(values)
}

pub(super) fn topic(reply: &str) -> Result<Values, Unreadable> {
    let topic = statistics::topic(plain(reply, &["Topic", "Context"])?);
    match words(&topic).len() {
        1..=TOPIC_WORDS => Ok([("topic", topic.as_str())].into_iter().collect()),
        _ => Err(Unreadable::new("name the topic in one or two words")),
    }
}

/// Takes three distractors that differ from each other and are not the fourth option.
fn insert_all(values: &mut Values, map: &Map<String, Json>) -> Result<(), Unreadable> {
    let texts: Vec<String> = strings(map, "distractors", 3)?.iter().map(|text| one_line(text)).collect();
    for (at, text) in texts.iter().enumerate() {
        if key(text) == key(NONE) {
            return Err(Unreadable::new(format!("{NONE:?} is an option of every puzzle and no distractor")));
        }
        if texts[..at].iter().any(|other| alike(other, text)) {
            return Err(Unreadable::new("the three distractors must differ from each other in substance"));
        }
    }
    for (field, text) in DISTRACTORS.into_iter().zip(texts) {
        values.set(field, text.as_str());
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn premises_come_with_the_overturned_one() {
        let values =
            premises(r#"{"premises": ["A is b.", "B is\nc.", "C is d.", "D."], "overturned": 1}"#).unwrap();
        assert_eq!(
            (values.text("premises"), values.text("stumper")),
            (Some("A is b.\nB is c.\nC is d.\nD."), Some("B is c."))
        );
        for wrong in [
            r#"{"premises": ["a", "b", "c", "d"], "overturned": 4}"#,
            r#"{"premises": ["a", "b", "c"], "overturned": 0}"#,
            r#"{"premises": ["a", "b", "c", ""], "overturned": 0}"#,
        ] {
            assert!(premises(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn distractors_come_in_both_forms() {
        let word = distractors(r#"{"distractors": ["A duck.", "A hen.", "A crow."]}"#).unwrap();
        assert_eq!(DISTRACTORS.map(|field| word.text(field).unwrap()), ["A duck.", "A hen.", "A crow."]);
        let sentence = distractors(
            r#"{"distractors": [{"text": "a", "premise": 0}, {"text": "b", "premise": 2}, {"text": "c", "premise": 3}]}"#,
        );
        let sentence = sentence.unwrap();
        assert_eq!(sentence.get(OVERTURNED).unwrap().to_string(), "0; 2; 3");
        for wrong in [
            r#"{"distractors": ["A duck.", "The duck", "A crow."]}"#,
            r#"{"distractors": ["A duck.", "None of above", "A crow."]}"#,
            r#"{"distractors": ["A duck.", "A hen."]}"#,
            r#"{"distractors": [{"text": "a"}, {"text": "b", "premise": 2}, {"text": "c", "premise": 3}]}"#,
        ] {
            assert!(distractors(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_new_situation_has_premises_of_its_own() {
        let word = context(r#"{"question": "Q?", "answer": "A.", "premise": "p"}"#).unwrap();
        assert_eq!(word.len(), 2);
        let sentence =
            r#"{"question": "Q?", "answer": "A.", "premises": ["a", "b", "c", "d"], "overturned": 2}"#;
        assert_eq!(context(sentence).unwrap().text("stumper"), Some("c"));
        assert!(context(&sentence.replace(", \"d\"", "")).is_err());
        assert!(context(r#"{"question": "Q?", "answer": "A."}"#).is_err());
    }

    /// One number in parser, prompt and ballot.
    #[test]
    fn as_many_premises_are_asked_for_as_are_read() {
        assert_eq!((*PREMISES.start(), *PREMISES.end()), (4, 8));
        let prompts = riddlemill_llm::Prompts::load(None).unwrap();
        for name in ["brainteaser/premises", "brainteaser/context"] {
            assert!(prompts.show(name).unwrap().contains("four to eight premises"), "{name}");
        }
        for name in ["premises", "context"] {
            let ballot = riddlemill_review::ballots::step("brainteaser", name).unwrap();
            assert!(ballot.guideline.en.contains("at least four"), "{name}");
        }
    }

    #[test]
    fn kinds_topics_and_rephrasings() {
        assert_eq!(kind(r#"{"kind": "Word", "reason": "."}"#).unwrap().text("kind"), Some("word"));
        assert!(kind(r#"{"kind": "pun"}"#).is_err());
        assert_eq!(topic("Topic: mathematics.").unwrap().text("topic"), Some("Mathematics"));
        assert!(topic("It is set in a school where a teacher works").is_err());
        assert_eq!(semantic("\"Why\nso?\"").unwrap().text("question"), Some("Why so?"));
    }
}
