//! Replies to prompts of benchmarks whose folders say how they are read.

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::draft::{Draft, Form, Reply};
use riddlemill_benchmarks::scope::{group, text, texts};
use riddlemill_llm::parse::{
    Unreadable, bracketed, flag, object, one_of, optional_text, plain, strings, text_field,
};
use riddlemill_review::{Value, Values};
use serde_json::{Map, Value as Json};

/// The answers that a reply gives, by field.
pub(super) fn read(draft: &Draft, reply: &str) -> Result<Values, Unreadable> {
    let read = said(&draft.reply, reply)?;
    let given =
        draft.given(&TemplateValue::from(read)).map_err(|trouble| Unreadable::new(trouble.to_string()))?;
    let mut values = Values::new();
    for (field, value) in given {
        if let Some(value) = value_of(&value) {
            values.set(&group(field), value);
        }
    }
    Ok(values)
}

fn value_of(value: &TemplateValue) -> Option<Value> {
    match value.kind() {
        minijinja::value::ValueKind::Number => f64::try_from(value.clone()).ok().map(Value::Number),
        minijinja::value::ValueKind::Seq | minijinja::value::ValueKind::Iterable => {
            Some(Value::List(texts(value)))
        }
        minijinja::value::ValueKind::Bool => Some(Value::from(if value.is_true() { "yes" } else { "no" })),
        _ => text(value).map(Value::Text),
    }
}

/// What a reply says, by the names of its form.
fn said(form: &Reply, reply: &str) -> Result<BTreeMap<String, TemplateValue>, Unreadable> {
    let one = |name: &str, value: TemplateValue| BTreeMap::from([(name.to_owned(), value)]);
    match form {
        Reply::Text(labels) => Ok(one("text", TemplateValue::from(plain(reply, labels)?))),
        Reply::Label(names) => Ok(one("label", TemplateValue::from(one_of(reply, names)?))),
        Reply::Rating(from, to) => {
            let number = reply.trim().trim_end_matches('.').parse::<i64>().ok();
            let number = number.or_else(|| bracketed(reply, 0..=u32::MAX).ok().map(i64::from));
            let number = number.filter(|number| (from..=to).contains(&number));
            let what = || Unreadable::new(format!("answer with one whole number from {from} to {to}"));
            Ok(one("rating", TemplateValue::from(number.ok_or_else(what)?)))
        }
        Reply::Json(keys) => {
            // A key that may be null may also be left out.
            let needed: Vec<&str> =
                keys.iter().filter(|(_, form)| *form != Form::TextOrNone).map(|(key, _)| *key).collect();
            let map = object(reply, &needed)?;
            keys.iter().map(|(key, form)| Ok(((*key).to_owned(), under(&map, key, form)?))).collect()
        }
    }
}

fn under(map: &Map<String, Json>, key: &str, form: &Form) -> Result<TemplateValue, Unreadable> {
    Ok(match form {
        Form::Text => TemplateValue::from(text_field(map, key)?),
        Form::TextOrNone => optional_text(map, key)?.map_or(TemplateValue::from(()), TemplateValue::from),
        Form::Flag => TemplateValue::from(flag(map, key)?),
        Form::Integer => {
            let number = map.get(key).and_then(Json::as_i64);
            TemplateValue::from(
                number.ok_or_else(|| Unreadable::new(format!("\"{key}\" must be a whole number")))?,
            )
        }
        Form::Texts(from, to) => {
            let count = map.get(key).and_then(Json::as_array).map_or(0, Vec::len);
            if from != to && !(from..=to).contains(&&count) {
                let what = format!("\"{key}\" must list {from} to {to} texts, not {count}");
                return Err(Unreadable::new(what));
            }
            let count = if from == to { *from } else { count };
            TemplateValue::from(strings(map, key, count)?)
        }
        Form::OneOf(codes) => TemplateValue::from(one_of(text_field(map, key)?, codes)?),
    })
}
