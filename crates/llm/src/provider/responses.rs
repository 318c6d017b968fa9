//! OpenAI's Responses API: some models have no other.

use serde_json::{Map, Value, json};

use super::{AnswerParts, Names, insert_into, is_azure_v1, sampling_parameters, stream_events};
use crate::fault::Kind;
use crate::provider::Call;
use crate::request::{Input, Request};
use crate::settings::{Endpoint, Format, Provider};

/// Parameters of chats that are here in a table: name, table, field.
const MOVED: [(&str, &str, &str); 2] =
    [("reasoning_effort", "reasoning", "effort"), ("verbosity", "text", "verbosity")];

pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    let request = requests[0];
    let Input::Chat { messages, sampling, format } = &request.input else {
        return super::openai::call(endpoint, requests);
    };
    let names = Names { limit: "max_output_tokens", top_p: "top_p", seed: None, stop: None };
    let mut body = sampling_parameters(sampling, request.sample, &names);
    body.insert("model".into(), json!(request.model));
    body.insert("input".into(), json!(messages));
    // The server keeps other responses for a month; the store of replies is the only one that is needed.
    body.insert("store".into(), json!(false));
    if endpoint.stream {
        body.insert("stream".into(), json!(true));
    }
    for (name, value) in &sampling.extra {
        match MOVED.iter().find(|(moved, ..)| moved == name) {
            Some((_, table, field)) => insert_into(&mut body, table, field, value.clone()),
            None => add_field(&mut body, name, value),
        }
    }
    if let Some(format) = text_format(format) {
        insert_into(&mut body, "text", "format", format);
    }
    let dated = endpoint.provider == Provider::Azure && !is_azure_v1(endpoint);
    let path = if dated { "openai/responses" } else { "responses" };
    Call { path: path.into(), body: Value::Object(body).to_string() }
}

/// Adds a field; of a table that is there already, its fields.
fn add_field(body: &mut Map<String, Value>, name: &str, value: &Value) {
    match (body.get_mut(name), value) {
        (Some(Value::Object(table)), Value::Object(more)) => {
            table.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        _ => drop(body.insert(name.to_owned(), value.clone())),
    }
}

fn text_format(format: &Format) -> Option<Value> {
    match format {
        Format::Text => None,
        Format::JsonObject => Some(json!({"type": "json_object"})),
        Format::JsonSchema { name, schema } => {
            Some(json!({"type": "json_schema", "name": name, "schema": schema, "strict": true}))
        }
    }
}

/// Whether a refusal says that the model is served by this API alone.
pub(crate) fn is_only_there(kind: &Kind, raw: &str) -> bool {
    const NOT_A_CHAT: &str = "not a chat model";
    const PLACES: [&str; 4] = ["/error/message", "/error", "/message", "/detail"];
    /// A longer message may quote the request, and its text any path.
    const LONGEST: usize = 400;
    if !matches!(kind, Kind::Status(400 | 404 | 405 | 422)) {
        return false;
    }
    let body: Value = serde_json::from_str(raw).unwrap_or_default();
    let message = PLACES.iter().find_map(|place| body.pointer(place)?.as_str()).unwrap_or_default();
    if message.len() > LONGEST {
        return false;
    }
    let words = message.to_ascii_lowercase();
    // "Use /v1/responses instead", but not "is not supported with the Responses API".
    let names_it =
        ["v1/responses", "/responses", "the responses api"].iter().any(|name| words.contains(name))
            && ![
                "not supported with the responses",
                "not supported in the responses",
                "not supported in v1/responses",
            ]
            .iter()
            .any(|refusal| words.contains(refusal));
    names_it || words.contains(NOT_A_CHAT) && words.contains("chat/completions")
}

pub(super) fn as_openai(body: &Value) -> Option<Value> {
    let output = body.get("output").and_then(Value::as_array).filter(|_| body["object"] == "response")?;
    let parts = |item: &Value, list: &str, field: &str| -> Vec<String> {
        let parts = item.get(list).and_then(Value::as_array).into_iter().flatten();
        parts.filter_map(|part| Some(part.get(field)?.as_str()?.to_owned())).collect()
    };
    let of = |kind: &'static str| output.iter().filter(move |item| item["type"] == kind);
    let text: String = of("message").flat_map(|item| parts(item, "content", "text")).collect();
    let refused = of("message").any(|item| !parts(item, "content", "refusal").is_empty());
    // Open models give their reasoning, others a summary of it.
    let thoughts = of("reasoning").flat_map(|item| match parts(item, "content", "text") {
        whole if whole.is_empty() => parts(item, "summary", "text"),
        whole => whole,
    });
    let reasoning = thoughts.collect::<Vec<_>>().join("\n\n");
    let finish = match body.pointer("/incomplete_details/reason").and_then(Value::as_str) {
        Some("content_filter") => "content_filter",
        Some(_) => "length",
        None if body["status"] == "incomplete" => "length",
        None if refused && text.is_empty() => "content_filter",
        None => "stop",
    };
    // A failed response has an error, and nothing that could be an answer.
    if body["status"] == "failed" || body["error"].is_object() {
        return None;
    }
    let count = |place: &str| body["usage"].pointer(place).and_then(Value::as_u64);
    let usage = super::usage_json(
        count("/input_tokens"),
        count("/output_tokens"),
        count("/input_tokens_details/cached_tokens").unwrap_or(0),
        count("/output_tokens_details/reasoning_tokens").unwrap_or(0),
    );
    Some(AnswerParts { text, reasoning, finish, usage }.into_openai())
}

/// The whole response of a stream; `None` if the stream is not of this API, `Some(None)` if it ended early.
pub(super) fn assemble_stream(stream: &str) -> Option<Option<String>> {
    let (mut is_of_this, mut items) = (false, Vec::new());
    for event in stream_events(stream) {
        let Some(kind) = event["type"].as_str() else { continue };
        is_of_this |= kind.starts_with("response.");
        match kind {
            "error" if is_of_this => return Some(Some(event.to_string())),
            "response.output_item.done" => items.push(event["item"].clone()),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let mut response = event["response"].clone();
                // Some proxies leave out here what they have sent before.
                if response["output"].as_array().is_some_and(Vec::is_empty) {
                    response["output"] = Value::Array(items);
                }
                return Some(response.is_object().then(|| response.to_string()));
            }
            _ => {}
        }
    }
    is_of_this.then_some(None)
}
