//! Parses replies to prompts as declared in benchmarks' folders.

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::draft::Draft;
use riddlemill_benchmarks::reply::{Numbers, Reading, Reply, ReplyForm};
use riddlemill_benchmarks::scope::{group_name, text_of_value, texts_of_value};
use riddlemill_llm::parse::{
    Unreadable, on_scale, one_of, optional_text, parse_bracketed_rating, parse_flag, parse_numbers,
    parse_object, parse_strings, plain_text, text_field,
};
use riddlemill_review::{Value, Values};
use serde_json::{Map, Value as Json};

use super::readers;

/// The answers that a reply gives, by field.
pub(super) fn read_reply(draft: &Draft, template: &str, reply: &str) -> Result<Values, Unreadable> {
    let Some(Reading { form, gives, refuses }) = draft.find_reading(template) else {
        return Err(Unreadable::new(format!("{template} is not a prompt of this step")));
    };
    let read = match form {
        Reply::Native(name, _) => {
            let reader = readers::find_reader(name);
            let reader = reader.ok_or_else(|| Unreadable::new(format!("there is no reader {name:?}")))?;
            let values = (reader.read)(reply)?;
            if gives.is_none() && refuses.is_empty() {
                return Ok(values);
            }
            values.iter().map(|(name, value)| (name.to_owned(), answer_as_template(value))).collect()
        }
        _ => parse_reply(form, reply)?,
    };
    let over = TemplateValue::from(read.clone());
    let unreadable = |trouble: ExpressionError| Unreadable::new(trouble.to_string());
    for refusal in refuses {
        if let Some(what) = text_of_value(&refusal.compute_value(&over).map_err(unreadable)?) {
            return Err(Unreadable::new(what));
        }
    }
    let mut values = Values::new();
    let mut give = |field: &str, value: &TemplateValue| {
        value_of(value).into_iter().for_each(|value| values.set(&group_name(field), value));
    };
    match gives {
        Some(gives) => {
            for (field, value) in gives {
                give(field, &value.compute_value(&over).map_err(unreadable)?);
            }
        }
        None => read.iter().for_each(|(field, value)| give(field, value)),
    }
    Ok(values)
}

/// An answer as expressions see it.
pub(in crate::stages) fn answer_as_template(value: &Value) -> TemplateValue {
    match value {
        Value::Text(text) => TemplateValue::from(text.as_str()),
        Value::List(list) => TemplateValue::from(list.clone()),
        Value::Number(number) => TemplateValue::from(*number),
    }
}

fn value_of(value: &TemplateValue) -> Option<Value> {
    match value.kind() {
        minijinja::value::ValueKind::Number => f64::try_from(value.clone()).ok().map(Value::Number),
        minijinja::value::ValueKind::Seq | minijinja::value::ValueKind::Iterable => {
            Some(Value::List(texts_of_value(value)))
        }
        minijinja::value::ValueKind::Bool => Some(Value::from(if value.is_true() { "yes" } else { "no" })),
        _ => text_of_value(value).map(Value::Text),
    }
}

/// The values of a reply, by the names of its form.
fn parse_reply(form: &Reply, reply: &str) -> Result<BTreeMap<String, TemplateValue>, Unreadable> {
    let one = |name: &str, value: TemplateValue| BTreeMap::from([(name.to_owned(), value)]);
    match form {
        Reply::Text(labels) => Ok(one("text", TemplateValue::from(plain_text(reply, labels)?))),
        Reply::Whole => match reply.trim() {
            "" => Err(Unreadable::new("the reply is empty")),
            text => Ok(one("text", TemplateValue::from(text))),
        },
        Reply::Numbers(Numbers { count, from, to, like }) => {
            let numbers = parse_numbers(reply, *count, *from..=*to, like)?;
            Ok(one("numbers", numbers.iter().map(ToString::to_string).collect()))
        }
        Reply::Label(names) => Ok(one("label", TemplateValue::from(one_of(reply, names)?))),
        Reply::Rating(from, to) => {
            let number = reply.trim().trim_end_matches('.').parse::<i64>().ok();
            let number = number.or_else(|| parse_bracketed_rating(reply, 0..=u32::MAX).ok().map(i64::from));
            let number = number.filter(|number| (from..=to).contains(&number));
            let what = || Unreadable::new(format!("answer with one whole number from {from} to {to}"));
            Ok(one("rating", TemplateValue::from(number.ok_or_else(what)?)))
        }
        Reply::Json(keys) => {
            // A key that may be null may also be left out.
            let may_lack = |form: &ReplyForm| matches!(form, ReplyForm::TextOrNone | ReplyForm::TextIfGiven);
            let needed: Vec<&str> =
                keys.iter().filter(|(_, form)| !may_lack(form)).map(|(key, _)| *key).collect();
            let map = parse_object(reply, &needed)?;
            keys.iter()
                .map(|(key, form)| Ok(((*key).to_owned(), value_under_key(&map, key, form)?)))
                .collect()
        }
        Reply::Native(name, _) => {
            Err(Unreadable::new(format!("the reader {name:?} cannot be combined with other forms")))
        }
    }
}

