//! Named readers of replies, for what a benchmark's folder cannot declare: `reply = { native = NAME }`. Any
//! benchmark may name them. Beside them are the schemas of the parts of a reply, in which every field of an object is required,
//! and a judge's reply: a rating, and an explanation where the judge gives one (RuozhiBench, figures 12 and 13).

use std::ops::RangeInclusive;
use std::sync::Arc;

use riddlemill_llm::parse::{Unreadable, parse_object, parse_rating, parse_strings, plain_text, text_field};
use riddlemill_review::{Value, Values};
use riddlemill_text::puzzle::distractors::same_option;
use riddlemill_text::puzzle::options::NONE;
use riddlemill_text::puzzle::statistics;
use riddlemill_text::puzzle::words::{list_words, word_key};
use serde_json::{Map, Value as Json, json};

pub(super) struct Reader {
    /// What folders call it.
    pub name: &'static str,
    /// The fields that it fills in.
    pub fields: &'static [&'static str],
    /// Reads a reply.
    pub read: fn(&str) -> Result<Values, Unreadable>,
    /// The schema of a reply; `None` where it is words.
    pub schema: fn() -> Option<Json>,
}

/// All of them.
pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "premises",
        fields: &["premises", "stumper"],
        read: parse_premises,
        schema: || Some(schema_of(listed_premises().into())),
    },
    Reader {
        name: "distractors",
        fields: &["distractor_1", "distractor_2", "distractor_3", OVERTURNED],
        read: parse_distractors,
        schema: || Some(schema_of(vec![("distractors", list_schema(&text_schema(), 3, 3))])),
    },
    Reader {
        name: "distractors_of_premises",
        fields: &["distractor_1", "distractor_2", "distractor_3", OVERTURNED],
        read: parse_distractors,
        schema: || {
            let one = schema_of(vec![("text", text_schema()), ("premise", integer_schema())]);
            Some(schema_of(vec![("distractors", list_schema(&one, 3, 3))]))
        },
    },
    Reader {
        name: "situation",
        fields: &["question", "answer", "premises", "stumper"],
        read: parse_situation,
        schema: || {
            let parts = [("question", text_schema()), ("answer", text_schema())];
            Some(schema_of(parts.into_iter().chain(listed_premises()).collect()))
        },
    },
    Reader {
        name: "situation_of_word",
        fields: &["question", "answer", "premises", "stumper"],
        read: parse_situation,
        schema: || {
            Some(schema_of(vec![
                ("question", text_schema()),
                ("answer", text_schema()),
                ("premise", text_schema()),
            ]))
        },
    },
    Reader { name: "topic", fields: &["topic"], read: parse_topic, schema: || None },
];

/// The reader of a name.
pub(super) fn find_reader(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}

/// The fields of three distractors.
const DISTRACTORS: [&str; 3] = ["distractor_1", "distractor_2", "distractor_3"];

/// The numbers of the premises that they overturn; no field of a ballot is called so.
const OVERTURNED: &str = "overturned";

/// Fewer premises leave no three that distractors could overturn in addition to the answer's. Prompts and ballots ask for as many.
pub(in crate::stages) const PREMISES: std::ops::RangeInclusive<usize> = 4..=8;

/// The most words of a topic.
const TOPIC_WORDS: usize = 3;

