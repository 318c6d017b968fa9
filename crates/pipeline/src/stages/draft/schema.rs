//! The schema of a reply: the fields that its reader asks for, so that an endpoint that enforces one can.
//!
//! It uses only those parts of JSON Schema that every provider accepts; every field is required, and there are no others.

use riddlemill_benchmarks::reply::{Reply, ReplyForm};
use serde_json::Value as Json;

use super::readers::{
    flag_schema, integer_schema, list_schema, one_of, schema_of, text_or_none, text_schema,
};
use super::{DraftStep, readers};

/// The schema of the replies to a draft's prompt; `None` where they are words.
pub(super) fn reply_schema(draft: DraftStep, template: &str) -> Option<Json> {
    match &draft.draft_declaration().find_reading(template)?.form {
        Reply::Json(keys) => {
            Some(schema_of(keys.iter().map(|(key, form)| (*key, schema_of_form(form))).collect()))
        }
        Reply::Native(name, _) => (readers::find_reader(name)?.schema)(),
        Reply::Text(_) | Reply::Whole | Reply::Label(_) | Reply::Rating(..) | Reply::Numbers(_) => None,
    }
}

fn schema_of_form(form: &ReplyForm) -> Json {
    match form {
        ReplyForm::Text | ReplyForm::TextIfGiven => text_schema(),
        ReplyForm::TextOrNone | ReplyForm::TextOrNull => text_or_none(),
        ReplyForm::Flag => flag_schema(),
        ReplyForm::Integer | ReplyForm::Scale(..) => integer_schema(),
        ReplyForm::Texts(fewest, most) => list_schema(&text_schema(), *fewest, *most),
        ReplyForm::OneOf(codes) => one_of(codes),
    }
}

#[cfg(test)]
mod tests {
    use riddlemill_llm::{Output, Prompts};
    use serde_json::json;

    use super::*;

    /// An answer that a schema allows; texts differ from each other.
    fn instance(schema: &Json, count: &mut u64) -> Json {
        *count += 1;
        if let Some(code) = schema.get("enum") {
            return code[0].clone();
        }
        let kind = &schema["type"];
        match kind.as_str().or_else(|| kind[0].as_str()).unwrap() {
            "object" => {
                let fields = schema["properties"].as_object().unwrap();
                fields.iter().map(|(name, form)| (name.clone(), instance(form, count))).collect()
            }
            "array" => {
                (0..schema["minItems"].as_u64().unwrap()).map(|_| instance(&schema["items"], count)).collect()
            }
            "boolean" => json!(true),
            "integer" => json!(1),
            "string" => {
                json!(format!("{} fish of another kind, number {count}", "x".repeat(*count as usize)))
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_a_schema_allows_is_read_and_every_field_is_needed() {
        let prompts = Prompts::load_prompts(None).unwrap();
        let mut schemas = 0;
        for draft in DraftStep::built_in() {
            for template in draft.templates() {
                let info = prompts.list_prompts().into_iter().find(|info| info.name == *template).unwrap();
                let schema = reply_schema(draft, template);
                assert_eq!(schema.is_some(), info.output == Output::Json, "{template}");
                let Some(schema) = schema else { continue };
                schemas += 1;
                let whole = instance(&schema, &mut 0);
                let read = draft.read_reply(template, &whole.to_string());
                assert!(read.is_ok(), "{template}: {whole} is not read: {:?}", read.err());
                let names: Vec<&str> =
                    schema["required"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
                let shown = prompts.prompt_source(template).unwrap();
                for name in names {
                    assert!(shown.contains(&format!("\"{name}\"")), "{template} asks for no {name}");
                    let mut less = whole.clone();
                    less.as_object_mut().unwrap().remove(name);
                    let optional = name == "explanation";
                    assert_eq!(
                        draft.read_reply(template, &less.to_string()).is_ok(),
                        optional,
                        "{template} without {name}"
                    );
                }
            }
        }
        assert_eq!(schemas, 18);
    }

    #[test]
    fn declared_forms_have_schemas() {
        let forms = [
            (ReplyForm::Text, json!({"type": "string"})),
            (ReplyForm::TextOrNone, json!({"type": ["string", "null"]})),
            (ReplyForm::Flag, json!({"type": "boolean"})),
            (ReplyForm::Integer, json!({"type": "integer"})),
            (
                ReplyForm::Texts(1, 2),
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}),
            ),
            (ReplyForm::OneOf(vec!["a", "b"]), json!({"type": "string", "enum": ["a", "b"]})),
        ];
        for (form, schema) in forms {
            assert_eq!(schema_of_form(&form), schema);
        }
    }
}