fn value_under_key(
    map: &Map<String, Json>,
    key: &str,
    form: &ReplyForm,
) -> Result<TemplateValue, Unreadable> {
    Ok(match form {
        ReplyForm::Text => TemplateValue::from(text_field(map, key)?),
        ReplyForm::TextOrNone | ReplyForm::TextOrNull => {
            optional_text(map, key)?.map_or(TemplateValue::from(()), TemplateValue::from)
        }
        ReplyForm::TextIfGiven if !map.contains_key(key) => TemplateValue::from(()),
        ReplyForm::TextIfGiven => TemplateValue::from(text_field(map, key)?),
        ReplyForm::Scale(from, to) => TemplateValue::from(on_scale(map, key, *from..=*to)?),
        ReplyForm::Flag => TemplateValue::from(parse_flag(map, key)?),
        ReplyForm::Integer => {
            let number = map.get(key).and_then(Json::as_i64);
            TemplateValue::from(
                number.ok_or_else(|| Unreadable::new(format!("\"{key}\" must be a whole number")))?,
            )
        }
        ReplyForm::Texts(from, to) => {
            let count = map.get(key).and_then(Json::as_array).map_or(0, Vec::len);
            if from != to && !(from..=to).contains(&&count) {
                let what = format!("\"{key}\" must list {from} to {to} texts, not {count}");
                return Err(Unreadable::new(what));
            }
            let count = if from == to { *from } else { count };
            TemplateValue::from(parse_strings(map, key, count)?)
        }
        ReplyForm::OneOf(codes) => TemplateValue::from(one_of(text_field(map, key)?, codes)?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::DraftStep as Asked;
    use super::*;

    fn values(step: &str, reply: &str) -> Result<Values, Unreadable> {
        let (benchmark, step) = step.split_once('/').unwrap();
        let draft =
            Asked::find_draft(riddlemill_benchmarks::find_benchmark(benchmark).unwrap(), step).unwrap();
        draft.read_reply(draft.templates()[0], reply)
    }

    fn fields(step: &str, reply: &str) -> String {
        let values = values(step, reply).unwrap();
        values.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>().join(" | ")
    }

    fn refusal(step: &str, reply: &str) -> String {
        values(step, reply).unwrap_err().to_string()
    }

    #[test]
    fn three_answers_make_a_verdict() {
        let reply = |culture: bool, harmful: bool, survives: bool| {
            serde_json::json!({
                "culture_bound": culture, "culture_bound_reason": "a", "harmful": harmful, "harmful_reason": "b",
                "trap_survives": survives, "trap_survives_reason": "c",
            })
            .to_string()
        };
        let step = "ruozhibench-gen/screen";
        let reasons = "screen_reasons=culture_bound: a; harmful: b; trap_survives: c";
        assert_eq!(fields(step, &reply(false, false, true)), format!("screen=keep | {reasons}"));
        let fenced = format!("Sure:\n```json\n{}\n```", reply(true, false, false));
        assert_eq!(fields(step, &fenced), format!("screen=culture_bound; untranslatable | {reasons}"));
        assert_eq!(values(step, &reply(false, false, true)).unwrap().text_of("screen"), Some("keep"));
        assert!(values(step, "keep").is_err());
    }

    #[test]
    fn labels_are_no_part_of_the_words() {
        assert_eq!(fields("ruozhibench-gen/translate", "Translation: Why?"), "question_en=Why?");
        assert_eq!(fields("flub/explanation", "正确解释：鱼会游泳。"), "explanation=鱼会游泳。");
        assert_eq!(fields("chumor/opponents", "解释：好笑。"), "explanation=好笑。");
        assert_eq!(fields("brainteaser/semantic", "\"Why\nso?\""), "question=Why so?");
        assert_eq!(fields("brainteaser/topic", "Topic: mathematics."), "topic=Mathematics");
        assert_eq!(refusal("ruozhibench-gen/translate", "  "), "the reply is empty");
    }

    #[test]
    fn categories_are_read_by_priority() {
        let step = "ruozhibench-gen/category";
        assert_eq!(fields(step, "２ 6 3"), "categories=2; 6; 3");
        let wrong =
            "the output must be three different numbers from 1 to 6 with a space between, such as 2 6 3";
        for reply in ["2 2 3", "2 7 3", "2"] {
            assert_eq!(refusal(step, reply), wrong, "{reply}");
        }
    }

    #[test]
    fn that_no_pair_fits_is_an_answer() {
        let step = "ruozhibench-gen/pair";
        assert_eq!(fields(step, r#"{"pair": null}"#), "pairing=none");
        assert_eq!(fields(step, r#"{"pair": "none fits"}"#), "pairing=none");
        let accepted = "pair=Why do cats sleep? | pairing=accept";
        assert_eq!(fields(step, r#"{"pair": "Why do cats sleep?"}"#), accepted);
        assert_eq!(refusal(step, r#"{"par": null}"#), r#"the JSON object must have the keys "pair""#);
    }

    #[test]
    fn names_in_either_language_become_codes() {
        let of = |name: &str| {
            values("flub/type", &serde_json::json!({ "type": name, "reason": "。" }).to_string())
        };
        assert_eq!(of("推理错误").unwrap().text_of("type"), Some("reasoning_error"));
        assert_eq!(of(" Word Game ").unwrap().text_of("type"), Some("word_game"));
        assert_eq!(of("未分类").unwrap().text_of("type"), Some("undefined"));
        assert!(of("谜语").is_err());
        assert_eq!(fields("brainteaser/kind", r#"{"kind": "Word", "reason": "."}"#), "kind=word");
        assert!(values("brainteaser/kind", r#"{"kind": "pun"}"#).is_err());
    }

    #[test]
    fn three_different_texts_are_wanted() {
        let step = "flub/wrong-candidates";
        assert_eq!(fields(step, r#"{"wrong": ["甲", "乙", "丙"]}"#), "wrong_1=甲 | wrong_2=乙 | wrong_3=丙");
        assert!(values(step, r#"{"wrong": ["甲", "乙"]}"#).is_err());
        assert_eq!(
            refusal(step, r#"{"wrong": ["甲", "乙", "甲。"]}"#),
            r#"the three texts in "wrong" must differ from each other"#
        );
    }
}
