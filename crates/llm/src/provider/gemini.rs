//! Gemini's interface. `sampling.extra` goes into the generation's settings, except for keys that belong next
//! to them.

use serde_json::{Map, Value, json};

use super::{AnswerParts, Names, part_instructions, sampling_parameters, stream_events};
use crate::provider::Call;
use crate::request::{Input, Request, Role};
use crate::settings::{Endpoint, Format};

/// Keys of a request that are not settings of the generation.
const BESIDE: [&str; 5] = ["safetySettings", "cachedContent", "labels", "tools", "toolConfig"];

/// The interface's version in the path: as set, as in the address, or the one that proxies and servers of other
/// makers have too.
pub(crate) fn api_version(endpoint: &Endpoint) -> &str {
    let base = endpoint.base_url.split('?').next().unwrap_or_default().trim_end_matches('/');
    let of_base = base.rsplit('/').next().filter(|last| ["v1", "v1beta", "v1alpha"].contains(last));
    endpoint.api_version.as_deref().or(of_base).unwrap_or("v1beta")
}

/// A model's name in a path.
pub(crate) fn model_path(name: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("models/{}", super::percent_encode(name)) }
}

pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    let request = requests[0];
    let model = model_path(&request.model);
    let path = |method: &str| format!("{}/{model}:{method}", api_version(endpoint));
    match &request.input {
        Input::Chat { messages, sampling, format } => {
            let names = Names {
                limit: "maxOutputTokens",
                top_p: "topP",
                seed: Some("seed"),
                stop: Some("stopSequences"),
            };
            let mut generation = sampling_parameters(sampling, request.sample, &names);
            if *format != Format::Text {
                generation.insert("responseMimeType".into(), json!("application/json"));
            }
            if let Format::JsonSchema { schema, .. } = format {
                generation.insert("responseJsonSchema".into(), schema.clone());
            }
            let (system, rest) = part_instructions(messages);
            let content = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
            let turn = |role| if role == Role::Assistant { "model" } else { "user" };
            let contents: Vec<Value> =
                rest.map(|message| content(turn(message.role), &message.content)).collect();
            let mut body = Map::from_iter([("contents".to_owned(), json!(contents))]);
            body.extend(system.map(|text| ("systemInstruction".into(), content("user", &text))));
            for (name, value) in &sampling.extra {
                let into = if BESIDE.contains(&name.as_str()) { &mut body } else { &mut generation };
                into.insert(name.clone(), value.clone());
            }
            body.insert("generationConfig".into(), generation.into());
            let method = if endpoint.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            Call { path: path(method), body: Value::Object(body).to_string() }
        }
        Input::Embedding { dimensions, .. } => {
            let one = |text: &str| {
                let mut one = json!({"model": model, "content": {"role": "user", "parts": [{"text": text}]}});
                if let Some(dimensions) = dimensions {
                    one["outputDimensionality"] = json!(dimensions);
                }
                one
            };
            let all: Vec<Value> =
                requests.iter().flat_map(|request| request.message_texts()).map(one).collect();
            Call { path: path("batchEmbedContents"), body: json!({"requests": all}).to_string() }
        }
        Input::Translation { .. } => super::openai::call(endpoint, requests),
    }
}

pub(super) fn as_openai(body: &Value) -> Option<Value> {
    if let Some(vectors) = body.get("embeddings").and_then(Value::as_array) {
        let one = |(index, vector): (usize, &Value)| {
            Some(json!({"index": index, "embedding": vector.get("values")?}))
        };
        let data: Vec<Value> = vectors.iter().enumerate().map(one).collect::<Option<_>>()?;
        let prompt = body["usageMetadata"]["promptTokenCount"].as_u64();
        return Some(json!({"data": data, "usage": super::usage_json(prompt, prompt.map(|_| 0), 0, 0)}));
    }
    let blocked = body.pointer("/promptFeedback/blockReason");
    let candidate = body.pointer("/candidates/0");
    if candidate.is_none() && blocked.is_none() {
        return None;
    }
    let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
    let of = |thought: bool| -> String {
        let parts = parts.into_iter().flatten().filter(|part| (part["thought"] == true) == thought);
        parts.filter_map(|part| part.get("text")?.as_str()).collect()
    };
    let reason = candidate.and_then(|candidate| candidate.get("finishReason")?.as_str());
    let finish = match reason {
        Some("STOP" | "FINISH_REASON_UNSPECIFIED") | None if blocked.is_none() => "stop",
        Some("MAX_TOKENS") => "length",
        // Safety, recitation, a list of words: all of them concern the content.
        _ => "content_filter",
    };
    let count = |name: &str| body["usageMetadata"].get(name).and_then(Value::as_u64);
    let thoughts = count("thoughtsTokenCount").unwrap_or(0);
    let prompt = count("promptTokenCount");
    // An answer without text has no count of its own.
    let tokens = count("candidatesTokenCount").or_else(|| count("totalTokenCount").map(|_| 0));
    let completion = tokens.map(|tokens| tokens.saturating_add(thoughts));
    let mut usage =
        super::usage_json(prompt, completion, count("cachedContentTokenCount").unwrap_or(0), thoughts);
    if usage.is_object() {
        usage["total_tokens"] = json!(count("totalTokenCount"));
    }
    Some(AnswerParts { text: of(false), reasoning: of(true), finish, usage }.into_openai())
}

pub(super) fn assemble_stream(stream: &str) -> Option<String> {
    let (mut whole, mut parts, mut ended) = (Map::new(), Vec::<Value>::new(), false);
    for event in stream_events(stream) {
        if event.get("error").is_some() {
            return Some(event.to_string());
        }
        let Value::Object(event) = event else { continue };
        if let Some(candidate) = event.get("candidates").and_then(|all| all.get(0)) {
            let more = candidate.pointer("/content/parts").and_then(Value::as_array);
            parts.extend(more.into_iter().flatten().cloned());
            ended |= candidate["finishReason"].is_string();
        }
        ended |= event.get("promptFeedback").is_some_and(|feedback| feedback["blockReason"].is_string());
        whole.extend(event);
    }
    if !ended {
        return None;
    }
    let candidate = whole.get_mut("candidates").and_then(|all| all.get_mut(0));
    if let Some(candidate) = candidate.filter(|candidate| candidate.is_object()) {
        candidate["content"] = json!({"role": "model", "parts": parts});
    }
    Some(Value::Object(whole).to_string())
}