/// Premises, and the number of the one that the answer overturns.
fn listed_premises() -> [(&'static str, Json); 2] {
    let (fewest, most) = (*PREMISES.start(), *PREMISES.end());
    [("premises", list_schema(&text_schema(), fewest, most)), ("overturned", integer_schema())]
}

/// The premises, one a line, and the one that the answer overturns.
fn parse_premises(reply: &str) -> Result<Values, Unreadable> {
    parse_premise_list(&parse_object(reply, &["premises", "overturned"])?)
}

fn parse_premise_list(map: &Map<String, Json>) -> Result<Values, Unreadable> {
    let count = map.get("premises").and_then(Json::as_array).map_or(0, Vec::len);
    if !PREMISES.contains(&count) {
        let (fewest, most) = (PREMISES.start(), PREMISES.end());
        return Err(Unreadable::new(format!(
            "\"premises\" must list {fewest} to {most} premises, not {count}"
        )));
    }
    let premises: Vec<String> =
        parse_strings(map, "premises", count)?.iter().map(|text| one_line(text)).collect();
    let stumper = map.get("overturned").and_then(Json::as_u64).and_then(|at| premises.get(at as usize));
    let Some(stumper) = stumper else {
        return Err(Unreadable::new(format!("\"overturned\" must be a number from 0 to {}", count - 1)));
    };
    Ok([("premises", premises.join("\n").as_str()), ("stumper", stumper)].into_iter().collect())
}

/// Three distractors as texts, or each with the premise that it overturns.
fn parse_distractors(reply: &str) -> Result<Values, Unreadable> {
    let map = parse_object(reply, &["distractors"])?;
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

/// Question and answer of a new situation, with its premises where it is a sentence puzzle; of a word puzzle one premise
/// is asked for, which keeps the model to it.
fn parse_situation(reply: &str) -> Result<Values, Unreadable> {
    let map = parse_object(reply, &["question", "answer"])?;
    let mut values = match map.contains_key("premise") && !map.contains_key("premises") {
        true => text_field(&map, "premise").map(|_| Values::new())?,
        false => parse_premise_list(&map)?,
    };
    for field in ["question", "answer"] {
        values.set(field, one_line(text_field(&map, field)?).as_str());
    }
    Ok(values)
}

fn parse_topic(reply: &str) -> Result<Values, Unreadable> {
    let topic = statistics::format_topic(plain_text(reply, &["Topic", "Context"])?);
    match list_words(&topic).len() {
        1..=TOPIC_WORDS => Ok([("topic", topic.as_str())].into_iter().collect()),
        _ => Err(Unreadable::new("name the topic in one or two words")),
    }
}

/// Takes three distractors that differ from each other and are not the fourth option.
fn insert_all(values: &mut Values, map: &Map<String, Json>) -> Result<(), Unreadable> {
    let texts: Vec<String> =
        parse_strings(map, "distractors", 3)?.iter().map(|text| one_line(text)).collect();
    for (at, text) in texts.iter().enumerate() {
        if word_key(text) == word_key(NONE) {
            return Err(Unreadable::new(format!("{NONE:?} is an option of every puzzle and no distractor")));
        }
        if texts[..at].iter().any(|other| same_option(other, text)) {
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

pub(super) fn schema_of(fields: Vec<(&str, Json)>) -> Json {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(names);
    let properties: Map<String, Json> =
        fields.into_iter().map(|(name, form)| (name.to_owned(), form)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub(super) fn text_schema() -> Json {
    json!({"type": "string"})
}

pub(super) fn text_or_none() -> Json {
    json!({"type": ["string", "null"]})
}

pub(super) fn flag_schema() -> Json {
    json!({"type": "boolean"})
}

pub(super) fn integer_schema() -> Json {
    json!({"type": "integer"})
}

pub(super) fn one_of(names: &[&str]) -> Json {
    json!({"type": "string", "enum": names})
}

pub(super) fn list_schema(of: &Json, fewest: usize, most: usize) -> Json {
    json!({"type": "array", "items": of, "minItems": fewest, "maxItems": most})
}

/// The rating of such a reply, on any scale. One that is missing, off the scale or no whole number is unreadable: never 0.
///
/// # Errors
/// Where it is so.
pub fn rating_of_reply(reply: &str, scale: RangeInclusive<u32>) -> Result<String, Unreadable> {
    Ok(parse_rating(reply, scale)?.to_string())
}

/// The schema of such a reply, for endpoints that enforce one.
pub fn rating_schema() -> Option<Arc<serde_json::Value>> {
    Some(Arc::new(schema_of(vec![("rating", integer_schema()), ("explanation", text_schema())])))
}

#[cfg(test)]
mod tests {
    use super::super::DraftStep;
    use super::*;

    #[test]
    fn premises_come_with_the_overturned_one() {
        let values =
            parse_premises(r#"{"premises": ["A is b.", "B is\nc.", "C is d.", "D."], "overturned": 1}"#)
                .unwrap();
        assert_eq!(
            (values.text_of("premises"), values.text_of("stumper")),
            (Some("A is b.\nB is c.\nC is d.\nD."), Some("B is c."))
        );
        for wrong in [
            r#"{"premises": ["a", "b", "c", "d"], "overturned": 4}"#,
            r#"{"premises": ["a", "b", "c"], "overturned": 0}"#,
            r#"{"premises": ["a", "b", "c", ""], "overturned": 0}"#,
        ] {
            assert!(parse_premises(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn distractors_come_in_both_forms() {
        let word = parse_distractors(r#"{"distractors": ["A duck.", "A hen.", "A crow."]}"#).unwrap();
        assert_eq!(DISTRACTORS.map(|field| word.text_of(field).unwrap()), ["A duck.", "A hen.", "A crow."]);
        let sentence = parse_distractors(
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
            assert!(parse_distractors(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_new_situation_has_premises_of_its_own() {
        let word = parse_situation(r#"{"question": "Q?", "answer": "A.", "premise": "p"}"#).unwrap();
        assert_eq!(word.len(), 2);
        let sentence =
            r#"{"question": "Q?", "answer": "A.", "premises": ["a", "b", "c", "d"], "overturned": 2}"#;
        assert_eq!(parse_situation(sentence).unwrap().text_of("stumper"), Some("c"));
        assert!(parse_situation(&sentence.replace(", \"d\"", "")).is_err());
        assert!(parse_situation(r#"{"question": "Q?", "answer": "A."}"#).is_err());
    }

    /// One number in parser, prompt and ballot.
    #[test]
    fn as_many_premises_are_asked_for_as_are_read() {
        assert_eq!((*PREMISES.start(), *PREMISES.end()), (4, 8));
        let prompts = riddlemill_llm::Prompts::load_prompts(None).unwrap();
        for name in ["brainteaser/premises", "brainteaser/context"] {
            assert!(prompts.prompt_source(name).unwrap().contains("four to eight premises"), "{name}");
        }
        for name in ["premises", "context"] {
            let ballot = riddlemill_review::ballots::find_step("brainteaser", name).unwrap();
            assert!(ballot.guideline.en.contains("at least four"), "{name}");
        }
    }

    #[test]
    fn topics_are_short() {
        assert_eq!(parse_topic("Topic: mathematics.").unwrap().text_of("topic"), Some("Mathematics"));
        assert!(parse_topic("It is set in a school where a teacher works").is_err());
    }

    #[test]
    fn what_is_read_is_what_is_named() {
        for reader in READERS {
            assert_eq!(find_reader(reader.name).map(|found| found.name), Some(reader.name));
        }
        let named = |name: &str, reply: &str| {
            let reader = find_reader(name).unwrap();
            let values = (reader.read)(reply).unwrap();
            values.iter().all(|(field, _)| reader.fields.contains(&field))
        };
        assert!(named("premises", r#"{"premises": ["a", "b", "c", "d"], "overturned": 0}"#));
        assert!(named("distractors", r#"{"distractors": ["A duck.", "A hen.", "A crow."]}"#));
        assert!(named("situation_of_word", r#"{"question": "Q?", "answer": "A.", "premise": "p"}"#));
        assert!(named("topic", "Animals"));
    }

    fn judge() -> DraftStep {
        DraftStep::find_draft(riddlemill_benchmarks::find_benchmark("ruozhibench-mc").unwrap(), "judge")
            .unwrap()
    }

    #[test]
    fn what_is_no_rating_is_never_taken_for_nought() {
        let read = |reply: &str| judge().read_reply("ruozhibench/judge", reply);
        let rated = read(r#"{"rating": 0, "explanation": "Falls for it."}"#).unwrap();
        assert_eq!(rated.get("rating").map(ToString::to_string).as_deref(), Some("0"));
        assert_eq!(rated.text_of("explanation"), Some("Falls for it."));
        assert_eq!(read(r#"{"rating": "2/4"}"#).unwrap().text_of("explanation"), None);
        for reply in
            ["", "I cannot rate this.", r#"{"rating": null}"#, r#"{"rating": 5}"#, r#"{"rating": 2.5}"#]
        {
            assert!(read(reply).is_err() && super::rating_of_reply(reply, 0..=4).is_err(), "{reply}");
        }
    }

    #[test]
    fn a_declared_judge_is_sent_the_same_schema_as_an_evaluation() {
        let declared = super::super::schema::reply_schema(judge(), "ruozhibench/judge");
        assert_eq!(declared, rating_schema().map(|schema| (*schema).clone()));
    }
}
