//! Anthropic's messages.

use serde_json::{Map, Value, json};

use super::{
    AnswerParts, Names, insert_into, part_instructions, sampling_parameters, schema_of_format, stream_events,
};
use crate::provider::Call;
use crate::request::{Input, Request};
use crate::settings::Endpoint;

/// The interface's version sent by the package whose requests are recorded.
const VERSION: &str = "2026-10-21";
/// Parameters that the interface refuses since [`WITHOUT_SAMPLING`], even at their defaults.
pub(super) const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];
/// The first version without them.
pub(super) const WITHOUT_SAMPLING: &str = "2026-10-21";
/// The last version with them.
pub(super) const WITH_SAMPLING: &str = "2023-06-01";

/// The interface's version, which is a date.
pub(super) fn api_version(endpoint: &Endpoint) -> &str {
    endpoint.api_version.as_deref().unwrap_or(VERSION)
}

/// Whether that version takes a temperature.
pub(super) fn takes_sampling(endpoint: &Endpoint) -> bool {
    api_version(endpoint) < WITHOUT_SAMPLING
}

pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    let request = requests[0];
    let Input::Chat { messages, sampling, format } = &request.input else {
        // Anthropic has no embeddings; the server reports that.
        return super::openai::call(endpoint, requests);
    };
    let names = Names { limit: "max_tokens", top_p: "top_p", seed: None, stop: Some("stop_sequences") };
    let mut body = sampling_parameters(sampling, request.sample, &names);
    let (system, rest) = part_instructions(messages);
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), json!(rest.collect::<Vec<_>>()));
    body.extend(system.map(|system| ("system".into(), system.into())));
    if endpoint.stream {
        body.insert("stream".into(), json!(true));
    }
    body.extend(sampling.extra.iter().map(|(name, value)| (name.clone(), value.clone())));
    if let Some((_, schema)) = schema_of_format(format) {
        insert_into(&mut body, "output_config", "format", json!({"type": "json_schema", "schema": schema}));
    }
    if !takes_sampling(endpoint) {
        SAMPLING.iter().for_each(|name| drop(body.remove(*name)));
    }
    Call { path: "v1/messages".into(), body: Value::Object(body).to_string() }
}

pub(super) fn as_openai(body: &Value) -> Option<Value> {
    let blocks = body.get("content").and_then(Value::as_array).filter(|_| body["type"] == "message")?;
    let of = |kind: &str, field: &str| {
        let texts = blocks.iter().filter(|block| block["type"] == kind);
        texts.filter_map(|block| Some(block.get(field)?.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let mut text = of("text", "text").concat();
    if let Some(input) = blocks.iter().find(|block| block["type"] == "tool_use").map(|block| &block["input"])
    {
        text = input.to_string();
    }
    let finish = match body["stop_reason"].as_str() {
        Some("max_tokens" | "model_context_window_exceeded") => "length",
        Some("refusal") => "content_filter",
        _ => "stop",
    };
    let count = |name: &str| body["usage"].get(name).and_then(Value::as_u64);
    let (cached, written) =
        (count("cache_read_input_tokens").unwrap_or(0), count("cache_creation_input_tokens").unwrap_or(0));
    // Tokens read from or written to a cache are not part of the input's own count.
    let prompt = count("input_tokens").map(|input| input.saturating_add(cached).saturating_add(written));
    let thought = body["usage"].pointer("/output_tokens_details/thinking_tokens").and_then(Value::as_u64);
    let usage = super::usage_json(prompt, count("output_tokens"), cached, thought.unwrap_or(0));
    Some(
        AnswerParts { text, reasoning: of("thinking", "thinking").join("\n\n"), finish, usage }.into_openai(),
    )
}

pub(super) fn assemble_stream(stream: &str) -> Option<String> {
    let (mut message, mut blocks): (Value, Vec<Value>) = (Value::Null, Vec::new());
    let (mut inputs, mut ended): (Vec<String>, bool) = (Vec::new(), false);
    for event in stream_events(stream) {
        let at = event["index"].as_u64().unwrap_or(0) as usize;
        match event["type"].as_str() {
            Some("error") => return Some(event.to_string()),
            Some("message_start") if event["message"].is_object() => message = event["message"].clone(),
            Some("content_block_start") => {
                let block = Some(&event["content_block"]).filter(|block| block.is_object());
                blocks.push(block.cloned().unwrap_or_else(|| json!({})));
                inputs.push(String::new());
            }
            Some("content_block_delta") => {
                if let (Some(block), Some(input)) = (blocks.get_mut(at), inputs.get_mut(at)) {
                    append_delta(block, input, &event["delta"]);
                }
            }
            Some("message_delta") => {
                merge_usage(&mut message, &event["delta"]);
                merge_usage(&mut message["usage"], &event["usage"]);
                ended |= event["delta"]["stop_reason"].is_string();
            }
            Some("message_stop") => ended = true,
            _ => {}
        }
    }
    for (block, input) in blocks.iter_mut().zip(inputs).filter(|(_, input)| !input.is_empty()) {
        block["input"] = serde_json::from_str(&input).unwrap_or(Value::String(input));
    }
    // A stream that broke off states no reason for its end, and must not pass for a whole answer.
    (ended && message.is_object()).then(|| {
        message["content"] = Value::Array(blocks);
        message.to_string()
    })
}

fn append_delta(block: &mut Value, input: &mut String, delta: &Value) {
    for (name, piece) in delta.as_object().into_iter().flatten().filter(|(name, _)| *name != "type") {
        match (name.as_str(), piece) {
            ("partial_json", Value::String(piece)) => input.push_str(piece),
            (_, Value::String(piece)) => {
                let before = block[name.as_str()].as_str().unwrap_or_default();
                block[name.as_str()] = Value::String(format!("{before}{piece}"));
            }
            _ => {}
        }
    }
}

fn merge_usage(into: &mut Value, from: &Value) {
    let Value::Object(from) = from else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    for (name, value) in from.iter().filter(|(_, value)| !value.is_null()) {
        into[name.as_str()] = value.clone();
    }
}
